"""Ctrl-C at many moments of a command; `make test` tries a few."""

import pytest

from cli.test_streams import STARTS, interrupt
from confir.data.simulation import sample_collection, write_collection
from requirements import ON_UNIX


@pytest.fixture(scope="module")
def sample_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample")
    write_collection(sample_collection(), folder)
    return folder


@ON_UNIX
@pytest.mark.parametrize("start_of", STARTS)
@pytest.mark.parametrize("delay", [place / 40 for place in range(1, 32)])
def test_an_interrupt_at_any_moment_prints_no_traceback(sample_files, start_of, delay):
    interrupt(sample_files, start_of, delay)
