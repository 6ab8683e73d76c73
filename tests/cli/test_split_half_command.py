"""``confir split-half``: all views and formats, and error messages."""

import json

import pytest

from confir.data.simulation import simulate_collection, write_collection


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Qrels and two runs on disk."""
    folder = tmp_path_factory.mktemp("small")
    write_collection(simulate_collection(topics=12, runs=2, depth=60, relevant=8, rng=4), folder)
    return folder


@pytest.fixture
def split_half(confir_command, files):
    """A function that runs the command on the two runs, with few replicates."""

    def run(*arguments):
        return confir_command(
            "split-half", files / "qrels.txt", files / "runs", "--replicates", 50, *arguments
        )

    return run


def test_shares_are_shown_for_topics_and_means(split_half):
    code, out, err = split_half()
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split()[:4] == ["score", "method", "small-R", "subset"]
    assert lines[1].split()[:4] == ["AP", "linear", "no", "all"]
    assert any(line.startswith("L-MAP") for line in lines)
    model = next(line for line in lines if line.startswith("model"))
    assert model.split()[1:4] == ["8.3%", "83.4%", "8.3%"]
    assert "50 replicates, seed 2006" in out


def test_splits_can_be_chosen(split_half):
    several = split_half("--method", "logit", "--splits", 3).out
    assert (
        "mean over 3 splits, and the lowest to the highest of them (not a standard error" in several
    )
    one = split_half("--method", "logit", "--splits", 1)
    assert "splits" not in one.out
    records = json.loads(split_half("--splits", 2, "--format", "json").out)
    assert {record["splits"] for record in records} == {2}


def test_methods_can_be_chosen(split_half):
    records = json.loads(split_half("--method", "logit", "--format", "json").out)
    assert {r["method"] for r in records if r["summary"] == "topic"} == {"logit"}


def test_intents_weigh_the_subtopics(split_half, files, tmp_path):
    topics = {line.split()[0] for line in (files / "qrels.txt").read_text().splitlines()}
    uneven = [
        f"{topic} {subtopic} {0.1**subtopic}\n" for topic in topics for subtopic in range(1, 6)
    ]
    (tmp_path / "intents.txt").write_text("".join(uneven))
    options = ("-m", "D_nDCG@10", "--method", "logit", "--format", "csv")
    weighted = split_half(*options, "--intents", tmp_path / "intents.txt")
    assert weighted.code == 0
    assert weighted.out != split_half(*options).out


def test_a_chart_is_drawn(split_half, tmp_path):
    path = tmp_path / "chart.svg"
    assert split_half("--method", "linear", "-o", path).code == 0
    assert path.read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", "bcaa"), "did you mean bca"),
        (("-m", "NumRel"), "which NumRel is not"),
        (("--level", "0"), "level is 0.0"),
        (("--epsilon", "0.7"), "epsilon is 0.7"),
        (("--margin", "0.1"), "No such option: --margin"),
        (("--depth", "0"), "depth is 0"),
        (("--splits", "0"), "--splits is 0"),
        (("--splits", "129"), "splits is 129"),
    ],
)
def test_wrong_options_are_named_in_one_sentence(split_half, arguments, message):
    code, out, err = split_half(*arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_runs_are_needed(confir_command):
    code, _, err = confir_command("split-half")
    assert code == 2
    assert "expected QRELS and at least one RUN" in err
