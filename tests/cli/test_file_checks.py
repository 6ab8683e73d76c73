"""Protection of inputs and of other files from being overwritten."""

import errno
import os
import subprocess
import sys
from contextlib import suppress

import click
import pytest

from confir.cli.commands import COMMANDS, build_command
from confir.data.files import keeping_inputs, read_bytes, write_whole
from confir.data.output_folder import OutputFolder
from confir.errors import InvalidValueError, UnreadableError
from requirements import missing_requirement

READ = "the command reads this file; expected another one to write"

# Parameters of text that do not name a file.
NO_FILES = {
    *("measure", "missing", "name_by", "tie_precision", "method", "kind", "title", "test"),
    *("correction", "fail_if_worse", "require", "per_tail", "sampling", "pairing", "effect"),
    *("model", "target", "variable", "parameter", "difference", "family", "grades"),
    *(
        "human_sample",
        "treatment",
        "repeats",
        "ties",
        "unjudged",
        "show",
        "by",
        "rows",
        "select",
        "subset",
        "split",
        "looks",
        "commit",
    ),
    *(
        "dataset",
        "datasets",
        "stratum",
        "cluster",
        "columns",
        "weight",
        "bounds",
        "at_least",
        "fail_below",
        "position",
        "covariate",
        "width",
        "intervals",
        "shell",
    ),
    *("qrels_name", "incomplete", "scheduler", "by"),
}


@pytest.fixture
def score_table(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("run,measure,topic,score\na,AP,1,0.5\na,AP,2,0.25\nb,AP,1,0.5\nb,AP,2,0.75\n")
    return path


def text_parameters(command: str) -> set[str]:
    """Return the parameters of a command that take text."""
    return {
        str(parameter.name)
        for parameter in build_command(command).params
        if parameter.type is click.STRING or isinstance(parameter.type, click.Tuple)
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_the_guard_knows_every_parameter_that_names_a_file(command):
    parameters = [one for one in build_command(command).params if one.name != "help_all"]
    declared = {one.name: vars(one)["declared"].path for one in parameters}
    known = {name for name, path in declared.items() if path is not None}
    assert text_parameters(command) <= known | NO_FILES
    assert not known & NO_FILES


def spellings(path):
    """Yield other names of a file: relative, roundabout, by a symbolic and by a hard link."""
    yield path.name
    yield str(path)
    yield f"../{path.parent.name}/./{path.name}"
    for link, make in (("symbolic.csv", os.symlink), ("hard.csv", os.link)):
        try:
            make(path, path.parent / link)
        except OSError:  # not every system lets everybody make links
            continue
        yield link


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "--scores"),
        ("compare", "--scores"),
        ("coverage", "--scores"),
        ("plan", "--scores"),
        ("meta",),
        ("preferences",),
        ("evaluate", "qrels.txt", "a.run", "--intents"),
        ("evaluate", "qrels.txt"),
        ("evaluate", "qrels.txt", "a.run", "--baseline"),
        ("reproduce",),
        ("reproduce", "a.run", "b.run", "--qrels"),
        ("reproduce", "a.run", "b.run", "--qrels", "qrels.txt", "--baseline-runs", "c.run"),
        ("reusability", "qrels.txt", "a.run", "--teams"),
        ("reusability", "qrels.txt", "a.run", "--teams", "teams.txt", "--contributors"),
        ("report", "--scores"),
        ("simulate", "-o", "other.csv", "--scores"),
    ],
    ids=" ".join,
)
def test_an_output_that_is_an_input_is_refused_under_any_name(
    confir_command, score_table, arguments, monkeypatch
):
    monkeypatch.chdir(score_table.parent)
    before = score_table.read_bytes()
    option = "--truth" if arguments[0] == "simulate" else "-o"
    for name in spellings(score_table):
        outcome = confir_command(*arguments, score_table, option, name)
        assert outcome.code == 2
        assert outcome.err == f"confir: error: {name}: {READ}\n"
    assert score_table.read_bytes() == before


