"""The effect of a run on each topic with its error, to be pooled over topics.

Each topic is a small study of its own ([Cormack2006] §9): its score, or how a run differs there from
another, with a standard error from resampled documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from confir.arguments import as_choice, as_reals
from confir.arrays import Floats
from confir.data.tables.effect_files import EffectTable, Group
from confir.defaults import LEVEL, LOGIT_EPSILON
from confir.errors import InvalidValueError, UnknownNameError
from confir.intervals.document_intervals import normal_quantile
from confir.intervals.quantiles import t_quantile
from confir.measures.summary import clipped_logit
from confir.resampling.document_replicates import DocumentReplicates, check_sample, transform_of
from confir.resampling.variance_components import spread
from confir.studies.collection.collection_differences import PAIRINGS, Pairing
from confir.studies.collection.collection_topics import CollectionTopics, summarise_topics
from confir.studies.meta_analysis.effect_sample import or_nan

EFFECTS = ("score", "logit", "difference", "logit-difference", "adjusted")
_OF_SCORES = ("score", "difference")
_DIFFERENCES = ("difference", "logit-difference")


class Effects(NamedTuple):
    """Effects and their standard errors, topics × runs."""

    effects: Floats
    sigmas: Floats


class StudyEffects(NamedTuple):
    """Effects to be pooled: ``pool_effects(**found._asdict())``.

    Attributes
    ----------
    effects, sigmas
        Effects and their standard errors, studies × groups; NaN where there is none.
    studies, groups
        Names of the studies, and what each column is about.
    """

    effects: Floats
    sigmas: Floats
    studies: tuple[str, ...]
    groups: tuple[Group, ...]


def collection_effects(
    sample: DocumentReplicates,
    *,
    effect: str | None = None,
    baseline: str | None = None,
    pairing: Pairing = "paired",
    small_r: bool = True,
    level: float = LEVEL,
    epsilon: float = LOGIT_EPSILON,
) -> StudyEffects:
    """Return the effects of runs on the topics of a collection, to be pooled over topics.

    Parameters
    ----------
    sample
        What `resample_documents` returns.
    effect
        A name in EFFECTS, as in `topic_effects`; by default "logit", or "logit-difference" where
        there is a baseline.
    baseline
        The run that the others are compared with.
    pairing
        "paired" takes the spread of the difference itself, both runs on the same collections;
        "independent" adds the variances of the two. Where the small-R correction applies to either
        run, variances are added always: replicates do not show that doubt.
    small_r, level, epsilon
        As in `summarise_topics`; the correction depends on the level.

    Examples
    --------
    >>> sample = confir.sample_collection()
    >>> drawn = confir.resample_documents(sample.qrels, sample.runs[2:4], "AP", replicates=50)
    >>> confir.collection_effects(drawn, baseline="dense").effects.shape
    (50, 1)
    """
    check_sample(sample)
    chosen = ("logit" if baseline is None else "logit-difference") if effect is None else effect
    check_effect(chosen, has_baseline=baseline is not None)
    place = None if baseline is None else sample.run_place(baseline)
    _check_runs(chosen, place, len(sample.runs))
    as_choice("pairing", pairing, PAIRINGS)
    topics = summarise_topics(sample, level=level, small_r=small_r, epsilon=epsilon)
    parts, groups = [], []
    for m, measure in enumerate(sample.measures):
        made = _measured_effects(sample, topics, m, chosen, place, epsilon)
        if chosen in _DIFFERENCES and place is not None and pairing == "paired":
            made = _with_paired_sigmas(made, sample, topics, m, chosen, place, epsilon)
        kept = [c for c in range(len(sample.runs)) if c != place]
        parts.append(Effects(made.effects[:, kept], made.sigmas[:, kept]))
        groups += _labelled([Group(measure, sample.runs[c]) for c in kept], chosen, baseline)
    return StudyEffects(
        np.concatenate([part.effects for part in parts], axis=1),
        np.concatenate([part.sigmas for part in parts], axis=1),
        sample.topics,
        tuple(groups),
    )


def _measured_effects(
    sample: DocumentReplicates,
    topics: CollectionTopics,
    measure: int,
    effect: str,
    baseline: int | None,
    epsilon: float,
) -> Effects:
    """Return the effects by one measure, the errors of two runs taken as independent."""
    scores = topics.score[..., measure]
    if effect in _OF_SCORES:
        width = (topics.high - topics.low)[..., measure] / (2.0 * normal_quantile(topics.level))
        alone = spread(sample.values[measure]).T
        sds = np.where(topics.corrected[..., measure], width, alone)
        return _against(scores, sds, effect, baseline)
    logit_sds = topics.logit_sd[..., measure]
    return _against(clipped_logit(scores, epsilon), logit_sds, effect, baseline)


def _with_paired_sigmas(
    made: Effects,
    sample: DocumentReplicates,
    topics: CollectionTopics,
    measure: int,
    effect: str,
    baseline: int,
    epsilon: float,
) -> Effects:
    """Return the effects with the errors of differences on the same collections."""
    forward = transform_of("mean" if effect in _OF_SCORES else "logit-mean", epsilon)
    values = forward(sample.values[measure])
    paired = spread(values - values[baseline]).T
    one, other = topics.corrected[..., measure], topics.corrected[:, [baseline], measure]
    corrected = one | other
    return Effects(made.effects, np.where(corrected | (paired == 0), made.sigmas, paired))


def table_effects(
    table: EffectTable, *, effect: str | None = None, baseline: str | None = None
) -> StudyEffects:
    """Return the effects in a table as they are, or made of its scores with limits.

    Parameters
    ----------
    table
        What `read_effects` returns.
    effect
        A name in EFFECTS: the table holds scores of runs with limits, on the logit scale.
    baseline
        The run that effects refer to.
    """
    if effect is None:
        given = sigmas_from_limits(table.low, table.high, table.level, table.df)
        sigmas = np.where(np.isnan(table.sigmas), given, table.sigmas)
        return StudyEffects(table.effects, sigmas, table.studies, table.groups)
    if any(group.run is None or group.baseline is not None for group in table.groups):
        raise InvalidValueError(
            "effects are made of the scores of runs; expected a table with a column run and none "
            "of baselines"
        )
    blocks = dict.fromkeys((group.measure, group.collection) for group in table.groups)
    parts = [
        _block_effects(
            table,
            [c for c, g in enumerate(table.groups) if (g.measure, g.collection) == block],
            effect,
            baseline,
        )
        for block in blocks
    ]
    return StudyEffects(
        np.concatenate([part.effects for part in parts], axis=1),
        np.concatenate([part.sigmas for part in parts], axis=1),
        table.studies,
        tuple(group for part in parts for group in part.groups),
    )


def _block_effects(
    table: EffectTable, columns: list[int], effect: str, baseline: str | None
) -> StudyEffects:
    """Return the effects of the runs by one measure on one collection."""
    runs = [str(table.groups[column].run) for column in columns]
    if baseline is not None and baseline not in runs:
        raise UnknownNameError("run", baseline, runs)
    place = None if baseline is None else runs.index(baseline)
    sds = sigmas_from_limits(
        clipped_logit(table.low[:, columns]),
        clipped_logit(table.high[:, columns]),
        table.level[:, columns],
    )
    made = topic_effects(table.effects[:, columns], sds, effect=effect, baseline=place)
    kept = [c for c in range(len(runs)) if c != place]
    groups = _labelled([table.groups[columns[c]] for c in kept], effect, baseline)
    return StudyEffects(made.effects[:, kept], made.sigmas[:, kept], table.studies, tuple(groups))


def _labelled(groups: Sequence[Group], effect: str, baseline: str | None) -> list[Group]:
    """Return groups of scores as groups of effects: on which scale, and against what."""
    against = baseline or ("mean of runs" if effect == "adjusted" else None)
    return [
        group._replace(
            measure=group.measure if effect in _OF_SCORES else f"logit {group.measure or 'score'}",
            baseline=against,
        )
        for group in groups
    ]


def topic_effects(
    scores: npt.ArrayLike,
    sds: npt.ArrayLike,
    *,
    effect: str = "logit",
    baseline: int | None = None,
    epsilon: float = LOGIT_EPSILON,
) -> Effects:
    """Return the effects of runs on topics, to be pooled over topics ([Cormack2006] §9).

    Parameters
    ----------
    scores, sds
        Scores in [0, 1] such as AP, and the standard deviations of their logits under document
        resampling: topics × runs.
    effect
        "score", "logit" (of the score, clipped), "difference" or "logit-difference" from the
        baseline, the two taken as independent; or "adjusted" for the topic's difficulty: logit
        less the baseline's or, without one, less the mean of all runs, taken as a constant.
    baseline
        Column of the baseline run.
    epsilon
        Scores are clipped to [epsilon, 1 - epsilon] before logits are taken.
    """
    values, spreads = as_reals("scores", scores), as_reals("sds", sds)
    if values.ndim != 2 or values.shape != spreads.shape:
        raise InvalidValueError(
            f"scores have the shape {values.shape}, sds {spreads.shape}; expected topics × runs, "
            "both alike"
        )
    check_effect(effect, has_baseline=baseline is not None)
    _check_runs(effect, baseline, values.shape[1])
    if ((values < 0) | (values > 1)).any():
        raise InvalidValueError("a score is outside [0, 1], where there is no logit")
    if effect in _OF_SCORES:
        # [Cormack2006] §8: the slope of the inverse logit turns σ into that of the score
        return _against(values, (values - values**2) * spreads, effect, baseline)
    return _against(clipped_logit(values, epsilon), spreads, effect, baseline)


def check_effect(effect: str, *, has_baseline: bool) -> None:
    """Raise where there is no such effect, or it lacks a baseline or takes none."""
    as_choice("effect", effect, EFFECTS)
    if not has_baseline and effect in _DIFFERENCES:
        raise InvalidValueError(f"the effect {effect!r} needs a baseline")
    if has_baseline and effect in ("score", "logit"):
        raise InvalidValueError(f"the effect {effect!r} takes no baseline; it compares nothing")


def _check_runs(effect: str, baseline: int | None, runs: int) -> None:
    if baseline is not None and not 0 <= baseline < runs:
        raise InvalidValueError(f"baseline is {baseline}; expected a column from 0 to {runs - 1}")
    if baseline is not None and runs == 1:
        raise InvalidValueError("there is no run to compare with the baseline")
    if baseline is None and effect == "adjusted" and runs == 1:
        raise InvalidValueError(
            "the effect 'adjusted' of a single run is 0 on every topic; expected a baseline, or "
            "several runs"
        )


def _against(measured: Floats, sigma: Floats, effect: str, baseline: int | None) -> Effects:
    """Return scores or logits as they are, or less what the effect compares them with."""
    if effect in ("score", "logit"):
        return Effects(measured, sigma)
    if baseline is None:
        return Effects(measured - _row_mean(measured), sigma)
    if effect == "adjusted":
        return Effects(measured - measured[:, [baseline]], sigma)
    return Effects(measured - measured[:, [baseline]], np.hypot(sigma, sigma[:, [baseline]]))


def sigmas_from_limits(
    low: npt.ArrayLike, high: npt.ArrayLike, level: npt.ArrayLike, df: npt.ArrayLike = np.inf
) -> Floats:
    """Return the standard errors that intervals of the given levels stand for.

    Parameters
    ----------
    low, high, level
        Limits and levels of the intervals.
    df
        Degrees of freedom of Student's t where the limits are by t; infinite for normal limits.
    """
    width = np.asarray(high, np.float64) - np.asarray(low, np.float64)
    levels, degrees, width = np.broadcast_arrays(level, np.asarray(df, np.float64), width)
    sigma = np.full(width.shape, np.nan)
    for one in np.unique(levels[~np.isnan(levels)]):  # none where a study lacks the effect
        same = levels == one
        sigma[same] = width[same] / (2.0 * t_quantile(degrees[same], float(one)))
    return sigma


def _row_mean(values: Floats) -> Floats:
    """Return the mean of every row over the values that it has."""
    present = ~np.isnan(values)
    total = np.where(present, values, 0.0).sum(axis=1, keepdims=True)
    mean: Floats = total / or_nan(present.sum(axis=1, keepdims=True))
    return mean
