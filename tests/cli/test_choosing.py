"""Which measures and runs a command uses: -m with commas, --select and --top."""

import gzip
import json

import pytest

from confir.cli.parameters import split_measures
from confir.errors import InvalidValueError

QRELS = "1 0 a 1\n2 0 b 1\n"
GOOD = "1 Q0 a 1 3 great\n2 Q0 b 1 3 great\n"
FAIR = "1 Q0 x 1 3 middle\n1 Q0 a 2 2 middle\n2 Q0 b 1 3 middle\n"
POOR = "1 Q0 x 1 3 bad\n1 Q0 y 2 2 bad\n2 Q0 x 1 3 bad\n2 Q0 b 2 2 bad\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "runs").mkdir()
    for name, text in {"poor-1": POOR, "good-1": GOOD, "fair-2": FAIR}.items():
        (tmp_path / "runs" / f"{name}.run").write_text(text)
    (tmp_path / "other.run").write_text(POOR)
    lines = [f"{run},RR,{t},{s}" for run, s in (("x", 0.1), ("y", 0.3), ("z", 0.2)) for t in "12"]
    (tmp_path / "scores.csv").write_text("run,measure,topic,score\n" + "\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("AP", ["AP"]),
        ("AP,nDCG@10", ["AP", "nDCG@10"]),
        ("AP, RR", ["AP", "RR"]),
        (
            "nDCG(dcg='exp-log2',judged_only=True)@10,AP",
            ["nDCG(dcg='exp-log2',judged_only=True)@10", "AP"],
        ),
        ("ERR(a=[1,2],b={3,4}),AP", ["ERR(a=[1,2],b={3,4})", "AP"]),
        ('"a,b",AP', ["a,b", "AP"]),
        ("'a,b'", ["a,b"]),
        ("it's,AP", ["it's,AP"]),
        ("P(x,AP", ["P(x,AP"]),
        ("'a'+'b'", ["'a'+'b'"]),
    ],
)
def test_commas_separate_measures_outside_brackets_and_quotes(text, names):
    assert split_measures("-m", text) == names


@pytest.mark.parametrize("text", [",", "AP,", ",AP", "AP,,RR", ""])
def test_an_empty_measure_is_an_error(text):
    with pytest.raises(InvalidValueError, match="names an empty measure; expected"):
        split_measures("-m", text)


def test_the_option_that_names_an_empty_measure_is_named(confir_command):
    outcome = confir_command("compare", "q", "r", "--baseline", "r", "--fail-if-worse", "AP,,RR")
    assert "--fail-if-worse 'AP,,RR' names an empty measure" in outcome.err


def records(confir_command, *words):
    outcome = confir_command(*words, "--format", "json", "--quiet")
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("words", [("-m", "RR,P@1"), ("-m", "RR", "-m", "P@1")])
def test_a_command_takes_measures_either_way(confir_command, words):
    found = records(confir_command, "evaluate", "qrels.txt", "runs/good-1.run", *words)
    assert [one["measure"] for one in found] == ["RR", "P@1"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "runs"),
    [
        (("--select", "*-1"), {"good-1", "poor-1"}),
        (("--select", "good*", "--select", "fair-2"), {"good-1", "fair-2"}),
        (("--select", "m*", "--name-by", "tag"), {"middle"}),
        (("--top", 2), {"good-1", "fair-2"}),
        (("--top", 9), {"good-1", "fair-2", "poor-1"}),
        (("--top", 1, "--select", "[fp]*"), {"fair-2"}),
        (("--top", 1, "--name-by", "tag"), {"great"}),
        (("--top", 1, "--baseline", "poor-1"), {"good-1", "poor-1"}),
        (("--select", "good-1", "--baseline", "runs/poor-1.run"), {"good-1", "poor-1"}),
        (("--top", 1, "--baseline", "other.run"), {"good-1", "other"}),
        (("--top", 1, "--baseline", "runs/poor-1.run", "--name-by", "tag"), {"great", "bad"}),
    ],
)
def test_runs_are_chosen_by_name_and_by_mean(confir_command, words, runs):
    found = records(confir_command, "evaluate", "qrels.txt", "runs", "-m", "RR", *words)
    assert {one["run"] for one in found} == runs


@pytest.mark.usefixtures("folder")
def test_runs_of_a_score_table_are_chosen_too(confir_command):
    def runs(*words):
        found = records(confir_command, "evaluate", "--scores", "scores.csv", *words)
        return {one["run"] for one in found}

    assert runs("--select", "[xz]") == {"x", "z"}
    assert runs("--top", 1) == {"y"}
    assert runs("--top", 1, "--baseline", "x") == {"x", "y"}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", ["evaluate", "collection"])
