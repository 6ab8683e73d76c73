"""Options that the user gave on the command line, and those that do not apply."""

from __future__ import annotations

from collections.abc import Sequence

import click

from confir.errors import InvalidValueError


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
