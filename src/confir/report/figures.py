"""Which charts does a report have? The same drawings for the page and for files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from confir.data.files import PathLike
from confir.data.output_folder import OutputFolder
from confir.parallel import Progress
from confir.report.charts.bias_variance import bias_variance_chart
from confir.report.charts.chance import chance_chart
from confir.report.charts.collection import collection_chart, collection_variance_chart
from confir.report.charts.comparison import matrix_chart, topic_chart
from confir.report.charts.coverage import coverage_chart
from confir.report.charts.drawing import save_chart
from confir.report.charts.intervals import interval_chart
from confir.report.charts.quality import quality_chart
from confir.report.charts.ranking import ranking_chart
from confir.report.charts.topics import topic_score_chart
from confir.report.contents import CollectionContents, Contents, MeasureContents
from confir.studies.topic_differences import TopicDifferences
from confir.studies.topic_difficulty import describe_topics

# A matrix of more runs cannot be read; the best are shown.
MATRIX_RUNS = 40

FIGURE_ENDINGS = (".svg", ".pdf")


class Figure(NamedTuple):
    """A chart of a report.

    Attributes
    ----------
    part
        The part of the report that it belongs to.
    measure, level
        What it is of; None where it is the same for all.
    drawing
        The altair chart.
    """

    part: str
    measure: str | None
    level: float | None
    drawing: Any


def report_figures(
    contents: Contents, levels: tuple[float, ...], progress: Progress | None = None
) -> Iterator[Figure]:
    """Yield the charts of a report, those of intervals at some levels.

    Progress is called with 1 after the charts of each measure.
    """
    for measured in contents.measures:
        yield from _figures_of(measured, levels)
        if progress is not None:
            progress(1)
    if contents.collection is not None:
        yield from _collection_figures(contents.collection)
    if contents.quality is not None:
        yield Figure("quality", None, None, quality_chart(contents.quality))


def _figures_of(contents: MeasureContents, levels: tuple[float, ...]) -> Iterator[Figure]:
    """Yield the charts of one measure."""
    measure = contents.measure
    best = [contents.scores.runs[place] for place in contents.order()[:2]]
    for level in levels:
        yield Figure("means", measure, level, interval_chart(contents.intervals[level]))
        if contents.rankings:
            yield Figure("ranks", measure, level, ranking_chart(contents.rankings[level]))
        if contents.comparisons:
            drawing = matrix_chart(contents.comparisons[level], most=MATRIX_RUNS)
            yield Figure("pairs", measure, level, drawing)
    topics = describe_topics(contents.scores)
    yield Figure("topics", measure, None, topic_score_chart(topics, run=best[0]))
    if len(best) > 1:
        pair = TopicDifferences(contents.scores.select(runs=best), np.array([1]), np.array([0]))
        if pair.ordered(0, 0):
            yield Figure("differences", measure, None, topic_chart(pair))
    if contents.coverage is not None:
        yield Figure("coverage", measure, None, coverage_chart(contents.coverage))
    if contents.bias_variance is not None:
        yield Figure("bias-variance", measure, None, bias_variance_chart(contents.bias_variance))
    if contents.chance is not None:
        yield Figure("chance", measure, None, chance_chart(contents.chance))


def _collection_figures(collection: CollectionContents) -> Iterator[Figure]:
    """Yield the charts of other collections, which are of one measure alone."""
    yield Figure("collection", None, None, collection_chart(collection.means))
    drawing = collection_variance_chart(collection.variance, order=collection.order())
    yield Figure("variance", None, None, drawing)


def write_figures(
    contents: Contents,
    folder: PathLike,
    progress: Progress | None = None,
    besides: Iterable[PathLike] = (),
) -> list[Path]:
    """Write the charts of a report for a paper, each as SVG and PDF, and return the files.

    The folder must be new, empty, or one that confir wrote, but for the files ``besides``.
    """
    target = OutputFolder(folder, besides)
    names = _file_names(contents.scores.measures)
    written = []
    for figure in report_figures(contents, (contents.settings.level,), progress):
        name = figure.part if figure.measure is None else f"{figure.part}-{names[figure.measure]}"
        for ending in FIGURE_ENDINGS:
            path = target.file(f"{name}{ending}")
            save_chart(figure.drawing, path)
            written.append(path)
    target.remove_stale()
    return written


def _file_names(measures: Iterable[str]) -> dict[str, str]:
    """Return each measure's name in letters that every file system takes, no two alike."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for measure in measures:
        plain = re.sub(r"[^A-Za-z0-9_.]+", "-", measure).strip("-.") or "measure"
        name, number = plain, 1
        while name.casefold() in taken:
            number += 1
            name = f"{plain}-{number}"
        taken.add(name.casefold())
        names[measure] = name
    return names
