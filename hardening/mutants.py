"""Mutants of the statistics: one operator, comparison, condition or number changed in each.

The places are in function bodies, defaults and constants; strings and annotations are left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src"
LAYERS = ("measures", "resampling", "intervals", "studies")
SHOWN = {
    *(
        "__init__",
        "table",
        "chart",
        "section",
        "command",
        "sentences",
        "measure_list",
        "method_list",
    ),
    *("verdict_words", "pair_counts", "compare_warnings", "baseline_section", "parts"),
}

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


class Place(NamedTuple):
    """A node of a syntax tree: the statement that it is part of, and the function, if it is in one."""

    node: ast.AST
    statement: ast.stmt
    function: ast.FunctionDef | None


class Mutant(NamedTuple):
    """A change of one place in a source file.

    Attributes
    ----------
    path
        The file.
    lines
        First and last line of the statement; of `if` and the like, the lines of the condition.
    span
        First and last character that are replaced.
    change
        What replaces them.
    function
        First line of the outermost function around the place; None in defaults and constants.
    """

    path: Path
    lines: tuple[int, int]
    span: tuple[int, int]
    change: str
    function: int | None

    @property
    def layer(self) -> str:
        """The layer of the file."""
        return self.path.relative_to(SOURCES / "confir").parts[0]

    @property
    def is_compiled(self) -> bool:
        """Whether numba compiles the functions of the file."""
        return self.path.stem.endswith("_kernels")

    def apply(self, source: str) -> str:
        """Return the source with the change made."""
        start, stop = self.span
        return source[:start] + self.change + source[stop:]

    def __str__(self) -> str:
        source = self.path.read_text(encoding="utf-8")
        line = source.count("\n", 0, self.span[0])
        was, becomes = (text.splitlines()[line].strip() for text in (source, self.apply(source)))
        return f"{self.path.relative_to(ROOT)}:{line + 1}: {was} -> {becomes}"


def all_mutants() -> dict[str, list[Mutant]]:
    """Return the mutants of each layer of statistics."""
    return {
        layer: [
            mutant
            for path in sorted((SOURCES / "confir" / layer).rglob("*.py"))
            if path.stem not in SHOWN
            for mutant in find_mutants(path)
        ]
        for layer in LAYERS
    }


def find_mutants(path: Path) -> Iterator[Mutant]:
    """Yield the mutants of a file."""
    source = path.read_text(encoding="utf-8")
    text = _Text(source)
    for node, statement, function in _places(ast.parse(source)):
        for span, change in _changes(node, text):
            yield Mutant(path, _lines(statement), span, change, _first_line(function))


def _first_line(function: ast.FunctionDef | None) -> int | None:
    """Return the first line of a function, decorators included, as its code object has it."""
    if function is None:
        return None
    return min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])


def _lines(statement: ast.stmt) -> tuple[int, int]:
    """Return the first and last line of a statement, without those of the statements in it."""
    body = getattr(statement, "body", None)
    last = max(statement.lineno, body[0].lineno - 1) if body else statement.end_lineno
    return statement.lineno, last or statement.lineno


def _places(
    tree: ast.AST, statement: ast.stmt | None = None, function: ast.FunctionDef | None = None
) -> Iterator[Place]:
    """Yield the nodes that can be changed: neither annotations nor decorators."""
    if isinstance(tree, ast.keyword) and tree.arg == "strict":  # guards what cannot happen
        return
    for name, child in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        inside = function
        if function is None and isinstance(tree, ast.FunctionDef) and name == "body":
            inside = tree
        for node in child if isinstance(child, list) else [child]:
            if isinstance(node, ast.AST):
                around = node if isinstance(node, ast.stmt) else statement
                if around is not None:
                    yield Place(node, around, inside)
                yield from _places(node, around, inside)


class _Text:
    """A source text, of which syntax trees name places by line and byte."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.expr) -> tuple[int, int]:
        """Return the first character of a node, and the one after the last."""
        stop = self._place(node.end_lineno or node.lineno, node.end_col_offset or 0)
        return self._place(node.lineno, node.col_offset), stop

    def sign_between(self, left: ast.expr, right: ast.expr) -> tuple[int, int] | None:
        """Return where the operator between two expressions stands."""
        found = SIGN.search(self.text, self.span(left)[1], self.span(right)[0])
        return found and found.span()

    def _place(self, line: int, column: int) -> int:
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())


def _changes(node: ast.AST, text: _Text) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield what may be replaced in a node, and by what."""
    span = None
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        span, change = text.sign_between(node.left, node.right), ARITHMETIC[type(node.op)]
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        span = text.sign_between(node.left, node.comparators[0])
        change = COMPARISONS[type(node.ops[0])]
    elif isinstance(node, ast.BoolOp):
        span = text.sign_between(node.values[0], node.values[1])
        change = "or" if isinstance(node.op, ast.And) else "and"
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
        span = text.span(node)
        change = f"({not node.value})" if isinstance(node.value, bool) else f"({node.value!r} + 1)"
    if span:
        yield span, change
