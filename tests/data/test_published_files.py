"""Tables of published means: which columns give standard errors, and what is rejected."""

import numpy as np
import pytest
from scipy import stats

import confir
from confir.data.tables.published_files import PublishedMeans, are_means
from confir.errors import FormatError, InputWarning, InvalidValueError, UnsupportedMethodError

ROWS = {"bm25": (0.45, 0.02), "dense": (0.51, 0.025)}


def written(tmp_path, header, rows):
    path = tmp_path / "published.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_errors_deviations_and_limits_give_the_same_means(tmp_path):
    found = []
    for header, cells in {
        "run,mean,se,topics": lambda m, se: f"{m},{se},50",
        "System,MEAN,sd,n": lambda m, se: f"{m},{se * np.sqrt(50)},50",
        "run,mean,low,high,level,topics": lambda m, se: (
            f"{m},{m - stats.t.ppf(0.95, 49) * se},{m + stats.t.ppf(0.95, 49) * se},0.9,50"
        ),
    }.items():
        path = written(tmp_path, header, [f"{run},{cells(*row)}" for run, row in ROWS.items()])
        found.append(confir.read_published_means(path))
    for one in found:
        assert (one.runs, one.measures) == (("bm25", "dense"), ("score",))
        np.testing.assert_allclose(one.se.ravel(), [0.02, 0.025], rtol=1e-12)
        assert one.counts.ravel().tolist() == [50, 50]


def test_limits_without_a_level_are_of_that_which_is_given(tmp_path):
    path = written(tmp_path, "run,mean,low,high,topics", ["a,0.5,0.4,0.6,10"])
    for level in (0.95, 0.8):
        se = confir.read_published_means(path, level=level).se[0, 0]
        assert se == pytest.approx(0.1 / stats.t.ppf((1 + level) / 2, 9))


def test_the_interval_of_scores_survives_publication(tmp_path):
    scores = {"a": [0.1, 0.5, 0.4, 0.7], "b": [0.3, 0.2, 0.6, 0.9]}
    interval = confir.confidence_interval(scores, method="t")
    path = tmp_path / "means.csv"
    interval.to_frame().to_csv(path, index=False)  # as evaluate -o writes it
    again = confir.confidence_interval(path, method="t")
    np.testing.assert_allclose(again.low, interval.low, rtol=1e-10)
    np.testing.assert_allclose(again.high, interval.high, rtol=1e-10)


def test_measures_may_be_in_any_order(tmp_path):
    rows = [
        "a,AP,0.1,0.01,9",
        "b,nDCG@10,0.4,0.04,9",
        "b,AP,0.2,0.02,8",
        "a,ndcg_cut_10,0.3,0.03,9",
    ]
    found = confir.read_published_means(written(tmp_path, "run,measure,mean,se,topics", rows))
    assert found.measures == ("AP", "nDCG@10")
    np.testing.assert_array_equal(found.means, [[0.1, 0.3], [0.2, 0.4]])
    np.testing.assert_array_equal(found.counts, [[9, 9], [8, 9]])


