"""Counts of what runs and qrels lack; expectations by hand and by plain loops."""

import dataclasses
import math
from collections import Counter
from statistics import median

import numpy as np
import pytest

import confir
from confir.data.formats.runs_and_qrels import as_qrels, as_run
from confir.errors import ConfirError, InvalidValueError
from confir.studies.data_quality.data_quality import inspect_data
from confir.studies.data_quality.sentences import NOTHING_UNUSUAL, moved_sentences, unjudged_warning
from samples import whole_sample

QRELS = {
    "1": {"a": 1, "b": 0, "c": 2},
    "2": {"a": 1, "x": 0},
    "3": {"b": 0, "y": -2},
}


def run(name, lists):
    return as_run(lists, name=name)


GOOD = {"1": {"a": 3, "b": 2, "c": 1}, "2": {"a": 2, "x": 1}, "3": {"y": 1}}
TIED = {"1": {"a": 2, "u": 2, "v": 2, "b": 1, "w": 1}, "2": {"u": 9, "a": 8}, "9": {"a": 1, "b": 1}}


@pytest.fixture(scope="module")
def quality():
    return inspect_data(as_qrels(QRELS), [run("good", GOOD), run("tied", TIED)], cutoffs=(1, 2, 4))


def test_topics_are_named_that_a_run_or_the_qrels_lack(quality):
    assert quality.missing == ((), ("3",))
    assert quality.unknown == ((), ("9",))


def test_lists_of_unknown_topics_do_not_count(quality):
    assert quality.lengths.tolist() == [[3, 2, 1], [5, 2, 0]]
    assert quality.tied[1] == pytest.approx(5 / 7)


def test_tied_documents_are_those_whose_score_another_has_in_the_list(quality):
    assert quality.tied[0] == 0
    assert quality.largest_tie.tolist() == [0, 3]


def test_equal_scores_at_the_border_of_two_lists_are_not_tied():
    lists = {"1": {"a": 2, "b": 1}, "2": {"a": 1, "x": 0}}
    assert inspect_data(as_qrels(QRELS), [run("r", lists)]).tied.tolist() == [0.0]


def test_the_unjudged_share_is_a_mean_over_lists_divided_by_the_shorter_of_list_and_cutoff(quality):
    assert quality.unjudged[0].tolist() == [0.0, 0.0, 0.0]
    # topic 1 ranks v, u, a, w, b (ties by docid, descending), topic 2 ranks u, a
    expected = [(1 + 1) / 2, (1 + 1 / 2) / 2, (3 / 4 + 1 / 2) / 2]
    assert quality.unjudged[1].tolist() == pytest.approx(expected)


def test_documents_of_negative_gain_are_judged_but_not_relevant(quality):
    assert quality.judged.tolist() == [3, 2, 2]
    assert quality.relevant.tolist() == [2, 1, 0]
    assert quality.without_relevant == ("3",)
    assert quality.with_one_relevant == ("2",)


def test_relevance_starts_at_the_gain_asked_for():
    quality = inspect_data(as_qrels(QRELS), [run("good", GOOD)], rel=2)
    assert quality.relevant.tolist() == [1, 0, 0]


def test_a_run_without_any_topic_of_the_qrels_has_no_shares():
    quality = inspect_data(as_qrels(QRELS), [run("other", {"7": {"a": 1}})], cutoffs=(5,))
    (record,) = quality.to_records()
    assert quality.missing == (("1", "2", "3"),)
    assert (record["lists"], record["shortest"], record["longest"]) == (0, 0, 0)
    assert math.isnan(record["unjudged_5"])
    assert math.isnan(record["tied"])
    assert math.isnan(record["median"])
    assert any("lacks 3 of 3 topics" in text for text in quality.sentences())


def test_records_have_a_field_per_cutoff_in_ascending_order():
    quality = inspect_data(as_qrels(QRELS), [run("tied", TIED)], cutoffs=(4, 1, 4))
    (record,) = quality.to_records()
    assert list(record) == [
        "run",
        "lists",
        "missing_topics",
        "unknown_topics",
        "shortest",
        "median",
        "longest",
        "tied",
        "largest_tie",
        "unjudged_1",
        "unjudged_4",
    ]
    assert quality.to_dict() == {name: [value] for name, value in record.items()}
    assert quality.to_frame("pandas").to_dict("records") == [record]
    assert (record["shortest"], record["median"], record["longest"]) == (2, 3.5, 5)


