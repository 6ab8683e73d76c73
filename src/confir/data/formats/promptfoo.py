"""Evaluations of promptfoo: JSON of versions 1 to 3, JSON Lines, and CSV.

Shapes are those of promptfoo's ``EvaluateSummary``, ``EvaluateResult`` and ``evalTableToCsv``. A test is a topic, and
what answered it, a prompt by a provider, a run; the score, whether the test passed and the named scores are
measures. A test whose provider or grader failed has no score, where promptfoo writes 0.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from confir.data.files import text_bytes
from confir.data.formats.evaluation_samples import (
    ScoredAnswer,
    answer_format,
    as_score,
    as_topic,
    load_json,
    optional_id,
)
from confir.data.formats.json_files import JsonFile
from confir.errors import FormatError, ReadingWarning, warn_caller

_SHAPE = '{"results": {"version": 3, "results": [{"vars": topic, "provider": run, "score": …, "success": …}]}}'
_CSV_SHAPE = "columns of variables, then by prompt an answer, Status, Score, Named Scores, …"
_ERROR = 2  # the failureReason of a test that failed otherwise than by an assertion

# In the first version of the CSV, status and scores stand before the answer: [FAIL] (0.50, tone: 0.25) …
_CELL = re.compile(r"\[(PASS|FAIL|ERROR)\](?:\s+\(([^()]*)\))?")
_STATUS = {"PASS": 1.0, "FAIL": 0.0, "ERROR": None}
_HEAD = ("Status", "Score", "Named Scores")
_METRIC = "Metric: "
_PROMPT = re.compile(r"\[(?P<provider>[^\]]+)\] (?P<label>.*)", re.DOTALL)

# A prompt of more characters is called by its number.
_LONGEST_LABEL = 60


def _read_json(content: bytes, source: str) -> list[ScoredAnswer]:
    file = JsonFile(source, f"expected an evaluation of promptfoo: {_SHAPE}")
    held = load_json(content, file)
    if isinstance(held, dict) and isinstance(held.get("results"), dict):
        held = held["results"]
    if isinstance(held, dict) and "results" in held:
        held = held["results"]
    results = file.objects([held] if isinstance(held, dict) else held, "results")
    answers = [_answer(one, number, file) for number, one in enumerate(results, start=1)]
    runs = _run_names([(one.provider, one.prompt) for one in answers])
    topics, repeats = _tests([(one.test, one.topic) for one in answers], runs)
    return _without_twin(
        ScoredAnswer(run, topic, answer.scores, repeat, answer.metadata)
        for run, topic, repeat, answer in zip(runs, topics, repeats, answers, strict=True)
    )


def _without_twin(answers: Iterable[ScoredAnswer]) -> list[ScoredAnswer]:
    """Return answers without ``pass`` where it is the score, as it is where no assertion is graded."""
    found = list(answers)
    if all("score" in one.scores and one.scores["score"] == one.scores["pass"] for one in found):
        for one in found:
            del one.scores["pass"]
    return found


class _Answer(NamedTuple):
    """A result: who answered which test, and with which scores."""

    provider: str
    prompt: str
    test: str
    topic: str
    scores: dict[str, float | None]
    metadata: Mapping[str, Any]


def _answer(held: Mapping[str, Any], number: int, file: JsonFile) -> _Answer:
    what = f"result {number}"
    provider = _label(held, "provider", ("label", "id"), what, file)
    prompt = _label(held, "prompt", ("label", "display", "raw"), what, file)
    test = file.object(held.get("testCase") or {}, f"testCase of {what}")
    variables = held.get("vars") or test.get("vars") or {}
    variables = {
        k: v for k, v in file.object(variables, f"vars of {what}").items() if k[:2] != "__"
    }
    described = test.get("description") or held.get("description")
    asked = described or variables
    topic = as_topic(asked, f"vars of {what}", file) if asked else ""
    identity = json.dumps([variables, test.get("assert"), described], sort_keys=True)
    named = file.object(held.get("namedScores") or {}, f"namedScores of {what}")
    failed = held.get("failureReason") == _ERROR or (
        "failureReason" not in held and bool(held.get("error")) and not held.get("gradingResult")
    )
    values = {"score": held["score"]} if "score" in held else {}
    values |= {"pass": file.field(held, "success", what), **named}
    scores = {
        name: None if failed else as_score(value, f"{name!r} of {what}", file)
        for name, value in values.items()
    }
    metadata = file.object(test.get("metadata") or {}, f"metadata of {what}")
    return _Answer(provider, prompt, identity, topic, scores, {**variables, **metadata})


def _label(
    held: Mapping[str, Any], key: str, names: Sequence[str], what: str, file: JsonFile
) -> str:
    """Return the first name that a provider or prompt has; "" where it has none."""
    given = held.get(key)
    if not isinstance(given, dict):
        return optional_id(held, key, what, file)
    found = (optional_id(given, name, f"{key} of {what}", file) for name in names)
    return next(filter(None, found), "")


def _run_names(given: Sequence[tuple[str, str]]) -> list[str]:
    """Return the name of each run: its provider, its prompt, or both, as far as they differ in the file."""
    prompts = list(dict.fromkeys(prompt for _, prompt in given))
    one_provider, one_prompt = len({provider for provider, _ in given}) == 1, len(prompts) == 1
    labels = {}
    for number, prompt in enumerate(prompts, start=1):
        short = " ".join(prompt.split())
        labels[prompt] = short if 0 < len(short) <= _LONGEST_LABEL else f"prompt {number}"
    if len(set(labels.values())) < len(labels):  # they differ in blanks alone
        labels = {prompt: f"prompt {number}" for number, prompt in enumerate(prompts, start=1)}
    return [
        (provider or labels[prompt])
        if one_prompt
        else labels[prompt]
        if one_provider
        else f"{provider} {labels[prompt]}".strip()
        for provider, prompt in given
    ]


def _tests(given: Sequence[tuple[str, str]], runs: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return topic and repeat of each answer: the same test of a run again is a repeat.

    Tests that differ in their assertions alone are topics of their own, named by their place.
    """
    tests = {test: place for place, test in enumerate(dict.fromkeys(test for test, _ in given), 1)}
    by_topic: dict[str, set[str]] = {}
    for test, topic in given:
        by_topic.setdefault(topic, set()).add(test)
    seen: dict[tuple[str, str], int] = {}
    topics, repeats = [], []
    for (test, topic), run in zip(given, runs, strict=True):
        alone = topic and len(by_topic[topic]) == 1
        topics.append(topic if alone else f"{topic} (test {tests[test]})".strip())
        seen[run, test] = seen.get((run, test), 0) + 1
        repeats.append(str(seen[run, test]))
    return topics, repeats


