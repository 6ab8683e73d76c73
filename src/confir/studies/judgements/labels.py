"""Labels of items by humans and by judges, from a table with one row per item.

Labels are pass or fail, ordered grades, or scores. No runs or qrels are needed: items may be answers,
traces or documents.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from confir.arguments import as_choices, as_list, as_path, as_real, invalid
from confir.arrays import Booleans, Floats, Integers
from confir.data.tables.column_names import ROLE_NAMES, TOPIC_NAMES
from confir.data.tables.input_table import InputTable
from confir.data.tables.table_kind import TableKind, fold
from confir.data.tables.table_reader import column_table, has_columns, read_table
from confir.data.text_numbers import label_text, parse_number
from confir.errors import FormatError, InvalidValueError, counted, enumerate_names

Kind = Literal["pass/fail", "grades", "scores"]
BINARY: Kind = "pass/fail"
GRADED: Kind = "grades"
SCORED: Kind = "scores"

# Words for pass and fail, besides 1 and 0.
_PASS = ("1", "yes", "y", "true", "pass", "passed", "correct")
_FAIL = ("0", "no", "n", "false", "fail", "failed", "incorrect")
_OUTCOMES = dict.fromkeys(_PASS, 1.0) | dict.fromkeys(_FAIL, 0.0)
# More distinct whole numbers than this are scores.
_MOST_GRADES = 11

_NAME = "labels"
_EXPECTED = (
    "expected columns human and judge with one row per item; also item, topic, weight and further "
    "judges (judge_b) where known"
)
_ACCEPTED = "a path to a table of labels, a frame, a list of dicts, or a mapping column → cells"
_TOPICS = (*TOPIC_NAMES, "cluster", "cluster_id", "group")
_HUMAN = ("human", "human_label", "human_grade", "human_score", "reference", "gold")
_LABELS = TableKind(
    _EXPECTED,
    {
        "item": [name for name in ROLE_NAMES["topic"] if name not in _TOPICS],
        "human": _HUMAN,
        "topic": _TOPICS,
        "weight": ["weight"],
        "judge": ["judge"],
    },
)


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Labels of the items that have one by the human reference.

    Attributes
    ----------
    reference, judges
        Names of the columns.
    kind
        What the labels are.
    scale
        The grades, ascending, 0 and 1 for fail and pass; empty for scores.
    words
        What grades are called where they are words, lowest first; else empty.
    human, judged
        Labels by the reference, and by the judges: items, and items × judges; NaN where missing.
    unlabelled
        Items without a human label, which are left out.
    cluster, clusters
        The topic of each item as a number, in bytewise order, and how many there are; each item is one
        of its own where no topics are named.
    by_topic
        Whether topics are named.
    weight
        The weight of each item, with mean 1.
    thresholds
        The lowest labels that pass, for scores and grades.
    """

    reference: str
    judges: tuple[str, ...]
    kind: Kind
    scale: tuple[float, ...]
    words: tuple[str, ...]
    human: Floats
    judged: Floats
    unlabelled: int
    cluster: Integers
    clusters: int
    by_topic: bool
    weight: Floats
    thresholds: tuple[float, ...] = ()