def test_the_qrels_are_summarised_in_numbers(quality):
    assert quality.qrels_record() == {
        "topics": 3,
        "judged_min": 2,
        "judged_median": 2.0,
        "judged_max": 3,
        "relevant_min": 0,
        "relevant_median": 1.0,
        "relevant_max": 2,
        "without_relevant": 1,
        "with_one_relevant": 1,
    }
    assert quality.topic_records()[0] == {"topic": "1", "judged": 3, "relevant": 2}


@pytest.mark.parametrize("cutoffs", [(), (0,), (5, -1)])
def test_cutoffs_below_one_are_refused(cutoffs):
    with pytest.raises(InvalidValueError, match=r"cutoff.* expected (1 or more|at least one)"):
        inspect_data(as_qrels(QRELS), [run("good", GOOD)], cutoffs=cutoffs)


def test_two_runs_of_one_name_are_refused():
    with pytest.raises(ConfirError, match="two runs are named"):
        inspect_data(as_qrels(QRELS), [run("r", GOOD), run("r", TIED)])


def test_the_result_is_frozen(quality):
    with pytest.raises(dataclasses.FrozenInstanceError):
        quality.rel = 2


def plain_quality(qrels, ranked, cutoffs):
    """The same numbers by loops over documents."""
    judged = qrels.to_dict()
    lists = {topic: ranked[topic] for topic in ranked if topic in judged}
    shares = []
    for cutoff in cutoffs:
        by_topic = []
        for topic, entries in lists.items():
            seen = entries[:cutoff]
            by_topic.append(sum(docid not in judged[topic] for docid, _ in seen) / len(seen))
        shares.append(sum(by_topic) / len(by_topic))
    groups = [Counter(score for _, score in entries).values() for entries in lists.values()]
    tied = sum(size for sizes in groups for size in sizes if size > 1)
    total = sum(len(entries) for entries in lists.values())
    largest = max((size for sizes in groups for size in sizes if size > 1), default=0)
    lengths = [len(entries) for entries in lists.values()]
    return shares, tied / total, largest, (min(lengths), median(lengths), max(lengths))


def test_the_sample_collection_gives_what_plain_loops_give():
    collection = whole_sample()
    quality = inspect_data(collection.qrels, collection.runs)
    for r, ranked in enumerate(collection.runs):
        expected = plain_quality(collection.qrels, ranked, quality.cutoffs)
        record = quality.to_records()[r]
        assert quality.unjudged[r].tolist() == pytest.approx(expected[0], abs=1e-12)
        assert quality.tied[r] == expected[1]
        assert quality.largest_tie[r] == expected[2]
        assert (record["shortest"], record["median"], record["longest"]) == expected[3]


def test_the_flaws_of_the_sample_collection_are_reported():
    collection = whole_sample()
    missing, tied = inspect_data(collection.qrels, collection.runs).sentences()
    assert missing == "run 'bm25-rm3' lacks 1 of 50 topics (135)"
    assert tied.startswith("99% of the documents of run 'splade' are tied with another, up to 113")


def many_topics(ranked, count=30):
    return {f"{topic:02}": dict(ranked) for topic in range(count)}


def test_data_without_flaws_are_nothing_unusual():
    qrels = as_qrels(many_topics({"a": 1, "b": 1, "c": 0}))
    quality = inspect_data(qrels, [run("good", many_topics({"a": 3, "b": 2, "c": 1}))])
    assert quality.sentences() == [NOTHING_UNUSUAL]


