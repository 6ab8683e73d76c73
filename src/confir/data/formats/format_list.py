"""The file formats of runs and qrels: FORMATS is the one list.

A new format is a module beside this one, which declares a `Format`, and a line here.
"""

from __future__ import annotations

from confir.data.formats.datasets import IR_DATASET
from confir.data.formats.elasticsearch import RANK_EVAL, SEARCH_RESPONSES
from confir.data.formats.json_runs import JSON
from confir.data.formats.lm_eval import LM_EVAL_SAMPLES
from confir.data.formats.mteb import MTEB_PREDICTIONS, MTEB_RESULTS
from confir.data.formats.nuggetizer import NUGGET_ASSIGNMENTS, NUGGET_METRICS
from confir.data.formats.opensearch import EVALUATION_RESULTS, JUDGMENTS
from confir.data.formats.quepid import QUEPID_BOOK
from confir.data.formats.run_tables import PARQUET, RUN_TABLE
from confir.data.formats.sentence_transformers import PREDICTIONS
from confir.data.trec import TREC

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
