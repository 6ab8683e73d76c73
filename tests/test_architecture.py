"""The layers hold their direction, and heavy packages wait until they are needed."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "confir"
LAYERS = ("data", "measures", "resampling", "intervals", "studies", "report", "cli")
# Every layer may import these; they import errors, arrays and arguments at most.
GROUND = ("errors", "arrays", "arguments", "order", "compilation", "control_characters", "parallel")
HEAVY = (
    "scipy",
    "numba",
    "pandas",
    "polars",
    "pyarrow",
    "altair",
    "vl_convert",
    "joblib",
    "dask",
    "narwhals",
    "jinja2",
    "ir_measures",
    "ranx",
    "threadpoolctl",
    "zstandard",
)
MODULES = sorted(SOURCE.rglob("*.py"))


def _imports(path: Path) -> list[tuple[str, ast.AST, list[ast.AST]]]:
    """Every imported module of a file, with the chain of nodes around the import."""
    found = []

    def visit(node: ast.AST, around: list[ast.AST]) -> None:
        if isinstance(node, ast.Import):
            found.extend((alias.name, node, around) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.append((node.module or "", node, around))
        for child in ast.iter_child_nodes(node):
            visit(child, [*around, node])

    visit(ast.parse(path.read_text()), [])
    return found


def _layer(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def _in_display(around: list[ast.AST]) -> bool:
    """Whether an import stands in a result's notebook display."""
    names = [node.name for node in around if isinstance(node, ast.FunctionDef)]
    return bool(names) and names[-1].startswith("_repr_")


def _module_level(around: list[ast.AST]) -> bool:
    guarded = any(
        isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test) for node in around
    )
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return not guarded and not any(isinstance(node, functions) for node in around)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_layer_imports_only_from_layers_to_its_left(path):
    own = _layer(path)
    if own in ("__init__", "__main__"):
        return
    for name, _, around in _imports(path):
        if not name.startswith("confir."):
            assert name != "confir", f"{path}: imports the front page"
            continue
        other = name.split(".")[1]
        if own in GROUND:
            assert other in {"errors", "arrays", "arguments"} - {own}, f"{path} imports {name}"
        elif other not in GROUND and not (other == "report" and _in_display(around)):
            assert LAYERS.index(other) <= LAYERS.index(own), f"{path} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_heavy_packages_are_imported_where_they_are_needed(path):
    for name, _, around in _imports(path):
        if name.split(".")[0] in HEAVY:
            assert not _module_level(around), f"{path} imports {name} at once"


def test_every_layer_of_the_design_exists():
    assert {_layer(path) for path in MODULES} >= set(LAYERS)


def test_public_names_are_listed_once_and_exist():
    import confir

    assert sorted(confir.__all__, key=lambda n: (not n.isupper(), n)) == confir.__all__ or (
        sorted(confir.__all__) == sorted(set(confir.__all__))
    )
    assert set(confir._HOMES) == set(confir.__all__)
    for name in confir.__all__:
        assert getattr(confir, name) is not None
