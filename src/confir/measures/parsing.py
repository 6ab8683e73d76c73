"""Names of measures, parsed: those of confir, functions of a list, or those of ir_measures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from confir.arguments import as_integer
from confir.errors import InvalidValueError, UnknownNameError
from confir.measures.graded import parse_gains
from confir.measures.measure import AnyMeasure, ForeignMeasure, ListMeasure, Measure
from confir.measures.measure_list import is_from_ir_measures, measure_name, parse_measure

# ir_measures parses names as Python, which runs out of memory over deeply nested text.
_LONGEST_NAME = 200
# Nor does anybody else read 1_0 as ten.
_PYTHON_NUMBER = re.compile("[0-9]_[0-9]")


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
        foreign = _foreign_measure(name)
        if foreign is None:
            raise
        return foreign
    try:
        parse_gains(measure.gain_map)
    except InvalidValueError:
        # gains of ir_measures, in braces, are for levels below 1 as well, which confir leaves out
        foreign = _foreign_measure(name) if "{" in name else None
        if foreign is None:
            raise
        return foreign
    return measure


def _foreign_measure(name: str) -> ForeignMeasure | None:
    """Return the measure of ir_measures with this name, or None."""
    if len(name) > _LONGEST_NAME or _PYTHON_NUMBER.search(name):
        return None
    try:
        import ir_measures
    except ImportError:
        return None
    parsers: list[Any] = [ir_measures.parse_measure, ir_measures.parse_trec_measure]
    for parse in parsers:
        try:
            parsed = parse(name)
            found = parsed if isinstance(parsed, list) else [parsed]
            unknown = [one for one in found if not one.params.keys() <= one.SUPPORTED_PARAMS.keys()]
        except (
            *(ValueError, NameError, KeyError, AssertionError),
            *(SyntaxError, AttributeError, TypeError),
        ):
            continue
        if len(found) == 1 and not unknown:
            return ForeignMeasure(found[0])
    return None
