"""Tables of published means: run, measure, mean, an error or limits, and the number of topics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from confir.arguments import as_level, as_path
from confir.arrays import Booleans, Floats, Integers
from confir.data.files import PathLike
from confir.data.result import Result, axis, over, result
from confir.data.run_scores import RunScores
from confir.data.tables.column_names import TOPIC_NAMES
from confir.data.tables.input_table import InputTable, check_filled, encode_ids
from confir.data.tables.measure_names import confir_name
from confir.data.tables.table_kind import TableKind, fold
from confir.data.tables.table_reader import has_columns, read_table
from confir.defaults import LEVEL
from confir.errors import InputWarning, InvalidValueError, enumerate_names, warn_caller

_EXPECTED = "expected columns run, measure (if there are several), mean, se (or sd, or low and high), topics"
_SPREADS = {"se": ("se", "sem", "standard_error"), "sd": ("sd", "std", "stdev"), "low": ("low",)}
_MEANS = TableKind(
    _EXPECTED,
    {
        "run": ("run", "run_id", "runid", "system", "tag", "name"),
        "measure": ("measure", "metric"),
        "mean": ("mean",),
        **_SPREADS,
        "high": ("high",),
        "level": ("level",),
        "topic": ("topics", "n"),  # numbers of topics
    },
)

# The columns of AlpacaEval's boards, one row per model.
_WIN_RATE = "win_rate"
_WIN_RATES = {_WIN_RATE, "standard_error", "n_total"}

# Where the mean is further from the middle of its limits, as a share of their half width, a warning says it.
_ASYMMETRIC = 0.1

# Where a standard error and a standard deviation say so different things, as a log ratio; both are rounded.
_CONTRADICTION = 0.3


@result
class PublishedMeans(RunScores, Result):
    """Means of runs by measures, with standard errors and numbers of topics, as a paper has them.

    Attributes
    ----------
    runs, measures
        Names.
    means, se
        The means, and their standard errors.
    counts
        Number of topics of each mean.
    bounded
        Whether measures that confir does not know lie in [0, 1]; by default they do if all means do.
    """

    in_memory: ClassVar[bool] = False
    title: ClassVar[str] = "a table of means"
    design: ClassVar[None] = None  # whatever it was, the standard errors allow for it

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    means: Floats = over("run", "measure", column="mean")
    se: Floats = over("run", "measure")
    counts: Integers = over("run", "measure", column="topics")
    bounded: bool | None = None

    def __post_init__(self) -> None:
        Result.__post_init__(self)
        if not (np.isfinite(self.means).all() and (self.se > 0).all() and (self.counts > 1).all()):
            raise InvalidValueError(
                "a published mean is no number, or has no standard error above 0, or fewer than 2 "
                "topics; expected all three of each run"
            )

    @property
    def topics(self) -> range:
        """The topics by number."""
        return range(int(self.counts.max()))

    @property
    def inside(self) -> tuple[bool, ...]:
        """Whether the means by each measure lie in [0, 1]."""
        inside = np.all((self.means >= 0.0) & (self.means <= 1.0), axis=0)
        return tuple(inside.tolist())

    def topic_counts(self) -> Integers:
        """Return how many topics each mean is over: runs × measures."""
        return self.counts

    def mean(self) -> Floats:
        """Return the means: runs × measures."""
        return self.means

    def clipped(self, find_bounded: Callable[[Self], Booleans]) -> Self:
        """Return the means; raise where one by a measure in [0, 1] lies elsewhere."""
        outside = (self.means < 0.0) | (self.means > 1.0)
        for run, measure in np.argwhere(outside & find_bounded(self))[:1].tolist():
            raise InvalidValueError(
                f"the mean of run {self.runs[run]!r} by {self.measures[measure]} is "
                f"{self.means[run, measure]:g}; expected a mean in [0, 1]"
            )
        return self

    def warning_of_missing_topics(self) -> Self:
        """Return the means: which topics they are over is not known."""
        return self


def read_published_means(source: PathLike | Any, *, level: float = LEVEL) -> PublishedMeans:
    """Return the means in a table, as papers and leaderboards publish them: they have intervals.

    Parameters
    ----------
    source
        A path or a frame, with columns run, measure (if there are several), mean, topics (their number),
        and se, the standard error; or sd, the standard deviation over topics; or low and high, the
        limits of a t interval.
    level
        Confidence level of limits, where no column ``level`` says it.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"run": ["a", "b"], "mean": [0.3, 0.4], "se": [0.02, 0.03], "topics": 50})
    >>> confir.confidence_interval(confir.read_published_means(frame), method="t").low.round(3)
    array([[0.26],
           [0.34]])
    """
    given = source if has_columns(source) else as_path("source", source)
    return means_from_table(read_table(given, _MEANS), as_level(level))


def are_means(header: Sequence[str]) -> bool:
    """Whether columns are those of published means, one per run: no scores of single topics.

    Where the error is missing, reading says so.
    """
    names = {fold(name) for name in header}
    has_error = any(not names.isdisjoint(known) for known in _SPREADS.values())
    counted = all(not names.isdisjoint(_MEANS.roles[role]) for role in ("run", "topic"))
    alone = names.isdisjoint({*TOPIC_NAMES, "score", "value"})
    return names >= _WIN_RATES or ("mean" in names and (has_error or counted) and alone)


def means_from_table(table: InputTable, level: float = LEVEL) -> PublishedMeans:
    """Return the means in the columns of a table; raise where one is missing, or there twice."""
    table = replace(_from_win_rates(table), kind=_MEANS)
    rows, place = len(table), table.find("measure")
    runs = encode_ids(table.texts(table.need("run")))
    named = ["score"] * rows if place is None else map(confir_name, table.texts(place))
    measures = encode_ids(list(named))
    check_filled({"runs": len(runs.names), "measures": len(measures.names)}, rows, table.source)
    mean, topics = _numbers(table, "mean"), _numbers(table, "topic")
    whole = (topics >= 2) & (topics == np.rint(topics))
    table.check_numbers(whole, topics, "number of topics", "a whole number of 2 or more")
    se = _standard_errors(table, mean, topics, level)
    shape = len(runs.names), len(measures.names)
    cells = np.ravel_multi_index((runs.codes, measures.codes), shape)
    for cell in np.flatnonzero(np.bincount(cells, minlength=shape[0] * shape[1]) != 1).tolist():
        first, *again = np.flatnonzero(cells == cell).tolist() or [-1]
        run, measure = runs.names[cell // shape[1]], measures.names[cell % shape[1]]
        about = f"mean of run {run!r} by {measure!r}"
        if not again:
            raise table.header_error(f"no {about}; expected each measure of each run, once")
        raise table.error(
            f"the {about} is there twice, also at {table.describe_row(first)}", again[0]
        )
    order = np.argsort(cells, kind="stable")
    means, errors, counts = (part[order].reshape(shape) for part in (mean, se, topics))
    return PublishedMeans(
        tuple(runs.names), tuple(measures.names), means, errors, counts.astype(np.int64)
    )


def _from_win_rates(table: InputTable) -> InputTable:
    """Return a board of AlpacaEval as a table of means, without its baseline; any other table as it is.

    The baseline has won and lost against itself, with a standard error of 0.
    """
    if not {fold(name) for name in table.header} >= _WIN_RATES:
        return table
    runs = table.find_named(("", "name", "model"))
    if runs is None:
        raise table.header_error("win rates without a column of models; expected one")
    places = [table.find_named([name]) for name in (_WIN_RATE, "standard_error", "n_total")]
    rates, errors, counts = (table.numbers([place])[0] for place in places if place is not None)
    names = table.texts(runs)
    rated = errors != 0.0
    if not rated.all():
        left = [name for name, is_rated in zip(names, rated.tolist(), strict=True) if not is_rated]
        warn_caller(
            f"{table.source}: {enumerate_names(left, 3)} left out, whose win rate has no error: the others are "
            "compared with it",
            InputWarning,
        )
    columns = [names, [_WIN_RATE] * len(names), rates.tolist(), errors.tolist(), counts.tolist()]
    header = ["run", "measure", "mean", "se", "topics"]
    return replace(table, header=header, columns=columns).where(rated)


def _numbers(table: InputTable, role: str) -> Floats:
    """Return the numbers in the column of a role; raise where one is missing or infinite."""
    numbers: Floats = table.numbers([table.need(role)])[0]
    table.check_numbers(np.isfinite(numbers), numbers, table.header[table.need(role)], "a number")
    return numbers


def _standard_errors(table: InputTable, mean: Floats, topics: Floats, level: float) -> Floats:
    """Return standard errors: those of a column, or by standard deviations or limits."""
    spread = next((role for role in _SPREADS if table.find(role) is not None), None)
    if spread is None:
        raise table.header_error(f"no column of errors; {_EXPECTED}")
    if spread == "low":
        return _errors_of_limits(table, mean, topics, level)
    found = _numbers(table, spread)
    table.check_numbers(found > 0, found, spread, "a number above 0")
    if spread == "sd":
        return found / np.sqrt(topics)
    if table.find("sd") is not None:
        _compare_errors(table, found, _numbers(table, "sd") / np.sqrt(topics))
    return found


def _compare_errors(table: InputTable, se: Floats, by_deviation: Floats) -> None:
    """Warn where a standard error is far from what the standard deviation gives."""
    apart = np.abs(np.log(by_deviation / se)) > _CONTRADICTION
    for row in np.flatnonzero(apart)[:1].tolist():
        warn_caller(
            f"{table.source}, {table.describe_row(row)}: the standard error is {se[row]:g}, but {by_deviation[row]:.2g} by the "
            "standard deviation and the number of topics; the standard error is taken",
            InputWarning,
        )


def _errors_of_limits(table: InputTable, mean: Floats, topics: Floats, level: float) -> Floats:
    """Return standard errors of means whose t intervals are known: half the width over the quantile."""
    from scipy.special import stdtrit

    low, high = _numbers(table, "low"), _numbers(table, "high")
    inside = (low < high) & (low <= mean) & (mean <= high)
    table.check_numbers(inside, mean, "mean", "one between its limits, low below high")
    levels = np.full(len(mean), level) if table.find("level") is None else _numbers(table, "level")
    table.check_numbers((levels > 0) & (levels < 1), levels, "level", "a number between 0 and 1")
    half = (high - low) / 2.0
    if np.any(np.abs((low + high) / 2.0 - mean) > _ASYMMETRIC * half):
        warn_caller(
            f"{table.source}: a mean is not in the middle of its limits, which are taken for those of a t "
            "interval; standard errors (column se) would be more precise",
            InputWarning,
        )
    errors: Floats = half / stdtrit(topics - 1.0, (1.0 + levels) / 2.0)
    return errors
