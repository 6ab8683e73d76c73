"""Tables of published boards: which columns are datasets, and what is refused with the line that reads it."""

import numpy as np
import pytest

from confir.data.score_files import read_score_table, scores_from_table
from confir.data.tables.board_tables import as_board_columns, board_entries
from confir.errors import FormatError, InvalidValueError, ReadingWarning, collect_warnings


def board(tmp_path, text, columns=None, dataset=None, name="board.csv"):
    path = tmp_path / name
    path.write_text(text)
    entries = board_entries(read_score_table(path), as_board_columns(columns, dataset))
    return scores_from_table(entries, unit="dataset")


def means(scores):
    return {
        run: dict(zip(scores.topics, scores.values[:, place, 0].tolist(), strict=True))
        for place, run in enumerate(scores.runs)
    }


EXPECTED = {"a": {"arc": 51.5, "mmlu": 40.5}, "b": {"arc": 62.5, "mmlu": 45.0}}


@pytest.mark.parametrize("header", ["model", "Model", "model_id", "Model Name", "system", "name"])
def test_a_board_with_one_row_per_model_is_read_by_the_name_of_its_column(tmp_path, header):
    found = board(tmp_path, f"{header},mmlu,arc\na,40.5,51.5\nb,45.0,62.5\n")
    assert means(found) == EXPECTED
    assert found.measures == ("score",)


@pytest.mark.parametrize("header", ["dataset", "Task", "benchmark", "topic"])
def test_a_board_with_one_row_per_dataset_is_read_by_the_name_of_its_column(tmp_path, header):
    assert means(board(tmp_path, f"{header},a,b\nmmlu,40.5,45\narc,51.5,62.5\n")) == EXPECTED


def test_a_board_with_one_row_per_mean_is_read(tmp_path):
    rows = "a,mmlu,40.5\na,arc,51.5\nb,mmlu,45\nb,arc,62.5\n"
    assert means(board(tmp_path, "Model,Task,score\n" + rows)) == EXPECTED
    found = board(tmp_path, "model,dataset,nDCG@10,R@100\nx,d1,0.5,0.9\nx,d2,0.25,0.75\n")
    assert found.measures == ("nDCG@10", "R@100")
    assert found.values[:, 0].tolist() == [[0.5, 0.9], [0.25, 0.75]]


def test_what_is_certainly_no_dataset_is_left_out_and_said(tmp_path):
    text = (
        "Rank,Model,Average,arc,mmlu,#Params (B),License,URL,open,num_model_parameters\n"
        "1,b,53.7,62.5,45.0,70,MIT,http://x,True,70000\n2,a,46,51.5,40.5,7,MIT,,False,7000\n"
    )
    with collect_warnings() as warned:
        assert means(board(tmp_path, text)) == {"a": EXPECTED["a"], "b": EXPECTED["b"]}
    ((message, _),) = warned
    assert message.endswith(
        "columns that are no datasets: Rank, Average, #Params (B), License, URL, open, num_model_parameters"
    )


def test_missing_means_and_percent_signs_are_read(tmp_path):
    found = board(tmp_path, "model,mmlu,arc\na,40.5%,51.5\nb,-,n/a\nc,1.5%,\n")
    assert found.values[:, 0, 0].tolist() == [51.5, 40.5]
    assert np.isnan(found.values[:, 1:, 0]).tolist() == [[True, True], [True, False]]


UNCLEAR = {
    "no name": (",x,y\na,0.5,0.6\nb,0.7,0.8\n", "--columns run=index; or one row per dataset"),
    "another name": ("Size,x,y\n6,0.5,0.6\n7,0.7,0.8\n", "--columns run=Size; or one row per"),
    "measures": ("model,precision,recall\na,0.5,0.6\nb,0.7,0.8\n", "is named like a measure"),
    "metrics of a dataset": (
        "model,qa_f1,qa_em,mt_bleu\na,0.51,0.6,0.2\nb,0.7,0.8,0.3\n",
        "'qa_f1' is one of several measures",
    ),
    "losses": ("name,train_loss,test_loss,train_acc\na,0.5,0.6,0.7\nb,0.4,0.5,0.6\n", "measures"),
    "scales": (
        "model,x,y,z\na,50.5,60.5,0.25\nb,40.5,61.5,0.5\n",
        "'z' is within 1, unlike others; expected --columns run=model,value=x,value=y",
    ),
    "large numbers": (
        "model,x,y,z\na,50.5,60.5,8030.5\nb,40.5,61.5,700.5\n",
        "'z' is above 100, unlike others",
    ),
    "counts": ("model,x,y,z\na,50.5,60.5,7\nb,40.5,61.5,12\n", "'z' holds whole numbers only"),
    "errors": ("model,x,y,x_se\na,50.5,60.5,1.5\nb,40.5,61.5,1.2\n", "named like se of another"),
    "one mean": ("model,score\na,0.5\nb,0.6\n", "'score' is named like a measure"),
    "averages": (
        "model,Avg,Mean (Task)\na,0.5,0.6\nb,0.6,0.7\n",
        "no column of means on a dataset",
    ),
    "text among numbers": ("model,x,y\na,50.5,60.5\nb,40.5,61.5 ± 2\n", ":3: '61.5 ± 2' under 'y'"),
    "published errors": (
        "model,mean,se,n\na,0.5,0.1,20\nb,0.6,0.1,20\n",
        "confir evaluate --scores",
    ),
}


