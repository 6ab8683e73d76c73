"""Would a run of a team that did not take part be scored fairly? Each team is left out in turn."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from confir.arguments import as_flag, as_function, as_integer, as_level
from confir.arrays import TIE, Booleans, Floats, Integers, best_first, ranks_by_mean
from confir.data.chart_marks import LIMITS_LINE, IntervalChart, dot, numbers, texts
from confir.data.experiment import Experiment, as_experiment
from confir.data.files import PathLike
from confir.data.qrels import Qrels
from confir.data.ranked_lists.held_lists import HeldLists
from confir.data.reading_rules import ReadingOptions, ReadingRules, takes_rules
from confir.data.result import Record, Result, Variable, axis, constant, over, result
from confir.data.run import Run
from confir.data.scores import Scores
from confir.data.table_columns import LIMITS, Role, TableColumn, TableColumns
from confir.defaults import LEVEL, POOL_DEPTH
from confir.errors import ConfirWarning, DegenerateSampleWarning, InvalidValueError, counted
from confir.intervals.confidence_intervals import confidence_interval
from confir.intervals.interval import Interval, means_alone
from confir.intervals.method_list import DEFAULT_METHOD
from confir.measures.evaluation import chosen_measures, score_lists
from confir.measures.lists_and_scores import with_usable_scores
from confir.number_text import limits_text, number_text, percent, share_text, topics_text
from confir.parallel import Progress
from confir.studies.judgements.leaderboards import correlate_leaderboards
from confir.studies.reusability.contributions import (
    Contributions,
    as_teams,
    keep_topics,
    pool_contributions,
    read_contributions,
    teams_of,
)
from confir.studies.unjudged.unjudged_bounds import bound_scored_lists, no_rule


@result
class Reusability(Result):
    """What each run loses when the documents that only its team contributed are not judged.

    Attributes
    ----------
    runs, measures, team
        Names of runs and measures; the team of each run.
    topics
        Topics that a run's means are over.
    mean, left_out
        Mean by all judgements, and by those without the documents that only its team contributed.
    drop, low, high
        The former less the latter, with its interval over topics.
    rank, left_out_rank
        In the leaderboard by all judgements, and in the one in which every run is scored without
        its team.
    tau, tau_ap
        Kendall's τ_b and the AP correlation of these two leaderboards, by measure.
    unique
        Relevant documents that only the run's team contributed.
    unique_share
        Share of the relevant documents that a single team contributed.
    relevant, outside
        Number of relevant documents, and of those that no team contributed.
    lowest, highest
        Bounds of the left-out mean over all judgements of unjudged documents that the team's runs
        have in the pool; None if they were not asked for, NaN for measures without a rule.
    dropped
        Topics left out, because some team's absence leaves them without relevant documents.
    pool_depth
        Depth of the pool of the runs; None if a file or a mapping names the contributors.
    level
        Confidence level.
    design
        How the topics were sampled, in words; nothing where they are one simple random sample.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    team: tuple[str, ...] = over("run")
    topics: Integers = over("run", "measure")
    mean: Floats = over("run", "measure")
    left_out: Floats = over("run", "measure")
    drop: Floats = over("run", "measure")
    low: Floats = over("run", "measure")
    high: Floats = over("run", "measure")
    rank: Integers = over("run", "measure")
    left_out_rank: Integers = over("run", "measure")
    tau: Floats = over("measure")
    tau_ap: Floats = over("measure")
    unique: Integers = over("run")
    unique_share: float = constant()
    relevant: int
    outside: int
    lowest: Floats | None = over("run", "measure", default=None)
    highest: Floats | None = over("run", "measure", default=None)
    dropped: tuple[str, ...] = ()
    pool_depth: int | None = constant(default=None)
    level: float = constant(default=LEVEL)
    design: str = ""

    row_order = ("measure", "run")
    record_columns = (
        *("run", "team", "measure", "topics", "mean", "left_out", "drop", "low", "high", "level"),
        *("rank", "left_out_rank", "tau", "tau_ap", "unique", "unique_share", "outside_share"),
        "pool_depth",
        *("lowest", "highest", "within_bounds"),
    )
    optional_columns = ("within_bounds",)

    def derived(self) -> Iterator[Variable]:
        """Yield what no team contributed, and whether bounds contain the mean by all judgements."""
        yield Variable("outside_share", (), self.outside / self.relevant)
        if self.lowest is not None:
            known: Any = self.within_bounds.astype(object)
            known[np.isnan(self.lowest)] = None
            yield Variable("within_bounds", ("run", "measure"), known)

    @property
    def mean_drop(self) -> Floats:
        """Mean drop of the runs, by measure."""
        mean: Floats = self.drop.mean(axis=0)
        return mean

    @property
    def within_bounds(self) -> Booleans:
        """Whether the bounds of the left-out mean contain the mean by all judgements."""
        none = np.full(self.mean.shape, np.nan)
        lowest = none if self.lowest is None else self.lowest
        highest = none if self.highest is None else self.highest
        inside: Booleans = (lowest - TIE <= self.mean) & (self.mean <= highest + TIE)
        return inside

    def table_columns(self) -> TableColumns:
        """Return how the columns read; bounds are one where they were asked for."""
        bounds = TableColumn(
            Role.SCORE, "bounds", text=lambda r: limits_text(r["lowest"], r["highest"])
        )
        return {
            **{name: TableColumn(Role.NAME) for name in ("measure", "run", "team")},
            "mean": TableColumn(Role.SCORE),
            "left_out": TableColumn(Role.SCORE),
            "drop": TableColumn(Role.DIFFERENCE, others=LIMITS),
            "rank": TableColumn(Role.COUNT, text=_ranks_text),
            "unique": TableColumn(Role.COUNT),
            **({} if self.lowest is None else {"lowest": bounds}),
        }

    def interval_chart(self) -> IntervalChart:
        """Return its chart: the drop of each run, largest first."""
        return IntervalChart(
            "Drop of each run when its team's unique contributions are left out",
            self.to_records(),
            marks=(LIMITS_LINE, dot("drop")),
            axis=f"drop without the team, {percent(self.level)} interval",
            tooltip=(
                *texts("run", "team", "measure"),
                *numbers("mean", "left_out", "drop", "low", "high", "unique"),
            ),
            best_by="drop",
            with_zero=True,
            width=300,
        )

    def table_records(self) -> list[Record]:
        """Return the records by measure, the run with the highest mean first."""
        records, runs = self.to_records(), len(self.runs)
        orders = enumerate(map(best_first, self.mean.T))
        return [records[measure * runs + run] for measure, order in orders for run in order]

    def note(self) -> str:
        """Return the answer in words, and what the columns are."""
        pool = "named contributors"
        if self.pool_depth is not None:
            pool = f"the pool of the first {counted(self.pool_depth, 'document')} of these runs"
        columns = (
            "mean by all judgements, and left out: without the documents that only the run's team "
            f"contributed, by {pool}; drop with {percent(self.level)} interval by t, over "
            f"{topics_text(self.topics)}; unique: relevant documents of the team alone"
        )
        design = [f"by the design, {self.design}"] if self.design else []
        return "\n".join([*self.sentences(), *self._details(), columns, *design])

    def sentences(self) -> list[str]:
        """Return a sentence for each measure: what a run of an absent team would lose."""
        found = []
        for measure, mean, drops in zip(self.measures, self.mean_drop, self.drop.T, strict=True):
            word, again = ("lose", "") if mean >= 0 else ("gain", "lose ")
            largest = "lose nothing at worst"
            if drops.max() > 0:
                largest = f"{again}{drops.max():.4f} at most ({self.runs[drops.argmax()]})"
            found.append(
                f"A run of a team that did not take part would {word} {abs(mean):.4f} in {measure} on "
                f"average and {largest}."
            )
        return found

    def _details(self) -> Iterator[str]:
        """Yield how far leaderboards agree, what teams contributed alone, and what bounds contain."""
        for measure, tau, tau_ap in zip(self.measures, self.tau, self.tau_ap, strict=True):
            yield (
                f"Leaderboard with every run scored without its team, by {measure}: τ_b "
                f"{number_text(float(tau))}, τ_AP {number_text(float(tau_ap))}."
            )
        overstated = ""
        if self.outside and self.pool_depth is not None:
            overstated = (
                f" {share_text(self.outside / self.relevant)} are in no given run's part of the pool: other "
                "teams or deeper ranks contributed them, so uniqueness and drops are overstated."
            )
        yield (
            f"{share_text(self.unique_share)} of {self.relevant:,} relevant documents were contributed "
            f"by a single team.{overstated}"
        )
        if self.lowest is None or self.highest is None:
            return
        widths = (self.highest - self.lowest).mean(axis=0)
        for m in np.flatnonzero(~np.isnan(widths)).tolist():
            yield (
                f"By {self.measures[m]}, bounds of the left-out mean over unjudged documents contain the "
                f"mean by all judgements for {int(self.within_bounds[:, m].sum())} of "
                f"{counted(len(self.runs), 'run')}; their mean width is {number_text(float(widths[m]))}."
            )


