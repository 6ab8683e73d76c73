"""``confir evaluate`` as a user runs it."""

import csv
import gzip
import io
import json
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

QRELS = "1 0 a 1\n1 0 b 0\n2 0 a 1\n2 0 c 2\n3 0 d 1\n"
RUN = "1 Q0 a 1 3 x\n1 Q0 b 2 2 x\n2 Q0 b 1 3 x\n2 Q0 a 2 2 x\n3 Q0 d 1 1 x\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "good.run").write_text(RUN)
    return tmp_path


def test_prints_a_row_a_run_and_a_column_a_measure_best_first(confir_command, whole_files):
    outcome = confir_command(
        "evaluate", whole_files / "qrels.txt", whole_files / "runs", "-m", "AP"
    )
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0].split() == ["run", "AP"]
    assert lines[1].startswith("rerank")
    assert "0.3776 [0.3077, 0.4535]" in lines[1]
    assert len(lines) == 11
    assert "95% confidence interval (CI) by calibrated-beta, over 50 topics" in lines[-1]
    assert "bm25-rm3" in outcome.err
    assert "lacks 1 topic (135)" in outcome.err


def test_default_measures_are_the_five_of_the_design(confir_command, files):
    outcome = confir_command("evaluate", files / "qrels.txt", files / "good.run")
    assert outcome.out.splitlines()[0].split() == ["run", "AP", "nDCG@10", "P@10", "RR", "R@1000"]


def test_json_holds_the_records_of_the_design(confir_command, files):
    outcome = confir_command(
        "evaluate", files / "qrels.txt", files / "good.run", "-m", "AP", "--format", "json"
    )
    (record,) = json.loads(outcome.out)
    assert list(record) == ["run", "measure", "topics", "mean", "low", "high", "level", "method"]
    assert record["run"] == "good"
    assert record["mean"] == pytest.approx((1 + 0.25 + 1) / 3)
    assert record["topics"] == 3


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "jsonl", "md", "tex", "html", "parquet"])
def test_writes_every_format_by_the_ending_of_the_file(confir_command, files, ending):
    target = files / f"table.{ending}"
    arguments = ["-m", "AP", "-o", target]
    outcome = confir_command("evaluate", files / "qrels.txt", files / "good.run", *arguments)
    assert outcome.code == 0
    assert outcome.out == ""
    if ending == "parquet":
        assert pq.read_table(target).column("run").to_pylist() == ["good"]
    else:
        text = target.read_text()
        assert "good" in text
        assert "0.75" in text


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_draws_a_chart_by_the_ending_of_the_file(confir_command, files, ending):
    target = files / f"chart.{ending}"
    outcome = confir_command(
        "evaluate", files / "qrels.txt", files / "good.run", "-m", "AP", "-o", target
    )
    assert outcome == (0, "", "")
    start = {"svg": b"<svg", "pdf": b"%PDF", "png": b"\x89PNG"}[ending]
    assert target.read_bytes().startswith(start)


def test_per_topic_scores_are_those_of_the_library(confir_command, files):
    outcome = confir_command(
        "evaluate", files / "qrels.txt", files / "good.run", "-m", "AP", "-q", "--format", "csv"
    )
    rows = list(csv.DictReader(io.StringIO(outcome.out)))
    assert [(row["topic"], float(row["score"])) for row in rows] == [
        ("1", 1),
        ("2", 0.25),
        ("3", 1),
    ]
    assert list(rows[0]) == ["run", "measure", "topic", "score"]


def test_ranks_name_the_best_run_and_how_sure_that_is(confir_command, sample_files):
    outcome = confir_command(
        "compare",
        sample_files / "qrels.txt",
        sample_files / "runs",
        "-m",
        "AP",
        *("--show", "ranks"),
        "--format",
        "json",
        "--quiet",
    )
    records = json.loads(outcome.out)
    best = next(record for record in records if record["rank"] == 1)
    assert list(best) == [
        "run",
        "measure",
        "topics",
        "mean",
        "rank",
        "low",
        "high",
        "simultaneous_low",
        "simultaneous_high",
        "borderline",
        "share_first",
    ]
    assert best["run"] == "rerank"
    assert best["share_first"] > 0.99


def test_the_note_below_ranks_says_what_the_share_is(confir_command, sample_files):
    files = (sample_files / "qrels.txt", sample_files / "runs")
    outcome = confir_command("compare", *files, "-m", "AP", "--show", "ranks", "--replicates", 99)
    note = outcome.out.splitlines()[-1]
    assert "share of bootstrap samples of the topics in which the run ranks first" in note


