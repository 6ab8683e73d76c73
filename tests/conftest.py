"""What all tests share: where the real data are, and a cluster."""

import logging
import os
from pathlib import Path

import pytest

from requirements import missing_requirement, required

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real TREC and NTCIR data: CONFIR_DATA, else data/ in the checkout."""
    named = os.environ.get("CONFIR_DATA", REPOSITORY / "data")
    if not named:
        pytest.skip("CONFIR_DATA is empty: there are no real data here")
    folder = Path(named)
    if not folder.is_dir():
        missing_requirement(f"no real data at {folder}; set CONFIR_DATA")
    return folder


@pytest.fixture(scope="session")
def cluster():
    """The address of a scheduler of two processes, which gives up a task that ended two of them."""
    distributed, dask = required("distributed"), required("dask")
    options = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, **options) as started,
    ):
        yield started.scheduler_address
