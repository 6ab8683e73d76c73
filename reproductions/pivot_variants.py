"""Can `calibrated-beta` be calibrated better? Variants of it, and the limit of all of them.

The pivot U of a sample, taken at the true mean, is compared with its distribution over samples of
another distribution with that mean. The variants differ in this distribution, in the weight of the
sample's own skewness in U, and in the limits for equal scores. Errors are counted in samples
of real scores, from the tables and runs of `default_method.py`.

    python reproductions/pivot_variants.py --data data --output docs/reproductions
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from default_method import (
    LEAST_COVERAGE,
    LEVELS,
    Errors,
    Population,
    _distances,
    _halves,
    _real_populations,
    _tables,
)

from confir.arrays import Booleans, Floats, Integers
from confir.data.files import write_whole
from confir.data.scores import Scores
from confir.errors import ConfirWarning
from confir.intervals.confidence_intervals import confidence_interval
from confir.intervals.pivot import pivot_of_moments
from confir.intervals.quantiles import t_quantile
from confir.parallel import run_in_threads
from confir.report.tables import Cell, Table, to_markdown

SEED = 2017
SIZES = (10, 25, 50)
TAILS = (1.0 - np.array(LEVELS)) / 2.0
# Simulated samples that each group of a run's samples is compared with, and those of its own scores.
SIMULATED, OWN_SIMULATED = 2_000, 10_000
POOL = 8_192  # scores that represent a distribution
# A run's samples are compared in groups of like dispersion, and of like shares of zeros and ones.
DISPERSION_GROUPS, ATOM_GROUPS = 5, 2
# Pivots of samples with the same scores differ by no more than this.
ROUNDING = 1e-9
# Above, what is left between zeros and ones cannot be a beta distribution.
MOST_DISPERSION = 0.97

BETA, ATOMS, OWN = "beta", "beta with zeros and ones", "the run's own scores"
EXACT, MID_P = "exact", "mid-p"


class Variant(NamedTuple):
    """What U is compared with, topics that the beta's skewness counts as, limits of equal scores."""

    family: str
    prior_topics: float
    equal: str

    @property
    def name(self) -> str:
        """What the page calls it."""
        return f"{self.family}; {self.prior_topics:g}; {self.equal}"


VARIANTS = (
    Variant(BETA, 100.0, EXACT),  # calibrated-beta
    Variant(BETA, 0.0, EXACT),
    Variant(BETA, 15.0, EXACT),
    Variant(BETA, 30.0, EXACT),
    Variant(BETA, math.inf, EXACT),
    Variant(ATOMS, 100.0, EXACT),
    Variant(ATOMS, 30.0, EXACT),
    Variant(BETA, 100.0, MID_P),
    Variant(BETA, 30.0, MID_P),
    Variant(OWN, 100.0, EXACT),
    Variant(OWN, 100.0, MID_P),
)


class Moments(NamedTuple):
    """Mean, variance (ddof 1), third central moment and shares of zeros and of ones of samples."""

    mean: Floats
    variance: Floats
    third: Floats
    zeros: Floats
    ones: Floats

    @classmethod
    def of(cls, sample: Floats) -> Moments:
        """Return those of samples: topics × samples."""
        n, mean = len(sample), sample.mean(axis=0)
        apart = sample - mean
        square = np.square(apart)
        third = np.einsum("ij,ij->j", square, apart) / n
        zeros, ones = (sample <= 0).mean(axis=0), (sample >= 1).mean(axis=0)
        return cls(mean, square.sum(axis=0) / (n - 1), third, zeros, ones)

    def pivot(self, n: int, truth: float, prior_topics: float) -> Floats:
        """Return U at the true mean."""
        return pivot_of_moments(n, self.mean, self.variance, self.third, truth, prior_topics)


