"""Bias and variance against [Zhang2013]: Tables 1 and 2, the text's example, the errata."""

import numpy as np
import pytest

from confir.data.scores import Scores
from confir.studies.bias_variance.bias_variance import decompose_error

pytestmark = pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")

MODELS = {"A": (0.3, 0.1), "B": (0.6, 0.08), "C": (0.65, 0.03), "T": (0.7, 0.2)}


def example(**changed):
    models = MODELS | changed
    values = np.array([*models.values()]).T[:, :, None]
    return Scores(("q1", "q2"), tuple(models), ("AP",), values)


def decompose(scores, variable="score", target="T"):
    return decompose_error(
        scores, target=target, variable=variable, baseline="A", replicates=99, rng=1
    )


@pytest.fixture(scope="module")
def table_1():
    return decompose(example())


@pytest.fixture(scope="module")
def table_2():
    return decompose(example(), "rho")


def test_table_1_means_robustness_and_bias(table_1):
    assert table_1.mean[:, 0] == pytest.approx([0.2, 0.34, 0.34, 0.45])
    assert table_1.robustness.index[:, 0] == pytest.approx([0, 0, 0, 1])
    assert table_1.robustness.hurt[:, 0] == pytest.approx([0, 0.5, 0.5, 0])
    assert table_1.bias.value[:, 0] == pytest.approx([0.25, 0.11, 0.11, 0], abs=1e-15)


def test_table_1_variance_with_its_erratum(table_1):
    variance = table_1.variance.value[:, 0]
    assert variance == pytest.approx([0.01, 0.0676, 0.0961, 0.0625])
    assert variance[1] != pytest.approx(0.0646, abs=1e-3)  # as printed


def test_table_1_total_with_its_erratum(table_1):
    total = table_1.total.value[:, 0]
    assert total == pytest.approx([0.0725, 0.0797, 0.1082, 0.0625])
    assert total[2] != pytest.approx(0.182, abs=1e-2)  # as printed


def test_table_2(table_2):
    assert table_2.bias.value[:, 0] == pytest.approx([0.25, 0.11, 0.11, 0], abs=1e-15)
    assert table_2.variance.value[:, 0] == pytest.approx([0.0225, 0.0001, 0.0036, 0], abs=1e-15)
    assert table_2.total.value[:, 0] == pytest.approx([0.0850, 0.0122, 0.0157, 0], abs=1e-15)


def test_the_changed_model_of_the_text():
    result = decompose(example(C=(0.32, 0.11)))
    assert result.mean[2, 0] == pytest.approx(0.215)
    assert result.robustness.hurt[2, 0] == 0
    assert result.robustness.index[2, 0] == 1


def test_equation_3_the_total_is_the_squared_distance_from_the_target_s_mean(table_1):
    values = example().values[:, :, 0]
    assert table_1.total.value[:, 0] == pytest.approx(((values - 0.45) ** 2).mean(axis=0))


def test_equation_7_the_total_of_rho_is_the_squared_distance_from_the_target(table_2):
    values = example().values[:, :, 0]
    assert table_2.total.value[:, 0] == pytest.approx(((values - values[:, 3:]) ** 2).mean(axis=0))


def test_equation_8_three_terms_make_the_error(table_1):
    sum_of_terms = table_1.error_to_target + table_1.target_error + table_1.cross
    assert table_1.error == pytest.approx(sum_of_terms, abs=1e-15)
    assert table_1.target_error[:, 0] == pytest.approx([(0.3**2 + 0.8**2) / 2] * 4)


def test_equation_9_the_error_is_squared_bias_and_variance_from_a_perfect_score():
    perfect = decompose(example(), target="perfect")
    mean = perfect.mean[:, 0]
    assert perfect.total.value == pytest.approx(perfect.error, abs=1e-15)
    assert perfect.error[:, 0] == pytest.approx((1 - mean) ** 2 + perfect.variance.value[:, 0])
