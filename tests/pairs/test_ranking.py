"""Ranks and their limits against plain loops over runs and resampled topics."""

import warnings

import numpy as np
import pytest
from scipy import stats

import confir.parallel
from confir.data.scores import Scores
from confir.errors import InvalidValueError, TopicMismatchError, TopicWarning
from confir.intervals.confidence_intervals import confidence_interval
from confir.pairs.ranking import Ranking, rank_runs
from confir.pairs.run_pairs import compare_all_runs
from confir.resampling.replicates import draw_topics, own_seed
from reference import plain_families
from studies.drawn_topics import draws_of_runs
from studies.score_tables import table as plain_table

TOPICS, REPLICATES, SEED = 10, 200, 5


def scores_of(values):
    topics, runs, measures = values.shape
    return Scores(
        tuple(f"{t:03}" for t in range(topics)),
        tuple(f"run{r}" for r in range(runs)),
        ("AP", "P@10", "RR")[:measures],
        values,
    )


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(3)
    values = rng.beta(1, 2, (TOPICS, 5, 2))
    values[:, :, 1] = rng.integers(0, 4, (TOPICS, 5)) / 10  # ties in many replicates
    values[:, 4, 1] = values[::-1, 3, 1]
    return scores_of(values)


@pytest.fixture(scope="module")
def gappy(scores):
    values = scores.values.copy()
    values[3:, 0, 0] = np.nan
    values[[1, 4], 2, 1] = np.nan
    return scores_of(values)


def weights_of(seed=SEED, replicates=REPLICATES, topics=TOPICS):
    """The weights of a seed; those of fewer topics come from a seed of their own."""
    rng = np.random.default_rng(seed)
    if topics < TOPICS:
        rng = np.random.default_rng([own_seed(rng), topics])
    return draw_topics(topics, replicates, rng).shares()


def plain_ranks(means):
    """1 + the number of runs that are better by more than rounding."""
    return [1 + sum(other > mean + 1e-12 for other in means) for mean in means]


def plain_means(scores, measure):
    rows = scores.values[:, :, measure]
    return np.array([row for row in rows if not np.isnan(row).any()])


def plain_share_first(table, replicates):
    """The share of drawn samples in which each run is first; ties are shared out."""
    best = np.zeros(table.shape[1])
    weights = weights_of(replicates=replicates, topics=len(table))
    for row in weights:
        drawn = np.repeat(table, np.rint(row * len(table)).astype(int), axis=0)
        ranks = plain_ranks(drawn.mean(axis=0))
        winners = [r for r in range(len(ranks)) if ranks[r] == 1]
        best[winners] += 1 / len(winners)
    return best / len(weights)


@pytest.mark.every(2)
@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
@pytest.mark.parametrize(("replicates", "level"), [(60, 0.5), (60, 0.95), (30, 0.8)])
@pytest.mark.parametrize("table", ["scores", "gappy"])
def test_ranks_against_plain_loops(table, replicates, level, request):
    scores = request.getfixturevalue(table)
    found = rank_runs(scores, level=level, replicates=replicates, rng=SEED)
    for measure in range(len(scores.measures)):
        sample = plain_means(scores, measure)
        np.testing.assert_allclose(found.mean[:, measure], sample.mean(axis=0), atol=1e-12)
        assert found.rank[:, measure].tolist() == plain_ranks(sample.mean(axis=0))
        share = plain_share_first(sample, replicates)
        np.testing.assert_allclose(found.share_first[:, measure], share, atol=1e-12)
        one = scores.select(measure=[scores.measures[measure]])
        draws, draws_of_pairs = draws_of_runs(one, replicates, SEED, level)
        for run in range(5):
            p = np.array(plain_families.rank_p(sample, draws, run))
            decides = np.minimum(p, found.p[run, :, measure]) < 0.5  # others decide nothing
            np.testing.assert_allclose(found.p[run, decides, measure], p[decides], rtol=1e-8)
            kept = [rank for rank in range(1, 6) if p[rank - 1] > 1 - level + 1e-12]
            assert (found.low[run, measure], found.high[run, measure]) == (kept[0], kept[-1])
        low, high = plain_families.simultaneous_ranks(sample, draws_of_pairs, level)
        assert found.simultaneous_low[:, measure].tolist() == low
        assert found.simultaneous_high[:, measure].tolist() == high


