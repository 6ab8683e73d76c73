"""The report in a real browser: self-contained, interactive, with the right numbers."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from browser.conftest import (
    BUILT_IN,
    NASTY_RUNS,
    NASTY_TOPICS,
    Made,
    confir,
    drawn,
    redrawing,
    unfold,
    write_scores,
)
from confir.number_text import p_words

NAMES = ("bm25", "bm25-rm3", "dense", "dense-tuned", "hybrid", "rerank", "splade", "tfidf")


def rows(page, table="leaderboard-table"):
    """The texts of a table: a row a list."""
    return page.eval_on_selector_all(
        f"#{table} tbody tr", "rows => rows.map(row => [...row.cells].map(cell => cell.innerText))"
    )


def headings(page, table="leaderboard-table"):
    return page.eval_on_selector_all(
        f"#{table} thead th",
        "cells => cells.map(cell => cell.innerText.trim().replace('\\u00a0', ' '))",
    )


def column(page, title, table="leaderboard-table"):
    """The texts of one column by its heading, and the names of the rows."""
    place = headings(page, table).index(title)
    return [row[place] for row in rows(page, table)]


def leaderboard(page, level="95%", measure="AP"):
    """Mean and interval of every run as the page shows them."""
    columns = column(page, "run"), column(page, f"{measure} [{level} CI]")
    return dict(zip(*columns, strict=True))


def expected(records, measure="AP"):
    """Mean and interval of every run as the command's JSON has them."""
    return {
        r["run"]: f"{r['mean']:.3f} [{r['low']:.3f}, {r['high']:.3f}]"
        for r in records
        if r["measure"] == measure
    }


def chart_labels(page, part):
    """The words that a chart writes next to its axes."""
    return page.eval_on_selector_all(
        f"figure[data-part={part}] .role-axis-label text", "texts => texts.map(t => t.textContent)"
    )


def test_the_page_opens_from_a_file_and_asks_for_nothing_else(show, sample):
    opened = show(sample)
    assert opened.requests == [sample.path.as_uri()]
    assert opened.messages == []


def test_every_chart_is_drawn_with_words_for_those_who_cannot_see_it(show, sample):
    page = show(sample).page
    parts = page.eval_on_selector_all(
        "figure.chart:not([hidden])",
        "figures => figures.map(f => [f.dataset.part, f.querySelectorAll('svg path').length,"
        " f.querySelector('.plot').getAttribute('role'),"
        " f.querySelector('.plot').getAttribute('aria-label'), f.querySelector('figcaption').innerText])",
    )
    assert [part[0] for part in parts] == [
        "pairs",
        "topics",
        "differences",
        "collection",
        "variance",
        "coverage",
        "bias-variance",
        "chance",
        "quality",
        "unjudged",
    ]
    for _, marks, role, label, caption in parts:
        assert marks > 2
        assert role == "img"
        assert caption
        assert caption in label
        assert "table" in label


def test_the_leaderboard_shows_the_numbers_of_confir_evaluate(show, sample):
    page = show(sample).page
    assert set(column(page, "run")) == set(NAMES)
    assert leaderboard(page) == expected(sample.ask("evaluate", "-m", "AP"))


def gap_text(record):
    """The gap of a run to the best of the others, with its limits, as the page writes it."""
    gap, low, high = (
        f"{record[name]:+.3f}".replace("-", "−") if record[name] else "0.000"
        for name in ("gap", "gap_low", "gap_high")
    )
    return f"{gap} [{low}, {high}]"


def test_the_leaderboard_is_the_board_of_confir_compare(show, sample):
    page = show(sample).page
    for measure, level in (("AP", "0.95"), ("nDCG@10", "0.99")):
        page.select_option("#measure", label=measure)
        page.select_option("#level", value=level)
        titles = ("run", "rank", "gap to the best other [CI]", "may be best")
        shown = zip(*(column(page, title) for title in titles), strict=True)
        board = sample.ask("compare", "-m", measure, "--level", level)
        assert len(board) == 8
        for (run, rank, gap, possible), record in zip(shown, board, strict=True):
            assert (run, rank) == (record["run"], str(record["rank"]))
            assert gap == gap_text(record)
            assert possible.startswith("yes" if record["may_be_best"] else "no")


