"""``confir reproduce`` as a user runs it."""

import json
from xml.etree import ElementTree as ET

import pytest

QRELS = "".join(f"{t} 0 r{d} 1\n" for t in range(12) for d in range(3))


def lines(order, *, swapped=0):
    """A run of twelve topics; on the first ones, the first two documents change places."""
    text = ""
    for topic in range(12):
        listed = list(order)
        if topic < swapped:
            listed[:2] = listed[1::-1]
        text += "".join(f"{topic} Q0 {d} 1 {9 - n} x\n" for n, d in enumerate(listed))
    return text


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new").mkdir()
    order = ("r0", "x", "r1", "r2", "y")
    for name, content in {
        "qrels.txt": QRELS,
        "bm25.run": lines(order),
        "new/bm25.run": lines(order),
        "near.run": lines(order, swapped=1),
        "far.run": lines(("x", "r2", "y", "z", "r1"), swapped=5),
        "base.run": lines(("x", "r0", "y"), swapped=4),
    }.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def test_lists_alone(confir_command, files):  # noqa: ARG001 - a fixture that acts
    outcome = confir_command("reproduce", "bm25.run", "new/bm25.run", "near.run")
    assert outcome.code == 0
    rows = [line.split() for line in outcome.out.splitlines()[1:3]]
    assert rows[0] == ["bm25", "identical", "lists", "100.0%", "1.0000", "1.0000"]
    assert rows[1][:4] == ["near", "different", "lists", "91.7%"]
    assert "compared with bm25 (original): share of identical ones among 12 topics" in outcome.out


def test_scores_too(confir_command, files):  # noqa: ARG001
    words = ("reproduce", "bm25.run", "near.run", "far.run", "--qrels", "qrels.txt", "-m", "AP,RR")
    outcome = confir_command(*words, "--baseline-runs", "base.run", "base.run", "--format", "json")
    records = json.loads(outcome.out)
    assert [(r["run"], r["measure"], r["verdict"]) for r in records] == [
        *(("near", "AP", "inconclusive"), ("near", "RR", "inconclusive")),
        *(("far", "AP", "different"), ("far", "RR", "different")),
    ]
    assert records[0]["largest_topic"] == "0"
    assert records[2]["effect_ratio"] < records[0]["effect_ratio"] < 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("new/bm25.run",), 0, "gate open: bm25 (original) is reproduced"),
        (("near.run",), 1, "gate closed: near by lists: different lists: 91.67% of 12 lists"),
        (("near.run", "--qrels", "qrels.txt"), 0, "gate open: bm25 is reproduced"),
        (("near.run", "--qrels", "qrels.txt", "--margin", "0.1"), 0, "gate open"),
        (("near.run", "--qrels", "qrels.txt", "--margin", "0.01"), 1, "near by AP: inconclusive"),
        (
            ("far.run", "--qrels", "qrels.txt"),
            1,
            "gate closed: far by AP: different: difference -0.",
        ),
        (("new/bm25.run", "--qrels", "qrels.txt", "--margin", "0.001"), 0, "gate open"),
    ],
)
def test_the_gate(confir_command, files, words, code, said):
    measure = ("-m", "AP") if "--qrels" in words else ()
    outcome = confir_command(
        *("reproduce", "bm25.run", *words, *measure, "--fail-if-different", "--junit", "gate.xml")
    )
    assert outcome.code == code, outcome.err
    assert said in outcome.err
    suites = ET.parse(files / "gate.xml").getroot()  # noqa: S314 - our own
    assert (suites.get("tests"), suites.get("failures")) == ("1", str(code))
    failures = suites.findall(".//failure")
    assert [one.get("type") for one in failures] == ["different"] * code


def test_hostile_names_in_junit(confir_command, files):
    name = "<a&b>"
    outcome = confir_command(
        *("reproduce", f"{name}=bm25.run", f"{name}\x1b=near.run"),
        *("--fail-if-different", "--junit", "gate.xml"),
    )
    assert outcome.code == 1
    case = ET.parse(files / "gate.xml").getroot().find(".//testcase")  # noqa: S314
    assert case.get("name").startswith(name)
    assert "\x1b" not in outcome.out + outcome.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("bm25.run",), "expected ORIGINAL and at least one RUN"),
        (("bm25.run", "near.run", "--junit", "x.xml"), "--junit needs --fail-if-different"),
        (
            ("bm25.run", "near.run", "--fail-if-different", "--junit", "x.txt"),
            "expected a name such as gate.xml",
        ),
        (("bm25.run", "near.run", "-m", "AP"), "--measure requires --qrels"),
        (("bm25.run", "near.run", "--level", ".9"), "--level requires --qrels"),
        (("bm25.run", "near.run", "--margin", "1"), "--margin requires --qrels"),
        (("bm25.run", "near.run", "--ties", "w"), "unknown value of --ties 'w'"),
        (("bm25.run", "near.run", "--persistence", "2"), "persistence is 2.0; expected a number"),
        (("bm25.run", "none.run"), "none.run: no such file"),
        (("bm25.run", "qrels.txt"), "qrels.txt:1: 4 columns"),
        (("bm25.run", "near.run", "--qrels", "qrels.txt", "--margin", "0"), "margin is 0"),
        (("bm25.run", "near.run", "--junit", "near.run"), "the command reads this file"),
    ],
)
def test_what_is_wrong_is_named(confir_command, files, words, message):  # noqa: ARG001
    outcome = confir_command("reproduce", *words)
    assert outcome.code == 2
    assert outcome.err.startswith("confir: error: ")
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
