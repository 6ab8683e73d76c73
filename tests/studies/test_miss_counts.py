"""Counts of misses against a plain loop, for any number of workers."""

import subprocess
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats

import confir.studies.coverage.miss_counter
from confir.errors import InvalidValueError, UnknownNameError, UnsupportedMethodError
from confir.intervals.count_kernels import compile_kernels
from confir.intervals.interval import Limits
from confir.intervals.method import Method, Use
from confir.intervals.method_list import METHODS, methods_over
from confir.resampling.kinds import as_topic_sample
from confir.resampling.replicates import draw_topics
from confir.studies.coverage.miss_counts import (
    PUBLISHED_BOOTSTRAP_T,
    as_method,
    count_misses,
    fitting_methods,
    number_of_tasks,
)
from studies.score_tables import table

LEVELS = (0.6, 0.9, 0.95)
TASK = 20  # samples in a task


def population(kind="continuous", topics=30, columns=5):
    rng = np.random.default_rng(1)
    shape = (topics, columns)
    if kind == "continuous":
        return rng.beta(1, 3, shape)
    if kind == "tenths":
        return rng.integers(0, 11, shape) / 10
    if kind == "mostly 0":
        return np.where(rng.random(shape) < 0.8, 0.0, rng.random(shape))
    values = rng.random(shape)
    values[rng.random(shape) < 0.3] = np.nan
    return values


KINDS = ("continuous", "tenths", "mostly 0", "with gaps")


