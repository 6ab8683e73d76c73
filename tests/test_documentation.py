"""What README and docs show is what happens."""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n\n```\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_examples_run_and_print_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code, shown in BLOCK.findall(page.read_text()):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(page), "exec"), names)  # noqa: S102 - our own pages
        if shown:
            assert printed.getvalue() == shown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_that_exist(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_list_of_measures_is_the_one_that_the_command_prints():
    command = [sys.executable, "-m", "confir", "measures", "--format", "md"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    page = (REPOSITORY / "docs" / "measures.md").read_text()
    assert printed.strip() in page
