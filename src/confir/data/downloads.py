"""Files at addresses, fetched whole: no more, and for no longer, than a machine can stand."""

from __future__ import annotations

import threading
import time
from typing import IO, Any

from confir.data.compression import CHUNK
from confir.errors import UnreadableError

_WEB = ("http://", "https://")
# A server that is silent for so long is given up, and so is one that takes so long in all.
_SECONDS = 60.0
_SECONDS_IN_ALL = 900.0
_LARGEST_SIZE = 1 << 30


def fetch(address: str, *, allowed: bool = True) -> bytes:
    """Return the content at an address of http or https, if allowed; no other address is opened.

    A server that sends a letter now and then never lets a read time out: the thread that waits for
    it is left behind.
    """
    if not address.lower().startswith(_WEB):
        raise UnreadableError(
            f"{address}: only files of http and https are fetched; expected https://…, or a file"
        )
    if not allowed:
        raise UnreadableError(
            f"{address}: an address, which is fetched only on request; expected a file, or for runs and "
            "qrels --download (download=True) as well"
        )
    found: list[bytes] = []
    failed: list[Exception] = []

    def work() -> None:
        try:
            found.append(_fetch(address))
        except Exception as error:  # noqa: BLE001 - raised below, in the thread that waits
            failed.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(_SECONDS_IN_ALL)
    if found:
        return found[0]
    raise _sentence(address, failed[0]) if failed else _takes_too_long(address)


def _fetch(address: str) -> bytes:
    end = time.monotonic() + _SECONDS_IN_ALL
    content = bytearray()
    with _open_web(address) as stream:
        announced = getattr(stream, "length", None) or 0
        read = getattr(stream, "read1", stream.read)  # what there is, rather than a whole chunk
        while announced <= _LARGEST_SIZE >= len(content) and (chunk := read(CHUNK)):
            content += chunk
            if time.monotonic() > end:
                raise _takes_too_long(address)
        if max(announced, len(content)) > _LARGEST_SIZE:
            raise _too_much(address, f"it has more than {_LARGEST_SIZE:,} bytes")
        if getattr(stream, "length", None):
            raise UnreadableError(f"{address}: cannot be fetched (the connection ended too early)")
    return bytes(content)


def _takes_too_long(address: str) -> UnreadableError:
    return _too_much(address, f"it takes more than {_SECONDS_IN_ALL:,.0f} seconds")


def _too_much(address: str, reason: str) -> UnreadableError:
    return UnreadableError(
        f"{address}: is not fetched to its end ({reason}); expected less, or a file fetched otherwise"
    )


def _sentence(address: str, error: Exception) -> Exception:
    """Return an error in a sentence of ours."""
    from urllib.error import HTTPError

    if isinstance(error, UnreadableError):
        return error
    problem = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, HTTPError):
        error.close()  # it holds the connection
    return UnreadableError(f"{address}: cannot be fetched ({problem})")


def _open_web(address: str) -> IO[bytes]:
    """Open an address of the web, and what it redirects to: nothing but http and https."""
    from urllib import request

    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler(),
        request.HTTPHandler(),
        request.HTTPSHandler(),
        request.HTTPDefaultErrorHandler(),
        request.HTTPRedirectHandler(),
        request.HTTPErrorProcessor(),
        request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    stream: IO[bytes] = opener.open(_request(address), timeout=_SECONDS)
    return stream


def _request(address: str) -> Any:
    """Return the request for an address; its name and password go to its own host, to no other."""
    from base64 import b64encode
    from urllib import parse, request

    parts = parse.urlsplit(address)
    named, at, host = parts.netloc.rpartition("@")
    asked = request.Request(parse.urlunsplit(parts._replace(netloc=host)))  # noqa: S310 - checked
    if at:
        secret = b64encode(parse.unquote_to_bytes(named)).decode()
        asked.add_unredirected_header("Authorization", f"Basic {secret}")
    return asked
