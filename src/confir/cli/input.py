"""From the arguments of a command to scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, cast

import typer

from confir.cli.given import READING, refuse_options
from confir.cli.terminal import Progress
from confir.data.common_topics import warn_of_missing_scores
from confir.data.qrels import Qrels
from confir.data.scores import Scores
from confir.data.trec_files import find_runs
from confir.errors import InvalidValueError, UnknownNameError, enumerate_names
from confir.measures.bounds import clip_to_range, definition_bound
from confir.measures.catalogue import DEFAULT_MEASURES, canonical_name
from confir.measures.evaluation import evaluate


def load_scores(
    qrels: str | Qrels | None,
    runs: Sequence[str],
    *,
    score_files: Sequence[str] = (),
    measures: Sequence[str],
    rel: int,
    depth: int | None,
    missing: str,
    intents: str | None = None,
    name_by: str = "file",
    tie_precision: str = "double",
    bounded: bool | None = None,
    quiet: bool,
    context: typer.Context | None = None,
    example: str = "confir evaluate qrels.txt bm25.run",
) -> Scores:
    """Return the scores that a command's arguments ask for: read, or computed from runs.

    Parameters
    ----------
    qrels, runs, score_files
        What is there to read: runs with their judgements, or score tables.
    measures, rel, depth, missing, intents, name_by, tie_precision, bounded, quiet
        The options of these names.
    context
        The command at work, whose options must fit what there is to read.
    example
        How to call the command, told where there is nothing to read.
    """
    if score_files:
        if qrels is not None:
            raise InvalidValueError("--scores stands in for QRELS RUN...; give one or the other")
        if context is not None:
            refuse_options(context, READING, "is for QRELS RUN...; a score table is read as it is")
        from confir.data.score_files import read_scores

        table = select_measures(read_scores(list(score_files)), measures)
        warn_of_missing_scores(table)
        return clip_to_range(state_bound(table, bounded))
    if qrels is None or not runs:
        raise InvalidValueError(
            f"expected QRELS and at least one RUN, or --scores FILE; for example: {example}"
        )
    check_reading(missing, name_by, tie_precision)
    total = len(find_runs(runs))
    with Progress("reading runs", total=total, quiet=quiet) as progress:
        scores = evaluate(
            qrels,
            list(runs),
            list(measures) or DEFAULT_MEASURES,
            rel=rel,
            depth=depth,
            missing=cast("Literal['zero', 'drop', 'error']", missing),
            intents=intents,
            name_by=cast("Literal['file', 'tag']", name_by),
            tie_precision=cast("Literal['double', 'single']", tie_precision),
            progress=progress,
        )
    return state_bound(scores, bounded)


def state_bound(scores: Scores, bounded: bool | None) -> Scores:
    """Return scores whose unknown measures lie in [0, 1] or not, as --bounded/--unbounded says."""
    if bounded is None:
        return scores
    if all(definition_bound(name) is not None for name in scores.measures):
        raise InvalidValueError(
            "--bounded/--unbounded is for measures that confir does not know; it knows "
            f"{enumerate_names(scores.measures, 5)}"
        )
    return replace(scores, bounded=bounded)


def select_measures(scores: Scores, measures: Sequence[str]) -> Scores:
    """Return the scores by some measures, which may go by other names in the table."""
    if not measures:
        return scores
    known = {canonical_name(name): name for name in scores.measures}
    known |= {name: name for name in scores.measures}
    chosen = []
    for name in measures:
        found = known.get(name) or known.get(canonical_name(name))
        if found is None:
            raise UnknownNameError("measure in the score table", name, scores.measures)
        chosen.append(found)
    return scores.select(measures=list(dict.fromkeys(chosen)))


def check_reading(missing: str, name_by: str, tie_precision: str = "double") -> None:
    """Raise where an option that says how runs are read has an unknown value."""
    check_choice("--missing", missing, ("zero", "drop", "error"))
    check_choice("--name-by", name_by, ("file", "tag"))
    check_choice("--tie-precision", tie_precision, ("double", "single"))


def check_choice(option: str, value: str, choices: Sequence[str]) -> None:
    """Raise where the value of an option is none of its choices."""
    if value not in choices:
        raise UnknownNameError(f"value of {option}", value, choices)
