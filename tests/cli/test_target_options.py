"""confir evaluate with targets: outcomes, exit codes, JUnit, Markdown, and options that do not fit."""

import json
from xml.etree import ElementTree as ET

import pytest

TABLE = "topic,run,AP\n" + "".join(
    f"{topic},{run},{score + topic % 5 / 50:.3f}\n"
    for topic in range(20)
    for run, score in (("good", 0.8), ("fair", 0.55), ("poor", 0.2))
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(TABLE)
    return path


def test_outcomes_are_said_before_the_table(confir_command, table):
    found = confir_command("evaluate", "--scores", table, "--at-least", "AP=0.585", "--quiet")
    first, second, third, step = found.out.splitlines()[:4]
    assert found.code == 0
    assert first.startswith("good reaches 0.585 in AP (0.840, ")
    assert second.startswith("fair: whether it reaches 0.585 in AP is inconclusive (0.590, ")
    assert third.startswith("poor misses 0.585 in AP (0.240, ")
    assert step.startswith("These 20 topics would show a true distance from the target of 0.")


@pytest.mark.parametrize(
    ("runs", "options", "code", "said"),
    [
        ("good,fair", (), 0, "gate open: no run misses 0.585 in AP"),
        ("good,fair", ("--require", "reached"), 1, "gate closed: fair: whether it reaches 0.585"),
        ("good", ("--require", "reached"), 0, "gate open: every run reaches 0.585 in AP"),
        ("good,poor", (), 1, "gate closed: poor misses 0.585 in AP"),
    ],
)
def test_a_gate_decides_by_exit_code_and_says_why(
    confir_command, table, tmp_path, runs, options, code, said
):
    chosen = [word for run in runs.split(",") for word in ("--select", run)]
    words = (
        "evaluate",
        "--scores",
        table,
        *chosen,
        "--fail-below",
        "AP=0.585",
        *options,
        "--quiet",
    )
    found = confir_command(*words)
    assert found.code == code
    assert found.out.splitlines()[0].startswith(said)
    written = confir_command(*words, "--junit", tmp_path / "gate.xml", "-o", tmp_path / "gate.md")
    assert written.code == code
    assert f"confir: {said}" in written.err
    outcome = "closed" if code else "open"
    assert f"### Gate {outcome}: AP" in (tmp_path / "gate.md").read_text()
    suite = ET.parse(tmp_path / "gate.xml").getroot()  # noqa: S314 - written by confir
    assert int(suite.get("failures")) == code
    assert int(suite.get("tests")) == len(runs.split(","))


def test_several_targets_share_the_level(confir_command, table):
    words = ("--at-least", "AP=0.3", "--fail-below", "AP=0.1", "--format", "json", "--quiet")
    records = json.loads(confir_command("evaluate", "--scores", table, *words).out)
    assert [record["target"] for record in records] == [0.3] * 3 + [0.1] * 3
    assert [record["level"] for record in records] == pytest.approx([1 - 0.05 / 6] * 6)
    assert [record["verdict"] for record in records[:3]] == ["reached", "reached", "missed"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--junit", "x.xml"), "--junit needs --fail-below MEASURE=TARGET"),
        (("--require", "reached"), "--require needs --fail-below MEASURE=TARGET"),
        (("--at-least", "AP"), "--at-least is 'AP'; expected MEASURE=TARGET"),
        (("--at-least", "AP=0.5", "--show", "topics"), "no effect on --show topics"),
        (("--show", "targets"), "--show targets needs --at-least"),
        (("--at-least", "AP=0.5", "--baseline", "good"), "--baseline"),
        (("--at-least", "AP=0.5", "--missing", "drop"), "--missing drop has no effect on targets"),
        (("--at-least", "AP=0.5", "--method", "t", "--method", "bca"), "targets take one --method"),
        (("--at-least", "AP=1.5"), "expected a number between 0 and 1"),
    ],
)
def test_options_that_do_not_fit_are_refused(confir_command, table, options, message):
    found = confir_command("evaluate", "--scores", table, *options)
    assert found.code == 2
    assert message in found.err
