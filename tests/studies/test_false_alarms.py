"""How often a gate is wrong, and what it catches: against enumeration, and with known truth."""

import itertools
import warnings

import numpy as np
import pytest
from scipy import stats

import confir
from confir.data.scores import Scores
from confir.errors import InvalidValueError, UnsupportedMethodError
from confir.pairs.gate import GateEvidence, GateRule, judge_gate, passing_runs
from confir.studies.gate.false_alarms import (
    EQUAL,
    FAILING,
    SPREAD,
    SWAPPED,
    _failing_loss,
    _SimulatedGate,
    find_false_alarms,
)

RULES = [
    GateRule(),
    GateRule(margin=0.05),
    GateRule("non-inferior", 0.15),
    GateRule("superior"),
]


def table(values):
    values = np.asarray(values, float)
    topics = tuple(f"t{place:03d}" for place in range(len(values)))
    runs = ("base", *(f"new{place}" for place in range(1, values.shape[1])))
    measures = tuple(f"m{place}" for place in range(values.shape[2]))
    return Scores(topics, runs, measures, values, bounded=False)


def small(topics, runs=2, measures=1, seed=0):
    return table(np.random.default_rng(seed).random((topics, runs, measures)).round(2))


def quietly(function, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **options)


def compared(scores, **options):
    return quietly(confir.compare_runs, scores, baseline="base", rng=1, **options)


def share_closed(differences, rule, level=0.8):
    """The share of samples, one per row, on which a plain t interval closes a gate of one candidate."""
    differences = np.asarray(differences)
    topics = differences.shape[1]
    mean, sd = differences.mean(axis=1), differences.std(axis=1, ddof=1)
    half = stats.t.ppf((1 + level) / 2, topics - 1) * sd / np.sqrt(topics)
    constant = sd < 1e-12  # the exact sign-flip test decides
    half[constant] = np.where(2.0 ** (1 - topics) <= 1 - level, 0.0, np.inf)
    if rule.require == "not-worse":
        return np.mean(mean + half < -rule.margin - 1e-12)
    bound = -rule.margin if rule.require == "non-inferior" else 0.0
    identical = constant & (np.abs(mean) < 1e-12) & (rule.require == "non-inferior")
    return np.mean(~(mean - half > bound + 1e-12) & ~identical)


def near(found, exact, number):
    """Whether a simulated share is within four errors of the exact one."""
    return abs(found - exact) <= 4 * np.sqrt(max(exact * (1 - exact), 1 / number) / number)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_swapped_runs_against_all_swaps(rule):
    scores = small(7)
    differences = scores.values[:, 1, 0] - scores.values[:, 0, 0]
    signs = np.array(list(itertools.product((-1, 1), repeat=7)))
    exact = share_closed(signs * differences, rule)
    found = find_false_alarms(compared(scores, level=0.8), "m0", rule, data_sets=2000)
    assert near(found.share(SWAPPED)[0], exact, 2000)
    assert 0 < exact < 1


def test_labels_of_all_runs_are_permuted_together_against_all_permutations():
    scores = small(3, runs=3, measures=2)
    orders = itertools.product(itertools.permutations(range(3)), repeat=3)
    permuted = [
        np.take_along_axis(scores.values, np.array(order)[:, :, None], axis=1) for order in orders
    ]
    comparison = compared(table(np.concatenate(permuted, axis=2)), level=0.5, replicates=1)
    passing = passing_runs(GateEvidence.of(comparison), 0.0, "not-worse")
    closed = ~passing.reshape(2, 216, 2).all(axis=(0, 2))
    found = find_false_alarms(compared(scores, level=0.5), ["m0", "m1"], data_sets=2000)
    assert near(found.share(SWAPPED)[0], closed.mean(), 2000)
    assert 0 < closed.mean() < 1