def test_a_rank_of_its_own_is_at_most_as_wide_as_simultaneous_ones():
    rng = np.random.default_rng(8)
    for seed in range(20):
        values = rng.normal(0.3 + np.arange(7) * rng.choice([0.005, 0.02]), 0.03, (12, 7))[
            :, :, None
        ]
        found = rank_runs(scores_of(values), replicates=199, rng=seed)
        assert (found.simultaneous_low <= found.low).all()
        assert (found.low <= found.rank).all()
        assert (found.rank <= found.high).all()
        assert (found.high <= found.simultaneous_high).all()


def test_another_level_is_that_of_a_new_ranking(scores):
    found = rank_runs(scores, level=0.95, replicates=REPLICATES, rng=SEED).at(0.9)
    again = rank_runs(scores, level=0.9, replicates=REPLICATES, rng=SEED)
    assert found.level == 0.9
    assert found.to_records() == again.to_records()
    with pytest.raises(InvalidValueError, match="level is 2"):
        found.at(2.0)


def test_constant_differences_are_judged_by_the_bound_of_their_signs():
    """Rank 1 of the run below is rejected at 2 · 3.18 · Φ(-√n) for two others, at thrice that for all."""
    base = np.random.default_rng(2).random(20)
    noisy = np.random.default_rng(3).random(20)
    values = np.stack([base, base + 0.01, noisy], axis=1)[:, :, None]
    found = rank_runs(scores_of(values), replicates=499, rng=1)
    bound = plain_families.FACTOR * stats.norm.sf(np.sqrt(20))
    assert found.p[0, 0, 0] == pytest.approx(2 * bound, rel=1e-9)
    assert found.simultaneous_p[0, 0, 0] == pytest.approx(6 * bound, rel=1e-9)
    assert found.low[0, 0] == found.simultaneous_low[0, 0] == 2


def test_a_constant_difference_of_two_runs_is_judged_by_exact_sign_flips():
    base = np.random.default_rng(2).random(6)
    values = np.stack([base, base + 0.01], axis=1)[:, :, None]
    found = rank_runs(scores_of(values), replicates=99, rng=1)
    assert found.p[0, 0, 0] == 0.5**6
    assert found.simultaneous_p[0, 0, 0] == 2 * 0.5**6
    assert found.low[:, 0].tolist() == [2, 1]


def test_constant_differences_take_their_place_among_the_others():
    """A rank falls with the runs that are better by a constant and those that are so by their t."""
    rng = np.random.default_rng(4)
    base = rng.random(20) * 0.1
    better = base + 0.5 + rng.normal(0, 0.01, 20)
    values = np.stack([base, base + 0.01, better], axis=1)[:, :, None]
    found = rank_runs(scores_of(values), replicates=499, rng=1)
    assert found.low[:, 0].tolist() == found.high[:, 0].tolist() == [3, 2, 1]
    assert found.simultaneous_low[:, 0].tolist() == [3, 2, 1]
    alone = rank_runs(scores_of(values[:, [0, 2]]), replicates=499, rng=1)
    assert alone.low[:, 0].tolist() == [2, 1]


def test_ranks_by_the_mean_against_scipy(scores):
    found = rank_runs(scores, replicates=50, rng=SEED)
    expected = stats.rankdata(-scores.mean().round(12), method="min", axis=0)
    assert (found.rank == expected).all()


