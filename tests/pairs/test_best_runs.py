"""The confidence set of the best run against plain loops, and its coverage."""

import numpy as np
import pytest
from scipy import stats

from confir.data.scores import Scores
from confir.errors import InvalidValueError, TopicMismatchError, TopicWarning
from confir.pairs.best_runs import find_best
from confir.pairs.compare import compare_runs
from confir.pairs.ranking import rank_runs
from confir.studies.best.table import best_sentence, best_table
from reference import plain_families
from studies.drawn_topics import draws_of_runs

REPLICATES = 99


def scores_of(values, names=None):
    values = np.asarray(values, np.float64)
    if values.ndim == 2:
        values = values[:, :, None]
    topics, runs, measures = values.shape
    return Scores(
        tuple(f"{t:03}" for t in range(topics)),
        names or tuple(f"run{r}" for r in range(runs)),
        ("gain", "utility")[:measures],
        values,
    )


def some_scores(seed, topics=12, runs=5):
    rng = np.random.default_rng(seed)
    return scores_of(rng.normal(0.4 + 0.06 * np.arange(runs), 0.15, (topics, runs)))


@pytest.mark.every(2)
@pytest.mark.parametrize("runs", [2, 3, 5])
@pytest.mark.parametrize("level", [0.4, 0.9, 0.95])
def test_the_set_against_plain_loops(runs, level):
    sizes = []
    for seed in range(3):
        scores = some_scores(seed, runs=runs)
        found = find_best(scores, level=level, replicates=REPLICATES, rng=seed)
        draws, _ = draws_of_runs(scores, REPLICATES, seed, level)
        expected = plain_families.find_best(scores.values[:, :, 0], draws, level)
        assert found.in_set[:, 0].tolist() == expected.members
        np.testing.assert_allclose(found.p[:, 0], expected.p, rtol=1e-9)
        np.testing.assert_allclose(found.upper[:, 0], expected.upper, atol=1e-10)
        np.testing.assert_allclose(found.lower[:, 0], expected.lower, atol=1e-10)
        sizes.append(sum(expected.members))
    assert min(sizes) < runs  # so that some run was left out


def test_runs_are_left_out_exactly_where_p_is_at_most_one_less_the_level():
    for seed in range(20):
        scores = some_scores(seed)
        for level in (0.2, 0.5, 0.9, 0.95, 0.995):
            found = find_best(scores, level=level, replicates=99, rng=1)
            assert (found.in_set == ~(found.p <= 1 - level + 1e-12)).all()
            left_out = ~found.in_set
            assert (found.upper[left_out] == 0).all()
            assert found.in_set[found.mean.argmax(), 0]


def test_the_set_and_the_rank_intervals_agree_on_rank_1():
    """A run is in the set exactly if rank 1 is in its own rank interval."""
    for seed in range(20):
        scores = some_scores(seed, runs=7)
        best = find_best(scores, replicates=REPLICATES, rng=seed)
        ranking = rank_runs(scores, replicates=REPLICATES, rng=seed)
        assert (best.in_set == (ranking.low == 1)).all()
        np.testing.assert_allclose(best.p, ranking.p[:, 0], rtol=1e-12)
        np.testing.assert_array_equal(best.share_first, ranking.share_first)


def test_the_set_and_the_ranks_agree_with_the_comparison_of_all_pairs():
    """A run that is worse than another cannot have rank 1, also by simultaneous rank intervals."""
    worse = 0
    for seed in range(20):
        scores = some_scores(seed, runs=7)
        compared = compare_runs(scores, replicates=REPLICATES, rng=seed)
        best = find_best(scores, replicates=REPLICATES, rng=seed)
        ranking = rank_runs(scores, replicates=REPLICATES, rng=seed)
        low = np.ones(7, int)
        for (baseline, run), verdict in zip(compared.pairs, compared.verdict[0, :, 0], strict=True):
            names = {"worse": run, "better": baseline}
            if verdict in names:
                low[scores.runs.index(names[verdict])] += 1
        assert not best.in_set[low > 1].any()
        assert ranking.simultaneous_low[:, 0].tolist() == low.tolist()
        worse += (low > 1).sum()
    assert worse > 20


