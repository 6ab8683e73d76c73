"""Interaction with the page: choices, links, filters, pointer, topics, print."""

import csv
import itertools
import re
from collections import Counter
from urllib.parse import quote

import numpy as np
import pytest

from browser.conftest import BUILT_IN, NASTY_RUNS, Made, confir, drawn, redrawing, unfold
from browser.test_report_page import NAMES, chart_labels, column, rows, serious_faults

SAID = {
    "better": r"(\d+|none) (?:is|are) significantly better than",
    "worse": r"(\d+|none) (?:is|are) significantly worse",
    "inconclusive": r"(\d+|none) (?:is|are) inconclusive",
}


def write_table(folder, runs, topics=20, seed=3):
    """Write scores of many runs, the later the better, and the page about them."""
    rng = np.random.default_rng(seed)
    hard = rng.uniform(0.2, 0.6, topics)
    with open(folder / "scores.csv", "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["run", "measure", "topic", "score"])
        for r in range(runs):
            scores = np.clip(hard + 0.3 * r / runs + rng.normal(0, 0.08, topics), 0, 1)
            for t, score in enumerate(scores.tolist()):
                writer.writerow([f"system-{r:03d}", "AP", f"t{t}", f"{score:.4f}"])
    arguments = ("report", "--scores", "scores.csv", "-o", "report.html", "--quiet")
    confir(folder, *arguments, "--replicates", "199", "--level", "0.95")
    return Made(folder / "report.html", folder)


@pytest.fixture(scope="session")
def many(once_per_run):
    """A page about 130 runs."""
    folder = once_per_run("page-of-many-runs", lambda folder: write_table(folder, 130))
    return Made(folder / "report.html", folder)


@pytest.fixture(scope="session")
def against_bm25(sample, once_per_run):
    """The page about the sample that asks which runs beat bm25."""

    def fill(folder):
        options = ("-m", "AP", "--baseline", "bm25", "-o", str(folder / "report.html"), "--quiet")
        confir(sample.folder, "report", "qrels.txt", "runs", *options)

    return Made(once_per_run("page-against-bm25", fill) / "report.html", sample.folder)


def answer(page):
    return page.inner_text("#answer .lead") + "\n" + page.inner_text("#answer .findings")


def counts_said(text):
    """How many runs a sentence about a baseline calls better, worse and inconclusive."""
    found = {word: re.search(pattern, text) for word, pattern in SAID.items()}
    number = {word: match[1] if match else "none" for word, match in found.items()}
    return {word: 0 if text == "none" else int(text) for word, text in number.items()}


def test_the_answer_follows_measure_and_level_and_agrees_with_the_leaderboard(show, sample):
    page = show(sample).page
    seen = set()
    for measure in ("AP", "nDCG@10"):
        for level in ("90%", "99%"):
            page.select_option("#measure", label=measure)
            page.select_option("#level", label=level)
            lead = page.inner_text("#answer .lead").replace("\xa0", " ")
            seen.add(lead)
            first = column(page, "run")[0]
            assert lead.startswith(f"{first} has the highest {measure}, 0.")
            assert f"({level} confidence interval [" in lead
            members = [word for word in column(page, "may be best") if word.startswith("yes")]
            if len(members) == 1:
                assert lead.endswith(", and is the best of the 8 runs.")
            else:
                assert lead.endswith(f"; {len(members)} of the 8 runs may be the best.")
    assert len(seen) == 4


def test_a_baseline_changes_answer_and_leaderboard_to_what_confir_compare_says(show, sample):
    page = show(sample).page
    page.select_option("#baseline", label="dense")
    wanted = Counter()
    for record in sample.ask("compare", "-m", "AP", "--show", "pairs"):
        if "dense" in (record["run"], record["against"]):
            turned = {"better": "worse", "worse": "better"} if record["against"] != "dense" else {}
            wanted[turned.get(record["verdict"], record["verdict"])] += 1
    assert sum(wanted.values()) == 7
    assert wanted["better"] > 0 < wanted["worse"]
    said = answer(page)
    assert counts_said(said) == {word: wanted[word] for word in SAID}
    assert Counter(column(page, "verdict")) == wanted + Counter(baseline=1)
    assert "Significantly better than dense: rerank" in said
    assert "difference from dense" in page.inner_text("#leaderboard-table thead")
    assert page.evaluate("document.querySelector('#run-b').selectedOptions[0].text") == "dense"
    page.select_option("#baseline", label="none")
    assert answer(page).startswith("rerank has the highest AP")
    assert "may be best" in page.inner_text("#leaderboard-table thead")


def test_a_page_for_a_baseline_says_which_runs_beat_it_by_how_much_and_where(show, against_bm25):
    page = show(against_bm25).page
    records = against_bm25.ask("compare", "-m", "AP", "--baseline", "bm25")
    wanted = Counter(record["verdict"] for record in records)
    said = answer(page).replace("\xa0", " ")
    assert counts_said(said) == {word: wanted[word] for word in SAID}
    best = max(records, key=lambda record: record["difference"])
    limits = f"[{best['simultaneous_low']:+.3f}, {best['simultaneous_high']:+.3f}]"
    assert (
        f"{best['run']} is significantly better than bm25 in AP ({best['difference']:+.3f}, "
        f"simultaneous 95% CI {limits}, " in said
    )
    scores = {
        (r["run"], r["topic"]): r["score"] for r in against_bm25.ask("evaluate", "-m", "AP", "-q")
    }
    topics = sorted(
        {topic for _, topic in scores},
        key=lambda t: scores["bm25", t] - scores[best["run"], t],
    )
    assert f"{best['run']} gains most on topics {topics[0]}, {topics[1]}, {topics[2]}" in said
    verdicts = dict(zip(column(page, "run"), column(page, "verdict"), strict=True))
    assert verdicts.pop("bm25") == "baseline"
    assert verdicts == {record["run"]: record["verdict"] for record in records}
    assert "Differences from bm25" in page.inner_text("figure[data-part=pairs]")
    page.select_option("#run-a", label="hybrid")
    page.select_option("#run-b", label="tfidf")
    assert "not hybrid with tfidf" in page.inner_text("#verdict")


def test_the_address_holds_the_view_and_history_goes_back_and_forward(show, sample):
    page = show(sample).page
    page.select_option("#measure", label="nDCG@10")
    page.select_option("#level", label="99%")
    page.select_option("#run-a", label="bm25")
    page.select_option("#run-b", label="splade")
    address = page.evaluate("location.hash")
    assert address == "#measure=nDCG@10&level=0.99&pair=bm25,splade"
    verdict = page.inner_text("#verdict")
    drawn(page)
    page.reload()
    drawn(page)
    assert page.text_content("#verdict") == verdict
    assert page.input_value("#level") == "0.99"
    assert "nDCG@10" in page.inner_text("#leaderboard-table thead")
    page.evaluate("history.back()")
    page.wait_for_function("document.querySelector('#run-b').selectedOptions[0].text !== 'splade'")
    assert page.evaluate("location.hash").endswith("pair=bm25,hybrid")
    page.evaluate("history.forward()")
    page.wait_for_function("document.querySelector('#run-b').selectedOptions[0].text === 'splade'")
    assert page.text_content("#verdict") == verdict
    page.locator("#topics > summary").click()
    assert "part=topics" in page.evaluate("location.hash")
    assert page.text_content("#verdict") == verdict
    drawn(page)
    page.reload()
    page.wait_for_selector("#topics[open]")
    drawn(page)


@pytest.mark.parametrize("runs", [NASTY_RUNS, BUILT_IN], ids=["nasty", "built-in"])
def test_an_address_with_any_names_opens(show, request, runs):
    made = request.getfixturevalue("nasty" if runs is NASTY_RUNS else "built_in")
    opened = show(made)
    page = opened.page
    for run, other in itertools.pairwise(runs):
        address = f"#pair={quote(run, safe='')},{quote(other, safe='')}"
        page.evaluate("address => { location.hash = address; }", address)
        wanted = [
            str(
                page.evaluate(
                    "r => [...document.querySelectorAll('#run-a option')]"
                    ".find(o => o.textContent === r).value",
                    r,
                )
            )
            for r in (run, other)
        ]
        page.wait_for_function(
            "([a, b]) => document.querySelector('#run-a').value === a"
            " && document.querySelector('#run-b').value === b",
            arg=wanted,
        )
    page.evaluate("location.hash = '#measure=nothing&level=7&pair=a,%E0%A4%A&topic=%&part=%zz&x'")
    page.wait_for_function("document.querySelector('#level').value === '0.95'")
    drawn(page)
    assert len(rows(page)) == len(runs)
    assert opened.messages == []


def ranked(folder, run, topic, depth=10):
    """The first documents of a run's list, by score, ties by docid as trec_eval has them."""
    lines = [line.split() for line in (folder / "runs" / f"{run}.txt").read_text().splitlines()]
    found = [(float(line[4]), line[2]) for line in lines if line[0] == topic]
    return [document for _, document in sorted(found, reverse=True)[:depth]]


def test_a_topic_opens_both_ranked_lists_side_by_side(show, sample):
    page = show(sample).page
    page.select_option("#run-a", label="rerank")
    page.select_option("#run-b", label="bm25")
    unfold(page, "#topics .behind")
    page.locator("#topic-table tbody button", has_text="118").click()
    assert page.evaluate("location.hash").endswith("&topic=118")
    qrels = [line.split() for line in (sample.folder / "qrels.txt").read_text().splitlines()]
    grades = {line[2]: line[3] for line in qrels if line[0] == "118"}
    lists = []
    for place, run in enumerate(("rerank", "bm25")):
        shown = page.eval_on_selector_all(
            f".ranked:nth-child({place + 1}) li",
            "all => all.map(li => [...li.children].map(c => c.textContent))",
        )
        documents = ranked(sample.folder, run, "118")
        assert [row[2] for row in shown] == documents
        assert [row[1] for row in shown] == [grades.get(document, "?") for document in documents]
        assert [row[0] for row in shown] == [str(rank) for rank in range(1, 11)]
        lists.append(documents)
    page.wait_for_selector("#lists-body svg", state="attached")
    shared = set(lists[0]) & set(lists[1])
    assert page.locator("#lists-body line").count() == len(shared)
    assert f"; {len(shared)} in both." in page.inner_text("#lists-note")
    assert page.locator("#topic-table [aria-current=true]").inner_text().startswith("118")
    for place, document in enumerate(lists[0]):
        text = page.inner_text(f".ranked:nth-child(1) li[data-document='{document}'] .moved")
        if document in shared:
            other = lists[1].index(document)
            assert text == ("same rank" if place == other else f"rank {other + 1} there")
        else:  # it may come later there
            assert text == "not in top 10 there"
    drawn(page)
    assert serious_faults(page) == []


def test_pages_from_scores_say_that_they_have_no_lists(show, built_in):
    page = show(built_in).page
    unfold(page, "#topics .behind")
    page.locator("#topic-table tbody button").first.click()
    assert "without ranked lists" in page.inner_text("#lists-note")


def test_filter_pointer_and_choice_act_on_all_parts_at_once(show, sample):
    page = show(sample).page
    before = page.inner_text("#leaderboard-table thead .scale")
    points = "figure[data-part=bias-variance] .mark-symbol path"
    with redrawing(page):
        page.fill("#filter", "dense")
    kept = {"dense", "dense-tuned"}
    assert set(column(page, "run")) == kept
    assert set(chart_labels(page, "pairs")) == kept
    assert page.locator(points).count() == 2
    assert page.inner_text("#leaderboard-table thead .scale") != before
    edges = page.eval_on_selector_all(
        "#leaderboard-table .bar i",
        "all => all.map(i => [parseFloat(i.style.left), parseFloat(i.style.width)])",
    )
    edges = [(left, width) for left, width in edges if width]
    room = 100 * 0.06 / 1.12  # at both ends
    assert min(left for left, _ in edges) == pytest.approx(room, abs=0.01)
    assert max(left + width for left, width in edges) == pytest.approx(100 - room, abs=0.01)
    unfold(page, "#topics .behind")
    scores = {(r["run"], r["topic"]): r["score"] for r in sample.ask("evaluate", "-m", "AP", "-q")}
    for topic, *_, lowest, _median, highest in rows(page, "topic-table"):
        both = sorted(scores[run, topic] for run in kept)
        assert (lowest, highest) == (f"{both[0]:.4f}", f"{both[1]:.4f}")
    with redrawing(page):
        page.fill("#filter", "")
    page.hover("#leaderboard-table tr[data-run=splade] td")
    pointed = page.eval_on_selector_all(
        "path.pointed", "all => [...new Set(all.map(p => p.__data__.datum.run))]"
    )
    assert pointed == ["splade"]
    parts = page.eval_on_selector_all(
        "path.pointed", "all => [...new Set(all.map(p => p.closest('figure').dataset.part))]"
    )
    assert {"bias-variance", "chance", "unjudged"} <= set(parts)
    assert page.locator("#pairs text.pointed").count() == 2
    page.locator(points).nth(NAMES.index("hybrid")).hover()
    assert page.get_attribute("tr.pointed", "data-run") == "hybrid"
    page.locator("#leaderboard-table tbody button", has_text="tfidf").click()
    assert page.evaluate("document.querySelector('#run-a').selectedOptions[0].text") == "tfidf"
    assert "tfidf on each topic" in page.inner_text("figure[data-part=topics] figcaption")
    assert page.locator("tr.chosen-run").count() == 2


def test_names_and_scores_do_not_overlap_on_a_phone(show, sample, many):
    for made in (sample, many):
        page = show(made, width=390).page
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        overlaps = page.evaluate(
            """() => [...document.querySelectorAll('#leaderboard-table tbody tr')].filter(row => {
              const boxes = [...row.cells].filter(c => c.offsetParent).map(c => {
                const range = document.createRange(); range.selectNodeContents(c);
                return range.getBoundingClientRect();
              }).filter(b => b.width && b.height);
              return boxes.some((p, i) => boxes.some((q, j) => i < j && p.left < q.right - 1
                && q.left < p.right - 1 && p.top < q.bottom - 1 && q.top < p.bottom - 1));
            }).length"""
        )
        assert overlaps == 0
        assert page.locator("#leaderboard-table .limits").first.is_visible()
        assert page.locator("#leaderboard-table .bar i").first.is_visible()
        right = page.eval_on_selector_all(
            "#leaderboard-table tbody td",
            "all => Math.max(...all.map(c => c.getBoundingClientRect().right))",
        )
        assert right <= 390
        page.set_viewport_size({"width": 800, "height": 900})
        page.select_option("#measure", index=page.locator("#measure option").count() - 1)
        page.select_option("#baseline", index=4)
        assert "inconclusive" in page.inner_text("#leaderboard-table")
        board = page.locator("#leaderboard > .scroll")
        assert board.evaluate("box => box.scrollWidth - box.clientWidth") <= 0


def test_print_keeps_bars_and_charts(show, sample):
    page = show(sample).page
    page.emulate_media(media="print")
    assert page.locator("#leaderboard-table tbody .bar b").first.is_visible()
    assert not page.locator(".toolbar").is_visible()
    heading = (
        "getComputedStyle(document.querySelector('#leaderboard-table th'), '::before').content"
    )
    assert page.evaluate(heading) == '"rank"'  # no button, which Chromium prints once
    pdf = page.pdf(format="A4", print_background=False)
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) > 2
    wide = page.evaluate(
        "Math.max(...[...document.querySelectorAll('figure:not([hidden]) svg')].map(s => s.getBoundingClientRect().right))"
    )
    assert wide <= page.viewport_size["width"]
    assert not page.locator(".how").first.is_visible()