def drawn_samples(seed, topics, size, samples, replicates, sampling="with"):
    """The topics of each sample, and the draws of its replicates, as the experiment has them."""
    start = np.random.default_rng(seed).integers(2**63)
    tasks = -(-samples // TASK)
    seeds = np.random.SeedSequence(start).spawn(2 * tasks)
    for task in range(tasks):
        outer = np.random.default_rng(seeds[2 * task])
        inner = np.random.default_rng(seeds[2 * task + 1])
        for _ in range(min(TASK, samples - task * TASK)):
            if sampling == "with":
                chosen = outer.integers(0, topics, size)
            else:
                chosen = outer.permutation(topics)[:size]
            own_seed = int(inner.integers(2**63))
            yield chosen, inner.integers(0, size, (replicates, size)), own_seed


def plain_limits(method, x, draws, level):
    """Limits of one sample without gaps, a formula a line."""
    tail = (1 - level) / 2
    n, m, se = len(x), x.mean(), x.std(ddof=1) / np.sqrt(len(x))
    means = x[draws].mean(axis=1)
    if method == "t":
        return stats.t.interval(level, n - 1, m, se)
    if method == "percentile":
        return np.quantile(means, [tail, 1 - tail])
    if method == "bca":
        d = x - m
        a = (d**3).sum() / (6 * (d**2).sum() ** 1.5)
        ties = np.abs(means - m) <= 1e-12
        z0 = stats.norm.ppf(((means < m) & ~ties).mean() + ties.mean() / 2)
        z = z0 + stats.norm.ppf([tail, 1 - tail])
        return np.quantile(means, stats.norm.cdf(z0 + z / (1 - a * z)))
    if method == "bootstrap-t-published":
        tail = 1 - level
    ses = x[draws].std(axis=1, ddof=1) / np.sqrt(n)
    varies = ses > 1e-12
    t = (means - m)[varies] / ses[varies]
    low, high = np.quantile(t, [tail, 1 - tail])
    return m - high * se, m - low * se


@pytest.mark.parametrize("sampling", ["with", "without"])
@pytest.mark.parametrize("kind", ["continuous", "tenths", "mostly 0"])
def test_misses_are_those_of_a_plain_loop(kind, sampling):
    x = population(kind)
    methods = ("t", "percentile", "bca", "bootstrap-t", "bootstrap-t-published")
    samples, replicates, size = 30, 99, 8
    found = count_misses(
        x,
        methods=methods,
        levels=LEVELS,
        topics=size,
        samples=samples,
        replicates=replicates,
        sampling=sampling,
        rng=5,
    )
    truth = x.mean(axis=0)
    below, above, undefined = np.zeros((3, len(methods), len(LEVELS), x.shape[1]), int)
    missed = np.zeros((samples, len(methods), len(LEVELS)))
    deviation = np.zeros(x.shape[1])
    draws = drawn_samples(5, len(x), size, samples, replicates, sampling)
    for number, (chosen, draws_of_sample, _) in enumerate(draws):
        for c in range(x.shape[1]):
            sample = x[chosen, c]
            deviation[c] += sample.mean() - truth[c]
            for k, method in enumerate(methods):
                for v, level in enumerate(LEVELS):
                    place = k, v, c
                    if sample.min() == sample.max():
                        undefined[place] += 1
                        low, high = (2, 3) if truth[c] < sample[0] else (-3, -2)
                    else:
                        low, high = plain_limits(method, sample, draws_of_sample, level)
                    below[place] += truth[c] < low - 1e-12
                    above[place] += truth[c] > high + 1e-12
                    missed[number, k, v] += not low - 1e-12 <= truth[c] <= high + 1e-12
    np.testing.assert_array_equal(found.below, below)
    np.testing.assert_array_equal(found.above, above)
    np.testing.assert_array_equal(found.undefined, undefined)
    np.testing.assert_allclose(found.truth, truth, rtol=1e-14)
    np.testing.assert_allclose(found.bias, deviation / samples, atol=1e-14)
    np.testing.assert_allclose(found.error, (below + above) / samples)
    spread = (missed / x.shape[1]).std(axis=0, ddof=1) / np.sqrt(samples)
    np.testing.assert_allclose(found.mean_error_se, spread, rtol=1e-12)
    assert found.error.max() > found.error.min()
    assert (undefined.sum() > 0) == (kind == "mostly 0")


@pytest.mark.parametrize("size", [3, 10])
@pytest.mark.parametrize("kind", KINDS)
def test_every_method_counts_what_its_limits_give(kind, size):
    x = population(kind)
    samples, replicates, levels = 12, 60, (0.6, 0.95)
    found = count_misses(
        x, levels=levels, topics=size, samples=samples, replicates=replicates, widths=True, rng=9
    )
    assert found.methods == tuple(methods_over("topics"))
    truth = np.nanmean(x, axis=0)
    below, above, undefined = np.zeros((3, *found.below.shape), int)
    width = np.zeros(found.below.shape)
    for chosen, draws, own_seed in drawn_samples(9, len(x), size, samples, replicates):
        weights = np.array([np.bincount(row, minlength=size) for row in draws]) / size
        distribution = as_topic_sample(x[chosen]).distribution(slice(None), weights)
        distribution = replace(distribution, seed=own_seed, draws=replicates)
        for k, method in enumerate(methods_over("topics").values()):
            for v, level in enumerate(levels):
                with np.errstate(all="ignore"):
                    low, high = method.compute(distribution, level)
                none = np.isnan(low) | np.isnan(high)
                if not method.any_sample:
                    none |= [len(np.unique(y[~np.isnan(y)])) < 2 for y in x[chosen].T]
                nearer_below = truth < distribution.estimate - 1e-12
                below[k, v] += np.where(none, nearer_below, truth < low - 1e-12)
                above[k, v] += np.where(none, ~nearer_below, truth > high + 1e-12)
                undefined[k, v] += none
                width[k, v] += np.where(none, 0.0, high - low)
    np.testing.assert_array_equal(found.below, below)
    np.testing.assert_array_equal(found.above, above)
    np.testing.assert_array_equal(found.undefined, undefined)
    there = undefined < samples
    np.testing.assert_allclose(found.width[there], width[there] / (samples - undefined[there]))


def run(jobs=1, methods=("t", "bca", "bootstrap-t-logit", "gaffke"), **options):
    settings = {"samples": 65, "replicates": 80, "levels": LEVELS, "rng": 3} | options
    return count_misses(population("mostly 0"), methods=methods, jobs=jobs, **settings)


def assert_same(one, other):
    for name in ("below", "above", "undefined"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_allclose(one.bias, other.bias, rtol=0, atol=1e-15)
    np.testing.assert_allclose(one.mean_error_se, other.mean_error_se)


@pytest.mark.parametrize("jobs", [2, 4, None])
def test_the_numbers_do_not_depend_on_the_number_of_workers(jobs):
    one, other = run(), run(jobs)
    assert_same(one, other)
    assert one.bias.tobytes() == other.bias.tobytes()


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_the_numbers_do_not_depend_on_the_block_of_columns(monkeypatch, columns):
    whole = run()
    monkeypatch.setattr(confir.studies.coverage.miss_counter, "_BLOCK", 80 * columns)
    assert_same(whole, run())


COUNTED = ("t", "logit-t", "percentile", "bca", "bootstrap-t", "bootstrap-t-published")


def forbidden(*_):
    raise AssertionError("another way was taken")


def run_by_counting(monkeypatch, x, **options):
    """The experiment with compiled counts, whatever its size."""
    with monkeypatch.context() as patch:
        patch.setattr(confir.studies.coverage.miss_counter, "_WORTH_COMPILING", 0)
        patch.setattr(confir.studies.coverage.miss_counter.MissCounter, "_by_arrays", forbidden)
        return count_misses(x, **options)


def run_by_arrays(monkeypatch, x, **options):
    with monkeypatch.context() as patch:
        patch.setattr(Method, "counts", False)
        patch.setattr(Method, "closed_form", False)
        for other in ("_by_counting",):
            patch.setattr(confir.studies.coverage.miss_counter.MissCounter, other, forbidden)
        return count_misses(x, **options)


CLOSED = ("t", "logit-t", "beta-logit", "calibrated-beta")


def run_by_moments(monkeypatch, x, **options):
    with monkeypatch.context() as patch:
        for other in ("_by_counting", "_by_arrays"):
            patch.setattr(confir.studies.coverage.miss_counter.MissCounter, other, forbidden)
        return count_misses(x, **options)


@pytest.mark.every(3)
@pytest.mark.parametrize("size", [2, 3, 8, 30])
@pytest.mark.parametrize("kind", ["continuous", "tenths", "mostly 0", "with gaps"])
def test_misses_are_the_same_side_by_side_and_one_by_one(monkeypatch, kind, size):
    settings = {"levels": (0.6, 0.99), "topics": size, "samples": 9, "widths": True}
    for sampling in ("with", "without"):
        options = {"methods": CLOSED, "sampling": sampling, "rng": 6} | settings
        together = run_by_moments(monkeypatch, population(kind), **options)
        one_by_one = run_by_arrays(monkeypatch, population(kind), **options)
        assert_same(together, one_by_one)
        np.testing.assert_array_equal(together.width, one_by_one.width)
        whole_population = sampling == "without" and size == 30
        assert (together.below.sum() > 0) != whole_population


def test_samples_side_by_side_do_not_depend_on_their_number(monkeypatch):
    options = {"methods": CLOSED, "samples": 30, "rng": 2}
    whole = run_by_moments(monkeypatch, population("tenths"), **options)
    monkeypatch.setattr(confir.studies.coverage.miss_counter, "_SIDE_BY_SIDE", 2 * 30 * 5)
    assert_same(whole, run_by_moments(monkeypatch, population("tenths"), **options))


@pytest.mark.every(3)
@pytest.mark.parametrize("size", [2, 3, 8, 30])
@pytest.mark.parametrize("kind", ["continuous", "tenths", "mostly 0"])
def test_misses_are_the_same_by_counting_and_by_arrays(monkeypatch, kind, size):
    settings = {"levels": (0.6, 0.9, 0.99), "topics": size, "samples": 25, "replicates": 99}
    for sampling in ("with", "without"):
        options = {"methods": COUNTED, "sampling": sampling, "rng": 6} | settings
        counted = run_by_counting(monkeypatch, population(kind), **options)
        assert_same(counted, run_by_arrays(monkeypatch, population(kind), **options))
        assert counted.below.sum() > 0


@pytest.mark.parametrize("methods", [("percentile",), ("bca", "t"), ("bootstrap-t",)])
def test_each_method_is_counted_without_the_others(monkeypatch, methods):
    options = {"methods": methods, "samples": 30, "replicates": 99, "rng": 6}
    counted = run_by_counting(monkeypatch, population(), **options)
    assert_same(counted, run_by_arrays(monkeypatch, population(), **options))


@pytest.mark.parametrize("setting", ["_COUNTED_BLOCK", "_SIDE_BY_SIDE"])
def test_counts_do_not_depend_on_what_is_done_at_once(monkeypatch, setting):
    options = {"methods": COUNTED, "samples": 30, "replicates": 80, "rng": 2}
    whole = run_by_counting(monkeypatch, population("tenths"), **options)
    monkeypatch.setattr(
        confir.studies.coverage.miss_counter, setting, 2 * 30 * 5
    )  # two columns or samples
    assert_same(whole, run_by_counting(monkeypatch, population("tenths"), **options))


def test_differences_are_counted_as_their_arrays_are(monkeypatch):
    scores = table(population("tenths"), runs=list("abcde"))
    options = {"statistic": "difference", "baseline": "b", "methods": ("bca", "bootstrap-t")}
    options |= {"samples": 30, "replicates": 99, "rng": 4}
    counted = run_by_counting(monkeypatch, scores, **options)
    assert_same(counted, run_by_arrays(monkeypatch, scores, **options))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("with gaps", {}),
        ("continuous", {"widths": True}),
        ("continuous", {"methods": ("bca", "gaffke")}),
        ("continuous", {"methods": ("bca", "symmetric-t")}),
        ("continuous", {"statistic": "geometric-mean"}),
    ],
)
def test_what_counts_do_not_tell_is_found_by_arrays(monkeypatch, kind, options):
    monkeypatch.setattr(confir.studies.coverage.miss_counter, "_WORTH_COMPILING", 0)
    monkeypatch.setattr(confir.studies.coverage.miss_counter.MissCounter, "_by_counting", forbidden)
    settings = {"methods": ("bca", "t"), "samples": 3, "replicates": 40, "rng": 1} | options
    assert count_misses(population(kind), **settings).samples == 3