def test_several_methods_stand_side_by_side(confir_command, files):
    outcome = confir_command(
        "evaluate",
        files / "qrels.txt",
        files / "good.run",
        "-m",
        "AP",
        "--method",
        "t",
        "--method",
        "logit-t",
    )
    lines = outcome.out.splitlines()
    assert lines[0].split() == ["run", "method", "AP"]
    assert [line.split()[1] for line in lines[1:3]] == ["t", "logit-t"]


def test_the_seed_is_printed_where_topics_are_resampled(confir_command, files):
    outcome = confir_command(
        "evaluate", files / "qrels.txt", files / "good.run", "-m", "AP", "--method", "percentile"
    )
    assert "9,999 replicates, seed 2006" in outcome.out


def test_a_score_table_replaces_runs(confir_command, real_data):
    table = real_data / "soboroff2014" / "trec_eval_outputs" / "trec8.adhoc_weaver1.eval"
    outcome = confir_command(
        "evaluate", "--scores", table, "-m", "map", "-m", "P_10", "--method", "t"
    )
    assert "0.2175 [0.1484, 0.2866]" in outcome.out
    assert outcome.out.splitlines()[0].split() == ["run", "AP", "P@10"]


RUNS = (("half", 19), ("most", 3))

MIXED = "run,measure,topic,score\n" + "".join(
    f"{run},{measure},{topic},{(topic + shift) / scale}\n"
    for run, shift in (("a", 0), ("b", 1))
    for measure, scale in (("AP", 10), ("NumRet", 1), ("mine", 20))
    for topic in range(1, 7)
)


def test_the_columns_of_a_score_table_can_be_named(confir_command, tmp_path):
    path = tmp_path / "rag.csv"
    path.write_text("qid,strict_vital_score,all_score\n1,0.5,0.25\n2,0.75,1\n")
    columns = "topic=qid,value=strict_vital_score,value=all_score"
    words = ("evaluate", "--scores", path, "--columns", columns, "--format", "csv")
    lines = [line.split(",")[:4] for line in confir_command(*words).out.splitlines()]
    assert lines[1:] == [
        ["rag", "strict_vital_score", "2", "0.625"],
        ["rag", "all_score", "2", "0.625"],
    ]


def test_the_note_names_the_method_of_each_measure_and_what_is_assumed(confir_command, tmp_path):
    (tmp_path / "mixed.csv").write_text(MIXED)
    outcome = confir_command("evaluate", "--scores", tmp_path / "mixed.csv")
    note = outcome.out.splitlines()[-1]
    assert "interval (CI) by calibrated-beta (AP, mine), t (NumRet), over 6 topics; " in note
    assert "mine, unknown to confir, is assumed to lie in [0, 1], as all of its scores do" in note
    alone = confir_command("evaluate", "--scores", tmp_path / "mixed.csv", "-m", "AP")
    assert "assumed" not in alone.out
    row = alone.out.splitlines()[1]
    assert row.split()[:4] == outcome.out.splitlines()[1].split()[:4]


def test_the_note_says_which_means_the_betting_interval_does_not_contain(confir_command, tmp_path):
    """By some orders of topics, which the seed decides, it does not."""
    path = tmp_path / "scores.csv"
    lines = [f"{run},{topic:02},{int(topic > shift)}" for run, shift in RUNS for topic in range(40)]
    path.write_text("\n".join(["run,topic,AP", *lines]))
    options = ("evaluate", "--scores", path, "--method", "betting", "--level", "0.9", "--seed")
    note = confir_command(*options, "62").out.splitlines()[-1]
    assert note.endswith("; the interval by betting does not contain the mean of half AP")
    assert "does not contain" not in confir_command(*options, "1").out


def test_bounded_and_unbounded_decide_on_unknown_measures(confir_command, tmp_path):
    path = tmp_path / "mixed.csv"
    path.write_text(MIXED)
    note = confir_command("evaluate", "--scores", path, "--unbounded").out.splitlines()[-1]
    assert note.endswith("interval (CI) by calibrated-beta (AP), t (NumRet, mine), over 6 topics")
    note = confir_command("evaluate", "--scores", path, "--bounded").out.splitlines()[-1]
    assert note.endswith("interval (CI) by calibrated-beta (AP, mine), t (NumRet), over 6 topics")
    refused = confir_command("evaluate", "--scores", path, "-m", "AP", "--bounded")
    assert refused.code == 2
    assert "--bounded/--unbounded is for measures that confir does not know" in refused.err
    path.write_text(MIXED.replace("mine,6,0.3\n", "mine,6,1.3\n"))
    refused = confir_command("evaluate", "--scores", path, "--bounded")
    assert refused.code == 2
    assert "mine of run 'a' on topic '6' is 1.3; expected a score in [0, 1]" in refused.err


