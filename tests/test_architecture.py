"""Import directions of the layers, and late imports of heavy packages."""

import ast
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pytest

import confir
from confir.studies import STUDIES
from confir.studies.collection.collection_means import MEAN_METHODS
from confir.studies.coverage.miss_counts import PUBLISHED_BOOTSTRAP_T

SOURCE = Path(__file__).resolve().parent.parent / "src" / "confir"
LAYERS = ("data", "measures", "resampling", "intervals", "pairs", "statistics")
# Every layer may import these; they import errors, arrays, arguments, cores, parallel,
# stored_results and whole_files at most.
GROUND = (
    "errors",
    "arrays",
    "arguments",
    "cores",
    "compilation",
    "control_characters",
    "defaults",
    "lazy_names",
    "number_text",
    "parallel",
    "references",
    "scheduler",
    "stored_results",
    "whole_files",
)
# What a layer may import besides itself and the base modules. Statistics never see what shows them; page
# and command line know studies through their list alone.
ALLOWED = {
    **{layer: LAYERS[: place + 1] for place, layer in enumerate(LAYERS)},
    "spark": LAYERS[:2],
    "testing": LAYERS,
    "results": (),
    "list": ("list",),
    "report": (*LAYERS[:5], "list", "report"),
    "showing": (*LAYERS, "report", "showing"),
    "cli": (*LAYERS[:5], "list", "report", "cli"),
    "command": (*LAYERS, "list", "report", "showing", "cli", "command"),
}
SHOWING = ("table", "chart", "section", "board", "baseline_section", "page")
HEAVY = (
    "scipy",
    "numba",
    "pandas",
    "polars",
    "pyarrow",
    "pyspark",
    "altair",
    "vl_convert",
    "dask",
    "distributed",
    "cloudpickle",
    "narwhals",
    "jinja2",
    "ir_measures",
    "ir_datasets",
    "fsspec",
    "ranx",
    "threadpoolctl",
    "zstandard",
)
MODULES = sorted(SOURCE.rglob("*.py"))
METHOD_NAMES = {*confir.METHODS, *MEAN_METHODS, PUBLISHED_BOOTSTRAP_T.name}


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
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

    visit(_tree(path), [])
    return found


def _part(name: str) -> str:
    """Which part of the house a module belongs to, by its name below confir."""
    folder, *inner = name.split(".")
    if folder != "studies":
        return folder
    if not inner or inner == ["study"]:
        return "list"
    module = inner[-1] if len(inner) > 1 else ""
    if module.endswith("command"):
        return "command"
    return "showing" if module in SHOWING else "statistics"


def _module(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


def _in_display(around: list[ast.AST]) -> bool:
    """Whether an import stands where a result shows itself: in a notebook, in print, as a table."""
    names = [node.name for node in around if isinstance(node, ast.FunctionDef)]
    return bool(names) and names[-1] in ("_repr_html_", "__str__", "to_markdown", "to_latex")


def _module_level(around: list[ast.AST]) -> bool:
    guarded = any(
        isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test) for node in around
    )
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return not guarded and not any(isinstance(node, functions) for node in around)


def test_a_part_imports_only_what_it_may():
    for path in MODULES:
        if _part(_module(path)) not in ("__init__", "__main__"):
            _check_imports(path)


def _check_imports(path):
    own = _part(_module(path))
    for name, _, around in _imports(path):
        if not name.startswith("confir."):
            assert name != "confir", f"{path}: imports the front page"
            continue
        other = _part(name.removeprefix("confir."))
        if own in GROUND:
            below = {"errors", "arrays", "arguments", "cores", "parallel", "scheduler"}
            below |= {"stored_results", "whole_files"}
            assert other in below - {own}, f"{path} imports {name}"
        elif other not in GROUND and not (other == "report" and _in_display(around)):
            assert other in ALLOWED[own], f"{path} imports {name}"


