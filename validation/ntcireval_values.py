"""Reference values of NTCIREVAL for an artificial collection.

    python validation/ntcireval_values.py PATH/TO/ntcir_eval

regenerates validation/reference_values/ntcireval.json. ``ntcir_eval`` is the C program of NTCIREVAL (version
190111, January 2019, by Tetsuya Sakai), compiled by its Makefile. It prints four decimals. Gains of levels 1 to 3 are
1, 3 and 7 in ranked retrieval; for intents they are the levels, weighted by the intents' probabilities.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

STORED = Path(__file__).with_name("reference_values") / "ntcireval.json"
CUTOFFS = (1, 5, 10)
TOPICS, DOCUMENTS, LISTED = 12, 40, 25
PROBABILITIES = {"1": 0.5, "2": 0.3, "3": 0.2}

Levels = dict[str, int]


def collection() -> tuple[dict[str, Levels], dict[str, list[str]]]:
    """Return levels of documents by topic, and a ranked list of each topic."""
    draw = random.Random(7)  # noqa: S311 - the same again
    documents = [f"d{number:02}" for number in range(DOCUMENTS)]
    topics = [f"{number:04}" for number in range(1, TOPICS + 1)]
    qrels = {
        topic: {one: draw.choice((0, 0, 1, 1, 2, 3)) for one in draw.sample(documents, 14)}
        | {"d00": 1}
        for topic in topics
    }
    return qrels, {topic: draw.sample(documents, LISTED) for topic in topics}


def intents() -> dict[str, dict[str, Levels]]:
    """Return levels of documents by topic and intent; each intent has a relevant document."""
    draw = random.Random(8)  # noqa: S311 - the same again
    qrels, _ = collection()
    return {
        topic: {
            intent: {one: draw.choice((0, 1, 2, 3)) for one in draw.sample(sorted(judged), 6)}
            | {"d01": 2}
            for intent in PROBABILITIES
        }
        for topic, judged in qrels.items()
    }


def ntcireval_values(program: str) -> dict[str, object]:
    """Return scores by topic and measure, of ranked retrieval and of diversified retrieval."""
    qrels, lists = collection()
    by_intent = intents()
    with tempfile.TemporaryDirectory() as folder:
        ranked = {t: _ranked(program, Path(folder), qrels[t], lists[t]) for t in qrels}
        diverse = {t: _diverse(program, Path(folder), by_intent[t], lists[t]) for t in qrels}
    return {"ntcireval": "190111", "ranked": ranked, "diverse": diverse}


def _ranked(program: str, folder: Path, levels: Levels, listed: list[str]) -> dict[str, float]:
    rel = _write(folder / "rel", [f"{one} L{level}" for one, level in levels.items()])
    labelled = _run([program, "label", "-r", rel], "".join(f"{one}\n" for one in listed))
    return _scores(_run([program, "compute", "-r", rel, *_cutoffs(), "-g", "1:3:7"], labelled))


def _diverse(
    program: str, folder: Path, by_intent: dict[str, Levels], listed: list[str]
) -> dict[str, float]:
    gains: dict[str, float] = {}
    for intent, levels in by_intent.items():
        for one, level in levels.items():
            gains[one] = gains.get(one, 0.0) + PROBABILITIES[intent] * level
    ideal = sorted(((one, gain) for one, gain in gains.items() if gain), key=lambda pair: -pair[1])
    best = _write(folder / "ideal", [f"{one} {gain:.6f}" for one, gain in ideal])
    covered = [
        _write(folder / f"intent{intent}", [one for one, level in levels.items() if level])
        for intent, levels in by_intent.items()
    ]
    system = _write(folder / "system", listed)
    labelled = _run([program, "glabel", "-I", best], "".join(f"{one}\n" for one in listed))
    scores = _scores(_run([program, "gcompute", "-I", best, *_cutoffs()], labelled))
    return scores | _scores(_run([program, "irec", *_cutoffs(), system, *covered], ""))


def _cutoffs() -> list[str]:
    return ["-cutoffs", ",".join(map(str, CUTOFFS))]


def _write(path: Path, lines: list[str]) -> str:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def _run(command: list[str], given: str) -> str:
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)  # noqa: S603
    return done.stdout


def _scores(printed: str) -> dict[str, float]:
    """Return what is printed as ``MEASURE= SCORE``."""
    pairs = (line.split("=") for line in printed.splitlines() if not line.lstrip().startswith("#"))
    return {name.strip(): float(score) for name, score in pairs}


if __name__ == "__main__":
    STORED.write_text(json.dumps(ntcireval_values(sys.argv[1]), indent=1) + "\n", encoding="utf-8")
