"""The page of an install without altair and vl-convert: charts as pictures that confir draws itself."""

import sys

import pytest

from browser.conftest import NASTY_RUNS, Made, confir, redrawing, write_scores
from confir.data.simulation import write_collection
from confir.report import script_bundle
from confir.report.script_bundle import ScriptBundle
from samples import whole_sample


@pytest.fixture(autouse=True, scope="module")
def core_install():
    """Neither package can be imported."""
    with pytest.MonkeyPatch.context() as patch:
        for package in ("altair", "vl_convert"):
            patch.setitem(sys.modules, package, None)
        patch.setattr(script_bundle, "find_spec", lambda _: None)
        patch.setattr(ScriptBundle, "_made", None)
        yield


@pytest.fixture(scope="module")
def still(tmp_path_factory) -> Made:
    folder = tmp_path_factory.mktemp("still")
    write_collection(whole_sample(), folder)
    confir(
        folder,
        "report",
        "qrels.txt",
        "runs",
        "-m",
        "AP",
        "-m",
        "nDCG@10",
        "-o",
        "p.html",
        "--quiet",
    )
    return Made(folder / "p.html", folder)


def figures(page):
    """Part → titles of the marks of its chart."""
    script = """all => Object.fromEntries(all.map(figure => [figure.dataset.part, [figure.hidden,
        [...figure.querySelectorAll("svg title")].map(title => title.textContent)]]))"""
    return page.eval_on_selector_all("figure.chart", script)


def test_every_chart_is_drawn_for_each_measure_and_level(show, still):
    page, requests, messages = show(still)
    assert requests == [still.path.as_uri()]
    assert messages == []
    for measure in ("AP", "nDCG@10"):
        for level in ("90%", "95%"):
            with redrawing(page):
                page.select_option("#measure", label=measure)
                page.select_option("#level", label=level)
            found = figures(page)
            assert len(found) > 8
            assert not any(hidden for hidden, _ in found.values())
            assert all(page.query_selector(f"figure[data-part={part}] svg") for part in found)
    runs = [title.partition(",")[0] for title in found["chance"][1]]
    assert sorted(set(runs)) == sorted(f"run: {run.name}" for run in whole_sample().runs)


def test_charts_of_topics_follow_the_chosen_runs(show, still):
    page = show(still).page
    with redrawing(page):
        page.select_option("#run-a", label="bm25")
        page.select_option("#run-b", label="splade")
    assert "bm25 minus splade" in page.inner_text("figure[data-part=differences]")
    asked = still.ask("evaluate", "-m", "AP", "-q")
    scores = {(r["run"], r["topic"]): r["score"] for r in asked}
    topics = {topic for _, topic in scores}
    wanted = sorted((scores["splade", t] - scores["bm25", t], f"{t}: ") for t in topics)
    titles = figures(page)["differences"][1]
    assert len(titles) == len(wanted)
    for title, (difference, topic) in zip(titles, wanted, strict=True):
        assert title == f"{topic}{-difference:+.4f}"


def test_a_dot_chooses_its_run(show, still):
    page = show(still).page
    with redrawing(page):
        page.locator("figure[data-part=chance] path[data-run=bm25]").first.click()
    assert page.eval_on_selector("#run-a", "select => select.selectedOptions[0].text") == "bm25"


def test_the_texts_promise_only_what_is_there(show, still):
    page = show(still).page
    assert "Hover for names." in page.inner_text("#bias-variance")
    assert "Drag over" not in page.inner_text("#bias-variance")


@pytest.mark.parametrize("width", [390, 800, 1400])
def test_charts_fill_the_page_and_nothing_runs_over_its_side(show, still, width):
    page = show(still, width=width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for part in ("chance", "topics", "bias-variance"):
        script = "figure => [figure.querySelector('svg').getBoundingClientRect().width, figure.clientWidth]"
        drawn, room = page.eval_on_selector(f"figure[data-part={part}]", script)
        assert drawn >= 0.9 * room


def test_names_are_text(show, tmp_path):
    write_scores(tmp_path, NASTY_RUNS)
    confir(
        tmp_path,
        "report",
        "--scores",
        "scores.csv",
        "-o",
        "p.html",
        "--replicates",
        "99",
        "--quiet",
    )
    page, requests, messages = show(Made(tmp_path / "p.html", tmp_path))
    assert messages == []
    assert len(requests) == 1
    titles = [title for _, named in figures(page).values() for title in named]
    assert any("<script>alert(1)</script>" in title for title in titles)
