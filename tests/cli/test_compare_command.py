"""``confir compare`` as a user runs it, and as a gate in continuous integration."""

import csv
import io
import json
import re
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

import confir


@pytest.fixture
def compare(confir_command, sample_files):
    """A function that compares three runs of the sample with short lists."""
    return comparing(confir_command, sample_files)


@pytest.fixture
def compare_whole(confir_command, whole_files):
    """A function that compares three runs of the sample."""
    return comparing(confir_command, whole_files)


def comparing(confir_command, files):
    def run(*arguments, runs=("bm25", "dense", "tfidf")):
        paths = [files / "runs" / f"{name}.txt" for name in runs]
        return confir_command("compare", files / "qrels.txt", *paths, "--quiet", *arguments)

    return run


@pytest.fixture
def score_table(whole_files, tmp_path):
    """A score table of some runs of the sample collection."""
    runs = [whole_files / "runs" / f"{name}.txt" for name in ("bm25", "dense", "tfidf")]
    path = tmp_path / "scores.csv"
    scores = confir.evaluate(whole_files / "qrels.txt", runs, ["AP", "nDCG@10"])
    confir.write_scores(scores, path)
    return path


def test_a_baseline_gives_differences_intervals_and_words(compare_whole):
    code, out, err = compare_whole("--baseline", "bm25", "-m", "AP")
    assert code == 0
    assert err == ""
    said, worse, step, _, heading, *rows = out.splitlines()
    assert said == (
        "bm25 0.197 → dense 0.227 in AP: inconclusive (+0.030, simultaneous 95% CI [-0.015, +0.075], "
        "adjusted p = .256)"
    )
    assert worse.startswith("bm25 0.197 → tfidf 0.108 in AP: significantly worse (-0.088, ")
    assert step.startswith("These 50 topics would show a true difference of 0.062 (power .80). The")
    assert heading.split() == (
        ["measure", "run", "verdict", "difference", "adj.", "p", "d_z", "w/t/l"]
    )
    assert rows[0].startswith("AP       dense  inconclusive  +0.0302 [-0.0151, +0.0754]")
    assert rows[1].startswith("AP       tfidf  worse")
    assert (
        "mean difference from bm25 with simultaneous 95% confidence interval (CI), 2 pairs with bm25, over 50 "
        "topics; p by t test, adjusted by the studentised maximum, which may exceed Bonferroni's"
    ) in out
    assert "9,999 replicates, seed 2006" in out
    assert "topics most for it" in out
    assert "102 +0.3582, 150 +0.3487, 117 +0.3257" in out


def test_numbers_are_those_of_the_library(compare, sample_files):
    code, out, _ = compare(
        "--baseline", "bm25", "-m", "AP", "--test", "randomisation", "--seed", 5, "--format", "json"
    )
    assert code == 0
    runs = [sample_files / "runs" / f"{name}.txt" for name in ("bm25", "dense", "tfidf")]
    scores = confir.evaluate(sample_files / "qrels.txt", runs, ["AP"])
    expected = confir.compare_runs(scores, baseline="bm25", test="randomisation", rng=5)
    single = [
        record | {"simultaneous_low": None, "simultaneous_high": None}
        for record in expected.to_records()
    ]
    assert json.loads(out) == single
    _, out, _ = compare("--baseline", "bm25", "-m", "AP", "--seed", 5, "--format", "json")
    assert json.loads(out) == confir.compare_runs(scores, baseline="bm25", rng=5).to_records()


def test_a_correction_leaves_intervals_as_they_are_and_says_so(compare_whole):
    _, out, _ = compare_whole("--baseline", "bm25", "-m", "AP", "--correction", "holm")
    assert "\nAP       dense  inconclusive  +0.0302 [-0.0090, +0.0693]" in out
    assert (
        "mean difference from bm25 with 95% confidence interval (CI) by t (of each pair alone), over 50"
        in out
    )
    assert "adjusted by Holm's correction for 2 pairs within each measure" in out


