"""The kinds of samples, and the one function that knows them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from confir.arguments import as_choice, as_generator
from confir.data.experiment import Experiment
from confir.data.sampling.judged_scores import JudgedScores
from confir.data.sampling.repeats import RepeatedScores
from confir.data.votes import Votes
from confir.defaults import REPLICATES, SEED, SUMMARY_REPLICATES
from confir.errors import InvalidValueError, UnsupportedMethodError
from confir.measures.evaluation import as_scores
from confir.measures.score_summary import ScoreSummary, find_summary
from confir.measures.strengths import Strengths, fit_strengths
from confir.parallel import run_in_threads
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.human_judgements import JudgedSample, judged_sample
from confir.resampling.influence import InfluenceSample, Wins
from confir.resampling.judged_clusters import ClusteredJudgedSample, JudgedClusters
from confir.resampling.repeats import RepeatSample
from confir.resampling.sample import Sample, names
from confir.resampling.statistics import WeightedStatistic
from confir.resampling.summarised_topics import SummarisedTopics
from confir.resampling.topics import (
    ClusteredSample,
    Rng,
    ScoresLike,
    TopicSample,
    check_replicates,
    own_seed,
    topic_sample,
)


def as_sample(
    scores: ScoresLike | ScoreSummary | Strengths | Votes | Sample,
    *,
    statistic: str | WeightedStatistic = "mean",
    baseline: str | None = None,
) -> Sample:
    """Return scores of any kind as a sample of a statistic, one column per run and measure.

    Parameters
    ----------
    scores
        Anything that `as_scores` takes, an array of scores, a `ScoreSummary`, `Strengths`, `Votes`, or
        a sample, which is returned as it is.
    statistic, baseline
        As in `bootstrap_topics`; a difference is that of each run from the baseline.
    """
    if isinstance(scores, Sample):
        return scores
    given: Any = find_summary(scores)
    if isinstance(given, Votes):
        given = fit_strengths(given)
    if isinstance(given, Experiment | JudgedScores):
        given = as_scores(given, human=True)
    if not isinstance(given, JudgedScores | ScoreSummary | RepeatedScores | Strengths):
        return topic_sample(given, statistic=statistic, baseline=baseline)
    if statistic not in _LINEAR:
        raise UnsupportedMethodError(
            f"the statistic {statistic!r} needs the scores of single topics, by one judge and of one "
            "repeat; expected the mean, or the difference from a baseline"
        )
    if (statistic == "difference") != (baseline is not None):
        raise InvalidValueError(f"the statistic is {statistic!r} and the baseline {baseline!r}")
    sample: Sample
    if isinstance(given, ScoreSummary):
        sample = SummarisedTopics.of_means(given)
    elif isinstance(given, Strengths):
        sample = strength_sample(given)
    elif isinstance(given, RepeatedScores):
        sample = RepeatSample.of(topic_sample(given), given)
    elif given.model.design is not None:
        clusters = JudgedClusters.of(given, given.model.design)
        sample = ClusteredJudgedSample(**judged_sample(given).fields(), clusters=clusters)
    else:
        sample = judged_sample(given)
    return sample if baseline is None else against(sample, baseline)


def strength_sample(strengths: Strengths) -> InfluenceSample:
    """Return strengths by votes as a sample: one column per system."""
    return InfluenceSample(
        labels=tuple((run, measure) for run in strengths.runs for measure in strengths.measures),
        shape=strengths.mean().shape,
        estimate=strengths.strength,
        influence=strengths.influence,
        count=strengths.count,
        compared=Wins(*strengths.table),
    )


# Every kind of sample of scores, on each of which the contract tests run every verb; strengths by votes
# have tests of their own.
KINDS: tuple[type[Sample], ...] = (
    TopicSample,
    ClusteredSample,
    JudgedSample,
    ClusteredJudgedSample,
    RepeatSample,
    SummarisedTopics,
)

# Statistics that are means of one variable, whose contrasts are differences.
_LINEAR = ("mean", "difference")


AnySample = TypeVar("AnySample", bound=Sample)


def against(sample: AnySample, baseline: str) -> AnySample:
    """Return the differences of all other runs from one, by each measure."""
    runs, measures = names(sample)
    place = runs.index(as_choice("baseline", baseline, runs, "run"))
    plus = np.delete(np.arange(sample.columns).reshape(sample.shape), place, axis=0)
    if not plus.size:
        raise InvalidValueError(f"there is no run to compare with the baseline {baseline!r}")
    minus = place * len(measures) + np.arange(len(measures))
    return sample.contrast(plus, minus)


def default_replicates(scores: object, replicates: int | None) -> int:
    """Return the number of replicates: the one given, else the default, fewer for a summary."""
    if replicates is not None:
        return replicates
    return SUMMARY_REPLICATES if isinstance(scores, ScoreSummary) else REPLICATES


def bootstrap_topics(
    scores: ScoresLike,
    *,
    statistic: str | WeightedStatistic = "mean",
    baseline: str | None = None,
    replicates: int = REPLICATES,
    rng: Rng = SEED,
) -> SamplingDistribution:
    """Return the distribution of a statistic over resampled topics.

    Parameters
    ----------
    scores
        Anything that `as_scores` takes, or an array of scores: topics, or topics × columns.
    statistic
        "mean", "geometric-mean" or "logit-mean" of each run; "difference", "ratio" or
        "logit-difference" of each run's mean against the baseline's; or a function of weights
        (replicates × topics, rows sum to 1) and scores (topics × columns) that returns
        replicates × columns.
    baseline
        The run that the others are compared with.
    replicates
        Number of replicates, B.
    rng
        Seed or generator.
    """
    sample = as_sample(scores, statistic=statistic, baseline=baseline)
    check_replicates(replicates)
    generator = as_generator(rng)
    seed = own_seed(generator)
    weights = sample.draw(replicates, generator)
    (distribution,) = run_in_threads(lambda w: sample.distribution(slice(None), w), [weights])
    return replace(distribution, seed=seed, draws=replicates)
