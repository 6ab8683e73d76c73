"""Every measure as plain loops over one list, written from the definitions.

Slow and simple on purpose: the measures of confir must agree with these for every list, also for
those with adjacent copies of documents.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

PlainMeasure = Callable[..., float]


@dataclass(frozen=True)
class PlainList:
    """One ranked list of one topic.

    Attributes
    ----------
    ranked
        The docids in rank order; a docid may be repeated.
    judged
        The docids of all judged documents of the collection, repeated likewise.
    gains
        docid → gain.
    served
        docid → subtopic → gain, for judgements of a positive gain.
    intents
        subtopic → probability, for all intents of the topic.
    """

    ranked: Sequence[str]
    judged: Sequence[str]
    gains: Mapping[str, int]
    served: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    intents: Mapping[str, float] = field(default_factory=dict)

    def gain(self, document: str, mapping: Mapping[int, float] | None = None) -> float:
        """Return the gain of a document; 0 when it is not judged, or not relevant."""
        level = max(self.gains.get(document, 0), 0)
        return float((mapping or {}).get(level, level))

    def is_relevant(self, document: str, rel: int = 1) -> bool:
        return self.gains.get(document, 0) >= rel

    def count_relevant(self, rel: int = 1) -> int:
        return sum(self.is_relevant(document, rel) for document in self.judged)

    def top(self, cutoff: int | None) -> list[tuple[int, str]]:
        """Return (rank, docid) of the first documents."""
        return list(enumerate(self.ranked, start=1))[:cutoff]

    def ideal(self, mapping: Mapping[int, float] | None = None) -> PlainList:
        """Return the list of all relevant documents, best first."""
        relevant = [document for document in self.judged if self.is_relevant(document)]
        best = sorted(relevant, key=lambda document: -self.gain(document, mapping))
        return PlainList(best, self.judged, self.gains, self.served, self.intents)


def read_map(gains: str | None) -> dict[int, float]:
    if gains is None:
        return {}
    return {int(pair.split(":")[0]): float(pair.split(":")[1]) for pair in gains.split(",")}


def ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


def average_precision(topic: PlainList, cutoff: int | None = None, rel: int = 1) -> float:
    found, total = 0, 0.0
    for rank, document in topic.top(cutoff):
        if topic.is_relevant(document, rel):
            found += 1
            total += found / rank
    return ratio(total, topic.count_relevant(rel))


def relevant_in_top(topic: PlainList, cutoff: int | None, rel: int) -> int:
    return sum(topic.is_relevant(document, rel) for _, document in topic.top(cutoff))


def precision(topic: PlainList, cutoff: int, rel: int = 1) -> float:
    return relevant_in_top(topic, cutoff, rel) / cutoff


def recall(topic: PlainList, cutoff: int, rel: int = 1) -> float:
    return ratio(relevant_in_top(topic, cutoff, rel), topic.count_relevant(rel))


def r_precision(topic: PlainList, rel: int = 1) -> float:
    total = topic.count_relevant(rel)
    return ratio(relevant_in_top(topic, total, rel), total)


def reciprocal_rank(topic: PlainList, cutoff: int | None = None, rel: int = 1) -> float:
    for rank, document in topic.top(cutoff):
        if topic.is_relevant(document, rel):
            return 1 / rank
    return 0.0


def success(topic: PlainList, cutoff: int, rel: int = 1) -> float:
    return float(relevant_in_top(topic, cutoff, rel) > 0)


def binary_preference(topic: PlainList, rel: int = 1) -> float:
    total = topic.count_relevant(rel)
    disliked = sum(0 <= topic.gains[document] < rel for document in topic.judged)
    above, preferences = 0, 0.0
    for document in topic.ranked:
        if topic.is_relevant(document, rel):
            bound = min(total, disliked)
            preferences += 1.0 - ratio(min(above, bound), bound)
        elif topic.gains.get(document, -1) >= 0:
            above += 1
    return ratio(preferences, total)


def judged_share(topic: PlainList, cutoff: int | None = None) -> float:
    top = topic.top(cutoff)
    return ratio(sum(document in topic.gains for _, document in top), len(top))


def count_retrieved(topic: PlainList) -> float:
    return float(len(topic.ranked))


def count_relevant(topic: PlainList, rel: int = 1) -> float:
    return float(topic.count_relevant(rel))


def count_relevant_retrieved(topic: PlainList, rel: int = 1) -> float:
    return float(relevant_in_top(topic, None, rel))


def ndcg(
    topic: PlainList, cutoff: int | None = None, dcg: str = "log2", gains: str | None = None
) -> float:
    mapping = read_map(gains)

    def discounted(ranked: PlainList) -> float:
        total = 0.0
        for rank, document in ranked.top(cutoff):
            gain = ranked.gain(document, mapping)
            total += (2**gain - 1 if dcg == "exp-log2" else gain) / math.log2(rank + 1)
        return total

    return ratio(discounted(topic), discounted(topic.ideal(mapping)))


def expected_reciprocal_rank(
    topic: PlainList, cutoff: int | None = None, gmax: int = 4, gains: str | None = None
) -> float:
    reached, total = 1.0, 0.0
    for rank, document in topic.top(cutoff):
        stop = (2 ** topic.gain(document, read_map(gains)) - 1) / 2**gmax
        total += reached * stop / rank
        reached *= 1 - stop
    return total


def normalised_err(
    topic: PlainList, cutoff: int | None = None, gmax: int = 4, gains: str | None = None
) -> float:
    best = expected_reciprocal_rank(topic.ideal(read_map(gains)), cutoff, gmax, gains)
    return ratio(expected_reciprocal_rank(topic, cutoff, gmax, gains), best)


def rank_biased_precision(
    topic: PlainList,
    cutoff: int | None = None,
    p: float = 0.8,
    rel: int | None = None,
    gains: str | None = None,
) -> float:
    total = 0.0
    for rank, document in topic.top(cutoff):
        if rel is None:
            gain = topic.gain(document, read_map(gains))
        else:
            gain = float(topic.is_relevant(document, rel))
        total += (1 - p) * gain * p ** (rank - 1)
    return total


def relative_rbp(topic: PlainList, p: float = 0.9) -> float:
    highest = max([1.0, *(topic.gain(document, {}) for document in topic.judged)])
    return rank_biased_precision(topic, p=p) / highest


def q_measure(
    topic: PlainList, cutoff: int | None = None, beta: float = 1.0, gains: str | None = None
) -> float:
    mapping = read_map(gains)
    ideal = topic.ideal(mapping)
    found, gained, total = 0, 0.0, 0.0
    for rank, document in topic.top(cutoff):
        if topic.is_relevant(document):
            found += 1
            gained += topic.gain(document, mapping)
            best = sum(ideal.gain(other, mapping) for _, other in ideal.top(rank))
            total += (beta * gained + found) / (beta * best + rank)
    relevant = topic.count_relevant()
    return ratio(total, relevant if cutoff is None else min(relevant, cutoff))


def subtopics_of(topic: PlainList, document: str, rel: int) -> list[str]:
    served = topic.served.get(document, {})
    return [subtopic for subtopic in topic.intents if served.get(subtopic, 0) >= rel]


def novelties(topic: PlainList, ranked: Sequence[str], alpha: float, rel: int) -> list[float]:
    """Return what each document adds: Σ (1-α)^(times its subtopics were served above)."""
    times = dict.fromkeys(topic.intents, 0)
    added = []
    for document in ranked:
        subtopics = subtopics_of(topic, document, rel)
        added.append(sum((1 - alpha) ** times[subtopic] for subtopic in subtopics))
        for subtopic in subtopics:
            times[subtopic] += 1
    return added


def greedy_ideal(topic: PlainList, alpha: float, rel: int) -> list[str]:
    """Return the judged documents, the one that adds most next, the last by docid among equals."""
    left = sorted(topic.judged, reverse=True)
    worth = dict.fromkeys(topic.intents, 1.0)
    ideal: list[str] = []
    while left:
        added = [sum(worth[s] for s in subtopics_of(topic, d, rel)) for d in left]
        ideal.append(left.pop(added.index(max(added))))
        for subtopic in subtopics_of(topic, ideal[-1], rel):
            worth[subtopic] *= 1 - alpha
    return ideal


def discounted_novelty(
    topic: PlainList,
    ranked: Sequence[str],
    cutoff: int | None,
    alpha: float,
    rel: int,
    discount: Callable[[int], float],
) -> float:
    added = novelties(topic, ranked, alpha, rel)[:cutoff]
    return sum(new / discount(rank) for rank, new in enumerate(added, start=1))


def alpha_ndcg(
    topic: PlainList, cutoff: int | None = None, alpha: float = 0.5, rel: int = 1
) -> float:
    settings = (cutoff, alpha, rel, lambda rank: math.log2(rank + 1))
    best = discounted_novelty(topic, greedy_ideal(topic, alpha, rel), *settings)
    return ratio(discounted_novelty(topic, topic.ranked, *settings), best)


def normalised_err_ia(
    topic: PlainList, cutoff: int | None = None, alpha: float = 0.5, rel: int = 1
) -> float:
    settings = (cutoff, alpha, rel, float)
    best = discounted_novelty(topic, greedy_ideal(topic, alpha, rel), *settings)
    return ratio(discounted_novelty(topic, topic.ranked, *settings), best)


def err_ia(topic: PlainList, cutoff: int | None = None, alpha: float = 0.5, rel: int = 1) -> float:
    covered = {s for document in topic.judged for s in subtopics_of(topic, document, rel)}
    length = len(topic.ranked) if cutoff is None else cutoff
    best = len(covered) * sum((1 - alpha) ** (rank - 1) / rank for rank in range(1, length + 1))
    return ratio(discounted_novelty(topic, topic.ranked, cutoff, alpha, rel, float), best)


def subtopic_recall(topic: PlainList, cutoff: int | None = None, rel: int = 1) -> float:
    covered = {s for _, document in topic.top(cutoff) for s in subtopics_of(topic, document, rel)}
    return ratio(len(covered), len(topic.intents))


def d_ndcg(topic: PlainList, cutoff: int | None = None, gains: str | None = None) -> float:
    mapping = read_map(gains)

    def global_gain(document: str) -> float:
        served = topic.served.get(document, {})
        return sum(
            probability * mapping.get(served[subtopic], served[subtopic])
            for subtopic, probability in topic.intents.items()
            if subtopic in served
        )

    def discounted(ranked: Sequence[str]) -> float:
        top = enumerate(ranked[:cutoff], start=1)
        return sum(global_gain(document) / math.log2(rank + 1) for rank, document in top)

    best = sorted(topic.judged, key=global_gain, reverse=True)
    return ratio(discounted(topic.ranked), discounted(best))


def d_sharp_ndcg(
    topic: PlainList, cutoff: int | None = None, gamma: float = 0.5, gains: str | None = None
) -> float:
    covered = subtopic_recall(topic, cutoff)
    return gamma * covered + (1 - gamma) * d_ndcg(topic, cutoff, gains)


PLAIN_MEASURES: dict[str, PlainMeasure] = {
    "AP": average_precision,
    "P": precision,
    "R": recall,
    "Rprec": r_precision,
    "RR": reciprocal_rank,
    "nDCG": ndcg,
    "ERR": expected_reciprocal_rank,
    "nERR": normalised_err,
    "RBP": rank_biased_precision,
    "rbp": relative_rbp,
    "Q": q_measure,
    "Bpref": binary_preference,
    "Success": success,
    "Judged": judged_share,
    "alpha_nDCG": alpha_ndcg,
    "ERR_IA": err_ia,
    "nERR_IA": normalised_err_ia,
    "StRecall": subtopic_recall,
    "D_nDCG": d_ndcg,
    "DS_nDCG": d_sharp_ndcg,
    "NumRet": count_retrieved,
    "NumRel": count_relevant,
    "NumRelRet": count_relevant_retrieved,
}


def plain_score(measure: Any, topic: PlainList) -> float:
    """Return what a measure of confir's catalogue scores on one list, by the plain loops."""
    settings = dict(measure.parameters)
    if measure.cutoff is not None:
        settings["cutoff"] = measure.cutoff
    return PLAIN_MEASURES[measure.definition.name](topic, **settings)
