"""Split-half validation against its definitions."""

from dataclasses import replace
from hashlib import md5

import numpy as np
import pytest
from scipy import stats

from confir.data.ids import Docids
from confir.data.qrels import build_qrels
from confir.data.run import build_run
from confir.data.simulation import simulate_collection
from confir.errors import InvalidValueError, TopicMismatchError, TopicWarning, UnknownNameError
from confir.measures.evaluation import evaluate
from confir.studies.split_half.split_half import halves_of, validate_split_half
from confir.studies.split_half.splits import DIRECTIONS, Split, SplitHalf
from samples import short_sample


def half_of(document, bit=0):
    """The half of a document, by a bit of its MD5 read as one number."""
    return int(md5(document.encode(), usedforsecurity=False).hexdigest(), 16) >> bit & 1


@pytest.fixture(scope="module")
def collection():
    return simulate_collection(topics=25, runs=3, depth=100, relevant=12, rng=2)


@pytest.fixture(scope="module")
def whole(collection) -> SplitHalf:
    return validate_split_half(collection.qrels, collection.runs, replicates=300, rng=1, splits=1)


@pytest.fixture(scope="module")
def result(whole) -> Split:
    return whole.splits[0]


@pytest.fixture(scope="module")
def several(collection) -> SplitHalf:
    return validate_split_half(
        collection.qrels, collection.runs, methods=["linear", "logit"], replicates=60, rng=1
    )


def documents_in(half):
    return [name for name in (f"d{i}" for i in range(60)) if half_of(name) == half]


IN_A, IN_B = documents_in(0), documents_in(1)


def small_collection():
    """Topics 1 and 5 have relevant documents in both halves, 2 and 3 in one only.

    Run "only-a" retrieved documents of half A alone for topic 1.
    """
    judged = [("1", IN_A[0]), ("1", IN_A[1]), ("1", IN_B[0]), ("2", IN_A[0]), ("3", IN_B[0])]
    judged += [("5", IN_A[3]), ("5", IN_B[3])]
    topics, names = zip(*judged, strict=True)
    qrels = build_qrels(topics, ["0"] * 7, names, np.ones(7, np.int64))
    ranked = [IN_B[5], IN_A[0], IN_B[0], IN_A[7], IN_A[1]]
    whole = build_run("whole", ["1"] * 5 + ["5"], [*ranked, IN_A[3]], -np.arange(6.0))
    only_a = build_run("only-a", ["1", "5"], [IN_A[0], IN_B[3]], np.ones(2))
    return qrels, [whole, only_a]


def test_halves_follow_the_last_byte_of_the_md5():
    for name in ("FBIS3-1", "ü", "x"):
        last = int(md5(name.encode(), usedforsecurity=False).hexdigest()[-1], 16)
        assert halves_of(Docids.of([name]), 1).tolist() == [[last % 2]]
    assert abs(len(IN_A) - len(IN_B)) < 30


def test_further_splits_take_the_bits_before():
    names = ["FBIS3-1", "ü", "x"]
    sides = halves_of(Docids.of(names), 128)
    assert sides.shape == (128, 3)
    for place, name in enumerate(names):
        digits = md5(name.encode(), usedforsecurity=False).hexdigest()
        bits = "".join(f"{int(digit, 16):04b}" for digit in digits)
        assert "".join(map(str, sides[:, place])) == bits[::-1]


def test_every_split_has_halves_of_its_own(collection, several):
    assert len(several.splits) == 8
    for bit, split in enumerate(several.splits):
        for topic, here, there in zip(split.topics, *split.relevant, strict=True):
            relevant = [d for d, gain in collection.qrels[topic].items() if gain > 0]
            assert there == sum(half_of(d, bit) for d in relevant)
            assert here == len(relevant) - there


def test_the_first_of_several_splits_is_the_only_one_of_one(collection, several):
    one = validate_split_half(
        collection.qrels,
        collection.runs,
        methods=["linear", "logit"],
        replicates=60,
        rng=1,
        splits=1,
    )
    assert one.splits[0].to_dict() == several.splits[0].to_dict()
    same = one.splits[0].to_dict()
    found = one.to_dict()
    assert {name: found[name] for name in same} == same
    for name in ("below", "inside", "above"):
        assert found[f"{name}_min"] == found[name] == found[f"{name}_max"]
    assert set(found["splits"]) == {1}


def test_shares_are_means_over_the_splits_with_their_range(several):
    for record in several.to_records():
        topic = record["summary"] == "topic"
        half = DIRECTIONS.index(record["direction"])
        parts = [
            split.topic_shares(
                record["method"],
                corrected=record["corrected"],
                half=half,
                few_relevant=record["subset"] == "all",
            )
            if topic
            else split.mean_shares(record["summary"], record["method"], half)
            for split in several.splits
        ]
        for name in ("below", "inside", "above"):
            shares = [getattr(part, name) for part in parts]
            assert record[name] == pytest.approx(sum(shares) / 8)
            assert (record[f"{name}_min"], record[f"{name}_max"]) == (min(shares), max(shares))
        assert record["n"] == sum(part.n for part in parts)
        assert record["splits"] == 8
    shares = several.topic_shares("logit", corrected=True, half=1)
    found = next(
        record
        for record in several.to_records()
        if (record["method"], record["corrected"], record["subset"], record["direction"])
        == ("logit", True, "all", DIRECTIONS[1])
    )
    assert tuple(shares) == tuple(found[name] for name in ("below", "inside", "above", "n"))


