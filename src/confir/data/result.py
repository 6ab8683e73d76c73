"""Results with named axes and variables: records, columns, frames, tables, a choice of labels.

A result is a frozen dataclass whose fields say what they are::

    @result
    class Ranking(Result):
        runs: tuple[str, ...] = axis("run")
        measures: tuple[str, ...] = axis("measure")
        rank: Integers = over("run", "measure")
        level: float = constant()

Records have one column per axis and variable, in the order of the fields, and one row per
combination of labels, the first axis slowest. The dimensions of arrays have one order everywhere:
further axes (method, test, …), topic, run or pair, measure, summary.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, dataclass, field, fields, replace
from itertools import zip_longest
from typing import Any, ClassVar, NamedTuple, Self, TypeVar, dataclass_transform

import numpy as np

from confir.arrays import best_first
from confir.data.chart_marks import IntervalChart
from confir.data.table_columns import TableColumns
from confir.errors import FormatError, UnknownNameError, UnsupportedMethodError

Record = dict[str, Any]
Columns = dict[str, list[Any]]

_Result = TypeVar("_Result", bound="Result")


class Variable(NamedTuple):
    """A column of the records, the axes that its values lie along, and the values."""

    column: str
    axes: tuple[str, ...]
    values: Any


def axis(name: str) -> Any:
    """Declare a field of labels: one per place along the axis."""
    return field(metadata={"axis": name})


def over(
    *axes: str,
    column: str | None = None,
    flat: bool = False,
    default: Any = MISSING,
    kw_only: bool = False,
) -> Any:
    """Declare a field with an array along some axes.

    Parameters
    ----------
    axes
        Names of the axes, in the order of the array's dimensions; empty for a dimension without
        a name, as all further ones are.
    column
        Its name in records, where that is not the field's.
    flat
        Whether the array may have another shape, in which its entries come in the same order.
    default
        The value of the field where none is given.
    kw_only
        Whether it is given by its name alone: of a field that follows others with a default.
    """
    metadata = {"over": axes, "column": column, "flat": flat}
    return field(default=default, kw_only=kw_only, metadata=metadata)


def constant(*, column: str | None = None, default: Any = MISSING) -> Any:
    """Declare a field that is the same in every record, such as the level."""
    return over(column=column, default=default)


@dataclass_transform(frozen_default=True, field_specifiers=(axis, over, constant, field))
def result(cls: type[_Result]) -> type[_Result]:
    """Make a class a frozen result; its fields are those of a dataclass."""
    return dataclass(frozen=True, slots=True, eq=False, repr=False)(cls)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result:
    """A frozen result with named axes; see the module's documentation.

    Attributes
    ----------
    record_columns
        The columns of the records in order, where they are not those of the fields; one that a
        result lacks is left out.
    optional_columns
        The columns among them that a result may lack, besides fields that may be None.
    row_order
        Axes of the records, slowest first, where these are not all axes in their order.
    label_parts
        What the labels of an axis are made of, where they are tuples: a column for each part.
    best_by
        The column by which records are ordered along the last axis, highest first.
    bold_means
        What it means that a cell of the table is bold, for papers.
    """

    record_columns: ClassVar[tuple[str, ...]] = ()
    optional_columns: ClassVar[tuple[str, ...]] = ()
    row_order: ClassVar[tuple[str, ...]] = ()
    label_parts: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    best_by: ClassVar[str] = ""
    bold_means: ClassVar[str] = ""

    def __post_init__(self) -> None:
        labels = self.axes()
        for one in fields(self):
            axes, values = one.metadata.get("over"), getattr(self, one.name)
            if not axes or values is None:
                continue
            found = _shape(values, len(axes))
            expected = tuple(len(labels[a]) if a else n for a, n in zip_longest(axes, found))
            flat = one.metadata["flat"] and np.size(values) == math.prod(expected)
            if found != expected and not flat:
                raise FormatError(
                    f"{one.name} has shape {found}; expected {expected}: {' × '.join(axes)}"
                )

    def axes(self) -> dict[str, Sequence[Any]]:
        """Return the labels along each axis."""
        return {
            one.metadata["axis"]: getattr(self, one.name)
            for one in fields(self)
            if "axis" in one.metadata
        }

    def variables(self) -> list[Variable]:
        """Return the columns of the records, the labels of the axes first."""
        found = {one.column: one for one in self.label_variables()}
        for one in fields(self):
            along, values = one.metadata.get("over"), getattr(self, one.name)
            if along is not None and not (along and values is None):
                name = one.metadata["column"] or one.name
                found[name] = Variable(name, along, self._along(values, one.metadata))
        found |= {one.column: one for one in self.derived()}
        return [found[name] for name in self.record_columns or found if name in found]

    def label_variables(self) -> Iterator[Variable]:
        """Yield the labels of the axes, or the parts that they are made of."""
        for name, labels in self.axes().items():
            if name not in self.label_parts:
                yield Variable(name, (name,), labels)
            for place, part in enumerate(self.label_parts.get(name, ())):
                yield Variable(part, (name,), [label[place] for label in labels])

    def derived(self) -> Iterable[Variable]:
        """Return columns that follow from the fields; they replace fields of the same name."""
        return ()

    def table_columns(self) -> TableColumns:
        """Return how the columns of its table read, in their order; none where it has no table."""
        return {}

    def interval_chart(self) -> IntervalChart | None:
        """Return what its interval chart shows; None where it has none."""
        return None

    def note(self) -> str:
        """Return what the columns of the table are, in words."""
        return ""

    def table_records(self) -> list[Record]:
        """Return the records in the order of the table's rows; mostly their own."""
        return self.to_records()

    def rows(self) -> Any:
        """Return which rows the records hold, as numbers in order, or all of them (a slice)."""
        if not self.best_by:
            return slice(None)
        axes, values = next(one[1:] for one in self.variables() if one.column == self.best_by)
        order = [name for name in self.row_order or axes if name in axes]
        turned = np.transpose(values, [axes.index(name) for name in order])
        lines = turned.reshape(-1, turned.shape[-1])
        places = np.array([best_first(line) for line in lines], np.intp).reshape(lines.shape)
        return (np.arange(len(lines))[:, None] * lines.shape[1] + places).reshape(-1)

    def to_dict(self) -> Columns:
        """Return the records as columns: name → values."""
        axes, rows = self.axes(), self.rows()
        order = [name for name in self.row_order or axes if name in axes]
        shape = tuple(len(axes[name]) for name in order)
        columns = {}
        for column, along, values in self.variables():
            array = values
            if not isinstance(values, np.ndarray) and len(along) == 1:  # labels may be tuples
                array = np.empty(len(values), object)
                array[:] = values
            elif not isinstance(values, np.ndarray):
                array = np.array(values, object)
            places = sorted(range(len(along)), key=lambda place: order.index(along[place]))
            array = array.transpose(places) if places else array
            full = array.reshape([len(axes[name]) if name in along else 1 for name in order])
            columns[column] = np.broadcast_to(full, shape).reshape(-1)[rows].tolist()
        return columns

    def to_records(self) -> list[Record]:
        """Return one record per combination of labels: column → value."""
        return records_of(self.to_dict())

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the records as a data frame.

        Parameters
        ----------
        backend
            "pandas", "polars" or "pyarrow"; by default the first of them that is installed.
        """
        from confir.data.formats.frames import build_frame

        return build_frame(self.to_dict(), backend)

    def to_arrow(self) -> Any:
        """Return the records as an Arrow table."""
        return self.to_frame("pyarrow")

    def to_xarray(self) -> Any:
        """Return the records as a dataset of xarray: an array per column, along named dimensions."""
        from confir.data.formats.labelled_arrays import build_dataset

        columns = self.to_dict()
        labels = [one.column for one in self.label_variables() if one.column in columns]
        return build_dataset(columns, labels)

    def to_markdown(self, *, decimals: int | None = None) -> str:
        """Return the table of the result in Markdown, as ``--format md`` prints it.

        Parameters
        ----------
        decimals
            Decimals of scores; by default 4.
        """
        from confir.report.notebook import markdown_table

        return markdown_table(self, decimals)

    def to_latex(
        self, *, width: str | None = None, intervals: str | None = None, decimals: int | None = None
    ) -> str:
        """Return the table of the result in LaTeX, as ``--format tex`` prints it.

        Its first line is a comment that names the packages to load.

        Parameters
        ----------
        width
            "column" or "page": the table is made to fit it; by default it is as wide as its content.
        intervals
            "brackets", "stacked" or "plus-minus"; by default as fits.
        decimals
            Decimals of scores; by default 3.
        """
        from confir.report.notebook import latex_table

        return latex_table(self, width, intervals, decimals)

    def select(self, **labels: Any) -> Self:
        """Return the result for some labels of its axes, in the order given.

        Topics stay in their own order. Results that it holds are selected along. Where labels have
        parts, as pairs of runs have, a part selects all labels that have it, in their own order.

        Parameters
        ----------
        labels
            A label, or several, for each axis to choose from: ``select(run="bm25")``.
        """
        chosen = self._places(labels)
        changes: dict[str, Any] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            along = one.metadata.get("over", ())
            along = (one.metadata["axis"],) if "axis" in one.metadata else along
            if value is not None and chosen.keys() & set(along):
                value = _take(self._along(value, one.metadata), along, chosen)
            held = value if isinstance(value, tuple) else (value,)
            if held and all(isinstance(part, Result) for part in held):
                own, parts = self._choices(), []
                for part in held:
                    theirs = part._choices()  # noqa: SLF001 - it is a result, too
                    shared = {
                        name: wanted
                        for name, wanted in labels.items()
                        if name in theirs and tuple(own[name].values) == tuple(theirs[name].values)
                    }
                    parts.append(part.select(**shared))
                value = tuple(parts) if isinstance(value, tuple) else parts[0]
            changes[one.name] = value
        return replace(self, **changes)

    def __repr__(self) -> str:
        sizes = [f"{name}: {len(labels)}" for name, labels in self.axes().items()]
        constants = [
            f"{one.name}={getattr(self, one.name)!r}"
            for one in fields(self)
            if one.metadata.get("over") == ()
        ]
        return f"{type(self).__name__}({', '.join([*sizes, *constants])})"

    def __str__(self) -> str:
        from confir.report.notebook import printed_table

        try:
            return printed_table(self)
        except UnsupportedMethodError:  # no table shows it
            return repr(self)

    def _repr_html_(self) -> str | None:
        from confir.report.notebook import notebook_html

        try:
            return notebook_html(self)
        except UnsupportedMethodError:  # no table shows it: the short text does
            return None

    def _along(self, values: Any, metadata: Mapping[str, Any]) -> Any:
        """Return the values of a field in the shape of its axes."""
        if not metadata.get("flat"):
            return values
        labels = self.axes()
        return np.reshape(values, [len(labels[name]) for name in metadata["over"]])

    def _choices(self) -> dict[str, Variable]:
        """Return what labels may be chosen by: axes, and the parts of their labels."""
        axes = (Variable(name, (name,), labels) for name, labels in self.axes().items())
        return {one.column: one for one in (*self.label_variables(), *axes)}

    def _places(self, labels: Mapping[str, Any]) -> dict[str, list[int]]:
        """Return the places that labels, or parts of them, choose along their axes."""
        choices = self._choices()
        chosen: dict[str, list[int]] = {}
        for name, wanted in labels.items():
            if name not in choices:
                raise UnknownNameError("axis", str(name), tuple(choices))
            ((along,), known) = choices[name][1:]
            single = isinstance(wanted, Hashable) and wanted in known
            several = isinstance(wanted, Iterable) and not isinstance(wanted, str) and not single
            places: dict[Any, list[int]] = {}
            for place, label in enumerate(known):
                places.setdefault(label, []).append(place)
            found = []
            for label in wanted if several else [wanted]:
                if not isinstance(label, Hashable) or label not in places:
                    raise UnknownNameError(name, str(label), [str(one) for one in places])
                found += places[label]
            # Topics, sets and parts of labels stay in their own order: results depend on that of topics.
            if along != name or name == "topic" or isinstance(wanted, AbstractSet):
                found.sort()
            both = set(found)
            chosen[along] = [place for place in chosen.get(along, found) if place in both]
        return chosen


def records_of(columns: Mapping[str, Sequence[Any]]) -> list[Record]:
    """Return one record per row of columns."""
    names = tuple(columns)
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(names, row, strict=False)) for row in rows]  # strict takes a third longer


def columns_of(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Columns:
    """Return rows as columns under their names, for records that are no product of axes."""
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _shape(values: Any, dimensions: int) -> tuple[int, ...]:
    """Return the first dimensions of an array, of arrays in a named tuple, or of tuples."""
    if isinstance(values, np.ndarray):
        return tuple(values.shape[:dimensions])
    if hasattr(values, "_fields"):
        return _shape(values[0], dimensions)
    if dimensions == 0:
        return ()
    return (len(values), *(_shape(values[0], dimensions - 1) if len(values) else ()))


def _take(values: Any, along: Sequence[str], chosen: Mapping[str, list[int]]) -> Any:
    """Return the values at some places along their axes; named tuples hold an array each."""
    if hasattr(values, "_fields") and along:
        return values._make(_take(part, along, chosen) for part in values)
    if isinstance(values, np.ndarray):
        for dimension, name in enumerate(along):
            values = values.take(chosen[name], axis=dimension) if name in chosen else values
        return values
    if not along:
        return values
    first = [values[place] for place in chosen[along[0]]] if along[0] in chosen else values
    return tuple(_take(value, along[1:], chosen) for value in first)
