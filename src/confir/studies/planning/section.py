"""Planning in the report: how many topics the difference between the best two runs needs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator

import numpy as np

from confir.data.result import Record
from confir.data.scores import Scores
from confir.defaults import ALL_PAIRS, NO_FAMILY
from confir.errors import DegenerateSampleWarning, InvalidValueError, counted
from confir.measures.score_summary import ScoreSummary
from confir.order import TIE, signed
from confir.report.contents import Contents
from confir.report.names import isolated
from confir.report.numbers import p_text, percent
from confir.report.sections import Scope, Section, Sentence
from confir.resampling.kinds import against, as_sample
from confir.studies.comparison.comparison import Comparison, Place
from confir.studies.comparison.verdicts import INCONCLUSIVE, verdicts_against
from confir.studies.planning.planning import Plan, plan_topics


def _gather(scope: Scope) -> Plan | None:
    """Return the topics needed to detect the difference between the best two runs.

    Of several runs all pairs are compared as a family: the plan is for its criterion. With a
    baseline, the best two runs are not compared: None.
    """
    scope.require_runs("a plan")
    if scope.settings.baseline is not None:
        return None
    first = scope.measures[0]
    best, next_best = (first.scores.runs[place] for place in first.order()[:2])
    pair = first.scores.select(run=[next_best, best])
    difference = _mean_difference(pair, next_best)
    if difference <= TIE:
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
    return plan.select(run=[best])


def _mean_difference(pair: Scores | ScoreSummary, baseline: str) -> float:
    """Return the mean difference of the other run from one, on the topics that both have."""
    found = against(as_sample(pair), baseline).distribution(slice(None), None, ("se",))
    return float(np.nan_to_num(found.estimate[0]))


def _answer(contents: Contents) -> Iterator[Sentence]:
    """Yield how many topics the best difference needs, where it is inconclusive."""
    plan: Plan | None = contents["planning"]
    first = contents.measures[0]
    if plan is None or first["comparison"] is None:
        return
    if (plan.measures[0], plan.level) != (first.measure, contents.settings.level):
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
        among = "alone" if plan.family == NO_FAMILY else f"among all {counted(plan.pairs, 'pair')}"
        text = (
            f"If its true difference from {name} is the one observed "
            f"({signed(record['difference'])}), a test of this pair {among} has power "
            f"{record['power']:g} with about {record['topics']:,} topics "
            f"({_range_words(record, contents.settings.level)}); there are "
            f"{len(contents.scores.topics):,}."
        )
    yield Sentence(60, text)


def _range_words(record: Record, level: float) -> str:
    """Return how far the number of topics is certain, as the observed difference may be off."""
    together = "" if record["family"] == NO_FAMILY else "simultaneous "
    interval = f"over the {together}{percent(level)} interval of that difference"
    if math.isnan(record["high"]):
        return f"{record['low']:,.0f} or more {interval}, which contains 0"
    return f"{record['low']:,.0f} to {record['high']:,.0f} {interval}"


SECTION: Section[Contents] = Section(by_measure=False, gather=_gather, answer=_answer)