def test_no_chart_is_printed_higher_than_a_page(show, many):
    page = show(many).page
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 720, "height": 1000})  # A4 within its margins
    heights = page.eval_on_selector_all(
        "figure:not([hidden]) .view > svg", "all => all.map(s => s.getBoundingClientRect().height)"
    )
    assert len(heights) == 5
    assert max(heights) <= 760


@pytest.fixture
def without_script(browser, sample):
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(sample.path.as_uri())
    yield page
    context.close()


def test_without_a_script_answer_leaderboard_and_charts_are_there(without_script, show, sample):
    page = without_script
    live = show(sample).page
    assert page.inner_text("#answer .lead") == live.inner_text("#answer .lead")
    cells = page.locator("#leaderboard-table tbody tr").all()
    plain = [[cell.inner_text().strip() for cell in row.locator("th, td").all()] for row in cells]
    assert plain == [[cell.strip() for cell in row] for row in rows(live)]
    charted = {"pairs", "topics", "differences", "collection", "variance"}
    charted |= {"coverage", "bias-variance", "chance", "quality", "unjudged"}
    for part in page.locator("details.part > summary").all():
        part.click()
    for part in charted:
        assert page.locator(f"figure[data-part={part}] svg.static").is_visible(), part
        assert page.locator(f"figure[data-part={part}] figcaption").inner_text(), part
    names = page.locator("figure[data-part=chance] svg text").all_text_contents()
    assert set(NAMES) <= set(names)
    assert not page.locator(".controls").is_visible()
    assert not page.locator(".how").first.is_visible()
    assert "JavaScript" in page.inner_text("footer ~ noscript, body > noscript")


