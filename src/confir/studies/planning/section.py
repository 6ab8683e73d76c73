"""Planning in the report: how many topics the difference between the best two runs needs."""

from __future__ import annotations

import math
import warnings
from typing import cast

import numpy as np

from confir.arrays import TIE
from confir.data.result import Record
from confir.defaults import ALL_PAIRS, NO_FAMILY
from confir.errors import DegenerateSampleWarning, InvalidValueError, counted
from confir.number_text import count_words, p_words, percent, signed_words
from confir.pairs.comparison import Comparison, Place
from confir.pairs.decisions import BETTER, WORSE
from confir.report.contents import Contents
from confir.report.messages import isolated
from confir.report.sections import Scope, Section
from confir.resampling.kinds import against, as_sample
from confir.studies.planning.planning import Plan, plan_topics


def _gather(scope: Scope) -> Plan | None:
    """Return the topics needed to detect the difference between the best two runs.

    Of several runs all pairs are compared as a family: the plan is for its criterion. With a
    baseline, the best two runs are not compared: None.
    """
    if scope.settings.baseline is not None:
        return None
    first = scope.measures[0]
    best, next_best = (first.scores.runs[place] for place in first.order[:2])
    pair = against(as_sample(first.scores.select(run=[next_best, best])), next_best)
    difference = pair.distribution(slice(None), None, ("se",)).estimate[0]  # on the topics of both
    if not difference > TIE:
        raise InvalidValueError(
            f"{best} does not have a higher mean than {next_best} on the topics that both have: nothing to plan for"
        )
    runs, level = len(first.scores.runs), scope.settings.level
    family = ALL_PAIRS if runs > 2 else NO_FAMILY
    with warnings.catch_warnings():  # other runs may be identical to the second best
        warnings.simplefilter("ignore", DegenerateSampleWarning)
        plan = plan_topics(
            first.scores, baseline=next_best, difference="observed", family=family, level=level
        )
    return cast("Plan", plan).select(run=[best])


def _conclusion(contents: Contents) -> str:
    """Return how many topics the best difference needs, by the first measure of the report."""
    plan: Plan = contents["planning"]
    planned = next(part for part in contents.measures if part.measure == plan.measures[0])
    if planned["comparison"] is None:
        return ""
    best, runner_up = planned.order[:2]
    comparison: Comparison = planned["comparison"][plan.level]
    record = plan.to_records()[0]
    name, unit = isolated(record["baseline"]), contents.scores.unit_name
    if comparison.verdicts_against(best)[runner_up] in (BETTER, WORSE):
        return (
            f"{counted(len(contents.scores.topics), unit)} were enough for the difference between "
            f"{isolated(record['run'])} and {name} in {plan.measures[0]}, which is significant."
        )
    if math.isnan(record["topics"]):
        return ""
    pair = (comparison.first == min(best, runner_up)) & (comparison.second == max(best, runner_up))
    decision = comparison.decision(Place(0, int(np.flatnonzero(pair)[0]), 0))
    if decision.lost_by_correction:
        return (
            f"On its own, the difference between {isolated(record['run'])} and {name} in {plan.measures[0]} "
            f"({signed_words(record['difference'])}) would be significant ({p_words(decision.p)}); "
            f"among all {counted(decision.pairs, 'pair')} it is not."
        )
    among = "alone" if plan.family == NO_FAMILY else f"among all {counted(plan.pairs, 'pair')}"
    return (
        f"If the true difference between {isolated(record['run'])} and {name} in {plan.measures[0]} is the one "
        f"observed ({signed_words(record['difference'])}), a test of this pair {among} has power "
        f"{record['power']:g} with about {count_words(record['topics'])} {unit}s "
        f"({_range_words(record, plan.level)}); there are {len(contents.scores.topics):,}."
    )


def _range_words(record: Record, level: float) -> str:
    """Return how far the number of topics is certain, as the observed difference may be off."""
    together = "" if record["family"] == NO_FAMILY else "simultaneous "
    interval = f"over the {together}{percent(level)} interval of that difference"
    if math.isnan(record["high"]):
        return f"{count_words(record['low'])} or more {interval}, which contains 0"
    return f"{count_words(record['low'])} to {count_words(record['high'])} {interval}"


SECTION: Section[Contents] = Section(
    by_measure=False,
    gather=_gather,
    several_runs="a plan needs at least 2",
    anchor="plan",
    heading="How many topics?",
    meaning="A difference that is inconclusive on these topics may be significant on more of them.",
    conclusion=_conclusion,
)
