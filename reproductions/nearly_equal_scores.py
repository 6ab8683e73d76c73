"""How many samples of real scores are nearly equal, and treated separately by two methods?

Topics are drawn with replacement from every score table of Park 2011, Soboroff 2014 and Urbano 2018;
a sample of one run's scores counts if they are not all equal.

    python reproductions/nearly_equal_scores.py --data data --output docs/reproductions
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from confir.data.files import write_whole
from confir.data.score_files import read_scores
from confir.errors import ConfirWarning
from confir.intervals.beta_intervals import (
    NEARLY_EQUAL,
    NEARLY_EQUAL_SUM,
    share_of_test,
    spread_share,
)
from confir.resampling.kinds import as_topic_sample

SEED = 2014
SIZES = (5, 10, 25, 50)
MOST, MOST_OF_TEST = 0.01, 0.02


def tables(data: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Yield every measure of every table, topics × runs, of runs that have all topics."""
    folders = (data / "soboroff2014" / "scores", data / "urbano2018")
    files = [
        data / "robust2004_ap.csv",
        *(f for folder in folders for f in sorted(folder.iterdir())),
    ]
    for path in files:
        if not path.name.endswith((".csv", ".csv.gz")):
            continue
        scores = read_scores(path)
        for place, measure in enumerate(scores.measures):
            values = scores.values[:, :, place]
            whole = values[:, ~np.isnan(values).any(axis=0)]
            if whole.size and whole.max() <= 1.0:
                yield f"{path.name.partition('.csv')[0]}, {measure}", whole


def count(values: np.ndarray, topics: int, samples: int) -> tuple[int, int, int]:
    """Return how many samples are nearly equal, by either method, and how many are not all equal."""
    rng = np.random.default_rng([SEED, topics])
    drawn = values[rng.integers(0, len(values), (topics, samples))].reshape(topics, -1)
    distribution = as_topic_sample(drawn).distribution(slice(None), None, ("se",))
    varying = np.ptp(drawn, axis=0) > 0
    shares = spread_share(distribution), share_of_test(distribution)
    beta_logit, calibrated_beta = (int((share[varying] < 1.0).sum()) for share in shares)
    return beta_logit, calibrated_beta, int(varying.sum())


def main() -> None:
    """Count, print the table, write it where asked; end with an error where there are too many."""
    warnings.simplefilter("ignore", ConfirWarning)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--samples", type=int, default=500)
    options = parser.parse_args()
    rows = {
        name: [count(values, topics, options.samples) for topics in SIZES]
        for name, values in tables(options.data)
    }
    rows["all tables"] = [
        (sum(c[0] for c in column), sum(c[1] for c in column), sum(c[2] for c in column))
        for column in zip(*rows.values(), strict=True)
    ]
    shares = {name: [(a / every, b / every) for a, b, every in row] for name, row in rows.items()}
    about = (
        "Made by `python reproductions/nearly_equal_scores.py --data data --output "
        "docs/reproductions`: share, in %, of samples of topics whose scores are not all equal, but "
        f"have a dispersion s²/(m(1-m)) below {NEARLY_EQUAL:g}; and, after the slash, share of "
        "those that `calibrated-beta` takes as nearly equal, because of that or because their sum "
        "has a "
        f"standard deviation s√n below {NEARLY_EQUAL_SUM:g} ({20 * NEARLY_EQUAL_SUM:g}/n of more than 20 "
        "topics). Only these have other limits by `beta-logit` or `calibrated-beta` than formula and "
        "test give: limits that pass into those for equal scores. "
        f"{options.samples} samples a run and size, drawn with replacement, seed {SEED}."
    )
    lines = [
        "# Samples of nearly equal scores",
        "",
        about,
        "",
        "| table | " + " | ".join(f"n = {topics}" for topics in SIZES) + " |",
        "|---|" + "---:|" * len(SIZES),
    ]
    for name, row in shares.items():
        cells = (f"{100 * share:.2f} / {100 * other:.2f}" for share, other in row)
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    text = "\n".join(lines) + "\n"
    print(text)
    if options.output is not None:
        write_whole(options.output / "nearly-equal-scores.md", text.encode())
    highest = np.max([shares[name] for name in shares], axis=(0, 1))
    if (highest >= (MOST, MOST_OF_TEST)).any():
        sys.exit(
            f"a table has {100 * MOST:g}% of nearly equal samples or more, or {100 * MOST_OF_TEST:g}%"
        )


if __name__ == "__main__":
    main()
