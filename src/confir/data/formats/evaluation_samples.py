"""Samples in files of evaluation tools: what was asked, of which run, with which scores.

A sample is a topic, a scorer a measure, an epoch or repetition a repeat of its run. A sample that failed, or
that a scorer could not judge, has missing scores: never 0, whatever the tool writes for it.
"""

from __future__ import annotations

import json
import math
import reprlib
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from confir.data.files import text_bytes
from confir.data.formats.format import Format
from confir.data.formats.json_files import JsonFile, as_id
from confir.data.tables.column_names import TOPIC_NAMES
from confir.data.tables.input_table import InputTable, score_table
from confir.data.tables.json_tables import parse_json
from confir.data.tables.table_kind import fold
from confir.data.text_numbers import parse_number
from confir.errors import FormatError, ReadingWarning, counted, enumerate_names, warn_caller

# Keys of a record are listed in messages up to this many.
_MOST_NAMES = 5


class ScoredAnswer(NamedTuple):
    """One answer of a run, with its scores.

    Attributes
    ----------
    run, topic
        Who answered what.
    scores
        Measure → score; None where it is missing.
    repeat
        Which of several answers of the run to the topic; "" where there is one.
    metadata
        What the tool knows of the topic besides, such as its category.
    """

    run: str
    topic: str
    scores: dict[str, float | None]
    repeat: str = ""
    metadata: Mapping[str, Any] = MappingProxyType({})


# Reads the answers in a file, of its content and path.
AnswerReader = Callable[[bytes, str], Sequence[ScoredAnswer]]


def answer_format(name: str, shape: str, read: AnswerReader, what: str, **found: Any) -> Format:
    """Return the format of files that hold answers with their scores.

    Parameters
    ----------
    name, shape, found
        What `Format` has under these names, and how it is recognised.
    read
        Reader of answers.
    what
        What the tool calls an answer, in the plural, for messages.
    """
    return Format(
        name,
        shape,
        read_scores=lambda content, source: answer_table(read(content, source), source, what),
        read_topics=lambda content, source: metadata_table(read(content, source), source),
        **found,
    )


def answer_table(samples: Sequence[ScoredAnswer], source: str, what: str) -> InputTable:
    """Return the scores of answers.

    Answers that have no score by a measure are counted in a warning, which says between what its mean would
    lie with them. Runs with repeats are named by them, as in ``model@2``.

    Parameters
    ----------
    samples, source
        The samples in a file.
    what
        What the tool calls its samples, for messages.
    """
    named = dict.fromkeys(name for sample in samples for name in sample.scores)
    scored = {name for one in samples for name, score in one.scores.items() if score is not None}
    if not scored:
        raise FormatError(f"no scores of {what}; expected one or more", path=source)
    measures = [name for name in named if name in scored]
    left_out(named.keys() - scored, source, f"none of the {what} has a score by it")
    check_distinct(samples, source, what)
    _warn_of_missing(samples, measures, source, what)
    repeated = len({sample.repeat for sample in samples}) > 1
    runs = [f"{one.run}@{one.repeat}" if repeated else one.run for one in samples]
    if repeated:
        warn_caller(
            f"{source}: {what} are repeated: runs are named by their repeat, as in {runs[0]}; --repeats "
            "(summarise_repeats) combines them",
            ReadingWarning,
        )
    rows = [
        (run, measure, one.topic, one.scores.get(measure))
        for measure in measures
        for run, one in zip(runs, samples, strict=True)
    ]
    groups = list(_groups(samples))
    if groups:
        warn_caller(
            f"{source}: topics come with {enumerate_names(groups, 3)}: "
            f"--design {shlex.quote(source)} --by {shlex.quote(groups[0])} gives results for each",
            ReadingWarning,
        )
    return score_table(rows, source)


def metadata_table(samples: Sequence[ScoredAnswer], source: str) -> InputTable:
    """Return what is known of each topic: those fields that have one value in all of its answers."""
    topics = list(dict.fromkeys(one.topic for one in samples))
    groups = _groups(samples, every=True)
    if not groups:
        raise FormatError(
            "no metadata that says the same of all answers to a topic; expected a field of text, such as "
            "a category",
            path=source,
        )
    columns = [topics, *([values[topic] for topic in topics] for values in groups.values())]
    names = [name if fold(name) not in TOPIC_NAMES else f"{name} (metadata)" for name in groups]
    return InputTable(source, ["topic", *names], columns, range(1, len(topics) + 1), "row")


def _groups(samples: Sequence[ScoredAnswer], *, every: bool = False) -> dict[str, dict[str, str]]:
    """Return, by field, the value of each topic: fields of text that all topics have.

    Unless ``every`` is asked for, only fields that form groups: two or more values, and fewer than topics.
    """
    found: dict[str, dict[str, set[str]]] = {}
    for one in samples:
        for name, value in one.metadata.items():
            if isinstance(value, str | bool | int) and str(value):
                found.setdefault(name, {}).setdefault(one.topic, set()).add(str(value))
    topics = {one.topic for one in samples}
    groups = {
        name: {topic: next(iter(values)) for topic, values in held.items()}
        for name, held in found.items()
        if held.keys() == topics and all(len(values) == 1 for values in held.values())
    }
    if every:
        return groups
    return {
        name: values for name, values in groups.items() if 1 < len({*values.values()}) < len(topics)
    }


