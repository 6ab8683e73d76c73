"""Which questions does confir answer? STUDIES is the one list: a folder and an entry for each.

A study's folder holds its statistics, and beside them what shows them: ``table.py``, ``chart.py``,
``command.py`` and its part of the page. Command line, page, notebooks and documentation find
studies through this list alone. It imports nothing, so that ``confir --help`` is fast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

DAILY, STUDY = "Daily", "Studies"


class Shown(NamedTuple):
    """How a result is shown: names of functions in the study's table.py and chart.py."""

    table: str
    chart: str | None = None


@dataclass(frozen=True, slots=True)
class Study:
    """A question, and where its answer is computed and shown: an entry of STUDIES.

    Attributes
    ----------
    folder
        The package below ``confir.studies``.
    question
        What the study answers, in one sentence.
    source
        The paper or the documentation that it follows, and the page in ``docs``.
    names
        Public names of `confir`, and the modules of the folder that hold them; a name with a dot
        in front of its module lies in that module of confir.
    results
        Results as "module.Class", in the folder or in confir, and how each is shown.
    commands
        Its commands; the folder's command.py holds a function ``<name>_command`` for each.
    panel
        Where the help lists its commands.
    section
        Whether it has a part in the report; the folder's section.py then holds a SECTION.
    """

    folder: str
    question: str
    source: tuple[str, str]
    names: Mapping[str, str] = field(default_factory=dict)
    results: Mapping[str, Shown] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    panel: str = STUDY
    section: bool = False

    def module(self, name: str) -> str:
        """Return the full name of a module of the folder, or of confir where a dot leads."""
        home = "confir" if name.startswith(".") else f"confir.studies.{self.folder}"
        return f"{home}.{name.removeprefix('.')}"

    def load(self, module: str, name: str) -> Any:
        """Return a function of one of the folder's modules."""
        return getattr(import_module(self.module(module)), name)


