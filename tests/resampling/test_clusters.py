"""Means by a design: variances, replicates and intervals against other routes."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import confir
from confir.data.sampling_designs.design import Design
from confir.data.scores import Scores
from confir.errors import InvalidValueError, TopicMismatchError, UnsupportedMethodError
from confir.resampling.cluster_distribution import Ratios, summed_df
from confir.resampling.clusters import Clusters, cluster_counts
from confir.resampling.kinds import as_topic_sample
from confir.resampling.pair_draws import BorrowedVariance
from confir.resampling.studentised_maxima import largest_statistics
from requirements import required


def clusters_of(sample):
    return sample.clusters


def make_scores(values):
    """Return scores of runs by AP: topics × runs."""
    topics = tuple(f"{place:03}" for place in range(len(values)))
    runs = tuple(f"run{place}" for place in range(values.shape[1]))
    return Scores(topics, runs, ("AP",), values[:, :, None])


@pytest.fixture
def clustered():
    """Scores of three runs on 60 topics, in 12 clusters of unequal size, with weights."""
    rng = np.random.default_rng(3)
    sizes = [1, 2, 3, 4, 5, 5, 5, 5, 6, 7, 8, 9]
    cluster = np.repeat(np.arange(12), sizes)
    values = 1 / (1 + np.exp(-(rng.normal(size=(12, 3))[cluster] + rng.normal(size=(60, 3)))))
    return values, cluster, rng.uniform(0.5, 3.0, 60)


def columns(scores, cluster, **more):
    """Return the columns of a design."""
    return {"topic": scores.topics, "cluster": [str(name) for name in cluster], **more}


def corrected_satterthwaite(variances, df):
    """Return the degrees of freedom of a sum of variances: those of each term are raised by 2."""
    squares = sum(v**2 / (d + 2) for v, d in zip(variances, df, strict=True))
    return sum(variances) ** 2 / squares - 2


def test_standard_errors_equal_those_of_statsmodels(clustered):
    sm = required("statsmodels.api")
    values, cluster, weight = clustered
    scores = make_scores(values)
    designed = scores.with_design(columns(scores, cluster, weight=weight))
    found = confir.bootstrap_topics(designed, replicates=2, rng=1)
    interval = confir.confidence_interval(designed, method="t")
    for run in range(3):
        model = sm.WLS(values[:, run], np.ones(60), weights=weight)
        fit = model.fit(cov_type="cluster", cov_kwds={"groups": cluster}, use_t=True)
        # statsmodels also multiplies by (n - 1)/(n - parameters), which is 1 for a mean
        assert found.estimate[run] == pytest.approx(fit.params[0], abs=1e-12)
        assert found.se[run] == pytest.approx(fit.bse[0], abs=1e-12)
        limits = (interval.low[run, 0], interval.high[run, 0])
        assert limits == pytest.approx(tuple(fit.conf_int()[0]), abs=1e-10)
    assert found.df.tolist() == [11.0] * 3


def test_weights_alone_are_the_heteroscedastic_error_of_statsmodels(clustered):
    sm = required("statsmodels.api")
    values, _, weight = clustered
    scores = make_scores(values)
    designed = scores.with_design({"topic": scores.topics, "weight": weight})
    found = confir.bootstrap_topics(designed, replicates=2, rng=1)
    for run in range(3):
        fit = sm.WLS(values[:, run], np.ones(60), weights=weight).fit(cov_type="HC1")
        assert found.se[run] == pytest.approx(fit.bse[0], abs=1e-12)


def test_strata_are_added_as_cochran_has_them(clustered):
    values, cluster, weight = clustered
    scores = make_scores(values)
    stratum = np.where(cluster < 5, 0, np.where(cluster < 8, 1, 2))
    design = columns(scores, cluster, weight=weight, stratum=[str(name) for name in stratum])
    found = confir.bootstrap_topics(scores.with_design(design), replicates=2, rng=1)
    mean, parts, df = 0.0, [], []
    for name in range(3):
        inside = stratum == name
        share = weight[inside].sum() / weight.sum()
        w, x, g = weight[inside], values[inside, 0], cluster[inside]
        own = np.average(x, weights=w)
        sums = np.array([(w * (x - own))[g == one].sum() for one in np.unique(g)])
        size = len(sums)
        parts.append(share**2 * size / (size - 1) * np.square(sums).sum() / w.sum() ** 2)
        mean += share * own
        df.append(size - 1)
    variance = sum(parts)
    assert found.estimate[0] == pytest.approx(mean, abs=1e-13)
    assert found.se[0] == pytest.approx(np.sqrt(variance), abs=1e-13)
    assert found.df[0] == pytest.approx(corrected_satterthwaite(parts, df), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("strata", [10, 50])
def test_intervals_over_strata_of_two_topics_cover_the_mean(strata):
    """Normal scores, 4,000 samples: with plain Satterthwaite, 10 strata cover 0.979."""
    rng = np.random.default_rng(5)
    scores = make_scores(0.5 + 0.05 * rng.standard_normal((2 * strata, 4000)))
    table = {"topic": scores.topics, "stratum": [str(place // 2) for place in range(2 * strata)]}
    found = confir.confidence_interval(scores.with_design(table), method="t")
    coverage = np.mean((found.low < 0.5) & (found.high > 0.5))
    assert coverage == pytest.approx(0.95, abs=0.012)


def test_degrees_of_freedom_over_strata_are_near_the_true_ones():
    """50 strata of two topics with equal variances have 50; plain Satterthwaite gives 17."""
    rng = np.random.default_rng(6)
    variances = rng.chisquare(1, (50, 2000))
    assert np.median(summed_df(variances, np.ones((50, 1)))) == pytest.approx(50, abs=5)


def test_one_stratum_keeps_its_degrees_of_freedom():
    assert summed_df(np.array([[0.3, 0.0]]), np.array([[48.0]])).tolist() == [48.0, 48.0]


def test_fixed_and_random_datasets_have_their_closed_forms(clustered):
    values, cluster, _ = clustered
    scores = make_scores(values)
    names = [str(one // 3) for one in cluster]
    table = {"topic": scores.topics, "dataset": names}
    parts = [values[[n == name for n in names], 0] for name in sorted(set(names))]
    means = np.array([part.mean() for part in parts])
    errors = np.array([part.var(ddof=1) / len(part) for part in parts])
    fixed = confir.bootstrap_topics(scores.with_design(table), replicates=2, rng=1)
    assert fixed.estimate[0] == pytest.approx(means.mean(), abs=1e-13)
    assert fixed.se[0] == pytest.approx(np.sqrt(errors.sum()) / 4, abs=1e-13)
    df = corrected_satterthwaite(errors, [len(part) - 1 for part in parts])
    assert fixed.df[0] == pytest.approx(df, abs=1e-9)
    random = scores.with_design(table, datasets="random")
    drawn = confir.bootstrap_topics(random, replicates=2, rng=1)
    assert drawn.estimate[0] == pytest.approx(means.mean(), abs=1e-13)
    assert drawn.se[0] == pytest.approx(means.std(ddof=1) / 2, abs=1e-13)
    assert drawn.df[0] == pytest.approx(3.0)
    own = stats.t.interval(0.95, 3, means.mean(), means.std(ddof=1) / 2)
    interval = confir.confidence_interval(random, method="t")
    assert (interval.low[0, 0], interval.high[0, 0]) == pytest.approx(own, abs=1e-12)


@pytest.mark.parametrize("strata", [1, 3])
def test_replicates_equal_those_computed_topic_by_topic(clustered, strata):
    values, cluster, weight = clustered
    scores = make_scores(values)
    stratum = cluster % strata
    table = columns(scores, cluster, weight=weight, stratum=[str(name) for name in stratum])
    sample = as_topic_sample(scores.with_design(table))
    counts = cluster_counts(clusters_of(sample), 5, np.random.default_rng(9))
    found = sample.distribution(slice(None), counts)
    # the clusters in the order of the counts: by stratum, then by cluster
    order = sorted(range(12), key=lambda one: (one % strata, one))
    for b in range(5):
        drawn = dict(zip(order, counts[b], strict=True))
        mean, variance = 0.0, 0.0
        for name in range(strata):
            inside = [one for one in order if one % strata == name]
            assert sum(drawn[one] for one in inside) == len(inside) - (strata > 1)
            copies = [one for one in inside for _ in range(int(drawn[one]))]
            w = np.concatenate([weight[cluster == one] for one in copies])
            x = np.concatenate([values[cluster == one, 1] for one in copies])
            g = np.repeat(np.arange(len(copies)), [(cluster == one).sum() for one in copies])
            own = np.average(x, weights=w)
            share = weight[stratum == name].sum() / weight.sum()
            sums = np.array([(w * (x - own))[g == k].sum() for k in range(len(copies))])
            size = len(copies)
            variance += share**2 * size / (size - 1) * (sums**2).sum() / w.sum() ** 2
            mean += share * own
        assert found.replicates[b, 1] == pytest.approx(mean, abs=1e-12)
        assert found.replicate_se[b, 1] == pytest.approx(np.sqrt(variance), abs=1e-12)


def test_replicates_of_a_ratio_equal_those_computed_topic_by_topic(clustered):
    values, cluster, weight = clustered
    scores = make_scores(values)
    designed = scores.with_design(columns(scores, cluster, weight=weight))
    sample = as_topic_sample(designed, statistic="ratio", baseline="run0")
    counts = cluster_counts(clusters_of(sample), 3, np.random.default_rng(2))
    found = sample.distribution(slice(None), counts)
    for b in range(3):
        copies = [one for one in range(12) for _ in range(int(counts[b, one]))]
        w = np.concatenate([weight[cluster == one] for one in copies])
        x = np.concatenate([values[cluster == one] for one in copies])
        g = np.repeat(np.arange(12), [(cluster == one).sum() for one in copies])
        mean = np.average(x, weights=w, axis=0)
        deviation = (x[:, 1] - mean[1]) / mean[0] - mean[1] / mean[0] ** 2 * (x[:, 0] - mean[0])
        sums = np.array([(w * deviation)[g == k].sum() for k in range(12)])
        assert found.replicates[b, 0] == pytest.approx(mean[1] / mean[0], rel=1e-12)
        expected = np.sqrt(12 / 11 * (sums**2).sum()) / w.sum()
        assert found.replicate_se[b, 0] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("statistic", ["mean", "difference", "ratio"])
def test_replicates_of_small_scores_are_those_of_large_ones_but_for_the_scale(clustered, statistic):
    """Run 0 is constant, run 3 a multiple of run 1: then a ratio does not vary, either."""
    values, cluster, weight = clustered
    values = np.column_stack([np.full(60, 0.7), values[:, 1:], values[:, 1] / 3.0])
    for baseline in ("run0", "run1"):
        found = []
        for scale in (1.0, 2.0**-30):
            scores = make_scores(scale * values)
            designed = scores.with_design(columns(scores, cluster, weight=weight))
            options = {} if statistic == "mean" else {"baseline": baseline}
            sample = as_topic_sample(designed, statistic=statistic, **options)
            counts = cluster_counts(clusters_of(sample), 5, np.random.default_rng(2))
            drawn = sample.distribution(slice(None), counts)
            found.append(np.concatenate([drawn.se[None], drawn.replicate_se]))
        same = found[0] if statistic == "ratio" else 2.0**-30 * found[0]
        np.testing.assert_allclose(found[1], same, rtol=1e-6)
        constant = statistic == "mean" or (statistic == "ratio" and baseline == "run1")
        assert (found[1] == 0).all(axis=0).sum() == constant


def test_replicates_of_clusters_that_score_1_throughout_are_exactly_1(clustered):
    """Replicates draw the first 6 of 12 clusters; the others score about 0.2."""
    _, cluster, weight = clustered
    low = np.random.default_rng(1).uniform(0.1, 0.3, (60, 100))
    scores = make_scores(np.where(cluster[:, None] < 6, 1.0, low))
    sample = as_topic_sample(scores.with_design(columns(scores, cluster, weight=weight)))
    counts = np.random.default_rng(2).multinomial(12, np.repeat([1 / 6, 0.0], 6), 20)
    found = sample.distribution(slice(None), counts.astype(float)).replicates
    assert (found == 1.0).all()


def test_strata_alone_move_as_topics_of_theirs_drawn_again_do(clustered):
    values, cluster, weight = clustered
    scores = make_scores(values)
    stratum = np.where(cluster < 5, 0, np.where(cluster < 8, 1, 2))
    table = columns(scores, cluster, weight=weight, stratum=[str(name) for name in stratum])
    clusters = Clusters.of(scores.with_design(table).design)
    counts = cluster_counts(clusters, 4, np.random.default_rng(9))
    ratios = Ratios(clusters, (values,))
    for chosen in (None, [0, 2], [1]):
        found = ratios.moves(counts, chosen)
        inside = np.isin(stratum, [0, 1, 2] if chosen is None else chosen)
        for b in range(4):
            expected = np.zeros(3)
            for name in np.unique(stratum[inside]):
                own = stratum == name
                again = np.average(values[own], axis=0, weights=(weight * counts[b][cluster])[own])
                move = again - np.average(values[own], axis=0, weights=weight[own])
                expected += weight[own].sum() / weight[inside].sum() * move
            np.testing.assert_allclose(found[b], expected, atol=1e-13)


def test_a_sample_has_as_many_whole_clusters_of_each_stratum():
    cluster = np.array([0, 0, 1, 2, 2, 2, 3, 4, 4, 5, 6])
    stratum = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    scores = make_scores(np.random.default_rng(1).random((11, 1)))
    table = columns(scores, cluster, stratum=[str(name) for name in stratum])
    clusters = Clusters.of(scores.with_design(table).design)
    drawn = set()
    for seed in range(20):
        sample, topics = clusters.resampled(np.random.default_rng(seed))
        assert sample.count == clusters.count == 7
        assert sample.studentises
        spans = np.split(topics, sample.starts[1:])
        for place, span in enumerate(spans):
            number = cluster[span[0]]
            assert (number >= 3) == (place >= 3)
            assert span.tolist() == np.flatnonzero(cluster == number).tolist()
            drawn.add((place, number))
    assert len(drawn) == 3 * 3 + 4 * 4


def test_rao_wu_replicates_have_the_variance_of_the_design(clustered):
    values, cluster, _ = clustered
    scores = make_scores(values)
    # six strata of two clusters each: plain resampling would halve the variance
    table = columns(scores, cluster, stratum=[str(one // 2) for one in cluster])
    found = confir.bootstrap_topics(scores.with_design(table), replicates=20_000, rng=1)
    np.testing.assert_allclose(found.replicates.std(axis=0), found.se, rtol=0.03)
    assert found.replicate_se is None
    with pytest.raises(UnsupportedMethodError, match="needs replicate_se"):
        confir.confidence_interval(scores.with_design(table), method="bootstrap-t")


def test_missing_scores_leave_the_others_of_their_cluster(clustered):
    values, cluster, weight = clustered
    holes = values.copy()
    holes[::7, 0] = np.nan
    scores = make_scores(holes)
    found = confir.bootstrap_topics(
        scores.with_design(columns(scores, cluster, weight=weight)), replicates=3, rng=1
    )
    kept = ~np.isnan(holes[:, 0])
    alone = make_scores(values[kept])
    other = alone.with_design(columns(alone, cluster[kept], weight=weight[kept]))
    expected = confir.bootstrap_topics(other, replicates=2, rng=1)
    assert len(np.unique(cluster[kept])) < 12  # a cluster has no score at all
    assert found.se[0] == pytest.approx(expected.se[0], abs=1e-13)
    assert found.df[0] == expected.df[0]
    assert found.count[0] == kept.sum()


def test_independent_topics_of_one_weight_keep_every_bit(clustered):
    values, *_ = clustered
    scores = make_scores(values)
    table = {"topic": scores.topics, "cluster": scores.topics, "weight": [0.25] * 60}
    designed = scores.with_design(table)
    for method in ("t", "bca", "calibrated-beta", "bootstrap-t"):
        one = confir.confidence_interval(scores, method=method, rng=4)
        two = confir.confidence_interval(designed, method=method, rng=4)
        np.testing.assert_array_equal(one.low, two.low)
        np.testing.assert_array_equal(one.high, two.high)
    first, second = (confir.compare_runs(each, rng=4) for each in (scores, designed))
    np.testing.assert_array_equal(first.p_adjusted, second.p_adjusted)
    np.testing.assert_array_equal(first.simultaneous_low, second.simultaneous_low)


def test_formulas_of_clusters_agree_with_those_of_topics(clustered):
    """One cluster per topic by the code of designs, against the code of simple samples."""
    values, *_ = clustered
    scores = make_scores(values)
    plain = as_topic_sample(scores)
    uneven = {"topic": scores.topics, "weight": np.linspace(1.0, 1.0 + 1e-13, 60)}
    sample = as_topic_sample(scores.with_design(uneven))
    assert clusters_of(sample) is not None
    counts = cluster_counts(clusters_of(sample), 50, np.random.default_rng(1))
    by_clusters = sample.distribution(slice(None), counts)
    by_topics = plain.distribution(slice(None), counts / 60)
    for name in ("estimate", "se", "df", "acceleration", "replicates", "replicate_se"):
        found, expected = getattr(by_clusters, name), getattr(by_topics, name)
        np.testing.assert_allclose(found, expected, rtol=1e-9, err_msg=name)
    np.testing.assert_allclose(by_clusters.effective, 60.0, rtol=1e-9)


def test_effective_topics_of_equal_scores_in_a_cluster_are_the_clusters():
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(40), 10)
    scores = make_scores(rng.random((40, 1))[cluster])
    found = confir.confidence_interval(scores.with_design(columns(scores, cluster)))
    # the variance of topics divides by n - 1, that of clusters by G - 1
    assert found.effective[0, 0] == pytest.approx(40 * (400 / 399) * (39 / 40), rel=1e-12)
    assert found.method == "logit-t"
    assert found.design == "400 topics in 40 clusters"


def test_records_have_the_effective_topics_of_their_run_and_measure(clustered):
    values, cluster, _ = clustered
    both = np.stack([values, np.square(values)], axis=2)
    scores = replace(make_scores(values), measures=("AP", "P@10"), values=both)
    found = confir.confidence_interval(scores.with_design(columns(scores, cluster)), method="t")
    for record in found.to_records():
        place = scores.runs.index(record["run"]), scores.measures.index(record["measure"])
        alone = make_scores(both[:, place[0], [place[1]]])
        sample = as_topic_sample(alone.with_design(columns(alone, cluster)))
        expected = sample.distribution(slice(None), None).effective[0]
        assert record["effective_topics"] == pytest.approx(expected, rel=1e-12)


def test_methods_of_independent_topics_refuse(clustered):
    values, cluster, _ = clustered
    scores = make_scores(values)
    designed = scores.with_design(columns(scores, cluster))
    for method in ("calibrated-beta", "beta-logit", "betting", "gaffke"):
        with pytest.raises(UnsupportedMethodError, match="one simple random sample of topics"):
            confir.confidence_interval(designed, method=method)
    with pytest.raises(UnsupportedMethodError, match="needs replicate_skewness"):
        confir.confidence_interval(designed, method="hall-logit")
    with pytest.raises(UnsupportedMethodError, match="takes no design"):
        confir.bootstrap_topics(designed, statistic=lambda w, x: w @ x, replicates=5)


def test_one_cluster_has_no_variance(clustered):
    values, cluster, _ = clustered
    scores = make_scores(values)
    with pytest.raises(InvalidValueError, match="the design has one cluster"):
        confir.confidence_interval(scores.with_design(columns(scores, cluster * 0)))
    alone = columns(scores, cluster, stratum=["x" if one == 11 else "y" for one in cluster])
    with pytest.raises(InvalidValueError, match="stratum 'x' has one cluster"):
        confir.confidence_interval(scores.with_design(alone))
    one = {"topic": scores.topics, "dataset": ["<script>"] * 60}
    with pytest.raises(InvalidValueError, match="the design has one dataset"):
        confir.confidence_interval(scores.with_design(one, datasets="random"))


def test_a_run_without_scores_in_a_stratum_is_refused(clustered):
    values, cluster, _ = clustered
    holes = values.copy()
    holes[cluster < 6, 2] = np.nan
    scores = make_scores(holes)
    table = columns(scores, cluster, stratum=["low" if one < 6 else "high" for one in cluster])
    with pytest.raises(
        TopicMismatchError, match="'run2' has AP on fewer than two clusters of 'low'"
    ):
        confir.confidence_interval(scores.with_design(table))


def test_a_run_with_scores_in_one_cluster_of_the_design_is_refused(clustered):
    values, cluster, _ = clustered
    holes = values.copy()
    holes[cluster < 11, 2] = np.nan
    scores = make_scores(holes)
    message = "run 'run2' has AP on fewer than two clusters of the design; expected at least 2"
    with pytest.raises(TopicMismatchError, match=message):
        confir.confidence_interval(scores.with_design(columns(scores, cluster)))


def test_constant_scores_have_no_interval(clustered):
    _, cluster, weight = clustered
    scores = make_scores(np.full((60, 1), 0.3))
    designed = scores.with_design(columns(scores, cluster, weight=weight))
    with pytest.warns(confir.errors.DegenerateSampleWarning):
        interval = confir.confidence_interval(designed)
    assert np.isnan(interval.low).all()


def test_kept_clusters_are_those_of_the_topics_kept(clustered):
    values, cluster, weight = clustered
    scores = make_scores(values)
    whole = Clusters.of(scores.with_design(columns(scores, cluster, weight=weight)).design)
    topics = np.array([0, 1, 2, 10, 11, 12, 40, 50, 59])
    kept = whole.kept(topics)
    alone = make_scores(values[topics])
    table = columns(alone, cluster[topics], weight=weight[topics])
    expected = Clusters.of(alone.with_design(table).design)
    for found in (kept, expected):
        assert found.count == len(np.unique(cluster[topics]))
    one, other = (Ratios(found, (values[topics],)) for found in (kept, expected))
    np.testing.assert_allclose(one.means[0], other.means[0], rtol=1e-13)
    np.testing.assert_allclose(one.residuals[0], other.residuals[0], atol=1e-14)


def test_sign_flips_of_clusters_equal_enumeration(clustered):
    values, cluster, weight = clustered
    scores = make_scores(values)
    designed = scores.with_design(columns(scores, cluster, weight=weight))
    found = confir.compare_runs(designed, baseline="run0", test="randomisation", rng=1)
    sums = np.array(
        [(weight * (values[:, 1] - values[:, 0]))[cluster == g].sum() for g in range(12)]
    )
    flips = np.array(list(itertools.product([-1, 1], repeat=12))) @ sums
    expected = np.mean(np.abs(flips) >= abs(sums.sum()) - 1e-12)
    assert found.p[0, 0, 0] == pytest.approx(expected, abs=1e-12)


def test_few_clusters_are_tested_by_flips_and_said_so(clustered):
    values, cluster, _ = clustered
    scores = make_scores(values)
    designed = scores.with_design(columns(scores, cluster % 5))
    cannot = r"no difference can be significant at level 0\.95; expected at least 7 clusters"
    with pytest.warns(confir.errors.InputWarning, match=cannot):
        found = confir.compare_runs(designed, baseline="run0", rng=1)
    assert found.tests == ("randomisation",)
    none_leaves = (
        r"no run can be ruled out as the best at level 0\.95; expected at least 6 clusters"
    )
    with pytest.warns(confir.errors.InputWarning, match=none_leaves):
        assert confir.find_best(designed, rng=1).in_set.all()
    with pytest.warns(confir.errors.InputWarning, match="too few for t tests"):
        assert confir.compare_runs(designed, test="t", rng=1).tests == ("t",)
    for test in ("sign", "wilcoxon", "bootstrap-shift", "tukey-hsd"):
        with pytest.raises(UnsupportedMethodError, match="tests that fit: t, randomisation"):
            confir.compare_runs(designed, test=test)


def test_studentised_maxima_equal_those_of_each_pair(clustered):
    values, cluster, weight = clustered
    scores = make_scores(values)
    for strata in (1, 3):
        table = columns(scores, cluster, weight=weight, stratum=[str(g % strata) for g in cluster])
        designed = scores.with_design(table)
        clusters = Clusters.of(designed.design)
        borrowed = BorrowedVariance(3, 0.5)
        found = largest_statistics(
            as_topic_sample(designed), 40, np.random.default_rng(3), borrowed
        )
        added = 0.5 * (1 - 3 ** (-1 / 12)) / 12
        scale = 12 / 11 if strata == 1 else 1.0  # several strata draw one cluster less
        largest = np.zeros(40)
        for baseline in scores.runs:
            sample = as_topic_sample(designed, statistic="difference", baseline=baseline)
            counts = cluster_counts(clusters, 40, np.random.default_rng(3))
            d = sample.distribution(slice(None), counts)
            variance = np.square(d.replicate_se) + added
            t = np.abs(d.replicates - d.estimate) * np.sqrt(scale / variance)
            largest = np.maximum(largest, t.max(axis=1))
        np.testing.assert_allclose(found, largest, rtol=1e-8)


@pytest.mark.parametrize("strata", [1, 2])
@pytest.mark.parametrize("median", [0.0, 0.4])
def test_studentised_maxima_of_clusters_that_weigh_alike_borrow_by_their_number(strata, median):
    """One replicate at a time, two topics in each of 8 clusters."""
    values = np.random.default_rng(5).random((16, 2))
    cluster = np.arange(16) // 2
    scores = make_scores(values)
    table = columns(scores, cluster, stratum=[str(g * strata // 8) for g in cluster])
    sample = as_topic_sample(scores.with_design(table))
    apart = (values[::2] + values[1::2]) @ [0.5, -0.5]  # means of clusters
    for seed in range(5):
        rng = np.random.default_rng(seed)
        borrowed = BorrowedVariance(7, median)
        (found,) = largest_statistics(sample, 1, rng, borrowed)
        (counts,) = cluster_counts(clusters_of(sample), 1, np.random.default_rng(seed))
        move, variance = 0.0, 0.0
        for block in np.split(np.arange(8), strata):
            drawn = np.repeat(apart[block], counts[block].astype(int))
            move += (drawn.mean() - apart[block].mean()) / strata
            variance += drawn.var(ddof=1) / len(drawn) / strata**2
        variance += median * (1 - 7 ** (-1 / 8)) / 8
        scale = 8 / 7 if strata == 1 else 1.0
        assert found == pytest.approx(abs(move) * np.sqrt(scale / variance), rel=1e-9)


def test_ranks_best_sets_and_comparisons_share_standard_errors(clustered):
    from confir.pairs.run_pairs import compare_all_runs

    values, cluster, weight = clustered
    scores = make_scores(values + np.array([0.0, 0.1, 0.2]))
    scores = Scores(scores.topics, scores.runs, ("NumRet",), scores.values)
    designed = scores.with_design(columns(scores, cluster, weight=weight))
    (pairs,) = compare_all_runs(designed, 500, 1, what="ranks", level=0.95)
    compared = confir.compare_runs(designed, rng=1)
    for place, (first, second) in enumerate(zip(compared.first, compared.second, strict=True)):
        expected = compared.difference[place, 0]
        assert pairs.difference[first, second] == pytest.approx(expected, abs=1e-12)
    assert pairs.units == 12
    np.testing.assert_allclose(pairs.mean, designed.mean()[:, 0], rtol=1e-13)
    ranking = confir.rank_runs(designed, rng=1)
    assert ranking.rank[:, 0].tolist() == np.argsort(np.argsort(-pairs.mean)).__add__(1).tolist()


def test_effect_size_does_not_depend_on_the_clusters(clustered):
    values, cluster, _ = clustered
    scores = make_scores(values)
    plain = confir.compare_runs(scores, baseline="run0", rng=1)
    by_cluster = confir.compare_runs(
        scores.with_design(columns(scores, cluster)), baseline="run0", rng=1
    )
    np.testing.assert_allclose(by_cluster.effect_size, plain.effect_size, rtol=1e-12)
    assert (by_cluster.se != plain.se).all()


def test_plan_counts_topics_in_clusters_like_these(clustered):
    values, cluster, _ = clustered
    scores = make_scores(values).select(run=["run0", "run1"])
    designed = scores.with_design(columns(scores, cluster))
    plan = confir.plan_topics(designed, baseline="run0", difference=0.1)
    compared = confir.compare_runs(designed, baseline="run0", rng=1)
    sd = compared.se[0, 0] * np.sqrt(60)

    def power(topics):
        df = topics * 12 / 60 - 1
        shift, critical = 0.1 * np.sqrt(topics) / sd, stats.t.ppf(0.975, df)
        return 1 - stats.nct.cdf(critical, df, shift) + stats.nct.cdf(-critical, df, shift)

    needed = plan.topics[0, 0]
    assert power(needed) >= 0.8 > power(needed - 1)


def test_coverage_study_draws_whole_clusters():
    rng = np.random.default_rng(2)
    cluster = np.repeat(np.arange(20), 10)
    effect = rng.normal(size=20)[cluster] * 0.12
    values = np.clip(0.5 + effect + rng.normal(size=200) * 0.05, 0, 1)[:, None]
    scores = make_scores(values)
    designed = scores.with_design(columns(scores, cluster))
    found = confir.estimate_coverage(designed, methods=["t"], samples=2000, rng=1)
    assert found.coverage[0, 0, 0] == pytest.approx(0.95, abs=0.025)
    narrow = confir.estimate_coverage(scores, methods=["t"], samples=500, rng=1)
    assert narrow.coverage[0, 0, 0] == pytest.approx(0.95, abs=0.03)  # its topics are independent
    both = confir.estimate_coverage(
        designed, methods=["logit-t", "percentile"], samples=60, replicates=100, rng=1
    )
    assert (both.coverage > 0.8).all()


@pytest.mark.parametrize(
    ("sizes", "warned"), [((1, 1, 1, 1, 1, 1, 1, 1, 30, 30), True), ((5,) * 5, False)]
)
def test_clusters_of_very_different_sizes_are_warned_of(sizes, warned):
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    values = np.random.default_rng(1).random((len(cluster), 2, 1))
    topics = tuple(f"{place:02}" for place in range(len(cluster)))
    scores = Scores(topics, ("a", "b"), ("AP",), values)
    scores = scores.with_design({"topic": topics, "cluster": [f"c{c}" for c in cluster]})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        confir.confidence_interval(scores)
        confir.compare_runs(scores, test="t", rng=1, replicates=99, method="t")
        before = len(caught)
        confir.confidence_interval(scores, method="symmetric-t-logit", rng=1)
    said = [str(one.message) for one in caught]
    assert len(said) == before
    assert (
        any("by logit-t may be too narrow; expected the method symmetric" in one for one in said)
        == warned
    )
    assert (
        any("much of the weight: t tests may be too optimistic; expected" in one for one in said)
        == warned
    )


def test_kish_s_number_of_clusters_judges_unevenness():
    """1/G* - 1/G: one of 26 clusters with half of the topics gives 1/4 + 1/100 - 1/26."""
    for large, uneven in ((25, True), (1, False), (3, False), (7, True)):
        cluster = np.append(np.zeros(large, int), np.arange(1, 26))
        design = Design(tuple(map(str, range(len(cluster)))), cluster=tuple(map(str, cluster)))
        share = np.bincount(cluster) / len(cluster)
        assert Clusters.of(design).uneven == uneven == bool((share**2).sum() - 1 / 26 > 0.03)
