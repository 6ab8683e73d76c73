"""The outputs on the pages of case studies, on the real collections; `make cases` regenerates them."""

import pytest

from documentation.test_pages import CASES, run_script


@pytest.mark.usefixtures("real_data")
@pytest.mark.parametrize("page", CASES, ids=lambda page: page.name)
def test_commands_print_what_the_page_shows(page):
    done = run_script(page)
    assert done.returncode == 0, done.stderr
    assert done.stdout == page.read_text(encoding="utf-8"), "`make cases` writes them anew"
