"""Characters that a terminal, browser or spreadsheet would interpret rather than show."""

from __future__ import annotations

import re

# C0, DEL and C1; line separators; and bidirectional controls, with which a name could imitate
# another or affect the text around it.
CONTROL = r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"

_ANY = re.compile(CONTROL)
_NOT_BLANK = re.compile(rf"(?![\t\n\r]){CONTROL}")
# By number: to compile a name, \N{…}, loads a module, and an interrupt there is no KeyboardInterrupt.
_REPLACEMENT = "\ufffd"


def without_controls(text: str, *, keep_blanks: bool = False) -> str:
    """Return text with a replacement character for every control character.

    ``keep_blanks`` keeps tabs and line breaks, for multi-line text or quoted cells.
    """
    return (_NOT_BLANK if keep_blanks else _ANY).sub(_REPLACEMENT, text)


def escape_controls(text: str) -> str:
    r"""Return JSON that shows the control characters of its strings as ``\u009b``.

    It is equivalent: JSON always escapes those below U+0020, and has none outside of strings.
    """
    return _NOT_BLANK.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
