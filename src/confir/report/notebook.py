"""How does a result show in a notebook? As a chart, with its table below."""

from __future__ import annotations

import base64
import html
from functools import singledispatch
from typing import Any

from confir.data.scores import Scores
from confir.errors import MissingDependencyError, UnsupportedMethodError
from confir.intervals.interval import Interval
from confir.report.bias_variance_tables import bias_variance_table
from confir.report.chance_tables import chance_table
from confir.report.charts import chart, chart_bytes
from confir.report.collection_tables import (
    collection_difference_table,
    collection_table,
    collection_topic_table,
    collection_variance_table,
)
from confir.report.comparison_tables import comparison_table, group_table, topic_difference_table
from confir.report.coverage_tables import coverage_table, type_one_table
from confir.report.meta_tables import pooled_table
from confir.report.numbers import topics_text
from confir.report.plan_tables import plan_table
from confir.report.quality_tables import quality_table
from confir.report.split_half_tables import split_half_table
from confir.report.tables import (
    Table,
    interval_table,
    mean_table,
    means_note,
    ranking_table,
    to_html,
)
from confir.report.topic_tables import difficulty_table
from confir.studies.bias_variance import BiasVariance
from confir.studies.collection import CollectionMeans, CollectionTopics
from confir.studies.collection_differences import CollectionDifferences, CollectionVariance
from confir.studies.comparison import Comparison
from confir.studies.coverage import Coverage
from confir.studies.data_quality import DataQuality
from confir.studies.meta_analysis import PooledEffect, PooledModels
from confir.studies.planning import Plan
from confir.studies.random_baseline import Chance
from confir.studies.ranking import Ranking
from confir.studies.run_groups import RunGroups
from confir.studies.split_half import SplitHalf
from confir.studies.topic_differences import TopicDifferences
from confir.studies.topic_difficulty import TopicDifficulty
from confir.studies.type_one_error import TypeOneError


def notebook_html(result: Any) -> str:
    """Return chart and table of a result; the table alone where charts cannot be drawn."""
    table = table_of(result)
    return f"{_picture(result, table.note)}{to_html(table)}"


def _picture(result: Any, note: str) -> str:
    """Return the chart as an image that is part of the text, and so shows everywhere."""
    try:
        picture = chart_bytes(chart(result), ".svg")
    except (MissingDependencyError, UnsupportedMethodError):
        return ""
    content = base64.b64encode(picture).decode()
    text = html.escape(f"Chart of the table below. {note}".strip())
    return f'<img alt="{text}" src="data:image/svg+xml;base64,{content}">\n'


@singledispatch
def table_of(result: Any) -> Table:
    """Return the table that a result shows as."""
    raise UnsupportedMethodError(f"there is no table of a {type(result).__name__}")


@table_of.register
def _(result: Interval) -> Table:
    return interval_table([result], means_note([result], result.topics))


@table_of.register
def _(result: Ranking) -> Table:
    note = (
        f"rank with {100 * result.level:g} % interval, and share of resampled sets of "
        f"{topics_text(result.topics)} in which it is best"
    )
    return ranking_table(result, note)


@table_of.register
def _(result: Coverage) -> Table:
    return coverage_table(result, f"share of {100 * result.level:g} % intervals that hold the mean")


@table_of.register
def _(result: TypeOneError) -> Table:
    return type_one_table(result, "share of intervals that miss the mean over all")


@table_of.register
def _(result: PooledEffect) -> Table:
    return pooled_table(PooledModels((result,)))


table_of.register(Scores, mean_table)
table_of.register(Comparison, comparison_table)
table_of.register(RunGroups, group_table)
table_of.register(TopicDifferences, topic_difference_table)
table_of.register(TopicDifficulty, difficulty_table)
table_of.register(Plan, plan_table)
table_of.register(PooledModels, pooled_table)
table_of.register(Chance, chance_table)
table_of.register(BiasVariance, bias_variance_table)
table_of.register(CollectionMeans, collection_table)
table_of.register(CollectionTopics, collection_topic_table)
table_of.register(CollectionDifferences, collection_difference_table)
table_of.register(CollectionVariance, collection_variance_table)
table_of.register(SplitHalf, split_half_table)
table_of.register(DataQuality, quality_table)
