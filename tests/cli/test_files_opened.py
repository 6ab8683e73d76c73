"""Every command opens each of its files once, and no output may replace one that it opens."""

import json
import os
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest

import confir
from confir.cli import file_checks
from confir.cli.commands import OneCommand
from confir.data import files
from confir.data.formats import run_tables
from confir.data.simulation import simulate_collection
from judge_files import noisy_judge, write_judge
from parquet_datasets import make_rows, qrels_table, run_table, write_folder
from requirements import required

VOTES = "left,right,winner\n" + "a,b,a\nb,a,b\nb,c,left\nc,b,c\na,c,tie\n" * 4


@pytest.fixture(scope="module")
def collection():
    """A small collection, whose files are as fast to read as there are many of them."""
    return simulate_collection(topics=12, runs=4, depth=30, rng=1)


@pytest.fixture
def folder(tmp_path, collection):
    """Qrels and runs: plain, compressed, and JSON that no ending gives away."""
    confir.write_qrels(collection.qrels, tmp_path / "qrels.json")
    (tmp_path / "qrels.json").rename(tmp_path / "qrels")
    (tmp_path / "runs").mkdir()
    plain, packed, hidden, named = collection.runs
    confir.write_run(plain, tmp_path / "runs" / "plain.run")
    confir.write_run(packed, tmp_path / "runs" / "packed.run.gz")
    confir.write_run(named, tmp_path / "runs" / "named.json.gz")
    confir.write_run(hidden, tmp_path / "runs" / "hidden.json")
    (tmp_path / "runs" / "hidden.json").rename(tmp_path / "runs" / "hidden")
    return tmp_path


@pytest.fixture
def opened(monkeypatch):
    """How often each file is opened."""
    counts = Counter()
    original = files._open_raw

    def noted(name, download):
        counts[os.path.basename(name)] += 1
        return original(name, download)

    monkeypatch.setattr(files, "_open_raw", noted)
    return counts


ONCE = {"qrels": 1, "plain.run": 1, "packed.run.gz": 1, "named.json.gz": 1, "hidden": 1}


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate",),
        ("compare", "--show", "ranks", "-m", "P@10", "-m", "judged@10"),
        ("compare", "--baseline", "plain"),
        ("compare", "--baseline", "runs/hidden"),
        ("collection", "--replicates", 9, "--baseline", "packed"),
        ("split-half", "--replicates", 9),
        ("chance", "--documents", 60_000, "--draws", 0),
        ("topics",),
        ("report", "--replicates", 19, "-o", "page.html"),
    ],
    ids=lambda words: " ".join(map(str, words)),
)
def test_a_command_opens_each_file_once(confir_command, folder, opened, monkeypatch, words):
    monkeypatch.chdir(folder)
    command, *options = words
    outcome = confir_command(command, "qrels", "runs", *options, "--quiet")
    assert outcome.code == 0, outcome.err
    assert opened == ONCE


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_verbs_of_one_experiment_open_each_file_once(folder, opened):
    experiment = confir.Experiment(folder / "qrels", folder / "runs", ["AP"])
    confir.compare_runs(experiment, replicates=19, rng=1)
    confir.evaluate(experiment, measures=["P@10"])
    confir.resample_documents(experiment, replicates=9, rng=1)
    confir.validate_split_half(experiment, replicates=9, rng=1)
    confir.inspect_data(experiment)
    confir.write_report(folder / "page.html", experiment, replicates=19, rng=1)
    assert opened == ONCE


@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
def test_runs_too_large_to_be_kept_are_scored_first(folder, opened, monkeypatch):
    expected = confir.evaluate(confir.Experiment(folder / "qrels", folder / "runs", ["AP"]))
    opened.clear()
    monkeypatch.setattr("confir.data.experiment._KEPT_SIZE", 0)
    experiment = confir.Experiment(folder / "qrels", folder / "runs", ["AP"])
    assert confir.evaluate(experiment).values.tolist() == expected.values.tolist()
    assert "lists" not in experiment.kept
    assert opened == ONCE
    confir.inspect_data(experiment)
    assert opened == ONCE | {"plain.run": 2, "packed.run.gz": 2, "hidden": 2}


class Listening:
    """The files that Python opens for reading, by its audit hook, which cannot be removed again."""

    def __init__(self):
        self.read: list[str] | None = None
        sys.addaudithook(self._hook)

    def _hook(self, event, given):
        if event == "open" and self.read is not None and isinstance(given[0], str | bytes):
            name, _, flags = given
            if not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                self.read.append(os.fsdecode(name))

    @contextmanager
    def to(self, folder):
        """Yield a set that has, at the end, the files of a folder that were read meanwhile."""
        self.read, found = [], set()
        try:
            yield found
        finally:
            below = f"{os.path.realpath(folder)}{os.sep}"
            read = map(os.path.realpath, self.read)
            found |= {path for path in read if path.startswith(below) and os.path.isfile(path)}
            self.read = None