def test_pairs_come_best_first_and_the_better_run_is_named_first(compare):
    _, out, _ = compare("-m", "AP", "--show", "pairs", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["run"], row["against"]) for row in rows] == [
        ("dense", "bm25"),
        ("dense", "tfidf"),
        ("bm25", "tfidf"),
    ]
    assert all(float(row["difference"]) > 0 for row in rows)


def test_without_a_baseline_the_board_is_printed(compare_whole):
    lines = compare_whole("-m", "AP").out.splitlines()
    step = lines.pop(1)
    assert step.startswith(
        "These 50 topics would show a true lead of 0.056 (power .80). The observed"
    )
    assert lines[:3] == [
        "dense has the highest AP, 0.227 [0.169, 0.300]; 2 of the 3 runs may be the best (95% confidence)",
        (
            "2 of 3 pairs differ significantly (67%); the smallest observed difference that is significant "
            "is 0.088"
        ),
        "",
    ]
    assert lines[3].split() == ["rank", "run", "mean", "gap", "may", "be", "best"]
    assert [(*line.split()[:2], line.split()[-1]) for line in lines[4:7]] == [
        ("1", "dense", "yes"),
        ("2", "bm25", "yes"),
        ("3", "tfidf", "no"),
    ]
    assert not {"better", "worse", "inconclusive"} & set("\n".join(lines[4:7]).split())


def test_measures_that_are_asked_for_have_a_board_each(compare, tmp_path):
    asked = compare("-m", "AP", "-m", "RR", "-m", "P@10").out
    assert asked.count("  may be best\n") == 3
    usual = compare().out
    assert usual.count("  may be best\n") == 1
    assert len([line for line in usual.splitlines() if "(95% confidence); " in line]) == 4
    assert compare("-o", tmp_path / "board.md").code == 0
    assert (tmp_path / "board.md").read_text().count("| may be best |") == 5


def test_the_best_run_alone(compare, sample_files):
    code, out, _ = compare("--show", "best", "-m", "AP", "--format", "json", "--seed", 3)
    runs = [sample_files / "runs" / f"{name}.txt" for name in ("bm25", "dense", "tfidf")]
    scores = confir.evaluate(sample_files / "qrels.txt", runs, ["AP"])
    assert code == 0
    assert json.loads(out) == confir.find_best(scores, rng=3).to_records()
    assert compare("-m", "AP", "--format", "json", "--seed", 3).out == out
    renamed = compare("--family", "best", "-m", "AP")
    assert (renamed.code, renamed.err) == (
        2,
        "confir: error: --family best is now --show best\n",
    )


@pytest.mark.parametrize(
    ("options", "views"),
    [
        (("--baseline", "bm25"), "pairs, effects, topics, unjudged"),
        (("--test", "sign"), "pairs, groups"),
        (("--margin", 0.1), "pairs, groups"),
    ],
)
def test_the_best_run_needs_no_other_options(compare, options, views):
    code, _, err = compare("--show", "best", "-m", "AP", *options)
    assert code == 2
    said = (
        f"{options[0]} has no effect on --show best (which runs may be the best); it is for --show "
    )
    assert f"{said}{views}" in err


def test_a_score_table_replaces_runs(confir_command, score_table):
    code, out, _ = confir_command(
        "compare", "--scores", score_table, "--baseline", "bm25", "--format", "jsonl"
    )
    assert code == 0
    records = [json.loads(line) for line in out.splitlines()]
    assert {record["measure"] for record in records} == {"AP", "nDCG@10"}


