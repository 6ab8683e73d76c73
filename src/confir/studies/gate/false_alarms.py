"""How often would a gate be wrong, and what would it catch? Its rule applied to data sets made from the scores.

An A/A test of a gate: the runs' scores swapped on random topics, equal means with the skew of the differences,
and losses of known size. Every data set is a column beside the others, so that all are judged at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from confir.arguments import as_generator, as_integer
from confir.arrays import Booleans, Floats, Integers
from confir.data.result import Record, Result, axis, constant, over, result
from confir.data.sampling_designs.design import Design
from confir.data.scores import Scores
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.defaults import BASELINE, SEED
from confir.errors import (
    InvalidValueError,
    UnsupportedMethodError,
    collect_warnings,
    enumerate_names,
)
from confir.intervals.method_list import METHODS
from confir.number_text import level_text, score_words
from confir.pairs.compare import compare_runs
from confir.pairs.comparison import Comparison
from confir.pairs.decisions import Estimates, decide, significant_directions
from confir.pairs.differences import (
    MeanDifferences,
    find_difference_method,
    mean_differences,
    pair_runs,
)
from confir.pairs.gate import GateEvidence, GateRule, check_gate, passing_runs
from confir.pairs.paired_tests import DEFAULT_TEST, find_test
from confir.pairs.simultaneous import ComparisonFamily, SimultaneousLimits, positive
from confir.resampling.kinds import as_sample
from confir.resampling.pair_draws import BorrowedVariance
from confir.resampling.replicates import Rng

# How data sets are made.
SWAPPED, EQUAL, SPREAD, FAILING = DATA_SET_KINDS = (
    "swapped",
    "equal-means",
    "spread-loss",
    "failing-topics",
)

# Data sets of each kind; of gates that are not judged by the t test of a family, which takes a hundred times
# as long.
DATA_SETS, FEW_DATA_SETS = 2000, 200
# Replicates inside of these, at most.
_INNER_REPLICATES = 499
# Scores of data sets held at once.
_NUMBERS_AT_ONCE, _COLUMNS_AT_ONCE = 1 << 22, 1 << 11
# The loss that is caught in so many, sought in so many halvings; losses of the chart.
CAUGHT = 0.8
_HALVINGS, _LOSSES = 12, 9
# The loss that the sentences name: this share of the baseline's mean, rounded.
_NAMED_SHARE = 0.05


@result
class FalseAlarms(Result):
    """How often a gate closes on data sets made from the scores.

    Attributes
    ----------
    entries
        How data sets were made, and the loss in them: "swapped" and "equal-means" without loss,
        "spread-loss" in proportion to the candidate's scores, "failing-topics" on a few topics that score 0.
    stopped, error
        Share of the data sets in which the gate closes, of losses that in which a candidate fails; and the
        simulation error of the share.
    gate_measures, baseline, candidates
        What decides, and the runs.
    require, margin, level
        The rule of the gate, and the level of its intervals.
    named_loss, caught
        The loss that the sentences name, and that which is caught in 80%; NaN where none is.
    data_sets
        Number of data sets of each kind.
    """

    entries: tuple[tuple[str, float], ...] = axis("entry")
    stopped: Floats = over("entry")
    error: Floats = over("entry")
    gate_measures: tuple[str, ...]
    baseline: str = constant(column="against")
    candidates: tuple[str, ...]
    require: str = constant()
    margin: float = constant()
    level: float = constant()
    named_loss: float
    caught: float
    data_sets: int = constant()

    label_parts: ClassVar[Mapping[str, tuple[str, ...]]] = {"entry": ("data", "loss")}
    record_columns = (
        *("data", "loss", "stopped", "error", "data_sets", "against", "require", "margin", "level"),
    )

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        return {
            "data": TableColumn(Role.NAME),
            "loss": TableColumn(Role.NUMBER, format=".3g"),
            "stopped": TableColumn(Role.SHARE),
            "error": TableColumn(Role.SHARE, "± simulation"),
        }

    def note(self) -> str:
        """Return what the rows are."""
        return (
            f"share of {self.data_sets:,} data sets of each kind that the gate stops, at level "
            f"{level_text(self.level)}, with the simulation error of the share; the data sets are made from these "
            "scores, and are no repeated runs of the system: where there are repeats, use them"
        )

    def share(self, data: str, loss: float = 0.0) -> tuple[float, float]:
        """Return the share that is stopped of a kind of data sets, and its simulation error."""
        place = self.entries.index((data, loss))
        return float(self.stopped[place]), float(self.error[place])

    def kept(self) -> Record:
        """Return what a history keeps: shares with their simulation errors, and losses."""
        places = {
            "swapped": (SWAPPED, 0.0),
            "equal_means": (EQUAL, 0.0),
            "spread_loss": (SPREAD, self.named_loss),
            "failing_topics": (FAILING, self.named_loss),
        }
        return {
            **{name: list(self.share(*place)) for name, place in places.items()},
            "loss": self.named_loss,
            "caught": None if math.isnan(self.caught) else self.caught,
            "measure": self.gate_measures[0],
        }

    def sentences(self) -> list[str]:
        """Return what the gate does wrongly and what it catches: always all three lines."""
        return alarm_sentences(self.kept(), self.require)


def alarm_sentences(kept: Record, require: str) -> list[str]:
    """Return what a gate does wrongly and what it catches, by what `FalseAlarms.kept` returns."""
    stops = require == "not-worse"
    what = "stop {} of releases" if stops else "refuse {} of equal candidates"
    swapped, equal = (what.format(_share_words(*kept[kind])) for kind in ("swapped", "equal_means"))
    spread, failing = kept["spread_loss"], kept["failing_topics"]
    loss = f"loss of {score_words(kept['loss'])} of {kept['measure']}"
    if stops:
        caught = "no loss is caught in 80%"
        if kept["caught"] is not None:
            caught = f"the loss caught in 80% is {score_words(kept['caught'])}"
        third = (
            f"A {loss} spread in proportion would be caught in {_share_words(*spread)}, on a few failing topics "
            f"in {_share_words(*failing)}; {caught}."
        )
    else:
        passed = [_share_words(1.0 - share, error) for share, error in (spread, failing)]
        third = (
            f"It would pass a {loss} in {passed[0]} if it is spread in proportion, in {passed[1]} if a few topics "
            "fail."
        )
    first = (
        "Were the runs interchangeable on every topic, with differences as large as these, this gate would "
        f"{swapped}."
    )
    return [
        first,
        f"With equal means and the skew of these differences, it would {equal}.",
        third,
    ]


def _share_words(share: float, error: float) -> str:
    """Return a share with its simulation error: ``2.4% (± 0.3)``."""
    return f"{100 * share:.1f}% (± {100 * error:.1f})"


class _Runs(NamedTuple):
    """The runs at a gate, by the measures that decide.

    Attributes
    ----------
    scores
        Topics × runs × measures, the baseline first; NaN where missing.
    cluster, stratum, weight
        What each topic belongs to, and what it counts.
    design
        How topics were drawn; None where they are one simple random sample.
    """

    scores: Floats
    cluster: Integers
    stratum: Integers
    weight: Floats
    design: Design | None

    @property
    def differences(self) -> Floats:
        """Differences of the candidates from the baseline: topics × candidates × measures."""
        found: Floats = self.scores[:, 1:] - self.scores[:, :1]
        return found

    def centred(self) -> Floats:
        """Return differences with mean 0 by the design, as spread as those of a sample: × √(G/(G-1)).

        A stratum keeps its own mean less the overall one.
        """
        differences = self.differences
        present = ~np.isnan(differences)
        weight = np.where(present, self.weight[:, None, None], 0.0)
        filled = np.where(present, differences, 0.0)
        moved = np.zeros_like(filled)
        means, shares = [], []
        for stratum in np.unique(self.stratum).tolist():
            inside = self.stratum == stratum
            with np.errstate(invalid="ignore", divide="ignore"):
                mean = (weight * filled)[inside].sum(axis=0) / weight[inside].sum(axis=0)
            groups = _present_groups(self.cluster[inside], present[inside])
            factor = np.sqrt(groups / np.maximum(groups - 1.0, 1.0))
            moved[inside] = factor * (filled[inside] - mean) + mean
            means.append(mean)
            shares.append(weight[inside].sum(axis=0))
        overall = np.average(np.nan_to_num(means), axis=0, weights=np.array(shares))
        return np.where(present, moved - overall, np.nan)


def _present_groups(cluster: Integers, present: Booleans) -> Floats:
    """Return the number of clusters with a score: candidates × measures."""
    codes = np.unique(cluster, return_inverse=True)[1]
    held = np.zeros((codes.max(initial=0) + 1, *present.shape[1:]), np.int64)
    np.add.at(held, codes, present)
    groups: Floats = (held > 0).sum(axis=0).astype(np.float64)
    return groups


def find_false_alarms(
    comparison: Comparison,
    measures: Any,
    rule: GateRule | None = None,
    *,
    level: float | None = None,
    data_sets: int | None = None,
    rng: Rng = SEED,
) -> FalseAlarms:
    """Return how often a gate closes on data sets made from the scores that it is about.

    1. The runs' scores are swapped on random topics, those of all candidates and measures together.
    2. Equal means: centred differences of topics that are drawn with replacement, which keep their skew.
    3. A loss: centred differences with random signs, less a loss in proportion to the candidate's scores, or
       on a few topics on which it scores 0. All losses share the signs.

    Parameters
    ----------
    comparison, measures, rule
        A comparison with a baseline, the measures that decide, and what candidates must fulfil.
    level
        Of the intervals, by default that of the comparison; of a look of a history, that of the look.
    data_sets
        Number of data sets of each kind: by default 2,000, or 200 where the gate is not judged by the t test
        of a family.
    rng
        Seed or generator.

    Examples
    --------
    >>> scores = {"a": [0.3, 0.5, 0.4, 0.6], "b": [0.2, 0.5, 0.1, 0.3]}
    >>> comparison = confir.compare_runs(scores, baseline="a")
    >>> find_false_alarms(comparison, ["score"], data_sets=99).share("swapped")[0] <= 0.125
    True
    """
    rule = GateRule() if rule is None else rule
    named = [measures] if isinstance(measures, str) else list(measures)
    for name in named:
        check_gate(comparison, name, rule.margin, rule.require)
    gate = _SimulatedGate.of(comparison, named, rule, comparison.level if level is None else level)
    number = as_integer("data_sets", data_sets or (DATA_SETS if gate.fast else FEW_DATA_SETS))
    generator = as_generator(rng)
    seeds = generator.integers(0, 2**63, 3).tolist()
    base = float(np.nanmean(gate.runs.scores[:, 0, 0]))
    named_loss = _rounded(_NAMED_SHARE * abs(base)) + rule.margin
    if rule.require == "non-inferior" and rule.margin:
        named_loss = rule.margin
    shares: dict[tuple[str, float], tuple[float, int]] = {
        (SWAPPED, 0.0): (float(_swapped(gate, number, seeds[0]).any(axis=1).mean()), number),
    }
    equal = _equal_means(gate, number, seeds[1])
    shares[EQUAL, 0.0] = float(equal.any(axis=1).mean()), len(equal)
    stop = partial(_stopped_by_loss, gate, number, seeds[2])
    caught = _caught_loss(partial(stop, SPREAD), named_loss, gate.largest_loss)
    top = gate.largest_loss if math.isnan(caught) else min(1.5 * caught, gate.largest_loss)
    losses = sorted({0.0, named_loss, *(_rounded(x, 3) for x in np.linspace(0.0, top, _LOSSES))})
    for kind in (SPREAD, FAILING):
        shares |= {(kind, loss): (stop(kind, loss), number) for loss in losses}
    stopped = np.array([share for share, _ in shares.values()])
    count = np.array([number for _, number in shares.values()])
    return FalseAlarms(
        entries=tuple(shares),
        stopped=stopped,
        error=np.sqrt(np.maximum(stopped * (1.0 - stopped), 1.0 / (4.0 * count)) / count),
        gate_measures=tuple(named),
        baseline=str(comparison.baseline),
        candidates=gate.names[1:],
        require=rule.require,
        margin=rule.margin,
        level=gate.options["level"],
        named_loss=named_loss,
        caught=caught,
        data_sets=number,
    )


def _rounded(value: float, digits: int = 1) -> float:
    return float(f"{value:.{digits}g}")


@dataclass(frozen=True, slots=True, eq=False)
class _SimulatedGate:
    """A gate whose rule is applied to many data sets at once.

    Attributes
    ----------
    runs, names
        The runs by the gate's measures, and their names, the baseline first.
    rule, options
        The rule, and how the runs are compared.
    fast
        Whether it is judged by the t test of a family.
    """

    runs: _Runs
    names: tuple[str, ...]
    rule: GateRule
    options: dict[str, Any]
    fast: bool

    @classmethod
    def of(
        cls, comparison: Comparison, measures: list[str], rule: GateRule, level: float
    ) -> _SimulatedGate:
        """Return the gate of a comparison; raise where no data sets can be made of its scores."""
        scores = comparison.scores
        if scores.missing_cells() is None:
            raise UnsupportedMethodError(
                "data sets for false alarms need one score per run and topic; expected no repeats, no human "
                "judgements and no summary"
            )
        if METHODS[comparison.method].needs != ("se",):
            raise UnsupportedMethodError(
                f"false alarms need intervals that the standard error alone makes, not {comparison.method!r}; "
                "expected the method t"
            )
        names = (str(comparison.baseline), *(run for _, run in comparison.pairs))
        own = scores.listed().select(run=list(names), measure=measures)
        order = [own.runs.index(name) for name in names]
        values = own.values[:, order][:, :, [own.measures.index(name) for name in measures]]
        differences = values[:, 1:] - values[:, :1]
        if not np.any(np.abs(np.nan_to_num(differences)) > 0):
            raise InvalidValueError(
                f"{enumerate_names(names, 3)} are identical by {enumerate_names(measures, 3)}: no data sets can be "
                "made of their differences; expected runs that differ"
            )
        count = len(own.topics)
        layout = None if own.design is None else own.design.layout()
        runs = _Runs(
            values,
            np.arange(count) if layout is None else layout.cluster,
            np.zeros(count, np.int64) if layout is None else layout.stratum,
            np.ones(count) if layout is None else layout.weight,
            own.design,
        )
        options = comparison.options | {"level": level}
        options["replicates"] = min(comparison.replicates, _INNER_REPLICATES)
        fast = comparison.tests == (DEFAULT_TEST,) and comparison.family == BASELINE
        return cls(runs, names, rule, options, fast)

    @property
    def largest_loss(self) -> float:
        """The largest loss by the first measure: all of the candidates' mean score."""
        return float(np.nanmin(np.nanmean(self.runs.scores[:, 1:, 0], axis=0)))

    def fails(self, values: Floats, design: Design | None) -> Booleans:
        """Return which candidates fail by any measure: data sets × candidates.

        ``values`` are topics × runs × data sets × measures.
        """
        topics, runs, sets, measures = values.shape
        labels = tuple(f"{number:06d}" for number in range(sets * measures))
        names = tuple(f"{number:06d}" for number in range(topics))
        if design is not None:
            names = design.topics
        flat = values.reshape(topics, runs, sets * measures)
        scores = Scores(names, self.names, labels, flat, bounded=False, design=design)
        with collect_warnings():
            judge = self._evidence if self.fast else self._compared
            passing = passing_runs(judge(scores), self.rule.margin, self.rule.require)
        failing: Booleans = np.any(~passing.reshape(runs - 1, sets, measures), axis=2)
        return failing.T

    def _compared(self, scores: Scores) -> GateEvidence:
        return GateEvidence.of(
            compare_runs(scores, baseline=self.names[0], rng=SEED, **self.options)
        )

    def _evidence(self, scores: Scores) -> GateEvidence:
        """Return what `_compared` does, all data sets at once, with Bonferroni's limit in a family."""
        pairs = pair_runs(as_sample(scores), self.names[0])
        method, level = find_difference_method(self.options["method"]), self.options["level"]
        means, _ = mean_differences(pairs, method, level, 1, np.random.default_rng(SEED))
        family: Any = _FamiliesBeside.of(means)  # an adjustment as `Families` are
        limits = family.limits(means, level)
        estimates = Estimates(
            means.difference, limits.low, limits.high, means.constant, limits.open
        )
        test = find_test(DEFAULT_TEST)
        outcome = test.compute(pairs, means, 1, SEED)
        margin = self.options["margin"]
        found = decide([(test, outcome)], means, estimates, family, margin=margin, level=level)
        significant = significant_directions(
            estimates, found.direction[0], found.p_adjusted[0], level
        )
        return GateEvidence(means, estimates, family, found.verdict[0], significant, level, margin)