def _ranks_text(record: Record) -> str:
    """Return the rank, and the one without the team where that is another."""
    rank, left_out = record["rank"], record["left_out_rank"]
    return str(rank) if rank == left_out else f"{rank} → {left_out}"


class _LeftOut(NamedTuple):
    """Scores of every run without its team, and bounds of their means: runs × measures."""

    scores: Scores
    lowest: Floats | None
    highest: Floats | None


@takes_rules
def estimate_reusability(
    qrels: Experiment | Qrels | PathLike | Mapping[str, Any] | Any,
    runs: Run | PathLike | Sequence[Any] | Mapping[str, Any] | Any = None,
    measures: Any = None,
    *,
    teams: PathLike | Mapping[str, str],
    contributors: PathLike | Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    pool_depth: int = POOL_DEPTH,
    bounds: bool = False,
    level: float = LEVEL,
    progress: Progress | None = None,
    **rules: Unpack[ReadingOptions],
) -> Reusability:
    """Return what runs would lose if their teams had not contributed to the pool.

    A new system is scored by judgements of documents that others found, and its own finds count as
    not relevant. What the runs of each team lose without it shows how unfair that is.

    Leave-one-team-out (Zobel 1998; Voorhees 2002): documents that only one team contributed are
    deleted from the qrels, and its runs are scored on the rest.

    Parameters
    ----------
    qrels, runs, measures, progress, **rules
        As in `evaluate`.
    teams
        The team of each run: a file with lines of run and team, or a mapping.
    contributors
        The teams that contributed each judged document: a file with lines of topic, 0, docid, gain,
        number of teams and their names, or a mapping topic → docid → teams. By default the teams
        whose runs have the document in the pool.
    pool_depth
        The pool is the documents that any run has down to this rank.
    bounds
        Whether to bound the left-out means over judgements of unjudged documents, too.
    level
        Confidence level.

    Examples
    --------
    >>> qrels = {"1": {"d": 1, "e": 1}, "2": {"d": 1}}
    >>> runs = {"a": {"1": {"d": 2.0, "e": 1.0}, "2": {"d": 1.0}}, "b": {"1": {"d": 1.0}, "2": {"d": 1.0}}}
    >>> confir.estimate_reusability(qrels, runs, "P@2", teams={"a": "A", "b": "B"}).drop
    array([[0.25],
           [0.  ]])
    """
    as_function("progress", progress)
    level, bounds = as_level(level), as_flag("bounds", bounds)
    as_integer("pool_depth", pool_depth)
    experiment = as_experiment(qrels, runs, rules)
    wanted = chosen_measures(experiment, measures)
    known = as_teams(teams)  # before runs are read
    lists = experiment.lists(progress)
    of_run = teams_of(lists.runs, known)
    if contributors is None and len(set(of_run)) < 2:
        raise InvalidValueError(
            f"all runs are of team {of_run[0]!r}: without it there is no pool; expected runs of two or more "
            "teams, or contributors"
        )
    if contributors is None:
        given = pool_contributions(lists, of_run, pool_depth)
    else:
        given = read_contributions(contributors, lists.qrels, of_run)
    reading = experiment.rules
    lists, given, dropped = keep_topics(lists, given, of_run, reading.rel)
    scores = score_lists(lists, wanted, reading)
    left = _leave_out(lists, scores, given, of_run, reading, pool_depth if bounds else None)
    interval = _drop_intervals(scores, left.scores, level)
    mean, left_out = scores.mean(), left.scores.mean()
    tau, tau_ap = _correlate(mean, left_out)
    is_relevant = lists.qrels.gains >= reading.rel
    unique = np.bincount(given.only[is_relevant & (given.only >= 0)], minlength=len(given.teams))
    relevant = int(is_relevant.sum())
    return Reusability(
        runs=scores.runs,
        measures=scores.measures,
        team=of_run,
        topics=scores.topic_counts(),
        mean=mean,
        left_out=left_out,
        drop=interval.estimate,
        low=interval.low,
        high=interval.high,
        rank=ranks_by_mean(mean),
        left_out_rank=ranks_by_mean(left_out),
        tau=tau,
        tau_ap=tau_ap,
        unique=unique[[given.teams.index(team) for team in of_run]],
        unique_share=float(unique.sum() / relevant),
        relevant=relevant,
        outside=int((given.number[is_relevant] == 0).sum()),
        lowest=left.lowest,
        highest=left.highest,
        dropped=dropped,
        pool_depth=pool_depth if contributors is None else None,
        level=level,
        design=scores.design_words,
    )


