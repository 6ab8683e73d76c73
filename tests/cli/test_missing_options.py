"""Missing scores of score tables: --missing, --show missing, --bounds, and gates."""

import json

import numpy as np
import pytest


@pytest.fixture
def failing(tmp_path):
    """A table in which the judge failed on the answers of x that are worst."""
    rng = np.random.default_rng(2)
    base = rng.uniform(0.3, 0.7, 40)
    worse = base + rng.normal(0.02, 0.2, 40)
    lines = ["topic,base,x"]
    lost = np.argsort(worse)[:8]
    for topic in range(40):
        cell = "" if topic in lost else f"{np.clip(worse[topic], 0, 1):.4f}"
        lines.append(f"t{topic:02d},{base[topic]:.4f},{cell}")
    path = tmp_path / "judged.faithfulness.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_commands_show_bounds_shares_and_unequal_failure(confir_command, failing):
    refused = confir_command("evaluate", "--scores", failing, "--show", "missing")
    assert refused.code == 2
    assert (
        "is not known; expected --bounds 'score=LOW,HIGH' (bounds=), such as 'score=0,1'"
        in refused.err
    )
    given = ("--scores", failing, "--show", "missing", "--bounds", "0,1")
    shown = confir_command("evaluate", *given)
    lines = [line.split() for line in shown.out.splitlines()]
    assert ["x", "missing", "20.0%"] in lines
    assert (
        "failing is not the same for all runs: x alone lacks score on 8 topics, base" in shown.out
    )
    records = json.loads(confir_command("evaluate", *given, "--format", "json").out)
    assert {one["run"]: one["missing"] for one in records} == {"base": 0.0, "x": 0.2}
    differences = confir_command("compare", *given, "--baseline", "base", "--format", "json")
    (found,) = json.loads(differences.out)
    assert found["lowest"] < found["difference"] < found["highest"]
    assert (found["verdict"], found["robust"]) == ("better", False)
    for command in ("evaluate", "compare"):
        plain = confir_command(command, "--scores", failing)
        assert "run 'x' lacks 8 of 40 topics (20%: t" in plain.err
        assert "failing is not the same for all runs: x alone lacks score on 8 topics" in plain.err


def test_missing_scores_of_tables_are_treated_as_asked(confir_command, failing):
    def mean(*options):
        out = confir_command("evaluate", "--scores", failing, "--format", "json", *options).out
        return {record["run"]: record["mean"] for record in json.loads(out)}

    dropped = mean()
    assert mean("--missing", "drop") == dropped
    assert mean("--missing", "zero")["x"] == pytest.approx(dropped["x"] * 32 / 40)
    worst = mean("--missing", "worst", "--bounds", "score=-1,1")
    assert worst["x"] == pytest.approx(dropped["x"] * 32 / 40 - 8 / 40)
    refused = confir_command("compare", "--scores", failing, "--missing", "error")
    assert refused.code == 2
    assert "run 'x' lacks 8 of 40 topics (20%: t" in refused.err
    assert (
        "--missing worst needs --baseline"
        in confir_command("compare", "--scores", failing, "--missing", "worst").err
    )
    for text in ("1,0", "0", "a,b", "score=0,1,2"):
        outcome = confir_command(
            "evaluate", "--scores", failing, "--missing", "worst", "--bounds", text
        )
        assert (outcome.code, "expected LOW,HIGH or MEASURE=LOW,HIGH" in outcome.err) == (2, True)


def test_a_gate_on_a_score_table_does_not_open_for_hidden_failures(
    confir_command, failing, tmp_path
):
    gate = (
        "compare",
        "--scores",
        failing,
        "--baseline",
        "base",
        "--fail-if-worse",
        "score",
        "--bounds",
        "0,1",
    )
    refused = confir_command(*gate)
    assert refused.code == 2
    assert (
        "base or x lacks score on 8 of 40 topics (20%), more than 10%: the gate cannot"
        in refused.err
    )
    dropped = confir_command(*gate, "--missing", "drop", "-o", tmp_path / "summary.md")
    assert dropped.code == 0
    assert (
        "base or x lacks score on 8 of 40 topics (20%), left out"
        in ((tmp_path / "summary.md").read_text().partition("| candidate")[0])
    )
    worst = confir_command(*gate, "--missing", "worst", "--require", "superior")
    assert worst.code == 1
    assert worst.out.index("missing scores count at their worst") < worst.out.index("gate closed")
    assert confir_command(*gate, "--missing", "drop", "--require", "superior").code == 0


def test_tables_of_other_qrels_topics_or_versions_are_named_before_any_verdict(
    confir_command, sample_files, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    lines = (sample_files / "qrels.txt").read_text().splitlines(keepends=True)
    last = lines[-1].split()[0]
    (tmp_path / "other.txt").write_text("".join(x for x in lines if x.split()[0] != last))
    for name, qrels in (("bm25", sample_files / "qrels.txt"), ("dense", "other.txt")):
        run = sample_files / "runs" / f"{name}.txt"
        written = ("-m", "AP", "-q", "-o", f"{name}.csv", "--provenance", "--quiet")
        assert confir_command("evaluate", qrels, run, *written).code == 0
    tables = ("--scores", "bm25.csv", "--scores", "dense.csv")
    for options in ((), ("--baseline", "bm25")):
        said = confir_command("compare", *tables, *options).out
        assert said.startswith("The tables were computed with other qrels (bm25.csv: ")
        assert "Not all runs have the same topics: run 'dense' lacks 1 of 50 topics (2%: " in said
        assert said.index("pairs are compared on those that both have") < said.index("95%")
    origin = json.loads((tmp_path / "dense.csv.provenance.json").read_text())
    (tmp_path / "dense.csv.provenance.json").write_text(json.dumps(origin | {"confir": "0.1.0"}))
    assert "with other versions of confir (bm25.csv: " in confir_command("compare", *tables).out
    (tmp_path / "dense.csv.provenance.json").write_text("[")
    assert "were computed with" not in confir_command("compare", *tables).out
