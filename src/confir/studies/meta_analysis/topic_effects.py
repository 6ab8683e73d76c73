"""The effect of a run on each topic with its error, to be pooled over topics.

Each topic is a small study of its own ([Cormack2006] §9): its score, or how a run differs there from
another, with a standard error from resampled documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from confir.arguments import as_choice, as_reals
from confir.arrays import Floats
from confir.data.effect_files import EffectTable, Group
from confir.defaults import LEVEL, LOGIT_EPSILON
from confir.errors import InvalidValueError, UnknownNameError
from confir.intervals.quantiles import t_quantile
from confir.intervals.standard_error import two_sided_normal
from confir.resampling.document_replicates import DocumentReplicates, transform_of
from confir.resampling.kinds import require_knowledge
from confir.resampling.sample import Knowledge
from confir.resampling.statistics import clipped_logit
from confir.resampling.variance_components import spread
from confir.studies.collection.collection_differences import PAIRINGS, Pairing
from confir.studies.collection.collection_topics import summarise_topics
from confir.studies.meta_analysis.effect_sample import or_nan
from confir.studies.meta_analysis.pooled_estimates import find_blocks

EFFECTS = ("score", "logit", "difference", "logit-difference", "adjusted")
_OF_SCORES = ("score", "difference")
_DIFFERENCES = ("difference", "logit-difference")


class Effects(NamedTuple):
    """Effects and their standard errors, topics × runs, and × measures of several."""

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

    Each topic is a small study whose score depends on the documents that happen to be in the
    collection. Pooled by that error (`pool_effects`), topics with few relevant documents count less.

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
    require_knowledge(sample, Knowledge.COLLECTIONS, "a meta-analysis of topics")
    chosen = ("logit" if baseline is None else "logit-difference") if effect is None else effect
    check_effect(chosen, has_baseline=baseline is not None)
    place = None if baseline is None else sample.run_place(baseline)
    _check_runs(chosen, place, len(sample.runs))
    as_choice("pairing", pairing, PAIRINGS)
    topics = summarise_topics(sample, level=level, small_r=small_r, epsilon=epsilon)
    if chosen in _OF_SCORES:
        width = (topics.high - topics.low) / (2.0 * two_sided_normal(topics.level))
        alone = np.stack([spread(values).T for values in sample.values], axis=2)
        measured, sds = topics.score, np.where(topics.corrected, width, alone)
    else:
        measured, sds = clipped_logit(topics.score, epsilon), topics.logit_sd
    made = _against(measured, sds, chosen, place)
    if chosen in _DIFFERENCES and place is not None and pairing == "paired":
        forward = transform_of("mean" if chosen in _OF_SCORES else "logit-mean", epsilon)
        drawn = [forward(values) for values in sample.values]
        paired = np.stack([spread(values - values[place]).T for values in drawn], axis=2)
        independent = topics.corrected | topics.corrected[:, [place]] | (paired == 0)
        made = Effects(made.effects, np.where(independent, made.sigmas, paired))
    kept = [c for c in range(len(sample.runs)) if c != place]
    columns = [Group(measure, sample.runs[c]) for measure in sample.measures for c in kept]
    effects, sigmas = (np.concatenate([*np.moveaxis(part[:, kept], 2, 0)], axis=1) for part in made)
    return StudyEffects(effects, sigmas, sample.topics, tuple(_labelled(columns, chosen, baseline)))


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
    blocks = find_blocks(table.groups).values()
    parts = [_block_effects(table, columns, effect, baseline) for columns in blocks]
    effects, sigmas = (np.concatenate([one[n] for one in parts], axis=1) for n in (0, 1))
    return StudyEffects(effects, sigmas, table.studies, tuple(chain(*(one[2] for one in parts))))


def _block_effects(
    table: EffectTable, columns: list[int], effect: str, baseline: str | None
) -> tuple[Floats, Floats, list[Group]]:
    """Return effects, errors and groups of the runs by one measure on one collection."""
    runs = [str(table.groups[column].run) for column in columns]
    if baseline is not None and baseline not in runs:
        raise UnknownNameError("run", baseline, runs)
    place = None if baseline is None else runs.index(baseline)
    low, high = (clipped_logit(limit[:, columns]) for limit in (table.low, table.high))
    sds = sigmas_from_limits(low, high, table.level[:, columns])
    made = topic_effects(table.effects[:, columns], sds, effect=effect, baseline=place)
    kept = [c for c in range(len(runs)) if c != place]
    groups = _labelled([table.groups[columns[c]] for c in kept], effect, baseline)
    return made.effects[:, kept], made.sigmas[:, kept], groups


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
        present = ~np.isnan(measured)
        total = np.where(present, measured, 0.0).sum(axis=1, keepdims=True)
        return Effects(measured - total / or_nan(present.sum(axis=1, keepdims=True)), sigma)
    if effect != "adjusted":
        sigma = np.hypot(sigma, sigma[:, [baseline]])
    return Effects(measured - measured[:, [baseline]], sigma)


def sigmas_from_limits(
    low: npt.ArrayLike, high: npt.ArrayLike, level: npt.ArrayLike, df: npt.ArrayLike = np.inf
) -> Floats:
    """Return the standard errors that follow from intervals of the given levels.

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