def _is_csv(path: str, content: bytes) -> bool:
    """Whether a table has the columns, or the cells, of promptfoo."""
    if not path.lower().endswith((".csv", ".csv.gz")):
        return False
    head = content[: 1 << 16].decode(errors="replace")
    return "Status,Score,Named Scores" in head or bool(
        re.search(r'(?m)[,"\n]\[(PASS|FAIL|ERROR)\] ', head)
    )


def _read_csv(content: bytes, source: str) -> list[ScoredAnswer]:
    file = JsonFile(source, f"expected CSV of promptfoo: {_CSV_SHAPE}")
    text = text_bytes(content, source).decode()
    try:
        header, *rows = [
            row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row
        ]
    except (csv.Error, ValueError) as error:
        raise file.error(f"no CSV ({error})") from None
    if not rows or any(len(row) != len(header) for row in rows):
        raise file.error(f"rows differ in length from the header, which has {len(header)} columns")
    outputs = dict(_outputs(header, rows))
    if not outputs:
        raise file.error("no column of answers")
    first = min(outputs)
    variables = header[:first] or header[max(outputs) + 1 :]
    offset = 0 if header[:first] else max(outputs) + 1
    if not variables:
        raise file.error("no variable tells the tests apart")
    heads = [
        (match["provider"], match["label"])
        if (match := _PROMPT.fullmatch(header[place]))
        else ("", header[place])
        for place in outputs
    ]
    runs = _run_names(heads)
    if len(set(runs)) < len(runs):
        runs = [f"{run} ({place})" for place, run in enumerate(runs, start=1)]
    samples: list[ScoredAnswer] = []
    for number, row in enumerate(rows, start=1):
        asked = dict(zip(variables, row[offset:], strict=False))
        topic = asked.get("Description") or as_topic(
            {k: v for k, v in asked.items() if k != "Description"}, f"row {number}", file
        )
        for run, (place, read) in zip(runs, outputs.items(), strict=True):
            scores = read(row, place, file._replace(line=number + 1))
            if scores is not None:
                samples.append(ScoredAnswer(run, topic, scores, metadata=asked))
    warn_caller(
        f"{source}: scores are rounded to two decimals there; promptfoo's JSON has all digits",
        ReadingWarning,
    )
    return _without_twin(samples)