def _leave_out(
    lists: HeldLists,
    scores: Scores,
    given: Contributions,
    teams: Sequence[str],
    rules: ReadingRules,
    pool_depth: int | None,
) -> _LeftOut:
    """Return the scores of every run by judgements without those that its team alone contributed.

    With bounds over unjudged documents that the team's runs have to some depth, if it is given.
    """
    values = np.empty_like(scores.values)
    lowest, highest = np.full((2, *values.shape[1:]), np.nan)
    for team in dict.fromkeys(teams):
        runs = [place for place, own in enumerate(teams) if own == team]
        own = lists.of_runs(runs).with_judgements(given.only != given.teams.index(team))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConfirWarning)  # said of all judgements already
            left = score_lists(own, list(scores.measures), rules)
            if pool_depth is not None:
                usable = with_usable_scores(own, left, rules, no_rule)
                bounded = bound_scored_lists(usable, pool_depth)
                places = [scores.measures.index(one) for one in bounded.measures]
                lowest[np.ix_(runs, places)] = bounded.lowest
                highest[np.ix_(runs, places)] = bounded.highest
        values[:, runs] = left.values
    bounds = (None, None) if pool_depth is None else (lowest, highest)
    return _LeftOut(replace(scores, values=values), *bounds)


def _drop_intervals(scores: Scores, left: Scores, level: float) -> Interval:
    """Return what runs lose on average, with intervals; drops that do not vary, or of one topic, have none."""
    drops = replace(
        scores,
        measures=tuple(f"drop in {measure}" for measure in scores.measures),
        values=scores.values - left.values,
        bounded=False,  # losses may be negative
    )
    if len(drops.topics) < 2:
        return means_alone(drops, level)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateSampleWarning)
        return confidence_interval(drops, level=level, method=DEFAULT_METHOD)


def _correlate(mean: Floats, left_out: Floats) -> tuple[Floats, Floats]:
    """Return τ_b and τ_AP of two leaderboards, by measure."""
    boards = np.stack([mean, left_out])[:, None]
    found = [correlate_leaderboards(boards[..., m], [(0, 1)]) for m in range(boards.shape[-1])]
    tau, tau_ap = np.array(found)[:, :, 0, 0].T
    return tau, tau_ap
