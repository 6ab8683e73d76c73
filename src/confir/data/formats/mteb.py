"""Predictions and results of MTEB.

Predictions, ``{Task}_predictions.json``, hold runs: subset → split → topic → docid → score beside
``mteb_model_meta``. Results hold means only: a list of scores per split, one entry per subset. Before MTEB 1.11,
the splits were keys beside ``mteb_dataset_name``, each with the scores or with those of its subsets.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from confir.data.files import name_from_path, open_bytes, read_bytes, text_bytes
from confir.data.formats.benchmark_results import (
    DEFAULT,
    MAIN_SCORE,
    BenchmarkResult,
    Wanted,
    benchmark_means,
    defined_scores,
    describe_main_scores,
    named_by_folders,
    parse_result,
)
from confir.data.formats.entries import RUN
from confir.data.formats.format import Format, NameBy, RunSource
from confir.data.formats.json_files import JsonFile, choose_part, has_json_ending
from confir.data.formats.json_runs import load_mapping, run_from_mapping
from confir.data.run import Run
from confir.data.tables.input_table import InputTable, score_table
from confir.errors import FormatError, warn_caller

_PREDICTIONS = '{"mteb_model_meta": …, subset: {split: {topic: {docid: score}}}}'
_RESULTS = "means of datasets, without scores per topic"

_META = "mteb_model_meta"
# So much of a file tells whether it has results.
_START = 1 << 16
MODEL_FILE = "model_meta.json"
_EXPECTED = "expected results of MTEB, scores: {split: [{hf_subset, main_score, …}]}"

# Means over topics of measures that confir has, by MTEB's keys; a cutoff follows after "_at_". Others keep
# their names: "ap" of a classifier is not AP.
_AT_CUTOFF = {
    "ndcg": "nDCG",
    "map": "AP",
    "recall": "R",
    "precision": "P",
    "mrr": "RR",
    "hit_rate": "Success",
}
_WITHOUT_CUTOFF = {"map": "AP", "mrr": "RR"}
_CUTOFF = re.compile(rf"({'|'.join(_AT_CUTOFF)})_at_([0-9]+)")

# Before 1.11, scores of one similarity, and the single scores of clusterings, were objects and lists.
_SIMILARITIES = {"cos_sim": "cosine"}
_NO_SUBSETS = {"cos_sim", "euclidean", "manhattan", "dot", "max", "similarity", "v_measures"}
_OLD = "the old format of MTEB before 1.11; where it names no main score, that of later versions is read"
_NO_SPLITS = {"mteb_dataset_name", "mteb_version", "dataset_revision", "evaluation_phases"}

# The main scores of MTEB's tasks, the usual first: they name a main score that is that of several measures,
# and tell which score is the main one where an old file does not say it.
_MAIN_SCORES = (
    *("nDCG@10", "v_measure", "max_ap", "cosine_spearman", "AP", "accuracy", "f1", "ap"),
    *("lrap", "Success@5", "AP@1000", "nDCG@5", "R@10", "nDCG@20", "R@1", "R@5"),
)
_OLD_MAIN_SCORES = _MAIN_SCORES[:6]


def _read_predictions(content: bytes, source: RunSource, _: NameBy) -> list[Run]:
    """Return the run in predictions of MTEB, of the subset and the split that are wanted."""
    path, reading = source.path, source.reading
    file = JsonFile(path, f"expected {_PREDICTIONS}")
    held = dict(load_mapping(content, path, RUN))
    del held[_META]
    subset = choose_part(held, reading.subset, "subset", path, "subset")
    split = choose_part(file.object(subset, "a subset"), reading.split, "split", path, "split")
    return [run_from_mapping(file.object(split, "a split"), source)]


def _read_results(content: bytes, source: str) -> list[BenchmarkResult]:
    """Return the scores of one model on the splits and subsets of one task."""
    held = parse_result(text_bytes(content, source).decode(), source, _EXPECTED)
    return list(_task_results(held, source, _model(source)))


def is_mteb_object(source: Any) -> bool:
    """Whether an object is what ``mteb.evaluate`` returns, or one of its results."""
    module = type(source).__module__.partition(".")[0]
    return module == "mteb" and (hasattr(source, "task_results") or hasattr(source, "task_name"))


def mteb_object_rows(source: Any, run: str | None, name: str) -> list[tuple[str, str, str, Any]]:
    """Return run, measure, dataset and score of an object of MTEB; the run is the model.

    ``name`` is the parameter's in messages.
    """
    model = run or str(getattr(source, "model_name", "run"))
    results = getattr(source, "task_results", [source])
    found = [row for one in results for row in _task_results(one.to_dict(), name, model)]
    if not found:
        raise FormatError("no results of MTEB; expected those of a task or more", path=name)
    return _rows(found, name)


def _read_main_scores(content: bytes, source: str) -> InputTable:
    """Return a table of the main scores in a file."""
    return score_table(_rows(_read_results(content, source), source), source)


def is_result(path: Any) -> bool:
    """Whether a path is that of a file with results of a task: it ends in .json, and has their keys."""
    if not isinstance(path, str | os.PathLike) or not has_json_ending(os.fspath(path)):
        return False
    if not os.path.isfile(path):
        return False
    with open_bytes(path) as stream:
        return MTEB_RESULTS.fits(os.fspath(path), stream.read(_START))


def read_task_scores(
    paths: Sequence[str], measures: Sequence[tuple[str, ...]] = ((),)
) -> InputTable:
    """Return a table of the scores in files of results, by some measures or by the main ones.

    ``measures`` are spellings of each; none stand for the main score.
    """
    found: list[BenchmarkResult] = []
    for path in paths:
        if not is_result(path):
            raise FormatError(f"no results of MTEB, as {paths[0]} has; expected some", path=path)
        found += _read_results(read_bytes(path), path)
    named = found if len(paths) == 1 else named_by_folders(found)
    return score_table(_rows(named, paths[0], measures), paths[0])


def _rows(
    results: Sequence[BenchmarkResult],
    source: str,
    measures: Sequence[tuple[str, ...]] = ((),),
) -> list[tuple[str, str, str, Any]]:
    """Return run, measure, dataset and score of each dataset, which stands for a topic, with a warning.

    The scores are by the measures of some spellings, or the main ones.
    """
    rows: list[tuple[str, str, str, Any]] = []
    main: dict[str, str] = {}
    for spellings in measures:
        means = benchmark_means(results, Wanted(spellings, all_splits=True))
        main |= means.main_measures()
        (measure,) = means.scores.measures
        for dataset, row in zip(
            means.scores.topics, means.scores.values[:, :, 0].tolist(), strict=True
        ):
            scored = zip(means.scores.runs, row, strict=True)
            rows += [(run, measure, dataset, score) for run, score in scored]
    warn_caller(
        f"{source}: results of MTEB are means; their datasets stand for topics"
        + (f" ({describe_main_scores(main)})" if main else "")
    )
    return rows


def _task_results(held: Mapping[str, Any], source: str, model: str) -> Iterator[BenchmarkResult]:
    """Yield the scores of a model on each subset of each split of a task."""
    file = JsonFile(source, _EXPECTED)
    old = "scores" not in held
    task = file.id(held, "mteb_dataset_name" if old else "task_name", "the file")
    revision = held.get("dataset_revision")
    found = False
    for split, subset, entry in (_old_entries if old else _entries)(held, file):
        found = True
        scores = dict(_flat_scores(entry))
        what = f"subset {subset!r} of split {split!r}"
        if not old:
            file.field(entry, MAIN_SCORE, what)
        names, main = _main_score(entry, scores, file, what)
        yield BenchmarkResult(
            *(model, task, split, subset, scores, main, names, source),
            revision=revision if isinstance(revision, str) else "",
            outdated=_OLD if old else "",
        )
    if not found:
        raise file.error("no splits" if old or not held["scores"] else "no scores")


def _entries(
    held: Mapping[str, Any], file: JsonFile
) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield split, subset and what is said of it, as MTEB has written them since 1.11."""
    for split, entries in file.object(held["scores"], "scores").items():
        for entry in file.objects(entries, f"split {split!r}"):
            yield split, file.id(entry, "hf_subset", f"an entry of split {split!r}"), entry