@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
@pytest.mark.parametrize("table", ["scores", "gappy"])
def test_the_chances_of_being_best_sum_to_1(table, request):
    found = rank_runs(request.getfixturevalue(table), replicates=REPLICATES, rng=SEED)
    np.testing.assert_allclose(found.share_first.sum(axis=0), 1, atol=1e-12)
    assert (found.share_first >= 0).all()


def test_ranks_lie_between_1_and_the_number_of_runs(scores):
    found = rank_runs(scores, level=0.99, replicates=REPLICATES, rng=SEED)
    assert (found.low >= 1).all()
    assert (found.low <= found.high).all()
    assert (found.high <= 5).all()


def test_a_higher_level_gives_a_wider_interval(scores):
    narrow = rank_runs(scores, level=0.5, replicates=REPLICATES, rng=SEED)
    wide = rank_runs(scores, level=0.95, replicates=REPLICATES, rng=SEED)
    assert (wide.low <= narrow.low).all()
    assert (wide.high >= narrow.high).all()
    assert (wide.high - wide.low).sum() > (narrow.high - narrow.low).sum()


def test_several_levels_give_what_each_gives_alone(scores):
    levels = (0.9, 0.99, 0.95)
    together = rank_runs(scores, level=levels, replicates=REPLICATES, rng=SEED)
    assert [found.level for found in together] == list(levels)
    for found in together:
        alone = rank_runs(scores, level=found.level, replicates=REPLICATES, rng=SEED)
        for name in ("mean", "rank", "low", "high", "simultaneous_low", "p", "share_first"):
            np.testing.assert_array_equal(getattr(found, name), getattr(alone, name))


def test_equal_runs_share_rank_and_chance():
    same = np.random.default_rng(0).random(TOPICS)
    worse = 0.9 * same
    values = np.stack([worse, same, same.copy()], axis=1)[:, :, None]
    found = rank_runs(scores_of(values), replicates=REPLICATES, rng=1)
    assert found.rank[:, 0].tolist() == [3, 1, 1]
    assert found.low[:, 0].tolist() == [3, 1, 1]
    assert found.high[:, 0].tolist() == [3, 2, 2]
    assert found.share_first[:, 0].tolist() == [0, 0.5, 0.5]


def test_means_that_differ_by_rounding_are_tied():
    sample = np.array([0.1, 0.2, 0.3, 0.7])
    values = np.stack([sample, sample[::-1]], axis=1)[:, :, None]
    values[0, 1, 0] += 1e-15
    assert rank_runs(scores_of(values), replicates=50, rng=1).rank.tolist() == [[1], [1]]


def test_one_run_is_best():
    found = rank_runs(scores_of(np.random.default_rng(0).random((6, 1, 2))), replicates=50, rng=1)
    for array in (found.rank, found.low, found.high, found.share_first):
        assert array.tolist() == [[1, 1]]


def test_a_run_without_scores_is_last():
    values = np.random.default_rng(0).random((6, 3, 1))
    values[:, 1] = np.nan
    with pytest.warns() as said:
        found = rank_runs(scores_of(values), replicates=50, rng=1)
    (warning,) = said
    assert " has no score by AP: it counts as the last, without evidence" in str(warning.message)
    assert (found.rank[1, 0], found.low[1, 0], found.high[1, 0]) == (3, 3, 3)
    assert found.share_first[1, 0] == 0


def test_runs_without_scores_share_the_rank_after_all_others():
    values = np.random.default_rng(0).random((6, 4, 1))
    values[:, [1, 3]] = np.nan
    with pytest.warns(TopicWarning):
        found = rank_runs(scores_of(values), replicates=50, rng=1)
    for name in ("rank", "low", "high", "simultaneous_low", "simultaneous_high"):
        assert getattr(found, name)[[1, 3], 0].tolist() == [3, 3], name


