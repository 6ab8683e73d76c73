"""The errors and warnings of confir.

::

    ConfirError
    ├── UnreadableError         a file cannot be opened or decompressed
    ├── FormatError             a file or an object has invalid content
    ├── TopicMismatchError      runs and qrels have different topics
    ├── UnknownNameError        no measure, method, run or option has that name
    ├── InvalidValueError       a value outside what a parameter allows
    ├── UnsupportedMethodError  a method that does not apply to the data
    ├── MissingDependencyError  an optional package is not installed
    └── SchedulerError          a cluster that cannot be reached or used

    ConfirWarning
    ├── TopicWarning               topics that are left out
    │   ├── MissingTopicWarning    topics that runs lack: scored 0, or means over different topics
    │   ├── NothingRelevantWarning topics or grades without relevant documents
    │   └── UnknownTopicWarning    topics of runs that the qrels lack
    ├── InputWarning               input that is accepted, but may be a mistake
    │   ├── UnjudgedWarning        many unjudged documents, which count as non-relevant
    │   ├── IdenticalIdWarning     documents with the id of their topic, which may be the topic itself
    │   ├── SmallSampleWarning     too few topics, clusters or replicates
    │   └── ReadingWarning         how input was read
    └── DegenerateSampleWarning    a sample that has no interval
"""

from __future__ import annotations

import difflib
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar

# What an address says before its host, and values in it whose names say that they are secret.
_SECRET = re.compile(
    r"(?P<kept>\b[a-z][a-z0-9+.-]*://)[^/\s?#@]*(?:@[^/\s?#@]*)*(?=@)"
    r"|(?P<name>[?&][^=&\s]*(?:token|secret|signature|password|passwd|credential|api_?key|auth)[^=&\s]*=)[^&\s#'\"]+",
    re.IGNORECASE,
)


def without_passwords(text: str) -> str:
    """Return text in which *** replaces what addresses hold before their host, and tokens."""
    if "://" not in text and "=" not in text:
        return text
    return _SECRET.sub(lambda found: f"{found['kept'] or found['name']}***", text)