def test_a_choice_by_mean_is_warned_of(confir_command, command):
    words = (command, "qrels.txt", "runs", "-m", "AP", "--replicates", 50)
    assert "--top chose 2 of 3 runs" in confir_command(*words, "--top", 2).err
    assert "--top" not in confir_command(*words, "--top", 3).err


@pytest.mark.usefixtures("folder")
def test_commands_that_need_documents_choose_runs_too(confir_command):
    words = ("collection", "qrels.txt", "runs", "--replicates", 50, "-m", "AP", "--top", 2)
    assert {one["run"] for one in records(confir_command, *words)} == {"good-1", "fair-2"}


@pytest.mark.usefixtures("folder")
def test_a_pattern_that_fits_no_run_is_an_error(confir_command):
    outcome = confir_command("evaluate", "qrels.txt", "runs", "--select", "god-1")
    assert outcome.code == 2
    assert "unknown run 'god-1'; did you mean good-1" in outcome.err


def test_a_part_of_a_file_is_chosen_by_options(confir_command, folder):
    held = {"mteb_model_meta": {}, "en": {"test": {"1": {"a": 1.0}, "2": {"b": 1.0}}}, "de": {}}
    (folder / "T_predictions.json").write_text(json.dumps(held))
    words = ("evaluate", "qrels.txt", "T_predictions.json", "-m", "RR")
    outcome = confir_command(*words)
    assert outcome.code == 2
    assert "holds 2 subsets ('en', 'de'); expected --subset" in outcome.err
    (found,) = records(confir_command, *words, "--subset", "en", "--split", "test")
    assert (found["run"], found["mean"]) == ("T_predictions", 1.0)


@pytest.mark.usefixtures("folder")
def test_addresses_need_the_option_download(confir_command):
    outcome = confir_command("evaluate", "qrels.txt", "https://127.0.0.1:9/x.run")
    assert outcome.code == 2
    assert "https://127.0.0.1:9/x.run: an address, which is fetched only on request" in outcome.err


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
@pytest.mark.parametrize(
    ("options", "left"),
    [
        (("--select", "*-1"), {"good-1", "poor-1"}),
        (("--top", 2), {"good-1", "fair-2"}),  # by the first judge
        (("--top", 1, "--select", "[fp]*"), {"fair-2"}),
        ((), {"good-1", "fair-2", "poor-1"}),
    ],
)
def test_judges_are_compared_on_the_chosen_runs(confir_command, folder, options, left):
    (folder / "other.txt").write_text("1 0 x 1\n1 0 a 0\n2 0 x 1\n2 0 b 1\n")
    words = ("-m", "RR", "--show", "runs", "--grades", "0,1", *options)
    given = ("judges", "qrels.txt", "other.txt", "runs", *words)
    assert {record["run"] for record in records(confir_command, *given)} == left


def test_without_runs_there_is_nothing_to_choose(confir_command, folder):
    (folder / "other.txt").write_text(QRELS)
    outcome = confir_command("judges", "qrels.txt", "other.txt", "--top", 2)
    assert outcome.code == 2
    assert "--top selects runs; expected RUN" in outcome.err
    outcome = confir_command("judges", "qrels.txt", "other.txt", "-m", "AP")
    assert "--measure is for scores of runs; expected RUN" in outcome.err
    outcome = confir_command("judges", "qrels.txt", "other.txt", "runs", "--select", "nix")
    assert "unknown run 'nix'" in outcome.err


@pytest.mark.parametrize(
    ("name", "separator"), [("both.tsv", "\t"), ("both.csv", ","), ("both.tsv.gz", "\t")]
)
def test_a_table_of_several_runs_is_several_runs(confir_command, folder, name, separator):
    rows = [("run", "topic", "docid", "score")]
    rows += [
        (run, topic, doc, s) for run in "uv" for topic, doc, s in (("1", "a", 3), ("2", "b", 2))
    ]
    text = "".join(separator.join(map(str, row)) + "\n" for row in rows).encode()
    (folder / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    found = records(confir_command, "evaluate", "qrels.txt", name, "runs", "-m", "RR")
    assert {record["run"] for record in found} == {"u", "v", "good-1", "fair-2", "poor-1"}
    chosen = records(confir_command, "evaluate", "qrels.txt", name, "-m", "RR", "--select", "v")
    assert [(record["run"], record["mean"]) for record in chosen] == [("v", 1.0)]
    outcome = confir_command("evaluate", "qrels.txt", f"one={name}", "-m", "RR")
    assert "holds 2 runs (u, v); expected one here" in outcome.err


def test_trec_runs_with_the_ending_of_a_table_stay_runs(confir_command, folder):
    (folder / "odd.tsv").write_text(GOOD.replace(" ", "\t"))
    (found,) = records(confir_command, "evaluate", "qrels.txt", "odd.tsv", "-m", "RR")
    assert (found["run"], found["mean"]) == ("odd", 1.0)
