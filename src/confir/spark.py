"""Runs and qrels in Spark: scored on its workers, summed up here; verbs take the summary.

`evaluate` is the entry point. Spark groups rows by topic; `mapInArrow` hands them to the same functions
that evaluate local files, and only moments and counts come back.
"""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, Unpack

import numpy as np

from confir.cores import single_products
from confir.data.formats.entries import QRELS, RUN, EntryKind, Shape
from confir.data.ids import Words
from confir.data.long_tables.arrow_documents import ROW_COLUMNS, RowColumns, row_schema
from confir.data.long_tables.score_blocks import Known, ScoreBlocks, TopicBlock, merge_all
from confir.data.reading_rules import ReadingOptions, ReadingRules
from confir.data.sampling_designs.design import refuse_design
from confir.errors import (
    ConfirError,
    FormatError,
    InvalidValueError,
    MissingDependencyError,
)
from confir.measures.measure_list import DEFAULT_MEASURES
from confir.measures.parsing import parse_measures
from confir.measures.partitioned_evaluation import TopicCounts, TopicScorer, check_partitioned
from confir.measures.score_summary import ScoreSummary, summary_of

# Rows that a worker scores together, about.
_ROWS_AT_ONCE = 1 << 18

# Frames that workers return: scored topics and summaries of parts of them; or summaries alone, by
# partition.
_SCORED = "topic string, key long, scores array<double>, known binary"
_KNOWN = "place int, known binary"

# Names and types that Spark has for ids and numbers.
_IDS = ("string", "tinyint", "smallint", "int", "bigint")
_NUMBERS = (*_IDS[1:], "float", "double", "decimal")


def evaluate(
    runs_df: Any,
    qrels_df: Any,
    measures: Any = DEFAULT_MEASURES,
    **rules: Unpack[ReadingOptions],
) -> ScoreSummary:
    """Return a summary of the scores of runs, computed on the workers of Spark.

    Verbs such as `confidence_interval` and `compare_runs` take it in place of `Scores`, and send
    what they need to the workers: moments, or the bootstrap with Poisson weights that each topic's
    id decides. The numbers are those of local files but for the order of sums: equal to 1e-12.

    Parameters
    ----------
    runs_df
        A data frame of Spark with the columns topic, docid, score, and run where there are several;
        or as PyTerrier and ir_measures name them.
    qrels_df
        Likewise, with the columns topic, docid, gain, and subtopic where there are any.
    measures, **rules
        As in `confir.evaluate`: rel, depth, missing and tie_precision.
    """
    reading = ReadingRules(**rules)
    refuse_design(reading.design, "a summary of runs in Spark")
    wanted = parse_measures(measures, reading.rel)
    check_partitioned(wanted, reading)
    retrieved, judged = _rows(runs_df, RUN, "runs_df"), _rows(qrels_df, QRELS, "qrels_df")
    names = [row["label"] for row in retrieved.select("label").distinct().collect()]
    if None in names:
        raise FormatError("run is missing in a row; expected an id", path="runs_df")
    if not names:
        raise FormatError("the runs are empty; expected one row per document", path="runs_df")
    scorer = TopicScorer(tuple(sorted(names)), tuple(wanted), reading, ("qrels_df", "runs_df"))
    scored = _together(retrieved, judged).mapInArrow(_Scoring(scorer), _SCORED).persist()
    try:
        scorer.check(_count_topics(scored))
    except BaseException:
        scored.unpersist()
        raise
    return summary_of(SparkScores(scored, scorer.runs, tuple(map(str, scorer.measures))))


class SparkScores(ScoreBlocks):
    """Scores of topics in a data frame of Spark, whose workers sum them up."""

    source = "runs_df"

    def __init__(self, scored: Any, runs: tuple[str, ...], measures: tuple[str, ...]) -> None:
        self._scored = scored.where("topic is not null").select("topic", "key", "scores")
        self._axes = runs, measures
        weakref.finalize(self, _release, scored).atexit = False

    def gather(self, describe: Callable[[TopicBlock], Known]) -> Known:
        """Return the summary of all topics: made by partition, merged in their order."""
        found = self._scored.mapInArrow(_Describing(describe), _KNOWN).collect()
        known: Known = merge_all(pickle.loads(row["known"]) for row in sorted(found))  # noqa: S301 - by workers
        return known

    def name_topics(self, keys: Words) -> list[str]:
        """Return the ids of topics by their keys."""
        wanted = keys.view(np.int64).tolist()
        rows = self._scored.where(self._scored["key"].isin(wanted)).select("key", "topic").collect()
        names = {row["key"]: row["topic"] for row in rows}
        return [names[key] for key in wanted]


