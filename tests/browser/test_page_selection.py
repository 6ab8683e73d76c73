"""Selection of runs on the page: filters by names, drags over points, sorted tables."""

import pytest

from browser.conftest import drawn, redrawing, unfold
from browser.test_report_page import column, rows

POINTS = "figure[data-part=bias-variance] .mark-symbol path"


def points_of(page):
    """The centre of each run's point in the chart of bias and variance."""
    found = page.eval_on_selector_all(
        POINTS,
        """all => all.map(p => [p.__data__.datum.run, p.getBoundingClientRect()])
        .map(([run, b]) => [run, [b.left + b.width / 2, b.top + b.height / 2]])""",
    )
    return dict(found)


def drag(page, start, end):
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=5)
    page.mouse.up()


def test_dragging_over_points_filters_all_parts_for_their_runs(show, sample):
    page = show(sample).page
    page.locator(POINTS).first.scroll_into_view_if_needed()
    points = points_of(page)
    pair = page.input_value("#run-a"), page.input_value("#run-b")
    corners = points["hybrid"], points["bm25"]
    (left, right), (top, bottom) = (sorted(ends) for ends in zip(*corners, strict=True))
    inside = {
        run
        for run, (x, y) in points.items()
        if left - 3 <= x <= right + 3 and top - 3 <= y <= bottom + 3
    }
    assert 2 <= len(inside) < 8
    with redrawing(page):
        drag(page, (left - 3, top - 3), (right + 3, bottom + 3))
    assert set(column(page, "run")) == inside
    assert set(points_of(page)) == inside
    assert (page.input_value("#run-a"), page.input_value("#run-b")) == pair
    page.reload()
    drawn(page)
    assert set(column(page, "run")) == inside
    page.evaluate("history.back()")
    page.wait_for_function("document.querySelector('#filter').value === ''")
    assert len(rows(page)) == 8


def test_a_zoomed_chart_is_moved_with_shift_and_reset_by_a_double_click(show, sample):
    page = show(sample).page
    page.locator(POINTS).first.scroll_into_view_if_needed()
    first = points_of(page)
    box = page.locator("figure[data-part=bias-variance] svg").bounding_box()
    free = box["x"] + box["width"] / 2, box["y"] + box["height"] / 3
    page.mouse.move(*free)
    page.keyboard.down("Shift")
    page.mouse.wheel(0, -200)
    drag(page, free, (free[0] - 80, free[1] + 20))
    page.keyboard.up("Shift")
    page.wait_for_timeout(100)
    assert points_of(page)["rerank"] != first["rerank"]
    assert page.input_value("#filter") == ""
    with redrawing(page):
        page.mouse.dblclick(*free)
    assert points_of(page)["rerank"] == pytest.approx(first["rerank"], abs=1)


FILTERS = {
    "SPLA, rer": {"splade", "rerank"},
    '"dense"': {"dense"},
    ' "dense" , bm25': {"dense", "bm25", "bm25-rm3"},
    '"den': set(),
    '"no such run"': set(),
}


def test_a_filter_takes_parts_of_several_names_and_whole_names(show, sample):
    page = show(sample).page
    for text, kept in FILTERS.items():
        page.fill("#filter", text)
        assert set(column(page, "run")) == kept, text


def test_tables_behind_charts_are_sorted_by_any_column(show, sample):
    page = show(sample).page
    unfold(page, "[data-table=bias-variance]")
    table = page.locator("[data-table=bias-variance] table")
    texts = "rows => rows.map(r => [...r.cells].map(c => c.innerText))"

    def shown():
        return page.eval_on_selector_all("[data-table=bias-variance] tbody tr", texts)

    as_written = shown()
    heads = [head.strip() for head in table.locator("thead button").all_inner_texts()]
    bias = next(place for place, head in enumerate(heads) if head.startswith("bias"))
    table.locator("thead button").nth(bias).click()
    values = [float(row[bias].split()[0]) for row in shown()]
    assert values == sorted(values, reverse=True)
    assert values != [float(row[bias].split()[0]) for row in as_written]
    assert table.locator("th[aria-sort=descending]").count() == 1
    table.locator("thead button").first.press("Enter")
    names = [row[0] for row in shown()]
    assert names == sorted(row[0] for row in as_written)


def test_the_page_says_what_an_address_names_that_it_lacks(show, sample):
    page = show(sample).page
    assert not page.locator("#lacking").is_visible()
    page.evaluate("location.hash = '#measure=ERR&level=abc&pair=bm25,%3Cb%3Eold&topic=118'")
    page.wait_for_selector("#lacking:not([hidden])")
    said = page.inner_text("#lacking")
    assert said == "The address names what is not on this page: measure ERR, level abc, run <b>old."
    assert page.input_value("#level") == "0.95"
    page.select_option("#level", label="99%")
    assert not page.locator("#lacking").is_visible()
