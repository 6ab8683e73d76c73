"""Fixtures that tests of the data layer share."""

import pytest

from confir.data.scanning import list_reader


@pytest.fixture
def always_scanned(monkeypatch):
    """Let `read_rankings` scan files of any size."""
    monkeypatch.setattr(list_reader, "COLD_BREAK_EVEN", 0)
    monkeypatch.setattr(list_reader, "WARM_BREAK_EVEN", 0)
