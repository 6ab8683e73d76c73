"""What tests of the data layer share."""

import pytest

from confir.data.scanning import blocks


@pytest.fixture
def always_scanned(monkeypatch):
    """Let `read_rankings` scan files of any size."""
    monkeypatch.setattr(blocks, "COLD_BREAK_EVEN", 0)
    monkeypatch.setattr(blocks, "WARM_BREAK_EVEN", 0)
