"""Robustness against a baseline: robustness index, <Init and R-Loss@k.

The measures that [Zhang2013] compares with bias and variance (Collins-Thompson 2009, Zighelnic &
Kurland 2008).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from confir.arrays import TIE, Floats
from confir.data.result import Result, Variable, axis, constant, over, result
from confir.data.scores import Scores
from confir.errors import InvalidValueError
from confir.measures.parsing import parse_measure
from confir.resampling.variance_components import mean_over_topics


@result
class Robustness(Result):
    """How often a run is worse than a baseline: all arrays are runs × measures.

    Attributes
    ----------
    runs, measures
        Names.
    baseline
        The run that the others are compared with.
    index
        Robustness index, (topics improved - topics hurt) / topics.
    hurt
        Share of topics hurt, ``<Init``.
    loss
        R-Loss@k: net number of relevant documents lost among the first k on the topics hurt, per
        topic; None if not requested.
    loss_depth
        k.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    baseline: str = constant(column="against")
    index: Floats = over("run", "measure", column="robustness_index")
    hurt: Floats = over("run", "measure")
    loss: Floats | None = over("run", "measure", default=None)
    loss_depth: int | None = None

    def derived(self) -> Iterator[Variable]:
        """Yield the depth of R-Loss, if requested."""
        if self.loss_depth is not None:
            yield Variable("loss_depth", (), self.loss_depth)


def measure_robustness(
    scores: Scores, baseline: str, precision: Scores | None = None
) -> Robustness:
    """Return how often runs are worse than a baseline, and how many relevant documents they lose.

    Parameters
    ----------
    scores
        Scores of the runs, including the baseline, which decide which topics are hurt.
    baseline
        Name of the run that the others are compared with.
    precision
        Scores of the same runs by one P@k, for R-Loss@k: k·P@k relevant documents are found.
    """
    reference = scores.select(run=[baseline]).values
    gain = scores.values - reference
    present = ~np.isnan(gain)
    better, hurt = gain > TIE, gain < -TIE
    index = mean_over_topics(better.astype(np.float64) - hurt, present)
    share = mean_over_topics(hurt.astype(np.float64), present)
    if precision is None:
        return Robustness(scores.runs, scores.measures, baseline, index, share)
    found, depth = _relevant_found(scores, precision)
    lost = (found[:, scores.runs.index(baseline)][:, None] - found)[:, :, None]
    loss = mean_over_topics(np.where(hurt, lost, 0.0), present)
    return Robustness(scores.runs, scores.measures, baseline, index, share, loss, depth)


def _relevant_found(scores: Scores, precision: Scores) -> tuple[Floats, int]:
    """Return the relevant documents among the first k, topics × runs, from P@k; and k."""
    name = precision.measures[0]
    measure = parse_measure(name)
    if measure.definition.name != "P" or measure.cutoff is None or len(precision.measures) > 1:
        raise InvalidValueError(
            f"R-Loss counts relevant documents from P@k alone; the table has "
            f"{', '.join(precision.measures)}"
        )
    if precision.topics != scores.topics:
        raise InvalidValueError(f"the scores by {name} are on other topics; expected the same")
    values = precision.select(run=scores.runs).values[:, :, 0]
    return np.rint(values * measure.cutoff), measure.cutoff
