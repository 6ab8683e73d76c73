"""Sources of scores that verbs take, and the reason if scores per topic are missing."""

import numpy as np
import pytest

import confir
from confir.data.tables.published_files import PublishedMeans
from confir.errors import InvalidValueError, UnsupportedMethodError
from confir.measures.score_sources import as_run_scores, as_scores
from confir.measures.strengths import Strengths
from vote_samples import simulate_votes

SCORES = {"a": [0.3, 0.5, 0.4, 0.6], "b": [0.2, 0.5, 0.1, 0.3]}


def published():
    return PublishedMeans(
        ("a",), ("AP",), np.array([[0.4]]), np.array([[0.1]]), np.array([[4]], np.int64)
    )


def resampled():
    sample = confir.sample_collection()
    return confir.resample_documents(sample.qrels, sample.runs[2:4], "AP", replicates=20)


def test_a_source_of_every_kind_becomes_scores_of_that_kind(tmp_path):
    table = tmp_path / "means.csv"
    table.write_text("run,mean,se,topics\na,0.4,0.1,50\n")
    votes = simulate_votes([0.0, 1.0], 50, rng=1)
    assert as_run_scores(SCORES).runs == ("a", "b")
    assert type(as_run_scores(str(table))) is PublishedMeans
    assert type(as_run_scores(votes)) is Strengths
    held = confir.as_scores(SCORES)
    assert as_run_scores(held) is held


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: confir.summarise_scores(SCORES), "a summary of a long table"),
        (published, "a table of means"),
        (lambda: as_run_scores(simulate_votes([0.0, 1.0], 50, rng=1)), "a set of votes"),
        (resampled, "a resampled collection"),
    ],
)
def test_scores_without_single_topics_are_refused_by_name(make, named):
    with pytest.raises(InvalidValueError, match=f"score of every topic, which {named} lacks"):
        as_scores(make())


@pytest.mark.parametrize("make", [resampled, published])
def test_a_report_of_scores_without_a_sample_of_topics_says_what_is_missing(make, tmp_path):
    with pytest.raises(UnsupportedMethodError, match="a report needs the variance over a sample"):
        confir.write_report(tmp_path / "page.html", make())


def test_questions_about_collections_name_the_function_that_draws_them():
    with pytest.raises(UnsupportedMethodError, match="that resample_documents draws, which"):
        confir.decompose_variance(confir.as_scores(SCORES))


def test_an_interval_of_a_file_assumes_what_that_of_its_scores_does(tmp_path):
    confir.write_scores(SCORES, tmp_path / "scores.csv")
    of_file = confir.confidence_interval(tmp_path / "scores.csv")
    of_scores = confir.confidence_interval(confir.read_scores(tmp_path / "scores.csv"))
    assert of_file.assumed == of_scores.assumed == ("score",)