def test_ranks_rest_on_the_replicates_of_the_intervals(scores):
    """A run is surely better where the percentile interval of the difference lies above 0."""
    means = weights_of(seed=9, replicates=999) @ scores.values[:, 0, 0]
    interval = confidence_interval(scores, method="percentile", replicates=999, rng=9)
    assert interval.low[0, 0] == pytest.approx(np.quantile(means, 0.025), abs=1e-12)
    found = rank_runs(scores, replicates=999, rng=9)
    others = weights_of(seed=9, replicates=999) @ scores.values[:, 1:, 0]
    share = (means[:, None] > others).all(axis=1).mean()
    assert found.share_first[0, 0] == pytest.approx(share, abs=1e-12)


def test_threads_change_no_rank(scores, monkeypatch):
    found = []
    for cores in (1, 2, 4):
        monkeypatch.setattr(confir.parallel, "usable_cores", lambda cores=cores: cores)
        found.append(rank_runs(scores, replicates=REPLICATES, rng=SEED))
    for other in found[1:]:
        for name in ("mean", "rank", "low", "high", "simultaneous_low", "p", "share_first"):
            assert (getattr(found[0], name) == getattr(other, name)).all()


def test_another_measure_changes_no_rank(scores):
    both = rank_runs(scores, replicates=REPLICATES, rng=SEED)
    one = rank_runs(scores.select(measure=["P@10"]), replicates=REPLICATES, rng=SEED)
    assert (both.rank[:, 1] == one.rank[:, 0]).all()
    assert (both.share_first[:, 1] == one.share_first[:, 0]).all()


def test_a_seed_and_its_generator_give_the_same_ranks(scores):
    by_seed = rank_runs(scores, replicates=REPLICATES, rng=SEED)
    by_generator = rank_runs(scores, replicates=REPLICATES, rng=np.random.default_rng(SEED))
    assert (by_seed.share_first == by_generator.share_first).all()


def test_more_replicates_are_drawn_for_borderline_ranks():
    rng = np.random.default_rng(3)
    values = rng.random((30, 1)) / 2 + rng.normal(0, 0.1, (30, 4))
    below = [0.0, 0.15, 0.15 + rng.uniform(0.03, 0.09), 0.45]
    near = plain_table(0.5 + values - values.mean(axis=0) - below)
    found = rank_runs(near, replicates=199, rng=1)
    assert (found.draws, found.simultaneous_draws) == (1_990, 199)  # no pair is borderline
    clear = plain_table(values + 0.3 * np.arange(4))
    assert rank_runs(clear, replicates=199, rng=1).draws == 199


@pytest.mark.filterwarnings("ignore:runs are ranked")
def test_gaps_follow_topics_that_are_put_in_order():
    values = np.random.default_rng(2).random((12, 3, 1))
    values[3, 1] = np.nan
    ordered = plain_table(values)
    turned = Scores(ordered.topics[::-1], ordered.runs, ordered.measures, values[::-1])
    first, second = (
        compare_all_runs(one, 99, 1, what="ranks", level=0.95)[0] for one in (ordered, turned)
    )
    np.testing.assert_array_equal(first.mean, second.mean)
    np.testing.assert_array_equal(first.maxima.largest, second.maxima.largest)


def test_records_name_run_measure_rank_limits_and_chance(scores):
    found = rank_runs(scores, replicates=REPLICATES, rng=SEED)
    assert isinstance(found, Ranking)
    records = found.to_records()
    assert len(records) == 10
    columns = "run measure topics mean rank low high simultaneous_low simultaneous_high "
    columns += "borderline share_first"
    assert list(records[0]) == columns.split()
    assert {name: column[7] for name, column in found.to_dict().items()} == records[7]
    run = found.runs.index(records[7]["run"])
    assert records[7]["measure"] == found.measures[1]
    assert records[7]["share_first"] == found.share_first[run, 1]
    assert [record["rank"] for record in records[:5]] == sorted(found.rank[:, 0])
    frame = found.to_frame("pandas")
    assert list(frame.columns) == list(records[0])
    assert len(frame) == 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1.5}, "level is 1.5"),
        ({"level": (0.9, 0.0)}, "level is 0"),
        ({"level": ()}, "no level"),
        ({"replicates": 0}, "replicates is 0"),
    ],
)
def test_options_out_of_range_are_refused(scores, options, message):
    with pytest.raises(InvalidValueError, match=message):
        rank_runs(scores, **options)


