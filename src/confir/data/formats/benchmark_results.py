"""Results of benchmarks: means of models on datasets, by many measures, and the ones that are wanted of them.

A benchmark such as MTEB writes one file per model and task, with a score per split and subset by every measure.
Here they become one mean of each model on each dataset, by one measure, on one split, over the same subsets.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from confir.data.files import name_from_path
from confir.data.formats.json_files import JsonFile
from confir.data.scores import LARGEST_SCORE, Scores
from confir.data.tables.json_tables import parse_json
from confir.errors import (
    FormatError,
    InputWarning,
    InvalidValueError,
    ReadingWarning,
    counted,
    enumerate_names,
    warn_caller,
)

# The score that its authors chose for each dataset, which are by different measures.
MAIN_SCORE = "main_score"
# The split that is read where there are several.
TEST = "test"
# The one subset of datasets that have no others.
DEFAULT = "default"

# Folders that MTEB has below a model's, for its revisions.
_REVISION = re.compile(r"[0-9a-f]{40}|no_revision_available|external|[0-9]+")

# How many datasets, files and subsets messages name.
_NAMED = 3


class BenchmarkResult(NamedTuple):
    """The scores of a model on one subset of one split of a dataset.

    Attributes
    ----------
    run, dataset, split, subset
        Their names.
    scores
        The scores by each measure, as far as they are defined.
    main, main_names
        The main score, None where it is not defined; and the measures whose score it is, the likeliest first:
        none where the benchmark does not say which of several measures is the main one.
    source
        The file.
    revision
        The revision of the dataset, where the file says it.
    outdated
        The old format that the file has, in words, if it has one.
    """

    run: str
    dataset: str
    split: str
    subset: str
    scores: Mapping[str, float]
    main: float | None
    main_names: tuple[str, ...]
    source: str
    revision: str = ""
    outdated: str = ""

    @property
    def part(self) -> tuple[str, str]:
        """Its split and subset."""
        return self.split, self.subset


class Wanted(NamedTuple):
    """Which scores of a benchmark are read.

    Attributes
    ----------
    measure
        Spellings of a measure, the first of which that any result has is taken; none for main scores.
    split, subset
        A split, by default test, or the mean over all where there is no test; a subset, by default the mean
        over all of them.
    all_splits
        Whether the mean is over all splits of a dataset, too, as MTEB's own: where all models have them.
    drop_datasets
        Whether datasets without the measure, the split or the subset are left out; else they are an error.
    """

    measure: tuple[str, ...] = ()
    split: str | None = None
    subset: str | None = None
    all_splits: bool = False
    drop_datasets: bool = False


class BenchmarkMeans(NamedTuple):
    """Means of models on datasets, which take the place of topics.

    Attributes
    ----------
    scores
        By one measure.
    measures
        The measure of each dataset.
    """

    scores: Scores
    measures: dict[str, str]

    def main_measures(self) -> dict[str, str]:
        """Return the measure of the main score of each dataset where these differ; else none."""
        known = set(self.measures.values()) != {MAIN_SCORE}
        return self.measures if self.scores.measures == (MAIN_SCORE,) and known else {}


def describe_main_scores(measures: Mapping[str, str]) -> str:
    """Return which dataset has which main score, in words."""
    named: dict[str, list[str]] = {}
    for dataset, measure in measures.items():
        named.setdefault(measure, []).append(dataset)
    parts = (f"{name} of {enumerate_names(held)}" for name, held in named.items())
    return f"{MAIN_SCORE} is {'; '.join(parts)}"


def parse_result(text: str, source: str, expected: str, before: int = 0) -> Mapping[str, Any]:
    """Return the object that JSON holds, null in place of NaN, which tools write for scores that are not defined.

    ``before`` is the number of lines before the text.
    """
    parsed = parse_json(
        text, source, expected=expected, before=before, parse_constant=lambda _: None
    )
    return JsonFile(source, expected, before + 1 if before else 0).object(parsed, "the record")


def defined_scores(entry: Mapping[str, Any]) -> dict[str, float]:
    """Return the keys of a record whose values are scores: numbers that are neither flags nor out of bounds."""
    return {
        key: float(value)
        for key, value in entry.items()
        if isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) <= LARGEST_SCORE
    }


def named_by_folders(results: Sequence[BenchmarkResult]) -> list[BenchmarkResult]:
    """Return results of models that are named after their folders, where their files do not name them.

    A folder of revisions, as MTEB has them below the model's, is none of a model.
    """
    unnamed = [one.run == name_from_path(one.source) for one in results]
    known = {
        one.run.replace("/", "__"): one.run
        for one, is_unnamed in zip(results, unnamed, strict=True)
        if not is_unnamed
    }
    folders = {
        one.source: _folder_name(one.source)
        for one, is_unnamed in zip(results, unnamed, strict=True)
        if is_unnamed
    }
    return [
        one._replace(run=known.get(folders[one.source], folders[one.source])) if is_unnamed else one
        for one, is_unnamed in zip(results, unnamed, strict=True)
    ]


def _folder_name(path: str) -> str:
    """Return the name of the folder of a model."""
    parts = Path(os.path.abspath(path)).parts[1:-1]
    return next((part for part in reversed(parts) if not _REVISION.fullmatch(part)), path)


def benchmark_means(results: Sequence[BenchmarkResult], wanted: Wanted) -> BenchmarkMeans:
    """Return the mean of each model on each dataset; NaN where a model lacks its split or a subset."""
    _check_repetition(results)
    by_dataset: dict[str, list[BenchmarkResult]] = {}
    for one in results:
        by_dataset.setdefault(one.dataset, []).append(one)
    by_dataset = dict(sorted(by_dataset.items()))
    measure = _find_measure(results, wanted.measure)
    kept = {
        name: held if wanted.all_splits and _has_same_parts(held) else _on_split(held, wanted.split)
        for name, held in by_dataset.items()
    }
    kept = _with_all(kept, by_dataset, f"split {wanted.split!r}", wanted)
    _say_splits(by_dataset, kept)
    chosen = {name: _on_subset(held, wanted.subset) for name, held in kept.items()}
    chosen = _with_all(chosen, kept, f"subset {wanted.subset!r}", wanted)
    if measure is not None:
        scored = {
            name: [one for one in held if measure in one.scores] for name, held in chosen.items()
        }
        chosen = _with_all(scored, chosen, f"measure {measure!r}", wanted)
    runs = tuple(dict.fromkeys(one.run for held in chosen.values() for one in held))
    values = np.full((len(chosen), len(runs), 1), np.nan)
    places = {run: place for place, run in enumerate(runs)}
    lacking: dict[str, list[str]] = {}
    for row, (name, held) in enumerate(chosen.items()):
        expected = {one.part for one in _on_subset(kept[name], wanted.subset)}
        own: dict[str, list[BenchmarkResult]] = {}
        for one in held:
            own.setdefault(one.run, []).append(one)
        for run, parts in own.items():
            if missing := sorted(expected - {one.part for one in parts}):
                subsets = enumerate_names([subset for _, subset in missing], _NAMED)
                lacking.setdefault(name, []).append(f"{run} ({subsets})")
                continue
            numbers = [one.main if measure is None else one.scores[measure] for one in parts]
            if None not in numbers:
                values[row, places[run], 0] = np.mean(np.array(numbers, float))
    for name, without in lacking.items():
        warn_caller(
            f"no score on {name} where subsets are missing: {enumerate_names(without, _NAMED)}; --subset "
            "reads one of them",
            InputWarning,
        )
    names = {
        name: _main_name(name, held) if measure is None else measure
        for name, held in chosen.items()
    }
    _say_versions([one for held in chosen.values() for one in held])
    there = ~np.isnan(values).all(axis=(1, 2))
    if not there.any():
        raise FormatError("every score is missing; expected a number", path=results[0].source)
    if not there.all():
        alone = [name for name, has in zip(chosen, there, strict=True) if not has]
        said = enumerate_names(alone, _NAMED)
        warn_caller(f"no model has a score on {said}: left out", InputWarning)
        names = {name: measure for name, measure in names.items() if name not in alone}
    title = names[next(iter(names))] if len(set(names.values())) == 1 else MAIN_SCORE
    return BenchmarkMeans(Scores(tuple(names), runs, (title,), values[there]), names)


def _check_repetition(results: Iterable[BenchmarkResult]) -> None:
    """Raise where a model has two results on one subset, such as of two of its revisions."""
    first: dict[tuple[str, ...], str] = {}
    for one in results:
        key = one[:4]
        if key in first:
            raise FormatError(
                f"a second result of {one.run!r} on {one.dataset}, split {one.split!r}, subset "
                f"{one.subset!r} (the first: {first[key]}); expected one, such as of one revision of each model",
                path=one.source,
            )
        first[key] = one.source


def _find_measure(results: Sequence[BenchmarkResult], spellings: tuple[str, ...]) -> str | None:
    """Return the name that a measure has in the results; None where main scores are wanted."""
    if not spellings or spellings[0] == MAIN_SCORE:
        return None
    for name in spellings:
        if any(name in one.scores for one in results):
            return name
    known = list(dict.fromkeys(name for one in results for name in one.scores))
    raise InvalidValueError(
        f"no result by {spellings[0]!r}; expected one of {enumerate_names(known, 12)}"
    )


def _has_same_parts(held: Sequence[BenchmarkResult]) -> bool:
    """Whether all models have the same splits and subsets of a dataset."""
    parts: dict[str, set[tuple[str, str]]] = {}
    for one in held:
        parts.setdefault(one.run, set()).add(one.part)
    first, *others = parts.values()
    return all(first == other for other in others)


def _on_split(held: Sequence[BenchmarkResult], split: str | None) -> list[BenchmarkResult]:
    """Return the results on one split of a dataset: by default on test, or on all where there is no test."""
    splits = {one.split for one in held}
    if split is None and TEST not in splits:
        return list(held)
    return [one for one in held if one.split == (split or TEST)]


def _on_subset(held: Sequence[BenchmarkResult], subset: str | None) -> list[BenchmarkResult]:
    return [one for one in held if subset is None or one.subset == subset]


def _with_all(
    found: Mapping[str, list[BenchmarkResult]],
    given: Mapping[str, Sequence[BenchmarkResult]],
    what: str,
    wanted: Wanted,
) -> dict[str, list[BenchmarkResult]]:
    """Return the datasets with results that were found; raise, or warn, where some have none.

    Parameters
    ----------
    found, given
        The results of each dataset that are wanted, and those that there are.
    what
        What the others lack, in words.
    wanted
        What was asked for.
    """
    kept = {name: held for name, held in found.items() if held}
    without = [name for name in given if name not in kept]
    if not without:
        return kept
    said = f"no {what} on {counted(len(without), 'dataset')} ({enumerate_names(without, 5)})"
    first = given[without[0]][0].source
    if not kept or not wanted.drop_datasets:
        hint = ", or --incomplete drop-datasets to leave them out" if kept else ""
        raise FormatError(f"{said}; expected it on every dataset{hint}", path=first)
    warn_caller(f"{said}: left out", InputWarning)
    return kept


def _say_splits(
    given: Mapping[str, Sequence[BenchmarkResult]], kept: Mapping[str, Sequence[BenchmarkResult]]
) -> None:
    """Warn of splits that are not read, and of models that lack the one that is."""
    several = {
        name: enumerate_names(splits, _NAMED)
        for name, held in kept.items()
        if len(splits := list(dict.fromkeys(one.split for one in held))) > 1
    }
    if several:
        parts = (f"{name} ({splits})" for name, splits in several.items())
        warn_caller(
            f"means over several splits, as MTEB has them: {enumerate_names(parts, _NAMED)}; confir leaderboard "
            "--means --split reads one",
            InputWarning,
        )
    others: dict[str, list[str]] = {}
    for name, held in kept.items():
        unread = sorted({one.split for one in given[name]} - {one.split for one in held})
        for split in unread:
            others.setdefault(split, []).append(name)
    if others:
        parts = (f"{split} of {enumerate_names(names, _NAMED)}" for split, names in others.items())
        warn_caller(
            f"splits that are not read: {'; '.join(parts)} (--split names the one to read)",
            ReadingWarning,
        )


def _main_name(name: str, held: Sequence[BenchmarkResult]) -> str:
    """Return the measure that the main scores of a dataset are by, as far as the results tell it."""
    for one in held:
        if one.main is None and not one.main_names:
            raise FormatError(
                f"{name} has {len(one.scores)} measures ({enumerate_names(one.scores, 5)}), none of them "
                "its main score; expected -m to name one",
                path=one.source,
            )
    named = [one.main_names for one in held if one.main is not None]
    common = set(named[0]).intersection(*named[1:]) if named else set()
    return next((each for each in named[0] if each in common), MAIN_SCORE) if common else MAIN_SCORE


def _say_versions(results: Sequence[BenchmarkResult]) -> None:
    """Warn of results in old formats, and of datasets whose results are of several revisions."""
    outdated: dict[str, dict[str, None]] = {}
    revisions: dict[str, set[str]] = {}
    for one in results:
        if one.outdated:
            outdated.setdefault(one.outdated, {})[one.source] = None
        if one.revision:
            revisions.setdefault(one.dataset, set()).add(one.revision)
    for words, files in outdated.items():
        first, more = next(iter(files)), len(files) - 1
        also = f" and {counted(more, 'other file')}" if more else ""
        warn_caller(f"{first}{also}: {words}", InputWarning)
    apart = [name for name, known in revisions.items() if len(known) > 1]
    if apart:
        warn_caller(
            f"results on different revisions of {enumerate_names(apart, _NAMED)}: their scores need not be "
            "comparable",
            InputWarning,
        )