def test_a_file_in_a_directory_of_runs_is_an_input(confir_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.csv").write_text("1 Q0 d 1 1.0 tag\n")
    for runs in ("runs", "runs/*", "mine=runs/a.csv"):
        outcome = confir_command("evaluate", "qrels.txt", runs, "-o", "runs/a.csv")
        assert outcome.err == f"confir: error: runs/a.csv: {READ}\n"


def linked(kind, target, link):
    """Make a link of a kind; skip where the system lets nobody make some."""
    try:
        (os.symlink if kind == "symbolic" else os.link)(target, link)
    except OSError:
        missing_requirement("nobody may make links here")


@pytest.mark.parametrize("kind", ["symbolic", "hard"])
@pytest.mark.parametrize("runs", ["tira", "mine=tira", "all"])
def test_metadata_behind_a_link_are_an_input(confir_command, tmp_path, monkeypatch, kind, runs):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / ("all/tira" if runs == "all" else "tira")
    folder.mkdir(parents=True)
    (tmp_path / "qrels.txt").write_text("1 0 d 1\n2 0 d 1\n")
    (folder / "run.txt").write_text("1 Q0 d 1 1.0 a\n2 Q0 d 1 1.0 a\n")
    (tmp_path / "meta.json").write_text("tag: mytag\n")
    linked(kind, tmp_path / "meta.json", folder / "ir-metadata.yml")
    outcome = confir_command("evaluate", "qrels.txt", runs, "-m", "AP", "-o", "meta.json")
    assert (outcome.code, outcome.err) == (2, f"confir: error: meta.json: {READ}\n")
    assert (tmp_path / "meta.json").read_text() == "tag: mytag\n"


def test_a_file_behind_a_linked_folder_is_an_input(confir_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("runs", "kept/tira"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "kept/tira/run.txt").write_text("1 Q0 d 1 1.0 a\n")
    (tmp_path / "kept/tira/ir-metadata.yml").write_text("tag: mytag\n")
    (tmp_path / "kept/tira/notes.json").write_text("{}")
    linked("symbolic", tmp_path / "kept/tira", tmp_path / "runs/tira")
    linked("symbolic", tmp_path / "runs", tmp_path / "kept/again")  # a loop
    outcome = confir_command("evaluate", "qrels.txt", "runs", "-o", "kept/tira/notes.json")
    assert outcome.err == f"confir: error: kept/tira/notes.json: {READ}\n"


def test_a_file_that_no_option_names_is_not_replaced_after_it_was_read(tmp_path):
    path, other = tmp_path / "a.txt", tmp_path / "b.txt"
    path.write_text("kept")
    linked("hard", path, other)
    with keeping_inputs():
        assert read_bytes(path) == b"kept"
        for name in (path, other):
            with pytest.raises(InvalidValueError, match=READ):
                write_whole(name, b"lost")
    assert path.read_text() == "kept"
    write_whole(path, b"new")  # by somebody who reads and writes as a program says
    assert path.read_text() == "new"


@pytest.mark.skipif(os.name == "nt", reason="files have no inodes there")
def test_what_standard_input_comes_from_is_an_input(score_table):
    with score_table.open() as stdin:
        done = subprocess.run(
            [sys.executable, "-m", "confir", "evaluate", "--scores", "-", "-o", score_table],
            stdin=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == f"confir: error: {score_table}: {READ}\n"


def test_an_output_that_is_no_input_is_replaced(confir_command, score_table, tmp_path):
    output = tmp_path / "means.json"
    output.write_text("old")
    assert confir_command("evaluate", "--scores", score_table, "-o", output).code == 0
    assert '"mean"' in output.read_text()


def test_two_results_do_not_go_to_the_same_file(confir_command, score_table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = confir_command(
        "simulate", "--scores", score_table, "-o", "new.csv", "--truth", "./new.csv"
    )
    assert outcome.code == 2
    assert outcome.err == "confir: error: ./new.csv: two results cannot go to the same file\n"


@pytest.mark.parametrize(
    ("arguments", "held"),
    [
        (("simulate", "--collection"), "holds thesis.tex, "),
        (("demo", "--write"), "holds thesis.tex, "),
        (("report", "--scores", "scores.csv", "--figures"), "holds thesis.tex, "),
        (("coverage", "--scores", "scores.csv", "--resume"), "contains thesis.tex but no results"),
    ],
    ids=lambda part: part if isinstance(part, str) else " ".join(part),
)
def test_a_folder_of_others_is_not_written_into(
    confir_command, score_table, arguments, held, monkeypatch
):
    monkeypatch.chdir(score_table.parent)
    theirs = score_table.parent / "theirs"
    theirs.mkdir()
    (theirs / "thesis.tex").write_text("years of work")
    outcome = confir_command(*arguments, "theirs")
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith(f"confir: error: theirs: {held}")
    assert outcome.err.endswith("; expected a new or an empty folder\n")
    assert os.listdir(theirs) == ["thesis.tex"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("demo", "--write"),
        ("simulate", "--topics", "5", "--collection"),
        ("report", "--scores", "scores.csv", "--figures"),
    ],
    ids=lambda part: part[0],
)
@pytest.mark.parametrize("folder", ["new", "new/deep/er", "there"])
def test_a_command_that_cannot_write_leaves_no_folder_of_its_own(
    confir_command, score_table, monkeypatch, arguments, folder
):
    monkeypatch.chdir(score_table.parent)
    (score_table.parent / "there").mkdir()

    def failing(*_):
        raise OSError(errno.EFBIG, "File too large")

    monkeypatch.setattr("confir.data.files.replace_file", failing)
    outcome = confir_command(*arguments, folder)
    assert "File too large" in outcome.err
    assert outcome.code == 2
    assert sorted(os.listdir()) == ["scores.csv", "there"]


def test_a_new_folder_that_holds_a_file_stays_after_an_error(tmp_path):
    with suppress(UnreadableError), OutputFolder(tmp_path / "made") as folder:
        folder.file("runs/a.txt").write_text("ours")
        raise UnreadableError("a full disk")
    assert (tmp_path / "made" / "runs" / "a.txt").read_text() == "ours"
    assert (tmp_path / "made" / ".confir").exists()


def test_a_collection_written_again_replaces_the_first(confir_command, tmp_path):
    folder = tmp_path / "made"
    for runs in (3, 2):
        outcome = confir_command(
            *("simulate", "--collection", folder, "--runs", runs, "--topics", 4, "--depth", 5)
        )
        assert outcome.code == 0
        names = {path.name for path in (folder / "runs").iterdir()}
        assert names == {f"run{number}.txt" for number in range(1, runs + 1)}


def test_a_file_added_to_a_written_folder_keeps_it_from_being_replaced(tmp_path):
    folder = OutputFolder(tmp_path / "made")
    folder.file("a.txt").write_text("ours")
    folder.remove_stale()
    (tmp_path / "made" / "notes.txt").write_text("theirs")
    with pytest.raises(InvalidValueError, match=r"holds notes\.txt, which confir did not write"):
        OutputFolder(tmp_path / "made")


def test_a_folder_whose_writing_was_cut_short_can_be_written_again(tmp_path):
    OutputFolder(tmp_path / "made").file("runs/a\nb.txt").write_text("half")
    again = OutputFolder(tmp_path / "made")
    again.file("whole.txt").write_text("all")
    again.remove_stale()
    assert sorted(path.name for path in (tmp_path / "made").rglob("*.txt")) == ["whole.txt"]


def test_a_listing_cannot_name_files_elsewhere(tmp_path):
    (tmp_path / "precious.txt").write_text("")
    folder = OutputFolder(tmp_path / "made")
    with open(tmp_path / "made" / ".confir", "a", encoding="utf-8") as listing:
        listing.write('"../precious.txt"\n')
    OutputFolder(tmp_path / "made").remove_stale()
    folder.remove_stale()
    assert (tmp_path / "precious.txt").exists()


def test_a_listing_of_others_lists_nothing(tmp_path):
    (tmp_path / ".confir").write_text("settings = 1\n")
    with pytest.raises(InvalidValueError, match=r"holds \.confir, which"):
        OutputFolder(tmp_path)


def test_a_link_in_a_folder_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    folder = OutputFolder(tmp_path / "made")
    folder.file("qrels.txt").write_text("")
    folder.remove_stale()
    os.symlink(tmp_path / "elsewhere", tmp_path / "made" / "runs", target_is_directory=True)
    with pytest.raises(InvalidValueError, match="holds runs, which"):
        OutputFolder(tmp_path / "made")


@pytest.mark.parametrize("name", ["qrels.txt", "runs/a.txt", ".confir"])
def test_a_file_of_ours_that_became_a_link_is_not_followed(tmp_path, name):
    theirs = tmp_path / "theirs"
    theirs.write_text("years of work")
    folder = OutputFolder(tmp_path / "made")
    for one in ("qrels.txt", "runs/a.txt"):
        folder.file(one).write_text("ours")
    folder.remove_stale()
    (tmp_path / "made" / name).rename(tmp_path / "moved")
    os.symlink(tmp_path / ("moved" if name == ".confir" else "theirs"), tmp_path / "made" / name)
    before = (tmp_path / "moved").read_text()
    with pytest.raises(InvalidValueError, match=f"holds {name}, which confir did not write"):
        OutputFolder(tmp_path / "made")
    assert theirs.read_text() == "years of work"
    assert (tmp_path / "moved").read_text() == before


@pytest.mark.parametrize("link", ["runs", "runs/a.txt"])
def test_a_link_made_while_a_folder_is_written_is_not_followed(tmp_path, link):
    (tmp_path / "theirs" / "a.txt").parent.mkdir()
    folder = OutputFolder(tmp_path / "made")
    if link != "runs":
        (tmp_path / "made" / "runs").mkdir()
    os.symlink(tmp_path / "theirs", tmp_path / "made" / link, target_is_directory=True)
    with pytest.raises(InvalidValueError, match=f"holds {link}, which confir did not write"):
        folder.file("runs/a.txt")


def test_a_listing_that_became_a_link_is_replaced_not_followed(tmp_path):
    theirs = tmp_path / "theirs"
    theirs.write_text("years of work")
    folder = OutputFolder(tmp_path / "made")
    (tmp_path / "made" / ".confir").unlink()
    os.symlink(theirs, tmp_path / "made" / ".confir")
    folder.file("qrels.txt")
    assert theirs.read_text() == "years of work"


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        UnreadableError, match=r"cannot be made a folder \(there is a file of that name\)"
    ):
        OutputFolder(tmp_path / "file")


def test_a_page_may_be_next_to_its_figures(tmp_path):
    page = tmp_path / "report.html"
    for _ in range(2):
        folder = OutputFolder(tmp_path, [page])
        folder.file("means.svg").write_text("")
        folder.remove_stale()
        page.write_text("page")
    OutputFolder(tmp_path, [page]).remove_stale()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".confir", "report.html"]
    with pytest.raises(InvalidValueError, match=r"holds report\.html"):
        OutputFolder(tmp_path)


def test_a_design_and_a_table_of_means_are_inputs(confir_command, score_table, tmp_path):
    design = tmp_path / "design.csv"
    design.write_text("topic,stratum\n1,a\n2,a\n")
    outcome = confir_command("evaluate", "--scores", score_table, "--design", design, "-o", design)
    assert (outcome.code, READ in outcome.err) == (2, True)
    assert design.read_text().startswith("topic,stratum")
    means = tmp_path / "means.csv"
    means.write_text("dataset,a,b\nx,0.5,0.6\ny,0.4,0.5\n")
    outcome = confir_command("leaderboard", "--means", means, "-o", means)
    assert (outcome.code, READ in outcome.err) == (2, True)
    outcome = confir_command(
        *("leaderboard", "--means", means, "-o", tmp_path / "x.html", "--page", tmp_path / "x.html")
    )
    assert "two results cannot go to the same file" in outcome.err


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("r.parquet", "pyarrow", "parquet"),
        ("r.PARQUET", "pyarrow", "parquet"),
        ("r.run.zst", "zstandard", "zst"),
    ],
)
@pytest.mark.parametrize(
    "place", ["file", "folder", "glob", "named", "qrels", "scores", "baseline"]
)
def test_a_package_that_an_input_needs_is_named_before_anything_is_read(
    confir_command, monkeypatch, tmp_path, name, package, extra, place
):
    (tmp_path / "runs").mkdir()
    path, qrels = tmp_path / "runs" / name, tmp_path / "qrels.txt"
    path.write_bytes(b"neither one nor the other")
    qrels.write_text("no qrels at all\n")
    monkeypatch.setattr(
        "confir.cli.file_checks.find_spec", lambda module: None if module == package else object()
    )
    arguments = {
        "file": (qrels, path),
        "folder": (qrels, tmp_path / "runs"),
        "glob": (qrels, tmp_path / "runs" / "r*"),
        "named": (qrels, f"x={path}"),
        "qrels": (path, qrels),
        "scores": ("--scores", path),
        "baseline": (qrels, qrels, "--baseline", path),
    }
    command = "compare" if place == "baseline" else "evaluate"
    outcome = confir_command(command, *arguments[place])
    needed = f"{path}: reading it needs the package {package}: install it with pip install"
    assert outcome.err == f"confir: error: {needed} 'confir[{extra}]'\n"
    assert outcome.code == 2
