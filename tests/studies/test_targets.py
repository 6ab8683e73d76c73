"""Targets: verdicts against intervals, p-values against limits, error rates by simulation."""

import math

import numpy as np
import pytest

import confir
from confir.errors import ConfirError, InvalidValueError, MissingTopicWarning
from confir.studies.targets.targets import Target, parse_targets


def beta_scores(rng, topics, mean=0.6, spread=0.2):
    """Return scores of a beta distribution, by topic."""
    size = mean * (1 - mean) / spread**2 - 1
    return rng.beta(mean * size, (1 - mean) * size, topics)


def judged(values, target, **options):
    return confir.judge_target({"a": list(values)}, target, **options)


def test_the_interval_decides_at_both_ends():
    values = beta_scores(np.random.default_rng(0), 40)
    interval = confir.confidence_interval({"a": values.tolist()})
    low, high = interval.low.item(), interval.high.item()
    up, down = (lambda x: math.nextafter(x, 2)), (lambda x: math.nextafter(x, -1))
    for target, verdict in [
        (low, "reached"),
        (up(low), "inconclusive"),
        (high, "inconclusive"),
        (up(high), "missed"),
        (down(low), "reached"),
    ]:
        found = judged(values, target)
        assert found.verdict.item() == verdict
        assert (found.p.item() <= 1 - found.level) is (verdict != "inconclusive")
        assert found.low.item() == low
        assert found.high.item() == high
    # at the upper end the target may be the mean itself
    assert judged(values, high).p.item() == pytest.approx(0.05)


@pytest.mark.parametrize("method", [None, "t", "logit-t", "beta-logit"])
@pytest.mark.parametrize("target", [0.45, 0.57, 0.62, 0.7, 0.8])
def test_p_is_the_error_of_the_interval_that_ends_at_the_target(method, target):
    values = beta_scores(np.random.default_rng(1), 25)
    found = judged(values, target, method=method)
    p = found.p.item()
    ends = confir.confidence_interval({"a": values.tolist()}, level=1 - p, method=method)
    end = ends.low if found.mean.item() >= target else ends.high
    assert end.item() == pytest.approx(target, abs=1e-6)


def test_all_verdicts_hold_together_by_bonferroni():
    rng = np.random.default_rng(2)
    scores = {run: beta_scores(rng, 30).tolist() for run in "abc"}
    table = {
        run: {"AP": dict(zip("0123456789", own[:10], strict=True))} for run, own in scores.items()
    }
    found = confir.judge_target(table, [Target("AP", 0.3), Target("AP", 0.5)])
    assert found.level == pytest.approx(1 - 0.05 / 6)
    alone = confir.confidence_interval(table, level=found.level)
    np.testing.assert_array_equal(found.low[0], alone.low[:, 0])
    np.testing.assert_array_equal(found.low[1], alone.low[:, 0])
    assert "so that all hold together with 95%" in found.note()
    high = confir.judge_target(table, {"AP": 0.5}, level=0.9995)
    assert (
        "above level 0.999 calibrated-beta has limits no nearer than those of beta-logit"
        in high.note()
    )
    assert "0.999" not in found.note()


@pytest.mark.parametrize(("topics", "samples"), [(25, 4000), (50, 2000)])
def test_errors_of_both_sides_by_simulation(topics, samples):
    """At a true mean on the target, "reached" and "missed" are each wrong in about 2.5%."""
    rng = np.random.default_rng(3)
    table = {f"r{i}": beta_scores(rng, topics).tolist() for i in range(samples)}
    interval = confir.confidence_interval(table)
    reached, missed = (interval.low >= 0.6).mean(), (interval.high < 0.6).mean()
    error = 3.5 * math.sqrt(0.025 * 0.975 / samples)
    assert reached <= 0.025 + 0.01 + error
    assert missed <= 0.025 + 0.01 + error
    # these are what is said of each: a few through the verb
    for run in list(table)[:40]:
        word = judged(table[run], 0.6).verdict.item()
        place = int(run[1:])
        limits = interval.low[place].item(), interval.high[place].item()
        assert word == (
            "reached" if limits[0] >= 0.6 else "missed" if limits[1] < 0.6 else "inconclusive"
        )


