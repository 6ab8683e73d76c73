"""How well do runs do by people, who judged documents that were drawn at random? A model judged all.

For each grade, whether a document has it by people is estimated by ``λf + drawn·(y - λf)/π``, with f
and y whether it has it by the model and by people, and π the probability of being drawn: without bias
for any λ that does not depend on the document's own draw. λ is that which the other topics suggest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.experiment import Experiment
from confir.data.formats.sampled_qrels import SampledJudgements, read_sampled
from confir.data.lists.ranked_lists import RankedLists
from confir.data.qrels import Qrels
from confir.data.sampling.judged_scores import SampledScores
from confir.errors import (
    FormatError,
    TopicMismatchError,
    TopicWarning,
    UnsupportedMethodError,
    counted,
    enumerate_names,
    warn_caller,
)
from confir.measures.graded import dcg_gain, mapped_gain
from confir.measures.measure import Measure
from confir.measures.parsing import parse_measures
from confir.measures.run_checks import check_topics
from confir.parallel import Progress

# Draws whose total of 1/π is further from the number of documents do not have these probabilities.
_MOST_DEVIATIONS = 6.0

# Estimates are moved by this part of themselves for their influence, so many documents at once.
_STEP = 1e-3
_AT_ONCE = 32

# Rates of drawing between the pilot's and all documents, for plans.
_RATES = 8

_MEASURES = ("P", "RBP", "R", "AP", "nDCG")


def evaluate_sampled(
    experiment: Experiment, source: Any, measures: Any, progress: Progress | None = None
) -> SampledScores:
    """Return scores by people, estimated from a model's judgements and a sample of people's."""
    wanted = [_usable(one) for one in parse_measures(measures, experiment.rules.rel)]
    judged = experiment.qrels
    sample = draw_of(judged, read_sampled(source, experiment.rules.reading))
    lists, rules = experiment.lists(progress), experiment.rules
    rankings = lists.rankings()
    check_topics(judged, list(zip(rankings, lists.unknown, strict=True)), rules.missing)
    listed = Listed.of(lists if rules.depth is None else lists.cut(rules.depth))
    rates = sample.rates()
    parts = [_score(measure, sample, listed, rates) for measure in wanted]
    shape = (len(lists.runs), len(judged.topics))
    values, variance = (
        np.stack([part[place].reshape(shape).T for part in parts], axis=2) for place in (0, 1)
    )
    if rules.missing == "drop":
        absent = ~np.concatenate([one.present for one in rankings]).T
        values[absent], variance[absent] = np.nan, np.nan
    return SampledScores(
        judged.topics,
        lists.runs,
        tuple(map(str, wanted)),
        values,
        document_variance=variance,
        human_documents=int(sample.drawn.sum()),
        model_documents=len(sample.drawn),
        draw_rates=rates,
        draw_documents=sample.expected(rates) / len(judged.topics),
        draw_covariance=np.stack([part.covariance for part in parts], axis=3),
    )


def _usable(measure: Any) -> Measure:
    if not isinstance(measure, Measure) or measure.definition.name not in _MEASURES:
        raise UnsupportedMethodError(
            f"{measure}: it is no sum of gains, nor a ratio of such sums, which documents drawn at "
            f"random estimate; expected {enumerate_names(_MEASURES)}"
        )
    return measure


@dataclass(frozen=True, slots=True, eq=False)
class DocumentSample:
    """The documents that a model judged, and what people say of those that were drawn.

    Attributes
    ----------
    topics
        Topic of each document.
    model, human
        Gains by the model, and by people where the document was drawn (0 elsewhere).
    drawn, probability
        Whether it was drawn, and with which probability (1 elsewhere).
    """

    topics: Integers
    model: Integers
    human: Integers
    drawn: Booleans
    probability: Floats

    @property
    def levels(self) -> Integers:
        """The positive gains, ascending."""
        every = np.unique(np.concatenate([self.model, self.human[self.drawn]]))
        positive: Integers = every[every > 0]
        return positive

    def has_gain(self, level: int) -> Estimated:
        """Return whether documents have at least a gain by people: estimates, without bias.

        λ minimises the variance of the other topics' estimates, ``Σ (1-π)/π² (y - λf)²`` over what
        was drawn, and lies in [0, 1].
        """
        f = (self.model >= level).astype(np.float64)
        y = (self.human >= level).astype(np.float64)
        share = np.where(self.drawn, (1.0 - self.probability) / np.square(self.probability), 0.0)
        both, own = (
            np.bincount(self.topics, share * f * part, minlength=self.topics[-1] + 1)
            for part in (y, f)
        )
        others = own.sum() - own
        slope = (both.sum() - both) / np.where(others > 0, others, 1.0)
        weight = np.where(others > 0, np.clip(slope, 0.0, 1.0), 1.0)[self.topics]
        rest = np.where(self.drawn, (y - weight * f) / self.probability, 0.0)
        return Estimated(weight * f + rest, rest)

    def gain(self, levels: Integers, gains: Floats) -> Estimated:
        """Return gains by people: estimates, where documents of each level have these gains."""
        steps = np.diff(gains, prepend=0.0)
        parts = [self.has_gain(level) for level in levels.tolist()]
        zero = np.zeros(len(self.topics))
        return Estimated(
            sum((step * part.value for step, part in zip(steps, parts, strict=True)), zero),
            sum((step * part.drawn for step, part in zip(steps, parts, strict=True)), zero),
        )

    def rates(self) -> Floats:
        """Return factors of all probabilities: from half the sample's to all documents, ascending."""
        return np.append([0.5], np.geomspace(1.0, 1.0 / self.probability.min(), _RATES))

    def expected(self, rates: Floats) -> Floats:
        """Return how many documents people would judge at these rates: an estimate."""
        chance = self.probability[self.drawn]
        return np.asarray(np.minimum(1.0 / chance, rates[:, None]).sum(axis=1))


