"""Plans in words: one sentence for a run and a measure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from confir.data.result import Record
from confir.defaults import BEST, NO_FAMILY
from confir.studies.planning.goals import (
    ACHIEVED_POWER,
    ACHIEVED_WIDTH,
    DETECTABLE,
    HALF_WIDTH,
    POWER,
)

# The difference, or half width, of which a sentence says what it takes.
_USUAL = 0.02


def plan_sentence(record: Record, sd: float, *, level: float, asked: float, observed: bool) -> str:
    """Return a sentence on a record of a plan.

    Parameters
    ----------
    record
        The record.
    sd
        The pilot's standard deviation; NaN where nothing can be planned.
    level, asked
        Confidence level, and power asked for.
    observed
        Whether the plan is for the difference that the pilot shows.
    """
    against = f" against {record['baseline']}" if record["baseline"] is not None else ""
    what = f"{record['run']}{against} by {record['measure']}"
    if math.isnan(sd):
        return f"{what}: nothing can be planned"
    span = _span(record, observed=observed)
    if record["goal"] in (HALF_WIDTH, POWER):
        number = _topics(record)
        needed = "more topics than can be judged" if number is None else f"{number}{span}"
        return f"{what}: {needed} {_purpose(record, level, asked)}{_conditions(record)}"
    return (
        f"{what}: with {_topics(record)}, {_yield(record, level, asked, span)}{_conditions(record)}"
    )


def overview_sentence(records: Sequence[Record], level: float) -> str:
    """Return what the topics at hand give by one measure, and what the usual goal of 0.02 takes.

    ``records`` are those of one run or pair; differences come after means, and are said if there
    are some.
    """
    *_, at_hand = records
    asked = POWER if at_hand["goal"] == DETECTABLE else HALF_WIDTH
    goal = next(r for r in records if (r["goal"], r["difference"]) == (asked, _USUAL))
    measure, topics = at_hand["measure"], f"{at_hand['topics']:,} topics"
    if math.isnan(at_hand["half_width"]):
        return f"from these scores in {measure}, nothing can be planned"
    takes = f"{_USUAL:g} takes {_needed(goal)}"
    if asked == HALF_WIDTH:
        return (
            f"{topics} give the mean {measure} to within ±{at_hand['difference']:.3f} "
            f"({100 * level:g}% interval); ±{takes}"
        )
    size = at_hand["difference"]
    found = "no difference" if math.isnan(size) else f"a true difference of {size:.3f}"
    return f"{topics} detect {found} in {measure} with power {at_hand['power']:g}; {takes}"


def _needed(record: Record) -> str:
    """Return how many topics are needed, with their range."""
    if math.isnan(record["topics"]):
        return "more topics than can be judged"
    span = "" if math.isnan(record["low"]) else f" ({record['low']:,.0f} to {record['high']:,.0f})"
    return f"{record['topics']:,} topics{span}"


def _topics(record: Record) -> str | None:
    """Return the number of topics, and of judgements where those are counted."""
    if math.isnan(record["topics"]):
        return None
    if "judgements" not in record:
        return f"{record['topics']:.0f} topics"
    return f"{record['topics']:.0f} topics, which take {record['judgements']:.0f} judgements,"


def _span(record: Record, *, observed: bool) -> str:
    """Return the range of the answer in brackets, and where it comes from."""
    low, high = record["low"], record["high"]
    if math.isnan(low):
        return ""
    form = ".0f" if record["goal"] in (HALF_WIDTH, POWER) else ".4f"
    most = f"to {high:{form}}" if not math.isnan(high) else "or more"
    if observed:
        together = "" if record["family"] == NO_FAMILY else "simultaneous "
        return f" ({low:{form}} {most} over the {together}interval of the difference)"
    return f" (range {low:{form}} {most})"


def _purpose(record: Record, level: float, asked: float) -> str:
    """Return what topics are needed for."""
    if record["goal"] == HALF_WIDTH:
        return f"for a {_width(record, level)} of {_size(record)}"
    return f"to detect a true difference of {record['difference']:g} with power {asked:g}"


def _yield(record: Record, level: float, asked: float, span: str) -> str:
    """Return what the topics given yield."""
    if record["goal"] == ACHIEVED_WIDTH:
        size = f"{record['difference']:.4f}"
        sign = "" if record["family"] == BEST else "±"
        return f"a {_width(record, level)} of {sign}{size}{span}"
    if record["goal"] == ACHIEVED_POWER:
        return (
            f"a true difference of {record['difference']:g} is detected with power "
            f"{record['power']:.4f}{span}"
        )
    if math.isnan(record["difference"]):
        return f"no difference in [0, 1] is large enough to be detected with power {asked:g}"
    return f"a true difference of {record['difference']:.4f}{span} is detected with power {asked:g}"


def _width(record: Record, level: float) -> str:
    if record["family"] == BEST:
        return f"{100 * level:g}% confidence set of the best run with a largest distance"
    simultaneous = "" if record["family"] == NO_FAMILY else "simultaneous "
    return f"{simultaneous}{100 * level:g}% interval"


def _size(record: Record) -> str:
    sign = "" if record["family"] == BEST else "±"
    return f"{sign}{record['difference']:g}"


def _conditions(record: Record) -> str:
    """Return the family of a test and the assurance, where there are some."""
    parts = []
    tests = record["goal"] in (POWER, ACHIEVED_POWER, DETECTABLE)
    if record["family"] != NO_FAMILY and tests:
        parts.append(f"family: {record['family']}")
    if record["assurance"] is not None:
        parts.append(f"assurance {record['assurance']:g}")
    return f" ({', '.join(parts)})" if parts else ""
