"""Planning in the report: how many topics the difference between the best two runs needs."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from confir.errors import InvalidValueError, counted
from confir.order import TIE, signed
from confir.report.contents import Contents
from confir.report.names import isolated
from confir.report.numbers import p_text
from confir.report.sections import Scope, Section, Sentence
from confir.studies.comparison.comparison import Comparison, Place
from confir.studies.comparison.verdicts import INCONCLUSIVE, verdicts_against
from confir.studies.planning.planning import Plan, plan_topics


def _gather(scope: Scope) -> Plan:
    """Return the topics needed to detect the difference between the best two runs."""
    scope.require_runs("a plan")
    first = scope.measures[0]
    best, next_best = (first.scores.runs[place] for place in first.order()[:2])
    pair = first.scores.select(run=[next_best, best])
    differences = pair.values[:, 1, 0] - pair.values[:, 0, 0]
    shared = differences[~np.isnan(differences)]
    difference = float(shared.mean()) if len(shared) else 0.0
    if difference <= TIE:
        raise InvalidValueError(
            f"{best} does not have a higher mean than {next_best} on the topics that both have: nothing to plan for"
        )
    level = scope.settings.level
    return plan_topics(pair, baseline=next_best, difference=difference, level=level)


def _answer(contents: Contents) -> Iterator[Sentence]:
    """Yield how many topics the best difference needs, where it is inconclusive."""
    plan: Plan | None = contents["planning"]
    first = contents.measures[0]
    if plan is None or first["comparison"] is None:
        return
    best, runner_up = first.order()[:2]
    comparison: Comparison = first["comparison"][contents.settings.level]
    record = plan.to_records()[0]
    if verdicts_against(comparison, best)[runner_up] != INCONCLUSIVE or math.isnan(
        record["topics"]
    ):
        return
    name = isolated(record["baseline"])
    pair = (comparison.first == min(best, runner_up)) & (comparison.second == max(best, runner_up))
    decision = comparison.decision(Place(0, int(np.flatnonzero(pair)[0]), 0))
    if decision.lost_by_correction:
        text = (
            f"On its own, the difference from {name} ({signed(record['difference'])}) would be "
            f"significant (p {p_text(decision.p)}); after the correction for "
            f"{counted(decision.family.pairs, 'pair')} it is not."
        )
    else:
        text = (
            f"If its true difference from {name} is the one observed "
            f"({signed(record['difference'])}), a test of this pair alone has power "
            f"{record['power']:g} with about {record['topics']:,} topics; there are "
            f"{len(contents.scores.topics)}."
        )
    yield Sentence(60, text)


SECTION: Section[Contents] = Section(by_measure=False, gather=_gather, answer=_answer)
