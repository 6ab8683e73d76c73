"""The charts of a report as files, for a paper."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from confir.data.files import PathLike, write_whole
from confir.data.output_folder import OutputFolder
from confir.parallel import Progress
from confir.report.chart_files import chart_bytes
from confir.report.contents import Contents, report_figures

FIGURE_ENDINGS = (".svg", ".pdf")


def write_figures(
    contents: Contents,
    folder: PathLike,
    progress: Progress | None = None,
    besides: Iterable[PathLike] = (),
    width: float | None = None,
) -> list[Path]:
    """Write the charts of a report for a paper, each as SVG and PDF, and return the files.

    ``width`` is that of the charts in mm; by default they are as wide as they are.

    The folder must be new, empty, or one that confir wrote, except for the files ``besides``.
    """
    target = OutputFolder(folder, besides)
    names = _file_names(contents.scores.measures)
    written = []
    for figure in report_figures(contents, (contents.settings.level,), progress):
        name = figure.part if figure.measure is None else f"{figure.part}-{names[figure.measure]}"
        for ending in FIGURE_ENDINGS:
            path = target.file(f"{name}{ending}")
            write_whole(path, chart_bytes(figure.drawing, path.suffix, width))
            written.append(path)
    target.remove_stale()
    return written


def _file_names(measures: Iterable[str]) -> dict[str, str]:
    """Return a distinct file name for each measure, safe on every file system."""
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