class Estimated(NamedTuple):
    """Estimates of what people say of each document, and the part of them that its draw adds."""

    value: Floats
    drawn: Floats

    def moved(self, steps: Floats) -> Floats:
        """Return the estimates with that part changed by steps: documents × steps."""
        return self.value[:, None] + self.drawn[:, None] * steps


def draw_of(model: Qrels, sampled: SampledJudgements) -> DocumentSample:
    """Return which documents of the model were drawn; raise or warn where they do not fit."""
    places = {
        key: place
        for place, key in enumerate(
            zip(model.document_topics.tolist(), model.documents, strict=True)
        )
    }
    numbers = {topic: number for number, topic in enumerate(model.topics)}
    own = [numbers.get(topic, -1) for topic in sampled.qrels.topics]
    topics = np.array(own)[sampled.qrels.document_topics].tolist()
    found = np.array(
        [places.get(key, -1) for key in zip(topics, sampled.qrels.documents, strict=True)]
    )
    if not (found >= 0).any():
        raise TopicMismatchError(
            "people judged no document that the model judged; expected documents drawn from those"
        )
    if (found < 0).any():
        warn_caller(
            f"people judged {counted(int((found < 0).sum()), 'document')} that the model did not, "
            "left out",
            TopicWarning,
        )
    kept, inside = found[found >= 0], found >= 0
    human = np.zeros(len(model.documents), np.int64)
    probability = np.ones(len(human))
    drawn = np.zeros(len(human), np.bool_)
    human[kept], drawn[kept] = sampled.qrels.gains[inside], True
    probability[kept] = sampled.probabilities[inside]
    sample = DocumentSample(model.document_topics, model.gains, human, drawn, probability)
    _check_draw(sample, model)
    return sample


def _check_draw(sample: DocumentSample, model: Qrels) -> None:
    """Raise where the draw cannot have had these probabilities; warn of topics without draws."""
    chance = sample.probability[sample.drawn]
    expected, total = float((1.0 / chance).sum()), len(sample.drawn)
    deviation = float(np.sqrt(((1.0 - chance) / np.square(chance)).sum()))
    if abs(expected - total) > _MOST_DEVIATIONS * max(deviation, 0.5):
        raise FormatError(
            f"the probabilities of the documents that people judged stand for {expected:,.0f} "
            f"documents, the model judged {total:,}; expected the probability with which each of "
            "these was drawn"
        )
    counts = np.bincount(sample.topics, sample.drawn, minlength=len(model.topics))
    without = [model.topics[place] for place in np.flatnonzero(counts == 0).tolist()]
    if without:
        warn_caller(
            f"people judged no document of {counted(len(without), 'topic')} "
            f"({enumerate_names(without, 5)}): right only if each of theirs could have been drawn",
            TopicWarning,
        )


