"""What is said of comparisons: who is better, and how that was found."""

from __future__ import annotations

import numpy as np

from confir.errors import counted
from confir.intervals.method_list import METHODS
from confir.number_text import number_text, percent, score_words, topics_text
from confir.report.names import isolated, joined_names
from confir.studies.best.best_runs import BestRuns
from confir.studies.best.teams import TeamBoard
from confir.studies.comparison.comparison import Comparison, Place
from confir.studies.comparison.families import CORRECTION_NAMES
from confir.studies.comparison.paired_tests import find_test
from confir.studies.comparison.verdicts import BETTER, OPPOSITE, WORSE
from confir.studies.corrected_means.sentences import model_notes

# What an end that is 0 and excluded means, and a verdict that is called borderline.
OPEN_END = "only the sign of the difference is significant, by the bound for symmetric differences"

BORDERLINE = "other replicates might change the verdict"

# More runs than this are counted in a sentence.
_MOST_NAMED = 3


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
    interval = interval_name(comparison).replace("interval", "confidence interval (CI)", 1)
    parts = [f"mean difference {between} with {interval}, over {topics}", tests]
    parts += sampling_notes(comparison, seed)
    if comparison.margin is not None:
        adjusted = f", adjusted by {by}" if comparison.is_equivalence_adjusted else ""
        parts.append(
            f"equivalence within ±{comparison.margin:g} by two one-sided t tests{adjusted}"
        )
    resamples = METHODS[comparison.method].resamples or any(
        find_test(test).resamples for test in comparison.tests
    )
    if resamples or comparison.is_simultaneous:
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
        notes.append("by people's judgements, estimated from theirs and the model's (PPI++)")
        more = comparison.scores.model_topics
        notes += model_notes(comparison.measures, comparison.weight == 0, more, "differences")
    return notes


def interval_name(comparison: Comparison) -> str:
    """Return what interval stands beside a verdict: ``simultaneous 95% interval, all 10 pairs``."""
    if comparison.is_simultaneous:
        return f"simultaneous {percent(comparison.level)} interval, {_family_text(comparison)}"
    alone = " (of each pair alone)" if comparison.is_adjusted else _not_adjusted(comparison)
    return f"{percent(comparison.level)} interval by {comparison.method}{alone}"


def how_compared(comparison: Comparison) -> str:
    """Return by what verdicts are given, in a few words for a report."""
    if comparison.is_simultaneous:
        return f"simultaneous {percent(comparison.level)} intervals, {_family_text(comparison)}"
    alone = f"paired {find_test(comparison.tests[0]).title}, α = {1 - comparison.level:.4g}"
    return f"{alone}{_not_adjusted(comparison)}"


def _not_adjusted(comparison: Comparison) -> str:
    """Return that verdicts on several pairs are not adjusted for them, where that is so."""
    if comparison.is_adjusted or comparison.is_simultaneous or comparison.tested.max() < 2:
        return ""
    if all(find_test(test).corrected for test in comparison.tests):
        return ""
    return f", not adjusted for {counted(int(comparison.tested.max()), 'pair')}"


def _adjusted_by(comparison: Comparison) -> str:
    """Return what adjusts p-values: the correction, or the largest t of the family."""
    if comparison.ranges is not None:
        return "the permuted ranges"
    if comparison.correction is None:
        return "the studentised maximum"
    return CORRECTION_NAMES.get(comparison.correction, "")


def mark_note(comparison: Comparison) -> str:
    """Return what the marks mean, and by which test."""
    parts = [find_test(comparison.tests[0]).title, interval_name(comparison)]
    if comparison.is_adjusted and not comparison.is_simultaneous:
        parts.insert(1, _adjusted_by(comparison))
    return f"▲ ▼ significantly better, worse than {comparison.baseline}: {', '.join(parts)}"


def unjoined_sentence(pairs: int, what: str) -> str:
    """Return how many pairs lack a common group or bar without a significant difference."""
    does = "does" if pairs == 1 else "do"
    return (
        f"{counted(pairs, 'pair')} without a common {what} {does} not differ significantly, either"
    )


def means_text(comparison: Comparison, pair: int, measure: str) -> str:
    """Return the means of baseline and run: ``0.3202 → 0.1781``; a dash where there are none."""
    means = comparison.pair_means(pair)
    if means is None:
        return "–"
    before, after = means[:, comparison.measures.index(measure)].tolist()
    return f"{number_text(before)} → {number_text(after)}"


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


def excluded_sentence(
    best: BestRuns, comparison: Comparison, measure: int, what: str = "run"
) -> str:
    """Return why runs are ruled out though their pair with the best is inconclusive, if any are."""
    top = best.order(measure)[0]
    inconclusive = {
        run
        for run, word in comparison.verdicts_against(top, measure).items()
        if word not in OPPOSITE and not best.in_set[run, measure]
    }
    left = [best.runs[run] for run in best.order(measure) if run in inconclusive]
    if not left:
        return ""
    names = joined_names(left) if len(left) <= _MOST_NAMED else counted(len(left), what)
    return (
        f"{names} {'is' if len(left) == 1 else 'are'} ruled out as the best by fewer, one-sided comparisons, "
        f"though inconclusive against {isolated(best.runs[top])} among all pairs"
    )


def difference_sentence(comparison: Comparison, place: Place) -> str:
    """Return what is said of a run and its baseline: both means, then difference and verdict."""
    decision = comparison.decision(place)
    measure = comparison.measure_name(place)
    means = comparison.pair_means(place.pair)
    if means is None:
        return decision.in_words(measure)
    baseline, run = (
        f"{isolated(name)} {score_words(mean)}"
        for name, mean in zip(comparison.names(place.pair), means[:, place.measure], strict=True)
    )
    return f"{baseline} → {run} in {measure}: {decision.words} ({decision.evidence})"


def named_pairs_sentence(comparison: Comparison, measure: int) -> str:
    """Return how many pairs differ, after the measure where there are several."""
    said = pairs_sentence(comparison, measure)
    return f"{comparison.measures[measure]}: {said}" if len(comparison.measures) > 1 else said


def baseline_sentence(comparison: Comparison, measure: int, what: str = "run") -> str:
    """Return how many runs differ significantly from the baseline by a measure."""
    verdicts = comparison.verdict[0, :, measure].tolist()
    better, worse = verdicts.count(BETTER), verdicts.count(WORSE)
    rest = len(verdicts) - better - worse
    others = "" if not rest else f", and {rest:,} do not differ significantly"
    return (
        f"{better:,} of {counted(len(verdicts), what)} {'is' if better == 1 else 'are'} significantly "
        f"better than {isolated(str(comparison.baseline))} in {comparison.measures[measure]}, {worse:,} "
        f"significantly worse{others}"
    )


def _family_text(comparison: Comparison) -> str:
    """Return for how many pairs decisions are adjusted; measures may have tested fewer."""
    most = int(comparison.tested.max())
    at_most = "" if (comparison.tested == most).all() else "at most "
    if not comparison.is_simultaneous:
        return f"{at_most}{counted(most, 'pair')} within each measure"
    every = "all " if comparison.baseline is None and not at_most else at_most
    against = "" if comparison.baseline is None else f" with {comparison.baseline}"
    return f"{every}{counted(most, 'pair')}{against}"
