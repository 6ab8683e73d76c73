"""Logs of benchmarks, with a record per question: MT-Bench, FastEval, SWE-bench and OpenAI evals.

What a tool leaves without a verdict, as MT-Bench's -1, is missing. Two turns of a question are one topic.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import Any

from confir.data.files import name_from_path
from confir.data.formats.evaluation_samples import (
    ScoredAnswer,
    answer_format,
    as_score,
    load_records,
    optional_id,
)
from confir.data.formats.json_files import JsonFile, as_id
from confir.errors import ReadingWarning, warn_caller

_MT_BENCH = '{"question_id": topic, "model": run, "judge": […], "score": …, "turn": 1}'
_MT_BENCH_GRADES = '{"question_id": topic, "model_id": run, "score_turn1": …, "score_turn2": …}'
_FASTEVAL = '{"score": …, "model_outputs": [{"id": topic, "correct": true}]}'
_FASTEVAL_CODE = '{"answers": [{"task_id": topic, "success": {measure: true}}], "scores": {…}}'
_OPENAI = '{"spec": {"completion_fns": [run]}}, then {"sample_id": topic, "type": "match", "data": {"correct": true}}'

_SWE_BENCH = (
    '{"submitted_ids": [topic, …], "resolved_ids": […], "unresolved_ids": […], "error_ids": […]}'
)

_NO_VERDICT = -1.0
# The list of all instances of SWE-bench with a patch; the others, and what their entries score.
_SUBMITTED = "submitted_ids"
_INSTANCES = {
    "resolved_ids": 1.0,
    "unresolved_ids": 0.0,
    "empty_patch_ids": 0.0,
    "error_ids": None,
    "incomplete_ids": None,
}
_TURN = "score_turn"

# Events of OpenAI evals that hold no scores.
_UNSCORED = "no event is a match or has metrics"


# MT-Bench ----------------------------------------------------------------------------------------


def _read_mt_bench(content: bytes, source: str) -> list[ScoredAnswer]:
    """Return the mean grade of the turns of each question; of several judges, each makes a measure."""
    file = JsonFile(source, f"expected judgments of MT-Bench: {_MT_BENCH}")
    grades: dict[tuple[str, str, str], dict[str, float | None]] = {}
    for number, record in enumerate(load_records(content, file), start=1):
        what = f"record {number}"
        turn = file.id(record, "turn", what)
        judge = optional_id(record, "judge", what, file)
        key = judge, file.id(record, "model", what), file.id(record, "question_id", what)
        grade = _grade(record, "score", what, file)
        problem = f"{what} is a second judgment of turn {turn} of question {key[2]!r} of {key[1]!r}"
        file.enter(grades.setdefault(key, {}), turn, grade, f"{problem}; expected one")
    judges = {judge for judge, *_ in grades}
    turns = sorted({turn for held in grades.values() for turn in held})
    measure = "score" if len(turns) > 1 else f"{_TURN}{turns[0]}"
    if len(turns) > 1:
        warn_caller(
            f"{source}: the score of a question is the mean of its {len(turns)} turns",
            ReadingWarning,
        )
    answers: dict[tuple[str, str], dict[str, float | None]] = {}
    for (judge, run, topic), held in grades.items():
        name = f"{measure} by {judge}" if len(judges) > 1 else measure
        found = [held.get(turn) for turn in turns]
        known = [grade for grade in found if grade is not None]
        complete = len(known) == len(turns)
        answers.setdefault((run, topic), {})[name] = sum(known) / len(known) if complete else None
    return [ScoredAnswer(run, topic, scores) for (run, topic), scores in answers.items()]


def _read_mt_bench_grades(content: bytes, source: str) -> list[ScoredAnswer]:
    file = JsonFile(source, f"expected grades of MT-Bench: {_MT_BENCH_GRADES}")
    samples = []
    for number, record in enumerate(load_records(content, file), start=1):
        what = f"record {number}"
        turns = [key for key in record if key.startswith(_TURN)]
        scores = {key: _grade(record, key, what, file) for key in turns}
        run, topic = (file.id(record, key, what) for key in ("model_id", "question_id"))
        category = {"category": record.get("category")}
        samples.append(ScoredAnswer(run, topic, scores, metadata=category))
    return samples


def _grade(record: Mapping[str, Any], key: str, what: str, file: JsonFile) -> float | None:
    grade = as_score(file.field(record, key, what), f"{key!r} of {what}", file)
    return None if grade == _NO_VERDICT else grade


# FastEval ----------------------------------------------------------------------------------------


def _read_fasteval(content: bytes, source: str) -> list[ScoredAnswer]:
    """Return which answers are correct; one that could not be parsed is wrong, as in FastEval's score."""
    file = JsonFile(source, f"expected a task of FastEval: {_FASTEVAL}")
    held = file.load_object(content)
    run, samples, unmatched = name_from_path(source), [], 0
    for number, one in enumerate(file.objects(held["model_outputs"], "model_outputs"), start=1):
        what = f"output {number}"
        correct = as_score(file.field(one, "correct", what), f"'correct' of {what}", file)
        unmatched += correct is None
        samples.append(ScoredAnswer(run, file.id(one, "id", what), {"score": correct or 0.0}))
    total = sum(one.scores["score"] or 0.0 for one in samples)
    given = as_score(held["score"], "'score'", file)
    if given is not None and samples and abs(total / len(samples) - given) > 1e-6:
        raise file.error(
            f"'score' is {given:g}, where {total / len(samples):g} of the outputs are correct"
        )
    if unmatched:
        warn_caller(
            f"{source}: {unmatched} of {len(samples)} outputs match no answer: wrong, as in FastEval's score",
            ReadingWarning,
        )
    return samples


