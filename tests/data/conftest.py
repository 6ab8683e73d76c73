"""What tests of the data layer share."""

import pytest

from confir.data.scanning import block_scanner


@pytest.fixture
def always_scanned(monkeypatch):
    """Let `read_rankings` scan files of any size."""
    monkeypatch.setattr(block_scanner, "COLD_BREAK_EVEN", 0)
    monkeypatch.setattr(block_scanner, "WARM_BREAK_EVEN", 0)
