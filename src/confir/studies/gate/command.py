"""Options of a gate, for every command that has one, and what is kept of its outcome."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import click

from confir.cli.parameters import Option, PathRole
from confir.cli.start import build_seconds
from confir.errors import InvalidValueError

if TYPE_CHECKING:
    from confir.cli.answers import Answer
    from confir.pairs.comparison import Comparison
    from confir.pairs.gate import Gate, GateRule
    from confir.report.junit_xml import Suite
    from confir.studies.gate.false_alarms import FalseAlarms
    from confir.studies.history.history_file import OpenHistory

GATE_PANEL = "Gate"


def require_option() -> Any:
    """Return the option --require: what a candidate must show to pass a stricter gate."""
    return Option(
        "A stricter gate: exit with 1 unless the difference is significantly above -MARGIN, or "
        "above 0.",
        panel=GATE_PANEL,
        choices=("non-inferior", "superior"),
    )


# Where continuous integration says which commit it builds.
_COMMITS = ("GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT")


@dataclass(frozen=True, slots=True)
class GateRecords:
    """What is kept of a gate: the history of its looks, and the outcome as JUnit XML."""

    history: Annotated[
        str | None,
        Option(
            "Append this look to a history (JSON Lines), and control the error rate over all of its "
            "looks. confir history shows it.",
            "FILE",
            panel=GATE_PANEL,
            path=PathRole.APPEND,
        ),
    ] = None
    looks: Annotated[
        str,
        Option(
            "What is new at each look of --history: candidates on the same topics, or topics for the "
            "same candidates.",
            panel=GATE_PANEL,
            choices=("candidates", "topics"),
        ),
    ] = "candidates"
    new_baseline: Annotated[
        bool,
        Option(
            "Begin a new sequence of looks in the same history, whose error rate is controlled by itself: "
            "other qrels, topics or another baseline.",
            panel=GATE_PANEL,
        ),
    ] = False
    commit: Annotated[
        str | None,
        Option(
            "The commit for --history; by default what GITHUB_SHA, CI_COMMIT_SHA or GIT_COMMIT says.",
            "ID",
            panel=GATE_PANEL,
        ),
    ] = None
    junit: Annotated[
        str | None,
        Option("Write the gate as JUnit XML.", "FILE", panel=GATE_PANEL, path=PathRole.WRITE),
    ] = None

    def check(self, gates: Sequence[str], baseline: str | None, what: str = "run") -> None:
        """Raise before any work where a gate has no baseline, or what belongs to it could not be kept.

        Parameters
        ----------
        gates, baseline
            The measures that decide, none without a gate; and what candidates are compared with.
        what
            What is compared, in messages.
        """
        from confir.cli.file_checks import check_folder, check_junit

        if gates and baseline is None:
            raise InvalidValueError(f"--fail-if-worse needs --baseline, the {what} to compare with")
        for option in ("history", "commit", "junit"):
            if getattr(self, option) is not None and not gates:
                raise InvalidValueError(f"--{option} needs --fail-if-worse: it belongs to a gate")
        of_looks = self.commit is not None or self.looks != "candidates" or self.new_baseline
        if self.history is None and of_looks:
            raise InvalidValueError(
                "--commit, --looks and --new-baseline need --history FILE, which records the looks"
            )
        if self.junit is not None:
            check_junit(self.junit)
        if self.history is not None:
            check_folder(self.history)

    def check_false_alarms(self) -> None:
        """Raise where false alarms cannot be simulated: of topics that arrive."""
        if self.looks != "candidates":
            raise InvalidValueError(
                "--show false-alarms is for a gate on the same topics; it cannot be combined with --looks "
                f"{self.looks}"
            )

    def judge(
        self,
        context: click.Context,
        comparison: Comparison,
        measures: Sequence[str],
        rule: GateRule,
        seed: int,
        alarms: Callable[[float], FalseAlarms] | None = None,
    ) -> list[Gate]:
        """Return the gates, by the history where there is one.

        What is to be kept of them is written after all else that the command writes, with what
        ``alarms`` finds at the level of the look.
        """
        from confir.cli.commands import run_last
        from confir.pairs.gate import judge_gate
        from confir.studies.history.looks import Look, begin_look

        if self.history is None:
            waiting = None
            gates = [judge_gate(comparison, name, **rule._asdict()) for name in measures]
        else:
            commit = self.commit or _commit_being_built()
            digest = _digest_of_qrels(context)
            look = Look(commit, _now(), self.looks, digest, self.new_baseline)
            gates, waiting = begin_look(
                self.history, comparison, measures, rule, look, seed=seed, alarms=alarms
            )
        run_last(context, _keeping(gates, self.junit, waiting))
        return gates

    def announce(self, gates: Sequence[Gate], *, shown: bool) -> None:
        """Say how gates decided, unless that is shown; exit with 1 where one is closed."""
        from confir.cli.streams import print_message

        for caution in () if shown else dict.fromkeys(c for gate in gates for c in gate.cautions):
            print_message(f"confir: warning: {caution}")
        for gate in () if shown else gates:
            print_message(f"confir: {gate.sentence()}")
        if any(gate.closed for gate in gates):
            raise click.exceptions.Exit(1)


def simulated_alarms(
    comparison: Comparison, measures: Sequence[str], rule: GateRule, seed: int
) -> Callable[[float], FalseAlarms]:
    """Return what simulates how often a gate is wrong at a level; each level once."""
    from functools import cache

    from confir.studies.gate.false_alarms import find_false_alarms

    @cache
    def simulate(level: float) -> FalseAlarms:
        return find_false_alarms(comparison, measures, rule, level=level, rng=seed)

    return simulate


def alarms_answer(alarms: FalseAlarms) -> Answer:
    """Return how often a gate is wrong and what it catches: the three lines, and what they rest on."""
    from confir.cli.answers import Answer
    from confir.report.result_table import result_table
    from confir.report.tables import AnswerPart

    table = result_table(alarms)
    parts = [AnswerPart("False alarms", (*alarms.sentences(), f"Each line: {alarms.note()}."))]
    return Answer(alarms.to_records(), table, alarms, parts)


# The options of a gate, but for the margin, which comparisons without a gate have, too.
GATE_OPTIONS = ("fail_if_worse", "require", *(field.name for field in fields(GateRecords)))


@contextmanager
def _keeping(
    gates: Sequence[Gate], junit: str | None, waiting: OpenHistory | None
) -> Iterator[None]:
    """Keep gates at the end of a command that did all it should: JUnit first, then the look."""
    try:
        try:
            yield
        except click.exceptions.Exit:
            _keep(gates, junit, waiting)
            raise
        _keep(gates, junit, waiting)
    finally:
        if waiting is not None:
            waiting.close()


def _suite(gate: Gate) -> Suite:
    """Return a gate as a suite of tests, one per candidate."""
    from confir.pairs.verdict_words import difference_and_verdict as said
    from confir.report.junit_xml import Check, Suite

    checks = [
        Check(one.run, said(one.decision), one.passes, gate.require, gate.failure(one))
        for one in gate.candidates
    ]
    return Suite(f"{gate.measure} against {gate.baseline}", gate.measure, checks, gate.cautions)


def _keep(gates: Sequence[Gate], junit: str | None, waiting: OpenHistory | None) -> None:
    from confir.data.files import write_whole
    from confir.report.junit_xml import suites_to_junit

    sys.stdout.flush()  # or a full disk would show only after the look is spent
    if junit is not None:
        write_whole(junit, suites_to_junit([_suite(gate) for gate in gates]))
    if waiting is not None:
        try:
            waiting.append()
        except BaseException:
            if junit is not None:  # it would report a look that is not in the history
                with suppress(OSError):
                    os.unlink(junit)
            raise


def _commit_being_built() -> str | None:
    return next((os.environ[name] for name in _COMMITS if os.environ.get(name)), None)


def _digest_of_qrels(context: click.Context) -> str | None:
    """Return the digest of the qrels, with that of human ones if there are any; None without such files."""
    import hashlib

    from confir.cli.provenance import describe_files

    paths = [path for path in map(context.params.get, ("qrels", "human")) if path is not None]
    digests = [one["sha256"] for one in describe_files(paths)]
    if not digests or None in digests:
        return None
    return (
        digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()
    )


def _now() -> str:
    """Return the time, or that of the build, in ISO 8601."""
    seconds = build_seconds()
    time = datetime.now(UTC) if seconds is None else datetime.fromtimestamp(seconds, UTC)
    return time.isoformat(timespec="seconds")