class Listed(NamedTuple):
    """The documents in all lists that the model judged.

    Attributes
    ----------
    lists, topics
        Number of the list of each, and topic of each list.
    rank
        Rank in the list, from 0.
    document
        Position among the model's documents.
    """

    lists: Integers
    topics: Integers
    rank: Integers
    document: Integers

    @staticmethod
    def of(lists: RankedLists) -> Listed:
        """Return where the documents that the model judged stand."""
        sizes = np.diff(lists.offsets)
        number = np.repeat(np.arange(len(sizes)), sizes)
        rank = np.arange(len(number)) - lists.offsets[:-1][number]
        kept = lists.judgements >= 0
        topics = np.tile(np.arange(len(lists.qrels.topics)), len(lists.runs))
        return Listed(number[kept], topics, rank[kept], lists.judgements[kept].astype(np.int64))

    def within(self, cutoff: int | None) -> Listed:
        """Return what stands above a cutoff."""
        kept = self.rank < (np.inf if cutoff is None else cutoff)
        return Listed(self.lists[kept], self.topics, self.rank[kept], self.document[kept])

    def weigh(self, weight: Floats, documents: int) -> Any:
        """Return the matrix, lists × documents, with the weight of each rank."""
        from scipy.sparse import csr_array

        entries = (weight[self.rank], (self.lists, self.document))
        return csr_array(entries, shape=(len(self.topics), documents))


class Scored(NamedTuple):
    """Estimated scores of lists, and how they vary over draws of the documents.

    Attributes
    ----------
    value, variance
        Of each list.
    covariance
        Of the lists of a topic, its mean over topics, at each rate of drawing: rates × runs × runs.
    """

    value: Floats
    variance: Floats
    covariance: Floats


