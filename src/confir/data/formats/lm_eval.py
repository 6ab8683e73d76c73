"""Samples and results of lm-eval, and results of EuroEval.

Samples, ``samples_{task}_{date}.jsonl``, are a line of JSON per document, with a ``doc_id``, the ``filter`` of
the answers, and the value of every metric; newer versions name the metrics. Results, ``results_{date}.json``,
hold means alone: of each task and group of tasks the value of every metric, ``"acc,none"`` with its filter.
EuroEval, once ScandEval, writes a line per model and dataset, with means in percent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from confir.data.files import name_from_path, text_bytes
from confir.data.formats.benchmark_results import (
    DEFAULT,
    TEST,
    BenchmarkResult,
    defined_scores,
    parse_result,
)
from confir.data.formats.evaluation_samples import (
    ScoredAnswer,
    answer_format,
    as_score,
    left_out,
)
from confir.data.formats.format import Format
from confir.data.formats.json_files import JsonFile, as_id
from confir.errors import FormatError, InputWarning, warn_caller

_SAMPLE_LINES = '{"doc_id": topic, "filter": …, "metrics": ["acc"], "acc": score, …}'
_RESULTS = '{"results": {task: {"acc,none": mean, …}}, …}'
_LINES = '{"model": …, "dataset": …, "results": {"total": {"test_mcc": mean, …}}}'
_MEANS_ALONE = "means of tasks, without scores of samples; expected these, or confir leaderboard --means, which ranks models"
_NO_METRICS = {"doc_id", "doc_hash", "prompt_hash", "target_hash", "target"}


def _read_samples(content: bytes, source: str) -> list[ScoredAnswer]:
    """Return the metrics of each sample; of several filters, each makes a measure of its own.

    Metrics of a whole corpus, such as BLEU, have no score per sample, but the texts that it is computed of.
    """
    file, run = JsonFile(source, f"expected lines of {_SAMPLE_LINES}"), name_from_path(source)
    records = {f"record {i}": one for i, one in enumerate(file.records(content), start=1)}
    filters = {what: _filter(record, what, source) for what, record in records.items()}
    several = len(set(filters.values())) > 1
    skipped: set[str] = set()
    answers: dict[str, ScoredAnswer] = {}
    for what, record in records.items():
        topic = file.id(record, "doc_id", what)
        document = record.get("doc")
        metadata = document if isinstance(document, dict) else {}
        answer = answers.setdefault(topic, ScoredAnswer(run, topic, {}, metadata=metadata))
        for metric in _metrics(record, what, source):
            measure = f"{metric},{filters[what]}" if several else metric
            value = file.field(record, metric, what)
            if isinstance(value, list | dict):
                skipped.add(measure)
                continue
            score = as_score(value, f"{metric!r} of {what}", file)
            problem = f"{what}: a second score of run {run!r}, measure {measure!r}, topic {topic!r}"
            file.enter(answer.scores, measure, score, f"{problem}; expected one")
    left_out(skipped, source, "of the whole corpus, not of single samples")
    return list(answers.values())


def _filter(record: Mapping[str, Any], what: str, source: str) -> str | None:
    """Return the name of the filter of a record's answers, None where it has none."""
    name = record.get("filter")
    return None if name is None else as_id(name, f"'filter' of {what}", source)


def _metrics(record: Mapping[str, Any], what: str, source: str) -> list[str]:
    """Return the metrics that a record names, or else all of its numbers but ids and hashes."""
    named = record.get("metrics")
    if isinstance(named, list):
        return [as_id(name, f"an entry of 'metrics' of {what}", source) for name in named]
    return [
        name
        for name, value in record.items()
        if name not in _NO_METRICS and isinstance(value, int | float)
    ]


LM_EVAL_SAMPLES = answer_format(
    "lm-eval samples",
    _SAMPLE_LINES,
    _read_samples,
    "samples",
    keys=[("doc_id", "resps"), ("doc_id", "filtered_resps")],
)