def _read_fasteval_code(content: bytes, source: str) -> list[ScoredAnswer]:
    """Return which programs pass their tests; several of one task are repeats."""
    file = JsonFile(source, f"expected scores of FastEval: {_FASTEVAL_CODE}")
    held = file.load_object(content)
    run, seen, samples = name_from_path(source), dict[str, int](), []
    for number, one in enumerate(file.objects(held["answers"], "answers"), start=1):
        what = f"answer {number}"
        topic = file.id(one, "task_id", what)
        success = file.object(file.field(one, "success", what), f"'success' of {what}")
        scores = {
            name: as_score(value, f"{name!r} of {what}", file) for name, value in success.items()
        }
        seen[topic] = seen.get(topic, 0) + 1
        samples.append(ScoredAnswer(run, topic, scores, str(seen[topic])))
    return samples


# SWE-bench ---------------------------------------------------------------------------------------


def _read_swe_bench(content: bytes, source: str) -> list[ScoredAnswer]:
    """Return which instances are resolved; an empty patch is not, and without a verdict there is no score."""
    file = JsonFile(source, f"expected a report of SWE-bench: {_SWE_BENCH}")
    held = file.load_object(content)
    scores: dict[str, float | None] = {}
    for key, score in (*_INSTANCES.items(), (_SUBMITTED, None)):
        listed = held.get(key) or []
        if not isinstance(listed, list):
            raise file.error(f"{key!r} is not a list")
        for one in listed:
            topic = as_id(one, f"an entry of {key!r}", source)
            if key == _SUBMITTED and topic in scores:
                continue
            problem = f"{topic!r} is in two lists, of which {key!r} is one; expected it in one"
            file.enter(scores, topic, score, problem)
    run = name_from_path(source)
    return [ScoredAnswer(run, topic, {"resolved": score}) for topic, score in scores.items()]


# OpenAI evals ------------------------------------------------------------------------------------


