"""Files of evaluation tools: repeats, failures, metadata, damage; what is right of each is in tests/intake."""

import io
import json
import re
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import confir
from confir.data.sampling_designs.topic_groups import read_topic_groups
from confir.errors import ConfirError, ConfirWarning, FormatError, InputWarning, ReadingWarning
from foreign_files import SCORES
from requirements import required

FILES = Path(__file__).parents[1] / "intake" / "files"


def read_quietly(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConfirWarning)
        return confir.read_scores(path)


def read_or_refuse(path):
    """The scores, or None and why not; any other error is a failure."""
    try:
        return read_quietly(path), ""
    except ConfirError as error:
        return None, str(error)


def put(folder, name, held):
    path = folder / name
    path.write_text(json.dumps(held))
    return path


def load(name):
    return json.loads((FILES / name).read_text())


@pytest.mark.parametrize(
    ("name", "field", "expected"),
    [
        ("promptfoo-v3.json", "category", ["rights", "fees", "rights", "fees", "rights"]),
        ("deepeval-run.json", "category", ["rights", "fees", "rights", "fees", "rights"]),
        ("inspect-log.json", "category", ["rights", "fees", "rights", "fees", "rights"]),
        ("inspect-zstandard.eval", "category", ["rights", "fees", "rights", "fees", "rights"]),
        ("mt-bench-grades.jsonl", "category", ["writing"] * 3),
    ],
)
def test_metadata_of_samples_are_a_table_of_topics(name, field, expected):
    groups = read_topic_groups(field, FILES / name)
    assert list(groups.group) == expected
    assert set(groups.topics) == set(read_quietly(FILES / name).topics)


@pytest.mark.parametrize("name", ["promptfoo-v3.json", "deepeval-run.json", "inspect-log.json"])
def test_groups_of_topics_are_offered(name):
    with pytest.warns(ReadingWarning, match=f"--design .*{name} --by category"):
        confir.read_scores(FILES / name)