def overlapping(page, part):
    """Texts of a chart that lie outside of it, and pairs of its texts that overlap."""
    return page.evaluate(
        """part => {
          const figure = document.querySelector(`figure[data-part=${part}]`);
          const svg = figure.querySelector('svg').getBoundingClientRect();
          const texts = [...figure.querySelectorAll('svg text')].filter(t => t.textContent.trim()
            && getComputedStyle(t).opacity !== '0' && t.getAttribute('opacity') !== '0');
          const boxes = texts.map(t => [t.textContent, t.getBoundingClientRect()]);
          const out = boxes.filter(([, b]) => b.left < svg.left - 2 || b.right > svg.right + 2
            || b.top < svg.top - 2 || b.bottom > svg.bottom + 2).map(([text]) => text);
          const pairs = [];
          boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
            const across = Math.min(p.right, q.right) - Math.max(p.left, q.left);
            const down = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
            if (across > 2 && down > 5) pairs.push([a, b]);
          }));
          return [out, pairs];
        }""",
        part,
    )


@pytest.mark.parametrize("count", [5, 40, pytest.param(130, marks=pytest.mark.slow)])
def test_texts_of_charts_are_neither_clipped_nor_on_top_of_each_other(
    show, request, tmp_path, count
):
    made = request.getfixturevalue("many") if count == 130 else write_table(tmp_path, count)
    for width in (390, 1600):
        page = show(made, width=width).page
        for part in (
            "bias-variance",
            "coverage",
            "topics",
            "differences",
            "pairs",
        ):
            assert overlapping(page, part) == [[], []], (part, width)
        best = column(page, "run")[0]
        names = page.locator("figure[data-part=bias-variance] .mark-text text").all_text_contents()
        assert best in names
        assert page.locator("#pairs .view .role-axis-label text").count() == 2 * count


