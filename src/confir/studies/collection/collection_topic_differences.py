"""Differences between runs on each topic, over similar collections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np

from confir.arguments import as_level
from confir.arrays import Floats, Integers
from confir.data.result import Result, Variable, axis, constant, over, result
from confir.data.table_columns import LIMITS, Role, TableColumn, TableColumns
from confir.defaults import LEVEL, LOGIT_EPSILON
from confir.errors import InvalidValueError
from confir.intervals.standard_error import check_document_replicates, two_sided_normal
from confir.number_text import percent
from confir.pairs.decisions import Words
from confir.resampling.collection_sample import CollectionSample
from confir.resampling.document_replicates import DocumentReplicates
from confir.resampling.kinds import against
from confir.resampling.variance_components import spread
from confir.studies.collection.collection_differences import (
    VARIANTS,
    VERDICT_COLUMN,
    Variant,
    identical_runs,
    judge,
    two_sided_p,
)
from confir.studies.collection.collection_topics import summarise_topics


@result
class CollectionTopicDifferences(Result):
    """Differences on each topic, over collections: arrays are variants × topics × runs × measures.

    Attributes
    ----------
    runs, baseline, topics, measures, variants
        Names; the summary of a variant determines whether scores or logits are subtracted.
    difference, sd
        The difference, and its standard deviation over replicates.
    low, high
        Its interval; NaN for a constant difference.
    verdict
        better, worse, identical (runs with equal scores on every topic) or inconclusive, for each
        topic by itself.
    level
        Confidence level.
    """

    runs: tuple[str, ...] = axis("run")
    baseline: str = constant(column="against")
    topics: tuple[str, ...] = axis("topic")
    measures: tuple[str, ...] = axis("measure")
    variants: tuple[Variant, ...] = axis("variant")
    difference: Floats = over("variant", "topic", "run", "measure")
    sd: Floats = over("variant", "topic", "run", "measure")
    low: Floats = over("variant", "topic", "run", "measure")
    high: Floats = over("variant", "topic", "run", "measure")
    verdict: Words = over("variant", "topic", "run", "measure")
    level: float = constant()

    label_parts: ClassVar[Mapping[str, tuple[str, ...]]] = {"variant": Variant._fields}
    row_order = ("measure", "run", "topic", "variant")
    record_columns = (
        *("measure", "run", "against", "topic", "scale", "difference", "low", "high"),
        *("level", "verdict", "pairing"),
    )

    def derived(self) -> Iterator[Variable]:
        """Yield the scale on which scores are subtracted."""
        logits = [variant.summary == "logit-mean" for variant in self.variants]
        yield Variable("scale", ("variant",), np.where(logits, "logit", "score"))

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        names = ("measure", "run", "topic", "scale", "pairing")
        return {
            **dict.fromkeys(names, TableColumn(Role.NAME)),
            "verdict": VERDICT_COLUMN,
            "difference": TableColumn(Role.DIFFERENCE, others=LIMITS),
        }

    def note(self) -> str:
        """Return what the columns are."""
        return (
            f"difference from {self.baseline} with {percent(self.level)} interval over collections, "
            "each topic separately"
        )

    def rows(self) -> Integers:
        """Return the rows that have a difference."""
        return np.flatnonzero(~np.isnan(self.difference.transpose(3, 2, 1, 0)))


def compare_topics_on_collection(
    sample: DocumentReplicates,
    baseline: str,
    *,
    level: float = LEVEL,
    variants: Sequence[Variant] = VARIANTS[:4],
    epsilon: float = LOGIT_EPSILON,
) -> CollectionTopicDifferences:
    """Return each topic's difference from the baseline, with its interval over collections.

    Independent differences of logits use the small-R corrected standard deviations; parameters as
    in `compare_on_collection`.
    """
    check_document_replicates(sample, epsilon)
    level = as_level(level)
    if any(variant.with_topics for variant in variants):
        raise InvalidValueError(
            "the difference on a single topic cannot vary over topics; leave out with_topics"
        )
    differences = {
        name: against(CollectionSample.of(sample, name, epsilon), baseline)
        for name in dict.fromkeys(["mean", *(variant.summary for variant in variants)])
    }
    other, shape = sample.run_place(baseline), (*differences["mean"].shape, len(sample.topics))
    corrected = summarise_topics(sample, level=level, epsilon=epsilon).logit_sd.transpose(1, 2, 0)
    sds = []
    for summary, pairing, _ in variants:
        if pairing == "paired":
            sds.append(differences[summary].topic_spreads().reshape(shape))
        else:
            scores = spread(sample.values).swapaxes(0, 1)
            alone = corrected if summary == "logit-mean" else scores
            sds.append(np.hypot(np.delete(alone, other, axis=0), alone[other]))
    d = np.stack([differences[variant.summary].scores.reshape(shape) for variant in variants])
    sd = np.stack(sds)  # variants × runs × measures × topics
    half = np.where(sd > 0, two_sided_normal(level) * sd, np.nan)
    identical = np.broadcast_to(identical_runs(differences["mean"])[..., None], d.shape)
    p = two_sided_p(d, sd, np.full(d.shape, np.inf))
    return CollectionTopicDifferences(
        runs=tuple(run for run in sample.runs if run != baseline),
        baseline=baseline,
        topics=sample.topics,
        measures=sample.measures,
        variants=tuple(variants),
        difference=d.transpose(0, 3, 1, 2),
        sd=sd.transpose(0, 3, 1, 2),
        low=(d - half).transpose(0, 3, 1, 2),
        high=(d + half).transpose(0, 3, 1, 2),
        verdict=judge(d, half, p, level, identical).transpose(0, 3, 1, 2),
        level=level,
    )
