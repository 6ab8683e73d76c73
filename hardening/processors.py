"""Comparison of commands and tests under the instruction sets of older processors.

    make test-processors                        records of commands in all environments, tests in two
    python hardening/processors.py              the records alone
    python hardening/processors.py --tests tests/contracts    the records, then these tests

Numpy, numba and OpenBLAS choose code by the processor. Environment variables make them choose the code
for an older one. Records of the same commands with the same seed are compared with those of this
processor without restrictions: text and whole numbers must be equal, other numbers to within PRECISION
of the larger of 1 and the number.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

# Functions such as exp and log differ in their last digit, and sums of products.
PRECISION = 1e-12

# The environments in which the tests run, too: without AVX-512, and with all restrictions.
TESTED = ("numpy without AVX-512", "all of these")

RUNS = ("qrels.txt", "runs/bm25.txt", "runs/dense.txt", "runs/tfidf.txt")
FEW = ("--replicates", "999")
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("evaluate", "qrels.txt", "runs", "-m", "AP,nDCG@10,P@10,RR,RBP,ERR@20,Bpref,R@100"),
    *(
        ("evaluate", *RUNS, "-m", "AP,RR", "--method", method, *FEW)
        for method in ("t", "logit-t", "percentile", "bca", "bootstrap-t", "gaffke", "betting")
    ),
    ("evaluate", *RUNS, "-m", "AP", "-q"),
    ("compare", *RUNS, "-m", "AP", "--show", "ranks", *FEW),
    ("evaluate", *RUNS, "-m", "AP", "--show", "unjudged", "--treatment", "bounds"),
    ("compare", "qrels.txt", "runs", "-m", "AP,nDCG@10", "--show", "pairs", *FEW),
    ("compare", *RUNS, "-m", "AP,nDCG@10", "--baseline", "bm25", "--test", "wilcoxon", *FEW),
    ("compare", *RUNS, "-m", "AP", "--show", "best", *FEW),
    ("collection", *RUNS, "-m", "AP,P@10", *FEW),
    ("split-half", *RUNS, "-m", "AP", "--replicates", "99"),
    ("coverage", *RUNS, "-m", "AP", "--samples", "50", "--replicates", "99"),
    ("plan", *RUNS, "-m", "AP", "--baseline", "bm25", "--difference", "0.05"),
    ("topics", *RUNS, "-m", "AP"),
    ("bias-variance", *RUNS, "-m", "AP", *FEW),
    ("chance", *RUNS, "-m", "AP", "--documents", "60000", "--draws", "99"),
    ("components", *RUNS, "-m", "AP"),
    ("reproduce", *RUNS[1:], "--qrels", RUNS[0], "-m", "AP", "--ties", "b", *FEW),
    ("meta", *RUNS, "-m", "AP", "--baseline", "bm25"),
)


class Difference(NamedTuple):
    """Where two sets of records differ most: by how much, and in which command and field."""

    size: float
    place: str


def environments() -> dict[str, dict[str, str]]:
    """Return environment variables by what they leave out; what this processor lacks is left out."""
    # What numpy was compiled for, and what this processor has of it, widest last.
    numpy_core = import_module("numpy._core._multiarray_umath")
    has = numpy_core.__cpu_features__
    used = [name for name in numpy_core.__cpu_dispatch__ if has.get(name)]
    wide = [name for name in used if name.startswith("AVX512") or name == "X86_V4"]
    found = {"numba for any processor": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}}
    if wide:
        found["numpy without AVX-512"] = {"NPY_DISABLE_CPU_FEATURES": " ".join(wide)}
    if used:
        found["numpy for any processor"] = {"NPY_DISABLE_CPU_FEATURES": " ".join(used)}
    if has.get("AVX2"):
        found["OpenBLAS without AVX-512"] = {"OPENBLAS_CORETYPE": "Haswell"}
        found["OpenBLAS without AVX"] = {"OPENBLAS_CORETYPE": "Nehalem"}
    everything: dict[str, str] = {}
    for variables in found.values():
        everything |= variables
    return found | {"all of these": everything}


def print_records() -> None:
    """Print the records of all commands, run in this process on the sample collection."""
    from confir.cli.start import run
    from confir.data.simulation import sample_collection, write_collection

    records: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        write_collection(sample_collection(), folder)
        os.chdir(folder)
        for words in COMMANDS:
            sys.argv = ["confir", *words, "--quiet", "--format", "json"]
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                if run() != 0:
                    raise SystemExit(f"failed: confir {' '.join(words)}")
            records[" ".join(words)] = json.loads(printed.getvalue())
        os.chdir(os.sep)
    json.dump(records, sys.stdout)


def records_with(variables: dict[str, str]) -> Any:
    """Return the records of all commands in a process with environment variables."""
    printing = [sys.executable, __file__, "--print"]
    env = {**os.environ, **variables}
    done = subprocess.run(printing, env=env, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def differences(here: Any, there: Any, place: str) -> Iterator[Difference]:
    """Yield how far apart numbers are; text and other values differ by 0 or infinitely."""
    if isinstance(here, dict) and isinstance(there, dict) and here.keys() == there.keys():
        for key, value in here.items():
            yield from differences(value, there[key], f"{place}, {key}")
    elif isinstance(here, list) and isinstance(there, list) and len(here) == len(there):
        for number, (one, other) in enumerate(zip(here, there, strict=True), 1):
            yield from differences(one, other, f"{place}, {number}")
    elif isinstance(here, float) and isinstance(there, float):
        size = abs(here - there) / max(1.0, abs(here))
        yield Difference(size, f"{place}: {here!r}, {there!r}")
    else:
        yield Difference(0.0 if here == there else float("inf"), f"{place}: {here!r}, {there!r}")


def main() -> int:
    """Compare all environments, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--print", action="store_true", help="print the records of this process")
    parser.add_argument("--tests", nargs="*", default=[], help="tests to run in two environments")
    given = parser.parse_args()
    if given.print:
        print_records()
        return 0
    failed = False
    expected = records_with({})
    for name, variables in environments().items():
        largest = max(differences(expected, records_with(variables), "confir"))
        above = largest.size > PRECISION
        failed |= above
        print(f"{name}: records differ by at most {largest.size:.1e}")
        if largest.size > 0:
            print(f"  {largest.place}")
        if given.tests and name in TESTED:
            tests = [sys.executable, "-m", "pytest", "-q", "-n", "auto", *given.tests]
            done = subprocess.run(tests, env={**os.environ, **variables}, check=False)
            failed |= done.returncode != 0
    return int(failed)


if __name__ == "__main__":
    # This file is run, not imported: its folder is not where modules are looked for.
    sys.path[0] = str(Path(__file__).resolve().parent.parent / "src")
    sys.exit(main())
