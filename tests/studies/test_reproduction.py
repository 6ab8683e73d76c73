"""Reproduction of runs: lists against plain loops and enumeration, scores against other routes."""

from itertools import pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import ttost_paired

import confir
from confir.data.run import build_run
from confir.data.scores import Scores
from confir.errors import InvalidValueError, TopicMismatchError, TopicWarning, UnknownNameError
from confir.report.result_table import result_table
from confir.report.tables import to_html, to_text
from confir.studies.reproduction.list_overlap import compare_lists
from confir.studies.reproduction.score_agreement import compare_scores, effect_ratio
from samples import short_sample

P = 0.9


def run_of(name, lists):
    """A run of topic → documents, best first; a tuple of documents is tied."""
    rows = []
    for topic, ranking in lists.items():
        for place, group in enumerate(ranking):
            tied = group if isinstance(group, tuple) else (group,)
            rows += [(topic, document, -float(place)) for document in tied]
    topics, documents, scores = zip(*rows, strict=True)
    return build_run(name, topics, documents, np.array(scores))


def overlaps(first, second, *, ties=None, depth=10, persistence=P, **options):
    """What is found of two lists of one topic."""
    runs = run_of("first", {"1": first}), run_of("second", {"1": second})
    return compare_lists(
        runs[0], runs[1:], depth=depth, persistence=persistence, ties=ties, **options
    )


def plain_rbo(first, second, p=P):
    """RBO_ext by Webber et al. 2010, Eq. 32, with sets at every depth."""
    short, long = sorted((first, second), key=len)
    s, l = len(short), len(long)  # noqa: E741 - as in the paper

    def common(depth):
        return len(set(short[:depth]) & set(long[:depth]))

    total = sum(common(d) / d * p**d for d in range(1, l + 1))
    total += sum(common(s) * (d - s) / (s * d) * p**d for d in range(s + 1, l + 1))
    return (1 - p) / p * total + ((common(l) - common(s)) / l + common(s) / s) * p**l


def orders(ranking):
    """All orders of tied documents."""
    groups = [permutations(g if isinstance(g, tuple) else (g,)) for g in ranking]
    return [[one for group in order for one in group] for order in product(*groups)]


LISTS = st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=10, unique=True)


@given(LISTS, LISTS, st.sampled_from([0.5, 0.9, 0.98]))
def test_rbo_is_that_of_a_loop_over_depths(first, second, p):
    found = overlaps(first, second, persistence=p)
    np.testing.assert_allclose(found.rbo[0, 0], plain_rbo(first, second, p), rtol=1e-12)


def test_rbo_of_all_topics_at_once_is_that_of_each():
    rng = np.random.default_rng(1)
    names = [f"d{n}" for n in range(12)]
    lists = [
        {str(t): rng.permutation(names)[: rng.integers(1, 12)].tolist() for t in range(40)}
        for _ in range(3)
    ]
    runs = [run_of(name, one) for name, one in zip("abc", lists, strict=True)]
    found = compare_lists(runs[0], runs[1:], depth=3, persistence=P, ties=None)
    for place, topic in enumerate(found.topics):
        for run in (1, 2):
            first, second = lists[0][topic], lists[run][topic]
            assert found.rbo[place, run - 1] == pytest.approx(plain_rbo(first, second), abs=1e-12)
            common = len({*first[:3]} & {*second[:3]}) / min(max(len(first), len(second)), 3)
            assert found.overlap[place, run - 1] == pytest.approx(common)
            assert found.identical[place, run - 1] == (first == second)


TIED = [
    (["a", ("b", "c"), "d"], [("a", "c"), "b", "d"]),
    ([("a", "b", "c"), "d"], ["d", "c", ("a", "b")]),
    ([("a", "b"), ("c", "d")], [("c", "d"), ("a", "e")]),
]


