"""Which characters would a terminal, a browser or a spreadsheet obey rather than show?"""

from __future__ import annotations

import re

# C0, DEL and C1; line separators; and signs that turn the direction of writing, which could make a
# name look like another or run into its neighbours.
CONTROL = r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"

_ANY = re.compile(CONTROL)
_NOT_BLANK = re.compile(rf"(?![\t\n\r]){CONTROL}")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def without_controls(text: str, *, keep_blanks: bool = False) -> str:
    """Return text with a replacement character for every control character.

    ``keep_blanks`` leaves tabs and line ends, for text of several lines or quoted cells.
    """
    return (_NOT_BLANK if keep_blanks else _ANY).sub(_REPLACEMENT, text)


def escape_controls(text: str) -> str:
    r"""Return JSON that shows the control characters of its strings as ``\u009b``.

    It means the same: JSON escapes those below a blank anyway, and has none outside of strings.
    """
    return _NOT_BLANK.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
