"""Names of measures, parsed: those of confir, functions of a list, or those of ir_measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from confir.arguments import as_integer
from confir.errors import InvalidValueError, UnknownNameError
from confir.measures.foreign import ForeignMeasure, foreign_measure
from confir.measures.graded import parse_gains
from confir.measures.measure import ListMeasure, Measure
from confir.measures.measure_list import is_from_ir_measures, measure_name, parse_measure

AnyMeasure = Measure | ListMeasure | ForeignMeasure


def parse_measures(measures: Any, rel: int = 1) -> list[AnyMeasure]:
    """Return the measures that names stand for, each once."""
    if isinstance(measures, str | bytes) or not isinstance(measures, Sequence):
        measures = [measures]
    if not measures:
        raise InvalidValueError("no measure is named; expected at least one, such as 'AP'")
    rel = as_integer("rel", rel)
    parsed = {str(measure): measure for measure in (_parse(entry, rel) for entry in measures)}
    return list(parsed.values())


def _parse(entry: Any, rel: int) -> AnyMeasure:
    if isinstance(entry, Measure):
        return entry
    if callable(entry) and not is_from_ir_measures(entry) and not isinstance(entry, type):
        return ListMeasure(entry)
    name = measure_name(entry)
    try:
        measure = parse_measure(name, rel=rel)
    except UnknownNameError:
        foreign = foreign_measure(name)
        if foreign is None:
            raise
        return foreign
    try:
        parse_gains(measure.gain_map)
    except InvalidValueError:
        # gains of ir_measures, in braces, are for levels below 1 as well, which confir leaves out
        foreign = foreign_measure(name) if "{" in name else None
        if foreign is None:
            raise
        return foreign
    return measure
