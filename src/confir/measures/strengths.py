"""Bradley-Terry strengths of systems from votes, with what each independent unit adds to them."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from confir.arguments import as_choice, as_real
from confir.arrays import Booleans, Floats, Integers
from confir.data.result import Result, axis, over, result
from confir.data.run_scores import RunScores
from confir.data.votes import Votes, VoteTable, read_votes
from confir.errors import (
    InvalidValueError,
    SmallSampleWarning,
    UnsupportedMethodError,
    counted,
    enumerate_names,
    warn_caller,
)

STRENGTH = "strength"
TIE_RULES = ("half", "drop")
CLUSTERS = ("judge", "topic")

# With fewer clusters, Student's t is too optimistic about sums of different size.
_FEW_UNITS = 10

# Influence of each unit on each strength: 400 MB of numbers.
_MOST_NUMBERS = 50_000_000
_MOST_STEPS = 200
_CONVERGED = 1e-9  # of the strengths: Newton's error is the square of its last step
_LONGEST_STEP = 2.0


@result
class Strengths(RunScores, Result):
    """Strengths of systems by votes: logit P(i beats j) is the strength of i less that of j.

    Attributes
    ----------
    runs
        Names of the systems.
    strength
        Their strengths, whose sum is 0.
    votes
        Number of votes on each.
    table
        How often systems won against each other.
    inverse
        Inverse of the information H + 11ᵀ/K: systems × systems.
    influence, count
        What units add to the strengths, distinct rows × systems, and how many units each row is of.
        Rows sum to 0 over units.
    cluster
        What a unit is: "vote", "judge", "topic" or "dataset".
    prior
        Ties of every system with one whose strength is 0; 0 for none.
    """

    in_memory: ClassVar[bool] = False  # votes are no scores on topics
    in_range: ClassVar[bool] = False
    title: ClassVar[str] = "a set of votes"
    design: ClassVar[None] = None  # units are one simple random sample

    runs: tuple[str, ...] = axis("run")
    strength: Floats = over("run")
    votes: Integers = over("run")
    table: VoteTable = over("run", "run")
    inverse: Floats = over("run", "run")
    influence: Floats = over("", "run")
    count: Integers
    cluster: str
    prior: float

    record_columns = ("run", "strength", "votes")

    @property
    def measures(self) -> tuple[str, ...]:
        """The name of what is estimated."""
        return (STRENGTH,)

    @property
    def units(self) -> int:
        """Number of independent units: votes, judges or topics."""
        return int(self.count.sum())

    @property
    def unit_name(self) -> str:
        """What a unit is."""
        return self.cluster

    @property
    def topics(self) -> range:
        """The independent units by number, which are to strengths what topics are to means."""
        return range(self.units)

    def pair_means(self, first: int, second: int) -> Floats | None:
        """Return the strengths of two systems: 2 × 1."""
        return self.mean()[[first, second]]

    def mean(self) -> Floats:
        """Return the strengths: systems × 1."""
        return self.strength[:, None]

    def covariance(self) -> Floats:
        """Return the covariance of the strengths, robust to dependence within units."""
        units = self.units
        weighted = self.influence * self.count[:, None]
        found: Floats = units / (units - 1.0) * (self.influence.T @ weighted)
        return found

    def predicted(self) -> Floats:
        """Return the predicted share of wins of the row's system against the column's."""
        return win_probability(self.strength)

    def share(self) -> Floats:
        """Return the predicted share of wins of each system against the average of the others."""
        apart = ~np.eye(len(self.runs), dtype=np.bool_)
        share: Floats = np.where(apart, self.predicted(), 0.0).sum(axis=1) / (len(self.runs) - 1)
        return share


def fit_strengths(
    votes: Any, *, cluster: str | None = None, ties: str = "half", prior: float | None = None
) -> Strengths:
    """Return Bradley-Terry strengths by maximum likelihood, Σβ = 0 (Bradley & Terry 1952).

    Shares of won votes depend on the opponents that a system met; strengths do not. Verbs such as
    `compare_runs` and `rank_runs` take them in place of scores.

    Parameters
    ----------
    votes
        What `read_votes` takes.
    cluster
        "judge" or "topic", whose votes may depend on each other; a vote without one is a unit of
        its own. By default all votes are independent.
    ties
        A tie is "half" a win for each, or "drop" leaves ties out.
    prior
        So many ties of every system with one whose strength is 0: strengths then exist though a
        system only wins or only loses, and are nearer to each other. By default none.

    Examples
    --------
    >>> votes = {"left": ["a"] * 12, "right": ["b"] * 12, "winner": ["a", "a", "a", "b"] * 3}
    >>> fit_strengths(votes).strength.round(3)
    array([ 0.549, -0.549])
    """
    as_choice("ties", ties, TIE_RULES)
    added = 0.0 if prior is None else as_real("prior", prior, above=0.0)
    if cluster is not None:
        as_choice("cluster", cluster, CLUSTERS)
    held = read_votes(votes)
    if ties == "drop":
        held = _without_ties(held)
    table = held.table()
    if not added:
        check_connected(held.systems, table)
    strength = maximise_likelihood(table.points, added)
    fitted = _information(strength, table.votes, added)
    inverse = np.asarray(np.linalg.inv(fitted if added else fitted + 1.0 / len(strength)), float)
    units = _single_votes if cluster is None else _clustered_votes
    scores, count = units(held, win_probability(strength), cluster)
    influence = scores @ inverse
    influence -= influence.mean(axis=1, keepdims=True)  # strengths that a prior fixes, recentred
    influence -= count @ influence / count.sum()
    return Strengths(
        runs=held.systems,
        strength=strength - strength.mean(),
        votes=table.votes.sum(axis=1),
        table=table,
        inverse=inverse,
        influence=influence,
        count=count,
        cluster=held.topic_kind if cluster == "topic" else cluster or "vote",
        prior=added,
    )


def win_probability(strength: Floats) -> Floats:
    """Return P(row beats column); strengths may have leading axes."""
    from scipy.special import expit

    probability: Floats = expit(strength[..., :, None] - strength[..., None, :])
    return probability


def _without_ties(votes: Votes) -> Votes:
    kept = ~votes.tied
    if not kept.any():
        raise InvalidValueError(
            f"{votes.source}: all {counted(len(votes), 'vote')} are ties; expected a winner in some, "
            "or ties as half a win for each"
        )
    return votes.where(kept)


def check_connected(systems: tuple[str, ...], table: VoteTable) -> None:
    """Raise where the maximum of the likelihood does not exist (Ford 1957), naming systems.

    It exists where every system beat, or tied with, one that beat one, …, that beat any other.
    """
    from scipy.sparse.csgraph import connected_components

    points = table.points > 0
    if len(systems) < 2:
        raise InvalidValueError("there is one system; votes need at least 2")
    if connected_components(points, directed=True, connection="strong")[0] == 1:
        return
    groups, member = connected_components(points, directed=False)
    if groups > 1:
        rest = np.flatnonzero(member != np.bincount(member).argmax())
        problem = f"no votes connect {_names(systems, rest)} with the other systems"
    else:
        wins, losses = ~points.any(axis=0), ~points.any(axis=1)
        said = [
            f"{_names(systems, np.flatnonzero(who))} only {verb}{'s'[: int(who.sum()) == 1]}"
            for who, verb in ((wins, "win"), (losses, "lose"))
            if who.any()
        ]
        problem = " and ".join(said) or _one_sided(systems, points)
    raise UnsupportedMethodError(
        f"strengths do not exist: {problem}; expected further votes, systems to be left out, or a "
        "prior (--prior 1), which ties every system with an average one"
    )


def _one_sided(systems: tuple[str, ...], points: Booleans) -> str:
    """Return which group of systems never won against another, in words."""
    from scipy.sparse.csgraph import connected_components

    groups, member = connected_components(points, directed=True, connection="strong")
    lower = next(
        group
        for group in range(groups)
        if not points[np.ix_(member == group, member != group)].any()
    )
    return f"{_names(systems, np.flatnonzero(member == lower))} never win against the others"


def _names(systems: tuple[str, ...], places: Integers) -> str:
    return enumerate_names([repr(systems[place]) for place in places.tolist()], 5)


def maximise_likelihood(points: Floats, prior: float = 0.0) -> Floats:
    """Return the strengths of the largest likelihood, by Newton's method with damped steps.

    Parameters
    ----------
    points
        Wins of the row's system against the column's, ties half.
    prior
        Ties of every system with one of strength 0.
    """
    votes = points + points.T
    strength = np.zeros(len(points))
    won = points.sum(axis=1)
    for _ in range(_MOST_STEPS):
        probability = win_probability(strength)
        score = won - (votes * probability).sum(axis=1)
        information = _information(strength, votes, prior)
        if prior:
            score += prior * (0.5 - _anchored(strength))
        else:
            information += 1.0 / len(points)
        step = np.linalg.solve(information, score)
        size = float(np.abs(step).max())
        strength = strength + step * min(1.0, _LONGEST_STEP / max(size, _CONVERGED))
        if size <= _CONVERGED * max(1.0, float(np.abs(strength).max())):
            return strength
    raise UnsupportedMethodError(
        "the strengths do not converge: some are almost infinite; expected a prior (--prior 1)"
    )


def _anchored(strength: Floats) -> Floats:
    """Return P(system beats one of strength 0)."""
    from scipy.special import expit

    probability: Floats = expit(strength)
    return probability


def _information(strength: Floats, votes: Floats | Integers, prior: float) -> Floats:
    """Return Fisher's information of the strengths, which sum to no fixed number."""
    probability = win_probability(strength)
    weight = votes * probability * probability.T
    diagonal = weight.sum(axis=1)
    if prior:
        beaten = _anchored(strength)
        diagonal = diagonal + prior * beaten * (1.0 - beaten)
    information: Floats = np.diag(diagonal) - weight
    return information


