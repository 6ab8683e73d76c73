"""Means of runs by several judges: which runs gain from a judge, and which lose."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from confir.arrays import Floats, Integers, best_first
from confir.data.result import Record, Result, axis, constant, over, result
from confir.data.scores import Scores
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.errors import ConfirWarning, collect_warnings, counted
from confir.intervals.confidence_intervals import confidence_interval
from confir.intervals.interval import Limits
from confir.intervals.method_list import DEFAULT_METHOD, METHODS
from confir.number_text import number_text, percent, signed
from confir.pairs.compare import compare_runs
from confir.pairs.decisions import INCONCLUSIVE, Words
from confir.resampling.statistics import STATISTICS
from confir.resampling.topic_sample import TopicSample
from confir.studies.judgements.grade_agreement import PAIR_PARTS, pair_note
from confir.studies.judgements.judges import Judges

GAINS, LOSES = "gains", "loses"


@result
class JudgedRuns(Result):
    """The means of runs under two judges: arrays are pairs × runs × measures.

    Attributes
    ----------
    pairs, runs, measures
        Names; a pair is a reference and the judge that is compared with it.
    reference_mean, judge_mean
        Means by both judges, each with limits.
    bias
        The judge's mean minus the reference's, with limits.
    gain
        The bias of the run minus the mean bias of all runs: run × judge interaction. Its limits are
        simultaneous for all runs of a pair and measure.
    effect
        "gains" or "loses" where these limits exclude 0, else "inconclusive".
    level
        Confidence level.
    """

    pairs: tuple[tuple[str, str], ...] = axis("judge_pair")
    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    reference_mean: Floats = over("judge_pair", "run", "measure")
    reference_low: Floats = over("judge_pair", "run", "measure")
    reference_high: Floats = over("judge_pair", "run", "measure")
    judge_mean: Floats = over("judge_pair", "run", "measure")
    judge_low: Floats = over("judge_pair", "run", "measure")
    judge_high: Floats = over("judge_pair", "run", "measure")
    bias: Floats = over("judge_pair", "run", "measure")
    bias_low: Floats = over("judge_pair", "run", "measure")
    bias_high: Floats = over("judge_pair", "run", "measure")
    gain: Floats = over("judge_pair", "run", "measure")
    gain_low: Floats = over("judge_pair", "run", "measure")
    gain_high: Floats = over("judge_pair", "run", "measure")
    effect: Words = over("judge_pair", "run", "measure")
    level: float = constant()

    label_parts: ClassVar[Mapping[str, tuple[str, ...]]] = PAIR_PARTS
    row_order = ("judge_pair", "measure", "run")

    def table_columns(self) -> TableColumns:
        """Return how the columns read; headings and gains other than 0 are bold."""
        gain = TableColumn(Role.DIFFERENCE, bold=lambda row: row["effect"] in (GAINS, LOSES))
        return {
            "run": TableColumn(Role.NAME, bold=lambda row: not row["effect"]),
            "reference_mean": TableColumn(Role.SCORE, "ref.", text=_cell("reference_mean")),
            "judge_mean": TableColumn(Role.SCORE, "judge", text=_cell("judge_mean")),
            "bias": TableColumn(
                Role.DIFFERENCE, text=lambda row: row["effect"] and signed(row["bias"])
            ),
            "gain": gain._replace(text=_cell("gain", "gain_low", "gain_high", is_signed=True)),
        }

    def table_records(self) -> list[Record]:
        """Return the runs that gain most first; with a heading, if there are several pairs."""
        every, size, rows = self.to_records(), len(self.runs), []
        for start in range(0, len(every), size):
            own = every[start : start + size]
            if len(every) > size:
                measure = f", {own[0]['measure']}" if len(self.measures) > 1 else ""
                heading = f"{own[0]['reference']}, {own[0]['judge']}{measure}"
                rows.append(dict.fromkeys(own[0], "") | {"run": heading})
            order = best_first(np.array([record["gain"] for record in own]))
            rows += [own[place] for place in order]
        return rows

    def note(self) -> str:
        """Return what the columns are."""
        return (
            f"{pair_note(self.pairs)}; bias: the judge's mean minus the reference's; gain: the "
            f"bias minus the mean bias of all runs, with simultaneous {percent(self.level)} intervals for "
            f"all {counted(len(self.runs), 'run')}: a run gains or loses if its interval excludes 0"
        )


def _cell(*names: str, is_signed: bool = False) -> Callable[[Record], str]:
    """Return what writes the numbers of a run; headings, which have no effect, leave it empty."""

    def text(row: Record) -> str:
        return (
            number_text(*(row[name] for name in names), is_signed=is_signed)
            if row["effect"]
            else ""
        )

    return text


class Drawn(NamedTuple):
    """How topics are resampled: weights of the replicates, their number and seed; confidence level."""

    weights: Floats
    replicates: int
    seed: int
    level: float


def mean_biases(
    means: Floats, pairs: list[tuple[int, int]], level: float
) -> tuple[Floats, Floats, Floats]:
    """Return the mean differences of judges with limits: pairs × columns; NaN where all are equal.

    Parameters
    ----------
    means
        Judges × topics × columns.
    pairs, level
        The pairs of judges, and the confidence level.
    """
    differences = np.stack([means[b] - means[a] for a, b in pairs], axis=1)
    values = differences.reshape(len(differences), -1)
    labels = tuple((str(place), "bias") for place in range(values.shape[1]))
    support = np.zeros(len(labels), np.bool_)
    sample = TopicSample(labels, (len(labels),), support, (values,), STATISTICS["mean"])
    found = sample.distribution(slice(None), None, ("se",))
    limits = METHODS[DEFAULT_METHOD].compute(found, level)
    own = (np.where(found.degenerate, np.nan, limit) for limit in limits)
    estimate, low, high = (one.reshape(differences.shape[1:]) for one in (found.estimate, *own))
    return estimate, low, high


def judged_runs(
    judges: Judges, scores: Sequence[Scores], values: Floats, drawn: Drawn
) -> JudgedRuns:
    """Return means, biases and gains of all runs under all pairs of judges."""
    first = scores[0]
    with warnings.catch_warnings():  # of equal scores, which the verdicts name already
        warnings.simplefilter("ignore", ConfirWarning)
        means = [confidence_interval(one, level=drawn.level, rng=drawn.seed) for one in scores]
    biases = mean_biases(values.reshape(*values.shape[:2], -1), judges.pairs, drawn.level)
    shape = len(judges.pairs), len(first.runs), len(first.measures)
    resampled = drawn.replicates, drawn.seed, drawn.level
    found = [gain_limits(values[b] - values[a], *resampled) for a, b in judges.pairs]
    gains = [(gain, *limits) for gain, limits in found]
    gain, low, high = (np.stack(part) for part in zip(*gains, strict=True))
    sides: Integers = np.where(low > 0, 1, np.where(high < 0, 2, 0))
    arrays: dict[str, Any] = {}
    for end, field in (("mean", "estimate"), ("low", "low"), ("high", "high")):
        arrays[f"reference_{end}"] = np.stack([getattr(means[a], field) for a, _ in judges.pairs])
        arrays[f"judge_{end}"] = np.stack([getattr(means[b], field) for _, b in judges.pairs])
    for end, array in zip(("", "_low", "_high"), biases, strict=True):
        arrays[f"bias{end}"] = array.reshape(shape)
    return JudgedRuns(
        pairs=judges.pair_names,
        runs=first.runs,
        measures=first.measures,
        **arrays,
        gain=gain,
        gain_low=low,
        gain_high=high,
        effect=np.array([INCONCLUSIVE, GAINS, LOSES])[sides],
        level=drawn.level,
    )


def gain_limits(
    differences: Floats, replicates: int, seed: int, level: float
) -> tuple[Floats, Limits]:
    """Return what each run gains from a judge beyond all runs, with simultaneous limits.

    All runs are compared with their mean as with a baseline: the limits are those of a family, with the
    variance that differences borrow from each other, without which a small variance by chance decides the
    largest t*. The bound for symmetric differences, which may end an interval at 0 and exclude it, is left
    out: a run gains where d ± c·se excludes 0.

    Parameters
    ----------
    differences
        Scores by the judge less those by the reference: topics × runs × measures.
    replicates, seed, level
        Number of replicates, their seed, and the confidence level.
    """
    # names that sort as the topics do
    topics, runs, measures = (
        tuple(f"{place:09}" for place in range(size)) for size in differences.shape
    )
    everyone = differences.mean(axis=1, keepdims=True)
    scores = Scores(
        topics, ("all", *runs), measures, np.concatenate([everyone, differences], axis=1)
    )
    with collect_warnings():  # of equal differences, which have no limits
        found = compare_runs(scores, baseline="all", level=level, replicates=replicates, rng=seed)
    alone = found.means._replace(self_normalised=np.zeros(found.means.se.shape))
    return found.difference, found.adjustment.limits(alone, level).limits