@pytest.mark.parametrize(
    ("header", "rows", "message"),
    [
        ("run,mean,se", ["a,0.1,0.2"], r"published.csv:1: no column of topics; expected"),
        ("run,mean,topics", ["a,0.1,9"], "published.csv:1: no column of errors; expected"),
        ("mean,se,topics", ["0.1,0.2,9"], "published.csv:1: no column of runs"),
        (
            "run,mean,se,topics",
            ["a,0.1,0,9"],
            "published.csv:2: the se is 0; expected a number above",
        ),
        ("run,mean,se,topics", ["a,0.1,0.1,9", "b,,0.1,9"], "published.csv:3: the mean is missing"),
        ("run,mean,se,topics", ["a,0.1,x,9"], "published.csv:2: 'x' under 'se'"),
        ("run,mean,se,topics", ["a,0.1,0.1,1"], "published.csv:2: the number of topics is 1"),
        ("run,mean,se,topics", ["a,0.1,0.1,9"] * 2, "published.csv:3: .*twice, also at line 2"),
        (
            "run,mean,low,high,n",
            ["a,0.1,0.2,0.3,9"],
            "published.csv:2: the mean is 0.1; expected one be",
        ),
        (
            "run,measure,mean,se,topics",
            ["a,AP,0.1,0.1,9", "b,AP,0.1,0.1,9", "b,RR,0.1,0.1,9"],
            "no mean of run 'a' by 'RR'",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, header, rows, message):
    with pytest.raises(FormatError, match=message):
        confir.read_published_means(written(tmp_path, header, rows))


def test_asymmetric_limits_are_reported(tmp_path):
    path = written(tmp_path, "run,mean,low,high,topics", ["a,0.1,0.05,0.3,9"])
    with pytest.warns(InputWarning, match="not in the middle of its limits"):
        confir.read_published_means(path)


def test_tables_of_scores_are_no_means():
    assert are_means(["Run", "mean", "SE", "topics"])
    assert not are_means(["topic", "mean", "se"])
    assert are_means(["run", "mean", "topics"])  # without an error, which reading misses
    assert not are_means(["mean", "topics"])
    assert not are_means(["run", "measure", "topic", "score"])


def test_verbs_know_the_table_and_refuse_what_means_do_not_say(tmp_path):
    path = written(tmp_path, "run,mean,se,topics", ["a,0.4,0.02,50", "b,0.5,0.02,50"])
    assert isinstance(confir.read_published_means(path), PublishedMeans)
    interval = confir.confidence_interval(path, method="t")
    half = stats.t.ppf(0.975, 49) * 0.02
    np.testing.assert_allclose(interval.high - interval.estimate, half)
    for verb in (confir.compare_runs, confir.rank_runs, confir.find_best, confir.plan_topics):
        with pytest.raises(UnsupportedMethodError, match="a table of means says nothing of single"):
            verb(path)
    with pytest.raises(UnsupportedMethodError, match="the score on each topic, which published"):
        confir.describe_topics(path)
    with pytest.raises(UnsupportedMethodError, match="a report needs"):
        confir.write_report(tmp_path / "page.html", path)
    with pytest.raises(FormatError, match="means with their errors"):
        confir.read_scores(path)
    with pytest.raises(UnsupportedMethodError, match="a table of means takes no design"):
        confir.read_published_means(path).with_design({"topic": ["1"], "cluster": ["a"]})


def test_means_without_an_error_say_which_column_is_missing(tmp_path):
    path = written(tmp_path, "run,mean,topics", ["bm25,0.45,50"])
    with pytest.raises(
        FormatError, match=r"published.csv:1: no column of errors; expected columns run"
    ):
        confir.confidence_interval(path)


def test_a_standard_error_that_contradicts_the_deviation_is_taken_with_a_warning(tmp_path):
    path = written(tmp_path, "run,mean,se,sd,topics", ["bm25,0.45,0.1,0.2,50"])
    with pytest.warns(InputWarning, match=r"line 2: the standard error is 0.1, but 0.028 by the"):
        found = confir.read_published_means(path)
    assert found.se[0, 0] == 0.1


def test_rounded_errors_and_deviations_agree(tmp_path):
    path = written(tmp_path, "run,mean,se,sd,topics", ["bm25,0.45,0.03,0.19,50"])
    assert confir.read_published_means(path).se[0, 0] == 0.03


def test_a_mean_that_its_measure_cannot_have_is_an_error(tmp_path):
    path = written(tmp_path, "run,measure,mean,se,topics", ["a,AP,1.2,0.01,50"])
    with pytest.raises(
        InvalidValueError, match=r"mean of run 'a' by AP is 1.2; expected a mean in"
    ):
        confir.confidence_interval(path)
    path = written(tmp_path, "run,measure,mean,se,topics", ["a,gain,1.2,0.01,50"])
    assert confir.confidence_interval(path).estimate[0, 0] == 1.2


ALPACA = (
    ",win_rate,standard_error,n_wins,n_wins_base,n_draws,n_total,mode,length_controlled_winrate"
)


def test_win_rates_of_alpacaeval_are_published_means(tmp_path):
    rows = ["a,40.5,1.5,300,505,0,805,x,41.5", "b,60.25,1.25,500,305,0,805,y,"]
    path = written(tmp_path, ALPACA, rows)
    found = confir.read_published_means(path)
    assert (found.runs, found.measures) == (("a", "b"), ("win_rate",))
    np.testing.assert_array_equal(found.se[:, 0], [1.5, 1.25])
    assert found.counts[:, 0].tolist() == [805, 805]
    interval = confir.confidence_interval(path, method="t")
    np.testing.assert_allclose(interval.high[0, 0], 40.5 + stats.t.ppf(0.975, 804) * 1.5)
    with pytest.raises(FormatError, match="means with their errors"):
        confir.read_scores(path)


def test_the_baseline_of_alpacaeval_which_has_no_error_is_left_out(tmp_path):
    rows = ["a,40.5,1.5,300,505,0,805,x,41.5", "base,50.0,0.0,0,0,805,805,y,50.0"]
    with pytest.warns(InputWarning, match="base left out, whose win rate has no error"):
        found = confir.read_published_means(written(tmp_path, ALPACA, rows))
    assert found.runs == ("a",)