def test_a_subset_that_a_split_lacks_is_left_out_of_the_mean(several):
    few = replace(several.splits[1], relevant=np.ones_like(several.splits[1].relevant))
    changed = replace(several, splits=(several.splits[0], few))
    one = replace(several, splits=several.splits[:1])
    shares = changed.topic_shares("logit", corrected=True, half=0, few_relevant=False)
    assert shares == one.topic_shares("logit", corrected=True, half=0, few_relevant=False)
    none = replace(several, splits=(few,)).topic_shares(
        "logit", corrected=True, half=0, few_relevant=False
    )
    assert np.isnan(none[:3]).all()
    assert none.n == 0


def test_splits_that_leave_no_topic_are_left_out():
    made = [bool(len({half_of(d, bit) for d in (IN_A[0], IN_B[0])}) == 2) for bit in range(8)]
    assert made[0]
    assert not all(made)
    judged = {"1": {IN_A[0]: 1, IN_B[0]: 1}}
    lists = {"run": {"1": {IN_A[0]: 2.0, IN_B[0]: 1.0}}}
    with pytest.warns(
        TopicWarning, match=f"{made.count(False)} of 8 splits left out: no topic has"
    ):
        found = validate_split_half(judged, lists, methods="linear", replicates=20, rng=1)
    assert len(found.splits) == made.count(True)


def test_topics_of_all_splits_are_named(several):
    kept = [set(split.topics) for split in several.splits]
    lost = [set(split.left_out) for split in several.splits]
    assert set(several.topics) == set.union(*kept)
    assert set(several.left_out) == set.union(*lost)
    assert any(lost)


def test_scores_are_those_of_half_the_qrels_and_half_the_lists(collection, result):
    for half in (0, 1):
        qrels = {
            topic: {d: gain for d, gain in judged.items() if half_of(d) == half}
            for topic, judged in collection.qrels.to_dict().items()
            if topic in result.topics
        }
        runs = {
            run.name: {
                topic: {d: score for d, score in listed.items() if half_of(d) == half}
                for topic, listed in run.to_dict().items()
                if topic in result.topics
            }
            for run in collection.runs
        }
        scores = evaluate(qrels, runs, "AP").values[:, :, 0]
        np.testing.assert_array_equal(result.score[half], scores.T)


def test_topics_without_relevant_documents_in_a_half_are_left_out():
    with pytest.warns(TopicWarning, match=r"2 runs .* lack 2 topics \(2, 3\)"):
        found = validate_split_half(*small_collection(), replicates=20, rng=1, splits=1).splits[0]
    assert found.topics == ("1", "5")
    assert found.left_out == ("2", "3")
    assert found.score[0, 0, 0] == pytest.approx((1 + 2 / 3) / 2)
    assert found.score[1, 0, 0] == 0.5
    assert found.score[:, 1, 0].tolist() == [0.5, 0.0]


def test_lists_that_retrieved_nothing_are_left_out():
    qrels, runs = small_collection()
    judged = dict(qrels.to_dict())
    judged["4"] = {IN_A[2]: 1, IN_B[2]: 1}
    lists = {run.name: run.to_dict() for run in runs}
    lists["whole"]["4"] = {IN_A[2]: 1.0}
    with pytest.warns(TopicWarning, match=r"left out of (the run's|their) means"):
        found = validate_split_half(judged, lists, replicates=20, rng=1, splits=1).splits[0]
    assert found.topics == ("1", "4", "5")
    assert np.isnan(found.score[:, 1, 1]).all()
    assert found.topic_shares("linear", corrected=True, half=0).n == 5


def test_shares_count_scores_outside_the_limits(result):
    for half in (0, 1):
        for method in ("linear", "logit"):
            low = result.low[result.methods.index(method), 1, half]
            high = result.high[result.methods.index(method), 1, half]
            other = np.clip(result.score[1 - half], 1e-6, 1 - 1e-6)
            shares = result.topic_shares(method, corrected=True, half=half)
            assert shares.below == pytest.approx((other < low - 1e-12).mean())
            assert shares.above == pytest.approx((other > high + 1e-12).mean())
            assert shares.below + shares.inside + shares.above == pytest.approx(1.0)
            assert shares.n == 3 * len(result.topics)


def test_few_relevant_documents_are_those_of_the_predicting_half(result):
    for half in (0, 1):
        many = int((result.relevant[half] > 5).sum())
        shares = result.topic_shares("logit", corrected=False, half=half, few_relevant=False)
        assert shares.n == 3 * many
        assert 0 < many < len(result.topics)


