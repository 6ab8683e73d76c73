"""``confir measures`` and ``confir methods``: what there is to choose from."""

from __future__ import annotations

from confir.cli import options


def measures_command(
    output: options.OutputOption = None, kind: options.FormatOption = "table"
) -> None:
    """List the measures: name, parameters, other names, and what each says."""
    from confir.cli.terminal import Answer, deliver
    from confir.measures.catalogue import MEASURES
    from confir.report.tables import Cell, Table

    records = [
        {
            "measure": definition.name,
            "parameters": ", ".join(definition.describe_parameters()),
            "synonyms": ", ".join(definition.synonyms),
            "summary": definition.summary,
        }
        for definition in MEASURES.values()
    ]
    rows = tuple(tuple(Cell(str(value)) for value in record.values()) for record in records)
    note = "cutoffs are written @10; parameters in parentheses, as in AP(rel=2)@100"
    deliver(
        Answer(records, Table(tuple(records[0]), rows, note, names=4)), output=output, kind=kind
    )


def methods_command(
    output: options.OutputOption = None, kind: options.FormatOption = "table"
) -> None:
    """List the interval methods: what they assume, source, cost, when they fail."""
    from confir.cli.terminal import Answer, deliver
    from confir.intervals.catalogue import DEFAULT_BOUNDED_METHOD, DEFAULT_METHOD, METHODS
    from confir.report.tables import Cell, Table

    records = [
        {
            "method": method.name,
            "for": "scores in [0, 1]" if method.bounded else "anything",
            "assumes": method.assumes,
            "source": method.source,
            "cost": method.cost,
            "fails": method.fails,
        }
        for method in METHODS.values()
    ]
    rows = tuple(tuple(Cell(value) for value in record.values()) for record in records)
    note = (
        f"default: {DEFAULT_BOUNDED_METHOD} for scores in [0, 1], "
        f"{DEFAULT_METHOD} for everything else"
    )
    deliver(
        Answer(records, Table(tuple(records[0]), rows, note, names=6)), output=output, kind=kind
    )
