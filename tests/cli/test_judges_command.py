"""``confir judges`` as a user runs it."""

import json

import pytest

from judge_files import noisy_judge, write_judge
from samples import short_sample


@pytest.fixture
def files(tmp_path, sample_files):
    """Qrels of three judges, and two runs."""
    qrels = short_sample().qrels
    write_judge(tmp_path / "people.qrels", qrels.to_dict())
    write_judge(tmp_path / "model.qrels", noisy_judge(qrels, leniency=0.4))
    write_judge(tmp_path / "other.qrels", noisy_judge(qrels, noise=1.0, seed=4))
    for name in ("bm25", "dense", "rerank"):
        (tmp_path / f"{name}.txt").symlink_to(sample_files / "runs" / f"{name}.txt")
    return tmp_path


@pytest.fixture
def judges(confir_command, files, monkeypatch):
    monkeypatch.chdir(files)

    def run(*arguments):
        return confir_command("judges", *arguments, "--replicates", "199")

    return run


RUNS = ("bm25.txt", "dense.txt", "rerank.txt")


def test_qrels_are_recognised_wherever_they_stand(judges):
    first = judges("people.qrels", "model.qrels", *RUNS, "-m", "AP")
    assert first.code == 0, first.err
    assert "judge model, reference people; 50 topics, 3 runs" in first.out
    assert judges("bm25.txt", "people.qrels", *RUNS[1:], "model.qrels", "-m", "AP") == first
    named = judges(*RUNS, "--judge", "people.qrels", "--judge", "model.qrels", "-m", "AP")
    assert named == first


def test_the_table_fits_into_80_columns(judges):
    for options in (
        (),
        (
            "--show",
            "runs",
        ),
        (
            "--show",
            "confusion",
        ),
        (
            "--show",
            "variance",
        ),
    ):
        outcome = judges(
            "people.qrels", "model.qrels", "other.qrels", *RUNS, "-m", "nDCG@10", *options
        )
        assert outcome.code == 0, outcome.err
        table = outcome.out.partition("\n\n")[0].splitlines()
        assert max(map(len, table)) <= 80, options


def test_records_hold_all_numbers_of_a_pair(judges):
    outcome = judges("people.qrels", "model.qrels", *RUNS, "-m", "AP", "--format", "json")
    (record,) = json.loads(outcome.out)
    assert (record["reference"], record["judge"], record["measure"]) == ("people", "model", "AP")
    assert record["bias_low"] < record["bias"] < record["bias_high"]
    assert record["kept"] + record["lost"] + record["reversed"] == record["significant"]
    for name in ("kappa", "weighted_kappa", "krippendorff_alpha", "tau", "tau_ap"):
        assert -1 <= record[f"{name}_low"] <= record[name] <= record[f"{name}_high"] <= 1


def test_without_runs_the_grades_alone_are_compared(judges):
    outcome = judges("people.qrels", "model.qrels", "--format", "json")
    (record,) = json.loads(outcome.out)
    assert record["documents"] > 1000
    assert "bias" not in record
    assert "agreement" in judges("people.qrels", "model.qrels", "--show", "confusion").out
    refused = judges("people.qrels", "model.qrels", "--show", "runs")
    assert refused.code == 2
    assert "needs runs" in refused.err


def test_a_name_may_be_given_to_judges_and_runs(judges):
    outcome = judges(
        "NIST=people.qrels",
        "GPT=model.qrels",
        "A=bm25.txt",
        "dense.txt",
        "-m",
        "AP",
        "--show",
        "runs",
    )
    assert "judge GPT, reference NIST" in outcome.out
    assert {line.split()[0] for line in outcome.out.splitlines()[1:3]} == {"A", "dense"}


def test_a_directory_may_hold_qrels_and_runs(judges, files):
    outcome = judges(files, "-m", "AP", "--format", "json")
    pairs = {(r["reference"], r["judge"]) for r in json.loads(outcome.out)}
    assert pairs == {("model", "other"), ("model", "people"), ("other", "people")}


