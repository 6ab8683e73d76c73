"""Characters that a terminal, browser or spreadsheet would interpret rather than show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from confir.errors import FormatError

# C0, DEL and C1; line separators; bidirectional controls, with which a name could imitate another or
# affect the text around it; surrogates, which no file can hold; and two code points that XML forbids.
CONTROL = (
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)

# A name in an isolate that is closed, and holds no other control, does not affect the text around it.
_ISOLATED = re.compile(rf"(\u2068(?:(?!{CONTROL}).)*\u2069)")

_ANY = re.compile(CONTROL)
_NOT_BLANK = re.compile(rf"(?![\t\n\r]){CONTROL}")
# After an even number of backslashes: these are backslashes of the text, as in \\begin of LaTeX.
_IN_JSON = re.compile(r"(?<!\\)(?:\\\\)*\\(?:[bf]|u00[01])")
# By number: to compile a name, \N{…}, loads a module, and an interrupt there is no KeyboardInterrupt.
_REPLACEMENT = "\ufffd"


def without_controls(text: str, *, keep_blanks: bool = False, keep_isolates: bool = False) -> str:
    """Return text with a replacement character for every control character.

    ``keep_blanks`` keeps tabs and line breaks, for multi-line text or quoted cells; ``keep_isolates``
    keeps those in which `confir.report.messages.isolated` puts names in sentences.
    """
    pattern = _NOT_BLANK if keep_blanks else _ANY
    if not keep_isolates or text.isascii():
        return pattern.sub(_REPLACEMENT, text)
    between = _ISOLATED.split(text)  # every second part is an isolate
    between[::2] = [pattern.sub(_REPLACEMENT, part) for part in between[::2]]
    return "".join(between)


def check_told_apart(kind: str, names: Sequence[str]) -> None:
    """Raise where two names are the same in output, where control characters are replaced."""
    if "".join(names).isprintable():
        return
    shown: dict[str, str] = {}
    for name in names:
        other = shown.setdefault(without_controls(name), name)
        if other != name:
            raise FormatError(
                f"two {kind} are named {other!r} and {name!r}, which differ in control characters only and "
                "would be one in tables and charts; expected another name for one of them"
            )


def as_unicode(text: str) -> str:
    """Return text with a question mark for every surrogate, as in a file name that is not valid text."""
    return text.encode(errors="replace").decode()


def escape_controls(text: str) -> str:
    r"""Return JSON that shows the control characters of its strings as ``\u009b``.

    It is equivalent: JSON always escapes those below U+0020, and has none outside of strings.
    """
    return _NOT_BLANK.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def has_controls(text: str) -> bool:
    """Whether text has control characters other than tabs and line breaks, as such or as in JSON."""
    return _NOT_BLANK.search(text) is not None or _IN_JSON.search(text) is not None


def clean_texts(value: Any, **kept: bool) -> Any:
    """Return a value of JSON with all of its texts as `without_controls` has them."""
    if isinstance(value, str):
        return without_controls(value, **kept)
    if isinstance(value, dict):
        return {clean_texts(key, **kept): clean_texts(one, **kept) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(clean_texts(one, **kept) for one in value)
    return value
