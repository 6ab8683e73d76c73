"""The report: one self-contained HTML page.

The page is one file. It loads nothing from the network, and its content security policy allows only
its own scripts, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from importlib.metadata import metadata
from importlib.resources import files
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from confir.arguments import as_function, as_path, as_seed, as_text, invalid
from confir.control_characters import clean_texts, has_controls, without_controls
from confir.data.experiment import Experiment, is_default_seed, on_its_scheduler
from confir.data.files import PathLike, write_whole
from confir.data.output_folder import OutputFolder
from confir.data.reading_rules import ReadingRules
from confir.data.sampling_designs.design import DesignSource
from confir.data.sampling_designs.topic_groups import TopicGroups, as_topic_groups
from confir.data.score_objects import ScoresSource
from confir.data.tables.cost_files import CostSource, read_costs
from confir.defaults import LEVEL, REPLICATES, SEED
from confir.errors import (
    ConfirWarning,
    InvalidValueError,
    UnreadableError,
    counted,
    without_passwords,
)
from confir.measures.evaluation import evaluate_lists
from confir.measures.score_sources import as_run_scores
from confir.number_text import percent
from confir.pairs.differences import check_differences
from confir.parallel import Progress, name_stage, run_in_threads
from confir.report.chart_files import check_size
from confir.report.contents import (
    Contents,
    Settings,
    present_sections,
    report_figures,
)
from confir.report.figures import write_figures
from confir.report.gathering import gather_contents
from confir.report.messages import collected_warnings
from confir.report.methods_text import methods_text
from confir.report.page_data import (
    level_key,
    list_excerpts,
    page_chart,
    page_data,
    page_tables,
)
from confir.report.script_bundle import ScriptBundle
from confir.report.sections import answer_sentences, conclusions
from confir.report.static_figures import drawn_charts, static_figures
from confir.resampling.kinds import require_knowledge
from confir.resampling.replicates import Rng
from confir.resampling.sample import Knowledge
from confir.studies import STUDIES, find_sections

# The parts of the page's own script, which share one scope.
SCRIPTS = (
    *("decimals", "basics", "address", "answer", "tables", "scales", "board", "papers", "linking"),
    *("pairs", "matrix", "topics", "lists", "charts", "start"),
)

_TEMPLATES = files("confir.report") / "templates"

# Of zlib: higher ones take three times as long for a page that is one hundredth smaller.
_COMPRESSION = 7

_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class Origin(NamedTuple):
    """Where a page comes from, for its reader.

    Attributes
    ----------
    files
        The files read.
    command
        The command that reproduces the page.
    warnings
        Warnings about the input.
    """

    files: tuple[str, ...] = ()
    command: str = ""
    warnings: tuple[ConfirWarning, ...] = ()


def check_page_name(path: str) -> None:
    """Raise where a page would get the name of another kind of file, such as one that it is from."""
    if not path.lower().endswith(".html"):
        raise InvalidValueError(f"{path}: the page is HTML; expected a name such as report.html")


@on_its_scheduler
def write_report(
    path: PathLike,
    scores: ScoresSource | Experiment,
    *,
    experiment: Experiment | None = None,
    title: str | None = None,
    level: float = LEVEL,
    method: str | None = None,
    replicates: int = REPLICATES,
    rng: Rng = SEED,
    documents: int | None = None,
    judges: Mapping[str, Any] | Sequence[Any] = (),
    grades: Sequence[str] = (),
    baseline: str | None = None,
    by: str | Mapping[str, Any] | TopicGroups | None = None,
    table: DesignSource | None = None,
    costs: CostSource | None = None,
    figures: PathLike | None = None,
    figure_width: float | None = None,
    origin: Origin | None = None,
    progress: Progress | None = None,
) -> Path:
    """Write a self-contained HTML page about runs, and return its path.

    Parameters
    ----------
    path, title
        The file, written atomically; and the heading of the page, by default such as "6 runs on
        qrels.txt".
    scores
        An `Experiment`, or scores: anything that `as_scores` takes, or a `ScoreSummary`, of which a
        sample of topics is shown.
    experiment
        Qrels and runs behind the scores; without it, the parts about documents are left out.
    level, method, replicates
        Of the intervals; the default method depends on the measure.
    rng
        Seed, which the page states, or a generator to draw one from; None draws a new one.
    documents
        Number of documents in the collection; by default those that occur in qrels and runs.
    judges, grades
        Qrels of other judges to compare with, as in `compare_judgements`; and how their grades
        compare where they differ, as ``--grades`` of ``confir judges``.
    baseline
        The run that the others are compared with; by default all pairs are compared.
    by, table
        What groups topics, and a table of them, as in `compare_groups`.
    costs
        What runs cost, as in `compare_costs`.
    figures, figure_width
        A folder to write the charts to, for papers: SVG and PDF; and their width in mm.
    origin
        Files, command and warnings to name on the page.
    progress
        Called with 1 after each step.

    Examples
    --------
    >>> scores = {"a": [0.3, 0.5, 0.4, 0.6, 0.2], "b": [0.2, 0.5, 0.1, 0.3, 0.3]}
    >>> confir.write_report("report.html", scores, replicates=199).name
    'report.html'
    """
    target = as_path("path", path)
    _check_arguments(target, title, progress, origin, experiment)
    seed = as_seed(rng)
    if isinstance(scores, Experiment):
        if scores.human is not None and (scores.rng is None or is_default_seed(scores.rng)):
            scores = scores.with_human(*scores.human, seed)
        experiment = experiment or scores
    rules = ReadingRules() if experiment is None else experiment.rules
    settings = Settings(level, method, replicates, seed, documents, rules, judges, grades, baseline)
    with collected_warnings(shown=True) as warned:
        if isinstance(scores, Experiment):
            scores = evaluate_lists(scores)
        else:
            scores = as_run_scores(scores)
            require_knowledge(scores, Knowledge.TOPIC_VARIANCE, "a report")
        if baseline is None:
            check_differences(len(scores.runs), may_name_baseline=True)
        lists = None if experiment is None else experiment.lists_by_topic()
    if by is not None:
        groups = as_topic_groups(by, scores.listed(), table)
        settings = replace(settings, groups=groups)
    if costs is not None:
        settings = replace(settings, costs=tuple(read_costs(costs)))
    if figure_width is not None:
        check_size("figure_width", figure_width)
    with nullcontext() if figures is None else OutputFolder(as_path("figures", figures), [target]):
        # the folder is checked first: it may hold other files
        with ScriptBundle() as bundle:  # started first: without it there is no page
            contents = gather_contents(
                scores,
                qrels=None if lists is None else lists.qrels,
                runs=lists,
                run_metadata=None if experiment is None else experiment.run_metadata,
                warned=[*(origin or Origin()).warnings, *warned],
                settings=settings,
                progress=progress,
            )
            page = render_page(contents, bundle, title=title, origin=origin, progress=progress)
        if figures is not None:
            name_stage(progress, "writing figures")
            write_figures(contents, figures, progress, [path], figure_width)
        write_whole(target, page.encode())
    return Path(target)


def _check_arguments(
    target: str, title: object, progress: object, origin: object, experiment: object
) -> None:
    """Raise before any work where an argument is invalid, or the page cannot be written."""
    check_page_name(target)
    if not Path(target).parent.is_dir():
        raise UnreadableError(f"{target}: cannot be written (no such folder)")
    if title is not None:
        as_text("title", title)
    as_function("progress", progress)
    if not isinstance(origin, Origin | None):
        raise invalid("origin", origin, "an Origin")
    if not isinstance(experiment, Experiment | None):
        raise invalid("experiment", experiment, "an Experiment")


def render_page(
    contents: Contents,
    bundle: ScriptBundle,
    *,
    title: str | None = None,
    origin: Origin | None = None,
    progress: Progress | None = None,
) -> str:
    """Return the page as text."""
    settings, given = contents.settings, origin or Origin()
    shown = tuple(map(without_passwords, given.files))
    source = given._replace(files=shown, command=without_passwords(given.command))
    name_stage(progress, "drawing charts")
    figures = report_figures(contents, settings.levels, progress, paper=False)
    charts = [page_chart(figure) for figure in figures]
    scripts = bundle.text()
    name_stage(progress, "writing the page")
    lists = list_excerpts(contents, contents.lists)
    data = {**page_data(contents), "answers": _answers(contents), "lists": lists}
    drawn = _first_charts(contents, charts)
    environment = page_environment()
    environment.globals["static"] = static_figures(drawn)
    environment.globals["captions"] = {one["part"]: one["caption"] for one in reversed(drawn)}
    parts = {study: one for study, one in find_sections().items() if one.anchor}
    glossary, *pages = find_documentation("glossary.md", *(study.source[1] for study in STUDIES))
    page = environment.get_template("page.html").render(
        title=default_title(contents, source) if title is None else title,
        titled=title is not None,
        glossary=glossary,
        unit=contents.scores.unit_name,
        origin=source,
        contents=contents,
        settings=settings,
        sections={study: one for study, one in parts.items() if one.stays or contents.has(study)},
        left_out=[
            (one, list(dict.fromkeys(reason for _, reason in contents.reasons(study))))
            for study, one in parts.items()
            if contents.reasons(study) and not (one.stays or contents.has(study))
        ],
        answer=data["answers"][0][level_key(settings.level)],
        data=data,
        documentation=dict(zip((study.folder for study in STUDIES), pages, strict=True)),
        methods=methods_text(contents),
        warnings=contents.warnings,
        remarks=contents.remarks,
        level_key=level_key,
        counted=counted,
        percent=percent,
        style=_template("page.css"),
        **_scripts(
            scripts,
            data=data,
            tables=[*page_tables(contents)],
            charts=charts if scripts else [*drawn_charts(charts)],
        ),
    )
    return without_controls(page, keep_blanks=True, keep_isolates=True)


def _scripts(bundle: str, **data: Any) -> dict[str, Any]:
    """Return the page's own script, the hashes of both scripts, and, packed, what it reads."""
    parts = "".join((_TEMPLATES / "script" / f"{name}.js").read_text("utf-8") for name in SCRIPTS)
    failed = 'document.documentElement.dataset.ready = "error"; throw error;'
    script = f"(async function () {{\n{parts}}})().catch((error) => {{ {failed} }});\n"
    hashes = {}  # for the content security policy
    for name, text in (("bundle", bundle), ("page", script)):
        digest = hashlib.sha256(text.encode()).digest()
        hashes[name] = f"sha256-{base64.b64encode(digest).decode()}"
    texts = {"bundle": bundle}
    for name, value in data.items():
        text = _JSON.encode(value)
        if has_controls(text):
            cleaned = clean_texts(value, keep_blanks=True)
            if name == "data":  # in whose sentences names are isolated
                answers = clean_texts(value["answers"], keep_blanks=True, keep_isolates=True)
                cleaned["answers"] = answers
            text = _JSON.encode(cleaned)
        texts[name] = text
    packed = dict(zip(texts, run_in_threads(pack, list(texts.values())), strict=True))
    return {"script": script, "hashes": hashes, "packed": packed}