def check_distinct(samples: Iterable[ScoredAnswer], source: str, what: str) -> None:
    """Raise where a run has two samples of one topic and repeat, of which none says how they differ."""
    counts = Counter((one.run, one.topic, one.repeat) for one in samples)
    (run, topic, _), most = counts.most_common(1)[0]
    if most > 1:
        raise FormatError(
            f"{most} {what} of run {run!r} are {reprlib.repr(topic)}, and nothing says whether they are "
            "repeats or different topics; expected one each: give them names of their own, or write "
            "a table with the columns run, topic, repeat and score",
            path=source,
        )


def _warn_of_missing(
    samples: Sequence[ScoredAnswer], measures: Sequence[str], source: str, what: str
) -> None:
    """Warn of samples without a score, and bound the mean of the run that lacks most of them."""
    lacking: dict[tuple[int, ...], list[str]] = {}
    for measure in measures:
        places = tuple(i for i, one in enumerate(samples) if one.scores.get(measure) is None)
        lacking.setdefault(places, []).append(measure)
    lacking.pop((), None)
    for places, named in lacking.items():
        verb = "has" if len(places) == 1 else "have"
        message = (
            f"{source}: {len(places)} of {counted(len(samples), what.removesuffix('s'))} {verb} no score by "
            f"{enumerate_names(map(repr, named), _MOST_NAMES)} (the first: "
            f"{reprlib.repr(samples[places[0]].topic)}): missing, not 0"
        )
        run = Counter(samples[place].run for place in places).most_common(1)[0][0]
        own = [one.scores.get(named[0]) for one in samples if one.run == run]
        known = [score for score in own if score is not None]
        if all(0.0 <= score <= 1.0 for score in known):
            low, high = math.fsum(known), math.fsum([*known, len(own) - len(known)])
            message += (
                f"; with scores from 0 to 1 for them, the mean of {run!r} by {named[0]!r} would lie between "
                f"{low / len(own):.3f} and {high / len(own):.3f}"
            )
        warn_caller(message)


def load_records(content: bytes, file: JsonFile) -> list[Mapping[str, Any]]:
    """Return the objects of a list, or those of JSON Lines; NaN is a number there, as Python writes it."""
    held = load_json(content, file)
    return list(file.objects([held] if isinstance(held, dict) else held, "the file"))


def load_json(content: bytes, file: JsonFile) -> Any:
    """Return what a file of JSON holds, or the list of objects of JSON Lines."""
    text = text_bytes(content, file.path).decode()
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) > 1 and all(
        line.startswith("{") and line.rstrip().endswith("}") for line in lines
    ):
        numbered = enumerate(text.split("\n"))
        return [
            parse_json(line, file.path, file.expected, before)
            for before, line in numbered
            if line.strip()
        ]
    return parse_json(text, file.path, file.expected)


def as_score(value: Any, what: str, file: JsonFile) -> float | None:
    """Return a score: a number, or text that spells one, or true or false; None where it is missing."""
    if isinstance(value, bool | int | float):
        return None if isinstance(value, float) and math.isnan(value) else float(value)
    number = parse_number(value) if isinstance(value, str) else None
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if number is None:
        raise file.error(f"{what} is {reprlib.repr(value)}, not a number")
    return None if np.isnan(number) else number


def as_topic(value: Any, what: str, file: JsonFile) -> str:
    """Return what was asked as the name of a topic: text as it is, anything else as JSON.

    Of an object with one key, as of an input with one variable, it is the text alone.
    """
    if isinstance(value, dict) and len(value) == 1 and isinstance(next(iter(value.values())), str):
        (value,) = value.values()
    if isinstance(value, dict | list) and value:
        value = json.dumps(value, ensure_ascii=False, sort_keys=True)
    if isinstance(value, str):
        value = value.strip()
    return as_id(value, what, file.path, file.line or None)


def optional_id(record: Mapping[str, Any], key: str, what: str, file: JsonFile) -> str:
    """Return the id that a record holds under a key, "" for none; of a list, its first entry."""
    value = record.get(key)
    if isinstance(value, list) and value:
        value = value[0]
    if value is None or value == "":
        return ""
    return as_id(value, f"{key!r} of {what}", file.path, file.line or None)


def left_out(names: Iterable[str], source: str, why: str) -> None:
    """Say which scores are not read, and why."""
    listed = sorted(set(names))
    if listed:
        shown = enumerate_names(map(repr, listed), _MOST_NAMES)
        warn_caller(f"{source}: not read: {shown} ({why})", ReadingWarning)
