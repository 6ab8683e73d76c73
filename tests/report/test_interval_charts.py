"""Charts of intervals and ranks: best first, missing values last."""

import numpy as np
import pytest

import confir
from chart_labels import data_of, names_of
from confir.report.result_chart import specification as chart
from studies.score_tables import table

NOT_KNOWN = np.nan


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_means_stand_best_first_and_a_run_without_scores_last():
    values = np.random.default_rng(1).random((20, 4)) / 10 + [0.2, 0.4, 0.3, 0.5]
    values[:, 1] = NOT_KNOWN
    drawing = chart(confir.confidence_interval(table(values), method="t"))
    assert names_of(drawing["spec"]["layer"][0]["encoding"]["y"]) == [
        "run3",
        "run2",
        "run0",
        "run1",
    ]
    (records,) = data_of(drawing)
    assert next(r for r in records if r["run"] == "run1")["mean"] is None
    assert drawing["title"] == "Means over 20 topics"


def test_the_share_of_draws_won_is_not_called_a_probability():
    ranking = confir.rank_runs(table(np.random.default_rng(1).random((20, 3))), rng=1)
    tooltip = chart(ranking)["spec"]["layer"][0]["encoding"]["tooltip"][-1]
    assert tooltip["field"] == "share_first"
    assert tooltip["title"] == "share of bootstrap samples of the topics in which it is first"
