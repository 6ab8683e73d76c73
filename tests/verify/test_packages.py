"""Wheel and sdist in empty environments, without the sources: everything that README promises.

`make packages` builds both into dist/ and runs this. "oldest" installs the lowest versions that
pyproject.toml permits.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SAMPLE = ("sample/qrels.txt", "sample/runs")

# Every command on the built-in sample, with little to draw.
COMMANDS = {
    "doctor": (),
    "measures": (),
    "methods": (),
    "evaluate": (*SAMPLE, "-m", "AP,nDCG@10"),
    "compare": (*SAMPLE, "-m", "AP", "--replicates", "99"),
    "plan": (*SAMPLE, "-m", "AP", "--half-width", "0.05"),
    "topics": (*SAMPLE, "-m", "AP"),
    "collection": (*SAMPLE, "-m", "AP", "--replicates", "50"),
    "split-half": (*SAMPLE, "-m", "AP", "--replicates", "50"),
    "coverage": (*SAMPLE, "-m", "AP", "--samples", "20", "--replicates", "50"),
    "type-one": (*SAMPLE, "-m", "AP", "--topics", "10", "--samples", "20", "--replicates", "50"),
    "bias-variance": (*SAMPLE, "-m", "AP"),
    "chance": (*SAMPLE, "--documents", "5000"),
    "judges": ("sample/qrels.txt", "sample/qrels2.txt", "sample/runs", "--replicates", "50"),
    "meta": (*SAMPLE, "-m", "AP", "--replicates", "50"),
    "simulate": ("--scores", "scores.csv", "--topics", "5", "-o", "simulated.csv"),
    "components": (*SAMPLE, "-m", "AP"),
    "reproduce": ("sample/runs/bm25.txt", "sample/runs/dense.txt", "--qrels", "sample/qrels.txt"),
    "reusability": (*SAMPLE, "-m", "AP", "--teams", "teams.txt"),
    "leaderboard": ("boards/one", "boards/two", "--replicates", "99"),
    "schema": (),
    "completion": ("bash",),
}
WITH_EXTRAS = {
    "report": (*SAMPLE, "-o", "page.html"),
    "evaluate": (*SAMPLE, "-o", "figure.svg"),
    "compare": (*SAMPLE, "-o", "compared.parquet"),
}


def lowest(requirements):
    """The lowest versions that are permitted, as pip takes them."""
    found = (re.match(r"([\w.-]+)(?:\[\w+\])?>=([\d.]+)", line) for line in requirements)
    return [f"{match[1]}=={match[2]}" for match in found if match]


def requirements(extras):
    optional = PROJECT["optional-dependencies"]
    return [*PROJECT["dependencies"], *(line for extra in extras for line in optional[extra])]


EXTRAS = [extra for extra in PROJECT["optional-dependencies"] if extra != "all"]
ENVIRONMENTS = {
    "core": ("whl", "", []),
    "all": ("whl", "[all]", []),
    "sdist": ("tar.gz", "", []),
    "oldest": ("whl", "[all]", lowest(requirements(EXTRAS))),
}


@pytest.fixture(scope="module", params=ENVIRONMENTS)
def installed(request, tmp_path_factory):
    """The program of an environment, with an empty folder to work in."""
    ending, extras, constraints = ENVIRONMENTS[request.param]
    package = next((ROOT / "dist").glob(f"*.{ending}"))
    folder = tmp_path_factory.mktemp(request.param)
    venv.create(folder / "env", with_pip=True)
    programs = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    limits = folder / "constraints.txt"
    limits.write_text("\n".join(constraints))
    run(programs / "python", "-m", "pip", "install", "-q", "-c", limits, f"{package}{extras}")
    work = folder / "work"
    work.mkdir()
    run(programs / "confir", "demo", "--write", "sample", cwd=work)
    (work / "sample" / "qrels2.txt").write_bytes((work / "sample" / "qrels.txt").read_bytes())
    names = [path.stem for path in (work / "sample" / "runs").iterdir()]
    (work / "teams.txt").write_text("".join(f"{name} {name[:1]}\n" for name in names))
    for board in ("one", "two"):
        shutil.copytree(work / "sample" / "runs", work / "boards" / board)
        shutil.copy(work / "sample" / "qrels.txt", work / "boards" / board)
    run(
        programs / "confir",
        "evaluate",
        *SAMPLE,
        "-m",
        "AP",
        "-q",
        "-o",
        "scores.csv",
        cwd=work,
    )
    return programs / "confir", work, bool(extras)


def run(*command, cwd=None, code=0):
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "CI")}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == code, f"{command}: {done.stdout}\n{done.stderr}"
    return done


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_answers(installed, command):
    program, work, _ = installed
    arguments = COMMANDS[command]
    printed = run(program, command, *arguments, cwd=work).stdout
    assert (work / arguments[-1]).exists() if "-o" in arguments else printed.strip()


@pytest.mark.parametrize("command", WITH_EXTRAS)
def test_what_an_extra_brings(installed, command):
    program, work, extras = installed
    arguments = (command, *WITH_EXTRAS[command])
    if extras:
        run(program, *arguments, cwd=work)
        assert (work / arguments[-1]).stat().st_size > 1_000
    else:
        assert "pip install 'confir[" in run(program, *arguments, cwd=work, code=2).stderr


def test_nothing_is_read_from_the_sources(installed):
    program, work, _ = installed
    code = "import confir; print(confir.__file__)"
    place = run(program.with_name(Path(sys.executable).name), "-c", code, cwd=work).stdout
    assert "site-packages" in place