@pytest.mark.parametrize("rule", RULES[::2], ids=str)
def test_equal_means_against_all_samples_of_centred_differences(rule):
    scores = small(5, seed=3)
    differences = scores.values[:, 1, 0] - scores.values[:, 0, 0]
    centred = (differences - differences.mean()) * np.sqrt(5 / 4)
    drawn = centred[np.array(list(itertools.product(range(5), repeat=5)))]
    found = find_false_alarms(compared(scores, level=0.8), "m0", rule, data_sets=2000)
    assert near(found.share(EQUAL)[0], share_closed(drawn, rule), 2000)


@pytest.mark.parametrize("rule", RULES[::3], ids=str)
def test_losses_against_all_signs(rule):
    scores = table(np.random.default_rng(5).uniform(0.3, 1.0, (6, 2, 1)))
    run, base = scores.values[:, 1, 0], scores.values[:, 0, 0]
    centred = (run - base - (run - base).mean()) * np.sqrt(6 / 5)
    found = find_false_alarms(compared(scores, level=0.8), "m0", rule, data_sets=2000)
    loss = found.named_loss
    spread, failing = [], []
    for signs in itertools.product((-1, 1), repeat=6):
        moved = np.array(signs) * centred
        spread.append(moved - loss * run / run.mean())
        for first in range(6):  # the loss is less than any score: one topic fails in part
            lost = np.zeros(6)
            lost[first] = 6 * loss
            failing.append(moved - lost)
    assert 6 * loss < run.min()
    for kind, made in ((SPREAD, spread), (FAILING, failing)):
        assert near(found.share(kind, loss)[0], share_closed(made, rule), 2000)


def test_topics_that_fail_lose_all_of_their_scores_until_the_loss_is_reached():
    scores = np.array([0.5, 0.1, 0.4, 0.2])[:, None, None]
    order = np.array([[2, 1], [3, 0], [0, 2], [1, 3]])
    lost = _failing_loss(scores, np.full((1, 1, 1), 0.55), order)[:, 0, :, 0]
    total = 0.55 * 1.2
    assert lost[:, 0] == pytest.approx([total - 0.6, 0, 0.4, 0.2])
    assert lost[:, 1] == pytest.approx([0.5, 0.1, total - 0.6, 0])
    assert lost.sum(axis=0) == pytest.approx([total, total])


@pytest.mark.parametrize("margin", [None, 0.1])
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("runs", [2, 4])
def test_all_data_sets_at_once_are_judged_as_each_is_by_the_gate(runs, rule, margin):
    scores = small(12, runs=runs, seed=1)
    comparison = compared(scores, margin=margin, replicates=1)  # Bonferroni's limit
    gate = _SimulatedGate.of(comparison, ["m0"], rule, 0.95)
    assert gate.fast
    rng = np.random.default_rng(2)
    values = rng.random((12, runs, 40, 1)).round(1)
    values[:, 1:, ::2] -= 0.3
    values[:, 1, :5] = values[:, 0, :5]  # identical
    values[:, 1, 5:10] = values[:, 0, 5:10] - 0.25  # constant
    failing = quietly(gate.fails, values, None)
    for number in range(40):
        one = compared(table(values[:, :, number]), margin=margin, replicates=1, level=0.95)
        judged = quietly(judge_gate, one, "m0", **rule._asdict())
        assert [not each.passes for each in judged.candidates] == failing[number].tolist()


def test_interchangeable_symmetric_runs_are_stopped_in_half_of_alpha():
    rng = np.random.default_rng(7)
    base = rng.uniform(0.3, 0.7, (50, 1, 1))
    values = np.concatenate([base, base + rng.normal(0, 0.1, (50, 1, 1))], axis=1)
    found = find_false_alarms(compared(table(values)), "m0")
    for kind in (SWAPPED, EQUAL):
        share, error = found.share(kind)
        assert abs(share - 0.025) < 5 * error
    assert found.data_sets == 2000


