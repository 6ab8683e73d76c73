"""Other collections in the report: the influence of documents, by the first measure in [0, 1]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from confir.arrays import best_first
from confir.data.sampling_designs.design import refuse_design
from confir.errors import InvalidValueError
from confir.measures.parsing import bounded_measures
from confir.number_text import share_words
from confir.report.contents import Contents
from confir.report.messages import isolated
from confir.report.sections import Figure, Scope, Section, Sentence
from confir.report.tables import Table
from confir.resampling.list_resampling import resample_lists, resampled_measures
from confir.studies.collection.chart import collection_chart, collection_variance_chart
from confir.studies.collection.collection_means import (
    CollectionMeans,
    CollectionVariance,
    decompose_variance,
    summarise_means,
)
from confir.studies.collection.table import (
    collection_table,
    collection_variance_table,
    variance_note,
)

# Enough to estimate a share of variance to a few percent.
COLLECTION_REPLICATES = 400

# Shares of a variance that differ by less are called about equal.
_ABOUT_EQUAL = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class CollectionContents:
    """The influence of documents: means over other collections, and variance components.

    Attributes
    ----------
    means
        Means with intervals over collections, of one measure.
    variance
        Variance components of the means.
    difference_variance
        Those of the other runs' differences from the baseline, or from the best; None for one run.
    order
        The runs, best first; runs without a mean last.
    """

    means: CollectionMeans
    variance: CollectionVariance
    difference_variance: CollectionVariance | None
    order: list[str]


def _gather_all(scope: Scope) -> CollectionContents:
    lists, scores, settings = scope.require_lists(), scope.scores, scope.settings
    refuse_design(scores.design, "the bootstrap over documents")
    bounded = [scores.measures[m] for m in np.flatnonzero(bounded_measures(scores))]
    if not bounded:
        raise InvalidValueError("intervals over collections need a measure in [0, 1]")
    sample = resample_lists(
        lists,
        resampled_measures(bounded[:1]),
        replicates=COLLECTION_REPLICATES,
        rng=settings.seed,
        depth=settings.rules.depth,
        missing="drop"
        if (scores.topic_counts() < len(scores.topics)).any()
        else settings.rules.missing,
    )
    means = summarise_means(
        sample, level=settings.level, summaries=("mean",), methods=("bootstrap",)
    )
    variance, of_differences = decompose_variance(sample, summaries=("mean",)), None
    order = [means.runs[place] for place in best_first(means.mean[:, 0, 0])]
    if len(order) > 1:
        best = settings.baseline or order[0]
        of_differences = decompose_variance(sample, baseline=best, summaries=("mean",))
    return CollectionContents(means, variance, of_differences, order)


def _figures(contents: Contents, _: tuple[float, ...]) -> Iterator[Figure]:
    found: CollectionContents = contents["collection"]
    yield Figure("collection", collection_chart(found.means), by_run=True)
    drawing = collection_variance_chart(found.variance, order=found.order)
    yield Figure("variance", drawing, by_run=True)


def _tables(contents: Contents) -> Iterator[tuple[str, Table]]:
    found: CollectionContents = contents["collection"]
    means, variance = found.means, found.variance
    yield "collection", collection_table(means)
    note = variance_note(variance, int(means.topics.max()))
    yield "variance", collection_variance_table(variance, note, order=found.order)


def _conclusion(contents: Contents) -> str:
    """Return whether topics or documents contribute more to the variance of the best difference."""
    found: CollectionContents | None = contents["collection"]
    if found is None or found.difference_variance is None:
        return ""
    variance, order = found.difference_variance, found.order
    baseline = contents.settings.baseline
    best, runner_up = order[:2]
    if baseline is not None:
        best, runner_up = baseline, next(run for run in order if run != baseline)
    place = variance.runs.index(runner_up)
    total = float(variance.total[place, 0, 0])
    if not total > 0.0:
        return ""
    topics, documents, both = (
        float(part[place, 0, 0]) / total
        for part in (variance.topics, variance.documents, variance.interaction)
    )
    shares = {"topics": topics, "documents": documents, "the interaction": both}
    alike = [name for name, share in shares.items() if max(shares.values()) - share < _ABOUT_EQUAL]
    if len(alike) > 1:
        largest = f"{', '.join(alike[:-1])} and {alike[-1]} contribute about equally"
    else:
        largest = f"{alike[0]} contribute{'s' if alike == ['the interaction'] else ''} most"
    return (
        f"Of the variance of the difference between {isolated(best)} and "
        f"{isolated(runner_up)} by {variance.measures[0]}, {share_words(topics)} comes from the "
        f"choice of topics, {share_words(documents)} from the documents and "
        f"{share_words(both)} from their interaction: {largest} to the uncertainty."
    )


SECTION: Section[Contents] = Section(
    by_measure=False,
    gather_all=_gather_all,
    anchor="collection",
    heading="Another collection",
    meaning="Intervals over topics treat the documents as fixed; this section shows how much the means "
    "would change with other, similar documents.",
    figures=_figures,
    tables=_tables,
    conclusion=_conclusion,
    methods=Sentence(
        60,
        "The influence of the document collection on {result.means.measures[0]} was estimated by a "
        f"bootstrap of its documents, shared by all topics and runs ({COLLECTION_REPLICATES} replicates), "
        "after Cormack & Lynam (2006).",
        ("Cormack2006",),
    ),
)