def main() -> None:
    """Measure the errors, write the page, and print it."""
    warnings.simplefilter("ignore", ConfirWarning)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="folder of the real data")
    parser.add_argument("--output", type=Path, default=Path("docs/reproductions"))
    parser.add_argument("--samples", type=int, default=2_000, help="samples of each population")
    options = parser.parse_args()
    started = time.monotonic()
    population, _ = _real_populations(list(_tables(options.data)))
    study = {size: _errors(population, size, options.samples) for size in SIZES}
    page = _page(study, population, options.samples)
    options.output.mkdir(parents=True, exist_ok=True)
    write_whole(options.output / "pivot-variants.md", page.encode())
    print(page)
    print(f"{time.monotonic() - started:.0f} seconds")


def _errors(population: Population, size: int, samples: int) -> Errors:
    """Return how often `t` and each variant miss, in samples of one size."""
    drawn = np.random.default_rng([SEED, size]).integers(0, len(population.values), (size, samples))
    columns = range(population.values.shape[1])
    found = run_in_threads(lambda c: _misses(population.values[:, c], drawn, c), columns)
    below, above = np.moveaxis(np.array(found), 0, -1)
    return Errors(
        methods=("t", *(variant.name for variant in VARIANTS)),
        below=below,
        above=above,
        undefined=np.zeros(below[:, 0].shape),
        width=None,
        collections=population.collections,
        measures=population.measures,
        tables=population.tables,
        samples=samples,
    )


def _misses(scores: Floats, drawn: Integers, column: int) -> Floats:
    """Return shares of samples whose interval misses: below, above × methods × levels."""
    n, truth = len(drawn), float(scores.mean())
    rng = np.random.default_rng([SEED, n, column])
    sample = Moments.of(scores[drawn])
    equal = sample.variance <= 1e-18
    p = {variant: np.ones((2, len(equal))) for variant in VARIANTS}
    observed = {one: sample.pivot(n, truth, one.prior_topics) for one in VARIANTS}
    for family in (BETA, ATOMS, OWN):
        chosen = [variant for variant in VARIANTS if variant.family == family]
        for group in _groups(sample, ~equal, family):
            pool, mean = (
                (scores, truth) if family == OWN else _pool(sample, group, truth, family, rng)
            )
            count = OWN_SIMULATED if family == OWN else SIMULATED
            simulated = Moments.of(pool[rng.integers(0, len(pool), (n, count))])
            for variant in chosen:
                others = simulated.pivot(n, mean, variant.prior_topics)
                p[variant][:, group] = _p_values(observed[variant][group], others)
    with np.errstate(divide="ignore"):
        ratios = np.stack([truth / sample.mean, (1.0 - truth) / (1.0 - sample.mean)])
    for variant, values in p.items():
        values[:, equal] = ratios[:, equal] ** n / (2.0 if variant.equal == MID_P else 1.0)
    shares = [(values[:, None] < TAILS[:, None]).mean(axis=2) for values in p.values()]
    return np.stack([_t_misses(sample, n, truth), *shares], axis=1)


def _t_misses(sample: Moments, n: int, truth: float) -> Floats:
    """Return shares of samples whose `t` interval misses; one of equal scores always does."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (sample.mean - truth) / np.sqrt(sample.variance / n)
    quantiles = np.array([t_quantile(np.array(n - 1), level) for level in LEVELS])[:, None]
    equal = sample.variance <= 1e-18
    sides = [
        np.where(equal, side * (sample.mean - truth) > 0, side * t > quantiles).mean(axis=1)
        for side in (1, -1)
    ]
    return np.stack(sides)


def _groups(sample: Moments, varied: Booleans, family: str) -> Iterator[Integers]:
    """Yield the places of samples that are compared with the same distribution."""
    places = np.flatnonzero(varied)
    if family == OWN:
        yield places
        return
    dispersion = sample.variance[places] / (sample.mean[places] * (1.0 - sample.mean[places]))
    atoms = sample.zeros + sample.ones
    for alike in np.array_split(places[np.argsort(dispersion)], DISPERSION_GROUPS):
        by_atoms = alike[np.argsort(atoms[alike], kind="stable")]
        yield from (part for part in np.array_split(by_atoms, ATOM_GROUPS) if len(part))


def _pool(
    sample: Moments, group: Integers, truth: float, family: str, rng: np.random.Generator
) -> tuple[Floats, float]:
    """Return scores of a distribution with the true mean and a group's dispersion, and their mean."""
    mean, variance = sample.mean[group], sample.variance[group]
    dispersion = float((variance / (mean * (1.0 - mean))).mean())
    zeros, ones = (
        round(POOL * float(share[group].mean())) if family == ATOMS else 0
        for share in (sample.zeros, sample.ones)
    )
    between = _between(truth, dispersion, zeros, ones)
    if between is None:  # no beta distribution is left between so many zeros and ones
        zeros = ones = 0
        between = _between(truth, dispersion, 0, 0)
    if between is None:
        # at the true mean, so that pivots of as many ones are equal
        return (np.arange(POOL) < POOL * truth).astype(np.float64), truth
    rest = rng.beta(*between, POOL - zeros - ones)
    scores = np.concatenate([np.zeros(zeros), np.ones(ones), rest])
    return scores, float(scores.mean())


