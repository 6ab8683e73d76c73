"""Answers as nuggetizer assigns nuggets to them, and its metrics: JSON Lines.

Shapes and measures are those of castorini/nuggetizer 0.0.5 (``AssignedScoredNugget``,
``core/metrics.py``; Pradeep et al. 2025): a nugget that an answer supports counts 1, partial support
½ where it counts, and the score is the mean over vital nuggets, or over all.
"""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats
from confir.data.formats.json_shapes import (
    LISTED,
    held_by,
    id_held_by,
    key_paths,
    numbered_records,
    top_keys,
)
from confir.data.formats.run_sources import name_from_path
from confir.data.tables.input_table import InputTable, is_summary, is_unicode
from confir.errors import FormatError, counted, warn_caller

ASSIGNMENTS = (
    '{"qid": topic, "run_id": run, "nuggets": [{"text": …, "importance": "vital" or "okay", '
    '"assignment": "support", "partial_support" or "not_support"}]}'
)
METRICS = '{"qid": topic, "strict_vital_score": …, "strict_all_score": …, "vital_score": …, "all_score": …}'

# Measures: whether partial support counts ½, and whether vital nuggets alone count.
NUGGET_MEASURES = {
    "strict_vital": (False, True),
    "strict_all": (False, False),
    "vital": (True, True),
    "all": (True, False),
}
_SCORE = "_score"
_CREDIT = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
_IMPORTANCE = ("vital", "okay")
_HEADER = ["run", "measure", "topic", "score"]


class AnswerNuggets(NamedTuple):
    """The nuggets of one answer.

    Attributes
    ----------
    line
        Where it stands in its file.
    run, topic
        Whose answer it is, and to which topic.
    vital
        Which nuggets are vital; the others are okay.
    credit
        1 for each nugget that is supported, ½ for partial support, 0 for none.
    """

    line: int
    run: str
    topic: str
    vital: Booleans
    credit: Floats

    def counted(self, measure: str) -> Floats:
        """Return what each nugget contributes that a measure counts."""
        partial, vital = NUGGET_MEASURES[measure]
        credit = self.credit[self.vital] if vital else self.credit
        return credit if partial else np.floor(credit)

    def score(self, measure: str) -> float:
        """Return the mean over the nuggets that a measure counts; 0 where there are none."""
        found = self.counted(measure)
        return float(found.mean()) if len(found) else 0.0


def is_assignments(_: str, content: bytes) -> bool:
    """Whether a file holds assignments of nuggets."""
    paths = key_paths(content)
    return ("qid",) in paths and ("nuggets", LISTED, "assignment") in paths


def is_metrics(_: str, content: bytes) -> bool:
    """Whether a file holds metrics of nuggetizer."""
    return {"qid", *(f"{name}{_SCORE}" for name in NUGGET_MEASURES)} <= top_keys(content)


def read_assignments(content: bytes, source: str) -> InputTable:
    """Return the scores of answers, by every measure of nuggetizer."""
    answers = read_answers(content, source)
    rows = [
        (one.run, measure, one.topic, one.score(measure), one.line)
        for measure in NUGGET_MEASURES
        for one in answers
    ]
    *columns, lines = (list(column) for column in zip(*rows, strict=True))
    return InputTable(source, _HEADER, columns, lines)


def read_metrics(content: bytes, source: str) -> InputTable:
    """Return the scores in metrics of nuggetizer, whose run is named by the file; no summary."""
    expected = f"expected lines of {METRICS}"
    rows: list[tuple[str, str, str, Any, int]] = []
    for line, record in numbered_records(content, source, expected):
        topic = id_held_by(record, "qid", "the record", source, expected, line)
        if is_summary(topic):
            continue
        run = name_from_path(source)
        if "run_id" in record:
            run = id_held_by(record, "run_id", "the record", source, expected, line)
        for measure in NUGGET_MEASURES:
            score = held_by(record, f"{measure}{_SCORE}", "the record", source, expected, line)
            if isinstance(score, bool) or not isinstance(score, int | float):
                raise FormatError(
                    f"'{measure}{_SCORE}' is {reprlib.repr(score)}; expected a number",
                    path=source,
                    line=line,
                )
            rows.append((run, measure, topic, score, line))
    if not rows:
        raise FormatError(f"no topics, only summaries; {expected}", path=source)
    *columns, lines = (list(column) for column in zip(*rows, strict=True))
    return InputTable(source, _HEADER, columns, lines)


def read_answers(content: bytes, source: str) -> list[AnswerNuggets]:
    """Return the answers in a file of assignments; every error names its line."""
    expected = f"expected lines of {ASSIGNMENTS}"
    repeated: list[int] = []
    answers: list[AnswerNuggets] = []
    for line, record in numbered_records(content, source, expected):
        run = id_held_by(record, "run_id", "the record", source, expected, line)
        topic = id_held_by(record, "qid", "the record", source, expected, line)
        nuggets = held_by(record, "nuggets", "the record", source, expected, line)
        if not isinstance(nuggets, list) or not nuggets:
            raise FormatError(
                f"the answer of run {run!r} to topic {topic!r} has no nuggets; expected a list of one "
                "or more",
                path=source,
                line=line,
            )
        parts = [_nugget(one, number, line, source) for number, one in enumerate(nuggets, start=1)]
        if _repeats(parts, line, source):
            repeated.append(line)
        _, vital, credit = zip(*parts, strict=True)
        answers.append(
            AnswerNuggets(line, run, topic, np.array(vital, bool), np.array(credit, float))
        )
    if repeated:
        warn_caller(
            f"{source}: {counted(len(repeated), 'answer')} {'has' if len(repeated) == 1 else 'have'} "
            f"two nuggets of one text (the first: line {repeated[0]}); each counts, as in nuggetizer"
        )
    return answers


def _nugget(held: Any, number: int, line: int, source: str) -> tuple[str, bool, float]:
    """Return text, whether it is vital, and the credit of a nugget; raise where it is none."""
    expected = f"expected text, importance and assignment as in {ASSIGNMENTS}"
    if not isinstance(held, dict):
        raise FormatError(f"nugget {number} is no JSON object; {expected}", path=source, line=line)
    text, importance, assignment = (
        held_by(held, key, f"nugget {number}", source, expected, line)
        for key in ("text", "importance", "assignment")
    )
    if not isinstance(text, str) or not is_unicode(text):
        raise FormatError(f"the text of nugget {number} is no text", path=source, line=line)
    for key, value, known in (
        ("importance", importance, _IMPORTANCE),
        ("assignment", assignment, tuple(_CREDIT)),
    ):
        if not isinstance(value, str) or value not in known:
            *most, last = known
            raise FormatError(
                f"{key} of nugget {number} is {reprlib.repr(value)}; expected {', '.join(most)} or {last}",
                path=source,
                line=line,
            )
    return text, importance == "vital", _CREDIT[assignment]


def _repeats(nuggets: Sequence[tuple[str, bool, float]], line: int, source: str) -> bool:
    """Whether two nuggets of an answer have one text; raise where they are judged differently."""
    first: dict[str, tuple[bool, float]] = {}
    for text, vital, credit in nuggets:
        if first.setdefault(text, (vital, credit)) != (vital, credit):
            raise FormatError(
                f"two nuggets have the text {reprlib.repr(text)} and differ in importance or assignment; "
                "expected each text once",
                path=source,
                line=line,
            )
    return len(first) < len(nuggets)
