"""``confir doctor``: what is installed, what is missing, what is found, and how fast it is."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

from confir.cli.lists import deliver_list, prepare_list
from confir.cli.output import Output
from confir.cli.parameters import Without
from confir.defaults import REPLICATES

# What each extra of the package brings; without one, confir does not work.
_BRINGS = {
    None: "needed",
    "fast": "compiled reading, bootstrap, coverage",
    "report": "figures, and the charts of the HTML page",
    "parquet": "Parquet files",
    "zst": "files that end in .zst",
    "cluster": "work on the machines of a Dask cluster",
    "spark": "evaluation of frames of Spark, on its workers",
}
_REQUIREMENT = re.compile(r"""(?P<name>[\w.-]+).*?(?:extra\s*==\s*['"](?P<extra>\w+)['"])?$""")

Outcome = TypeVar("Outcome")


class Finding(NamedTuple):
    """What was looked for, whether it is there, and what follows."""

    what: str
    state: str
    meaning: str


def doctor_command(*, out: Annotated[Output, Without("quiet")]) -> None:
    """Say what is installed, what is missing, which data are found, and time a tiny job."""
    prepare_list(out)
    found = [*_programs(), *_packages(), _engine(), _data(), *_jobs()]
    deliver_list(out, [finding._asdict() for finding in found])


def _programs() -> Iterator[Finding]:
    yield Finding("confir", metadata.version("confir"), str(Path(__file__).parents[1]))
    yield Finding("Python", platform.python_version(), platform.platform())
    yield Finding("processors", str(os.cpu_count()), "threads and processes share them")


def _packages() -> Iterator[Finding]:
    """Yield the packages that confir names in its metadata, those of extras with what they bring."""
    listed = set()
    for line in metadata.requires("confir") or ():
        found = _REQUIREMENT.match(line)
        if found is None or found["extra"] not in _BRINGS or found["name"] in listed:
            continue
        name, extra = found["name"], found["extra"]
        listed.add(name)
        meaning = _BRINGS[extra]
        try:
            yield Finding(name, metadata.version(name), meaning)
        except metadata.PackageNotFoundError:
            extras = "" if extra is None else f"[{extra}]"
            yield Finding(name, "missing", f"{meaning}: pip install 'confir{extras}'")


def _engine() -> Finding:
    """Return whether runs are read by compiled code."""
    if find_spec("numba") is None:
        return Finding(
            "engine",
            "numpy",
            "without numba, a bootstrap over documents takes about 14 times as long",
        )
    return Finding("engine", "numba", "compiled on first use, then kept")


def _data() -> Finding:
    """Return where the collections are that tests and reproductions read."""
    folder = Path(os.environ.get("CONFIR_DATA") or "data")
    if not folder.is_dir():
        return Finding("data", "none", f"{folder}: only tests and reproductions need them")
    count = sum(entry.is_dir() for entry in folder.iterdir())
    plural = "" if count == 1 else "s"
    return Finding("data", f"{count} collection{plural}", str(folder))


def _jobs() -> Iterator[Finding]:
    """Yield the times of two tiny jobs."""
    from confir.data.simulation import sample_collection
    from confir.intervals.confidence_intervals import confidence_interval
    from confir.measures.evaluation import evaluate

    sample = sample_collection()
    runs = [run for run in sample.runs if run.name in ("bm25", "dense")]
    seconds, scores = _timed(lambda: evaluate(sample.qrels, runs, ["AP", "nDCG@10"]))
    yield Finding("evaluate", f"{seconds:.2f} s", "two runs of the built-in sample, two measures")
    seconds, _ = _timed(
        lambda: confidence_interval(scores, method="bca", replicates=REPLICATES, rng=1)
    )
    yield Finding("bootstrap", f"{seconds:.2f} s", f"{REPLICATES:,} replicates of all means")


def _timed(job: Callable[[], Outcome]) -> tuple[float, Outcome]:
    started = time.perf_counter()
    outcome = job()
    return time.perf_counter() - started, outcome
