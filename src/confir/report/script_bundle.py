"""The scripts that draw the charts of a page: Vega, Vega-Lite and Vega-Embed, as installed.

Bundling takes seconds and holds the interpreter lock, so a separate process does it while the
results are computed; the bundle of a version is kept in the user's cache folder. Without
vl-convert there are no scripts, and the page has the charts that confir draws itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, Self

from confir.report.svg_conversion import check_address_space
from confir.whole_files import replace_file

_SNIPPET = "window.vegaEmbed = vegaEmbed;"
_PROGRAM = (
    "import sys, vl_convert\n"
    f"sys.stdout.buffer.write(vl_convert.javascript_bundle({_SNIPPET!r}).encode())"
)
_END = "\n})();"


class ScriptBundle:
    """The scripts as one string, built in the background, once for all pages.

    A bundle that is entered within another shares its process, which may start long before the page.
    """

    _made: ClassVar[str | None] = None
    _process: ClassVar[subprocess.Popen[bytes] | None] = None

    def __enter__(self) -> Self:
        if ScriptBundle._made is None:
            if find_spec("vl_convert") is None:
                ScriptBundle._made = ""
            else:
                with suppress(OSError, UnicodeDecodeError):
                    kept = _cached().read_text("utf-8")
                    ScriptBundle._made = kept if kept.endswith(_END) else None
        self._started = ScriptBundle._made is None and ScriptBundle._process is None
        if self._started:
            check_address_space()
            # -P: no module is imported from the current directory.
            command = [sys.executable, "-P", "-c", _PROGRAM]
            with suppress(OSError):  # the scripts are then built here
                ScriptBundle._process = subprocess.Popen(  # noqa: S603 - this Python, constant arguments
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
        return self

    def __exit__(self, *_error: object) -> None:
        process = ScriptBundle._process
        if self._started and process is not None:
            ScriptBundle._process = None
            with process:  # closes the pipe and waits
                process.kill()

    def text(self) -> str:
        """Return the scripts, without global names; wait until they are built."""
        if ScriptBundle._made is None:
            process, bundle = ScriptBundle._process, ""
            if process is not None:
                content, _ = process.communicate()
                bundle = content.decode() if process.returncode == 0 else ""
            bundle = (bundle or _make()).replace("</script", "<\\/script")  # would end the script
            ScriptBundle._made = "(function(){" + bundle + _END
            with suppress(OSError):  # a folder that cannot be written to costs time only
                _cached().parent.mkdir(parents=True, exist_ok=True)
                replace_file(_cached(), ScriptBundle._made.encode())
        return ScriptBundle._made


def _cached() -> Path:
    """Return the file that keeps the scripts of the version that is installed."""
    folder = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(folder) / "confir" / f"vega-{version('vl-convert-python')}.js"


def _make() -> str:
    import vl_convert

    bundle: str = vl_convert.javascript_bundle(_SNIPPET)
    return bundle