def _outputs(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[tuple[int, Any]]:
    """Yield the place of each column of answers, and what reads its scores in a row."""
    for place in range(len(header)):
        if tuple(header[place + 1 : place + 4]) == _HEAD:
            metrics = place + 4
            while metrics < len(header) and header[metrics].startswith(_METRIC):
                metrics += 1
            names = [name.removeprefix(_METRIC) for name in header[place + 4 : metrics]]
            yield place, lambda row, at, file, names=tuple(names): _of_columns(row, at, names, file)
        elif all(_CELL.match(row[place]) for row in rows if row[place]) and any(
            row[place] for row in rows
        ):
            yield place, _of_cell


def _of_columns(
    row: Sequence[str], place: int, names: Sequence[str], file: JsonFile
) -> dict[str, float | None] | None:
    """Return the scores beside an answer; None where the prompt did not get the test."""
    status, score, named = row[place + 1 : place + 4]
    if not status:
        return None
    if status not in _STATUS:
        raise file.error(f"Status is {status!r}; expected PASS, FAIL or ERROR")
    values: dict[str, Any] = {"score": score, "pass": _STATUS[status]}
    values |= json.loads(named) if named else {}
    values |= dict(zip(names, row[place + 4 :], strict=False))
    return {
        name: None if _STATUS[status] is None else as_score(value, repr(name), file)
        for name, value in values.items()
    }


def _of_cell(row: Sequence[str], place: int, file: JsonFile) -> dict[str, float | None] | None:
    """Return the scores that a cell of the first version begins with; None of an empty cell."""
    match = _CELL.match(row[place])
    if match is None:
        return None
    status = _STATUS[match[1]]
    values: dict[str, Any] = {}
    for number, part in enumerate((match[2] or "").split(",")):
        name, colon, value = part.rpartition(":")
        if part.strip() and (colon or number == 0):
            values[name.strip() or "score"] = value.strip()
    try:
        found = {name: as_score(value, repr(name), file) for name, value in values.items()}
    except FormatError:  # the answer itself begins with a bracket
        found = {}
    found["pass"] = status
    return dict.fromkeys(found) if status is None else found


PROMPTFOO = answer_format(
    "promptfoo evaluation",
    _SHAPE,
    _read_json,
    "tests",
    keys=[
        ("evalId", "results.version"),
        ("results.version", "results.results"),
        ("results.version", "results.prompts"),
        ("version", "results.[].prompt", "results.[].vars"),
        ("results.[].testIdx", "results.[].promptIdx"),
        ("testIdx", "promptIdx", "success"),
    ],
)
PROMPTFOO_TABLE = answer_format(
    "promptfoo table",
    _CSV_SHAPE,
    _read_csv,
    "tests",
    recognises=_is_csv,
)