def test_a_baseline_may_be_a_file(compare, confir_command, sample_files):
    by_name = compare("--baseline", "tfidf", "-m", "AP")
    path = sample_files / "runs" / "tfidf.txt"
    assert compare("--baseline", path, "-m", "AP") == by_name
    # a file that is not among the runs joins them
    outcome = compare("--baseline", path, "-m", "AP", runs=("bm25", "dense"))
    assert outcome == by_name
    folder = confir_command(
        "compare", sample_files / "qrels.txt", sample_files / "runs", "--baseline", path, "--quiet"
    )
    assert folder.code == 0


def test_a_baseline_file_is_found_when_runs_are_named_otherwise(confir_command, sample_files):
    qrels, runs = sample_files / "qrels.txt", sample_files / "runs"
    code, out, _ = confir_command(
        "compare",
        qrels,
        f"old={runs / 'bm25.txt'}",
        f"new={runs / 'dense.txt'}",
        "--baseline",
        runs / "bm25.txt",
        *("-m", "AP", "--format", "json"),
    )
    assert code == 0
    assert json.loads(out)[0]["against"] == "old"


def test_a_baseline_file_is_read_with_standard_input(sample_files):
    runs = sample_files / "runs"
    command = [sys.executable, "-m", "confir", "compare", sample_files / "qrels.txt", "-"]
    command += ["-m", "AP", "--baseline", runs / "bm25.txt", "--format", "json"]
    with (runs / "dense.txt").open() as dense:
        done = subprocess.run(command, stdin=dense, capture_output=True, text=True, check=True)
    (record,) = json.loads(done.stdout)
    assert (record["against"], record["run"]) == ("bm25", "stdin")


def test_a_score_file_may_name_the_baseline(confir_command, tmp_path):
    for name, scores in (("old", "0.1 0.2 0.4"), ("new", "0.3 0.3 0.7")):
        lines = [f"map {t} {s}" for t, s in zip("123", scores.split(), strict=True)]
        (tmp_path / f"{name}.eval").write_text("\n".join(lines) + "\n")
    code, out, _ = confir_command(
        "compare",
        *("--scores", tmp_path / "old.eval", "--scores", tmp_path / "new.eval"),
        *("--baseline", tmp_path / "old.eval", "--format", "json"),
    )
    assert code == 0
    assert json.loads(out)[0]["against"] == "old"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--fail-if-worse", "nDCG@10"], 1),
        (["--fail-if-worse", "nDCG@10", "--margin", "0.005"], 1),
        (["--fail-if-worse", "nDCG@10", "--margin", "0.3"], 0),
        (["--fail-if-worse", "ndcg_cut_10"], 1),
        (["--fail-if-worse", "nDCG@10", "--require", "non-inferior", "--margin", "0.3"], 0),
        (["--fail-if-worse", "nDCG@10", "--require", "superior", "--margin", "0.3"], 1),
    ],
)
def test_the_gate_sets_the_exit_code(compare, options, code):
    outcome = compare("--baseline", "bm25", "-m", "AP", *options)
    assert outcome.code == code
    assert f"gate {'closed' if code else 'open'}: by nDCG@10" in outcome.out
    assert outcome.err == ""


def test_the_gate_goes_by_the_lowest_gain_asked_for(compare):
    options = ("--baseline", "bm25", "-m", "P@10", "-l", 2, "--fail-if-worse", "map")
    outcome = compare(*options)
    assert outcome.code == 1
    assert "gate closed: by AP(rel=2)" in outcome.out


def test_a_gate_with_a_view_has_its_level(compare):
    outcome = compare("--baseline", "bm25", "-q", "--fail-if-worse", "AP", "--level", "0.9")
    assert outcome.code == 1
    assert "90% interval" in outcome.err


def test_a_better_run_passes_every_gate(compare):
    for require in ([], ["--require", "non-inferior"], ["--require", "superior"]):
        outcome = compare(*("--baseline", "tfidf", "-m", "AP", "--fail-if-worse", "AP"), *require)
        assert outcome.code == 0