def test_formats_use_tables_and_never_the_reverse():
    modules = [path for path in MODULES if _module(path).startswith("data.tables.")]
    assert modules
    for path in modules:
        for name, _, _ in _imports(path):
            assert not name.startswith("confir.data.formats"), f"{path} imports {name}"


@pytest.mark.parametrize("part", ["report", "cli"])
def test_page_and_command_line_import_no_study(part):
    modules = [path for path in MODULES if _part(_module(path)) == part]
    assert modules
    for path in modules:
        for name, _, _ in _imports(path):
            assert not name.startswith("confir.studies."), f"{path} imports {name}"


def test_heavy_packages_are_imported_where_they_are_needed():
    for path in MODULES:
        for name, _, around in _imports(path):
            if name.split(".")[0] in HEAVY:
                assert not _module_level(around), f"{path} imports {name} at once"


def _questions_about_methods(tree: ast.AST) -> list[str]:
    """Expressions that ask which method it is, by its name or its function."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.match_case):
            sides = [node.pattern]
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("METHODS"):
            sides = [node.slice]
        else:
            continue
        inner = [one for side in sides for one in ast.walk(side)]
        literals = {one.value for one in inner if isinstance(one, ast.Constant)}
        words = {getattr(one, "attr", getattr(one, "id", "")) for one in inner} - {""}
        about_methods = not words or any("method" in word or word == "name" for word in words)
        if (METHOD_NAMES & literals and about_methods) or words & {"compute", "count_side"}:
            found.append(ast.unparse(node))
    return [text for text in found if text != "self.count_side is not None"]


def test_no_code_asks_for_a_method_by_name():
    asking = {path: _questions_about_methods(_tree(path)) for path in MODULES}
    assert not {path: asked for path, asked in asking.items() if asked}


@pytest.mark.parametrize(
    "question",
    [
        "method.name == 'gaffke'",
        "method != 'logit'",
        "'bca' in methods",
        "methods == ['bca']",
        "chosen.name in ('betting', 'gaffke')",
        "method.compute is logit_interval",
        "method.count_side in COUNTING",
        "METHODS['bootstrap-t']",
        "match method:\n    case 'parametric':\n        pass",
    ],
)
def test_a_question_about_a_method_is_found(question):
    assert len(_questions_about_methods(ast.parse(question))) == 1


def test_only_comparisons_take_a_margin():
    """What keeps logits from 0 and 1 is called epsilon."""
    for path in MODULES:
        taken = {node.arg for node in ast.walk(_tree(path)) if isinstance(node, ast.arg)}
        takers = ("pairs", "comparison", "gate", "preferences", "reproduction")
        takes = path.parent.name in takers or path.stem == "testing"
        assert "margin" not in taken or takes, path


def test_no_character_is_named_in_a_string():
    """To compile such a string loads a module; an interrupt there ends in a SyntaxError."""
    named = [path for path in MODULES if '"\\N{' in path.read_text(encoding="utf-8")]
    assert not named


# Orders whose ties change no result, by module: each call, and why its ties do not matter.
UNSTABLE_SORTS = {
    "data/long_tables/score_blocks.py": {
        "np.argpartition(mixed, count - 1)": "keys differ, and what is sampled is a set",
    },
}


def _unstable_sorts(tree: ast.AST) -> set[str]:
    """Calls that order indices and leave ties to the algorithm, which depends on the processor."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = [(call, getattr(call.func, "attr", getattr(call.func, "id", ""))) for call in calls]
    return {
        ast.unparse(call)
        for call, name in named
        if name == "argpartition"
        or (
            name == "argsort"
            and not any(
                word.arg == "kind"
                and isinstance(word.value, ast.Constant)
                and word.value.value == "stable"
                for word in call.keywords
            )
        )
    }


def test_ties_are_sorted_alike_on_every_processor():
    for path in MODULES:
        known = UNSTABLE_SORTS.get(path.relative_to(SOURCE).as_posix(), {})
        assert _unstable_sorts(_tree(path)) == set(known), path