class _Units(NamedTuple):
    """Scores of distinct units, and how many units have each."""

    scores: Floats
    units: Integers


def _single_votes(votes: Votes, probability: Floats, _: str | None) -> _Units:
    """Return the scores of votes: one row for each pair and outcome that there is."""
    size = len(votes.systems)
    swapped = votes.left > votes.right
    low = np.where(swapped, votes.right, votes.left)
    high = np.where(swapped, votes.left, votes.right)
    outcome = np.rint(2.0 * np.where(swapped, 1.0 - votes.winner, votes.winner)).astype(np.int64)
    found, count = np.unique((low * size + high) * 3 + outcome, return_counts=True)
    pair, won = np.divmod(found, 3)
    first, second = np.divmod(pair, size)
    residual = won / 2.0 - probability[first, second]
    _check_size(len(found), "pairs and outcomes", size)
    scores = np.zeros((len(found), size))
    rows = np.arange(len(found))
    scores[rows, first], scores[rows, second] = residual, -residual
    _check_units(len(votes), "vote")
    return _Units(scores, count)


def _clustered_votes(votes: Votes, probability: Floats, cluster: str | None) -> _Units:
    """Return the scores of judges or topics, summed over their votes."""
    size = len(votes.systems)
    present, member = np.unique(votes.unit_codes(str(cluster)), return_inverse=True)
    _check_units(len(present), votes.topic_kind if cluster == "topic" else str(cluster))
    residual = votes.winner - probability[votes.left, votes.right]
    cells = len(present) * size
    _check_size(len(present), f"{cluster}s", size)
    won = np.bincount(member * size + votes.left, residual, cells)
    lost = np.bincount(member * size + votes.right, residual, cells)
    scores = np.asarray(won - lost, float).reshape(len(present), size)
    return _Units(scores, np.ones(len(present), np.int64))


def _check_size(units: int, what: str, systems: int) -> None:
    """Raise where the influence of units on strengths does not fit into memory."""
    if units * systems > _MOST_NUMBERS:
        raise InvalidValueError(
            f"{units:,} {what} by {systems:,} systems are more than {_MOST_NUMBERS:,} numbers; "
            "expected fewer systems"
        )


def _check_units(units: int, unit: str) -> None:
    """Raise where one unit shows no variance; warn where a few show little of it."""
    if units < 2:
        raise InvalidValueError(f"there is one {unit}; strengths need at least 2 to vary over")
    if units < _FEW_UNITS:
        warn_caller(
            f"there are {counted(units, unit)}: intervals from fewer than {_FEW_UNITS} rest on the "
            "assumption that all are alike",
            SmallSampleWarning,
        )
