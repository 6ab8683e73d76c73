"""Does `calibrated-beta` err more often than in an earlier version of confir?

Samples of n topics are drawn from the populations of `default_method.py`, real and simulated, and the
same samples are given to the method of this checkout and to that of an earlier commit, whose source is
taken from the history of the repository and runs in a separate process. Errors are counted on each
side of the interval.

    python reproductions/previous_method.py --data data --output docs/reproductions

It takes about ten minutes of processor time, and needs a clone with its history; `--samples 20` is for a
first look.
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import warnings
from pathlib import Path

import numpy as np
import numpy.typing as npt

from confir.arrays import Floats, Integers
from confir.data.files import write_whole
from confir.errors import ConfirWarning
from confir.report.tables import Cell, Table, to_markdown
from confir.studies.coverage.miss_counts import count_misses

METHOD = "calibrated-beta"
# The last commit of version 0.2.
COMMIT = "6a72b58"
SEED = 1934
LEVELS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
SHOWN = LEVELS.index(0.95)
SIZES = (3, 5, 10, 25, 50)
SAMPLES, WIDTH_SAMPLES = 600, 60
NAMES = ("below", "above", "width")
PARTS = ("choosing", "confirming", "new", "simulated")
LISTED = 8

DISTANCE = (
    "In thousandths, two-sided / mean of the tails: the error is averaged over the runs of a table "
    f"first, then |error - nominal error| over levels ({', '.join(map(str, LEVELS))}) and tables."
)
COVERAGE = (
    "Coverage; truth below / above the interval, thousandths (nominal: 25 / 25); lowest coverage "
    "of a table."
)
WIDTH = (
    "Mean width of 95% intervals now, relative to before: mean over populations; smallest and largest "
    "of a table."
)

Texts = npt.NDArray[np.str_]  # of each table
Counts = dict[str, Floats]  # share of samples below and above, and mean width: levels × columns


def main() -> None:
    """Count the errors of both versions, print the page, and write it where asked."""
    warnings.simplefilter("ignore", ConfirWarning)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="folder of the real data")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--commit", default=COMMIT, help="the version to compare with")
    parser.add_argument("--count", type=Path, help=argparse.SUPPRESS)  # in a process of its own
    options = parser.parse_args()
    if options.count is not None:
        count_file(options.count, options.samples)
        return
    text = page(options.data, options.commit, options.samples)
    print(text)
    if options.output is not None:
        write_whole(options.output / "previous-method.md", text.encode())


def count_file(path: Path, samples: int) -> None:
    """Count the errors of the version on the path in the populations of a file, and write them next to it."""
    population = np.load(path)
    found = {}
    for size in SIZES:
        shares, widths = (
            count_misses(
                population,
                methods=[METHOD],
                levels=LEVELS,
                topics=size,
                samples=number,
                widths=number < samples,
                rng=SEED + size,
            )
            for number in (samples, min(WIDTH_SAMPLES, samples - 1))
        )
        found[f"below {size}"] = shares.below[0] / samples
        found[f"above {size}"] = shares.above[0] / samples
        found[f"width {size}"] = np.asarray(widths.width)[0]
    np.savez(path.with_suffix(".npz"), allow_pickle=False, **found)


def both_versions(values: Floats, commit: str, samples: int) -> dict[str, dict[int, Counts]]:
    """Return what each version finds, by size of sample."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        extract_source(commit, Path(folder))
        here = Path(__file__).resolve().parent.parent / "src"
        for version, source in (("before", Path(folder) / "src"), ("now", here)):
            path = Path(folder) / f"{version}.npy"
            np.save(path, values)
            command = [sys.executable, __file__, "--count", str(path), "--samples", str(samples)]
            environment = os.environ | {"PYTHONPATH": str(source)}
            subprocess.run(command, check=True, env=environment)
            with np.load(path.with_suffix(".npz")) as counts:
                found[version] = {
                    size: {name: counts[f"{name} {size}"] for name in NAMES} for size in SIZES
                }
    return found


def extract_source(commit: str, folder: Path) -> None:
    """Write the package as it was at a commit."""
    here = Path(__file__).resolve().parent
    command = ["git", "-C", str(here.parent), "archive", commit, "src"]
    archived = subprocess.run(command, check=False, capture_output=True)
    if archived.returncode:
        sys.exit(
            f"commit {commit} is not here; expected a clone of the repository with its history"
        )
    content = archived.stdout
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(folder, filter="data")


def by_table(shares: Floats, tables: Integers) -> Floats:
    """Return the means over the columns of each table: levels × tables."""
    of_table = np.arange(tables.max() + 1)[:, None] == tables
    means: Floats = shares @ (of_table / of_table.sum(axis=1, keepdims=True)).T
    return means


def distances(counts: Counts, tables: Integers) -> tuple[Floats, Floats]:
    """Return |error - nominal error|, mean over levels, of each table: two-sided, and of the tails."""
    claimed = 1.0 - np.array(LEVELS)[:, None]
    below, above = (by_table(counts[side], tables) for side in ("below", "above"))
    two_sided = np.abs(below + above - claimed).mean(axis=0)
    tails = (
        np.abs(below - claimed / 2).mean(axis=0) + np.abs(above - claimed / 2).mean(axis=0)
    ) / 2
    return two_sided, tails