def test_the_loss_caught_in_80_percent_is_that_of_the_noncentral_t():
    rng = np.random.default_rng(8)
    noise = stats.norm.ppf((np.arange(60) + 0.5) / 60) * 0.1
    base = np.full(60, 0.5)
    values = np.stack([base, base + rng.permutation(noise)], axis=1)[:, :, None]
    found = find_false_alarms(compared(table(values)), "m0", data_sets=2000)
    se = noise.std(ddof=1) / np.sqrt(60)
    critical = stats.t.ppf(0.975, 59)
    power = stats.nct.cdf(-critical, 59, -found.caught / np.hypot(se, 0))
    assert power == pytest.approx(0.8, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(("draw", "real"), [("skewed", 0.12), ("normal", 0.025)])
def test_equal_means_say_more_of_skew_than_swaps_do(draw, real):
    """60 samples of 25 lognormal differences of mean 0: gates stop .12 of equal candidates, not .025."""
    rng = np.random.default_rng(9)
    swapped, equal = [], []
    for _ in range(60):
        noise = rng.normal(0, 0.1, 25)
        if draw == "skewed":
            noise = -(rng.lognormal(0, 1, 25) - np.exp(0.5)) * 0.05
            noise = -noise
        values = np.stack([np.full(25, 5.0), 5.0 + noise], axis=1)[:, :, None]
        found = find_false_alarms(compared(table(values)), "m0", data_sets=200)
        swapped.append(found.share(SWAPPED)[0])
        equal.append(found.share(EQUAL)[0])
    actual = np.mean(
        [
            stats.ttest_1samp(one, 0, alternative="less").pvalue <= 0.025
            for one in (
                (rng.lognormal(0, 1, (4000, 25)) - np.exp(0.5))
                if draw == "skewed"
                else rng.normal(size=(4000, 25))
            )
        ]
    )
    assert actual == pytest.approx(real, abs=0.02)
    if draw == "skewed":
        assert np.mean(swapped) < 0.04 < np.mean(equal) <= actual + 0.01
    else:
        assert np.mean(equal) == pytest.approx(real, abs=0.02)


def test_designs_swap_and_draw_whole_clusters():
    rng = np.random.default_rng(3)
    shifts = np.repeat(rng.normal(0, 0.1, 15), 3)
    base = rng.uniform(0.3, 0.7, 45)
    scores = table(np.stack([base, base + shifts], axis=1)[:, :, None])
    cluster = {topic: f"c{place // 3}" for place, topic in enumerate(scores.topics)}
    designed = scores.with_design(cluster)
    whole = find_false_alarms(compared(designed), "m0", data_sets=400)
    alone = find_false_alarms(compared(scores), "m0", data_sets=400)
    assert abs(whole.share(SWAPPED)[0] - 0.025) < 0.03
    assert whole.share(EQUAL)[0] < 0.12
    assert whole.caught > 1.3 * alone.caught  # three equal topics of a cluster are one
    strata = {"stratum": ["a"] * 21 + ["b"] * 24, "cluster": list(cluster.values())}
    stratified = scores.with_design({"topic": list(scores.topics), **strata})
    found = find_false_alarms(compared(stratified), "m0", data_sets=200)
    assert abs(found.share(EQUAL)[0] - 0.025) < 0.05


def test_few_clusters_are_judged_by_flips_as_the_gate_is():
    scores = small(16, seed=4)
    designed = scores.with_design({topic: str(n // 2) for n, topic in enumerate(scores.topics)})
    comparison = compared(designed, level=0.8)
    found = find_false_alarms(comparison, "m0", data_sets=150)
    assert not _SimulatedGate.of(comparison, ["m0"], GateRule(), 0.8).fast
    assert abs(found.share(SWAPPED)[0] - 0.1) < 0.1


def test_what_cannot_be_simulated_is_refused():
    same = np.repeat(np.random.default_rng(0).random((9, 1, 1)), 2, axis=1)
    with pytest.raises(InvalidValueError, match="base, new1 are identical by m0: no data sets"):
        find_false_alarms(compared(table(same)), "m0")
    with pytest.raises(UnsupportedMethodError, match="not 'bca'; expected the method t"):
        find_false_alarms(compared(small(9), method="bca"), "m0")
    with pytest.raises(InvalidValueError, match="needs a baseline"):
        find_false_alarms(quietly(confir.compare_runs, small(9)), "m0")
