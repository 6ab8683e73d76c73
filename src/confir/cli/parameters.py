"""Declarations of what a command takes: its arguments and options, as annotations of parameters.

``level: Annotated[float, Option("Confidence level.")] = 0.95`` is the option ``--level``; its type
says how its text is read, and its default what holds without it.

A group of options that commands share is a dataclass, and a command takes it whole:
``def plan_command(inputs: Inputs, ..., out: Output)`` has all options of both groups. A command that
lacks some of a group's options, or words one of them otherwise, says so beside the group:
``Annotated[Inputs, Without("bounded"), Instead(measure=Option("The measure."))]``.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import click
from click.core import ParameterSource

from confir.errors import InvalidValueError, UnknownNameError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Command = Callable[..., None]
Names = Callable[[], Iterable[str]]


class PathRole(Enum):
    """What a command does with the paths that a parameter names, as `confir.cli.file_checks` asks."""

    READ = "a file, several, or a folder of them, is read"
    RUN = "a run: one of those that are read, by its name, or a file"
    WRITE = "a file is written"
    APPEND = "a file is read, if there is one, and written with more in it"
    FOLDER = "a folder is filled"
    RESUME = "a folder keeps parts of results"


class Argument(NamedTuple):
    """What is given by its place.

    Attributes
    ----------
    metavar
        Its name in help and messages.
    help
        What it is.
    complete
        Returns what completes a word in a shell; by default files do.
    path
        What becomes of the paths that it names; None where it names none.
    """

    metavar: str
    help: str = ""
    complete: Names | None = None
    path: PathRole | None = None


class Option(NamedTuple):
    """What is given by its name.

    Attributes
    ----------
    help
        What it does.
    metavar
        What stands for the value in help; by default N or X for a number, and words to choose from.
    panel
        The panel of the help; by default that of the options.
    names
        Such as ``-m`` and ``--measure``, or ``--bounded/--unbounded``; by default that of the parameter.
    choices
        The words that the value is one of; or what each of them stands for.
    least
        The least number that the value may be.
    measures
        Whether a value may be several measures, separated by commas: ``AP,nDCG@10``.
    convert
        Checks or replaces the value that is given; a default is left as it is.
    complete
        Returns what completes a word in a shell; by default the choices do, or files, if the value is text.
    short
        Whether the short help page has it; by default where it is in no panel.
    path
        What becomes of the paths that it names; None where it names none.
    """

    help: str = ""
    metavar: str | None = None
    panel: str | None = None
    names: tuple[str, ...] = ()
    choices: Sequence[str] | Mapping[str, str] = ()
    least: int | None = None
    measures: bool = False
    convert: Callable[[Any], Any] | None = None
    complete: Names | None = None
    short: bool | None = None
    path: PathRole | None = None


class _Declared(click.Parameter):
    """A parameter of a command, with its declaration: its value is checked as soon as it is read."""

    declared: Argument | Option

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return the value, and where it is from: click 8.4 notes that too late for `process_value`."""
        value, source = super().consume_value(ctx, opts)
        ctx.set_parameter_source(str(self.name), source)
        return value, source

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Return what was given, of what may be repeated as a list; else the default, unchecked."""
        source = ctx.get_parameter_source(str(self.name))
        if not self.required and source is not ParameterSource.COMMANDLINE:
            return self.default
        found = super().process_value(ctx, value)
        repeated = self.multiple or self.nargs == -1
        values = list(found) if repeated else [found]
        if isinstance(self.declared, Argument):
            return (values or None) if repeated else found  # by click 8.1, none may be given
        longest = max(self.opts, key=len)
        choices, least, convert = self.declared.choices, self.declared.least, self.declared.convert
        for one in values:
            if choices and one not in choices:
                raise UnknownNameError(f"value of {longest}", one, choices)
            if least is not None and one < least:
                raise InvalidValueError(f"{longest} is {one}; expected {least} or more")
        if isinstance(choices, Mapping):
            values = [choices[one] for one in values]
        if self.declared.measures:
            option = min(self.opts, key=len)
            values = [name for one in values for name in split_measures(option, one)]
        given = values if repeated else values[0]
        return given if convert is None else convert(given)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Return what completes a value in a shell: names if there are any, of text files."""
        from click.shell_completion import CompletionItem

        names: Iterable[str] = getattr(self.declared, "choices", ())
        if self.declared.complete is not None:
            names = self.declared.complete()
        elif not names:
            is_text = self.type is click.STRING
            return [CompletionItem(incomplete, type="file")] if is_text else []
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


class DeclaredArgument(_Declared, click.Argument):
    """An argument of a command, with its declaration."""

    declared: Argument


class DeclaredOption(_Declared, click.Option):
    """An option of a command, with its declaration."""

    declared: Option


