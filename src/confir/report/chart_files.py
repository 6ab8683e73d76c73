"""Charts as files: SVG, PDF and PNG, of a size for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from confir.arguments import as_flag, as_path, as_real
from confir.data.files import PathLike, write_whole
from confir.defaults import CHART_ENDINGS
from confir.errors import InvalidValueError, UnknownNameError
from confir.report.charts import Spec
from confir.report.result_chart import clean_chart, specification

# In mm: the narrowest and the widest figure.
_NARROWEST, _WIDEST = 40, 1000


def save_chart(
    result: Any,
    path: PathLike,
    *,
    width: float | None = None,
    height: float | None = None,
    title: bool = False,
) -> None:
    """Write the chart of a result to a file, atomically.

    Parameters
    ----------
    result
        A result of a study, an altair chart, or a specification of Vega-Lite with its schema.
    path
        The file: .svg, .pdf or .png.
    width, height
        In mm, such as those of a column of a paper; by default those of the chart.
    title
        Whether the chart has its title; a paper has a caption instead.

    Examples
    --------
    >>> confir.save_chart(confir.confidence_interval([0.3, 0.5, 0.4], method="t"), "means.svg")
    """
    target = as_path("path", path)
    ending = Path(target).suffix.lower()
    if ending not in CHART_ENDINGS:
        raise UnknownNameError("ending of a chart file", target, CHART_ENDINGS)
    size = {"width": width, "height": height}
    for name, given in size.items():
        if given is not None:
            check_size(name, given)
    as_flag("title", title)
    if hasattr(result, "to_dict") and hasattr(result, "resolve_scale"):  # altair's
        drawing = result.to_dict()
    else:
        drawn = isinstance(result, dict) and "$schema" in result
        drawing = result if drawn else specification(result)
    write_whole(target, chart_bytes(drawing, ending, **size, title=title))


def check_size(name: str, size: float) -> None:
    """Raise if a width or height in mm is too small or too large for a figure."""
    if not _NARROWEST <= as_real(name, size) <= _WIDEST:
        raise InvalidValueError(
            f"the {name.rpartition('_')[2]} of a figure is {size:g}; expected {_NARROWEST} to "
            f"{_WIDEST} mm"
        )


def chart_bytes(
    drawing: Spec,
    ending: str,
    width: float | None = None,
    height: float | None = None,
    *,
    title: bool = False,
) -> bytes:
    """Return a chart as the content of a file, .svg, .pdf or .png, of a width and a height in mm."""
    from confir.report.figure_width import fit_height, fit_width
    from confir.report.svg_conversion import (
        as_pdf,
        as_png,
        import_converter,
        of_width,
        vega_lite_svg,
    )
    from confir.report.svg_text import with_text_lengths

    import_converter()
    specification = clean_chart(drawing)
    if not title:
        specification.pop("title", None)
    if width is not None:
        specification = fit_width(specification, width)
    if height is not None:
        specification = fit_height(specification, height)
    svg = vega_lite_svg(specification)
    if ending == ".png":
        return as_png(svg, width)
    if ending == ".pdf":
        return as_pdf(svg, width)
    return of_width(with_text_lengths(svg), width).encode()