STUDIES = (
    Study(
        "means",
        "How well do the runs do, and how far can a mean be trusted?",
        ("Park 2011, Soboroff 2014", "intervals.md"),
        names={"evaluate": ".measures.evaluation", "confidence_interval": ".intervals.catalogue"},
        results={
            ".data.scores.Scores": Shown("mean_table", "scores_chart"),
            ".intervals.interval.Interval": Shown("interval_table", "interval_chart"),
        },
        commands=("evaluate",),
        panel=DAILY,
        section=True,
    ),
    Study(
        "ranks",
        "How certain is the ranking of the runs?",
        ("ranks", "intervals.md#ranks"),
        names={"rank_runs": "ranking", "Ranking": "ranking"},
        results={"ranking.Ranking": Shown("ranking_table", "ranking_chart")},
        section=True,
    ),
    Study(
        "comparison",
        "Is run B better than run A?",
        ("comparisons and gates", "compare.md"),
        names={"compare_runs": "comparison", "Comparison": "comparison", "judge_gate": "gate"},
        results={
            "comparison.Comparison": Shown("comparison_table", "comparison_chart"),
            "run_groups.RunGroups": Shown("group_table", "group_chart"),
            "topic_differences.TopicDifferences": Shown("topic_difference_table", "topic_chart"),
        },
        commands=("compare",),
        panel=DAILY,
        section=True,
    ),
    Study(
        "planning",
        "How many topics are needed?",
        ("planning", "plan.md"),
        names={"plan_topics": "planning", "Plan": "planning"},
        results={"planning.Plan": Shown("plan_table", "plan_chart")},
        commands=("plan",),
        section=True,
    ),
    Study(
        "topic_difficulty",
        "Which topics are hard, and where does a run fail?",
        ("topics", "topics.md"),
        names={"describe_topics": "topic_difficulty", "TopicDifficulty": "topic_difficulty"},
        results={
            "topic_difficulty.TopicDifficulty": Shown("difficulty_table", "topic_score_chart")
        },
        commands=("topics",),
        section=True,
    ),
    Study(
        "collection",
        "Would the results be the same on another collection of documents?",
        ("Cormack & Lynam 2006", "collection.md"),
        names={
            "CollectionDifferences": "differences",
            "CollectionMeans": "collection",
            "CollectionTopics": "collection",
            "CollectionVariance": "differences",
            "compare_on_collection": "differences",
            "decompose_variance": "differences",
            "summarise_means": "collection",
            "summarise_topics": "collection",
        },
        results={
            "collection.CollectionMeans": Shown("collection_table", "collection_chart"),
            "collection.CollectionTopics": Shown(
                "collection_topic_table", "collection_topic_chart"
            ),
            "differences.CollectionDifferences": Shown(
                "collection_difference_table", "collection_difference_chart"
            ),
            "differences.CollectionVariance": Shown(
                "collection_variance_table", "collection_variance_chart"
            ),
        },
        commands=("collection",),
        section=True,
    ),
    Study(
        "split_half",
        "Does one half of the documents predict the other?",
        ("Cormack & Lynam 2006", "split-half.md"),
        names={"validate_split_half": "split_half", "SplitHalf": "split_half"},
        results={"split_half.SplitHalf": Shown("split_half_table", "split_half_chart")},
        commands=("split-half",),
    ),
    Study(
        "coverage",
        "Are the intervals calibrated?",
        ("Soboroff 2014, Park 2011", "coverage.md"),
        names={
            "Coverage": "coverage",
            "TypeOneError": "type_one_error",
            "estimate_coverage": "coverage",
            "estimate_type_one_error": "type_one_error",
        },
        results={
            "coverage.Coverage": Shown("coverage_table", "coverage_chart"),
            "type_one_error.TypeOneError": Shown("type_one_table", "type_one_chart"),
        },
        commands=("coverage", "type-one"),
        section=True,
    ),
    Study(
        "bias_variance",
        "Effectiveness and stability: is a run good on average, or on every topic?",
        ("Zhang et al. 2013", "bias-variance.md"),
        names={"decompose_error": "bias_variance", "BiasVariance": "bias_variance"},
        results={"bias_variance.BiasVariance": Shown("bias_variance_table", "bias_variance_chart")},
        commands=("bias-variance",),
        section=True,
    ),
    Study(
        "chance",
        "Is a run better than a random ranking?",
        ("Bestgen 2015", "chance.md"),
        names={
            "Chance": "chance",
            "compare_with_chance": "chance",
            "describe_chance": "chance",
            "expected_random_ap": ".measures.chance",
            "expected_random_score": ".measures.chance",
        },
        results={"chance.Chance": Shown("chance_table", "chance_chart")},
        commands=("chance",),
        section=True,
    ),
    Study(
        "data_quality",
        "What do runs and qrels lack?",
        ("data quality", "files.md"),
        names={"inspect_data": "data_quality", "DataQuality": "data_quality"},
        results={"data_quality.DataQuality": Shown("quality_table", "quality_chart")},
        section=True,
    ),
    Study(
        "simulation",
        "What if the truth were known?",
        ("simulation", "simulation.md"),
        names={
            "ScorePopulation": "score_simulation",
            "fit_population": "score_simulation",
            "simulate_scores": "score_simulation",
        },
        commands=("simulate",),
    ),
    Study(
        "meta_analysis",
        "What do several collections say together?",
        ("Cormack & Lynam 2006", "meta.md"),
        names={
            "PooledEffect": "meta_analysis",
            "collection_effects": "topic_effects",
            "pool_effects": "meta_analysis",
        },
        results={
            "meta_analysis.PooledEffect": Shown("pooled_effect_table", "pooled_chart"),
            "meta_analysis.PooledModels": Shown("pooled_table", "models_chart"),
        },
        commands=("meta",),
    ),
)


def find_function(result: Any, kind: str) -> Callable[..., Any] | None:
    """Return the function that makes the "table" or "chart" of a result; None where none does."""
    wanted = f"{type(result).__module__}.{type(result).__qualname__}"
    for study in STUDIES:
        for name, shown in study.results.items():
            function = getattr(shown, kind)
            if study.module(name) == wanted and function is not None:
                found: Callable[..., Any] = study.load(kind, function)
                return found
    return None


def find_sections() -> dict[str, Any]:
    """Return the studies' parts in the report by folder, in the order of STUDIES."""
    return {study.folder: study.load("section", "SECTION") for study in STUDIES if study.section}