def _read_openai(content: bytes, source: str) -> list[ScoredAnswer]:
    """Return matches (accuracy) and metrics of samples; one that ended in an error has no score."""
    file = JsonFile(source, f"expected a log of OpenAI evals: {_OPENAI}")
    run = ""
    final: Mapping[str, Any] = {}
    scores: dict[str, dict[str, float | None]] = {}
    for number, record in enumerate(load_records(content, file), start=1):
        what = f"line {number}"
        if "spec" in record:
            spec = file.object(record["spec"], "'spec'")
            names = (optional_id(spec, key, what, file) for key in ("completion_fns", "model_name"))
            run = next(filter(None, names), "")
        elif "final_report" in record:
            held = record["final_report"]
            final = held if isinstance(held, dict) else {}
        elif record.get("type") in ("match", "metrics", "error") and record.get("sample_id"):
            topic = file.id(record, "sample_id", what)
            found = scores.setdefault(topic, {})
            for name, value in _event(record, what, file).items():
                problem = f"{what}: sample {topic!r} has a second {name!r}"
                file.enter(found, name, value, f"{problem}; expected one")
    if not any(found for found in scores.values()):
        raise file.error(_UNSCORED)
    _check_report(final, scores, source)
    return [
        ScoredAnswer(run or name_from_path(source), topic, found) for topic, found in scores.items()
    ]


def _event(record: Mapping[str, Any], what: str, file: JsonFile) -> dict[str, float | None]:
    """Return the scores in an event: whether it is a match, or its numbers; none of an error."""
    data = file.object(record.get("data") or {}, f"data of {what}")
    if record["type"] == "match":
        correct = file.field(data, "correct", f"data of {what}")
        return {"accuracy": as_score(correct, f"'correct' of {what}", file)}
    if record["type"] == "error":
        return {}
    return {
        name: as_score(value, f"{name!r} of {what}", file)
        for name, value in data.items()
        if isinstance(value, bool | int | float)
    }


def _check_report(
    final: Mapping[str, Any], scores: Mapping[str, Mapping[str, float | None]], source: str
) -> None:
    """Warn where the log's own accuracy is another than that of its samples."""
    given = final.get("accuracy")
    found = [one["accuracy"] for one in scores.values() if one.get("accuracy") is not None]
    if isinstance(given, int | float) and found:
        mean = sum(score for score in found if score is not None) / len(found)
        if abs(mean - given) > 1e-6:
            warn_caller(
                f"{source}: the final report's accuracy is {reprlib.repr(given)}, that of the samples "
                f"{mean:.6g}; samples may be missing from the log"
            )


MT_BENCH = answer_format(
    "MT-Bench judgments",
    _MT_BENCH,
    _read_mt_bench,
    "questions",
    keys=[("question_id", "model", "judge", "score", "turn")],
)
MT_BENCH_GRADES = answer_format(
    "MT-Bench grades",
    _MT_BENCH_GRADES,
    _read_mt_bench_grades,
    "questions",
    keys=[("question_id", "model_id", f"{_TURN}1")],
)
FASTEVAL = answer_format(
    "FastEval task",
    _FASTEVAL,
    _read_fasteval,
    "outputs",
    keys=[("score", "model_outputs.[].correct")],
)
FASTEVAL_CODE = answer_format(
    "FastEval code",
    _FASTEVAL_CODE,
    _read_fasteval_code,
    "answers",
    keys=[("answers.[].task_id", "answers.[].success")],
)
SWE_BENCH = answer_format(
    "SWE-bench report",
    _SWE_BENCH,
    _read_swe_bench,
    "instances",
    keys=[("submitted_ids", "resolved_ids", "unresolved_ids")],
)
OPENAI_EVALS = answer_format(
    "OpenAI evals log",
    _OPENAI,
    _read_openai,
    "samples",
    keys=[
        ("spec.completion_fns",),
        ("spec.base_eval", "spec.run_config"),
        ("spec.eval_name", "spec.run_id"),
    ],
)
