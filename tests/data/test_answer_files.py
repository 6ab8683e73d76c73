"""Score tables of nuggetizer and AutoJudge, recognised by their content."""

import json

import numpy as np
import pytest

import confir
from confir.errors import ConfirError, FormatError, InputWarning, InvalidValueError, UnreadableError
from foreign_files import assigned, nugget_metrics

GOOD = (("a", "vital", "support"), ("b", "okay", "partial_support"))
VALUES = {
    ("x", "f1", "q1"): 0.5,
    ("x", "f1", "q2"): 0.25,
    ("y", "f1", "q1"): 1,
    ("y", "f1", "q2"): 0,
}


def write(folder, text, name="results.txt"):
    path = folder / name
    path.write_text(text)
    return path


def lines_of(shape, values=VALUES, measure=None):
    """Lines in the shapes of autojudge_evaluate.eval_results.io."""
    made = []
    for (run, own, topic), value in values.items():
        name = measure or own
        made.append(
            {
                "tot": f"{run}\t{name}\t{topic}\t{value}",
                "ir_measures": f"{run}\t{topic}\t{name}\t{value}",
                "ranking": f"{topic}\tQ0\t{run}\t0\t{value}\t{name}",
                "jsonl": json.dumps(
                    {"run_id": run, "topic_id": topic, "measure": name, "value": value}
                ),
            }[shape]
        )
    return "".join(f"{line}\n" for line in made)


SUMMARISED = {**VALUES, ("x", "f1", "all"): 0.375, ("y", "f1", "all"): 0.5}
SHAPES = ("tot", "ir_measures", "ranking", "jsonl")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("values", [VALUES, SUMMARISED], ids=["topics", "summaries"])
@pytest.mark.filterwarnings("ignore:.*summaries are left out")
def test_every_shape_of_autojudge_is_the_same_scores(tmp_path, shape, values):
    name = "results.jsonl" if shape == "jsonl" else "results.txt"
    scores = confir.read_scores(write(tmp_path, lines_of(shape, values), name))
    assert (scores.runs, scores.measures, scores.topics) == (("x", "y"), ("f1",), ("q1", "q2"))
    assert scores.values[:, :, 0].tolist() == [[0.5, 1.0], [0.25, 0.0]]


@pytest.mark.parametrize("shape", ["tot", "ir_measures", "ranking"])
def test_a_summary_distinguishes_columns_whose_measure_is_unknown(tmp_path, shape):
    path = write(tmp_path, lines_of(shape, SUMMARISED, "Measure-01"))
    scores = confir.read_scores(path)
    assert (scores.runs, scores.measures) == (("x", "y"), ("Measure-01",))


def test_whole_numbers_as_in_the_spot_check_of_autojudge_are_scores(tmp_path):
    text = "run_01  Measure-01  28  1\nrun_02  Measure-01  28  2\nrun_01  Measure-01  all  1\n"
    scores = confir.read_scores(write(tmp_path, text))
    assert (scores.runs, scores.topics) == (("run_01", "run_02"), ("28",))


@pytest.mark.parametrize("shape", ["tot", "ir_measures"])
def test_topics_that_are_numbers_tell_columns_apart(tmp_path, shape):
    values = {(run, "grade", topic): 0.5 for run in ("x", "y") for topic in ("28", "31")}
    scores = confir.read_scores(write(tmp_path, lines_of(shape, values)))
    assert (scores.measures, scores.topics) == (("grade",), ("28", "31"))


def test_columns_that_could_be_either_are_refused_and_then_named(tmp_path):
    path = write(tmp_path, lines_of("tot", VALUES, "grade"))
    with pytest.raises(
        FormatError, match="cannot be distinguished; expected --columns run,measure"
    ):
        confir.read_scores(path)
    scores = confir.read_scores(path, columns="run,measure,topic,value")
    assert (scores.runs, scores.measures, scores.topics) == (("x", "y"), ("grade",), ("q1", "q2"))
    other = confir.read_scores(path, columns="run,topic,measure,value")
    assert (other.measures, other.topics) == (("q1", "q2"), ("grade",))


