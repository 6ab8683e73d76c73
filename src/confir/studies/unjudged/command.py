"""``confir evaluate --show unjudged`` and ``ties``: bounds and estimates beside the means."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from confir.cli import options
from confir.cli.output import Output
from confir.errors import InvalidValueError, UnknownNameError

if TYPE_CHECKING:
    from confir.cli.input import Inputs
    from confir.data.result import Record
    from confir.data.scores import Scores
    from confir.intervals.interval import Interval
    from confir.measures.lists_and_scores import ListsAndScores
    from confir.measures.measure import Measure
    from confir.report.tables import RowBeside
    from confir.studies.unjudged.compared_means import ComparedMeans

# The options of these views, and how each bounds or estimates means, the default first.
DOUBT_OPTIONS = ("treatment", "pool_depth")
DOUBT_TREATMENTS = {"unjudged": ("bounds", "condensed", "resample"), "ties": ("bounds", "expected")}

# Under which names numbers are added to the records of means.
_COLUMNS = {
    ("unjudged", "bounds"): {"lowest": "lowest", "highest": "highest", "judged": "judged"},
    ("unjudged", "condensed"): {"estimate": "condensed", "judged": "judged"},
    ("unjudged", "resample"): {
        "estimate": "expected",
        "low": "expected_low",
        "high": "expected_high",
        "judged": "judged",
    },
    ("ties", "bounds"): {"lowest": "tie_lowest", "highest": "tie_highest"},
    ("ties", "expected"): {"expected": "tie_expected"},
}


class Beside(NamedTuple):
    """What stands beside means and their intervals.

    Attributes
    ----------
    rows
        Rows below each run of the table.
    note
        What they are.
    columns
        Numbers by run and measure, added to the records.
    draw
        Draws the chart of intervals and of what stands beside them; None where none is written.
    """

    rows: list[RowBeside]
    note: str
    columns: dict[tuple[str, str], Record]
    draw: Callable[[Interval], Any] | None


class Doubts(NamedTuple):
    """How --show unjudged or ties bounds or estimates means."""

    view: str
    treatment: str
    pool_depth: int | None

    @classmethod
    def of(
        cls, inputs: Inputs, view: str, treatment: str | None, pool_depth: int | None
    ) -> Doubts | None:
        """Return what a view asks for, None if it is another one; raise where it knows no such way."""
        ways = DOUBT_TREATMENTS.get(view)
        if ways is None:
            return None
        if treatment is not None and treatment not in ways:
            raise UnknownNameError(f"value of --treatment with --show {view}", treatment, ways)
        if pool_depth is not None and treatment == "condensed":
            raise InvalidValueError("--pool-depth is for --treatment bounds and resample")
        if inputs.scores:
            raise InvalidValueError(
                f"--show {view} needs the documents; expected QRELS RUN..., not --scores"
            )
        return cls(view, treatment or ways[0], pool_depth)

    def gather(
        self, inputs: Inputs, statistics: options.Statistics, output: Output, example: str
    ) -> tuple[Scores, Beside]:
        """Return the scores, and what stands beside their means."""
        from confir.cli.terminal import Progress
        from confir.defaults import CHART_ENDINGS
        from confir.measures.evaluation import chosen_measures, evaluate_lists
        from confir.measures.lists_and_scores import join_scores, usable_measures
        from confir.measures.parsing import parse_measures
        from confir.studies import find_function
        from confir.studies.ties.tie_bounds import TIE_NOTES
        from confir.studies.unjudged.table import rows_beside

        experiment = inputs.experiment(example=example)
        wanted = parse_measures(chosen_measures(experiment, None), experiment.rules.rel)
        usable_measures(wanted, self._objection)
        with Progress("reading runs", total=inputs.run_count, quiet=output.quiet) as progress:
            scores = inputs.state_bound(evaluate_lists(experiment, progress))
        lists = experiment.lists_by_topic()
        found = self._result(
            join_scores(lists, scores, experiment.rules, self._objection), statistics
        )
        draw = find_function(found, "chart")
        is_chart = output.output is not None and Path(output.output).suffix.lower() in CHART_ENDINGS
        names = _COLUMNS[self.view, self.treatment]
        return scores, Beside(
            rows_beside(found, self.treatment),
            TIE_NOTES[self.treatment] if self.view == "ties" else found.note(),
            {
                (record["run"], record["measure"]): {new: record[old] for old, new in names.items()}
                for record in found.to_records()
            },
            (lambda interval: draw(found, interval)) if draw and is_chart else None,
        )

    def _objection(self, measure: Measure) -> str | None:
        """Return why a measure does not go with the options; None where it does."""
        from confir.studies.ties.tie_bounds import no_order
        from confir.studies.unjudged.unjudged_bounds import no_rule
        from confir.studies.unjudged.unjudged_estimates import sees_judged

        if self.view == "ties":
            return no_order(measure)
        reasons = {"bounds": no_rule, "resample": sees_judged}
        return reasons[self.treatment](measure) if self.treatment in reasons else None

    def _result(self, scored: ListsAndScores, statistics: options.Statistics) -> ComparedMeans:
        """Return the bounds or estimates."""
        import numpy as np

        from confir.defaults import COMPLETIONS
        from confir.studies.ties.tie_bounds import bound_scored_ties
        from confir.studies.unjudged.unjudged_bounds import bound_scored_lists
        from confir.studies.unjudged.unjudged_estimates import condense, resample

        if self.view == "ties":
            return bound_scored_ties(scored)
        if self.treatment == "bounds":
            return bound_scored_lists(scored, self.pool_depth)
        if self.treatment == "condensed":
            return condense(scored, statistics.level)
        generator = np.random.default_rng(statistics.seed)
        return resample(scored, statistics.level, COMPLETIONS, generator, self.pool_depth)
