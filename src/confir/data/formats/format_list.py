"""The file formats of runs and qrels: FORMATS is the one list.

A new format is a module beside this one, and a line here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from confir.data.formats import (
    datasets,
    elasticsearch,
    lm_eval,
    mteb,
    nuggetizer,
    opensearch,
    quepid,
    sentence_transformers,
)
from confir.data.formats import run_tables as tables
from confir.data.formats.json_files import (
    dump_json_qrels,
    dump_json_run,
    has_json_ending,
    is_json,
    read_json_qrels,
    read_json_run,
)
from confir.data.formats.run_sources import NameBy, RunSource
from confir.data.formats.trec_files import (
    read_trec_qrels,
    read_trec_run,
    write_trec_qrels,
    write_trec_run,
)
from confir.data.qrels import Intents, Qrels
from confir.data.run import Run
from confir.data.tables.input_table import InputTable
from confir.errors import InvalidValueError


def _not_written(_: Run | Qrels, path: str) -> None:
    raise InvalidValueError(f"{path}: this format is only read; expected another ending")


@dataclass(frozen=True, slots=True, eq=False)
class Format:
    """A file format for runs, qrels or scores: an entry of FORMATS.

    Attributes
    ----------
    name, shape
        What it is called, and what a file of it holds.
    recognises
        Whether a file holds it: of its path and its content, or the first block of it.
    named_by
        Whether a path asks for it, by its ending alone: where nothing is written yet. Files of
        several runs are recognised by their ending.
    read_runs, read_qrels
        Readers of a file's content, decompressed, and of its source: its path, the name that it
        was given, and which part of it is wanted; then of how to name runs, or of intent
        probabilities. None where it holds no such thing.
    write_run, write_qrels
        Writers: of a run or qrels, and a path.
    scanned
        Whether `confir.data.scanning` ranks its runs straight from the file, without reading them.
    read_scores
        Reader of scores per topic: of content and path, to a table. None for tables in general.
    beside
        Names of files that are read beside one of this format: no output may replace them.
    """

    name: str
    shape: str
    recognises: Callable[[str, bytes], bool]
    named_by: Callable[[str], bool] = lambda _: False
    read_runs: Callable[[bytes, RunSource, NameBy], Sequence[Run]] | None = None
    read_qrels: Callable[[bytes, RunSource, Intents | None], Qrels] | None = None
    write_run: Callable[[Run, str], None] = _not_written
    write_qrels: Callable[[Qrels, str], None] = _not_written
    scanned: bool = False
    read_scores: Callable[[bytes, str], InputTable] | None = None
    beside: tuple[str, ...] = ()


# The first that fits is taken; TREC fits everything, and says what is wrong with it.
FORMATS = (
    Format(
        "ir_datasets",
        datasets.DATASET_SHAPE,
        datasets.is_dataset,
        read_qrels=datasets.read_dataset_qrels,
    ),
    Format(
        "Parquet",
        tables.PARQUET_SHAPE,
        tables.is_parquet_content,
        tables.has_parquet_ending,
        tables.read_table_runs,
        tables.read_table_qrels,
        tables.write_parquet_run,
        tables.write_parquet_qrels,
    ),
    Format(
        "MTEB predictions",
        mteb.PREDICTIONS,
        mteb.is_mteb_predictions,
        read_runs=mteb.read_mteb_predictions,
    ),
    Format(
        "MTEB results",
        mteb.RESULTS,
        mteb.is_mteb_results,
        read_scores=mteb.read_mteb_results,
        beside=(mteb.MODEL_FILE,),
    ),
    Format(
        "sentence-transformers predictions",
        sentence_transformers.PREDICTION_LINES,
        sentence_transformers.is_predictions,
        read_runs=sentence_transformers.read_predictions,
    ),
    Format(
        "OpenSearch evaluation results",
        opensearch.EVALUATION_RESULT,
        opensearch.is_evaluation_result,
        read_runs=opensearch.read_evaluation_runs,
        read_scores=opensearch.read_evaluation_scores,
    ),
    Format(
        "OpenSearch judgment",
        opensearch.JUDGMENT,
        opensearch.is_judgment,
        read_qrels=opensearch.read_judgment,
    ),
    Format(
        "Elasticsearch _rank_eval",
        elasticsearch.RANK_EVAL,
        elasticsearch.is_rank_eval,
        read_runs=elasticsearch.read_rank_eval_run,
        read_qrels=elasticsearch.read_rank_eval_qrels,
        read_scores=elasticsearch.read_rank_eval_scores,
    ),
    Format(
        "Elasticsearch search responses",
        elasticsearch.SEARCH_RESPONSES,
        elasticsearch.is_search_responses,
        read_runs=elasticsearch.read_search_responses,
    ),
    Format("Quepid book", quepid.BOOK, quepid.is_book, read_qrels=quepid.read_book),
    Format(
        "lm-eval samples",
        lm_eval.SAMPLE_LINES,
        lm_eval.is_samples,
        read_scores=lm_eval.read_samples,
    ),
    Format(
        "nuggetizer assignments",
        nuggetizer.ASSIGNMENTS,
        nuggetizer.is_assignments,
        read_scores=nuggetizer.read_assignments,
    ),
    Format(
        "nuggetizer metrics",
        nuggetizer.METRICS,
        nuggetizer.is_metrics,
        read_scores=nuggetizer.read_metrics,
    ),
    Format(
        "table",
        tables.TEXT_SHAPE,
        tables.is_run_table,
        read_runs=tables.read_table_runs,
        read_qrels=tables.read_table_qrels,
    ),
    Format(
        "JSON",
        "{topic: {docid: score or gain}}",
        is_json,
        has_json_ending,
        read_json_run,
        read_json_qrels,
        dump_json_run,
        dump_json_qrels,
    ),
    Format(
        "TREC",
        "lines of topic, Q0, docid, rank, score, tag; or of topic, subtopic, docid, gain",
        lambda _, __: True,
        lambda _: True,
        read_trec_run,
        read_trec_qrels,
        write_trec_run,
        write_trec_qrels,
        scanned=True,
    ),
)


def recognise(path: str, content: bytes) -> Format:
    """Return the format of a file with some content, of which the first block will do."""
    return next(one for one in FORMATS if one.recognises(path, content))


def format_named_by(path: str) -> Format:
    """Return the format that the ending of a path stands for, whatever the file may hold."""
    return next(one for one in FORMATS if one.named_by(path))


def files_beside(path: str) -> list[str]:
    """Return the files beside one that reading it may read as well, whatever it holds."""
    return [os.path.join(os.path.dirname(path), name) for one in FORMATS for name in one.beside]
