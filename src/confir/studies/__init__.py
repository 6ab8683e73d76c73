"""The questions that confir answers: STUDIES lists them, each with a folder.

A study's folder contains its statistics and how they are shown: ``table.py``, ``chart.py``,
``command.py`` and ``section.py``, its part of the page. Command line, page, notebooks and
documentation find studies only through this list. It imports no study, to keep ``confir --help`` fast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from confir.studies.study import DAILY, LISTS, Shown, Study

__all__ = ("DAILY", "LISTS", "STUDIES", "Shown", "Study", "find_function", "find_sections")

STUDIES = (
    Study(
        "means",
        "How well do the runs do, and how far can a mean be trusted?",
        ("Park 2011, Soboroff 2014", "intervals.md"),
        verbs=("confidence_interval", "evaluate"),
        results={
            ".data.scores.Scores": Shown("mean_table", "scores_chart", "score"),
            ".intervals.interval.Interval": Shown("interval_table", "interval_chart", "mean"),
        },
        commands=("evaluate",),
        panel=DAILY,
        section=True,
    ),
    Study(
        "best",
        "Which runs may be the best?",
        ("Hsu 1984", "best.md"),
        verbs=("find_best",),
        results={".pairs.best_runs.BestRuns": Shown("best_table", records="best")},
        section=True,
    ),
    Study(
        "ranks",
        "How certain is the ranking of the runs?",
        ("ranks", "intervals.md#ranks"),
        verbs=("rank_runs",),
        results={".pairs.ranking.Ranking": Shown(records="rank")},
        section=True,
    ),
    Study(
        "comparison",
        "Is run B better than run A?",
        ("comparisons", "compare.md"),
        verbs=("compare_runs",),
        results={
            ".pairs.comparison.Comparison": Shown(
                "comparison_table", "comparison_chart", "difference"
            ),
            ".pairs.run_groups.RunGroups": Shown("group_table", "group_chart", ""),
            ".pairs.pair_results.TopicDifferences": Shown(
                chart="topic_chart", records="topic-difference"
            ),
        },
        commands=("compare",),
        panel=DAILY,
        section=True,
    ),
    Study(
        "topic_groups",
        "Does the difference between two runs depend on the kind of topic?",
        ("groups of topics", "groups.md"),
        verbs=("compare_groups",),
        results={
            "group_differences.GroupComparison": Shown(
                "group_difference_table", "group_difference_chart", "group-difference"
            )
        },
        section=True,
    ),
    Study(
        "gate",
        "May a candidate replace the baseline?",
        ("gates", "gate.md"),
        verbs=("judge_gate",),
        results={
            "false_alarms.FalseAlarms": Shown(chart="false_alarms_chart", records="false-alarm")
        },
    ),
    Study(
        "targets",
        "Is a run good enough?",
        ("targets", "targets.md"),
        verbs=("judge_target",),
        results={"targets.TargetVerdicts": Shown(records="target")},
    ),
    Study(
        "history",
        "How did a gate decide over time, and what can be concluded after repeated looks?",
        ("Waudby-Smith & Ramdas 2023", "gate.md"),
        verbs=("read_history",),
        results={"history.GateHistory": Shown(chart="history_chart", records="look")},
        commands=("history",),
    ),
    Study(
        "reproduction",
        "Is a run reproduced?",
        ("Breuer et al. 2020, Webber et al. 2010", "reproduce.md"),
        verbs=("compare_reproduction",),
        results={
            "reproduction.Reproduction": Shown(chart="reproduction_chart", records="reproduction")
        },
        commands=("reproduce",),
    ),
    Study(
        "leaderboard",
        "Which runs are best over many datasets, and which are separable?",
        ("many datasets", "designs.md"),
        verbs=("make_leaderboard",),
        results={
            "leaderboard.Leaderboard": Shown("leaderboard_table", "leaderboard_chart", "board")
        },
        commands=("leaderboard",),
        section=True,
    ),
    Study(
        "tradeoff",
        "Which runs are worth their cost?",
        ("quality against cost", "tradeoff.md"),
        verbs=("compare_costs",),
        results={"cost_comparison.CostComparison": Shown(chart="tradeoff_chart", records="cost")},
        commands=("tradeoff",),
        section=True,
    ),
    Study(
        "repeats",
        "How much does a mean vary between repeats of a system: are more topics or more repeats needed?",
        ("repeats", "designs.md#more-topics-or-more-repeats"),
        verbs=("score_successes", "summarise_repeats"),
        results={"repeat_means.RepeatMeans": Shown(records="repeats")},
    ),
    Study(
        "nuggets",
        "How much of the variance over topics comes from the choice of nuggets?",
        ("answers", "answers.md"),
        verbs=("estimate_nugget_variance",),
        results={"nugget_variance.NuggetVariance": Shown()},
    ),
    Study(
        "components",
        "How reliable are these scores, and how many topics, judges or repeats are needed?",
        ("generalisability", "designs.md#components-how-reliable-are-these-scores"),
        verbs=("decompose_scores",),
        results={"components.Components": Shown(chart="components_chart", records="component")},
        commands=("components",),
    ),
    Study(
        "planning",
        "How many topics are needed?",
        ("planning", "plan.md"),
        verbs=("plan_human_documents", "plan_human_topics", "plan_topics"),
        results={
            "planning.Plan": Shown(chart="plan_chart", records="plan"),
            "usual_goals.PlanOverview": Shown(chart="overview_chart", records="plan"),
            "human_topics.HumanPlan": Shown(records="human-plan"),
            "human_documents.DocumentPlan": Shown(records="document-plan"),
        },
        commands=("plan",),
        section=True,
    ),
    Study(
        "topic_difficulty",
        "Which topics are hard, and where does a run fail?",
        ("topics", "topics.md"),
        verbs=("describe_topics",),
        results={
            "topic_difficulty.TopicDifficulty": Shown(chart="topic_score_chart", records="topic")
        },
        commands=("topics",),
        section=True,
    ),
    Study(
        "collection",
        "Would the results be the same on another collection of documents?",
        ("Cormack & Lynam 2006", "collection.md"),
        verbs=(
            "compare_on_collection",
            "decompose_variance",
            "summarise_means",
            "summarise_topics",
        ),
        results={
            "collection_means.CollectionMeans": Shown(
                "collection_table", "collection_chart", "collection-mean"
            ),
            "collection_topics.CollectionTopics": Shown(
                chart="collection_topic_chart", records="collection-topic"
            ),
            "collection_differences.CollectionDifferences": Shown(
                chart="collection_difference_chart", records="collection-difference"
            ),
            "collection_means.CollectionVariance": Shown(
                "collection_variance_table", "collection_variance_chart", "collection-variance"
            ),
        },
        commands=("collection",),
        section=True,
    ),
    Study(
        "split_half",
        "Does one half of the documents predict the other?",
        ("Cormack & Lynam 2006", "split-half.md"),
        verbs=("validate_split_half",),
        results={"splits.SplitHalf": Shown("split_half_table", "split_half_chart", "")},
        commands=("split-half",),
    ),
    Study(
        "coverage",
        "Are the intervals calibrated?",
        ("Soboroff 2014, Park 2011", "coverage.md"),
        verbs=("estimate_coverage", "estimate_type_one_error"),
        results={
            "coverage.Coverage": Shown(chart="coverage_chart"),
            "type_one_error.TypeOneError": Shown(chart="type_one_chart", records="type-one"),
        },
        commands=("coverage", "type-one"),
        section=True,
    ),
    Study(
        "bias_variance",
        "Effectiveness and stability: is a run good on average, or on every topic?",
        ("Zhang et al. 2013", "bias-variance.md"),
        verbs=("decompose_error",),
        results={"bias_variance.BiasVariance": Shown(chart="bias_variance_chart")},
        commands=("bias-variance",),
        section=True,
    ),
    Study(
        "chance",
        "Is a run better than a random ranking?",
        ("Bestgen 2015", "chance.md"),
        verbs=(
            "compare_with_chance",
            "describe_chance",
            "expected_random_ap",
            "expected_random_score",
        ),
        results={"chance.Chance": Shown(chart="chance_chart")},
        commands=("chance",),
        section=True,
    ),
    Study(
        "judgements",
        "How far do judges agree, and does the choice of a judge change the results?",
        ("judges", "judges.md"),
        verbs=("compare_judgements", "measure_agreement"),
        results={
            "judgement_comparison.JudgementComparison": Shown("judgement_table", "judgement_chart"),
            "grade_agreement.GradeAgreement": Shown("agreement_table", records="judges-agreement"),
            "label_agreement.LabelAgreement": Shown("label_table", records="judges-labels"),
            "grade_agreement.GradeConfusion": Shown(
                chart="confusion_chart", records="judges-confusion"
            ),
            "judge_effects.JudgedRuns": Shown(chart="gain_chart", records="judges-run"),
            "judge_variance.JudgeVariance": Shown(records="judges-variance"),
        },
        commands=("judges",),
        section=True,
    ),
    Study(
        "unjudged",
        "How far could scores move if unjudged documents were judged?",
        ("Moffat & Zobel 2008, Sakai 2007, Fröbe et al. 2023", "unjudged.md"),
        verbs=("bound_differences", "bound_unjudged", "estimate_unjudged"),
        results={
            "unjudged_bounds.UnjudgedBounds": Shown(),
            "missing_bounds.MissingBounds": Shown(),
            "missing_bounds.MissingDifferences": Shown(records="missing-difference"),
            "unjudged_differences.UnjudgedDifferences": Shown(records="unjudged-difference"),
            "unjudged_estimates.UnjudgedEstimate": Shown(),
        },
        section=True,
    ),
    Study(
        "reusability",
        "Would a run that is not in the pool be scored fairly?",
        ("Zobel 1998, Voorhees 2002", "reusability.md"),
        verbs=("estimate_reusability",),
        results={"reusability.Reusability": Shown()},
        commands=("reusability",),
    ),
    Study(
        "ties",
        "How far do scores depend on the order of tied documents?",
        ("McSherry & Najork 2008", "unjudged.md#ties"),
        verbs=("bound_ties",),
        results={"tie_bounds.TieBounds": Shown()},
        section=True,
    ),
    Study(
        "corrected_means",
        "What scores would human judgements give, if a model judged most topics?",
        ("human judgements", "human.md"),
        verbs=("correct_judgements",),
        results={"corrected_means.CorrectedMeans": Shown(records="corrected-mean")},
        section=True,
    ),
    Study(
        "data_quality",
        "What is missing from the runs and qrels?",
        ("data quality", "files.md"),
        verbs=("inspect_data",),
        results={"data_quality.DataQuality": Shown(chart="quality_chart")},
        section=True,
    ),
    Study(
        "simulation",
        "How do methods perform when the true means are known?",
        ("simulation", "simulation.md"),
        verbs=("fit_population", "simulate_scores"),
        commands=("simulate",),
    ),
    Study(
        "meta_analysis",
        "What do several collections show when combined?",
        ("Cormack & Lynam 2006", "meta.md"),
        verbs=("collection_effects", "pool_effects"),
        results={
            "pooled_results.PooledEffect": Shown("pooled_table", "pooled_chart", "pooled"),
            "pooled_results.PooledModels": Shown("pooled_table", "pooled_chart", ""),
        },
        commands=("meta",),
    ),
    Study(
        "preferences",
        "Which system do people prefer, and how many more votes are needed?",
        ("Bradley & Terry 1952", "preferences.md"),
        verbs=("fit_strengths", "plan_votes", "rate_preferences"),
        results={
            "preferences.Preferences": Shown("strengths_table", "preferences_chart", "preference"),
            "preference_pairs.PreferencePairs": Shown(
                chart="preference_pairs_chart", records="preference-pair"
            ),
            "preferences.PreferenceEffects": Shown(records="preference-effect"),
            "vote_plan.VotePlan": Shown(records="vote-plan"),
            "early_looks.ShareSequence": Shown(records="share-sequence"),
        },
        commands=("preferences",),
    ),
    Study(
        "discrimination",
        "Which measure separates the runs best?",
        ("Sakai 2006, Voorhees 2002", "designs.md#measures-which-one-separates-the-runs-best"),
        verbs=("compare_measures",),
        results={
            "discrimination.Discrimination": Shown(chart="discrimination_chart", records="power")
        },
        commands=("measures",),
        panel=LISTS,
    ),
)


def find_function(result: Any, kind: str) -> Callable[..., Any] | None:
    """Return the function for the "table" or "chart" of a result; None if there is none.

    A kind of a result, such as of scores, is shown as that.
    """
    shown = {
        study.module(name): (study, function)
        for study in STUDIES
        for name, how in study.results.items()
        if (function := getattr(how, kind)) is not None
    }
    names = (f"{one.__module__}.{one.__qualname__}" for one in type(result).__mro__)
    study, function = next((shown[name] for name in names if name in shown), (None, ""))
    return None if study is None else study.load(kind, function)


def find_sections() -> dict[str, Any]:
    """Return the studies' parts in the report by folder, in the order of STUDIES."""
    return {study.folder: study.load("section", "SECTION") for study in STUDIES if study.section}
