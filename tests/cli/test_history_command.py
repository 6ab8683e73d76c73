"""``confir compare --history``, ``--junit`` and ``confir history``."""

import errno
import importlib
import json
import xml.etree.ElementTree as ET

import pytest

from confir.studies.history.looks import passing_loss


@pytest.fixture
def gate(confir_command, sample_files, tmp_path, monkeypatch):
    """A function that runs a gate on two runs of the sample, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT", "SOURCE_DATE_EPOCH"):
        monkeypatch.delenv(name, raising=False)
    runs = [sample_files / "runs" / f"{name}.txt" for name in ("bm25", "tfidf")]

    def run(*options, measures="nDCG@10"):
        return confir_command(
            *("compare", sample_files / "qrels.txt", *runs, "--baseline", "bm25", "--quiet"),
            *("-m", "nDCG@10", "--fail-if-worse", measures, *options),
        )

    return run


def looks(path="history.jsonl"):
    with open(path, encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def test_each_look_is_kept_with_commit_and_date(gate, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.setenv("GITHUB_SHA", "f00")
    outcome = gate("--history", "history.jsonl", measures="nDCG@10,AP")
    assert outcome.code == 1
    assert "look 1: its intervals have level 97.0%" in outcome.out
    gate("--history", "history.jsonl", "--commit", "own")
    kept = looks()
    assert [(one["look"], one["commit"], one["measure"]) for one in kept] == [
        (1, "f00", "nDCG@10"),
        (1, "f00", "AP"),
        (2, "own", "nDCG@10"),
    ]
    assert {one["date"] for one in kept} == {"1970-01-01T00:00:00+00:00"}


@pytest.mark.parametrize("kind", ["candidates", "topics"])
def test_a_look_has_no_second_verdict_beside_it(gate, kind):
    outcome = gate("--history", f"{kind}.jsonl", "--looks", kind)
    assert "gate " in outcome.out
    assert "significantly better" not in outcome.out
    assert "simultaneous" not in outcome.out
    assert "significantly" in gate().out


def fail_to_write(monkeypatch, ending):
    """Let files of an ending not be written, as on a full disk."""
    whole_files = importlib.import_module("confir.data.files")
    replace = whole_files.replace_file

    def failing(target, content):
        if str(target).endswith(ending):
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(target, content)

    monkeypatch.setattr("confir.data.files.replace_file", failing)


@pytest.mark.parametrize("failing", [".csv", ".xml", ".provenance.json"])
@pytest.mark.parametrize("earlier", [False, True])
def test_a_command_that_fails_spends_no_look(gate, monkeypatch, tmp_path, failing, earlier):
    if earlier:
        gate("--history", "history.jsonl")
    before = looks() if earlier else None
    fail_to_write(monkeypatch, failing)
    outcome = gate(
        *("--history", "history.jsonl", "--junit", "gate.xml", "-o", "means.csv", "--provenance")
    )
    assert (outcome.code, "No space left" in outcome.err) == (2, True)
    assert not (tmp_path / "gate.xml").exists()
    assert (tmp_path / "history.jsonl").exists() == earlier
    assert not earlier or looks() == before


def test_a_look_that_cannot_be_kept_leaves_no_junit(gate, monkeypatch, tmp_path):
    def failing(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("confir.studies.history.history_file.append_content", failing)
    outcome = gate("--history", "history.jsonl", "--junit", "gate.xml")
    assert outcome.code == 2
    assert "history.jsonl: cannot be written (No space left on device)" in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_may_become_a_history_and_stays_where_that_fails(gate, monkeypatch, tmp_path):
    (tmp_path / "history.jsonl").write_text("")
    with monkeypatch.context() as patch:
        fail_to_write(patch, ".csv")
        assert gate("--history", "history.jsonl", "-o", "means.csv").code == 2
    assert (tmp_path / "history.jsonl").read_text() == ""
    gate("--history", "history.jsonl")
    assert len(looks()) == 1


@pytest.mark.parametrize("given", ["x", "-1", "²", "1e9", "9" * 12, "9" * 99, " 1", "1_0", "٣"])
def test_a_date_that_is_none_is_named(gate, monkeypatch, tmp_path, given):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", given)
    outcome = gate("--history", "history.jsonl")
    assert outcome.code == 2
    assert outcome.err == (
        f"confir: error: SOURCE_DATE_EPOCH is {given!r}; expected seconds since 1970, such as "
        "1767225600\n"
    )
    assert not list(tmp_path.iterdir())


def test_every_command_names_a_date_that_is_none(confir_command, monkeypatch):
    """Packages read it, too: numpy would end in a traceback."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "²")
    outcome = confir_command("chance", "--documents", 10, "--relevant", 1)
    assert (outcome.code, "SOURCE_DATE_EPOCH is '²'; expected" in outcome.err) == (2, True)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "")
    assert confir_command("chance", "--documents", 10, "--relevant", 1).code == 0