@pytest.mark.parametrize(
    ("judged", "ranked", "sentence"),
    [
        (
            {"a": 1, "b": 1, "c": 0},
            {"a": 9, "u": 8, "b": 7, "v": 6},
            (
                "50% of the first 10 documents of run 'r' were never judged, so its score may be too "
                "low"
            ),
        ),
        (
            {"a": 1, "b": 0},
            {"a": 2, "b": 1},
            (
                "30 of 30 topics (00, 01, 02, 03, 04 and 25 more) have one relevant document; AP "
                "there depends on the rank of that document alone"
            ),
        ),
        (
            {"a": 0, "b": 0},
            {"a": 2, "b": 1},
            (
                "30 of 30 topics (00, 01, 02, 03, 04 and 25 more) have no relevant document; every "
                "run scores 0 there by most measures"
            ),
        ),
        (
            {"a": 1, "b": 1},
            {"a": 2, "b": 1},
            (
                "every judged document is relevant, so measures based on judged non-relevant "
                "documents such as Bpref say little"
            ),
        ),
        (
            {"a": 1, "b": 1, "c": 0},
            {"a": 2, "b": 2, "c": 1},
            (
                "67% of the documents of run 'r' are tied with another, up to 2 together; ties are "
                "broken by docid, as in trec_eval, so their order is arbitrary"
            ),
        ),
    ],
)
def test_a_flaw_is_reported_in_a_sentence_and_nothing_else(judged, ranked, sentence):
    quality = inspect_data(as_qrels(many_topics(judged)), [run("r", many_topics(ranked))])
    assert quality.sentences() == [sentence]


def test_lists_of_less_than_half_the_depth_of_others_are_reported():
    qrels = as_qrels(many_topics({"a": 1, "b": 1, "c": 0, "d": 0, "e": 0}))
    deep = run("deep", many_topics({"a": 5, "b": 4, "c": 3, "d": 2, "e": 1}))
    shallow = run("shallow", many_topics({"a": 5, "b": 4}))
    assert inspect_data(qrels, [deep, shallow]).sentences() == [
        (
            "the lists of run 'shallow' end at rank 2, others at 5; measures of deeper ranks favour "
            "longer lists"
        )
    ]


def test_a_run_without_lists_is_not_reported_to_have_short_ones():
    qrels = as_qrels(many_topics({"a": 1, "b": 1, "c": 0}))
    runs = [run("other", {"none": {"a": 1}}), run("good", many_topics({"a": 1}))]
    lacking, unknown = inspect_data(qrels, runs).sentences()
    assert lacking.startswith("run 'other' lacks 30 of 30 topics")
    assert unknown == "the qrels lack 1 topic (none) of run 'other'; these topics are not scored"


def test_runs_with_the_same_topics_that_the_qrels_lack_share_a_sentence():
    qrels = as_qrels(many_topics({"a": 1, "b": 1, "c": 0}))
    whole, new = many_topics({"a": 1}), {"new": {"a": 1}}
    runs = [run(f"r{i}", whole | new) for i in range(7)] + [run("s", whole | new | {"x": {"a": 1}})]
    assert inspect_data(qrels, runs).sentences() == [
        "the qrels lack 2 topics (new, x) of run 's'; these topics are not scored",
        "the qrels lack 1 topic (new) of 7 runs ('r0', 'r1', 'r2' and 4 more)",
    ]


def test_few_topics_are_reported():
    qrels = as_qrels(many_topics({"a": 1, "b": 1, "c": 0}, 24))
    (sentence,) = inspect_data(qrels, [run("r", many_topics({"a": 1}, 24))]).sentences()
    assert sentence.startswith("there are 24 topics; with fewer than 25")


def test_of_many_runs_the_gravest_are_reported_and_the_rest_counted():
    qrels = as_qrels(many_topics({"a": 1, "b": 1, "c": 0}))
    runs = [run(f"r{i}", many_topics({"a": 1}, 30 - i)) for i in range(8)]
    sentences = inspect_data(qrels, runs).sentences()
    assert sentences[0] == "run 'r7' lacks 7 of 30 topics (23, 24, 25, 26, 27 and 2 more)"
    assert sentences[4].startswith("run 'r3' lacks 3")
    assert sentences[5:] == ["2 more runs without some of the topics (r2, r1)"]


def test_a_share_just_below_all_is_not_called_all():
    lists = many_topics({f"d{i:03}": 1 for i in range(400)} | {"last": 0})
    qrels = as_qrels(many_topics({"last": 1, "d000": 0, "d001": 1}))
    sentences = inspect_data(qrels, [run("r", lists)]).sentences()
    assert sentences[-1].startswith("more than 99% of the documents")


