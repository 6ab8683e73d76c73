"""Tables of means that people's judgements correct."""

from __future__ import annotations

from collections.abc import Sequence

from confir.arrays import Booleans
from confir.errors import counted, enumerate_names
from confir.number_text import difference_text, interval_text, number_text, percent
from confir.order import best_first
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
                    Cell(difference_text(record["bias"], record["bias_low"], record["bias_high"])),
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
        "on the same topics; weight of the model; worth: how many further human topics its judgements "
        "are worth"
    )
    return "\n".join([note, *mean_notes(means)])


def mean_notes(means: CorrectedMeans) -> list[str]:
    """Return where the model's judgements do not make means more precise."""
    return model_notes(means.measures, means.worth <= 0, means.model_topics)


def model_notes(
    measures: Sequence[str], useless: Booleans, model_topics: int, what: str = "means"
) -> list[str]:
    """Return where the model's judgements add nothing, and why: a sentence each, or none.

    Parameters
    ----------
    measures, useless
        Names, and where the model does not lower the variance: runs or pairs × measures.
    model_topics
        Topics that only the model judged.
    what
        What was estimated.
    """
    if not model_topics:
        text = f"people judged all topics: {what} are by their judgements, the model's add nothing"
        return [text]
    without = {measure: int(useless[:, m].sum()) for m, measure in enumerate(measures)}
    every = [measure for measure, count in without.items() if count == len(useless)]
    some = [
        f"{count:,} of {len(useless):,} {what} by {measure}"
        for measure, count in without.items()
        if 0 < count < len(useless)
    ]
    alone = "their intervals are no narrower than those of the human topics alone"
    found = {"carry no information on": every, "add no precision to": some}
    return [
        f"the model's judgements {what_not} {enumerate_names(names)}: {alone}"
        for what_not, names in found.items()
        if names
    ]
