"""Properties of every result: records, columns, frames, selection of labels, a short text."""

import dataclasses
import math
import warnings

import numpy as np
import pytest

import confir
from confir.data.effect_files import Group
from confir.data.result import Result
from confir.data.scores import Scores
from confir.pairs.pair_results import PairResult
from confir.report.result_table import result_table
from confir.resampling.document_bootstrap import resample_documents
from confir.studies import STUDIES, find_function
from confir.studies.collection.collection_differences import compare_on_collection
from confir.studies.collection.collection_means import decompose_variance, summarise_means
from confir.studies.collection.collection_topic_differences import compare_topics_on_collection
from confir.studies.collection.collection_topics import summarise_topics
from confir.studies.gate.false_alarms import find_false_alarms
from confir.studies.history.history import GateHistory
from confir.studies.meta_analysis.meta_analysis import pool_models
from confir.studies.nuggets.nugget_variance import NuggetVariance
from confir.studies.preferences.early_looks import share_sequence
from confir.studies.unjudged.missing_bounds import bound_missing, bound_missing_differences
from judge_files import noisy_judge
from samples import short_sample

# Where dimensions stand in arrays; all others come before them.
ORDER = {"topic": 1, "run": 2, "pair": 2, "column": 2, "measure": 3, "summary": 4}


