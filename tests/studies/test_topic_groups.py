"""Differences by group of topics: intervals, Welch's F, sentences, and bad input."""

import numpy as np
import pytest
from statsmodels.stats.oneway import anova_oneway

import confir
from confir.data.sampling_designs.topic_groups import as_topic_groups
from confir.data.scores import Scores
from confir.errors import (
    FormatError,
    InvalidValueError,
    TopicMismatchError,
    UnknownNameError,
    UnsupportedMethodError,
)
from confir.studies.topic_groups.heterogeneity import LEAST_TESTED, check_groups, welch_f

LENGTHS = ("long", "short", "medium")


def made_scores(values, runs=("a", "b")):
    """Scores by one measure: topics × runs."""
    values = np.asarray(values, float)
    topics = tuple(f"t{place:03}" for place in range(len(values)))
    return Scores(topics, tuple(runs), ("m",), values[:, :, None])


def grouped(scores, sizes, names=LENGTHS):
    """The first topics in the first group, and so on."""
    labels = np.repeat(names[: len(sizes)], sizes).tolist()
    return dict(zip(scores.topics, labels, strict=True))


def two_way(seed=1, sizes=(12, 12), shift=0.3, noise=0.05):
    """Run b is better on the first group, and worse on the second."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    base = rng.uniform(0.3, 0.6, n)
    moved = np.repeat([shift, -shift], sizes) + rng.normal(0, noise, n)
    return made_scores(np.stack([base, base + moved], axis=1))


def welch_by_library(values, group):
    parts = [values[group == number] for number in np.unique(group)]
    found = anova_oneway(parts, use_var="unequal")
    return found.statistic, found.df_num, found.df_denom


@pytest.mark.parametrize("sizes", [(7, 9), (5, 6, 30), (5, 5, 5, 40)])
def test_f_is_that_of_statsmodels(sizes):
    rng = np.random.default_rng(len(sizes))
    group = np.repeat(np.arange(len(sizes)), sizes)
    values = rng.normal(group[:, None] * 0.3, 1.0 + group[:, None], (len(group), 3))
    found = check_groups(values, group, 9, 1)
    for column in range(3):
        f, df_groups, df_error = welch_by_library(values[:, column], group)
        assert found.f[column] == pytest.approx(f, rel=1e-10)
        assert found.df_groups[column] == df_groups
        assert found.df_error[column] == pytest.approx(df_error, rel=1e-10)


def test_p_is_the_share_of_all_permutations_that_reach_f_against_enumeration():
    from itertools import combinations

    rng = np.random.default_rng(3)
    values = rng.normal(size=10) + np.repeat([0.0, 1.2], 5)
    whole = set(range(10))
    every = [
        welch_by_library(values, np.isin(np.arange(10), chosen).astype(int))[0]
        for chosen in combinations(sorted(whole), 5)
    ]
    observed = welch_by_library(values, np.repeat([0, 1], 5))[0]
    exact = np.mean(np.array(every) >= observed * (1 - 1e-10))
    found = check_groups(values[:, None], np.repeat([0, 1], 5), 20_000, 1)
    assert 0.01 < exact < 0.5
    assert found.p[0] == pytest.approx(exact, abs=4 * np.sqrt(exact / 20_000))


def test_small_and_constant_groups_are_not_tested():
    rng = np.random.default_rng(4)
    group = np.repeat([0, 1, 2, 3], [6, LEAST_TESTED - 1, 8, 7])
    values = rng.normal(size=(len(group), 1))
    values[group == 2] = 0.25
    found = check_groups(values, group, 99, 1)
    assert found.tested[:, 0].tolist() == [True, False, False, True]
    kept = np.isin(group, [0, 3])
    assert found.f[0] == pytest.approx(welch_by_library(values[kept, 0], group[kept])[0])


def test_missing_scores_leave_each_pair_its_own_topics():
    rng = np.random.default_rng(5)
    group = np.repeat([0, 1], [9, 8])
    values = rng.normal(size=(17, 2))
    values[3, 1] = np.nan
    found = check_groups(values, group, 99, 1)
    there = ~np.isnan(values[:, 1])
    assert found.f[1] == pytest.approx(welch_by_library(values[there, 1], group[there])[0])
    assert found.f[0] == pytest.approx(welch_by_library(values[:, 0], group)[0])


def test_one_testable_group_has_no_test():
    values = np.random.default_rng(6).normal(size=(9, 1))
    found = check_groups(values, np.repeat([0, 1], [7, 2]), 99, 1)
    assert np.isnan([found.f[0], found.p[0]]).all()


def test_equal_variances_and_two_groups_give_the_square_of_welchs_t():
    from scipy.stats import ttest_ind

    rng = np.random.default_rng(7)
    x, y = rng.normal(size=8), rng.normal(0.5, 2.0, 11)
    parts = np.array([[8.0], [11.0]])
    mean = np.array([[x.mean()], [y.mean()]])
    variance = np.array([[x.var(ddof=1)], [y.var(ddof=1)]])
    f = welch_f(parts, mean, variance).f[0]
    assert f == pytest.approx(ttest_ind(x, y, equal_var=False).statistic ** 2)


def test_each_group_is_a_family_of_its_own_at_the_root_of_the_level():
    rng = np.random.default_rng(8)
    scores = made_scores(rng.uniform(size=(30, 3)), runs="abc")
    by = grouped(scores, (10, 12, 8))
    found = confir.compare_groups(scores, by=by, baseline="a", level=0.9, replicates=199, rng=1)
    for place, name in enumerate(LENGTHS):
        inside = [topic for topic in scores.topics if by[topic] == name]
        own = confir.compare_runs(
            scores.select(topic=inside), baseline="a", level=0.9 ** (1 / 3), replicates=199
        )
        assert found.difference[place] == pytest.approx(own.difference)
        widths = (found.high - found.low)[place] / (own.simultaneous_high - own.simultaneous_low)
        assert widths == pytest.approx(np.ones((2, 1)), abs=0.1)  # other replicates
        assert (own.simultaneous_high - own.simultaneous_low > own.high - own.low - 1e-9).all()


def test_all_topics_are_compared_as_without_groups():
    scores = two_way()
    found = confir.compare_groups(scores, by=grouped(scores, (12, 12)), replicates=99, rng=1)
    plain = confir.compare_runs(scores, replicates=99)
    assert found.overall.difference == pytest.approx(plain.difference)
    assert found.overall.low == pytest.approx(plain.low)


def test_opposite_groups_are_answered_in_one_sentence():
    scores = two_way()
    found = confir.compare_groups(scores, by=grouped(scores, (12, 12)), replicates=499, rng=1)
    (sentence,) = found.sentences()
    assert sentence.startswith("The difference between b and a in m depends on group (p = .002")
    assert "b is significantly better for long (+0.297 [" in sentence
    assert "significantly worse for short (-0.3" in sentence
    assert "do not decide" not in sentence


def test_one_significant_group_and_another_not_is_no_difference_between_groups():
    rng = np.random.default_rng(2)
    base = rng.uniform(0.3, 0.6, 24)
    noise = np.concatenate([rng.normal(0, 0.02, 16), rng.normal(0, 0.25, 8)])
    scores = made_scores(np.stack([base, base + 0.1 + noise], axis=1))
    found = confir.compare_groups(scores, by=grouped(scores, (16, 8)), replicates=499, rng=1)
    assert found.verdict[:, 0, 0].tolist() == ["better", "inconclusive"]
    (sentence,) = found.sentences()
    assert sentence.startswith(
        "Whether the difference between b and a in m depends on group is incon"
    )
    assert "the topics do not decide which run is better for short" in sentence


def test_groups_that_go_the_other_way_and_too_few_topics_are_named():
    rng = np.random.default_rng(9)
    base = rng.uniform(0.3, 0.6, 21)
    moved = np.repeat([0.1, -0.01, 0.1], [12, 8, 1]) + rng.normal(0, 0.1, 21)
    scores = made_scores(np.stack([base, base + moved], axis=1))
    found = confir.compare_groups(scores, by=grouped(scores, (12, 8, 1)), replicates=199, rng=1)
    (sentence,) = found.sentences()
    assert "short (-0.0" in sentence
    assert "goes the other way than all topics together (+0.0" in sentence
    assert "too few topics: medium (1 topic)" in sentence
    assert np.isnan(found.low[2, 0, 0])
    assert found.difference[2, 0, 0] == pytest.approx(moved[20])
    assert found.to_records()[2]["verdict"] is None


def test_one_topic_does_not_count_among_the_groups_of_the_level():
    scores = two_way(sizes=(12, 13))
    alone = confir.compare_groups(scores, by=grouped(scores, (12, 12, 1)), replicates=99, rng=1)
    pair = scores.select(topic=scores.topics[:24])
    two = confir.compare_groups(pair, by=grouped(pair, (12, 12)), replicates=99, rng=1)
    assert alone.low[:2] == pytest.approx(two.low)


def test_the_order_of_topics_does_not_matter():
    scores = two_way()
    by = grouped(scores, (12, 12))
    turned = Scores(scores.topics[::-1], scores.runs, scores.measures, scores.values[::-1])
    first, second = (
        confir.compare_groups(each, by=by, replicates=99, rng=1) for each in (scores, turned)
    )
    assert first.f == pytest.approx(second.f)
    assert (first.p, first.low) == (pytest.approx(second.p), pytest.approx(second.low))


def test_p_values_are_corrected_for_the_pairs_by_holm():
    rng = np.random.default_rng(10)
    scores = made_scores(rng.uniform(size=(24, 4)), runs="abcd")
    found = confir.compare_groups(scores, by=grouped(scores, (12, 12)), replicates=199, rng=1)
    order = np.argsort(found.p[:, 0], kind="stable")
    expected = np.minimum(1, np.maximum.accumulate(np.arange(6, 0, -1) * found.p[order, 0]))
    assert found.p_adjusted[order, 0] == pytest.approx(expected)


def test_clusters_have_intervals_by_group_and_no_test():
    scores = two_way(sizes=(24, 24))
    design = {topic: f"c{place // 2}" for place, topic in enumerate(scores.topics)}
    clustered = scores.with_design(design)
    found = confir.compare_groups(clustered, by=grouped(scores, (24, 24)), replicates=99, rng=1)
    assert np.isnan(found.p).all()
    assert not np.isnan(found.low).any()
    assert "was not tested: permuting topics needs the score on each topic" in found.sentences()[0]


def test_strata_may_be_the_groups():
    scores = two_way()
    strata = tuple(np.repeat(["x", "y"], 12).tolist())
    designed = scores.with_design(confir.Design(scores.topics, stratum=strata))
    found = confir.compare_groups(designed, by="stratum", replicates=99, rng=1)
    plain = confir.compare_groups(scores, by=dict(zip(scores.topics, strata, strict=True)), rng=1)
    assert found.groups == ("x", "y")
    assert found.f == pytest.approx(plain.f)


def test_human_and_model_judgements_are_compared_by_group():
    rng = np.random.default_rng(11)
    model = made_scores(rng.uniform(size=(60, 2)))
    kept = model.topics[::2]
    human = model.select(topic=kept)
    judged = confir.results.JudgedScores(
        human.topics, human.runs, human.measures, human.values * 0.9, model=model
    )
    by = {topic: "even" if place % 4 < 2 else "odd" for place, topic in enumerate(model.topics)}
    found = confir.compare_groups(judged, by=by, replicates=99, rng=1)
    own = confir.compare_runs(
        confir.results.JudgedScores(
            kept[::2],
            human.runs,
            human.measures,
            judged.values[::2],
            model=model.select(topic=[t for t in model.topics if by[t] == "even"]),
        )
    )
    assert found.difference[0] == pytest.approx(own.difference)
    assert "human and model judgements lack" in found.sentences()[0]


def test_columns_come_from_a_table_with_a_design(tmp_path):
    scores = two_way()
    rows = [
        f"{topic},{'long' if place < 12 else 'short'},c{place // 3}"
        for place, topic in enumerate(scores.topics)
    ]
    path = tmp_path / "topics.csv"
    path.write_text("topic,length,cluster\n" + "\n".join(rows) + "\nt999,long,c99\n")
    groups = as_topic_groups("length", scores, path)
    assert groups.names == ("long", "short")
    assert [len(part.topics) for _, part in groups.parts(scores)] == [12, 12]
    assert confir.compare_groups(scores, by="length", table=path, replicates=99).column == "length"


def test_an_unknown_column_suggests_the_nearest():
    scores = two_way()
    table = {"topic": list(scores.topics), "length": ["long", "short"] * 12}
    with pytest.raises(UnknownNameError, match="'lengths'; did you mean length"):
        confir.compare_groups(scores, by="lengths", table=table)


def test_topics_without_a_group_are_refused(tmp_path):
    scores = two_way()
    path = tmp_path / "topics.csv"
    lines = [f"{topic},long" for topic in scores.topics]
    path.write_text("topic,length\n" + "\n".join([*lines[:3], f"{scores.topics[3]},", *lines[4:]]))
    with pytest.raises(FormatError, match=r"topics\.csv:5: topic 't003' has no length"):
        confir.compare_groups(scores, by="length", table=path)
    with pytest.raises(TopicMismatchError, match=r"2 topics \(t022, t023\) have no group"):
        confir.compare_groups(scores, by=dict.fromkeys(scores.topics[:22], "x"))


def test_a_topic_in_two_groups_is_refused(tmp_path):
    path = tmp_path / "topics.csv"
    path.write_text("topic,length\nt000,long\nt000,short\n")
    with pytest.raises(
        FormatError, match=r"topics\.csv:3: topic 't000' is in the groups 'long' and"
    ):
        confir.compare_groups(two_way(), by="length", table=path)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (lambda _: "x", "all topics have the group 'x'; expected two groups or more"),
        (lambda topic: topic, "each topic has a group of its own"),
    ],
)
def test_one_group_and_groups_of_one_topic_are_refused(label, message):
    scores = two_way()
    with pytest.raises(InvalidValueError, match=message):
        confir.compare_groups(scores, by={topic: label(topic) for topic in scores.topics})


def test_no_table_and_a_summary_are_refused():
    scores = two_way()
    with pytest.raises(InvalidValueError, match="no table of topics with a column 'length'"):
        confir.compare_groups(scores, by="length")
    with pytest.raises(UnsupportedMethodError, match="which summaries of scores lack"):
        confir.compare_groups(confir.summarise_scores(scores), by={})


def test_warnings_name_the_group():
    values = two_way().values[:, :, 0].copy()
    values[:12, 1] = values[:12, 0] + 0.25
    scores = made_scores(values)
    with pytest.warns(confir.errors.DegenerateSampleWarning, match="long: no interval for a and b"):
        confir.compare_groups(scores, by=grouped(scores, (12, 12)), replicates=99, rng=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "spread", "most"),
    [
        ((5, 5, 5), (1, 1, 1), 0.05),
        ((5,) * 10, (1,) * 10, 0.05),
        ((6, 10, 30), (1, 1, 1), 0.05),
        ((20, 20), (1, 4), 0.07),  # no longer exchangeable
        ((6, 10, 30), (3, 1, 0.5), 0.085),
    ],
)
def test_heterogeneity_errs_as_often_as_stated_by_simulation(sizes, spread, most):
    """Equal mean differences, symmetric or skewed where groups have one variance."""
    rng = np.random.default_rng(12)
    group, samples = np.repeat(np.arange(len(sizes)), sizes), 3_000
    shape = len(group), samples
    drawn = [rng.standard_normal(shape), rng.standard_exponential(shape) - 1.0]
    for values in drawn[: 2 if len(set(spread)) == 1 else 1]:
        p = check_groups(values * np.repeat(spread, sizes)[:, None], group, 499, 1).p
        assert (p <= 0.05).mean() <= most + 3 * np.sqrt(0.05 * 0.95 / samples)


@pytest.mark.slow
def test_intervals_of_all_groups_are_simultaneous_by_simulation():
    rng = np.random.default_rng(13)
    truth, sizes = np.array([0.1, -0.05, 0.0]), (10, 20, 15)
    group = np.repeat(np.arange(3), sizes)
    covered, samples = 0, 400
    for _ in range(samples):
        base = rng.normal(0.0, 1.0, len(group))
        others = base[:, None] + truth[group][:, None] + rng.normal(0, 0.2, (len(group), 2))
        scores = made_scores(np.column_stack([base, others]), runs="abc")
        by = grouped(scores, sizes)
        found = confir.compare_groups(scores, by=by, baseline="a", replicates=199, rng=1)
        inside = (found.low[..., 0] <= truth[:, None]) & (truth[:, None] <= found.high[..., 0])
        covered += inside.all()
    assert covered / samples >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / samples)