def test_without_numba_the_misses_are_the_same(monkeypatch):
    options = {"methods": COUNTED, "samples": 30, "replicates": 99, "rng": 6}
    counted = run_by_counting(monkeypatch, population(), **options)
    absent = cache(compile_kernels.__wrapped__)
    monkeypatch.setattr(confir.studies.coverage.miss_counter, "compile_kernels", absent)
    monkeypatch.setattr(confir.studies.coverage.miss_counter, "_WORTH_COMPILING", 0)
    monkeypatch.setitem(sys.modules, "numba", None)
    assert_same(counted, count_misses(population(), **options))
    assert absent() is None


def test_small_studies_never_load_numba():
    code = (
        "import sys, numpy as np\n"
        "from confir.studies.coverage.miss_counts import count_misses\n"
        "x = np.random.default_rng(1).random((20, 3))\n"
        "count_misses(x, methods=['t', 'bca'], samples=40, replicates=99, rng=1)\n"
        "print('numba' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_studies_too_small_for_compiled_code_are_not_counted(monkeypatch):
    module = confir.studies.coverage.miss_counter
    fresh = cache(lambda: "kernels")
    monkeypatch.setattr(module, "compile_kernels", fresh)
    assert not module.can_count([METHODS["bca"]], 1)
    assert fresh.cache_info().currsize == 0
    assert module.can_count([METHODS["bca"]], 10**9)
    assert module.can_count([METHODS["bca"]], 1)  # they are loaded


def test_methods_that_do_not_resample_draw_no_replicates(monkeypatch):
    monkeypatch.setattr("confir.resampling.topic_sample.draw_topics", forbidden)
    counter = confir.studies.coverage.miss_counter.MissCounter
    monkeypatch.setattr(counter, "_by_counting", forbidden)
    methods = [
        name for name, method in methods_over("topics").items() if "replicates" not in method.needs
    ]
    assert "t" in methods
    assert run(methods=methods, samples=3, replicates=9).methods == tuple(methods)


def test_the_numbers_do_not_depend_on_other_columns():
    x = population()
    all_columns = count_misses(x, samples=40, replicates=50, rng=2)
    two = count_misses(x[:, 2:4], samples=40, replicates=50, rng=2)
    np.testing.assert_array_equal(all_columns.below[:, :, 2:4], two.below)


def test_the_samples_are_the_same_whatever_methods_and_replicates():
    alone = run(methods="t")
    beside = run(methods=("percentile", "t", "hall-logit"), replicates=40)
    np.testing.assert_array_equal(alone.below[0], beside.below[1])
    np.testing.assert_array_equal(alone.above[0], beside.above[1])


def test_another_seed_gives_other_samples():
    assert (run().below != run(rng=4).below).any()


def test_progress_is_reported_for_every_task():
    steps = []
    run(jobs=2, progress=steps.append)
    assert sum(steps) == number_of_tasks(65) == 4


def test_a_study_goes_on_from_its_folder(tmp_path):
    whole = run()
    assert_same(whole, run(resume=tmp_path))
    parts = sorted(tmp_path.glob("task-*.npz"))
    assert len(parts) == 4
    parts[1].unlink()
    parts[2].write_bytes(b"PK")
    assert_same(whole, run(jobs=2, resume=tmp_path))


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"rng": 4}, "seed"),
        ({"replicates": 81}, "replicates"),
        ({"levels": (0.6,)}, "levels"),
        ({"topics": 7}, "topics"),
        ({"sampling": "without"}, "sampling"),
        ({"widths": True}, "widths"),
        ({"statistic": "logit-mean", "methods": ("t",)}, "methods, scores, statistic"),
        ({"samples": 90}, "samples, tasks"),
    ],
)
def test_the_folder_of_another_study_is_refused(tmp_path, changed, named):
    run(resume=tmp_path)
    with pytest.raises(InvalidValueError, match=f"another study, with other {named}; use"):
        run(resume=tmp_path, **changed)


