"""All tests of this folder are slow."""

from pathlib import Path

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    folder = Path(__file__).parent
    for item in items:
        if folder in item.path.parents:
            item.add_marker("slow")
