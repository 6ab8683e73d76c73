"""Charts as pictures, by vl-convert: imported late, and named where it is missing."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from typing import Any

from confir.errors import MissingDependencyError, UnreadableError
from confir.report.charts import VEGA_LITE

# Points per inch of PDF files, and pixels per inch of PNG files for print.
_POINTS, _PRINTED = 72.0, 300.0
_MM_PER_INCH = 25.4
_SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')
# In a PDF file: entries of a dictionary such as the fonts, references to objects, and their places.
_ENTRIES = re.compile(rb"(?<=<<\n)(?: */\w+ \d+ 0 R\n){2,}")
_REFERENCE = re.compile(rb"\b(\d+) 0 R\b")
_PLACE = re.compile(rb"^(\d{10}) \d{5} n", re.MULTILINE)
_SMALLEST = "import vl_convert; vl_convert.vega_to_svg({'width': 1, 'height': 1})"


def import_converter() -> Any:
    """Return the module vl_convert; raise if it is not installed, or the memory is limited too much."""
    try:
        import vl_convert
    except ImportError:
        raise MissingDependencyError("vl-convert-python", "saving charts", "report") from None
    check_address_space()
    return vl_convert


@cache
def check_address_space() -> None:
    """Raise where the system limits addresses to fewer than the converter reserves.

    The converter would abort the process, so one of its own tries it, where there is a limit.
    """
    try:
        import resource
    except ImportError:  # on Windows
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return
    command = [sys.executable, "-P", "-c", _SMALLEST]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:  # noqa: S603 - constant
        raise UnreadableError(
            f"charts cannot be drawn within {limit >> 20:,} MB of addresses (ulimit -v); expected no such "
            "limit, or tables alone"
        )


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
    return in_order(pdf)


def in_order(pdf: bytes) -> bytes:
    """Return a PDF file with its objects in the order of their references, as the converter has any."""
    body, marker, end = pdf.rpartition(b"\nxref\n")
    if not marker:  # a form in which later versions may write it
        return pdf
    table, trailer, rest = end.partition(b"trailer")
    places = [int(place) for place in _PLACE.findall(table)]
    ends = dict(zip(sorted(places), [*sorted(places)[1:], len(body) + 1], strict=True))
    objects: dict[int, tuple[bytes, bytes, bytes]] = {}
    for number, place in enumerate(places, start=1):
        own = (body + b"\n")[place : ends[place]].partition(b" obj\n")[2]
        listed, stream, content = own.partition(b"stream\n")
        entries = _ENTRIES.sub(lambda found: b"".join(sorted(found[0].splitlines(True))), listed)
        objects[number] = entries, stream, content
    numbers: dict[int, int] = {}
    waiting = _references(rest)
    while waiting:
        number = waiting.pop(0)
        if number not in numbers:
            numbers[number] = len(numbers) + 1
            waiting = _references(objects[number][0]) + waiting

    def renumbered(text: bytes) -> bytes:
        return _REFERENCE.sub(lambda found: b"%d 0 R" % numbers[int(found[1])], text)

    written, offsets = bytearray(body[: min(places)]), [b"0000000000 65535 f \n"]
    for number, new in numbers.items():
        listed, stream, content = objects[number]
        offsets.append(b"%010d 00000 n \n" % len(written))
        written += b"%d 0 obj\n" % new + renumbered(listed) + stream + content
    size = re.sub(
        rb"/Size \d+", b"/Size %d" % len(offsets), renumbered(rest.partition(b"startxref")[0])
    )
    index = b"xref\n0 %d\n" % len(offsets) + b"".join(offsets)
    return bytes(written) + index + trailer + size + b"startxref\n%d\n%%%%EOF" % len(written)


def _references(text: bytes) -> list[int]:
    """Return the numbers of the objects to which a part of a PDF file refers."""
    return [int(number) for number in _REFERENCE.findall(text)]


def of_width(svg: str, width: float | None, unit: str = "mm") -> str:
    """Return an SVG picture of a width in mm or another unit."""
    if width is None:
        return svg
    across, down = picture_size(svg)
    size = f'width="{width:.6g}{unit}" height="{width * down / across:.6g}{unit}"'
    return _SIZE.sub(size, svg, count=1)