def test_other_scores_are_another_study(tmp_path):
    options = {"methods": "t", "samples": 5, "rng": 1, "resume": tmp_path}
    x = population()
    count_misses(x, **options)
    count_misses(x.copy(), **options)
    with pytest.raises(InvalidValueError, match="another study, with other scores;"):
        count_misses(x + 1e-9, **options)


def test_another_function_of_the_same_name_is_another_study(tmp_path):
    options = {"samples": 5, "rng": 1, "resume": tmp_path}
    count_misses(population(), methods=METHODS["t"], **options)
    renamed = replace(METHODS["percentile"], name="t")
    with pytest.raises(InvalidValueError, match="another study, with other methods;"):
        count_misses(population(), methods=renamed, **options)


def test_resuming_needs_a_seed(tmp_path):
    with pytest.raises(InvalidValueError, match="needs a seed; set rng to a number"):
        run(rng=None, resume=tmp_path)
    assert list(tmp_path.iterdir()) == []


def constant(low, high):
    """A method of one's own that always gives the same interval."""

    def limits(distribution, _):
        ones = np.ones_like(distribution.estimate)
        return Limits(low * ones, high * ones)

    return limits


def own_method(compute, **fields):
    settings = {"needs": ("se",), "topics": Use()} | fields
    return Method("own", compute, **settings)


