"""Counts of type checks, refusals, entered functions and lines of code: `python hardening/counts.py`.

`--list` prints the places that check for a kind, `--entered` counts the functions that commands enter.

kinds
    Places that ask which kind of scores they have: `isinstance` of a type that `as_sample` takes
    (those in KINDS below) or of a kind of sample (SAMPLES), and
    comparisons of ``design``, ``clusters`` or ``judged`` with None, outside of resampling/kinds.py and kind_list.py,
    of the classes of samples themselves and of readers (data/).
refusals
    Lines of statements that raise UnsupportedMethodError, or call a function whose name begins with
    refuse.
functions
    Functions of confir entered by `confir evaluate QRELS A B -m AP` and by `confir report`, and their
    modules; imports and class bodies excluded. Needs the sample collection, which it writes, and
    `--entered`; `--list evaluate` prints them.
names
    Modules that share a name outside the pattern of a study (table, chart, command, section, page,
    sentences, __init__).
lines
    Code lines of src without docstrings, comments and blanks; and all lines.
"""

from __future__ import annotations

import ast
import collections
import contextlib
import io
import sys
import tempfile
import threading
import tokenize
from pathlib import Path
from types import FrameType
from typing import Any

SOURCE = Path(__file__).parents[1] / "src" / "confir"
KINDS = {
    *("Scores", "ScoreSummary", "JudgedScores", "SampledScores", "RepeatedScores", "RunScores"),
    *("RepeatedJudgedScores", "DocumentReplicates", "PublishedMeans", "Votes", "Strengths"),
}
SAMPLES = {
    *("TopicSample", "ClusteredSample", "JudgedSample", "SummarisedTopics", "RepeatSample"),
    *("ClusteredJudgedSample", "InfluenceSample", "SummarisedBoard", "AdditiveSample"),
    *(
        "Sample",
        "CollectionSample",
        "JudgedDatasets",
        "PublishedSample",
        "VoteSample",
        "BoardSample",
    ),
}
ASKED = {"design", "clusters", "judged"}
STUDY_PARTS = {"table", "chart", "command", "section", "page", "sentences", "__init__"}


def trees() -> dict[Path, ast.Module]:
    """Return the modules of confir, parsed."""
    return {path: ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))}


def find_kinds(modules: dict[Path, ast.Module]) -> list[str]:
    """Return the places that ask which kind of scores they have: file, line, and the line itself."""
    found = []
    for path, tree in modules.items():
        name = path.relative_to(SOURCE)
        if "data" in name.parts or path.name in ("kinds.py", "kind_list.py"):
            continue
        lines = path.read_text().splitlines()
        asked = sorted(getattr(node, "lineno", 0) for node in ast.walk(tree) if _asks_kind(node))
        found += [f"{name}:{line}: {lines[line - 1].strip()}" for line in asked]
    return found


def _asks_kind(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
        named = {one.id for one in ast.walk(node.args[1]) if isinstance(one, ast.Name)}
        return bool(named & (KINDS | SAMPLES))
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.Is | ast.IsNot):
        return False
    none = isinstance(node.comparators[0], ast.Constant) and node.comparators[0].value is None
    left = node.left
    name = left.attr if isinstance(left, ast.Attribute) else getattr(left, "id", "")
    return none and name in ASKED


def count_refusals(modules: dict[Path, ast.Module]) -> int:
    """Return the number of lines that only refuse."""
    return sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for tree in modules.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise | ast.Expr) and _refuses(node)
    )


def _refuses(node: ast.Raise | ast.Expr) -> bool:
    value = node.exc if isinstance(node, ast.Raise) else node.value
    if not isinstance(value, ast.Call):
        return False
    name = (
        value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
    )
    return name == "UnsupportedMethodError" or name.lstrip("_").startswith("refuse")


def shared_names() -> list[str]:
    """Return names that several modules have, outside the pattern of a study."""
    counted = collections.Counter(path.stem for path in SOURCE.rglob("*.py"))
    return sorted(name for name, n in counted.items() if n > 1 and name not in STUDY_PARTS)


def count_lines(modules: dict[Path, ast.Module]) -> tuple[int, int]:
    """Return code lines without docstrings, comments and blanks, and all lines."""
    code = every = 0
    for path, tree in modules.items():
        text = path.read_text()
        every += text.count("\n")
        skipped = _docstring_lines(tree)
        ignored = {
            tokenize.COMMENT,
            tokenize.NL,
            tokenize.NEWLINE,
            tokenize.INDENT,
            tokenize.DEDENT,
        }
        used: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type not in ignored and token.type != tokenize.ENDMARKER:
                used.update(range(token.start[0], token.end[0] + 1))
        code += len(used - skipped)
    return code, every


def _docstring_lines(tree: ast.Module) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                lines.update(range(first.lineno, (first.end_lineno or 0) + 1))
    return lines


def entered(arguments: list[str]) -> dict[str, list[str]]:
    """Return the functions of confir that a command enters, by module."""
    from confir.cli import main

    functions: set[tuple[str, str, int]] = set()
    home = str(SOURCE)

    def watch(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(home) and code.co_flags & 0x2:
            functions.add((code.co_filename, code.co_qualname, code.co_firstlineno))

    sys.argv = ["confir", *arguments]
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            main()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    found: dict[str, list[str]] = collections.defaultdict(list)
    for path, name, _ in sorted(functions):
        if "<" not in name.rpartition(".")[2]:
            found[str(Path(path).relative_to(SOURCE))].append(name)
    return found


def by_layer(found: dict[str, list[str]]) -> str:
    """Return how many functions of each layer are entered, and how many modules: cli 77 in 14, …"""
    functions: collections.Counter[str] = collections.Counter()
    modules: collections.Counter[str] = collections.Counter()
    for module, names in found.items():
        layer = module.partition("/")[0] if "/" in module else "confir"
        functions[layer] += len(names)
        modules[layer] += 1
    return ", ".join(f"{layer} {n} in {modules[layer]}" for layer, n in functions.items())


def main() -> None:
    """Print all counts."""
    modules = trees()
    code, every = count_lines(modules)
    asked = find_kinds(modules)
    print(f"places that ask which kind of scores they have: {len(asked)}")
    if "--list" in sys.argv:
        print("\n".join(asked))
    print(f"lines that only refuse: {count_refusals(modules)}")
    names = shared_names()
    print(f"modules that share a name: {len(names)} ({', '.join(names)})")
    print(f"code lines: {code:,} of {every:,}")
    listed = sys.argv[sys.argv.index("--list") + 1 :] if "--list" in sys.argv else []
    if "--entered" not in sys.argv and not listed:
        return
    from confir.cli import main as command

    with tempfile.TemporaryDirectory() as folder:
        sys.argv = ["confir", "demo", "--write", f"{folder}/sample"]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            command()
        runs = [f"{folder}/sample/runs/{name}.txt" for name in ("bm25", "dense")]
        files = [f"{folder}/sample/qrels.txt", *runs]
        for name, rest in (("evaluate", []), ("report", ["-o", f"{folder}/page.html"])):
            found = entered([name, *files, "-m", "AP", "--quiet", *rest])
            functions = sum(map(len, found.values()))
            print(f"functions entered by {name}: {functions:,} in {len(found)} modules")
            print(f"  {by_layer(found)}")
            if name in listed:
                for module, names in found.items():
                    print(f"  {module}: {', '.join(names)}")


if __name__ == "__main__":
    main()
