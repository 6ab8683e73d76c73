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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import click

from confir.errors import InvalidValueError, UnknownNameError

Command = Callable[..., None]
Completer = Callable[[str], list[str]]
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
        Completes a word in a shell; by default by files.
    path
        What becomes of the paths that it names; None where it names none.
    """

    metavar: str
    help: str = ""
    complete: Completer | None = None
    path: PathRole | None = None


class Option:
    """What is given by its name.

    Parameters
    ----------
    names
        Such as ``-m`` and ``--measure``, or ``--bounded/--unbounded``; by default that of the parameter.
    metavar
        What stands for the value in help; by default N or X for a number.
    help
        What it does.
    callback
        Checks or replaces the value, also where it is the default.
    complete
        Completes a word in a shell; by default by files, if the value is text.
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
        callback: Callback | None = None,
        complete: Completer | None = None,
        show_default: bool | str = True,
        panel: str | None = None,
        short: bool | None = None,
        path: PathRole | None = None,
    ) -> None:
        self.names, self.metavar, self.help, self.panel = names, metavar, help, panel
        self.callback, self.complete, self.show_default = callback, complete, show_default
        self.short, self.path = panel is None if short is None else short, path


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


def among(names: Callable[[], Iterable[str]]) -> Completer:
    """Return what completes a word by names, which are looked up when they are needed."""

    def completions(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return completions


def one_of(*words: str) -> Callback:
    """Return what checks that a value is one of some words, as soon as it is read."""

    def check(_: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
        if value is not None and value not in words:
            raise UnknownNameError(f"value of {max(parameter.opts, key=len)}", value, words)
        return value

    return check


class DeclaredArgument(click.Argument):
    """An argument of a command, with its declaration."""

    declared: Argument


class DeclaredOption(click.Option):
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


def click_parameter(name: str, annotation: Any, default: Any) -> click.Parameter:
    """Return the argument or option that an annotated parameter declares."""
    value, declared = get_args(annotation)
    kind = _kind(value)
    completer = _shell_completer(declared.complete, kind)
    if isinstance(declared, Argument):
        required = default is MISSING
        argument = DeclaredArgument(
            [name],
            type=_Number(kind.value, name) if kind.value in _NUMBERS else kind.value,
            nargs=-1 if kind.repeats else kind.words,
            required=required,
            **({} if required else {"default": None}),
            metavar=declared.metavar,
            callback=_callback(None, kind),
            shell_complete=completer,
        )
        argument.declared = declared
        return argument
    names = declared.names or (f"--{name.replace('_', '-')}",)
    is_flag, longest = kind.value is bool, max(names, key=len)
    value_type = _Number(kind.value, longest) if kind.value in _NUMBERS else kind.value
    option = DeclaredOption(
        [name, *names],
        type=None if is_flag else value_type,
        is_flag=is_flag,
        multiple=kind.repeats,
        nargs=kind.words,
        default=default,
        metavar=declared.metavar or _NUMBERS.get(kind.value),
        help=declared.help,
        callback=_callback(declared.callback, kind),
        shell_complete=completer,
    )
    option.declared = declared
    return option


_NUMBERS: dict[type, str] = {int: "N", float: "X"}


class _Kind(NamedTuple):
    """What the type of a parameter says: the type of one value, how often it comes, its words."""

    value: type
    repeats: bool = False
    words: int = 1


def _kind(annotation: Any) -> _Kind:
    if isinstance(annotation, types.UnionType) or get_origin(annotation) is Union:
        (annotation,) = (one for one in get_args(annotation) if one is not types.NoneType)
    inner = get_args(annotation)
    if get_origin(annotation) is list:
        return _Kind(inner[0], repeats=True)
    return _Kind(inner[0], words=len(inner)) if inner else _Kind(annotation)


class _Number(click.ParamType):  # type: ignore[type-arg]
    """A number in text; what is none is named with its option."""

    def __init__(self, value: type, option: str) -> None:
        self.name = value.__name__
        self._value, self._option = value, option

    def convert(self, value: Any, _: Any, __: Any) -> Any:
        try:
            return self._value(str(value).encode("ascii"))  # or digits of any script would do
        except ValueError:
            expected = "a whole number" if self._value is int else "a number"
            raise InvalidValueError(f"{self._option} is {value!r}; expected {expected}") from None


def _callback(declared: Callback | None, kind: _Kind) -> Callback | None:
    """Return the callback of a parameter; what can be given repeatedly is a list, or None."""
    if not kind.repeats:
        return declared

    def listed(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
        values = list(value) if value else None
        return values if declared is None else declared(context, parameter, values)

    return listed


def _shell_completer(complete: Completer | None, kind: _Kind) -> Callable[..., list[Any]]:
    """Return what completes a value in a shell: by names if there are any, text by files."""

    def completions(_: Any, __: Any, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        if complete is not None:
            return [CompletionItem(name) for name in complete(incomplete)]
        return [CompletionItem(incomplete, type="file")] if kind.value is str else []

    return completions


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
        hint = hints[one.name]
        kind, *changes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
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


class Renamed(NamedTuple):
    """An option that was renamed.

    Attributes
    ----------
    option
        Its former name.
    instead
        What to write now.
    commands
        The commands that had it; empty for all.
    """

    option: str
    instead: str
    commands: tuple[str, ...] = ()


_TOPICS = ("evaluate", "compare", "collection", "topics", "chance")

RENAMED = (
    Renamed("--per-topic", "--show topics, or -q", _TOPICS),
    Renamed("--ranks", "confir compare --show ranks", ("evaluate",)),
    Renamed("--unjudged", "--show unjudged --treatment bounds|condensed|resample", ("evaluate",)),
    Renamed("--ties", "--show ties --treatment bounds|expected", ("evaluate",)),
    Renamed("--best", "--show best, which compare prints without --baseline", ("compare",)),
    Renamed("--groups", "--show groups", ("compare",)),
    Renamed("--effects", "--show effects", ("compare",)),
    Renamed("--unjudged", "--show unjudged", ("compare",)),
    Renamed("--variance", "--show variance", ("collection", "judges")),
    Renamed("--confusion", "--show confusion", ("judges",)),
    Renamed("--by-run", "--show runs", ("judges",)),
    Renamed("--reliability", "--show reliability", ("components",)),
    Renamed("--datasets", "--generalise-to these (was fixed) or similar (was random)"),
)


def new_name(command: str, option: str) -> str | None:
    """Return one sentence that names what replaces an option; None where nothing does."""
    for one in RENAMED:
        if one.option == option and (not one.commands or command in one.commands):
            return f"{option} is now {one.instead}"
    return None
