"""Tables in a terminal: whole cells at 80 and 40 columns, with fewer decimals or in several parts."""

import re

import pytest

from confir.number_text import difference_text, limits_text, number_text
from confir.report.tables import Cell, Table, rounded, to_text

NAMES = [f"multilingual-dense-retriever-v{i:03d}-large!" for i in range(3)]
assert {len(name) for name in NAMES} == {40}


def means(names, measures=("AP", "nDCG@10", "P@10", "RR")):
    cell = Cell(number_text(0.44449, 0.31111, 0.55555))
    return Table(
        ("run", *measures), tuple((Cell(n), *[cell] * len(measures)) for n in names), "x " * 60
    )


def lines_of(table, width):
    lines = to_text(table, width=width).splitlines()
    assert all(len(line) <= width for line in lines)
    return lines


def test_decimals_are_rounded_from_the_numbers_and_not_from_their_text():
    table = rounded(means(["a"]), 3)
    assert table.rows[0][1].text == "0.444 [0.311, 0.556]"  # 0.4445 would become 0.445
    # What these return is text to mypy; at run time it also knows its numbers.
    assert number_text(0.44449).rounded(2) == "0.44"
    assert difference_text(-0.0449, -0.1, 0.2).rounded(2) == "-0.04 [-0.10, +0.20]"  # type: ignore[attr-defined]
    assert limits_text(0.31111, 0.44449).rounded(3) == "[0.311, 0.444]"  # type: ignore[attr-defined]
    assert number_text(1234.56, 1000.0, 2000.0).rounded(3) == "1,234.6 [1,000.0, 2,000.0]"


def test_fewer_decimals_come_before_parts():
    table = means(["bm25"], ("AP", "nDCG@10", "P@10"))
    whole = len(to_text(table).splitlines()[0])
    assert lines_of(table, whole)[1].count("0.4445") == 3
    assert lines_of(table, whole - 1)[1].count("0.444 [0.311, 0.556]") == 3


def test_columns_without_room_stand_below_with_the_names():
    lines = lines_of(means(NAMES), 80)
    headings = [line.split() for line in lines if line.startswith("run")]
    assert headings == [["run", "AP"], ["run", "nDCG@10"], ["run", "P@10"], ["run", "RR"]]
    assert sum("0.4445 [0.3111, 0.5555]" in line for line in lines) == 12
    assert all(sum(line.startswith(name) for line in lines) == 4 for name in NAMES)


@pytest.mark.parametrize("width", [40, 60])
def test_names_without_room_for_a_number_have_a_block_of_lines_each(width):
    lines = lines_of(means(NAMES), width)
    assert sum("0.4445 [0.3111, 0.5555]" in line for line in lines) == 12
    assert all(any(name in line for line in lines) for name in NAMES)
    assert re.search(r"^AP +0\.4445 \[", "\n".join(lines), re.MULTILINE)


def test_sentences_are_wrapped_between_words():
    text = f"{NAMES[0]} against {NAMES[1]}: difference 0.0210, inconclusive"
    lines = lines_of(Table(("in words",), ((Cell(text),),)), 60)
    assert lines[0] == "in words"
    assert " ".join(line.strip() for line in lines[1:]) == text
    assert any(NAMES[1] in line for line in lines)


@pytest.mark.parametrize("rows", [(), ((Cell(""), Cell("")),), ((Cell("x" * 200), Cell("–")),)])
def test_empty_and_very_long_cells_have_lines_that_fit(rows):
    lines_of(Table(("run" * 20, "AP"), rows, "note"), 40)


def rows_of_words(**columns):
    """A table of verdicts: names that identify the rows, then words, then an interval."""
    cell = Cell(number_text(0.44449, 0.31111, 0.55555))
    rows = zip(*columns.values(), strict=True)
    made = tuple((*map(Cell, row), cell, cell) for row in rows)
    return Table((*columns, "AP", "RR"), made, names=len(columns))


def test_words_that_do_not_tell_rows_apart_are_not_repeated_where_room_is_short():
    table = rows_of_words(run=NAMES, verdict=["significantly better"] * 3)
    lines = lines_of(table, 80)
    headings = [line.split() for line in lines if line.startswith("run")]
    assert headings == [["run", "verdict"], ["run", "AP"], ["run", "RR"]]
    assert all(sum(line.startswith(name) for line in lines) == 3 for name in NAMES)
    assert lines[1].split("  ") == [NAMES[0], "significantly better"]


def test_names_that_tell_rows_apart_are_repeated_with_fewer_decimals_or_in_blocks():
    table = rows_of_words(run=[NAMES[0]] * 3, by=["bounds of ties 1", "two", "three"])
    lines = lines_of(table, 80)
    assert [line.split()[2:] for line in lines if line.startswith("run")] == [["AP"], ["RR"]]
    assert lines[1] == f"{NAMES[0]}  bounds of ties 1  0.444 [0.311, 0.556]"
    assert "by   bounds of ties 1" in lines_of(table, 60)


def test_a_sentence_after_short_names_is_wrapped_in_its_column():
    rows = (("numba", "missing", "compiled code: " + "pip install it " * 5), ("numpy", "2.0", "x"))
    table = Table(
        ("what", "state", "meaning"), tuple(tuple(map(Cell, row)) for row in rows), names=3
    )
    start = "numba  missing  "
    assert lines_of(table, 60) == [
        "what   state    meaning",
        start + "compiled code: pip install it pip install it",
        " " * len(start) + "pip install it pip install it pip install it",
        "numpy  2.0      x",
    ]
    assert lines_of(table, 40)[0] == "what     numba"  # no room for a sentence


def test_headings_take_several_lines_where_the_table_fits_only_so():
    cells = [Cell("hybrid"), Cell(number_text(0.4, 0.3, 0.5)), Cell("yes")]
    table = Table(("run", "mean", "may be best"), (tuple(cells),), names=1)
    whole = "run                        mean  may be best"
    assert lines_of(table, len(whole))[0] == whole
    above, below, row = lines_of(table, len(whole) - 1)[-3:]
    assert (above.split(), below.split()) == (["be"], ["run", "mean", "best"])
    assert row.split()[0] == "hybrid"
    assert row.endswith(" yes")
    assert len(row) == len(below)
