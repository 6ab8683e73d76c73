"""Fixtures that tests of the data layer share."""

import pytest

from confir.data.scanning import file_scans


@pytest.fixture
def always_scanned(monkeypatch):
    """Let `read_rankings` scan files of any size."""
    monkeypatch.setattr(file_scans, "COLD_BREAK_EVEN", 0)
    monkeypatch.setattr(file_scans, "WARM_BREAK_EVEN", 0)
