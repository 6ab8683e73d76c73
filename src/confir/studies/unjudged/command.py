"""``confir evaluate --show unjudged``: means with bounds or estimates of what unjudged documents could do."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from confir.cli import options
from confir.studies.unjudged.compared_means_command import ComparedMeansView

if TYPE_CHECKING:
    from confir.measures.lists_and_scores import ListsAndScores
    from confir.measures.measure import Measure
    from confir.studies.unjudged.compared_means import ComparedMeans


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
