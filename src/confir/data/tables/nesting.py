"""Do nested objects hold run → measure → topic, or run → topic → measure? By the names alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from confir.data.tables.measure_names import find_measures
from confir.errors import enumerate_names, warn_caller

_NUMBER = re.compile(r"\d+")
_NUMBERED = re.compile(r"\D*\d+")


def topics_come_first(runs: Iterable[Mapping[Any, Mapping[Any, Any]]], source: str) -> bool:
    """Whether runs hold topic → measure → score rather than measure → topic → score.

    Known measures decide it, else whether the names of one level alone are numbers. A guess, and
    the lack of one, is told in a warning.
    """
    outer: dict[str, None] = {}
    inner: dict[str, None] = {}
    for held in runs:
        outer.update((str(name), None) for name in held)
        for part in held.values():
            inner.update((str(name), None) for name in part)
    known = bool(find_measures(outer)), bool(find_measures(inner))
    if known[0] != known[1]:
        return known[1]
    if _are_all(_NUMBER, outer) != _are_all(_NUMBER, inner):
        return _are_all(_NUMBER, outer)
    numbered = _are_all(_NUMBERED, outer), _are_all(_NUMBERED, inner)
    if len(outer) == 1 or numbered == (False, True):
        return False
    first = numbered == (True, False)
    order = ("topic", "measure") if first else ("measure", "topic")
    warn_caller(
        f"{source}: read as run → {' → '.join(order)} → score: the {order[0]}s "
        f"{enumerate_names(map(repr, outer), 3)}, the {order[1]}s {enumerate_names(map(repr, inner), 3)}; "
        "expected that, or a table with the columns run, measure, topic, score"
    )
    return first


def _are_all(pattern: re.Pattern[str], names: Iterable[str]) -> bool:
    return all(map(pattern.fullmatch, names))
