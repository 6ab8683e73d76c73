"""Estimated human judgements of all documents, from those of a random sample, and its replicates.

Whether a document has a grade by human judgement is estimated by ``λf + drawn·(y - λf)/π``, with f and y
whether it has it by the model and by human judgement, and π the probability of being drawn: without bias
for any λ that does not depend on the document's own draw. λ is that which the other topics suggest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers

# Rates of drawing between the pilot's and all documents, for plans.
_RATES = 8

# The most documents that one stands for in a replicate: beyond it, binomial counts are Poisson's.
_MOST_COPIES = 1e6


class Redrawn(NamedTuple):
    """Replicates of a draw.

    Attributes
    ----------
    weights
        Of what the draw of each document adds to its estimate: documents × replicates, of mean 1.
    reach
        How many documents like each one are expected in a replicate.
    """

    weights: Floats
    reach: Floats


class Estimated(NamedTuple):
    """Estimates of the human judgement of each document.

    Attributes
    ----------
    value, drawn
        The estimates, and the part of them that the draw adds.
    known
        Human judgements of those drawn.
    """

    value: Floats
    drawn: Floats
    known: Floats

    def redrawn(self, redrawn: Redrawn) -> Floats:
        """Return the estimates in replicates of the draw: documents × replicates."""
        return (self.value - self.drawn)[:, None] + self.drawn[:, None] * redrawn.weights

    def seen(self, redrawn: Redrawn) -> Floats:
        """Return the human judgements in replicates of the draw: documents × replicates."""
        return (self.known * redrawn.reach)[:, None] * redrawn.weights


@dataclass(frozen=True, slots=True, eq=False)
class DocumentSample:
    """The documents that a model judged, and human judgements of those that were drawn.

    Attributes
    ----------
    topics
        Topic of each document.
    model, human
        Gains by the model, and by human judgements where the document was drawn (0 elsewhere).
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
        """Return whether documents have at least a gain by human judgements: estimates, without bias.

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
        return Estimated(weight * f + rest, rest, np.where(self.drawn, y, 0.0))

    def gain(self, levels: Integers, gains: Floats) -> Estimated:
        """Return gains by human judgements: estimates, where documents of each level have these gains."""
        steps = np.diff(gains, prepend=0.0)
        parts = [self.has_gain(level) for level in levels.tolist()]
        zero = np.zeros(len(self.topics))
        return Estimated(
            *(
                sum((step * one for step, one in zip(steps, column, strict=True)), zero)
                for column in (zip(*parts, strict=True) if parts else ((), (), ()))
            )
        )

    def by_topic(self) -> Any:
        """Return the matrix that sums over the documents of each topic."""
        from scipy.sparse import csr_array

        documents = np.arange(len(self.topics))
        return csr_array((np.ones(len(documents)), (self.topics, documents)))

    def rates(self) -> Floats:
        """Return factors of all probabilities: from half the sample's to all documents, ascending."""
        return np.append([0.5], np.geomspace(1.0, 1.0 / self.probability.min(), _RATES))

    def expected(self, rates: Floats) -> Floats:
        """Return how many documents humans would judge at these rates: an estimate."""
        chance = self.probability[self.drawn]
        return np.asarray(np.minimum(1.0 / chance, rates[:, None]).sum(axis=1))

    def variance_at(self, rate: float) -> Floats:
        """Return the variance of documents' weights at a rate r of drawing, ``π(1/min(rπ, 1) - 1)``.

        Summed over those drawn, times the square of what each adds, it is an unbiased estimate of the
        variance of the sum over all.
        """
        return self.probability * (1.0 / np.minimum(rate * self.probability, 1.0) - 1.0)

    def as_drawn(self) -> Redrawn:
        """Return the draw itself as the only replicate."""
        return Redrawn(np.ones((len(self.drawn), 1)), np.ones(len(self.drawn)))

    def redraw(self, rate: float, count: int, rng: np.random.Generator) -> Redrawn:
        """Return replicates of the draw, with r times its probabilities, 1 at most.

        A document that was drawn stands for n = 1/π like it, and a replicate draws Binomial(n, rπ) of
        them (a pseudo-population: Holmberg 1998; Beaumont & Patak 2012, §4.1). In relation to the
        expected number, that has mean 1 and the variance of `variance_at`: 0 where rπ is 1. Where
        1/π is no whole number, n is rounded, and the probability is such that both remain.
        """
        chance = self.probability[self.drawn]
        copies = np.clip(np.rint(1.0 / chance), 1.0, _MOST_COPIES)
        again = 1.0 / (1.0 + copies * self.variance_at(rate)[self.drawn])
        drawn = rng.binomial(copies.astype(np.int64), again, (count, len(chance))).T
        weights = np.ones((len(self.drawn), count))
        weights[self.drawn] = drawn / (copies * again)[:, None]
        return Redrawn(weights, np.minimum(rate, 1.0 / self.probability))
