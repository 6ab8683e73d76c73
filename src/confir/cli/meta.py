"""``confir meta``: what do several topics, or several collections, say together?"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confir.cli import options
from confir.cli.collection import MarginOption, SmallROption
from confir.cli.given import READING, refuse_options
from confir.errors import FormatError, InvalidValueError

if TYPE_CHECKING:
    from confir.studies.meta_analysis import PooledModels
    from confir.studies.topic_effects import StudyEffects

_POOLING = "Pooling"

# Options that say how documents are resampled.
_OF_DOCUMENTS = (*READING, "pairing", "small_r", "margin", "replicates", "seed")


def meta_command(
    context: typer.Context,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            help="Tables of effects: CSV, TSV, JSON, JSONL or Parquet. Of several files, each is a "
            "collection, named by its file or as NAME=FILE. With -m: QRELS RUN..., whose topics "
            "are pooled.",
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--measure",
            metavar="NAME",
            help="Pool this measure over the topics of QRELS RUN..., with errors from resampled "
            "documents (repeatable; a measure in [0, 1], such as AP).",
            rich_help_panel="Input",
        ),
    ] = None,
    effect: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Make effects of scores: score, logit, difference, logit-difference, or adjusted "
            "(logit less the baseline's, or the mean of all runs). With -m by default logit, or "
            "logit-difference from a baseline; a table needs limits.",
            rich_help_panel=_POOLING,
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="The run that --effect refers to: its name or, with -m, its file.",
            rich_help_panel=_POOLING,
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="stouffer, fixed, or random effects: dersimonian-laird, paule-mandel or reml, "
            "also with +hartung-knapp (repeatable; by default all).",
            rich_help_panel=_POOLING,
        ),
    ] = None,
    pairing: Annotated[
        str,
        typer.Option(
            metavar="paired|independent",
            help="Errors of differences: both runs on the same resampled collections, or each on "
            "its own.",
            rich_help_panel="Statistics",
        ),
    ] = "paired",
    rel: options.RelOption = 1,
    depth: options.DepthOption = None,
    missing: options.MissingOption = "zero",
    intents: options.IntentsOption = None,
    name_by: options.NameByOption = "file",
    tie_precision: options.TiePrecisionOption = "double",
    level: options.LevelOption = 0.95,
    small_r: SmallROption = True,
    margin: MarginOption = 1e-6,
    replicates: options.ReplicatesOption = 2_000,
    seed: options.SeedOption = options.DEFAULT_SEED,
    output: options.OutputOption = None,
    kind: options.FormatOption = "table",
    quiet: options.QuietOption = False,
) -> None:
    """Pool the effects of several topics or collections, and say how far these differ.

    Examples: `confir meta trec7.json trec8.json -o forest.svg`, files that `confir compare` wrote;
    `confir meta qrels.txt bm25.run dense.run -m AP --baseline bm25`, over topics
    """
    from confir.cli.collection import check_settings, resample
    from confir.cli.compare import add_baseline, find_baseline
    from confir.cli.input import check_choice
    from confir.cli.terminal import be_quiet, check_output
    from confir.intervals.interval import check_level
    from confir.studies.meta_analysis import MODELS, pool_models
    from confir.studies.topic_effects import EFFECTS, check_effect, collection_effects

    check_output(output, kind)
    check_level(level)
    check_choice("--pairing", pairing, ("paired", "independent"))
    if effect is not None:
        check_choice("--effect", effect, EFFECTS)
        check_effect(effect, has_baseline=baseline is not None)
    for name in model or ():
        check_choice("--model", name, tuple(MODELS))
    if not files:
        raise InvalidValueError(
            "expected FILE..., tables of effects, or QRELS RUN... with -m; for example: "
            "confir meta trec7.json trec8.json"
        )
    if quiet:
        be_quiet()
    if measure is None:
        reason = "is for QRELS RUN..., whose measure -m names; tables of effects do not need it"
        refuse_options(context, _OF_DOCUMENTS, reason)
        found, note = _of_tables(files, effect, baseline, level)
    else:
        if baseline is None or effect == "adjusted":
            reason = "is for differences; expected --baseline RUN, and not --effect adjusted"
            refuse_options(context, ["pairing"], reason)
        check_settings(level, margin, measure, rel)
        qrels, runs = files[0], files[1:]
        sample = resample(
            qrels,
            add_baseline(runs, baseline),
            measure,
            rel=rel,
            depth=depth,
            missing=missing,
            intents=intents,
            name_by=name_by,
            tie_precision=tie_precision,
            replicates=replicates,
            seed=seed,
            jackknife=False,
            quiet=quiet,
            example="confir meta qrels.txt bm25.run dense.run -m AP",
        )
        found = collection_effects(
            sample,
            effect=effect,
            baseline=find_baseline(baseline, sample.scores, runs),
            pairing="paired" if pairing == "paired" else "independent",
            small_r=small_r,
            level=level,
            margin=margin,
        )
        note = f"studies are topics; {replicates} replicates of the collection, seed {seed}"
    models = pool_models(**found._asdict(), models=model or list(MODELS), level=level)
    _show(models, note, output=output, kind=kind)


def _of_tables(
    files: list[str], effect: str | None, baseline: str | None, level: float
) -> tuple[StudyEffects, str]:
    """Return the effects in tables, and what their studies are."""
    from confir.data.effect_files import read_effects
    from confir.studies.topic_effects import table_effects

    if baseline is not None and effect is None:
        raise InvalidValueError(
            "--baseline needs --effect, which says what to make of a table's scores, or -m for "
            "QRELS RUN..."
        )
    try:
        table = read_effects(files, level=level)
    except FormatError as error:
        if not error.problem.startswith("no column"):
            raise
        problem = f"{error.problem}; to pool the topics of QRELS RUN..., name a measure with -m"
        raise FormatError(problem, path=error.path, line=error.line) from None
    note = "" if table.unit == "study" else f"studies are {table.unit}s"
    return table_effects(table, effect=effect, baseline=baseline), note


def _show(models: PooledModels, note: str, *, output: str | None, kind: str) -> None:
    """Write or print the pooled effects; a terminal and Markdown have them in words, too."""
    from confir.cli.streams import print_text
    from confir.cli.terminal import Answer, deliver
    from confir.data.files import write_whole
    from confir.report.comparison_tables import sections_to_markdown, sections_to_text
    from confir.report.meta_tables import meta_sections, pooled_table

    if output is not None and Path(output).suffix.lower() == ".md":
        write_whole(output, sections_to_markdown(meta_sections(models, note)).encode())
    elif output is None and kind == "md":
        print_text(sections_to_markdown(meta_sections(models, note)))
    elif output is None and kind == "table":
        terminal = sys.stdout.isatty()
        width = shutil.get_terminal_size().columns if terminal else None
        sections = meta_sections(models, note)
        sys.stdout.write(sections_to_text(sections, colour=terminal, width=width))
    else:
        answer = Answer(models.to_records(), pooled_table(models, note), models)
        deliver(answer, output=output, kind=kind)
