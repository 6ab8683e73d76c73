"""Experiments: each file is read once, by rules that all verbs share."""

import builtins
import inspect
import io
import os
import threading
from dataclasses import dataclass, fields
from pathlib import Path
from typing import get_type_hints

import numpy as np
import pytest

import confir
from confir.cli.input import Inputs
from confir.data.experiment import Experiment
from confir.data.reading_rules import ReadingOptions, ReadingRules
from confir.errors import InvalidValueError
from requirements import ON_UNIX

MEASURES = ["AP", "nDCG@3"]


@pytest.fixture
def folder(tmp_path):
    """Qrels, and two runs with tied scores, tags and a topic that one of them lacks."""
    chance = np.random.default_rng(7)
    qrels = [f"{t} 0 d{d} {chance.integers(0, 3)}" for t in range(6) for d in range(12)]
    (tmp_path / "qrels.txt").write_text("\n".join(qrels) + "\n")
    for name, topics in (("one", 6), ("two", 5)):
        lines = [
            f"{t} Q0 d{d} 1 {1 + chance.integers(0, 3) * 1e-12} tag-{name}"
            for t in range(topics)
            for d in chance.permutation(12)
        ]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.fixture
def paths(folder):
    return folder / "qrels.txt", [folder / "one.run", folder / "two.run"]


@pytest.fixture
def opened(monkeypatch, folder):
    """The names of the files of the folder that are opened; a cluster's threads open others."""
    names = []

    def watch(module, name):
        original = getattr(module, name)

        def noted(path, *rest, **options):
            if isinstance(path, str | os.PathLike) and Path(path).parent == folder:
                names.append(os.path.basename(path))
            return original(path, *rest, **options)

        monkeypatch.setattr(module, name, noted)

    for module in (builtins, io, os):
        watch(module, "open")
    return names


RULES = [
    {"rel": 2},
    {"depth": 3},
    {"missing": "drop"},
    {"name_by": "tag"},
    {"tie_precision": "single"},
]


@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
@pytest.mark.parametrize("rules", [{}, *RULES], ids=str)
def test_an_experiment_scores_as_qrels_and_runs_do(paths, rules):
    experiment = Experiment(*paths, MEASURES, **rules)
    expected = confir.evaluate(*paths, MEASURES, **rules)
    for _ in ("from the judged documents", "from whole lists"):
        found = confir.evaluate(experiment)
        assert (found.runs, found.measures) == (expected.runs, expected.measures)
        np.testing.assert_array_equal(found.values, expected.values)
        experiment = Experiment(*paths, MEASURES, **rules)
        experiment.lists()


@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
@pytest.mark.parametrize("rules", RULES, ids=str)
def test_every_rule_of_an_experiment_changes_something(paths, rules):
    plain, ruled = (confir.evaluate(Experiment(*paths, MEASURES, **given)) for given in ({}, rules))
    assert plain.runs != ruled.runs or not np.array_equal(
        plain.values, ruled.values, equal_nan=True
    )


@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
def test_every_file_is_read_once_for_all_verbs(paths, opened):
    experiment = Experiment(*paths, ["AP"])
    confir.evaluate(experiment)
    confir.compare_runs(experiment, replicates=19, rng=1)
    confir.inspect_data(experiment)
    confir.resample_documents(experiment, replicates=9, rng=1)
    confir.compare_with_chance(experiment, documents=50, draws=0)
    assert sorted(opened) == ["one.run", "qrels.txt", "two.run"]


def test_nothing_is_read_before_it_is_needed():
    experiment = Experiment("nowhere.txt", "nowhere.run")
    assert repr(experiment) == "Experiment(qrels, runs)"
    with pytest.raises(confir.errors.UnreadableError, match=r"nowhere\.txt"):
        confir.evaluate(experiment)


@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
def test_scores_are_computed_once_for_the_same_measures(paths):
    experiment = Experiment(*paths, MEASURES)
    scores = confir.evaluate(experiment)
    assert confir.evaluate(experiment) is scores
    assert confir.as_scores(experiment) is scores
    assert confir.evaluate(experiment, measures=["AP"]).measures == ("AP",)


@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
def test_documents_are_resampled_by_the_rules_of_the_experiment(paths):
    rules = {"rel": 2, "depth": 5, "missing": "drop", "name_by": "tag", "tie_precision": "single"}
    expected = confir.resample_documents(*paths, "RR", replicates=9, rng=1, **rules)
    found = confir.resample_documents(Experiment(*paths, "RR", **rules), replicates=9, rng=1)
    assert found.runs == expected.runs == ("tag-one", "tag-two")
    np.testing.assert_array_equal(found.values, expected.values)


def test_measures_are_by_default_those_of_the_verb(paths):
    experiment = Experiment(paths[0], paths[1][0])
    assert len(confir.evaluate(experiment).measures) > 1
    assert confir.resample_documents(experiment, replicates=9).measures == ("AP",)
    assert confir.validate_split_half(experiment, replicates=9).measure == "AP"


@pytest.mark.parametrize(
    "options", [{"runs": "x.run"}, *({"depth": 3}, {"missing": "drop"}, {"name_by": "tag"})]
)
def test_an_experiment_keeps_its_own_runs_and_rules(paths, options):
    with pytest.raises(InvalidValueError, match=f"{next(iter(options))} is given beside an Exp"):
        confir.evaluate(Experiment(*paths), **options)


def test_an_experiment_is_frozen_for_its_user(paths):
    experiment = Experiment(*paths, ["AP"], depth=7)
    assert experiment.rules == ReadingRules(depth=7)
    for name in ("qrels", "sources", "rules", "measures"):
        with pytest.raises(AttributeError):
            setattr(experiment, name, None)
    with pytest.raises(AttributeError):
        experiment.rules.depth = 8


def test_a_measure_may_be_a_function_that_has_no_hash(paths):
    @dataclass
    class Found:
        least: int

        def __call__(self, gains, judged):
            return float((gains >= self.least).sum() / (judged >= self.least).sum())

    experiment = Experiment(paths[0], paths[1][0], [Found(1)])
    scores = confir.evaluate(experiment)
    assert confir.evaluate(experiment) is scores
    np.testing.assert_array_equal(
        scores.values, confir.evaluate(paths[0], paths[1][0], Found(1)).values
    )


@ON_UNIX
def test_a_pipe_is_read_once_for_all_verbs(paths, tmp_path):
    pipe = tmp_path / "pipe.run"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[paths[1][0].read_bytes()])
    writer.start()
    experiment = Experiment(paths[0], {"piped": pipe}, ["AP"])
    scores = confir.evaluate(experiment)
    writer.join()
    assert confir.inspect_data(experiment).runs == ("piped",)
    expected = confir.evaluate(paths[0], paths[1][0], ["AP"])
    np.testing.assert_array_equal(scores.values, expected.values)


def test_reading_options_are_stated_alike_as_rules_keywords_and_options():
    rules = {field.name: field.default for field in fields(ReadingRules) if field.init}
    hints = get_type_hints(ReadingRules)
    assert get_type_hints(ReadingOptions) == {name: hints[name] for name in rules}
    options = {field.name: field.default for field in fields(Inputs) if field.name in rules}
    assert options == {
        **rules,
        "missing": None,
    }  # which is zero for runs, and drop for score tables
    for verb in (confir.Experiment, confir.evaluate, confir.resample_documents):
        parameters = inspect.signature(verb).parameters
        assert {name: parameters[name].default for name in rules} == rules