def _score(measure: Measure, sample: DocumentSample, listed: Listed, rates: Floats) -> Scored:
    """Return estimated scores of all lists, and their variance over draws of the documents.

    A score's variance is ``Σ (1-π)·d²`` over the documents drawn, d the score's derivative by the
    part that the draw adds to the estimate: exact for sums, the delta method for ratios. At r times
    the probabilities it is ``Σ π(1/min(rπ, 1) - 1)·d²``, without bias for sums.
    """
    compute = _COMPUTED[measure.definition.name](measure, sample, listed)
    drawn = np.flatnonzero(sample.drawn)
    topics, chance = sample.topics[drawn], sample.probability[drawn]
    place = np.arange(len(drawn)) - np.searchsorted(topics, topics)  # among those of its topic
    value = compute(np.zeros((len(sample.drawn), 1)))[:, 0]
    variance = np.zeros(len(value))
    count = int(sample.topics[-1]) + 1
    covariance = np.zeros((len(rates), len(value) // count, len(value) // count))
    for start in range(0, int(place.max()) + 1, _AT_ONCE):
        now = (place >= start) & (place < start + _AT_ONCE)
        where = (topics[now], place[now] - start)
        steps = np.zeros((len(sample.drawn), _AT_ONCE))
        steps[drawn[now], where[1]] = _STEP  # one document of each topic: topics do not interact
        by_list = ((compute(steps) - value[:, None]) / _STEP).reshape(-1, count, _AT_ONCE)
        share = np.zeros((count, _AT_ONCE))
        share[where] = 1.0 - chance[now]
        variance += (np.square(by_list) * share).sum(axis=2).reshape(-1)
        for number, rate in enumerate(rates.tolist()):
            share[where] = chance[now] * (1.0 / np.minimum(rate * chance[now], 1.0) - 1.0)
            shared = (by_list * share).reshape(len(by_list), -1)
            covariance[number] += shared @ by_list.reshape(len(by_list), -1).T
    return Scored(value, variance, covariance / count)


def _precision(measure: Measure, sample: DocumentSample, listed: Listed) -> Any:
    cutoff = measure.value("cutoff")
    weights = listed.within(cutoff).weigh(np.full(cutoff, 1.0 / cutoff), len(sample.topics))
    relevant = sample.has_gain(measure.lowest_gain)
    return lambda steps: weights @ relevant.moved(steps)


def _rank_biased(measure: Measure, sample: DocumentSample, listed: Listed) -> Any:
    p, rel, inside = measure.value("p"), measure.value("rel"), listed.within(measure.cutoff)
    ranks = np.arange(inside.rank.max(initial=0) + 1)
    weights = inside.weigh((1.0 - p) * p**ranks, len(sample.topics))
    levels = sample.levels
    gain = sample.gain(levels, mapped_gain(levels, measure.gain_map))
    estimated = gain if rel is None else sample.has_gain(rel)
    return lambda steps: weights @ estimated.moved(steps)


def _recall(measure: Measure, sample: DocumentSample, listed: Listed) -> Any:
    cutoff = measure.value("cutoff")
    found = listed.within(cutoff).weigh(np.ones(cutoff), len(sample.topics))
    relevant, total = sample.has_gain(measure.lowest_gain), _by_topic(sample)

    def compute(steps: Floats) -> Floats:
        values = relevant.moved(steps)
        return np.asarray(found @ values / np.maximum(total @ values, 1.0)[listed.topics])

    return compute


def _average_precision(measure: Measure, sample: DocumentSample, listed: Listed) -> Any:
    """Σ_i (g_i / i)(1 + Σ_{j<i} g_j) over the number of relevant documents; draws are independent."""
    inside = listed.within(measure.cutoff)
    relevant, total = sample.has_gain(measure.lowest_gain), _by_topic(sample)
    first = np.searchsorted(inside.lists, inside.lists)
    ones = inside._replace(document=np.arange(len(inside.rank)))
    added = ones.weigh(1.0 / (1.0 + np.arange(inside.rank.max(initial=0) + 1)), len(inside.rank))

    def compute(steps: Floats) -> Floats:
        values = relevant.moved(steps)
        gained = values[inside.document]
        above = np.cumsum(gained, axis=0) - gained
        above -= above[first] if len(first) else 0.0
        summed = added @ (gained * (1.0 + above))
        return np.asarray(summed / np.maximum(total @ values, 1.0)[listed.topics])

    return compute


def _ndcg(measure: Measure, sample: DocumentSample, listed: Listed) -> Any:
    """DCG over that of the ideal list, whose documents of each grade are estimated numbers."""
    inside, levels = listed.within(measure.cutoff), sample.levels
    gains = dcg_gain(levels, str(measure.value("dcg")), measure.gain_map)
    if (np.diff(gains, prepend=0.0) < 0).any():
        raise UnsupportedMethodError(f"{measure}: gains must rise with the grades of the qrels")
    ranks = np.arange(inside.rank.max(initial=0) + 1)
    weights = inside.weigh(1.0 / np.log2(ranks + 2.0), len(sample.topics))
    gain, total = sample.gain(levels, gains), _by_topic(sample)
    grades = [sample.has_gain(level) for level in levels.tolist()]
    rises = np.diff(gains, prepend=0.0)
    most = int(np.bincount(sample.topics).max())
    prefix = np.append(0.0, np.cumsum(1.0 / np.log2(np.arange(most) + 2.0)))
    cutoff = most if measure.cutoff is None else min(measure.cutoff, most)

    def compute(steps: Floats) -> Floats:
        counts = np.stack([total @ grade.moved(steps) for grade in grades])
        counts[0] = np.maximum(counts[0], 1.0)
        falling = np.maximum.accumulate(counts[::-1], axis=0)[::-1]  # higher grades are fewer
        held = np.interp(np.clip(falling, 0.0, cutoff), np.arange(most + 1), prefix)
        ideal = np.tensordot(rises, held, axes=1)
        return np.asarray(weights @ gain.moved(steps) / ideal[listed.topics])

    return compute


def _by_topic(sample: DocumentSample) -> Any:
    """Return the matrix that sums over the documents of each topic."""
    from scipy.sparse import csr_array

    documents = np.arange(len(sample.topics))
    return csr_array((np.ones(len(documents)), (sample.topics, documents)))


_COMPUTED = {
    "P": _precision,
    "RBP": _rank_biased,
    "R": _recall,
    "AP": _average_precision,
    "nDCG": _ndcg,
}
