"""Corrected means in the report: what human judgements of some topics make of a model's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from confir.arrays import TIE, is_best
from confir.data.sampling_designs.judged_scores import as_judged
from confir.errors import counted
from confir.number_text import score_words
from confir.report.contents import Contents
from confir.report.messages import isolated
from confir.report.result_chart import specification
from confir.report.sections import Figure, Scope, Section, Sentence
from confir.studies.corrected_means.corrected_means import CorrectedMeans, correct_scores


def _gather(scope: Scope) -> CorrectedMeans:
    """Return the corrected means."""
    settings = scope.settings
    return correct_scores(
        as_judged(scope.scores.listed()),
        level=settings.level,
        method=settings.method,
        **settings.drawing,
    )


def _context(contents: Contents) -> dict[str, Any]:
    means: CorrectedMeans = contents["corrected_means"]
    return {"sentences": [*_biases(means), *_notes(means)], "means": means}


def _notes(means: CorrectedMeans) -> list[str]:
    return [f"{note[0].upper()}{note[1:]}." for note in means.model_notes()]


def _biases(means: CorrectedMeans) -> Iterator[str]:
    """Yield how far the model's means are off on average, by measure."""
    for m, measure in enumerate(means.measures):
        bias, worth = float(means.bias[:, m].mean()), means.worth[:, m]
        certain = int(((means.bias_low[:, m] > 0) | (means.bias_high[:, m] < 0)).sum())
        yield (
            f"By {measure}, the model's means are {_off(bias)} "
            f"({certain} of {counted(len(means.runs), 'run')} significantly); its judgements are worth "
            f"{max(0.0, float(np.median(worth))):.1f} further human topics (median)."
        )


def _answer(contents: Contents) -> Iterator[Sentence]:
    """Yield whose judgements the results are by."""
    means: CorrectedMeans | None = contents["corrected_means"]
    if contents.scores.sampling_note():
        yield Sentence(11, f"All results are {contents.scores.sampling_note()}.")
    if means is not None:
        every = means.human_topics + means.model_topics
        estimated = (
            f"Results estimate what human judgements of all {counted(every, 'topic')} would give, from those "
            f"of {means.human_topics:,} and a model's of all."
        )
        by_human = "All results are by human judgements."
        yield Sentence(11, estimated if means.model_topics else by_human)


def _conclusion(contents: Contents) -> str:
    """Return how far the model's means are off, and what else is to be known of them."""
    means: CorrectedMeans | None = contents["corrected_means"]
    if means is None:
        return ""
    measure = means.measures.index(contents.measures[0].measure)
    notes = _notes(means.select(measure=means.measures[measure]))
    return " ".join([_by_the_model(means, measure), *notes])


def _by_the_model(means: CorrectedMeans, measure: int) -> str:
    """Return how far the model's own means are off, and which run would be the best by them."""
    bias, alone = means.bias[:, measure], means.model_mean[:, measure]
    best, first = (int(np.argmax(found)) for found in (means.mean[:, measure], alone))
    same = bool(is_best(alone)[best])
    leader = "the same run" if same else isolated(means.runs[first])
    return (
        f"The model's own means are {_off(float(bias.mean()))}; {leader} has the highest of them."
    )


def _off(bias: float) -> str:
    """Return how far means are off on average."""
    off = "neither too high nor too low"
    if abs(bias) >= TIE:
        off = f"{score_words(abs(bias))} too {'high' if bias > 0 else 'low'}"
    return f"{off} on average over the runs"


def _methods(contents: Contents) -> Iterator[Sentence]:
    means: CorrectedMeans = contents["corrected_means"]
    if not means.model_topics:
        yield Sentence(15, "Humans judged all topics, and means are by their judgements.")
        return
    yield Sentence(
        15,
        f"Humans judged a random sample of {means.human_topics:,} topics, a model these and "
        f"{means.model_topics:,} more; means and differences by human judgements are "
        "prediction-powered estimates (PPI++, Angelopoulos et al. 2023), with a weight of the model "
        "for each mean and each difference, for each topic from the others, n - 2 degrees of freedom (n - 1 where the model has no "
        "weight), variances that count that the weight is estimated (Cochran 1977), and 95% intervals "
        "at most 1.05 times as wide as those by human judgements alone.",
        ("Angelopoulos2023", "Cochran1977"),
    )


def _figures(contents: Contents, _: tuple[float, ...]) -> Iterator[Figure]:
    """Yield a chart for each measure: the page shows the one that is chosen."""
    means: CorrectedMeans = contents["corrected_means"]
    for measure in means.measures:
        drawing = specification(means.select(measure=measure))
        yield Figure("human", drawing, measure=measure)


SECTION: Section[Contents] = Section(
    by_measure=False,
    gather=_gather,
    kind="corrected",
    anchor="human",
    heading="Human and model judgements",
    meaning="A model's judgements can be systematically off, which more topics do not cure; human "
    "judgements of some topics correct them.",
    context=_context,
    figures=_figures,
    part="human",
    answer=_answer,
    conclusion=_conclusion,
    methods=_methods,
)