def test_lines_that_begin_with_a_measure_are_read_as_before(tmp_path):
    scores = confir.read_scores(write(tmp_path, "map 301 x 0.5\nmap 302 x 0.25\n"))
    assert (scores.runs, scores.measures) == (("x",), ("AP",))


def test_a_run_and_qrels_are_still_refused(tmp_path):
    run = "1 Q0 d1 1 3.5 tag\n1 Q0 d2 2 2.5 tag\n2 Q0 d1 1 1.5 tag\n"
    with pytest.raises(
        FormatError, match=r"looks like a run.*--columns topic,-,run,-,value,measure"
    ):
        confir.read_scores(write(tmp_path, run))
    joined = run + "1 Q0 d8 1 3.5 other\n2 Q0 d9 1 1.5 other\n"
    with pytest.raises(FormatError, match="looks like a run"):
        confir.read_scores(write(tmp_path, joined))
    with pytest.raises(FormatError, match="looks like qrels"):
        confir.read_scores(write(tmp_path, "301 0 FT911-1 1\n301 0 FT911-2 0\n"))
    with pytest.raises(FormatError, match="cannot be distinguished"):
        confir.read_scores(write(tmp_path, "a nothing FT911-1 1\na nothing FT911-2 0\n"))


def test_a_ranking_by_one_unknown_measure_is_read_where_its_columns_are_named(tmp_path):
    path = write(tmp_path, lines_of("ranking", VALUES, "grade"))
    with pytest.raises(FormatError, match="looks like a run"):
        confir.read_scores(path)
    scores = confir.read_scores(path, columns="topic,-,run,-,value,measure")
    assert (scores.runs, scores.measures) == (("x", "y"), ("grade",))


def test_several_measures_that_rank_the_same_runs_are_a_ranking(tmp_path):
    text = lines_of("ranking", VALUES, "grade") + lines_of("ranking", VALUES, "fit")
    assert confir.read_scores(write(tmp_path, text)).measures == ("grade", "fit")


@pytest.mark.parametrize(
    "columns", ["run,measure", "run,measure,topic,score", "topic,topic,value", "run;measure"]
)
def test_an_order_of_columns_without_topic_or_value_is_refused(tmp_path, columns):
    with pytest.raises(InvalidValueError, match="or the columns in order: run,measure,topic,value"):
        confir.read_scores(write(tmp_path, lines_of("tot")), columns=columns)


def test_an_order_of_columns_does_not_fit_a_table_with_names_or_of_another_width(tmp_path):
    path = write(tmp_path, "topic,run,measure,score\n1,x,AP,0.5\n", "t.csv")
    with pytest.raises(InvalidValueError, match="names its columns"):
        confir.read_scores(path, columns="topic,run,measure,value")
    with pytest.raises(FormatError, match=r"results.txt:1: 4 columns; expected 3"):
        confir.read_scores(write(tmp_path, lines_of("tot")), columns="run,topic,value")


def test_a_folder_means_its_files(tmp_path):
    for run in ("x", "y"):
        own = {key: value for key, value in VALUES.items() if key[0] == run}
        write(tmp_path, lines_of("tot", own), run)
    write(tmp_path, "nothing", ".hidden")
    (tmp_path / "below").mkdir()
    scores = confir.read_scores(tmp_path)
    assert scores.runs == ("x", "y")
    with pytest.raises(UnreadableError, match="below: the folder has no files; expected"):
        confir.read_scores(tmp_path / "below")


def test_files_of_a_folder_name_the_runs_of_metrics(tmp_path):
    for run in ("x", "y"):
        text = nugget_metrics("q1", 1, 0.5, 1, 0.75) + nugget_metrics("all", 1, 0.5, 1, 0.75)
        write(tmp_path, text, f"{run}.jsonl")
    scores = confir.read_scores(tmp_path)
    assert (scores.runs, scores.topics) == (("x", "y"), ("q1",))
    assert scores.measures == ("strict_vital", "strict_all", "vital", "all")


