"""Pairwise judgements of language models as votes: MT-Bench, AlpacaEval and PandaLM.

A vote is about what was asked, by the judge or annotator. AlpacaEval's are scores as well: the win rate against one
baseline.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from confir.data.formats.evaluation_samples import (
    ScoredAnswer,
    answer_format,
    as_score,
    load_records,
    optional_id,
)
from confir.data.formats.format import Format
from confir.data.formats.json_files import JsonFile
from confir.data.tables.input_table import InputTable
from confir.errors import FormatError, ReadingWarning, counted, enumerate_names, warn_caller

_MT_BENCH = '{"question_id": topic, "model_1": …, "model_2": …, "g1_winner": …, "g2_winner": …, "judge": […]}'
_ALPACA = '[{"instruction": topic, "generator_1": …, "generator_2": …, "preference": 1 to 2, "annotator": judge}]'
_PANDA = '[{"instruction": topic, "cmp_key": "A_B", "annotator1": 0, 1 or 2, "annotator2": …}]'

# What a column of a vote is called here; the winner is left, right or tie, which are no sides that a
# judge saw: both orders are merged, or drawn at random.
_HEADER = ["first", "second", "winner", "topic", "judge"]
Vote = tuple[str, str, str, str, str]

_WINNERS = {"model_1": "left", "model_2": "right", "tie": "tie"}
_FAILED = "error"
_ANNOTATORS = ("annotator", "label_")
_SIDES = {"1": "left", "2": "right", "0": "tie"}


def _votes(votes: Sequence[Vote], missing: Sequence[int], source: str) -> InputTable:
    """Return the table of votes; records without a verdict are left out, and said."""
    if not votes:
        raise FormatError("no votes, only records without a verdict", path=source)
    if missing:
        warn_caller(
            f"{source}: {counted(len(missing), 'record')} without a verdict, left out: "
            f"{enumerate_names(map(str, missing), 5)}"
        )
    columns = [list(column) for column in zip(*votes, strict=True)]
    return InputTable(source, _HEADER, columns, range(1, len(votes) + 1), "row")


# MT-Bench ----------------------------------------------------------------------------------------


def _read_mt_bench(content: bytes, source: str) -> InputTable:
    """Return the winner of both orders of the answers; where they disagree it is a tie, as in FastChat."""
    file = JsonFile(source, f"expected pairwise judgments of MT-Bench: {_MT_BENCH}")
    votes: list[Vote] = []
    missing: list[int] = []
    turned = 0
    for number, record in enumerate(load_records(content, file), start=1):
        what = f"record {number}"
        topic, one, other = (
            file.id(record, key, what) for key in ("question_id", "model_1", "model_2")
        )
        names = {one: "left", other: "right", **_WINNERS}
        first, second = (
            _winner(record, key, names, what, file) for key in ("g1_winner", "g2_winner")
        )
        if _FAILED in (first, second):
            missing.append(number)
            continue
        turned += first != second
        winner = first if first == second else "tie"
        votes.append((one, other, winner, topic, optional_id(record, "judge", what, file)))
    if turned:
        warn_caller(
            f"{source}: {counted(turned, 'verdict')} of {len(votes):,} changed with the order of the "
            "answers: ties, as in FastChat",
            ReadingWarning,
        )
    return _votes(votes, missing, source)


def _winner(
    record: Mapping[str, Any], key: str, names: Mapping[str, str], what: str, file: JsonFile
) -> str:
    given = file.id(record, key, what)
    if given != _FAILED and given not in names:
        raise file.error(f"{key!r} of {what} is {given!r}, neither model_1, model_2, tie nor error")
    return names.get(given, _FAILED)


# AlpacaEval --------------------------------------------------------------------------------------


def _preferences(
    content: bytes, source: str
) -> tuple[list[tuple[str, str, str, str, float | None]], JsonFile]:
    """Return topic, both systems, judge and preference (1 to 2) of each annotation."""
    file = JsonFile(source, f"expected annotations of AlpacaEval: {_ALPACA}")
    found = []
    for number, record in enumerate(load_records(content, file), start=1):
        what = f"annotation {number}"
        keys = ("instruction", "generator_1", "generator_2")
        topic, one, other = (file.id(record, key, what) for key in keys)
        preference = as_score(
            file.field(record, "preference", what), f"'preference' of {what}", file
        )
        if preference == 0.0:  # a tie, in the first versions
            preference = 1.5
        if preference is not None and not 1.0 <= preference <= 2.0:
            raise file.error(f"'preference' of {what} is {preference:g}, not from 1 to 2")
        judge = optional_id(record, "annotator", what, file)
        found.append((topic.strip(), one, other, judge, preference))
    return found, file


def _read_alpaca_votes(content: bytes, source: str) -> InputTable:
    found, _ = _preferences(content, source)
    missing = [number for number, one in enumerate(found, start=1) if one[-1] is None]
    known = [(*one[:-1], one[-1]) for one in found if one[-1] is not None]
    if any(preference not in (1.0, 1.5, 2.0) for *_, preference in known):
        warn_caller(
            f"{source}: weighted preferences are votes for the system that is preferred, as in AlpacaEval's "
            "discrete_win_rate; confir evaluate --scores reads the weights",
            ReadingWarning,
        )
    votes = [
        (
            one,
            other,
            "tie" if preference == 1.5 else "left" if preference < 1.5 else "right",
            topic,
            judge,
        )
        for topic, one, other, judge, preference in known
    ]
    return _votes(votes, missing, source)


def _read_alpaca_scores(content: bytes, source: str) -> list[ScoredAnswer]:
    """Return each system's wins against the baseline: the preference less 1, whose mean is the win rate."""
    found, file = _preferences(content, source)
    baselines, judges = ({one[place] for one in found} for place in (1, 3))
    if len(baselines) > 1 or len(judges) > 1:
        several = (
            f"{len(baselines)} systems as generator_1"
            if len(baselines) > 1
            else f"{len(judges)} annotators"
        )
        raise FormatError(
            f"the win rate is against one baseline by one annotator, and the file has {several}; expected "
            f"confir preferences {source}, which reads the votes",
            path=file.path,
        )
    (baseline,), (judge,) = baselines, judges
    measure = f"win_rate_vs_{baseline}" + (f"_by_{judge}" if judge else "")
    return [
        ScoredAnswer(other, topic, {measure: None if preference is None else preference - 1.0})
        for topic, _, other, _, preference in found
    ]


