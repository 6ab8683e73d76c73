"""README and docs show what happens in the environment that `make demo` makes."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from confir.data.simulation import write_collection
from confir.studies import STUDIES
from documentation.run_pages import RUNNABLE
from requirements import missing_requirement
from samples import whole_sample

REPOSITORY = Path(__file__).resolve().parents[2]
SKILL = REPOSITORY / "skills" / "confir" / "SKILL.md"
PAGES = [REPOSITORY / "README.md", SKILL, *sorted((REPOSITORY / "docs").glob("*.md"))]
CASES = sorted((REPOSITORY / "docs" / "cases").glob("*.md"))
PYTHON = os.environ.get("CONFIR_DEMO_PYTHON", sys.executable)
RUN_PAGES = Path(__file__).with_name("run_pages.py")
# Pages that run in a separate process, and its options: README starts a program for each command, and
# contributing adds to lists that confir reads when it is imported.
ALONE = {"README.md": ("--processes",), "contributing.md": ()}
# Blocks that do not run, because they are no commands, or make the machine that runs the tests.
FOR_READING = {"text", "yaml", "{toctree}"}


@pytest.fixture(scope="session")
def sample(once_per_run):
    """The folder of the sample collection's files."""
    return once_per_run("sample", lambda folder: write_collection(whole_sample(), folder))


@pytest.fixture(scope="session")
def serve_page(sample):
    """A function that runs what a page shows in a copy of a process that imported all packages."""
    command = [PYTHON, str(RUN_PAGES), "--serve", "--sample", str(sample)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, encoding="utf-8", **pipes) as server:

        def run(page):
            server.stdin.write(f"{page}\n")
            server.stdin.flush()
            code, out, err = json.loads(server.stdout.readline())
            return subprocess.CompletedProcess(page, code, out, err)

        yield run
        server.stdin.close()


@pytest.fixture
def run_page(sample):
    """A function that runs what a page shows."""

    def run(page, *options):
        return run_script("--sample", sample, *options, page)

    return run


