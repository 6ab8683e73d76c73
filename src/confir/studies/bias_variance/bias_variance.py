"""Effectiveness and stability: the error of a run, split into bias and variance ([Zhang2013]).

The error of a run is the distance between its scores and a target's: ``bias² + variance`` over
topics, for the score itself or for ρ, the target's score minus the run's. Moments are those of the
given topics (ddof=0), so the parts sum exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from operator import itemgetter

import numpy as np

from confir.arguments import as_choice, as_generator, as_level, as_real, as_texts, check_replicates
from confir.arrays import Floats, Integers, best_first, is_best
from confir.data.result import Record, Result, Variable, axis, constant, over, result
from confir.data.score_objects import ScoresSource, make_scores
from confir.data.scores import Scores
from confir.data.table_columns import MEASURE_AND_RUN, Role, TableColumn, TableColumns
from confir.defaults import LEVEL, REPLICATES, SEED
from confir.errors import InvalidValueError, UnknownNameError, counted
from confir.intervals.method_list import find_method
from confir.measures.parsing import bounded_measures
from confir.measures.score_sources import as_scores
from confir.number_text import percent, runs_differ_in_topics, topics_text
from confir.resampling.kinds import needs
from confir.resampling.replicates import Rng, draw_topics
from confir.resampling.sample import Knowledge
from confir.resampling.variance_components import mean_over_topics
from confir.studies.bias_variance.error_parts import (
    BEST,
    PERFECT,
    VARIABLES,
    Decomposed,
    Errors,
    Estimate,
    error_terms,
    estimate_parts,
    possible_ranges,
)
from confir.studies.bias_variance.parameter_sweep import Sweep, read_sweeps
from confir.studies.bias_variance.robustness import Robustness, measure_robustness

# Of the methods that fit, the one whose coverage of the variance is best on TREC 2004 Robust.
DEFAULT_VARIANCE_METHOD = "bootstrap-t"

_PARTS = ("bias", "variance", "total")


@result
class BiasVariance(Result):
    """The error of runs, split into bias and variance: all arrays are runs × measures.

    Attributes
    ----------
    runs, measures
        Names.
    target
        "perfect", "best", the name of a run, or a mean score.
    variable
        What is decomposed: "score", or "rho", the target's score minus the run's on each topic.
    topics
        Number of topics of each decomposition.
    mean, target_mean
        Means over topics of the run and of the target.
    bias, variance, total
        ``target_mean - mean``; variance over topics; ``bias² + variance``; with intervals.
    error, error_to_target, target_error, cross
        ``E(x-1)²``, and the three terms of which it is the sum: ``E(x-T)²``, ``E(T-1)²`` and
        ``2E(x-T)(T-1)`` ([Zhang2013] Eq. 8). NaN if 1 is not the best score, or if the target has
        no scores by topic.
    level, method
        Confidence level and method of the intervals.
    cut
        How many of the three intervals had impossible limits, such as a variance below 0, and were
        clipped.
    robustness
        Comparison with a baseline; None without one.
    sweeps
        Runs that differ in one parameter.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    target: str = constant()
    variable: Decomposed = constant()
    topics: Integers = over("run", "measure")
    mean: Floats = over("run", "measure")
    target_mean: Floats = over("run", "measure")
    bias: Estimate = over("run", "measure")
    variance: Estimate = over("run", "measure")
    total: Estimate = over("run", "measure")
    error: Floats = over("run", "measure")
    error_to_target: Floats = over("run", "measure")
    target_error: Floats = over("run", "measure")
    cross: Floats = over("run", "measure")
    cut: Integers = over("run", "measure")
    level: float = constant()
    method: str = constant()
    robustness: Robustness | None = None
    sweeps: tuple[Sweep, ...] = ()

    row_order = ("measure", "run")
    record_columns = (
        *("run", "measure", "target", "variable", "topics", "mean", "target_mean"),
        *("bias", "bias_low", "bias_high", "variance", "variance_low", "variance_high"),
        *("total", "total_low", "total_high", "bias_squared", "level", "method"),
        *("error", "error_to_target", "target_error", "cross"),
        *("against", "robustness_index", "hurt", "loss", "loss_depth"),
        *("parameter", "parameter_value"),
    )
    optional_columns = (
        *("against", "robustness_index", "hurt", "loss", "loss_depth"),
        *("parameter", "parameter_value"),
    )

    def derived(self) -> Iterator[Variable]:
        """Yield the parts of the error with their limits, robustness, and parameters."""
        for name in _PARTS:
            for suffix, values in zip(("", "_low", "_high"), getattr(self, name), strict=True):
                yield Variable(name + suffix, ("run", "measure"), values)
        yield Variable("bias_squared", ("run", "measure"), self.bias.value * self.bias.value)
        if self.robustness is not None:
            yield from self.robustness.variables()
        if self.sweeps:
            values = {
                run: (one.parameter, x) for one in self.sweeps for run, x in one.values.items()
            }
            found = [values.get(run, (None, None)) for run in self.runs]
            yield Variable("parameter", ("run",), [parameter for parameter, _ in found])
            yield Variable("parameter_value", ("run",), [value for _, value in found])

    def table_columns(self) -> TableColumns:
        """Return how the columns read: the parts with their limits, the smallest of a measure bold."""
        number = TableColumn(Role.NUMBER)
        columns = dict(MEASURE_AND_RUN)
        if runs_differ_in_topics(self.topics).any():
            columns["topics"] = TableColumn(Role.COUNT)
        columns["mean"] = TableColumn(Role.SCORE)
        for part in _PARTS:
            columns[part] = TableColumn(
                Role.SCORE,
                others=(f"{part}_low", f"{part}_high"),
                bold=itemgetter(f"smallest_{part}"),
            )
        if self.robustness is not None:
            columns["robustness_index"] = number._replace(title="RI")
            columns["hurt"] = number._replace(title="<Init")
            if self.robustness.loss is not None:
                columns["loss"] = number._replace(title=f"R-Loss@{self.robustness.loss_depth}")
        if self.sweeps:
            swept = dict.fromkeys(sweep.parameter for sweep in self.sweeps)
            columns["parameter_value"] = number._replace(title=" / ".join(swept))
        return columns

    def table_records(self) -> list[Record]:
        """Return the records, smallest total error of each measure first, and whether a part is the smallest."""
        found = []
        for measure in self.measures:
            records = [record for record in self.to_records() if record["measure"] == measure]
            sizes = {part: np.abs([record[part] for record in records]) for part in _PARTS}
            smallest = {f"smallest_{part}": is_best(-size) for part, size in sizes.items()}
            found += [
                records[place] | {name: bool(of[place]) for name, of in smallest.items()}
                for place in best_first(-sizes["total"])
            ]
        return found

    def note(self) -> str:
        """Return what was decomposed, and how."""
        what = "score" if self.variable == "score" else "rho = target - score"
        note = (
            f"error of the {what} against target {self.target}: bias² + variance = total, over "
            f"{topics_text(self.topics)}, with {percent(self.level)} interval by {self.method}"
        )
        cut = int(self.cut.sum())
        if not cut:
            return note
        intervals = counted(cut, "interval")
        return f"{note}; {intervals} clipped to the possible range (a variance is at least 0)"