@pytest.mark.parametrize(("first", "second"), TIED)
def test_variant_a_is_the_mean_over_the_orders_of_ties(first, second):
    expected = np.mean([plain_rbo(x, y) for x in orders(first) for y in orders(second)])
    assert overlaps(first, second, ties="a").rbo[0, 0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("ties", "expected"), [("a", 0.6922853), ("b", 0.7207131)], ids=["average", "corrected"]
)
def test_tied_lists_against_corsi2024(ties, expected):
    """The example in the documentation of the authors' own program, github julian-urbano/sigir2024-rbo."""
    first = ["red", ("blue", "green"), "yellow", "pink"]
    second = [("blue", "red"), "white", ("yellow", "black", "purple"), "green"]
    found = overlaps(first, second, ties=ties, persistence=0.95)
    assert found.rbo[0, 0] == pytest.approx(expected, abs=5e-8)


def plain_tied_rbo(first, second, p=P):
    """Variant b by contributions of all documents at all depths, as Corsi & Urbano define it."""

    def contributions(ranking, depths):
        held, top = {}, 1
        for group in ranking:
            tied = group if isinstance(group, tuple) else (group,)
            for one in tied:
                above = [(d - top + 1) / len(tied) for d in range(1, depths + 1)]
                held[one] = np.clip(above, 0, 1)
            top += len(tied)
        return held

    sizes = [sum(len(g) if isinstance(g, tuple) else 1 for g in one) for one in (first, second)]
    if sizes[0] > sizes[1]:
        first, second, sizes = second, first, sizes[::-1]
    s, l = sizes  # noqa: E741 - as in the paper
    short, long = contributions(first, l), contributions(second, l)
    seen = sum((short[one] * long[one] for one in short if one in long), np.zeros(l))
    squares = [sum(c**2 for c in held.values()) for held in (short, long)]
    depths = np.arange(1, l + 1)
    squares[0] = np.where(depths > s, depths, squares[0])
    agreement = seen / np.sqrt(squares[0] * squares[1])
    end = agreement[s - 1]
    for d in range(s + 1, l + 1):
        own = [c[d - 1] for one, c in long.items() if one not in short and c[d - 1] > 0]
        unseen = (d - s) * end * np.mean(own)
        agreement[d - 1] = (seen[d - 1] + unseen) / np.sqrt(d * squares[1][d - 1])
    tail = (seen[-1] + (l - s) * end) / l * p**l
    return (1 - p) / p * float((agreement * p**depths).sum()) + tail


@given(st.data())
def test_variant_b_is_that_of_all_contributions(data):
    rankings = []
    for _ in range(2):
        documents = data.draw(LISTS)
        cuts = data.draw(st.sets(st.integers(1, 9)))
        places = [0, *sorted(c for c in cuts if c < len(documents)), len(documents)]
        rankings.append([tuple(documents[i:j]) for i, j in pairwise(places)])
    found = overlaps(*rankings, ties="b").rbo[0, 0]
    assert found == pytest.approx(plain_tied_rbo(*rankings), abs=1e-12)
    assert overlaps(rankings[0], rankings[0], ties="b").rbo[0, 0] == pytest.approx(1.0)


def test_a_topic_that_one_run_lacks_agrees_in_nothing():
    first = run_of("a", {"1": ["x", "y"], "2": ["x"]})
    second = run_of("b", {"1": ["x", "y"]})
    third = run_of("c", {"1": ["y", "x"], "3": ["x"]})
    found = compare_lists(first, [second, third], depth=10, persistence=P, ties=None)
    assert found.identical[:, 0].tolist()[:2] == [1.0, 0.0]
    np.testing.assert_allclose(found.rbo[:, 0], [1.0, 0.0, np.nan])
    np.testing.assert_allclose(found.overlap[:, 1], [1.0, 0.0, 0.0])