def test_the_first_screen_holds_headline_findings_and_the_leaderboard(show, sample):
    page = show(sample, width=1400, folded=True).page
    tops = {}
    for name in ("h1", ".facts", ".toolbar", ".lead", ".findings", "#leaderboard-table tbody tr"):
        box = page.locator(name).first.bounding_box()
        tops[name] = box["y"]
        assert box["y"] + box["height"] < 900
    assert list(tops.values()) == sorted(tops.values())
    assert 0 < page.locator("#answer .findings li").count() <= 3
    last = page.locator("#leaderboard-table tbody tr").last.bounding_box()
    assert last["y"] + last["height"] < 900
    assert page.locator("#leaderboard-table tbody .bar i").first.is_visible()
    assert page.inner_text(".badge") == "1 warning"
    assert page.locator("#warnings li").first.bounding_box()["y"] > last["y"]
    for part in page.locator("details.part").all():
        assert part.get_attribute("open") is None
        assert len(part.locator(".conclusion").inner_text()) > 10
    page.set_viewport_size({"width": 390, "height": 844})
    order = [page.locator(name).first.bounding_box()["y"] for name in tops]
    assert order == sorted(order)
    first = page.locator("#leaderboard-table tbody tr").first.bounding_box()
    assert first["y"] + first["height"] < 844


def test_conclusions_of_folded_parts_follow_measure_and_level(show, sample):
    page = show(sample, folded=True).page
    before = page.inner_text("#pairs .conclusion"), page.inner_text("#topics .conclusion")
    page.select_option("#measure", label="nDCG@10")
    page.select_option("#level", label="99%")
    after = page.inner_text("#pairs .conclusion"), page.inner_text("#topics .conclusion")
    assert before[0] != after[0]
    assert before[1] != after[1]
    records = sample.ask("compare", "-m", "nDCG@10", "--level", "0.99", "--show", "pairs")
    significant = sum(record["verdict"] in ("better", "worse") for record in records)
    assert after[0].startswith(f"{significant} of 28 pairs differ significantly")


def test_the_table_for_a_paper_follows_measure_layout_and_baseline(show, sample):
    page = show(sample, folded=True).page
    page.locator("#leaderboard summary", has_text="for a paper").click()
    first = page.inner_text("#paper")
    assert first.startswith("% needs \\usepackage{booktabs}")
    assert "& AP &" in first
    page.select_option("#measure", label="nDCG@10")
    assert "& nDCG@10 &" in page.inner_text("#paper")
    page.select_option("#layout", label="Markdown")
    assert page.inner_text("#paper").startswith("| run | nDCG@10 | gap | may be best |")
    page.select_option("#baseline", label="dense")
    marks = {
        line.split(" | ")[0].strip("| "): line.rstrip(" |")[-1]
        for line in page.inner_text("#paper").splitlines()[2:10]
    }
    words = dict(zip(column(page, "run"), column(page, "verdict"), strict=True))
    signs = {"better": "▲", "worse": "▼"}
    assert {run: sign for run, sign in marks.items() if sign in "▲▼"} == {
        run: signs[word] for run, word in words.items() if word in signs
    }
    assert set(signs.values()) <= set(marks.values())


def test_switching_measure_and_level_shows_the_numbers_of_that_measure_and_level(show, sample):
    page = show(sample).page
    page.select_option("#measure", label="nDCG@10")
    page.select_option("#level", label="99%")
    drawn(page)
    records = sample.ask("evaluate", "-m", "nDCG@10", "--level", "0.99")
    assert leaderboard(page, "99%", "nDCG@10") == expected(records, "nDCG@10")
    assert "99%" in page.inner_text("#leaderboard-note")


