"""Scores on resampled collections as a sample: every number by a second route, plain loops."""

import math
import statistics
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest

import confir
from confir.resampling.collection_sample import CollectionSample
from confir.resampling.kinds import as_sample
from confir.resampling.pair_draws import NOTHING_BORROWED
from confir.resampling.studentised_maxima import largest_statistics, studentised_maxima
from confir.studies.collection.collection_differences import Variant

pytestmark = pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")

RUNS, MEASURES = ("a", "b", "c", "d"), ("AP", "P@5")


def collection(seed=1, topics=6, relevant=5, documents=30, gain=0.3, runs=RUNS):
    """Return qrels, and runs of which each is better than the one before."""
    rng = np.random.default_rng(seed)
    qrels, lists = {}, {run: {} for run in runs}
    for topic in (f"t{place}" for place in range(topics)):
        names = [f"{topic}-{number}" for number in range(documents)]
        judged = np.arange(documents) < relevant
        qrels[topic] = {name: int(one) for name, one in zip(names, judged, strict=True)}
        base = judged + rng.normal(0, 0.8, documents)
        for number, run in enumerate(runs):
            found = base + gain * number * judged + rng.normal(0, 0.6, documents)
            lists[run][topic] = dict(zip(names, found.tolist(), strict=True))
    return qrels, lists


def drawn(replicates=99, **options):
    qrels, lists = collection(**options)
    return confir.resample_documents(qrels, lists, list(MEASURES), replicates=replicates, rng=3)


def with_gaps():
    """Return scores of which run a lacks a topic, and of which a replicate lacks one, too."""
    found = drawn()
    scores, values = found.scores.values.copy(), found.values.copy()
    scores[1, 0], values[:, 0, 1] = np.nan, np.nan
    values[:, :, 2, 7] = np.nan  # a replicate without a relevant document of the topic
    return replace(found, scores=replace(found.scores, values=scores), values=values)


def plain_differences(found, measure, plus, minus):
    """Return the observed difference of means and that of each replicate, topic by topic."""
    numbers = [
        (score[plus] - score[minus])
        for score in found.scores.values[:, :, measure]
        if not math.isnan(score[plus] - score[minus])
    ]
    drawn_means = []
    for place in range(found.replicates):
        apart = [
            float(found.values[measure, plus, t, place] - found.values[measure, minus, t, place])
            for t in range(len(found.topics))
        ]
        known = [one for one in apart if not math.isnan(one)]
        drawn_means.append(sum(known) / len(known))
    return sum(numbers) / len(numbers), drawn_means


@pytest.mark.parametrize("make", [drawn, with_gaps])
def test_a_comparison_has_the_differences_errors_and_limits_of_plain_loops(make):
    found = make()
    compared = confir.compare_runs(found)
    z = NormalDist().inv_cdf(0.975)
    for pair, (first, second) in enumerate(zip(compared.first, compared.second, strict=True)):
        for measure in range(2):
            mean, means = plain_differences(found, measure, second, first)
            sd = statistics.stdev(means)
            assert compared.difference[pair, measure] == pytest.approx(mean, abs=1e-12)
            assert compared.se[pair, measure] == pytest.approx(sd, abs=1e-12)
            assert compared.low[pair, measure] == pytest.approx(mean - z * sd, abs=1e-12)
            assert compared.high[pair, measure] == pytest.approx(mean + z * sd, abs=1e-12)
            p = 2.0 * NormalDist().cdf(-abs(mean) / sd)
            assert compared.p[0, pair, measure] == pytest.approx(p, rel=1e-9)
    assert np.isinf(compared.df).all()
    assert compared.method == "linear"
    assert compared.replicates == 99