def make_results():
    sample = short_sample()
    runs = [run for run in sample.runs if run.name != "bm25-rm3"][:3]
    scores = confir.evaluate(sample.qrels, runs, ["AP", "P@10"])
    values = scores.values.copy()
    values[3, 1, 0] = np.nan
    values[:, 2, 1] = values[:, 0, 1]
    gaps = Scores(scores.topics, scores.runs, scores.measures, values)
    first, runs_in_order = scores.runs[0], scores.runs
    comparison = confir.compare_runs(gaps, test=("t", "sign"), margin=0.05)
    documents = resample_documents(sample.qrels, runs, ["AP", "P@10"], replicates=20, rng=1)
    precision = scores.select(measure="P@10")
    effects = np.random.default_rng(1).normal(0.1, 0.1, (4, 3))
    groups = [Group("AP", run, "base", place) for run, place in zip("abc", "xyy", strict=True)]
    judges = [sample.qrels, *(noisy_judge(sample.qrels, seed=seed) for seed in (1, 2))]
    judged = confir.compare_judgements(judges, runs, ["AP", "P@10"], replicates=99, rng=1)
    votes = {"left": "aabbcc" * 9, "right": "bcacab" * 9, "winner": "aabbcb" * 9}
    sided = {"left": "abbcac" * 9, "right": "bacbca" * 9, "winner": "abbbca" * 9}
    return [
        gaps,
        confir.confidence_interval(gaps),
        confir.confidence_interval(np.random.default_rng(2).random((9, 2, 3))),
        confir.summarise_scores(gaps),
        confir.rank_runs(gaps, replicates=99, rng=1),
        confir.find_best(gaps, replicates=99, rng=1),
        confir.compare_costs(
            gaps, {run: float(place) for place, run in enumerate(gaps.runs)}, replicates=99, rng=1
        ),
        confir.compare_groups(
            gaps, by={topic: topic[-1] for topic in gaps.topics}, replicates=99, rng=1
        ),
        confir.Design(scores.topics, cluster=tuple(topic[:2] for topic in scores.topics)),
        confir.make_leaderboard(
            {"x": scores.select(measure="AP"), "y": scores.select(measure="AP", run=runs_in_order)},
            replicates=99,
            rng=1,
        ),
        confir.summarise_repeats(
            Scores(scores.topics, ("a@1", "a@2", "a@3"), scores.measures, scores.values)
        ),
        confir.decompose_scores(scores),
        confir.compare_measures(scores, splits=5, replicates=99, rng=1),
        comparison,
        confir.compare_runs(gaps, baseline=first),
        comparison.group_runs(),
        comparison.topic_differences(),
        confir.plan_topics(gaps, baseline=first, difference=0.03),
        confir.plan_topics(gaps),
        confir.estimate_coverage(scores, methods=["t", "beta-logit"], samples=20, rng=1),
        confir.estimate_type_one_error(scores, methods=["t"], topics=[5, 9], samples=20, rng=1),
        confir.compare_with_chance(sample.qrels, scores, documents=60_000, draws=9, rng=1),
        confir.compare_with_chance(sample.qrels, documents=60_000, measures=["AP", "P@10"]),
        confir.decompose_error(
            gaps, baseline=first, precision=precision, replicates=399, rng=1, parameters="k=1,2,"
        ),
        confir.inspect_data(sample.qrels, runs),
        confir.bound_unjudged(sample.qrels, runs, ["AP", "P@10"]),
        confir.estimate_unjudged(sample.qrels, runs, ["AP", "P@10"]),
        find_false_alarms(confir.compare_runs(scores, baseline=first), "AP", data_sets=60),
        bound_missing(gaps),
        bound_missing_differences(confir.compare_runs(gaps, baseline=first)),
        confir.bound_differences(sample.qrels, runs, ["AP", "P@10"], baseline=first),
        confir.estimate_reusability(
            *(sample.qrels, runs, ["AP", "P@10"]),
            teams={run.name: run.name[:1] for run in runs},
            bounds=True,
        ),
        confir.compare_reproduction(
            *(runs[0], runs[1:], sample.qrels, ["AP", "P@10"]),
            baseline_runs=runs[1:],
            margin=0.1,
            rng=1,
        ),
        confir.compare_reproduction(runs[0], runs[1:]),
        confir.compare_reproduction(runs[0], runs[1:]).lists,
        confir.bound_ties(sample.qrels, runs, ["AP", "P@10"]),
        NuggetVariance(
            ("a", "b"),
            ("vital", "all"),
            np.full((2, 2), 9),
            *np.full((3, 2, 2), 0.1),
            np.array([[0.2, 0.4], [np.nan, 1.1]]),
        ),
        confir.describe_topics(gaps, run=first),
        pool_models(effects, np.full((4, 3), 0.1), groups=groups),
        pool_models(effects, np.full((4, 3), 0.1), groups=groups).main,
        confir.pool_effects([0.1, 0.2, 0.4], [0.1, 0.1, 0.2]),
        confir.validate_split_half(sample.qrels, runs, replicates=20, rng=1),
        summarise_means(documents, methods=("bootstrap", "parametric")),
        summarise_topics(documents),
        compare_on_collection(documents, first),
        compare_topics_on_collection(documents, first),
        decompose_variance(documents),
        judged,
        judged.agreement,
        judged.agreement.confusion,
        confir.measure_agreement(
            labels={"human": [0, 1, 2, 1], "judge": [0, 1, 2, 2]}, replicates=99
        ),
        judged.runs,
        judged.variance,
        GateHistory(
            ((1, "AP", "a", "b"), (1, "AP", "a", "c"), (2, "AP", "a", "b")),
            *(("2026-01-01", "2026-01-01", "2026-01-02"), ("x", "x", None)),
            *(("passes", "fails", "passes"), ("not-worse",) * 3, np.zeros(3), np.full(3, 50)),
            *(np.array([0.1, np.nan, 0.2]), *np.full((3, 3), 0.1), ("candidates",) * 3),
            *np.full((3, 3), 0.2),
            *(np.array([0.4, np.nan, 0.5]), np.array([0.3, np.nan, 0.3])),
            *(np.ones(3, np.int64), ("d", "d", None), *(("e",) * 3,) * 3),
            (None,) * 3,
        ),
        confir.evaluate(
            judges[1],
            runs,
            ["AP", "P@10"],
            human=dict(list(sample.qrels.to_dict().items())[:20]),
            human_sample="random-topics",
        ),
        confir.evaluate(
            judges[1],
            runs,
            ["AP", "P@10"],
            human={
                topic: {docid: (gain, 1.0) for docid, gain in judged_documents.items()}
                for topic, judged_documents in sample.qrels.to_dict().items()
            },
            human_sample="random-documents",
        ),
        confir.plan_human_topics(
            confir.evaluate(
                judges[1],
                runs,
                ["AP", "P@10"],
                human=dict(list(sample.qrels.to_dict().items())[:20]),
                human_sample="random-topics",
            ),
            half_width=0.1,
        ),
        confir.plan_human_documents(
            confir.evaluate(
                judges[1],
                runs,
                ["AP", "P@10"],
                human={
                    topic: {docid: (gain, 1.0) for docid, gain in judged_documents.items()}
                    for topic, judged_documents in sample.qrels.to_dict().items()
                },
                human_sample="random-documents",
            ),
            half_width=0.1,
        ),
        confir.rate_preferences(votes, replicates=99, rng=1),
        confir.rate_preferences(votes, replicates=99, rng=1).pairs(),
        confir.rate_preferences(sided, replicates=99, rng=1).effects,
        confir.plan_votes(votes),
        confir.judge_target(scores, {"AP": 0.4}),
        share_sequence({"left": "ab", "right": "ba", "winner": "aa"}),
        confir.correct_judgements(
            judges[1],
            runs,
            ["AP", "P@10"],
            human=dict(list(sample.qrels.to_dict().items())[:20]),
            human_sample="random-topics",
        ),
    ]