def test_methods_of_ones_own_are_counted():
    x = population()
    mean = x.mean()
    methods = [
        own_method(constant(-1, 2)),
        replace(own_method(constant(2, 3)), name="too high"),
        replace(own_method(constant(-3, -2)), name="too low"),
    ]
    found = count_misses(x, methods=methods, samples=10, rng=0)
    assert found.methods == ("own", "too high", "too low")
    assert found.below[:, 0, 0].tolist() == [0, 10, 0]
    assert found.above[:, 0, 0].tolist() == [0, 0, 10]
    assert 0 < mean < 1


def test_a_function_is_a_method_by_its_own_name():
    def wide(distribution, level):
        assert level == 0.8
        margin = 9 * distribution.se
        return distribution.estimate - margin, distribution.estimate + margin

    found = count_misses(population(), methods=wide, levels=0.8, samples=10, replicates=9, rng=0)
    assert found.methods == ("wide",)
    assert found.error.max() == 0


def test_a_function_may_read_replicates_and_scores():
    def quartiles(distribution, _):
        assert distribution.sample.shape == (30, 5)
        return tuple(np.quantile(distribution.replicates, [0.25, 0.75], axis=0))

    options = {"levels": 0.5, "samples": 15, "replicates": 40, "rng": 2}
    own = count_misses(population(), methods=quartiles, **options)
    ours = count_misses(population(), methods="percentile", **options)
    np.testing.assert_array_equal(own.below, ours.below)
    np.testing.assert_array_equal(own.above, ours.above)


