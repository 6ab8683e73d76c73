"""What should a reader of scores know about the data? Sentences, only where something matters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.errors import enumerate_names
from confir.order import TIE

if TYPE_CHECKING:
    from confir.studies.data_quality.data_quality import DataQuality

# One of the first ten documents, on average: a run of the pool has none there, and P@10 could rise
# by as much.
MUCH_UNJUDGED = 0.10

# One document in ten: fewer ties are accidents of rounding, mostly of two documents far down.
MANY_TIED = 0.10

# Lists of less than half the depth of others: those had twice the room for relevant documents.
SHORT_LISTS = 0.5

# Buckley & Voorhees 2000: with fewer topics, orders of runs are too unstable to report.
FEW_TOPICS = 25

# One topic in ten: from there on, scores of a single document's rank shape the means.
MANY_WITH_ONE_RELEVANT = 0.10

# Sentences of one kind beyond this number are counted instead of written.
MOST_RUNS_NAMED = 5

NOTHING_UNUSUAL = "nothing unusual"


def quality_sentences(quality: DataQuality) -> list[str]:
    """Return what is to be said of qrels and runs; "nothing unusual" if nothing is."""
    return [*_qrels_sentences(quality), *_run_sentences(quality)] or [NOTHING_UNUSUAL]


def _qrels_sentences(quality: DataQuality) -> Iterator[str]:
    topics = len(quality.topics)
    if topics < FEW_TOPICS:
        yield (
            f"there {'is' if topics == 1 else 'are'} {_count(topics, 'topic')}; with fewer than "
            f"{FEW_TOPICS}, rankings of runs often change with the topics"
        )
    without, one = quality.without_relevant, quality.with_one_relevant
    if without:
        yield (
            f"{_some_of(without, topics)} {_have(without)} no relevant document; that scores 0 by "
            "most measures, whatever a run does"
        )
    if one and len(one) >= MANY_WITH_ONE_RELEVANT * topics:
        yield (
            f"{_some_of(one, topics)} {_have(one)} one relevant document; AP depends there on the "
            "rank of that one alone"
        )
    if np.array_equal(quality.judged, quality.relevant):
        yield (
            "every judged document is relevant; so an unjudged one may be relevant or not, and "
            "measures of judged documents such as Bpref say little"
        )


class _Concern(NamedTuple):
    """Something to be said of some runs.

    Attributes
    ----------
    weight, concerned
        How severe it is for each run, and whether to mention it.
    say
        The sentence, from a run's position and how it is named.
    reason
        Why it matters, said once.
    others
        What further runs have, when there are too many to mention each.
    """

    weight: Floats | Integers
    concerned: Booleans
    say: Callable[[int, str], str]
    reason: str
    others: str


def _run_sentences(quality: DataQuality) -> Iterator[str]:
    for concern in _concerns(quality):
        order = np.argsort(-concern.weight, kind="stable")
        chosen = order[concern.concerned[order]].tolist()
        for place, r in enumerate(chosen[:MOST_RUNS_NAMED]):
            sentence = concern.say(r, f"run {quality.runs[r]!r}")
            yield sentence if place or not concern.reason else f"{sentence}; {concern.reason}"
        rest = [quality.runs[r] for r in chosen[MOST_RUNS_NAMED:]]
        if rest:
            yield f"{_count(len(rest), 'more run')} {concern.others} ({enumerate_names(rest)})"


def _concerns(quality: DataQuality) -> Iterator[_Concern]:
    """Yield what may be said of runs, what concerns whole topics first."""
    topics, cutoff = len(quality.topics), quality.main_cutoff
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
        "what the qrels lack is not scored",
        "with topics that the qrels lack",
    )
    longest = quality.lengths.max(axis=1)
    deepest = longest.max()
    yield _Concern(
        -longest,
        (longest > 0) & (longest < SHORT_LISTS * deepest),
        lambda r, run: f"the lists of {run} end at rank {longest[r]}, others at {deepest}",
        "measures that look deeper favour the longer ones",
        "with lists of less than half the depth of others",
    )
    unjudged = quality.unjudged[:, quality.cutoffs.index(cutoff)]
    yield _Concern(
        unjudged,
        unjudged >= MUCH_UNJUDGED - TIE,
        lambda r, run: (
            f"{_percent(unjudged[r])} of the first {cutoff} documents of {run} were never judged, "
            "so its score may be too low"
        ),
        "",
        f"with {_percent(MUCH_UNJUDGED)} or more unjudged among the first {cutoff} documents",
    )
    yield _Concern(
        quality.tied,
        quality.tied >= MANY_TIED - TIE,
        lambda r, run: (
            f"{_percent(quality.tied[r])} of the documents of {run} are tied with another, up to "
            f"{quality.largest_tie[r]} together"
        ),
        "ties are broken by docid, as in trec_eval, so their order is arbitrary",
        f"with {_percent(MANY_TIED)} or more tied documents",
    )


def _some_of(names: Sequence[str], whole: int | None = None) -> str:
    """Return "2 topics (301, 302)", or "2 of 50 topics (301, 302)"."""
    counted = _count(len(names), "topic")
    if whole is not None and whole > 1:
        counted = f"{len(names)} of {whole} topics"
    return f"{counted} ({enumerate_names(names, 5)})"


def _have(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _percent(share: float) -> str:
    """Return a share in whole percent; one that is not all is not called so."""
    return "more than 99 %" if 0.995 <= share < 1.0 else f"{100 * share:.0f} %"
