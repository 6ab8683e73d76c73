"""``confir report``: one page about a collection and its runs."""

from __future__ import annotations

import gc
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Annotated

from confir.cli import options
from confir.cli.input import Inputs
from confir.cli.parameters import Option, PathRole
from confir.errors import InvalidValueError, counted, without_passwords

if TYPE_CHECKING:
    from confir.data.experiment import Experiment
    from confir.data.scores import Scores
    from confir.measures.score_summary import ScoreSummary

_PAGE = "Page"


def report_command(
    *,
    inputs: Inputs,
    output: Annotated[
        str,
        Option(
            "The HTML file to write.",
            "FILE",
            panel=_PAGE,
            names=("-o", "--output"),
            path=PathRole.WRITE,
            short=True,
        ),
    ] = "report.html",
    title: Annotated[
        str | None, Option("Heading of the page.", "TEXT", panel=_PAGE, short=True)
    ] = None,
    figures: Annotated[
        str | None,
        Option(
            "Also write every chart to this folder, as SVG and PDF.",
            "DIR",
            panel=_PAGE,
            path=PathRole.FOLDER,
            short=True,
        ),
    ] = None,
    figure_width: Annotated[
        float | None,
        Option(
            "Width of the charts in the folder in mm, such as 85 for a column of a paper.",
            "MM",
            panel=_PAGE,
        ),
    ] = None,
    documents: Annotated[
        int | None,
        Option(
            "Number of documents in the collection, for the random baseline; by default "
            "those that occur in qrels and runs.",
            "N",
            panel=_PAGE,
            least=1,
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        Option(
            "Baseline, by its name or file: which runs beat it, by how much and on which topics; by "
            "default all pairs are compared.",
            "RUN",
            panel=_PAGE,
            path=PathRole.RUN,
            short=True,
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        Option(
            "Qrels of another judge to compare with, as a path or NAME=PATH (repeatable).",
            "QRELS",
            panel=_PAGE,
            path=PathRole.READ,
        ),
    ] = None,
    grades: Annotated[
        list[str] | None,
        Option(
            "The common scale, if judges use different grades, as for confir judges.",
            "SCALE",
            panel=_PAGE,
        ),
    ] = None,
    cost: Annotated[
        list[str] | None,
        Option(
            "What runs cost, as for confir tradeoff (repeatable).",
            "FILE",
            panel=_PAGE,
            path=PathRole.READ,
        ),
    ] = None,
    by: options.ByOption = None,
    method: options.MethodOption = None,
    statistics: options.Statistics,
    quiet: options.QuietOption = False,
    provenance: options.ProvenanceOption = False,  # noqa: ARG001 - written after the command
) -> None:
    """Write an HTML report: which runs are better, how certain that is, and why.

    For example:

    - `confir report qrels.txt runs/ -o report.html`
    - `confir report qrels.txt runs/ -m AP,nDCG@10 --baseline bm25 -o report.html`
    - `confir report --scores scores.csv -o report.html`
    """
    from confir.cli.progress import Progress
    from confir.cli.streams import print_text
    from confir.report.script_bundle import ScriptBundle

    check_page(output)
    check_figures(figures, figure_width)
    with _uncollected(), ScriptBundle():  # first, beside the imports
        from confir.intervals.method_list import find_method
        from confir.report.gathering import number_of_steps
        from confir.report.messages import collected_warnings
        from confir.report.report_page import Origin, write_report

        inputs.check_human()
        if method is not None:
            find_method(method)
        reading, groups = (inputs, None) if by is None else inputs.grouped(by)
        with collected_warnings(shown=not quiet) as collected:
            scores, experiment = _read(reading, baseline, quiet=quiet)
        origin = Origin(
            (*inputs.files(), *(judge or ()), *(cost or ())),
            command_line_with_seed(statistics.seed),
            tuple(collected),
        )
        steps = number_of_steps(len(scores.measures), figures=figures is not None)
        with nullcontext() if quiet else Progress("report", total=steps) as progress:
            write_report(
                output,
                scores,
                experiment=experiment,
                title=title or None,
                level=statistics.level,
                method=method,
                replicates=statistics.replicates,
                rng=statistics.seed,
                documents=documents,
                judges=judge or (),
                grades=grades or (),
                baseline=inputs.find_baseline(baseline, scores.runs),
                by=groups,
                costs=cost or None,
                figures=figures,
                figure_width=figure_width,
                origin=origin,
                progress=progress,
            )
    if not quiet:
        counts = [
            counted(len(names), thing)
            for thing, names in (("run", scores.runs), ("topic", scores.topics))
        ]
        print_text(f"{output}: {', '.join(counts)}, seed {statistics.seed}\n")


@contextmanager
def _uncollected() -> Iterator[None]:
    """Leave cycles of objects to the end: looking for them among all records takes half a second."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def check_figures(folder: str | None, width: float | None) -> None:
    """Raise before any work where charts could not be saved as files."""
    from confir.cli.file_checks import check_drawing

    if folder is not None:
        check_drawing()
    elif width is not None:
        raise InvalidValueError("--figure-width is for --figures DIR; expected both")
    if width is not None:
        from confir.report.chart_files import check_size

        check_size("width", width)


def check_page(path: str) -> None:
    """Raise before any work where a page could not be written after it."""
    from confir.cli.file_checks import check_output
    from confir.report.report_page import check_page_name

    check_page_name(path)
    check_output(path)


def _read(
    inputs: Inputs, baseline: str | None, *, quiet: bool
) -> tuple[Scores | ScoreSummary, Experiment | None]:
    """Return the scores, and the experiment where they come from one; its lists are read once."""
    example = "confir report qrels.txt bm25.run dense.run -o report.html"
    if inputs.scores or inputs.repeats is not None:
        found = inputs.load_scores_or_summary(baseline=baseline, quiet=quiet, example=example)
        return found, None
    from confir.cli.progress import Progress
    from confir.measures.evaluation import evaluate_lists
    from confir.pairs.differences import check_differences

    if inputs.runs and baseline is None:
        check_differences(inputs.run_count, may_name_baseline=True)
    experiment = inputs.experiment(baseline=baseline, example=example, instead=", or --scores FILE")
    with nullcontext() if quiet else Progress("reading runs", total=inputs.run_count) as progress:
        scores = evaluate_lists(experiment, progress)
    return inputs.state_bound(scores), experiment


def command_line_with_seed(seed: int | None) -> str:
    """Return the command that reproduces an output, with its seed if it has one."""
    given = sys.argv[1:]
    named = seed is None or any(word == "--seed" or word.startswith("--seed=") for word in given)
    words = ["confir", *given, *([] if named else ["--seed", str(seed)])]
    return shlex.join(map(without_passwords, words))