def test_the_matrix_of_many_runs_is_ordered_and_grouped_and_names_its_cells(show, many):
    page = show(many).page
    assert page.inner_text("#runs-shown") == "15 of 130 runs shown."
    assert len(rows(page)) == 15
    page.locator("#all-runs").click()
    labels = chart_labels(page, "pairs")
    assert labels[:130] == labels[130:] == column(page, "run")
    assert "rows=all" in page.evaluate("location.hash")
    drawn(page)
    assert page.locator("#pairs .border").count() > 0
    texts = page.locator("#pairs .role-axis-label text")
    texts.nth(130).scroll_into_view_if_needed()
    across, down = texts.nth(60).bounding_box(), texts.nth(130).bounding_box()
    spot = (across["x"] + across["width"] / 2, down["y"] + down["height"] / 2)
    page.mouse.move(*spot)
    said = page.inner_text("#pairs .readout")
    best, other = labels[0], labels[60]
    assert said.startswith(f"{best} minus {other}: +")
    verdict = said.rpartition(" ")[2]
    page.mouse.click(*spot)
    words = {"better": "is significantly better than", "inconclusive": "and"}
    assert f"{best} {words[verdict]} {other}" in page.inner_text("#verdict")
    assert page.locator("#pairs text.chosen-run").count() == 4


