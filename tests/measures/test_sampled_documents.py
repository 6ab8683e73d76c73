"""Documents drawn for human judging: exact expectations by enumeration, and simulations."""

from itertools import product

import numpy as np
import pytest

import confir
from confir.data.formats.run_sources import Reading
from confir.data.formats.sampled_qrels import read_sampled
from confir.data.simulation import sample_collection
from confir.errors import (
    FormatError,
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    UnsupportedMethodError,
)
from confir.measures.catalogue import parse_measure
from confir.measures.sampled_documents import DocumentSample, Listed, _score
from judge_files import noisy_judge

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
            value, variance, _ = _score(parse_measure(name), drawn(pattern), LISTED, RATES)
            scores.append(value)
            variances.append(variance)
            chances.append(chance)
    mean = np.average(scores, axis=0, weights=chances)
    return (
        mean,
        np.average((scores - mean) ** 2, axis=0, weights=chances),
        np.average(variances, axis=0, weights=chances),
    )


def plain(weight, gain):
    """The sum of weights of ranks times people's gains, of each list."""
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


def test_the_sum_of_ap_is_without_bias_against_enumeration(monkeypatch):
    """The numerator: the number of relevant documents is held at that by people."""
    total = np.array([3.0, 2.0])

    def held(*_):
        class Sums:
            def __matmul__(self, values):
                return np.repeat(total[:, None], values.shape[1], axis=1)

        return Sums()

    monkeypatch.setattr("confir.measures.sampled_documents._by_topic", held)
    mean, _, _ = expectation("AP")
    relevant = HUMAN >= 1
    sums = np.zeros(4)
    for place in range(4):
        above = 0
        for rank, document in zip(
            LISTED.rank[LISTED.lists == place], LISTED.document[LISTED.lists == place], strict=True
        ):
            above += relevant[document]
            sums[place] += relevant[document] * above / (rank + 1)
    np.testing.assert_allclose(mean, sums / total[LISTED.topics], atol=1e-12)


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


SAMPLE = sample_collection()
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


def sampled(human, measures=MEASURES, **rules):
    return confir.evaluate(
        BY_MODEL, RUNS, measures, human=human, human_sample="random-documents", **rules
    )


def test_if_all_documents_are_drawn_scores_are_those_by_people():
    every = {t: {d: (gain, 1.0) for d, gain in judged.items()} for t, judged in PEOPLE.items()}
    for rules in ({}, {"depth": 30}):
        found = sampled(every, **rules)
        expected = confir.evaluate(SAMPLE.qrels, RUNS, MEASURES, **rules)
        np.testing.assert_allclose(found.values, expected.values, atol=1e-12)
        assert found.document_variance.max() < 1e-20
    assert found.topics == expected.topics
    assert found.human_documents == found.model_documents


def test_means_and_variances_in_many_draws():
    """Ratios have a bias that is small beside the model's; variances are those of the draws."""
    rng = np.random.default_rng(3)
    names = ["P@10", "R@100", "AP", "nDCG@10"]
    kept = list(PEOPLE)[:12]
    model = {topic: BY_MODEL[topic] for topic in kept}
    runs = [{t: run.to_dict()[t] for t in kept} for run in RUNS[:2]]
    experiment = {"qrels": model, "runs": {"one": runs[0], "two": runs[1]}, "measures": names}

    def once():
        human = {t: judged for t, judged in draw(rng).items() if t in model}
        return confir.evaluate(
            **experiment, human=human, human_sample="random-documents", depth=100
        )

    found = [once() for _ in range(60)]
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
    np.testing.assert_allclose((estimated / empirical)[:, [0, 3]], 1.0, atol=0.3)
    assert (estimated / empirical > 0.5).all()  # of R and AP rather too large: few are relevant


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


def test_draws_that_do_not_fit_the_model_are_told():
    with pytest.raises(TopicMismatchError, match="no document that the model judged"):
        sampled({"1": {"nowhere": (1, 0.5)}})
    one = draw(np.random.default_rng(1))
    first = next(iter(one))
    with pytest.warns(TopicWarning, match="1 document that the model did not"):
        sampled(one | {first: {**one[first], "beyond": (1, 0.5)}}, ["P@10"])
    with pytest.raises(FormatError, match="expected the probability with which each"):
        sampled(
            {t: {d: (gain, 0.9) for d, (gain, _) in judged.items()} for t, judged in one.items()}
        )
    with pytest.warns(TopicWarning, match="people judged no document of 1 topic"):
        sampled({t: judged for t, judged in one.items() if t != first}, ["P@10"])
    with pytest.raises(FormatError, match="expected a pair of gain and probability"):
        sampled(PEOPLE)
    with pytest.raises(InvalidValueError, match="a file of five columns, or a mapping"):
        sampled([1])
    with pytest.raises(InvalidValueError, match="correct the scores of each topic"):
        confir.correct_judgements(BY_MODEL, RUNS, human=one, human_sample="random-documents")
