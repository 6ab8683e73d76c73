"""Groups of neighbouring runs without a significant difference, and their letters."""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np

from confir.arrays import Booleans, Floats, Integers, best_first
from confir.data.result import Columns, Result, axis, columns_of, over, result
from confir.data.scores import Scores
from confir.measures.score_summary import ScoreSummary
from confir.pairs.decisions import OPPOSITE, Words


@dataclass(frozen=True, slots=True)
class GroupedRuns:
    """The runs by one measure, best first, and the groups of consecutive runs.

    Attributes
    ----------
    measure
        Name of the measure.
    runs, means
        Runs, best first, and their means.
    groups
        Places of the first and the last run of each group.
    unjoined
        Pairs that share no group although they do not differ significantly.
    """

    measure: str
    runs: tuple[str, ...]
    means: tuple[float, ...]
    groups: tuple[tuple[int, int], ...]
    unjoined: int

    def groups_of(self, place: int) -> tuple[int, int]:
        """Return the numbers, from 1, of the first and the last group that a run is in.

        It is in all groups between them, too: later groups start and stop later.
        """
        numbers = [
            number
            for number, (start, stop) in enumerate(self.groups, start=1)
            if start <= place <= stop
        ]
        return numbers[0], numbers[-1]


@result
class RunGroups(Result):
    """Groups of runs, by measure.

    Within a group no two runs differ significantly. Nor need runs of different groups do so:
    `GroupedRuns.unjoined` counts such pairs.
    """

    measures: tuple[str, ...] = axis("measure")
    by_measure: tuple[GroupedRuns, ...] = over("measure")

    def to_dict(self) -> Columns:
        """Return the columns measure, run, mean, first_group, last_group; best runs first."""
        rows = [
            (grouped.measure, run, mean, *grouped.groups_of(place))
            for grouped in self.by_measure
            for place, (run, mean) in enumerate(zip(grouped.runs, grouped.means, strict=True))
        ]
        return columns_of(("measure", "run", "mean", "first_group", "last_group"), rows)


def group_runs(
    scores: Scores | ScoreSummary, first: Integers, second: Integers, verdict: Words
) -> RunGroups:
    """Return the groups of runs; the verdicts are those of all pairs × measures."""
    significant = np.isin(verdict, tuple(OPPOSITE))
    mean = scores.mean()
    grouped = []
    for m, measure in enumerate(scores.measures):
        differs = np.zeros((len(scores.runs), len(scores.runs)), np.bool_)
        differs[first, second] = significant[:, m]
        differs |= differs.T
        grouped.append(_group(scores.runs, measure, mean[:, m], differs))
    return RunGroups(scores.measures, tuple(grouped))


def _group(runs: tuple[str, ...], measure: str, mean: Floats, differs: Booleans) -> GroupedRuns:
    """Return the longest series of consecutive runs, best first, in which no two differ."""
    order = best_first(mean)
    ordered = differs[np.ix_(order, order)]
    groups: list[tuple[int, int]] = []
    joined = np.eye(len(order), dtype=np.bool_)
    stop = 0
    for start in range(len(order)):
        reach = max(stop, start)
        while reach + 1 < len(order) and not ordered[start : reach + 1, reach + 1].any():
            reach += 1
        if reach > stop or start == 0:
            groups.append((start, reach))
            joined[start : reach + 1, start : reach + 1] = True
        stop = reach
    unjoined = int((~ordered & ~joined).sum()) // 2
    names = tuple(runs[place] for place in order)
    return GroupedRuns(measure, names, tuple(mean[order].tolist()), tuple(groups), unjoined)


# Of more groups than this, a run's letters are written as a range.
_MOST_LETTERS = 4


def group_letters(first: int, last: int) -> str:
    """Return the letters of a run from the first and the last group that it is in, from 1.

    >>> [group_letters(1, 1), group_letters(1, 2), group_letters(2, 2), group_letters(2, 9)]
    ['a', 'ab', 'b', 'b–i']
    """
    letters = [_letter(number) for number in range(first, last + 1)]
    if len(letters) <= _MOST_LETTERS and last <= len(ascii_lowercase):
        return "".join(letters)
    return letters[0] if first == last else f"{letters[0]}–{letters[-1]}"


def _letter(number: int) -> str:
    """Return the letter of a group: a to z, then aa, ab, and so on."""
    name = ""
    while number:
        number, rest = divmod(number - 1, len(ascii_lowercase))
        name = ascii_lowercase[rest] + name
    return name
