"""The charts of a report have the records of its results, and compute nothing."""

import json
import math

import numpy as np
import pytest

import confir
from chart_labels import names_of, records_of
from confir.data.sampling_designs.judged_scores import JudgedScores
from confir.data.scores import Scores
from confir.pairs.pair_results import TopicDifferences
from confir.report.contents import Settings, report_figures
from confir.report.figures import _file_names, write_figures
from confir.report.gathering import gather_contents
from confir.studies.topic_difficulty.topic_difficulty import describe_topics
from samples import short_sample

RUNS = ("bm25", "dense", "rerank", "splade")


@pytest.fixture(scope="module")
def contents():
    sample = short_sample()
    runs = [run for run in sample.runs if run.name in RUNS]
    scores = confir.evaluate(sample.qrels, runs, ["AP", "P@10"])
    return gather_contents(scores, qrels=sample.qrels, runs=runs, settings=Settings(replicates=499))


@pytest.fixture(scope="module")
def figures(contents):
    """Charts by section and measure, and at the given level."""
    return {(f.part, f.measure): f.drawing for f in report_figures(contents, (0.95,))}


def data(drawing):
    """All records that a chart draws."""
    return records_of(drawing)


def plain(records):
    """Records as JSON has them: None for NaN."""
    return [
        {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in record.items()}
        for record in records
    ]


def holds(drawn, records):
    """Whether each record is drawn, with all of its fields that the chart knows."""
    fields = set(drawn[0])
    wanted = [{k: v for k, v in record.items() if k in fields} for record in plain(records)]
    found = [{k: record[k] for k in wanted[0]} for record in drawn]
    key = json.dumps
    return len(wanted[0]) > 1 and sorted(map(key, wanted)) == sorted(map(key, found))


def test_every_part_has_its_charts(figures):
    by_measure = ["means", "best", "ranks", "pairs", "topics", "differences", "coverage"]
    by_measure.append("bias-variance")
    assert list(figures) == [
        *((part, "AP") for part in [*by_measure, "chance", "unjudged"]),
        *((part, "P@10") for part in [*by_measure, "chance", "unjudged"]),
        ("collection", None),
        ("variance", None),
        ("quality", None),
    ]


@pytest.mark.parametrize("place", [0, 1])
def test_charts_of_a_measure_hold_its_records(contents, figures, place):
    part = contents.measures[place]
    name = part.measure
    assert holds(data(figures["means", name]), part["means"][0.95].to_records())
    assert holds(data(figures["best", name]), part["best"].at[0.95].to_records())
    assert holds(data(figures["ranks", name]), part["ranks"][0.95].to_records())
    assert holds(data(figures["coverage", name]), part["coverage"].to_records())
    assert holds(data(figures["chance", name]), part["chance"].to_records())
    topics = describe_topics(part.scores).to_records()
    assert holds(data(figures["topics", name]), topics)


def test_the_chart_of_topics_holds_the_scores_of_the_best_run(contents, figures):
    scores = contents.measures[0].scores
    best = contents.measures[0].order[0]
    drawn = {r["topic"]: r["score"] for r in data(figures["topics", "AP"])}
    assert drawn == dict(zip(scores.topics, scores.values[:, best, 0].tolist(), strict=True))


def test_the_chart_of_differences_holds_the_best_run_less_the_next(contents, figures):
    part = contents.measures[0]
    first, second = part.order[:2]
    pair = np.array([second]), np.array([first]), np.array([[0]]), np.array([[False]])
    wanted = TopicDifferences(part.scores, *pair).to_records()
    assert holds(data(figures["differences", "AP"]), wanted)


def test_the_matrix_holds_every_pair_twice_once_each_way(contents, figures):
    records = contents.measures[0]["comparison"][0.95].to_records()
    drawn = {(r["row"], r["column"]): r for r in data(figures["pairs", "AP"])}
    assert len(drawn) == 2 * len(records) == 12
    opposite = {"better": "worse", "worse": "better"}
    for record in records:
        pair = record["run"], record["against"]
        there, back = drawn[pair], drawn[pair[::-1]]
        assert there["difference"] == record["difference"] == -back["difference"]
        assert there["p_adjusted"] == back["p_adjusted"] == record["p_adjusted"]
        word = record["verdict"]
        assert there["verdict"] == word
        assert back["verdict"] == opposite.get(word, word)
        assert there["significant"] == back["significant"] == (word in opposite)