class _Scoring:
    """Scores the topics of a partition whose rows are in their order."""

    def __init__(self, scorer: TopicScorer) -> None:
        self._scorer = scorer

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield scored topics, and after some of them their summary, or an error."""
        try:
            with single_products():
                for rows in _whole_topics(batches):
                    yield from self._score(rows)
        except (FormatError, InvalidValueError) as error:
            yield _scored_rows(1, known=pickle.dumps(error))

    def _score(self, rows: Any) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.compute as pc

        parts = []
        for kind, source in zip((QRELS, RUN), self._scorer.sources, strict=True):
            columns = RowColumns(kind, Shape("topic", "docid", "value"), "label", source)
            own = rows.filter(pc.equal(rows.column("is_run"), kind is RUN)).combine_chunks()
            parts.append(pa.Table.from_batches(map(columns.rows, own.to_batches()), row_schema()))
        scored = self._scorer.score(parts)
        values = np.ascontiguousarray(scored.block.values.T)
        ends = np.arange(len(values) + 1, dtype=np.int32) * values.shape[1]
        yield _scored_rows(
            len(values),
            topic=scored.ids.cast(pa.string()),
            key=pa.array(scored.block.keys.view(np.int64)),
            scores=pa.ListArray.from_arrays(ends, values.reshape(-1)),
        )
        yield _scored_rows(1, known=pickle.dumps(scored.counts))


class _Describing:
    """Sums up the topics of a partition."""

    def __init__(self, describe: Callable[[TopicBlock], Any]) -> None:
        self._describe = describe

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the summary of the topics of a partition, with its number."""
        import pyarrow as pa
        from pyspark import TaskContext

        with single_products():
            known = _merge(self._describe(_block(batch)) for batch in batches if batch.num_rows)
        context = TaskContext.get()
        if known is not None and context is not None:
            place = pa.array([context.partitionId()], pa.int32())
            yield pa.RecordBatch.from_pydict({"place": place, "known": [pickle.dumps(known)]})


def _merge(parts: Iterable[Any]) -> Any:
    """Return the summaries of all parts, merged in order; None if there are none."""
    found = None
    for part in parts:
        found = part if found is None else found.merge(part)
    return found


def _count_topics(scored: Any) -> TopicCounts:
    """Return how the topics of runs and qrels agree; raise what went wrong on a worker."""
    rows = scored.where("known is not null").select("known").collect()
    parts = [pickle.loads(row["known"]) for row in rows]  # noqa: S301 - made by workers
    for part in parts:
        if isinstance(part, ConfirError):
            raise part
    counts: TopicCounts | None = _merge(parts)
    if counts is None or not counts.topics:
        raise FormatError("the qrels are empty; expected one row per judgement", path="qrels_df")
    return counts


def _release(scored: Any) -> None:
    """Let Spark forget scores, unless it has stopped."""
    with suppress(Exception):
        scored.unpersist()


def _scored_rows(size: int, **columns: Any) -> Any:
    """Return a batch as _SCORED describes it; columns that are not given are empty."""
    import pyarrow as pa

    types = {
        "topic": pa.string(),
        "key": pa.int64(),
        "scores": pa.list_(pa.float64()),
        "known": pa.binary(),
    }
    if "known" in columns:
        columns["known"] = pa.array([columns["known"]], types["known"])
    arrays = [columns.get(name, pa.nulls(size, kind)) for name, kind in types.items()]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(types))


def _block(batch: Any) -> TopicBlock:
    """Return the scores in a batch."""
    keys = batch.column("key").to_numpy().view(np.uint64)
    values = batch.column("scores").flatten().to_numpy(zero_copy_only=False)
    return TopicBlock(keys, np.ascontiguousarray(values.reshape(len(keys), -1).T))


def _rows(frame: Any, kind: EntryKind, name: str) -> Any:
    """Return a frame of Spark with the columns label, topic, docid and value."""
    try:
        from pyspark.sql import functions
    except ImportError:
        raise MissingDependencyError("pyspark", "evaluating in Spark", "spark") from None
    if not hasattr(frame, "mapInArrow"):
        raise InvalidValueError(f"{name} is a {type(frame).__name__}; expected a frame of Spark")
    found = RowColumns.find(frame.columns, kind, name)
    types = dict(frame.dtypes)
    *ids, value = found.names
    for column, known, what in (*((one, _IDS, "ids") for one in ids), (value, _NUMBERS, "numbers")):
        if types[column].partition("(")[0] not in known:
            raise FormatError(f"column {column!r} is {types[column]}; expected {what}", path=name)
    text = [functions.col(f"`{column}`").cast("string") for column in ids]
    if found.label is None:
        text = [functions.lit("run" if kind is RUN else "0"), *text]
    return frame.select(*text, functions.col(f"`{value}`").cast("double")).toDF(*ROW_COLUMNS)


def _together(retrieved: Any, judged: Any) -> Any:
    """Return the rows of both, those of a topic one after the other in one partition."""
    from pyspark.sql import functions

    parts = [
        frame.withColumn("is_run", functions.lit(is_run))
        for frame, is_run in ((retrieved, True), (judged, False))
    ]
    return parts[0].unionAll(parts[1]).repartition("topic").sortWithinPartitions("topic")


def _whole_topics(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield tables of whole topics from batches in their order."""
    import pyarrow as pa

    waiting: list[Any] = []
    for batch in batches:
        if not batch.num_rows:
            continue
        waiting.append(batch)
        if sum(one.num_rows for one in waiting) < _ROWS_AT_ONCE:
            continue
        whole, rest = _split(pa.Table.from_batches(waiting))
        waiting = rest.to_batches()
        if whole.num_rows:
            yield whole
    if waiting:
        yield pa.Table.from_batches(waiting)


def _split(table: Any) -> tuple[Any, Any]:
    """Return the rows before those of the last topic, and these."""
    import pyarrow.compute as pc

    topics = table.column("topic")
    first = pc.index(topics, topics[-1]).as_py()
    return table.slice(0, first), table.slice(first)