def test_two_runs_give_a_one_sided_t_test():
    scores = some_scores(3, runs=2)
    found = find_best(scores, replicates=50, rng=1)
    values = scores.values[:, :, 0]
    expected = stats.ttest_rel(values[:, 1], values[:, 0], alternative="greater").pvalue
    assert found.p[0, 0] == pytest.approx(expected, rel=1e-12)


def test_a_higher_level_gives_a_larger_set_and_higher_limits():
    low, high = find_best(some_scores(1, runs=8), level=(0.8, 0.99), replicates=999, rng=1)
    assert (high.in_set >= low.in_set).all()
    assert high.in_set.sum() > low.in_set.sum()
    assert (high.upper >= low.upper).all()


@pytest.mark.slow
def test_the_best_run_is_in_the_set_and_under_its_limits_as_often_as_promised():
    """Exact ties and near ties of skewed scores: the truth is known."""
    rng = np.random.default_rng(6)
    samples, held, limits = 400, 0, 0
    gap = np.array([0.0, 0.0, 0.02, 0.02, 0.1, 0.3])
    truth = 0.5 - gap
    above_others = np.array([t - np.delete(truth, i).max() for i, t in enumerate(truth)])
    for seed in range(samples):
        topic = rng.beta(0.6, 1.2, (20, 1))
        values = truth + 0.2 * (topic - 1 / 3) + 0.3 * (rng.beta(1, 3, (20, 6)) - 0.25)
        found = find_best(scores_of(values), level=0.9, replicates=199, rng=seed)
        held += found.in_set[0, 0]
        limits += (found.upper[:, 0] >= above_others).all()
    error = 3 * np.sqrt(0.9 * 0.1 / samples)
    assert held / samples > 0.9 - error
    assert limits / samples > 0.9 - error
    assert held / samples < 0.995


def test_a_constant_difference_is_judged_by_the_one_sided_sign_flip_test():
    base = np.random.default_rng(0).random(8)
    for topics, runs, left_out in ((2, 2, False), (4, 2, False), (5, 2, True), (5, 3, False)):
        columns = [base, base + 0.01, np.random.default_rng(1).random(8)][:runs]
        found = find_best(scores_of(np.stack(columns, axis=1)[:topics]), replicates=99, rng=1)
        if runs == 2:
            assert found.p[:, 0].tolist() == [0.5**topics, 1]
            assert found.in_set[:, 0].tolist() == [not left_out, True]
        else:
            # of a family, the bound of T = √5 in its place, times 2 other runs
            bound = 2 * plain_families.FACTOR * stats.norm.sf(np.sqrt(5))
            assert found.p[0, 0] == pytest.approx(bound, rel=1e-9)
            assert found.in_set[0, 0]


def test_constant_differences_of_two_runs_have_no_limits_but_0():
    base = np.random.default_rng(0).random(8)
    values = np.stack([base, base + 0.01], axis=1)
    undecided = find_best(scores_of(values[:4]), replicates=99, rng=1)
    assert np.isnan([undecided.lower, undecided.upper]).all()
    found = find_best(scores_of(values), replicates=99, rng=1)
    assert found.in_set[:, 0].tolist() == [False, True]
    np.testing.assert_array_equal(found.upper[:, 0], [0, np.nan])
    np.testing.assert_array_equal(found.lower[:, 0], [np.nan, 0])


def test_a_constant_difference_among_others_borrows_its_variance():
    rng = np.random.default_rng(0)
    base = rng.random(30)
    values = np.stack([base, base + 0.01, base - 0.2 + rng.normal(0, 0.05, 30)], axis=1)
    found = find_best(scores_of(values), replicates=99, rng=1)
    assert found.in_set[:, 0].tolist() == [False, True, False]
    assert found.upper[[0, 2], 0].tolist() == [0, 0]
    assert found.lower[1, 0] == 0  # alone in the set
    assert found.upper[1, 0] > 0.01
    assert (found.lower[[0, 2], 0] < found.difference[[0, 2], 0]).all()


