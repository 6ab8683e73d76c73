"""Bias and variance in the report: against the best score of each topic."""

from __future__ import annotations

import numpy as np

from confir.report.contents import Contents, MeasureContents
from confir.report.names import isolated
from confir.report.sections import Scope, Section, Sentence
from confir.studies.bias_variance.bias_variance import BiasVariance, decompose_error


def _gather_all(scope: Scope) -> BiasVariance:
    scope.require_runs("bias against the best run of each topic")
    settings = scope.settings
    return decompose_error(scope.scores, target="best", level=settings.level, **settings.drawing)


def _conclusion(contents: Contents) -> str:
    """Return which run has the smallest error, and which varies least over topics."""
    found: BiasVariance | None = contents.measures[0]["bias_variance"]
    if found is None or np.isnan(found.total.value[:, 0]).all():
        return ""
    least, steadiest = (
        isolated(found.runs[int(np.nanargmin(part.value[:, 0]))])
        for part in (found.total, found.variance)
    )
    units = f"{contents.scores.unit_name}s"
    if least == steadiest:
        return f"{least} has the smallest error, and varies least over {units}."
    return f"{least} has the smallest error; {steadiest} varies least over {units}."


SECTION: Section[MeasureContents] = Section(
    by_measure=True,
    gather_all=_gather_all,
    anchor="bias-variance",
    heading="Effectiveness and stability",
    meaning="A run further left is more effective on average; a run further down is more stable over topics.",
    part="bias-variance",
    by_run=True,
    zoomable=True,
    conclusion=_conclusion,
    methods=Sentence(
        70,
        "Bias is the mean of the best score of each topic minus the mean of the run, variance that "
        "of its scores over topics, after Zhang et al. (2013).",
        ("Zhang2013",),
    ),
)
