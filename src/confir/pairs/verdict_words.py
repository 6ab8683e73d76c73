"""How verdicts read: in a sentence, with evidence and reason; how many pairs differ; by which intervals and tests.

Terminal, page, gate and records take their words from here; `decisions` decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from confir.arrays import Booleans, Floats
from confir.defaults import NO_FAMILY
from confir.errors import counted, enumerate_names
from confir.intervals.method_list import METHODS
from confir.number_text import (
    SENTENCE_DECIMALS,
    bracketed,
    level_text,
    p_words,
    percent,
    score_words,
    signed,
    signed_words,
    topics_text,
)
from confir.pairs.decisions import (
    BETTER,
    EQUIVALENT,
    IDENTICAL,
    INCONCLUSIVE,
    NOT_COMPARED,
    OPPOSITE,
    WORSE,
    Decision,
    significant_directions,
)
from confir.pairs.differences import LEAST_TOPICS
from confir.pairs.families import CORRECTION_NAMES
from confir.pairs.paired_tests import find_test
from confir.pairs.simultaneous import is_significant

if TYPE_CHECKING:
    from confir.pairs.best_runs import TeamBoard
    from confir.pairs.comparison import Comparison


# What is said of a run against another.
_SAID = {
    BETTER: "{run} is significantly better than {other} in {measure}",
    WORSE: "{run} is significantly worse than {other} in {measure}",
    EQUIVALENT: "{run} and {other} are equivalent{within} in {measure}",
    IDENTICAL: "{run} and {other} are identical in {measure}",
    INCONCLUSIVE: "The difference between {run} and {other} in {measure} is inconclusive",
    NOT_COMPARED: "{run} and {other} are not compared in {measure}, with fewer than 2 topics in common",
}

# The sentence of each verdict with gaps for names, which the page fills in for the pair that its reader
# chooses.
SENTENCE_FORMS = {word: said.replace("{within}", "") for word, said in _SAID.items()}

# What an end that is 0 and excluded means, and a verdict that is called borderline.
OPEN_END = "only the sign of the difference is significant, by the bound for symmetric differences"

# What adjusts the p-values of a family.
STUDENTISED_MAXIMUM = "the studentised maximum"

BORDERLINE = "another seed might change the verdict"


def decision_sentence(one: Decision, measure: str, *, brief: bool = False) -> str:
    """Return a decision in a sentence without its full stop, as one would say it.

    ``brief``, as in a headline, leaves out the reason.
    """
    word = NOT_COMPARED if brief and one.topics < LEAST_TOPICS else one.verdict
    said = _SAID[word].format(
        run=one.run, other=one.baseline, measure=measure, within=_within(one.margin)
    )
    if word in (IDENTICAL, NOT_COMPARED):
        return said
    return f"{said}{', borderline' * one.borderline} ({evidence(one, brief=brief)})"


def means_sentence(one: Decision, measure: str, means: Floats) -> str:
    """Return the means of baseline and run, and what is decided on their difference."""
    before, after = map(score_words, means)
    moved = f"{one.baseline} {before} → {one.run} {after}"
    return f"{moved} in {measure}: {verdict_phrase(one)} ({evidence(one)})"


def verdict_phrase(one: Decision) -> str:
    """Return the verdict in a few words."""
    words = f"significantly {one.verdict}" if one.verdict in OPPOSITE else one.verdict
    if one.verdict == EQUIVALENT:
        words += _within(one.margin)
    return words + ", borderline" * one.borderline


def _within(margin: float | None) -> str:
    return "" if margin is None else f" within ±{margin:g}"


def evidence(one: Decision, *, brief: bool = False) -> str:
    """Return difference, interval, p-value and reason: ``+0.021, 95% CI […], p = .021; no interval``."""
    write = signed_words if brief else _signed
    parts = [write(one.difference)]
    if one.has_interval:
        parts.append(_interval(one, "CI", write))
    if not math.isnan(one.p):
        several = one.pairs > 1 and one.correction != "none"
        identical = one.constant and one.direction == 0  # which is not tested
        parts.append(p_phrase(one.p_adjusted, adjusted=several and not identical))
    return "; ".join(filter(None, [", ".join(parts), "" if brief else reason(one)]))


def p_phrase(p: float, *, adjusted: bool) -> str:
    """Return the p-value that decides, and whether it is adjusted for several pairs."""
    return f"adjusted {p_words(p)}" if adjusted and not math.isnan(p) else p_words(p)


def difference_phrase(one: Decision) -> str:
    """Return the difference with its interval, where there is one."""
    difference = f"difference {signed(one.difference)}"
    if not one.has_interval:
        return difference
    return f"{difference}, {_interval(one, 'interval', signed)}"


def difference_and_verdict(one: Decision) -> str:
    """Return difference, interval and verdict, with the reason in parentheses."""
    why = reason(one)
    return f"{difference_phrase(one)}: {verdict_phrase(one)}" + (f" ({why})" if why else "")


def _signed(value: float) -> str:
    return signed(value, SENTENCE_DECIMALS)


def _interval(one: Decision, name: str, write: Callable[[float], str]) -> str:
    """Return level and limits, with what the interval is called, and whether it is simultaneous."""
    several = one.family != NO_FAMILY and one.pairs > 1
    limits = bracketed(write(one.low), write(one.high), one.open)
    return f"{'simultaneous ' * several}{level_text(one.level)} {name} {limits}"


def reason(one: Decision) -> str:
    """Return what the interval and the verdict leave open; empty where they say all."""
    return str(explain(one).item())


def explain(given: Decision) -> Any:
    """Return what intervals and verdicts leave open, as texts; empty where they say all."""
    cases = _cases(given)
    texts = np.full(np.shape(given.verdict), "", object)
    holds = [np.broadcast_to(condition, texts.shape) for condition, _ in cases]
    case = np.argmax(holds, axis=0)  # the first that holds; the last always does
    unclear = np.isin(case, [place for place, (_, say) in enumerate(cases) if say is not _nothing])
    parts = (np.broadcast_to(np.asarray(part), texts.shape)[unclear].tolist() for part in given)
    rows = map(Decision._make, zip(*parts, strict=True))
    texts[unclear] = [cases[place][1](one) for place, one in zip(case[unclear], rows, strict=True)]
    return texts


def _cases(given: Decision) -> list[tuple[Any, Callable[[Decision], str]]]:
    """Return where each case holds, and what is said then; the first case that holds counts."""
    corrected, alone = (
        significant_directions(given, given.direction, p, given.level) != 0
        for p in (given.p_adjusted, given.p)
    )
    verdict = np.asarray(given.verdict)
    includes = np.less_equal(given.low, 0) & np.greater_equal(given.high, 0)
    includes &= np.equal(given.open, 0)
    significant = is_significant(given.p_adjusted, given.level)
    size = np.maximum(np.abs(given.low), np.abs(given.high))
    inside: Any = False if given.margin is None else size < given.margin
    return [
        (given.topics < LEAST_TOPICS, lambda _: "fewer than 2 topics in common"),
        (given.constant, _constant_reason),
        (np.isnan(given.low) | np.isnan(given.high), lambda _: "no interval"),
        ((verdict == EQUIVALENT) & ~includes, lambda _: "the interval excludes 0"),
        (np.isin(verdict, (EQUIVALENT, *OPPOSITE)), _nothing),
        (significant & (given.direction * given.difference < 0), _opposite_reason),
        (
            significant,
            lambda one: f"the {_title(one)} is significant, but the interval includes 0",
        ),
        (
            inside & (verdict == INCONCLUSIVE),
            lambda one: (
                "the interval lies within the margin, but the sign-flip test on so few "
                f"{one.unit}s does not show it"
            ),
        ),
        (includes, _nothing),
        (alone & ~corrected, _correction_reason),
        (True, lambda one: f"not significant by the {_title(one)}"),
    ]


def _nothing(_: Decision) -> str:
    return ""


def _title(one: Decision) -> str:
    return find_test(one.test).title


def _constant_reason(one: Decision) -> str:
    if one.resampled == "documents":
        return f"the same {'difference' if one.direction else 'mean'} on every resampled collection"
    preposition = "on" if one.unit in ("topic", "dataset") else "by"
    over = f"{preposition} all {counted(one.topics, one.unit)}"
    if one.direction == 0:
        return f"the same score {over}"
    same = f"the same difference {over}"
    if one.verdict != INCONCLUSIVE:
        return same
    alone = f"{same}; exact sign-flip test: {p_words(one.p)}"
    if one.p_adjusted <= one.p:
        return alone
    # of a family, by its own rule: not a multiple of the sign-flip test's p
    by = "by the family of" if one.correction is None else "for"
    return f"{alone} alone, {p_words(one.p_adjusted)} {by} {counted(one.pairs, 'pair')}"


def _opposite_reason(one: Decision) -> str:
    favoured, higher = (one.run, one.baseline)[:: 1 if one.direction > 0 else -1]
    return f"the {_title(one)} favours {favoured}, but {higher} has the higher mean"


def _correction_reason(one: Decision) -> str:
    name = CORRECTION_NAMES[str(one.correction)]
    return f"not significant after {name} for {counted(one.pairs, 'pair')}"


def comparison_note(comparison: Comparison, seed: int | None = None) -> str:
    """Return one line that says what the numbers are, and how to get them again."""
    topics = topics_text(comparison.topics, comparison.scores.model_topics)
    between = "between runs" if comparison.baseline is None else f"from {comparison.baseline}"
    titles = [find_test(test).title for test in comparison.tests]
    if comparison.scores.resampled == "documents":  # t with infinite degrees of freedom
        titles = ["normal test"]
    tests = f"p by {', '.join(titles)}"
    by = _adjusted_by(comparison)
    if comparison.is_adjusted:
        tests += f", adjusted by {by}"
        tests += "" if comparison.is_simultaneous else f" for {_family_text(comparison)}"
        if by == STUDENTISED_MAXIMUM:
            tests += (
                ", which may exceed Bonferroni's: similar runs borrow variance (docs/compare.md)"
            )
    interval = interval_name(comparison).replace("interval", "confidence interval (CI)", 1)
    parts = [f"mean difference {between} with {interval}, over {topics}", tests]
    parts += sampling_notes(comparison, seed)
    if comparison.margin is not None:
        adjusted = f", adjusted by {by}" if comparison.is_equivalence_adjusted else ""
        parts.append(
            f"equivalence within ±{comparison.margin:g} by two one-sided t tests{adjusted}"
        )
    resamples = "replicates" in METHODS[comparison.method].needs or any(
        find_test(test).resamples for test in comparison.tests
    )
    if comparison.by_flips:
        parts.append("p and intervals by sign flips of whole clusters")
    elif resamples or comparison.is_simultaneous:
        parts.append(
            counted(comparison.replicates, "replicate") + ("" if seed is None else f", seed {seed}")
        )
    if comparison.open_end.any():
        parts.append(f"(0 or 0): {OPEN_END}")
    if comparison.borderline.any():
        parts.append(f"borderline: {BORDERLINE}")
    return "; ".join(parts)


def sampling_notes(comparison: Comparison, seed: int | None) -> list[str]:
    """Return how topics were sampled and judged, where that is not a simple random sample."""
    notes = []
    scores = comparison.scores
    if scores.design_words:
        notes.append(f"standard errors by the design, {scores.design_words}")
    notes += filter(None, [scores.sampling_note(seed)])
    if comparison.weight is not None:
        notes.append("by human judgements, estimated from these and the model's (PPI++)")
        more = comparison.scores.model_topics
        notes += model_notes(comparison.measures, comparison.weight == 0, more, "differences")
    return notes


def interval_name(comparison: Comparison) -> str:
    """Return the name of the interval shown with a verdict: ``simultaneous 95% interval, all 10 pairs``."""
    if comparison.is_simultaneous:
        return f"simultaneous {percent(comparison.level)} interval, {_family_text(comparison)}"
    name = f"{percent(comparison.level)} interval by {comparison.method}"
    if comparison.is_adjusted:
        return f"{name} (of each pair alone)"
    return name if comparison.tested.max() < 2 else f"{name}{_not_adjusted(comparison)}"


def how_compared(comparison: Comparison) -> str:
    """Return by what verdicts are given, in a few words for a report."""
    if comparison.is_simultaneous:
        return f"simultaneous {percent(comparison.level)} intervals, {_family_text(comparison)}"
    alone = f"paired {find_test(comparison.tests[0]).title}, α = {1 - comparison.level:.4g}"
    return alone if comparison.tested.max() < 2 else f"{alone}{_not_adjusted(comparison)}"


def _not_adjusted(comparison: Comparison) -> str:
    """Return that verdicts on several pairs are not adjusted for them, where that is so."""
    if comparison.is_adjusted or all(find_test(test).corrected for test in comparison.tests):
        return ""
    return f", not adjusted for {counted(int(comparison.tested.max()), 'pair')}"


def _adjusted_by(comparison: Comparison) -> str:
    """Return what adjusts p-values: the correction, or the largest t of the family."""
    if comparison.ranges is not None:
        return "the permuted ranges"
    if comparison.by_flips:
        return CORRECTION_NAMES["bonferroni"]
    if comparison.correction is None:
        return STUDENTISED_MAXIMUM
    return CORRECTION_NAMES.get(comparison.correction, "")


def mark_note(comparison: Comparison) -> str:
    """Return what the marks mean, and by which test."""
    parts = [find_test(comparison.tests[0]).title, interval_name(comparison)]
    if comparison.is_adjusted and not comparison.is_simultaneous:
        parts.insert(1, _adjusted_by(comparison))
    return f"▲ ▼ significantly better, worse than {comparison.baseline}: {', '.join(parts)}"


def _family_text(comparison: Comparison) -> str:
    """Return for how many pairs decisions are adjusted; measures may have tested fewer."""
    most = int(comparison.tested.max())
    at_most = "" if (comparison.tested == most).all() else "at most "
    identical = ", identical runs left out" if comparison.identical.any() else ""
    if not comparison.is_simultaneous:
        return f"{at_most}{counted(most, 'pair')} within each measure{identical}"
    every = "all " if comparison.baseline is None and not at_most else at_most
    against = "" if comparison.baseline is None else f" with {comparison.baseline}"
    return f"{every}{counted(most, 'pair')}{against}{identical}"


# What is said of a number of runs against the baseline, which the first names.
_AGAINST_BASELINE = {
    BETTER: "significantly better than {}",
    WORSE: "significantly worse",
    INCONCLUSIVE: "inconclusive",
    EQUIVALENT: "equivalent to it",
    IDENTICAL: "identical to it",
    NOT_COMPARED: "not compared with it, for lack of common topics",
}

# What is said where it is true of all runs.
_ALL_AGAINST_BASELINE = {
    BETTER: "All {} are significantly better than {}",
    WORSE: "All {} are significantly worse than {}",
    INCONCLUSIVE: "All {} are inconclusive against {}",
}


def pairs_sentence(comparison: Comparison, measure: int, what: str = "run") -> str:
    """Return how many pairs differ significantly by a measure, and the smallest such difference."""
    verdicts = comparison.verdict[0, :, measure]
    significant = np.isin(verdicts, list(OPPOSITE))
    pairs, found = len(verdicts), int(significant.sum())
    if not found:
        if pairs > 1:
            return f"none of {pairs:,} pairs differs significantly"
        if verdicts[0] == IDENTICAL:
            return f"the two {what}s are identical"
        return f"the two {what}s do not differ significantly"
    smallest = float(np.abs(comparison.difference[significant, measure]).min())
    said = score_words(smallest)
    if pairs == 1:
        return f"the two {what}s differ significantly, by {said}"
    verb = "differs" if found == 1 else "differ"
    share = round(100 * found / pairs)
    return (
        f"{found:,} of {pairs:,} pairs {verb} significantly ({share}%); the smallest observed difference "
        f"that is significant is {said}"
    )


def team_pairs_sentence(teams: TeamBoard, comparison: Comparison, measure: int) -> str:
    """Return how many pairs of teams differ significantly by their best runs."""
    best = {runs[measure] for runs in teams.best_runs}
    words = zip(comparison.pairs, comparison.pair_verdicts(measure), strict=True)
    verdicts = [word for pair, word in words if best.issuperset(pair)]
    found = sum(word in OPPOSITE for word in verdicts)
    verb = "differs" if found < 2 else "differ"
    which = f"{found:,}" if found else "none"
    return (
        f"{which} of {counted(len(verdicts), 'pair')} of teams {verb} significantly by their best runs, "
        f"adjusted for all {counted(len(comparison.pairs), 'pair')} of runs"
    )


def baseline_sentence(
    comparison: Comparison, measure: int, baseline: str, what: str = "run"
) -> str:
    """Return how many runs differ significantly from the baseline, which is named, by a measure."""
    verdicts = comparison.verdict[0, :, measure].tolist()
    better, worse = verdicts.count(BETTER), verdicts.count(WORSE)
    rest = len(verdicts) - better - worse
    others = "" if not rest else f", and {rest:,} do not differ significantly"
    return (
        f"{better:,} of {counted(len(verdicts), what)} {'is' if better == 1 else 'are'} significantly "
        f"better than {baseline} in {comparison.measures[measure]}, {worse:,} significantly "
        f"worse{others}"
    )


def baseline_headline(comparison: Comparison, baseline: str) -> str:
    """Return what is said of all runs against the baseline, which is named, by the first measure."""
    words = comparison.pair_verdicts()
    counts = {word: words.count(word) for word in _AGAINST_BASELINE}
    said = [
        f"{counts[word] or 'none'} {'is' if counts[word] == 1 else 'are'} {text.format(baseline)}"
        for word, text in _AGAINST_BASELINE.items()
        if counts[word] or word == BETTER
    ]
    others = counted(len(words), "other run")
    (alike, *more) = (word for word, count in counts.items() if count)
    if not more and alike in _ALL_AGAINST_BASELINE:
        all_of_them = _ALL_AGAINST_BASELINE[alike].format(others, baseline)
        return f"{all_of_them} by {comparison.measures[0]}"
    listed = " and ".join(filter(None, (", ".join(said[:-1]), said[-1])))
    return f"Of {others}, {listed} by {comparison.measures[0]}"


def short_counts(words: Sequence[str]) -> str:
    """Return how many runs are better and worse than the baseline: ``2 runs better and 1 worse``."""
    return f"{counted(words.count(BETTER), 'run')} better and {words.count(WORSE):,} worse"


def unjoined_sentence(pairs: int, what: str) -> str:
    """Return how many pairs lack a common group or bar without a significant difference."""
    does = "does" if pairs == 1 else "do"
    return (
        f"{counted(pairs, 'pair')} without a common {what} {does} not differ significantly, either"
    )


def model_notes(
    measures: Sequence[str], useless: Booleans, model_topics: int, what: str = "means"
) -> list[str]:
    """Return where the model's judgements add nothing, and why: a sentence each, or none.

    Parameters
    ----------
    measures, useless
        Names, and where the model does not lower the variance: runs or pairs × measures.
    model_topics
        Topics that only the model judged.
    what
        What was estimated.
    """
    if not model_topics:
        text = f"humans judged all topics: {what} are by their judgements, the model's add nothing"
        return [text]
    without = {measure: int(useless[:, m].sum()) for m, measure in enumerate(measures)}
    every = [measure for measure, count in without.items() if count == len(useless)]
    some = [
        f"{count:,} of {len(useless):,} {what} by {measure}"
        for measure, count in without.items()
        if 0 < count < len(useless)
    ]
    alone = "their intervals are no narrower than those of the human topics alone"
    found = {"carry no information on": every, "add no precision to": some}
    return [
        f"the model's judgements {what_not} {enumerate_names(names)}: {alone}"
        for what_not, names in found.items()
        if names
    ]