def read_labels(
    source: Any,
    judges: Sequence[str] | None = None,
    grades: Sequence[Any] | None = None,
    thresholds: Sequence[float] | None = None,
) -> Labels:
    """Return the labels in a file or an object.

    Parameters
    ----------
    source
        A path, a frame, a list of dicts, or a mapping column → cells.
    judges
        The columns of the judges; by default ``judge`` and those that begin or end with it.
    grades
        All labels in ascending order, where they are words or judges use different ones.
    thresholds
        The lowest labels that pass: several for grades or scores; one where the human labels are pass
        or fail and the judges' are scores.
    """
    table = _table(source)
    human = table.find("human")
    if human is None:
        raise table.header_error(f"no column human; {_EXPECTED}")
    columns = _judge_columns(table, human, judges)
    limits = [] if thresholds is None else as_list("thresholds", thresholds)
    passing = tuple(sorted({as_real("a threshold", one) for one in limits}))
    texts = [_label_texts(table, place) for place in (human, *columns)]
    found = _Values(table, (human, *columns), texts)
    listed = None if grades is None else as_list("grades", grades)
    scale = None if listed is None else [label_text(one).removesuffix(".0") for one in listed]
    kind, levels, values = found.read(scale, passing)
    if kind == BINARY:
        passing = ()
    kept = ~np.isnan(values[:, 0])
    _check_variation(table, human, values[kept, 0], kind)
    for place, column in zip(columns, values[kept, 1:].T, strict=True):
        if np.isnan(column).all():
            raise table.header_error(
                f"no item has a label under {table.header[human]!r} and under {table.header[place]!r}; "
                "expected labels of the same items"
            )
    cluster, by_topic = _clusters(table, kept)
    _check_items(table, cluster if by_topic else None)
    own = np.unique(cluster[kept], return_inverse=True)
    words = tuple(scale) if scale and any(parse_number(one) is None for one in scale) else ()
    return Labels(
        reference=table.header[human],
        judges=tuple(table.header[place] for place in columns),
        kind=kind,
        scale=levels,
        words=words,
        human=values[kept, 0],
        judged=values[kept, 1:],
        unlabelled=int((~kept).sum()),
        cluster=own[1].reshape(-1),
        clusters=len(own[0]),
        by_topic=by_topic,
        weight=_weights(table, kept),
        thresholds=passing or (levels[1:] if kind == GRADED else ()),
    )


def _table(source: Any) -> InputTable:
    if isinstance(source, str | os.PathLike):
        return read_table(as_path(_NAME, source), _LABELS)
    if isinstance(source, list | tuple) and all(isinstance(one, Mapping) for one in source):
        names = dict.fromkeys(str(name) for record in source for name in record)
        source = {name: [record.get(name) for record in source] for name in names}
    if isinstance(source, Mapping):
        if not all(isinstance(one, Sequence | np.ndarray) for one in source.values()):
            raise invalid(_NAME, source, _ACCEPTED)
        return column_table({str(name): cells for name, cells in source.items()}, _NAME, _LABELS)
    if has_columns(source):
        return read_table(source, _LABELS)
    raise invalid(_NAME, source, _ACCEPTED)


def _judge_columns(table: InputTable, human: int, judges: Sequence[str] | None) -> list[int]:
    """Return the places of the judges' columns, those named or those called judge."""
    header = list(table.header)
    if judges is not None:
        chosen = as_choices("judges", judges, header, "column")
        if header[human] in chosen or len(set(chosen)) < len(chosen):
            raise InvalidValueError(
                f"judges are {enumerate_names(chosen)}; expected columns other than "
                f"{header[human]}, each once"
            )
        return [header.index(name) for name in chosen]
    named = [place for place, name in enumerate(header) if _is_judge(name) and place != human]
    if named:
        return named
    roles = [table.find(role) for role in ("item", "topic", "weight")]
    others = [name for place, name in enumerate(header) if place not in (human, *roles)]
    hint = f"; where judges have other names, name them: --judge {others[0]}" if others else ""
    raise table.header_error(f"no column judge; {_EXPECTED}{hint}")


def _label_texts(table: InputTable, place: int) -> list[str]:
    """Return the labels of a column as text; beside "passed", "failed" is a label, not a failure.

    1.0 is 1, as which columns with empty cells are often written.
    """
    cells = table.cells(place)
    texts = [label_text(cell).removesuffix(".0") for cell in cells]
    failed = [row for row, cell in enumerate(cells) if str(cell).strip().casefold() == "failed"]
    if failed and "passed" not in texts:
        raise table.error(
            f"'failed' under {table.header[place]!r} may be a label or a judge's failure; expected 'fail', "
            "or an empty cell",
            failed[0],
        )
    for row in failed:
        texts[row] = "failed"
    return texts


def _is_judge(name: str) -> bool:
    return fold(name).startswith("judge") or fold(name).endswith("_judge")


