"""From the arguments of a command to scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from confir.cli.terminal import Progress
from confir.data.scores import Scores
from confir.data.trec_files import find_runs
from confir.errors import InvalidValueError, UnknownNameError
from confir.measures.catalogue import DEFAULT_MEASURES, canonical_name
from confir.measures.evaluation import evaluate


def load_scores(
    qrels: str | None,
    runs: Sequence[str],
    *,
    score_files: Sequence[str],
    measures: Sequence[str],
    rel: int,
    depth: int | None,
    missing: str,
    intents: str | None = None,
    name_by: str = "file",
    tie_precision: str = "double",
    quiet: bool,
) -> Scores:
    """Return the scores that a command's arguments ask for: read, or computed from runs."""
    if score_files:
        if qrels is not None:
            raise InvalidValueError("--scores stands in for QRELS RUN...; give one or the other")
        from confir.data.score_files import read_scores

        return select_measures(read_scores(list(score_files)), measures)
    if qrels is None or not runs:
        raise InvalidValueError(
            "expected QRELS and at least one RUN, or --scores FILE; for example: "
            "confir evaluate qrels.txt bm25.run"
        )
    check_choice("--missing", missing, ("zero", "drop", "error"))
    check_choice("--name-by", name_by, ("file", "tag"))
    check_choice("--tie-precision", tie_precision, ("double", "single"))
    total = len(find_runs(runs))
    with Progress("reading runs", total=total, quiet=quiet) as progress:
        return evaluate(
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


def check_choice(option: str, value: str, choices: Sequence[str]) -> None:
    """Raise where the value of an option is none of its choices."""
    if value not in choices:
        raise UnknownNameError(f"value of {option}", value, choices)
