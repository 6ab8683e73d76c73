"""``confir measures`` and ``confir methods``: what there is to choose from."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from confir.cli import options
from confir.errors import InvalidValueError


class _Use(NamedTuple):
    """What a method over documents rests on, and where it fails."""

    assumes: str
    source: str
    cost: str
    fails: str


_OVER_DOCUMENTS = {
    "linear": _Use(
        "the score is nearly normal over collections",
        "Cormack & Lynam 2006",
        "none",
        "scores near 0 or 1: too many misses on one side, limits may leave [0, 1]",
    ),
    "logit": _Use(
        "the logit of the score is nearly normal over collections",
        "Cormack & Lynam 2006",
        "none",
        "few relevant documents: AP near 0 or 1 needs the small-R correction",
    ),
    "percentile": _Use(
        "the replicates spread around the score as it does around the truth",
        "Efron 1979; Cormack & Lynam 2006",
        "a sort",
        "few relevant documents: too narrow",
    ),
    "bca": _Use(
        "as percentile, after a correction of bias and skewness",
        "Efron 1987; Cormack & Lynam 2006",
        "a sort, and a replicate for every document left out",
        "few relevant documents: too narrow; a single one has no interval",
    ),
}


def measures_command(
    output: options.OutputOption = None, kind: options.FormatOption = "table"
) -> None:
    """List the measures: name, parameters, other names, and what each says."""
    from confir.cli.terminal import Answer, deliver
    from confir.measures.catalogue import MEASURES
    from confir.report.tables import Cell, Table

    _check_output(output, kind)
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
    from confir.intervals.documents import DOCUMENT_METHODS
    from confir.report.tables import Cell, Table

    _check_output(output, kind)
    over_topics = [
        {
            "method": method.name,
            "over": "topics",
            "for": "means in [0, 1]" if method.bounded else "any mean",
            "assumes": method.assumes,
            "source": method.source,
            "cost": method.cost,
            "fails": method.fails,
        }
        for method in METHODS.values()
    ]
    over_documents = [
        {
            "method": name,
            "over": "documents",
            "for": "a topic's score in [0, 1]",
            **_OVER_DOCUMENTS[name]._asdict(),
        }
        for name in DOCUMENT_METHODS
    ]
    records = over_topics + over_documents
    rows = tuple(tuple(Cell(value) for value in record.values()) for record in records)
    note = (
        f"default over topics: {DEFAULT_BOUNDED_METHOD} for scores in [0, 1], {DEFAULT_METHOD} for "
        "everything else; over documents, in confir collection --per-topic: logit"
    )
    deliver(
        Answer(records, Table(tuple(records[0]), rows, note, names=7)), output=output, kind=kind
    )


def _check_output(output: str | None, kind: str) -> None:
    """Raise where a list could not be written or printed; there is no chart of it."""
    from confir.cli.terminal import check_output
    from confir.report.records import CHART_ENDINGS, ENDINGS

    check_output(output, kind)
    if output is not None and Path(output).suffix.lower() in CHART_ENDINGS:
        raise InvalidValueError(
            f"{output}: there is no chart of a list; expected one of {', '.join(ENDINGS)}"
        )
