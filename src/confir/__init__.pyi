# The public names of confir: the one list of them, which `__init__.py` reads.

from confir import errors as errors
from confir import results as results
from confir import testing as testing
from confir.data.effect_files import read_effects as read_effects
from confir.data.experiment import Experiment as Experiment
from confir.data.formats.runs_and_qrels import as_qrels as as_qrels
from confir.data.formats.runs_and_qrels import as_run as as_run
from confir.data.formats.runs_and_qrels import read_qrels as read_qrels
from confir.data.formats.runs_and_qrels import read_run as read_run
from confir.data.formats.runs_and_qrels import write_qrels as write_qrels
from confir.data.formats.runs_and_qrels import write_run as write_run
from confir.data.qrels import Qrels as Qrels
from confir.data.run import Run as Run
from confir.data.sampling_designs.design import Design as Design
from confir.data.score_files import read_scores as read_scores
from confir.data.score_writers import write_scores as write_scores
from confir.data.scores import Scores as Scores
from confir.data.simulation import sample_collection as sample_collection
from confir.data.tables.published_files import read_published_means as read_published_means
from confir.data.votes import read_votes as read_votes
from confir.intervals.confidence_intervals import confidence_interval as confidence_interval
from confir.intervals.interval import Interval as Interval
from confir.intervals.method_list import METHODS as METHODS
from confir.measures.evaluation import evaluate as evaluate
from confir.measures.measure_list import MEASURES as MEASURES
from confir.measures.parsing import parse_measure as parse_measure
from confir.measures.partitioned_evaluation import summarise_runs as summarise_runs
from confir.measures.random_rankings import expected_random_ap as expected_random_ap
from confir.measures.random_rankings import expected_random_score as expected_random_score
from confir.measures.score_sources import as_scores as as_scores
from confir.measures.score_sources import summarise_scores as summarise_scores
from confir.measures.strengths import fit_strengths as fit_strengths
from confir.pairs.best_runs import find_best as find_best
from confir.pairs.compare import compare_runs as compare_runs
from confir.pairs.gate import judge_gate as judge_gate
from confir.pairs.ranking import rank_runs as rank_runs
from confir.report.chart_files import save_chart as save_chart
from confir.report.report_page import write_report as write_report
from confir.report.result_chart import chart as chart
from confir.resampling.document_bootstrap import bootstrap_documents as bootstrap_documents
from confir.resampling.document_bootstrap import resample_documents as resample_documents
from confir.resampling.topic_bootstrap import bootstrap_topics as bootstrap_topics
from confir.scheduler import use_scheduler as use_scheduler
from confir.studies.bias_variance.bias_variance import decompose_error as decompose_error
from confir.studies.chance.random_baseline import compare_with_chance as compare_with_chance
from confir.studies.chance.random_baseline import describe_chance as describe_chance
from confir.studies.collection.collection_differences import (
    compare_on_collection as compare_on_collection,
)
from confir.studies.collection.collection_means import decompose_variance as decompose_variance
from confir.studies.collection.collection_means import summarise_means as summarise_means
from confir.studies.collection.collection_topics import summarise_topics as summarise_topics
from confir.studies.components.components import decompose_scores as decompose_scores
from confir.studies.corrected_means.corrected_means import correct_judgements as correct_judgements
from confir.studies.coverage.coverage import estimate_coverage as estimate_coverage
from confir.studies.coverage.type_one_error import (
    estimate_type_one_error as estimate_type_one_error,
)
from confir.studies.data_quality.data_quality import inspect_data as inspect_data
from confir.studies.discrimination.discrimination import compare_measures as compare_measures
from confir.studies.history.history import read_history as read_history
from confir.studies.judgements.grade_agreement import measure_agreement as measure_agreement
from confir.studies.judgements.judgement_comparison import compare_judgements as compare_judgements
from confir.studies.leaderboard.board_making import make_leaderboard as make_leaderboard
from confir.studies.meta_analysis.meta_analysis import pool_effects as pool_effects
from confir.studies.meta_analysis.topic_effects import collection_effects as collection_effects
from confir.studies.nuggets.nugget_variance import (
    estimate_nugget_variance as estimate_nugget_variance,
)
from confir.studies.planning.human_documents import plan_human_documents as plan_human_documents
from confir.studies.planning.human_topics import plan_human_topics as plan_human_topics
from confir.studies.planning.planning import plan_topics as plan_topics
from confir.studies.preferences.preferences import rate_preferences as rate_preferences
from confir.studies.preferences.vote_plan import plan_votes as plan_votes
from confir.studies.repeats.repeat_means import summarise_repeats as summarise_repeats
from confir.studies.repeats.successes import score_successes as score_successes
from confir.studies.reproduction.reproduction import compare_reproduction as compare_reproduction
from confir.studies.reusability.reusability import estimate_reusability as estimate_reusability
from confir.studies.simulation.score_simulation import fit_population as fit_population
from confir.studies.simulation.score_simulation import simulate_scores as simulate_scores
from confir.studies.split_half.split_half import validate_split_half as validate_split_half
from confir.studies.targets.targets import judge_target as judge_target
from confir.studies.ties.tie_bounds import bound_ties as bound_ties
from confir.studies.topic_difficulty.topic_difficulty import describe_topics as describe_topics
from confir.studies.topic_groups.group_differences import compare_groups as compare_groups
from confir.studies.tradeoff.cost_comparison import compare_costs as compare_costs
from confir.studies.unjudged.unjudged_bounds import bound_unjudged as bound_unjudged
from confir.studies.unjudged.unjudged_differences import bound_differences as bound_differences
from confir.studies.unjudged.unjudged_estimates import estimate_unjudged as estimate_unjudged

__version__: str
__all__: list[str]  # noqa: PYI035 - made of this file
