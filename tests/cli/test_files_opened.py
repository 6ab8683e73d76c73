"""Every command opens each of its files once, whatever they hold."""

import os
from collections import Counter

import pytest

import confir
from confir.data import files
from confir.data.scanning import list_scanner, scanner


@pytest.fixture
def folder(tmp_path):
    """Qrels and runs: plain, compressed, and JSON that no ending gives away."""
    sample = confir.sample_collection()
    confir.write_json_qrels(sample.qrels, tmp_path / "qrels.json")
    (tmp_path / "qrels.json").rename(tmp_path / "qrels")
    (tmp_path / "runs").mkdir()
    plain, packed, hidden, named = sample.runs[:4]
    confir.write_run(plain, tmp_path / "runs" / "plain.run")
    confir.write_run(packed, tmp_path / "runs" / "packed.run.gz")
    confir.write_json_run(named, tmp_path / "runs" / "named.json.gz")
    confir.write_json_run(hidden, tmp_path / "runs" / "hidden.json")
    (tmp_path / "runs" / "hidden.json").rename(tmp_path / "runs" / "hidden")
    return tmp_path


@pytest.fixture
def opened(monkeypatch):
    """How often each file is opened."""
    counts = Counter()
    original = files._open_raw

    def noted(name):
        counts[os.path.basename(name)] += 1
        return original(name)

    monkeypatch.setattr(files, "_open_raw", noted)
    # The compiled scanner gives way to the reference reader, which opens the file again, where a
    # large file holds no TREC lines.
    for module in (scanner, list_scanner):
        monkeypatch.setattr(module, "choose_kernels", lambda _: None)
    return counts


ONCE = {"qrels": 1, "plain.run": 1, "packed.run.gz": 1, "named.json.gz": 1, "hidden": 1}


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate",),
        ("evaluate", "--ranks", "-m", "P@10", "-m", "judged@10"),
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


@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
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
    assert not experiment.has_lists
    assert opened == ONCE
    confir.inspect_data(experiment)
    assert opened == ONCE | {"plain.run": 2, "packed.run.gz": 2, "hidden": 2}
