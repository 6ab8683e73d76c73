"""Reproductions against repro_eval 0.5 (Breuer et al. 2022), on runs of the sample collection."""

import numpy as np
import pytest

import confir
from requirements import required
from samples import short_sample

P, DEPTH = 0.9, 100


@pytest.fixture(scope="module")
def runs():
    """The sample's runs that have all topics, by name."""
    return {run.name: run for run in short_sample().runs if len(run.topics) == 50}


@pytest.fixture(scope="module")
def scores(runs):
    """Scores of each run as repro_eval takes them: topic → measure → score."""
    found = confir.evaluate(short_sample().qrels, list(runs.values()), ["AP", "nDCG@10"])
    return {
        run: {
            topic: dict(zip(found.measures, found.values[t, r].tolist(), strict=True))
            for t, topic in enumerate(found.topics)
        }
        for r, run in enumerate(found.runs)
    }


@pytest.fixture(scope="module")
def found(runs):
    return confir.compare_reproduction(
        runs["rerank"],
        [runs["hybrid"], runs["splade"]],
        short_sample().qrels,
        ["AP", "nDCG@10"],
        baseline_runs=(runs["bm25"], runs["tfidf"]),
        overlap_depth=DEPTH,
        rng=1,
    )


def test_rmse_against_repro_eval(found, scores):
    rmse = required("repro_eval.measure.effectiveness").RMSE
    for r, run in enumerate(found.runs):
        expected = rmse(scores["rerank"], scores[run])
        np.testing.assert_allclose(found.differences.rmse[r], list(expected.values()), rtol=1e-9)


def test_effects_against_repro_eval(found, scores):
    effects = required("repro_eval.measure.overall_effects")
    for r, run in enumerate(found.runs):
        given = (scores["rerank"], scores["bm25"], scores[run], scores["tfidf"])
        for name, values in (("ER", found.effects.ratio), ("DRI", found.effects.delta_ri)):
            expected = getattr(effects, name)(*given)
            np.testing.assert_allclose(values[r], list(expected.values()), rtol=1e-9)


@pytest.mark.filterwarnings("ignore:.*scipy.stats.stats:DeprecationWarning")
def test_rbo_against_repro_eval(found, runs):
    """Theirs ends at a depth l: Σ p^(d-1)·A_d / Σ p^(d-1). Ours goes on with A_l, the overlap there.

    So theirs is (ours - A_l·p^l)/(1 - p^l), where both lists have l documents.
    """
    their = required("repro_eval.measure.document_order").RBO
    for r, run in enumerate(found.runs):
        expected = their(
            *(runs[name].to_dict() for name in ("rerank", run)),
            p=P,
            depth=DEPTH,
            pbar=False,
            per_topic=True,
        )
        lists = found.lists
        ours = (lists.rbo[:, r] - lists.overlap[:, r] * P**DEPTH) / (1 - P**DEPTH)
        np.testing.assert_allclose(ours, [expected[t] for t in lists.topics], atol=1e-9)