@pytest.mark.parametrize(
    "call", ["np.argsort(x)", "x.argsort(axis=1)", "np.argsort(x, kind=None)", "argpartition(x, 3)"]
)
def test_a_sort_that_leaves_ties_open_is_found(call):
    assert _unstable_sorts(ast.parse(f"y = {call}[0]")) == {call}
    assert not _unstable_sorts(ast.parse("y = np.argsort(x, kind='stable'), np.sort(x)"))


def test_every_part_of_the_design_exists():
    assert {_part(_module(path)) for path in MODULES} >= set(ALLOWED)


def test_every_study_is_a_folder_and_a_line():
    folders = {path.parent.name for path in SOURCE.glob("studies/*/__init__.py")}
    assert sorted(folders) == sorted(study.folder for study in STUDIES)
    for study in STUDIES:
        for name in study.verbs:
            assert name in confir.__all__, f"{name} is missing from __init__.pyi"


def test_every_result_of_a_study_has_the_table_and_the_chart_that_its_line_names():
    for study in STUDIES:
        for shown in study.results.values():
            assert shown.table is None or callable(study.load("table", shown.table))
            assert shown.chart is None or callable(study.load("chart", shown.chart))


def test_every_command_of_a_study_is_in_its_folder():
    for study in STUDIES:
        for name in study.commands:
            assert callable(study.load("command", f"{name.replace('-', '_')}_command"))


def test_public_names_are_listed_once_and_exist():
    for stub, module in (("__init__.pyi", confir), ("results.pyi", confir.results)):
        imports = [n for n in _tree(SOURCE / stub).body if isinstance(n, ast.ImportFrom)]
        names = [alias for node in imports if node.module != "confir" for alias in node.names]
        assert len({alias.name for alias in names}) == len(names)
        assert all(alias.asname == alias.name for alias in names)  # public for type checkers, too
        assert {*module.__all__} == {alias.name for alias in names}
        for name in module.__all__:
            assert getattr(module, name) is not None
    assert len(confir.__all__) <= 80, "a newcomer reads all names at the top level: is each needed?"
    assert not {*confir.__all__} & {*confir.results.__all__}


def test_functions_are_at_the_top_and_classes_of_results_apart():
    nouns = {name for name in confir.__all__ if isinstance(getattr(confir, name), type)}
    assert nouns == {"Design", "Experiment", "Interval", "Qrels", "Run", "Scores"}
    for study in STUDIES:
        for name in study.results:
            kind = name.rpartition(".")[2]
            assert kind in {*nouns, *confir.results.__all__}, f"{kind} is missing from results.pyi"
    assert all(isinstance(getattr(confir.results, name), type) for name in confir.results.__all__)


@pytest.mark.parametrize(
    ("module", "name", "said"),
    [
        (confir, "Plan", "; it is confir.results.Plan"),
        (confir, "run_to_frame", "; it is Run.to_frame, after confir.as_run"),
        (confir, "nothing", ""),
        (confir.results, "nothing", ""),
    ],
)
def test_a_name_that_moved_says_where_it_is(module, name, said):
    with pytest.raises(AttributeError) as raised:
        getattr(module, name)
    assert str(raised.value) == f"module '{module.__name__}' has no attribute '{name}'{said}"


def test_the_version_is_that_of_the_package():
    assert confir.__version__ == version("confir")
    assert "__version__" in dir(confir)


def test_no_two_classes_or_public_constants_share_a_name():
    places: dict[str, list[str]] = {}
    for path in MODULES:
        tree = _tree(path)
        classes = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        targets = [
            target
            for node in tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        ]
        constants = [
            target.id
            for target in targets
            if isinstance(target, ast.Name) and target.id.isupper() and target.id[0] != "_"
        ]
        for name in {*classes, *constants} - {"SECTION", "VIEWS"}:  # of every study
            places.setdefault(name, []).append(str(path.relative_to(SOURCE)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
