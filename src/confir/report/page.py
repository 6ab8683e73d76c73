"""Which runs are better, how sure is that, and why? One page that can be sent around.

The page is one file. It loads nothing from the network, and runs only the scripts that it was
written with: their hashes are part of it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import zlib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from confir.arguments import as_function, as_path, as_text, invalid
from confir.data.files import PathLike, write_whole
from confir.data.neighbours import as_qrels
from confir.data.output_folder import OutputFolder
from confir.data.rules import ReadingRules
from confir.data.score_objects import ScoresSource, as_scores
from confir.data.scores import Record
from confir.errors import UnreadableError
from confir.intervals.catalogue import DEFAULT_LEVEL
from confir.intervals.documents import normal_quantile
from confir.parallel import Progress
from confir.report.answer import answer_sentences
from confir.report.bias_variance_tables import bias_variance_note, bias_variance_table
from confir.report.chance_tables import chance_note, chance_table
from confir.report.collection_tables import (
    collection_note,
    collection_table,
    collection_variance_table,
    variance_note,
)
from confir.report.contents import (
    COVERAGE_SAMPLES,
    DEFAULT_SEED,
    Contents,
    MeasureContents,
    Settings,
    check_settings,
    gather_contents,
)
from confir.report.coverage_tables import coverage_note, coverage_table
from confir.report.figures import MATRIX_RUNS, Figure, report_figures, write_figures
from confir.report.leaderboard import leaderboard_table
from confir.report.methods_text import methods_text
from confir.report.numbers import percent
from confir.report.page_data import level_key, page_data, table_data
from confir.report.quality_tables import quality_table
from confir.report.script_bundle import ScriptBundle
from confir.report.tables import Table, to_latex, to_markdown
from confir.resampling.topics import DEFAULT_REPLICATES

DEFAULT_TITLE = "How far can these scores be trusted?"

# More digits than a chart shows, so that the page is small.
_CHART_DIGITS = 6


class Origin(NamedTuple):
    """Where a page comes from, as its reader should see it.

    Attributes
    ----------
    files
        What was read.
    command
        What makes the same page again.
    warnings
        What was unusual about the input.
    """

    files: tuple[str, ...] = ()
    command: str = ""
    warnings: tuple[str, ...] = ()


def write_report(
    path: PathLike,
    scores: ScoresSource,
    *,
    qrels: Any = None,
    runs: Any = None,
    title: str = DEFAULT_TITLE,
    level: float = DEFAULT_LEVEL,
    method: str | None = None,
    replicates: int = DEFAULT_REPLICATES,
    seed: int = DEFAULT_SEED,
    documents: int | None = None,
    rules: ReadingRules | None = None,
    figures: PathLike | None = None,
    origin: Origin | None = None,
    progress: Progress | None = None,
) -> Contents:
    """Write a self-contained HTML page about runs, and return the results that it shows.

    Parameters
    ----------
    path, title
        The page, written whole or not at all; and its heading.
    scores
        Scores of the runs, or what `as_scores` makes them of.
    qrels, runs
        What the scores were computed from, as in `evaluate`; without them, the parts about
        documents are left out.
    level, method, replicates, seed
        Of the intervals; the method is by default the one that suits the measure.
    documents
        Number of documents in the collection; by default those that qrels and runs mention.
    rules
        How qrels and runs are read: as for the scores.
    figures
        A folder to write the charts to, for papers: SVG and PDF.
    origin
        Files, command and warnings to name on the page.
    progress
        Called with 1 after each step.
    """
    target = as_path("path", path)
    if not Path(target).parent.is_dir():
        raise UnreadableError(f"{target}: cannot be written (no such folder)")
    as_text("title", title)
    as_function("progress", progress)
    if not isinstance(origin, Origin | None):
        raise invalid("origin", origin, "an Origin")
    scores = as_scores(scores)
    reading = ReadingRules() if rules is None else rules
    settings = Settings(level, method, replicates, seed, documents, reading)
    check_settings(settings)
    if figures is not None:  # before the work: there may be files of others in it
        OutputFolder(as_path("figures", figures), [target])
    with ScriptBundle() as bundle:  # before the work: without it there is no page
        contents = gather_contents(
            scores,
            qrels=None if qrels is None else as_qrels(qrels, intents=reading.intents),
            runs=runs,
            settings=settings,
            progress=progress,
        )
        page = render_page(contents, bundle, title=title, origin=origin, progress=progress)
    if figures is not None:
        write_figures(contents, figures, progress, [path])
    write_whole(target, page.encode())
    return contents


def render_page(
    contents: Contents,
    bundle: ScriptBundle,
    *,
    title: str = DEFAULT_TITLE,
    origin: Origin | None = None,
    progress: Progress | None = None,
) -> str:
    """Return the page as text."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja2.FunctionLoader(_template),
    )
    environment.filters["unbroken"] = unbroken
    source = origin or Origin()
    figures = report_figures(contents, contents.settings.levels, progress)
    charts = [_page_chart(figure) for figure in figures]
    scripts = {"bundle": bundle.text(), "page": _template("page.js")}
    return environment.get_template("page.html").render(
        title=title,
        origin=source,
        contents=contents,
        settings=contents.settings,
        answer=answer_sentences(contents),
        methods=methods_text(contents),
        paste=_paste(contents),
        warnings=tuple(dict.fromkeys((*source.warnings, *contents.warnings))),
        matrix_runs=MATRIX_RUNS,
        coverage_samples=COVERAGE_SAMPLES,
        coverage_error=_coverage_error(contents.settings.level),
        level_key=level_key,
        percent=percent,
        style=_template("page.css"),
        script=scripts["page"],
        hashes={name: _hash(text) for name, text in scripts.items()},
        packed={
            "bundle": pack(scripts["bundle"]),
            "data": pack(_json(page_data(contents))),
            "tables": pack(_json(list(_tables(contents)))),
            "charts": pack(_json(charts)),
        },
    )