def test_lists_are_cut_and_tie_in_single_precision():
    cut = overlaps(["a", "b", "c"], ["a", "b", "d"], cut=2)
    assert (cut.identical[0, 0], cut.overlap[0, 0]) == (1.0, 1.0)
    close = build_run("x", ["1", "1"], ["a", "b"], np.array([1.0 + 1e-12, 1.0]))
    single = compare_lists(
        run_of("y", {"1": [("a", "b")]}),
        [close],
        depth=10,
        persistence=P,
        ties=None,
        tie_precision="single",
    )
    assert single.identical[0, 0] == 1.0


def scores_of(*columns):
    values = np.array(columns).T[:, :, None]
    names = tuple(f"t{n:02d}" for n in range(len(values)))
    return Scores(names, tuple(f"run{n}" for n in range(len(columns))), ("AP",), values)


def compared(*columns, margin=None):
    options = {"margin": margin, "level": 0.95, "replicates": None, "rng": 1}
    return compare_scores(scores_of(*columns), options)


@pytest.mark.parametrize("shift", [0.0, 0.004, 0.02])
def test_equivalence_against_statsmodels(shift):
    rng = np.random.default_rng(2)
    first = rng.random(30)
    second = first + shift + rng.normal(0, 0.01, 30)
    found = compared(first, second, margin=0.01)
    expected, *_ = ttost_paired(second, first, -0.01, 0.01)
    assert found.p_equivalence[0, 0] == pytest.approx(expected, rel=1e-9)
    assert (found.words[0, 0] == "equivalent") == (expected <= 0.05)
    low, high = stats.t.interval(0.95, 29, (second - first).mean(), stats.sem(second - first))
    np.testing.assert_allclose([found.low[0, 0], found.high[0, 0]], [low, high])


def test_differences_of_scores_by_hand():
    found = compared([0.1, 0.5, 0.9], [0.2, 0.5, 0.5])
    assert found.rmse[0, 0] == pytest.approx(np.sqrt((0.01 + 0.16) / 3))
    assert found.largest[0, 0] == pytest.approx(-0.4)
    assert found.largest_topic[0, 0] == "t02"
    assert found.difference[0, 0] == pytest.approx(-0.1)


def fieller_by_search(original, new, level):
    """The ρ at which the paired t statistic of new - ρ·original is at its quantile."""
    from scipy.optimize import brentq

    critical = stats.t.ppf((1 + level) / 2, len(new) - 1)

    def distance(rho):
        return abs(stats.ttest_1samp(new - rho * original, 0).statistic) - critical

    centre = new.mean() / original.mean()
    return brentq(distance, centre - 9, centre), brentq(distance, centre, centre + 9)


def test_fieller_limits_are_where_the_paired_t_test_turns():
    rng = np.random.default_rng(3)
    baseline = rng.random(40)
    original = baseline + rng.normal(0.1, 0.1, 40)
    new = baseline + 0.7 * (original - baseline) + rng.normal(0, 0.05, 40)
    found = effect_ratio(*(one[:, None] for one in (original, baseline, new, baseline)), level=0.9)
    expected = fieller_by_search(original - baseline, new - baseline, 0.9)
    np.testing.assert_allclose([found.low[0], found.high[0]], expected, rtol=1e-8)
    assert found.low[0] < found.ratio[0] < found.high[0]


def test_an_effect_ratio_has_no_interval_unless_the_original_improvement_is_significant():
    rng = np.random.default_rng(4)
    baseline = rng.random((20, 1))
    noise = rng.normal(0, 0.1, (20, 1))
    original = baseline + noise - noise.mean() + 0.001
    found = effect_ratio(original, baseline, baseline + 0.1, baseline, 0.95)
    assert stats.ttest_1samp(original - baseline, 0).pvalue[0] > 0.05
    assert np.isnan([found.low[0], found.high[0]]).all()
    assert found.ratio[0] == pytest.approx(100, rel=1e-6)
    one = effect_ratio(original[:1], baseline[:1], original[:1], baseline[:1], 0.95)
    assert np.isnan(one.low[0])
    none = effect_ratio(baseline, baseline, original, 0 * baseline, 0.95)
    assert np.isnan([none.ratio[0], none.delta_ri[0]]).all()


