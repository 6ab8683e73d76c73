"""``confir report``: one page about a collection and its runs."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from confir.cli import options
from confir.errors import InvalidValueError

if TYPE_CHECKING:
    from confir.data.ranked_lists import RankedLists
    from confir.data.rules import ReadingRules

_PAGE = "Page"


def report_command(
    context: typer.Context,
    qrels: options.QrelsArgument = None,
    runs: options.RunsArgument = None,
    scores: options.ScoresOption = None,
    output: Annotated[
        str,
        typer.Option(
            "-o", "--output", metavar="FILE", help="The page to write.", rich_help_panel=_PAGE
        ),
    ] = "report.html",
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Heading of the page.", rich_help_panel=_PAGE)
    ] = None,
    figures: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Also write every chart there, as SVG and PDF, for a paper.",
            rich_help_panel=_PAGE,
        ),
    ] = None,
    documents: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Number of documents in the collection, for the chance baseline; by default those "
            "that qrels and runs mention.",
            callback=options.at_least(1),
            rich_help_panel=_PAGE,
        ),
    ] = None,
    measure: options.MeasuresOption = None,
    rel: options.RelOption = 1,
    depth: options.DepthOption = None,
    missing: options.MissingOption = "zero",
    intents: options.IntentsOption = None,
    name_by: options.NameByOption = "file",
    tie_precision: options.TiePrecisionOption = "double",
    level: options.LevelOption = 0.95,
    method: options.MethodOption = None,
    bounded: options.BoundedOption = None,
    replicates: options.ReplicatesOption = 9_999,
    seed: options.SeedOption = options.DEFAULT_SEED,
    quiet: options.QuietOption = False,
) -> None:
    """Write one HTML page that says which runs are better, how sure that is, and why.

    Example: `confir report qrels.txt runs/ -m AP -m nDCG@10 -o report.html`
    """
    from confir.cli.input import check_reading, load_scores, state_bound
    from confir.cli.streams import print_text
    from confir.cli.terminal import Progress, be_quiet
    from confir.data.rules import ReadingRules
    from confir.intervals.catalogue import find_method
    from confir.intervals.interval import check_level
    from confir.measures.catalogue import DEFAULT_MEASURES
    from confir.measures.evaluation import check_depth, evaluate_lists, parse_measures
    from confir.report.contents import number_of_steps
    from confir.report.page import DEFAULT_TITLE, Origin, write_report

    check_page(output)
    check_level(level)
    if method is not None:
        find_method(method)
    if quiet:
        be_quiet()
    check_reading(missing, name_by, tie_precision)
    rules = ReadingRules(
        rel,
        depth,
        cast("Literal['zero', 'drop', 'error']", missing),
        cast("Literal['file', 'tag']", name_by),
        cast("Literal['double', 'single']", tie_precision),
        intents,
    )
    with _listening() as heard:
        if scores:
            lists = None
            table = load_scores(
                qrels,
                runs or [],
                score_files=scores,
                measures=measure or [],
                rel=rel,
                depth=depth,
                missing=missing,
                bounded=bounded,
                quiet=quiet,
                context=context,
            )
        else:
            measures = measure or DEFAULT_MEASURES
            check_depth(depth)
            parse_measures(measures, rel)  # before anything is read
            lists = _read(qrels, runs or [], rules, quiet=quiet)
            table = evaluate_lists(lists, measures, rel=rel, depth=depth, missing=rules.missing)
            table = state_bound(table, bounded)
    origin = Origin(tuple(_files(qrels, runs, scores)), words_to_repeat(seed), tuple(heard))
    steps = number_of_steps(len(table.measures), figures=figures is not None)
    with Progress("writing the report", total=steps, quiet=quiet) as progress:
        write_report(
            output,
            table,
            qrels=None if lists is None else lists.qrels,
            runs=lists,
            title=title or DEFAULT_TITLE,
            level=level,
            method=method,
            replicates=replicates,
            seed=seed,
            documents=documents,
            rules=rules,
            figures=figures,
            origin=origin,
            progress=progress,
        )
    if not quiet:
        counts = [
            f"{len(names)} {thing}{'' if len(names) == 1 else 's'}"
            for thing, names in (("run", table.runs), ("topic", table.topics))
        ]
        print_text(f"{output}: {', '.join(counts)}, seed {seed}\n")


def check_page(path: str) -> None:
    """Raise before any work where a page could not be written after it."""
    from confir.cli.terminal import check_output

    if Path(path).suffix.lower() != ".html":
        raise InvalidValueError(f"{path}: the page is HTML; expected a name such as report.html")
    check_output(path)


def _read(
    qrels: str | None,
    runs: Sequence[str],
    rules: ReadingRules,
    *,
    quiet: bool,
) -> RankedLists:
    """Return qrels and runs, read once for all parts of the report."""
    from confir.cli.terminal import Progress
    from confir.data.list_scanner import read_lists
    from confir.data.neighbours import as_qrels, as_runs

    if qrels is None or not runs:
        raise InvalidValueError(
            "expected QRELS and at least one RUN, or --scores FILE; for example: "
            "confir report qrels.txt bm25.run dense.run -o report.html"
        )
    judged, sources = as_qrels(qrels, intents=rules.intents), as_runs(list(runs))
    with Progress("reading runs", total=len(sources), quiet=quiet) as progress:
        return read_lists(
            judged,
            sources,
            name_by=rules.name_by,
            tie_precision=rules.tie_precision,
            progress=progress,
        )


def _files(
    qrels: str | None, runs: Sequence[str] | None, scores: Sequence[str] | None
) -> Iterator[str]:
    """Yield the files as they were named."""
    if qrels is not None:
        yield qrels
    yield from runs or ()
    yield from scores or ()


def words_to_repeat(seed: int) -> str:
    """Return the command that makes the page again, its seed spelt out."""
    given = sys.argv[1:]
    named = any(word == "--seed" or word.startswith("--seed=") for word in given)
    return shlex.join(["confir", *given, *([] if named else ["--seed", str(seed)])])


@contextmanager
def _listening() -> Iterator[list[str]]:
    """Collect the warnings that are shown meanwhile, for the page."""
    heard: list[str] = []
    with warnings.catch_warnings():
        show = warnings.showwarning

        def listen(message: Warning | str, *rest: Any, **options: Any) -> None:
            heard.append(str(message))
            show(message, *rest, **options)

        warnings.showwarning = listen
        yield heard