def unbroken(text: str) -> str:
    """Return text whose percentages and intervals are not broken at the end of a line."""
    return re.sub(r"(?<=\d) %|(?<=\[)\S+, \S+(?=\])", lambda m: m[0].replace(" ", "\xa0"), text)


def _coverage_error(level: float) -> str:
    """Return half the 95 % interval of a coverage that was estimated by the samples, in points."""
    se = math.sqrt(level * (1 - level) / COVERAGE_SAMPLES)
    return f"{100 * normal_quantile(DEFAULT_LEVEL) * se:.2g}"


def _template(name: str) -> str:
    return (files("confir.report") / "templates" / name).read_text(encoding="utf-8")


def pack(text: str) -> str:
    """Return text deflated, in letters that HTML leaves alone."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _hash(script: str) -> str:
    """Return the hash by which a browser knows a script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _tables(contents: Contents) -> Iterator[dict[str, Any]]:
    """Yield the tables of the parts that the page does not build from its data itself."""
    for part in contents.measures:
        for name, table in _tables_of(part):
            yield {"part": name, "measure": part.measure, **table_data(table)}
    if contents.collection is not None:
        means, variance = contents.collection.means, contents.collection.variance
        topics, order = int(means.topics.max()), contents.collection.order()
        table = collection_table(means, collection_note(means))
        yield {"part": "collection", "measure": None, **table_data(table)}
        table = collection_variance_table(variance, variance_note(variance, topics), order=order)
        yield {"part": "variance", "measure": None, **table_data(table)}
    if contents.quality is not None:
        yield {"part": "quality", "measure": None, **table_data(quality_table(contents.quality))}


def _tables_of(part: MeasureContents) -> Iterator[tuple[str, Table]]:
    if part.coverage is not None:
        yield "coverage", coverage_table(part.coverage, coverage_note(part.coverage))
    if part.bias_variance is not None:
        note = bias_variance_note(part.bias_variance)
        yield "bias-variance", bias_variance_table(part.bias_variance, note)
    if part.chance is not None:
        yield "chance", chance_table(part.chance, chance_note(part.chance))


def _paste(contents: Contents) -> dict[str, str]:
    """Return the leaderboard of all measures, ready to paste."""
    table = leaderboard_table(contents)
    return {"LaTeX": to_latex(table), "Markdown": to_markdown(table)}


def _page_chart(figure: Figure) -> dict[str, Any]:
    """Return a chart for the page, its title apart: the caption shows it."""
    spec = figure.drawing.to_dict(validate=False)
    title = spec.pop("title", "")
    datasets = {name: _rounded(records) for name, records in spec.pop("datasets").items()}
    spec = single_panel(spec)
    if "data" in spec:
        spec["data"] = {"values": datasets[spec["data"]["name"]]}
    else:
        spec["datasets"] = datasets
    if isinstance(spec.get("width"), int):
        spec |= {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
    return {
        "part": figure.part,
        "measure": figure.measure,
        "level": None if figure.level is None else level_key(figure.level),
        "caption": title if isinstance(title, str) else title["text"],
        "spec": spec,
    }


def _rounded(records: Sequence[Record]) -> list[Record]:
    """Return records with numbers in fewer digits."""
    return [
        {
            key: float(f"{value:.{_CHART_DIGITS}g}") if isinstance(value, float) else value
            for key, value in record.items()
        }
        for record in records
    ]


def single_panel(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the only panel of a chart made of panels; such a chart can fill its place on a page."""
    if "facet" in spec:
        inner = spec["spec"]
    elif len(spec.get("concat", ())) == 1:
        inner = spec["concat"][0]
    else:
        return spec
    kept = {key: spec[key] for key in ("data", "config", "$schema") if key in spec}
    panel: dict[str, Any] = kept | inner
    panel.pop("title", None)
    return panel
