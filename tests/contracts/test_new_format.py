"""A new file format: one module and one line in FORMATS, from which every reader and writer finds it."""

from pathlib import Path

import numpy as np
import pytest

import confir
from confir.data.formats import format_list
from confir.data.formats.format import Format
from confir.data.run import build_run
from confir.data.tables.input_table import score_table
from confir.data.trec import read_trec_qrels, write_trec_qrels
from samples import short_sample


def read_toy_run(content, source, _):
    rows = [line.split(";") for line in content.decode().splitlines()]
    topics, documents, scores = zip(*rows, strict=True)
    return [build_run(source.label(), topics, documents, np.array(scores, dtype=float))]


def write_toy_run(run, path):
    rows = [(t, d, s) for t, listed in run.to_dict().items() for d, s in listed.items()]
    Path(path).write_text("".join(f"{t};{d};{s!r}\n" for t, d, s in rows), encoding="utf-8")


@pytest.fixture(autouse=True)
def _toy_format(monkeypatch):
    toy = Format(
        "toy",
        "topic;docid;score",
        endings=(".toy",),
        read_runs=read_toy_run,
        read_qrels=read_trec_qrels,
        write_run=write_toy_run,
        write_qrels=write_trec_qrels,
    )
    monkeypatch.setattr(format_list, "FORMATS", (toy, *format_list.FORMATS))


@pytest.fixture
def files(tmp_path):
    """Qrels in TREC's format, and a run in the new one."""
    sample = short_sample()
    confir.write_qrels(sample.qrels, tmp_path / "qrels.txt")
    confir.write_run(sample.runs[0], tmp_path / "first.toy")
    return sample, tmp_path / "qrels.txt", tmp_path / "first.toy"


def test_runs_are_written_and_read_back(files):
    sample, _, run = files
    assert run.read_text(encoding="utf-8").count(";") > 1_000
    assert confir.read_run(run, name="again").to_dict() == sample.runs[0].to_dict()
    assert confir.as_run(run).to_dict() == sample.runs[0].to_dict()


@pytest.mark.parametrize("verb", [confir.evaluate, confir.resample_documents])
def test_verbs_take_files_in_it_and_name_the_run(files, verb):
    sample, qrels, run = files
    options = {} if verb is confir.evaluate else {"replicates": 20, "rng": 1}
    found = verb(qrels, [f"named={run}"], ["AP"], **options)
    expected = verb(sample.qrels, sample.runs[:1], ["AP"], **options)
    scores = found if verb is confir.evaluate else found.scores
    wanted = expected if verb is confir.evaluate else expected.scores
    assert scores.runs == ("named",)
    assert scores.values.tolist() == wanted.values.tolist()


def test_an_experiment_reads_it_with_other_formats(files, tmp_path):
    sample, qrels, run = files
    confir.write_run(sample.runs[2], tmp_path / "second.txt")
    found = confir.evaluate(confir.Experiment(qrels, [run, tmp_path / "second.txt"], ["AP"]))
    assert found.values.tolist() == (
        confir.evaluate(sample.qrels, sample.runs[:3:2], ["AP"]).values.tolist()
    )


def test_scores_are_recognised_by_the_columns_of_their_header(tmp_path, monkeypatch):
    def read(content, source):
        rows = [line.split(",") for line in content.decode().splitlines()[1:]]
        return score_table(
            [(bot, "grade", task, float(grade)) for task, grade, bot in rows], source
        )

    boxes = Format("boxes", "Task,Grade,Bot", columns=[("task", "grade", "bot")], read_scores=read)
    monkeypatch.setattr(format_list, "FORMATS", (*format_list.FORMATS[:-2], boxes))
    path = tmp_path / "x.csv"
    path.write_text("Task,Grade,Bot\n1,0.5,r2\n2,1,r2\n", encoding="utf-8")
    scores = confir.read_scores(path)
    assert (scores.runs, scores.measures, scores.topics) == (("r2",), ("grade",), ("1", "2"))
    assert scores.mean().tolist() == [[0.75]]
