"""Runs that differ in one parameter; its values are listed or read from the runs' names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from confir.errors import InvalidValueError, counted, enumerate_names

_NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_PLACE = "{}"


class Sweep(NamedTuple):
    """Runs that differ in one parameter.

    Attributes
    ----------
    parameter
        Its name.
    values
        Run → value, in ascending order of the values.
    """

    parameter: str
    values: Mapping[str, float]


def read_sweeps(texts: Sequence[str], runs: Sequence[str]) -> tuple[Sweep, ...]:
    """Return the parameter sweeps described; a run belongs to at most one.

    Parameters
    ----------
    texts
        Each ``NAME=V1,V2,…``, a value for each run in order, nothing between the commas for runs
        outside the sweep; or ``NAME=PATTERN``, a run's name with ``{}`` for the value.
    runs
        Names of the runs.
    """
    sweeps = [_read_sweep(text, runs) for text in texts]
    taken: dict[str, str] = {}
    for sweep in sweeps:
        for run in sweep.values:
            if run in taken:
                raise InvalidValueError(
                    f"run {run!r} has a value of both {taken[run]!r} and {sweep.parameter!r}; "
                    "expected one parameter for a run"
                )
            taken[run] = sweep.parameter
    return tuple(sweeps)


def _read_sweep(text: str, runs: Sequence[str]) -> Sweep:
    name, sign, rest = text.partition("=")
    if not name or not sign or not rest:
        raise InvalidValueError(
            f"{text!r} is not a parameter; expected one such as 'lambda=0.1,0.2' or "
            "'lambda=rm3-{}'"
        )
    values = _match_names(text, rest, runs) if _PLACE in rest else _listed(text, rest, runs)
    if len(values) < 2:
        raise InvalidValueError(
            f"{text!r} gives a value to {len(values)} of {len(runs)} runs "
            f"({enumerate_names(runs, 5)}); expected at least 2"
        )
    return Sweep(name, dict(sorted(values.items(), key=lambda entry: entry[1])))


def _listed(text: str, rest: str, runs: Sequence[str]) -> dict[str, float]:
    fields = [field.strip() for field in rest.split(",")]
    for field in fields:
        if field and not re.fullmatch(_NUMBER, field):
            raise InvalidValueError(
                f"{text!r}: {field!r} is not a number; expected numbers, or a run's name with {{}} "
                "for the number"
            )
    if len(fields) != len(runs):
        raise InvalidValueError(
            f"{text!r} has {counted(len(fields), 'value')} for {counted(len(runs), 'run')} ({enumerate_names(runs, 5)}); "
            "expected one for each in that order, nothing between the commas for runs outside the "
            "sweep"
        )
    return {run: float(field) for run, field in zip(runs, fields, strict=True) if field}


def _match_names(text: str, pattern: str, runs: Sequence[str]) -> dict[str, float]:
    if pattern.count(_PLACE) != 1:
        raise InvalidValueError(f"{text!r} has {{}} more than once; expected it once")
    before, after = (re.escape(part) for part in pattern.split(_PLACE))
    matches = {run: re.fullmatch(before + _NUMBER + after, run) for run in runs}
    return {run: float(match[1]) for run, match in matches.items() if match}