@needs(Knowledge.VALUES, "the study of bias and variance")
def decompose_error(
    scores: ScoresSource,
    *,
    target: str | float = PERFECT,
    variable: Decomposed = "score",
    baseline: str | None = None,
    precision: ScoresSource | None = None,
    parameters: str | Sequence[str] = (),
    level: float = LEVEL,
    method: str = DEFAULT_VARIANCE_METHOD,
    replicates: int = REPLICATES,
    rng: Rng = SEED,
) -> BiasVariance:
    """Return the error of each run against a target, split into bias and variance over topics.

    Parameters
    ----------
    scores
        Scores of the runs, by any measures; anything that `as_scores` takes.
    target
        "perfect" (1 on every topic), "best" (the best run of each topic), the name of a run, or a
        mean score.
    variable
        "score", or "rho", the target's score minus the run's on each topic; a mean has no rho.
    baseline
        The run relative to which robustness is measured.
    precision
        The same runs by one P@k: gives R-Loss@k against the baseline.
    parameters
        Runs that differ in one parameter, as `read_sweeps` reads them; one text or several.
    level, method, replicates, rng
        Confidence level, method, replicates and seed of the intervals over topics.

    Examples
    --------
    >>> scores = {"a": [0.3, 0.5, 0.4, 0.6], "b": [0.2, 0.5, 0.1, 0.3]}
    >>> confir.decompose_error(scores)
    BiasVariance(run: 2, measure: 1, target='perfect', variable='score', level=0.95, method='bootstrap-t')
    """
    scores = as_scores(scores)
    precision = None if precision is None else make_scores(precision, "precision")
    _check_request(scores, variable, baseline, precision)
    level = as_level(level)
    check_replicates(replicates)
    find_method(method)
    targets, name = _find_target(scores, target, variable)
    robustness = None if baseline is None else measure_robustness(scores, baseline, precision)
    described = as_texts("parameters", parameters, least=0)
    sweeps = read_sweeps(described, scores.runs) if described else ()
    errors = Errors.of(scores, targets, variable)
    ranges = possible_ranges(bounded_measures(scores), target, variable)
    weights = draw_topics(len(scores.topics), replicates, as_generator(rng))
    (bias, variance, total), cut = estimate_parts(errors, name, ranges, weights, level, method)
    return BiasVariance(
        runs=scores.runs,
        measures=scores.measures,
        target=name,
        variable=variable,
        topics=errors.present.sum(axis=0),
        mean=mean_over_topics(scores.values, errors.present),
        target_mean=mean_over_topics(
            np.broadcast_to(targets[:, None], scores.values.shape), errors.present
        ),
        bias=bias,
        variance=variance,
        total=total,
        **error_terms(errors, None if isinstance(target, float | int) else targets),
        cut=cut,
        level=level,
        method=method,
        robustness=robustness,
        sweeps=sweeps,
    )


