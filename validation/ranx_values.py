"""Reference values of ranx for three runs of the sample collection.

    python validation/ranx_values.py     regenerates validation/reference_values/ranx.json

ranx compiles its code when it is first used, which takes a minute: the tests of every commit read
the file, and `make verify` compares the file with ranx.
"""

from __future__ import annotations

import json
import warnings
from importlib.metadata import version
from itertools import combinations
from pathlib import Path

from confir.data.simulation import sample_collection

STORED = Path(__file__).with_name("reference_values") / "ranx.json"
RUNS = ("bm25", "dense", "rerank")
MEASURES = ("map", "ndcg_burges@10")


def ranx_values() -> dict[str, object]:
    """Return ranx's means by run and measure, and its p-values of paired t tests by pair."""
    warnings.simplefilter("ignore")  # of numba about ranx
    import ranx

    sample = sample_collection()
    qrels = ranx.Qrels(sample.qrels.to_dict())
    # Distinct retrieval scores: tools break ties each in its own way.
    runs = [
        ranx.Run(
            {
                topic: {document: 1000.0 - rank for rank, document in enumerate(listed)}
                for topic, listed in run.to_dict().items()
            },
            name=run.name,
        )
        for run in sample.runs
        if run.name in RUNS
    ]
    means = {
        run.name: {measure: float(ranx.evaluate(qrels, run, measure)) for measure in MEASURES}
        for run in runs
    }
    report = ranx.compare(qrels, runs, ["map"], stat_test="student")
    p_values = {
        f"{a.name} {b.name}": float(report.comparisons[a.name, b.name]["map"]["p_value"])
        for a, b in combinations(runs, 2)
    }
    return {"ranx": version("ranx"), "means": means, "p_values": p_values}


if __name__ == "__main__":
    STORED.write_text(json.dumps(ranx_values(), indent=2) + "\n", encoding="utf-8")