LISTENING = Listening()


@pytest.fixture(scope="module")
def house(tmp_path_factory, collection):
    """A folder with inputs of every kind."""
    place = tmp_path_factory.mktemp("house")
    qrels, (first, second, *others) = collection.qrels, collection.runs
    confir.write_qrels(qrels, place / "qrels.txt")
    confir.write_qrels(qrels, place / "qrels.json")
    judged = noisy_judge(qrels, seed=2)
    write_judge(place / "judge.txt", judged)
    write_judge(place / "people.txt", dict(list(judged.items())[:6]))
    (place / "intents").mkdir()
    lines = [(t, n, d) for t, found in judged.items() for n in "12" for d in list(found)[:3]]
    (place / "intents" / "qrels").write_text("".join(f"{t} {n} {d} 1\n" for t, n, d in lines))
    (place / "intents" / "p").write_text("".join(f"{t} 1 0.7\n{t} 2 0.3\n" for t in judged))
    (place / "runs").mkdir()
    confir.write_run(first, place / "runs" / "a.run")
    confir.write_run(second, place / "runs" / "b.run.gz")
    confir.write_run(others[0], place / "runs" / "c.json")
    confir.write_run(others[1], place / "d.parquet")
    frame = first.to_frame("pyarrow")
    rows = zip(*(column.to_pylist() for column in frame.columns), strict=True)
    lines = [",".join(frame.column_names), *(",".join(map(str, row)) for row in rows)]
    (place / "e.csv").write_text("\n".join(lines) + "\n")
    (place / "described").mkdir()
    confir.write_run(second, place / "described" / "run.txt")
    (place / "described" / "ir-metadata.yml").write_text("tag: ours\nactor:\n  team: us\n")
    scores = confir.evaluate(qrels, list(collection.runs), ["AP"])
    confir.write_scores(scores, place / "scores.csv")
    topics = ("topic,stratum", *(f"{t},{'ab'[i % 2]}" for i, t in enumerate(scores.topics)))
    (place / "design.csv").write_text("\n".join(topics) + "\n")
    (place / "mteb").mkdir()
    held = {"hf_subset": "default", "main_score": 0.4}
    for task in ("x", "y", "z"):
        result = {"mteb_version": "2", "task_name": task, "scores": {"test": [held]}}
        (place / "mteb" / f"{task}.json").write_text(json.dumps(result))
    (place / "mteb" / "model_meta.json").write_text('{"name": "ours"}')
    for dataset in ("one", "two"):
        (place / "boards" / dataset).mkdir(parents=True)
        confir.write_qrels(qrels, place / "boards" / dataset / "qrels.txt")
        for name, run in (("a", first), ("b", second)):
            confir.write_run(run, place / "boards" / dataset / f"{name}.run")
    (place / "teams.txt").write_text("a A\nb B\n")
    named = [
        f"{t} 0 {d} {gain} 2 A B\n" for t, own in qrels.to_dict().items() for d, gain in own.items()
    ]
    (place / "contributors.txt").write_text("".join(named))
    (place / "costs.csv").write_text("run,price\na,1\nb,2\n")
    (place / "means.csv").write_text("dataset,a,b\nx,0.5,0.6\ny,0.4,0.5\nz,0.3,0.2\n")
    (place / "votes.csv").write_text(VOTES)
    (place / "effects.csv").write_text("study,effect,se\nx,0.1,0.05\ny,0.2,0.06\nz,0.1,0.04\n")
    retrieved, judged = make_rows()
    write_folder(qrels_table(judged), place / "parted" / "qrels")
    write_folder(run_table(retrieved), place / "parted" / "runs", "run")
    return place


