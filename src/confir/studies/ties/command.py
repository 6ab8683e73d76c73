"""``confir evaluate --show ties``: means with bounds over the orders of tied documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from confir.cli import options
from confir.studies.unjudged.compared_means_command import ComparedMeansView

if TYPE_CHECKING:
    from confir.measures.lists_and_scores import ListsAndScores
    from confir.measures.measure import Measure
    from confir.studies.unjudged.compared_means import ComparedMeans


class Ties(ComparedMeansView):
    """What the order of documents with equal scores could do to the means."""

    __slots__ = ()

    view = "ties"
    treatments: ClassVar = {
        "bounds": {"lowest": "tie_lowest", "highest": "tie_highest"},
        "expected": {"expected": "tie_expected"},
    }

    def objection(self, measure: Measure) -> str | None:
        """Return why a measure has no bounds over ties; None where it has."""
        from confir.studies.ties.tie_bounds import no_order

        return no_order(measure)

    def result(self, scored: ListsAndScores, _: options.Statistics) -> ComparedMeans:
        """Return the bounds over all orders."""
        from confir.studies.ties.tie_bounds import bound_scored_ties

        return bound_scored_ties(scored)

    def note(self, _: ComparedMeans) -> str:
        """Return what the row is."""
        from confir.studies.ties.tie_bounds import TIE_NOTES

        return TIE_NOTES[self.treatment]
