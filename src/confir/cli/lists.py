"""Lists of what is available: measures, and ``confir methods``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from confir.cli.output import Output
from confir.cli.parameters import Without
from confir.defaults import CHART_ENDINGS, ENDINGS
from confir.errors import InvalidValueError

if TYPE_CHECKING:
    from confir.intervals.method import Method
    from confir.resampling.distribution import Resampled

_OVER: tuple[Resampled, ...] = ("topics", "documents")


def deliver_measures(out: Output) -> None:
    """Print or write the measures: name, parameters, aliases, and definition."""
    from confir.measures.measure_list import MEASURES

    prepare_list(out)
    records = [
        {
            "measure": definition.name,
            "parameters": ", ".join(definition.describe_parameters()),
            "synonyms": ", ".join(definition.synonyms),
            "summary": definition.summary,
        }
        for definition in MEASURES.values()
    ]
    deliver_list(
        out, records, "cutoffs are written @10; parameters in parentheses, as in AP(rel=2)@100"
    )


def methods_command(*, out: Annotated[Output, Without("quiet")]) -> None:
    """List the interval methods: assumptions, source, cost, and when they fail."""
    from confir.intervals.method_list import (
        DEFAULT_BOUNDED_METHOD,
        DEFAULT_METHOD,
        DEFAULT_SCORE_METHOD,
        methods_over,
    )

    prepare_list(out)
    records = [
        {
            "method": method.name,
            "over": over,
            "for": _purpose(method, over),
            "assumes": method.uses[over].assumes,
            "source": method.uses[over].source,
            "cost": method.uses[over].cost,
            "fails": method.uses[over].fails,
        }
        for over in _OVER
        for method in methods_over(over).values()
    ]
    deliver_list(
        out,
        records,
        f"default over topics: {DEFAULT_BOUNDED_METHOD} for scores in [0, 1], {DEFAULT_METHOD} for "
        f"everything else; over documents, in confir collection --show topics: {DEFAULT_SCORE_METHOD}",
    )


def _purpose(method: Method, over: Resampled) -> str:
    """Return what a method gives an interval of."""
    if over == "documents":
        return "a topic's score in [0, 1]"
    return "means in [0, 1]" if method.bounded else "any mean"


def prepare_list(out: Output) -> None:
    """Raise where a list could not be written or printed; there is no chart of it."""
    if out.output is not None and Path(out.output).suffix.lower() in CHART_ENDINGS:
        raise InvalidValueError(
            f"{out.output}: there is no chart of a list; expected one of {', '.join(ENDINGS)}"
        )


def deliver_list(out: Output, records: Sequence[dict[str, str]], note: str = "") -> None:
    """Print or write a list of texts: one row per record."""
    from confir.cli.answers import Answer
    from confir.report.tables import Cell, Table

    rows = tuple(tuple(map(Cell, record.values())) for record in records)
    out.deliver(Answer(records, Table(tuple(records[0]), rows, note, names=len(records[0]))))
