"""Tables of how well measures separate runs."""

from __future__ import annotations

from confir.number_text import share_text
from confir.report.tables import Cell, Table
from confir.studies.discrimination.discrimination import Discrimination


def discrimination_table(found: Discrimination, seed: int | None = None) -> Table:
    """Return one row per measure, the one that separates most pairs first."""
    order = sorted(range(len(found.measures)), key=lambda m: (-found.power[m], found.swap_rate[m]))
    rows = tuple(
        (
            Cell(found.measures[m]),
            Cell(share_text(float(found.power[m]))),
            Cell(share_text(float(found.swap_rate[m]))),
            Cell(share_text(float(found.separated_swap_rate[m]))),
            Cell(f"{found.topics[m]:,}"),
        )
        for m in order
    )
    note = (
        f"power: share of {found.pairs:,} pairs of {found.runs} runs with a significant difference, "
        f"α = {1 - found.level:.10g} for all pairs at once; swaps: share of pairs in opposite order in two "
        f"halves of the topics, over {found.splits} splits; swaps of separated: the same among pairs with a "
        "significant difference"
    )
    if seed is not None:
        note += f"; seed {seed}"
    return Table(("measure", "power", "swaps", "swaps of separated", "topics"), rows, note)