def test_a_history_is_printed_and_drawn(gate, confir_command):
    gate("--history", "history.jsonl", "--commit", "c1", measures="nDCG@10,AP")
    shown = confir_command("history", "history.jsonl", "-m", "AP", "--run", "tfidf")
    assert shown.code == 0
    first = shown.out.splitlines()[1].split()
    assert first[2:7] == ["c1", "AP", "tfidf", "bm25", "fails"]
    assert "1 look, 1 with a candidate that fails" in shown.out
    records = json.loads(confir_command("history", "history.jsonl", "--format", "json").out)
    assert records == looks()
    assert confir_command("history", "history.jsonl", "-o", "trend.svg").code == 0


def test_the_gate_is_written_as_junit(gate):
    outcome = gate("--junit", "gate.xml", "--margin", 0.005)
    assert outcome.code == 1
    root = ET.parse("gate.xml").getroot()  # noqa: S314 - our own file
    (suite,) = root
    assert (root.get("tests"), root.get("failures"), suite.get("name")) == (
        *("1", "1"),
        "nDCG@10 against bm25",
    )
    (case,) = suite
    assert (case.get("classname"), case.get("name")) == ("nDCG@10", "tfidf")
    failure = case.find("failure")
    assert failure.get("message").endswith("is significantly below -0.005")
    assert failure.text.endswith("significantly worse")


def test_names_are_escaped_in_junit(confir_command, sample_files, tmp_path):
    odd = '<script>&"\x1b\uffff'
    runs = sample_files / "runs"
    outcome = confir_command(
        *("compare", sample_files / "qrels.txt", runs / "bm25.txt", f"{odd}={runs / 'hybrid.txt'}"),
        *("--baseline", "bm25", "-m", "AP", "--fail-if-worse", "AP", "--quiet"),
        *("--junit", tmp_path / "gate.xml"),
    )
    assert outcome.code == 0, outcome.err
    (case,) = ET.parse(tmp_path / "gate.xml").getroot()[0]  # noqa: S314 - our own file
    assert case.get("name") == '<script>&"��'
    assert case.find("failure") is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--commit", "c1"), "--commit, --looks and --new-baseline need --history FILE"),
        (("--looks", "topics"), "--commit, --looks and --new-baseline need --history FILE"),
        (("--history", "no/where.jsonl"), "no/where.jsonl: cannot be written (no such folder)"),
        (
            ("--junit", "thesis.tex"),
            "thesis.tex: the gate is written as JUnit XML; expected a name",
        ),
        (("--history", "x.csv", "-o", "x.csv"), "two results cannot go to the same file"),
        (("--history", "h.jsonl", "--method", "bca"), "intervals by the method 'bca' need"),
    ],
)
def test_options_that_do_not_fit_are_named(gate, options, message, tmp_path):
    outcome = gate(*options)
    assert outcome.code == 2
    assert message in outcome.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", ["--history", "--junit"])
