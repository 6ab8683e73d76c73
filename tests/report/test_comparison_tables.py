"""Tables of comparisons and plans."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from confir import compare_runs, plan_topics
from confir.pairs.verdict_words import comparison_note, unjoined_sentence
from confir.report.latex import to_latex
from confir.report.result_table import result_table
from confir.report.tables import Cell, to_html, to_text
from confir.studies.comparison.chart import comparison_chart
from confir.studies.comparison.table import (
    comparison_table,
    effect_table,
    extreme_table,
    group_table,
)
from studies.score_tables import table


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    values = rng.random((30, 1, 2)) / 2 + rng.normal(0.0, 0.05, (30, 4, 2))
    values[:, 3] += 0.2
    return table(values, ["a", "b", "<c>&_", "d"])


def test_what_the_eye_may_read_is_right_in_the_docs_and_not_in_the_chart(scores):
    # two independent means with equal standard errors of 1, and 95% intervals of ±z
    z = norm.ppf(0.975)
    touching, half = (2 * norm.sf(arms * z, scale=np.sqrt(2)) for arms in (2.0, 1.5))
    page = Path(__file__).parents[2].joinpath("docs", "compare.md").read_text(encoding="utf-8")
    assert f"p = {touching:.4f}".replace("0.", ".") in page
    assert f"p = {half:.3f}".replace("0.", ".") in page
    for baseline in (None, "a"):
        drawn = str(comparison_chart(compare_runs(scores, baseline=baseline)))
        assert "overlap" not in drawn


def test_runs_stand_best_first_within_a_measure(scores):
    rows = comparison_table(compare_runs(scores, baseline="a")).rows
    assert [row[0].text for row in rows] == ["m0"] * 3 + ["m1"] * 3
    differences = [float(row[3].text.split()[0]) for row in rows]
    assert differences[:3] == sorted(differences[:3], reverse=True)
    assert rows[0][1].text == "d"
    assert rows[0][2] == Cell("better", strong=True)
    assert rows[1][2].strong is False


def test_columns_appear_where_they_say_something(scores):
    pair = scores.select(run=["a", "d"])
    assert comparison_table(compare_runs(pair)).columns == (
        *("measure", "run", "against", "verdict", "difference", "p", "d_z", "w/t/l"),
    )
    many = compare_runs(scores, test=["t", "sign"], margin=0.1, baseline="a")
    assert comparison_table(many).columns == (
        *("measure", "run", "test", "verdict", "difference"),
        *("adj. p", "adj. p equiv.", "d_z", "w/t/l"),
    )
    assert "adj. p" not in comparison_table(compare_runs(scores, correction="none")).columns
    tukey = compare_runs(scores, test="tukey-hsd", replicates=99, rng=1)
    assert "adj. p" not in comparison_table(tukey).columns


def test_the_note_says_how_to_get_the_numbers_again(scores):
    plain = comparison_table(compare_runs(scores, baseline="a"), seed=7).note
    assert plain == (
        "mean difference from a with simultaneous 95% confidence interval (CI), 3 pairs with a, over 30 topics; "
        "p by t test, adjusted by the studentised maximum, which may exceed Bonferroni's: similar runs borrow "
        "variance (docs/compare.md); 9,999 replicates, seed 7; w/t/l: topics won, tied, lost"
    )
    every = comparison_table(compare_runs(scores)).note
    assert (
        "difference between runs with simultaneous 95% confidence interval (CI), all 6 pairs, over"
        in every
    )
    single = comparison_table(compare_runs(scores, baseline="a", correction="holm"), seed=7).note
    assert single == (
        "mean difference from a with 95% confidence interval (CI) by t (of each pair alone), over 30 "
        "topics; p by t test, adjusted by Holm's correction for 3 pairs within each measure; w/t/l: topics won, tied, lost"
    )
    drawn = compare_runs(scores, baseline="a", method="bca", replicates=999, rng=7)
    assert "; 999 replicates, seed 7;" in comparison_table(drawn, seed=7).note


def test_names_are_escaped(scores):
    comparison = compare_runs(scores, baseline="a")
    assert "<c>" not in to_html(comparison_table(comparison))
    assert "&lt;c&gt;&amp;_" in to_html(comparison_table(comparison))
    assert r"\&\_" in to_latex(comparison_table(comparison))


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_a_run_without_scores_stands_last_within_each_measure(scores):
    scores.values[:, 1] = np.nan
    rows = comparison_table(compare_runs(scores, baseline="a", test=["t", "sign"])).rows
    assert [row[1].text for row in rows] == ["d", "d", "<c>&_", "<c>&_", "b", "b"] * 2


def test_one_pair_without_a_common_group_is_one():
    one, two = (unjoined_sentence(pairs, "group") for pairs in (1, 2))
    assert one == "1 pair without a common group does not differ significantly, either"
    assert two == "2 pairs without a common group do not differ significantly, either"


def test_small_limits_keep_their_sign():
    values = np.stack([np.zeros(50), np.tile([0.0, 4e-5], 25)], axis=1)
    text = to_text(comparison_table(compare_runs(table(values))))
    assert "+2e-05 [+1e-05, +3e-05]" in text


def test_effects_topics_and_groups(scores):
    comparison = compare_runs(scores)
    assert len(effect_table(comparison).rows) == 12
    extremes = extreme_table(comparison).rows
    assert extremes[0][1].text.startswith("d against ")
    assert len(extremes[0][2].text.split(", ")) == 3
    grouped = group_table(comparison.group_runs(), "as told")
    assert grouped.rows[0][0].text == "d"
    assert grouped.rows[0][1].text.endswith("(a)")
    assert grouped.note.endswith("; as told")


def test_plans(scores):
    shown = result_table(plan_topics(scores, baseline="a", topics=30))
    assert shown.columns[2] == "detectable difference"
    assert len(shown.rows) == 6
    needed = result_table(plan_topics(scores, half_width=0.01))
    assert needed.columns[2] == "topics needed"
    assert int(needed.rows[0][2].text) > 30
    assert " to " in needed.rows[0][3].text
    never = result_table(plan_topics(scores, half_width=1e-9))
    assert never.rows[0][2].text == "–"


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_what_is_not_known_is_a_dash(scores):
    scores.values[:, 1] = scores.values[:, 0]
    row = comparison_table(compare_runs(scores, baseline="a", margin=0.1)).rows[-1]
    numbers = ["0.0000", "1.0000", "<0.0001", "–", "0/30/0"]
    assert [cell.text for cell in row[3:]] == numbers
    plan = result_table(plan_topics(scores, baseline="a", topics=30))
    assert [cell.text for cell in plan.rows[0][2:5]] == ["–", "–", "–"]


def test_the_note_names_tests_and_corrections_as_sentences_do(scores):
    several = compare_runs(scores, test=["t", "wilcoxon"], correction="benjamini-hochberg")
    note = comparison_table(several).note
    assert note.startswith("mean difference between runs with 95% confidence interval (CI) by t")
    assert "; p by t test, Wilcoxon test, adjusted by Benjamini and Hochberg's correction" in note
    alone = comparison_note(compare_runs(scores, correction="none", margin=0.1))
    assert "by t, not adjusted for 6 pairs, over 30 topics; p by t test; equivalence" in alone


def test_groups_with_a_margin_say_that_equivalent_runs_share_them(scores):
    groups = compare_runs(scores, margin=0.1).group_runs()
    assert "do not differ significantly, or are equivalent within ±0.1" in (
        group_table(groups, margin=0.1).note
    )
    assert "equivalent" not in group_table(groups).note