@pytest.mark.parametrize("make", [drawn, with_gaps])
def test_a_comparison_equals_that_of_the_paired_means_on_the_collection(make):
    found = make()
    compared = confir.compare_runs(found, baseline="b")
    known = confir.compare_on_collection(found, "b", variants=[Variant("mean", "paired")])
    for name in ("difference", "low", "high", "effect_size"):
        ours, theirs = getattr(compared, name), getattr(known, name)[0]
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(compared.p[0], known.p[0], rtol=0, atol=1e-12)
    for name in ("wins", "ties", "losses"):
        np.testing.assert_array_equal(getattr(compared, name), getattr(known, name))


def test_means_have_the_intervals_of_the_collection():
    found = drawn()
    interval = confir.confidence_interval(found)
    known = confir.summarise_means(found)
    assert set(interval.methods) == {"linear"}
    assert "over similar collections" in str(interval)
    assert interval.replicates == 99
    np.testing.assert_allclose(interval.low, known.low[0, :, :, 0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(interval.high, known.high[0, :, :, 0], rtol=0, atol=1e-12)
    quantiles = confir.confidence_interval(found, method="percentile")
    means = np.nanmean(found.values[0, 1], axis=0)  # of b, by AP
    assert quantiles.low[1, 0] == pytest.approx(np.quantile(means, 0.025), abs=1e-12)


@pytest.mark.parametrize("make", [drawn, with_gaps])
def test_blocks_of_topics_and_collections_change_no_number(make, monkeypatch):
    found = make()

    def numbers():
        sample = CollectionSample.of(found, "logit-mean")
        apart = sample.contrast([2, 4], [0, 6])
        return [
            *(sample.replicates, sample.topic_spreads(), sample.components().total),
            *(apart.replicates, apart.topic_spreads(), apart.components().total),
        ]

    whole = numbers()
    monkeypatch.setattr("confir.resampling.collection_sample._SCORES_AT_ONCE", 50)
    for expected, got in zip(whole, numbers(), strict=True):
        np.testing.assert_array_equal(got, expected)


def plain_maxima(found, measure):
    """Return the largest |t*| of all pairs, and that of others above each run, by plain loops."""
    runs = len(found.runs)
    t = {}
    for plus in range(runs):
        for minus in range(runs):
            if plus != minus:
                _, means = plain_differences(found, measure, plus, minus)
                centre, sd = statistics.fmean(means), statistics.stdev(means)
                t[plus, minus] = [(one - centre) / sd for one in means]
    places = range(found.replicates)
    largest = [max(one[place] for one in t.values()) for place in places]
    above = [
        [max(t[other, run][place] for other in range(runs) if other != run) for place in places]
        for run in range(runs)
    ]
    return largest, above


@pytest.mark.parametrize("make", [drawn, with_gaps])
def test_maxima_are_those_of_plain_loops(make):
    found = make()
    sample = as_sample(found).of_measure(0)
    none = NOTHING_BORROWED
    ours = studentised_maxima(sample, 5, np.random.default_rng(1), none, none)
    largest, above = plain_maxima(found, 0)
    np.testing.assert_allclose(ours.largest, largest, rtol=1e-9)
    np.testing.assert_allclose(ours.above, above, rtol=1e-9)
    one = largest_statistics(sample, 5, np.random.default_rng(1), none, runs=[1])
    _, means = plain_differences(found, 0, 0, 1)
    first = abs(means[0] - statistics.fmean(means)) / statistics.stdev(means)
    assert one[0] >= first - 1e-9


def test_a_family_has_the_order_statistic_of_the_maxima_between_one_pair_and_bonferroni():
    found = drawn(replicates=199)
    compared = confir.compare_runs(found)
    ordered = sorted(plain_maxima(found, 0)[0])
    critical = ordered[math.ceil(200 * 0.95) - 1]
    single, bonferroni = (NormalDist().inv_cdf(1 - 0.025 / m) for m in (1, 6))
    critical = min(max(critical, single), bonferroni)
    half = critical * compared.se[:, 0]
    np.testing.assert_allclose(
        compared.simultaneous_high[:, 0], compared.difference[:, 0] + half, rtol=0, atol=1e-9
    )
    t = np.abs(compared.difference[:, 0]) / compared.se[:, 0]
    reached = [(1 + sum(one >= each - 1e-9 for one in ordered)) / 200 for each in t]
    alone = [2.0 * NormalDist().cdf(-each) for each in t]
    expected = [min(max(r, p), 6 * p, 1.0) for r, p in zip(reached, alone, strict=True)]
    np.testing.assert_allclose(compared.p_adjusted[0, :, 0], expected, rtol=1e-6)


def test_the_best_set_and_ranks_follow_from_the_pairs():
    found = drawn(replicates=199, gain=0.6)
    best = confir.find_best(found)
    _, above = plain_maxima(found, 0)
    means = found.mean()[:, 0]
    for run in range(4):
        pairs = [plain_differences(found, 0, other, run) for other in range(4) if other != run]
        t = max(mean / statistics.stdev(each) for mean, each in pairs)
        critical = sorted(above[run])[math.ceil(200 * 0.95) - 1]
        low, high = (NormalDist().inv_cdf(1 - 0.05 / m) for m in (1, 3))
        assert best.in_set[run, 0] == (t <= min(max(critical, low), high))
    resampled = np.nanmean(found.values[0], axis=1)  # runs × replicates
    tops = resampled >= resampled.max(axis=0) - 1e-9
    first = (tops / tops.sum(axis=0)).mean(axis=1)
    np.testing.assert_allclose(best.share_first[:, 0], first, rtol=0, atol=1e-12)
    ranks = confir.rank_runs(found)
    assert ranks.rank[:, 0].tolist() == (1 + (means[:, None] < means).sum(axis=1)).tolist()
    compared = confir.compare_runs(found)
    for run in range(4):
        better = sum(
            (verdict == "better" and first == run) or (verdict == "worse" and second == run)
            for verdict, first, second in zip(
                compared.verdict[0, :, 0], compared.first, compared.second, strict=True
            )
        )
        assert ranks.simultaneous_low[run, 0] == 1 + better


def test_a_comparison_is_selected_from_and_drawn():
    qrels, lists = collection(runs=("a", "b", "c"))
    found = confir.resample_documents(qrels, lists, ["AP", "P@10"], replicates=99, rng=3)
    compared = confir.compare_runs(found)
    part = compared.select(measure="P@10", run="c")
    records = [
        record
        for record in compared.to_records()
        if record["measure"] == "P@10" and "c" in (record["run"], record["against"])
    ]
    assert part.to_records() == records
    assert part.scores.measures == ("P@10",)
    np.testing.assert_array_equal(found.select(run=["c"]).values, found.values[:, [2]])
    confir.chart(compared)
    confir.chart(confir.compare_runs(found, baseline="a"))


def test_identical_runs_are_identical_and_in_no_family():
    qrels, lists = collection(runs=("a", "b", "c"))
    lists["copy"] = lists["a"]
    found = confir.resample_documents(qrels, lists, "AP", replicates=99, rng=3)
    compared = confir.compare_runs(found)
    verdicts = dict(zip(compared.pairs, compared.verdict[0, :, 0], strict=True))
    assert verdicts["a", "copy"] == "identical"
    assert compared.tested.tolist() == [5]
    known = confir.compare_on_collection(found, "a").verdict[:, -1, 0]
    assert set(known) == {"identical"}


def test_runs_whose_means_agree_on_every_collection_are_not_identical_where_topics_differ():
    found = drawn(topics=2)
    scores, values = found.scores.values.copy(), found.values.copy()
    scores[:, 1], values[:, 1] = scores[::-1, 0], values[:, 0, ::-1]
    swapped = replace(found, scores=replace(found.scores, values=scores), values=values)
    least, most = as_sample(swapped).contrast(np.array([2]), np.array([0])).extremes()
    assert least < 0 < most
    assert confir.compare_runs(swapped).verdict[0, 0, 0] == "inconclusive"


def test_a_difference_that_no_collection_changes_is_inconclusive():
    qrels = {f"t{t}": {f"{t}-{d}": int(d < 3) for d in range(9)} for t in range(4)}
    perfect = {t: {d: float(gain) for d, gain in docs.items()} for t, docs in qrels.items()}
    nothing = {t: {f"{t}-none": 1.0} for t in qrels}
    found = confir.resample_documents(
        qrels, {"perfect": perfect, "nothing": nothing}, "AP", replicates=99, rng=1
    )
    with pytest.warns(confir.errors.DegenerateSampleWarning, match="on every resampled collection"):
        compared = confir.compare_runs(found)
    assert compared.verdict[0, 0, 0] == "inconclusive"
    assert compared.sentences()[0].endswith("the same difference on every resampled collection)")
    assert np.isnan(compared.low[0, 0])
    assert compared.p[0, 0, 0] == 1.0
    assert confir.find_best(found).in_set.all()


def test_collections_without_a_relevant_document_are_left_out_of_the_maxima():
    found = drawn(relevant=1, topics=2, replicates=199)
    sample = CollectionSample.of(found)
    assert np.isnan(sample.replicates).any()
    none = NOTHING_BORROWED
    maxima = studentised_maxima(sample.of_measure(0), 9, np.random.default_rng(1), none, none)
    assert len(maxima.largest) == int((~np.isnan(sample.of_measure(0).replicates[0])).sum())
    assert np.isfinite(maxima.largest).all()
    assert np.isfinite(confir.find_best(found).share_first).all()


def test_runs_that_lack_topics_are_ranked_on_common_ones():
    found = with_gaps()
    best = confir.find_best(found)
    assert (best.topics == 5).all()
    kept = np.arange(6) != 1
    np.testing.assert_allclose(
        best.mean, found.scores.values[kept].mean(axis=0), rtol=0, atol=1e-12
    )


def test_plans_of_topics_and_tests_of_topics_are_refused():
    found = drawn()
    with pytest.raises(
        confir.errors.UnsupportedMethodError, match="variance over a sample of topics"
    ):
        confir.plan_topics(found)
    with pytest.raises(confir.errors.UnsupportedMethodError, match="tests that fit: t"):
        confir.compare_runs(found, test="randomisation")
    with pytest.raises(confir.errors.ConfirError, match="method over documents"):
        confir.compare_runs(found, method="t")
    with pytest.raises(confir.errors.UnsupportedMethodError, match="percentile"):
        confir.compare_runs(found, method="logit")


def test_another_level_needs_no_other_replicates():
    found = drawn()
    at = confir.compare_runs(found).at(0.9)
    again = confir.compare_runs(found, level=0.9)
    np.testing.assert_allclose(at.low, again.low, rtol=0, atol=1e-14)
    np.testing.assert_allclose(at.simultaneous_low, again.simultaneous_low, rtol=0, atol=1e-14)
    assert (at.verdict == again.verdict).all()


def test_there_is_one_column_per_run_and_measure():
    sample = as_sample(drawn())
    assert isinstance(sample, CollectionSample)
    assert sample.labels[:3] == (("a", "AP"), ("a", "P@5"), ("b", "AP"))
    assert sample.support.all()
    assert not sample.contrast(np.array([2]), np.array([0])).support.any()


def test_families_of_runs_that_do_not_differ_err_about_as_often_as_promised():
    """Of runs that rank new documents alike, 5% of the families should have a significant pair."""
    samples, errors, left_out = 120, 0, 0
    for seed in range(samples):
        qrels, lists = collection(
            seed=seed, topics=8, relevant=12, documents=100, gain=0.0, runs=tuple("abcdef")
        )
        found = confir.resample_documents(qrels, lists, "AP", replicates=99, rng=seed)
        compared = confir.compare_runs(found)
        errors += int(np.isin(compared.verdict, ("better", "worse")).any())
        left_out += int(not confir.find_best(found).in_set[0, 0])
    # 5% of 120 are 6; by a binomial distribution, 14 or more have a probability of .003
    assert errors < 14
    assert left_out < 14