def _old_entries(
    held: Mapping[str, Any], file: JsonFile
) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield split, subset and what is said of it, as MTEB wrote them before 1.11."""
    splits = {
        split: part
        for split, part in held.items()
        if isinstance(part, dict) and split not in _NO_SPLITS
    }
    for split, part in splits.items():
        subsets = {
            name: one
            for name, one in part.items()
            if isinstance(one, dict) and name not in _NO_SUBSETS
        }
        for name, one in (subsets or {DEFAULT: part}).items():
            yield split, name, file.object(one, f"subset {name!r} of split {split!r}")


def _flat_scores(entry: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the scores of a subset that are defined, by the names of confir's measures where it has them."""
    for key, value in entry.items():
        outer = _SIMILARITIES.get(key, key)
        for inner, score in defined_scores(
            value if isinstance(value, dict) else {"": value}
        ).items():
            yield _measure_name(f"{outer}_{inner}" if inner else outer), score


def _measure_name(key: str) -> str:
    """Return the name of a measure, by MTEB's key."""
    cut = _CUTOFF.fullmatch(key)
    return f"{_AT_CUTOFF[cut[1]]}@{cut[2]}" if cut else _WITHOUT_CUTOFF.get(key, key)


def _main_score(
    entry: Mapping[str, Any], scores: dict[str, float], file: JsonFile, what: str
) -> tuple[tuple[str, ...], float | None]:
    """Return the measures whose score is the main one, the likeliest first, and that score.

    It is taken out of the scores.
    """
    main = scores.pop(MAIN_SCORE, None)
    if MAIN_SCORE not in entry:
        name = next((name for name in _OLD_MAIN_SCORES if name in scores), None)
        if name is None:
            raise file.error(f"{what} lacks {MAIN_SCORE!r}")
        return (name,), scores[name]
    if main is None:
        if entry[MAIN_SCORE] is not None:
            raise file.error(f"{MAIN_SCORE!r} of {what} is no number")
        return (MAIN_SCORE,), None
    same = [name for name, score in scores.items() if score == main]
    return tuple(sorted(same, key=_place)), main


def _place(name: str) -> int:
    """Return the place of a measure among those that are main scores; it is the last of all others."""
    return _MAIN_SCORES.index(name) if name in _MAIN_SCORES else len(_MAIN_SCORES)


def _model(source: str) -> str:
    """Return the model's name, which MTEB writes beside its results; else that of the file."""
    beside = os.path.join(os.path.dirname(source), MODEL_FILE)
    if not os.path.isfile(beside):
        return name_from_path(source)
    held = JsonFile(beside, "expected the model's name").load(read_bytes(beside))
    name = held.get("name") if isinstance(held, dict) else None
    return name if isinstance(name, str) and name else name_from_path(source)


MTEB_PREDICTIONS = Format(
    "MTEB predictions", _PREDICTIONS, keys=[(_META,)], read_runs=_read_predictions
)
MTEB_RESULTS = Format(
    "MTEB results",
    _RESULTS,
    keys=[("mteb_version", "task_name", "scores"), ("mteb_dataset_name",)],
    read_scores=_read_main_scores,
    read_results=_read_results,
    beside=(MODEL_FILE,),
)