def _read_results(content: bytes, source: str) -> list[BenchmarkResult]:
    """Return the means of a model on tasks; those of subtasks are part of their group's."""
    expected = f"expected results of lm-eval, {_RESULTS}"
    file = JsonFile(source, expected)
    held = parse_result(text_bytes(content, source).decode(), source, expected)
    tasks = {
        name: dict(_metric_values(file.object(entry, f"the results of {name!r}")))
        for name, entry in file.object(held["results"], "'results'").items()
    }
    groups = held.get("group_subtasks")
    grouped = {
        subtask
        for group, subtasks in (groups.items() if isinstance(groups, dict) else ())
        if tasks.get(group) and isinstance(subtasks, list)
        for subtask in subtasks
        if isinstance(subtask, str)
    }
    run = _model(held, source)
    found = []
    for name, values in tasks.items():
        if values and name not in grouped:
            main = next(iter(values.items())) if len(values) == 1 else None
            found.append(
                BenchmarkResult(
                    *(run, name, TEST, DEFAULT, values, main and main[1]),
                    main_names=(main[0],) if main else (),
                    source=source,
                )
            )
    if not found:
        raise file.error("no means of tasks")
    return found


def _metric_values(entry: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the metrics of a task with their means; the filter is part of the name where there are several."""
    means = defined_scores(entry)
    named = {key: key.partition(",")[0] for key in means}
    metrics = {key: name for key, name in named.items() if not name.endswith("_stderr")}
    for key, name in metrics.items():
        if name not in ("alias", "sample_len", "sample_count"):
            single = list(metrics.values()).count(name) == 1
            yield name if single else key, means[key]


def _model(held: Mapping[str, Any], source: str) -> str:
    """Return the name of the model: newer versions say it, older ones among its arguments."""
    config = held.get("config")
    arguments = config.get("model_args") if isinstance(config, dict) else None
    for name in (held.get("model_name"), _pretrained(arguments)):
        if isinstance(name, str) and name:
            return name
    return name_from_path(source)


def _pretrained(arguments: Any) -> Any:
    """Return the model that the arguments of lm-eval name, as text or as an object."""
    if isinstance(arguments, str):
        pairs = (part.partition("=") for part in arguments.split(","))
        arguments = {key.strip(): value for key, _, value in pairs}
    given = arguments if isinstance(arguments, dict) else {}
    return next((given[key] for key in ("pretrained", "model", "engine") if key in given), None)


def _read_lines(content: bytes, source: str) -> list[BenchmarkResult]:
    """Return the means of models on datasets in lines of EuroEval, the first metric of each the main one."""
    found: list[BenchmarkResult] = []
    variants: list[str] = []
    speed = False
    expected = f"expected lines of EuroEval, {_LINES}"
    for number, line in enumerate(text_bytes(content, source).decode().split("\n")):
        if not line.strip():
            continue
        file, record = (
            JsonFile(source, expected, number + 1),
            parse_result(line, source, expected, number),
        )
        run, dataset = (file.id(record, key, "the line") for key in ("model", "dataset"))
        results = file.object(file.field(record, "results", "the line"), "'results'")
        total = file.object(file.field(results, "total", "'results'"), "'total'")
        means = {
            key.removeprefix("test_"): mean
            for key, mean in defined_scores(total).items()
            if key.startswith("test_") and not key.endswith("_se")
        }
        if not means:
            raise file.error("no means of metrics, such as test_mcc")
        if record.get("task") == "speed":
            speed = True
            continue
        main, score = next(iter(means.items()))
        split = "val" if record.get("validation_split") is True else TEST
        variants.append("few-shot" if record.get("few_shot") is True else "zero-shot")
        found.append(BenchmarkResult(run, dataset, split, DEFAULT, means, score, (main,), source))
    if speed:
        warn_caller(f"{source}: speed is left out, which is no dataset", InputWarning)
    return _with_variants(found, variants)


def _with_variants(found: list[BenchmarkResult], variants: list[str]) -> list[BenchmarkResult]:
    """Return results of models that are named with their variant, where they have two on a dataset."""
    held: dict[str, set[tuple[str, ...]]] = {}
    twice = set()
    for one in found:
        parts = held.setdefault(one.run, set())
        if one[1:4] in parts:
            twice.add(one.run)
        parts.add(one[1:4])
    return [
        one._replace(run=f"{one.run} ({variant})") if one.run in twice else one
        for one, variant in zip(found, variants, strict=True)
    ]


def _refuse_means(_: bytes, source: str) -> NoReturn:
    raise FormatError(_MEANS_ALONE, path=source)


LM_EVAL_RESULTS = Format(
    "lm-eval results",
    "means of tasks",
    keys=[
        ("results", "group_subtasks"),
        ("results", "configs", "versions"),
        ("results", "versions", "config.model_args"),
    ],
    read_scores=_refuse_means,
    read_results=_read_results,
)
EUROEVAL_RESULTS = Format(
    "EuroEval results",
    "means of datasets",
    keys=[("model", "dataset", "results.total")],
    read_scores=_refuse_means,
    read_results=_read_lines,
)
