"""Reference values of BEIR for runs that retrieve their own topics.

    pip install --no-deps beir pytrec-eval-terrier
    python validation/beir_values.py     regenerates validation/reference_values/beir.json

Topics are documents of the collection, as in ArguAna; BEIR's ``evaluate`` removes them from the results
(``ignore_identical_ids=True``) and leaves them in the qrels.
"""

from __future__ import annotations

import json
import random
from importlib.metadata import version
from pathlib import Path

STORED = Path(__file__).with_name("reference_values") / "beir.json"
CUTOFFS = (1, 3, 10, 100)
TOPICS, DOCUMENTS, LISTED = 30, 60, 25

Pairs = dict[str, dict[str, float]]


def collection() -> tuple[dict[str, dict[str, int]], dict[str, Pairs]]:
    """Return qrels and two runs; most lists begin with their topic, which is relevant for a few."""
    draw = random.Random(41)  # noqa: S311 - the same again
    ids = [f"arg-{number}" for number in range(DOCUMENTS)]
    topics = ids[:TOPICS]
    qrels = {
        topic: {one: draw.choice((0, 1, 1, 2)) for one in draw.sample(ids, 6)} for topic in topics
    }
    for topic in topics:
        qrels[topic].pop(topic, None)
        qrels[topic].setdefault(draw.choice(ids[TOPICS:]), 1)
    for topic in topics[::10]:
        qrels[topic][topic] = 1
    runs: dict[str, Pairs] = {}
    for name, share in (("dense", 0.9), ("lexical", 0.5)):
        runs[name] = {}
        for topic in topics:
            listed = draw.sample([one for one in ids if one != topic], LISTED)
            place = 0 if draw.random() < share else draw.randrange(LISTED)
            if draw.random() < share:
                listed.insert(place, topic)
            # distinct scores: no tie is broken by docids
            runs[name][topic] = {one: 100.0 - rank for rank, one in enumerate(listed)}
    return qrels, runs


def beir_values() -> dict[str, object]:
    """Return BEIR's means by run and measure, with and without the documents of the topics."""
    from beir.retrieval.evaluation import EvaluateRetrieval

    means: dict[str, dict[str, dict[str, float]]] = {}
    for ignored in (True, False):
        qrels, runs = collection()  # which BEIR changes
        means["ignored" if ignored else "kept"] = {
            name: {
                measure: mean
                for part in EvaluateRetrieval.evaluate(
                    qrels, run, list(CUTOFFS), ignore_identical_ids=ignored
                )
                for measure, mean in part.items()
            }
            for name, run in runs.items()
        }
    return {"beir": version("beir"), "means": means}


if __name__ == "__main__":
    STORED.write_text(json.dumps(beir_values(), indent=2) + "\n", encoding="utf-8")
