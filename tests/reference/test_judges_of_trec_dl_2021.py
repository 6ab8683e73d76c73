"""Human and model judges of TREC 2021 Deep Learning, against an earlier measurement."""

import warnings

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

import confir


@pytest.fixture(scope="module")
def folder(real_data):
    return real_data / "trec-dl-2021"


@pytest.fixture(scope="module")
def comparison(folder):
    judges = [folder / "qrels.nist.txt", folder / "qrels.umbrela-gpt4.txt"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # topics that nobody judged; two identical runs
        return confir.compare_judgements(judges, folder / "runs", "nDCG@10", replicates=499, rng=1)


def test_the_bias_and_the_leaderboard_of_umbrela_are_those_measured_before(comparison):
    """42 of the 63 runs that gave +.142 and τ .924 are in the data."""
    assert comparison.pairs == (("nist", "umbrela-gpt4"),)
    assert len(comparison.runs.runs) == 42
    assert comparison.bias[0, 0] == pytest.approx(0.142, abs=0.002)
    assert comparison.tau[0, 0] == pytest.approx(0.924, abs=0.005)
    assert comparison.bias_low[0, 0] > 0.06  # beyond what an interval over topics allows for


def test_agreement_of_umbrela_with_nist_against_libraries(comparison, folder):
    nist, model = (
        confir.read_qrels(folder / f"qrels.{name}.txt").to_dict()
        for name in ("nist", "umbrela-gpt4")
    )
    pairs = np.array([(nist[t][d], model[t][d]) for t in nist for d in nist[t]])
    found = comparison.agreement
    assert found.documents.tolist() == [10_828]
    weighted = cohen_kappa_score(*pairs.T, weights="quadratic")
    assert found.weighted_kappa[0] == pytest.approx(weighted, abs=1e-12)
    alpha = krippendorff.alpha(pairs.T, level_of_measurement="ordinal")
    assert found.krippendorff_alpha[0] == pytest.approx(alpha, abs=1e-12)


def test_a_weak_model_changes_more(folder):
    judges = [folder / "qrels.nist.txt", folder / "qrels.binary-llama3.2.txt"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = confir.compare_judgements(
            judges, folder / "runs", "nDCG@10", grades=[0, 1, 2, 3], replicates=499, rng=1
        )
    assert found.bias[0, 0] == pytest.approx(0.298, abs=0.005)
    assert found.tau[0, 0] == pytest.approx(0.792, abs=0.03)
    assert found.lost[0, 0] > found.significant[0, 0] / 3
    assert "gains" in found.runs.effect


def test_labels_of_nist_and_umbrela_agree_as_their_qrels_do(folder):
    nist, model = (
        confir.read_qrels(folder / f"qrels.{name}.txt").to_dict()
        for name in ("nist", "umbrela-gpt4")
    )
    rows = [(t, d, g, model[t][d]) for t, own in nist.items() for d, g in own.items()]
    names = ("topic", "item", "human", "judge")
    labels = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    found = confir.measure_agreement(labels=labels, replicates=499, rng=1)
    qrels = confir.measure_agreement({"human": nist, "judge": model}, replicates=499, rng=1)
    assert (found.items[0], found.topics) == (10828, 53)
    assert found.same_label[0] == pytest.approx(qrels.same_grade[0])
    for name in ("kappa", "weighted_kappa", "krippendorff_alpha"):
        for end in ("", "_low", "_high"):
            np.testing.assert_allclose(getattr(found, name + end), getattr(qrels, name + end))
    np.testing.assert_array_equal(found.confusion.documents, qrels.confusion.documents)
    # UMBRELA passes documents that NIST's assessors do not: it is lenient
    assert found.bias_low[0] > 0.2