@pytest.mark.slow
def test_fieller_covers_the_true_ratio():
    rng = np.random.default_rng(5)
    covered = total = 0
    topics, samples, true = 25, 4000, 0.8
    shared = rng.normal(0, 0.08, (topics, samples))
    original = 0.1 + shared + rng.normal(0, 0.05, (topics, samples))
    new = true * 0.1 + shared + rng.normal(0, 0.05, (topics, samples))
    none = np.zeros_like(new)
    found = effect_ratio(original, none, new, none, 0.95)
    known = ~np.isnan(found.low)
    total = known.sum()
    covered = ((found.low <= true) & (true <= found.high))[known].mean()
    assert total > 0.99 * samples
    assert covered == pytest.approx(0.95, abs=4 * np.sqrt(0.05 * 0.95 / total))


@pytest.fixture(scope="module")
def sample():
    return short_sample()


def nearly(run, size, *, topics=None):
    """A run whose scores differ a little, on some topics."""
    rng = np.random.default_rng(6)
    entries = run.to_dict()
    for topic in topics or entries:
        held = entries[topic]
        noise = rng.normal(0, size, len(held))
        entries[topic] = {
            one: score + extra for (one, score), extra in zip(held.items(), noise, strict=True)
        }
    return confir.as_run(entries, name="new")


def test_verdicts_follow_their_order(sample):
    original = sample.runs[0]
    same = confir.as_run(original.to_dict(), name="same")
    near = nearly(original, 0.05, topics=original.topics[:20])
    other = next(run for run in sample.runs if run.name == "rerank")
    found = confir.compare_reproduction(
        original, [same, near, other], sample.qrels, ["AP"], margin=0.02, rng=1
    )
    assert found.verdict[:, 0].tolist() == ["identical lists", "equivalent", "different"]
    assert found.reproduced[:, 0].tolist() == [True, True, False]
    loose = confir.compare_reproduction(original, [near, other], sample.qrels, ["AP"], rng=1)
    assert loose.verdict[:, 0].tolist() == ["inconclusive", "different"]
    assert loose.reproduced[:, 0].tolist() == [True, False]
    bare = confir.compare_reproduction(original, [same, near])
    assert bare.verdict.tolist() == ["identical lists", "different lists"]
    assert bare.reproduced.tolist() == [True, False]
    assert [check.measure for check in bare.checks()] == ["lists", "lists"]


def test_identical_scores_of_different_lists_are_said_to_be_so():
    qrels = {str(t): {"r": 1} for t in range(8)}
    first = {str(t): {"r": 3.0, "x": 2.0, "y": 1.0} for t in range(8)}
    second = {str(t): {"r": 3.0, "x": 1.0, "y": 2.0} for t in range(8)}
    found = confir.compare_reproduction(first, second, qrels, "AP")
    assert found.verdict.tolist() == [["identical scores"]]
    assert found.reproduced.all()
    shown = confir.compare_reproduction(first, second, qrels, "AP", margin=0.1)
    assert shown.verdict.tolist() == [["equivalent"]]  # eight topics suffice for a sign-flip test


def test_a_constant_difference_is_decided_by_sign_flips():
    qrels = {str(t): {"r": 1} for t in range(8)}
    first = {str(t): {"r": 2.0, "x": 1.0} for t in range(8)}
    second = {str(t): {"r": 1.0, "x": 2.0} for t in range(8)}
    found = confir.compare_reproduction(first, second, qrels, "RR")
    assert found.verdict.tolist() == [["different"]]
    assert found.differences.difference[0, 0] == pytest.approx(-0.5)
    assert np.isnan(found.differences.low).all()
    (check,) = found.checks()
    assert not check.passes
    assert "the same difference on all 8 topics" in check.said