def test_columns_sort_both_ways_by_mouse_and_keyboard(show, sample):
    page = show(sample).page
    assert column(page, "run")[0] == "rerank"
    header = page.get_by_role("columnheader", name="run", exact=True)
    header.get_by_role("button").click()
    assert column(page, "run") == sorted(NAMES)
    assert header.get_attribute("aria-sort") == "ascending"
    header.get_by_role("button").press("Enter")
    assert column(page, "run") == sorted(NAMES, reverse=True)
    assert header.get_attribute("aria-sort") == "descending"
    page.get_by_role("columnheader", name=re.compile(r"AP \[95%\sCI\]")).get_by_role(
        "button"
    ).click()
    means = [float(text.split()[0]) for text in column(page, "AP [95% CI]")]
    assert means == sorted(means, reverse=True)


def test_filtering_keeps_the_runs_that_match_in_table_and_charts(show, sample):
    page = show(sample).page
    with redrawing(page):
        page.fill("#filter", "DENSE")
    assert set(column(page, "run")) == {"dense", "dense-tuned"}
    assert page.inner_text("#runs-shown") == "2 of 8 runs shown."
    for part in ("pairs", "chance", "quality"):
        labels = {label for label in chart_labels(page, part) if label in NAMES}
        assert labels == {"dense", "dense-tuned"}
    page.fill("#filter", "no such run")
    assert rows(page) == []
    page.fill("#filter", "")
    assert len(rows(page)) == 8


def verdict_numbers(record):
    """What the page says of a pair, as the command's JSON has it."""
    p = record["p_adjusted"]
    numbers = (
        f"({record['difference']:+.4f}, simultaneous 95% CI "
        f"[{record['simultaneous_low']:+.4f}, {record['simultaneous_high']:+.4f}], "
        f"adjusted {p_words(p)}); "
    )
    won = f"topics won {record['wins']}, tied {record['ties']}, lost {record['losses']}"
    return numbers.replace("-", "−") + won


PAIRS = {
    ("hybrid", "bm25"): "hybrid is significantly better than bm25",
    ("bm25", "hybrid"): "bm25 is significantly worse than hybrid",
    ("tfidf", "dense"): "tfidf is significantly worse than dense",
    ("dense", "dense-tuned"): "The difference between dense and dense-tuned in AP is inconclusive",
}


def test_choosing_a_pair_shows_what_confir_compare_says(show, sample):
    page = show(sample).page
    records = sample.ask("compare", "-m", "AP", "--show", "pairs")
    for (run, other), said in PAIRS.items():
        before = page.inner_text("#verdict")
        page.select_option("#run-a", label=run)
        page.select_option("#run-b", label=other)
        shown = page.inner_text("#verdict")
        assert shown != before
        assert said in shown
        (found,) = [r for r in records if {r["run"], r["against"]} == {run, other}]
        assert verdict_numbers(found if found["run"] == run else turned(found)) in shown


def turned(record):
    """A record of a pair, its runs the other way round."""
    return record | {
        "difference": -record["difference"],
        "simultaneous_low": -record["simultaneous_high"],
        "simultaneous_high": -record["simultaneous_low"],
        "wins": record["losses"],
        "losses": record["wins"],
    }


def test_a_cell_of_the_matrix_chooses_its_pair(show, sample):
    page = show(sample).page
    labels = page.locator("figure[data-part=pairs] .role-axis-label text")
    labels.first.scroll_into_view_if_needed()
    across, down = (
        labels.filter(has_text=name).nth(place).bounding_box()
        for name, place in (("tfidf", 0), ("splade", 1))
    )
    page.mouse.click(across["x"] + across["width"] / 2, down["y"] + down["height"] / 2)
    assert "splade is significantly better than tfidf" in page.inner_text("#verdict")
    drawn(page)
    assert "splade minus tfidf" in page.inner_text("figure[data-part=differences]")


