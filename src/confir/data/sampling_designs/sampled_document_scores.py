"""Scores by human judgements of documents drawn at random, and by model judgements of all."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

import numpy as np

from confir.arrays import Floats
from confir.data.result import over, result
from confir.data.scores import Scores
from confir.errors import InvalidValueError, counted


@result
class SampledScores(Scores):
    """Scores by human judgements of documents drawn at random, and by model judgements of all.

    They are estimates of the human scores, and may leave [0, 1].

    Attributes
    ----------
    document_variance
        Variance of each score over the documents that could have been drawn: in closed form for P and
        RBP, by replicates of the draw for R, AP and nDCG.
    human_documents, model_documents
        Number of human-judged documents, and of all, which the model judged.
    draw_replicates
        Replicates of the draw; 0 where no score needed them.
    draw_rates, draw_documents
        Factors of all probabilities of being drawn (1 at most each), ascending, the second 1; and how
        many documents of a topic would then be human-judged.
    draw_covariance
        Covariance of the runs' scores of a topic over draws, at each rate, its mean over topics.
    """

    by_one_judge: ClassVar[bool] = False
    in_range: ClassVar[bool] = False

    document_variance: Floats = over("topic", "run", "measure", column="variance", kw_only=True)
    human_documents: int = field(kw_only=True)
    model_documents: int = field(kw_only=True)
    draw_replicates: int = field(kw_only=True)
    draw_rates: Floats = field(kw_only=True)
    draw_documents: Floats = field(kw_only=True)
    draw_covariance: Floats = over("", "run", "run", "measure", column="covariance", kw_only=True)

    def document_share(self) -> Floats:
        """Return the share of each mean's variance that is due to drawn documents.

        Of a mean over datasets: of its variance over the topics of these datasets.
        """
        parts = [self.on_dataset(name) for name in self.datasets] or [self]
        if min(len(part.topics) for part in parts) < 2:
            return np.full(self.values.shape[1:], np.nan)
        noise, whole = np.zeros((2, *self.values.shape[1:]))
        for part in parts:
            topics = len(part.topics)
            noise += part.document_variance.sum(axis=0) / topics**2
            whole += np.square(part.values.std(axis=0, ddof=1)) / topics
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.minimum(noise / whole, 1.0))

    def sampling_note(self, seed: int | None = None) -> str:
        """Return how many documents are human-judged, and how much their draw adds to the variance."""
        share = self.document_share()
        known = share[np.isfinite(share)]
        part = (
            f"; the draw makes up {100 * known.mean():.0f}% of the variance of means"
            if len(known)
            else ""
        )
        if part and self.draw_replicates:
            by = counted(self.draw_replicates, "replicate")
            part += f" (by {by} of it{'' if seed is None else f', seed {seed}'})"
        return (
            f"by human judgements of {self.human_documents:,} of "
            f"{counted(self.model_documents, 'document')}, drawn at random, and the model's of "
            f"all{part}"
        )


def as_sampled(scores: Scores) -> SampledScores:
    """Return scores by human judgements of documents drawn at random; raise for others."""
    if not isinstance(scores, SampledScores):
        raise InvalidValueError(
            "human judgements are not of documents drawn at random; expected scores of "
            "evaluate(…, human_sample='random-documents')"
        )
    return scores
