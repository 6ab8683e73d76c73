"""Which measures and runs a command uses: those of -m, --select and --top, and the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from confir.arrays import best_first
from confir.data.files import STDIN
from confir.data.formats.format import Reading, RunSource
from confir.data.formats.sources import as_runs, read_source
from confir.data.run import Run
from confir.errors import InvalidValueError, UnknownNameError, warn_caller

if TYPE_CHECKING:
    from confir.data.scores import Scores
    from confir.measures.score_summary import ScoreSummary

AnyScores = TypeVar("AnyScores", "Scores", "ScoreSummary")

# A run, and the file that it comes from.
Found = tuple[str, Run | RunSource]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RunChoice:
    """The runs that RUN... stands for, and the patterns that choose among them.

    Attributes
    ----------
    found
        All runs, with the files that they come from.
    patterns
        What the user gave as --select.
    are_named
        Whether the names of all runs are known; files that may name several are read for that.
    """

    found: Sequence[Found]
    patterns: Sequence[str] = ()
    are_named: bool = False

    def chosen(self, baseline: str | None = None) -> list[Found]:
        """Return the runs that the patterns fit, and the baseline: a run, or another file."""
        found = list(self.found)
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
                return run_name(source) if self.are_named else runs[place]
        return None


def read_names(files: Sequence[RunSource], reading: Reading, *, by_tag: bool) -> list[Found]:
    """Return the runs in files, with their files; a file is read where only its content names the run."""
    found = [(file.path, run) for file in files for run in as_runs([file], reading)]
    if not by_tag:
        return found
    return [(path, run if run.name else read_source(run, "tag")) for path, run in found]


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


def highest_runs(scores: AnyScores, most: int, baseline: str | None) -> AnyScores:
    """Return the scores of the runs with the highest means, and of the baseline; warn of the choice."""
    kept = {baseline, *(scores.runs[place] for place in best_first(scores.mean()[:, 0])[:most])}
    chosen = scores.select(run=[run for run in scores.runs if run in kept])
    warn_of_choice(len(chosen.runs), len(scores.runs))
    return chosen


def warn_of_choice(chosen: int, runs: int, over: str = "topics") -> None:
    """Warn where the best runs were chosen by the scores that conclusions are drawn from."""
    if chosen < runs:
        warn_caller(
            f"--top chose {chosen} of {runs} runs by the same {over}: their means are likely too high, "
            "and no verdict counts the runs left out"
        )


def select_measures(scores: AnyScores, measures: Sequence[str]) -> AnyScores:
    """Return the scores by some measures, which may go by other names in the table."""
    from confir.measures.parsing import canonical_name

    if not measures:
        return scores
    known = {canonical_name(name): name for name in scores.measures}
    known |= {name: name for name in scores.measures}
    chosen = []
    for name in measures:
        found = known.get(name) or known.get(canonical_name(name))
        if found is None:
            raise UnknownNameError("measure in the score table", name, scores.measures)
        chosen.append(found)
    return scores.select(measure=list(dict.fromkeys(chosen)))


def check_single(measures: Sequence[str]) -> None:
    """Raise where scores are by several measures, for a study of one."""
    if len(measures) > 1:
        raise InvalidValueError(
            f"the scores are by {len(measures)} measures ({', '.join(measures)}); name one of them "
            "with -m"
        )
