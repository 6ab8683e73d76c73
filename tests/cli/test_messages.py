"""Messages about names, folders and widths: what is wrong, where, and what was expected."""

import os

import click
import pytest

from confir.cli.commands import build_command
from confir.cli.parameters import is_given
from confir.data.formats.runs_and_qrels import read_qrels, read_run
from confir.errors import FormatError, InputWarning
from confir.number_text import percent
from confir.studies.history.looks import about_look


@pytest.fixture
def boards(tmp_path, monkeypatch):
    """Folders of two datasets, with a run that each of them judges, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    for dataset in ("one", "two"):
        folder = tmp_path / "boards" / dataset
        folder.mkdir(parents=True)
        (folder / "qrels.txt").write_text("1 0 d1 1\n2 0 d1 1\n3 0 d1 1\n")
        for run in ("a", "b"):
            lines = [f"{topic} Q0 d1 1 0.5 {run}\n" for topic in (1, 2, 3)]
            (folder / f"{run}.run").write_text("".join(lines))
    return tmp_path


@pytest.mark.parametrize("name", [".csv", "./.CSV", ".svg"])
def test_an_output_that_is_only_an_ending_lacks_a_name(confir_command, boards, name):
    dataset = boards / "boards" / "one"
    outcome = confir_command("evaluate", dataset / "qrels.txt", dataset / "a.run", "-o", name)
    ending = os.path.basename(name)
    assert outcome.err == (
        f"confir: error: {name}: only an ending, without a name; expected one such as "
        f"result{ending}\n"
    )


def test_a_folder_of_folders_of_datasets_is_named(confir_command, boards):
    outcome = confir_command("leaderboard", "boards")
    assert outcome.code == 2
    assert outcome.err.startswith(
        "confir: error: boards: only folders (one, two); expected the folder of one dataset, with "
    )
    assert boards.exists()


def test_a_folder_of_runs_without_qrels_says_that_they_lack(confir_command, boards):
    (boards / "boards" / "one" / "qrels.txt").unlink()
    refused = confir_command("leaderboard", "boards/one", "boards/two").err
    assert "this looks like a run" in refused
    assert "if these are runs, a qrels file (qrels*) in boards/one" in refused


@pytest.mark.usefixtures("boards")
def test_a_pattern_means_the_folders_of_datasets(confir_command):
    by_name = confir_command("leaderboard", "boards/one", "boards/two", "--format", "csv")
    by_pattern = confir_command("leaderboard", "boards/*", "--format", "csv")
    assert by_pattern == by_name
    assert by_pattern.code == 0
    outcome = confir_command("leaderboard", "boards/*", "-o", "boards/one/a.csv")
    assert outcome.code == 0
    outcome = confir_command("leaderboard", "boards/*", "-o", "boards/one/a.csv")
    assert "the command reads this file" in outcome.err
    assert "no such f" in confir_command("leaderboard", "nowhere/*").err


@pytest.mark.parametrize(
    ("read", "line"), [(read_run, "{} Q0 d 1 0.5 t"), (read_qrels, "{} 0 d 1")]
)
def test_lines_that_end_in_carriage_returns_alone_are_named(tmp_path, read, line):
    path = tmp_path / "old.txt"
    path.write_bytes("".join(line.format(n) + "\r" for n in range(3)).encode())
    with pytest.raises(
        FormatError, match=r"old\.txt: the lines end in carriage returns \(CR\) alone"
    ):
        read(path)
    path.write_bytes(line.format(1).encode() + b"\r\n")
    read(path)


def test_qrels_that_end_in_the_middle_of_a_line_are_warned_of(tmp_path):
    path = tmp_path / "qrels.txt"
    path.write_text("1 0 d1 1\n1 0 d2 1")
    with pytest.warns(InputWarning, match=r"qrels\.txt: the file ends in 1 without a line end"):
        read_qrels(path)


@pytest.mark.parametrize("level", [1 - 1e-12, 0.9999999999999999])
def test_a_level_below_1_is_not_written_as_100_percent(level):
    assert percent(level).startswith("99.99999999")
    assert percent(0.95) == "95%"
    assert percent(1.0) == "100%"
    assert "level 99.9999" in about_look(900_000, 0.95, "not-worse")


def test_help_has_a_minimum_width(confir_command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1")
    for arguments in (("--help",), ("evaluate", "--help")):
        outcome = confir_command(*arguments)
        assert max(map(len, outcome.out.splitlines())) >= 35
    assert os.environ["COLUMNS"] == "1"


@pytest.mark.parametrize(
    "twice",
    [
        ("-o", "a.csv", "--output", "b.json"),
        ("--level", "0.9", "--level", "0.9"),
        ("--margin", "0.01", "--margin", "0.2"),
    ],
)
def test_an_option_of_one_value_is_not_given_twice(confir_command, boards, twice):
    folder = boards / "boards" / "one"
    command = "compare" if "--margin" in twice else "evaluate"
    files = [folder / "qrels.txt", folder / "a.run", folder / "b.run"]
    outcome = confir_command(command, *files, "-m", "AP", "-m", "P@1", *twice)
    option = "--output" if "-o" in twice else twice[0]
    assert f"error: {option} is given twice; expected it once" in outcome.err
    assert outcome.code == 2
    assert not list(boards.glob("*.csv"))


@pytest.mark.parametrize("form", ["text", "md"])
def test_names_in_any_script_stand_in_sentences_as_they_are(confir_command, tmp_path, form):
    rows = [
        f"{run},{t},0.{place}{t}\n"
        for place, run in enumerate(["日本", "tóñ", "עברית"], 1)
        for t in range(9)
    ]
    (tmp_path / "scores.csv").write_text(f"run,topic,AP\n{''.join(rows)}", encoding="utf-8")
    said = confir_command(
        "compare",
        "--scores",
        tmp_path / "scores.csv",
        "--baseline",
        "tóñ",
        *(("--format", "md") if form == "md" else ()),
    ).out
    assert "→ 日本 0" in said
    assert "→ \u2068עברית\u2069 0" in said
    assert "\ufffd" not in said


def test_a_given_option_is_known_before_its_value_is_read():
    (option,) = (one for one in build_command("evaluate").params if one.name == "level")
    context = click.Context(build_command("evaluate"))
    assert not is_given(context, "level")
    option.consume_value(context, {"level": "0.9"})
    assert is_given(context, "level")