def test_every_p_value_of_a_family_is_called_adjusted(compare_whole):
    for words in (("--correction", "benjamini-hochberg"), ("--test", "randomisation")):
        said = compare_whole("--baseline", "bm25", "-m", "AP,RR", *words).out.split("\n\n")[0]
        assert said.count(", adjusted p ") == said.count(" p ") == len(said.splitlines()) > 1
    alone = compare_whole("--baseline", "bm25", "-m", "AP", "--correction", "none").out
    assert "adjusted p" not in alone


def test_identical_runs_are_called_so_without_a_baseline(confir_command, sample_files):
    run = sample_files / "runs" / "bm25.txt"
    given = (sample_files / "qrels.txt", f"a={run}", f"b={run}", "-m", "AP")
    said = confir_command("compare", *given).out.splitlines()
    assert said[1] == "the two runs are identical"


def test_a_run_against_itself_passes(confir_command, sample_files):
    run = sample_files / "runs" / "bm25.txt"
    outcome = confir_command(
        *("compare", sample_files / "qrels.txt", f"a={run}", f"b={run}", "--baseline", "a"),
        *("-m", "AP", "--fail-if-worse", "AP", "--require", "non-inferior"),
    )
    assert outcome.code == 0
    assert "identical (0.000, p = 1; the same score on all 50 topics)" in outcome.out


def test_a_gate_of_a_score_table_leaves_its_other_measures(confir_command, score_table):
    code, out, err = confir_command(
        *("compare", "--scores", score_table, "--baseline", "bm25", "--fail-if-worse", "AP"),
        *("--format", "json"),
    )
    assert code == 1
    assert {record["measure"] for record in json.loads(out)} == {"AP", "nDCG@10"}
    assert err.startswith("confir: gate closed: by AP against bm25, tfidf: difference -0.0881")


def test_several_measures_may_guard_the_gate(compare):
    outcome = compare(
        *("--baseline", "bm25", "--fail-if-worse", "AP", "--fail-if-worse", "RR", "-m", "P@10"),
        *("--format", "json"),
    )
    assert outcome.code == 1
    assert outcome.err.count("confir: gate ") == 2
    measures = {record["measure"] for record in json.loads(outcome.out)}
    assert measures == {"P@10", "AP", "RR"}


def test_a_summary_in_markdown(compare_whole, tmp_path):
    path = tmp_path / "summary.md"
    code, out, err = compare_whole(
        *("--baseline", "bm25", "-m", "AP", "--fail-if-worse", "AP", "-o", path)
    )
    assert code == 1
    assert out == ""
    assert err.startswith("confir: gate closed: by AP against bm25")
    lines = path.read_text().splitlines()
    assert lines[0] == "### Gate closed: AP"
    assert (
        "| **tfidf** | **fails** | **0.1965 → 0.1084** | **-0.0881 [-0.1215, -0.0547]** |" in lines
    )
    assert "### Differences" in lines
    assert "### Topics" in lines
    heads = [place for place, line in enumerate(lines) if line.startswith("|---")]
    assert all(lines[place - 2] == "" for place in heads)  # a table starts after a blank line


def test_names_cannot_break_the_summary(confir_command, sample_files, tmp_path):
    runs = sample_files / "runs"
    path = tmp_path / "summary.md"
    code, _, _ = confir_command(
        *("compare", sample_files / "qrels.txt", f"a|<b>={runs / 'bm25.txt'}"),
        *(f"c={runs / 'tfidf.txt'}", "--baseline", "a|<b>", "-m", "AP"),
        *("--fail-if-worse", "AP", "-o", path),
    )
    assert code == 1
    text = path.read_text()
    assert "a|<b>" not in text
    assert r"a\|\<b\>" in text


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "jsonl", "tex", "html", "parquet"])
def test_files_of_every_kind(compare, tmp_path, ending):
    path = tmp_path / f"pairs.{ending}"
    assert compare("-m", "AP", "--show", "pairs", "-o", path).code == 0
    if ending == "parquet":
        assert pq.read_table(path).num_rows == 3
    else:
        assert "inconclusive" in path.read_text()


