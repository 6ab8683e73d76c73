"""Sentences about anything unusual in the data."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from confir.arrays import TIE, Booleans, Floats, Integers
from confir.errors import counted, enumerate_names
from confir.number_text import share_words

if TYPE_CHECKING:
    from confir.studies.data_quality.data_quality import DataQuality
    from confir.studies.ties.tie_bounds import TieBounds
    from confir.studies.unjudged.unjudged_bounds import UnjudgedBounds

# One of the first ten documents, on average: pooled runs have none, and P@10 could rise by 0.1.
MUCH_UNJUDGED = 0.10

# One document in ten: fewer ties are mostly rounding, between two documents at low ranks.
MANY_TIED = 0.10

# Lists of less than half the depth of others have far less room for relevant documents.
SHORT_LISTS = 0.5

# Buckley & Voorhees 2000: with fewer topics, rankings of runs are too unstable to report.
FEW_TOPICS = 25

# One topic in ten: means then depend noticeably on the ranks of single documents.
MANY_WITH_ONE_RELEVANT = 0.10

# Means that differ by this much are reported as different; smaller moves are not worth a sentence.
MUCH_MOVED = 0.01

# Further runs with the same problem are only counted.
MOST_RUNS_NAMED = 5

NOTHING_UNUSUAL = "nothing unusual"


def moved_sentences(
    cause: str, bounds: Iterable[UnjudgedBounds | TieBounds | None]
) -> Iterator[str]:
    """Yield, for each measure, which run something could move most, where that is much.

    Parameters
    ----------
    cause
        What could move the means: "unjudged documents".
    bounds
        Lowest and highest means by each measure; None where they are not known.
    """
    for one in bounds:
        if one is None:
            continue
        mean, low, high = (array[:, 0] for array in (one.mean, one.lowest, one.highest))
        moves = np.nan_to_num(np.maximum(high - mean, mean - low))
        most, many = int(moves.argmax()), int((moves >= MUCH_MOVED).sum()) - 1
        if moves[most] < MUCH_MOVED:
            continue
        more = f"; {counted(many, 'more run')} by {MUCH_MOVED} or more" if many else ""
        yield (
            f"{cause} could move {one.measures[0]} of run {one.runs[most]!r} by up to "
            f"{moves[most]:.4f}, from {mean[most]:.4f} to between {low[most]:.4f} and "
            f"{high[most]:.4f}{more}"
        )


def qrels_sentences(quality: DataQuality) -> Iterator[str]:
    """Yield what is unusual about the topics of the qrels and their relevant documents."""
    topics = len(quality.topics)
    if topics < FEW_TOPICS:
        yield _few_topics(topics)
    without, one = quality.without_relevant, quality.with_one_relevant
    if without:
        yield (
            f"{_some_of(without, topics)} {_have(without)} no relevant document; every run scores 0 "
            "there by most measures"
        )
    if one and len(one) >= MANY_WITH_ONE_RELEVANT * topics:
        yield (
            f"{_some_of(one, topics)} {_have(one)} one relevant document; AP there depends on "
            "the rank of that document alone"
        )
    if np.array_equal(quality.judged, quality.relevant):
        yield (
            "every judged document is relevant, so measures based on judged non-relevant documents "
            "such as Bpref say little"
        )


def _few_topics(topics: int) -> str:
    return (
        f"there {'is' if topics == 1 else 'are'} {counted(topics, 'topic')}; with fewer than "
        f"{FEW_TOPICS}, rankings of runs often change with the topics"
    )


class _Concern(NamedTuple):
    """A problem of some runs.

    Attributes
    ----------
    weight, concerned
        Severity for each run, and whether to mention it.
    say
        The sentence, given a run's index and name.
    reason
        Why it matters, said once.
    others
        How further runs are described, if there are too many to name.
    cause
        What a run has it from; runs that share it share a sentence. None where each has its own.
    """

    weight: Floats | Integers
    concerned: Booleans
    say: Callable[[int, str], str]
    reason: str
    others: str
    cause: Callable[[int], Hashable] | None = None


def run_sentences(quality: DataQuality) -> Iterator[str]:
    """Yield what is unusual about runs, the worst first: topics and lists, then single documents."""
    for concern in (*_list_concerns(quality), *_document_concerns(quality)):
        order = np.argsort(-concern.weight, kind="stable")
        chosen = order[concern.concerned[order]].tolist()
        together: dict[Hashable, list[int]] = {}
        for r in chosen:
            together.setdefault(r if concern.cause is None else concern.cause(r), []).append(r)
        groups = list(together.values())
        for place, group in enumerate(groups[:MOST_RUNS_NAMED]):
            sentence = concern.say(group[0], _named([quality.runs[r] for r in group]))
            yield sentence if place or not concern.reason else f"{sentence}; {concern.reason}"
        rest = [quality.runs[r] for group in groups[MOST_RUNS_NAMED:] for r in group]
        if rest:
            yield f"{counted(len(rest), 'more run')} {concern.others} ({enumerate_names(rest)})"


def _named(runs: Sequence[str]) -> str:
    """Return "run 'a'", or "3 runs ('a', 'b' and 1 more)"."""
    if len(runs) == 1:
        return f"run {runs[0]!r}"
    return f"{len(runs)} runs ({enumerate_names(map(repr, runs), 3)})"


def _list_concerns(quality: DataQuality) -> Iterator[_Concern]:
    """Yield possible problems of runs with whole topics, and with the lengths of lists."""
    topics = len(quality.topics)
    lacking = np.array([len(names) for names in quality.missing])
    yield _Concern(
        lacking,
        lacking > 0,
        lambda r, run: f"{run} lacks {_some_of(quality.missing[r], topics)}",
        "",
        "without some of the topics",
    )
    extra = np.array([len(names) for names in quality.unknown])
    yield _Concern(
        extra,
        extra > 0,
        lambda r, run: f"the qrels lack {_some_of(quality.unknown[r])} of {run}",
        "these topics are not scored",
        "with topics that the qrels lack",
        lambda r: tuple(quality.unknown[r]),
    )
    longest = quality.lengths.max(axis=1)
    deepest = longest.max()
    yield _Concern(
        -longest,
        (longest > 0) & (longest < SHORT_LISTS * deepest),
        lambda r, run: f"the lists of {run} end at rank {longest[r]}, others at {deepest}",
        "measures of deeper ranks favour longer lists",
        "with lists of less than half the depth of others",
    )


def _document_concerns(quality: DataQuality) -> Iterator[_Concern]:
    """Yield possible problems of runs with unjudged and with tied documents."""
    cutoff = quality.main_cutoff
    unjudged = quality.unjudged[:, quality.cutoffs.index(cutoff)]
    yield _Concern(
        unjudged,
        unjudged >= MUCH_UNJUDGED - TIE,
        lambda r, run: (
            f"{share_words(unjudged[r])} of the first {cutoff} documents of {run} were never judged, "
            "so its score may be too low"
        ),
        "",
        f"with {share_words(MUCH_UNJUDGED)} or more unjudged among the first {cutoff} documents",
    )
    yield _Concern(
        quality.tied,
        quality.tied >= MANY_TIED - TIE,
        lambda r, run: (
            f"{share_words(quality.tied[r])} of the documents of {run} are tied with another, up to "
            f"{quality.largest_tie[r]} together"
        ),
        "ties are broken by docid, as in trec_eval, so their order is arbitrary",
        f"with {share_words(MANY_TIED)} or more tied documents",
    )


def _some_of(names: Sequence[str], whole: int | None = None) -> str:
    """Return "2 topics (301, 302)", or "2 of 50 topics (301, 302)"."""
    number = counted(len(names), "topic")
    if whole is not None and whole > 1:
        number = f"{len(names)} of {whole} topics"
    return f"{number} ({enumerate_names(names, 5)})"


def _have(names: Sequence[object]) -> str:
    return "has" if len(names) == 1 else "have"


def few_topics_warning(quality: DataQuality) -> str:
    """Return that there are too few topics for stable rankings, and what to do."""
    return f"{_few_topics(len(quality.topics))}: confir plan says how many a difference needs"


def unjudged_warning(quality: DataQuality) -> str:
    """Return which runs may score too low for lack of judgements, and what to do; "" if none."""
    cutoff = quality.main_cutoff
    share = quality.unjudged[:, quality.cutoffs.index(cutoff)]
    order = np.argsort(-share, kind="stable")
    chosen = order[share[order] >= MUCH_UNJUDGED - TIE].tolist()
    if not chosen:
        return ""
    named = enumerate_names((f"{quality.runs[r]} {share_words(share[r])}" for r in chosen), 3)
    many = f"{len(chosen)} of {counted(len(quality.runs), 'run')}"
    return (
        f"{many} {_have(chosen)} {share_words(MUCH_UNJUDGED)} or more unjudged documents among the first "
        f"{cutoff} ({named}) and may score too low: judge these, or see their bounds in the section on the "
        "data"
    )
