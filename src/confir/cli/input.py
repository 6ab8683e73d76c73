"""The input of a command: the options that name it, and the data read from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from confir.cli import options
from confir.cli.explicit_options import refuse_options
from confir.errors import InvalidValueError, UnknownNameError, enumerate_names

if TYPE_CHECKING:
    from confir.data.experiment import Experiment
    from confir.data.formats.trec_files import RunSource
    from confir.data.scores import Scores


@dataclass(frozen=True)
class Inputs:
    """Qrels and runs, or score tables; the measures; and the rules for reading them."""

    context: typer.Context
    qrels: options.QrelsArgument = None
    runs: options.RunsArgument = None
    scores: options.ScoresOption = None
    measure: options.MeasuresOption = None
    rel: options.RelOption = 1
    depth: options.DepthOption = None
    missing: options.MissingOption = "zero"
    intents: options.IntentsOption = None
    name_by: options.NameByOption = "file"
    tie_precision: options.TiePrecisionOption = "double"
    bounded: options.BoundedOption = None

    @cached_property
    def sources(self) -> list[RunSource]:
        """The files that RUN... stands for, found once."""
        from confir.data.formats.trec_files import find_runs

        return find_runs(self.runs or [])

    def experiment(
        self,
        measures: Sequence[str] | None = None,
        *,
        baseline: str | None = None,
        example: str,
        instead: str = "",
    ) -> Experiment:
        """Return what is to be read: qrels, runs and rules.

        Parameters
        ----------
        measures
            In place of those that -m names.
        baseline
            A run, by its name or its file, which may be one more.
        example, instead
            Said where there is nothing to read: how to call the command, and what else it takes.
        """
        from confir.data.experiment import Experiment

        if self.qrels is None or not self.runs:
            raise InvalidValueError(
                f"expected QRELS and at least one RUN{instead}; for example: {example}"
            )
        rules = {name: getattr(self, name) for name in reading_options()}
        named = list(measures or self.measure or []) or None
        return Experiment(self.qrels, self._with_baseline(baseline), named, **rules)

    def load_scores(
        self,
        measures: Sequence[str] | None = None,
        *,
        baseline: str | None = None,
        quiet: bool,
        example: str,
    ) -> Scores:
        """Return the scores to work with: read from tables, or computed from runs.

        The parameters are those of `experiment`.
        """
        if self.scores:
            return self._read_tables(measures)
        from confir.cli.terminal import Progress
        from confir.measures.evaluation import evaluate

        experiment = self.experiment(
            measures, baseline=baseline, example=example, instead=", or --scores FILE"
        )
        total = len(self._with_baseline(baseline))
        with Progress("reading runs", total=total, quiet=quiet) as progress:
            return self.state_bound(evaluate(experiment, progress=progress))

    def find_baseline(self, baseline: str | None, runs: Sequence[str]) -> str | None:
        """Return the name that a baseline, which may be given as a file, has among the runs."""
        from confir.data.formats.trec_files import name_from_path

        if baseline is None or baseline in runs:
            return baseline
        if self.runs and Path(baseline).is_file():
            for place, source in enumerate(self._with_baseline(baseline)):
                if _is_file(source.path, baseline):
                    return runs[place]
        if name_from_path(baseline) in runs:
            return name_from_path(baseline)
        raise UnknownNameError("run", baseline, runs)

    def state_bound(self, scores: Scores) -> Scores:
        """Return scores whose unknown measures lie in [0, 1] or not, as --bounded says."""
        from confir.measures.bounds import definition_bound

        if self.bounded is None:
            return scores
        if all(definition_bound(name) is not None for name in scores.measures):
            raise InvalidValueError(
                "--bounded/--unbounded is for measures that confir does not know; it knows "
                f"{enumerate_names(scores.measures, 5)}"
            )
        return replace(scores, bounded=self.bounded)

    def files(self) -> list[str]:
        """Return what is read, as it was named."""
        qrels = [] if self.qrels is None else [self.qrels]
        return [*qrels, *(self.runs or ()), *(self.scores or ())]

    def _read_tables(self, measures: Sequence[str] | None) -> Scores:
        from confir.data.common_topics import warn_of_missing_scores
        from confir.data.tables.score_files import read_scores
        from confir.measures.bounds import clip_to_range

        if self.qrels is not None:
            raise InvalidValueError("--scores stands in for QRELS RUN...; give one or the other")
        refuse_options(
            self.context,
            reading_options(),
            "is for QRELS RUN...; a score table is read as it is",
        )
        named = self.measure if measures is None else measures
        table = select_measures(read_scores(list(self.scores or ())), named or [])
        warn_of_missing_scores(table)
        return clip_to_range(self.state_bound(table))

    def _with_baseline(self, baseline: str | None) -> list[RunSource]:
        """Return the runs, and before them a baseline that is a file and not among them yet."""
        from confir.data.formats.trec_files import RunSource

        if baseline is None or not Path(baseline).is_file():
            return self.sources
        known = any(
            baseline in (source.label(), source.path) or _is_file(source.path, baseline)
            for source in self.sources
        )
        return self.sources if known else [RunSource(baseline), *self.sources]


def reading_options() -> tuple[str, ...]:
    """Return the options that say how QRELS RUN... become scores."""
    from confir.data.experiment import ReadingRules

    return tuple(field.name for field in fields(ReadingRules))


def select_measures(scores: Scores, measures: Sequence[str]) -> Scores:
    """Return the scores by some measures, which may go by other names in the table."""
    from confir.measures.catalogue import canonical_name

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


def check_choice(option: str, value: str, choices: Sequence[str]) -> None:
    """Raise where the value of an option is none of its choices."""
    if value not in choices:
        raise UnknownNameError(f"value of {option}", value, choices)


def _is_file(path: str, baseline: str) -> bool:
    """Whether a run comes from the baseline's file; standard input is no file."""
    from confir.data.files import STDIN

    return path != STDIN and Path(path).samefile(baseline)
