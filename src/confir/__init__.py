"""How far can an information-retrieval evaluation score be trusted?

Verbs, from files to answers::

    read_run, read_qrels, read_scores   what was retrieved, judged, scored
    evaluate                            runs and qrels -> Scores
    bootstrap_topics                    Scores -> SamplingDistribution
    confidence_interval                 Scores -> Interval
    rank_runs                           Scores -> Ranking
    compare_runs                        Scores -> Comparison
    plan_topics                         pilot Scores -> Plan

Nouns are frozen: Run, Qrels, Scores, Measure, SamplingDistribution, Interval, Ranking. Errors are
in `confir.errors`; MEASURES and METHODS list what there is to choose from.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from confir.data.qrels import Qrels
    from confir.data.run import Run
    from confir.data.score_files import read_scores, write_scores
    from confir.data.scores import Scores
    from confir.data.trec_files import read_qrels, read_run, write_qrels, write_run
    from confir.intervals.catalogue import METHODS, confidence_interval
    from confir.intervals.interval import Interval
    from confir.measures.catalogue import MEASURES, parse_measure
    from confir.measures.evaluation import evaluate
    from confir.measures.measure import Measure
    from confir.resampling.distribution import SamplingDistribution
    from confir.resampling.topics import bootstrap_topics
    from confir.studies.comparison import Comparison, compare_runs
    from confir.studies.planning import Plan, plan_topics
    from confir.studies.ranking import Ranking, rank_runs

# Where each public name lives. Modules are imported when a name is first used: ``confir --help``
# should not wait for numpy.
_HOMES = {
    "MEASURES": "measures.catalogue",
    "METHODS": "intervals.catalogue",
    "Comparison": "studies.comparison",
    "Interval": "intervals.interval",
    "Measure": "measures.measure",
    "Plan": "studies.planning",
    "Qrels": "data.qrels",
    "Ranking": "studies.ranking",
    "Run": "data.run",
    "SamplingDistribution": "resampling.distribution",
    "Scores": "data.scores",
    "bootstrap_topics": "resampling.topics",
    "compare_runs": "studies.comparison",
    "confidence_interval": "intervals.catalogue",
    "evaluate": "measures.evaluation",
    "parse_measure": "measures.catalogue",
    "plan_topics": "studies.planning",
    "rank_runs": "studies.ranking",
    "read_qrels": "data.trec_files",
    "read_run": "data.trec_files",
    "read_scores": "data.score_files",
    "write_qrels": "data.trec_files",
    "write_run": "data.trec_files",
    "write_scores": "data.score_files",
}

__all__ = [
    "MEASURES",
    "METHODS",
    "Comparison",
    "Interval",
    "Measure",
    "Plan",
    "Qrels",
    "Ranking",
    "Run",
    "SamplingDistribution",
    "Scores",
    "bootstrap_topics",
    "compare_runs",
    "confidence_interval",
    "evaluate",
    "parse_measure",
    "plan_topics",
    "rank_runs",
    "read_qrels",
    "read_run",
    "read_scores",
    "write_qrels",
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