def test_identical_runs_are_in_the_set_together():
    rng = np.random.default_rng(1)
    base = rng.random(20)
    values = np.stack([base, base, base - 0.3 + rng.normal(0, 0.02, 20)], axis=1)
    found = find_best(scores_of(values), replicates=199, rng=1)
    assert found.in_set[:, 0].tolist() == [True, True, False]
    assert found.p[:2, 0].tolist() == [1, 1]
    assert found.share_first[:, 0].tolist() == [0.5, 0.5, 0]
    assert found.difference[:2, 0].tolist() == [0, 0]
    same = find_best(scores_of(np.stack([base, base], axis=1)), replicates=50, rng=1)
    assert same.in_set.all()
    assert np.isnan(same.upper).all()


def test_one_run_is_the_best_without_a_limit():
    found = find_best(scores_of(np.random.default_rng(0).random((6, 1))), replicates=50, rng=1)
    assert found.in_set.all()
    assert found.p.tolist() == found.share_first.tolist() == [[1]]
    assert np.isnan([found.upper, found.difference]).all()


def test_a_run_without_scores_is_not_in_the_set():
    values = np.random.default_rng(0).random((6, 3))
    values[:, 1] = np.nan
    with pytest.warns() as said:
        found = find_best(scores_of(values), replicates=99, rng=1)
    assert [one.category for one in said] == [TopicWarning]
    alone = find_best(scores_of(values[:, [0, 2]]), replicates=99, rng=1)
    assert not found.in_set[1, 0]
    assert np.isnan([found.mean[1, 0], found.p[1, 0], found.upper[1, 0]]).all()
    assert (found.topics[1, 0], found.share_first[1, 0]) == (0, 0)
    np.testing.assert_array_equal(found.p[[0, 2]], alone.p)
    assert "of the 2 runs" in best_sentence(found)


def test_runs_are_compared_on_common_topics_with_a_warning():
    rng = np.random.default_rng(5)
    values = rng.random((30, 3))
    values[:10, 2] = np.nan
    with pytest.warns(TopicWarning, match="on the 20 topics that all of them have, of 30"):
        found = find_best(scores_of(values), replicates=50, rng=1)
    np.testing.assert_allclose(found.mean[:, 0], values[10:].mean(axis=0))
    assert (found.topics == 20).all()


def test_too_few_topics_are_refused():
    with pytest.raises(InvalidValueError, match="one topic; best runs over topics need"):
        find_best(scores_of([[0.5, 0.4]]))
    values = np.full((4, 2), np.nan)
    values[:2, 0] = values[2:, 1] = 0.5
    with pytest.raises(TopicMismatchError, match="best runs by gain need 2 topics"):
        find_best(scores_of(values), replicates=50)
    with pytest.raises(InvalidValueError, match="level is 2"):
        find_best(some_scores(1), level=2.0)


def test_table_and_sentence_name_the_set_best_first():
    rng = np.random.default_rng(2)
    names = ("worst", "a", "b")
    values = np.stack([0.1 * rng.random(30), rng.random(30), 0.2 + rng.random(30)], axis=1)
    found = find_best(scores_of(values, names), replicates=199, rng=1)
    assert found.in_set[:, 0].tolist() == [False, True, True]
    table = best_table(found, 7)
    assert [row[0].text for row in table.rows] == ["1", "2", "3"]
    assert [row[1].text for row in table.rows] == ["b", "a", "worst"]
    assert [row[4].text for row in table.rows] == ["yes", "yes", "no"]
    mean, low, high = found.mean[2, 0], found.low[2, 0], found.high[2, 0]
    assert best_sentence(found) == (
        f"b has the highest gain, {mean:.3f} [{low:.3f}, {high:.3f}]; 2 of the 3 runs may be the best (95% "
        "confidence)"
    )
    assert table.note.startswith(best_sentence(found))
    assert table.note.endswith("seed 7")
    for word in ("probability", "P("):
        assert word not in table.note


def test_records_have_one_row_per_run_and_measure():
    rng = np.random.default_rng(2)
    found = find_best(scores_of(rng.random((10, 3, 2))), replicates=50, rng=1)
    records = found.to_records()
    assert len(records) == 6
    columns = "measure rank run mean low high gap gap_low gap_high may_be_best share_first "
    columns += "borderline p topics level"
    assert list(records[0]) == columns.split()
    assert [record["rank"] for record in records] == [1, 2, 3, 1, 2, 3]
    assert records[0]["gap"] == pytest.approx(records[0]["mean"] - records[1]["mean"])
    assert records[2]["gap"] == pytest.approx(records[2]["mean"] - records[0]["mean"])
