"""Do the tests notice when a line of the statistics is broken? A random sample of mutants says.

    make mutate SECONDS=600
    python hardening/mutate.py --seconds 600 --seed 7

A mutant is a copy of the sources with one operator, comparison, number or condition changed. The
tests that name the changed module run on it until one fails: the mutant is killed; else it survived,
and is shown. Statistics are measured: `measures`, `resampling`, `intervals`, and those of studies.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src"
LAYERS = ("measures", "resampling", "intervals", "studies")
SHOWN = {"__init__", "table", "chart", "section", "command", "sentences", "catalogue"}
TIMEOUT = 600

ARITHMETIC = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.Pow: "*"}
COMPARISONS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
}
SIGN = re.compile(r"\*\*|is not|is|[<>=!]=|[-+*/<>]|and|or")


class Mutant(NamedTuple):
    """A change of one place in a source file."""

    path: Path
    line: int
    start: int
    stop: int
    change: str

    def apply(self, source: str) -> str:
        """Return the source with the change made."""
        return source[: self.start] + self.change + source[self.stop :]

    def describe(self, source: str) -> str:
        """Return file, line, and what the change makes of it."""
        changed = self.apply(source).splitlines()[self.line - 1].strip()
        where = self.path.relative_to(ROOT)
        return f"{where}:{self.line}: {source.splitlines()[self.line - 1].strip()} -> {changed}"


def find_mutants(path: Path) -> Iterator[Mutant]:
    """Yield the mutants of a file, those of strings, annotations and decorators left out."""
    source = path.read_text(encoding="utf-8")
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    lines = source.splitlines()

    def place(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    def between(left: ast.expr, right: ast.expr, change: str) -> Iterator[Mutant]:
        begin = place(left.end_lineno or left.lineno, left.end_col_offset or 0)
        found = SIGN.search(source, begin, place(right.lineno, right.col_offset))
        if found:
            line = source.count("\n", 0, found.start()) + 1
            yield Mutant(path, line, *found.span(), change)

    for node in _statements(ast.parse(source)):
        if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            yield from between(node.left, node.right, ARITHMETIC[type(node.op)])
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
            yield from between(node.left, node.comparators[0], COMPARISONS[type(node.ops[0])])
        elif isinstance(node, ast.BoolOp):
            change = "or" if isinstance(node.op, ast.And) else "and"
            yield from between(node.values[0], node.values[1], change)
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
            change = str(not node.value) if isinstance(node.value, bool) else f"{node.value!r} + 1"
            start = place(node.lineno, node.col_offset)
            stop = place(node.end_lineno or node.lineno, node.end_col_offset or 0)
            yield Mutant(path, node.lineno, start, stop, f"({change})")


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of bodies: neither annotations nor what decorates or declares."""
    if isinstance(tree, ast.keyword) and tree.arg == "strict":  # guards what cannot happen
        return
    for name, child in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for node in child if isinstance(child, list) else [child]:
            if isinstance(node, ast.AST):
                yield node
                yield from _statements(node)


def statistics() -> list[Path]:
    """Return the files that hold statistics."""
    files = (path for layer in LAYERS for path in (SOURCES / "confir" / layer).rglob("*.py"))
    return sorted(path for path in files if path.stem not in SHOWN)


def tests_of(path: Path) -> list[str]:
    """Return tests: those that name a module or what it defines, or its folder; then its layer's."""
    tests = [
        test
        for folder in (*LAYERS, "contracts", "reference")
        for test in sorted((ROOT / "tests" / folder).glob("test_*.py"))
    ]
    for modules in ([path], sorted(path.parent.glob("*.py"))):
        wanted = re.compile("|".join(_names(module) for module in modules))
        found = [test for test in tests if wanted.search(test.read_text(encoding="utf-8"))]
        if found:
            break
    named = sorted(map(str, found), key=lambda test: path.stem not in test)
    layer = path.relative_to(SOURCES / "confir").parts[0]
    # What these do not notice, the others of the layer may; those of studies take too long.
    others = [] if layer == "studies" else sorted((ROOT / "tests" / layer).glob("test_*.py"))
    return list(dict.fromkeys([*named, *map(str, others)]))


def _names(path: Path) -> str:
    """Return a pattern of a module's name and of the public names that it defines."""
    module = ".".join(path.relative_to(SOURCES).with_suffix("").parts)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    public = "".join(rf"|\b{name}\b" for name in defined if not name.startswith("_"))
    return rf"{re.escape(module)}\b{public}"


def is_killed(mutant: Mutant, copy: Path) -> bool:
    """Return whether a test fails on the copy with the mutant in it, or runs on and on."""
    changed = copy / mutant.path.relative_to(SOURCES)
    source = mutant.path.read_text(encoding="utf-8")
    changed.write_text(mutant.apply(source), encoding="utf-8")
    options = ["-q", "-x", "-p", "no:randomly", "-p", "no:cacheprovider"]
    # numba would take up kernels that were compiled before the change.
    environment = {**os.environ, "PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": str(copy / "numba")}
    if "compiled(" in source:
        shutil.rmtree(copy / "numba", ignore_errors=True)
    command = [sys.executable, "-B", "-m", "pytest", *options, *tests_of(mutant.path)]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    finally:
        changed.write_text(source, encoding="utf-8")
    return done.returncode == 1


def main() -> None:
    """Try mutants until the time is over; print the survivors and the share that was killed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a part of the path")
    options = parser.parse_args()
    mutants = [m for path in statistics() if options.only in str(path) for m in find_mutants(path)]
    random.Random(options.seed).shuffle(mutants)  # noqa: S311 - a sample, no secret
    stop = time.monotonic() + options.seconds
    tried = killed = 0
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "src"
        shutil.copytree(SOURCES, copy, ignore=shutil.ignore_patterns("__pycache__"))
        for mutant in mutants:
            if time.monotonic() > stop:
                break
            dead = is_killed(mutant, copy)
            tried, killed = tried + 1, killed + dead
            text = mutant.describe(mutant.path.read_text(encoding="utf-8"))
            print(f"{'killed' if dead else 'SURVIVED'}  {text}", flush=True)
    print(f"{killed} of {tried} mutants killed, of {len(mutants)}; seed {options.seed}")


if __name__ == "__main__":
    main()
