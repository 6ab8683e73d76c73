"""The table of the candidates at a gate, each with its means before and after."""

from __future__ import annotations

from confir.number_text import difference_text, level_text, number_text
from confir.pairs.comparison import Comparison
from confir.pairs.gate import Gate
from confir.report.tables import Cell, Table


def gate_table(gate: Gate, comparison: Comparison) -> Table:
    """Return a table of the candidates at a gate, those that fail in bold: means, then differences."""
    rows = tuple(
        tuple(
            Cell(text, not passes)
            for text in (
                run,
                "passes" if passes else "fails",
                _means_text(comparison, pair, gate.measure),
                difference_text(one.difference, one.low, one.high, open_end=one.open),
            )
        )
        for pair, (run, one, passes) in enumerate(gate.candidates)
    )
    note = f"{gate.sentence()}\n{gate.about}" if gate.about else gate.sentence()
    level = level_text(gate.candidates[0].decision.level)
    means = f"{gate.measure}: {gate.baseline} → candidate"
    return Table(("candidate", "gate", means, f"difference, {level} interval"), rows, note, 2)


def _means_text(comparison: Comparison, pair: int, measure: str) -> str:
    """Return the means of baseline and run: ``0.3202 → 0.1781``; a dash where there are none."""
    means = comparison.pair_means(pair)
    if means is None:
        return "–"
    return " → ".join(map(number_text, means[:, comparison.measures.index(measure)].tolist()))