# PandaLM -----------------------------------------------------------------------------------------


def _read_panda(content: bytes, source: str) -> InputTable:
    """Return a vote per annotator: 1 and 2 are the first and second system of ``cmp_key``, 0 is a tie."""
    file = JsonFile(source, f"expected a test set of PandaLM: {_PANDA}")
    records = load_records(content, file)
    keys = [file.id(one, "cmp_key", f"record {i}") for i, one in enumerate(records, start=1)]
    pairs = _pairs(keys, file)
    votes: list[Vote] = []
    missing: list[int] = []
    for number, (record, key) in enumerate(zip(records, keys, strict=True), start=1):
        what = f"record {number}"
        instruction = file.id(record, "instruction", what)
        given = record.get("input")
        topic = f"{instruction}\n{given}" if given else instruction
        for judge, verdict in record.items():
            if not judge.startswith(_ANNOTATORS):
                continue
            if verdict is None:
                missing.append(number)
                continue
            winner = _SIDES.get(str(verdict))
            if winner is None:
                raise file.error(
                    f"{judge!r} of {what} is {reprlib.repr(verdict)}, neither 0, 1 nor 2"
                )
            votes.append((*pairs[key], winner, topic, judge))
    return _votes(votes, missing, source)


def _pairs(keys: Iterable[str], file: JsonFile) -> dict[str, tuple[str, str]]:
    """Return both systems of each key; raise where a name may hold the _ that separates them."""
    pairs = {}
    for key in dict.fromkeys(keys):
        one, _, other = key.partition("_")
        if key.count("_") != 1 or not one or not other or one == other:
            raise file.error(
                f"cmp_key {key!r} does not say where the name of the first system ends"
            )
        pairs[key] = one, other
    return pairs


def _no_scores(_: bytes, source: str) -> InputTable:
    """Raise: votes are no scores of one run."""
    raise FormatError(
        f"votes between two systems, no scores; expected confir preferences {source}", path=source
    )


MT_BENCH_PAIRS = Format(
    "MT-Bench pairwise judgments",
    _MT_BENCH,
    keys=[("question_id", "model_1", "model_2", "g1_winner", "g2_winner")],
    read_scores=_no_scores,
    read_votes=_read_mt_bench,
)
ALPACA_EVAL = answer_format(
    "AlpacaEval annotations",
    _ALPACA,
    _read_alpaca_scores,
    "annotations",
    keys=[("instruction", "generator_1", "generator_2", "preference")],
    read_votes=_read_alpaca_votes,
)
PANDA_LM = Format(
    "PandaLM test set",
    _PANDA,
    keys=[("instruction", "cmp_key", "annotator1"), ("instruction", "cmp_key", "label_0")],
    read_scores=_no_scores,
    read_votes=_read_panda,
)
