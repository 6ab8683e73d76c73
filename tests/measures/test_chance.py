"""Expected scores of random rankings against all rankings, exact arithmetic and random rankings."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import confir
from confir.errors import InvalidValueError, UnsupportedMethodError
from confir.measures.random_rankings import (
    chance_corrected,
    expected_random_ap,
    expected_random_score,
    random_score_moments,
)


def all_relevances(documents: int) -> np.ndarray:
    """Every way in which ranks can be relevant or not: 2^N rows."""
    return np.array(list(product((0, 1), repeat=documents)))


def scores_of_all(relevance: np.ndarray, depth: int) -> dict[str, np.ndarray]:
    """Scores by all binary measures of every row, its list cut after some ranks."""
    total = np.maximum(relevance.sum(axis=1), 1)
    shown = relevance.copy()
    shown[:, depth:] = 0
    ranks = np.arange(1, relevance.shape[1] + 1)
    found = np.cumsum(shown, axis=1)
    any_found = found[:, -1] > 0
    first = np.where(any_found, shown.argmax(axis=1) + 1, 1)
    scores = {
        "AP": (shown * found / ranks).sum(axis=1) / total,
        "RR": np.where(any_found, 1 / first, 0.0),
        "Rprec": np.where(
            relevance.any(axis=1), found[np.arange(len(found)), total - 1] / total, 0.0
        ),
    }
    for cutoff in (1, 2, 4, 12):
        seen = found[:, min(cutoff, found.shape[1]) - 1]
        before_cutoff = any_found & (first <= cutoff)
        scores[f"P@{cutoff}"] = seen / cutoff
        scores[f"R@{cutoff}"] = seen / total
        scores[f"Success@{cutoff}"] = (seen > 0).astype(float)
        scores[f"RR@{cutoff}"] = np.where(before_cutoff, 1 / first, 0.0)
        scores[f"AP@{cutoff}"] = (shown * found / ranks)[:, :cutoff].sum(axis=1) / total
        scores[f"RBP(p=0.6)@{cutoff}"] = (shown * 0.4 * 0.6 ** (ranks - 1))[:, :cutoff].sum(axis=1)
    return scores


@pytest.mark.parametrize("documents", range(1, 10))
def test_mean_and_variance_of_every_binary_measure_against_enumeration(documents):
    relevance = all_relevances(documents)
    count = relevance.sum(axis=1)
    for depth in range(1, documents + 1):
        for measure, scores in scores_of_all(relevance, depth).items():
            relevant = np.arange(documents + 1)
            means = expected_random_score(measure, documents, relevant, depth)
            variances = random_score_moments(measure, documents, relevant, depth)[1]
            for r in relevant:
                label = f"{measure} N={documents} R={r} depth={depth}"
                among = scores[count == r]
                assert means[r] == pytest.approx(among.mean(), abs=1e-14), label
                assert variances[r] == pytest.approx(among.var(), abs=1e-14), label


@pytest.mark.parametrize("measure", ["nDCG", "nDCG@2", "nDCG(dcg='exp-log2')@3", "RBP(p=0.7)"])
@pytest.mark.parametrize("gains", [(0,), (1,), (1, 0, 2), (3, 1, 1, 0, 0), (2, 2, 1, 3, 0, 0, 0)])
def test_mean_and_variance_of_graded_measures_against_enumeration(measure, gains):
    documents = len(gains)
    counts = {gain: gains.count(gain) for gain in set(gains) if gain}
    for depth in range(1, documents + 1):
        scores = [graded_score(measure, order[:depth], gains) for order in permutations(gains)]
        found = expected_random_score(measure, documents, counts, depth)
        assert found == pytest.approx(np.mean(scores), abs=1e-14)
        spread = random_score_moments(measure, documents, counts, depth)[1]
        assert spread == pytest.approx(np.var(scores), abs=1e-14)


def graded_score(measure: str, shown: tuple[int, ...], judged: tuple[int, ...]) -> float:
    if measure.startswith("RBP"):
        return sum(0.3 * 0.7**place * gain for place, gain in enumerate(shown))
    cutoff = int(measure.partition("@")[2] or 99)
    weigh = (lambda gain: 2**gain - 1) if "exp" in measure else (lambda gain: gain)

    def dcg(ranked):
        return sum(weigh(g) / math.log2(place + 2) for place, g in enumerate(ranked[:cutoff]))

    ideal = dcg(sorted(judged, reverse=True))
    return dcg(shown) / ideal if ideal else 0.0


def exact_ap_moments(documents: int, relevant: int, depth: int) -> tuple[Decimal, Decimal]:
    """The formulas of the specification, second moment minus squared mean, at 100 digits."""
    n, r, k = Decimal(documents), Decimal(relevant), Decimal(depth)
    h, g = exact_sums(depth)
    e = (h * h - g) / 2
    p = [Decimal(1)]
    for j in range(4):
        p.append(p[-1] * (r - j) / (n - j) if j < relevant else Decimal(0))
    mean = (h + ((r - 1) * (k - h) / (n - 1) if documents > 1 else 0)) / n
    second = p[1] * g + 3 * p[2] * (h - g) + p[3] * (k - 3 * h + 2 * g)
    second += 2 * (
        2 * p[2] * e
        + p[3] * (k * h - k - 2 * e)
        + 3 * p[3] * (k - h - e)
        + p[4] * (k * (k - 1) / 2 - 3 * (k - h) - k * h + k + 3 * e)
    )
    return mean, second / r**2 - mean**2


def exact_sums(count: int) -> tuple[Decimal, Decimal]:
    """Sums of 1/r and 1/r² at many digits: added up, or by the Euler-Maclaurin formula."""
    if count < 2_000:
        ranks = [Decimal(rank) for rank in range(1, count + 1)]
        return sum((1 / r for r in ranks), Decimal(0)), sum((1 / r**2 for r in ranks), Decimal(0))
    gamma = "0.57721566490153286060651209008240243104215933593992359880576723488486772677766467"
    pi = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899"
    n = Decimal(count)
    bernoulli = [
        Fraction(1, 6),
        Fraction(-1, 30),
        Fraction(1, 42),
        Fraction(-1, 30),
        Fraction(5, 66),
    ]
    numbers = [Decimal(b.numerator) / b.denominator for b in bernoulli]
    h = n.ln() + Decimal(gamma) + 1 / (2 * n)
    g = Decimal(pi) ** 2 / 6 - 1 / n + 1 / (2 * n * n)
    for i, b in enumerate(numbers, 1):
        h -= b / (2 * i * n ** (2 * i))
        g -= b / n ** (2 * i + 1)
    return h, g


@pytest.mark.parametrize("documents", [10, 100, 12_345, 10**6, 10**9, 10**12])
def test_ap_is_exact_to_the_last_digits_up_to_a_million_million_documents(documents):
    n = documents
    few = {1, 2, 3, 10}
    for relevant in sorted(few | {n // 10, n // 2, n - 2, n - 1, n}):
        for depth in sorted(few | {min(n, 1_000), n // 2, n - 1, n}):
            with localcontext() as context:
                context.prec = 100
                mean, variance = exact_ap_moments(n, relevant, depth)
            label = f"N={n} R={relevant} depth={depth}"
            found = expected_random_ap(n, relevant, depth)
            assert found == pytest.approx(float(mean), rel=1e-14, abs=0), label
            spread = random_score_moments("AP", n, relevant, depth)[1]
            assert spread == pytest.approx(float(variance), rel=1e-12, abs=1e-75), label


def test_a_ranking_of_relevant_documents_alone_has_ap_1_without_variance():
    for documents in (1, 2, 3, 1_000, 10**12):
        assert expected_random_ap(documents, documents) == pytest.approx(1, rel=1e-14)
        assert random_score_moments("AP", documents, documents)[1] == 0


def added_rr(documents: int, relevant: int, depth: int) -> tuple[float, float]:
    """Mean and variance of RR, rank by rank."""
    missed, terms = 1.0, []
    for rank in range(1, min(depth, documents - relevant + 1) + 1):
        terms.append((missed * relevant / (documents - rank + 1), rank))
        missed *= (documents - relevant - rank + 1) / (documents - rank + 1)
    mean = math.fsum(p / rank for p, rank in terms)
    return mean, math.fsum(p * (1 / rank - mean) ** 2 for p, rank in terms) + missed * mean**2


@pytest.mark.parametrize(
    ("documents", "relevant", "depth"),
    [
        (1_000, 10, 1_000),
        (1_000, 10, 500),
        (300, 2, 299),
        (300, 44, 300),
        (257, 1, 257),
        (100_000, 3, 100_000),
        (100_000, 1_000, 1_000),
        (100_000, 50, 256),
        (100_000, 50, 257),
        (10**12, 5 * 10**9, 100_000),
        (10**12, 10**12 - 5, 20),
    ],
)
def test_long_sums_of_rr_equal_the_added_terms(documents, relevant, depth):
    mean, variance = added_rr(documents, relevant, depth)
    assert expected_random_score("RR", documents, relevant, depth) == pytest.approx(mean, rel=2e-12)
    found = random_score_moments(f"RR@{depth}", documents, relevant)[1]
    assert found == pytest.approx(variance, rel=2e-12)


def test_success_is_exact_for_large_collections():
    # 1 - (1 - R/N)…: ten draws from a million million, a thousand of them relevant
    exact = 1 - math.prod(Fraction(10**12 - 1_000 - i, 10**12 - i) for i in range(10))
    found = expected_random_score("Success@10", 10**12, 1_000)
    assert found == pytest.approx(float(exact), rel=1e-12)


@pytest.fixture(scope="module")
def random_run():
    """600 topics of 300 documents, gains 1 to 3, and a run of random lists of 120."""
    rng = np.random.default_rng(7)
    documents = [f"d{i}" for i in range(300)]
    qrels = {
        str(t): {documents[i]: 1 + i % 3 for i in range(24)} | {documents[99]: 0}
        for t in range(600)
    }
    run = {
        topic: {documents[i]: 1_000.0 - place for place, i in enumerate(rng.permutation(300)[:120])}
        for topic in qrels
    }
    return qrels, run


MEASURES = [
    "AP",
    "AP(rel=2)@50",
    "P@10",
    "P(rel=3)@200",
    "R@30",
    "Rprec",
    "RR",
    "RR(rel=3)@20",
    "nDCG",
    "nDCG@10",
    "nDCG(dcg='exp-log2')@20",
    "nDCG(gains='1:0,2:1,3:5')@20",
    "RBP",
    "RBP(p=0.9,rel=2)@40",
    "Success@5",
]


@pytest.mark.parametrize("measure", MEASURES)
def test_moments_agree_with_the_scores_of_random_lists(random_run, measure):
    qrels, run = random_run
    scores = confir.evaluate(qrels, {"random": run}, measure).values[:, 0, 0]
    counts = {1: 8, 2: 8, 3: 8}
    mean = expected_random_score(measure, 300, counts, 120)
    sd = math.sqrt(random_score_moments(measure, 300, counts, 120)[1])
    assert abs(scores.mean() - mean) < 4 * sd / math.sqrt(len(scores))
    assert scores.std() == pytest.approx(sd, rel=0.25)


@given(st.integers(1, 10**12), st.floats(0, 1), st.floats(0, 1))
def test_expectations_lie_between_0_and_1_and_grow_with_depth(documents, share, part):
    relevant = min(documents, max(1, round(share * documents)))
    depth = min(documents, max(1, round(part * documents)))
    cut, whole = expected_random_ap(documents, relevant, np.array([depth, documents]))
    assert 0 < cut <= whole * (1 + 1e-14) <= 1 + 1e-12
    assert random_score_moments("AP", documents, relevant, depth)[1] >= 0


def test_numbers_give_a_number_and_arrays_an_array():
    assert isinstance(expected_random_ap(5, 2), float)
    grid = expected_random_ap(np.array([[5], [10]]), np.array([1, 2]))
    assert grid.shape == (2, 2)
    assert grid[0, 1] == expected_random_ap(5, 2)
    assert grid[1, 0] == expected_random_ap(10, 1)


def test_without_relevant_documents_chance_scores_0():
    for measure in ("AP", "P@5", "R@5", "Rprec", "RR", "nDCG", "RBP", "Success@5"):
        assert expected_random_score(measure, 10, 0) == 0
        assert random_score_moments(measure, 10, 0)[1] == 0


def test_chance_correction_maps_chance_to_0_and_perfection_to_1():
    corrected = chance_corrected(np.array([0.2, 1.0, 0.1, 1.0]), np.array([0.2, 0.2, 0.2, 1.0]))
    assert corrected[:3] == pytest.approx([0.0, 1.0, -0.125])
    assert np.isnan(corrected[3])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 0), "documents is 0; expected a whole number from 1"),
        ((-3, 1), "documents is -3"),
        ((5, -1), "relevant is -1; expected a whole number from 0"),
        ((5, 6), "6 documents cannot be relevant: the collection has only 5"),
        ((5, 2, 0), "depth is 0; expected a whole number from 1"),
        ((5, 2, 6), "a depth of 6 exceeds the 5 documents"),
        ((5.5, 2), "documents is 5.5"),
        (("5", 2), "documents is '5'"),
        ((True, 1), "documents is True"),
        ((10**400, 2), "documents is 1000"),
        ((math.nan, 2), "documents is nan"),
        (([5, 6], [1, 2, 3]), "incompatible shapes"),
        (([5, 9], [2, 12]), "12 documents cannot be relevant: the collection has only 9"),
    ],
)
def test_impossible_collections_are_named(arguments, message):
    with pytest.raises(InvalidValueError, match=message):
        expected_random_ap(*arguments)


def test_relevant_documents_of_all_gains_count_together():
    with pytest.raises(InvalidValueError, match="7 documents cannot be relevant"):
        expected_random_score("nDCG", 6, {1: 4, 2: 3})


def test_a_measure_without_closed_form_names_those_that_have_one():
    with pytest.raises(UnsupportedMethodError, match=r"ERR@20 .* AP, P, R, Rprec, RR, nDCG, RBP"):
        expected_random_score("ERR@20", 10, 2)


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("RBP(p=0)", "RBP's p is 0;"),
        ("RBP(p=1.5)", "RBP's p is 1.5"),
        ("RBP(rel=2,gains='2:1')", "rel or gains, not both"),
        ("nDCG(dcg='exp-log2')", "too high for dcg='exp-log2'"),
    ],
)
def test_parameters_without_sense_are_named(measure, message):
    with pytest.raises(InvalidValueError, match=message):
        expected_random_score(measure, 10, {2_000: 2})


def test_collections_are_as_large_as_doubles_count():
    assert expected_random_ap(2**53, 2**53) == pytest.approx(1.0)
    with pytest.raises(InvalidValueError, match=f"from 1 to {2**53}"):
        expected_random_ap(2**54, 1)


def test_documents_of_gain_zero_may_be_counted():
    assert expected_random_score("nDCG", 10, {0: 5, 1: 2}) == expected_random_score("nDCG", 10, 2)