def test_ties_with_the_best_run_have_no_colour_of_warnings(show, sample):
    page = show(sample).page
    page.select_option("#level", label="99%")
    page.select_option("#baseline", label="dense")
    warm = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--warm')")
    assert warm.strip() == "#a84300"
    colours = page.eval_on_selector_all(
        "#leaderboard-table td", "all => [...new Set(all.map(c => getComputedStyle(c).color))]"
    )
    assert "rgb(168, 67, 0)" not in colours
    assert "inconclusive" in column(page, "verdict")


def test_every_part_says_what_it_means(show, sample):
    page = show(sample).page
    parts = page.locator("details.part:not(#terms, #methods, #left-out)")
    assert parts.count() > 7
    for part in parts.all():
        assert part.locator(".meaning").inner_text().endswith(".")


def test_a_run_far_below_the_others_is_clipped_and_named(show, tmp_path):
    rng = np.random.default_rng(4)
    scores = {f"run{r}": 0.5 + 0.02 * r + rng.normal(0, 0.03, 20) for r in range(8)}
    scores["failed"] = rng.uniform(0, 0.01, 20)
    lines = [f"{run},AP,{t},{x:.4f}" for run, own in scores.items() for t, x in enumerate(own)]
    (tmp_path / "scores.csv").write_text("\n".join(["run,measure,topic,score", *lines, ""]))
    options = ("-o", "report.html", "--quiet", "--replicates", "99")
    confir(tmp_path, "report", "--scores", "scores.csv", *options)
    made = Made(tmp_path / "report.html", tmp_path)
    page = show(made, folded=True).page
    assert "Outside the scale: failed." in page.inner_text("#leaderboard-note")
    row = page.locator("#leaderboard-table tr[data-run=failed]")
    assert row.locator(".bar b.below").count() == 2
    ticks = page.locator("#leaderboard-table thead .gap-bar .scale span").all_inner_texts()
    assert "0" in ticks
    assert len(ticks) <= 4


def test_many_runs_are_printed_whole_on_few_pages(show, many):
    page = show(many, folded=True).page
    pdf = page.pdf(format="A4")
    assert 1 < len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 6
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert len(rows(page)) == 130
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert len(rows(page)) == 15


def test_drawn_intervals_are_as_wide_as_their_scale_and_ticks_do_not_overlap(show, sample):
    page = show(sample, folded=True).page
    for width in (390, 800, 1040, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        scale, bar = (
            page.locator(f"#leaderboard-table {place}").first.bounding_box()
            for place in ("thead .scale", "tbody .bar > span")
        )
        assert bar["width"] > 90
        assert (bar["x"], bar["width"]) == pytest.approx((scale["x"], scale["width"]), abs=1)
        ticks = page.locator("#leaderboard-table thead .scale").first.locator("span:visible").all()
        boxes = [tick.bounding_box() for tick in ticks]
        ends = [(box["x"], box["x"] + box["width"]) for box in boxes]
        assert len(ends) > 1
        assert all(end + 3 < start for (_, end), (start, _) in itertools.pairwise(ends))
        assert ends[-1][1] <= width
