"""Logs of Inspect: ``.eval``, a zip with a file per sample, and JSON.

Shapes are those of ``inspect_ai.log`` (``EvalLog``, ``EvalSample``), grades those of ``value_to_float``: C counts
1, P ½, I and N 0. A scorer with several values is a measure per value, an epoch a repeat of the model.
"""

from __future__ import annotations

import io
import reprlib
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from confir.data.compression import DamagedError, Decompressed, RefusedError, check_expansion
from confir.data.formats.evaluation_samples import (
    ScoredAnswer,
    answer_format,
    as_score,
    left_out,
    load_json,
    optional_id,
)
from confir.data.formats.json_files import JsonFile
from confir.errors import FormatError, counted, warn_caller

_SHAPE = '{"eval": {"model": run}, "samples": [{"id": topic, "epoch": repeat, "scores": {measure: {"value": …}}}]}'
_ZIP = b"PK\x03\x04"
_JOURNAL = b"_journal/"
_HEADER, _START, _SAMPLES = "header.json", "_journal/start.json", "samples/"
_ZSTANDARD = 93  # a method of zip that Python knows from 3.14 only
# What zipfile and the decompressors raise at damaged data.
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError),
    *(NotImplementedError, RuntimeError, DamagedError, RefusedError),
)

_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def _is_log(_: str, content: bytes) -> bool:
    """Whether content begins as a zip whose first file is the journal of a log."""
    return content.startswith(_ZIP) and _JOURNAL in content[:64]


def _read_log(content: bytes, source: str) -> list[ScoredAnswer]:
    file = JsonFile(source, f"expected a log of Inspect: {_SHAPE}")
    if content.startswith(_ZIP):
        header, found = _unpack(content, file)
        samples = list(found)
    else:
        header = file.object(load_json(content, file), "the file")
        samples = list(file.objects(header.get("samples") or [], "samples"))
    details = file.object(file.field(header, "eval", "the log"), "'eval'")
    run = file.id(details, "model", "'eval'")
    if not samples:
        raise file.error("the log has no samples, as without --log-samples")
    _warn_if_unfinished(header, details, len(samples), source)
    skipped: list[str] = []
    read = [_sample(one, number, run, file, skipped) for number, one in enumerate(samples, start=1)]
    left_out(skipped, source, "lists; --columns reads a table of samples_df()")
    return read


def _sample(
    held: Mapping[str, Any], number: int, run: str, file: JsonFile, skipped: list[str]
) -> ScoredAnswer:
    what = f"sample {number}"
    topic = file.id(held, "id", what)
    repeat = optional_id(held, "epoch", what, file) or "1"
    scores: dict[str, float | None] = {}
    for scorer, score in file.object(held.get("scores") or {}, f"scores of {what}").items():
        value = file.field(
            file.object(score, f"{scorer!r} of {what}"), "value", f"{scorer!r} of {what}"
        )
        if isinstance(value, list):
            skipped.append(scorer)
        elif isinstance(value, dict):
            for key, part in value.items():
                scores[f"{scorer}/{key}"] = _graded(part, f"{key!r} of {scorer!r} of {what}", file)
        else:
            scores[scorer] = _graded(value, f"{scorer!r} of {what}", file)
    metadata = file.object(held.get("metadata") or {}, f"metadata of {what}")
    return ScoredAnswer(run, topic, scores, repeat, metadata)


def _graded(value: Any, what: str, file: JsonFile) -> float | None:
    if isinstance(value, str) and value in _GRADES:
        return _GRADES[value]
    if isinstance(value, str) and value.lower() in _GRADES:
        return _GRADES[value.lower()]
    return as_score(value, what, file._replace(expected="expected a number, or C, P, I or N"))


def _warn_if_unfinished(
    header: Mapping[str, Any], details: Mapping[str, Any], samples: int, source: str
) -> None:
    """Warn of a log whose evaluation did not finish: its samples may be those that were quick."""
    status = header.get("status", "success")
    if status == "success":
        return
    dataset, config = details.get("dataset"), details.get("config")
    asked = dataset.get("samples") if isinstance(dataset, dict) else None
    epochs = config.get("epochs") if isinstance(config, dict) else None
    planned = asked * (epochs or 1) if isinstance(asked, int) else None
    share = f" of {planned:,}" if planned else ""
    warn_caller(
        f"{source}: the evaluation did not finish (status {reprlib.repr(status)}): it has "
        f"{counted(samples, 'sample')}{share}, which may differ from the others"
    )


def _unpack(
    content: bytes, file: JsonFile
) -> tuple[Mapping[str, Any], Iterator[Mapping[str, Any]]]:
    """Return the header of a zipped log, and its samples one by one."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except _DAMAGE as error:
        raise FormatError(f"the zip is damaged ({error})", path=file.path) from None
    infos = {one.filename: one for one in archive.infolist()}
    try:
        check_expansion(len(content), sum(one.file_size for one in infos.values()))
    except RefusedError as error:
        raise FormatError(str(error), path=file.path) from None
    start = _HEADER if _HEADER in infos else _START
    if start not in infos:
        raise file.error(f"the zip has no {_HEADER}")

    def load(name: str) -> Mapping[str, Any]:
        return file.object(load_json(_extract(archive, infos[name], content, file), file), name)

    header = load(start)
    if start == _START:
        header = {"status": "started", **header}
    named = sorted(one for one in infos if one.startswith(_SAMPLES) and one.endswith(".json"))
    return header, map(load, named)


def _extract(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, content: bytes, file: JsonFile
) -> bytes:
    """Return a file of a zip, which may be compressed by zstandard."""
    try:
        if info.compress_type != _ZSTANDARD:
            return archive.read(info)
        lengths = content[info.header_offset + 26 : info.header_offset + 30]
        begin = info.header_offset + 30 + sum(struct.unpack("<HH", lengths))
        packed = content[begin : begin + info.compress_size]
        unpacked = Decompressed(io.BytesIO(packed), "zstandard").readall()
    except _DAMAGE as error:
        problem = f"{info.filename} in the zip cannot be read ({error})"
        raise FormatError(problem, path=file.path) from None
    if zlib.crc32(unpacked) != info.CRC:
        raise FormatError(f"{info.filename} in the zip is damaged", path=file.path)
    return unpacked


INSPECT_LOG = answer_format(
    "Inspect log",
    _SHAPE,
    _read_log,
    "samples",
    keys=[("status", "eval.run_id", "eval.task"), ("eval.model", "eval.task", "samples.[].epoch")],
    recognises=_is_log,
)
