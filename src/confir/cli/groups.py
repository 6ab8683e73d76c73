"""How commands share options: a group of options is a dataclass, and a command takes it whole.

``def plan_command(inputs: Inputs, ..., out: Output)`` has all options of both groups: `read_parameters`
lists them one by one, and collects their values again. A command that lacks some of a group's
options, or words one of them otherwise, says so beside the group:
``Annotated[Inputs, Without("bounded"), Instead(measure=OwnMeasureOption)]``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import click

from confir.cli.parameters import click_parameter

Command = Callable[..., None]


class Without:
    """Options of a group that a command does not have; they keep their defaults."""

    def __init__(self, *names: str) -> None:
        self.names = names


class Instead:
    """Options of a group that a command describes otherwise: their annotations by name."""

    def __init__(self, **annotations: Any) -> None:
        self.annotations = annotations


class _Declared(NamedTuple):
    """A parameter of a command or field of a group: name, annotation and default."""

    name: str
    annotation: Any
    default: Any


def read_parameters(command: Command) -> tuple[list[click.Parameter], Command]:
    """Return the arguments and options of a command, and a function that takes their values."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, tuple[type, list[_Declared]]] = {}
    single: list[_Declared] = []
    every: list[_Declared] = []
    for one in inspect.signature(command).parameters.values():
        kind, *changes = _group_and_changes(hints[one.name])
        if is_dataclass(kind) and isinstance(kind, type):
            own = list(_fields(kind, changes))
            groups[one.name] = kind, own
            every += own
        else:
            default = MISSING if one.default is one.empty else one.default
            single.append(_Declared(one.name, hints[one.name], default))
            every.append(single[-1])

    def collected(**values: Any) -> None:
        made = {name: group(**_chosen(values, own)) for name, (group, own) in groups.items()}
        command(**_chosen(values, single), **made)

    given = [one for one in every if one.annotation is not click.Context]
    return [click_parameter(*one) for one in given], collected


def _chosen(values: dict[str, Any], declared: list[_Declared]) -> dict[str, Any]:
    """Return the values of some parameters; the context is the one of this call."""
    return {
        name: click.get_current_context() if annotation is click.Context else values[name]
        for name, annotation, _ in declared
    }


def _group_and_changes(hint: Any) -> tuple[Any, ...]:
    """Return a type, and what is said beside it."""
    return get_args(hint) if get_origin(hint) is Annotated else (hint,)


def _fields(group: type, changes: list[Any]) -> Iterator[_Declared]:
    """Yield the fields of a group, as a command has them."""
    left_out = {name for change in changes if isinstance(change, Without) for name in change.names}
    hints = get_type_hints(group, include_extras=True)
    for change in changes:
        if isinstance(change, Instead):
            hints |= change.annotations
    for one in fields(group):
        if one.name not in left_out:
            yield _Declared(one.name, hints[one.name], one.default)
