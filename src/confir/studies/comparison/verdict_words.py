"""How a verdict reads: in a sentence, with its evidence and its reason, and counted over many pairs.

Terminal, page, gate and records take their words from here. `verdicts` decides; `comparison_notes` says
by which intervals and tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from confir.arrays import Floats
from confir.defaults import NO_FAMILY
from confir.errors import counted
from confir.intervals.simultaneous import is_significant
from confir.number_text import (
    SENTENCE_DECIMALS,
    bracketed,
    level_text,
    p_words,
    score_words,
    signed,
    signed_words,
)
from confir.studies.comparison.families import CORRECTION_NAMES
from confir.studies.comparison.paired_tests import find_test
from confir.studies.comparison.pairs import LEAST_TOPICS
from confir.studies.comparison.verdicts import (
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

if TYPE_CHECKING:
    from confir.studies.best.teams import TeamBoard
    from confir.studies.comparison.comparison import Comparison

# What is said of a run against another.
_SAID = {
    BETTER: "{run} is significantly better than {other} in {measure}",
    WORSE: "{run} is significantly worse than {other} in {measure}",
    EQUIVALENT: "{run} and {other} are equivalent{within} in {measure}",
    IDENTICAL: "{run} and {other} are identical in {measure}",
    INCONCLUSIVE: "The difference between {run} and {other} in {measure} is inconclusive",
    NOT_COMPARED: "{run} and {other} are not compared in {measure}, with fewer than 2 topics in common",
}

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


def sentence_forms() -> dict[str, str]:
    """Return the sentence of each verdict with gaps for names: ``{run}``, ``{other}``, ``{measure}``.

    The page fills them in for the pair that its reader chooses.
    """
    return {word: said.replace("{within}", "") for word, said in _SAID.items()}


def decision_sentence(one: Decision, measure: str, *, brief: bool = False) -> str:
    """Return a decision in a sentence without its full stop, as one would say it.

    ``brief``, as in a headline, leaves out the reason, and that an interval is simultaneous.
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
        parts.append(("" if brief else _simultaneous(one)) + _interval(one, "CI", write))
    if not math.isnan(one.p):
        parts.append(p_phrase(one.p, one.p_adjusted, one.pairs))
    return "; ".join(filter(None, [", ".join(parts), "" if brief else reason(one)]))


def p_phrase(p: float, p_adjusted: float, pairs: int) -> str:
    """Return the p-value that decides, and whether it is adjusted for several pairs."""
    adjusted = pairs > 1 and p_adjusted != p and not math.isnan(p)
    return f"adjusted {p_words(p_adjusted)}" if adjusted else p_words(p)


def difference_phrase(one: Decision) -> str:
    """Return the difference with its interval, where there is one."""
    difference = f"difference {signed(one.difference)}"
    if not one.has_interval:
        return difference
    return f"{difference}, {_simultaneous(one)}{_interval(one, 'interval', signed)}"


def difference_and_verdict(one: Decision) -> str:
    """Return difference, interval and verdict, with the reason in parentheses."""
    why = reason(one)
    return f"{difference_phrase(one)}: {verdict_phrase(one)}" + (f" ({why})" if why else "")


def _signed(value: float) -> str:
    return signed(value, SENTENCE_DECIMALS)


def _simultaneous(one: Decision) -> str:
    return "simultaneous " if one.family != NO_FAMILY and one.pairs > 1 else ""


def _interval(one: Decision, name: str, write: Callable[[float], str]) -> str:
    """Return level and limits, with what the interval is called."""
    return f"{level_text(one.level)} {name} {bracketed(write(one.low), write(one.high), one.open)}"


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
    if one.direction == 0:
        return f"the same score on all {one.topics} topics"
    same = f"the same difference on all {one.topics} topics"
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


def pairs_sentence(comparison: Comparison, measure: int, what: str = "run") -> str:
    """Return how many pairs differ significantly by a measure, and the smallest such difference."""
    verdicts = comparison.verdict[0, :, measure]
    significant = np.isin(verdicts, list(OPPOSITE))
    pairs, found = len(verdicts), int(significant.sum())
    if not found:
        which = (
            f"the two {what}s do not differ" if pairs == 1 else f"none of {pairs:,} pairs differs"
        )
        return f"{which} significantly"
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
    verb = "differs" if found == 1 else "differ"
    return (
        f"{found:,} of {counted(len(verdicts), 'pair')} of teams {verb} significantly by their best runs, "
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