@pytest.mark.parametrize(
    "view",
    [
        ["--baseline", "bm25"],
        *([*("--show", view)] for view in ("best", "pairs", "topics", "groups")),
    ],
)
@pytest.mark.parametrize("ending", ["svg", "png"])
def test_charts_of_every_view(compare, tmp_path, view, ending):
    path = tmp_path / f"chart.{ending}"
    assert compare("-m", "AP", *view, "-o", path).code == 0
    start = path.read_bytes()[:200]
    assert b"PNG" in start if ending == "png" else b"<svg" in start


def test_topics_groups_and_effects(compare_whole):
    _, out, _ = compare_whole("--baseline", "bm25", "-m", "AP", "-q", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == ["measure", "run", "against", "topic", "difference"]
    assert len(rows) == 2 * 50
    assert rows[0]["topic"] == "102"
    _, out, _ = compare_whole("-m", "AP", "-m", "RR", "--show", "groups")
    lines = out.splitlines()
    assert lines[0].split() == ["run", "AP", "RR"]
    assert lines[1].startswith("dense  0.227 (a)")
    assert "runs with a letter in common do not differ significantly" in out
    _, out, _ = compare_whole(
        "--baseline", "bm25", "-m", "AP", "--show", "effects", "--format", "json"
    )
    assert json.loads(out)[0]["robustness_index"] == pytest.approx((22 - 28) / 50)


def test_the_terminal_is_cut_and_files_hold_all_rows(confir_command, tmp_path):
    rows = [
        f"{topic},{','.join(str((topic * r) % 17 / 17) for r in range(1, 23))}"
        for topic in range(1, 9)
    ]
    path = tmp_path / "ap.csv"
    path.write_text("topic," + ",".join(f"r{r}" for r in range(1, 23)) + "\n" + "\n".join(rows))
    given = ("compare", "--scores", path, "--quiet")
    board = confir_command(*given)
    assert board.code == 0
    assert "\n2 more: --rows all\n" in board.out
    pairs = confir_command(*given, "--show", "pairs", "--rows", "7").out
    assert "\n224 more: --rows all\n" in pairs
    assert len(re.findall(r" r\d+ +r\d+ ", pairs)) == 7
    whole = confir_command(*given, "--show", "pairs", "--rows", "all").out
    assert "more: --rows" not in whole
    _, out, _ = confir_command(*given, "--show", "pairs", "--format", "csv")
    assert len(out.splitlines()) == 232
    assert len(confir_command(*given, "--format", "csv").out.splitlines()) == 23
    refused = confir_command(*given, "--rows", "0").err
    assert "--rows is '0'; expected a number from 1, or all" in refused


def test_several_tests_stand_side_by_side(compare):
    _, out, _ = compare(
        *("--baseline", "bm25", "-m", "AP", "--replicates", 999),
        *(option for test in ("t", "wilcoxon", "randomisation") for option in ("--test", test)),
    )
    assert "\nmeasure  run    test " in out
    assert "999 replicates, seed 2006" in out
    assert "dense 0." in out
    assert " in AP by the Wilcoxon test: inconclusive (" in out


def test_a_margin_tests_for_equivalence(compare):
    _, out, _ = compare("--baseline", "bm25", "-m", "AP", "--margin", "0.5")
    assert "equivalent within ±0.5" in out
    assert "p equiv." in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--fail-if-worse", "AP"], "--fail-if-worse needs --baseline"),
        (["--baseline", "bm25", "--require", "superior"], "--require needs --fail-if-worse"),
        (
            ["--baseline", "bm25", "--fail-if-worse", "AP", "--require", "better"],
            "unknown value of --require 'better'",
        ),
        (["--baseline", "bm26"], "unknown run 'bm26'; did you mean bm25?"),
        (["--baseline", "bm25", "--margin", "-1"], "margin is -1.0"),
        (["--baseline", "bm25", "--margin", "nan"], "margin is nan"),
        (["--baseline", "bm25", "--fail-if-worse", "nDGC@10"], "did you mean nDCG"),
        (["--show", "pairs", "--test", "anova"], "unknown test 'anova'"),
        (["--show", "pairs", "--correction", "sidak"], "unknown correction 'sidak'"),
        (["--show", "pairs", "--family", "everything"], "unknown family 'everything'"),
        (
            ["--show", "pairs", "--family", "none", "--correction", "holm"],
            "family and correction are both given",
        ),
        (
            ["--show", "pairs", "--family", "baseline"],
            "the family 'baseline' requires a baseline",
        ),
        (
            ["--show", "pairs", "--family", "all-pairs", "--test", "sign"],
            "the family all-pairs rests on t tests",
        ),
        (["--show", "effects", "--family", "none"], "--family has no effect on --show effects"),
        (["--show", "pairs", "--method", "gaffke"], "methods that fit: t, percentile"),
        (["-q", "--show", "groups"], "-q is --show topics; leave it out, or --show groups"),
        (["--baseline", "bm25", "--show", "groups"], "--baseline has no effect on --show groups"),
        (["--show", "groups", "--test", "t", "--test", "sign"], "--show groups uses one test"),
        (["-q", "--test", "sign"], "--test has no effect on --show topics"),
        (
            ["--show", "effects", "--correction", "none"],
            "--correction has no effect on --show effects",
        ),
        (["-q", "--level", "0.9"], "--level has no effect on --show topics"),
        (["--show", "effects", "--margin", "0.1"], "--margin has no effect on --show effects"),
        (
            ["--show", "pairs", "--test", "tukey-hsd", "--correction", "none"],
            "--correction is for other tests; tukey-hsd corrects by itself",
        ),
        (["--baseline", "bm25", "--test", "tukey-hsd"], "tukey-hsd compares all pairs of runs"),
        (["-o", "summary.doc"], "unknown ending of an output file"),
        (["--format", "xml"], "unknown value of --format 'xml'"),
    ],
)
def test_errors_exit_with_2(compare, options, message):
    code, out, err = compare(*options)
    assert code == 2
    assert out == ""
    assert err.startswith("confir: error: ")
    assert message in err
    assert err.count("\n") == 1