@pytest.mark.parametrize(("topics", "wrong"), [(10, 0.29), (25, 0.25), (50, 0.08), (100, 0.03)])
def test_rare_failures_are_reached_too_often_except_by_gaffke(topics, wrong):
    """Zeros on 5% of the topics, else about .95, and the target at the mean: as the guide says."""
    rng, samples = np.random.default_rng(4), 1500
    size = 0.95 * 0.05 / 0.046**2 - 1
    good = rng.beta(0.95 * size, 0.05 * size, (samples, topics))
    values = np.where(rng.random((samples, topics)) < 0.05, 0.0, good)
    table = {f"r{i}": own.tolist() for i, own in enumerate(values)}
    target = 0.95 * 0.95
    reached = (confir.confidence_interval(table).low >= target).mean()
    assert abs(reached - wrong) < 0.045
    few = {run: table[run] for run in list(table)[:150]}
    careful = confir.confidence_interval(few, method="gaffke", replicates=999)
    assert (careful.low >= target).mean() <= 0.03


def test_the_power_at_the_detectable_distance_is_080():
    """By t, whose intervals decide here."""
    rng, topics = np.random.default_rng(5), 30
    pilot = rng.normal(0, 1, topics)
    pilot = (pilot - pilot.mean()) / pilot.std(ddof=1) + 10.1
    found = judged(pilot, 10.0, method="t")
    distance = found.detectable.item()
    samples = rng.normal(10.0 + distance, 1.0, (4000, topics))
    table = {f"r{i}": own.tolist() for i, own in enumerate(samples)}
    reached = (confir.confidence_interval(table, method="t").low >= 10.0).mean()
    assert abs(reached - 0.8) < 3.5 * math.sqrt(0.16 / 4000)
    (record,) = found.to_records()
    assert record["topics_needed"] > topics


@pytest.mark.filterwarnings("ignore::confir.errors.MissingTopicWarning")
def test_missing_scores_count_as_the_lowest_possible():
    held = {
        "a": {"AP": {"1": 0.9, "2": 0.8, "3": 0.9}},
        "b": {"AP": {"1": 0.9, "2": 0.8, "4": 0.7}},
    }
    found = confir.judge_target(held, 0.5)
    assert found.mean.ravel().tolist() == pytest.approx([2.6 / 4, 2.4 / 4])
    graded = {run: {"faith": {t: 5 * s for t, s in own["AP"].items()}} for run, own in held.items()}
    with pytest.raises(
        InvalidValueError, match="the range of faith, which lacks scores, is not known"
    ):
        confir.judge_target(graded, 2.0)
    found = confir.judge_target(graded, 2.0, bounds={"faith": (1.0, 5.0)})
    assert found.mean[0, 0] == pytest.approx((13.0 + 1.0) / 4)


def test_missing_scores_are_said():
    held = {"a": {"AP": {"1": 0.9, "2": 0.8}}, "b": {"AP": {"1": 0.9, "2": 0.8, "3": 0.7}}}
    with pytest.warns(MissingTopicWarning, match="counted as the lowest possible score"):
        confir.judge_target(held, 0.5)


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ({"AP": 1.0}, r"the target of AP is 1; expected a number between 0 and 1"),
        ({"AP": 0.0}, "the target of AP is 0; expected a number between 0 and 1"),
        ({"P@10": 0.5}, "unknown measure of targets 'P@10'"),
        ({}, "targets is {}; expected a number"),
        ({"AP": "x"}, "the target of AP"),
        ([("AP", 0.5), ("map", 0.5)], "a target is given twice"),
    ],
)
def test_targets_are_checked(targets, message):
    with pytest.raises(ConfirError, match=message):
        confir.judge_target({"a": {"AP": {"1": 0.3, "2": 0.5, "3": 0.4}}}, targets)


@pytest.mark.parametrize("text", ["AP", "AP=", "=0.5", "AP=x", "AP=nan", "AP=inf"])
def test_texts_that_are_no_targets(text):
    with pytest.raises(InvalidValueError, match="expected MEASURE=TARGET, such as nDCG"):
        parse_targets([text], "--at-least")


def test_a_target_of_a_measure_with_parameters():
    assert parse_targets(["AP(rel=2)=0.5"], "--at-least") == [Target("AP(rel=2)", 0.5)]


def test_many_verdicts_are_counted():
    rng = np.random.default_rng(6)
    scores = {
        f"r{i}": {"AP": dict(zip("abcdefgh", beta_scores(rng, 8), strict=True))} for i in range(13)
    }
    (said,) = confir.judge_target(scores, 0.1).sentences()
    assert said == "13 of 13 runs reach 0.1 in AP, 0 miss it, 0 are inconclusive"


def test_share_sequence_has_moved():
    with pytest.raises(
        AttributeError, match=r"it is confir\.studies\.preferences\.early_looks\.share_sequence"
    ):
        getattr(confir, "share_sequence")  # noqa: B009
