"""The design of a sample of topics: datasets, strata, clusters and weights."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from confir.arguments import as_choice, as_reals, as_text, as_texts, invalid
from confir.arrays import Floats, Integers
from confir.data.files import PathLike
from confir.data.result import Result, axis, constant, over, result
from confir.data.tables.column_names import TOPIC_NAMES
from confir.data.tables.input_table import InputTable, encode_ids
from confir.data.tables.sample_tables import topics_of_samples
from confir.data.tables.table_kind import TableKind, fold
from confir.data.tables.table_reader import column_table, has_columns, read_table
from confir.errors import (
    FormatError,
    InvalidValueError,
    TopicMismatchError,
    UnknownNameError,
    UnsupportedMethodError,
    counted,
    enumerate_names,
)

Datasets = Literal["fixed", "random"]

GROUPS = ("dataset", "stratum", "cluster")
ROLES = (*GROUPS, "weight")
_EXPECTED = "expected a column topic and any of dataset, stratum, cluster, weight"


def _read_format(content: bytes, source: str) -> InputTable | None:
    """Return what a file of scores says of its topics; None of a table of topics."""
    from confir.data.formats.sources import recognise  # which knows scores, and these their design

    held = recognise(source, content).read_topics
    return None if held is None else held(content, source)


_TOPICS = TableKind(
    _EXPECTED,
    {"topic": TOPIC_NAMES, **{role: (role,) for role in ROLES}},
    read_format=_read_format,
)


class Layout(NamedTuple):
    """A design as numbers.

    Attributes
    ----------
    weight
        Of each topic.
    cluster, stratum
        Number of each topic's cluster, and of its stratum; a cluster lies in one stratum.
    share
        Of each stratum in the mean; their sum is 1.
    names
        Names of the strata, for messages.
    """

    weight: Floats
    cluster: Integers
    stratum: Integers
    share: Floats
    names: tuple[str, ...]


@result
class Design(Result):
    """What each topic belongs to and weighs, where topics are no simple random sample.

    Attributes
    ----------
    topics
        Topic ids.
    dataset, stratum, cluster
        What each topic belongs to; None where there are none.
    weight
        What each topic counts in the mean, above 0; None where all count alike.
    datasets
        "fixed" for conclusions about these datasets, whose topics vary; "random" for conclusions
        about datasets like these.
    """

    topics: tuple[str, ...] = axis("topic")
    dataset: tuple[str, ...] | None = over("topic", default=None)
    stratum: tuple[str, ...] | None = over("topic", default=None)
    cluster: tuple[str, ...] | None = over("topic", default=None)
    weight: Floats | None = over("topic", default=None)
    datasets: str = constant(default="fixed")

    def __post_init__(self) -> None:
        for name in ("topics", *GROUPS):
            labels = getattr(self, name)
            if labels is not None and not isinstance(labels, tuple):
                object.__setattr__(self, name, as_texts(name, labels))
        if self.weight is not None:
            object.__setattr__(self, "weight", as_reals("weight", self.weight))
        Result.__post_init__(self)
        as_choice("datasets", self.datasets, get_args(Datasets))
        if self.weight is not None:
            wrong = np.flatnonzero(~(np.isfinite(self.weight) & (self.weight > 0)))
            if len(wrong):
                raise FormatError(
                    f"the weight of topic {self.topics[wrong[0]]!r} is {self.weight[wrong[0]]:g}; "
                    "expected a number above 0"
                )
        if self.cluster is not None and self.stratum is not None:
            self._check_nesting()

    def _check_nesting(self) -> None:
        """Raise where a cluster lies in two strata: its topics would count as independent there."""
        strata: dict[tuple[str, ...], str] = {}
        for cluster, stratum in zip(self._groups("cluster"), self.stratum or (), strict=True):
            first = strata.setdefault(cluster, stratum)
            if first != stratum:
                raise FormatError(
                    f"cluster {cluster[-1]!r} lies in strata {first!r} and {stratum!r}; expected each "
                    "cluster in one stratum"
                )

    def _groups(self, role: str) -> list[tuple[str, ...]]:
        """Return what each topic belongs to, within its dataset: labels are each dataset's own."""
        parts = [part for part in (self.dataset, getattr(self, role)) if part is not None]
        return list(zip(*parts, strict=True))

    @property
    def simple(self) -> bool:
        """Whether topics are one simple random sample: each a cluster, in one stratum, of one weight."""
        layout = self.layout()
        alone = len(np.unique(layout.cluster)) == len(self.topics)
        return alone and len(layout.share) == 1 and bool(np.ptp(layout.weight) == 0)

    @property
    def random_datasets(self) -> bool:
        """Whether datasets are a sample of datasets like these."""
        return self.dataset is not None and self.datasets == "random"

    def layout(self) -> Layout:
        """Return the design as numbers: a mean of ratio means over strata.

        Fixed datasets are strata that count alike. Random ones are clusters that count alike, and
        nothing is drawn inside of them.
        """
        size = len(self.topics)
        weight = np.ones(size) if self.weight is None else self.weight
        single = np.zeros(size, np.int64)
        dataset = single if self.dataset is None else encode_ids(self.dataset).codes
        if self.random_datasets:
            weight = weight / np.bincount(dataset, weight)[dataset]
            return Layout(weight, dataset, single, np.ones(1), ("",))
        stratum, names = self._strata(dataset)
        total = np.bincount(stratum, weight)
        of_dataset = np.bincount(dataset, weight)
        inside = np.bincount(stratum, dataset) / np.bincount(stratum)  # one dataset per stratum
        share = total / of_dataset[inside.astype(np.int64)] / len(of_dataset)
        cluster = np.arange(size)
        if self.cluster is not None:
            pairs = zip(stratum.tolist(), self.cluster, strict=True)
            cluster = encode_ids([f"{place} {name}" for place, name in pairs]).codes
        return Layout(weight, cluster, stratum, share, names)

    def _strata(self, dataset: Integers) -> tuple[Integers, tuple[str, ...]]:
        """Return each topic's stratum, within its dataset, and the strata's names."""
        groups = self._groups("stratum")
        if not groups:
            return dataset, ("",)
        names = [" / ".join(part) for part in groups]
        keys = encode_ids([repr(part) for part in groups])
        first = np.unique(keys.codes, return_index=True)[1]
        return keys.codes, tuple(names[place] for place in first.tolist())

    def describe(self) -> str:
        """Return the design in words: "400 topics in 40 clusters, weighted"."""
        text = counted(len(self.topics), "topic")
        for kind, plural in (("cluster", None), ("stratum", "strata")):
            inside = getattr(self, kind) is not None and not self.random_datasets
            text += f" in {counted(len(set(self._groups(kind))), kind, plural)}" if inside else ""
        if self.dataset is not None:
            number = counted(len(set(self.dataset)), "dataset")
            about = "datasets like these" if self.random_datasets else "these datasets"
            text += f" in {number} of equal weight, for conclusions about {about}"
        return text if self.weight is None else f"{text}, weighted"