def test_an_error_never_looks_like_a_closed_gate(confir_command, sample_files, tmp_path):
    broken = tmp_path / "broken.run"
    broken.write_text("101 Q0 D-1 1 not-a-number x\n")
    code, _, err = confir_command(
        *("compare", sample_files / "qrels.txt", sample_files / "runs" / "bm25.txt", broken),
        *("--baseline", "bm25", "--fail-if-worse", "AP"),
    )
    assert code == 2
    assert "broken.run:1" in err
    code, _, err = confir_command("compare", sample_files / "qrels.txt", tmp_path / "none.run")
    assert code == 2
    assert "none.run" in err


def test_no_summary_is_left_behind_by_an_error(compare, tmp_path):
    path = tmp_path / "summary.md"
    assert compare("--baseline", "nobody", "-o", path).code == 2
    assert list(tmp_path.iterdir()) == []


def test_the_exit_code_reaches_the_shell(sample_files):
    runs = sample_files / "runs"
    command = [sys.executable, "-m", "confir", "compare", sample_files / "qrels.txt"]
    command += [runs / "bm25.txt", runs / "tfidf.txt", "-m", "AP", "--fail-if-worse", "AP"]
    closed = subprocess.run([*command, "--baseline", "bm25"], capture_output=True, check=False)
    opened = subprocess.run([*command, "--baseline", "tfidf"], capture_output=True, check=False)
    assert (closed.returncode, opened.returncode) == (1, 0)