def split_measures(option: str, text: str) -> list[str]:
    """Return names separated by commas; those within brackets and quotes separate nothing.

    Quotes around a whole name are removed: ``"a,b",AP`` are the measures ``a,b`` and ``AP``.
    """
    names, depth, quote = [""], 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "," and depth <= 0:
            names.append("")
            continue
        names[-1] += sign
    if quote or depth:
        return [text]  # no list, and the name of a measure at most
    stripped = [name.strip() for name in names]
    if "" in stripped:
        raise InvalidValueError(
            f"{option} {text!r} names an empty measure; expected names such as AP,RR"
        )
    return [
        name[1:-1]
        if len(name) > 2 and name[0] == name[-1] in "\"'" and name.count(name[0]) == 2
        else name
        for name in stripped
    ]


class _Number(click.ParamType):  # type: ignore[type-arg]  # generic for checkers alone
    """A number in text; what is none is named with its option."""

    def __init__(self, value: type, metavar: str) -> None:
        self.name, self.value, self.metavar = value.__name__, value, metavar

    def convert(self, value: Any, param: click.Parameter | None, _: Any) -> Any:
        """Return the number."""
        try:
            return self.value(str(value).encode("ascii"))  # else, digits of any script would do
        except ValueError:
            longest = max(param.opts if param else (), key=len)
            expected = "a whole number" if self.value is int else "a number"
            raise InvalidValueError(f"{longest} is {value!r}; expected {expected}") from None


_NUMBERS = {int: _Number(int, "N"), float: _Number(float, "X")}


def click_parameter(name: str, annotation: Any, default: Any) -> click.Parameter:
    """Return the argument or option that an annotated parameter declares."""
    kind, declared = get_args(annotation)
    if isinstance(kind, types.UnionType) or get_origin(kind) is Union:
        (kind,) = (one for one in get_args(kind) if one is not types.NoneType)
    repeats, words = get_origin(kind) is list, get_args(kind)
    value, number = words[0] if words else kind, 1 if repeats else len(words) or 1
    if isinstance(declared, Argument):
        argument = DeclaredArgument(
            [name],
            type=_NUMBERS.get(value, value),
            nargs=-1 if repeats else number,
            required=default is MISSING,
            **({} if default is MISSING else {"default": None}),
            metavar=declared.metavar,
        )
        argument.declared = declared
        return argument
    option = DeclaredOption(
        [name, *(declared.names or (f"--{name.replace('_', '-')}",))],
        type=None if value is bool else _NUMBERS.get(value, value),
        is_flag=value is bool,
        multiple=repeats,
        nargs=number,
        default=default,
        help=declared.help,
    )
    option.declared = declared
    return option


class Without:
    """Options of a group that a command does not have; they keep their defaults."""

    def __init__(self, *names: str) -> None:
        self.names = names


class Instead:
    """Options of a group that a command describes otherwise: their declarations by name."""

    def __init__(self, **declared: Argument | Option) -> None:
        self.declared = declared


class _Field(NamedTuple):
    """A parameter of a command or field of a group: name, annotation and default."""

    name: str
    annotation: Any
    default: Any


def read_parameters(command: Command) -> tuple[list[click.Parameter], Command]:
    """Return the arguments and options of a command, and a function that takes their values.

    ``context: click.Context``, of a command or a group, is the context of the call.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, tuple[type, list[str]]] = {}
    single: list[str] = []
    every: list[_Field] = []
    for one in inspect.signature(command).parameters.values():
        hint = hints[one.name]
        kind, *changes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if is_dataclass(kind) and isinstance(kind, type):
            own = list(_fields(kind, changes))
            groups[one.name] = kind, [field.name for field in own]
            every += own
        else:
            single.append(one.name)
            every.append(
                _Field(one.name, hint, MISSING if one.default is one.empty else one.default)
            )

    def collected(**values: Any) -> None:
        values["context"] = click.get_current_context()
        made = {
            name: group(**{one: values[one] for one in own})
            for name, (group, own) in groups.items()
        }
        command(**{one: values[one] for one in single}, **made)

    given = [one for one in every if one.annotation is not click.Context]
    return [click_parameter(*one) for one in given], collected


def _fields(group: type, changes: list[Any]) -> Iterator[_Field]:
    """Yield the fields of a group, as a command has them."""
    left_out = {name for change in changes if isinstance(change, Without) for name in change.names}
    hints = get_type_hints(group, include_extras=True)
    for change in changes:
        if isinstance(change, Instead):
            for name, declared in change.declared.items():
                hints[name] = Annotated[get_args(hints[name])[0], declared]
    for one in fields(group):
        if one.name not in left_out:
            yield _Field(one.name, hints[one.name], one.default)


def is_given(context: click.Context, name: str) -> bool:
    """Whether the user gave the option that sets a parameter of the command."""
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def refuse_options(context: click.Context, names: Sequence[str], reason: str) -> None:
    """Raise where one of some options is given that would have no effect.

    Parameters
    ----------
    context
        The context of the command.
    names
        Names of its parameters.
    reason
        What follows the option in the sentence, such as "is for intervals".
    """
    for parameter in context.command.params:
        if parameter.name in names and is_given(context, parameter.name):
            spelt = "/".join([max(parameter.opts, key=len), *parameter.secondary_opts])
            raise InvalidValueError(f"{spelt} {reason}")
