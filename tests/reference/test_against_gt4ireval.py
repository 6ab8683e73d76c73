"""Variance components and reliability against gt4ireval 2.0, on the data that it ships with.

Its results are stored with the data: variance components of systems, topics and residual, then Eρ² and Φ
for the observed number of topics and for 100, with limits that leave 5% in each tail.
"""

from __future__ import annotations

import numpy as np
import pytest

import confir

COMPONENTS = {
    "adhoc3": [0.00716682022621141, 0.0226423181432444, 0.0109196674053271],
    "synthetic4": [0.625757575757576, 0.884006734006734, 2.78720538720539],
}
TOPICS = {"adhoc3": 50, "synthetic4": 12}
RELATIVE = {
    "adhoc3": [
        [0.970428, 0.958430688575092, 0.980573707413384],
        [0.984992, 0.978774172776493, 0.990191583118617],
    ],
    "synthetic4": [
        [0.729300, 0.465149683586755, 0.901779508228622],
        [0.957358, 0.878748929346458, 0.987098404017656],
    ],
}
ABSOLUTE = {
    "adhoc3": [
        [0.914361, 0.870751935371496, 0.945839786616895],
        [0.955265, 0.930911168827502, 0.972166149671927],
    ],
    "synthetic4": [
        [0.671636, 0.378066388634845, 0.876862657467199],
        [0.944583, 0.835139621131618, 0.983427733861464],
    ],
}


@pytest.fixture(params=["adhoc3", "synthetic4"])
def decomposed(real_data, request):
    """The name of a data set, and its components by confir, with limits as gt4ireval has them."""
    name = request.param
    scores = confir.read_scores(real_data / "gt4ireval" / f"{name}.csv")
    return name, confir.decompose_scores(scores, topics=[TOPICS[name], 100], level=0.9)


def test_components_against_gt4ireval(decomposed):
    name, found = decomposed
    np.testing.assert_allclose(found.variance, COMPONENTS[name], rtol=1e-12)


def test_reliability_of_differences_and_its_limits_against_gt4ireval(decomposed):
    name, found = decomposed
    ours = np.column_stack([found.relative, found.relative_low, found.relative_high])
    np.testing.assert_allclose(ours[:, 0], np.array(RELATIVE[name])[:, 0], atol=5e-7)
    np.testing.assert_allclose(ours[:, 1:], np.array(RELATIVE[name])[:, 1:], rtol=1e-12)


def test_reliability_of_scores_and_its_limits_against_gt4ireval(decomposed):
    name, found = decomposed
    ours = np.column_stack([found.absolute, found.absolute_low, found.absolute_high])
    np.testing.assert_allclose(ours[:, 0], np.array(ABSOLUTE[name])[:, 0], atol=5e-7)
    np.testing.assert_allclose(ours[:, 1:], np.array(ABSOLUTE[name])[:, 1:], rtol=1e-12)