class _FamiliesBeside(NamedTuple):
    """Families of single columns, as `Families` has them, by Bonferroni's limit and all at once.

    Attributes
    ----------
    columns, families
        Which columns have families of the same size, and these families side by side.
    """

    columns: tuple[Booleans, ...]
    families: tuple[ComparisonFamily, ...]

    @classmethod
    def of(cls, means: MeanDifferences) -> _FamiliesBeside:
        """Return the families of mean differences: identical runs are not in them."""
        variance = np.square(means.se) * means.units
        known = np.where((variance > 0) & (variance < np.inf), variance, np.nan)
        median = np.nan_to_num(_median_by_column(known))
        columns, families = [], []
        for size in np.unique(means.tested).tolist():
            columns.append(means.tested == size)
            share: Any = median[columns[-1]]
            borrowed = BorrowedVariance(size, share if size > 1 else 0.0)
            families.append(ComparisonFamily(size, np.empty(0), borrowed=borrowed))
        return cls(tuple(columns), tuple(families))

    def limits(self, means: MeanDifferences, level: float) -> SimultaneousLimits:
        """Return the simultaneous limits; NaN where runs are identical."""
        low, high = np.full((2, *means.se.shape), np.nan)
        open_end = np.zeros(means.se.shape, np.int64)
        for columns, family in zip(self.columns, self.families, strict=True):
            own = MeanDifferences._make(part[:, columns] for part in means)
            found = family.decide(own.evidence, level)
            low[:, columns], high[:, columns] = found.low, found.high
            open_end[:, columns] = found.open
        low[means.identical] = high[means.identical] = np.nan
        return SimultaneousLimits(low, high, open_end)

    def adjust(
        self,
        p: Floats,
        means: MeanDifferences,
        *,
        sides: int = 2,
        errors: float = 0.0,
        p_error: Floats | None = None,  # noqa: ARG002 - as `Families.adjust` takes it
    ) -> Floats:
        """Return adjusted p-values, as `Families.adjust`."""
        adjusted = np.full(p.shape, np.nan)
        for columns, family in zip(self.columns, self.families, strict=True):
            own, own_p = MeanDifferences._make(part[:, columns] for part in means), p[:, columns]
            count = np.sum(~np.isnan(own_p), axis=0)
            # one-sided tests are of identical runs, too: of equally many by all columns here
            size = family.size if sides == 2 else int(count.max(initial=0))
            together = replace(family, size=size, sides=sides)
            found = together.adjusted(own.evidence, errors)
            if sides == 1:
                found = np.where(own.constant, np.minimum(1.0, np.maximum(count, 1) * own_p), found)
            adjusted[:, columns] = positive(np.where(np.isnan(own_p), np.nan, found))
        return adjusted


