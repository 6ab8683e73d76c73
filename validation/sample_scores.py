"""Scores of the sample collection for the R scripts: one row per topic, one column per run.

python validation/sample_scores.py
"""

from __future__ import annotations

import warnings
from pathlib import Path

import confir
from confir.errors import ConfirWarning

INPUTS = Path(__file__).parent / "inputs"
MEASURES = ("AP", "P@10")


def sample_tables() -> dict[str, str]:
    """Return the text of each table by measure; numbers have all their digits."""
    sample = confir.sample_collection()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConfirWarning)
        scores = confir.evaluate(sample.qrels, sample.runs, list(MEASURES))
    tables = {}
    for place, measure in enumerate(scores.measures):
        rows = zip(scores.topics, scores.values[:, :, place].tolist(), strict=True)
        lines = [",".join((topic, *map(repr, values))) for topic, values in rows]
        tables[measure] = "\n".join((",".join(("topic", *scores.runs)), *lines)) + "\n"
    return tables


def main() -> None:
    """Write the tables."""
    INPUTS.mkdir(exist_ok=True)
    for measure, text in sample_tables().items():
        (INPUTS / f"sample_{measure}.csv").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
