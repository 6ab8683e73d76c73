"""What all tests share: where the real data are."""

import os
from pathlib import Path

import pytest

from requirements import missing_requirement

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real TREC and NTCIR data: CONFIR_DATA, else data/ in the checkout."""
    folder = Path(os.environ.get("CONFIR_DATA", REPOSITORY / "data"))
    if not folder.is_dir():
        missing_requirement(f"no real data at {folder}; set CONFIR_DATA")
    return folder
