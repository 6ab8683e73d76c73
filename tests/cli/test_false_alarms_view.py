"""``confir compare --show false-alarms``: the three lines, its history and its page."""

import json

import numpy as np
import pytest

from confir.studies.gate.false_alarms import EQUAL, FAILING, SPREAD, SWAPPED


@pytest.fixture
def gate(confir_command, sample_files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs = [sample_files / "runs" / f"{name}.txt" for name in ("bm25", "dense")]

    def run(*options):
        return confir_command(
            *("compare", sample_files / "qrels.txt", *runs, "--baseline", "bm25", "-m", "AP"),
            *("--fail-if-worse", "AP", "--show", "false-alarms", *options),
        )

    return run


def test_the_command_prints_all_three_lines(gate):
    said = " ".join(gate().out.split())
    assert "were the runs interchangeable on every topic" in said.lower()
    assert "With equal means and the skew of these differences, it would stop" in said
    assert "spread in proportion would be caught in" in said
    assert "; the loss caught in 80% is 0.0" in said
    refused = " ".join(gate("--require", "non-inferior", "--margin", 0.03).out.split())
    assert "of equal candidates. It would pass a loss of 0.030 of AP in" in refused
    records = json.loads(gate("--format", "json").out)
    assert {one["data"] for one in records} == {SWAPPED, EQUAL, SPREAD, FAILING}
    assert gate("-o", "chart.svg").code == 0


def test_a_history_is_simulated_at_the_level_of_the_look_and_keeps_the_lines(gate, confir_command):
    gate("--history", "history.jsonl", "--commit", "c1")
    second = gate("--history", "history.jsonl", "--commit", "c2", "--format", "json")
    (level,) = {one["level"] for one in json.loads(second.out)}
    assert level == pytest.approx(1 - 0.05 * 6 / (4 * np.pi**2))
    with open("history.jsonl", encoding="utf-8") as stream:
        first, last = (json.loads(line)["false_alarms"] for line in stream)
    assert first["swapped"][0] > last["swapped"][0]
    assert confir_command("history", "history.jsonl", "-o", "page.html").code == 0
    with open("page.html", encoding="utf-8") as stream:
        page = stream.read()
    assert "At the level of look 2: were the runs interchangeable" in page
    assert f"would be caught in {100 * last['spread_loss'][0]:.1f}%" in page
    refused = gate("--history", "arriving.jsonl", "--looks", "topics")
    assert (
        refused.code,
        "--show false-alarms is for a gate on the same topics" in refused.err,
    ) == (*(2, True),)
