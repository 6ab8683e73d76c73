"""How often does a gate err over repeated looks?

Differences between real runs, shifted to a mean of 0, are the populations: every candidate is as good
as the baseline, and each failure is a false positive.

    python reproductions/gates.py --data data --output docs/reproductions

`--quick` takes a tenth of the histories, for a first look.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats

from confir.data.files import write_whole
from confir.intervals.bounded import confidence_sequence
from confir.measures.evaluation import evaluate
from confir.measures.score_sources import as_scores
from confir.studies.history.looks import level_of_look

SEED = 2023
LEVEL = 0.95
HISTORIES = 2000
LOOKS = (1, 5, 20, 100)
TOPICS = (50, 100, 200, 400)
SAMPLE = 50  # topics of a history of candidates
# Nobody looks at fewer topics.
FIRST = 10
# A share may be this many standard errors above α before the script ends with an error.
ERRORS = 3.0
# The table whose differences are 0 on most topics: t does not hold in its far tail.
FAR = "Deep Learning 2021, RR"
# Skewed differences: a candidate loses a little on most topics, and gains much on this share of them.
SHARES = (0.2, 0.1, 0.05, 0.02)
LOSS, NOISE = 0.02, 0.01

Errors = dict[int, tuple[float, float]]  # by topics: two shares of histories


class Population(NamedTuple):
    """Scores that topics are drawn from: topics × runs."""

    name: str
    values: np.ndarray

    def differences(self, rng: np.random.Generator, pairs: int) -> np.ndarray:
        """Differences of pairs of runs with a mean of 0: topics × pairs."""
        runs = self.values.shape[1]
        first = rng.integers(0, runs, pairs)
        second = (first + rng.integers(1, runs, pairs)) % runs
        found = self.values[:, second] - self.values[:, first]
        centred: np.ndarray = found - found.mean(axis=0)
        return np.clip(centred, -1.0, 1.0)


def populations(data: Path) -> Iterator[Population]:
    """Yield real tables of scores."""
    robust = as_scores(data / "robust2004_ap.csv")
    yield Population("Robust 2004, AP", robust.values[:, :, 0])
    for name, folder, qrels, measure in (
        ("TREC-COVID, nDCG@10", "trec-covid-r5", "qrels.txt", "nDCG@10"),
        (FAR, "trec-dl-2021", "qrels.nist.txt", "RR"),
    ):
        home = data / folder
        yield Population(name, evaluate(home / qrels, home / "runs", [measure]).values[:, :, 0])


def candidates(population: Population, histories: int) -> Errors:
    """Return how often any of so many looks fails a candidate: at one level, and at their own."""

    def draw(rng: np.random.Generator) -> np.ndarray:
        drawn = rng.integers(0, len(population.values), SAMPLE)
        return population.differences(rng, max(LOOKS))[drawn]

    return failures(draw, histories)


def skewed(share: float, histories: int) -> Errors:
    """Return the same where candidates gain on a share of the topics what they lose on the others.

    Which topics these are differs between candidates.
    """
    gain = LOSS * (1.0 - share) / share

    def draw(rng: np.random.Generator) -> np.ndarray:
        gained = rng.random((SAMPLE, max(LOOKS))) < share
        noise = rng.normal(0.0, NOISE, gained.shape)
        return np.where(gained, gain, -LOSS) + noise

    return failures(draw, histories)


def failures(draw: Callable[[np.random.Generator], np.ndarray], histories: int) -> Errors:
    """Return how often any of so many looks fails a candidate, from topics × candidates drawn."""
    rng = np.random.default_rng([SEED, 1])
    errors = np.array([1.0 - level_of_look(look, LEVEL) for look in range(1, max(LOOKS) + 1)])
    ever = np.zeros((2, histories, max(LOOKS)), bool)
    for history in range(histories):
        sample = draw(rng)
        with np.errstate(invalid="ignore", divide="ignore"):
            t, p = stats.ttest_1samp(sample, 0.0)
        worse = t < 0
        ever[0, history] = worse & (p <= 1.0 - LEVEL)
        ever[1, history] = worse & (p <= errors)
    shares = np.logical_or.accumulate(ever, axis=2).mean(axis=1)
    return {looks: (shares[0, looks - 1], shares[1, looks - 1]) for looks in LOOKS}


def arriving(population: Population, histories: int) -> Errors:
    """Return how often any look up to so many topics excludes 0: t intervals, and the sequence."""
    rng = np.random.default_rng([SEED, 2])
    pool = population.differences(rng, histories)
    drawn = rng.integers(0, len(pool), (max(TOPICS), histories))
    sample = np.take_along_axis(pool, drawn, axis=0)
    counts = np.arange(1, max(TOPICS) + 1)[:, None]
    mean = sample.cumsum(axis=0) / counts
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = (np.square(sample).cumsum(axis=0) / counts - mean**2) * counts / (counts - 1.0)
        t = np.abs(mean) / np.sqrt(variance / counts)
        outside = t > stats.t.ppf((1.0 + LEVEL) / 2.0, counts - 1.0)
    outside[: FIRST - 1] = False
    ever = np.logical_or.accumulate(outside, axis=0).mean(axis=1)
    found = {}
    for topics in TOPICS:
        limits = confidence_sequence((sample[:topics] + 1.0) / 2.0, LEVEL).limits
        found[topics] = ever[topics - 1], float(np.mean((limits.low > 0.5) | (limits.high < 0.5)))
    return found


def page(
    rows: dict[str, tuple[Errors, Errors]], simulated: dict[float, Errors], histories: int
) -> str:
    """Return the page in Markdown."""
    error = np.sqrt(LEVEL * (1 - LEVEL) / histories)
    lines = [
        "# Error rates of gates over repeated looks",
        "",
        (
            "Made by `python reproductions/gates.py --data data --output docs/reproductions`. Differences "
            "between two real runs, drawn at random and shifted to a mean of 0, are the "
            f"population of each candidate: every failure is a false positive. {histories:,} "
            f"histories, seed {SEED}, level "
            f"{LEVEL:g}; the Monte Carlo standard error near α is {error:.3f}."
        ),
        "",
        "## New candidates on the same topics",
        "",
        (
            "The share of histories in which any of the first looks found a candidate significantly worse, "
            "on 50 topics drawn once for the history: with each look at α (`fixed`), and with look j at "
            "6α/(π²j²) (`history`). The test is one-sided: a single look errs in α/2."
        ),
        "",
        "| table | " + " | ".join(f"{n} looks: fixed | history" for n in LOOKS) + " |",
        "|---|" + "---:|" * (2 * len(LOOKS)),
    ]
    lines += [_row(name, found) for name, (found, _) in rows.items()]
    lines += ["", _FAR_TAIL, "", _SKEWED, ""]
    lines += [
        "| gains on | " + " | ".join(f"{n} looks: fixed | history" for n in LOOKS) + " |",
        "|---|" + "---:|" * (2 * len(LOOKS)),
    ]
    lines += [_row(f"{100 * share:g}% of topics", found) for share, found in simulated.items()]
    lines += [
        "",
        "## New topics for the same candidate",
        "",
        (
            f"The share of histories in which any look after topic {FIRST} or later excluded 0: by a t "
            "interval at each look (`fixed`), and by the confidence sequence (`sequence`)."
        ),
        "",
        "| table | " + " | ".join(f"{n} topics: fixed | sequence" for n in TOPICS) + " |",
        "|---|" + "---:|" * (2 * len(TOPICS)),
    ]
    lines += [_row(name, found) for name, (_, found) in rows.items()]
    return "\n".join(lines) + "\n"


_FAR_TAIL = (
    "Late looks depend on the far tail of t. If two runs differ on few topics only, as by RR, a "
    "sample may miss those topics, its standard error is far too small, and t is not accurate for "
    "an error of one in ten thousand: the error rate exceeds α. Such measures need more topics, "
    "or a margin."
)


_SKEWED = (
    "Very skewed differences have the same effect. Simulated candidates lose "
    f"{LOSS:g} on most of {SAMPLE} topics and gain as much in total on a share of them, with normal noise of sd "
    f"{NOISE:g}: their mean difference is 0. If the gains are rare, a sample may miss them all."
)


def _row(name: str, found: Errors) -> str:
    return f"| {name} | " + " | ".join(f"{a:.3f} | {b:.3f}" for a, b in found.values()) + " |"


def main() -> None:
    """Write the page; end with an error where a gate errs too often."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    histories = HISTORIES // 10 if given.quick else HISTORIES
    rows = {
        one.name: (candidates(one, histories), arriving(one, histories))
        for one in populations(given.data)
    }
    text = page(rows, {share: skewed(share, histories) for share in SHARES}, histories)
    print(text)
    write_whole(given.output / "gates.md", text.encode())
    most = 1 - LEVEL + ERRORS * np.sqrt(LEVEL * (1 - LEVEL) / histories)
    found = [share for _, part in rows.values() for _, share in part.values()]
    found += [
        share for name, (part, _) in rows.items() if name != FAR for _, share in part.values()
    ]
    if max(found) > most:
        sys.exit(f"a gate errs in {max(found):.3f}; expected {most:.3f} at most")


if __name__ == "__main__":
    main()
