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
from confir.data.files import name_from_path
from confir.data.formats.format import Format
from confir.data.formats.json_files import JsonFile
from confir.data.tables.input_table import InputTable, is_unicode, score_table
from confir.data.tables.summary_rows import is_summary
from confir.errors import FormatError, counted, warn_caller

ASSIGNMENTS = (
    '{"qid": topic, "run_id": run, "nuggets": [{"text": …, "importance": "vital" or "okay", '
    '"assignment": "support", "partial_support" or "not_support"}]}'
)
_METRICS = '{"qid": topic, "strict_vital_score": …, "strict_all_score": …, "vital_score": …, "all_score": …}'

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


def _read_assignments(content: bytes, source: str) -> InputTable:
    """Return the scores of answers, by every measure of nuggetizer."""
    answers = read_answers(content, source)
    rows = [(a.run, m, a.topic, a.score(m)) for m in NUGGET_MEASURES for a in answers]
    return score_table(rows, source, [one.line for one in answers] * len(NUGGET_MEASURES))


def _read_metrics(content: bytes, source: str) -> InputTable:
    """Return the scores in metrics of nuggetizer, whose run is named by the file; no summary."""
    file = JsonFile(source, f"expected lines of {_METRICS}")
    rows: list[tuple[str, str, str, Any]] = []
    lines: list[int] = []
    for place, record in file.numbered_records(content):
        topic = place.id(record, "qid", "the record")
        if is_summary(topic):
            continue
        named = "run_id" in record
        run = place.id(record, "run_id", "the record") if named else name_from_path(source)
        for measure in NUGGET_MEASURES:
            score = place.field(record, f"{measure}{_SCORE}", "the record")
            if isinstance(score, bool) or not isinstance(score, int | float):
                problem = f"'{measure}{_SCORE}' is {reprlib.repr(score)}; expected a number"
                raise FormatError(problem, path=source, line=place.line)
            rows.append((run, measure, topic, score))
            lines.append(place.line)
    if not rows:
        raise file.error("no topics, only summaries")
    return score_table(rows, source, lines)


def read_answers(content: bytes, source: str) -> list[AnswerNuggets]:
    """Return the answers in a file of assignments; every error names its line."""
    file = JsonFile(source, f"expected lines of {ASSIGNMENTS}")
    repeated: list[int] = []
    answers: list[AnswerNuggets] = []
    for place, record in file.numbered_records(content):
        run, topic = (place.id(record, key, "the record") for key in ("run_id", "qid"))
        nuggets, line = place.field(record, "nuggets", "the record"), place.line
        if not isinstance(nuggets, list) or not nuggets:
            raise FormatError(
                f"the answer of run {run!r} to topic {topic!r} has no nuggets; expected a list of one "
                "or more",
                path=source,
                line=line,
            )
        parts = [_nugget(one, number, place) for number, one in enumerate(nuggets, start=1)]
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


def _nugget(held: Any, number: int, place: JsonFile) -> tuple[str, bool, float]:
    """Return text, whether it is vital, and the credit of a nugget; raise where it is none."""
    place = place._replace(expected=f"expected text, importance and assignment as in {ASSIGNMENTS}")
    if not isinstance(held, dict):
        raise place.error(f"nugget {number} is no JSON object")
    text, importance, assignment = (
        place.field(held, key, f"nugget {number}") for key in ("text", "importance", "assignment")
    )
    problem = ""
    if not isinstance(text, str) or not is_unicode(text):
        problem = f"the text of nugget {number} is no text"
    for key, value, known in (
        ("importance", importance, _IMPORTANCE),
        ("assignment", assignment, tuple(_CREDIT)),
    ):
        if not problem and (not isinstance(value, str) or value not in known):
            wanted = f"{', '.join(known[:-1])} or {known[-1]}"
            problem = f"{key} of nugget {number} is {reprlib.repr(value)}; expected {wanted}"
    if problem:
        raise FormatError(problem, path=place.path, line=place.line)
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


NUGGET_ASSIGNMENTS = Format(
    "nuggetizer assignments",
    ASSIGNMENTS,
    keys=[("qid", "nuggets.[].assignment")],
    read_scores=_read_assignments,
)
NUGGET_METRICS = Format(
    "nuggetizer metrics",
    _METRICS,
    keys=[("qid", *(f"{name}{_SCORE}" for name in NUGGET_MEASURES))],
    read_scores=_read_metrics,
)