def test_the_table_of_pairs_holds_what_confir_compare_says(show, sample):
    page = show(sample).page
    unfold(page, "#pair-details")
    page.select_option("#level", label="90%")
    records = sample.ask("compare", "-m", "AP", "--show", "pairs", "--level", "0.9")
    shown = {
        frozenset(row[:2]): (row[0], row[2], row[3], row[6]) for row in rows(page, "pair-table")
    }
    assert len(shown) == len(records) == 28
    opposite = {"better": "worse", "worse": "better"}
    for record in records:
        run, difference, limits, verdict = shown[frozenset((record["run"], record["against"]))]
        other_way = run != record["run"]
        sign = -1 if other_way else 1
        low, high = sorted(
            sign * record[name] for name in ("simultaneous_low", "simultaneous_high")
        )
        assert float(difference) == pytest.approx(sign * record["difference"], abs=5.1e-5)
        assert limits == f"[{low:+.4f}, {high:+.4f}]"
        word = record["verdict"]
        assert verdict == (opposite.get(word, word) if other_way else word)


def test_topic_by_topic_shows_scores_and_differences_of_the_chosen_runs(show, sample):
    page = show(sample).page
    page.select_option("#run-a", label="bm25")
    page.select_option("#run-b", label="splade")
    page.select_option("#measure", label="nDCG@10")
    unfold(page, "#topics .behind")
    drawn(page)
    scores = {
        (r["run"], r["topic"]): r["score"] for r in sample.ask("evaluate", "-m", "nDCG@10", "-q")
    }
    table = rows(page, "topic-table")
    assert len(table) == 50
    assert headings(page, "topic-table")[:4] == ["topic", "bm25", "splade", "difference"]
    for topic, a, b, difference, lowest, median, highest in table:
        of_all = sorted(scores[run, topic] for run in NAMES)
        assert (a, b) == (f"{scores['bm25', topic]:.4f}", f"{scores['splade', topic]:.4f}")
        wanted = scores["bm25", topic] - scores["splade", topic]
        assert float(difference) == pytest.approx(wanted, abs=5.1e-5)
        assert (lowest, highest) == (f"{of_all[0]:.4f}", f"{of_all[-1]:.4f}")
        assert float(median) == pytest.approx((of_all[3] + of_all[4]) / 2, abs=5.1e-5)
    assert "bm25 on each topic by nDCG@10" in page.inner_text("figure[data-part=topics]")
    assert "bm25 minus splade" in page.inner_text("figure[data-part=differences]")
    medians = column(page, "median", "topic-table")
    page.get_by_role("columnheader", name="median").get_by_role("button").click()
    assert [float(x) for x in column(page, "median", "topic-table")] == sorted(
        map(float, medians), reverse=True
    )


def test_the_tables_behind_charts_open_with_the_numbers_of_their_commands(show, sample):
    page = show(sample).page
    for part in ("collection", "coverage", "bias-variance", "chance", "quality"):
        unfold(page, f"[data-table={part}]")
    errors = {r["run"]: r for r in sample.ask("bias-variance", "-m", "AP", "--target", "best")}
    table = page.eval_on_selector_all(
        "[data-table=bias-variance] tbody tr",
        "rows => rows.map(r => [...r.cells].map(c => c.innerText))",
    )
    assert len(table) == 8
    for run, mean, bias, *_ in table:
        assert mean == f"{errors[run]['mean']:.4f}"
        assert bias.startswith(f"{errors[run]['bias']:.4f} [")
    for part in ("collection", "quality"):
        assert page.locator(f"[data-table={part}] tbody tr").count() == 8
    assert "rerank" in page.inner_text("[data-table=chance] tbody")
    assert "calibrated-beta" in page.inner_text("[data-table=coverage] tbody")


