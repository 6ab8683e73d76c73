"""Documents sampled for human judgement: exact expectations by enumeration, and simulations."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import confir
from confir.data.formats.format import Reading
from confir.data.formats.sampled_qrels import read_sampled
from confir.errors import (
    FormatError,
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    UnsupportedMethodError,
)
from confir.measures.estimated_judgements import DocumentSample
from confir.measures.estimated_scores import Listed, _Spread, precision_sums, score_sampled_lists
from confir.measures.parsing import parse_measure
from judge_files import noisy_judge
from samples import short_sample

MODEL = np.array([2, 1, 0, 1, 0, 1, 2, 0])
HUMAN = np.array([1, 0, 1, 2, 2, 0, 1, 0])
CHANCE = np.array([0.5, 0.9, 0.3, 0.6, 0.7, 0.4, 1.0, 0.2])
TOPICS = np.repeat([0, 1], 4)
# Two topics and two runs: the lists of the first run, then of the second; one document is not judged.
LISTED = Listed(
    lists=np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 3]),
    topics=np.array([0, 1, 0, 1]),
    rank=np.array([0, 1, 3, 0, 1, 0, 1, 2, 3, 1]),
    document=np.array([2, 0, 3, 5, 4, 3, 1, 0, 2, 6]),
)

RATES = np.array([0.5, 1.0])


def drawn(pattern):
    held = np.array(pattern, bool)
    return DocumentSample(
        TOPICS, MODEL, np.where(held, HUMAN, 0), held, np.where(held, CHANCE, 1.0)
    )


def expectation(name):
    """Expected score, variance of the scores, and expected estimate of it: over all draws."""
    scores, variances, chances = [], [], []
    for pattern in product([0, 1], repeat=8):
        chance = np.prod(np.where(pattern, CHANCE, 1 - CHANCE))
        if chance > 0:
            found = score(name, drawn(pattern))
            scores.append(found.value.ravel())
            variances.append(found.variance.ravel())
            chances.append(chance)
    mean = np.average(scores, axis=0, weights=chances)
    return (
        mean,
        np.average((scores - mean) ** 2, axis=0, weights=chances),
        np.average(variances, axis=0, weights=chances),
    )


def score(name, sample, listed=LISTED):
    rng = np.random.default_rng(1)
    return score_sampled_lists([parse_measure(name)], sample, listed, RATES, rng)[0]


def plain(weight, gain):
    """The sum of weights of ranks times human gains, of each list."""
    sums = np.zeros(4)
    for place, rank, document in zip(LISTED.lists, LISTED.rank, LISTED.document, strict=True):
        sums[place] += weight(rank) * gain(HUMAN[document])
    return sums


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("P@3", plain(lambda r: (r < 3) / 3, lambda g: g >= 1)),
        ("P(rel=2)@4", plain(lambda r: (r < 4) / 4, lambda g: g >= 2)),
        ("RBP(p=0.7,rel=1)", plain(lambda r: 0.3 * 0.7**r, lambda g: g >= 1)),
        ("RBP(p=0.5)", plain(lambda r: 0.5 * 0.5**r, lambda g: g)),
    ],
)
def test_sums_of_gains_are_without_bias_against_enumeration(name, expected):
    mean, variance, estimated = expectation(name)
    np.testing.assert_allclose(mean, expected, atol=1e-12)
    np.testing.assert_allclose(estimated, variance, atol=1e-12)
    assert (variance > 0.01).any()


def test_the_sum_of_ap_is_without_bias_against_enumeration():
    add_up = precision_sums(LISTED)
    mean = np.zeros(4)
    for pattern in product([0, 1], repeat=8):
        chance = np.prod(np.where(pattern, CHANCE, 1 - CHANCE))
        mean += chance * add_up(drawn(pattern).has_gain(1).value[:, None])[:, 0]
    relevant = HUMAN >= 1
    sums = np.zeros(4)
    for place in range(4):
        above = 0
        for rank, document in zip(
            LISTED.rank[LISTED.lists == place], LISTED.document[LISTED.lists == place], strict=True
        ):
            above += relevant[document]
            sums[place] += relevant[document] * above / (rank + 1)
    np.testing.assert_allclose(mean, sums, atol=1e-12)


def every_draw(model, human, chance, ranked):
    """A topic per draw of the same documents, with one list; and the chances of the draws."""
    size = len(human)
    held = np.array(list(product([False, True], repeat=size)))
    topics = np.arange(len(held))
    sample = DocumentSample(
        np.repeat(topics, size),
        np.tile(model, len(held)),
        np.where(held, human, 0).ravel(),
        held.ravel(),
        np.where(held, chance, 1.0).ravel(),
    )
    documents = (size * topics[:, None] + ranked).ravel()
    ranks = np.tile(np.arange(len(ranked)), len(held))
    listed = Listed(np.repeat(topics, len(ranked)), topics, ranks, documents)
    return sample, listed, np.prod(np.where(held, chance, 1 - chance), axis=1)


@pytest.mark.parametrize("chances", [[0.8, 0.8], [0.7, 0.4], [0.4, 1.0]])
def test_replicates_give_the_variance_of_ratios_against_enumeration(chances):
    """All 1,024 draws of ten documents, with probabilities of which some are no 1/n, or certain."""
    human = np.array([1, 2, 0, 1, 0, 2, 1, 0, 1, 1])
    model = np.array([2, 1, 0, 1, 1, 2, 1, 0, 0, 1])
    sample, listed, weights = every_draw(model, human, np.tile(chances, 5), [3, 7, 0, 4, 9])
    for name in ("R@4", "AP", "nDCG@5"):
        found = score(name, sample, listed)
        values = found.value[0]
        truth = np.average(np.square(values - weights @ values), weights=weights)
        assert 0.7 < weights @ found.variance[0] / truth < 1.2, name


def test_spread_of_replicates_in_parts_is_that_of_all_against_numpy():
    scores = np.random.default_rng(1).random((3, 2, 9))  # runs, topics, replicates
    lists = scores.reshape(6, 9)
    found = _Spread.around(np.full((3, 2), 0.4)).add(lists[:, :4]).add(lists[:, 4:])
    np.testing.assert_allclose(found.variance(), scores.var(axis=2, ddof=1))
    expected = (np.cov(scores[:, 0]) + np.cov(scores[:, 1])) / 2
    np.testing.assert_allclose(found.covariance(), expected)


def test_documents_that_are_certain_to_be_drawn_do_not_vary():
    chance = np.array([1.0, 0.7, 0.5, 1 / 3, 1e-12])
    sample = DocumentSample(np.zeros(5, int), np.ones(5, int), np.ones(5, int), chance > 0, chance)
    for rate in (0.5, 1.0, 1.6):
        weights = sample.redraw(rate, 4000, np.random.default_rng(1)).weights[:4]
        inner = np.minimum(rate * chance[:4], 1.0)
        expected = chance[:4] * (1 - inner) / inner
        np.testing.assert_allclose(weights.mean(axis=1), 1.0, atol=0.1)
        np.testing.assert_allclose(weights.var(axis=1), expected, rtol=0.1)
        assert (np.ptp(weights[inner == 1], axis=1) == 0).all()


def test_the_model_counts_as_much_as_least_squares_over_the_other_topics_say():
    pattern = np.array([1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 0], bool)
    model = np.array([1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1])
    human = np.where(pattern, [1, 0, 1, 0, 0, 1, 0, 0, 1, 0, 1, 0], 0)
    chance = np.where(pattern, [0.4, 0.7, 0.5, 1, 0.9, 0.5, 1, 0.4, 0.6, 0.5, 0.1, 1], 1.0)
    sample = DocumentSample(np.repeat([0, 1, 2], 4), model, human, pattern, chance)
    found = sample.has_gain(1).value
    for topic, undrawn in enumerate([3, 6, 11]):
        others = pattern & (sample.topics != topic)
        root = np.sqrt(1 - chance[others]) / chance[others]
        (slope,), *_ = np.linalg.lstsq((root * model[others])[:, None], root * human[others])
        assert 0.1 < slope < 0.9
        assert found[undrawn] == pytest.approx(slope, rel=1e-12)


def test_a_topic_with_one_relevant_document_is_scored_as_by_human_judgements():
    held = np.ones(8, bool)
    sample = DocumentSample(TOPICS, MODEL, np.eye(8, dtype=int)[2], held, np.ones(8))
    for name, expected in [("AP", [1.0, 0, 0.25, 0]), ("R@4", [1.0, 0, 1.0, 0])]:
        np.testing.assert_allclose(score(name, sample).value.ravel(), expected, atol=1e-15)


def test_numbers_of_documents_at_other_rates_are_without_bias_against_enumeration():
    rates = np.array([0.5, 1.0, 2.0])
    found = sum(
        np.prod(np.where(pattern, CHANCE, 1 - CHANCE)) * drawn(pattern).expected(rates)
        for pattern in product([0, 1], repeat=8)
    )
    np.testing.assert_allclose(found, np.minimum(rates[:, None] * CHANCE, 1.0).sum(axis=1))


def test_rates_go_from_half_the_sample_to_all_documents():
    found = drawn([1, 0, 1, 1, 0, 1, 1, 1]).rates()
    assert (np.diff(found) > 0).all()
    assert found[[0, 1, -1]] == pytest.approx([0.5, 1.0, 1 / 0.2], rel=1e-12)


def test_covariances_at_other_rates_are_without_bias_against_enumeration():
    """Of two runs by P@3, with a model that finds nothing; at rate 2 some are certain to be drawn."""
    rates = np.array([0.5, 1.0, 2.0])
    patterns = np.array(list(product([0, 1], repeat=8)), bool)
    weights = np.zeros((4, 8))
    weights[LISTED.lists, LISTED.document] = (LISTED.rank < 3) / 3
    expected = []
    for rate in rates:
        chance = np.minimum(rate * CHANCE, 1.0)
        scores = (patterns * (HUMAN >= 1) / chance) @ weights.T
        likely = np.prod(np.where(patterns, chance, 1 - chance), axis=1)
        between = np.cov(scores.T, aweights=likely, ddof=0).reshape(2, 2, 2, 2)
        expected.append((between[:, 0, :, 0] + between[:, 1, :, 1]) / 2)
    found = np.zeros((3, 2, 2))
    for pattern in patterns:
        sample = replace(drawn(pattern), model=np.zeros(8, int))
        scored = score_sampled_lists(
            [parse_measure("P@3")], sample, LISTED, rates, np.random.default_rng(1)
        )
        found += np.prod(np.where(pattern, CHANCE, 1 - CHANCE)) * scored[0].covariance
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_gains_are_without_bias_against_enumeration_and_so_is_dcg():
    levels, gains = np.array([1, 2]), np.array([1.0, 3.0])
    weights = LISTED.weigh(1.0 / np.log2(np.arange(4) + 2.0), 8)
    expected = np.zeros(8)
    for pattern in product([0, 1], repeat=8):
        chance = np.prod(np.where(pattern, CHANCE, 1 - CHANCE))
        expected += chance * drawn(pattern).gain(levels, gains).value
    people = np.array([0.0, 1.0, 3.0])[HUMAN]
    np.testing.assert_allclose(expected, people, atol=1e-12)
    dcg = plain(lambda r: 1 / np.log2(r + 2), lambda g: [0, 1, 3][g])
    np.testing.assert_allclose(weights @ expected, dcg, atol=1e-12)


SAMPLE = short_sample()
RUNS = [run for run in SAMPLE.runs if run.name in ("bm25", "dense", "rerank")]
PEOPLE = SAMPLE.qrels.to_dict()
BY_MODEL = noisy_judge(SAMPLE.qrels, leniency=0.3, noise=0.5)
MEASURES = [
    "P@10",
    "RBP(rel=1)",
    "RBP",
    "R@100",
    "AP",
    "AP(rel=2)@20",
    "nDCG@10",
    "nDCG",
    "nDCG(dcg='exp-log2')@5",
]


def draw(rng, low=0.2, high=0.6):
    return {
        topic: {
            docid: (PEOPLE[topic][docid], chance)
            for docid, gain in judged.items()
            if rng.random() < (chance := high if gain >= 1 else low)
        }
        for topic, judged in BY_MODEL.items()
    }


def sampled(human, measures=MEASURES, rng=1, **rules):
    given = {"human": human, "human_sample": "random-documents", "rng": rng}
    return confir.evaluate(BY_MODEL, RUNS, measures, **given, **rules)


def test_the_seed_of_a_report_decides_the_replicates_of_the_draw(tmp_path, monkeypatch):
    human, pages = draw(np.random.default_rng(1)), []

    def render(contents, *_, **__):
        pages.append(contents.scores.document_variance)
        return ""

    monkeypatch.setattr("confir.report.report_page.render_page", render)
    for seed in (5, 5, 6):
        given = {"human": human, "human_sample": "random-documents"}
        experiment = confir.Experiment(BY_MODEL, RUNS[:2], ["nDCG@10"], **given)
        confir.write_report(tmp_path / "r.html", experiment, replicates=99, rng=seed)
    np.testing.assert_array_equal(pages[0], pages[1])
    assert (pages[0] != pages[2]).any()


@pytest.mark.filterwarnings("ignore:RBP.* is up to:confir.errors.InputWarning")
def test_if_all_documents_are_drawn_scores_are_those_by_human_judgements():
    every = {t: {d: (gain, 1.0) for d, gain in judged.items()} for t, judged in PEOPLE.items()}
    for rules in ({}, {"depth": 30}):
        found = sampled(every, **rules)
        expected = confir.evaluate(SAMPLE.qrels, RUNS, MEASURES, **rules)
        np.testing.assert_allclose(found.values, expected.values, atol=1e-12)
        assert found.document_variance.max() < 1e-20
    assert found.topics == expected.topics
    assert found.human_documents == found.model_documents


@pytest.mark.slow
def test_means_and_variances_in_many_draws():
    """Ratios have a bias that is small compared to the model's; variances are those of the draws."""
    rng = np.random.default_rng(3)
    names = ["P@10", "R@100", "AP", "nDCG@10"]
    kept = list(PEOPLE)[:12]
    model = {topic: BY_MODEL[topic] for topic in kept}
    runs = [{t: run.to_dict()[t] for t in kept} for run in RUNS[:2]]
    experiment = {"qrels": model, "runs": {"one": runs[0], "two": runs[1]}, "measures": names}

    def once():
        human = {t: judged for t, judged in draw(rng).items() if t in model}
        given = {"human": human, "human_sample": "random-documents", "rng": rng}
        return confir.evaluate(**experiment, **given, depth=100)

    found = [once() for _ in range(40)]
    people = {topic: PEOPLE[topic] for topic in kept}
    truth = confir.evaluate(people, experiment["runs"], names, depth=100).mean()
    means = np.array([one.mean() for one in found])
    error = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    off = np.abs(means.mean(axis=0) - truth)
    assert (off[:, 0] < 4 * error[:, 0]).all()
    assert (off < 0.05).all()
    model_off = np.abs(confir.evaluate(**experiment, depth=100).mean() - truth)
    assert off.sum() < model_off.sum() / 2
    values = np.array([one.values for one in found])
    empirical = values.var(axis=0, ddof=1).sum(axis=0)
    estimated = np.mean([one.document_variance for one in found], axis=0).sum(axis=0)
    np.testing.assert_allclose(estimated / empirical, 1.0, atol=0.4)


