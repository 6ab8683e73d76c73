"""How commands run: errors and warnings become sentences, an error an exit code as well."""

from __future__ import annotations

import atexit
import gc
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import click

from confir.cli import FAILED, INTERRUPTED
from confir.cli.commands import COMMANDS, build_app, build_command
from confir.cli.completion import COMPLETE, complete
from confir.cli.options import REPEATS, with_patterns
from confir.cli.streams import prepare_streams, print_message
from confir.cores import Products
from confir.errors import (
    ConfirError,
    ConfirWarning,
    InvalidValueError,
    place_by_importance,
)

# The exit code of a command whose output nobody reads, as of one that SIGPIPE ended.
UNREAD = 141

# The variable in which builds state the date of what they write.
_BUILD_DATE = "SOURCE_DATE_EPOCH"

# What takes less memory, by the option that says how much is drawn.
_SMALLER = {
    "replicates": "fewer --replicates need less",
    "samples": "fewer --samples need less",
    "draws": "fewer --draws need less",
    "collection": "fewer --topics, --runs or a smaller --depth need less",
}
_DRAWING = ("confir.resampling", "confir.intervals", "confir.studies", "confir.data.simulation")


def run() -> int:
    """Run the command that the arguments name, and return the exit code.

    An error is one sentence on stderr.
    """
    _start_fast()
    prepare_streams()
    words = sys.argv[1:]
    named = [word for word in words[:1] if word in COMMANDS]
    try:
        with warnings_at_the_end():
            if _BUILD_DATE in os.environ:
                build_seconds()  # before numpy reads it
            code = _invoke(named, with_patterns(words) if REPEATS in words else words)
            sys.stdout.flush()
    except ConfirError as error:
        code = _fail(str(error))
    except click.ClickException as error:
        code = _fail(_usage_sentence(error, named))
    except (BrokenPipeError, SystemExit):  # rich makes the second of the first, with the code 1
        code = UNREAD
    except MemoryError as error:
        code = _fail(_memory_advice(named, error.__traceback__))
    except Exception as error:  # noqa: BLE001 - Python would exit with 1, the code of a gate
        code = _fail_unexpectedly(error)
    return code


def _start_fast() -> None:
    """Skip work that would take a fifth of a short command's time to no effect.

    Each matrix product has one thread (`confir.cores`), so numpy need not start more.
    """
    atexit.register(gc.freeze)  # or Python would look through all objects once more
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if "numpy" not in sys.modules:
        Products.single = os.environ["OPENBLAS_NUM_THREADS"] == "1"


def build_seconds() -> int | None:
    """Return the seconds since 1970 that the environment states, if any; raise if it is no date.

    Every command asks: numpy and scipy read the variable as well, and would end in a traceback.
    """
    given = os.environ.get(_BUILD_DATE, "")
    if not given:
        os.environ.pop(_BUILD_DATE, None)  # for numpy, an empty one is no number
        return None
    if not re.fullmatch("[0-9]{1,11}", given):  # dates up to the year 5138
        raise InvalidValueError(
            f"{_BUILD_DATE} is {given!r}; expected seconds since 1970, such as 1767225600"
        )
    return int(given)


@contextmanager
def warnings_at_the_end() -> Iterator[None]:
    """Collect the warnings of a command, and print them when it ends; none before an error.

    An error says what is wrong, and warnings would only hide it. Those of other packages are for
    developers.
    """
    found: list[tuple[int, str]] = []

    def keep(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, ConfirWarning):
            found.append((place_by_importance(category), str(message)))

    with warnings.catch_warnings():
        warnings.simplefilter("always", ConfirWarning)
        warnings.showwarning = keep
        yield
    if found:
        from confir.report.messages import merge_warnings

        for line in merge_warnings(found):
            print_message(f"confir: warning: {line}")


def _invoke(named: list[str], words: list[str]) -> int:
    """Run a command, or the list of all where none is named, and return the exit code.

    Not by click's own ``main``, which exits with 1, the code of a gate, when nobody reads.
    """
    if COMPLETE in os.environ:
        return complete(build_app())
    command = build_command(named[0]) if named else build_app()
    try:
        with command.make_context(" ".join(["confir", *named]), words[len(named) :]) as context:
            command.invoke(context)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    return 0


def _usage_sentence(error: click.ClickException, named: list[str]) -> str:
    """Return what is wrong with the arguments; versions of click word unknown options differently."""
    from confir.cli.renamed_options import new_name

    option = str(getattr(error, "option_name", ""))
    renamed = new_name(named[0], option) if named else None
    if renamed is not None:
        return renamed
    said = error.format_message()
    if isinstance(error, click.NoSuchOption):
        possible = ", ".join(sorted(error.possibilities or ()))
        said = f"No such option: {option}{f' (Possible options: {possible})' if possible else ''}"
    return f"{said} (see {' '.join(['confir', *named, '--help'])})"


def _fail(message: str) -> int:
    print_message(f"confir: error: {message}")
    return FAILED


def _fail_unexpectedly(error: Exception) -> int:
    """Report an error that no command foresaw, and return the exit code."""
    if _was_interrupted(error):
        return INTERRUPTED
    if os.environ.get("CONFIR_TRACEBACK"):
        sys.excepthook(type(error), error, error.__traceback__)
    if isinstance(error, ImportError):
        about = " ".join(str(error).split())
        return _fail(
            f"{error.name or 'a package'} cannot be imported ({about}); expected an installation with "
            "all it needs, as pip install --force-reinstall confir makes it"
        )
    if isinstance(error, OSError):  # such as a full disk: the system's answer, and no bug
        place = error.filename or "standard output: cannot be written"
        return _fail(f"{place} ({error.strerror or error})")
    return _fail(
        f"this is a bug in confir: {type(error).__name__}: {error} (CONFIR_TRACEBACK=1 shows where)"
    )


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether an error, such as that of an import cut short, goes back to Ctrl-C."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _memory_advice(named: list[str], trace: TracebackType | None) -> str:
    """Return what to do about too little memory: draw less, or else read less at a time.

    The innermost module of confir tells which of them helps, unless it is that of a command.
    """
    innermost = ""
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__"))
        innermost = module if module.startswith("confir.") else innermost
        trace = trace.tb_next
    advice = "fewer runs or topics at a time need less, and long tables in Parquet, which are read in parts"
    if innermost.startswith(_DRAWING) and not innermost.endswith(".command") and named:
        options = {one.name for one in build_command(named[0]).params}
        advice = next((words for name, words in _SMALLER.items() if name in options), advice)
    return f"there is not enough memory for this; {advice}"
