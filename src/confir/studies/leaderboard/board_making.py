"""Which runs are best over many datasets? Macro means and Borda counts, with what is uncertain of them.

All of it follows from one design: topics in datasets. "fixed" asks about these datasets, whose topics
are a sample; "random" about datasets like these, of which these are a sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from confir.arguments import as_choice, as_flag, as_generator, as_level, as_text, check_replicates
from confir.arrays import Booleans, Floats, Integers, best_first
from confir.data.experiment import on_its_scheduler
from confir.data.scores import Scores
from confir.defaults import LEVEL, REPLICATES, SEED
from confir.errors import UnsupportedMethodError
from confir.intervals.confidence_intervals import confidence_interval
from confir.intervals.interval import Interval, Limits
from confir.measures.parsing import bounded_measures
from confir.measures.score_summary import ScoreSummary
from confir.pairs.best_runs import BestRuns, best_of_pairs
from confir.pairs.ranking import ranking_of_pairs
from confir.pairs.run_pairs import RunPairs, compare_all_runs, pairs_by_measure
from confir.pairs.simultaneous import borderline_decisions, is_significant
from confir.resampling.replicates import Rng
from confir.resampling.sample import Sample
from confir.studies.leaderboard.additive_fit import DatasetCells, fit_additive
from confir.studies.leaderboard.additive_sample import additive_sample
from confir.studies.leaderboard.board_sources import (
    BoardSource,
    board_scores,
    datasets_of,
    standardise_scores,
)
from confir.studies.leaderboard.borda import (
    borda_counts,
    borda_limits,
    completed_borda_limits,
    descending_ranks,
    ranked_limits,
)
from confir.studies.leaderboard.joined_datasets import INCOMPLETE, MODEL, present_cells
from confir.studies.leaderboard.leaderboard import Leaderboard
from confir.studies.leaderboard.summarised_board import SummarisedBoard, cell_limits, find_summaries


@on_its_scheduler
def make_leaderboard(
    sources: BoardSource,
    *,
    measure: str | None = None,
    datasets: str | None = None,
    incomplete: str = "error",
    standardise: bool = False,
    repeats: bool | str = False,
    level: float = LEVEL,
    replicates: int = REPLICATES,
    rng: Rng = SEED,
) -> Leaderboard:
    """Return a leaderboard over many datasets: macro means, Borda counts, ranks with intervals.

    Parameters
    ----------
    sources
        Scores with a design of datasets; or a mapping dataset → scores, or what `as_scores` takes,
        or a `ScoreSummary`: then normal means with the same covariances replace resampled topics.
        Scores without a design are means: their topics are the datasets. Of scores by a model and by
        humans (`evaluate` or `Experiment` with ``human``), each dataset is corrected by itself.
    measure
        By default the one that all datasets have.
    datasets
        "fixed" for conclusions about these datasets, the default where scores by topic are known;
        "random" for datasets like these, the only way for means alone.
    incomplete
        Where a run lacks a dataset: "error"; leave out such runs ("drop-runs") or such datasets
        ("drop-datasets"), with a warning; or "model": rank all runs by an additive model of run
        and dataset, fitted to the cells that are there.
    standardise
        Whether scores of each dataset are moved and scaled so that the means of its runs have mean
        0 and standard deviation 1.
    repeats
        Whether runs are repeats of systems, which are then ranked: a repeat, such as ``system@1``,
        is one run on all datasets. Or how they are named, as in `Scores.with_repeats`.
    level, replicates, rng
        Confidence level; number of replicates, and seed or generator.

    Examples
    --------
    >>> scores = {"a": [0.3, 0.5, 0.4, 0.6], "b": [0.2, 0.5, 0.1, 0.3]}
    >>> confir.make_leaderboard({"first": confir.as_scores(scores), "second": confir.as_scores(scores)})
    Leaderboard(run: 2, dataset: 2, measure='score', sampling='fixed', level=0.95)
    """
    if measure is not None:
        as_text("measure", measure)
    level = as_level(level)
    check_replicates(replicates)
    as_choice("incomplete", incomplete, INCOMPLETE)
    as_flag("standardise", standardise)
    found = read_board(sources, measure, datasets, incomplete, repeats)
    if isinstance(found, dict) and (standardise or repeats):
        raise UnsupportedMethodError(
            "scores of a summary cannot be standardised and have no repeats; expected scores of single "
            "topics, or means"
        )
    if isinstance(found, dict):
        return _summarised(found, level, replicates, as_generator(rng))
    scores = standardise_scores(found) if standardise else found
    design, names = scores.dataset_design, scores.datasets
    if incomplete == MODEL and not present_cells(scores).all():
        return _rank_with_gaps(scores, level, replicates, as_generator(rng))
    cells = cell_limits([scores.on_dataset(name) for name in names], level)
    topics, by_model = _topic_counts(scores, names)
    seeds = as_generator(rng).spawn(2)
    (pairs,) = compare_all_runs(scores, replicates, rng, what="ranks", level=level)
    return _leaderboard(
        scores,
        names,
        cells,
        confidence_interval(scores, level=level),
        pairs,
        borda_limits(scores, names, cells[0], replicates, seeds[1], level),
        topics=topics,
        sampling=design.datasets,
        replicates=replicates,
        model_topics=by_model,
    )


def read_board(
    sources: BoardSource,
    measure: str | None,
    datasets: str | None,
    incomplete: str,
    repeats: bool | str = False,
) -> Scores | dict[str, ScoreSummary]:
    """Return the scores of all datasets in one table; where any is summarised, a summary of each.

    The parameters are those of `make_leaderboard`.
    """
    named = datasets_of(sources)
    summaries = find_summaries(named, measure, datasets, incomplete)
    return summaries or board_scores(named or sources, measure, datasets, incomplete, repeats)


def _summarised(
    parts: Mapping[str, ScoreSummary], level: float, replicates: int, rng: np.random.Generator
) -> Leaderboard:
    """Return the leaderboard of datasets whose scores are summarised."""
    board, first = SummarisedBoard.of(parts), next(iter(parts.values()))
    seeds = rng.spawn(2)
    drawn = board.draw(replicates, seeds[1])
    return _leaderboard(
        first,
        tuple(parts),
        cell_limits(parts.values(), level),
        confidence_interval(board.distribution(slice(None), None), level=level),
        _sample_pairs(board, replicates, seeds[0], level),
        ranked_limits(drawn, level),
        topics=board.counts,
        sampling="fixed",
        replicates=replicates,
    )


def _rank_with_gaps(
    scores: Scores, level: float, replicates: int, rng: np.random.Generator
) -> Leaderboard:
    """Return the leaderboard where runs miss datasets, by the additive model."""
    datasets = DatasetCells.of(scores)
    fit = fit_additive(datasets)
    sample = additive_sample(scores, datasets, fit)
    seeds = rng.spawn(3)
    random = scores.dataset_design.random_datasets
    counts = np.zeros_like(datasets.counts) if random else datasets.counts
    board = _leaderboard(
        scores,
        datasets.names,
        _gapped_cells(datasets, scores, level),
        confidence_interval(sample.distribution(slice(None), None), level=level),
        _sample_pairs(sample, replicates, seeds[0], level),
        completed_borda_limits(datasets, fit, replicates, seeds[1], level, random=random),
        topics=counts if (datasets.counts == 1).all() else datasets.counts,
        sampling="random" if random else "fixed",
        replicates=replicates,
        filled=fit.filled(fit.mean[fit.present]).T,
    )
    rank, low, high = _complete_ranks(scores, datasets, level, replicates, seeds[2])
    return replace(
        board,
        cells=datasets.present.sum(axis=0),
        complete_rank=rank,
        complete_rank_low=low,
        complete_rank_high=high,
    )


def _complete_ranks(
    scores: Scores, datasets: DatasetCells, level: float, replicates: int, rng: np.random.Generator
) -> Integers:
    """Return rank and limits among the runs that have all datasets; 0 for others, or a run alone."""
    whole: Booleans = np.all(datasets.present, axis=0)
    ranks = np.zeros((3, len(whole)), np.int64)
    if whole.sum() > 1:
        kept = [run for run, all_of_them in zip(scores.runs, whole, strict=True) if all_of_them]
        board = make_leaderboard(
            scores.select(run=kept), level=level, replicates=replicates, rng=rng
        )
        ranks[:, whole] = board.rank, board.rank_low, board.rank_high
    return ranks


def _gapped_cells(
    datasets: DatasetCells, scores: Scores, level: float
) -> tuple[Floats, Floats, Floats]:
    """Return the means of the cells that are there with limits over topics: runs × datasets."""
    low, high = np.full((2, *datasets.present.shape), np.nan)
    bounded = bool(bounded_measures(scores)[0])
    for number, part in enumerate(datasets.scores):
        if len(part) > 1:
            has = datasets.present[number]
            topics = tuple(str(place) for place in range(len(part)))
            runs = tuple(run for run, there in zip(datasets.runs, has, strict=True) if there)
            own = Scores(topics, runs, ("score",), part[:, :, None], bounded)
            interval = confidence_interval(own, level=level)
            low[number, has], high[number, has] = interval.low[:, 0], interval.high[:, 0]
    return datasets.means().T, low.T, high.T


def _sample_pairs(
    sample: Sample, replicates: int, rng: np.random.Generator, level: float
) -> RunPairs:
    """Return all pairs of the runs of a sample."""
    (found,) = sample.by_measure("ranks")
    means, maxima = rng.spawn(1)[0], int(rng.integers(2**63))
    return pairs_by_measure(found, replicates, means, maxima, level)


def _leaderboard(
    scores: Scores | ScoreSummary,
    names: tuple[str, ...],
    cells: tuple[Floats, Floats, Floats],
    macro: Interval,
    pairs: RunPairs,
    borda_ranks: Limits,
    *,
    topics: Integers,
    sampling: str,
    replicates: int,
    filled: Floats | None = None,
    model_topics: Integers | None = None,
) -> Leaderboard:
    """Return the leaderboard of datasets, from means with limits on each, runs × datasets, and over all.

    ``scores`` are of all runs, or of those on one dataset; ``filled`` has the means that Borda counts are of, where some are missing.
    """
    mean, low, high = cells
    level = macro.level
    ranking = ranking_of_pairs(scores, [pairs], level)
    (best,) = best_of_pairs(scores, [pairs], [level])
    borda = borda_counts(mean if filled is None else filled)
    pair_p = pairs.pair_p()
    p_next, separable, unclear = _neighbours(pairs, pair_p, level)
    every, differing = np.triu_indices(pairs.runs, 1), np.array([])
    if len(every[0]):
        differing = np.abs(pairs.difference[every])[is_significant(pair_p[every], level)]
    return Leaderboard(
        runs=ranking.runs,
        datasets=names,
        measure=ranking.measures[0],
        topics=topics,
        mean=mean.T,
        low=low.T,
        high=high.T,
        macro=macro.estimate.reshape(-1),
        macro_low=macro.low.reshape(-1),
        macro_high=macro.high.reshape(-1),
        rank=ranking.rank[:, 0],
        rank_low=ranking.simultaneous_low[:, 0],
        rank_high=ranking.simultaneous_high[:, 0],
        borderline=ranking.borderline[:, 0] | unclear,
        borda=borda,
        borda_rank=descending_ranks(borda),
        borda_low=borda_ranks.low.astype(np.int64),
        borda_high=borda_ranks.high.astype(np.int64),
        gap=best.difference[:, 0],
        gap_low=best.lower[:, 0],
        gap_high=best.upper[:, 0],
        may_be_best=best.in_set[:, 0],
        best_borderline=best.borderline[:, 0],
        share_first=best.share_first[:, 0],
        pairs=len(every[0]),
        significant=len(differing),
        ruled_out=_ruled_out(pair_p, best, level),
        lead=None if best.lead is None else best.lead[0],
        smallest=float(differing.min(initial=np.inf)) if len(differing) else np.nan,
        p_next=p_next,
        separable=separable,
        sampling=sampling,
        level=level,
        replicates=replicates,
        model_topics=model_topics,
    )


def _topic_counts(scores: Scores, names: tuple[str, ...]) -> tuple[Integers, Integers | None]:
    """Return how many topics each dataset has, 0 where each has its mean alone; and a model's alone."""
    counts = np.array([(scores.dataset_design.dataset or ()).count(name) for name in names])
    if not scores.corrected:
        return np.zeros_like(counts) if (counts == 1).all() else counts, None
    by_model = np.array([scores.on_dataset(name).model_topics for name in names])
    return counts - by_model, by_model


def _ruled_out(pair_p: Floats, best: BestRuns, level: float) -> tuple[str, ...]:
    """Return the runs outside of the set of the best whose pair with the best run is inconclusive."""
    top, *others = best.order(0)
    significant = is_significant(pair_p[top], level)
    return tuple(
        best.runs[run] for run in others if not (best.in_set[run, 0] or bool(significant[run]))
    )


def _neighbours(pairs: RunPairs, pair_p: Floats, level: float) -> tuple[Floats, Booleans, Booleans]:
    """Return p-values of each run against the next one in the ranking, adjusted for all pairs.

    Also which are significant, and which of these decisions another seed might change. Neighbours
    are chosen by the same scores: the family of all pairs allows for that choice.
    """
    runs = pairs.runs
    order = np.array(best_first(pairs.mean))
    p = np.full(runs, np.nan)
    p[order[:-1]] = pair_p[order[:-1], order[1:]]
    unclear = np.zeros(runs, bool)
    unclear[order[:-1]] = borderline_decisions(pairs.pair_p, level)[order[:-1], order[1:]]
    return p, is_significant(p, level), unclear
