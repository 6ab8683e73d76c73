"""What a test needs beyond the packages: without it the test is skipped, but fails where CI is true."""

import os
from typing import NoReturn

import pytest


def missing_requirement(message: str) -> NoReturn:
    """Skip the test for want of something, or fail it in continuous integration."""
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)
