"""Tables of means that people's judgements correct."""

from __future__ import annotations

from confir.errors import counted, enumerate_names
from confir.order import best_first, signed
from confir.report.numbers import interval_text, number_text, percent
from confir.report.tables import Cell, Table
from confir.studies.corrected_means.corrected_means import CorrectedMeans


def corrected_table(means: CorrectedMeans, note: str | None = None) -> Table:
    """Return corrected means with intervals, beside the model's: best run first."""
    several = len(means.measures) > 1
    rows = []
    order = best_first(means.mean[:, 0])
    records = {(r["run"], r["measure"]): r for r in means.to_records()}
    for measure in means.measures:
        for place in order:
            record = records[means.runs[place], measure]
            rows.append(
                (
                    *([Cell(measure)] if several else []),
                    Cell(record["run"]),
                    Cell(interval_text(record["mean"], record["low"], record["high"])),
                    Cell(number_text(record["model_mean"])),
                    Cell(signed(record["bias"])),
                    Cell(f"{record['weight']:.2f}"),
                    Cell(f"{record['worth']:.1f}"),
                )
            )
    names = (*(["measure"] if several else []), "run")
    mean = "mean" if several else means.measures[0]
    columns = (*names, mean, "model", "bias", "weight", "worth")
    text = corrected_note(means) if note is None else note
    return Table(columns, tuple(rows), text, names=len(names))


def corrected_note(means: CorrectedMeans) -> str:
    """Return what the numbers are, and where the model's judgements carry no information."""
    methods = enumerate_names(sorted({name for row in means.methods for name in row}))
    note = (
        f"mean by people's judgements with {percent(means.level)} interval by {methods}, from "
        f"{counted(means.human_topics, 'topic')} that people judged and {means.model_topics:,} "
        "judged by the model alone; model: its own mean; bias: the model's mean minus people's "
        "on the same topics; weight of the model; worth: how many human topics its judgements are "
        "worth"
    )
    nothing = [
        measure for m, measure in enumerate(means.measures) if (means.weight[:, m] == 0).all()
    ]
    if nothing:
        note += (
            f"\nthe model's judgements carry no information on {enumerate_names(nothing)}: these "
            "are the means over the human topics"
        )
    return note
