"""Options that all commands share, and early errors for what a command cannot do."""

import pytest

from confir.cli.commands import COMMANDS, build_command
from confir.cli.input import reading_options
from confir.cli.input_options import DESIGN

READING = reading_options()


def parameters(name: str) -> set[str]:
    """Return the names of a command's parameters."""
    return {str(parameter.name) for parameter in build_command(name).params}


def having(*names: str) -> list[str]:
    """Return the commands that have all these parameters."""
    return [command for command in COMMANDS if set(names) <= parameters(command)]


# What each command wants besides its input.
WANTED = {
    "chance": ["--documents", 1000],
    "measures": ["--power"],
    "meta": ["-m", "AP"],
    "simulate": ["--scores", "nowhere.csv", "-o", "x.csv"],
}
# What has no meaning: no measure with a closed form knows intents, halves leave out lists that
# retrieved nothing, and documents are resampled as double precision ranks them.
WITHOUT = {
    "chance": {"intents"},
    "split-half": {"missing"},
}
COUNTS = [
    (command, str(option.name))
    for command in COMMANDS
    for option in build_command(command).params
    if option.type.name == "int" and not option.multiple
]
READERS = [*having("qrels", "runs"), "meta"]


def arguments(command: str) -> list[object]:
    """Return arguments of a command that name files which do not exist."""
    files = ["nowhere.txt", "nowhere.run"] if command in READERS else []
    return [*files, *WANTED.get(command, [])]


@pytest.mark.parametrize("command", having("kind"))
def test_a_wrong_format_is_named_before_anything_is_read(
    confir_command, command, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    outcome = confir_command(command, *arguments(command), "--format", "xls")
    assert outcome.code == 2
    assert outcome.err.startswith(
        "confir: error: unknown value of --format 'xls'; known: table, csv"
    )
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("command", having("kind"))
def test_a_wrong_ending_is_named_before_anything_is_done(
    confir_command, command, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    option = "--truth" if command == "simulate" else "-o"
    extra = ["--write", "sample"] if command == "demo" else []
    outcome = confir_command(command, *arguments(command), *extra, option, "table.xls")
    assert outcome.code == 2
    assert "unknown ending of a" in outcome.err
    assert outcome.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", [name for name in having("kind") if name != "simulate"])
def test_a_result_is_printed_or_written(confir_command, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ways = (("--format", "json", "-o", "x.csv"), ("-o", "x.csv", "--format", "json"))
    for way in ways:
        outcome = confir_command(command, *arguments(command), *way)
        assert outcome.code == 2
        assert "--format is for printing; --output takes the format" in outcome.err


@pytest.mark.parametrize("command", READERS)
def test_runs_are_read_by_the_same_options(command):
    assert parameters(command) & set(READING) == set(READING) - WITHOUT.get(command, set())


@pytest.mark.parametrize("command", [*READERS, "simulate"])
def test_a_command_without_input_gives_an_example_of_itself(confir_command, command):
    outcome = confir_command(command, *(["--power"] if command == "measures" else []))
    assert outcome.code == 2
    assert f"; for example: confir {command} " in outcome.err


def test_topics_cannot_be_pooled_without_runs(confir_command):
    outcome = confir_command("meta", "qrels.txt", "-m", "AP")
    assert outcome.err.endswith("for example: confir meta qrels.txt bm25.run dense.run -m AP\n")


@pytest.mark.parametrize("option", [one for one in READING if one not in (*DESIGN, "missing")])
@pytest.mark.parametrize("command", having("qrels", "scores", "kind"))
def test_a_score_table_takes_no_option_for_runs(confir_command, command, option):
    values = {"rel": 1, "depth": 10, "tie_precision": "double"}
    spelt = f"--{option.replace('_', '-')}"
    given = [] if option in ("download", "exclude_identical") else [values.get(option, "file")]
    power = ["--power"] if command == "measures" else []
    outcome = confir_command(command, *power, "--scores", "s.csv", spelt, *given)
    assert outcome.code == 2
    assert f"error: {spelt}" in outcome.err
    assert " is for QRELS RUN...; a score table is read as it is" in outcome.err


@pytest.mark.parametrize(("command", "name"), COUNTS)
def test_counts_below_zero_are_named_at_once(confir_command, command, name):
    option = f"--{name.replace('_', '-')}"
    wanted = arguments(command)
    at = wanted.index(option) if option in wanted else len(wanted)
    outcome = confir_command(command, *wanted[:at], option, -1, *wanted[at + 2 :])
    assert outcome.code == 2
    assert outcome.err.startswith(f"confir: error: {option} is -1; expected ")


@pytest.mark.parametrize("name", ["rel", "depth", "replicates", "samples", "jobs"])
def test_counts_of_things_that_are_needed_start_at_1(confir_command, name):
    outcome = confir_command("coverage", f"--{name}", 0)
    assert f"--{name} is 0; expected 1 or more" in outcome.err


@pytest.mark.parametrize("command", having("level"))
def test_a_wrong_level_is_named_before_anything_is_read(confir_command, command):
    outcome = confir_command(command, *arguments(command), "--level", 95)
    assert outcome.code == 2
    assert "level is 95.0; expected a number between 0 and 1" in outcome.err


@pytest.mark.parametrize("command", having("method"))
def test_a_misspelt_method_is_named_before_anything_is_read(confir_command, command):
    against = ("--baseline", "bm25") if command == "compare" else ()
    outcome = confir_command(command, *arguments(command), *against, "--method", "bcaa")
    assert outcome.code == 2
    assert "'bcaa'" in outcome.err


def test_usage_errors_point_at_the_help_of_the_command(confir_command):
    assert "(see confir evaluate --help)" in confir_command("evaluate", "--nothing").err
    assert "(see confir --help)" in confir_command("nothing").err


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "--baseline", "bm25"),
        ("compare",),
        ("plan", "--baseline", "bm25"),
        ("bias-variance", "--baseline", "bm25", "--loss-depth", 5),
        ("collection", "--baseline", "bm25", "--replicates", 9),
        ("chance", "--documents", 60_000, "--draws", 0),
    ],
    ids=lambda words: words[0],
)
def test_runs_are_looked_for_once(confir_command, sample_files, monkeypatch, words):
    from confir.data.formats import sources

    found = []
    original = sources.find_runs

    def noted(paths):
        found.append(original(paths))
        return found[-1]

    monkeypatch.setattr(sources, "find_runs", noted)
    command, *options = words
    runs = [sample_files / "runs" / f"{name}.txt" for name in ("bm25", "dense")]
    outcome = confir_command(command, sample_files / "qrels.txt", *runs, "-m", "AP", *options)
    assert outcome.code == 0, outcome.err
    assert len(found) == 1


def test_a_baseline_that_is_one_more_file_is_added_to_the_runs(confir_command, sample_files):
    runs = sample_files / "runs"
    outcome = confir_command(
        *("compare", sample_files / "qrels.txt", runs / "dense.txt", "-m", "AP"),
        *("--baseline", runs / "tfidf.txt", "--format", "csv"),
    )
    assert outcome.code == 0
    assert "dense,tfidf" in outcome.out