def test_one_topic_has_no_interval():
    qrels = {"1": {"r": 1}}
    found = confir.compare_reproduction(
        {"1": {"r": 2.0, "x": 1.0}}, {"1": {"r": 1.0, "x": 2.0}}, qrels, "RR", margin=0.1
    )
    assert found.verdict.tolist() == [["inconclusive"]]
    assert found.differences.difference.tolist() == [[-0.5]]
    assert not found.reproduced.any()
    same = confir.compare_reproduction({"1": {"r": 2.0}}, {"1": {"r": 3.0}}, qrels, "RR")
    assert same.verdict.tolist() == [["identical lists"]]


def test_runs_of_one_name_are_distinguished(sample):
    original = sample.runs[0]
    found = confir.compare_reproduction(
        original,
        [original, sample.runs[2]],
        sample.qrels,
        "P@10",
        baseline_runs=[sample.runs[3], sample.runs[3]],
        rng=1,
    )
    assert found.original == f"{original.name} (original)"
    assert found.runs == (original.name, sample.runs[2].name)
    assert found.effects.ratio[0, 0] == pytest.approx(1)
    assert found.effects.delta_ri[0, 0] == pytest.approx(0)


def test_topics_that_one_run_lacks_are_named(sample):
    whole = sample.runs[0]
    entries = whole.to_dict()
    lacking = confir.as_run({t: entries[t] for t in whole.topics[2:]}, name="short")
    with pytest.warns(TopicWarning, match=r"'short' lacks 2 topics \(101, 102\) of 'bm25'"):
        found = confir.compare_reproduction(whole, lacking)
    assert found.identical[0] == pytest.approx(1 - 2 / len(whole.topics))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"runs": {"9": {"d": 1.0}}}, TopicMismatchError, "have no topic in common"),
        ({"margin": 0.1}, InvalidValueError, "are about scores; expected qrels"),
        ({"persistence": 1.0}, InvalidValueError, "between 0 and 1"),
        ({"ties": "w"}, UnknownNameError, "known: a, b"),
        ({"overlap_depth": 0}, InvalidValueError, "overlap_depth"),
        (
            {"baseline_runs": [{"1": {"d": 1.0}}], "qrels": {"1": {"d": 1}}},
            InvalidValueError,
            "has 1 run; expected",
        ),
        ({"original": [{"1": {"d": 1.0}}] * 2}, InvalidValueError, "stands for 2 runs"),
    ],
)
def test_what_cannot_be_compared_is_named(change, error, message):
    given = {"original": {"1": {"d": 1.0}}, "runs": {"1": {"d": 1.0}}}
    with pytest.raises(error, match=message):
        confir.compare_reproduction(**given | change)


def test_effect_ratios_need_a_simple_sample(sample):
    runs = sample.runs
    with pytest.raises(confir.errors.UnsupportedMethodError, match="effect ratio assumes"):
        confir.compare_reproduction(
            *(runs[0], runs[2], sample.qrels, "AP"),
            baseline_runs=runs[3:5],
            design={topic: topic[:2] for topic in sample.qrels.topics},
        )


def test_tables_fit_a_terminal_of_80_columns(sample):
    runs = sample.runs
    found = confir.compare_reproduction(
        *(runs[0], runs[2:4], sample.qrels, ["AP", "nDCG@10"]), baseline_runs=runs[4:6], rng=1
    )
    lines = to_text(result_table(found), width=80).splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("run ") for line in lines) > 1  # in parts, each with the names


def test_hostile_names_are_escaped():
    name = "<script>alert(1)</script>"
    lists = {name: {"d": 1.0, "e": 0.5}, "2": {"d": 1.0}}
    other = {name: {"e": 1.0, "d": 0.5}, "2": {"d": 1.0}}
    qrels = {name: {"d": 1}, "2": {"d": 1}}
    found = confir.compare_reproduction(
        confir.as_run(lists, name=name), confir.as_run(other, name=name), qrels, "RR"
    )
    page = to_html(result_table(found))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
