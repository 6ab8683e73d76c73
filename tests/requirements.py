"""What a test needs beyond the packages: without it the test is skipped, but fails if CI is true."""

import importlib
import os
import sys
from typing import Any, NoReturn

import pytest

ON_UNIX = pytest.mark.skipif(os.name == "nt", reason="Windows has no such files or limits")
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs files or programs of Linux")


def missing_requirement(message: str) -> NoReturn:
    """Skip the test for want of something, or fail it in continuous integration."""
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message, allow_module_level=True)


def required(name: str) -> Any:
    """Return a module that not every environment of the tests has."""
    try:
        return importlib.import_module(name)
    except ImportError:
        missing_requirement(f"no {name}; `make test` installs it")