def test_names_are_shown_as_text_whatever_they_are(show, nasty):
    opened = show(nasty)
    page = opened.page
    assert opened.messages == []
    assert opened.requests == [nasty.path.as_uri()]
    assert page.title() == "<i>&amp;"
    assert page.inner_text("h1") == "<i>&amp;"
    names = page.eval_on_selector_all(
        "#leaderboard-table tbody th", "cells => cells.map(cell => cell.textContent)"
    )
    assert sorted(names) == sorted(NASTY_RUNS)
    options = page.eval_on_selector_all("#run-a option", "all => all.map(o => o.textContent)")
    assert sorted(options) == sorted(NASTY_RUNS)
    unfold(page, "#topics .behind")
    topics = page.eval_on_selector_all(
        "#topic-table tbody th", "cells => cells.map(cell => cell.textContent)"
    )
    assert sorted(topics) == sorted(NASTY_TOPICS)
    assert set(chart_labels(page, "pairs")) >= {"a&b", NASTY_RUNS[3]}
    assert (
        page.locator("main script, main img, main b:not(.bar b), main i:not(.bar i)").count() == 0
    )
    for run in NASTY_RUNS[:3]:
        page.select_option("#run-a", label=run)
        drawn(page)
        assert run in page.inner_text("#topics-explain")
        assert run in page.inner_text("figure[data-part=topics] figcaption")
    assert opened.messages == []


def test_a_name_written_from_right_to_left_leaves_the_numbers_next_to_it_in_order(show, nasty):
    page = show(nasty).page
    page.select_option("#run-a", label=NASTY_RUNS[3])
    page.select_option("#run-b", label="a&b")
    assert f"\u2068{NASTY_RUNS[3]}\u2069" in page.inner_text("#verdict")
    cell = page.locator("#leaderboard-table th.name", has_text=NASTY_RUNS[3])
    assert cell.evaluate("cell => getComputedStyle(cell).direction") == "rtl"
    assert cell.evaluate("cell => getComputedStyle(cell).unicodeBidi") == "isolate"


def test_parts_that_need_runs_are_left_out_and_say_so(show, nasty):
    page = show(nasty).page
    for part in ("collection", "chance", "quality"):
        assert "needs qrels" in page.inner_text(f"#left-out #{part}")


def test_nothing_runs_over_the_side(show, sample, nasty):
    for made in (sample, nasty):
        page = show(made, width=380).page
        for width in (380, 1600):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") == width


def serious_faults(page, **options):
    # The inside of a chart is a picture, whose words are next to it.
    options = {"resultTypes": ["violations"], **options}
    faults = Axe().run(page, {"exclude": [[".plot svg"]]}, options).response["violations"]
    return [fault["id"] for fault in faults if fault["impact"] in ("serious", "critical")]


@pytest.mark.parametrize("name", ["sample", "nasty"])
def test_axe_finds_no_serious_fault(show, request, name):
    page = show(request.getfixturevalue(name), width=380).page
    page.eval_on_selector_all("details", "all => all.forEach(d => { d.open = true; })")
    page.wait_for_function("document.querySelectorAll('#pair-table tbody tr').length > 0")
    assert serious_faults(page) == []
    page.set_viewport_size({"width": 1200, "height": 900})
    assert serious_faults(page) == []
    with redrawing(page):
        page.emulate_media(color_scheme="dark")
    assert serious_faults(page, runOnly=["color-contrast"]) == []  # all else is as before


def test_a_dark_page_is_printed_dark_on_white(show, sample):
    page = show(sample, scheme="dark").page
    colour = "text => getComputedStyle(text).fill"
    label = page.locator("figure[data-part=chance] .role-axis-label text").first
    assert label.evaluate(colour) == "rgb(231, 234, 238)"
    page.emulate_media(media="print", color_scheme="dark")
    assert label.evaluate(colour) == "rgb(0, 0, 0)"
    background = "getComputedStyle(document.documentElement).backgroundColor"
    assert page.evaluate(background) == "rgb(255, 255, 255)"
    assert not page.locator(".toolbar").is_visible()


