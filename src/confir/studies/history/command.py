"""``confir history``: the looks of a gate, as a table or a chart; and the options that keep them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from confir.cli import options
from confir.errors import InvalidValueError

if TYPE_CHECKING:
    from confir.studies.comparison.comparison import Comparison
    from confir.studies.comparison.gate import Gate, GateRule

GATE_PANEL = "Gate"
# Where continuous integration says which commit it builds.
_COMMITS = ("GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT")


@dataclass(frozen=True, slots=True)
class GateRecords:
    """What is kept of a gate: the history of its looks, and the outcome as JUnit XML."""

    history: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Append this look to a history (JSON Lines), and control the error rate over all of its "
            "looks. confir history shows it.",
            rich_help_panel=GATE_PANEL,
        ),
    ] = None
    looks: Annotated[
        str,
        options.choice(
            *("candidates", "topics"),
            help="What is new at each look of --history: candidates on the same topics, or topics for the "
            "same candidates.",
            panel=GATE_PANEL,
        ),
    ] = "candidates"
    commit: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="The commit for --history; by default what GITHUB_SHA, CI_COMMIT_SHA or GIT_COMMIT says.",
            rich_help_panel=GATE_PANEL,
        ),
    ] = None
    junit: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write the gate as JUnit XML.", rich_help_panel=GATE_PANEL
        ),
    ] = None

    def check(self, gates: Sequence[str]) -> None:
        """Raise before any work where there is nothing to keep, or it could not be written."""
        from confir.cli.terminal import check_folder

        for option in ("history", "commit", "junit"):
            if getattr(self, option) is not None and not gates:
                raise InvalidValueError(
                    f"--{option} needs --fail-if-worse MEASURE: it belongs to a gate"
                )
        if self.history is None and (self.commit is not None or self.looks != "candidates"):
            raise InvalidValueError(
                "--commit and --looks need --history FILE, which records the looks"
            )
        if self.junit is not None and not self.junit.lower().endswith(".xml"):
            raise InvalidValueError(
                f"{self.junit}: the gate is written as JUnit XML; expected a name such as gate.xml"
            )
        for path in filter(None, (self.history, self.junit)):
            check_folder(path)

    def judge(
        self, comparison: Comparison, measures: Sequence[str], rule: GateRule, seed: int
    ) -> list[Gate]:
        """Return the gates, by the history where there is one, and keep what is to be kept."""
        from confir.data.files import write_whole
        from confir.studies.comparison.gate import judge_gate
        from confir.studies.comparison.junit import gates_to_junit
        from confir.studies.history.gate_looks import judge_look
        from confir.studies.history.looks import Look

        if self.history is None:
            gates = [judge_gate(comparison, name, **rule._asdict()) for name in measures]
        else:
            look = Look(self.commit or _commit_being_built(), _now(), self.looks)
            gates = judge_look(self.history, comparison, measures, rule, look, seed=seed)
        if self.junit is not None:
            write_whole(self.junit, gates_to_junit(gates))
        return gates


def _commit_being_built() -> str | None:
    return next((os.environ[name] for name in _COMMITS if os.environ.get(name)), None)


def _now() -> str:
    """Return the time, or that of SOURCE_DATE_EPOCH, in ISO 8601."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not given:
        return datetime.now(UTC).isoformat(timespec="seconds")
    if not re.fullmatch("[0-9]{1,11}", given):  # dates end with the year 5138
        raise InvalidValueError(
            f"SOURCE_DATE_EPOCH is {given!r}; expected seconds since 1970, such as 1767225600"
        )
    return datetime.fromtimestamp(int(given), UTC).isoformat(timespec="seconds")


def history_command(
    *,
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="What confir compare --history wrote: JSON Lines."),
    ] = None,
    measure: options.MeasuresOption = None,
    run: Annotated[
        list[str] | None,
        typer.Option("--run", metavar="NAME", help="Only this candidate (repeatable)."),
    ] = None,
    out: options.Output,
) -> None:
    """Show how a gate decided over time: table, or chart of differences with intervals.

    Example: `confir history history.jsonl -o trend.svg`
    """
    from confir.cli.terminal import result_answer
    from confir.studies.history.history import read_history

    out.prepare()
    if file is None:
        raise InvalidValueError("expected FILE; for example: confir history history.jsonl")
    history = read_history(file)
    chosen = {name: wanted for name, wanted in (("measure", measure), ("run", run)) if wanted}
    out.deliver(result_answer(history.select(**chosen) if chosen else history))
