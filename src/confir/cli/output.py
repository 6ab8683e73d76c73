"""The output of a command: the options that say where an answer goes, and writing or printing it."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from confir.cli import options
from confir.cli.parameters import Option, PathRole, refuse_options
from confir.cli.streams import print_text
from confir.defaults import CHART_ENDINGS, ENDINGS, INTERVAL_STYLES, OUTPUT_FORMATS, TABLE_WIDTHS
from confir.errors import InvalidValueError

if TYPE_CHECKING:
    from confir.cli.answers import Answer

_PAPER_PANEL = "For papers"
_FOR_PRINTING = "is for printing; --output takes the format from the extension of the file"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Output:
    """Where a result is written, with its provenance, and whether progress is shown."""

    context: click.Context
    output: Annotated[
        str | None,
        Option(
            f"Write to a file: {' '.join((*ENDINGS, *CHART_ENDINGS))}",
            "FILE",
            panel=options.OUTPUT_PANEL,
            names=("-o", "--output"),
            path=PathRole.WRITE,
            short=True,
        ),
    ] = None
    kind: Annotated[
        str,
        Option(
            f"What to print: {options.LISTED_FORMATS}.",
            "FORMAT",
            panel=options.OUTPUT_PANEL,
            names=("--format",),
            choices=OUTPUT_FORMATS,
            short=True,
        ),
    ] = "table"
    width: Annotated[
        str | None,
        Option(
            "Make a LaTeX table fit a column or a page: fewer decimals, stacked intervals, wrapped names "
            "and measures.",
            panel=_PAPER_PANEL,
            choices=TABLE_WIDTHS,
        ),
    ] = None
    intervals: Annotated[
        str | None,
        Option(
            "How a LaTeX table shows intervals: 0.41 [0.38, 0.45], below the mean, or 0.41 ± 0.03.",
            panel=_PAPER_PANEL,
            choices=INTERVAL_STYLES,
        ),
    ] = None
    decimals: Annotated[
        int | None,
        Option("Decimals of scores in tables; by default 4.", "N", panel=_PAPER_PANEL, least=1),
    ] = None
    figure_width: Annotated[
        float | None,
        Option(
            "Width of a chart in mm, such as 85 for a column: panels get narrower, the font size stays.",
            "MM",
            panel=_PAPER_PANEL,
        ),
    ] = None
    figure_height: Annotated[
        float | None,
        Option("Height of a chart in mm: rows get lower or higher.", "MM", panel=_PAPER_PANEL),
    ] = None
    figure_title: Annotated[
        bool,
        Option("Write the title into a chart; a paper has a caption instead.", panel=_PAPER_PANEL),
    ] = False
    quiet: options.QuietOption = False
    provenance: options.ProvenanceOption = False

    @property
    def ending(self) -> str:
        """The ending of the file that is written; empty where the answer is printed."""
        return "" if self.output is None else Path(self.output).suffix.lower()

    @property
    def in_parts(self) -> bool:
        """Whether the answer is read as tables with sentences: in the terminal, or as Markdown."""
        return self.kind in ("table", "md") if self.output is None else self.ending == ".md"

    @property
    def is_chart(self) -> bool:
        """Whether a chart is written."""
        return self.ending in CHART_ENDINGS

    def __post_init__(self) -> None:
        # before any work: could a result be written?
        if self.output is not None:
            from confir.cli.file_checks import check_output

            refuse_options(self.context, ["kind"], _FOR_PRINTING)
            check_output(self.output)
        sizes = (self.width, self.intervals, self.decimals, self.figure_width, self.figure_height)
        if self.figure_title or any(one is not None for one in sizes):
            self._check_paper()

    def _check_paper(self) -> None:
        """Raise where options are for LaTeX or charts, and none is written."""
        ending = self.ending
        for option, value in (("--width", self.width), ("--intervals", self.intervals)):
            if value is not None and (self.kind, ending) != ("tex", "") and ending != ".tex":
                raise InvalidValueError(
                    f"{option} is for LaTeX; expected -o FILE.tex or --format tex with it"
                )
        if self.decimals is not None and ending in CHART_ENDINGS:
            raise InvalidValueError("--decimals is for tables; a chart has axes")
        sizes = {"width": self.figure_width, "height": self.figure_height}
        for option, given in (*sizes.items(), ("title", self.figure_title or None)):
            if given is None:
                continue
            if ending not in CHART_ENDINGS:
                raise InvalidValueError(
                    f"--figure-{option} is for charts; expected -o FILE with {' '.join(CHART_ENDINGS)}"
                )
            if option in sizes:
                from confir.report.chart_files import check_size

                check_size(option, given)

    def deliver(self, answer: Answer) -> None:
        """Write an answer to the file that is named, else print it."""
        if self.output is None and self.kind == "table":
            self._print_table(answer)
        elif self.ending in CHART_ENDINGS:
            from confir.report.chart_files import save_chart

            size = {"width": self.figure_width, "height": self.figure_height}
            save_chart(answer.result, str(self.output), title=self.figure_title, **size)
        elif self.in_parts and answer.parts:
            from confir.data.files import write_whole
            from confir.report.tables import parts_to_markdown

            text = parts_to_markdown(answer.parts, self.decimals)
            if self.output is None:
                print_text(text)
            else:
                write_whole(self.output, text.encode())
        else:
            from confir.report.latex import Paper
            from confir.report.records import format_result, write_result

            paper = Paper(self.width, self.intervals, self.decimals)
            records = list(answer.records)
            if self.output is not None:
                write_result(self.output, records, answer.table, paper)
            else:
                print_text(format_result(self.kind, records, answer.table, paper))

    def _print_table(self, answer: Answer) -> None:
        """Print the tables of an answer, cut to the rows that are asked for."""
        from confir.report.tables import AnswerPart, parts_to_text

        parts = answer.parts or [AnswerPart("", (), answer.table)]
        terminal: dict[str, Any] = {}
        if sys.stdout.isatty():
            terminal = {"colour": True, "width": shutil.get_terminal_size().columns}
        sys.stdout.write(parts_to_text(parts, self.decimals, answer.rows, **terminal))