def page_environment() -> Any:
    """Return the jinja2 environment of pages: templates of the page and of studies, escaped."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja2.FunctionLoader(_template),
    )
    environment.filters["unbroken"] = unbroken
    return environment


def default_title(contents: Contents, origin: Origin) -> str:
    """Return what the page is about: ``74 runs on qrels.txt``."""
    runs = counted(len(contents.scores.runs), "run")
    unit = contents.scores.unit_name
    if unit == "topic" and origin.files:
        return f"{runs} on {PurePath(origin.files[0]).name}"
    return f"{runs} on {counted(len(contents.scores.topics), unit)}"


def _answers(contents: Contents) -> list[dict[str, Any]]:
    """Return headline, findings and conclusions of the folded parts, by measure and level."""
    answers: list[dict[str, Any]] = [{} for _ in contents.measures]
    for place, of_measure in enumerate(answers):
        for level in contents.settings.levels:
            viewed = contents.viewed(place, level)
            lead, *findings = map(unbroken, answer_sentences(viewed))
            found = {anchor: unbroken(text) for anchor, text in conclusions(viewed).items()}
            said = {"lead": lead, "findings": findings, "conclusions": found}
            of_measure[level_key(level)] = said
    return answers


def find_documentation(*pages: str) -> list[str]:
    """Return the addresses of pages of the documentation; "" where the package names no site."""
    for line in metadata("confir").get_all("Project-URL") or ():
        name, _, address = line.partition(", ")
        if name.lower() == "documentation":
            return [f"{address.rstrip('/')}/{page.replace('.md', '.html')}" for page in pages]
    return [""] * len(pages)


def _first_charts(contents: Contents, charts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the charts to show without a script: by the first measure, at the level asked for."""
    first, level = contents.measures[0], contents.settings.level
    drawn = [
        chart
        for chart in charts
        if chart["measure"] in (None, first.measure) and chart["level"] in (None, level_key(level))
    ]
    for study, section in present_sections(first).items():
        drawn += map(page_chart, section.charts(study, first, (level,), paper=True))
    return drawn


def unbroken(text: str) -> str:
    """Return text with no-break spaces in intervals."""
    interval = r"(?<=\[)[^\s\[\],]+, [^\s\[\],]+(?=\])"
    return re.sub(interval, lambda m: m[0].replace(" ", "\xa0"), text)


def _template(name: str) -> str:
    """Return a template: ``page.html``, or a study's such as ``coverage/section.html``."""
    study, _, file = name.rpartition("/")
    home = files(f"confir.studies.{study}") if study else _TEMPLATES
    return (home / file).read_text(encoding="utf-8")


def pack(text: str) -> str:
    """Return text compressed and base64-encoded."""
    return base64.b64encode(zlib.compress(text.encode(), _COMPRESSION)).decode()
