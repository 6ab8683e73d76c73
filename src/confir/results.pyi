# The classes that functions of confir return: the one list of them, which `results.py` reads.

from confir.data.reading_rules import ReadingRules as ReadingRules
from confir.data.sampling_designs.judged_scores import JudgedScores as JudgedScores
from confir.data.sampling_designs.sampled_document_scores import SampledScores as SampledScores
from confir.data.tables.published_files import PublishedMeans as PublishedMeans
from confir.data.votes import Votes as Votes
from confir.intervals.method import Method as Method
from confir.measures.measure import Measure as Measure
from confir.measures.score_summary import ScoreSummary as ScoreSummary
from confir.pairs.best_runs import BestRuns as BestRuns
from confir.pairs.comparison import Comparison as Comparison
from confir.pairs.gate import Gate as Gate
from confir.pairs.pair_results import TopicDifferences as TopicDifferences
from confir.pairs.ranking import Ranking as Ranking
from confir.pairs.run_groups import RunGroups as RunGroups
from confir.resampling.distribution import SamplingDistribution as SamplingDistribution
from confir.resampling.document_replicates import DocumentReplicates as DocumentReplicates
from confir.studies.bias_variance.bias_variance import BiasVariance as BiasVariance
from confir.studies.chance.chance import Chance as Chance
from confir.studies.collection.collection_differences import (
    CollectionDifferences as CollectionDifferences,
)
from confir.studies.collection.collection_means import CollectionMeans as CollectionMeans
from confir.studies.collection.collection_means import CollectionVariance as CollectionVariance
from confir.studies.collection.collection_topics import CollectionTopics as CollectionTopics
from confir.studies.components.components import Components as Components
from confir.studies.corrected_means.corrected_means import CorrectedMeans as CorrectedMeans
from confir.studies.coverage.coverage import Coverage as Coverage
from confir.studies.coverage.type_one_error import TypeOneError as TypeOneError
from confir.studies.data_quality.data_quality import DataQuality as DataQuality
from confir.studies.discrimination.discrimination import Discrimination as Discrimination
from confir.studies.gate.false_alarms import FalseAlarms as FalseAlarms
from confir.studies.history.history import GateHistory as GateHistory
from confir.studies.judgements.grade_agreement import GradeAgreement as GradeAgreement
from confir.studies.judgements.grade_agreement import GradeConfusion as GradeConfusion
from confir.studies.judgements.judge_effects import JudgedRuns as JudgedRuns
from confir.studies.judgements.judge_variance import JudgeVariance as JudgeVariance
from confir.studies.judgements.judgement_comparison import (
    JudgementComparison as JudgementComparison,
)
from confir.studies.judgements.label_agreement import LabelAgreement as LabelAgreement
from confir.studies.leaderboard.leaderboard import Leaderboard as Leaderboard
from confir.studies.meta_analysis.pooled_results import PooledEffect as PooledEffect
from confir.studies.meta_analysis.pooled_results import PooledModels as PooledModels
from confir.studies.nuggets.nugget_variance import NuggetVariance as NuggetVariance
from confir.studies.planning.human_documents import DocumentPlan as DocumentPlan
from confir.studies.planning.human_topics import HumanPlan as HumanPlan
from confir.studies.planning.planning import Plan as Plan
from confir.studies.planning.usual_goals import PlanOverview as PlanOverview
from confir.studies.preferences.early_looks import ShareSequence as ShareSequence
from confir.studies.preferences.preference_pairs import PreferencePairs as PreferencePairs
from confir.studies.preferences.preferences import PreferenceEffects as PreferenceEffects
from confir.studies.preferences.preferences import Preferences as Preferences
from confir.studies.preferences.vote_plan import VotePlan as VotePlan
from confir.studies.repeats.repeat_means import RepeatMeans as RepeatMeans
from confir.studies.reproduction.reproduction import Reproduction as Reproduction
from confir.studies.reusability.reusability import Reusability as Reusability
from confir.studies.simulation.score_simulation import ScorePopulation as ScorePopulation
from confir.studies.split_half.splits import SplitHalf as SplitHalf
from confir.studies.targets.targets import TargetVerdicts as TargetVerdicts
from confir.studies.ties.tie_bounds import TieBounds as TieBounds
from confir.studies.topic_difficulty.topic_difficulty import TopicDifficulty as TopicDifficulty
from confir.studies.topic_groups.group_differences import GroupComparison as GroupComparison
from confir.studies.tradeoff.cost_comparison import CostComparison as CostComparison
from confir.studies.unjudged.missing_bounds import MissingBounds as MissingBounds
from confir.studies.unjudged.missing_bounds import MissingDifferences as MissingDifferences
from confir.studies.unjudged.unjudged_bounds import UnjudgedBounds as UnjudgedBounds
from confir.studies.unjudged.unjudged_differences import UnjudgedDifferences as UnjudgedDifferences
from confir.studies.unjudged.unjudged_estimates import UnjudgedEstimate as UnjudgedEstimate

__all__: list[str]  # noqa: PYI035 - made of this file
