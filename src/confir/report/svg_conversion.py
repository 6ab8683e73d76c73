"""Charts as pictures, by vl-convert: imported late, and named where it is missing."""

from __future__ import annotations

import re
from typing import Any

from confir.errors import MissingDependencyError
from confir.report.charts import VEGA_LITE

# Points per inch of PDF files, and pixels per inch of PNG files for print.
_POINTS, _PRINTED = 72.0, 300.0
_MM_PER_INCH = 25.4
_SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')


def import_converter() -> Any:
    """Return the module vl_convert; raise if it is not installed."""
    try:
        import vl_convert
    except ImportError:
        raise MissingDependencyError("vl-convert-python", "saving charts", "report") from None
    return vl_convert


def vega_svg(specification: dict[str, Any]) -> str:
    """Return a Vega specification as SVG."""
    svg: str = import_converter().vega_to_svg(specification)
    return svg


def vega_lite_svg(specification: dict[str, Any]) -> str:
    """Return a Vega-Lite specification as SVG."""
    svg: str = import_converter().vegalite_to_svg(specification, vl_version=VEGA_LITE)
    return svg


def picture_size(svg: str) -> tuple[float, float]:
    """Return width and height of a picture in pixels."""
    found = _SIZE.search(svg)
    if found is None:
        raise AssertionError("a picture by Vega has a width and a height")
    return float(found[1]), float(found[2])


def as_png(svg: str, width: float | None) -> bytes:
    """Return a picture as PNG: of a width in mm for print, or at twice a screen's resolution."""
    if width is None:
        png: bytes = import_converter().svg_to_png(svg, scale=2.0)
    else:
        pixels = width / _MM_PER_INCH * _PRINTED
        scale = pixels / picture_size(svg)[0] * _POINTS / _PRINTED
        png = import_converter().svg_to_png(svg, scale=scale, ppi=_PRINTED)
    return png


def as_pdf(svg: str, width: float | None) -> bytes:
    """Return a picture as PDF, fonts embedded: of a width in mm, or with a point per pixel."""
    points = None if width is None else width / _MM_PER_INCH * _POINTS
    pdf: bytes = import_converter().svg_to_pdf(of_width(svg, points, ""))
    return pdf


def of_width(svg: str, width: float | None, unit: str = "mm") -> str:
    """Return an SVG picture of a width in mm or another unit."""
    if width is None:
        return svg
    across, down = picture_size(svg)
    size = f'width="{width:.6g}{unit}" height="{width * down / across:.6g}{unit}"'
    return _SIZE.sub(size, svg, count=1)