@dataclass(frozen=True, slots=True)
class _Values:
    """The cells of human and judges as text, and what they mean as labels."""

    table: InputTable
    places: tuple[int, ...]
    texts: list[list[str]]

    def read(
        self, scale: Sequence[str] | None, thresholds: tuple[float, ...]
    ) -> tuple[Kind, tuple[float, ...], Floats]:
        """Return the kind of labels, their scale, and the labels: items × columns, NaN if missing."""
        used = [{text for text in column if text} for column in self.texts]
        for place, own in zip(self.places, used, strict=True):
            if not own:
                raise self.table.header_error(
                    f"column {self.table.header[place]!r} holds no label; expected labels"
                )
        if scale is not None:
            found = self._on_scale(scale)
            _check_thresholds(thresholds, found[1], scale)
            return found
        outcomes = [own <= _OUTCOMES.keys() for own in used]
        if all(outcomes):
            if thresholds:
                raise InvalidValueError(
                    "the labels are pass or fail; a threshold (--threshold) is for grades and scores"
                )
            return BINARY, (0.0, 1.0), self._numbers(_OUTCOMES.get)
        values = self._numbers(lambda text: _OUTCOMES.get(text, parse_number(text)))
        if outcomes[0]:
            return BINARY, (0.0, 1.0), self._cut(values, outcomes, thresholds)
        words = [text for own in used for text in own if parse_number(text) is None]
        if words:
            raise self._differ(used)
        distinct = [set(column[~np.isnan(column)].tolist()) for column in values.T]
        whole = all(one.is_integer() for own in distinct for one in own)
        if not whole or len(set.union(*distinct)) > _MOST_GRADES:
            return SCORED, (), values
        if any(own != distinct[0] for own in distinct[1:]):
            raise self._differ(used)
        grades = tuple(sorted(distinct[0]))
        _check_thresholds(thresholds, grades)
        return GRADED, grades, values

    def _on_scale(self, scale: Sequence[str]) -> tuple[Kind, tuple[float, ...], Floats]:
        """Return labels that are all on a scale, as numbers or as places on it."""
        if len(set(scale)) < max(len(scale), 2) or "" in scale:
            raise invalid("grades", ",".join(scale), "two or more labels, each once, lowest first")
        numbers = [parse_number(one) for one in scale]
        known = [one for one in numbers if one is not None]
        if len(known) == len(scale):
            if known != sorted(known):
                raise invalid("grades", ",".join(scale), "grades in ascending order")
            levels = known
            values = self._numbers(
                lambda text: one if (one := parse_number(text)) in levels else None,
                f"one of {enumerate_names(scale)}",
            )
        else:
            places = {word: float(place) for place, word in enumerate(scale)}
            levels = list(places.values())
            values = self._numbers(places.get, f"one of {enumerate_names(scale)}")
        return GRADED, tuple(levels), values

    def _cut(
        self, values: Floats, outcomes: Sequence[bool], thresholds: tuple[float, ...]
    ) -> Floats:
        """Return pass and fail of judges that give scores, by the threshold."""
        names = [self.table.header[place] for place in self.places]
        scored = next(name for name, one in zip(names, outcomes, strict=True) if not one)
        if len(thresholds) != 1:
            raise self.table.header_error(
                f"{names[0]} is pass or fail and {scored} a number; expected one threshold from which "
                "on the judge passes an item, such as --threshold 0.5 (thresholds=[0.5])"
            )
        cut = np.where(np.isnan(values), np.nan, values >= thresholds[0])
        return np.where(outcomes, values, cut)

    def _numbers(self, number: Any, expected: str = "") -> Floats:
        """Return what each label stands for; raise at the first that stands for nothing."""
        values = np.full((len(self.table), len(self.texts)), np.nan)
        for place, column in enumerate(self.texts):
            meaning = {text: number(text) for text in set(column) if text}
            wrong = {text for text, one in meaning.items() if one is None or not np.isfinite(one)}
            if wrong:
                row = next(row for row, text in enumerate(column) if text in wrong)
                name = self.table.header[self.places[place]]
                words = expected or (
                    "pass or fail (yes or no, true or false, 1 or 0), a number, or an empty cell: labels "
                    "in other words need their order (--grades bad,fair,good)"
                    + f", and if {name!r} is no judge, --judge names those that are"
                    * (place > 0)
                )
                raise self.table.error(
                    f"label {column[row]!r} under {name!r}; expected {words}", row
                )
            values[:, place] = [meaning.get(text, np.nan) for text in column]
        return values

    def _differ(self, used: Sequence[set[str]]) -> FormatError:
        """Return the error that the labels of human and judge are not of one scale."""
        names = [self.table.header[place] for place in self.places]
        other = next((place for place, own in enumerate(used) if own != used[0]), 0)
        every = sorted({*used[0], *used[other]}, key=lambda text: (len(text), text))
        said = "; ".join(
            f"{names[place]} {enumerate_names(sorted(used[place]), 6)}" for place in (0, other)
        )
        expected = "the same kind of labels in both columns"
        if all(parse_number(text) is not None for text in every):
            expected = (
                "one scale: name all its labels, lowest first, where equal labels mean the same "
                f"(--grades {','.join(every[:6])})"
            )
        return self.table.header_error(
            f"human and judge use different labels ({said}); expected {expected}"
        )