def test_the_matrix_of_many_runs_holds_the_best_40():
    values = np.random.default_rng(2).random((10, 45, 1))
    runs = tuple(f"r{n}" for n in range(45))
    scores = Scores(tuple(map(str, range(10))), runs, ("AP",), values)
    contents = gather_contents(scores, settings=Settings(replicates=199))
    (matrix,) = [f.drawing for f in report_figures(contents, (0.95,)) if f.part == "pairs"]
    drawn = data(matrix)
    best = {runs[place] for place in np.argsort(-scores.mean()[:, 0])[:40]}
    assert {r["row"] for r in drawn} == best
    assert len(drawn) == 40 * 39
    records = {
        (r["run"], r["against"]): r for r in contents.measures[0]["comparison"][0.95].to_records()
    }
    for record in drawn:
        found = records.get((record["row"], record["column"]))
        if found is not None:
            assert record["difference"] == found["difference"]


def test_errors_are_drawn_as_they_are(contents, figures):
    drawn = [r for r in data(figures["bias-variance", "AP"]) if "run" in r]
    assert holds(drawn, contents.measures[0]["bias_variance"].to_records())


def test_charts_of_the_collection_hold_means_and_variances(contents, figures):
    assert holds(data(figures["collection", None]), contents["collection"].means.to_records())
    drawn = {(r["run"], r["part"]): r["variance"] for r in data(figures["variance", None])}
    for record in contents["collection"].variance.to_records():
        for part in ("topics", "documents", "interaction"):
            assert drawn[record["run"], part] == record[part]
    order = names_of(figures["variance", None]["spec"]["encoding"]["y"])
    assert order == contents["collection"].order


def test_the_chart_of_data_quality_holds_the_shares(contents, figures):
    drawn = {(r["run"], r["cutoff"]): r["unjudged"] for r in data(figures["quality", None])}
    for record in contents["data_quality"].to_records():
        for cutoff in contents["data_quality"].cutoffs:
            assert drawn[record["run"], cutoff] == record[f"unjudged_{cutoff}"]


def test_each_level_has_its_charts(contents):
    made = [(f.part, f.level) for f in report_figures(contents, (0.9, 0.99)) if f.measure == "AP"]
    for part in ("means", "ranks", "pairs"):
        assert [level for name, level in made if name == part] == [0.9, 0.99]


def test_runs_without_a_common_topic_have_no_chart_of_differences():
    values = np.random.default_rng(2).random((8, 2, 1))
    values[:4, 0] = values[4:, 1] = np.nan
    scores = Scores(tuple(map(str, range(8))), ("a", "b"), ("AP",), values)
    contents = gather_contents(scores, settings=Settings(replicates=199))
    parts = [figure.part for figure in report_figures(contents, (0.95,))]
    assert "topics" in parts
    assert "differences" not in parts


def test_files_are_svg_and_pdf_named_by_part_and_measure(tmp_path):
    values = np.random.default_rng(2).random((8, 1, 1))
    scores = Scores(tuple(map(str, range(8))), ("a",), ("P@10",), values)
    contents = gather_contents(scores, settings=Settings(replicates=199))
    written = write_figures(contents, tmp_path / "new" / "figures")
    assert {path.name for path in written} >= {
        "means-P-10.svg",
        "means-P-10.pdf",
        "topics-P-10.svg",
    }
    folder = tmp_path / "new" / "figures"
    assert sorted([*written, folder / ".confir"]) == sorted(folder.iterdir())
    for path in written:
        start = {".svg": b"<svg", ".pdf": b"%PDF"}[path.suffix]
        assert path.read_bytes().startswith(start)


def test_names_of_files_are_plain_and_never_the_same():
    assert _file_names(
        ["P@10", "P(rel=2)@10", "P-10", "ap", "AP", "\N{GREEK SMALL LETTER ALPHA}"]
    ) == {
        "P@10": "P-10",
        "P(rel=2)@10": "P-rel-2-10",
        "P-10": "P-10-2",
        "ap": "ap",
        "AP": "AP-2",
        "\N{GREEK SMALL LETTER ALPHA}": "measure",
    }


def test_each_measure_has_its_own_chart_of_corrected_means():
    model = short_sample()
    runs = [run for run in model.runs if run.name in RUNS]
    scores = confir.evaluate(model.qrels, runs, ["AP", "P@10"])
    people = scores.select(topic=list(scores.topics[:15]))
    judged = JudgedScores(people.topics, people.runs, people.measures, people.values, model=scores)
    gathered = gather_contents(judged, settings=Settings(replicates=99))
    drawn = [one for one in report_figures(gathered, (0.95,)) if one.part == "human"]
    assert [one.measure for one in drawn] == ["AP", "P@10"]
    assert [{r["measure"] for r in data(one.drawing)} for one in drawn] == [{"AP"}, {"P@10"}]
