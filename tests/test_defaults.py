"""Every default is stated once."""

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

import confir
from confir import defaults
from confir.cli.commands import COMMANDS, build_command
from confir.defaults import REPLICATES
from confir.report import records

SOURCE = Path(confir.__file__).parent
SHARED = {defaults.LEVEL, defaults.REPLICATES, defaults.SEED, defaults.DRAWS}
OWN = {"foreign_measures.py": {0.95}}  # the persistence of Compat, by chance like the level


def literal_defaults(path: Path) -> list[tuple[int, object]]:
    """Return the literals that parameters, fields and constants of a module start from."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        values: list[ast.expr | None] = []
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            values = [*node.args.defaults, *node.args.kw_defaults]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            values = [node.value]
        constants = [one for value in values if value is not None for one in ast.walk(value)]
        found += [
            (one.lineno, one.value)
            for one in constants
            if isinstance(one, ast.Constant) and isinstance(one.value, int | float)
        ]
    return found


def test_no_other_module_states_a_shared_default():
    modules = [path for path in SOURCE.rglob("*.py") if path.name != "defaults.py"]
    assert len(modules) > 300
    for path in modules:
        own = OWN.get(path.name, set())
        again = [(line, x) for line, x in literal_defaults(path) if x in SHARED - own]
        assert not again, f"{path}: {again}"


def default(verb, name):
    found = inspect.signature(verb).parameters[name].default
    return REPLICATES if name == "replicates" and found is None else found  # fewer for a summary


def takes(verb, name):
    return name in inspect.signature(verb).parameters


def options(command):
    return {option.name: option for option in build_command(command).params}


@pytest.mark.parametrize(
    ("command", "verb"),
    [
        ("evaluate", confir.confidence_interval),
        ("compare", confir.compare_runs),
        ("bias-variance", confir.decompose_error),
        ("collection", confir.resample_documents),
        ("split-half", confir.validate_split_half),
        ("coverage", confir.estimate_coverage),
        ("type-one", confir.estimate_type_one_error),
        ("report", confir.write_report),
    ],
)
def test_command_and_verb_draw_as_many_replicates(command, verb):
    assert options(command)["replicates"].default == default(verb, "replicates")


def test_every_command_has_the_same_seed():
    seeds = [options(name)["seed"].default for name in COMMANDS if "seed" in options(name)]
    assert len(seeds) > 8
    assert set(seeds) == {defaults.SEED}


def test_every_verb_has_the_seed_of_the_commands():
    verbs = {name: getattr(confir, name) for name in confir.__all__ if name.islower()}
    seeds = {name: default(verb, "rng") for name, verb in verbs.items() if takes(verb, "rng")}
    assert len(seeds) > 20
    assert set(seeds.values()) == {defaults.SEED}, seeds
    assert default(confir.Experiment, "rng") == defaults.SEED


def test_without_a_seed_numbers_are_redrawn():
    values = np.random.default_rng(1).random((9, 2))
    given = {"method": "percentile", "replicates": 399}
    fixed, other = (confir.confidence_interval(values, **given) for _ in range(2))
    np.testing.assert_array_equal(fixed.low, other.low)
    anew, other = (confir.confidence_interval(values, **given, rng=None) for _ in range(2))
    assert (anew.low != other.low).any()


def test_the_help_lists_every_format_and_ending():
    written, printed = (options("evaluate")[name].help for name in ("output", "kind"))
    for ending in (*defaults.ENDINGS, *defaults.CHART_ENDINGS):
        assert f" {ending}" in written
    for name in defaults.OUTPUT_FORMATS:
        assert name in printed
    assert vars(records)["OUTPUT_FORMATS"] is defaults.OUTPUT_FORMATS
