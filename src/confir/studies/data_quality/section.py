"""The data in the report: what runs and qrels lack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from confir.report.contents import Contents
from confir.report.sections import Figure, Scope, Section, Sentence
from confir.report.tables import Table
from confir.studies.data_quality.chart import quality_chart
from confir.studies.data_quality.data_quality import DataQuality, inspect_lists
from confir.studies.data_quality.table import quality_table


def _gather(scope: Scope) -> DataQuality:
    return inspect_lists(scope.require_lists(), rel=scope.settings.rules.rel)


def _context(contents: Contents) -> dict[str, Any]:
    quality: DataQuality = contents["data_quality"]
    return {"sentences": [f"{text[0].upper()}{text[1:]}." for text in quality.sentences()]}


def _figures(contents: Contents, _: tuple[float, ...]) -> Iterator[Figure]:
    yield Figure("quality", quality_chart(contents["data_quality"]), by_run=True)


def _tables(contents: Contents) -> Iterator[tuple[str, Table]]:
    yield "quality", quality_table(contents["data_quality"])


def _methods(contents: Contents) -> Iterator[Sentence]:
    quality: DataQuality | None = contents["data_quality"]
    lacking = quality is not None and any(quality.missing)
    if lacking and not np.isnan(contents.scores.values).any():
        yield Sentence(10, "A topic that a run lacks scores 0.")


SECTION: Section[Contents] = Section(
    by_measure=False,
    gather=_gather,
    anchor="quality",
    title="Data",
    heading="The data",
    context=_context,
    figures=_figures,
    tables=_tables,
    methods=_methods,
)
