"""Simulated scores with known true means: populations of topics fitted to real scores.

A population has a score distribution for every run and measure, and a Gaussian copula for their
dependence. The distribution preserves the proportions of the scores 0 and 1 and smooths those in
between: for a continuous measure by a kernel on the variance-stabilising scale ``arcsin √score``, for
a discrete one such as P@10 over the values that occur. The copula reproduces the rank correlations
of the real scores, ties included.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from confir.arguments import as_generator, as_integer
from confir.arrays import Floats
from confir.data.score_objects import ScoresSource
from confir.data.scores import Scores
from confir.defaults import SEED
from confir.errors import InvalidValueError, counted
from confir.measures.score_sources import as_scores
from confir.parallel import run_in_threads, task_seeds
from confir.resampling.kinds import needs
from confir.resampling.sample import Knowledge
from confir.studies.simulation.fitted_scores import OWN_SHARE, fit_copula, fit_margins

_BLOCK = 4096  # topics drawn together: fixed, so results do not depend on the machine


@dataclass(frozen=True, slots=True, eq=False)
class ScorePopulation:
    """A population of topics, with a known true mean for every run and measure.

    The quantile function of a column (a run and a measure) is linear between its knots.

    Attributes
    ----------
    runs, measures
        Names.
    levels, points
        Probability and score at the knots: columns × knots.
    loadings
        Weights of the shared normal variables in each column's latent one: columns × variables.
    """

    runs: tuple[str, ...]
    measures: tuple[str, ...]
    levels: Floats
    points: Floats
    loadings: Floats

    def __repr__(self) -> str:
        return f"ScorePopulation({len(self.runs)} runs × {len(self.measures)} measures)"

    @property
    def truth(self) -> Floats:
        """The mean score over all topics of the population, exactly: runs × measures."""
        middle = (self.points[:, 1:] + self.points[:, :-1]) / 2.0
        mean: Floats = (np.diff(self.levels, axis=1) * middle).sum(axis=1)
        return mean.reshape(len(self.runs), len(self.measures))

    def draw(self, topics: int, rng: np.random.Generator | int | None = None) -> Scores:
        """Return the scores on some topics of the population, drawn independently."""
        topics = as_integer("topics", topics)
        starts = [*range(0, topics, _BLOCK), topics]
        seeds = task_seeds(as_generator(rng), len(starts) - 1)
        values = np.empty((topics, len(self.levels)))

        def fill(task: tuple[int, int, np.random.SeedSequence]) -> None:
            start, end, seed = task
            values[start:end] = self._draw_block(end - start, np.random.default_rng(seed)).T

        blocks = zip(pairwise(starts), seeds, strict=True)
        run_in_threads(fill, [(start, end, seed) for (start, end), seed in blocks])
        names = tuple(f"{number:0{len(str(topics))}d}" for number in range(1, topics + 1))
        shape = (topics, len(self.runs), len(self.measures))
        return Scores(names, self.runs, self.measures, values.reshape(shape))

    def _draw_block(self, topics: int, rng: np.random.Generator) -> Floats:
        """Return scores, columns × topics."""
        from scipy.special import ndtr

        columns, variables = self.loadings.shape
        latent = self.loadings @ rng.standard_normal((variables, topics))
        latent += math.sqrt(OWN_SHARE) * rng.standard_normal((columns, topics))
        chance = ndtr(latent, out=latent)
        for column in range(columns):
            chance[column] = np.interp(chance[column], self.levels[column], self.points[column])
        return chance


@needs(Knowledge.VALUES, "a simulation like these scores")
def fit_population(scores: ScoresSource) -> ScorePopulation:
    """Return a population of topics from which the scores might have been drawn.

    Of real scores the true means are unknown, so that no method can be checked on them. Scores drawn
    from a fitted population look alike, zeros, ties and correlations of runs included, and have known
    means.

    Missing scores are assumed to be missing at random. A run with equal scores stays constant.

    Parameters
    ----------
    scores
        Real scores on at least two topics; anything that `as_scores` takes.

    Examples
    --------
    >>> scores = {"a": [0.3, 0.5, 0.4, 0.6], "b": [0.2, 0.5, 0.1, 0.3]}
    >>> confir.fit_population(scores)
    ScorePopulation(2 runs × 1 measures)
    """
    scores = as_scores(scores)
    count = (~np.isnan(scores.values)).sum(axis=0)
    if (count < 2).any():
        run, measure = np.argwhere(count < 2)[0].tolist()
        raise InvalidValueError(
            f"run {scores.runs[run]!r} has {counted(int(count[run, measure]), 'score')} by "
            f"{scores.measures[measure]}; expected at least 2 to fit a population"
        )
    if np.isinf(scores.values).any():
        raise InvalidValueError("a score is infinite; expected finite numbers, NaN where missing")
    levels, points = fit_margins(scores.values)
    flat = scores.values.reshape(len(scores.topics), -1)
    return ScorePopulation(scores.runs, scores.measures, levels, points, fit_copula(flat))


def simulate_scores(
    scores: ScoresSource, *, topics: int, rng: np.random.Generator | int | None = SEED
) -> Scores:
    """Return scores on new topics, drawn from a population fitted to real scores.

    To try an analysis on more topics than there are, or where the truth is known: see
    `fit_population`, whose ``truth`` has the true means.

    Parameters
    ----------
    scores
        Real scores; anything that `as_scores` takes.
    topics
        Number of topics to draw.
    rng
        Generator or seed.

    Examples
    --------
    >>> scores = {"a": [0.3, 0.5, 0.4, 0.6], "b": [0.2, 0.5, 0.1, 0.3]}
    >>> confir.simulate_scores(scores, topics=100)
    Scores(topic: 100, run: 2, measure: 1)
    """
    return fit_population(scores).draw(topics, rng)