def test_files_are_read_as_evaluate_reads_them(real_data):
    folder = real_data / "trec-robust-2003"
    paths = sorted((folder / "runs").glob("input.*"))[:4]
    quality = confir.inspect_data(folder / "qrels.txt", paths)
    scores = confir.evaluate(folder / "qrels.txt", paths, ["Judged@5", "Judged@1000", "NumRet"])
    assert quality.runs == scores.runs
    mean = scores.mean()
    assert quality.unjudged[:, 0] == pytest.approx(1 - mean[:, 0])
    assert quality.unjudged[:, -1] == pytest.approx(1 - mean[:, 1])
    assert np.array_equal(quality.lengths.T, scores.values[:, :, 2])


def test_robust_2003_has_runs_of_shallow_lists_and_of_tied_scores(real_data):
    folder = real_data / "trec-robust-2003"
    names = ("NLPR03vb10", "rutcor03100")
    paths = [path for name in names for path in (folder / "runs").glob(f"input.{name}*")]
    shallow, tied = confir.inspect_data(folder / "qrels.txt", paths).sentences()
    assert shallow.startswith("the lists of run 'NLPR03vb10' end at rank 12, others at 1000")
    assert tied.startswith("more than 99% of the documents of run 'rutcor03100' are tied")


def test_one_topic_is_spoken_of_as_one():
    quality = inspect_data(as_qrels({"t": {"a": 0, "b": 0}}), [run("r", {"t": {"a": 2, "b": 1}})])
    assert quality.sentences() == [
        "there is 1 topic; with fewer than 25, rankings of runs often change with the topics",
        "1 topic (t) has no relevant document; every run scores 0 there by most measures",
    ]


@pytest.mark.parametrize("topics", [1, 3, 30, 100])
def test_a_tenth_unjudged_is_a_tenth_however_many_topics(topics):
    judged = {f"{t:03d}": {f"d{i}": i % 2 for i in range(1, 10)} for t in range(topics)}
    ranked = {f"{t:03d}": {f"d{i}": -float(i) for i in range(10)} for t in range(topics)}
    quality = inspect_data(as_qrels(judged), [run("r", ranked)], cutoffs=[10])
    assert quality.unjudged[0, 0] == pytest.approx(0.1, abs=1e-12)
    assert any("10% of the first 10 documents of run 'r'" in s for s in quality.sentences())


def test_sentences_say_which_run_unjudged_documents_could_move_most():
    qrels = {"1": {"a": 1, "n": 0}, "2": {"a": 1, "n": 0}}
    judged = {topic: {"a": 2.0, "n": 1.0} for topic in qrels}
    unjudged = {topic: {"u": 2.0, "a": 1.0} for topic in qrels}
    bounds = confir.bound_unjudged(qrels, {"old": judged, "new": unjudged}, ["P@2"])
    assert list(moved_sentences("unjudged documents", [bounds, None])) == [
        (
            "unjudged documents could move P@2 of run 'new' by up to 0.5000, from 0.5000 to between "
            "0.5000 and 1.0000"
        )
    ]
    assert not list(moved_sentences("unjudged documents", [bounds.select(run="old")]))


def test_runs_with_many_unjudged_documents_are_warned_of_the_worst_first():
    qrels = as_qrels(many_topics({f"d{i}": 1 for i in range(10)}))

    def with_unjudged(name, count):
        documents = [f"u{i}" for i in range(count)] + [f"d{i}" for i in range(10 - count)]
        ranked = {document: 20.0 - place for place, document in enumerate(documents)}
        return run(name, many_topics(ranked))

    runs = [with_unjudged("some", 1), with_unjudged("none", 0), with_unjudged("most", 7)]
    assert unjudged_warning(inspect_data(qrels, runs)) == (
        "2 of 3 runs have 10% or more unjudged documents among the first 10 (most 70%, some 10%) "
        "and may score too low: judge these, or see their bounds in the section on the data"
    )
    assert unjudged_warning(inspect_data(qrels, runs[1:2])) == ""
