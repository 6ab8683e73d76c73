"""Bradley-Terry strengths of systems from votes, with what each independent unit adds to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from confir.arguments import as_choice, as_real
from confir.arrays import Booleans, Floats, Integers
from confir.data.result import Result, axis, over, result
from confir.data.run_scores import RunScores
from confir.data.votes import SideTable, Votes, VoteTable, read_votes
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
POSITION = "position"
POSITIONS = ("estimate", "adjust")

# With fewer clusters, Student's t is too optimistic about sums of different size.
_FEW_UNITS = 10

# Influence of each unit on each strength: 400 MB of numbers.
_MOST_NUMBERS = 50_000_000
_MOST_STEPS = 200
_CONVERGED = 1e-9  # of the strengths: Newton's error is the square of its last step
_LONGEST_STEP = 2.0

# A share of an effect's variance up to this, left by strengths and other effects, is rounding.
_COLLINEAR = 1e-9
# Beyond these logits of a vote, an effect may be infinite; directions are searched for within these limits.
_EXTREME = 15.0
_FARTHEST = 1e4


class VoteEffects(NamedTuple):
    """VoteEffects of what differs between two answers besides the system, on the logit of a win.

    Attributes
    ----------
    names
        "position", which is 1 for the left answer, and covariates.
    estimate, se
        The effects, and their standard errors over units.
    scale
        Root mean square of each covariate, which it was divided by; 1 for the position.
    """

    names: tuple[str, ...]
    estimate: Floats
    se: Floats
    scale: Floats


class Cells(NamedTuple):
    """Votes of the same chance: of a pair, in its order where the position matters, or single ones.

    Attributes
    ----------
    left, right
        Numbers of the two systems.
    votes, points
        Number of votes, and the left system's wins, ties half.
    terms
        What the effects are multiplied by: cells × effects.
    """

    left: Integers
    right: Integers
    votes: Floats
    points: Floats
    terms: Floats

    def logits(self, found: Floats, size: int) -> Floats:
        """Return the logits of wins of the left systems by strengths and effects."""
        logits: Floats = found[self.left] - found[self.right] + self.terms @ found[size:]
        return logits

    def score(self, residual: Floats, size: int) -> Floats:
        """Return what residuals of the cells add to the score of strengths and effects."""
        won = np.bincount(self.left, residual, size) - np.bincount(self.right, residual, size)
        return np.concatenate([won, residual @ self.terms])

    def information(self, weight: Floats, size: int) -> Floats:
        """Return the information on strengths and effects, the former up to a constant."""
        joint = np.bincount(self.left * size + self.right, weight, size * size)
        joint = joint.reshape(size, size)
        joint = joint + joint.T
        weighted = weight[:, None] * self.terms
        columns = [
            np.bincount(self.left, one, size) - np.bincount(self.right, one, size)
            for one in weighted.T
        ]
        cross = np.array(columns).reshape(-1, size)
        return np.block(
            [[np.diag(joint.sum(axis=1)) - joint, cross.T], [cross, self.terms.T @ weighted]]
        )


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
    effects
        VoteEffects of position and covariates that strengths are adjusted for.
    sides
        How often systems stood left of others, and won.
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
    effects: VoteEffects
    sides: SideTable = over("run", "run")

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
    votes: Any,
    *,
    cluster: str | None = None,
    ties: str = "half",
    prior: float | None = None,
    position: str = "estimate",
    covariates: Sequence[str] = (),
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
    position, covariates
        "adjust" for an effect of standing left, or "estimate" it beside the strengths, as
        `rate_preferences` does; further effects to adjust for, as in `read_votes`.

    Examples
    --------
    >>> votes = {"left": ["a"] * 12, "right": ["b"] * 12, "winner": ["a", "a", "a", "b"] * 3}
    >>> fit_strengths(votes).strength.round(3)
    array([ 0.549, -0.549])
    """
    as_choice("ties", ties, TIE_RULES)
    as_choice("position", position, POSITIONS)
    added = 0.0 if prior is None else as_real("prior", prior, above=0.0)
    if cluster is not None:
        as_choice("cluster", cluster, CLUSTERS)
    held = read_votes(votes, covariates=covariates)
    if POSITION in covariates:
        raise InvalidValueError(
            f"the covariate {POSITION!r} has the name of the effect of standing left; expected another "
            "name, or --position adjust"
        )
    if ties == "drop":
        held = _without_ties(held)
    table = held.table()
    if not added:
        check_connected(held.systems, table)
    terms = _terms(held, (*([POSITION] if position == "adjust" else []), *covariates))
    cells = _cells(held, terms)
    _check_identified(held, cells, terms.names)
    size = len(held.systems)
    found = maximise_likelihood(cells, size, added)
    if terms.names:
        _check_finite(held, cells, found, terms.names, added)
    inverse = np.asarray(np.linalg.inv(_information(cells, found, size, added)), np.float64)
    units = _single_votes if cluster is None else _clustered_votes
    scores, count = units(held, terms.values, found, cluster)
    influence = scores @ inverse
    # strengths that a prior fixes, recentred
    influence[:, :size] -= influence[:, :size].mean(axis=1, keepdims=True)
    influence -= count @ influence / count.sum()
    strength = found[:size]
    variance = count.sum() / (count.sum() - 1.0) * (count @ np.square(influence[:, size:]))
    return Strengths(
        runs=held.systems,
        strength=strength - strength.mean(),
        votes=table.votes.sum(axis=1),
        table=table,
        inverse=inverse[:size, :size],
        influence=influence[:, :size],
        count=count,
        cluster=held.topic_kind if cluster == "topic" else cluster or "vote",
        prior=added,
        effects=VoteEffects(terms.names, found[size:], np.sqrt(variance), terms.scale),
        sides=held.side_table(),
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


class _Terms(NamedTuple):
    """What effects are multiplied by: votes × effects, their names, and what covariates were divided by."""

    names: tuple[str, ...]
    values: Floats
    scale: Floats


def _terms(votes: Votes, names: Sequence[str]) -> _Terms:
    """Return the terms of votes: 1 for the position, covariates by their root mean square."""
    if POSITION in names and not votes.has_sides:
        raise InvalidValueError(
            f"{votes.source}: these votes do not say which answer stood left; expected votes with sides, "
            "in columns left and right, or no adjustment for position"
        )
    values = np.ones((len(votes), len(names)))
    scale = np.ones(len(names))
    for place, name in enumerate(names):
        if name == POSITION:
            continue
        given = votes.covariates[name]
        scale[place] = np.sqrt(np.mean(np.square(given)))
        if not scale[place] > 0:
            raise InvalidValueError(
                f"{votes.source}: the covariate {name!r} is 0 in all votes; expected one that differs "
                "between answers"
            )
        values[:, place] = given / scale[place]
    return _Terms(tuple(names), values, scale)


def _cells(votes: Votes, terms: _Terms) -> Cells:
    """Return votes of the same chance together: of pairs, of pairs in their order, or single votes."""
    if set(terms.names) - {POSITION}:
        return Cells(votes.left, votes.right, np.ones(len(votes)), votes.winner, terms.values)
    return pair_cells(votes.table(), votes.side_table() if terms.names else None)


def pair_cells(table: VoteTable, sides: SideTable | None) -> Cells:
    """Return the votes of pairs as cells; by sides, of pairs in both orders, with the position's effect."""
    of_pairs = sides or SideTable(np.triu(table.votes), table.points)
    left, right = (side.astype(np.int64) for side in np.nonzero(of_pairs.votes))
    votes, points = (part[left, right].astype(np.float64) for part in of_pairs)
    return Cells(left, right, votes, points, np.ones((len(left), int(sides is not None))))


def _check_identified(votes: Votes, cells: Cells, names: Sequence[str]) -> None:
    """Raise where strengths alone, or with other effects, could explain an effect."""
    size = len(votes.systems)
    gram = cells.information(np.ones(len(cells.left)), size)
    apart = gram[size:, size:] - gram[size:, :size] @ (
        np.linalg.pinv(gram[:size, :size], rcond=1e-12, hermitian=True) @ gram[:size, size:]
    )
    sd = np.sqrt(gram.diagonal()[size:])
    for count, name in enumerate(names, start=1):
        block = apart[:count, :count] / np.outer(sd[:count], sd[:count])
        if np.linalg.eigvalsh(block)[0] > _COLLINEAR:
            continue
        why = f"the covariate {name!r} follows from the systems and the other effects"
        expected = "other numbers"
        if name == POSITION:
            left, right = (np.bincount(side, minlength=size) for side in (votes.left, votes.right))
            fixed = np.flatnonzero((left == 0) | (right == 0))
            said = f": {_names(votes.systems, fixed)} always on one side" if len(fixed) else ""
            why, expected = f"the side follows from the systems{said}", "votes in both orders"
        raise UnsupportedMethodError(
            f"the effect of {name} cannot be separated from strengths: {why}; expected {expected}"
        )


def _check_finite(
    votes: Votes, cells: Cells, found: Floats, names: Sequence[str], prior: float
) -> None:
    """Raise where the likelihood has no maximum, because votes are separable.

    Then a direction exists along which no vote becomes less likely (Albert & Anderson 1984): found
    by a linear program, for fits so extreme that there may be one. Of strengths with a prior, only
    effects can be infinite.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack, identity

    size = len(votes.systems)
    if np.isfinite(found).all() and np.abs(cells.logits(found, size)).max() < _EXTREME:
        return
    count, rows = len(cells.left), np.arange(len(cells.left))
    design = np.zeros((count, size + len(names)))
    if not prior:
        design[rows, cells.left], design[rows, cells.right] = 1.0, -1.0
    design[:, size:] = cells.terms
    won, lost = cells.points > 0, cells.points < cells.votes
    signed = csr_array(np.concatenate([design[won], -design[lost]]))
    margins = signed.shape[0]
    # margins between 0 and 1 that a direction reaches: all 0, or one of them 1
    solved = linprog(
        np.concatenate([np.zeros(signed.shape[1]), -np.ones(margins)]),
        A_ub=hstack([-signed, identity(margins)], format="csr"),
        b_ub=np.zeros(margins),
        bounds=[(-_FARTHEST, _FARTHEST)] * signed.shape[1] + [(0.0, 1.0)] * margins,
    )
    if solved.status != 0 or float(solved.fun or 0.0) < -0.5 or not np.isfinite(found).all():
        alone = names[0] if len(names) == 1 else "effects"
        left = votes.winner[votes.winner != 0.5]
        said = f"{alone} and strengths predict every vote exactly"
        if POSITION in names and len(left) and (left == left[0]).all():
            said = f"the {'left' if left[0] else 'right'} side wins every vote that is no tie"
        raise UnsupportedMethodError(
            f"the effect of {enumerate_names(names, 3)} is infinite: {said}; expected further votes, or "
            "no adjustment"
        )


def maximise_likelihood(cells: Cells, size: int, prior: float = 0.0) -> Floats:
    """Return strengths, then effects, of the largest likelihood; by Newton's method, damped.

    Parameters
    ----------
    cells
        The votes.
    size
        Number of systems.
    prior
        Ties of every system with one of strength 0, which stand on no side.
    """
    from scipy.special import expit

    effects = cells.terms.shape[1]
    found: Floats = np.zeros(size + effects)
    for _ in range(_MOST_STEPS):
        residual = cells.points - cells.votes * expit(cells.logits(found, size))
        score = cells.score(residual, size)
        score[:size] += prior * (0.5 - expit(found[:size]))
        try:
            step = np.linalg.solve(_information(cells, found, size, prior), score)
        except np.linalg.LinAlgError:
            break
        length = float(np.abs(step).max())
        found = found + step * min(1.0, _LONGEST_STEP / max(length, _CONVERGED))
        if length <= _CONVERGED * max(1.0, float(np.abs(found).max())):
            return found
    if effects:
        return np.full_like(found, np.inf)
    raise UnsupportedMethodError(
        "the strengths do not converge: some are almost infinite; expected a prior (--prior 1)"
    )


def _information(cells: Cells, found: Floats, size: int, prior: float) -> Floats:
    """Return Fisher's information H + gg'/K, g = 1 for strengths; with a prior, that of its ties."""
    from scipy.special import expit

    chance = expit(cells.logits(found, size))
    information = cells.information(cells.votes * chance * (1.0 - chance), size)
    if prior:
        anchored = expit(found[:size])
        information[range(size), range(size)] += prior * anchored * (1.0 - anchored)
    else:
        information[:size, :size] += 1.0 / size
    return information


class _Units(NamedTuple):
    """Scores of distinct units, and how many units have each."""

    scores: Floats
    units: Integers


def _residuals(votes: Votes, terms: Floats, found: Floats) -> Floats:
    """Return what each vote is above its chance."""
    from scipy.special import expit

    size = len(votes.systems)
    logits = found[votes.left] - found[votes.right] + terms @ found[size:]
    residuals: Floats = votes.winner - expit(logits)
    return residuals


def _single_votes(votes: Votes, terms: Floats, found: Floats, __: str | None) -> _Units:
    """Return the scores of votes: one row for each pair and outcome that there is, or for each vote.

    Pairs have an order where the position has an effect. Votes with covariates have a row each.
    """
    size, effects = len(votes.systems), terms.shape[1]
    _check_units(len(votes), "vote")
    if (terms != 1.0).any():
        _check_size(len(votes), "votes with covariates", size)
        one, other, count = votes.left, votes.right, np.ones(len(votes), np.int64)
        residual = _residuals(votes, terms, found)
    else:
        swapped = (votes.left > votes.right) & (not effects)
        one = np.where(swapped, votes.right, votes.left)
        other = np.where(swapped, votes.left, votes.right)
        won = np.rint(2.0 * np.where(swapped, 1.0 - votes.winner, votes.winner)).astype(np.int64)
        alike, count = np.unique((one * size + other) * 3 + won, return_counts=True)
        pair, won = np.divmod(alike, 3)
        one, other = np.divmod(pair, size)
        _check_size(len(alike), "pairs and outcomes", size)
        terms = np.ones((len(alike), effects))
        held = Votes(votes.systems, one, other, won / 2.0)
        residual = _residuals(held, terms, found)
    scores = np.zeros((len(count), size + effects))
    rows = np.arange(len(count))
    scores[rows, one], scores[rows, other] = residual, -residual
    scores[:, size:] = residual[:, None] * terms
    return _Units(scores, count)


def _clustered_votes(votes: Votes, terms: Floats, found: Floats, cluster: str | None) -> _Units:
    """Return the scores of judges or topics, summed over their votes."""
    size = len(votes.systems)
    present, member = np.unique(votes.unit_codes(str(cluster)), return_inverse=True)
    _check_units(len(present), votes.topic_kind if cluster == "topic" else str(cluster))
    residual = _residuals(votes, terms, found)
    cells = len(present) * size
    _check_size(len(present), f"{cluster}s", size)
    won = np.bincount(member * size + votes.left, residual, cells)
    lost = np.bincount(member * size + votes.right, residual, cells)
    further = [np.bincount(member, residual * term, len(present)) for term in terms.T]
    scores = np.column_stack([(won - lost).reshape(len(present), size), *further])
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
