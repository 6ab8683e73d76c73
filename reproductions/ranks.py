"""Coverage of the confidence set of the best run and of rank intervals.

Tables of real scores are the populations: topics are drawn from them with replacement, so that the
best run and all ranks are known. Two weaker kinds of interval are compared: percentiles
of bootstrap ranks, and unadjusted comparisons of pairs.

    python reproductions/ranks.py --data data --output docs/reproductions

It takes about ten minutes of processor time; `--quick` takes 20 samples, for a first look.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from confir.data.files import write_whole
from confir.data.scores import Scores
from confir.errors import ConfirWarning
from confir.measures.evaluation import evaluate
from confir.measures.score_sources import as_scores
from confir.pairs.best_runs import best_of_pairs
from confir.pairs.ranking import ranking_of_pairs
from confir.pairs.run_pairs import RunPairs, compare_all_runs
from confir.resampling.replicates import draw_topics

SEED = 2024
LEVEL = 0.95
REPLICATES = 499
SIZES = (10, 25, 50, 100)

# Tables with more runs take long: they get a fifth of the samples.
MANY_RUNS = 50

# Simultaneous rank intervals may miss slightly more often: with few topics, no t is exact.
LEAST = {"set": LEVEL, "all": LEVEL, "top": LEVEL, "simultaneous": 0.94}

# A coverage may be this many standard errors too low before the script ends with an error.
ERRORS = 3.0


class Population(NamedTuple):
    """Scores that topics are drawn from: topics × runs."""

    name: str
    values: np.ndarray

    @property
    def rank(self) -> np.ndarray:
        """1 + the number of runs with a higher mean."""
        mean = self.values.mean(axis=0)
        return 1 + (mean[None, :] > mean[:, None] + 1e-12).sum(axis=1)

    @property
    def top(self) -> np.ndarray:
        """Which runs are in the best tenth."""
        return self.rank <= max(1, round(len(self.rank) / 10))


def populations(data: Path) -> Iterator[Population]:
    """Yield real tables, parts of one, and the same with runs that are tied or nearly so."""
    robust = as_scores(data / "robust2004_ap.csv").values[:, :, 0]
    yield Population("Robust 2004, AP", robust)
    yield Population("TREC-8, AP", as_scores(data / "urbano2018" / "adhoc8_ap.csv").values[:, :, 0])
    for name, folder, qrels in (
        ("Deep Learning 2021, nDCG@10", "trec-dl-2021", "qrels.nist.txt"),
        ("TREC-COVID, nDCG@10", "trec-covid-r5", "qrels.txt"),
    ):
        home = data / folder
        yield Population(name, evaluate(home / qrels, home / "runs", ["nDCG@10"]).values[:, :, 0])
    order = np.random.default_rng(SEED).permutation(robust.shape[1])
    yield Population("Robust 2004, 20 runs", robust[:, order[:20]])
    yield Population("Robust 2004, 5 runs", robust[:, order[:5]])
    tied = robust[:, order[:20]] - robust[:, order[:20]].mean(axis=0)
    yield Population("the same 20 runs, all tied", tied)
    yield Population("the same, means 0.0001 apart", tied + 0.0001 * np.arange(20))


class Found(NamedTuple):
    """What a sample of topics gave: each entry is a number of one sample."""

    best_held: float
    best_size: int
    held: np.ndarray  # by run
    held_together: bool
    percentile_held: np.ndarray
    unadjusted_held: np.ndarray
    widths: tuple[float, ...]  # of one interval, of all together, of percentiles, of single tests


def study(population: Population, topics: int, samples: int) -> list[Found]:
    """Return what each sample of topics gives."""
    rng = np.random.default_rng([SEED, topics])
    runs, rank = population.values.shape[1], population.rank
    names = tuple(f"run {run}" for run in range(runs))
    best = rank == 1
    found = []
    for sample in range(samples):
        values = population.values[rng.integers(0, len(population.values), topics)]
        scores = Scores(tuple(map(str, range(topics))), names, ("gain",), values[:, :, None])
        pairs = compare_all_runs(scores, REPLICATES, sample, what="ranks", level=LEVEL)
        (chosen,) = best_of_pairs(scores, pairs, [LEVEL])
        ranking = ranking_of_pairs(scores, pairs, LEVEL)
        low, high = ranking.low[:, 0], ranking.high[:, 0]
        all_low, all_high = ranking.simultaneous_low[:, 0], ranking.simultaneous_high[:, 0]
        old_low, old_high = percentile_ranks(values, sample)
        single_low, single_high = unadjusted_ranks(pairs[0])
        limits = (low, high), (all_low, all_high), (old_low, old_high), (single_low, single_high)
        found.append(
            Found(
                # Tied runs are all the best: each one must be in the set as often as one alone.
                float(chosen.in_set[best, 0].mean()),
                int(chosen.in_set.sum()),
                (low <= rank) & (rank <= high),
                bool(((all_low <= rank) & (rank <= all_high)).all()),
                (old_low <= rank) & (rank <= old_high),
                (single_low <= rank) & (rank <= single_high),
                tuple(float((upper - lower).mean()) for lower, upper in limits),
            )
        )
    return found


def percentile_ranks(values: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return percentile limits of the ranks over bootstrap samples of the topics."""
    means = draw_topics(len(values), REPLICATES, np.random.default_rng(seed)).shares() @ values
    ranks = 1 + np.argsort(np.argsort(-means, axis=1, kind="stable"), axis=1, kind="stable")
    low, high = np.quantile(ranks, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return np.floor(low), np.ceil(high)


def unadjusted_ranks(pairs: RunPairs) -> tuple[np.ndarray, np.ndarray]:
    """Return limits by comparisons that each allow a wrong direction with probability 1 - level."""
    from scipy.special import stdtrit

    critical = stdtrit(pairs.df, LEVEL)
    return 1 + (pairs.t > critical).sum(axis=1), pairs.runs - (pairs.t < -critical).sum(axis=1)


def summary(population: Population, found: list[Found]) -> dict[str, float]:
    """Return coverages and sizes of all samples."""
    held = np.array([one.held for one in found])
    old = np.array([one.percentile_held for one in found])
    single = np.array([one.unadjusted_held for one in found])
    marginal, together, percentile, unadjusted = np.mean([one.widths for one in found], axis=0)
    return {
        "set": float(np.mean([one.best_held for one in found])),
        "size": float(np.mean([one.best_size for one in found])),
        "all": float(held.mean()),
        "top": float(held[:, population.top].mean()),
        "least": float(held.mean(axis=0).min()),
        "simultaneous": float(np.mean([one.held_together for one in found])),
        "percentile": float(old.mean()),
        "percentile_top": float(old[:, population.top].mean()),
        "unadjusted": float(single.mean()),
        "unadjusted_top": float(single[:, population.top].mean()),
        "width": marginal,
        "simultaneous_width": together,
        "percentile_width": percentile,
        "unadjusted_width": unadjusted,
    }


def too_low(row: dict[str, float], samples: int) -> list[str]:
    """Return which coverages are below the level, beyond Monte Carlo error."""
    return [
        name
        for name, least in LEAST.items()
        if row[name] < least - ERRORS * np.sqrt(least * (1 - least) / samples)
    ]


def page(rows: dict[tuple[str, int, int], dict[str, float]], samples: int) -> str:
    """Return the page in Markdown."""
    about = (
        "Made by `python reproductions/ranks.py --data data --output docs/reproductions --samples "
        f"{samples}`. Topics are drawn with replacement from tables of real scores, whose means are "
        "the truth: "
        f"{samples} samples of each size ({samples // 5} for more than {MANY_RUNS} runs), "
        f"{REPLICATES} replicates, seed {SEED}, level {LEVEL:g}. The "
        f"Monte Carlo standard error of a coverage near {LEVEL:g} of one run is "
        f"{np.sqrt(LEVEL * (1 - LEVEL) / samples):.3f}."
    )
    lines = ["# Coverage of the best set and of rank intervals", "", about, ""]
    lines += ["## Best run", "", _BEST, ""]
    lines += [
        "| table | runs | topics | best run in set | runs in set |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {name} | {runs} | {topics} | {row['set']:.3f} | {row['size']:.1f} |"
        for (name, runs, topics), row in rows.items()
    ]
    lines += ["", "## Ranks", "", _RANKS, ""]
    heads = "table | runs | topics | all runs | best tenth | worst run | simultaneous"
    others = "unadjusted: all | best tenth | percentile: all | best tenth"
    lines += [f"| {heads} | {others} |", "|---|" + "---:|" * 10]
    columns = (
        *("all", "top", "least", "simultaneous"),
        *("unadjusted", "unadjusted_top", "percentile", "percentile_top"),
    )
    lines += [
        f"| {name} | {runs} | {topics} | " + " | ".join(f"{row[c]:.3f}" for c in columns) + " |"
        for (name, runs, topics), row in rows.items()
    ]
    lines += ["", "Mean width of the intervals, highest rank less lowest:", ""]
    lines += ["| table | runs | topics | marginal | simultaneous | unadjusted | percentile |"]
    lines += ["|---|---:|---:|---:|---:|---:|---:|"]
    widths = ("width", "simultaneous_width", "unadjusted_width", "percentile_width")
    lines += [
        f"| {name} | {runs} | {topics} | " + " | ".join(f"{row[c]:.1f}" for c in widths) + " |"
        for (name, runs, topics), row in rows.items()
    ]
    return "\n".join(lines) + "\n"


_BEST = (
    "Share of samples in which the truly best run is in the confidence set of `find_best`, and "
    "mean size of the set. If all runs are tied, each of them is the best, and the share is the "
    "mean over them."
)
_RANKS = (
    "Share of intervals that contain the true rank, 1 + the number of runs with a higher mean: "
    "each run's own interval, on average over all runs, over the best tenth, and for the run with "
    "the lowest coverage; and the share of samples in which all simultaneous intervals do. For "
    "comparison, two weaker kinds of interval: *unadjusted*, where each pair may have the wrong "
    "direction with probability 0.05; and *percentile*, of bootstrap ranks. If all runs are tied, "
    "the true rank of each is 1.\n\n"
    "A rank interval misses only if a direction is wrong: a run must seem significantly better "
    "although it is not. If many runs are tied this happens as often as α allows, and the "
    "coverage is close to the level: between 0.93 and 0.98, also for the first of nearly tied "
    "runs. If runs differ, it happens less often, and a run that wrongly seems better is "
    "compensated by better runs that do not seem so: the coverage then exceeds the level. "
    "Unadjusted comparisons cover 0.97 to 0.99 of the ranks in the real tables with 20 runs or "
    "more, and their intervals are narrower by a quarter to a half; but of 20 tied runs they "
    "cover only 69 to 80% of the ranks, and few topics cannot rule out that runs are tied. An "
    "interval that is valid in all cases is conservative if runs differ."
)


def main() -> None:
    """Study all tables, print the page, write it where asked; end with an error if one falls short."""
    warnings.simplefilter("ignore", ConfirWarning)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    samples = 20 if options.quick else options.samples
    rows, failed = {}, []
    for population in populations(options.data):
        for topics in SIZES:
            runs = population.values.shape[1]
            drawn = samples // 5 if runs > MANY_RUNS else samples
            row = summary(population, study(population, topics, drawn))
            rows[population.name, runs, topics] = row
            failed += [(population.name, topics, name) for name in too_low(row, drawn)]
            print(population.name, topics, f"{row['set']:.3f} {row['all']:.3f}", file=sys.stderr)
    text = page(rows, samples)
    print(text)
    if options.output is not None:
        write_whole(options.output / "ranks.md", text.encode())
    if failed:
        sys.exit(f"coverage is too low: {failed}")


if __name__ == "__main__":
    main()