def run_script(*words):
    command = [PYTHON, str(RUN_PAGES), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_run_and_print_what_the_page_shows(run_page, serve_page, page):
    own = ALONE.get(page.name)
    done = serve_page(page) if own is None else run_page(page, *own)
    assert done.returncode == 0, done.stderr
    assert done.stdout == page.read_text(encoding="utf-8"), "`make outputs` writes them anew"


@pytest.mark.parametrize("page", PAGES + CASES, ids=lambda page: page.name)
def test_every_block_runs_or_says_that_it_is_for_reading(page):
    unread = RUNNABLE.sub("", page.read_text(encoding="utf-8"))
    assert (
        set(re.findall(r"^```([^\n]*)\n.*?^```$", unread, re.DOTALL | re.MULTILINE)) <= FOR_READING
    )


def test_pages_run_without_the_packages_of_the_tests():
    if "CONFIR_DEMO_PYTHON" not in os.environ:
        missing_requirement("CONFIR_DEMO_PYTHON is not set; `make test` sets it")
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = {re.match(r"[\w-]+", name)[0] for name in project["dependency-groups"]["test"]}
    assert "pandas" in wanted
    listed = subprocess.run(
        [PYTHON, "-m", "pip", "list", "--format", "freeze", "--disable-pip-version-check"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    installed = {line.partition("==")[0].lower() for line in listed.splitlines()}
    assert "confir" in installed
    needed = {"jsonschema", "pyyaml"}  # by altair and dask
    assert not {name.lower() for name in wanted} & installed - needed


STALE = """A page.

```python
word = "new"
print(word, end=" \\n\\n")
```

```output
old
```

```python
silent = word.upper()
```

```console
$ ls sample && \\
    echo more
old
$ echo warned >&2
```

```python file=kept/module.py
name = "kept module"
```

```python
print(open("kept/module.py").read())
```

```output
old
```

```sh
echo kept > kept.txt
```

<!-- $ cat kept.txt -->

old

<!-- end -->

```text
not run
```
"""


@pytest.mark.parametrize("options", [(), ("--processes",)], ids=["one process", "processes"])
def test_outputs_are_written_in_place_and_then_stay(run_page, tmp_path, options):
    page = tmp_path / "page.md"
    page.write_text(STALE, encoding="utf-8")
    assert run_page(page, *options, "--write").returncode == 0
    written = page.read_text(encoding="utf-8")
    session = "$ ls sample && \\\n    echo more\nqrels.txt\nruns\nmore\n$ echo warned >&2\nwarned\n"
    assert f"```console\n{session}```\n" in written
    assert "```\n\n```output\nnew\n```\n\n```python\nsilent" in written
    assert '```output\nname = "kept module"\n```\n' in written
    assert "<!-- $ cat kept.txt -->\n\nkept\n\n<!-- end -->" in written
    assert "```text\nnot run\n```" in written
    assert "old" not in written


def test_a_page_has_the_sample_collection_without_being_given_it(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```console\n$ ls sample\n```\n", encoding="utf-8")
    assert run_script(page).stdout == "```console\n$ ls sample\nqrels.txt\nruns\n```\n"


# What the shell, the streams and the surroundings make of commands, and what they leave behind.
COMMANDS = """\
```sh
mkdir "a folder"
```

```console
$ cd sample && confir evaluate qrels.txt runs/{bm25,dense}.txt -m AP | grep -o "^[a-z]*[0-9]* "
$ confir evaluate sample/qrels.txt nowhere.txt || echo "exit code $?"
$ COLUMNS=60 confir measures --help | head -4
$ confir evaluate sample/qrels.txt sample/runs/b*.txt -m P@10 >/dev/null
$ confir evaluate sample/qrels.txt - -m AP -o "a folder/x.csv" --provenance <sample/runs/bm25.txt
$ ls "a folder"; grep -A4 '"command"' "a folder/x.csv.provenance.json"
$ echo $COLUMNS; pwd | grep -c sample || confir --version 2>&1
```
"""


def test_commands_print_the_same_in_one_process_and_in_processes(run_page, tmp_path):
    shown = []
    for name, options in (("one.md", ()), ("each.md", ("--processes",))):
        page = tmp_path / name
        page.write_text(COMMANDS, encoding="utf-8")
        done = run_page(page, *options)
        assert done.returncode == 0, done.stderr
        shown.append(done.stdout)
    assert shown[0] == shown[1]
    for part in ("exit code 2", "lacks 1 topic", "x.csv.provenance.json", "confir 0.", "\nbm25\n"):
        assert part in shown[0]


@pytest.mark.parametrize(
    ("block", "named"),
    [
        ("```python\n1 / 0\n```\n", "ZeroDivisionError"),
        ("```console\n$ false\n```\n", "false ended with exit code 1"),
        ("```sh\nfalse\ntrue\n```\n", "false\ntrue ended with exit code 1"),
        ("```sh\nconfir nothing\n```\n", "confir nothing ended with exit code 2"),
    ],
)
def test_a_block_that_fails_fails_its_page(run_page, serve_page, block, named, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(block, encoding="utf-8")
    for done in (serve_page(page), run_page(page, "--write")):
        assert done.returncode == 1
        assert named in done.stderr
    assert page.read_text(encoding="utf-8") == block


@pytest.mark.parametrize("page", PAGES + CASES, ids=lambda page: page.name)
def test_links_lead_to_files_that_exist(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_figure_of_the_demo_has_the_intervals_that_the_demo_prints():
    command = [PYTHON, "-m", "confir", "demo", "--format", "json"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    expected = {
        (r["run"], r["measure"], *(f"{float(r[key]):.4f}" for key in ("mean", "low", "high")))
        for r in json.loads(printed)
    }
    figure = (REPOSITORY / "docs" / "figures" / "demo.svg").read_text(encoding="utf-8")
    labels = re.findall(r'<line aria-label="([^"]*; run: [^"]*)"', figure)
    fields = [dict(part.split(": ", 1) for part in label.split("; ")) for label in labels]
    shown = {
        (f["run"], f["measure"], *(f"{float(f[key]):.4f}" for key in ("mean", "low", "high")))
        for f in fields
    }
    assert shown == expected, "`make outputs` draws the figure anew"


def test_continuous_integration_does_what_readme_says_to_a_newcomer():
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    script = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
    told = re.search(r"^```text\n(make .*?)^```$", readme, re.DOTALL | re.MULTILINE)[1]
    assert told.splitlines() == ["make demo", "make test"]
    *commands, slow = [line for line in script.splitlines() if line.startswith("make ")]
    assert commands == [*told.splitlines(), "make test-spark", "make check", "make docs"]
    assert slow.startswith("make test-slow ")


def test_slow_tests_are_only_left_out_of_what_others_run_by_name():
    script = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    for name in re.findall(r"--ignore (\S+\.py)", script + makefile):
        assert (REPOSITORY / name).is_file(), name
    written = (REPOSITORY / "docs" / "contributing.md").read_text(encoding="utf-8")
    for path in (REPOSITORY / "tests" / "verify").glob("test_*.py"):
        assert f"`{path.name}`" in written, f"contributing.md does not say what {path.name} tests"


def question_rows():
    """Return the cells of the table of questions."""
    page = (REPOSITORY / "docs" / "questions.md").read_text(encoding="utf-8")
    table = page.partition("| question |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()[2:]]


def test_there_is_a_row_for_each_study_in_order_and_one_for_the_report():
    *rows, report = question_rows()
    assert [row[0] for row in rows] == [study.question for study in STUDIES]
    assert report[1:3] == ["`write_report`", "`confir report`"]


@pytest.mark.parametrize("place", range(len(STUDIES)), ids=[study.folder for study in STUDIES])
def test_a_row_names_the_verbs_commands_and_source_of_its_study(place):
    study, (_, verbs, commands, source) = STUDIES[place], question_rows()[place]
    functions = list(study.verbs)
    assert sorted(re.findall(r"`(\w+)`", verbs)) == sorted(functions)
    own = re.findall(r"`confir ([\w-]+)`", commands)
    assert own == list(study.commands)
    assert source == "[{}]({})".format(*study.source)