def test_charts_follow_a_change_to_the_dark(show, sample):
    page = show(sample).page
    label = page.locator("figure[data-part=chance] .role-axis-label text").first
    light = label.evaluate("text => text.getAttribute('fill')")
    with redrawing(page):
        page.emulate_media(color_scheme="dark")
    assert label.evaluate("text => text.getAttribute('fill')") != light


def charts_of(page):
    """The number of marks of every chart, and its words."""
    return dict(
        page.eval_on_selector_all(
            "figure.chart:not([hidden])",
            "figures => figures.map(f => [f.dataset.part,"
            " [f.querySelectorAll('svg path').length, f.querySelector('.plot').innerText]])",
        )
    )


def test_names_that_every_object_has_break_no_chart(show, built_in):
    opened = show(built_in)
    charts = charts_of(opened.page)
    assert list(charts) == [
        "pairs",
        "topics",
        "differences",
        "coverage",
        "bias-variance",
    ]
    assert all(marks > 2 for marks, _ in charts.values())
    for part in ("pairs", "topics", "differences"):
        assert set(chart_labels(opened.page, part)) >= set(BUILT_IN)
    assert set(column(opened.page, "run")) == set(BUILT_IN)
    for run in BUILT_IN:
        opened.page.select_option("#run-a", label=run)
        drawn(opened.page)
        assert charts_of(opened.page)["topics"][0] > 2
    assert opened.messages == []


def test_the_chart_of_datasets_is_drawn_and_follows_the_filter(show, tmp_path):
    write_scores(tmp_path, ("dense", "sparse", "hybrid"))
    arguments = ("--means", "scores.csv", "--page", "page.html", "--replicates", "99", "--quiet")
    confir(tmp_path, "leaderboard", *arguments)
    page = show(Made(tmp_path / "page.html", tmp_path)).page
    assert set(chart_labels(page, "datasets")) >= {"dense", "sparse", "hybrid"}
    assert "leaderboard --means scores.csv" in page.inner_text("#methods-command")
    assert page.inner_text("h1") == "3 runs on 12 datasets"
    assert "of 12 datasets" in page.inner_text("#datasets .conclusion")
    assert "topic" not in page.inner_text("#answer")
    unfold(page, "[data-table=datasets]")
    with redrawing(page):
        page.fill("#filter", "se")
    kept = {"dense", "sparse"}
    assert {"dense", "sparse", "hybrid"} & set(chart_labels(page, "datasets")) == kept
    names = page.locator("[data-table=datasets] tbody tr > :nth-child(1)").all_inner_texts()
    assert set(names) == kept


def test_a_chart_that_cannot_be_drawn_says_so_and_stops_no_other(show, built_in):
    opened = show(built_in)
    opened.page.evaluate(
        "() => { const embed = window.vegaEmbed; window.vegaEmbed = (place, ...rest) =>"
        " place.closest('figure').dataset.part === 'topics'"
        " ? Promise.reject(new Error('broken')) : embed(place, ...rest); }"
    )
    opened.page.select_option("#run-a", label=BUILT_IN[2])
    drawn(opened.page)
    charts = charts_of(opened.page)
    assert charts["topics"][1].startswith("This chart cannot be drawn; its numbers are in the")
    assert all(marks > 2 for part, (marks, _) in charts.items() if part != "topics")
    assert opened.messages == []


def test_a_page_whose_script_fails_is_marked_so(show, sample, tmp_path):
    whole = sample.path.read_text(encoding="utf-8")
    broken = whole.replace('id="packed-data"', 'id="packed-nothing"')
    assert broken != whole
    (tmp_path / "report.html").write_text(broken, encoding="utf-8")
    with pytest.raises(AssertionError, match="error"):
        show(sample._replace(path=tmp_path / "report.html"))