def test_a_score_outside_the_range_of_its_measure_is_an_error_for_every_view(
    confir_command, tmp_path
):
    path = tmp_path / "mixed.csv"
    path.write_text(MIXED.replace("AP,6,0.6\n", "AP,6,60\n"))
    for view in ([], ["-q"], ["--method", "t"]):
        refused = confir_command("evaluate", "--scores", path, *view)
        assert refused.code == 2
        assert "AP of run 'a' on topic '6' is 60; expected a score in [0, 1]" in refused.err


def test_the_first_score_outside_the_range_is_named_with_its_line(confir_command, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("run,topic,AP,NumRet\nA,1,1.2,9\nB,2,4,9\n")
    refused = confir_command("evaluate", "--scores", path)
    problem = "scores.csv:2: AP of run 'A' on topic '1' is 1.2; expected a score in [0, 1]"
    assert problem in refused.err
    other = confir_command("evaluate", "--scores", path, "--select", "B")
    assert "scores.csv:3: AP of run 'B' on topic '2' is 4" in other.err


def test_a_baseline_puts_marks_on_runs_and_explains_them(confir_command, whole_files):
    arguments = ["evaluate", whole_files / "qrels.txt", whole_files / "runs", "-m", "AP"]
    outcome = confir_command(*arguments, "--baseline", "bm25", "--quiet")
    rows = {line.split()[0]: line for line in outcome.out.splitlines()[1:9]}
    assert {run for run, line in rows.items() if line.endswith("▲")} == {
        "rerank",
        "hybrid",
        "splade",
    }
    assert {run for run, line in rows.items() if line.endswith("▼")} == {"tfidf"}
    note = outcome.out.splitlines()[-1]
    assert note.endswith(
        "; ▲ ▼ significantly better, worse than bm25: t test, simultaneous 95% "
        "interval, 7 pairs with bm25"
    )
    wider = confir_command(*arguments, "--baseline", "bm25", "--quiet", "--level", "0.9").out
    assert wider.endswith("bm25: t test, simultaneous 90% interval, 7 pairs with bm25\n")


def test_a_baseline_adds_the_verdicts_of_compare_to_the_records(confir_command, sample_files):
    common = [sample_files / "qrels.txt", sample_files / "runs", "-m", "AP", "-m", "RR"]
    common += ["--baseline", "bm25", "--format", "json", "--quiet", "--level", "0.9"]
    records = json.loads(confir_command("evaluate", *common).out)
    assert list(records[0])[-3:] == ["method", "against", "verdict"]
    assert {record["against"] for record in records} == {"bm25"}
    found = {(r["run"], r["measure"]): r["verdict"] for r in records}
    assert found.pop(("bm25", "AP")) is None
    assert found.pop(("bm25", "RR")) is None
    compared = json.loads(confir_command("compare", *common).out)
    assert found == {(r["run"], r["measure"]): r["verdict"] for r in compared}
    assert {"better", "worse", "inconclusive"} <= set(found.values())


def test_a_baseline_may_be_a_file_that_is_not_among_the_runs(confir_command, whole_files):
    runs = whole_files / "runs"
    outcome = confir_command(
        "evaluate",
        whole_files / "qrels.txt",
        runs / "rerank.txt",
        *("-m", "AP", "--baseline", runs / "tfidf.txt", "--format", "tex"),
    )
    assert "tfidf & 0.108" in outcome.out
    assert r"\rlap{\textsuperscript{\ding{115}}}" in outcome.out
    assert r"{\footnotesize " in outcome.out


def test_a_baseline_is_for_means_only(confir_command, files):
    arguments = ["evaluate", files / "qrels.txt", files / "good.run", "--baseline", "good", "-q"]
    outcome = confir_command(*arguments)
    assert outcome.code == 2
    assert "--baseline has no effect on --show topics" in outcome.err


def test_an_unknown_baseline_is_named(confir_command, sample_files):
    outcome = confir_command(
        "evaluate", sample_files / "qrels.txt", sample_files / "runs", "--baseline", "bm26"
    )
    assert outcome.code == 2
    assert "unknown run 'bm26'; did you mean bm25?" in outcome.err


def test_one_topic_gives_scores_without_intervals(confir_command, tmp_path):
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    (tmp_path / "one.run").write_text("1 Q0 a 1 1 x\n")
    arguments = ["evaluate", tmp_path / "qrels.txt", tmp_path / "one.run", "-m", "AP"]
    outcome = confir_command(*arguments)
    assert outcome.code == 0
    assert "1.0000" in outcome.out
    assert "an interval needs at least 2" in outcome.out
    (record,) = json.loads(confir_command(*arguments, "--format", "json").out)
    assert record["low"] is None


def test_the_number_of_topics_is_reported_for_each_run_where_it_differs(confir_command, files):
    (files / "short.run").write_text("1 Q0 a 1 3 x\n2 Q0 a 1 3 x\n")
    outcome = confir_command(
        "evaluate", files / "qrels.txt", files / "good.run", files / "short.run", "-m", "AP",
        "--missing", "drop",
    )  # fmt: skip
    warning = (
        "run 'short' lacks 1 topic (3) of the qrels, left out of the run's means; the means of the "
        "runs are over different topics"
    )
    assert warning in " ".join(outcome.err.split())
    rows = {line.split()[0]: line.split()[1] for line in outcome.out.splitlines() if line}
    assert (rows["run"], rows["short"], rows["good"]) == ("topics", "2", "3")
    assert "over 2 to 3 topics" in outcome.out


@pytest.fixture
def uneven_table(tmp_path):
    """Two runs of which the worse lacks the hard topic."""
    path = tmp_path / "scores.csv"
    rows = ["a,AP,1,0.1", "a,AP,2,0.8", "a,AP,3,0.9", "b,AP,2,0.7", "b,AP,3,0.8"]
    path.write_text("\n".join(["run,measure,topic,score", *rows]) + "\n")
    return path


def test_a_score_table_with_missing_topics_is_warned_of(confir_command, uneven_table):
    outcome = confir_command("evaluate", "--scores", uneven_table)
    warning = (
        "run 'b' lacks 1 of 3 topics (33%: 1) that other runs have, left out of the run's means; the means of "
        "the runs are over different topics"
    )
    assert warning in " ".join(outcome.err.split())
    assert "over 2 to 3 topics" in outcome.out
    records = json.loads(
        confir_command("evaluate", "--scores", uneven_table, "--format", "json").out
    )
    assert {record["run"]: record["topics"] for record in records} == {"a": 3, "b": 2}


def test_ranks_are_those_on_common_topics(confir_command, uneven_table):
    outcome = confir_command("compare", "--scores", uneven_table, "--show", "ranks")
    assert "runs are ranked by AP on the 2 topics that all of them have, of 3" in " ".join(
        outcome.err.split()
    )
    assert "means and ranks over 2 topics" in outcome.out
    assert outcome.out.splitlines()[1].split()[:3] == ["a", "0.8500", "1"]


def test_missing_topics_can_be_dropped_or_refused(confir_command, files):
    (files / "short.run").write_text("1 Q0 a 1 3 x\n2 Q0 a 1 3 x\n")
    arguments = ["evaluate", files / "qrels.txt", files / "short.run", "-m", "AP"]
    zero = confir_command(*arguments)
    assert "run 'short' lacks 1 topic (3) of the qrels, scored 0" in zero.err
    dropped = confir_command(*arguments, "--missing", "drop", "--format", "json")
    (record,) = json.loads(dropped.out)
    assert record["topics"] == 2
    refused = confir_command(*arguments, "--missing", "error")
    assert refused.code == 2
    assert "lacks 1 topic (3)" in refused.err
    wrong = confir_command(*arguments, "--missing", "ignore")
    assert wrong.code == 2
    assert "--missing" in wrong.err


def test_options_of_trec_eval_change_the_scores(confir_command, files):
    arguments = [
        "evaluate",
        files / "qrels.txt",
        files / "good.run",
        "-m",
        "AP",
        "--format",
        "json",
    ]
    (strict,) = json.loads(confir_command(*arguments, "-l", "2", "--quiet").out)
    assert strict["measure"] == "AP(rel=2)"
    assert strict["mean"] == 0
    (shallow,) = json.loads(confir_command(*arguments, "-M", "1").out)
    assert shallow["mean"] == pytest.approx(2 / 3)


def test_compressed_runs_and_names_of_ones_own(confir_command, files):
    (files / "input.second.txt.gz").write_bytes(gzip.compress(RUN.encode()))
    outcome = confir_command(
        "evaluate",
        files / "qrels.txt",
        f"mine={files / 'good.run'}",
        files / "input.second.txt.gz",
        "-m",
        "AP",
        "--format",
        "csv",
    )
    assert [line.split(",")[0] for line in outcome.out.splitlines()] == ["run", "mine", "second"]
    tagged = confir_command(
        "evaluate",
        files / "qrels.txt",
        files / "good.run",
        "-m",
        "AP",
        "--format",
        "csv",
        "--name-by",
        "tag",
    )
    assert tagged.out.splitlines()[1].startswith("x,")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "expected QRELS and at least one RUN"),
        (["qrels.txt"], "expected QRELS and at least one RUN"),
        (["nowhere.txt", "good.run"], "nowhere.txt: no such file"),
        (["qrels.txt", "nowhere.run"], "nowhere.run: no such file"),
        (["qrels.txt", "no*.run"], "no*.run: no file matches this pattern"),
        (["qrels.txt", "x=no[ab].run"], "no[ab].run: no file matches this pattern"),
        (["no?.txt", "good.run"], "no?.txt: no file matches this pattern"),
        (["--scores", "no*.csv"], "no*.csv: no file matches this pattern"),
        (["qrels.txt", "folder"], "folder/README.md: the run is empty; expected one line per"),
        (["qrels.txt", "folder"], "(each file of folder is taken for a run; if this is none, name"),
        (
            ["qrels.txt", "good.run", "-m", "AP", "nDCG@10"],
            "is a measure where a file was expected; expected each measure after its own -m: -m AP -m",
        ),
        (["-m", "AP", "nDCG@10", "qrels.txt", "good.run"], "-m AP -m nDCG@10"),
        (["qrels.txt", "good.run", "-m", f"P@{'1' * 5000}"], "the cutoff has 5,000 digits"),
        (["qrels.txt", "good.run", "-m", "P(depth=3)@5"], "unknown parameter of P 'depth'"),
        (
            ["qrels.txt", "good.run", "--columns", "topic=qid,value=a"],
            "--columns is for score tables; expected --scores FILE",
        ),
        (["--scores", "rag.csv"], "rag.csv:1: columns are named like measures (all_score)"),
        (["--scores", "rag.csv", "--columns", "qid,all_score"], "such as topic=qid,value=nDCG@10"),
        (["good.run", "qrels.txt"], "good.run:1: 6 columns; expected 4"),
        (["qrels.txt", "qrels.txt"], "this looks like qrels"),
        (["qrels.txt", "good.run", "-m", "nDGC@10"], "did you mean nDCG@10"),
        (["qrels.txt", "good.run", "--method", "bootstrapt"], "did you mean bootstrap-t"),
        (["qrels.txt", "good.run", "--level", "95"], "level is 95"),
        (["qrels.txt", "good.run", "--method", "bca", "--replicates", "0"], "replicates is 0"),
        (["qrels.txt", "good.run", "-o", "table.xls"], "table.xls"),
        (["qrels.txt", "good.run", "-o", "nowhere/table.csv"], "cannot be written"),
        (["qrels.txt", "good.run", "--format", "xls"], "unknown value of --format 'xls'"),
        (["qrels.txt", "good.run", "other.run"], "other.run: no topic"),
        (["qrels.txt", "good.run", "--scores", "scores.csv"], "give one or the other"),
        (["qrels.txt", "good.run", "--no-such-option"], "--no-such-option"),
        (["qrels.txt", "good.run", "--ranks"], "--ranks is now confir compare --show ranks"),
        (
            ["qrels.txt", "good.run", "-q", "--method", "t"],
            "--method has no effect on --show topics",
        ),
        (
            ["qrels.txt", "good.run", "-q", "--level", "0.9"],
            "--level has no effect on --show topics",
        ),
        (["qrels.txt", "good.run", "-q", "--replicates", "9"], "--replicates has no effect on"),
        (["qrels.txt", "good.run", "-q", "--seed", "9"], "--seed has no effect on --show topics"),
        (["qrels.txt", "good.run", "--show", "rank"], "unknown value of --show 'rank'"),
        (
            ["qrels.txt", "good.run", "--method", "t", "--method", "bca", "-o", "x.svg"],
            "x.svg: a chart shows one method",
        ),
        (["qrels.txt", "good.run", "--baseline", "good", "-o", "x.svg"], "x.svg: a chart of means"),
        (["qrels.txt", "good.run", "good.run"], "two runs are named 'good'"),
        (["qrels.txt", "empty.run"], "empty"),
        (["qrels.txt", "nan.run"], "nan.run:1: score 'nan'"),
        (["qrels.txt", "twice.run"], "twice.run:2: document 'a' occurs twice in topic '1'"),
    ],
)
def test_bad_input_ends_in_one_sentence(confir_command, files, monkeypatch, arguments, message):
    monkeypatch.chdir(files)
    (files / "other.run").write_text("9 Q0 a 1 3 x\n")
    (files / "empty.run").write_text("")
    (files / "nan.run").write_text("1 Q0 a 1 nan x\n")
    (files / "twice.run").write_text("1 Q0 a 1 2 x\n1 Q0 a 2 1 x\n")
    (files / "rag.csv").write_text("qid,all_score\n1,0.5\n2,0.25\n")
    (files / "folder").mkdir()
    (files / "folder" / "README.md").write_text("# Runs of our team\n")
    (files / "folder" / "a.run").write_text(RUN)
    outcome = confir_command("evaluate", *arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("confir: error: ")
    assert outcome.err.count("\n") == 1
    expected = message.replace("other.run: no topic", "no topic in common")
    assert expected in outcome.err
    assert not list(files.glob(".*"))


def test_a_bug_is_reported_in_one_sentence_and_shown_on_demand(confir_command, files, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("boom")

    monkeypatch.setattr("confir.measures.evaluation.evaluate", broken)
    outcome = confir_command("evaluate", files / "qrels.txt", files / "good.run")
    assert outcome.code == 2
    assert "this is a bug in confir: RuntimeError: boom" in outcome.err
    monkeypatch.setenv("CONFIR_TRACEBACK", "1")
    outcome = confir_command("evaluate", files / "qrels.txt", files / "good.run")
    assert outcome.code == 2  # 1 is the code of a closed gate
    assert outcome.err.startswith("Traceback (most recent call last):\n")
    assert ', in broken\n    raise RuntimeError("boom")\n' in outcome.err


def test_hostile_names_are_shown_as_text(confir_command, files):
    run = files / "<script>alert(1)<|script>&_$.run"
    run.write_text(RUN)
    outcome = confir_command("evaluate", files / "qrels.txt", run, "-m", "AP", "--format", "html")
    assert "<script>" not in outcome.out
    assert "&lt;script&gt;alert(1)" in outcome.out
    outcome = confir_command("evaluate", files / "qrels.txt", run, "-m", "AP", "--format", "tex")
    assert r"\textless{}script\textgreater{}alert(1)" in outcome.out
    assert r"\&\_\$" in outcome.out
    outcome = confir_command("evaluate", files / "qrels.txt", run, "-m", "AP", "--format", "md")
    assert r"\<script\>" in outcome.out


def test_control_characters_do_not_reach_the_terminal(confir_command, files):
    outcome = confir_command(
        "evaluate", files / "qrels.txt", f"red\x1b[31m={files / 'good.run'}", "-m", "AP"
    )
    assert "\x1b" not in outcome.out


def test_the_command_runs_as_a_process_and_reads_standard_input(files):
    command = [
        sys.executable,
        "-m",
        "confir",
        "evaluate",
        str(files / "qrels.txt"),
        "-",
        "-m",
        "RR",
    ]
    done = subprocess.run(command, input=RUN, capture_output=True, text=True, check=True)
    assert "stdin" in done.stdout


def test_a_closed_pipe_is_no_error():
    command = f"{sys.executable} -m confir measures | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_version_and_help(confir_command):
    assert confir_command("--version").out.startswith("confir 0.")
    helped = confir_command("evaluate", "--help")
    assert "For example" in helped.out
    assert confir_command("no-such-command").code == 2


def test_demo_writes_nothing_where_it_cannot_print(confir_command, tmp_path):
    outcome = confir_command("demo", "--write", tmp_path / "sample", "--format", "xls")
    assert outcome.code == 2
    assert not list(tmp_path.iterdir())


def test_demo_writes_a_collection_that_evaluates_to_the_same(confir_command, tmp_path):
    shown = confir_command("demo", "--write", tmp_path / "sample")
    assert f"{tmp_path / 'sample'}: qrels.txt, and 8 runs in the folder runs" in shown.err
    again = confir_command(
        "evaluate", tmp_path / "sample" / "qrels.txt", tmp_path / "sample" / "runs"
    )
    assert shown.out == again.out
