"""``confir meta``: what do several topics, or several collections, say together?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from confir.cli import options
from confir.cli.input import Inputs, reading_options
from confir.cli.input_options import CHOOSING, JUDGED
from confir.cli.output import Output
from confir.cli.parameters import Argument, Instead, Option, PathRole, Without, refuse_options
from confir.defaults import ALL_PAIRS, BASELINE, NO_FAMILY
from confir.errors import FormatError, InvalidValueError, counted
from confir.studies.collection.command import SmallROption

if TYPE_CHECKING:
    from confir.studies.meta_analysis.topic_effects import StudyEffects

_POOLING = "Pooling"

# For more groups than this, there are no sentences.
_MOST_GROUPS_IN_WORDS = 24

# Options that say how documents are resampled.
_OF_DOCUMENTS = ("pairing", "small_r", "epsilon", "replicates", "seed")

_MEASURES = options.measures_option(
    "Pool this measure over the topics of QRELS RUN..., with errors from resampled documents "
    "(repeatable; a measure in [0, 1], such as AP)."
)


def meta_command(
    *,
    files: Annotated[
        list[str] | None,
        Argument(
            metavar="FILE...",
            help="Tables of effects: CSV, TSV, JSON, JSONL or Parquet. Of several files, each is a "
            "collection, named by its file or as NAME=FILE. With -m: QRELS RUN..., whose topics "
            "are pooled.",
            path=PathRole.READ,
        ),
    ] = None,
    inputs: Annotated[
        Inputs,
        Without("qrels", "runs", "scores", "columns", "bounded", *JUDGED),
        Instead(measure=_MEASURES),
    ],
    effect: Annotated[
        str | None,
        Option(
            "Compute effects from scores: score, logit, difference, logit-difference, or adjusted "
            "(logit less the baseline's, or the mean of all runs). With -m by default logit, or "
            "logit-difference from a baseline; a table needs limits.",
            "NAME",
            panel=_POOLING,
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        Option(
            "The run that --effect refers to: its name or, with -m, its file.",
            "RUN",
            panel=_POOLING,
            path=PathRole.RUN,
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        Option(
            "stouffer, fixed, or random effects: dersimonian-laird, paule-mandel or reml, "
            "also with +hartung-knapp (repeatable; by default all).",
            "NAME",
            panel=_POOLING,
        ),
    ] = None,
    family: Annotated[
        str | None,
        Option(
            "Family of effects for which the error rate is controlled, within a measure: those of "
            "several runs against one baseline (then the default), those of pairs of runs, or none.",
            panel=_POOLING,
            choices=(BASELINE, ALL_PAIRS, NO_FAMILY),
        ),
    ] = None,
    pairing: Annotated[
        str,
        Option(
            "Errors of differences: both runs on the same resampled collections, or each on "
            "its own.",
            panel=options.STATISTICS_PANEL,
            choices=("paired", "independent"),
        ),
    ] = "paired",
    small_r: SmallROption = True,
    statistics: options.DocumentStatistics,
    out: Output,
) -> None:
    """Pool the effects of several topics or collections, and estimate their heterogeneity.

    Effects of collections are files that `confir compare` wrote; those of topics follow from runs.

    For example:

    - `confir meta trec7.json trec8.json -o forest.svg`
    - `confir meta qrels.txt bm25.run dense.run -m AP --baseline bm25`
    - `confir meta effects.csv --format json`
    """
    from confir.cli.answers import Answer
    from confir.report.tables import AnswerPart, Cell, Table
    from confir.studies.collection.command import check_settings
    from confir.studies.meta_analysis.meta_analysis import pool_models
    from confir.studies.meta_analysis.models import MODELS, find_models
    from confir.studies.meta_analysis.table import pooled_sentences, pooled_table
    from confir.studies.meta_analysis.topic_effects import check_effect

    level = statistics.level
    if effect is not None:
        check_effect(effect, has_baseline=baseline is not None)
    names = model or list(MODELS)
    find_models(names)
    if not files:
        raise InvalidValueError(
            "expected FILE..., tables of effects, or QRELS RUN... with -m; for example: "
            "confir meta trec7.json trec8.json"
        )
    if inputs.measure is None:
        reason = "is for QRELS RUN..., whose measure -m names; tables of effects do not need it"
        refuse_options(inputs.context, (*reading_options(), *CHOOSING, *_OF_DOCUMENTS), reason)
        found, note = _of_tables(files, effect, baseline, level)
    else:
        if baseline is None or effect == "adjusted":
            reason = "is for differences; expected --baseline RUN, and not --effect adjusted"
            refuse_options(inputs.context, ["pairing"], reason)
        check_settings(statistics, inputs.measure, inputs.rel)
        named = replace(inputs, qrels=files[0], runs=files[1:])
        asked = {"effect": effect, "pairing": pairing, "small_r": small_r}
        found, note = _of_topics(named, baseline, statistics, asked, quiet=out.quiet)
    models = pool_models(**found._asdict(), models=names, level=level, family=family)
    table = pooled_table(models, note)
    parts = [AnswerPart("Pooled effects", (), table)]
    if len(models.main.groups) <= _MOST_GROUPS_IN_WORDS:
        words = tuple((Cell(sentence),) for sentence in pooled_sentences(models.main))
        parts.append(AnswerPart("In words", (), Table(("in words",), words)))
    out.deliver(Answer(models.to_records(), table, models, parts))


def _of_topics(
    inputs: Inputs,
    baseline: str | None,
    statistics: options.DocumentStatistics,
    asked: dict[str, Any],
    *,
    quiet: bool,
) -> tuple[StudyEffects, str]:
    """Return the effects on the topics of a collection, and what their studies are."""
    from confir.studies.collection.command import DOCUMENTS_NEEDED, resample
    from confir.studies.meta_analysis.topic_effects import collection_effects

    experiment = inputs.experiment(
        baseline=baseline,
        instead=DOCUMENTS_NEEDED,
        example="confir meta qrels.txt bm25.run dense.run -m AP",
    )
    sample = resample(experiment, statistics, quiet=quiet)
    against = inputs.find_baseline(baseline, sample.runs)
    scale: dict[str, Any] = {"level": statistics.level, "epsilon": statistics.epsilon}
    found = collection_effects(sample, baseline=against, **asked, **scale)
    drawn = f"{counted(statistics.replicates, 'replicate')} of the collection"
    return found, f"studies are topics; {drawn}, seed {statistics.seed}"


def _of_tables(
    files: list[str], effect: str | None, baseline: str | None, level: float
) -> tuple[StudyEffects, str]:
    """Return the effects in tables, and what their studies are."""
    from confir.data.effect_files import read_effects
    from confir.studies.meta_analysis.topic_effects import table_effects

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
