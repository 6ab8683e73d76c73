"""The page of what was checked names existing tests and pages, and every test against other tools."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")


def test_what_the_page_names_exists():
    tests = re.findall(r"tests/[\w/]+\.py", PAGE)
    pages = re.findall(r"\]\(([\w/.-]+)\)", PAGE)
    assert len(tests) > 20
    assert len(pages) > 5
    assert [name for name in tests if not (ROOT / name).is_file()] == []
    assert [name for name in pages if not (ROOT / "docs" / name).is_file()] == []


def test_every_test_against_others_is_on_the_page():
    known = {path.name for path in (ROOT / "tests" / "reference").glob("test_against_*.py")}
    assert [name for name in sorted(known) if name not in PAGE] == []