def test_without_an_interval_the_truth_is_missed_on_its_own_side():
    x = population()
    nowhere = own_method(constant(np.nan, np.nan))
    half = replace(own_method(constant(-1, np.nan)), name="half")
    found = count_misses(x, methods=[nowhere, half], samples=40, widths=True, rng=6)
    estimates = np.array([x[chosen].mean(axis=0) for chosen, *_ in drawn_samples(6, 30, 30, 40, 9)])
    for k in range(2):
        np.testing.assert_array_equal(found.undefined[k, 0], np.full(5, 40))
        np.testing.assert_array_equal(found.below[k, 0], (x.mean(axis=0) < estimates).sum(axis=0))
        np.testing.assert_array_equal(found.above[k, 0], (x.mean(axis=0) > estimates).sum(axis=0))
    assert np.isnan(found.width).all()


def test_samples_of_equal_scores_are_undefined_but_for_methods_that_answer():
    x = np.zeros((20, 1))
    x[0] = 0.8
    found = count_misses(x, methods=["t", "percentile", "gaffke"], topics=10, samples=60, rng=1)
    empty = sum(0 not in chosen for chosen, *_ in drawn_samples(1, 20, 10, 60, 1))
    assert 0 < empty < 60
    assert found.undefined[:, 0, 0].tolist() == [empty, empty, 0]
    assert (found.above[:2, 0, 0] >= empty).all()


def test_a_constant_population_has_no_interval_and_no_bias():
    x = np.full((23, 2), 0.7)  # means of 7 and of 23 of these differ by rounding
    assert x[:7].sum(axis=0)[0] / 7 > x.sum(axis=0)[0] / 23
    found = count_misses(x, methods=["t", "bca", "gaffke"], topics=7, samples=20, rng=1)
    assert found.undefined[:, 0, 0].tolist() == [20, 20, 0]
    assert found.above[:, 0, 0].tolist() == [20, 20, 0]  # above where there is no nearer side
    assert found.bias[0] == pytest.approx(0, abs=1e-14)


def test_two_topics_give_no_bootstrap_t():
    found = count_misses(population(), methods=["t", "bootstrap-t"], topics=2, samples=20, rng=1)
    assert found.undefined[0].max() < 20
    assert found.undefined[1].min() == 20


def test_a_column_without_scores_has_no_numbers():
    x = population()
    x[:, 1] = np.nan
    found = count_misses(x, methods=["t", "percentile"], samples=10, replicates=20, rng=1)
    nothing = np.isnan(found.error).all(axis=(0, 1))
    assert nothing.tolist() == [False, True, False, False, False]
    assert np.isnan(found.bias).tolist() == nothing.tolist()
    without = count_misses(np.delete(x, 1, axis=1), methods=["t"], samples=10, rng=1)
    np.testing.assert_array_equal(found.mean_error_se[0], without.mean_error_se[0])


def test_without_replacement_all_topics_give_the_truth():
    found = count_misses(population(), methods="t", sampling="without", samples=10, rng=1)
    assert found.error.max() == 0
    np.testing.assert_allclose(found.bias, 0, atol=1e-15)


def test_differences_from_a_baseline_are_counted_too():
    scores = table(population("tenths"), runs=list("abcde"))
    found = count_misses(
        scores, statistic="difference", baseline="b", methods=["t"], samples=30, rng=1
    )
    difference = scores.values[:, [0, 2, 3, 4], 0] - scores.values[:, [1], 0]
    plain = count_misses(difference, methods=["t"], samples=30, rng=1)
    assert [run for run, _ in found.labels] == ["a", "c", "d", "e"]
    np.testing.assert_array_equal(found.below, plain.below)


