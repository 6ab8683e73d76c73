"""Bias and variance in the report: against the best score of each topic."""

from __future__ import annotations

from collections.abc import Iterator

from confir.report.contents import Contents, MeasureContents
from confir.report.sections import Figure, Scope, Section, Sentence
from confir.report.tables import Table
from confir.studies.bias_variance.bias_variance import BiasVariance, decompose_error
from confir.studies.bias_variance.chart import bias_variance_chart
from confir.studies.bias_variance.table import bias_variance_note, bias_variance_table


def _gather(scope: Scope) -> BiasVariance:
    scope.require_runs("bias against the best run of each topic")
    settings = scope.settings
    return decompose_error(scope.scores, target="best", level=settings.level, **settings.drawing)


def _figures(contents: MeasureContents, _: tuple[float, ...]) -> Iterator[Figure]:
    yield Figure("bias-variance", bias_variance_chart(contents["bias_variance"]), zoomable=True)


def _tables(contents: MeasureContents) -> Iterator[tuple[str, Table]]:
    result: BiasVariance = contents["bias_variance"]
    yield "bias-variance", bias_variance_table(result, bias_variance_note(result))


def _methods(contents: Contents) -> Iterator[Sentence]:
    if contents.has("bias_variance"):
        yield Sentence(
            70,
            "Bias is the mean of the best score of each topic less the mean of the run, variance that "
            "of its scores over topics, after Zhang et al. (2013).",
            ("Zhang2013",),
        )


SECTION: Section[MeasureContents] = Section(
    by_measure=True,
    gather=_gather,
    anchor="bias-variance",
    title="Stability",
    heading="Effectiveness and stability",
    figures=_figures,
    tables=_tables,
    methods=_methods,
)