def _check_request(
    scores: Scores, variable: Decomposed, baseline: str | None, precision: Scores | None
) -> None:
    as_choice("variable", variable, VARIABLES)
    if baseline is not None:
        as_choice("baseline", baseline, scores.runs, "run")
    if len(scores.topics) < 2:
        raise InvalidValueError("there is one topic; a variance over topics needs at least 2")
    if baseline is None and precision is not None:
        raise InvalidValueError(
            "R-Loss counts relevant documents lost relative to a baseline; name the baseline"
        )


def _find_target(scores: Scores, target: str | float, variable: Decomposed) -> tuple[Floats, str]:
    """Return the target's scores, topics × measures, and its name."""
    shape = (len(scores.topics), len(scores.measures))
    bounded = [scores.measures[m] for m in np.flatnonzero(bounded_measures(scores))]
    if isinstance(target, str):
        if target in (PERFECT, BEST) and target in scores.runs:
            raise InvalidValueError(
                f"a run is named {target!r}, which is also a kind of target; rename the run"
            )
        if target == PERFECT:
            unbounded = [name for name in scores.measures if name not in bounded]
            if unbounded:
                raise InvalidValueError(
                    f"a perfect score is 1, but {unbounded[0]} is not bounded by [0, 1]; expected "
                    "another target: best, a run, or a mean score"
                )
            return np.ones(shape), target
        if target == BEST:
            known = np.where(np.isnan(scores.values), -np.inf, scores.values).max(axis=1)
            return np.where(np.isinf(known), np.nan, known), target
        if target not in scores.runs:
            raise UnknownNameError("target", target, (PERFECT, BEST, *scores.runs))
        return scores.select(run=[target]).values[:, 0], target
    target = as_real("target", target)
    if variable == "rho":
        raise InvalidValueError(
            f"the target is a mean, {target:g}, without scores by topic, so there is no rho; "
            "decompose the score, or choose as target perfect, best or a run"
        )
    if not math.isfinite(target) or (bounded and not 0.0 <= target <= 1.0):
        raise InvalidValueError(
            f"the target's mean is {target:g}; expected a mean score"
            + (f", from 0 to 1 for {bounded[0]}" if bounded else "")
        )
    return np.full(shape, float(target)), f"{target:g}"
