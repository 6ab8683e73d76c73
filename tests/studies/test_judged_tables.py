"""Score tables by human and model judgements give the estimates of the qrels."""

import json
import warnings

import numpy as np
import pytest

import confir
from confir.cli import start
from confir.errors import InvalidValueError, TopicMismatchError, TopicWarning
from judge_files import noisy_judge
from samples import short_sample

SAMPLE = short_sample()
RUNS = [run for run in SAMPLE.runs if run.name != "bm25-rm3"][:3]
MODEL = noisy_judge(SAMPLE.qrels, seed=1)
PEOPLE = dict(list(SAMPLE.qrels.to_dict().items())[2::3])
HOW = {"human": PEOPLE, "human_sample": "random-topics"}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TopicWarning)  # of topics without human judgements
        for name, qrels in (("model", MODEL), ("people", PEOPLE)):
            scores = confir.evaluate(qrels, RUNS, ["AP", "P@10"])
            confir.write_scores(scores, folder / f"{name}.csv")
    return folder / "model.csv", folder / "people.csv"


def test_tables_give_the_corrected_means_of_qrels(tables):
    expected = confir.evaluate(MODEL, RUNS, ["AP", "P@10"], **HOW)
    model, people = map(confir.read_scores, tables)
    found = model.with_human(people, "random-topics")
    assert found.topics == expected.topics
    np.testing.assert_allclose(found.mean(), expected.mean(), rtol=1e-12)
    ours, theirs = (confir.confidence_interval(one) for one in (found, expected))
    np.testing.assert_allclose(ours.low, theirs.low, rtol=1e-12)
    np.testing.assert_allclose(
        confir.compare_runs(found).difference, confir.compare_runs(expected).difference, rtol=1e-12
    )


def run_command(monkeypatch, capsys, *words):
    monkeypatch.setattr("sys.argv", ["confir", *map(str, words)])
    code = start.run()
    return code, capsys.readouterr()


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_commands_take_a_table_by_human_judgements(tables, monkeypatch, capsys, tmp_path, command):
    model, people = tables
    confir.write_qrels(MODEL, tmp_path / "model.txt")
    confir.write_qrels(PEOPLE, tmp_path / "people.txt")
    for run in RUNS:
        confir.write_run(run, tmp_path / f"{run.name}.run")
    files = [tmp_path / f"{run.name}.run" for run in RUNS]
    shared = ("-m", "AP", "--human-sample", "random-topics", "--format", "json")
    by_tables = run_command(
        monkeypatch, capsys, command, "--scores", model, "--human", people, *shared
    )[1]
    by_qrels = run_command(
        *(monkeypatch, capsys, command, tmp_path / "model.txt", *files),
        *("--human", tmp_path / "people.txt", *shared),
    )[1]
    ours, theirs = (json.loads(one.out) for one in (by_tables, by_qrels))
    assert len(ours) == len(theirs) > 0
    for one, other in zip(ours, theirs, strict=True):
        for key, value in one.items():
            same = pytest.approx(other[key], rel=1e-9) if isinstance(value, float) else other[key]
            assert value == same


def test_documents_drawn_at_random_need_qrels(tables, monkeypatch, capsys):
    model, people = tables
    words = ("--human", people, "--human-sample", "random-documents")
    code, said = run_command(monkeypatch, capsys, "evaluate", "--scores", model, *words)
    assert code == 2
    assert "cannot be combined with --human-sample random-documents" in said.err
    with pytest.raises(InvalidValueError, match="documents drawn at random need qrels"):
        confir.read_scores(model).with_human(confir.read_scores(people), "random-documents")


def test_runs_and_topics_that_do_not_fit_are_named(tables):
    model, people = map(confir.read_scores, tables)
    with pytest.raises(InvalidValueError, match=f"the human scores lack run {RUNS[2].name!r}"):
        model.with_human(people.select(run=list(people.runs[:2])), "random-topics")
    with pytest.raises(TopicMismatchError, match="the model judged 0 human-judged topics"):
        model.with_human(
            confir.Scores(("a", "b"), model.runs, model.measures, model.values[:2]), "random-topics"
        )
    values = people.values.copy()
    values[1, 0, 0] = np.nan
    gaps = confir.Scores(people.topics, people.runs, people.measures, values)
    with pytest.raises(TopicMismatchError, match="has no human score on topic"):
        model.with_human(gaps, "random-topics")
    renamed = ("zzz", *people.topics[1:])
    beyond = confir.Scores(renamed, people.runs, people.measures, people.values)
    with pytest.warns(TopicWarning, match=r"the model did not judge 1 human-judged topic .zzz."):
        model.with_human(beyond, "random-topics")