def test_fields_that_form_no_groups_are_not_offered(tmp_path):
    held = load("deepeval-run.json")
    for number, case in enumerate(held["testCases"]):
        case["metadata"] = {"same": "a", "own": f"case {number}"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        confir.read_scores(put(tmp_path, "run.json", held))


def test_a_file_without_metadata_is_no_table_of_topics():
    with pytest.raises(
        FormatError, match=r"langsmith-runs\.json: no metadata .*; expected a field"
    ):
        read_topic_groups("category", FILES / "langsmith-runs.json")


@pytest.mark.parametrize("kind", SCORES)
def test_the_order_of_records_changes_no_score(tmp_path, kind):
    """But that of repeats, which have no number, and the header of OpenAI's logs."""
    if kind in ("FastEval code", "OpenAI evals log"):
        return
    name, text = SCORES[kind]

    def reversed_lists(held):
        if isinstance(held, dict):
            return {key: reversed_lists(value) for key, value in held.items()}
        if isinstance(held, list) and all(isinstance(one, dict) for one in held):
            return [reversed_lists(one) for one in reversed(held)]
        return held

    (tmp_path / name).write_text(text)
    before = read_quietly(tmp_path / name)
    lines = [reversed_lists(json.loads(line)) for line in text.splitlines()]
    (tmp_path / name).write_text("".join(f"{json.dumps(line)}\n" for line in reversed(lines)))
    after = read_quietly(tmp_path / name).select(run=before.runs, measure=before.measures)
    assert after.topics == before.topics
    places = [after.runs.index(run) for run in before.runs]
    measures = [after.measures.index(measure) for measure in before.measures]
    found = after.values[:, places][:, :, measures]
    np.testing.assert_array_equal(found, before.values)


@pytest.mark.parametrize("seed", range(5))
def test_the_bounds_of_a_mean_are_those_of_all_values_that_are_missing(tmp_path, seed):
    draw = np.random.default_rng(seed)
    held = load("deepeval-run.json")
    scores = [None if draw.random() < 0.5 else float(draw.random()) for _ in held["testCases"]]
    scores[int(draw.integers(5))] = None
    scores[0] = 0.25 if scores.count(None) == 5 else scores[0]
    for case, score in zip(held["testCases"], scores, strict=True):
        case |= {"metricsData": [{"name": "m", "score": score}], "metadata": {}}
    with pytest.warns(InputWarning, match="would lie between") as said:
        confir.read_scores(put(tmp_path, "run.json", held))
    text = next(str(one.message) for one in said if "would lie" in str(one.message))
    shown = [float(number) for number in re.findall(r"\d\.\d{3}", text)]
    every = [np.mean([fill if x is None else x for x in scores]) for fill in (0.0, 1.0)]
    assert shown == pytest.approx(every, abs=5e-4)
    assert f"{scores.count(None)} of 5 test cases" in text


def test_tests_of_promptfoo_that_differ_in_their_assertions_are_two_topics(tmp_path):
    held = load("promptfoo-v3.json")
    results = [one for one in held["results"]["results"] if one["testIdx"] == 0]
    other = json.loads(json.dumps(results))
    for one in other:
        one["testCase"]["assert"] = [{"type": "icontains", "value": "y"}]
        one["testIdx"], one["score"] = 1, 0.125
    held["results"]["results"] = results + other
    scores = read_quietly(put(tmp_path, "r.json", held))
    assert scores.topics == (
        "How long is the notice period? (test 1)",
        "How long is the notice period? (test 2)",
    )
    assert scores.runs == ("lab:model-a", "lab:model-b")
    assert scores.select(measure="score").values[1].ravel().tolist() == [0.125, 0.125]


def test_an_assertion_that_failed_is_a_score_and_an_error_is_none(tmp_path):
    held = load("promptfoo-v3.json")
    for one in held["results"]["results"]:  # as versions 2 have it
        del one["failureReason"]
    first, second = held["results"]["results"][:2]
    first |= {"score": 0, "success": False, "error": "expected x", "gradingResult": {"score": 0}}
    second |= {"score": 0, "success": False, "error": "API error", "gradingResult": None}
    scores = read_quietly(put(tmp_path, "r.json", held)).select(measure="score")
    topic = scores.topics.index("How long is the notice period?")
    assert scores.values[topic].ravel().tolist() == pytest.approx([0.0, np.nan], nan_ok=True)


def test_the_win_rate_of_alpaca_eval_is_the_share_of_its_votes(tmp_path):
    draw = np.random.default_rng(3)
    held = [
        one | {"instruction": f"q{number}", "preference": float(draw.choice([0, 1, 1.5, 2]))}
        for number, one in enumerate(load("alpaca-eval.json") * 8)
    ]
    path = put(tmp_path, "annotations.json", held)
    votes = confir.read_votes(path)
    table = votes.table()
    one = votes.systems.index("model-a")
    assert read_quietly(path).mean().ravel() == pytest.approx([table.share[one, 1 - one]])
    assert table.votes[one, 1 - one] == len(held)


def test_a_score_of_fast_eval_that_its_answers_do_not_give_is_refused(tmp_path):
    held = load("fasteval-task.json") | {"score": 0.75}
    with pytest.raises(FormatError, match=r"'score' is 0\.75, where 0\.5 of the outputs"):
        confir.read_scores(put(tmp_path, "task.json", held))


def test_an_accuracy_that_the_samples_do_not_give_is_said(tmp_path):
    text = (FILES / "openai-evals.jsonl").read_text().replace('"accuracy": 0.6', '"accuracy": 0.7')
    (tmp_path / "log.jsonl").write_text(text)
    with pytest.warns(InputWarning, match=r"accuracy is 0\.7, that of the samples 0\.6"):
        confir.read_scores(tmp_path / "log.jsonl")


@pytest.mark.parametrize("name", ["inspect-epochs.eval", "inspect-zstandard.eval"])
def test_a_damaged_log_of_inspect_is_refused_in_a_sentence_or_read_as_it_is(tmp_path, name):
    content = (FILES / name).read_bytes()
    whole = read_quietly(FILES / name)
    path = tmp_path / name
    draw = np.random.default_rng(5)
    refused = 0
    for _ in range(150):
        damaged = bytearray(content)
        if draw.random() < 0.3:
            damaged = damaged[: int(draw.integers(50, len(damaged)))]
        else:
            place = int(draw.integers(len(damaged)))
            damaged[place] ^= 1 << int(draw.integers(8))
        path.write_bytes(damaged)
        found, problem = read_or_refuse(path)
        if found is None:
            assert problem.startswith(f"{path}:")
            assert "\n" not in problem
            refused += 1
        else:
            assert set(found.runs) <= set(whole.runs)
            assert set(found.topics) <= set(whole.topics)
    assert refused > 50


def test_a_log_of_inspect_that_expands_beyond_reason_is_refused(tmp_path):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", "{}")
        archive.writestr("samples/1_epoch_1.json", b" " * (70 << 20))
    (tmp_path / "log.eval").write_bytes(held.getvalue())
    with pytest.raises(FormatError, match="compressed bytes hold more than"):
        confir.read_scores(tmp_path / "log.eval")


def test_a_log_of_inspect_whose_header_is_long_is_recognised(tmp_path):
    held = load("inspect-log.json")
    held["eval"]["dataset"]["sample_ids"] = [f"sample {number}" for number in range(20_000)]
    found = read_quietly(put(tmp_path, "log.json", held))
    assert found.runs == ("lab/model-a",)


def test_a_name_of_a_measure_may_be_that_of_a_column(tmp_path):
    held = load("deepeval-run.json")
    for case, name in zip(held["testCases"], ["topic", "run"] * 3, strict=False):
        case["metricsData"] = [{"name": name, "score": 0.5}]
    assert read_quietly(put(tmp_path, "run.json", held)).measures == ("topic", "run")


def test_frames_of_trulens_name_the_versions_of_an_app():
    pandas = required("pandas")
    frame = pandas.read_csv(FILES / "trulens-records.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConfirWarning)
        scores = confir.as_scores(frame)
    assert scores.runs == ("base", "rerank")
    whole = read_quietly(FILES / "trulens-records.csv")
    np.testing.assert_allclose(scores.mean(), whole.mean())
