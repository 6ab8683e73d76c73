"""Options of targets on ``confir evaluate``, and what is kept of their outcome."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import click

from confir.cli.parameters import Option, PathRole
from confir.errors import InvalidValueError

if TYPE_CHECKING:
    from confir.cli.answers import Answer
    from confir.measures.missing_scores import Ranges
    from confir.studies.targets.targets import Target, TargetVerdicts

TARGET_PANEL = "Targets"


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """The means that runs are to reach, and whether a gate closes where they do not."""

    at_least: Annotated[
        list[str] | None,
        Option(
            "Say of each run whether its mean reaches this: reached, missed or inconclusive, by the "
            "confidence interval (repeatable).",
            "MEASURE=TARGET",
            panel=TARGET_PANEL,
        ),
    ] = None
    fail_below: Annotated[
        list[str] | None,
        Option(
            "The same, and exit with 1 if a run misses it (repeatable).",
            "MEASURE=TARGET",
            panel=TARGET_PANEL,
        ),
    ] = None
    require: Annotated[
        str | None,
        Option(
            "A stricter gate: with --fail-below, exit with 1 unless every run reaches the target.",
            panel=TARGET_PANEL,
            choices=("reached",),
        ),
    ] = None
    junit: Annotated[
        str | None,
        Option(
            "Write the outcome of --fail-below as JUnit XML.",
            "FILE",
            panel=TARGET_PANEL,
            path=PathRole.WRITE,
        ),
    ] = None

    def targets(self) -> list[Target]:
        """Return the targets, those of the gate last; raise where options do not fit together."""
        from confir.cli.file_checks import check_junit

        for option in ("require", "junit"):
            if getattr(self, option) is not None and not self.fail_below:
                raise InvalidValueError(
                    f"--{option} needs --fail-below MEASURE=TARGET: it belongs to a gate"
                )
        if self.junit is not None:
            check_junit(self.junit)
        if not self.at_least and not self.fail_below:
            return []
        from confir.studies.targets.targets import parse_targets

        gated = parse_targets(self.fail_below or (), "--fail-below")
        wanted = parse_targets(self.at_least or (), "--at-least")
        return [one for one in wanted if one not in gated] + gated

    def judge(
        self,
        context: click.Context,
        scores: Any,
        targets: Sequence[Target],
        *,
        level: float,
        method: str | None,
        bounds: Ranges,
        seed: int,
    ) -> tuple[Answer, list[tuple[str, bool]]]:
        """Return what is shown of the targets, and each gate in words with whether it is closed."""
        from confir.cli.answers import Answer
        from confir.cli.commands import run_last
        from confir.report.result_table import table_of
        from confir.report.tables import AnswerPart
        from confir.studies.targets.targets import judge_target

        found = judge_target(scores, targets, level=level, method=method, bounds=bounds, rng=seed)
        gated = range(len(targets) - len(self.fail_below or ()), len(targets))
        gates = [self._gate(found, place) for place in gated]
        if self.junit is not None:
            suites = [self._suite(found, place) for place in gated]
            run_last(context, _keeping(suites, self.junit))
        sentences = tuple(found.sentences())
        parts = [
            AnswerPart(f"Gate {'closed' if closed else 'open'}: {targets[place].measure}", (said,))
            for place, (said, closed) in zip(gated, gates, strict=True)
        ]
        parts.append(AnswerPart("Targets", sentences, table_of(found)))
        return Answer(found.to_records(), table_of(found), found, parts), gates

    def _failing(self, found: TargetVerdicts, place: int) -> list[int]:
        """Return the runs that close the gate of a target."""
        return [
            run
            for run, word in enumerate(found.verdict[place].tolist())
            if word == "missed" or (self.require == "reached" and word != "reached")
        ]

    def _gate(self, found: TargetVerdicts, place: int) -> tuple[str, bool]:
        """Return the outcome of a gate in a sentence that names every run that fails."""
        target, failing = found.targets[place], self._failing(found, place)
        goal = f"{target.value:g} in {target.measure}"
        if failing:
            reasons = "; ".join(found.sentence(run, place) for run in failing)
            return f"gate closed: {reasons}", True
        passing = "every run reaches" if self.require else "no run misses"
        return f"gate open: {passing} {goal}", False

    def _suite(self, found: TargetVerdicts, place: int) -> Any:
        """Return a target as a suite of tests, one per run."""
        from confir.report.junit_xml import Check, Suite

        target, failing = found.targets[place], self._failing(found, place)
        kind = "target-missed" if self.require is None else "target-not-reached"
        checks = [
            Check(run, found.sentence(number, place), number not in failing, kind)
            for number, run in enumerate(found.runs)
        ]
        return Suite(f"{target.measure} at least {target.value:g}", target.measure, checks)

    def announce(self, gates: Sequence[tuple[str, bool]], *, shown: bool) -> None:
        """Say how gates decided, unless that is shown; exit with 1 where one is closed."""
        from confir.cli.streams import print_message

        for sentence, _ in () if shown else gates:
            print_message(f"confir: {sentence}")
        if any(closed for _, closed in gates):
            raise click.exceptions.Exit(1)


@contextmanager
def _keeping(suites: Sequence[Any], junit: str) -> Iterator[None]:
    """Write the outcome at the end of a command that did all it should."""
    from confir.data.files import write_whole
    from confir.report.junit_xml import suites_to_junit

    try:
        yield
    except click.exceptions.Exit:
        write_whole(junit, suites_to_junit(suites))
        raise
    write_whole(junit, suites_to_junit(suites))