def _check_thresholds(
    thresholds: Sequence[float], grades: Sequence[float], scale: Sequence[str] = ()
) -> None:
    """Raise where a threshold does not divide the grades; words are no numbers to compare it with."""
    if thresholds and any(parse_number(one) is None for one in scale):
        raise InvalidValueError(
            f"the grades {enumerate_names(scale)} are words, and each but the lowest is a threshold; "
            "expected no other (--threshold)"
        )
    outside = [one for one in thresholds if not grades[0] < one <= grades[-1]]
    if outside:
        raise InvalidValueError(
            f"the threshold {outside[0]:g} does not divide the grades {_listed(grades)}; expected one "
            f"above {grades[0]:g} and at most {grades[-1]:g}"
        )


def _listed(grades: Sequence[float]) -> str:
    return enumerate_names([f"{one:g}" for one in grades], 6)


def _check_variation(table: InputTable, human: int, values: Floats, kind: Kind) -> None:
    """Raise where the human labels are too few, or all the same."""
    if len(values) < 2 or (values == values[0]).all():
        given = f", {values[0]:g}" if len(values) and kind != BINARY else ""
        what = f"all {counted(len(values), 'item')} have the same label{given}"
        raise table.header_error(
            f"{what if len(values) else 'no item has a label'} under {table.header[human]!r}; agreement "
            "needs items with different human labels"
        )


def _clusters(table: InputTable, kept: Booleans) -> tuple[Integers, bool]:
    """Return the topic of each row as a number, and whether topics are named."""
    place = table.find("topic")
    if place is None:
        return np.arange(len(table)), False
    codes = table.ids(place).in_order().codes
    if len(np.unique(codes[kept])) < 2:
        raise table.header_error(
            f"all labelled items are of one {table.header[place]}; intervals over topics need at least 2"
        )
    return codes, True


def _check_items(table: InputTable, topic: Integers | None) -> None:
    """Raise where an item comes twice, within a topic where topics are named."""
    place = table.find("item")
    if place is None:
        return
    item = table.ids(place)
    keys = item.codes if topic is None else topic * len(item.names) + item.codes
    first = np.unique(keys, return_index=True)[1]
    if len(first) < len(keys):
        again = np.ones(len(keys), np.bool_)
        again[first] = False
        row = int(np.flatnonzero(again)[0])
        start = int(np.flatnonzero(keys == keys[row])[0])
        raise table.error(
            f"item {item.names[item.codes[row]]!r} again (first: {table.describe_row(start)}); expected "
            "one row per item, with a column of labels for each judge",
            row,
        )


def _weights(table: InputTable, kept: Booleans) -> Floats:
    """Return the weights of the rows that are kept, with mean 1."""
    place = table.find("weight")
    if place is None:
        return np.ones(int(kept.sum()))
    numbers = table.numbers([place])[0]
    table.check_numbers(numbers > 0, numbers, "weight", "a number above 0")
    weights: Floats = numbers[kept] / numbers[kept].mean()
    return weights


def select_judge(labels: Labels, judge: int) -> tuple[Labels, int]:
    """Return the items that one judge labelled, with its labels alone, and how many it did not."""
    there = ~np.isnan(labels.judged[:, judge])
    weight = labels.weight[there]
    chosen = replace(
        labels,
        judges=labels.judges[judge : judge + 1],
        human=labels.human[there],
        judged=labels.judged[there, judge : judge + 1],
        cluster=labels.cluster[there],
        weight=weight / weight.mean(),
    )
    return chosen, int((~there).sum())
