"""Numbers that the page formats itself: equal to Python's, to the last digit."""

from importlib.resources import files

import numpy as np

from confir.number_text import number_text, signed

SCRIPT = (files("confir.report") / "templates" / "script" / "decimals.js").read_text()


def numbers():
    """Numbers of all sizes, halves of the last digit shown, and the bounds of each notation."""
    rng = np.random.default_rng(8)
    sizes = 10.0 ** rng.uniform(-14, 9, 4000)
    halves = np.concatenate(
        [np.arange(1, 320) / 32, np.arange(41, 400) / 4, [12345.25, 1e9 + 0.75]]
    )
    scores = np.round(rng.random(2000), 4)
    bounds = np.array([0.0, 1e-12, 0.99e-12, 0.00005, 0.000049999, 9.99994, 9.99996, 10.0, 0.00015])
    positive = np.concatenate([sizes, halves, scores, np.diff(scores), bounds])
    return [*positive.tolist(), *(-positive[positive != 0]).tolist()]


def written(page, values, sign):
    return page.evaluate(
        "([values, sign]) => values.map((value) => decimals(value, { sign }))", [values, sign]
    )


def test_scores_and_differences_are_written_as_python_writes_them(browser):
    page = browser.new_page()
    page.add_script_tag(content=SCRIPT)
    values = numbers()
    assert len(values) > 10_000
    assert written(page, values, sign=False) == [number_text(value) for value in values]
    assert written(page, values, sign=True) == [signed(value) for value in values]
    assert written(page, [None], sign=False) == written(page, [None], sign=True) == ["–"]
    page.close()


def test_the_page_has_no_other_way_to_write_a_number():
    scripts = files("confir.report") / "templates" / "script"
    others = [part for part in scripts.iterdir() if part.name != "decimals.js"]
    assert len(others) > 5
    page = "".join(part.read_text() for part in others)
    for way in ("toFixed", "toPrecision", "toExponential", "toLocaleString", "Intl."):
        assert way not in page