FEW = ("--replicates", "19")
PAIR = ("qrels.txt", "runs/a.run", "runs/b.run.gz", "-m", "AP")
COMMANDS = [
    ("evaluate", "qrels.txt", "runs", "-m", "AP"),
    ("evaluate", "qrels.json", "mine=runs/a.run", "runs/*.json", "d.parquet", "-m", "AP"),
    ("evaluate", "qrels.txt", "e.csv", "described", "other=described", "-m", "AP"),
    ("evaluate", *PAIR, "--baseline", "runs/c.json"),
    ("evaluate", "intents/qrels", "runs/a.run", "-m", "alpha-nDCG@10", "--intents", "intents/p"),
    ("evaluate", *PAIR, "--human", "people.txt", "--human-sample", "random-topics"),
    ("evaluate", "--scores", "scores.csv", "--design", "design.csv"),
    ("evaluate", "--scores", "mteb/x.json", "--scores", "mteb/y.json", "--scores", "mteb/z.json"),
    ("evaluate", "parted/qrels", "parted/runs", "-m", "AP"),
    ("compare", *PAIR, "--baseline", "a", "--fail-if-worse", "AP", "--history", "{out}/h.jsonl"),
    ("history", "{out}/h.jsonl"),
    ("plan", "--scores", "scores.csv", "--half-width", "0.05"),
    ("topics", *PAIR),
    ("collection", *PAIR, *FEW),
    ("coverage", "--scores", "scores.csv", "--samples", "20", *FEW),
    ("chance", *PAIR, "--documents", "60000", "--draws", "0"),
    ("components", *PAIR),
    ("reproduce", "runs/a.run", "runs/b.run.gz", "--qrels", "qrels.txt", "-m", "AP"),
    (
        *("reproduce", "e.csv", "described", "--qrels", "qrels.txt", "-m", "AP", *FEW),
        *("--baseline-runs", "runs/c.json", "d.parquet"),
    ),
    ("reusability", *PAIR, "--teams", "teams.txt", "--contributors", "contributors.txt"),
    ("tradeoff", *PAIR, "--cost", "costs.csv", *FEW),
    ("bias-variance", *PAIR, *FEW),
    ("judges", *PAIR[:2], "judge.txt", "runs/b.run.gz", "-m", "AP", *FEW),
    ("judges", "--judge", "x=qrels.txt", "--judge", "judge.txt", "runs", "-m", "AP", *FEW),
    ("simulate", "--scores", "scores.csv", "-o", "{out}/new.csv"),
    ("meta", "effects.csv"),
    ("preferences", "votes.csv", *FEW),
    ("leaderboard", "boards/one", "boards/two", "-m", "AP", *FEW),
    ("leaderboard", "--means", "means.csv", *FEW),
    ("leaderboard", "--means", "mteb/x.json", "--means", "mteb/y.json", *FEW),
]


@pytest.fixture
def known(monkeypatch):
    """A list with the context of each command, by which the guard knows its files."""
    contexts = []
    invoke = OneCommand.invoke
    monkeypatch.setattr(OneCommand, "invoke", lambda s, c: (contexts.append(c), invoke(s, c))[1])
    return contexts


def test_the_guard_knows_every_file_that_a_command_reads(
    confir_command, house, known, tmp_path, monkeypatch
):
    monkeypatch.chdir(house)
    monkeypatch.setattr(run_tables, "MOST_HELD_DOCUMENTS", 0)
    read_at_all = set()
    for words in COMMANDS:
        with LISTENING.to(house) as read, listening_to_arrow(monkeypatch) as by_arrow:
            given = (word.format(out=tmp_path) for word in words)
            outcome = confir_command(*given, *quiet(words))
        assert outcome.code in (0, 1), (words, outcome.err)
        read |= {path for path in by_arrow if path.startswith(str(house))}
        (context,) = known
        known.clear()
        unknown = {path for path in read if not file_checks.may_be_read(context, path)}
        assert not unknown, words
        assert read or words[0] == "history"
        read_at_all |= read
    unread = {str(path) for path in house.rglob("*") if path.is_file()} - read_at_all
    assert {os.path.basename(path) for path in unread} == {"_SUCCESS"}  # or cases are missing


def quiet(words):
    return () if words[0] == "simulate" else ("--quiet",)


@contextmanager
def listening_to_arrow(monkeypatch):
    """Yield the files of datasets that Arrow opens, of which Python knows nothing."""
    dataset = required("pyarrow.dataset")
    found = set()
    make = dataset.dataset

    def made(*given, **options):
        result = make(*given, **options)
        found.update(os.path.realpath(path) for path in result.files)
        return result

    with monkeypatch.context() as patch:
        patch.setattr(dataset, "dataset", made)
        yield found


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (
            ("evaluate", "--scores", "mteb/x.json", "--scores", "mteb/y.json"),
            "mteb/model_meta.json",
        ),
        (("leaderboard", "--means", "mteb/x.json"), "mteb/model_meta.json"),
        (("evaluate", "qrels.txt", "described"), "described/notes.csv"),
        (("evaluate", "qrels.txt", "mine=described"), "described/notes.csv"),
        (
            ("evaluate", "parted/qrels", "parted/runs", "-m", "AP"),
            "parted/runs/run=run0/part-0.parquet",
        ),
        (("leaderboard", "boards/one", "boards/two", "-m", "AP"), "boards/one/notes.csv"),
    ],
    ids=lambda part: part if isinstance(part, str) else " ".join(part),
)
def test_no_output_replaces_what_is_read_next_to_or_below_an_input(
    confir_command, house, monkeypatch, words, output
):
    monkeypatch.chdir(house)
    path = Path(output)
    made = not path.exists()
    if made:
        path.write_text("years of work")
    before = path.read_bytes()
    outcome = confir_command(*words, "-o", output)
    assert outcome.err == (
        f"confir: error: {output}: the command reads this file; expected another one to write\n"
    )
    assert path.read_bytes() == before
    if made:
        path.unlink()