@pytest.mark.filterwarnings("ignore:RBP.* is up to:confir.errors.InputWarning")
def test_intervals_over_topics_take_the_draw_into_account():
    found = sampled(draw(np.random.default_rng(1)))
    interval = confir.confidence_interval(found)
    assert set(interval.methods) == {"t"}
    whole = confir.evaluate(SAMPLE.qrels, RUNS, MEASURES)
    alone = confir.confidence_interval(whole, method="t")
    assert np.mean(interval.high - interval.low) > np.mean(alone.high - alone.low)
    share = found.document_share()
    assert ((share > 0) & (share <= 1)).all()
    assert share[:, 0].max() < 0.3
    comparison = confir.compare_runs(found, replicates=99, rng=1)
    assert comparison.topics.max() == 50
    selected = found.select(run="bm25", measure="AP")
    assert selected.document_variance.shape == (50, 1, 1)


def test_replicates_of_the_draw_are_those_of_the_seed_whatever_else_is_scored():
    human = draw(np.random.default_rng(1))
    several = sampled(human, ["P@5", "R@5", "nDCG@5"], rng=7)
    alone = sampled(human, ["nDCG@5"], rng=7)
    np.testing.assert_array_equal(alone.document_variance, several.document_variance[:, :, 2:])
    other = sampled(human, ["P@5", "R@5"], rng=8)
    same = other.document_variance == several.document_variance[:, :, :2]
    assert same[:, :, 0].all()
    assert not same[:, :, 1].all()
    with pytest.raises(InvalidValueError, match="rng is given beside an Experiment"):
        confir.evaluate(confir.Experiment(BY_MODEL, RUNS), rng=7)
    with pytest.raises(InvalidValueError, match="rng"):
        sampled(human, ["R@5"], rng="seven")


