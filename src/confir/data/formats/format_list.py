"""The file formats of runs and qrels: FORMATS is the one list.

A new format is a module beside this one, which declares a `Format`, and a line here.
"""

from __future__ import annotations

import os

from confir.data.files import format_ending
from confir.data.formats.datasets import IR_DATASET
from confir.data.formats.elasticsearch import RANK_EVAL, SEARCH_RESPONSES
from confir.data.formats.format import Format
from confir.data.formats.json_runs import JSON
from confir.data.formats.lm_eval import LM_EVAL_SAMPLES
from confir.data.formats.mteb import MTEB_PREDICTIONS, MTEB_RESULTS
from confir.data.formats.nuggetizer import NUGGET_ASSIGNMENTS, NUGGET_METRICS
from confir.data.formats.opensearch import EVALUATION_RESULTS, JUDGMENTS
from confir.data.formats.quepid import QUEPID_BOOK
from confir.data.formats.run_tables import PARQUET, RUN_TABLE
from confir.data.formats.sentence_transformers import PREDICTIONS
from confir.data.formats.trec_files import TREC

# The first that fits is taken. Lines of TREC are found by their look, before others are tried.
FORMATS = (
    IR_DATASET,
    PARQUET,
    TREC,
    MTEB_PREDICTIONS,
    MTEB_RESULTS,
    PREDICTIONS,
    EVALUATION_RESULTS,
    JUDGMENTS,
    RANK_EVAL,
    SEARCH_RESPONSES,
    QUEPID_BOOK,
    LM_EVAL_SAMPLES,
    NUGGET_ASSIGNMENTS,
    NUGGET_METRICS,
    RUN_TABLE,
    JSON,
)


def recognise(path: str, content: bytes) -> Format:
    """Return the format of a file with some content, of which the first block will do.

    What fits none is read as TREC, whose reader says what is wrong with it.
    """
    return next((one for one in FORMATS if one.fits(path, content)), TREC)


def format_named_by(path: str) -> Format:
    """Return the format that the ending of a path stands for, whatever the file may hold."""
    ending = format_ending(path)
    return next((one for one in FORMATS if ending in one.endings), TREC)


def files_beside(path: str) -> list[str]:
    """Return the files beside one that reading it may read as well, whatever it holds."""
    return [os.path.join(os.path.dirname(path), name) for one in FORMATS for name in one.beside]
