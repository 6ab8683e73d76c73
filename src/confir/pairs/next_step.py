"""The next step after an inconclusive verdict: what these topics could show, and how many the observed difference takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, best_first
from confir.data.scores import Scores
from confir.defaults import DEFAULT_POWER
from confir.measures.parsing import bounded_measures
from confir.measures.score_summary import ScoreSummary
from confir.measures.strengths import Strengths
from confir.number_text import count_words, signed_words
from confir.pairs.decisions import INCONCLUSIVE
from confir.pairs.paired_tests import DEFAULT_TEST
from confir.pairs.power import Criterion, Pilot, fewest_topics, pilot_of
from confir.pairs.simultaneous import ComparisonFamily, largest_bound_sum
from confir.resampling.kinds import as_sample
from confir.resampling.sample import MOST_FLIPPED, Knowledge, Sample

if TYPE_CHECKING:
    from confir.pairs.comparison import Comparison
    from confir.pairs.run_pairs import RunPairs

# Of more than so many times the present topics, no number is given.
_MOST_TIMES = 100

# Where topics are of clusters, more of these alone do not help.
_FURTHER = ", in further clusters"

# Corrections of single tests under which a t test at Bonferroni's level is significant.
_BONFERRONI = ("holm", "bonferroni")


class NextStep(NamedTuple):
    """What topics could show, and how many a difference takes: arrays, or the numbers of one.

    Attributes
    ----------
    topics
        The present topics.
    detectable
        The smallest true difference that they show with the power; NaN where there is none.
    needed
        Topics in all that show the observed difference, or the margin, if it is the true one; NaN
        beyond `_MOST_TIMES` the present ones, and ∞ where no number of topics does.
    needed_high
        Likewise for the end of the interval that is nearer to 0; NaN where it holds 0.
    """

    topics: Any
    detectable: Any
    needed: Any
    needed_high: Any


def find_next_step(
    criterion: Criterion,
    pilot: Pilot,
    sizes: Floats,
    nearest: Floats,
    largest: float | Floats = math.inf,
) -> NextStep:
    """Return the next step for columns of a pilot.

    Parameters
    ----------
    criterion, pilot
        How differences are tested, and what their sample says.
    sizes, nearest
        The differences that are to be shown; and the ends of their intervals nearer to 0, in
        absolute value.
    largest
        The largest difference that the measure of each column allows.
    """
    found = criterion.detectable(pilot.sd, pilot.topics, DEFAULT_POWER)
    detectable = np.where(found > largest, np.nan, found)
    needed = _topics_for(criterion, pilot, sizes)
    return NextStep(pilot.topics, detectable, needed, _topics_for(criterion, pilot, nearest))


def _topics_for(criterion: Criterion, pilot: Pilot, sizes: Floats) -> Floats:
    """Return the topics that show differences with the power, as `NextStep.needed` has them."""
    known = ~np.isnan(pilot.sd) & (sizes > 0)
    sd, size = np.where(known, pilot.sd, 1.0), np.where(known, sizes, 1.0)
    found = fewest_topics(
        lambda topics: criterion.power_function(sd, topics)(size) >= DEFAULT_POWER, len(sd)
    )
    found = np.where(np.isnan(found) & (pilot.fixed > 0), math.inf, found)
    few_enough = (found <= _MOST_TIMES * pilot.topics) | np.isinf(found)
    return np.where(known & few_enough, found, np.nan)


@lru_cache(maxsize=1)  # sentences, table and records ask for it one after the other
def next_steps(comparison: Comparison) -> NextStep:
    """Return the next step for each inconclusive difference: pairs × measures, NaN elsewhere.

    There is one for t tests of a single pair, or of runs against a baseline, on a sample of topics;
    with a margin, it is about a difference as large as that.
    """
    steps = NextStep(*np.full((4, *comparison.difference.shape), np.nan))
    one_question = comparison.baseline is not None or int(comparison.tested.max()) == 1
    chosen = (comparison.verdict[0] == INCONCLUSIVE) & (comparison.se > 0)
    by_t = comparison.tests[0] == DEFAULT_TEST and comparison.ranges is None
    if not (one_question and by_t and chosen.any()):
        return steps
    sample = as_sample(comparison.scores.observed)
    if Knowledge.TOPIC_VARIANCE not in sample.knowledge or sample.scheme.flips:
        return steps
    if comparison.families is not None:  # where sign flips decide as well, power is less than by t
        chosen &= (comparison.units > MOST_FLIPPED) | (comparison.tested < 2)
    bounded = bounded_measures(comparison.scores)
    for measure in np.flatnonzero(chosen.any(axis=0)).tolist():
        pairs = np.flatnonzero(chosen[:, measure])
        plus, minus = (
            side[pairs] * sample.shape[1] + measure
            for side in (comparison.second, comparison.first)
        )
        pilot = pilot_of(sample.contrast(plus, minus))
        criterion = _criterion_of(comparison, measure, sample, pilot)
        if criterion is None:
            continue
        low, high = (limit[pairs, measure] for limit in comparison.limits)
        sizes = np.abs(pilot.mean)
        if comparison.margin is not None:
            sizes = np.full(len(sizes), comparison.margin)
        nearest = np.where(low * high > 0, np.minimum(np.abs(low), np.abs(high)), 0.0)
        largest = 1.0 if bounded[measure] else math.inf
        found = find_next_step(criterion, pilot, sizes, nearest, largest)
        for array, values in zip(steps, found, strict=True):
            array[pairs, measure] = values
    return steps


def _criterion_of(
    comparison: Comparison, measure: int, sample: Sample, pilot: Pilot
) -> Criterion | None:
    """Return how pairs are tested by a measure; None where no t quantile says it."""
    level = comparison.level
    if comparison.families is not None:
        family = comparison.families[measure]
        critical = family.critical_value(pilot.df, level)
        return family_criterion(family, critical, sample, pilot, level)
    tested = int(comparison.tested[measure])
    if comparison.correction in _BONFERRONI:
        level = 1.0 - (1.0 - level) / max(tested, 1)
    elif comparison.correction != "none" and tested > 1:
        return None
    return Criterion(level, freedom=pilot.freedom, fixed=pilot.fixed)


def family_criterion(
    family: ComparisonFamily, critical: Floats, sample: Sample, pilot: Pilot, level: float
) -> Criterion:
    """Return how columns are tested in a family, with its critical value as the level of a t."""
    from scipy.special import stdtr

    signs = sample.sums_signs and family.size > 1
    return Criterion(
        level=1.0 - 2.0 * stdtr(pilot.df, -critical),
        comparisons=family.size,
        median=family.borrowed.median,
        certain=largest_bound_sum(family.size, family.sides, level) if signs else math.inf,
        freedom=pilot.freedom,
        fixed=pilot.fixed,
    )


def next_step_sentence(
    comparison: Comparison,
    steps: NextStep,
    measure: int,
    *,
    pairs: Sequence[int] | None = None,
    required: Collection[str] | None = None,
    write: Callable[[str], str] = str,
) -> str:
    """Return the next step for the inconclusive differences by a measure; empty where there is none.

    Parameters
    ----------
    comparison, steps, measure
        What `next_steps` returns of the comparison, and the number of a measure.
    pairs
        Numbers of the pairs that it is about; by default all.
    required
        The runs of which a gate requires to show that they lose no more than the margin, and which
        do not; None without such a gate.
    write
        Writes the names of runs.
    """
    every = comparison.order.places[measure].tolist() if pairs is None else pairs
    pairs = [
        pair
        for pair in every
        if not math.isnan(steps.topics[pair, measure])
        and (required is None or comparison.runs[comparison.second[pair]] in required)
    ]
    own = [NextStep(*(float(part[pair, measure]) for part in steps)) for pair in pairs]
    runs = [write(comparison.runs[comparison.second[pair]]) for pair in pairs]
    sizes = comparison.difference[pairs, measure].tolist()
    kind = "human-judged " if comparison.scores.model_topics else ""
    units = f"{kind}{comparison.scores.unit_name}s"
    clusters = as_sample(comparison.scores.observed).scheme.clusters
    further = _FURTHER if clusters and comparison.scores.unit_name == "topic" else ""
    subject = Subject(
        units, further=further, margin=comparison.margin, required=required is not None
    )
    return next_step_words(own, sizes, runs, subject)


class Lead(NamedTuple):
    """The observed lead of the best run over the next one that may be the best, and the next step."""

    run: str
    size: float
    step: NextStep
    unit: str
    further: str = ""

    def sentence(self, write: Callable[[str], str] = str) -> str:
        """Return the next step in two sentences; ``write`` writes the name of the run."""
        over = f" over {write(self.run)}"
        subject = Subject(f"{self.unit}s", "lead", over=over, further=self.further)
        return next_step_words([self.step], [self.size], [self.run], subject)


def find_lead(
    scores: Scores | ScoreSummary | Strengths,
    pairs: RunPairs,
    in_set: Booleans,
    measure: int,
    level: float,
) -> Lead | None:
    """Return the lead of the best run over the next one in its confidence set, by a measure.

    None where the best run is alone in the set, or there is no number of topics.

    Parameters
    ----------
    scores, pairs, measure
        The scores, all their pairs by one measure, and its number.
    in_set, level
        Which runs may be the best, and the level.
    """
    runs = np.flatnonzero(pairs.scored)
    first, *others = best_first(pairs.mean)
    rivals = [run for run in others if in_set[runs[run]] and pairs.se[run, first] > 0]
    if not rivals or Knowledge.TOPIC_VARIANCE not in pairs.sample.knowledge:
        return None
    clusters = pairs.sample.scheme.clusters
    if pairs.sample.scheme.flips or (pairs.runs > 2 and pairs.units <= MOST_FLIPPED):
        return None  # sign flips decide as well
    rival = rivals[0]
    pilot = pilot_of(pairs.sample.contrast(np.array([first]), np.array([rival])))
    family = pairs.against_others(rival)
    critical = np.maximum(family.critical_value(pilot.df, level), 0.0)
    size = np.abs(pairs.difference[rival, [first]])
    found = find_next_step(
        family_criterion(family, critical, pairs.sample, pilot, level),
        pilot,
        size,
        np.zeros(1),
        1.0 if bounded_measures(scores)[measure] else math.inf,
    )
    step = NextStep(*(float(part[0]) for part in found))
    if scores.unit_name == "dataset":  # of which each may have several topics
        own = float(np.broadcast_to(pilot.freedom.cluster_size, 1)[0])
        step = step._replace(topics=step.topics / own, needed=np.ceil(step.needed / own))
    further = _FURTHER if clusters and scores.unit_name == "topic" else ""
    return Lead(scores.runs[runs[rival]], float(size[0]), step, scores.unit_name, further)


class Subject(NamedTuple):
    """Of what a next step speaks.

    Attributes
    ----------
    units
        What topics are called: "topics".
    what, over
        What a difference is called: "difference", "lead"; and over which run it is.
    further
        Where more topics have to come from: ``_FURTHER``, or nowhere else.
    margin, required
        A difference that is spoken of in place of the observed one; and whether it is required to
        show that no more is lost.
    """

    units: str
    what: str = "difference"
    over: str = ""
    further: str = ""
    margin: float | None = None
    required: bool = False


def next_step_words(
    steps: Sequence[NextStep], sizes: Sequence[float], runs: Sequence[str], subject: Subject
) -> str:
    """Return the next step for differences by one measure in two sentences; none for none.

    Parameters
    ----------
    steps, sizes, runs
        Those of each difference, its size as observed, and the run, named where there are several.
    """
    if not steps:
        return ""
    counts = sorted({int(step.topics) for step in steps})
    topics = f"{counts[0]:,}{f' to {counts[-1]:,}' if len(counts) > 1 else ''} {subject.units}"
    shown = _listed([step.detectable for step in steps], runs)
    power, needed = f"(power {f'{DEFAULT_POWER:.2f}'[1:]})", _needed(steps, subject)
    one = len(steps) == 1
    if subject.required:
        equal = f"{runs[0]} loses nothing" if one else "these runs lose nothing"
        return (
            f"If {equal}, these {topics} would show a loss below {shown} {power}; below "
            f"{subject.margin:g} takes {needed}."
        )
    noun, _, rest = subject.what.partition(" ")
    what = f"a true {subject.what}" if one else f"true {noun}s {rest}".rstrip()
    first = f"These {topics} would show {what} of {shown} {power}."
    if one and math.isnan(steps[0].detectable):
        first = f"These {topics} would show no {subject.what} that the measure allows {power}."
    if subject.margin is not None:
        such = "One" if one else "Those"
        return f"{first} {such} of {subject.margin:g}, the margin, {'takes' if one else 'take'} {needed}."
    it, them = ("it", "it") if one else ("they", "them")
    none = f"; none may be enough, for {it} may be 0"
    if not one:
        return f"{first} If the observed ones are the true ones, {needed} would show {them}{none}."
    if sizes[0] == 0:
        return f"{first} The observed {subject.what} is 0."
    return (
        f"{first} The observed {_size(sizes[0])}{subject.over} is not shown; if it is the true one, {needed} would "
        f"show it{none}."
    )


def _size(value: float) -> str:
    return signed_words(abs(value)).removeprefix("+")


def _listed(sizes: Sequence[float], runs: Sequence[str]) -> str:
    """Return the sizes of differences; of several, each with its run."""
    texts = [_size(size) if size == size else "none" for size in sizes]  # noqa: PLR0124 - NaN
    if len(texts) == 1:
        return texts[0]
    return _and([f"{text} ({run})" for text, run in zip(texts, runs, strict=True)])


def _needed(steps: Sequence[NextStep], subject: Subject) -> str:
    """Return how many topics are needed: ``about 550 topics like these in all (500 more)``."""
    units, further = subject.units, subject.further
    texts = [
        f"over {count_words(_MOST_TIMES * step.topics)}"
        if math.isnan(step.needed)
        else count_words(step.needed)
        for step in steps
    ]
    if len(steps) > 1:
        return f"about {_and(texts)} {units} like these in all{further}"
    (step,) = steps
    if math.isinf(step.needed):
        return f"no number of {units} with as few repeats"
    if math.isnan(step.needed):
        return f"only over {_MOST_TIMES} times as many {units}"
    more = count_words(max(float(texts[0].replace(",", "")) - step.topics, 1.0))
    return f"about {texts[0]} {units} like these in all ({more} more{further})"


def _and(texts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))
