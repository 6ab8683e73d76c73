"""The scripts that draw the charts of a page: Vega, Vega-Lite and Vega-Embed, as installed.

Bundling takes seconds and holds the interpreter lock, so a separate process does it while the
results are computed.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from types import TracebackType
from typing import ClassVar, Self

from confir.errors import MissingDependencyError

_SNIPPET = "window.vegaEmbed = vegaEmbed;"
_PROGRAM = (
    "import sys, vl_convert\n"
    f"sys.stdout.buffer.write(vl_convert.javascript_bundle({_SNIPPET!r}).encode())"
)


class ScriptBundle:
    """The scripts as one string, built in the background, once for all pages.

    Who enters while another is inside shares its process: it may be started long before the page.
    """

    _made: ClassVar[str | None] = None
    _process: ClassVar[subprocess.Popen[bytes] | None] = None

    def __enter__(self) -> Self:
        if find_spec("altair") is None or find_spec("vl_convert") is None:
            needed = "altair and vl-convert-python"
            raise MissingDependencyError(needed, "a report", "report")
        self._started = ScriptBundle._made is None and ScriptBundle._process is None
        if self._started:
            ScriptBundle._process = _start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        process = ScriptBundle._process
        if self._started and process is not None:
            ScriptBundle._process = None
            with process:  # closes the pipe and waits
                process.kill()

    def text(self) -> str:
        """Return the scripts; wait until they are built."""
        if ScriptBundle._made is None:
            ScriptBundle._made = _wrapped(self._wait() or _make())
        return ScriptBundle._made

    def _wait(self) -> str:
        """Return the output of the process; empty if it failed."""
        process = ScriptBundle._process
        if process is None:
            return ""
        content, _ = process.communicate()
        return content.decode() if process.returncode == 0 else ""


def _start() -> subprocess.Popen[bytes] | None:
    # -P: no module is imported from the current directory.
    command = [sys.executable, "-P", "-c", _PROGRAM]
    try:
        return subprocess.Popen(  # noqa: S603 - this Python, with constant arguments
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None


def _make() -> str:
    import vl_convert

    bundle: str = vl_convert.javascript_bundle(_SNIPPET)
    return bundle


def _wrapped(bundle: str) -> str:
    """Return a bundle without global names, and without the text that would end its script."""
    return "(function(){" + bundle.replace("</script", "<\\/script") + "\n})();"