def page(data: Path, commit: str, samples: int) -> str:
    """Return the page in Markdown."""
    # A script in the same folder, which the process of a version does not need.
    from default_method import CHOOSING, NEW, _real_populations, _simulated_populations, _tables

    tables = list(_tables(data))
    real, simulated = _real_populations(tables)[0], _simulated_populations(tables)[0]
    collections = np.array(real.collections)
    sides = np.where(
        np.isin(collections, CHOOSING),
        "choosing",
        np.where(np.isin(collections, NEW), "new", "confirming"),
    )
    parts = np.concatenate([sides, np.full(len(simulated.collections), "simulated")])
    populations = (real, simulated)
    names = [
        f"{collection} {measure}, {part}"
        for (collection, measure), part in zip(
            (
                one
                for population in populations
                for one in zip(population.collections, population.measures, strict=True)
            ),
            parts,
            strict=True,
        )
    ]
    places = np.concatenate([real.tables, simulated.tables + len(real.collections)])
    found = both_versions(np.hstack([p.values for p in populations]), commit, samples)
    about = (
        f"Made by `python reproductions/previous_method.py --data data --output docs/reproductions "
        f"--samples {samples} --commit {commit}`. {samples:,} samples of each size from each of "
        f"{len(places):,} populations, those of [default-method](default-method.md): "
        f"{len(real.tables)} runs of {len(real.collections)} tables, and {len(simulated.tables)} "
        f"simulated after them. Both versions are given the same samples; seed {SEED}. *before* is "
        f"commit {commit}, *now* the checkout. Widths are of the first "
        f"{min(WIDTH_SAMPLES, samples - 1)} samples."
    )
    sections = [
        "# `calibrated-beta` before and now",
        about,
        "## Distance of the error from the nominal error",
        DISTANCE,
        _table(_distance_rows(found, places, parts)),
        "## 95% intervals",
        COVERAGE,
        _table(_coverage_rows(found, places, parts)),
        WIDTH,
        _table(_width_rows(found, places, parts)),
        "## Tables that changed",
        _changes(found, places, names, samples),
    ]
    return "\n\n".join(sections) + "\n"


def _table(rows: list[tuple[str, ...]]) -> str:
    columns = ("populations", "version", *(f"n = {size}" for size in SIZES))
    cells = tuple(tuple(map(Cell, row)) for row in rows)
    return to_markdown(Table(columns, cells, names=2)).strip()


def _distance_rows(
    found: dict[str, dict[int, Counts]], places: Integers, parts: Texts
) -> list[tuple[str, ...]]:
    rows = []
    for part in PARTS:
        for version, sizes in found.items():
            cells = []
            for size in SIZES:
                both = [1e3 * one[parts == part].mean() for one in distances(sizes[size], places)]
                cells.append("{:.1f} / {:.1f}".format(*both))
            rows.append((part, version, *cells))
    return rows


def _coverage_rows(
    found: dict[str, dict[int, Counts]], places: Integers, parts: Texts
) -> list[tuple[str, ...]]:
    rows = []
    for part in PARTS:
        kept = parts == part
        for version, sizes in found.items():
            cells = []
            for size in SIZES:
                sides = [by_table(sizes[size][s], places)[SHOWN, kept] for s in ("below", "above")]
                covered = 1.0 - sides[0] - sides[1]
                below, above = (1e3 * side.mean() for side in sides)
                cells.append(
                    f"{covered.mean():.3f}; {below:.0f} / {above:.0f}; {covered.min():.3f}"
                )
            rows.append((part, version, *cells))
    return rows


def _width_rows(
    found: dict[str, dict[int, Counts]], places: Integers, parts: Texts
) -> list[tuple[str, ...]]:
    rows = []
    for part in PARTS:
        cells = []
        for size in SIZES:
            before, now = (found[v][size]["width"][SHOWN] for v in ("before", "now"))
            ratio = by_table((now / before)[None], places)[0, parts == part]
            cells.append(f"{ratio.mean():.3f}; {ratio.min():.2f} to {ratio.max():.2f}")
        rows.append((part, "now / before", *cells))
    return rows


def _changes(
    found: dict[str, dict[int, Counts]], places: Integers, names: list[str], samples: int
) -> str:
    """Return the tables whose distance at 95% changed beyond chance, worse ones and better ones."""
    columns = np.bincount(places)
    lines = []
    for size in SIZES:
        error = {
            version: by_table(sizes[size]["below"] + sizes[size]["above"], places)[SHOWN]
            for version, sizes in found.items()
        }
        claimed = 1.0 - LEVELS[SHOWN]
        gap = np.abs(error["now"] - claimed) - np.abs(error["before"] - claimed)
        # Of one version: the samples are the same, so that chance differences are smaller.
        chance = np.sqrt(claimed * (1.0 - claimed) / (samples * columns))
        for word, sign in (("farther from", 1), ("closer to", -1)):
            chosen = np.flatnonzero(sign * gap > chance)
            chosen = chosen[np.argsort(-sign * gap[chosen], kind="stable")]
            listed = "; ".join(
                f"{names[t]}: {1e3 * error['before'][t]:.0f} → {1e3 * error['now'][t]:.0f}"
                for t in chosen[:LISTED]
            )
            lines.append(
                f"- n = {size}: {len(chosen)} of {len(names)} tables are {word} 50 thousandths"
                f"{': ' + listed if listed else ''}."
            )
    text = (
        "Error of 95% intervals in thousandths, before → now, of tables where its distance from 50 "
        f"changed by more than the Monte Carlo standard error of one version (at most {LISTED}):"
    )
    return f"{text}\n\n" + "\n".join(lines)


if __name__ == "__main__":
    main()
