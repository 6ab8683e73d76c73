"""The option --scheduler: the same output from other processes, which end with the command."""

import confir.scheduler
from requirements import required


def test_processes_give_the_same_output_and_are_ended(confir_command, sample_files, tmp_path):
    psutil = required("psutil")
    required("distributed")
    files = (sample_files / "qrels.txt", sample_files / "runs")
    options = ("-m", "AP", "--method", "percentile", "--replicates", "400", "-o")
    here = confir_command("evaluate", *files, *options, tmp_path / "here.csv")
    before = psutil.Process().children(recursive=True)
    there = confir_command(
        "evaluate", *files, *options, tmp_path / "there.csv", "--scheduler", "local:2"
    )
    assert there == here
    assert there.code == 0
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()
    left = {one.pid: one.cmdline() for one in psutil.Process().children(recursive=True)}
    known = {one.pid for one in before}
    assert [
        line for pid, line in left.items() if pid not in known and "spawn_main" in line[-1]
    ] == []


def test_a_scheduler_out_of_reach_is_one_sentence(
    confir_command, sample_files, tmp_path, monkeypatch
):
    monkeypatch.setattr(confir.scheduler, "_TO_CONNECT", 0.2)
    output = tmp_path / "scores.csv"
    files = (sample_files / "qrels.txt", sample_files / "runs")
    outcome = confir_command(
        "evaluate", *files, "-o", output, "--scheduler", "tcp://127.0.0.1:9", "--quiet"
    )
    assert outcome.code == 2
    assert outcome.err.startswith("confir: error: tcp://127.0.0.1:9: no scheduler of Dask answers")
    assert outcome.err.count("\n") == 1
    assert not output.exists()