class ConfirError(Exception):
    """Base class of the errors of confir; messages never show the password of an address."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(without_passwords(x) if isinstance(x, str) else x for x in arguments))

    def __reduce__(self) -> tuple[Any, ...]:
        # by the message, as some classes take other arguments: workers of a cluster send errors
        return _restore, (type(self), self.args, vars(self))


class UnreadableError(ConfirError, OSError):
    """A file cannot be opened, read, written or decompressed."""


class FormatError(ConfirError, ValueError):
    """A file or an object has invalid content.

    Parameters
    ----------
    problem
        One sentence: what was found, and what was expected.
    path
        The file, or a name for the object.
    line
        Line number, from 1.
    """

    def __init__(self, problem: str, *, path: str | None = None, line: int | None = None) -> None:
        where = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(f"{where}{problem}")
        self.problem = problem
        self.path = path
        self.line = line


class TopicMismatchError(ConfirError, ValueError):
    """Runs and qrels have different topics."""


class UnknownNameError(ConfirError, LookupError):
    """Nothing has that name; the message suggests similar ones.

    Parameters
    ----------
    kind
        What was looked for, such as "measure".
    name
        The name that was given.
    known
        The names that exist.
    related
        Names to suggest where none is similar.
    """

    def __init__(
        self, kind: str, name: str, known: Iterable[str], related: Iterable[str] = ()
    ) -> None:
        names = list(known)
        nearest = nearest_names(name, names) or list(related)
        if nearest:
            hint = f"did you mean {' or '.join(nearest)}?"
        else:
            hint = f"known: {', '.join(names[:12])}{', …' if len(names) > 12 else ''}"
        super().__init__(f"unknown {kind} {name!r}; {hint}")
        self.name = name


class InvalidValueError(ConfirError, ValueError):
    """A value outside what a parameter allows."""


class UnsupportedMethodError(ConfirError, ValueError):
    """A method that does not apply to the data."""


class MissingDependencyError(ConfirError, ImportError):
    """An optional package is not installed.

    Parameters
    ----------
    package
        The package that is missing.
    purpose
        What it is needed for.
    extra
        The extra of confir that installs it; None if none does.
    """

    def __init__(self, package: str, purpose: str, extra: str | None) -> None:
        wanted = package if extra is None else f"'confir[{extra}]'"
        super().__init__(
            f"{purpose} needs the package {package}: install it with pip install {wanted}"
        )


class SchedulerError(ConfirError, OSError):
    """The scheduler of a cluster cannot be reached, or its workers cannot be used."""


def _restore(
    kind: type[ConfirError], arguments: tuple[Any, ...], state: dict[str, Any]
) -> ConfirError:
    """Return an error that was pickled."""
    error = kind.__new__(kind)
    error.args = arguments
    vars(error).update(state)
    return error


class ConfirWarning(UserWarning):
    """Base class of the warnings of confir.

    Attributes
    ----------
    advice
        What a reader of the results can do, where messages do not say it themselves.
    """

    advice: ClassVar[str] = ""


class InputWarning(ConfirWarning):
    """Input that is accepted, but may be a mistake."""


class TopicWarning(ConfirWarning):
    """Topics that are missing, left out, or without relevant documents."""


class MissingTopicWarning(TopicWarning):
    """Topics that runs lack: they score 0, or means are over different topics."""

    advice = "check that the runs are complete"


class NothingRelevantWarning(TopicWarning):
    """Topics without relevant documents, or grades that no document has."""

    advice = "check that the qrels are the right ones, and complete"


class UnknownTopicWarning(TopicWarning):
    """Topics of runs that the qrels lack, and that are not scored."""

    advice = "check that the qrels are complete"


class UnjudgedWarning(InputWarning):
    """Many unjudged documents, which count as non-relevant."""


class IdenticalIdWarning(InputWarning):
    """Documents with the id of their topic, which may be the topic itself."""


class SmallSampleWarning(InputWarning):
    """Too few topics, clusters or replicates for a conclusion."""


class ReadingWarning(InputWarning):
    """How input was read; no number is doubtful for it."""


class DegenerateSampleWarning(ConfirWarning):
    """A sample that has no interval, such as one of equal scores."""


# The most important first: what can make a conclusion wrong, then what may be a mistake or leaves
# topics out, then samples without an interval, then notes.
_BY_IMPORTANCE = (
    MissingTopicWarning,
    UnjudgedWarning,
    NothingRelevantWarning,
    SmallSampleWarning,
    InputWarning,
    TopicWarning,
    ConfirWarning,
    DegenerateSampleWarning,
    ReadingWarning,
)


def place_by_importance(category: type[ConfirWarning]) -> int:
    """Return the place of a kind of warning among all kinds, 0 for the most important."""
    return next(_BY_IMPORTANCE.index(kind) for kind in category.__mro__ if kind in _BY_IMPORTANCE)


def nearest_names(name: str, known: Iterable[str]) -> list[str]:
    """Return at most two known names similar to the given one, most similar first."""
    by_folded: dict[str, str] = {}
    for candidate in known:
        by_folded.setdefault(candidate.casefold(), candidate)
    close = difflib.get_close_matches(name.casefold(), by_folded, n=2, cutoff=0.6)
    return [by_folded[match] for match in close]


def enumerate_names(names: Iterable[str], limit: int = 10) -> str:
    """Return names joined by commas; names beyond the limit are counted."""
    listed = list(names)
    shown = ", ".join(listed[:limit])
    return shown if len(listed) <= limit else f"{shown} and {len(listed) - limit:,} more"


def enumerate_numbers(noun: str, numbers: Sequence[int]) -> str:
    """Return numbered items: ``line 5``, ``lines 5, 7``; as many as `enumerate_names` lists."""
    return f"{noun}{'' if len(numbers) == 1 else 's'} {enumerate_names(map(str, numbers))}"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: ``1 topic``, ``1,200 topics``; ``plural`` if irregular."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def type_name(value: Any) -> str:
    """Return the name of an object's type, with its module."""
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


def warn_caller(message: str, category: type[ConfirWarning] = InputWarning) -> None:
    """Warn with the location of the caller of confir, however deep the call is."""
    collected = _COLLECTED.get()
    if collected is not None:
        collected.append((message, category))
        return
    message = without_passwords(message)
    level, frame = 1, sys._getframe()  # noqa: SLF001 - inspect.currentframe, without importing inspect
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("confir."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def collect_warnings() -> Iterator[list[CollectedWarning]]:
    """Yield the list of what `warn_caller` says inside, which warns of nothing meanwhile.

    For workers, whose warnings the caller repeats. Unlike filters of warnings, it is safe in threads.
    """
    collected: list[CollectedWarning] = []
    token = _COLLECTED.set(collected)
    try:
        yield collected
    finally:
        _COLLECTED.reset(token)


CollectedWarning = tuple[str, type[ConfirWarning]]
_COLLECTED: ContextVar[list[CollectedWarning] | None] = ContextVar("warnings", default=None)
