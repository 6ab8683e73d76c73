"""The command ``confir``: one file per command; each parses, calls the library, and prints.

Only the command that is named is imported, and it imports the library when it runs. Nothing is
imported here that takes time: from `main` on, Ctrl-C ends the command in one sentence.
"""

from __future__ import annotations

import gc
import sys

# The exit codes of an error, and of what Ctrl-C stopped.
FAILED = 2
INTERRUPTED = 130

# How many objects are made before Python looks for garbage among them, which imports do not make; its
# default is 700.
_OBJECTS_PER_COLLECTION = 100_000


def main() -> None:
    """Run the command line, and exit.

    The code is 0, 1 (a closed gate, and nothing else), 2 (an error), 130 (interrupted) or 141 (the
    reader of a pipe went away).
    """
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    sys.unraisablehook = _raise_interrupt_again
    try:
        from confir.cli.start import run

        code = run()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BaseException as error:  # noqa: BLE001 - Python would exit with 1, the code of a gate
        # an interrupt while a class is made arrives as the cause of a RuntimeError
        interrupted = isinstance(error.__cause__, KeyboardInterrupt)
        code = INTERRUPTED if interrupted else _fail_to_start(error)
    finally:
        from contextlib import suppress
        from signal import SIG_IGN, SIGINT, signal

        with suppress(ValueError):  # only the main thread receives Ctrl-C, and may set its handler
            signal(SIGINT, SIG_IGN)  # from here on, it would only print a traceback
    if code == INTERRUPTED:
        _print_last("confir: error: interrupted")
    try:
        from confir.cli.streams import release_streams

        release_streams()
    finally:  # where what a stream does not accept cannot be discarded, the exit code stays
        sys.exit(code)


def _fail_to_start(error: BaseException) -> int:
    """Say why the command line cannot be loaded or run at all, and return the exit code."""
    import os

    if os.environ.get("CONFIR_TRACEBACK"):
        sys.excepthook(type(error), error, error.__traceback__)
    about = " ".join(str(error).split())
    _print_last(
        f"confir: error: confir cannot be started ({type(error).__name__}: {about}); expected an "
        "installation with all it needs, as pip install --force-reinstall confir makes it"
    )
    return FAILED


def _print_last(message: str) -> None:
    """Print a line on stderr, even where modules of confir are damaged."""
    try:
        from confir.cli.streams import print_message

        print_message(message)
    except Exception:  # noqa: BLE001 - nothing else can be said
        if sys.stderr is not None:
            sys.stderr.write(f"{message}\n")


def _raise_interrupt_again(lost: sys.UnraisableHookArgs) -> None:
    """Let Ctrl-C through where Python can only print it, such as in callbacks of the importer."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        import _thread

        _thread.start_new_thread(_interrupt_soon, ())
    else:
        sys.__unraisablehook__(lost)


def _interrupt_soon() -> None:
    """Interrupt the main thread once it has left the callback, which would lose the interrupt again."""
    import _thread
    import time

    time.sleep(0.01)
    _thread.interrupt_main()
