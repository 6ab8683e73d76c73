"""``confir evaluate --show unjudged`` and ``ties``: bounds and estimates beside the means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from confir.cli import options
from confir.errors import InvalidValueError, UnknownNameError

if TYPE_CHECKING:
    from confir.cli.input import Inputs
    from confir.data.result import Record
    from confir.data.scores import Scores
    from confir.intervals.interval import Interval
    from confir.measures.measure import Measure
    from confir.measures.scored_lists import ScoredLists
    from confir.report.tables import RowBeside

# Under which names numbers are added to the records of means.
_BOUNDS = {"lowest": "lowest", "highest": "highest", "judged": "judged"}
_CONDENSED = {"estimate": "condensed", "judged": "judged"}
_RESAMPLED = {
    "estimate": "expected",
    "low": "expected_low",
    "high": "expected_high",
    "judged": "judged",
}
_TIES = {
    "bounds": {"lowest": "tie_lowest", "highest": "tie_highest"},
    "expected": {"expected": "tie_expected"},
}


@dataclass(frozen=True, eq=False)
class Beside:
    """What stands beside means and their intervals.

    Attributes
    ----------
    rows
        Rows below each run of the table.
    notes
        What they are.
    columns
        Numbers by run and measure, added to the records.
    draw
        Draws the chart of intervals and of what stands beside them.
    """

    rows: tuple[RowBeside, ...]
    notes: tuple[str, ...]
    columns: dict[tuple[str, str], Record]
    draw: Callable[[Interval], Any] | None

    def records(self, means: Sequence[Record]) -> list[Record]:
        """Return records of means with what stands beside them."""
        return [{**record, **self.columns[record["run"], record["measure"]]} for record in means]

    def note(self, text: str) -> str:
        """Return the note of a table of means, and below it what the further rows are."""
        return "\n".join([text, *self.notes])

    def shown(self, interval: Interval) -> Any:
        """Return the chart where one is to be written, else the intervals."""
        return interval if self.draw is None else self.draw(interval)


# The options of these views, the views, and how each bounds or estimates means, the default first.
DOUBT_OPTIONS = ("treatment", "pool_depth")
DOUBTED = ("unjudged", "ties")
UNJUDGED = ("bounds", "condensed", "resample")
TIES = ("bounds", "expected")


class Doubts(NamedTuple):
    """How --show unjudged or ties bounds or estimates means; neither where the view is another."""

    unjudged: str | None
    pool_depth: int | None
    ties: str | None

    @classmethod
    def of(cls, view: str, treatment: str | None, pool_depth: int | None) -> Self:
        """Return what a view asks for; raise where it knows no such way."""
        ways = {"unjudged": UNJUDGED, "ties": TIES}.get(view)
        if ways is None:
            return cls(None, None, None)
        if treatment is not None and treatment not in ways:
            raise UnknownNameError(f"value of --treatment with --show {view}", treatment, ways)
        way = treatment or ways[0]
        if pool_depth is not None and way == "condensed":
            raise InvalidValueError("--pool-depth is for --treatment bounds and resample")
        return cls(*((way, pool_depth, None) if view == "unjudged" else (None, None, way)))

    def __bool__(self) -> bool:
        return self.unjudged is not None or self.ties is not None

    def check(self, inputs: Inputs) -> None:
        """Raise where there are no documents to look at."""
        if self and inputs.scores:
            view = "ties" if self.unjudged is None else "unjudged"
            raise InvalidValueError(
                f"--show {view} needs the documents; expected QRELS RUN..., not --scores"
            )

    def gather(
        self, inputs: Inputs, statistics: options.Statistics, output: options.Output, example: str
    ) -> tuple[Scores, Beside]:
        """Return the scores, and what stands beside their means."""
        from confir.cli.terminal import Progress
        from confir.measures.evaluation import chosen_measures, evaluate_lists
        from confir.measures.parsing import parse_measures
        from confir.measures.scored_lists import scored_lists, usable_measures

        experiment = inputs.experiment(example=example)
        wanted = parse_measures(chosen_measures(experiment, None), experiment.rules.rel)
        usable_measures(wanted, self._objection)
        with Progress("reading runs", total=inputs.run_count, quiet=output.quiet) as progress:
            scores = inputs.state_bound(evaluate_lists(experiment, progress))
        scored = scored_lists(
            experiment.lists_by_topic(), scores, experiment.rules, self._objection
        )
        found = self._of_ties(scored) if self.ties else self._of_unjudged(scored, statistics)
        return scores, found if _is_chart(output.output) else replace(found, draw=None)

    def _objection(self, measure: Measure) -> str | None:
        """Return why a measure does not go with the options; None where it does."""
        from confir.studies.ties.tie_bounds import no_order
        from confir.studies.unjudged.unjudged_bounds import no_rule
        from confir.studies.unjudged.unjudged_estimates import sees_judged

        reasons = {"bounds": no_rule, "resample": sees_judged}
        reason = reasons[self.unjudged](measure) if self.unjudged in reasons else None
        return reason or (no_order(measure) if self.ties is not None else None)

    def _of_unjudged(self, scored: ScoredLists, statistics: options.Statistics) -> Beside:
        import numpy as np

        from confir.defaults import COMPLETIONS
        from confir.studies.unjudged import chart, table
        from confir.studies.unjudged.unjudged_bounds import bound_scored_lists
        from confir.studies.unjudged.unjudged_estimates import condense, resample

        if self.unjudged == "bounds":
            bounds = bound_scored_lists(scored, self.pool_depth)
            return Beside(
                *(tuple(table.unjudged_rows(bounds)), (bounds.note(),)),
                _columns(bounds, _BOUNDS),
                lambda interval: chart.unjudged_bounds_chart(bounds, interval),
            )
        if self.unjudged == "condensed":
            estimate, names = condense(scored, statistics.level), _CONDENSED
        else:
            generator = np.random.default_rng(statistics.seed)
            estimate = resample(scored, statistics.level, COMPLETIONS, generator, self.pool_depth)
            names = _RESAMPLED
        return Beside(
            *(tuple(table.unjudged_rows(estimate)), (estimate.note(),)),
            _columns(estimate, names),
            lambda interval: chart.unjudged_estimate_chart(estimate, interval),
        )

    def _of_ties(self, scored: ScoredLists) -> Beside:
        from confir.studies.ties.chart import tie_chart
        from confir.studies.ties.table import tie_rows
        from confir.studies.ties.tie_bounds import TIE_NOTES, bound_scored_ties

        way = str(self.ties)
        ties = bound_scored_ties(scored)
        return Beside(
            *(tuple(tie_rows(ties, way)), (TIE_NOTES[way],)),
            _columns(ties, _TIES[way]),
            lambda interval: tie_chart(ties, interval),
        )


def _columns(result: Any, names: dict[str, str]) -> dict[tuple[str, str], Record]:
    """Return some numbers of a result by run and measure, under other names."""
    return {
        (record["run"], record["measure"]): {new: record[old] for old, new in names.items()}
        for record in result.to_records()
    }


def _is_chart(output: str | None) -> bool:
    from confir.defaults import CHART_ENDINGS

    return output is not None and Path(output).suffix.lower() in CHART_ENDINGS
