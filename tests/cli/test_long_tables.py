"""Commands on score tables that are too long to be read whole."""

import json

import numpy as np
import pytest

import confir
from confir.data.formats import run_tables
from confir.data.long_tables.parquet_scores import ParquetScores
from confir.data.scores import Scores
from confir.measures import score_sources
from parquet_datasets import make_rows, qrels_table, run_table, write_folder
from requirements import required

pa = required("pyarrow")
pq = required("pyarrow.parquet")


def make_scores(topics=6_000, runs=4, measures=1, seed=3):
    """Scores in [0, 1] of runs that share the topics' difficulty."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(0, 1, (topics, 1, 1))
    noise = rng.normal(0, 0.7, (topics, runs, measures))
    values = 1 / (1 + np.exp(-(hard + noise + 0.03 * np.arange(runs)[:, None])))
    ids = tuple(f"q{number:07d}" for number in range(topics))
    names = tuple(f"run{r}" for r in range(runs))
    return Scores(ids, names, ("AP", "nDCG@10", "P@10")[:measures], values)


@pytest.fixture
def long_table(tmp_path, monkeypatch):
    """A Parquet table that counts as long, and the same scores as CSV."""
    monkeypatch.setattr(score_sources, "MOST_HELD_SCORES", 1_000)
    scores = make_scores(topics=5_500, runs=3, measures=2)
    named = dict(zip(scores.runs, ("bm25", "<script>", "constructor"), strict=True))
    scores = Scores(scores.topics, tuple(named.values()), scores.measures, scores.values)
    confir.write_scores(scores, tmp_path / "scores.parquet")
    confir.write_scores(scores, tmp_path / "scores.csv")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate"],
        ["evaluate", "--baseline", "bm25"],
        ["compare", "--show", "ranks", "--top", "2"],
        ["compare", "--show", "pairs", "--select", "bm25", "--select", "constructor"],
        ["compare"],
        ["compare", "--baseline", "bm25", "--fail-if-worse", "AP", "--margin", "0.01"],
        ["compare", "--show", "groups", "-m", "AP"],
        ["plan", "--half-width", "0.01"],
    ],
)
def test_commands_print_the_same_of_a_long_table(long_table, confir_command, words):
    outcomes = [
        confir_command(*words, "--scores", long_table / name, "--format", "json")
        for name in ("scores.csv", "scores.parquet")
    ]
    assert outcomes[0].code == outcomes[1].code
    one, other = (json.loads(outcome.out) for outcome in outcomes)
    assert len(one) == len(other) > 0
    for left, right in zip(one, other, strict=True):
        assert left.keys() == right.keys()
        for name, value in left.items():
            near = name in ("share_first", "low", "high") and words[:3] != [
                "compare",
                "--show",
                "pairs",
            ]
            tolerance = 0.02 * abs(value) + 0.02 if near and value is not None else 1e-9
            expected = pytest.approx(value, abs=tolerance) if type(value) is float else value
            assert right[name] == expected or (near and abs(right[name] - value) <= tolerance), name


@pytest.mark.parametrize("command", [("evaluate",), ("compare", "--baseline", "run0")])
def test_missing_topics_are_named_without_a_pass_of_their_own(
    tmp_path, monkeypatch, confir_command, command
):
    monkeypatch.setattr(score_sources, "MOST_HELD_SCORES", 100)
    scores = make_scores(topics=50)
    scores.values[:3, 3] = np.nan
    rows = {run: scores.values[:, r, 0] for r, run in enumerate(scores.runs)}
    path = tmp_path / "x.AP.parquet"
    pq.write_table(pa.table({"topic": list(scores.topics), **rows}), path)
    passes = []
    gather = ParquetScores._gather
    monkeypatch.setattr(ParquetScores, "_gather", lambda s, d: passes.append(1) or gather(s, d))
    options = ["--scores", path, "--format", "json"]
    all_runs = confir_command(*command, *options)
    assert len(passes) == 1
    two_runs = confir_command(*command, *options, "--top", "2")
    for done in (all_runs, two_runs):
        words = " ".join(done.err.split())
        said = (
            "run 'run3' lacks 3 of 50 topics (6%) that other runs have, left out of the run's means"
        )
        assert words.count(said) == 1


def test_a_command_says_how_many_replicates_a_summary_had(long_table, confir_command):
    drawn = confir_command(
        "evaluate", "--scores", long_table / "scores.parquet", "--method", "percentile"
    )
    assert "999 replicates, seed 2006" in drawn.out


def test_a_report_of_a_long_table_shows_a_sample_and_says_so(long_table, confir_command):
    outcome = confir_command(
        "report", "--scores", long_table / "scores.parquet", "-o", long_table / "page.html"
    )
    assert outcome.code == 0, outcome.err
    page = (long_table / "page.html").read_text()
    assert "5,500 topics, a random sample of 2,000 topics is shown here" in page
    assert "<td>&lt;script&gt;</td>" in page
    assert "<td><script>" not in page
    assert "which summaries of scores lack" in page


@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
def test_a_command_evaluates_a_dataset_and_sums_up_many_topics(
    tmp_path, monkeypatch, confir_command
):
    retrieved, judged = make_rows(topics=8)
    runs = write_folder(run_table(retrieved), tmp_path / "runs", "run")
    qrels = write_folder(qrels_table(judged), tmp_path / "qrels")
    words = ["evaluate", qrels, runs, "-m", "AP", "--method", "t", "--format", "json"]
    held = confir_command(*words)
    monkeypatch.setattr(run_tables, "MOST_HELD_DOCUMENTS", 10)
    monkeypatch.setattr(score_sources, "MOST_HELD_SCORES", 10)
    summed = confir_command(*words)
    assert held.code == summed.code == 0
    refused = confir_command("evaluate", qrels, runs, "-m", "AP", "--method", "gaffke")
    assert refused.code == 2
    for one, other in zip(json.loads(held.out), json.loads(summed.out), strict=True):
        assert one["run"] == other["run"]
        assert other["mean"] == pytest.approx(one["mean"], abs=1e-12)
        assert other["low"] == pytest.approx(one["low"], abs=1e-9)


def test_the_command_sums_up_folders_with_a_long_table(tmp_path, monkeypatch, confir_command):
    folders = [tmp_path / name for name in ("one", "two")]
    for seed, folder in enumerate(folders):
        folder.mkdir()
        confir.write_scores(make_scores(2_000, seed=seed), folder / "scores.parquet")
    words = ["leaderboard", *folders, "--replicates", "999", "--format", "json"]
    held = confir_command(*words)
    monkeypatch.setattr(score_sources, "MOST_HELD_SCORES", 100)
    summed = confir_command(*words)
    assert (held.code, summed.code) == (0, 0)
    for one, other in zip(json.loads(held.out), json.loads(summed.out), strict=True):
        assert one["run"] == other["run"]
        assert other["macro"] == pytest.approx(one["macro"], abs=1e-12)
        assert other["rank_low"] == one["rank_low"]
    refused = confir_command(*words, "--page", tmp_path / "page.html")
    assert refused.code == 2
    assert "--page needs the score of every topic" in refused.err


@pytest.mark.parametrize("order", ["by dataset", "shuffled", "numbered"])
def test_the_command_sums_up_the_datasets_of_one_long_table(
    tmp_path, monkeypatch, confir_command, order
):
    parts = {"10": make_scores(300, seed=1), "9": make_scores(200, seed=2)}
    rows = [
        (dataset, topic, run, part.values[t, r, 0])
        for dataset, part in parts.items()
        for t, topic in enumerate(part.topics)
        for r, run in enumerate(part.runs)
    ]
    places = np.arange(len(rows))
    if order == "shuffled":
        places[1:] = np.random.default_rng(1).permutation(places[1:])
    datasets, topics, runs, scores = zip(*(rows[place] for place in places), strict=True)
    named = list(map(int, datasets)) if order == "numbered" else datasets
    path = tmp_path / "x.AP.parquet"
    columns = {"Dataset": named, "topic": topics, "run": runs, "score": scores}
    pq.write_table(pa.table(columns), path, row_group_size=100)
    words = ["leaderboard", path, "--replicates", "99", "--format", "json"]
    held = confir_command(*words)
    monkeypatch.setattr(score_sources, "MOST_HELD_SCORES", 100)
    monkeypatch.setattr("confir.data.score_files.read_table", None)  # not read whole
    summed = confir_command(*words)
    assert (held.code, summed.code) == (0, 0), summed.err
    note = "scores, more than 100, are summarised, not held in memory: resampling draws 999"
    assert note in "".join(set(summed.err.splitlines(True)) - set(held.err.splitlines(True)))
    one, other = json.loads(held.out), json.loads(summed.out)
    assert [(row["run"], row["dataset"], row["topics"]) for row in one] == [
        (row["run"], row["dataset"], row["topics"]) for row in other
    ]
    for name in ("mean", "low", "high", "macro", "macro_low", "macro_high", "borda"):
        np.testing.assert_allclose(
            [row[name] for row in other], [row[name] for row in one], rtol=1e-12, err_msg=name
        )