def as_design(
    source: Any, topics: Sequence[str], columns: Mapping[str, str | None], datasets: str = "fixed"
) -> Design | None:
    """Return the design of some topics; None where they are one simple random sample.

    Parameters
    ----------
    source
        A `Design`; a file or frame with a column topic and any of dataset, stratum, cluster and
        weight; or a mapping of such columns, or topic → cluster. None where there is none.
    topics
        The topics that it must describe; it may describe others.
    columns
        Names of the columns, where they have others: role → name.
    datasets
        "fixed" or "random", as in `Design`.
    """
    if source is None or not topics:
        return None
    named = {role: as_text(role, name) for role, name in columns.items() if name is not None}
    if isinstance(source, Design):
        if named:
            raise InvalidValueError(f"{next(iter(named))} names a column, which a Design has not")
        whole = source
    else:
        whole = _from_table(read_topic_table(source), named, datasets)
    lacking = sorted(set(topics) - set(whole.topics))
    if lacking:
        name = f"the design {source}" if isinstance(source, str | os.PathLike) else "the design"
        raise TopicMismatchError(
            f"{name} lacks {counted(len(lacking), 'topic')} ({enumerate_names(lacking, 5)}); "
            "expected a row for each topic"
        )
    where = {topic: place for place, topic in enumerate(whole.topics)}
    places = [where[topic] for topic in topics]

    held = {role: getattr(whole, role) for role in GROUPS}
    labels: dict[str, Any] = {
        role: own and tuple(own[place] for place in places) for role, own in held.items()
    }
    weight = None if whole.weight is None else whole.weight[places]
    arranged = replace(whole, topics=tuple(topics), weight=weight, **labels)
    return None if arranged.simple else arranged


