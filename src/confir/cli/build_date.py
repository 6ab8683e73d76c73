"""The date that builds state for what they write, in the variable SOURCE_DATE_EPOCH."""

from __future__ import annotations

import os
import re

from confir.errors import InvalidValueError

_NAME = "SOURCE_DATE_EPOCH"


def build_seconds() -> int | None:
    """Return the seconds since 1970 that the environment states, if any; raise if it is no date.

    Every command asks: numpy and scipy read the variable as well, and would end in a traceback.
    """
    given = os.environ.get(_NAME, "")
    if not given:
        os.environ.pop(_NAME, None)  # for numpy, an empty one is no number
        return None
    if not re.fullmatch("[0-9]{1,11}", given):  # dates up to the year 5138
        raise InvalidValueError(
            f"{_NAME} is {given!r}; expected seconds since 1970, such as 1767225600"
        )
    return int(given)
