"""How do commands share options? A group of options is a dataclass; a command takes it whole.

``def plan_command(inputs: Inputs, ..., out: Output)`` has all options of both groups: `expand`
writes them into the signature that typer reads, and collects their values again. A command that
lacks some of a group's options, or words one of them otherwise, says so beside the group:
``Annotated[Inputs, Without("bounded"), Instead(measure=OwnMeasureOption)]``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

Command = Callable[..., None]


class Without:
    """Options of a group that a command does not have; they keep their defaults."""

    def __init__(self, *names: str) -> None:
        self.names = names


class Instead:
    """Options of a group that a command describes otherwise: their annotations by name."""

    def __init__(self, **annotations: Any) -> None:
        self.annotations = annotations


def expand(command: Command) -> Command:
    """Return a command whose groups of options are single parameters, for typer to read."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, tuple[type, list[str]]] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        kind, *changes = _group_and_changes(hints[parameter.name])
        if is_dataclass(kind) and isinstance(kind, type):
            own = _parameters(kind, changes)
            groups[parameter.name] = kind, [one.name for one in own]
            parameters += own
        else:
            annotation = hints[parameter.name]
            parameters.append(parameter.replace(annotation=annotation, kind=parameter.KEYWORD_ONLY))
    if not groups:
        return command

    @functools.wraps(command)
    def whole(**values: Any) -> None:
        made = {
            name: group(**{one: values.pop(one) for one in own})
            for name, (group, own) in groups.items()
        }
        command(**values, **made)

    vars(whole)["__signature__"] = inspect.Signature(parameters)
    whole.__annotations__ = {one.name: one.annotation for one in parameters}
    del whole.__wrapped__  # or typer would read the signature of the command itself
    return whole


def _group_and_changes(hint: Any) -> tuple[Any, ...]:
    """Return a type, and what is said beside it."""
    return get_args(hint) if get_origin(hint) is Annotated else (hint,)


def _parameters(group: type, changes: list[Any]) -> list[inspect.Parameter]:
    """Return the fields of a group as parameters with their annotations and defaults."""
    left_out = {name for change in changes if isinstance(change, Without) for name in change.names}
    hints = get_type_hints(group, include_extras=True)
    for change in changes:
        if isinstance(change, Instead):
            hints |= change.annotations
    return [
        inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if one.default is MISSING else one.default,
            annotation=hints[one.name],
        )
        for one in fields(group)
        if one.name not in left_out
    ]