def _median_by_column(values: Floats) -> Floats:
    """Return the median of the numbers in each column; NaN where there is none."""
    ordered = np.sort(values, axis=0)  # NaN last
    count = (~np.isnan(values)).sum(axis=0)
    low, high = np.maximum(count - 1, 0) // 2, count // 2
    places = [np.minimum(place, len(values) - 1)[None] for place in (low, high)]
    middle: Floats = sum(np.take_along_axis(ordered, place, axis=0)[0] for place in places) / 2.0
    return middle


def _blocks(gate: _SimulatedGate, number: int) -> list[int]:
    """Return sizes of blocks of data sets, fixed by the problem."""
    columns = _COLUMNS_AT_ONCE // gate.runs.scores.shape[2]
    most = max(1, min(_NUMBERS_AT_ONCE // gate.runs.scores.size, columns))
    return [min(most, number - start) for start in range(0, number, most)]


def _swapped(gate: _SimulatedGate, number: int, seed: int) -> Booleans:
    """Return failures where the runs' labels are permuted within topics, or within whole clusters."""
    rng, found = np.random.default_rng(seed), []
    values, cluster = gate.runs.scores, gate.runs.cluster
    topics, runs, _ = values.shape
    for size in _blocks(gate, number):
        orders = rng.random((size, int(cluster.max()) + 1, runs)).argsort(axis=2, kind="stable")
        of_topics = orders[:, cluster].transpose(1, 2, 0)  # topics × runs × data sets
        taken = values[np.arange(topics)[:, None, None], of_topics]
        found.append(gate.fails(taken, gate.runs.design))
    return np.concatenate(found)


def _equal_means(gate: _SimulatedGate, number: int, seed: int) -> Booleans:
    """Return failures where centred differences of topics are drawn with replacement, within strata.

    Of a design, whose clusters differ in size, each data set is drawn and judged by itself, and there are
    fewer of them.
    """
    rng, found = np.random.default_rng(seed), []
    centred = gate.runs.centred()
    topics = len(centred)
    if gate.runs.design is None:
        for size in _blocks(gate, number):
            drawn = centred[
                rng.integers(0, topics, (topics, size))
            ]  # topics × sets × runs × measures
            found.append(gate.fails(_beside_zero(drawn.transpose(0, 2, 1, 3)), None))
        return np.concatenate(found)
    for _ in range(min(number, FEW_DATA_SETS)):
        places, cluster = _drawn_clusters(gate.runs, rng)
        labels = {"cluster": [f"{label}" for label in cluster]}
        labels["stratum"] = [f"{one}" for one in gate.runs.stratum[places].tolist()]
        names = tuple(f"{place:06d}" for place in range(len(places)))
        design = Design(
            names,
            stratum=tuple(labels["stratum"]) if gate.runs.stratum.any() else None,
            cluster=tuple(labels["cluster"]),
            weight=gate.runs.weight[places],
        )
        found.append(gate.fails(_beside_zero(centred[places][:, :, None]), design))
    return np.concatenate(found)


def _drawn_clusters(runs: _Runs, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Return the topics of clusters that are drawn within strata, and which draw each is of."""
    places: list[Integers] = []
    for stratum in np.unique(runs.stratum).tolist():
        groups = np.unique(runs.cluster[runs.stratum == stratum])
        drawn = rng.choice(groups, len(groups))
        places += [np.flatnonzero(runs.cluster == group) for group in drawn.tolist()]
    numbers = np.repeat(np.arange(len(places)), [len(one) for one in places])
    return np.concatenate(places), numbers


def _beside_zero(differences: Floats) -> Floats:
    """Return scores with these differences from a baseline of 0: topics × runs × data sets × measures."""
    return np.concatenate([np.zeros_like(differences[:, :1]), differences], axis=1)


def _stopped_by_loss(gate: _SimulatedGate, number: int, seed: int, kind: str, loss: float) -> float:
    """Return the share of data sets in which a candidate that loses fails, mean over the candidates."""
    rng, found = np.random.default_rng(seed), []
    centred, scores = gate.runs.centred(), gate.runs.scores[:, 1:]
    cluster = gate.runs.cluster
    share = loss / np.nanmean(scores[:, :, :1], axis=0, keepdims=True)  # of the first measure
    for size in _blocks(gate, number):
        signs = rng.choice([-1.0, 1.0], (int(cluster.max()) + 1, size))[cluster]
        order = (
            rng.random((size, len(centred))).argsort(axis=1, kind="stable").T
        )  # topics in order of failing
        data = signs[:, None, :, None] * centred[:, :, None]
        if kind == SPREAD:
            data -= (share * scores)[:, :, None]
        else:
            data -= _failing_loss(scores, share, order)
        found.append(gate.fails(_beside_zero(data), gate.runs.design))
    return float(np.concatenate(found).mean())


def _failing_loss(scores: Floats, share: Floats, order: Integers) -> Floats:
    """Return a loss of a share of all scores on the first topics in an order, which score 0 there.

    The last of them loses a part of its score: topics × candidates × data sets × measures.
    """
    filled = np.nan_to_num(scores)
    inside = filled[order]  # topics in order × data sets × candidates × measures
    before = np.cumsum(inside, axis=0) - inside
    wanted = (share * filled.sum(axis=0, keepdims=True))[:, None]
    lost = np.clip(wanted - before, 0.0, inside)
    found = np.empty_like(lost)
    np.put_along_axis(found, order[:, :, None, None], lost, axis=0)
    losses: Floats = found.transpose(0, 2, 1, 3)
    return losses


def _caught_loss(stopped: Callable[[float], float], start: float, largest: float) -> float:
    """Return the loss that is caught in 80%, by halving; NaN where even the largest is not."""
    low, high = 0.0, max(start, 1e-12)
    while stopped(high) < CAUGHT:
        if high >= largest:
            return math.nan
        low, high = high, min(2.0 * high, largest)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if stopped(middle) >= CAUGHT else (middle, high)
    return high