def test_coverage_of_t_is_near_the_level_for_normal_scores():
    values = stats.norm.ppf((np.arange(500) + 0.5) / 500)[:, None]
    found = count_misses(values, methods=["t"], levels=(0.8, 0.95), topics=10, samples=4_000, rng=2)
    for v, level in enumerate(found.levels):
        error = np.sqrt(level * (1 - level) / 4_000)
        assert found.error[0, v, 0] == pytest.approx(1 - level, abs=4 * error)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 0}, "samples is 0; expected 1 or more"),
        ({"replicates": 0}, "replicates is 0; expected 1 or more"),
        ({"topics": 1}, "a sample of 1 topic has no interval; expected 2 or more"),
        ({"topics": 0}, "a sample of 0 topics has no interval; expected 2 or more"),
        ({"levels": (0.9, 95)}, "level is 95.0; expected a number between 0 and 1, such as 0.95"),
        ({"levels": ()}, "no level is named; expected at least one"),
        ({"methods": ()}, "no method is named; expected at least one"),
        ({"jobs": 0}, "jobs is 0; expected 1 or more"),
        (
            {"topics": 31, "sampling": "without"},
            "31 topics cannot be drawn without replacement from 30",
        ),
        ({"methods": [3]}, "method is 3; expected a name, a Method or a function"),
        (
            {"methods": ["t", replace(METHODS["bca"], name="t")]},
            "two methods have the name 't'",
        ),
        (
            {"methods": "bootstrap-t-published", "levels": (0.9, 0.5)},
            "overlap at level 0.5; expected a level above 0.5",
        ),
    ],
)
def test_values_that_make_no_experiment_are_refused(options, message):
    with pytest.raises(InvalidValueError, match=message):
        count_misses(population(), **({"rng": 1} | options))


def test_scores_that_are_all_missing_are_refused():
    with pytest.raises(InvalidValueError, match="there are no scores"):
        count_misses(np.full((5, 2), np.nan), methods="t", rng=1)


def test_an_unknown_way_of_sampling_is_refused():
    with pytest.raises(UnknownNameError, match="unknown way of sampling 'witout'; did you mean"):
        run(sampling="witout")


def test_an_unknown_method_is_refused():
    with pytest.raises(
        UnknownNameError, match="unknown method 'percentil'; did you mean percentile"
    ):
        run(methods=["percentil"])


def test_limits_of_a_wrong_shape_are_refused():
    with pytest.raises(InvalidValueError, match="one for each column"):
        count_misses(population(), methods=lambda *_: (0.0, 1.0), samples=1, rng=1)


def test_methods_for_scores_in_0_to_1_do_not_take_others():
    x = population() * 100
    message = r"method 'logit-t' does not fit: .*; methods that fit: t, percentile, bca"
    with pytest.raises(UnsupportedMethodError, match=message):
        count_misses(x, methods=["t", "logit-t"], rng=1)
    assert fitting_methods(x) == ["t", "percentile", "bca", "bootstrap-t", "symmetric-t"]
    assert count_misses(x, samples=2, replicates=9, rng=1).methods == tuple(fitting_methods(x))


def test_methods_that_need_what_a_statistic_lacks_are_refused():
    message = "method 'gaffke' does not fit: it needs sample, which this statistic lacks"
    with pytest.raises(UnsupportedMethodError, match=message):
        count_misses(population(), statistic="geometric-mean", methods="gaffke", rng=1)


def test_methods_over_documents_are_refused():
    with pytest.raises(UnsupportedMethodError, match="'linear' does not fit: it is not for resamp"):
        count_misses(population(), methods=METHODS["linear"], rng=1)
    with pytest.raises(UnknownNameError, match="unknown method 'linear'"):
        count_misses(population(), methods="linear", rng=1)


def test_a_method_named_twice_is_studied_once():
    assert run(methods=["t", "t"], samples=2).methods == ("t",)


def test_any_collection_of_methods_will_do():
    names = methods_over("topics")
    assert run(methods=names, samples=2, replicates=9).methods == tuple(names)
    assert run(methods=iter(["bca", "t"]), samples=2).methods == ("bca", "t")


def test_the_published_bootstrap_t_has_the_whole_error_in_each_tail():
    rng = np.random.default_rng(0)
    sample = as_topic_sample(population())
    distribution = sample.distribution(slice(None), draw_topics(30, 200, rng).shares())
    published = as_method("bootstrap-t-published")
    assert published is PUBLISHED_BOOTSTRAP_T
    narrow = METHODS["bootstrap-t"].compute(distribution, 0.9)
    np.testing.assert_allclose(published.compute(distribution, 0.95), narrow, rtol=1e-14)