def test_means_of_the_other_half_are_counted_over_runs(result):
    first, second = result.means
    for s, summary in enumerate(first.summaries):
        shares = result.mean_shares(summary, "bootstrap", 0)
        inside = (first.low[0, 0, :, s] <= second.mean[0, :, s]) & (
            second.mean[0, :, s] <= first.high[0, 0, :, s]
        )
        assert shares.inside == pytest.approx(inside.mean())
        assert shares.n == 3


def test_model_predicts_what_two_normal_scores_give(result):
    rng = np.random.default_rng(0)
    here, there = rng.standard_normal((2, 400_000))
    z = stats.norm.ppf(0.975)
    assert result.predicted == pytest.approx((np.abs(there - here) <= z).mean(), abs=0.003)
    assert round(result.predicted, 4) == 0.8342


def test_normalised_differences_are_within_1_exactly_in_the_interval(result):
    for method in result.methods:
        for corrected in (False, True):
            values = result.normalised(method, corrected=corrected)
            shares = result.topic_shares(method, corrected=corrected, half=0)
            assert (np.abs(values) <= 1 + 1e-9).mean() == pytest.approx(shares.inside)
            assert (values > 1 + 1e-9).mean() == pytest.approx(shares.above)


def test_a_score_in_the_middle_of_its_interval_differs_by_0_whatever_its_length(result):
    flat = replace(result, low=result.low * 0 + 0.5, high=result.high * 0 + 0.5)
    flat = replace(flat, score=result.score * 0 + 0.5)
    for method in result.methods:
        assert set(flat.normalised(method, corrected=False).tolist()) == {0.0}


def test_correction_leaves_no_fewer_scores_inside(result):
    for half in (0, 1):
        for method in ("linear", "logit", "percentile"):
            plain, corrected = (
                result.topic_shares(method, corrected=flag, half=half) for flag in (False, True)
            )
            assert corrected.inside >= plain.inside


def test_records_name_everything_once(whole):
    records = whole.to_records()
    assert list(records[0]) == [
        "measure",
        "summary",
        "method",
        "corrected",
        "subset",
        "direction",
        "below",
        "inside",
        "above",
        "predicted",
        "n",
        "splits",
        "below_min",
        "below_max",
        "inside_min",
        "inside_max",
        "above_min",
        "above_max",
    ]
    assert len(records) == 2 * (2 * 2 * 4 + 2 * 3)
    assert {record["direction"] for record in records} == set(DIRECTIONS)
    keys = {tuple(list(record.values())[:6]) for record in records}
    assert len(keys) == len(records) == len(whole.to_frame("pandas"))


def test_other_measures_have_no_correction(collection):
    found = validate_split_half(
        collection.qrels, collection.runs, "nDCG@10", methods=["logit"], replicates=20, rng=1
    )
    assert found.corrections == (False,)
    with pytest.raises(InvalidValueError, match="no such intervals"):
        found.topic_shares("logit", corrected=True, half=0)


def test_depth_cuts_the_whole_list_before_it_is_split(collection):
    cut = validate_split_half(
        collection.qrels,
        collection.runs,
        methods="linear",
        depth=10,
        replicates=10,
        rng=1,
        splits=1,
    ).splits[0]
    assert (
        cut.score
        <= validate_split_half(
            collection.qrels, collection.runs, methods="linear", replicates=10, rng=1, splits=1
        )
        .splits[0]
        .score
        + 1e-12
    ).all()
    assert cut.score.max() > 0


def test_what_cannot_be_split_is_named(collection):
    qrels = build_qrels(["1"], ["0"], [IN_A[0]], np.ones(1, np.int64))
    run = build_run("run", ["1"], [IN_A[0]], np.ones(1))
    with pytest.raises(TopicMismatchError, match="in both halves"):
        validate_split_half(qrels, [run])
    qrels = build_qrels(["1"] * 2, ["0"] * 2, [IN_A[0], IN_B[0]], np.ones(2, np.int64))
    with pytest.raises(TopicMismatchError, match="'run' has no documents for these topics in one"):
        validate_split_half(qrels, [run])
    with pytest.raises(UnknownNameError, match="did you mean logit"):
        validate_split_half(qrels, [run], methods=["logits"])
    for splits in (0, 129):
        with pytest.raises(InvalidValueError, match=f"splits is {splits}"):
            validate_split_half(qrels, [run], splits=splits)
    with pytest.raises(InvalidValueError, match="depth is 0"):
        validate_split_half(collection.qrels, collection.runs, depth=0)


@pytest.mark.parametrize("replicates", [0, -5])
def test_replicates_that_make_no_bootstrap_are_refused(replicates):
    sample = short_sample()
    with pytest.raises(InvalidValueError, match=f"replicates is {replicates}"):
        validate_split_half(sample.qrels, sample.runs[0], replicates=replicates)


def test_runs_of_other_topics_are_reported():
    qrels, runs = small_collection()
    other = {"far": {IN_A[0]: 1.0, IN_B[0]: 0.5}}
    with pytest.raises(TopicMismatchError, match="no topic in common: the run has far"):
        validate_split_half(qrels, {"one": runs[0], "other": other}, replicates=20)
