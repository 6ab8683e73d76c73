"""How well do the runs do? From qrels and runs to scores."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, get_args

import numpy as np

from confir.arguments import as_choice, as_function, as_integer
from confir.arrays import Floats
from confir.data.common_topics import name_topics, warn_of_left_out_topics
from confir.data.files import PathLike
from confir.data.neighbours import as_qrels, as_runs
from confir.data.qrels import Intents, Qrels
from confir.data.ranked_lists import RankedLists
from confir.data.rankings import (
    TIE_PRECISIONS,
    JudgedPositions,
    Rankings,
    TiePrecision,
    stack_rankings,
)
from confir.data.rules import Missing
from confir.data.run import Run
from confir.data.scanner import Ranked, read_rankings
from confir.data.scores import Scores
from confir.data.trec_files import NAMINGS, NameBy, RunSource, read_trec_run
from confir.errors import (
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    UnknownNameError,
    enumerate_names,
)
from confir.measures.catalogue import (
    DEFAULT_MEASURES,
    HIGHEST_NUMBER,
    as_rel,
    is_from_ir_measures,
    measure_name,
    parse_measure,
)
from confir.measures.foreign import ForeignMeasure, foreign_measure
from confir.measures.measure import ListMeasure, Measure
from confir.parallel import Progress, run_in_threads

AnyMeasure = Measure | ListMeasure | ForeignMeasure

# Judged documents measured together: enough to spread the cost of a numpy call, few enough for the
# processor's cache.
_JUDGED_PER_BATCH = 200_000


def evaluate(
    qrels: Qrels | PathLike | Mapping[str, Any] | Any,
    runs: Run | PathLike | Sequence[Any] | Mapping[str, Any] | Any,
    measures: str | Measure | Sequence[str | Measure | Callable[..., float]] = DEFAULT_MEASURES,
    *,
    rel: int = 1,
    depth: int | None = None,
    missing: Missing = "zero",
    tie_precision: TiePrecision = "double",
    intents: PathLike | Intents | None = None,
    name_by: NameBy = "file",
    progress: Progress | None = None,
) -> Scores:
    """Return the scores of runs by measures on every topic of the qrels.

    Parameters
    ----------
    qrels, runs
        Files, or objects: dicts, data frames, and those of ranx and ir_measures. Runs may also be
        a glob, a directory, a list, or a mapping of names to any of these.
    measures
        Names such as "nDCG@10"; measures of confir or ir_measures; or functions of one list: the
        gains in rank order, NaN where unjudged, and the gains of all judged documents of the topic.
    rel
        Lowest gain that counts as relevant, for measures that do not name their own.
    depth
        Look only at so many documents of each list.
    missing
        A topic that a run lacks scores 0 ("zero"), has no score ("drop") or is an "error".
    tie_precision
        "single" compares retrieval scores as trec_eval 9 and pytrec_eval do.
    intents, name_by
        As in `read_qrels` and `read_run`.
    progress
        Called with the number of runs that have been read since the last call.
    """
    wanted = parse_measures(measures, rel)
    check_missing(missing)
    check_depth(depth)
    as_choice("tie_precision", tie_precision, TIE_PRECISIONS)
    as_choice("name_by", name_by, NAMINGS)
    as_function("progress", progress)
    judged = as_qrels(qrels, intents=intents)
    sources = as_runs(runs)
    if any(isinstance(measure, ForeignMeasure) for measure in wanted):
        sources = [_read(source, name_by) for source in sources]
    ranked = _rank(judged, sources, wanted, tie_precision, name_by, progress)
    return score_rankings(judged, ranked, wanted, depth=depth, missing=missing, runs=sources)


def evaluate_lists(
    lists: RankedLists,
    measures: str | Measure | Sequence[str | Measure | Callable[..., float]] = DEFAULT_MEASURES,
    *,
    rel: int = 1,
    depth: int | None = None,
    missing: Missing = "zero",
) -> Scores:
    """Return what `evaluate` does, of lists that are read already; parameters as there."""
    wanted = parse_measures(measures, rel)
    check_depth(depth)
    foreign = any(isinstance(measure, ForeignMeasure) for measure in wanted)
    return score_rankings(
        lists.qrels,
        list(zip(lists.rankings(), lists.unknown, strict=True)),
        wanted,
        depth=depth,
        missing=missing,
        runs=[lists.run(number) for number in range(len(lists.runs))] if foreign else (),
    )


def score_rankings(
    qrels: Qrels,
    ranked: Sequence[Ranked],
    measures: Sequence[AnyMeasure],
    *,
    depth: int | None = None,
    missing: Missing = "zero",
    runs: Sequence[Run | RunSource] = (),
) -> Scores:
    """Return the scores of runs whose judged documents are known.

    Parameters
    ----------
    qrels, ranked
        The judgements; the rankings of each run, and its topics that the qrels lack.
    measures, depth, missing
        As in `evaluate`.
    runs
        The runs themselves, which measures of ir_measures look at.
    """
    check_missing(missing)
    _check_names([part for part, _ in ranked])
    check_topics(qrels, ranked, missing)
    _warn_of_nothing_relevant(qrels, measures)
    parts = [part if depth is None else part.cut(depth) for part, _ in ranked]
    batches = [stack_rankings(batch) for batch in _batches(parts)]
    relevant = [batch.at_least(1) for batch in batches]

    def scored(measure: AnyMeasure) -> Floats:
        seen = relevant if _sees_relevant_alone(measure) else batches
        return _measure(measure, qrels, runs, seen, depth)

    foreign = any(isinstance(measure, ForeignMeasure) for measure in measures)
    values = np.stack(list(map(scored, measures)) if foreign else run_in_threads(scored, measures))
    present = np.concatenate([part.present for part in parts])
    if missing == "drop":
        values[:, ~present] = np.nan
    return Scores(
        topics=qrels.topics,
        runs=tuple(name for part in parts for name in part.runs),
        measures=tuple(str(measure) for measure in measures),
        values=np.ascontiguousarray(values.transpose(2, 1, 0)),
    )


def check_depth(depth: int | None) -> None:
    """Raise unless a depth, if any, leaves something to look at."""
    if depth is not None:
        as_integer("depth", depth, highest=HIGHEST_NUMBER)


def check_missing(missing: str) -> None:
    """Raise where a way to treat missing topics is none."""
    as_choice("missing", missing, get_args(Missing), "way to treat missing topics")


def parse_measures(
    measures: Any,
    rel: int = 1,
) -> list[AnyMeasure]:
    """Return the measures that names stand for, each once."""
    if isinstance(measures, str | bytes) or not isinstance(measures, Sequence):
        measures = [measures]
    if not measures:
        raise InvalidValueError("no measure is named; expected at least one, such as 'AP'")
    rel = as_rel(rel)
    parsed = {str(measure): measure for measure in (_parse(entry, rel) for entry in measures)}
    return list(parsed.values())


def _parse(entry: Any, rel: int) -> AnyMeasure:
    if isinstance(entry, Measure):
        return entry
    if callable(entry) and not is_from_ir_measures(entry) and not isinstance(entry, type):
        return ListMeasure(entry)
    name = measure_name(entry)
    try:
        return parse_measure(name, rel=rel)
    except UnknownNameError:
        foreign = foreign_measure(name)
        if foreign is None:
            raise
        return foreign


def _read(source: Run | RunSource, name_by: NameBy) -> Run:
    if isinstance(source, Run):
        return source
    return read_trec_run(source.path, name=source.name, name_by=name_by)


def _rank(
    qrels: Qrels,
    sources: Sequence[Run | RunSource],
    measures: Sequence[AnyMeasure],
    tie_precision: TiePrecision,
    name_by: NameBy,
    progress: Progress | None,
) -> list[Ranked]:
    """Return the rankings of each run, and its topics that the qrels lack."""
    relevant_only = all(map(_sees_relevant_alone, measures))
    files = [source for source in sources if isinstance(source, RunSource)]
    read = iter(
        read_rankings(
            qrels,
            files,
            tie_precision=tie_precision,
            lowest_gain=1 if relevant_only else None,
            name_by=name_by,
            progress=progress,
        )
        if files
        else []
    )
    positions = JudgedPositions(qrels) if len(files) < len(sources) else None
    known = set(qrels.topics)
    ranked: list[Ranked] = []
    for source in sources:
        if isinstance(source, RunSource):
            ranked.append(next(read))
        elif positions is not None:
            unknown = tuple(topic for topic in source.topics if topic not in known)
            ranked.append((positions.rank(source, tie_precision), unknown))
    return ranked


def _check_names(parts: Sequence[Rankings]) -> None:
    names = [name for part in parts for name in part.runs]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InvalidValueError(
            f"several runs are named {repeated[0]!r}, by their tags or otherwise; name them as in "
            "one=PATH other=PATH"
        )


def check_topics(qrels: Qrels, ranked: Sequence[Ranked], missing: Missing) -> None:
    """Raise or warn where runs and qrels do not speak of the same topics."""
    lacking: dict[str, list[str]] = {}
    unknown: dict[str, list[str]] = {}
    for rankings, extra in ranked:
        name = rankings.runs[0]
        if not rankings.present.any():
            shown = enumerate_names(extra, 3) if extra else "none"
            raise TopicMismatchError(
                f"run {name!r} and the qrels have no topic in common: the run has {shown}, "
                f"the qrels have {enumerate_names(qrels.topics, 3)}"
            )
        absent = np.flatnonzero(~rankings.present[0]).tolist()
        if absent:
            lacking[name] = [qrels.topics[i] for i in absent]
        if extra:
            unknown[name] = list(extra)
    if lacking and missing == "error":
        raise TopicMismatchError(f"{name_topics(lacking)} of the qrels; expected all of them")
    if lacking and missing == "zero":
        _warn(f"{name_topics(lacking)} of the qrels, scored 0")
    elif lacking:
        present = np.concatenate([rankings.present for rankings, _ in ranked])
        same = bool((present == present[0]).all())
        warn_of_left_out_topics(lacking, "of the qrels", same=same)
    if unknown:
        _warn(f"{name_topics(unknown, verb='has')} that the qrels lack, left out")


def _warn_of_nothing_relevant(qrels: Qrels, measures: Sequence[AnyMeasure]) -> None:
    """Warn of topics without relevant documents, and of measures that ask for too high a gain."""
    levels, counts = qrels.count_by_gain()
    without = counts[:, levels >= 1].sum(axis=1) == 0
    if without.any():
        names = [topic for topic, empty in zip(qrels.topics, without, strict=True) if empty]
        _warn(
            f"the qrels have no relevant document for {len(names)} of {len(qrels.topics)} topics "
            f"({enumerate_names(names)}), which score as in trec_eval: 0 by most measures"
        )
    highest = int(levels.max(initial=0))
    asking = [
        str(measure)
        for measure in measures
        if isinstance(measure, Measure) and measure.lowest_gain > max(highest, 1)
    ]
    if asking:
        _warn(
            f"no document has a gain as high as {enumerate_names(asking)} asks for: the highest is "
            f"{highest}"
        )


def _warn(message: str) -> None:
    warnings.warn(message, TopicWarning, stacklevel=5)


def _measure(
    measure: AnyMeasure,
    qrels: Qrels,
    runs: Sequence[Run | RunSource],
    batches: Sequence[Rankings],
    depth: int | None,
) -> Floats:
    """Return the scores of all runs by one measure: runs × topics."""
    if isinstance(measure, ForeignMeasure):
        if depth is not None:
            raise InvalidValueError(
                f"{measure} is computed by ir_measures, which takes no depth; name a cutoff"
            )
        return np.stack([measure(qrels, run) for run in runs if isinstance(run, Run)])
    return np.concatenate([measure(batch)[:, :, 0] for batch in batches])


def _sees_relevant_alone(measure: AnyMeasure) -> bool:
    return isinstance(measure, ForeignMeasure) or not measure.looks_at_judged


def _batches(parts: Sequence[Rankings]) -> Iterable[list[Rankings]]:
    batch: list[Rankings] = []
    size = 0
    for part in parts:
        if batch and size + len(part.documents) > _JUDGED_PER_BATCH:
            yield batch
            batch, size = [], 0
        batch.append(part)
        size += len(part.documents)
    yield batch
