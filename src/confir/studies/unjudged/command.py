"""``confir evaluate --show unjudged``: means with bounds or estimates of what unjudged documents could do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from confir.cli import options
from confir.studies.unjudged.compared_means_command import ComparedMeansOutput, ComparedMeansView

if TYPE_CHECKING:
    from confir.cli.input import Inputs
    from confir.cli.output import Output
    from confir.data.scores import Scores
    from confir.intervals.interval import Interval
    from confir.measures.lists_and_scores import ListsAndScores
    from confir.measures.measure import Measure
    from confir.studies.unjudged.compared_means import ComparedMeans


class Missing:
    """What missing scores could do to the means."""

    view = "missing"

    @staticmethod
    def gather(
        inputs: Inputs,
        bounds: Sequence[str],
        statistics: options.Statistics,
        output: Output,
        example: str,
    ) -> tuple[Scores, ComparedMeansOutput]:
        """Return the scores, and what is shown with their means."""
        from confir.measures.missing_scores import parse_ranges
        from confir.report.result_chart import draw_intervals
        from confir.studies.unjudged.missing_bounds import bound_missing
        from confir.studies.unjudged.table import rows_beside

        scores = replace(inputs, missing="drop").load_scores(quiet=output.quiet, example=example)
        found = bound_missing(scores, bounds=parse_ranges(bounds), **statistics.arguments)
        names = ("missing", "lowest", "highest", "bounds_low", "bounds_high")
        columns = {
            (record["run"], record["measure"]): {name: record[name] for name in names}
            for record in found.to_records()
        }
        rows = [
            *rows_beside("missing", found, ("missing",)),
            *rows_beside("bounds", found, ("lowest", "highest")),
            *rows_beside("with bounds", found, ("bounds_low", "bounds_high")),
        ]

        def draw(interval: Interval) -> Any:
            return draw_intervals(found.interval_chart(interval))

        return scores, ComparedMeansOutput(
            rows, found.note(), columns, draw if output.is_chart else None
        )


class Unjudged(ComparedMeansView):
    """What unjudged documents could do to the means."""

    __slots__ = ()

    view = "unjudged"
    treatments: ClassVar = {
        "bounds": {"lowest": "lowest", "highest": "highest", "judged": "judged"},
        "condensed": {"estimate": "condensed", "judged": "judged"},
        "resample": {
            "estimate": "expected",
            "low": "expected_low",
            "high": "expected_high",
            "judged": "judged",
        },
    }

    def objection(self, measure: Measure) -> str | None:
        """Return why a measure does not go with the treatment; None where it does."""
        from confir.studies.unjudged.unjudged_bounds import no_rule
        from confir.studies.unjudged.unjudged_estimates import no_draws

        reasons = {"bounds": no_rule, "resample": no_draws}
        return reasons[self.treatment](measure) if self.treatment in reasons else None

    def result(self, scored: ListsAndScores, statistics: options.Statistics) -> ComparedMeans:
        """Return the bounds over all judgements, or an estimate."""
        import numpy as np

        from confir.defaults import COMPLETIONS
        from confir.studies.unjudged.unjudged_bounds import bound_scored_lists
        from confir.studies.unjudged.unjudged_estimates import condense, resample

        if self.treatment == "bounds":
            return bound_scored_lists(scored, self.pool_depth)
        if self.treatment == "condensed":
            return condense(scored, statistics.level)
        generator = np.random.default_rng(statistics.seed)
        return resample(scored, statistics.level, COMPLETIONS, generator, self.pool_depth)

    @property
    def label(self) -> str:
        """What the row of bounds or estimates is called."""
        return self.view if self.treatment == "bounds" else self.treatment
