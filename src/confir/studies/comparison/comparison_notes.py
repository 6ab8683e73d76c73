"""Notes on comparisons: by which intervals and tests verdicts are given, on which topics."""

from __future__ import annotations

from confir.errors import counted
from confir.intervals.method_list import METHODS
from confir.number_text import percent, topics_text
from confir.studies.comparison.comparison import Comparison
from confir.studies.comparison.families import CORRECTION_NAMES
from confir.studies.comparison.paired_tests import find_test
from confir.studies.corrected_means.sentences import model_notes

# What an end that is 0 and excluded means, and a verdict that is called borderline.
OPEN_END = "only the sign of the difference is significant, by the bound for symmetric differences"

BORDERLINE = "other replicates might change the verdict"


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
    resamples = "replicates" in METHODS[comparison.method].needs or any(
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
        notes.append("by human judgements, estimated from these and the model's (PPI++)")
        more = comparison.scores.model_topics
        notes += model_notes(comparison.measures, comparison.weight == 0, more, "differences")
    return notes


def interval_name(comparison: Comparison) -> str:
    """Return the name of the interval shown with a verdict: ``simultaneous 95% interval, all 10 pairs``."""
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


def _family_text(comparison: Comparison) -> str:
    """Return for how many pairs decisions are adjusted; measures may have tested fewer."""
    most = int(comparison.tested.max())
    at_most = "" if (comparison.tested == most).all() else "at most "
    if not comparison.is_simultaneous:
        return f"{at_most}{counted(most, 'pair')} within each measure"
    every = "all " if comparison.baseline is None and not at_most else at_most
    against = "" if comparison.baseline is None else f" with {comparison.baseline}"
    return f"{every}{counted(most, 'pair')}{against}"
