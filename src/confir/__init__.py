"""How far can an information-retrieval evaluation score be trusted?

Functions, from files to results::

    Experiment                          qrels, runs, and the rules for reading them, read once
    Design                              dataset, stratum, cluster, weight of topics; Scores.with_design
    read_run, read_qrels, read_scores   what was retrieved, judged, scored
    as_run, as_qrels, as_scores         dicts, frames, other libraries' objects -> Run, Qrels, Scores
    sample_collection                   a built-in collection to try confir on
    inspect_data                        Experiment -> DataQuality
    evaluate                            Experiment -> Scores
    simulate_scores                     Scores -> Scores on new topics, with known true means
    summarise_scores                    Parquet of any length -> ScoreSummary, in place of Scores
    summarise_runs                      qrels, runs in Parquet datasets -> ScoreSummary
    bootstrap_topics                    Scores -> SamplingDistribution
    bootstrap_documents                 Experiment -> SamplingDistribution
    resample_documents                  Experiment -> DocumentReplicates
    summarise_means, summarise_topics   DocumentReplicates -> intervals over collections
    compare_on_collection               DocumentReplicates -> CollectionDifferences
    decompose_variance                  DocumentReplicates -> CollectionVariance
    collection_effects                  DocumentReplicates -> effects of topics, for pooling
    validate_split_half                 Experiment -> SplitHalf
    confidence_interval                 Scores -> Interval
    compare_measures                    Scores -> Discrimination: which measure separates runs best?
    summarise_repeats                   Scores of repeated runs -> RepeatMeans
    score_successes                     Scores of repeated runs -> Scores
    estimate_nugget_variance            assignments of nuggets -> NuggetVariance
    decompose_scores                    Scores -> Components of variance, and reliability
    make_leaderboard                    Scores of many datasets -> Leaderboard
    read_votes                          votes between two systems each, in a file or an object -> Votes
    rate_preferences                    Votes -> Preferences: Bradley-Terry strengths, ranks, best set
    fit_strengths                       Votes -> Strengths, which find_best and compare_runs take
    plan_votes, share_sequence          Votes -> VotePlan; of two systems, limits for every look
    find_best                           Scores -> BestRuns: which may be the best?
    rank_runs                           Scores -> Ranking
    compare_runs                        Scores -> Comparison
    compare_groups                      Scores, groups of topics -> GroupComparison
    compare_costs                       Scores, costs of runs -> CostComparison
    judge_gate                          Comparison -> Gate: may the runs be released?
    compare_reproduction                a run and its reproductions -> Reproduction
    read_history                        file of a gate's looks -> GateHistory
    plan_topics                         pilot Scores -> Plan
    plan_human_topics                   pilot JudgedScores -> HumanPlan
    plan_human_documents                pilot SampledScores -> DocumentPlan
    estimate_coverage                   Scores -> Coverage of their intervals
    estimate_type_one_error             Scores -> TypeOneError of intervals from few topics
    read_effects, pool_effects          effects of topics or collections -> PooledEffect
    expected_random_ap                  N documents, R relevant -> expected AP of a random ranking
    compare_with_chance                 Experiment -> Chance
    decompose_error                     Scores -> BiasVariance
    describe_topics                     Scores -> TopicDifficulty
    compare_judgements                  qrels of several judges, runs -> JudgementComparison
    correct_judgements                  qrels of a model and of people, runs -> CorrectedMeans
    estimate_reusability                Experiment, teams -> Reusability of the pool
    measure_agreement                   qrels of several judges -> GradeAgreement
    use_scheduler                       with use_scheduler("local:4"): work on a Dask cluster
    chart, save_chart                   a result -> altair chart -> SVG, PDF or PNG
    write_report                        Experiment or Scores -> one HTML page

Functions of an Experiment also take qrels and runs; functions of Scores also take an Experiment.
Objects are immutable: Experiment, Run, Qrels, Scores, Measure, SamplingDistribution, Interval, Ranking.
Errors are in `confir.errors`; MEASURES and METHODS list measures and interval methods.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in typing, whose import is slow: Ctrl-C must not come before us
if TYPE_CHECKING:
    from typing import Any

    __version__: str

    from confir.data.experiment import Experiment
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
    from confir.data.reading_rules import ReadingRules
    from confir.data.run import Run
    from confir.data.sampling.design import Design
    from confir.data.sampling.judged_scores import JudgedScores, SampledScores
    from confir.data.scores import Scores
    from confir.data.simulation import sample_collection
    from confir.data.tables.effect_files import read_effects
    from confir.data.tables.score_files import read_scores
    from confir.data.tables.score_writers import write_scores
    from confir.data.votes import Votes, read_votes
    from confir.intervals.catalogue import METHODS, confidence_interval
    from confir.intervals.interval import Interval
    from confir.intervals.method import Method
    from confir.measures.catalogue import MEASURES, parse_measure
    from confir.measures.chance import expected_random_ap, expected_random_score
    from confir.measures.evaluation import as_scores, evaluate
    from confir.measures.measure import Measure
    from confir.measures.partitioned_evaluation import summarise_runs
    from confir.measures.score_summary import ScoreSummary, summarise_scores
    from confir.measures.strengths import fit_strengths
    from confir.report.charts import chart, save_chart
    from confir.report.page import write_report
    from confir.resampling.distribution import SamplingDistribution
    from confir.resampling.document_replicates import DocumentReplicates
    from confir.resampling.documents import bootstrap_documents, resample_documents
    from confir.resampling.kinds import bootstrap_topics
    from confir.scheduler import use_scheduler
    from confir.studies import Study
    from confir.studies.best.best_runs import BestRuns, find_best
    from confir.studies.bias_variance.bias_variance import BiasVariance, decompose_error
    from confir.studies.chance.chance import Chance
    from confir.studies.chance.random_baseline import compare_with_chance, describe_chance
    from confir.studies.collection.differences import CollectionDifferences, compare_on_collection
    from confir.studies.collection.means import CollectionMeans, summarise_means
    from confir.studies.collection.topics import CollectionTopics, summarise_topics
    from confir.studies.collection.variance import CollectionVariance, decompose_variance
    from confir.studies.comparison.compare import compare_runs
    from confir.studies.comparison.comparison import Comparison
    from confir.studies.comparison.gate import judge_gate
    from confir.studies.components.components import Components, decompose_scores
    from confir.studies.corrected_means.corrected_means import (
        CorrectedMeans,
        correct_judgements,
    )
    from confir.studies.coverage.coverage import Coverage, estimate_coverage
    from confir.studies.coverage.type_one_error import TypeOneError, estimate_type_one_error
    from confir.studies.data_quality.data_quality import DataQuality, inspect_data
    from confir.studies.discrimination.discrimination import Discrimination, compare_measures
    from confir.studies.history.history import GateHistory, read_history
    from confir.studies.judgements.grade_agreement import GradeAgreement, measure_agreement
    from confir.studies.judgements.judgement_comparison import (
        JudgementComparison,
        compare_judgements,
    )
    from confir.studies.leaderboard.leaderboard import Leaderboard, make_leaderboard
    from confir.studies.meta_analysis.meta_analysis import PooledEffect, pool_effects
    from confir.studies.meta_analysis.topic_effects import collection_effects
    from confir.studies.nuggets.nugget_variance import NuggetVariance, estimate_nugget_variance
    from confir.studies.planning.human_documents import DocumentPlan, plan_human_documents
    from confir.studies.planning.human_topics import HumanPlan, plan_human_topics
    from confir.studies.planning.planning import Plan, plan_topics
    from confir.studies.preferences.early_looks import share_sequence
    from confir.studies.preferences.preferences import Preferences, rate_preferences
    from confir.studies.preferences.vote_plan import plan_votes
    from confir.studies.ranks.ranking import Ranking, rank_runs
    from confir.studies.repeats.repeat_means import RepeatMeans, summarise_repeats
    from confir.studies.repeats.successes import score_successes
    from confir.studies.reproduction.reproduction import Reproduction, compare_reproduction
    from confir.studies.reusability.reusability import Reusability, estimate_reusability
    from confir.studies.simulation.score_simulation import (
        ScorePopulation,
        fit_population,
        simulate_scores,
    )
    from confir.studies.split_half.split_half import SplitHalf, validate_split_half
    from confir.studies.ties.ties import TieBounds, bound_ties
    from confir.studies.topic_difficulty.topic_difficulty import TopicDifficulty, describe_topics
    from confir.studies.topic_groups.group_differences import GroupComparison, compare_groups
    from confir.studies.tradeoff.cost_comparison import CostComparison, compare_costs
    from confir.studies.unjudged.bounds import UnjudgedBounds, bound_unjudged
    from confir.studies.unjudged.differences import UnjudgedDifferences, bound_differences
    from confir.studies.unjudged.estimates import UnjudgedEstimate, estimate_unjudged

# The module of each public name, imported on first use: ``confir --help`` should not wait for numpy.
_HOMES = {
    "MEASURES": "confir.measures.catalogue",
    "METHODS": "confir.intervals.catalogue",
    "DocumentReplicates": "confir.resampling.document_replicates",
    "Design": "confir.data.sampling.design",
    "Experiment": "confir.data.experiment",
    "Interval": "confir.intervals.interval",
    "JudgedScores": "confir.data.sampling.judged_scores",
    "Measure": "confir.measures.measure",
    "Method": "confir.intervals.method",
    "Qrels": "confir.data.qrels",
    "ReadingRules": "confir.data.reading_rules",
    "Run": "confir.data.run",
    "SampledScores": "confir.data.sampling.judged_scores",
    "SamplingDistribution": "confir.resampling.distribution",
    "ScoreSummary": "confir.measures.score_summary",
    "Scores": "confir.data.scores",
    "Study": "confir.studies",
    "Votes": "confir.data.votes",
    "as_qrels": "confir.data.formats.objects",
    "as_run": "confir.data.formats.objects",
    "as_scores": "confir.measures.evaluation",
    "bootstrap_documents": "confir.resampling.documents",
    "bootstrap_topics": "confir.resampling.kinds",
    "chart": "confir.report.charts",
    "parse_measure": "confir.measures.catalogue",
    "qrels_to_frame": "confir.data.formats.frames",
    "read_effects": "confir.data.tables.effect_files",
    "read_qrels": "confir.data.formats.run_readers",
    "read_run": "confir.data.formats.run_readers",
    "read_scores": "confir.data.tables.score_files",
    "read_votes": "confir.data.votes",
    "resample_documents": "confir.resampling.documents",
    "run_to_frame": "confir.data.formats.frames",
    "sample_collection": "confir.data.simulation",
    "save_chart": "confir.report.charts",
    "summarise_runs": "confir.measures.partitioned_evaluation",
    "summarise_scores": "confir.measures.score_summary",
    "use_scheduler": "confir.scheduler",
    "write_json_qrels": "confir.data.formats.run_writers",
    "write_json_run": "confir.data.formats.run_writers",
    "write_qrels": "confir.data.formats.run_writers",
    "write_report": "confir.report.page",
    "write_run": "confir.data.formats.run_writers",
    "write_scores": "confir.data.tables.score_writers",
}

__all__ = [
    "MEASURES",
    "METHODS",
    "BestRuns",
    "BiasVariance",
    "Chance",
    "CollectionDifferences",
    "CollectionMeans",
    "CollectionTopics",
    "CollectionVariance",
    "Comparison",
    "Components",
    "CorrectedMeans",
    "CostComparison",
    "Coverage",
    "DataQuality",
    "Design",
    "Discrimination",
    "DocumentPlan",
    "DocumentReplicates",
    "Experiment",
    "GateHistory",
    "GradeAgreement",
    "GroupComparison",
    "HumanPlan",
    "Interval",
    "JudgedScores",
    "JudgementComparison",
    "Leaderboard",
    "Measure",
    "Method",
    "NuggetVariance",
    "Plan",
    "PooledEffect",
    "Preferences",
    "Qrels",
    "Ranking",
    "ReadingRules",
    "RepeatMeans",
    "Reproduction",
    "Reusability",
    "Run",
    "SampledScores",
    "SamplingDistribution",
    "ScorePopulation",
    "ScoreSummary",
    "Scores",
    "SplitHalf",
    "Study",
    "TieBounds",
    "TopicDifficulty",
    "TypeOneError",
    "UnjudgedBounds",
    "UnjudgedDifferences",
    "UnjudgedEstimate",
    "Votes",
    "as_qrels",
    "as_run",
    "as_scores",
    "bootstrap_documents",
    "bootstrap_topics",
    "bound_differences",
    "bound_ties",
    "bound_unjudged",
    "chart",
    "collection_effects",
    "compare_costs",
    "compare_groups",
    "compare_judgements",
    "compare_measures",
    "compare_on_collection",
    "compare_reproduction",
    "compare_runs",
    "compare_with_chance",
    "confidence_interval",
    "correct_judgements",
    "decompose_error",
    "decompose_scores",
    "decompose_variance",
    "describe_chance",
    "describe_topics",
    "estimate_coverage",
    "estimate_nugget_variance",
    "estimate_reusability",
    "estimate_type_one_error",
    "estimate_unjudged",
    "evaluate",
    "expected_random_ap",
    "expected_random_score",
    "find_best",
    "fit_population",
    "fit_strengths",
    "inspect_data",
    "judge_gate",
    "make_leaderboard",
    "measure_agreement",
    "parse_measure",
    "plan_human_documents",
    "plan_human_topics",
    "plan_topics",
    "plan_votes",
    "pool_effects",
    "qrels_to_frame",
    "rank_runs",
    "rate_preferences",
    "read_effects",
    "read_history",
    "read_qrels",
    "read_run",
    "read_scores",
    "read_votes",
    "resample_documents",
    "run_to_frame",
    "sample_collection",
    "save_chart",
    "score_successes",
    "share_sequence",
    "simulate_scores",
    "summarise_means",
    "summarise_repeats",
    "summarise_runs",
    "summarise_scores",
    "summarise_topics",
    "use_scheduler",
    "validate_split_half",
    "write_json_qrels",
    "write_json_run",
    "write_qrels",
    "write_report",
    "write_run",
    "write_scores",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("confir")
    if name not in __all__:
        raise AttributeError(f"module 'confir' has no attribute {name!r}")
    value = getattr(import_module(_HOMES.get(name) or _home_in_studies(name)), name)
    globals()[name] = value
    return value


def _home_in_studies(name: str) -> str:
    from confir.studies import STUDIES

    return next(study.module(study.names[name]) for study in STUDIES if name in study.names)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
