"""Which interval should be the default? Error of every method over all collections at hand.

Populations are the score tables of ``--data``; samples of n topics are drawn from them with
replacement. A method is judged by the distance between the error that it makes and the error that
it claims, two-sided and in each tail, over all runs, measures, collections and levels. The choice
is made on one half of the collections and confirmed on the other.

    python reproductions/default_method.py --data ../shared/data --output docs/reproductions
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from confir.data.score_files import read_scores
from confir.data.scores import Scores
from confir.intervals.catalogue import METHODS
from confir.studies.misses import Misses, count_misses

LEVELS = (0.99, 0.95, 0.9, 0.8, 0.7, 0.5)
SIZES = (5, 10, 25, 50, 100, 250)
RUNS_PER_TABLE = 16
PAIRS_PER_TABLE = 12
SEED = 2011

# The choice is made on these; all other collections confirm it.
CHOOSING = ("trec8.adhoc", "trec13.robust", "trec15.terabyte-adhoc", "ntcir7ir4qa", "web2010")

# The guaranteed methods are no candidates: they trade width for safety.
SCORE_METHODS = tuple(name for name in METHODS if not METHODS[name].any_sample)
DIFFERENCE_METHODS = ("t", "percentile", "bca", "bootstrap-t", "symmetric-t")


def tables(data: Path) -> Iterator[tuple[str, Scores]]:
    """Yield every score table with the name of its collection, a measure at a time."""
    folder = data / "soboroff2014" / "scores"
    for path in [*sorted(folder.glob("*.csv.gz")), *sorted((data / "urbano2018").glob("*.csv"))]:
        name = path.name.removesuffix(".gz").removesuffix(".csv")
        collection = name.split("_")[0] if "_" in name else name
        for known in ("ntcir7ir4qa", "ntcir10intentDRC"):
            collection = known if name.startswith(known) else collection
        scores = read_scores(path)
        for measure in scores.measures:
            yield collection, scores.select(measures=[measure])
    yield "robust2004", read_scores(data / "robust2004_ap.csv")


def spread(scores: Scores, runs: int) -> Scores:
    """Return some runs, evenly spread from the best to the worst; constant ones left out."""
    varied = [
        run
        for r, run in enumerate(scores.runs)
        if np.nanstd(scores.values[:, r, 0]) > 0 and np.isfinite(scores.values[:, r, 0]).all()
    ]
    kept = scores.select(runs=varied)
    order = np.argsort(kept.mean()[:, 0], kind="stable")
    places = np.unique(np.linspace(0, len(order) - 1, runs).round().astype(int))
    return kept.select(runs=[kept.runs[i] for i in order[places]])


def differences(scores: Scores, pairs: int, rng: np.random.Generator) -> np.ndarray:
    """Return the differences of random pairs of runs: topics × pairs."""
    values = scores.values[:, :, 0]
    left, right = rng.integers(0, values.shape[1], (2, pairs))
    gaps = values[:, left] - values[:, right]
    return gaps[:, gaps.std(axis=0) > 0]


def distances(misses: Misses) -> tuple[np.ndarray, np.ndarray]:
    """Return |error - claimed| of each method, column and level: two-sided, and mean of the tails."""
    claimed = 1.0 - np.array(misses.levels)[None, :, None]
    two_sided = np.abs(misses.error - claimed)
    below = np.abs(misses.below / misses.samples - claimed / 2)
    above = np.abs(misses.above / misses.samples - claimed / 2)
    return two_sided, (below + above) / 2


def main() -> None:
    """Run the study and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--output", type=Path, default=None)
    parser.add_argument("--samples", type=int, default=1_000)
    parser.add_argument("--replicates", type=int, default=1_999)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    options = parser.parse_args()
    groups: dict[str, dict[str, list[np.ndarray]]] = {"choosing": {}, "confirming": {}}
    gaps: dict[str, dict[str, list[np.ndarray]]] = {"choosing": {}, "confirming": {}}
    rng = np.random.default_rng(SEED)
    for collection, scores in tables(options.data):
        half = "choosing" if collection in CHOOSING else "confirming"
        key = f"{collection} {len(scores.topics)}"
        groups[half].setdefault(key, []).append(spread(scores, RUNS_PER_TABLE).values[:, :, 0])
        gaps[half].setdefault(key, []).append(differences(scores, PAIRS_PER_TABLE, rng))
    lines: list[str] = []
    for title, data, methods in (
        ("Scores in [0, 1]", groups, SCORE_METHODS),
        ("Differences of two runs", gaps, DIFFERENCE_METHODS),
    ):
        for half in ("choosing", "confirming"):
            populations = [np.hstack(parts) for parts in data[half].values()]
            lines += study(title, half, populations, methods, options)
    text = "\n".join(lines) + "\n"
    print(text)
    if options.output is not None:
        (options.output / "default-method.md").write_text(text)


def study(
    title: str,
    half: str,
    populations: list[np.ndarray],
    methods: tuple[str, ...],
    options: argparse.Namespace,
) -> list[str]:
    """Return the table of one half of the collections as Markdown."""
    results: dict[int, dict[str, list[np.ndarray]]] = {}
    for size in options.sizes:
        kept: dict[str, list[np.ndarray]] = {"two": [], "tails": [], "width": [], "worst": []}
        for number, population in enumerate(populations):
            misses = count_misses(
                population,
                methods=methods,
                levels=LEVELS,
                topics=size,
                samples=options.samples,
                replicates=options.replicates,
                widths=False,
                rng=SEED + number,
            )
            two, tails = distances(misses)
            kept["two"].append(two.mean(axis=1))
            kept["tails"].append(tails.mean(axis=1))
            kept["worst"].append(misses.error[:, 1])
        results[size] = kept
    columns = sum(p.shape[1] for p in populations)
    lines = [f"### {title}: {half} half ({len(populations)} tables, {columns} columns)", ""]
    sizes = list(results)
    lines.append("| method | " + " | ".join(f"n = {size}" for size in sizes) + " |")
    lines.append("|---|" + "---:|" * len(sizes))
    for m, method in enumerate(methods):
        cells = []
        for size in sizes:
            two = np.concatenate([part[m] for part in results[size]["two"]])
            tails = np.concatenate([part[m] for part in results[size]["tails"]])
            worst = np.concatenate([part[m] for part in results[size]["worst"]])
            cells.append(f"{1e3 * two.mean():.1f} / {1e3 * tails.mean():.1f} / {worst.max():.3f}")
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return [*lines, ""]


if __name__ == "__main__":
    main()