def _between(mean: float, dispersion: float, zeros: int, ones: int) -> tuple[float, float] | None:
    """Return the beta distribution's parameters that give the whole its mean and dispersion."""
    share = 1.0 - (zeros + ones) / POOL
    if share < 1.0 - MOST_DISPERSION:
        return None
    square = dispersion * mean * (1.0 - mean) + mean**2
    own = (mean - ones / POOL) / share
    if not 0.0 < own < 1.0:
        return None
    own_dispersion = ((square - ones / POOL) / share - own**2) / (own * (1.0 - own))
    if not 0.0 < own_dispersion < MOST_DISPERSION:
        return None
    size = 1.0 / own_dispersion - 1.0
    return own * size, (1.0 - own) * size


def _p_values(observed: Floats, simulated: Floats) -> Floats:
    """Return the shares of simulated pivots above and below the observed ones; equal ones half."""
    ordered = np.sort(simulated)
    left = np.searchsorted(ordered, observed - ROUNDING, side="left")
    right = np.searchsorted(ordered, observed + ROUNDING, side="right")
    below = (left + right) / (2.0 * len(ordered))
    return np.stack([1.0 - below, below])


def _low_coverage(study: dict[int, Errors]) -> str:
    """Return the share of runs whose 95% intervals hold the mean in fewer than 90% of samples."""
    rows = [
        (Cell(part), Cell(method), *(Cell(f"{_low_share(e, m):.1f}") for e in errors.values()))
        for part, errors in _halves(study).items()
        for m, method in enumerate(next(iter(errors.values())).methods[:2])
    ]
    columns = ("populations", "method", *(f"n = {n}" for n in SIZES))
    return to_markdown(Table(columns, tuple(rows), names=2)).strip()


def _low_share(errors: Errors, method: int) -> float:
    error = np.sum(errors.at_shown(), axis=0)[method]
    return 100.0 * float((error > 1.0 - LEAST_COVERAGE).mean())


BINARY = "Success@5"


def _binary_limits(n: int, level: float) -> dict[str, Floats]:
    """Return the limits for 0 to n ones by several methods: 2 × ones."""
    from scipy.stats import beta, binomtest

    ones = np.arange(n + 1)
    values = (np.arange(n)[:, None] < ones).astype(np.float64)
    names = tuple(f"{k:03d}" for k in range(n + 1))
    scores = Scores(names[:n], names, (BINARY,), values[:, :, None])
    own = confidence_interval(scores, level=level)
    tail = (1.0 - level) / 2.0
    tests = [binomtest(int(k), n) for k in ones]
    found = {"calibrated-beta": np.stack([own.low[:, 0], own.high[:, 0]])}
    exact = [test.proportion_ci(level, method="exact") for test in tests]
    wilson = [test.proportion_ci(level, method="wilson") for test in tests]
    for name, limits in (("Clopper and Pearson", exact), ("Wilson", wilson)):
        found[name] = np.array([(one.low, one.high) for one in limits]).T
    jeffreys = beta.ppf([[tail], [1.0 - tail]], ones + 0.5, n - ones + 0.5)
    found["Jeffreys"] = np.asarray(jeffreys)
    return found


