"""The scripts that draw the charts of a page: Vega, Vega-Lite and Vega-Embed, as installed.

Bundling takes seconds and holds the interpreter lock, so a separate process does it while the
results are computed.
"""

from __future__ import annotations

import subprocess
import sys
from types import TracebackType
from typing import ClassVar, Self

from confir.errors import MissingDependencyError

_SNIPPET = "window.vegaEmbed = vegaEmbed;"
_PROGRAM = (
    "import sys, vl_convert\n"
    f"sys.stdout.buffer.write(vl_convert.javascript_bundle({_SNIPPET!r}).encode())"
)


class ScriptBundle:
    """The scripts as one string, built in the background, once for all pages."""

    _made: ClassVar[str | None] = None

    def __enter__(self) -> Self:
        try:
            import altair  # noqa: F401, ICN001 - the charts are its specifications
            import vl_convert  # noqa: F401
        except ImportError:
            needed = "altair and vl-convert-python"
            raise MissingDependencyError(needed, "a report", "report") from None
        self._process = None if ScriptBundle._made is not None else _start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is not None:
            with self._process:  # closes the pipe and waits
                self._process.kill()

    def text(self) -> str:
        """Return the scripts; wait until they are built."""
        if ScriptBundle._made is None:
            ScriptBundle._made = _wrapped(self._wait() or _make())
        return ScriptBundle._made

    def _wait(self) -> str:
        """Return the output of the process; empty if it failed."""
        if self._process is None:
            return ""
        content, _ = self._process.communicate()
        return content.decode() if self._process.returncode == 0 else ""


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
