"""Declarations of what a command takes: its arguments and options, as annotations of parameters.

``level: Annotated[float, Option(help="Confidence level.")] = 0.95`` is the option ``--level``; its type
says how its text is read, and its default what holds without it.

A group of options that commands share is a dataclass, and a command takes it whole:
``def plan_command(inputs: Inputs, ..., out: Output)`` has all options of both groups. A command that
lacks some of a group's options, or words one of them otherwise, says so beside the group:
``Annotated[Inputs, Without("bounded"), Instead(measure=OwnMeasureOption)]``.
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

from confir.errors import InvalidValueError, UnknownNameError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Command = Callable[..., None]
Names = Callable[[], Iterable[str]]
# Checks a value, or replaces it: called with the context of the command, the parameter and the value.
Callback = Callable[[click.Context, click.Parameter, Any], Any]


class PathRole(Enum):
    """What a command does with the paths that a parameter names, as `confir.cli.output_guard` asks."""

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


class Option:
    """What is given by its name.

    Parameters
    ----------
    names
        Such as ``-m`` and ``--measure``, or ``--bounded/--unbounded``; by default that of the parameter.
    metavar
        What stands for the value in help; by default N or X for a number, and words to choose from.
    help
        What it does.
    choices
        The words that the value is one of; or what each of them stands for.
    least
        The least number that the value may be.
    callback
        Checks or replaces the value, also where it is the default.
    complete
        Returns what completes a word in a shell; by default the choices do, or files, if the value is text.
    show_default
        Whether help shows the default, or what it shows instead.
    panel
        The panel of the help; by default that of the options.
    short
        Whether the short help page has it; by default where it is in no panel.
    path
        What becomes of the paths that it names; None where it names none.
    """

    def __init__(
        self,
        *names: str,
        metavar: str | None = None,
        help: str = "",  # noqa: A002 - as everywhere
        choices: Sequence[str] | Mapping[str, str] = (),
        least: int | None = None,
        callback: Callback | None = None,
        complete: Names | None = None,
        show_default: bool | str = True,
        panel: str | None = None,
        short: bool | None = None,
        path: PathRole | None = None,
    ) -> None:
        self.names, self.metavar, self.help, self.panel = names, metavar, help, panel
        self.choices, self.least, self.callback = choices, least, callback
        self.complete, self.show_default = complete, show_default
        self.short, self.path = panel is None if short is None else short, path
        if choices and metavar is None:
            listed = "|".join(choices)
            self.metavar = listed if len(listed) <= _LONGEST_LIST else "WORD"
            if self.metavar != listed:
                self.help = f"{help} WORD: {', '.join(choices)}."


# Longer lists of words would be broken within one, in help pages of 80 columns.
_LONGEST_LIST = 21


class Panel(str):
    """A panel of the help, by its title; called, it declares an option that it lists."""

    __slots__ = ()

    def __call__(
        self,
        help: str,  # noqa: A002 - as everywhere
        metavar: str | None = None,
        *,
        names: tuple[str, ...] = (),
        **further: Any,
    ) -> Option:
        """Return an option; the parameters are those of `Option`."""
        return Option(*names, metavar=metavar, help=help, panel=self, **further)


class SharedPanel(Panel):
    """A panel that most commands have: on the short help page, its options come last."""

    __slots__ = ()


class _Declared(click.Parameter):
    """A parameter of a command, with its declaration: its value is checked as soon as it is read."""

    declared: Argument | Option

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Return the value of words of the command line; of what may be repeated, a list or None."""
        found = super().type_cast_value(ctx, value)
        repeated = self.multiple or self.nargs == -1
        values = list(found or ()) if repeated else [] if found is None else [found]
        if isinstance(self.declared, Option):
            longest = max(self.opts, key=len)
            choices, least = self.declared.choices, self.declared.least
            for one in values:
                if choices and one not in choices:
                    raise UnknownNameError(f"value of {longest}", one, choices)
                if least is not None and one < least:
                    raise InvalidValueError(f"{longest} is {one}; expected {least} or more")
            if isinstance(choices, Mapping):
                values = [choices[one] for one in values]
        return (values or None) if repeated else next(iter(values), None)

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


def paths_with(context: click.Context, *roles: PathRole) -> list[str]:
    """Return the paths that the user gave for parameters with some roles."""
    found: list[str] = []
    for one in context.command.params:
        if isinstance(one, DeclaredArgument | DeclaredOption) and one.declared.path in roles:
            value = context.params.get(str(one.name))
            found += value if isinstance(value, list | tuple) else [value or ""]
    return [path for path in found if path]


class _Number(click.ParamType):  # type: ignore[type-arg]  # generic for checkers alone
    """A number in text; what is none is named with its option."""

    def __init__(self, value: type, metavar: str) -> None:
        self.name, self.value, self.metavar = value.__name__, value, metavar

    def convert(self, value: Any, param: click.Parameter | None, _: Any) -> Any:
        """Return the number."""
        try:
            return self.value(str(value).encode("ascii"))  # or digits of any script would do
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
    if isinstance(declared.choices, Mapping):  # the word that stands for the default
        default = {meant: word for word, meant in declared.choices.items()}.get(default)
    option = DeclaredOption(
        [name, *(declared.names or (f"--{name.replace('_', '-')}",))],
        type=None if value is bool else _NUMBERS.get(value, value),
        is_flag=value is bool,
        multiple=repeats,
        nargs=number,
        default=default,
        metavar=declared.metavar or getattr(_NUMBERS.get(value), "metavar", None),
        help=declared.help,
        callback=declared.callback,
    )
    option.declared = declared
    return option


class Without:
    """Options of a group that a command does not have; they keep their defaults."""

    def __init__(self, *names: str) -> None:
        self.names = names


class Instead:
    """Options of a group that a command describes otherwise: their annotations by name."""

    def __init__(self, **annotations: Any) -> None:
        self.annotations = annotations


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
            hints |= change.annotations
    for one in fields(group):
        if one.name not in left_out:
            yield _Field(one.name, hints[one.name], one.default)


def is_given(context: click.Context, name: str) -> bool:
    """Whether the user gave the option that sets a parameter of the command."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


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
