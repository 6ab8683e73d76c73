"""The runs of a reproduction: an original, its reproductions, and their baselines, each under a name of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from confir.arguments import as_list
from confir.data.formats.sources import as_runs, read_source
from confir.data.reading_rules import ReadingRules
from confir.data.run import Run
from confir.errors import (
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    counted,
    enumerate_names,
    warn_caller,
)
from confir.parallel import Progress


def read_compared_runs(
    original: Any,
    runs: Any,
    baseline_runs: Sequence[Any] | None,
    rules: ReadingRules,
    progress: Progress | None,
) -> tuple[Run, list[Run], list[Run]]:
    """Return the original, its reproductions, and two baseline runs or none.

    All have names of their own: reproductions are often called as the original.
    """
    reproductions = _read(runs, rules, progress)
    names = [run.name for run in reproductions]
    first = _read_one("original", original, rules, progress)
    first = replace(first, name=_other_name(first.name, names, "original"))
    baselines = [] if baseline_runs is None else as_list("baseline_runs", baseline_runs)
    if baselines and len(baselines) != 2:
        raise InvalidValueError(
            f"baseline_runs has {counted(len(baselines), 'run')}; expected the original baseline and "
            "its reproduction"
        )
    read: list[Run] = []
    for kind, source in zip(("baseline", "reproduced baseline"), baselines, strict=False):
        run = _read_one("baseline_runs", source, rules, progress)
        taken = [first.name, *names, *(one.name for one in read)]
        read.append(replace(run, name=_other_name(run.name, taken, kind)))
    return first, reproductions, read


def _read(source: Any, rules: ReadingRules, progress: Progress | None) -> list[Run]:
    """Return the runs that a source names."""
    found = []
    for run in as_runs(source, rules.reading, rules.name_by):
        found.append(read_source(run, rules.name_by))
        if progress is not None:
            progress(1)
    return found


def _read_one(name: str, source: Any, rules: ReadingRules, progress: Progress | None) -> Run:
    """Return the one run that a source names."""
    found = _read(source, rules, progress)
    if len(found) != 1:
        raise InvalidValueError(
            f"{name} stands for {len(found)} runs ({enumerate_names([run.name for run in found], 5)}); "
            "expected one"
        )
    return found[0]


def _other_name(name: str, taken: Sequence[str], kind: str) -> str:
    """Return a name that no other run has: its own, or that with its kind."""
    while name in taken:
        name = f"{name} ({kind})"
    return name


def check_shared_topics(original: Run, runs: Sequence[Run]) -> None:
    """Raise where two runs share no topic; warn where one lacks some of the other's."""
    for run in runs:
        if not set(original.topics) & set(run.topics):
            raise TopicMismatchError(
                f"runs {original.name!r} and {run.name!r} have no topic in common; expected runs on the "
                "same topics"
            )
        for one, other in ((original, run), (run, original)):
            lacking = sorted(set(other.topics) - set(one.topics))
            if lacking:
                warn_caller(
                    f"run {one.name!r} lacks {counted(len(lacking), 'topic')} "
                    f"({enumerate_names(lacking, 5)}) of {other.name!r}: its lists there are empty",
                    TopicWarning,
                )
