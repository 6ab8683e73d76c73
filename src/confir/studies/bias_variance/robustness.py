"""On how many topics is a run worse than a baseline? Robustness index, <Init and R-Loss@k.

The measures that [Zhang2013] sets beside bias and variance (Collins-Thompson 2009, Zighelnic &
Kurland 2008).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from confir.arrays import Booleans, Floats
from confir.data.result import Result, Variable, axis, constant, over, result
from confir.data.scores import Scores
from confir.errors import InvalidValueError
from confir.measures.catalogue import parse_measure
from confir.order import TIE


@result
class Robustness(Result):
    """How often a run does worse than a baseline: all arrays are runs × measures.

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
        R-Loss@k: relevant documents fewer than the baseline among the first k, net, over the topics
        hurt, by topic; None where it was not asked for.
    loss_depth
        k.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    baseline: str = constant()
    index: Floats = over("run", "measure", column="robustness_index")
    hurt: Floats = over("run", "measure")
    loss: Floats | None = over("run", "measure", default=None)
    loss_depth: int | None = None

    def derived(self) -> Iterator[Variable]:
        """Yield the depth of R-Loss, where it was asked for."""
        if self.loss_depth is not None:
            yield Variable("loss_depth", (), self.loss_depth)


def measure_robustness(
    scores: Scores, baseline: str, precision: Scores | None = None
) -> Robustness:
    """Return how often, and by how many relevant documents, runs do worse than a baseline.

    Parameters
    ----------
    scores
        Scores of the runs, the baseline among them: they say which topics are hurt.
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
        raise InvalidValueError(f"the scores by {name} are of other topics; expected the same")
    values = precision.select(run=scores.runs).values[:, :, 0]
    return np.rint(values * measure.cutoff), measure.cutoff


def mean_over_topics(values: Floats, present: Booleans) -> Floats:
    """Return the mean over the topics that both runs have: runs × measures."""
    count = present.sum(axis=0)
    total = np.where(present, values, 0.0).sum(axis=0)
    mean: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return mean
