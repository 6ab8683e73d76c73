"""Plans in words: a sentence for a run and a measure, the cells and the notes of tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from confir.data.result import Record
from confir.defaults import ALL_PAIRS, BEST, NO_FAMILY
from confir.errors import counted
from confir.number_text import number_text, percent
from confir.pairs.power import MOST_TOPICS
from confir.studies.planning.goals import (
    ACHIEVED_POWER,
    ACHIEVED_WIDTH,
    DETECTABLE,
    HALF_WIDTH,
    NEEDED,
    POWER,
)

if TYPE_CHECKING:
    from confir.studies.planning.human_documents import DocumentPlan
    from confir.studies.planning.human_topics import HumanPlan
    from confir.studies.planning.planning import Plan
    from confir.studies.planning.usual_goals import PlanOverview

# The difference, or half width, of which a sentence says what it takes.
_USUAL = 0.02
_TOO_MANY = "more topics than can be judged"
_NO_ANSWER = f"–: {_TOO_MANY}, over {MOST_TOPICS:,}"


def plan_sentence(record: Record, *, level: float, asked: float, observed: bool) -> str:
    """Return a sentence on a row of a plan's table.

    Parameters
    ----------
    record
        The row.
    level, asked
        Confidence level, and power asked for.
    observed
        Whether the plan is for the difference that the pilot shows.
    """
    against = f" against {record['baseline']}" if record["baseline"] is not None else ""
    what = f"{record['run']}{against} by {record['measure']}"
    if math.isnan(record["sd"]):
        return f"{what}: nothing can be planned"
    span, conditions = _span(record, observed=observed), _conditions(record)
    topics = f"{record['topics']:.0f} topics"
    if "judgements" in record:
        topics += f", which take {record['judgements']:.0f} judgements,"
    if record["goal"] not in NEEDED:
        return f"{what}: with {topics}, {_yield(record, level, asked, span)}{conditions}"
    needed = _TOO_MANY if math.isnan(record["topics"]) else f"{topics}{span}"
    size = f"{record['difference']:g}"
    purpose = f"to detect a true difference of {size} with power {asked:g}"
    if record["goal"] == HALF_WIDTH:
        purpose = f"for a {_width(record, level, size)}"
    return f"{what}: {needed} {purpose}{conditions}"


def overview_sentence(records: Sequence[Record], level: float) -> str:
    """Return what the present topics give by one measure, and what the usual goal of 0.02 takes.

    ``records`` are those of one run or pair; differences come after means, and are said if there
    are some.
    """
    *_, at_hand = records
    if at_hand["goal"] == DETECTABLE and math.isnan(at_hand["half_width"]):
        means = [one for one in records if one["goal"] in (HALF_WIDTH, ACHIEVED_WIDTH)]
        if not math.isnan(means[-1]["half_width"]):
            own = overview_sentence(means, level)
            return f"no difference in {at_hand['measure']} can be planned for; {own}"
    asked = POWER if at_hand["goal"] == DETECTABLE else HALF_WIDTH
    goal = next(r for r in records if (r["goal"], r["difference"]) == (asked, _USUAL))
    measure, topics, size = at_hand["measure"], at_hand["topics"], at_hand["difference"]
    if math.isnan(at_hand["half_width"]):
        return f"from these scores in {measure}, nothing can be planned"
    span = "" if math.isnan(goal["low"]) else f" ({goal['low']:,.0f} to {goal['high']:,.0f})"
    needed = _TOO_MANY if math.isnan(goal["topics"]) else f"{goal['topics']:,} topics{span}"
    if asked == HALF_WIDTH:
        return (
            f"{topics:,} topics give the mean {measure} to within ±{size:.3f} "
            f"({percent(level)} interval); ±{_USUAL:g} takes {needed}"
        )
    found = "no difference" if math.isnan(size) else f"a true difference of {size:.3f}"
    return (
        f"{topics:,} topics detect {found} in {measure} with power {at_hand['power']:g}; "
        f"{_USUAL:g} takes {needed}"
    )


def _span(record: Record, *, observed: bool) -> str:
    """Return the range of the answer in brackets, and where it comes from."""
    low, high = record["low"], record["high"]
    if math.isnan(low):
        return ""
    form = ".0f" if record["goal"] in NEEDED else ".4f"
    most = f"to {high:{form}}" if not math.isnan(high) else "or more"
    if observed:
        together = _together(record["family"])
        return f" ({low:{form}} {most} over the {together}interval of the difference)"
    return f" (range {low:{form}} {most})"


def _yield(record: Record, level: float, asked: float, span: str) -> str:
    """Return what the topics given yield."""
    difference = record["difference"]
    if record["goal"] == ACHIEVED_WIDTH:
        return f"a {_width(record, level, f'{difference:.4f}')}{span}"
    if record["goal"] == ACHIEVED_POWER:
        power = f"{record['power']:.4f}{span}"
        return f"a true difference of {difference:g} is detected with power {power}"
    if math.isnan(difference):
        return f"no difference in [0, 1] is large enough to be detected with power {asked:g}"
    return f"a true difference of {difference:.4f}{span} is detected with power {asked:g}"


def _width(record: Record, level: float, size: str) -> str:
    if record["family"] == BEST:
        return f"{percent(level)} confidence set of the best run with a largest distance of {size}"
    return f"{_together(record['family'])}{percent(level)} interval of ±{size}"


def _conditions(record: Record) -> str:
    """Return the family of a test and the assurance, where there are some."""
    parts = []
    if record["family"] != NO_FAMILY and record["goal"] not in (HALF_WIDTH, ACHIEVED_WIDTH):
        parts.append(f"family: {record['family']}")
    if record["assurance"] is not None:
        parts.append(f"assurance {record['assurance']:g}")
    return f" ({', '.join(parts)})" if parts else ""


def _together(family: str) -> str:
    return "" if family == NO_FAMILY else "simultaneous "


def answer_text(record: Record) -> str:
    """Return what a record answers: topics that are needed, or what the present ones give."""
    if record["goal"] in NEEDED:
        return _count_text(record["topics"])
    if record["goal"] == ACHIEVED_POWER:
        return number_text(record["power"])
    if math.isnan(record["difference"]):
        return "–" if math.isnan(record["half_width"]) else "none"
    return number_text(record["difference"])


def range_text(record: Record) -> str:
    """Return the range of the answer; of a difference, none where the measure allows none so large."""
    low, high = record["low"], record["high"]
    if math.isnan(low):
        return "–"
    if record["goal"] in NEEDED:
        return f"{_count_text(low)} to {_count_text(high)}"
    return f"{number_text(low)} to {'none' if math.isnan(high) else number_text(high)}"


def _count_text(count: float) -> str:
    return "–" if math.isnan(count) else f"{count:,.0f}"


def plan_note(plan: Plan) -> str:
    """Return one line that says what the plan is for, and how far it can be trusted."""
    parts = [_goal_text(plan), "the range reflects the sampling error of the pilot's sd"]
    if plan.observed:
        parts[1] = (
            f"the range is that of the {_together(plan.family)}{percent(plan.level)} interval of the observed "
            "difference (– as its end: the interval contains 0, and no number of topics is enough)"
        )
    if plan.baseline is None and plan.family != NO_FAMILY:
        parts.append("sd: of the difference from the run for which it is largest")
    parts += _assurance_and_model(plan)
    unreachable = np.isnan(plan.topics) | (np.isnan(plan.high) & ~np.isnan(plan.low))
    if plan.goal in NEEDED and not plan.observed and (unreachable & ~np.isnan(plan.sd)).any():
        parts.append(_NO_ANSWER)
    if plan.family == NO_FAMILY and plan.goal not in (HALF_WIDTH, ACHIEVED_WIDTH):
        parts.append("correcting for several runs or measures takes more topics")
    return "; ".join(parts)


def overview_note(plan: PlanOverview) -> str:
    """Return what the rows are for, and how far they can be trusted."""
    several = len(plan.spreads) > 1
    run = ", for the run with the median sd over topics" if several else ""
    parts = [f"half width of the {percent(plan.level)} t interval of the mean{run}"]
    if several:
        which = "two runs" if plan.baseline is None else f"a run from {plan.baseline}"
        parts.append(
            f"difference of {which} that {_test_text(plan)} detects with "
            f"power {plan.power:g}, for the pair with the median sd of differences; at the largest sd: "
            "the same for the run or pair that varies most"
        )
    parts.append("the range reflects the sampling error of the pilot's sd")
    goals = [goal for goal, _ in plan.aims]
    for asked, given in ((HALF_WIDTH, ACHIEVED_WIDTH), (POWER, DETECTABLE)):
        planned = ~np.isnan(plan.half_width[:, [goal == given for goal in goals]])
        missing = np.isnan(plan.topics[:, [goal == asked for goal in goals]])
        if (missing & planned).any() and _NO_ANSWER not in parts:
            parts.append(_NO_ANSWER)
    return "; ".join([*parts, *_assurance_and_model(plan)])


def _assurance_and_model(plan: Plan | PlanOverview) -> list[str]:
    """Return what the plan takes into account: its assurance, and topics that a model judges."""
    parts = []
    if plan.assurance is not None:
        parts.append(
            f"planned with an upper confidence limit of the sd, so that the goal is reached with probability "
            f"{plan.assurance:g} (assurance)"
        )
    if plan.model_topics:
        parts.append(
            f"topics are those that humans judge; for each, the model judges {plan.model_topics:.2g} "
            "more, as in the pilot"
        )
    return parts


def _test_text(plan: Plan | PlanOverview) -> str:
    family = "" if plan.family == NO_FAMILY else f", {_family_text(plan)}"
    return f"a paired t test (α = {1 - plan.level:.4g}{family})"


def _family_text(plan: Plan | PlanOverview) -> str:
    """Return how many differences a level holds for together."""
    return f"family {plan.family}: {counted(plan.pairs, 'pair')}"


def _goal_text(plan: Plan) -> str:
    """Return what the plan is for."""
    best, test = plan.family == BEST, _test_text(plan)
    reach = f"{plan.difference.flat[0]:g}"
    if plan.goal == HALF_WIDTH:
        limit = (
            "in which no run is expected further below the best than "
            if best
            else "no wider than ±"
        )
        return f"for {_interval_text(plan)} {limit}{reach}"
    if plan.goal == ACHIEVED_WIDTH:
        what = "largest distance from the best run in" if best else "half width of"
        return f"{what} {_interval_text(plan)}{_given_text(plan)}"
    size = f"a true difference of {reach} from {plan.baseline}"
    if plan.observed:
        size = f"the observed difference from {plan.baseline}, if it is the true one,"
    if plan.goal == POWER:
        return f"for {test} to detect {size} with power {plan.power:g}"
    if plan.goal == ACHIEVED_POWER:
        return f"power of {test} to detect {size}{_given_text(plan)}"
    missing = np.isnan(plan.difference) & ~np.isnan(plan.sd)
    none = (missing | (np.isnan(plan.high) & ~np.isnan(plan.low))).any()
    return (
        f"the smallest true difference from {plan.baseline} that {test} detects with power "
        f"{plan.power:g}{_given_text(plan)}"
        f"{' (none: it would exceed 1, on a measure in [0, 1])' if none else ''}"
    )


def _given_text(plan: Plan) -> str:
    low, high = int(plan.topics.min()), int(plan.topics.max())
    return f", given {'' if low == high else f'{low:,} to '}{counted(high, 'topic')}"


def _interval_text(plan: Plan) -> str:
    """Return which interval is planned."""
    if plan.family == BEST:
        return f"a {percent(plan.level)} confidence set of the best of {plan.pairs + 1} runs"
    what = _estimated(plan, plan.family == ALL_PAIRS)
    family = "" if plan.family == NO_FAMILY else f" ({_family_text(plan)})"
    return f"a {_together(plan.family)}{percent(plan.level)} t interval of {what}{family}"


def _estimated(plan: Plan | HumanPlan | DocumentPlan, pairs: bool) -> str:
    """Return what an interval is of."""
    if plan.baseline is not None:
        return f"the difference from {plan.baseline}"
    return "any difference of two runs" if pairs else "the mean"


def human_goal(plan: HumanPlan | DocumentPlan) -> str:
    """Return what human judgements are planned for."""
    level, width = percent(plan.level), f"{plan.half_width:g}"
    goal = f"a {level} t interval of {_estimated(plan, plan.family != NO_FAMILY)} no wider than ±{width}"
    if plan.family == BEST:
        goal = f"a {level} confidence set of the best run with a largest distance of {width}"
    return goal + ("" if plan.family == NO_FAMILY else f" (family {plan.family}: Bonferroni-t)")
