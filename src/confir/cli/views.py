"""The views of a command: what --show chooses among, and which options apply to each.

A command declares its views once. The option with its help and shell completion, the refusal of
options without effect, and the kinds of records in ``confir schema`` follow from the declaration.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, NamedTuple

import click

from confir.cli.parameters import Option, is_given, refuse_options
from confir.errors import InvalidValueError, enumerate_names

# The view that -q stands for.
TOPICS = "topics"


class View(NamedTuple):
    """One view of a command's answer.

    Attributes
    ----------
    name
        Its name after --show.
    about
        What it prints, in a few words.
    records
        The kind of its records in the schema.
    paired
        Their kind with a baseline, or with labels in place of runs, where that differs.
    needs
        Parameters that must be given with it.
    lacks
        Parameters that have no effect on it.
    """

    name: str
    about: str
    records: str
    paired: str = ""
    needs: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its records in the schema."""
        return (self.records, self.paired) if self.paired else (self.records,)


class Views:
    """The views of a command, the default first.

    Parameters
    ----------
    views
        In the order of the help.
    paired
        The name of the default where a baseline is given; by default the first view, too.
    gate, gated
        A parameter that decides something besides the view, and the parameters that it uses: with
        it, a view that lacks them does not refuse them.
    """

    def __init__(
        self, *views: View, paired: str = "", gate: str = "", gated: tuple[str, ...] = ()
    ) -> None:
        self.by_name = {view.name: view for view in views}
        self._default = views[0].name
        self._paired = paired or self._default
        self._gate, self._gated = gate, frozenset(gated)

    def option(self) -> Any:
        """Return the option --show, for the annotation of a parameter."""
        usual = {self._paired: f"{self._paired} (default with --baseline)"}
        usual[self._default] = f"{self._default} (default)"
        names = dict.fromkeys((self._default, self._paired, *self.by_name))
        listed = ", ".join(usual.get(name, name) for name in names)
        views = "; ".join(f"{view.name}: {view.about}" for view in self.by_name.values())
        about = f"What to print: {listed}. {views}."
        return Option(about, "VIEW", names=("--show",), choices=tuple(self.by_name))

    def choose(
        self, context: click.Context, show: str | None, *, topics: bool = False, default: str = ""
    ) -> View:
        """Return the view that the options ask for; raise where others do not apply to it.

        Parameters
        ----------
        context
            The context of the command.
        show, topics
            The values of --show and -q.
        default
            The default of this call, where it is neither of the declared ones.
        """
        if topics and show not in (None, TOPICS):
            raise InvalidValueError(f"-q is --show {TOPICS}; leave it out, or --show {show}")
        has_baseline = context.params.get("baseline") is not None
        usual = default or (self._paired if has_baseline else self._default)
        view = self.by_name[TOPICS if topics else show or usual]
        for name in view.needs:
            if not is_given(context, name):
                raise InvalidValueError(f"--show {view.name} needs --{name.replace('_', '-')}")
        kept = self._gated if self._gate and is_given(context, self._gate) else frozenset()
        for name in view.lacks:
            if name not in kept and is_given(context, name):
                other = [one.name for one in self.by_name.values() if name not in one.lacks]
                views = f"; it is for --show {enumerate_names(other)}" if other else ""
                reason = f"has no effect on --show {view.name} ({view.about}){views}"
                refuse_options(context, [name], reason)
        return view


TopicsOption = Annotated[bool, Option(f"The same as --show {TOPICS}.", names=("-q",), short=False)]


def schema_views(declared: Iterable[tuple[str, Views]]) -> dict[str, dict[str, list[str]]]:
    """Return the kinds of records by command and view, for the schema."""
    return {
        command: {view.name: list(view.kinds) for view in views.by_name.values()}
        for command, views in declared
    }