def test_real_runs(confir_command, real_data):
    folder = real_data / "trec-robust-2003"
    runs = sorted((folder / "runs").iterdir())[:3]
    code, out, _ = confir_command(
        *("compare", next(folder.glob("qrels*")), *runs, "-m", "AP", "--quiet", "--show", "pairs"),
        *(
            "--test",
            "randomisation",
            "--test",
            "tukey-hsd",
            "--replicates",
            999,
            "--format",
            "json",
        ),
    )
    assert code == 0
    records = json.loads(out)
    assert len(records) == 6
    # ten times as many replicates where a decision is borderline
    assert all(record["p"] >= 1 / 9991 for record in records)
    assert all(record["wins"] + record["ties"] + record["losses"] == 100 for record in records)


def test_more_pairs_than_can_be_compared_are_refused_before_runs_are_read(confir_command, tmp_path):
    for place in range(1500):
        (tmp_path / f"r{place}.run").write_text("no run at all")
    outcome = confir_command("compare", tmp_path / "qrels.txt", tmp_path, "-m", "AP")
    assert outcome.code == 2
    assert "1,500 runs make 1,124,250 pairs" in outcome.err
    assert "name a baseline" in outcome.err


def test_a_loss_on_every_topic_is_worse_in_table_words_and_gate(confir_command, tmp_path):
    rows = [f"{topic},{topic / 100},{topic / 100 - 0.01}" for topic in range(10, 40)]
    (tmp_path / "s.csv").write_text("topic,main,branch\n" + "\n".join(rows))
    arguments = ["compare", "--scores", tmp_path / "s.csv", "--baseline", "main", "--quiet"]
    measure = confir_command(*arguments, "--format", "csv").out.splitlines()[1].split(",")[0]
    outcome = confir_command(*arguments, "--fail-if-worse", measure)
    assert outcome.code == 1
    assert "significantly worse (-0.010" in outcome.out
    assert "; the same difference on all 30 topics)" in outcome.out
    assert (
        "branch: difference -0.0100, is significantly below 0 (the same difference on all 30 topics)"
    ) in outcome.out
    two = tmp_path / "two.csv"
    two.write_text("topic,main,branch\n1,0.5,0.4\n2,0.6,0.5\n")
    arguments[2] = two
    assert confir_command(*arguments, "--fail-if-worse", measure).code == 0


def test_teams_are_compared_by_their_best_runs(compare, tmp_path):
    teams = tmp_path / "teams.txt"
    teams.write_text("bm25 lexical\ntfidf lexical\ndense neural\n")
    text = compare("-m", "AP", "--teams", teams).out.splitlines()
    assert text[0].startswith("Among 3 runs of 2 teams, neural has the highest AP (dense, 0.")
    assert text[1] == (
        "none of 1 pair of teams differs significantly by their best runs, adjusted for all 3 pairs of runs"
    )
    assert [line.split()[:3] for line in text[4:6]] == [
        ["1", "neural", "dense"],
        ["2", "lexical", "bm25"],
    ]
    records = json.loads(compare("-m", "AP", "--teams", teams, "--format", "json").out)
    assert [(r["team"], r["run"], r["runs"]) for r in records] == [
        ("neural", "dense", 1),
        ("lexical", "bm25", 2),
    ]
    pairs = ("-m", "AP", "--teams", teams, "--show", "pairs", "--format", "json")
    (pair,) = json.loads(compare(*pairs).out)
    every = json.loads(compare("-m", "AP", "--show", "pairs", "--format", "json").out)
    assert pair in every  # adjusted for all pairs of runs
    for options, message in (
        (["--show", "teams"], "--show teams needs --teams"),
        (["--teams", teams, "--show", "best"], "--teams has no effect on --show best"),
        (["--teams", tmp_path / "none.txt"], "none.txt"),
        (["--teams", teams, "-o", teams], "the command reads this file"),
    ):
        refused = compare("-m", "AP", *options)
        assert refused.code == 2
        assert message in refused.err