def _binary_table(population: Population) -> str:
    """Return exact distances on the tables of zeros and ones: nothing is simulated."""
    from scipy.stats import binom

    rows = []
    for table in np.flatnonzero(np.array(population.measures) == BINARY):
        truths = population.values[:, population.tables == table].mean(axis=0)
        errors: dict[str, list[list[Floats]]] = {}
        for n in SIZES:
            chances = binom.pmf(np.arange(n + 1), n, truths[:, None])
            for level in LEVELS:
                for name, (low, high) in _binary_limits(n, level).items():
                    missed = truths[:, None] < low, truths[:, None] > high
                    pair = [np.mean((chances * one).sum(axis=1)) for one in missed]
                    errors.setdefault(name, []).append(np.array(pair) - (1.0 - level) / 2.0)
        for name, found in errors.items():
            by_size = np.array(found).reshape(len(SIZES), len(LEVELS), 2)
            two_sided = 1e3 * np.abs(by_size.sum(axis=2)).mean(axis=1)
            tails = 1e3 * np.abs(by_size).mean(axis=(1, 2))
            cells = (f"{a:.1f} / {b:.1f}" for a, b in zip(two_sided, tails, strict=True))
            rows.append(tuple(map(Cell, (population.collections[table], name, *cells))))
    columns = ("collection", "method", *(f"n = {n}" for n in SIZES))
    return to_markdown(Table(columns, tuple(rows), names=2)).strip()


def _page(study: dict[int, Errors], population: Population, samples: int) -> str:
    parts = [
        "# Variants of calibrated-beta, and their limit",
        "Written by `reproductions/pivot_variants.py`.",
        (__doc__ or "").strip().split("\n\n")[1],
        f"{samples:,} samples of each run, six levels from 0.5 to 0.99. {METHODS_TEXT.strip()}",
        _distances(_halves(study)),
        OUTCOME.strip(),
        f"Runs whose 95% intervals cover less than {LEAST_COVERAGE:.2f}, %, of these samples:",
        _low_coverage(study),
        "## Zeros and ones",
        BINARY_TEXT.strip(),
        _binary_table(population),
    ]
    return "\n\n".join(parts) + "\n"


METHODS_TEXT = """Distance |error - nominal error| in
thousandths, averaged over a table's runs first, two-sided / mean of the tails; the row *(exact)* is what
an exact method would have, by chance. The name of a variant has three parts:

- what U is compared with: samples of the *beta* distribution with the true mean and the sample's
  dispersion; of a *beta with zeros and ones*, as many as the sample has, and the same mean and
  dispersion; or of *the run's own scores*, which are unknown in practice: no other calibration of U can do
  better, except by chance;
- the number of topics that the beta distribution's skewness counts as in U (0: the sample's alone);
- the limits for equal scores: *exact* ones, which err with probability α/2 at most, or with *mid-p*,
  where half of the probability of such a sample counts.

The first variant is `calibrated-beta`, but simulated here, for groups of a run's samples, and not read from its table.
"""

OUTCOME = """
Conclusions:

- *Another family* gains nothing: with the sample's zeros and ones, distances are larger with 10 and 25 topics,
  and with 50 about the same.
- *The sample's own skewness*: with more weight, tails are more even, and two-sided errors slightly
  larger. On the choosing tables the sum of both hardly changes from 15 topics to 100, so 100 is kept. On
  the others fewer would have been better in the tails.
- *Limits for equal scores* with mid-p would gain most, on tables in which many samples have equal scores:
  runs with Success@5 and RR near 1. The limits remain exact, so that they are valid for any scores.
- *The limit.* If U is compared with its own distribution, nothing is left to calibrate; the rest beyond
  chance comes from samples with few different means, and from the limits for equal scores. On the
  confirming tables with 50 topics this is, including chance, still about half of the two-sided distance of `t`,
  the best published method there ([the study of the default](default-method.md)): no calibration
  of U with these limits can do much better. In the tails, and with fewer topics, less than half is possible.
"""

BINARY_TEXT = """
Samples of zeros and ones have n + 1 means, and no interval has exactly its nominal error. The
exact distances, by summing over all samples, compared with those of methods for proportions:
"""


if __name__ == "__main__":
    main()
