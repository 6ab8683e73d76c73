"""What all tests share: where the real data are, and few threads."""

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real TREC and NTCIR data: CONFIR_DATA, else ../shared/data."""
    folder = Path(os.environ.get("CONFIR_DATA", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        message = f"no real data at {folder}; set CONFIR_DATA"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return folder
