"""How far can an information-retrieval evaluation score be trusted?

Verbs, from files to answers::

    Experiment                          qrels, runs, and the rules for reading them, read once
    read_run, read_qrels, read_scores   what was retrieved, judged, scored
    as_run, as_qrels, as_scores         dicts, frames, other libraries' objects -> Run, Qrels, Scores
    sample_collection                   a built-in collection to try confir on
    inspect_data                        Experiment -> DataQuality
    evaluate                            Experiment -> Scores
    simulate_scores                     Scores -> Scores on new topics, true means known
    bootstrap_topics                    Scores -> SamplingDistribution
    bootstrap_documents                 Experiment -> SamplingDistribution
    resample_documents                  Experiment -> DocumentReplicates
    summarise_means, summarise_topics   DocumentReplicates -> intervals over collections
    compare_on_collection               DocumentReplicates -> CollectionDifferences
    decompose_variance                  DocumentReplicates -> CollectionVariance
    collection_effects                  DocumentReplicates -> effects of topics, to be pooled
    validate_split_half                 Experiment -> SplitHalf
    confidence_interval                 Scores -> Interval
    rank_runs                           Scores -> Ranking
    compare_runs                        Scores -> Comparison
    judge_gate                          Comparison -> Gate: may the runs be released?
    plan_topics                         pilot Scores -> Plan
    estimate_coverage                   Scores -> Coverage of their intervals
    estimate_type_one_error             Scores -> TypeOneError of intervals from few topics
    read_effects, pool_effects          effects of topics or collections -> PooledEffect
    expected_random_ap                  N documents, R relevant -> expected AP of chance
    compare_with_chance                 Experiment -> Chance
    decompose_error                     Scores -> BiasVariance
    describe_topics                     Scores -> TopicDifficulty
    chart, save_chart                   a result -> altair chart -> SVG, PDF or PNG
    write_report                        Experiment or Scores -> one HTML page

Verbs of an Experiment take qrels and runs in its place; verbs of Scores take an Experiment too.
Nouns are frozen: Experiment, Run, Qrels, Scores, Measure, SamplingDistribution, Interval, Ranking.
Errors are in `confir.errors`; MEASURES and METHODS list what there is to choose from.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in typing, which takes a while to import: Ctrl-C must not come before us
if TYPE_CHECKING:
    from typing import Any

    from confir.data.experiment import Experiment, ReadingRules
    from confir.data.formats.frames import qrels_to_frame, run_to_frame
    from confir.data.formats.objects import as_qrels, as_run
    from confir.data.formats.run_readers import read_qrels, read_run
    from confir.data.formats.run_writers import (
        write_json_qrels,
        write_json_run,
        write_qrels,
        write_run,
    )
    from confir.data.qrels import Qrels
    from confir.data.run import Run
    from confir.data.scores import Scores
    from confir.data.simulation import sample_collection
    from confir.data.tables.effect_files import read_effects
    from confir.data.tables.score_files import read_scores, write_scores
    from confir.intervals.catalogue import METHODS, confidence_interval
    from confir.intervals.interval import Interval
    from confir.intervals.method import Method
    from confir.measures.catalogue import MEASURES, parse_measure
    from confir.measures.chance import expected_random_ap, expected_random_score
    from confir.measures.evaluation import as_scores, evaluate
    from confir.measures.measure import Measure
    from confir.report.charts import chart, save_chart
    from confir.report.page import write_report
    from confir.resampling.distribution import SamplingDistribution
    from confir.resampling.document_replicates import DocumentReplicates
    from confir.resampling.documents import bootstrap_documents, resample_documents
    from confir.resampling.topics import bootstrap_topics
    from confir.studies import Study
    from confir.studies.bias_variance.bias_variance import BiasVariance, decompose_error
    from confir.studies.chance.chance import Chance, compare_with_chance, describe_chance
    from confir.studies.collection.collection import (
        CollectionMeans,
        CollectionTopics,
        summarise_means,
        summarise_topics,
    )
    from confir.studies.collection.differences import (
        CollectionDifferences,
        CollectionVariance,
        compare_on_collection,
        decompose_variance,
    )
    from confir.studies.comparison.comparison import Comparison, compare_runs
    from confir.studies.comparison.gate import judge_gate
    from confir.studies.coverage.coverage import Coverage, estimate_coverage
    from confir.studies.coverage.type_one_error import TypeOneError, estimate_type_one_error
    from confir.studies.data_quality.data_quality import DataQuality, inspect_data
    from confir.studies.meta_analysis.meta_analysis import PooledEffect, pool_effects
    from confir.studies.meta_analysis.topic_effects import collection_effects
    from confir.studies.planning.planning import Plan, plan_topics
    from confir.studies.ranks.ranking import Ranking, rank_runs
    from confir.studies.simulation.score_simulation import (
        ScorePopulation,
        fit_population,
        simulate_scores,
    )
    from confir.studies.split_half.split_half import SplitHalf, validate_split_half
    from confir.studies.topic_difficulty.topic_difficulty import TopicDifficulty, describe_topics

# Where each public name lives. Modules are imported when a name is first used: ``confir --help``
# should not wait for numpy.
_HOMES = {
    "MEASURES": "confir.measures.catalogue",
    "METHODS": "confir.intervals.catalogue",
    "DocumentReplicates": "confir.resampling.document_replicates",
    "Experiment": "confir.data.experiment",
    "Interval": "confir.intervals.interval",
    "Measure": "confir.measures.measure",
    "Method": "confir.intervals.method",
    "Qrels": "confir.data.qrels",
    "ReadingRules": "confir.data.experiment",
    "Run": "confir.data.run",
    "SamplingDistribution": "confir.resampling.distribution",
    "Scores": "confir.data.scores",
    "Study": "confir.studies",
    "as_qrels": "confir.data.formats.objects",
    "as_run": "confir.data.formats.objects",
    "as_scores": "confir.measures.evaluation",
    "bootstrap_documents": "confir.resampling.documents",
    "bootstrap_topics": "confir.resampling.topics",
    "chart": "confir.report.charts",
    "parse_measure": "confir.measures.catalogue",
    "qrels_to_frame": "confir.data.formats.frames",
    "read_effects": "confir.data.tables.effect_files",
    "read_qrels": "confir.data.formats.run_readers",
    "read_run": "confir.data.formats.run_readers",
    "read_scores": "confir.data.tables.score_files",
    "resample_documents": "confir.resampling.documents",
    "run_to_frame": "confir.data.formats.frames",
    "sample_collection": "confir.data.simulation",
    "save_chart": "confir.report.charts",
    "write_json_qrels": "confir.data.formats.run_writers",
    "write_json_run": "confir.data.formats.run_writers",
    "write_qrels": "confir.data.formats.run_writers",
    "write_report": "confir.report.page",
    "write_run": "confir.data.formats.run_writers",
    "write_scores": "confir.data.tables.score_files",
}

__all__ = [
    "MEASURES",
    "METHODS",
    "BiasVariance",
    "Chance",
    "CollectionDifferences",
    "CollectionMeans",
    "CollectionTopics",
    "CollectionVariance",
    "Comparison",
    "Coverage",
    "DataQuality",
    "DocumentReplicates",
    "Experiment",
    "Interval",
    "Measure",
    "Method",
    "Plan",
    "PooledEffect",
    "Qrels",
    "Ranking",
    "ReadingRules",
    "Run",
    "SamplingDistribution",
    "ScorePopulation",
    "Scores",
    "SplitHalf",
    "Study",
    "TopicDifficulty",
    "TypeOneError",
    "as_qrels",
    "as_run",
    "as_scores",
    "bootstrap_documents",
    "bootstrap_topics",
    "chart",
    "collection_effects",
    "compare_on_collection",
    "compare_runs",
    "compare_with_chance",
    "confidence_interval",
    "decompose_error",
    "decompose_variance",
    "describe_chance",
    "describe_topics",
    "estimate_coverage",
    "estimate_type_one_error",
    "evaluate",
    "expected_random_ap",
    "expected_random_score",
    "fit_population",
    "inspect_data",
    "judge_gate",
    "parse_measure",
    "plan_topics",
    "pool_effects",
    "qrels_to_frame",
    "rank_runs",
    "read_effects",
    "read_qrels",
    "read_run",
    "read_scores",
    "resample_documents",
    "run_to_frame",
    "sample_collection",
    "save_chart",
    "simulate_scores",
    "summarise_means",
    "summarise_topics",
    "validate_split_half",
    "write_json_qrels",
    "write_json_run",
    "write_qrels",
    "write_report",
    "write_run",
    "write_scores",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'confir' has no attribute {name!r}")
    value = getattr(import_module(_HOMES.get(name) or _home_in_studies(name)), name)
    globals()[name] = value
    return value


def _home_in_studies(name: str) -> str:
    from confir.studies import STUDIES

    return next(study.module(study.names[name]) for study in STUDIES if name in study.names)


def __dir__() -> list[str]:
    return __all__
