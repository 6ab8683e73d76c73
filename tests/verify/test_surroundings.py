"""Read-only folders, and several processes started at the same time; `make verify` runs this."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "src"
NOBODY = 65534


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample")
    code = "from confir.data.simulation import *; write_collection(sample_collection(), '{}')"
    subprocess.run([sys.executable, "-c", code.format(folder / "made")], check=True)
    return folder / "made"


def test_processes_with_an_empty_cache_of_kernels_do_not_disturb_each_other(sample, tmp_path):
    code = (
        "from confir.data.trec_kernel import load_kernel; assert load_kernel();"
        "from confir.intervals.count_kernels import compile_kernels; assert compile_kernels();"
        "from confir.cli import main; main()"
    )
    words = [
        "evaluate",
        str(sample / "qrels.txt"),
        str(sample / "runs"),
        "-m",
        "AP",
        "--format",
        "json",
    ]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, *words],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    outputs = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], outputs
    assert len({out for out, _ in outputs}) == 1
    assert json.loads(outputs[0][0])


@pytest.fixture(scope="module")
def as_nobody(sample):
    """A function that runs Python as a user who can write neither at home nor in the folder at hand."""
    python = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or not Path(python).exists():
        pytest.skip("needs root, to become another user, and a Python that this one may run")
    place = Path(tempfile.mkdtemp(dir="/tmp"))
    place.chmod(0o755)
    shutil.copytree(sample, place / "sample")
    shutil.copytree(SOURCES, place / "src", ignore=shutil.ignore_patterns("__pycache__"))
    packages = sysconfig.get_path("purelib")
    environment = {
        "HOME": str(place),
        "PATH": os.defpath,
        "PYTHONPATH": os.pathsep.join([str(place / "src"), packages]),
        "NUMBA_CACHE_DIR": str(place / "cache"),
    }

    def run(*words):
        return subprocess.run(
            [python, *words],
            cwd=place,
            env=environment,
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            capture_output=True,
            text=True,
            check=False,
        )

    if run("-c", "import numba, scipy, click").returncode:
        pytest.skip(f"{packages} cannot be read by others")
    yield run
    shutil.rmtree(place)


def test_results_are_printed_where_nothing_can_be_written(as_nobody):
    done = as_nobody("-m", "confir", "evaluate", "sample/qrels.txt", "sample/runs", "-m", "AP")
    assert done.returncode == 0, done.stderr
    assert "rerank  " in done.stdout


def test_a_file_that_cannot_be_written_is_named_in_one_sentence(as_nobody):
    words = ["evaluate", "sample/qrels.txt", "sample/runs", "-m", "AP", "--quiet", "-o", "x.csv"]
    done = as_nobody("-m", "confir", *words)
    assert done.returncode == 2
    assert done.stderr.startswith("confir: error: x.csv")
    assert done.stderr.count("\n") == 1


def test_kernels_are_compiled_where_none_can_be_kept(as_nobody):
    code = "from confir.intervals.count_kernels import compile_kernels; assert compile_kernels()"
    done = as_nobody("-c", code)
    assert done.returncode == 0, done.stderr
