"""A study: a question, and where its answer is computed and shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

# Panels of the help.
DAILY, STUDY, LISTS = "Daily", "Studies", "Lists"


class Shown(NamedTuple):
    """How a result is shown and what its records are called.

    Attributes
    ----------
    table, chart
        The functions in table.py and chart.py that show it; None: as it declares itself.
    records
        The kind of its records in ``confir schema``, by default the name of the study's command;
        empty where no command prints them, or their columns are not those that it declares.
    """

    table: str | None = None
    chart: str | None = None
    records: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """A question, and where its answer is computed and shown.

    Attributes
    ----------
    folder
        The package below ``confir.studies``.
    question
        The question, in one sentence.
    source
        The paper that it follows, or its subject, and the page in ``docs``.
    verbs
        Functions of `confir` that answer it.
    results
        Results as "module.Class", in the folder or after a leading dot in confir, and how each is
        shown.
    commands
        Its commands; command.py has a function ``<name>_command`` for each.
    panel
        The panel of the help that lists its commands.
    section
        Whether it has a part in the report: the SECTION of section.py.
    """

    folder: str
    question: str
    source: tuple[str, str]
    verbs: tuple[str, ...] = ()
    results: Mapping[str, Shown] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    panel: str = STUDY
    section: bool = False

    def module(self, name: str) -> str:
        """Return the full name of a module of the folder, or of confir after a leading dot."""
        home = "confir" if name.startswith(".") else f"confir.studies.{self.folder}"
        return f"{home}.{name.removeprefix('.')}"

    def load(self, module: str, name: str) -> Any:
        """Return a function of one of the folder's modules."""
        return getattr(import_module(self.module(module)), name)
