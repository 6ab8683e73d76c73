"""Plans for further votes, and the pairs of systems to ask about.

The variance of a contrast c of strengths is r·cᵀH⁻¹c, where r is by how much votes vary more or less
than the model says. A vote between two systems adds w·eeᵀ to the information H, w = P(1-P), so that the
variance after m votes follows in closed form (Sherman & Morrison 1950).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from confir.arguments import as_choice, as_level, as_power, as_real
from confir.arrays import TIE, Floats, Integers
from confir.data.result import Record, Result, Variable, axis, constant, over, result
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.data.votes import read_votes
from confir.defaults import DEFAULT_POWER, LEVEL
from confir.errors import InvalidValueError
from confir.measures.strengths import Strengths, fit_strengths
from confir.number_text import number_text, percent
from confir.pairs.differences import check_differences

# More votes are no plan.
_MOST_VOTES = 10**12


@result
class VotePlan(Result):
    """How many more votes reach a goal, for each contrast of strengths.

    Attributes
    ----------
    contrasts
        A system, and the one that its strength is compared with; "" for the strength itself.
    difference, half_width
        The contrast, and the half width of its interval now.
    target
        The half width wanted; to separate two systems, the standard error wanted, times t.
    votes
        Further votes, spread over pairs as so far; None where no number suffices.
    ask
        The pair of systems whose votes lower the variance most.
    ask_votes
        Further votes on this pair alone; None where no number suffices.
    goal
        "half-width" or "separate".
    level, power
        Confidence level, and the power with which neighbours are separated.
    cluster
        What a unit is: further votes come in further units like these.
    """

    contrasts: tuple[tuple[str, str], ...] = axis("contrast")
    difference: Floats = over("contrast")
    half_width: Floats = over("contrast")
    target: Floats = over("contrast")
    votes: Floats = over("contrast")
    ask: tuple[tuple[str, str], ...] = over("contrast")
    ask_votes: Floats = over("contrast")
    goal: str = constant()
    level: float = constant()
    power: float = constant()
    cluster: str = constant()

    label_parts: ClassVar = {"contrast": ("run", "against")}
    record_columns = (
        *("run", "against", "difference", "half_width", "target", "votes"),
        *("ask_first", "ask_second", "ask_votes", "goal", "level", "power", "cluster"),
    )

    def derived(self) -> Iterator[Variable]:
        """Yield numbers of votes, None where none suffices, and the systems to ask about."""
        for name in ("votes", "ask_votes"):
            counts = [int(n) if np.isfinite(n) else None for n in getattr(self, name).tolist()]
            yield Variable(name, ("contrast",), counts)
        for place, name in enumerate(("ask_first", "ask_second")):
            yield Variable(name, ("contrast",), [pair[place] for pair in self.ask])
        others = [other or None for _, other in self.contrasts]
        yield Variable("against", ("contrast",), others)
        power = self.power if self.goal == "separate" else None
        yield Variable("power", (), power)

    @property
    def is_compared(self) -> bool:
        """Whether contrasts are differences between two systems."""
        return bool(self.contrasts[0][1])

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        compared = self.is_compared
        return {
            "run": TableColumn(Role.NAME, "system"),
            **({"against": TableColumn(Role.NAME)} if compared else {}),
            "difference": TableColumn(Role.SCORE, "difference" if compared else "strength"),
            "half_width": TableColumn(Role.NUMBER, "now", text=lambda r: _margin(r["half_width"])),
            "target": TableColumn(Role.NUMBER, "wanted", text=lambda r: _margin(r["target"])),
            "votes": TableColumn(Role.COUNT),
            "ask_first": TableColumn(Role.NUMBER, "ask", text=_asked),
            "ask_votes": TableColumn(Role.COUNT, "on it"),
        }

    def note(self) -> str:
        """Return what the columns are."""
        goal = f"a significant difference with power {self.power:g}, if it is the observed one"
        if self.goal == "half-width":
            goal = f"an interval of ± {self.target[0]:g}"
        like = {"vote": "", "judge": ", by further judges like these"}.get(
            self.cluster, f", on further {self.cluster}s like these"
        )
        return (
            f"further votes{like}, for {goal}, level {percent(self.level)}, of each "
            f"{'difference' if self.is_compared else 'strength'} by itself; votes: spread over pairs as so "
            "far; ask: the pair whose votes lower the variance most; on it: votes on that pair alone; a "
            "dash where no number suffices"
        )


def _margin(half_width: float) -> str:
    return f"±{number_text(half_width)}"


def _asked(record: Record) -> str:
    asked = record["ask_first"], record["ask_second"]
    return "this pair" if {*asked} == {record["run"], record["against"]} else " – ".join(asked)


def plan_votes(
    votes: Any,
    *,
    half_width: float | None = None,
    baseline: str | None = None,
    power: float = DEFAULT_POWER,
    level: float = LEVEL,
    cluster: str | None = None,
    ties: str = "half",
    prior: float | None = None,
    position: str = "estimate",
    covariates: Sequence[str] = (),
) -> VotePlan:
    """Return how many more votes reach a goal, and which pairs of systems to ask about.

    Votes are costly, and do not all help alike: those that lower the variance of a difference most
    need not be between the two systems themselves. Plan after a pilot, before asking more judges.

    Parameters
    ----------
    votes
        The votes so far: what `read_votes` takes.
    half_width
        An interval no wider than ± this, of every strength or, with a baseline, of every difference
        from it. By default, neighbours in the order of strengths are to differ significantly, if the
        difference is the observed one.
    baseline
        The system that the others are compared with.
    power, level
        Power of the test of neighbours; confidence level.
    cluster, ties, prior, position, covariates
        As in `fit_strengths`; adjusted strengths need further votes in both orders.

    Examples
    --------
    >>> votes = {"left": ["a"] * 40, "right": ["b"] * 40, "winner": ["a", "a", "a", "b"] * 10}
    >>> plan_votes(votes, half_width=0.2).votes
    array([100., 100.])
    """
    level = as_level(level)
    as_power(power, 1.0 - level if half_width is None else 0.0)
    votes = read_votes(votes, covariates=covariates)
    check_differences(len(votes.systems))
    strengths = fit_strengths(
        votes, cluster=cluster, ties=ties, prior=prior, position=position, covariates=covariates
    )
    return plan_of(strengths, half_width=half_width, baseline=baseline, power=power, level=level)


def plan_of(
    strengths: Strengths,
    *,
    half_width: float | None = None,
    baseline: str | None = None,
    power: float = DEFAULT_POWER,
    level: float = LEVEL,
) -> VotePlan:
    """Return how many votes more than those that strengths rest on reach a goal, as `plan_votes`."""
    from scipy.special import ndtri, stdtrit

    weights, names = _contrasts(strengths, half_width, baseline)
    difference = weights @ strengths.strength
    variance = np.maximum(0.0, _forms(weights, strengths.covariance()))
    if (variance <= TIE * TIE).all():
        raise InvalidValueError(
            "nothing can be planned: strengths have no interval, because these votes do not vary, such as "
            "ties alone; expected votes for both sides"
        )
    critical = float(stdtrit(strengths.units - 1.0, (1.0 + level) / 2.0))
    if half_width is not None:
        wanted = np.full(len(difference), as_real("half_width", half_width, above=0.0) / critical)
    else:
        wanted = np.abs(difference) / (critical + float(ndtri(power)))
    total = int(strengths.votes.sum()) // 2
    with np.errstate(divide="ignore", invalid="ignore"):
        more = np.ceil(total * np.maximum(variance / np.square(wanted) - 1.0, 0.0))
    ask, ask_votes = _best_pairs(strengths, weights, variance, np.square(wanted))
    return VotePlan(
        contrasts=names,
        difference=difference,
        half_width=critical * np.sqrt(variance),
        target=critical * wanted,
        votes=_possible(more),
        ask=tuple((strengths.runs[first], strengths.runs[second]) for first, second in ask),
        ask_votes=_possible(ask_votes),
        goal="separate" if half_width is None else "half-width",
        level=level,
        power=power,
        cluster=strengths.cluster,
    )


def _possible(votes: Floats) -> Floats:
    """Return numbers of votes; infinity where they are more than anybody casts."""
    return np.where(votes <= _MOST_VOTES, votes, np.inf)


def _contrasts(
    strengths: Strengths, half_width: float | None, baseline: str | None
) -> tuple[Floats, tuple[tuple[str, str], ...]]:
    """Return strengths, differences from the baseline, or those of neighbours.

    As coefficients, contrasts × systems, and the pairs that they name.
    """
    runs = strengths.runs
    every = np.eye(len(runs))
    if baseline is not None:
        place = runs.index(as_choice("baseline", baseline, runs, "system"))
        others = [run for run in range(len(runs)) if run != place]
        return every[others] - every[place], tuple((runs[r], baseline) for r in others)
    order = np.argsort(-strengths.strength, kind="stable")
    if half_width is not None:
        centred = every - 1.0 / len(runs)
        return centred[order], tuple((runs[run], "") for run in order)
    if len(runs) < 2:
        raise InvalidValueError("there is one system; a plan needs at least 2")
    names = tuple((runs[a], runs[b]) for a, b in pairwise(order))
    return every[order[:-1]] - every[order[1:]], names


def _forms(weights: Floats, matrix: Floats) -> Floats:
    """Return cᵀMc of each contrast."""
    forms: Floats = np.einsum("ci,ij,cj->c", weights, matrix, weights)
    return forms


def _best_pairs(
    strengths: Strengths, weights: Floats, variance: Floats, wanted: Floats
) -> tuple[Integers, Floats]:
    """Return for each contrast the pair whose next vote lowers its variance most, and how many.

    After m votes of weight w on a pair e, the variance cᵀH⁻¹c falls by m·w·a²/(1 + m·w·b), where
    a = cᵀH⁻¹e and b = eᵀH⁻¹e.
    """
    first, second = (side.astype(np.int64) for side in np.triu_indices(len(strengths.runs), 1))
    inverse = strengths.inverse
    apart = inverse[:, first] - inverse[:, second]  # H⁻¹e: systems × pairs
    b = apart[first, np.arange(len(first))] - apart[second, np.arange(len(first))]
    probability = strengths.predicted()[first, second]
    w = probability * (1.0 - probability)
    a = weights @ apart
    model = _forms(weights, inverse)
    chosen = np.argmax(w * np.square(a) / (1.0 + w * b), axis=1)
    a, b, w = a[np.arange(len(weights)), chosen], b[chosen], w[chosen]
    with np.errstate(divide="ignore", invalid="ignore"):  # a contrast may have no variance
        fall = model - wanted * model / variance
        votes = fall / (w * (np.square(a) - fall * b))
    reachable = np.square(a) > fall * b
    needed = np.where(fall <= 0, 0.0, np.where(reachable, np.ceil(votes), np.inf))
    return np.stack([first[chosen], second[chosen]], axis=1), needed
