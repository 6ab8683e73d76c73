"""Exclusion of documents with the id of their topic, against BEIR's own code."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

import confir

VALIDATION = Path(__file__).parents[2] / "validation"
collection = runpy.run_path(str(VALIDATION / "beir_values.py"))["collection"]
NAMES = {"NDCG": "nDCG", "MAP": "AP", "Recall": "R", "P": "P"}


@pytest.mark.parametrize(("part", "excluded"), [("ignored", True), ("kept", False)])
@pytest.mark.filterwarnings("ignore::confir.errors.InputWarning")
def test_means_are_those_of_beir(part, excluded):
    stored = json.loads((VALIDATION / "reference_values" / "beir.json").read_text())["means"][part]
    qrels, runs = collection()
    names = list(next(iter(stored.values())))
    measures = [f"{NAMES[name.partition('@')[0]]}@{name.partition('@')[2]}" for name in names]
    means = confir.evaluate(qrels, runs, measures, exclude_identical=excluded).mean()
    expected = [[stored[run][name] for name in names] for run in runs]
    # BEIR rounds means to five digits
    np.testing.assert_allclose(means, expected, atol=0.5e-5 + 1e-12)