def read_dataset_designs(source: Any, columns: Mapping[str, str | None]) -> dict[str, Design]:
    """Return the design inside each dataset, of a table with a column of datasets beside the topics.

    The parameters are those of `as_design`.
    """
    named = {role: as_text(role, name) for role, name in columns.items() if name is not None}
    table = read_topic_table(source)
    place = _place(table, "dataset", named.get("dataset"))
    if place is None:
        raise table.header_error("no column of datasets; expected one beside that of topics")
    ids = table.ids(place)
    parts = {
        name: _from_table(table.where(ids.codes == code), named, "fixed")
        for code, name in enumerate(ids.names)
    }
    return {name: replace(part, dataset=None) for name, part in parts.items()}


def has_design(source: DesignSource, columns: Mapping[str, str | None]) -> bool:
    """Whether a table of topics says how these were drawn; the parameters are those of `as_design`."""
    table = read_topic_table(source)
    return any(name is not None or table.find(role) is not None for role, name in columns.items())


def refuse_design(design: Any, what: str) -> None:
    """Raise where topics have a design that a study cannot take into account."""
    if design is not None:
        raise UnsupportedMethodError(
            f"{what} assumes a simple random sample of topics; expected no design"
        )


def read_topic_table(source: DesignSource) -> InputTable:
    """Return the columns of a file, a frame, or a mapping: a column topic, and others."""
    if isinstance(source, Mapping):
        held = dict(source)
        if not any(fold(str(name)) in TOPIC_NAMES for name in held):
            held = {"topic": list(held), "cluster": list(held.values())}
        return column_table({str(name): cells for name, cells in held.items()}, "design", _TOPICS)
    if isinstance(source, str) and not source:
        raise invalid("design", source, "a table of topics")
    if isinstance(source, str | os.PathLike) or has_columns(source):
        return topics_of_samples(read_table(source, _TOPICS))
    raise invalid("design", source, "a Design, a path, a frame or a mapping")


def _from_table(table: InputTable, named: Mapping[str, str], datasets: str) -> Design:
    """Return the design in a table; raise where a topic has two rows."""
    topic = table.need("topic")
    places = {role: _place(table, role, named.get(role)) for role in ROLES}
    if all(place is None for place in places.values()):
        raise table.header_error(f"nothing about the topics; {_EXPECTED}")
    topics = table.ids(topic)
    if len(topics.names) < len(topics.codes):
        first = np.unique(topics.codes, return_index=True)[1]
        row = int(np.setdiff1d(np.arange(len(topics.codes)), first)[0])
        raise table.error(f"a second row of topic {topics.names[topics.codes[row]]!r}", row)
    labelled = {role: place for role, place in places.items() if place is not None}
    groups: dict[str, Any] = {
        role: tuple(table.texts(place)) for role, place in labelled.items() if role in GROUPS
    }
    weight = places["weight"]
    if weight is not None:
        groups["weight"] = table.numbers([weight])[0]
        table.check_numbers(
            groups["weight"] > 0,
            groups["weight"],
            lambda row: f"weight of topic {topics.names[row]!r}",
            "a number above 0",
        )
    return Design(tuple(topics.names), datasets=datasets, **groups)


def _place(table: InputTable, role: str, name: str | None) -> int | None:
    """Return the place of a column, by the name that it was given or by that of its role."""
    if name is None:
        return table.find(role)
    place = table.named(name)
    if place is None:
        raise UnknownNameError(f"column of the design ({role})", name, table.header)
    return place


DesignSource = Design | PathLike | Mapping[str, Any] | Any
