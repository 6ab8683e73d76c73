"""The links of a built site are checked, and broken links are found."""

import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).resolve().parents[2] / "docs" / "check_links.py"
GOOD = (
    '<h1 id="top">A</h1><a href="b.html#end">B</a><img src="c.png"><a href="https://e.org/">E</a>'
)


@pytest.fixture
def check(tmp_path):
    """A function that checks a site of two pages, the first with the given content."""

    def run(content):
        (tmp_path / "a.html").write_text(content, encoding="utf-8")
        (tmp_path / "b.html").write_text('<p id="end">B <a href="a.html">A</a></p>', "utf-8")
        (tmp_path / "c.png").touch()
        (tmp_path / "llms.txt").write_text("- [A](a.html)\n", encoding="utf-8")
        command = [sys.executable, CHECK, tmp_path]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


def test_a_site_whose_links_lead_somewhere_passes(check):
    done = check(GOOD)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ('<a href="gone.html">', "a.html links to gone.html: no such file"),
        ('<a href="b.html#start">', "a.html links to b.html#start: no such anchor"),
        ('<a href="#start">', "a.html links to #start: no such anchor"),
        ('<img src="gone.png">', "a.html links to gone.png: no such file"),
    ],
)
def test_a_link_that_leads_nowhere_is_named(check, content, named):
    done = check(content)
    assert done.returncode == 1
    assert done.stderr.strip() == named
