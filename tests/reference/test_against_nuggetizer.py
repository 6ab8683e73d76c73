"""Scores of assigned nuggets against nuggetizer's own code."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

import confir

VALIDATION = Path(__file__).parents[2] / "validation"
STORED = json.loads((VALIDATION / "reference_values" / "nuggetizer.json").read_text())
RECORDS = runpy.run_path(str(VALIDATION / "nuggetizer_values.py"))["records"]()
MEASURES = ("strict_vital", "strict_all", "vital", "all")


@pytest.fixture
def assignments(tmp_path):
    path = tmp_path / "assignments.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in RECORDS))
    return path


def test_every_answer_has_the_scores_of_nuggetizer(assignments):
    scores = confir.read_scores(assignments)
    assert scores.measures == MEASURES
    assert scores.runs == tuple(STORED["scores"])
    for place, run in enumerate(scores.runs):
        expected = {one["qid"]: one for one in STORED["scores"][run]}
        assert set(expected) == set(scores.topics)
        for row, topic in enumerate(scores.topics):
            found = scores.values[row, place].tolist()
            assert found == [expected[topic][f"{name}_score"] for name in MEASURES]
    means = [[STORED["means"][run][f"{name}_score"] for name in MEASURES] for run in scores.runs]
    np.testing.assert_allclose(scores.mean(), means, rtol=1e-12)


def test_metrics_of_nuggetizer_are_the_same_scores_named_by_their_file(assignments, tmp_path):
    whole = confir.read_scores(assignments)
    paths = []
    for run in whole.runs:
        lines = [*STORED["scores"][run], STORED["means"][run]]  # the last is the summary "all"
        paths.append(tmp_path / f"{run}.jsonl")
        paths[-1].write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    found = confir.read_scores(paths)
    assert (found.runs, found.measures, found.topics) == (whole.runs, whole.measures, whole.topics)
    np.testing.assert_array_equal(found.values, whole.values)