def test_gains_come_largest_first(judges):
    outcome = judges("people.qrels", "model.qrels", *RUNS, "-m", "AP", "--show", "runs")
    rows = outcome.out.partition("\n\n")[0].splitlines()[1:]
    gains = [float(row.partition("[")[0].split()[-1]) for row in rows]
    assert gains == sorted(gains, reverse=True)


def test_a_chart_is_written(judges, files):
    for name in ("a.svg", "b.svg"):
        more = ["--show", "runs"] if name == "b.svg" else []
        outcome = judges("people.qrels", "model.qrels", *RUNS, "-m", "AP", *more, "-o", name)
        assert outcome.code == 0, outcome.err
        assert "rerank" in (files / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "none of the files are qrels; expected those of two judges or more"),
        (("people.qrels", "bm25.txt"), "1 of the files is qrels (people.qrels)"),
        (("people.qrels", "-"), "-: what a pipe holds is not known before it is read"),
        (("people.qrels", "x.json"), "x.json: JSON holds qrels and runs alike; expected --judge"),
        (("people.qrels", "odd.txt"), "odd.txt:2: 3 columns; expected 4 of qrels"),
        (("people.qrels", "empty.txt"), "empty.txt: the file is empty"),
        (("people.qrels", "nowhere.qrels"), "nowhere.qrels: no such file"),
        (("people.qrels", "a/people.qrels", "bm25.txt"), "two judges are named 'people'"),
        (("people.qrels", "twice.qrels"), "twice.qrels:2: document 'd' of topic '101'"),
        (
            ("people.qrels", "binary.qrels"),
            "the judges use different grades: people 0, 1, 2, 3, binary 0, 1",
        ),
        (("people.qrels", "model.qrels", "--grades", "0;1"), "--grades is '0;1'; expected a scale"),
        (
            ("people.qrels", "model.qrels", "--grades", "model=0:0,0:1"),
            "--grades 'model=0:0,0:1' maps 0, 0 twice",
        ),
        (("people.qrels", "model.qrels", "--grades", "x=0:0"), "unknown judge 'x'"),
        (
            ("people.qrels", "model.qrels", "--show", "runs"),
            "--show runs needs runs",
        ),
        (
            ("people.qrels", "model.qrels", *RUNS, "--show", "variance"),
            "--show variance needs 3 judges or more",
        ),
        (("people.qrels", "model.qrels", *RUNS, "-m", "APP"), "unknown measure 'APP'"),
    ],
)
def test_bad_input_is_one_sentence(judges, files, arguments, message):
    (files / "odd.txt").write_text("# a comment\n1 2 3\n", encoding="utf-8")
    (files / "empty.txt").write_text("\n", encoding="utf-8")
    (files / "x.json").write_text('{"101": {"d": 1}}', encoding="utf-8")
    (files / "twice.qrels").write_text("101 0 d 1\n101 0 d 2\n", encoding="utf-8")
    (files / "a").mkdir()
    write_judge(files / "a" / "people.qrels", {"101": {"d": 1}})
    qrels = short_sample().qrels.to_dict()
    binary = {t: {d: int(g > 0) for d, g in judged.items()} for t, judged in qrels.items()}
    write_judge(files / "binary.qrels", binary)
    outcome = judges(*arguments)
    assert outcome.code == 2
    assert outcome.err.startswith(f"confir: error: {message}"), outcome.err
    assert outcome.err.count("\n") == 1


def test_a_map_of_grades_makes_judges_comparable(judges, files):
    qrels = short_sample().qrels.to_dict()
    binary = {t: {d: int(g > 0) for d, g in judged.items()} for t, judged in qrels.items()}
    write_judge(files / "binary.qrels", binary)
    mapped = ("--grades", "people=0:0,1:1,2:1,3:1")
    outcome = judges("people.qrels", "binary.qrels", *mapped, "--format", "json")
    assert json.loads(outcome.out)[0]["same_grade"] == 1.0
    named = judges("people.qrels", "binary.qrels", "--grades", "0,1,2,3", "--format", "json")
    assert json.loads(named.out)[0]["same_grade"] < 1.0


