"""Bias and variance in the report: against the best score of each topic."""

from __future__ import annotations

import numpy as np

from confir.report.contents import Contents, MeasureContents
from confir.report.messages import isolated
from confir.report.sections import Section, Sentence, Verb
from confir.studies.bias_variance.bias_variance import BiasVariance, decompose_error


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
    gather_all=Verb(decompose_error, options={"target": "best"}),
    several_runs="bias against the best run of each topic needs at least 2",
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
