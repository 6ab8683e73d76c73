"""``confir demo``: the built-in sample collection, evaluated."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from typing import TYPE_CHECKING, Annotated

from confir.cli import options
from confir.cli.output import Output
from confir.cli.parameters import Option, PathRole, Without
from confir.defaults import SEED

if TYPE_CHECKING:
    from confir.data.experiment import Experiment

_NEXT = (
    "demo --write sample",
    "compare sample/qrels.txt sample/runs",
    "report sample/qrels.txt sample/runs -o page.html",
)


def demo_command(
    *,
    write: Annotated[
        str | None,
        Option(
            "Also write the sample's qrels and runs, to try commands on.",
            "FOLDER",
            path=PathRole.FOLDER,
        ),
    ] = None,
    report: Annotated[
        str | None,
        Option("Also write an HTML page about the sample.", "FILE", path=PathRole.WRITE),
    ] = None,
    seed: options.SeedOption = SEED,
    out: Annotated[Output, Without("quiet")],
) -> None:
    """Evaluate the built-in sample collection.

    Example: `confir demo --write sample` and then `confir evaluate sample/qrels.txt sample/runs`
    """
    from confir.cli.answers import result_answer
    from confir.cli.report import check_page
    from confir.cli.streams import print_message
    from confir.data.experiment import Experiment
    from confir.data.simulation import sample_collection, write_collection
    from confir.intervals.confidence_intervals import confidence_interval
    from confir.measures.evaluation import evaluate

    if report is not None:
        check_page(report)
    collection = sample_collection()
    if write is not None:
        write_collection(collection, write)
    experiment = Experiment(collection.qrels, collection.runs)
    out.deliver(result_answer(confidence_interval(evaluate(experiment), rng=seed)))
    if write is not None:
        print_message(f"{write}: qrels.txt, and {len(collection.runs)} runs in the folder runs")
    if report is not None:
        _write_report(report, experiment, seed)


def _write_report(path: str, experiment: Experiment, seed: int) -> None:
    """Write the page about the sample, and say where it is."""
    from confir.cli.report import command_line_with_seed
    from confir.cli.streams import print_message
    from confir.report.report_page import Origin, write_report

    write_report(
        path,
        experiment,
        title="confir sample collection",
        rng=seed,
        origin=Origin(command=command_line_with_seed(seed)),
    )
    print_message(f"{os.path.abspath(path)}: a page about the sample; open it in a browser")
    print_message("three things to try next:")
    for words in _NEXT:
        print_message(f"  {_program()} {words}")


def _program() -> str:
    """Return what starts confir here: its name where the shell finds it, else its path or module."""
    if shutil.which("confir"):
        return "confir"
    if os.path.basename(sys.argv[0]) == "__main__.py":
        return f"{shlex.quote(sys.executable)} -m confir"
    return shlex.quote(sys.argv[0])
