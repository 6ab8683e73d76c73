"""The input of a command: the options that name it, and the data read from it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from confir.cli import options
from confir.cli.input_options import DESIGN, InputOptions
from confir.cli.parameters import is_given, refuse_options
from confir.defaults import SEED
from confir.errors import (
    ConfirWarning,
    FormatError,
    InvalidValueError,
    UnknownNameError,
    enumerate_names,
)

if TYPE_CHECKING:
    from confir.cli.selection import AnyScores, RunChoice
    from confir.data.experiment import Experiment
    from confir.data.formats.format import RunSource
    from confir.data.run import Run
    from confir.data.sampling_designs.topic_groups import TopicGroups
    from confir.data.scores import Scores
    from confir.measures.score_summary import ScoreSummary


@dataclass(frozen=True, eq=False, repr=False)
class Inputs(InputOptions):
    """What a command reads: scores, or an experiment to evaluate."""

    def __post_init__(self) -> None:
        # before any work: may what is no file be a mistake?
        runs, scores = self.runs or [], self.scores or []
        for given in filter(None, (self.qrels, *runs, *scores)):
            if not os.path.lexists(given):
                from confir.cli.file_checks import check_name

                check_name(given, runs, scores, self.measure or [])

    @cached_property
    def sources(self) -> list[Run | RunSource]:
        """The runs that RUN... stands for, found once, as far as --select chooses them."""
        return [source for _, source in self._choice.chosen()]

    @cached_property
    def _choice(self) -> RunChoice:
        """The runs that RUN... stands for, found once."""
        from confir.cli.selection import RunChoice, read_names
        from confir.data.formats.format import Reading
        from confir.data.formats.sources import find_runs

        files = find_runs(self.runs or [])
        if not (self.select or self.top is not None):
            return RunChoice([(file.path, file) for file in files])
        reading = Reading(self.subset, self.split, self.download)
        named = read_names(files, reading, by_tag=self.name_by == "tag")
        return RunChoice(named, self.select or [], are_named=True)

    @property
    def run_count(self) -> int:
        """How many runs are used, at most."""
        return min(len(self.sources), self.top or len(self.sources))

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

        given = self._given(measures, baseline, example, instead)
        return Experiment(**given if self.top is None else self._best(given, baseline))

    def _given(
        self, measures: Sequence[str] | None, baseline: str | None, example: str, instead: str
    ) -> dict[str, Any]:
        """Return the keywords of `Experiment` and `evaluate`; the parameters are as above."""
        if self.columns is not None:
            raise InvalidValueError("--columns is for score tables; expected --scores FILE")
        if self.qrels is None or not self.runs:
            raise InvalidValueError(
                f"expected QRELS and at least one RUN{instead}; for example: {example}"
            )
        judged: dict[str, Any] = {}
        if self.check_human():
            judged = {"human": self.human, "human_sample": self.human_sample}
            judged["rng"] = self.context.params.get("seed", SEED)
        choice = self._choice
        found = choice.found if baseline is None and not self.select else choice.chosen(baseline)
        return {
            "qrels": self.qrels,
            "runs": [source for _, source in found],
            "measures": list(measures or self.measure or []) or None,
            **self.reading_rules(),
            **judged,
        }

    def reading_rules(self) -> dict[str, Any]:
        """Return how QRELS RUN... become scores, as keywords; missing ones at their worst are filled later."""
        given = {name: getattr(self, name) for name in reading_options()}
        return given | {"missing": {None: "zero", "worst": "drop"}.get(self.missing, self.missing)}

    def refuse_worst(self, other: str) -> None:
        """Raise where missing scores are to have their worst value, and something else does not allow it."""
        if self.missing == "worst":
            raise InvalidValueError(f"--missing worst cannot be combined with {other}")

    def check_human(self) -> bool:
        """Return whether human judgements are given; raise where their sample is not described."""
        if self.human is None and self.human_sample is None:
            return False
        from confir.data.sampling_designs.judged_scores import (
            HUMAN_SAMPLES,
            RANDOM_DOCUMENTS,
            check_sample,
        )

        if self.human is None:
            raise InvalidValueError(
                "--human-sample is for human judgements: expected --human QRELS"
            )
        if self.human_sample is None:
            raise InvalidValueError(
                "--human needs --human-sample: how the human-judged topics were sampled; expected "
                f"{enumerate_names(HUMAN_SAMPLES)}"
            )
        if check_sample(self.human_sample) == RANDOM_DOCUMENTS:
            reason = f"cannot be combined with --human-sample {RANDOM_DOCUMENTS}"
            refuse_options(self.context, ["scores"], reason)
        return True

    def load_scores(
        self,
        measures: Sequence[str] | None = None,
        *,
        baseline: str | None = None,
        quiet: bool,
        example: str,
    ) -> Scores:
        """Return the scores to work with: read from tables, or computed from runs.

        With --human, those by human judgements with the model's; of repeats, those of systems. The
        parameters are those of `experiment`.
        """
        run = baseline if self.repeats is None else None  # it names a system
        if not self.scores:
            scores: Scores = self._evaluated(measures, run, quiet=quiet, example=example)
        else:
            from confir.data.score_files import read_scores

            self._check_tables()
            scores = self._choose_scores(measures, run, self._read_tables(measures))
            if self.check_human():
                human = read_scores(str(self.human), columns=self.columns)
                scores = scores.with_human(human, str(self.human_sample))
        if self.repeats is not None:
            scores = scores.with_repeats(options.pattern_of(self.repeats))
        return scores

    def load_scores_or_summary(
        self,
        measures: Sequence[str] | None = None,
        *,
        baseline: str | None = None,
        quiet: bool,
        example: str,
    ) -> Scores | ScoreSummary:
        """Return what `load_scores` does; of long tables and many topics in Parquet, a summary."""
        files = self.scores or ()
        if not files and self.repeats is None:
            found: Scores | ScoreSummary = self._evaluated(
                measures, baseline, quiet=quiet, example=example, may_summarise=True
            )
            return found
        every_score = self.columns is not None or self.human is not None or self.repeats is not None
        every_score |= self.missing not in (None, "drop") or self._names_task_scores(measures)
        if len(files) == 1 and not every_score:
            from confir.measures.score_sources import read_if_file

            self._check_tables()
            rated: Any = read_if_file(files[0])
            if not isinstance(rated, str):
                chosen: Scores | ScoreSummary = self._choose_scores(measures, baseline, rated)
                return chosen
        return self.load_scores(measures, baseline=baseline, quiet=quiet, example=example)

    def _evaluated(
        self,
        measures: Sequence[str] | None,
        baseline: str | None,
        *,
        quiet: bool,
        example: str,
        may_summarise: bool = False,
    ) -> Any:
        """Return the scores of RUN..., or their summary where it may be one."""
        from confir.cli.progress import Progress
        from confir.data.formats.sources import find_run_datasets
        from confir.measures.evaluation import evaluate

        given = self._given(measures, baseline, example, ", or --scores FILE")
        parted = find_run_datasets(given["runs"])
        may_summarise &= self.missing != "worst"
        found = self._summarised(given, quiet=quiet) if parted and may_summarise else None
        if found is None:
            total = None if parted else len(given["runs"])  # into how many parts, is not known yet
            with nullcontext() if quiet else Progress("reading runs", total=total) as progress:
                found = evaluate(**given, progress=progress)
        if self.bounded is None and self.top is None:
            return found
        return self._top_runs(self.state_bound(found), baseline)

    def _summarised(self, given: dict[str, Any], *, quiet: bool) -> Any:
        """Return the scores of runs in Parquet datasets, or their summary; None where they need all."""
        from confir.cli.progress import Progress
        from confir.data.experiment import Experiment
        from confir.measures.evaluation import chosen_measures
        from confir.measures.partitioned_evaluation import evaluate_partitions
        from confir.measures.score_sources import MOST_HELD_SCORES

        experiment = Experiment(**given)
        if not experiment.is_partitioned:
            return None
        wanted = chosen_measures(experiment)
        parted = evaluate_partitions(experiment, wanted)
        total = parted.parts
        with nullcontext() if quiet else Progress("evaluating parts", total=total) as progress:
            return parted.hold_or_summarise(MOST_HELD_SCORES, progress)

    def statistics_of(
        self, scores: Scores | ScoreSummary, statistics: options.Statistics
    ) -> options.Statistics:
        """Return the statistics, with the replicates that suit the scores where none were asked for."""
        if is_given(self.context, "replicates"):
            return statistics
        return replace(statistics, replicates=scores.default_replicates)

    def find_baseline(self, baseline: str | None, runs: Sequence[str]) -> str | None:
        """Return the name that a baseline, which may be given as a file, has among the runs."""
        if baseline is None or baseline in runs:
            return baseline
        from confir.data.files import name_from_path

        if self.runs and Path(baseline).is_file():
            named = self._choice.name_of(baseline, runs)
            if named is not None:
                return named
        if name_from_path(baseline) in runs:
            return name_from_path(baseline)
        raise UnknownNameError("run", baseline, runs)

    def state_bound(self, scores: AnyScores) -> AnyScores:
        """Return scores whose unknown measures lie in [0, 1] or not, as --bounded says."""
        if self.bounded is None:
            return scores
        from confir.measures.parsing import definition_bound

        if all(definition_bound(name) is not None for name in scores.measures):
            raise InvalidValueError(
                "--bounded/--unbounded is for measures that confir does not know; it knows "
                f"{enumerate_names(scores.measures, 5)}"
            )
        return replace(scores, bounded=self.bounded)

    def grouped(self, by: str) -> tuple[Self, TopicGroups]:
        """Return the inputs without a design that only groups topics, and the groups in a column."""
        from confir.data.sampling_designs.design import ROLES, has_design
        from confir.data.sampling_designs.topic_groups import read_topic_groups

        if self.design is None:
            raise InvalidValueError(
                f"--by {by} names a column of a table of topics; expected --design FILE, with columns "
                f"topic and {by}"
            )
        groups = read_topic_groups(by, self.design)
        drawn = has_design(self.design, {role: getattr(self, role) for role in ROLES})
        return self if drawn else replace(self, design=None), groups

    def files(self) -> list[str]:
        """Return what is read, as it was named."""
        qrels = [] if self.qrels is None else [self.qrels]
        human = [] if self.human is None else [self.human]
        return [*qrels, *(self.runs or ()), *(self.scores or ()), *human]

    def _names_task_scores(self, measures: Sequence[str] | None) -> bool:
        """Whether measures of results of MTEB are named, which are read as main scores otherwise."""
        from confir.data.formats.mteb import is_result

        named = self.measure if measures is None else measures
        first = next(iter(self.scores or ()), None)
        return bool(named) and self.columns is None and is_result(first)

    def _read_tables(self, measures: Sequence[str] | None) -> Scores:
        """Return the scores in tables, or in results of MTEB by the measures that are named."""
        from confir.data.score_files import read_scores, scores_from_table

        paths = list(self.scores or ())
        if not self._names_task_scores(measures):
            return read_scores(paths, columns=self.columns)
        from confir.data.formats.mteb import read_task_scores
        from confir.measures.parsing import canonical_name

        named = (self.measure if measures is None else measures) or []
        spellings = [(name, canonical_name(name)) for name in named]
        return scores_from_table(read_task_scores(paths, spellings))

    def _check_tables(self) -> None:
        """Raise where options do not go with score tables."""
        if self.qrels is not None:
            raise InvalidValueError("--scores stands in for QRELS RUN...; give one or the other")
        refuse_options(
            self.context,
            [name for name in reading_options() if name not in (*DESIGN, "missing")],
            "is for QRELS RUN...; a score table is read as it is",
        )

    def _choose_scores(
        self, measures: Sequence[str] | None, baseline: str | None, table: AnyScores
    ) -> AnyScores:
        """Return the scores of a table that are asked for."""
        from confir.cli.selection import fitting_names, select_measures
        from confir.data.reading_rules import ReadingRules
        from confir.measures.parsing import bounded_measures

        named = self.measure if measures is None else measures
        table = select_measures(table, named or [])
        rules = ReadingRules(**{name: getattr(self, name) for name in DESIGN})
        table = rules.with_design(table)
        if self.select:
            chosen: list[str] = fitting_names(self.select, table.runs)
            table = table.select(run=[run for run in table.runs if run in {*chosen, baseline}])
        if self.missing in ("zero", "error"):
            from confir.measures.missing_scores import treat_missing

            held: Any = table.listed()
            held = treat_missing(held, str(self.missing))
            table = held
        table = self._top_runs(table, baseline)
        if self.missing != "worst":  # which says so itself
            table = table.warning_of_missing_topics()
        table = self.state_bound(table)
        try:
            return table.clipped(bounded_measures)
        except FormatError:
            from confir.data.score_files import raise_outside

            bounded = set(compress(table.measures, bounded_measures(table).tolist()))
            raise_outside(list(self.scores or ()), self.columns, bounded, set(table.runs))
            raise

    def _top_runs(self, scores: AnyScores, baseline: str | None) -> AnyScores:
        """Return the scores of the runs that --top chooses, and of the baseline; warn of the choice."""
        if self.top is None or self.top >= len(scores.runs):
            return scores
        from confir.cli.selection import highest_runs

        return highest_runs(scores, self.top, self.find_baseline(baseline, scores.runs))

    def _best(self, given: dict[str, Any], baseline: str | None) -> dict[str, Any]:
        """Return the keywords of `Experiment` with the runs that --top chooses, read once."""
        from confir.cli.selection import warn_of_choice
        from confir.data.experiment import Experiment
        from confir.data.formats.sources import read_source
        from confir.measures.evaluation import evaluate

        runs = [read_source(run, given["name_by"]) for run in given["runs"]]
        whole = Experiment(**{**given, "runs": runs})
        judged = whole.qrels  # which warns here
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConfirWarning)  # repeated for the runs that are used
            kept = self._top_runs(evaluate(whole), baseline).runs
        warn_of_choice(len(kept), len(runs))
        return {**given, "qrels": judged, "runs": [run for run in runs if run.name in kept]}


def reading_options() -> tuple[str, ...]:
    """Return the options that say how QRELS RUN... become scores."""
    from confir.data.reading_rules import ReadingRules

    return tuple(field.name for field in fields(ReadingRules) if field.init)
