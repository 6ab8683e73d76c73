"""Groups of topics: long and short queries, languages, intents; a column of the topics' table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from confir.arguments import as_text, invalid
from confir.arrays import Integers
from confir.data.result import Result, axis, constant, over, result
from confir.data.sampling_designs.design import ROLES, Design, DesignSource, read_topic_table
from confir.data.scores import Scores
from confir.errors import (
    InvalidValueError,
    TopicMismatchError,
    UnknownNameError,
    counted,
    enumerate_names,
)


@result
class TopicGroups(Result):
    """Which group each topic belongs to.

    Attributes
    ----------
    topics
        Topic ids.
    group
        Of each topic.
    column
        What the groups are by: the name of their column.
    """

    topics: tuple[str, ...] = axis("topic")
    group: tuple[str, ...] = over("topic")
    column: str = constant(default="group")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the groups, in the order of the table."""
        return tuple(dict.fromkeys(self.group))

    def members(self) -> dict[str, list[str]]:
        """Return the topics of each group."""
        found: dict[str, list[str]] = {name: [] for name in self.names}
        for topic, group in zip(self.topics, self.group, strict=True):
            found[group].append(topic)
        return found

    def of_topics(self, topics: Sequence[str]) -> TopicGroups:
        """Return the groups of some topics, in the groups' own order; raise where one has none."""
        lacking = sorted(set(topics) - set(self.topics))
        if lacking:
            raise TopicMismatchError(
                f"{counted(len(lacking), 'topic')} ({enumerate_names(lacking, 5)}) "
                f"{'has' if len(lacking) == 1 else 'have'} no {self.column}; expected every topic "
                f"in a group by {self.column}"
            )
        chosen = self.select(topic=set(topics))
        sizes = [len(members) for members in chosen.members().values()]
        if len(sizes) < 2:
            raise InvalidValueError(
                f"all topics have the {self.column} {chosen.names[0]!r}; expected two groups or more"
            )
        if max(sizes) < 2:
            raise InvalidValueError(
                f"each topic has a {self.column} of its own; expected groups of two topics or more"
            )
        return chosen

    def codes(self, topics: Sequence[str]) -> Integers:
        """Return the number of each topic's group."""
        number = {name: place for place, name in enumerate(self.names)}
        by_topic = dict(zip(self.topics, self.group, strict=True))
        return np.array([number[by_topic[topic]] for topic in topics], np.int64)

    def parts(self, scores: Scores) -> Iterator[tuple[str, Scores]]:
        """Yield the scores on the topics of each group."""
        for name, topics in self.members().items():
            yield name, scores.on_topics(topics)


def as_topic_groups(
    by: str | Mapping[str, Any] | TopicGroups, scores: Scores, table: DesignSource | None = None
) -> TopicGroups:
    """Return the groups of the topics of some scores.

    Parameters
    ----------
    by
        Name of a column: of the table or, without one, of the scores' design. Or topic → group.
    scores
        The scores, each of whose topics must have a group.
    table
        A file, a frame or a mapping of columns, one of which is topic.
    """
    if isinstance(by, TopicGroups):
        return by.of_topics(scores.all_topics)
    if isinstance(by, Mapping):
        if table is not None:
            raise InvalidValueError("table is given beside a mapping of groups; expected no table")
        found = TopicGroups(tuple(map(str, by)), tuple(map(str, by.values())))
    elif not isinstance(by, str) or not by:
        raise invalid("by", by, "the name of a column, or a mapping topic → group")
    elif table is None or isinstance(table, Design):
        found = _from_design(by, scores.design if table is None else table)
    else:
        found = read_topic_groups(by, table)
    return found.of_topics(scores.all_topics)


def _from_design(by: str, design: Design | None) -> TopicGroups:
    """Return the groups that a design has: datasets, strata or clusters."""
    if design is None:
        raise InvalidValueError(
            f"there is no table of topics with a column {by!r}; expected one (in Python table=…, "
            "otherwise --design FILE), or a mapping topic → group"
        )
    known = {role: getattr(design, role) for role in ROLES if role != "weight"}
    held = {role: labels for role, labels in known.items() if labels is not None}
    if by not in held:
        raise UnknownNameError("column of the design", by, held)
    return TopicGroups(design.topics, held[by], by)


def read_topic_groups(by: str, source: DesignSource) -> TopicGroups:
    """Return the groups in a column of a table of topics; raise where a topic has none, or two."""
    as_text("by", by)
    table = read_topic_table(source)
    place = table.find("topic")
    if place is None:
        raise table.header_error("no column of topics; expected one beside that of the groups")
    column = table.named(by)
    if column is None or column == place:
        others = [name for number, name in enumerate(table.header) if number != place]
        raise UnknownNameError("column of topics to group by", by, others)
    topics, labels = table.texts(place), table.texts(column, optional=True)
    seen: dict[str, str] = {}
    for row, (topic, label) in enumerate(zip(topics, labels, strict=True)):
        if not label:
            raise table.error(f"topic {topic!r} has no {by}; expected the name of its group", row)
        if seen.setdefault(topic, label) != label:
            raise table.error(
                f"topic {topic!r} is in the groups {seen[topic]!r} and {label!r}", row
            )
    return TopicGroups(tuple(seen), tuple(seen.values()), by)