def test_one_topic_is_refused():
    with pytest.raises(InvalidValueError, match="one topic"):
        rank_runs(scores_of(np.full((1, 2, 1), 0.5)))


def easier(seed=5):
    """Return scores where the last run is the worst, but lacks the 20 hardest of 60 topics."""
    rng = np.random.default_rng(seed)
    difficulty = np.sort(rng.random(60))[:, None]
    values = np.clip(difficulty - [0.0, 0.05, 0.1] + rng.normal(0, 0.02, (60, 3)), 0, 1)[:, :, None]
    values[:20, 2] = np.nan
    return scores_of(values)


def test_runs_are_ranked_on_the_topics_that_all_of_them_have_with_a_warning():
    scores = easier()
    assert scores.mean()[:, 0].argmax() == 2
    text = "runs are ranked by .* on the 40 topics that all of them have, of 60"
    with pytest.warns(TopicWarning, match=text):
        found = rank_runs(scores, replicates=199, rng=1)
    assert found.rank[:, 0].tolist() == [1, 2, 3]
    assert found.low[2, 0] == 3
    assert found.share_first[2, 0] == 0
    assert found.topics.tolist() == [[40], [40], [40]]
    assert found.to_records()[2]["topics"] == 40


def test_ranks_on_common_topics_have_the_distribution_of_those_topics_alone():
    """The shares are those of 40 complete topics, but for the draws."""
    rng = np.random.default_rng(11)
    values = rng.random((60, 3, 1))
    values[:20, 2] = np.nan
    with pytest.warns(TopicWarning):
        found = rank_runs(scores_of(values), replicates=40_000, rng=1)
    alone = rank_runs(scores_of(values[20:]), replicates=40_000, rng=2)
    assert (found.rank == alone.rank).all()
    np.testing.assert_allclose(found.share_first, alone.share_first, atol=5 * np.sqrt(0.5 / 40_000))


def test_ranks_by_a_measure_do_not_depend_on_what_other_measures_lack():
    rng = np.random.default_rng(12)
    values = rng.random((30, 3, 2))
    complete = rank_runs(scores_of(values[:, :, :1]), replicates=199, rng=4)
    values[:7, 1, 1] = np.nan
    with pytest.warns(TopicWarning, match="on the 23 topics"):
        both = rank_runs(scores_of(values), replicates=199, rng=4)
    with pytest.warns(TopicWarning):
        alone = rank_runs(scores_of(values[:, :, 1:]), replicates=199, rng=4)
    assert (both.share_first[:, 0] == complete.share_first[:, 0]).all()
    assert (both.share_first[:, 1] == alone.share_first[:, 0]).all()


def test_topics_that_no_run_has_are_no_reason_to_warn():
    values = np.random.default_rng(0).random((6, 3, 1))
    values[2] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = rank_runs(scores_of(values), replicates=50, rng=1)
    assert found.topics.tolist() == [[5], [5], [5]]


@pytest.mark.parametrize(("shared", "there"), [(0, "there are none"), (1, "there is 1")])
def test_runs_that_share_fewer_than_two_topics_are_not_ranked(shared, there):
    values = np.random.default_rng(0).random((8, 2, 1))
    values[: 4 - shared, 0] = np.nan
    values[4:, 1] = np.nan
    with pytest.raises(TopicMismatchError, match=f"need 2 topics that all runs have; {there}"):
        rank_runs(scores_of(values), replicates=50, rng=1)
