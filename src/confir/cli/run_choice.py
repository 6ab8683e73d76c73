"""The runs that a command uses: those that --select names, and the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from confir.data.files import STDIN
from confir.data.formats.objects import as_runs
from confir.data.formats.run_readers import read_source
from confir.data.formats.run_sources import Reading, RunSource, find_runs
from confir.data.run import Run
from confir.errors import UnknownNameError

# A run, and the file that it comes from.
Found = tuple[str, Run | RunSource]


@dataclass(frozen=True, eq=False, repr=False)
class RunChoice:
    """The runs that RUN... stands for, and the patterns that choose among them.

    Attributes
    ----------
    runs, patterns
        What the user gave as RUN... and --select.
    reading
        Which parts of files are read.
    by_tag
        Whether runs are named by their tags.
    names_needed
        Whether runs are read where only that tells their names.
    """

    runs: Sequence[str]
    patterns: Sequence[str]
    reading: Reading
    by_tag: bool
    names_needed: bool

    @cached_property
    def _found(self) -> list[Found]:
        """All runs, with the files that they come from."""
        files = find_runs(self.runs)
        if not self.names_needed:
            return [(file.path, file) for file in files]
        found = [(file.path, run) for file in files for run in as_runs([file], self.reading)]
        if not self.by_tag:
            return found
        return [(path, run if run.name else read_source(run, "tag")) for path, run in found]

    def chosen(self, baseline: str | None = None) -> list[Found]:
        """Return the runs that the patterns fit, and the baseline: a run, or another file."""
        found = self._found
        known = [
            baseline is not None
            and (baseline in (run_name(source), path) or is_file(path, baseline))
            for path, source in found
        ]
        if self.patterns and found:
            chosen = set(fitting_names(self.patterns, [run_name(source) for _, source in found]))
            kept = zip(known, found, strict=True)
            found = [one for is_known, one in kept if is_known or run_name(one[1]) in chosen]
        if baseline is None or any(known) or not Path(baseline).is_file():
            return found
        return [(baseline, RunSource(baseline)), *found]

    def name_of(self, baseline: str, runs: Sequence[str]) -> str | None:
        """Return the name that a baseline's file has among the runs; None where it has none."""
        for place, (path, source) in enumerate(self.chosen(baseline)):
            if is_file(path, baseline):
                return run_name(source) if self.names_needed else runs[place]
        return None


def fitting_names(patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the names that patterns such as ``bm25*`` fit; each must fit some."""
    chosen: list[str] = []
    for pattern in patterns:
        fitting = [name for name in names if name == pattern or fnmatchcase(name, pattern)]
        if not fitting:
            raise UnknownNameError("run", pattern, names)
        chosen += fitting
    return chosen


def run_name(source: Run | RunSource) -> str:
    """Return a run's name, as far as it is known without reading its file."""
    return source.name if isinstance(source, Run) else source.label()


def is_file(path: str, baseline: str) -> bool:
    """Whether a run comes from the baseline's file; standard input is no file."""
    return path != STDIN and Path(baseline).is_file() and Path(path).samefile(baseline)
