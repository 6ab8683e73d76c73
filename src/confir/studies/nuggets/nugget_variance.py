"""How much of the variance over topics comes from the choice of nuggets? By run and measure.

A topic's score is a mean over k nuggets. If these are a sample of all that could have been written
for the topic, the score varies by v = s²/k with the sample, s² the variance over its nuggets; the mean
of v over topics is part of the variance of scores over topics, on which intervals of means rest.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from confir.arguments import as_list, as_path, invalid
from confir.arrays import Floats, Integers
from confir.data.files import STDIN, PathLike, open_bytes, read_bytes
from confir.data.formats.nuggetizer import (
    ASSIGNMENTS,
    NUGGET_ASSIGNMENTS,
    NUGGET_MEASURES,
    AnswerNuggets,
    read_answers,
)
from confir.data.result import Result, axis, over, result
from confir.data.score_files import files_of
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.errors import FormatError, collect_warnings
from confir.number_text import share_text

# Bytes at the start of a file by which assignments are recognised.
_START = 1 << 16

LEAST_NUGGETS = 2


@result
class NuggetVariance(Result):
    """What the choice of nuggets contributes to the variance of scores over topics.

    Attributes
    ----------
    runs, measures
        Names; the measures are those of nuggetizer.
    topics
        Number of topics of which a measure counts two nuggets or more.
    nuggets
        Mean number of nuggets that it counts in these.
    nugget_variance
        Mean of s²/k over these topics.
    topic_variance
        Variance of the scores over all topics.
    share
        The former as a share of the latter; NaN where scores do not vary, or no topic has nuggets
        enough. An estimate, which may exceed 1.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    topics: Integers = over("run", "measure")
    nuggets: Floats = over("run", "measure")
    nugget_variance: Floats = over("run", "measure")
    topic_variance: Floats = over("run", "measure")
    share: Floats = over("run", "measure")

    row_order = ("measure", "run")

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        return {
            "measure": TableColumn(Role.NAME),
            "run": TableColumn(Role.NAME),
            "topics": TableColumn(Role.COUNT),
            "nuggets": TableColumn(Role.NUMBER, format=".1f"),
            "nugget_variance": TableColumn(Role.SCORE, "by nuggets"),
            "topic_variance": TableColumn(Role.SCORE, "over topics"),
            "share": TableColumn(Role.SHARE),
        }

    def note(self) -> str:
        """Return what the columns are."""
        return (
            "by nuggets: variance of a topic's score over samples of its nuggets, the mean over topics that "
            "have two or more; over topics: variance of the scores; share: the former of the latter"
        )

    def sentence(self, runs: Sequence[str], measures: Sequence[str]) -> str:
        """Return which share comes from the choice of nuggets, in one sentence; none if unknown."""
        places = [self.runs.index(run) for run in runs if run in self.runs]
        parts = []
        for measure in (name for name in measures if name in self.measures):
            shares = self.share[places, self.measures.index(measure)]
            shares = shares[~np.isnan(shares)]
            if len(shares):
                low, high = share_text(float(shares.min())), share_text(float(shares.max()))
                parts.append(f"{low if low == high else f'{low} to {high}'} of {measure}")
        by_run = " by run" if len(places) > 1 else ""
        said = "share of the variance over topics that comes from the choice of nuggets"
        return f"{said}{by_run}: {', '.join(parts)}" if parts else ""


def estimate_nugget_variance(paths: PathLike | Sequence[PathLike]) -> NuggetVariance:
    """Return what the choice of nuggets contributes to the variance of scores over topics.

    Where the share is large, more nuggets per topic narrow the intervals of means; where it is small,
    only more topics do.

    Parameters
    ----------
    paths
        Files of nuggetizer's assignments, or folders of these.

    Examples
    --------
    >>> confir.estimate_nugget_variance("answers.jsonl")
    NuggetVariance(run: 1, measure: 4)
    """
    if isinstance(paths, Mapping):
        raise invalid("paths", paths, "a path, or a list of these")
    listed = [paths] if isinstance(paths, str | os.PathLike) else as_list("paths", paths)
    files = [os.fspath(file) for one in listed for file in files_of(as_path("paths", one))]
    return _variance([one for file in files for one in _answers(file)])


def _answers(path: str) -> list[AnswerNuggets]:
    content = read_bytes(path)
    if not NUGGET_ASSIGNMENTS.fits(path, content):
        raise FormatError(
            f"no assignments of nuggetizer; expected lines of {ASSIGNMENTS}", path=path
        )
    return read_answers(content, path)


def find_nugget_variance(paths: Iterable[str]) -> NuggetVariance | None:
    """Return the variance of those files that hold assignments, silently; None where none does."""
    files = [os.fspath(file) for path in paths if path != STDIN for file in files_of(path)]
    found = list(filter(_holds_assignments, files))
    with collect_warnings():  # which were said where the scores were read
        return estimate_nugget_variance(found) if found else None


def _holds_assignments(path: str) -> bool:
    """Whether a file holds assignments of nuggetizer, by its beginning."""
    if not os.path.isfile(path):
        return False
    with open_bytes(path) as stream:
        return NUGGET_ASSIGNMENTS.fits(path, stream.read(_START))


def _variance(answers: Sequence[AnswerNuggets]) -> NuggetVariance:
    by_run: dict[str, list[AnswerNuggets]] = {}
    for one in answers:
        by_run.setdefault(one.run, []).append(one)
    cells = [[_of_answers(own, name) for name in NUGGET_MEASURES] for own in by_run.values()]
    topics, nuggets, by_nuggets, over_topics = np.array(cells, float).transpose(2, 0, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(over_topics > 0, by_nuggets / over_topics, np.nan)
    return NuggetVariance(
        runs=tuple(by_run),
        measures=tuple(NUGGET_MEASURES),
        topics=topics.astype(int),
        nuggets=nuggets,
        nugget_variance=by_nuggets,
        topic_variance=over_topics,
        share=share,
    )


def _of_answers(answers: Sequence[AnswerNuggets], measure: str) -> tuple[int, float, float, float]:
    """Return topics, mean number of nuggets, and variances by nuggets and over topics."""
    earned = [one.counted(measure) for one in answers]
    sizes = np.array([len(own) for own in earned])
    # sums by answer, in one pass over the nuggets
    flat = np.concatenate(earned)
    place = np.repeat(np.arange(len(sizes)), sizes)
    sums, squares = (np.bincount(place, each, len(sizes)) for each in (flat, np.square(flat)))
    means = np.divide(sums, sizes, out=np.zeros(len(sizes)), where=sizes > 0)
    enough = sizes >= LEAST_NUGGETS
    k = sizes[enough]
    within = np.maximum(squares[enough] - k * np.square(means[enough]), 0.0) / (k - 1) / k
    over_topics = float(means.var(ddof=1)) if len(means) > 1 else np.nan
    if not len(k):
        return 0, np.nan, np.nan, over_topics
    return len(k), float(k.mean()), float(within.mean()), over_topics
