"""How many pairs of runs differ significantly, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from confir.errors import counted
from confir.number_text import score_words
from confir.studies.comparison.verdicts import (
    BETTER,
    EQUIVALENT,
    IDENTICAL,
    INCONCLUSIVE,
    NOT_COMPARED,
    OPPOSITE,
    WORSE,
)

if TYPE_CHECKING:
    from confir.studies.best.teams import TeamBoard
    from confir.studies.comparison.comparison import Comparison

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
