"""Quality against cost in the report, where the costs of the runs are given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from confir.errors import counted
from confir.report.contents import Contents, MeasureContents
from confir.report.sections import Section, Sentence, Verb
from confir.studies.tradeoff.cost_comparison import CostComparison, compare_costs


def _context(contents: Contents) -> dict[str, Any]:
    found: CostComparison | None = contents.measures[0]["tradeoff"]
    return {"sentences": [] if found is None else found.sentences()}


def _conclusion(contents: Contents) -> str:
    found: CostComparison | None = contents.measures[0]["tradeoff"]
    return "" if found is None else f"{found.sentences()[0]}."


def _methods(contents: Contents) -> Iterator[Sentence]:
    found: CostComparison | None = contents.measures[0]["tradeoff"]
    if found is None:
        return
    runs = len(found.runs)
    yield Sentence(
        46,
        "A run is dominated where another one is significantly better, and significantly cheaper or equal "
        "in cost; it is on the frontier where it is significantly better or significantly cheaper than "
        "every other run. "
        f"Quality and cost of all pairs are one family of up to {counted(runs * (runs - 1), 'comparison')}"
        ", by the rule for families with the median variance of each; costs that do not vary over topics "
        "are compared as they are.",
    )


SECTION: Section[MeasureContents] = Section(
    by_measure=True,
    gather=Verb(compare_costs, ("costs",)),
    setting="costs",
    anchor="tradeoff",
    heading="Which runs are worth their cost?",
    meaning="A better run may cost more than it is worth; a run that another one beats in both is not "
    "worth its cost at any price.",
    context=_context,
    part="tradeoff",
    conclusion=_conclusion,
    methods=_methods,
)
