"""How far can an information-retrieval evaluation score be trusted?

Verbs, from files to answers::

    read_run, read_qrels, read_scores   what was retrieved, judged, scored
    as_run, as_qrels, as_scores         dicts, frames, other libraries' objects -> Run, Qrels, Scores
    inspect_data                        runs and qrels -> DataQuality
    evaluate                            runs and qrels -> Scores
    simulate_scores                     Scores -> Scores on new topics, true means known
    bootstrap_topics                    Scores -> SamplingDistribution
    bootstrap_documents                 runs and qrels -> SamplingDistribution
    resample_documents                  runs and qrels -> DocumentReplicates
    summarise_means, summarise_topics   DocumentReplicates -> intervals over collections
    compare_on_collection               DocumentReplicates -> CollectionDifferences
    decompose_variance                  DocumentReplicates -> CollectionVariance
    collection_effects                  DocumentReplicates -> effects of topics, to be pooled
    validate_split_half                 runs and qrels -> SplitHalf
    confidence_interval                 Scores -> Interval
    rank_runs                           Scores -> Ranking
    compare_runs                        Scores -> Comparison
    plan_topics                         pilot Scores -> Plan
    estimate_coverage                   Scores -> Coverage of their intervals
    estimate_type_one_error             Scores -> TypeOneError of intervals from few topics
    pool_effects                        effects of topics or collections -> PooledEffect
    expected_random_ap                  N documents, R relevant -> expected AP of chance
    compare_with_chance                 Qrels and Scores -> Chance
    decompose_error                     Scores -> BiasVariance
    describe_topics                     Scores -> TopicDifficulty
    write_report                        Scores, with or without runs and qrels -> one HTML page

Nouns are frozen: Run, Qrels, Scores, Measure, SamplingDistribution, Interval, Ranking. Errors are
in `confir.errors`; MEASURES and METHODS list what there is to choose from.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in typing, which takes a while to import: Ctrl-C must not come before us
if TYPE_CHECKING:
    from typing import Any

    from confir.data.frames import qrels_to_frame, run_to_frame
    from confir.data.neighbours import as_qrels, as_run
    from confir.data.qrels import Qrels
    from confir.data.rules import ReadingRules
    from confir.data.run import Run
    from confir.data.run_readers import read_qrels, read_run
    from confir.data.run_writers import (
        write_json_qrels,
        write_json_run,
        write_qrels,
        write_run,
    )
    from confir.data.score_files import read_scores, write_scores
    from confir.data.score_objects import as_scores
    from confir.data.score_simulation import ScorePopulation, fit_population, simulate_scores
    from confir.data.scores import Scores
    from confir.intervals.catalogue import METHODS, confidence_interval
    from confir.intervals.interval import Interval
    from confir.measures.catalogue import MEASURES, parse_measure
    from confir.measures.chance import expected_random_ap, expected_random_score
    from confir.measures.evaluation import evaluate
    from confir.measures.measure import Measure
    from confir.report.page import write_report
    from confir.resampling.distribution import SamplingDistribution
    from confir.resampling.document_replicates import DocumentReplicates
    from confir.resampling.documents import bootstrap_documents, resample_documents
    from confir.resampling.topics import bootstrap_topics
    from confir.studies.bias_variance import BiasVariance, decompose_error
    from confir.studies.collection import (
        CollectionMeans,
        CollectionTopics,
        summarise_means,
        summarise_topics,
    )
    from confir.studies.collection_differences import (
        CollectionDifferences,
        CollectionVariance,
        compare_on_collection,
        decompose_variance,
    )
    from confir.studies.comparison import Comparison, compare_runs
    from confir.studies.coverage import Coverage, estimate_coverage
    from confir.studies.data_quality import DataQuality, inspect_data
    from confir.studies.meta_analysis import PooledEffect, pool_effects
    from confir.studies.planning import Plan, plan_topics
    from confir.studies.random_baseline import Chance, compare_with_chance, describe_chance
    from confir.studies.ranking import Ranking, rank_runs
    from confir.studies.split_half import SplitHalf, validate_split_half
    from confir.studies.topic_difficulty import TopicDifficulty, describe_topics
    from confir.studies.topic_effects import collection_effects
    from confir.studies.type_one_error import TypeOneError, estimate_type_one_error

# Where each public name lives. Modules are imported when a name is first used: ``confir --help``
# should not wait for numpy.
_HOMES = {
    "MEASURES": "measures.catalogue",
    "METHODS": "intervals.catalogue",
    "BiasVariance": "studies.bias_variance",
    "Chance": "studies.random_baseline",
    "CollectionDifferences": "studies.collection_differences",
    "CollectionMeans": "studies.collection",
    "CollectionTopics": "studies.collection",
    "CollectionVariance": "studies.collection_differences",
    "Comparison": "studies.comparison",
    "Coverage": "studies.coverage",
    "DataQuality": "studies.data_quality",
    "DocumentReplicates": "resampling.document_replicates",
    "Interval": "intervals.interval",
    "Measure": "measures.measure",
    "Plan": "studies.planning",
    "PooledEffect": "studies.meta_analysis",
    "Qrels": "data.qrels",
    "Ranking": "studies.ranking",
    "ReadingRules": "data.rules",
    "Run": "data.run",
    "SamplingDistribution": "resampling.distribution",
    "ScorePopulation": "data.score_simulation",
    "Scores": "data.scores",
    "SplitHalf": "studies.split_half",
    "TopicDifficulty": "studies.topic_difficulty",
    "TypeOneError": "studies.type_one_error",
    "as_qrels": "data.neighbours",
    "as_run": "data.neighbours",
    "as_scores": "data.score_objects",
    "bootstrap_documents": "resampling.documents",
    "bootstrap_topics": "resampling.topics",
    "collection_effects": "studies.topic_effects",
    "compare_on_collection": "studies.collection_differences",
    "compare_runs": "studies.comparison",
    "compare_with_chance": "studies.random_baseline",
    "confidence_interval": "intervals.catalogue",
    "decompose_error": "studies.bias_variance",
    "decompose_variance": "studies.collection_differences",
    "describe_chance": "studies.random_baseline",
    "describe_topics": "studies.topic_difficulty",
    "estimate_coverage": "studies.coverage",
    "estimate_type_one_error": "studies.type_one_error",
    "evaluate": "measures.evaluation",
    "expected_random_ap": "measures.chance",
    "expected_random_score": "measures.chance",
    "fit_population": "data.score_simulation",
    "inspect_data": "studies.data_quality",
    "parse_measure": "measures.catalogue",
    "plan_topics": "studies.planning",
    "pool_effects": "studies.meta_analysis",
    "qrels_to_frame": "data.frames",
    "rank_runs": "studies.ranking",
    "read_qrels": "data.run_readers",
    "read_run": "data.run_readers",
    "read_scores": "data.score_files",
    "resample_documents": "resampling.documents",
    "run_to_frame": "data.frames",
    "simulate_scores": "data.score_simulation",
    "summarise_means": "studies.collection",
    "summarise_topics": "studies.collection",
    "validate_split_half": "studies.split_half",
    "write_json_qrels": "data.run_writers",
    "write_json_run": "data.run_writers",
    "write_qrels": "data.run_writers",
    "write_report": "report.page",
    "write_run": "data.run_writers",
    "write_scores": "data.score_files",
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
    "Interval",
    "Measure",
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
    "TopicDifficulty",
    "TypeOneError",
    "as_qrels",
    "as_run",
    "as_scores",
    "bootstrap_documents",
    "bootstrap_topics",
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
    "parse_measure",
    "plan_topics",
    "pool_effects",
    "qrels_to_frame",
    "rank_runs",
    "read_qrels",
    "read_run",
    "read_scores",
    "resample_documents",
    "run_to_frame",
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
    if name not in _HOMES:
        raise AttributeError(f"module 'confir' has no attribute {name!r}")
    value = getattr(import_module(f"confir.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
