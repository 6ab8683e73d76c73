"""Do intervals over collections find on real data what Cormack & Lynam 2006 found on TREC-6?

Source of truth: §6 to §8 of the paper; and a measurement of 17 runs × 100 topics of TREC 2003
Robust, B = 2000, made before this code was written: corrected logit 8.5 / 82.8 / 8.7 per cent
below, in, above where A predicts B, and 9.5 / 83.0 / 7.5 the other way; corrected linear
5.2 / 78.8 / 16.0.
"""

import warnings

import numpy as np
import pytest

from confir.errors import ConfirWarning
from confir.intervals.small_r import largest_unseen_share
from confir.studies.split_half.split_half import validate_split_half

EARLIER = {
    ("logit", 0): (8.5, 82.8, 8.7),
    ("logit", 1): (9.5, 83.0, 7.5),
    ("linear", 0): (5.2, 78.8, 16.0),
}


@pytest.fixture(scope="module")
def robust(real_data):
    folder = real_data / "trec-robust-2003"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConfirWarning)
        return validate_split_half(
            folder / "qrels.txt",
            folder / "runs",
            methods=["linear", "logit"],
            replicates=500,
            rng=1,
            splits=1,
        )


@pytest.mark.parametrize(("method", "half"), sorted(EARLIER))
def test_shares_are_those_measured_before(robust, method, half):
    shares = robust.topic_shares(method, corrected=True, half=half)
    found = 100 * np.array(shares[:3])
    np.testing.assert_allclose(found, EARLIER[method, half], atol=1.2)
    assert shares.n == 1700


def test_the_corrected_logit_interval_holds_what_the_model_predicts(robust):
    for half in (0, 1):
        shares = robust.topic_shares("logit", corrected=True, half=half)
        assert shares.inside == pytest.approx(robust.predicted, abs=0.02)
        assert abs(shares.below - shares.above) < 0.04


def test_the_linear_interval_leaves_too_many_scores_above(robust):
    for half in (0, 1):
        shares = robust.topic_shares("linear", corrected=True, half=half)
        assert shares.above > 2 * shares.below


def test_the_correction_closes_the_gap(robust):
    for half in (0, 1):
        plain, corrected = (
            robust.topic_shares("logit", corrected=flag, half=half).inside for flag in (False, True)
        )
        assert abs(corrected - robust.predicted) < abs(plain - robust.predicted)


def test_published_example_of_silver_bullets():
    assert round(float(largest_unseen_share(np.array(4), 0.95)), 2) == 0.53


def test_published_share_of_the_model(robust):
    assert robust.predicted == pytest.approx(0.835, abs=0.001)