def test_measures_that_are_no_sums_are_refused():
    for name in ("RR", "ERR@10", "Bpref", "Rprec", "Judged@10"):
        with pytest.raises(UnsupportedMethodError, match="no sum of gains, nor a ratio"):
            sampled(draw(np.random.default_rng(1)), [name])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("1 0 a 1\n", r":1: 4 columns; expected 5: topic, subtopic, docid, gain, probability"),
        ("# drawn\n\n1 0 a 1 0\n", r":3: '0' in column 5; expected the probability of being drawn"),
        ("1 0 a 1 nan\n", "'nan' in column 5"),
        ("1 0 a 1 1.5\n", "'1.5' in column 5"),
        ("1 0 a x 0.5\n", r":1: gain 'x' is not a whole number"),
        ("1 0 a 1 0.5\n1 0 a 1 0.6\n", r":2: document 'a' of topic '1' is drawn with probability"),
        ("1 0 a 1 0.5\n1 0 a 2 0.5\n", r":2: document 'a' of topic '1', subtopic '0', is judged"),
        ("", "no judgements|empty"),
    ],
)
def test_files_of_draws_that_are_wrong_are_refused(tmp_path, lines, message):
    path = tmp_path / "drawn.qrels"
    path.write_text(lines, encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        read_sampled(path, Reading())


def test_a_file_of_draws_is_read_and_names_are_text(tmp_path):
    path = tmp_path / "drawn.qrels"
    path.write_text("01 0 <script> 1 0.5\n01 0 constructor 0 1\n", encoding="utf-8")
    qrels, probabilities = read_sampled(path, Reading())
    assert dict(zip(qrels.documents, probabilities.tolist(), strict=True)) == {
        "<script>": 0.5,
        "constructor": 1.0,
    }
    assert qrels["01"] == {"<script>": 1, "constructor": 0}


def test_draws_that_do_not_fit_the_model_are_reported():
    with pytest.raises(TopicMismatchError, match="no document that the model judged"):
        sampled({"1": {"nowhere": (1, 0.5)}})
    one = draw(np.random.default_rng(1))
    first = next(iter(one))
    with pytest.raises(FormatError, match="stand for 2 documents, the model judged"):
        sampled({first: {next(iter(BY_MODEL[first])): (1, 0.5)}})
    with pytest.warns(TopicWarning, match="1 document that the model did not"):
        sampled(one | {first: {**one[first], "beyond": (1, 0.5)}}, ["P@10"])
    with pytest.raises(FormatError, match="expected the probability with which each"):
        sampled(
            {t: {d: (gain, 0.9) for d, (gain, _) in judged.items()} for t, judged in one.items()}
        )
    with pytest.warns(TopicWarning, match="no human judgements of documents of 1 topic"):
        sampled({t: judged for t, judged in one.items() if t != first}, ["P@10"])
    with pytest.raises(FormatError, match="expected a pair of gain and probability"):
        sampled(PEOPLE)
    with pytest.raises(InvalidValueError, match="a file of five columns, or a mapping"):
        sampled([1])
    with pytest.raises(InvalidValueError, match="correct the scores of each topic"):
        confir.correct_judgements(BY_MODEL, RUNS, human=one, human_sample="random-documents")
