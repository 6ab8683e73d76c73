"""The pictures of README and site that no command draws correspond to their sources."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def pictures():
    """The script that draws the pictures."""
    spec = spec_from_file_location("pictures", DOCS / "pictures.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def rows(pictures):
    """The rows of the table of questions and commands."""
    return pictures.read_rows((DOCS / "which-command.md").read_text(encoding="utf-8"))


def test_the_picture_of_commands_is_drawn_from_the_table_of_its_page(pictures, rows):
    assert len(rows) > 10
    kept = (DOCS / "figures" / "which-command.svg").read_text(encoding="utf-8")
    assert kept == pictures.draw_question(rows), "`make pictures` draws it anew"


def test_the_picture_fits_a_phone(pictures, rows):
    for row in rows:  # 7.6 pixels for each letter of the typewriter font, margins aside
        assert 7.6 * (len(row.command) + 2) <= pictures.WIDTH - 2 * pictures.MARGIN, row.command


def test_the_picture_of_the_page_is_small():
    content = (DOCS / "figures" / "page.png").read_bytes()
    assert re.match(rb"\x89PNG", content)
    assert len(content) < 300_000