def test_what_is_kept_is_of_a_gate(confir_command, sample_files, option, tmp_path):
    runs = sample_files / "runs"
    given = (sample_files / "qrels.txt", runs / "bm25.txt", runs / "tfidf.txt")
    outcome = confir_command("compare", *given, "--baseline", "bm25", option, tmp_path / "x.xml")
    assert outcome.code == 2
    assert f"{option} needs --fail-if-worse: it belongs to a gate" in outcome.err


def test_a_history_that_is_none_is_an_error(confir_command, tmp_path):
    assert (
        "expected FILE; for example: confir history history.jsonl" in confir_command("history").err
    )
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    outcome = confir_command("history", tmp_path / "table.csv")
    assert outcome.code == 2
    assert "table.csv:1: no JSON object; expected a line that --history wrote" in outcome.err
    outcome = confir_command("history", tmp_path / "table.csv", "-o", tmp_path / "table.csv")
    assert "the command reads this file" in outcome.err


def test_a_history_is_written_as_a_page_with_chart_means_levels_and_the_loss_that_passes(
    gate, confir_command, monkeypatch, tmp_path
):
    for number, (seconds, margin) in enumerate(((86_400, "0.5"), (864_000, "0")), start=1):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(seconds))
        gate("--history", "history.jsonl", "--commit", f"<b>{number}", "--margin", margin)
    assert confir_command("history", "history.jsonl", "-o", "trend.html").code == 0
    page = (tmp_path / "trend.html").read_text(encoding="utf-8")
    _, last = looks()
    assert "Look 2: tfidf fails by nDCG@10." in page
    means = f"bm25 {last['against_mean']:.3f} → tfidf {last['mean']:.3f}, −"
    assert f"<li>nDCG@10: {means}" in page
    assert last["mean"] - last["against_mean"] == pytest.approx(last["difference"])
    assert (
        "1 of 2 looks failed (look 2): a candidate fails if it is significantly worse than bm25."
        in page
    )
    assert "Look 2 was decided at level 99.2%, and the next one will be at 99.7%, so that" in page
    loss = (last["look_high"] - last["look_low"]) / 2
    assert f"an observed loss of up to {loss:.3f} would pass." in page
    assert "<svg" in page
    for words in ("1970-01-02", "1970-01-11", "fails", "passes", "#D55E00"):
        assert words in page.partition("</svg>")[0]
    assert "&lt;b&gt;2" in page
    assert "<b>" not in page
    assert "<script" not in page


@pytest.mark.parametrize(
    ("require", "low", "high", "loss"),
    [
        ("not-worse", -0.06, 0.02, 0.05),
        ("non-inferior", -0.06, 0.02, -0.03),
        ("superior", -0.06, 0.02, -0.04),
        ("not-worse", None, None, float("nan")),
    ],
)
def test_the_loss_that_passes_follows_from_rule_margin_and_width(require, low, high, loss):
    record = {"require": require, "margin": 0.01, "look_low": low, "look_high": high}
    assert passing_loss(record) == pytest.approx(loss, nan_ok=True)


def test_a_history_of_an_earlier_version_has_no_means(gate, confir_command, tmp_path):
    gate("--history", "history.jsonl")
    (line,) = looks()
    for name in ("mean", "against_mean"):
        del line[name]
    (tmp_path / "history.jsonl").write_text(json.dumps(line) + "\n")
    (record,) = json.loads(confir_command("history", "history.jsonl", "--format", "json").out)
    assert record["mean"] is None
    assert confir_command("history", "history.jsonl", "-o", "trend.html").code == 0
    line["mean"] = "high"
    (tmp_path / "history.jsonl").write_text(json.dumps(line) + "\n")
    outcome = confir_command("history", "history.jsonl")
    assert (outcome.code, "mean is 'high'" in outcome.err) == (2, True)