def test_json_is_read_where_judges_are_named(judges, files):
    judged = short_sample().qrels.to_dict()
    (files / "people.json").write_text(json.dumps(judged), encoding="utf-8")
    outcome = judges("--judge", "people.json", "--judge", "model.qrels", "bm25.txt", "-m", "AP")
    assert outcome.code == 0, outcome.err
    assert "reference people" in outcome.out


def test_an_output_never_replaces_a_judge(judges):
    outcome = judges(
        "--judge", "people.qrels", "--judge", "j.csv=model.qrels", "-o", "people.qrels"
    )
    assert outcome.code == 2


def test_names_are_cleaned_of_control_characters(judges):
    outcome = judges("a\x1b[31m=people.qrels", "model.qrels")
    assert "\x1b" not in outcome.out


def test_repeats_of_systems_are_judged_as_systems(judges, files):
    for name in ("bm25", "dense"):
        for repeat in (1, 2):
            (files / f"{name}-v{repeat}.txt").symlink_to(files / f"{name}.txt")
    runs = [f"{name}-v{repeat}.txt" for name in ("bm25", "dense") for repeat in (1, 2)]
    call = ("people.qrels", "model.qrels", *runs, "-m", "AP", "--repeats", "{system}-v{repeat}")
    outcome = judges(*call)
    assert outcome.code == 0, outcome.err
    assert "2 systems, each the mean of 2 repeats" in outcome.out
    assert judges("people.qrels", "model.qrels", "--repeats").code == 2


@pytest.fixture
def labels(judges, files):
    rows = ["item,topic,human,judge,judge_b"]
    for item in range(60):
        human, other = item % 2, item % 3 > 0
        second = "" if item == 7 else "yes" if human or item % 5 == 0 else "no"
        rows.append(f"i{item},t{item % 6},{human},{str(other).lower()},{second}")
    (files / "labels.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return judges


def test_labels_need_no_qrels_and_fit_into_80_columns(labels):
    outcome = labels("--labels", "labels.csv")
    assert outcome.code == 0, outcome.err
    table = outcome.out.partition("\n\n")[0].splitlines()
    assert max(map(len, table)) <= 80
    assert "sensitivity (n = 30)" in outcome.out
    assert "no label by the judge" in outcome.out
    assert "intervals over 6 topics, which are few" in outcome.out
    assert "199 replicates, seed 2006" in outcome.out
    named = labels("--labels", "labels.csv", "--judge", "judge_b", "--format", "json")
    (record,) = json.loads(named.out)
    assert (record["reference"], record["judge"], record["threshold"]) == (
        "human",
        "judge_b",
        "pass",
    )
    assert (record["items"], record["missing"], record["topics"]) == (59, 1, 6)
    assert record["sensitivity_low"] < record["sensitivity"] == record["sensitivity_high"] == 1.0
    assert record["weighted_kappa"] is None


def test_labels_have_a_confusion_matrix_and_take_no_options_of_runs(labels):
    outcome = labels("--labels", "labels.csv", "--judge", "judge", "--show", "confusion")
    assert "items by the grade of the reference" in outcome.out
    assert "0: fail, 1: pass" in outcome.out
    for more in (
        ("bm25.txt",),
        ("-m", "AP"),
        ("--repeats",),
        ("--show", "runs"),
        ("--grades", "0,1", "--grades", "0,1"),
        ("--threshold", "1"),
        ("--judge", "nobody"),
    ):
        refused = labels("--labels", "labels.csv", *more)
        assert refused.code == 2, more
        assert refused.err.count("\n") == 1, refused.err
    assert labels("people.qrels", "model.qrels", "--threshold", "1").code == 2
