"""Charts of data quality for few and for many runs."""

import numpy as np
import pytest

from chart_labels import data_of, names_of
from confir.report.chart_files import save_chart
from confir.report.result_chart import specification as chart
from confir.report.result_table import table_of
from confir.studies.data_quality.data_quality import DataQuality, inspect_data
from samples import whole_sample


def quality_of(shares, cutoffs=(5, 10)):
    """A result with a run for each row of unjudged shares."""
    shares = np.asarray(shares, float)
    runs = len(shares)
    names = tuple(f"r{r}" for r in range(runs))
    return DataQuality(
        topics=("1",),
        runs=names,
        cutoffs=cutoffs,
        missing=((),) * runs,
        unknown=((),) * runs,
        lengths=np.full((runs, 1), 1000),
        unjudged=shares,
        tied=np.zeros(runs),
        largest_tie=np.zeros(runs, np.int64),
        judged=np.array([20]),
        relevant=np.array([3]),
        rel=1,
    )


def layers(drawing):
    return drawing["layer"]


def test_the_chart_holds_every_share_and_none_for_runs_without_lists():
    drawing = chart(quality_of([[0.1, 0.2], [np.nan, np.nan]]))
    (records,) = data_of(drawing)
    assert [record["unjudged"] for record in records] == [0.1, 0.2, None, None]
    assert [record["cutoff"] for record in records] == [5, 10, 5, 10]


def test_the_run_with_most_unjudged_documents_comes_first_and_one_without_lists_last():
    drawing = chart(quality_of([[0.9, 0.1], [np.nan, np.nan], [0.0, 0.3]]))
    assert names_of(layers(drawing)[0]["encoding"]["y"]) == ["r2", "r0", "r1"]


@pytest.mark.parametrize(("runs", "marks"), [(5, ["rect", "text"]), (200, ["rect"])])
def test_shares_are_written_for_few_runs_and_rows_are_low_for_many(runs, marks):
    drawing = chart(quality_of(np.full((runs, 2), 0.25)))
    assert [layer["mark"]["type"] for layer in layers(drawing)] == marks
    assert layers(drawing)[0]["encoding"]["y"]["axis"]["grid"] is False
    assert runs * drawing["height"]["step"] < 2500


def test_the_chart_can_be_saved(tmp_path):
    save_chart(chart(quality_of(np.linspace(0, 1, 400).reshape(200, 2))), tmp_path / "q.svg")
    assert "first k documents" in (tmp_path / "q.svg").read_text()


def test_a_run_without_lists_has_no_text_in_its_cells(tmp_path):
    save_chart(chart(quality_of([[0.5, 0.5], [np.nan, np.nan]])), tmp_path / "q.svg")
    assert "null" not in (tmp_path / "q.svg").read_text()


def test_the_table_has_bold_numbers_where_sentences_speak():
    collection = whole_sample()
    quality = inspect_data(collection.qrels, collection.runs, cutoffs=(10,))
    rows = {row[0].text: row for row in table_of(quality).rows}
    assert [cell.text for cell in rows["bm25-rm3"]][1:5] == ["49", "1", "0", "1000/1000/1000"]
    assert [cell.strong for cell in rows["bm25-rm3"]][:4] == [False, False, True, False]
    assert rows["splade"][5] == ("99.4%", True, *rows["splade"][5][2:])
    assert not any(cell.strong for cell in rows["bm25"])
    assert "<table>" in quality._repr_html_()


def test_the_table_shows_dashes_for_a_run_without_lists():
    quality = inspect_data({"1": {"a": 1}}, {"r": {"2": {"a": 1.0}}}, cutoffs=(5,))
    assert [cell.text for cell in table_of(quality).rows[0]] == [
        "r", "0", "1", "1", "–", "–", "0", "–",
    ]  # fmt: skip


def test_much_unjudged_is_bold_at_the_cutoff_that_sentences_name():
    row = table_of(quality_of([[0.5, 0.2]])).rows[0]
    assert [(cell.text, cell.strong) for cell in row[-2:]] == [("50.0%", False), ("20.0%", True)]


def test_the_note_counts_one_topic():
    assert table_of(quality_of([[0.5, 0.2]])).note.startswith(
        "missing: of the 1 topic of the qrels;"
    )
