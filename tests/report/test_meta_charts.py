"""Charts and tables of meta-analysis: missing values are left out."""

import numpy as np
import pytest

from chart_labels import records_of
from confir.data.effect_files import Group
from confir.report.latex import to_latex
from confir.report.result_chart import specification as chart
from confir.studies.meta_analysis.meta_analysis import pool_effects, pool_models
from confir.studies.meta_analysis.table import MOST_IN_FULL, pooled_table


def test_headings_compile_in_plain_latex():
    latex = to_latex(pooled_table(pool_models([0.1, 0.2, 0.6], [0.1, 0.1, 0.1])))
    assert latex.isascii()
    assert r"$\tau$\textsuperscript{2} & I\textsuperscript{2}" in latex


def test_models_without_an_effect_or_a_prediction_have_no_such_row():
    rows = records_of(chart(pool_models([0.1, 0.2, 0.6], [0.1, 0.1, 0.1])))
    names = {
        kind: {r["row"] for r in rows if r["kind"] == kind} for kind in ("pooled", "further study")
    }
    assert "pooled: stouffer" not in names["pooled"] | names["further study"]
    assert "pooled: fixed" in names["pooled"] - names["further study"]
    assert all(row["low"] is not None for row in rows)


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_numbers_that_are_not_there_are_null_in_the_chart_of_many_groups():
    groups = [Group("AP", f"run{place}") for place in range(MOST_IN_FULL + 1)]
    effects = np.random.default_rng(1).normal(size=(3, len(groups)))
    effects[1:, 0] = effects[2:, 1] = np.nan
    rows = records_of(chart(pool_effects(effects, np.ones(effects.shape), groups=groups)))
    assert [row["name"] for row in rows] == [group.run for group in groups[1:]]
    assert rows[0]["predicted_low"] is None
    assert all(row["low"] is not None for row in rows)
