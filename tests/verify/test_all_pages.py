"""The commands of all pages, each in a separate process; `make test` does so with README alone."""

import pytest

from documentation.test_pages import PAGES, run_script


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_run_and_print_what_the_page_shows(page):
    done = run_script("--processes", page)
    assert done.returncode == 0, done.stderr
    assert done.stdout == page.read_text(encoding="utf-8"), "`make outputs` writes them anew"