def test_what_changes_between_looks_is_said_before_the_verdict(gate, confir_command, sample_files):
    gate("--history", "history.jsonl", "--commit", "c1")
    assert "have changed" not in gate("--history", "history.jsonl", "--commit", "c2").out
    runs = [sample_files / "runs" / f"{name}.txt" for name in ("bm25", "tfidf")]
    lines = (sample_files / "qrels.txt").read_text().splitlines(keepends=True)
    last = lines[-1].split()[0]
    with open("other.txt", "w", encoding="utf-8") as stream:
        stream.writelines(line for line in lines if line.split()[0] != last)

    def with_other_qrels(*options):
        return confir_command(
            *("compare", "other.txt", *runs, "--baseline", "bm25", "-m", "nDCG@10", "--quiet"),
            *("--fail-if-worse", "nDCG@10", "--history", "history.jsonl", *options),
        )

    outcome = with_other_qrels("--commit", "c3", "--junit", "gate.xml")
    caution = (
        "since look 2, other things than the candidates have changed: the qrels, the topics (50 before, "
        "now 49); the difference may have moved for that reason, and --new-baseline begins a new sequence"
    )
    assert outcome.out.index(caution) < outcome.out.index("gate closed")
    (cautioned,) = ET.parse("gate.xml").getroot().iter("property")  # noqa: S314 - our own file
    assert cautioned.get("value").startswith(caution)
    assert "have changed" not in with_other_qrels("--commit", "c4").out
    written = with_other_qrels("--commit", "c5", "-o", "summary.md")
    assert "have changed" not in written.err
    gate("--history", "history.jsonl", "-o", "summary.md")
    with open("summary.md", encoding="utf-8") as stream:
        assert "now 50" in stream.read().partition("| candidate")[0]
    shown = confir_command("history", "history.jsonl").out
    assert "since look 2, other things than the candidates have changed: the qrels, the" in shown


def test_a_new_baseline_begins_a_new_sequence_in_the_same_file(gate, confir_command):
    for commit in ("c1", "c2"):
        gate("--history", "history.jsonl", "--commit", commit)
    outcome = gate("--history", "history.jsonl", "--commit", "c3", "--new-baseline")
    assert "look 3 (1 of the sequence that began at look 3): its intervals have level 97.0%" in (
        outcome.out
    )
    gate("--history", "history.jsonl", "--commit", "c3", "--new-baseline")  # the build runs again
    gate("--history", "history.jsonl", "--commit", "c4")
    kept = looks()
    assert [(one["look"], one["first_look"]) for one in kept] == [(1, 1), (2, 1), (3, 3), (4, 3)]
    assert kept[2]["look_level"] == kept[0]["look_level"] < kept[3]["look_level"]
    assert kept[3]["look_level"] == kept[1]["look_level"]
    table = confir_command("history", "history.jsonl").out.splitlines()
    assert [line.split()[1] for line in table[1:5]] == ["1", "2", "1", "2"]
    gate("--history", "history.jsonl", "--looks", "topics", "--new-baseline")
    assert looks()[-1]["looks"] == "topics"


def test_a_history_without_digests_is_still_read_and_continued(gate, confir_command, tmp_path):
    gate("--history", "history.jsonl", "--commit", "c1")
    (line,) = looks()
    old = {
        key: value
        for key, value in line.items()
        if not key.endswith("_digest") and key not in ("first_look", "confir_version")
    }
    (tmp_path / "history.jsonl").write_text(json.dumps(old) + "\n")
    assert "have changed" not in gate("--history", "history.jsonl", "--commit", "c2").out
    assert looks()[-1]["look_level"] > line["look_level"]
    records = json.loads(confir_command("history", "history.jsonl", "--format", "json").out)
    assert [one["first_look"] for one in records] == [1, 1]
    assert [one["confir_version"] is None for one in records] == [True, False]
    old |= {"first_look": 2}
    (tmp_path / "history.jsonl").write_text(json.dumps(old) + "\n")
    assert "first_look 2 comes after look 1" in confir_command("history", "history.jsonl").err