@pytest.mark.parametrize("what", UNCLEAR)
def test_a_board_that_is_not_certain_is_refused(tmp_path, what):
    text, message = UNCLEAR[what]
    with pytest.raises(FormatError) as caught:
        board(tmp_path, text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_columns_settle_what_is_not_clear(tmp_path):
    nameless = ",x,y\na,0.5,0.6\nb,0.7,0.8\n"
    assert means(board(tmp_path, nameless, "run=index")) == {
        "a": {"x": 0.5, "y": 0.6},
        "b": {"x": 0.7, "y": 0.8},
    }
    by_rows = {"x": {"a": 0.5, "b": 0.7}, "y": {"a": 0.6, "b": 0.8}}
    assert means(board(tmp_path, nameless, "dataset=index")) == by_rows
    assert means(board(tmp_path, "Size,x,y\na,0.5,0.6\nb,0.7,0.8\n", None, "Size")) == by_rows
    text, _ = UNCLEAR["scales"]
    assert means(board(tmp_path, text, "run=model,value=x,value=y")) == {
        "a": {"x": 50.5, "y": 60.5},
        "b": {"x": 40.5, "y": 61.5},
    }
    long = "m,d,p,v\na,x,AP,0.5\na,y,AP,0.25\n"
    found = board(tmp_path, long, "run=m,dataset=d,measure=p,value=v")
    assert (found.measures, means(found)) == (("AP",), {"a": {"x": 0.5, "y": 0.25}})


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("model", "columns is 'model'; expected which columns hold run"),
        ("judge=x", "columns is 'judge=x'; expected"),
        ("run=a,run=b", "columns names two columns of runs"),
    ],
)
def test_faulty_columns_are_named(columns, message):
    with pytest.raises(InvalidValueError, match=message):
        as_board_columns(columns)


def test_a_column_that_is_not_there_is_named(tmp_path):
    with pytest.raises(
        FormatError, match=r"board.csv:1: no column 'z'; expected one of 'model', 'x'"
    ):
        board(tmp_path, "model,x,y\na,0.5,0.6\n", "run=model,value=z,value=x")


def test_two_rows_of_a_model_are_refused_with_what_tells_them_apart(tmp_path):
    text = "model,kind,x,y\na,bow,0.5,0.6\nb,bow,0.7,0.8\na,idf,0.55,0.65\n"
    with collect_warnings(), pytest.raises(FormatError) as caught:
        board(tmp_path, text)
    assert ":4: a second row of model 'a' (the first: line 2), which differ in 'kind'" in str(
        caught.value
    )


def test_summaries_among_models_and_among_datasets_are_left_out(tmp_path):
    for text in (
        "model,x,y\na,0.5,0.6\nb,0.7,0.8\naverage,0.6,0.7\n",
        "dataset,a,b,average\nx,0.5,0.7,0.6\ny,0.6,0.8,0.7\nmean,0.55,0.75,0.65\n",
    ):
        with pytest.warns(ReadingWarning):
            found = board(tmp_path, text)
        assert means(found) == {"a": {"x": 0.5, "y": 0.6}, "b": {"x": 0.7, "y": 0.8}}


def test_a_board_has_the_measure_that_its_file_is_named_after(tmp_path):
    text = "model,x,y\na,0.5,0.6\nb,0.7,0.8\n"
    for name in ("ndcg_at_10.csv", "beir.nDCG@10.csv", "beir-ndcg_at_10.csv"):
        assert board(tmp_path, text, name=name).measures == ("nDCG@10",)
    assert board(tmp_path, text, name="look_at_10.csv").measures == ("score",)


@pytest.mark.parametrize(
    ("case", "file", "models", "datasets"),
    [
        ("openllm-csv", "20230523.csv", 49, 4),
        ("scandeval-board", "danish-nlg.csv", 145, 8),
    ],
)
def test_real_boards_are_read(real_data, case, file, models, datasets):
    path = real_data / "intake" / case / file
    with pytest.warns(ReadingWarning, match="columns that are no datasets"):
        entries = board_entries(read_score_table(path), as_board_columns(None))
    found = scores_from_table(entries, unit="dataset")
    assert (len(found.runs), len(found.topics)) == (models, datasets)


@pytest.mark.parametrize(
    "case",
    [
        *("alpacaeval-docs-board", "arena-board", "classifier-report", "index-models-tasks"),
        *("means-k", "model-mean-std", "prompt-model-means", "similarity-matrix", "tsv-named-csv"),
        *("wandb-project", "wandb-steps", "ragas-summary-metric", "regime-metrics"),
    ],
)
def test_real_tables_that_are_no_boards_are_refused(real_data, case):
    (path,) = (real_data / "intake" / case).glob("*.csv")
    with pytest.raises(FormatError):
        board_entries(read_score_table(path), as_board_columns(None))
