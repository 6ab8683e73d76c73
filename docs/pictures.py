"""Drawing of the pictures of README and site that no command of confir draws: `make pictures`.

python docs/pictures.py              both
python docs/pictures.py question     figures/which-command.svg, from the table of which-command.md
python docs/pictures.py page         figures/page.png: the report on the sample, by Chromium
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from html import escape
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).resolve().parent
FIGURES = DOCS / "figures"
TABLE = DOCS / "which-command.md"

# A phone shows a picture of this width without scaling.
WIDTH = 400
HEADING, ROW, MARGIN = 40, 50, 12
STYLE = """\
text { font: 14px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #1b1f24 }
.have { font-weight: 600; fill: #fff }
.command { font: 12.5px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #0b5394 }"""

# What the picture of the page shows: its first screen, in pixels.
SCREEN = (1180, 740)


class Row(NamedTuple):
    """One line of the table: what one has, the question, and the command that answers it."""

    have: str
    question: str
    command: str


def read_rows(page: str) -> list[Row]:
    """Return the rows of the table of a page, without its links."""
    lines = re.findall(r"^\| (?!you have)(.+) \|$", page, re.MULTILINE)
    return [Row(*(cell.strip("` ") for cell in line.split("|")[:3])) for line in lines]


def draw_question(rows: list[Row]) -> str:
    """Return the picture of questions and commands, as SVG."""
    marks, y = [], MARGIN
    for have, group in groupby(rows, key=lambda row: row.have):
        marks.append(
            f'<rect x="{MARGIN}" y="{y}" width="{WIDTH - 2 * MARGIN}" height="28" rx="6" '
            f'fill="#0b5394"/><text class="have" x="{2 * MARGIN}" y="{y + 19}">'
            f"You have {escape(have)}</text>"
        )
        y += HEADING
        for row in group:
            marks.append(
                f'<text x="{2 * MARGIN}" y="{y + 14}">{escape(row.question)}</text>'
                f'<text class="command" x="{2 * MARGIN}" y="{y + 34}">'
                f"→ {escape(row.command)}</text>"
            )
            y += ROW
    size = f'width="{WIDTH}" height="{y}" viewBox="0 0 {WIDTH} {y}"'
    drawn = "\n".join(marks)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" '
        'aria-label="Which question, which command">\n'
        f"<style>\n{STYLE}\n</style>\n"
        f'<rect width="{WIDTH}" height="{y}" rx="8" fill="#fff"/>\n{drawn}\n</svg>\n'
    )


def photograph_page(picture: Path) -> None:
    """Write the report on the sample collection, and take a picture of its first screen."""
    import confir

    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("pictures.py: needs chromium on the PATH")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        sample = confir.sample_collection()
        experiment = confir.Experiment(sample.qrels, sample.runs, ["nDCG@10", "AP", "RR"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the page shows them
            confir.write_report(page, experiment, title="Eight runs on the sample collection")
        size = "{},{}".format(*SCREEN)
        subprocess.run(  # noqa: S603 - a browser from the PATH, on our own page
            [
                browser, "--headless", "--no-sandbox", "--hide-scrollbars", "--disable-gpu",
                f"--window-size={size}", "--virtual-time-budget=5000",
                f"--screenshot={picture}", page.as_uri(),
            ],
            check=True,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip


def main() -> None:
    """Draw the pictures that are named, or both."""
    named = sys.argv[1:] or ["question", "page"]
    if "question" in named:
        drawn = draw_question(read_rows(TABLE.read_text(encoding="utf-8")))
        (FIGURES / "which-command.svg").write_text(drawn, encoding="utf-8")
    if "page" in named:
        photograph_page(FIGURES / "page.png")


if __name__ == "__main__":
    main()