def test_columns_of_metrics_can_be_named_as_in_any_table(tmp_path):
    path = write(tmp_path, nugget_metrics("q1", 1, 0.5, 1, 0.75), "m.jsonl")
    scores = confir.read_scores(path, columns="topic=qid,value=vital_score,value=all_score")
    assert scores.measures == ("vital_score", "all_score")
    assert scores.values.tolist() == [[[1.0, 0.75]]]


def test_an_answer_without_vital_nuggets_scores_0_by_vital(tmp_path):
    text = assigned("x", "q1", ("a", "okay", "support"), ("b", "okay", "not_support"))
    scores = confir.read_scores(write(tmp_path, text, "a.jsonl"))
    assert scores.values[0, 0].tolist() == [0.0, 0.5, 0.0, 0.5]


def without(text, key):
    record = json.loads(text)
    del record[key]
    return json.dumps(record) + "\n"


@pytest.mark.parametrize(
    ("second", "problem"),
    [
        (without(assigned("x", "q2", *GOOD), "run_id"), "lacks 'run_id'; expected lines of"),
        (without(assigned("x", "q2", *GOOD), "qid"), "lacks 'qid'; expected lines of"),
        (
            assigned("x", "q2"),
            "the answer of run 'x' to topic 'q2' has no nuggets; expected a list",
        ),
        (
            assigned("x", "q2", ("a", "vita", "support")),
            "importance of nugget 1 is 'vita'; expected",
        ),
        (
            assigned("x", "q2", GOOD[0], ("b", "okay", "failed")),
            "assignment of nugget 2 is 'failed'; expected support, partial_support or not_support",
        ),
        (
            assigned("x", "q2", ("a", "vital", "support"), ("a", "vital", "not_support")),
            "two nuggets have the text 'a' and differ in importance or assignment; expected each",
        ),
        (
            assigned("x", "q1", *GOOD),
            r"a second score of run 'x', measure 'strict_vital', topic 'q1'",
        ),
        (assigned("x", "q2", *GOOD)[:-20] + "\n", "not JSON"),
        (
            assigned("x", "q2", *GOOD).replace('"response_length": 1', '"z": NaN'),
            "NaN stands where",
        ),
        ("[]\n", "no JSON object; expected lines of"),
    ],
)
def test_a_malformed_answer_is_refused_with_its_line(tmp_path, second, problem):
    path = write(tmp_path, assigned("x", "q1", *GOOD) + second, "a.jsonl")
    with pytest.raises(FormatError, match=f"^{path}:2: .*{problem}") as caught:
        confir.read_scores(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", ["NaN", "null", '"0.5"', "true", "[]"])
def test_a_metric_that_is_no_number_is_refused_with_its_line(tmp_path, value):
    text = nugget_metrics("q1", 1, 0.5, 1, 0.75) + nugget_metrics("q2", 1, 0.125, 1, 0.75)
    path = write(tmp_path, text.replace("0.125", value), "m.jsonl")
    with pytest.raises(FormatError, match=f"^{path}:2: .*expected"):
        confir.read_scores(path)


def test_equal_nuggets_both_count_as_in_nuggetizer_with_a_warning(tmp_path):
    text = assigned("x", "q1", GOOD[0], GOOD[0], ("b", "okay", "not_support"))
    path = write(tmp_path, text, "a.jsonl")
    with pytest.warns(
        InputWarning, match=r"1 answer has two nuggets of one text .the first: line 1"
    ):
        scores = confir.read_scores(path)
    np.testing.assert_allclose(scores.values[0, 0], [1, 2 / 3, 1, 2 / 3])


def test_metrics_with_nothing_but_a_summary_are_refused(tmp_path):
    path = write(tmp_path, nugget_metrics("all", 1, 1, 1, 1), "m.jsonl")
    with pytest.raises(FormatError, match="no topics, only summaries"):
        confir.read_scores(path)


def test_answers_are_neither_a_run_nor_qrels(tmp_path):
    path = write(tmp_path, assigned("x", "q1", *GOOD), "a.jsonl")
    with pytest.raises(ConfirError, match=r"nuggetizer assignments: .*; expected a run"):
        confir.read_run(path)
    with pytest.raises(ConfirError, match=r"nuggetizer assignments: .*; expected qrels"):
        confir.read_qrels(path)
