"""The file formats of runs, qrels, scores and votes: FORMATS is the one list.

A new format is a module beside this one, which declares a `Format`, and a line here.
"""

from __future__ import annotations

from confir.data.formats.benchmark_logs import (
    FASTEVAL,
    FASTEVAL_CODE,
    MT_BENCH,
    MT_BENCH_GRADES,
    OPENAI_EVALS,
    SWE_BENCH,
)
from confir.data.formats.datasets import IR_DATASET
from confir.data.formats.elasticsearch import RANK_EVAL, SEARCH_RESPONSES
from confir.data.formats.experiment_exports import (
    DEEPEVAL,
    JSON_TABLE,
    LANGFUSE,
    LANGSMITH,
    LANGSMITH_TABLE,
    LANGSMITH_UPLOAD,
    PHOENIX,
    PHOENIX_TABLE,
    TRULENS,
)
from confir.data.formats.inspect_logs import INSPECT_LOG
from confir.data.formats.json_runs import JSON
from confir.data.formats.lm_eval import EUROEVAL_RESULTS, LM_EVAL_RESULTS, LM_EVAL_SAMPLES
from confir.data.formats.mteb import MTEB_PREDICTIONS, MTEB_RESULTS
from confir.data.formats.nuggetizer import NUGGET_ASSIGNMENTS, NUGGET_METRICS
from confir.data.formats.opensearch import EVALUATION_RESULTS, JUDGMENTS
from confir.data.formats.pairwise_judgements import ALPACA_EVAL, MT_BENCH_PAIRS, PANDA_LM
from confir.data.formats.promptfoo import PROMPTFOO, PROMPTFOO_TABLE
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
    LM_EVAL_RESULTS,
    EUROEVAL_RESULTS,
    NUGGET_ASSIGNMENTS,
    NUGGET_METRICS,
    INSPECT_LOG,
    PROMPTFOO,
    PROMPTFOO_TABLE,
    DEEPEVAL,
    LANGSMITH,
    LANGSMITH_UPLOAD,
    LANGSMITH_TABLE,
    PHOENIX,
    PHOENIX_TABLE,
    LANGFUSE,
    TRULENS,
    JSON_TABLE,
    MT_BENCH,
    MT_BENCH_GRADES,
    MT_BENCH_PAIRS,
    ALPACA_EVAL,
    PANDA_LM,
    FASTEVAL,
    FASTEVAL_CODE,
    SWE_BENCH,
    OPENAI_EVALS,
    RUN_TABLE,
    JSON,
)