@pytest.fixture(scope="module")
def results():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_results()


def same(one, other):
    """Whether two lists of records are equal; NaN equals NaN."""
    return repr(one) == repr(other)


def test_every_result_that_confir_shows_is_among_these(results):
    kinds = {f"{type(one).__module__}.{type(one).__qualname__}" for one in results}
    shown = {study.module(name) for study in STUDIES for name in study.results}
    assert shown <= kinds
    assert all(isinstance(one, Result) for one in results)


def test_columns_frames_and_records_hold_the_same(results):
    for result in results:
        records, columns = result.to_records(), result.to_dict()
        assert records, type(result)
        assert same(
            [{name: columns[name][i] for name in columns} for i in range(len(records))], records
        )
        for backend in ("pandas", "polars", "pyarrow"):
            assert result.to_frame(backend).shape == (len(records), len(columns)), type(result)
        assert result.to_arrow().column_names == list(columns)


def test_records_hold_plain_python_values(results):
    for result in results:
        kinds = {type(value) for column in result.to_dict().values() for value in column}
        assert kinds <= {str, int, float, bool, type(None)}, type(result)


def test_texts_are_one_short_line(results):
    for result in results:
        assert repr(result).startswith(f"{type(result).__name__}(")
        assert "\n" not in repr(result)
        assert len(repr(result)) < 200


def test_a_label_selects_its_records_and_no_others(results):
    for result in results:
        records = result.to_records()
        for name, _, labels in result.label_variables():
            if name not in records[0] or records[0][name] == "all":  # means over topics
                continue
            if name in ("run", "against") and isinstance(result, PairResult):
                continue  # records of all pairs name the better run first, by each measure
            for label in dict.fromkeys(labels):
                expected = [record for record in records if record[name] == label]
                found = result.select(**{name: label}).to_records()
                assert same(found, expected), (type(result), name, label)


def test_all_labels_in_another_order_select_all_records(results):
    for result in results:
        columns = result.to_dict().keys()
        for name, labels in result.axes().items():
            if not columns & {*result.label_parts.get(name, (name,))}:  # records are means over it
                continue
            turned = result.select(**{name: list(reversed(labels))})
            expected = labels if name == "topic" else reversed(labels)
            assert list(turned.axes()[name]) == list(expected), type(result)
            assert sorted(map(repr, turned.to_records())) == sorted(map(repr, result.to_records()))


def test_dimensions_of_arrays_have_one_order(results):
    for result in results:
        for one in dataclasses.fields(result):
            axes = [name for name in one.metadata.get("over", ()) if name != "cutoff"]
            places = [ORDER.get(name, 0) for name in axes if name]
            assert places == sorted(places), (type(result), one.name)


def test_scores_chosen_by_topic_keep_their_numbers(results):
    scores = results[0]
    some = scores.select(topic=scores.topics[4:1:-1], measure="AP")
    assert some.topics == scores.topics[2:5]
    np.testing.assert_array_equal(some.values, scores.values[2:5, :, :1])
    assert math.isnan(some.values[1, 1, 0])


def test_tables_show_columns_of_the_records(results):
    declared = [result for result in results if result.table_columns()]
    assert len(declared) >= 10
    for result in declared:
        for name, column in result.table_columns().items():
            wanted = {name, *column.others}
            assert wanted <= {*result.table_records()[0]}, (type(result), wanted)


def test_the_declared_table_has_the_names_and_notes_of_the_result(results):
    for result in results:
        columns = result.table_columns()
        if find_function(result, "table") is None and columns:
            table = result_table(result)
            records = result.table_records()
            assert len(table.rows) == len(records), type(result)
            assert table.note == result.note() != ""
            own = {
                column.title or name for name, column in columns.items() if column.text is not None
            }
            named = [place for place in range(table.names) if table.columns[place] not in own]
            names = [row[place].text for row in table.rows for place in named]
            known = {str(one) for record in records for one in record.values()}
            words = [dict(column.words or {}) for column in columns.values()]
            assert {*names} <= known.union(*(one.values() for one in words)), type(result)
