"""Every public function has an example, which gives what its docstring shows."""

import doctest
import inspect
import json

import pytest

import confir
from confir.data.simulation import write_collection
from confir.pairs.run_groups import group_letters
from confir.studies.leaderboard.dataset_votes import votes_of_datasets
from foreign_files import assigned
from samples import whole_sample

FUNCTIONS = {
    name: getattr(confir, name)
    for name in confir.__all__
    if inspect.isfunction(getattr(confir, name))
} | {
    function.__name__: function
    for function in (confir.testing.assert_not_worse, group_letters, votes_of_datasets)
}

# A look of a gate, as `confir compare --history` writes it.
LOOK = {
    "look": 1,
    "date": "2026-01-01",
    "commit": None,
    "measure": "AP",
    "baseline": "bm25",
    "run": "dense",
    "decision": "passes",
    "require": "not-worse",
    "margin": 0.0,
    "topics": 50,
    "looks": "candidates",
    "difference": 0.1,
    "low": 0.0,
    "high": 0.2,
    "level": 0.95,
    "look_low": -0.1,
    "look_high": 0.3,
    "look_level": 0.97,
}


@pytest.fixture(scope="session")
def files(once_per_run):
    """The folder of the files that examples read."""

    def write(folder):
        write_collection(whole_sample(), folder / "sample")
        (folder / "effects.csv").write_text("study,effect,se\na,0.1,0.05\nb,0.2,0.05\n")
        (folder / "history.jsonl").write_text(json.dumps(LOOK) + "\n")
        nuggets = [("a", "vital", "support"), ("b", "vital", "not_support")]
        (folder / "answers.jsonl").write_text("".join(assigned("x", t, *nuggets) for t in "12345"))

    return once_per_run("examples", write)


@pytest.fixture
def in_folder(files, tmp_path, monkeypatch):
    """A folder that examples may write to, and the sample collection, made once."""
    for path in files.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(confir, "sample_collection", whole_sample)


@pytest.mark.usefixtures("in_folder")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_example_of_a_function_shows_what_happens(name):
    function = FUNCTIONS[name]
    given = {"confir": confir, name: function}
    parsed = doctest.DocTestParser().get_doctest(function.__doc__, given, name, None, None)
    assert parsed.examples, f"the docstring of {name} has no example"
    said = []
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(parsed, out=said.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)
