"""Reference values of nuggetizer for assigned nuggets.

    pip install --no-deps nuggetizer
    python validation/nuggetizer_values.py     regenerates validation/reference_values/nuggetizer.json

Answers of two runs to twelve topics, drawn at random; some topics have no vital nugget, some one.
"""

from __future__ import annotations

import json
import random
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

STORED = Path(__file__).with_name("reference_values") / "nuggetizer.json"
RUNS = ("gpt", "llama")
TOPICS = 12


def records() -> list[dict[str, Any]]:
    """Return the records of a file of assignments."""
    draw = random.Random(15)  # noqa: S311 - the same again
    made = []
    for number in range(TOPICS):
        share = 0.0 if number % 6 == 5 else draw.random()
        vital = [draw.random() < share for _ in range(draw.randint(1, 20))]
        for run in RUNS:
            ease = draw.random()
            nuggets = [
                {
                    "text": f"fact {place} of topic {number}",
                    "importance": "vital" if is_vital else "okay",
                    "assignment": draw.choices(
                        ("support", "partial_support", "not_support"), (ease, 0.3, 1.0 - ease)
                    )[0],
                }
                for place, is_vital in enumerate(vital)
            ]
            made.append(
                {
                    "query": f"question {number}",
                    "qid": f"2024-{number}",
                    "answer_text": "text",
                    "response_length": 1,
                    "run_id": run,
                    "nuggets": nuggets,
                }
            )
    return made


def nuggetizer_values() -> dict[str, Any]:
    """Return nuggetizer's metrics of each answer, and its means over the topics of each run."""
    from nuggetizer.core.metrics import calculate_global_metrics, calculate_nugget_scores

    made = records()
    scores = {
        run: [
            asdict(calculate_nugget_scores(one["qid"], one["nuggets"]))
            for one in made
            if one["run_id"] == run
        ]
        for run in RUNS
    }
    means = {
        run: calculate_global_metrics([one for one in made if one["run_id"] == run]) for run in RUNS
    }
    return {"nuggetizer": version("nuggetizer"), "scores": scores, "means": means}


if __name__ == "__main__":
    STORED.write_text(json.dumps(nuggetizer_values(), indent=1) + "\n", encoding="utf-8")
