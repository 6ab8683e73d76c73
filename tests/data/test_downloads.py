"""Downloads: limits of size, time and addresses."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest

from confir.data import downloads
from confir.data.downloads import fetch
from confir.data.files import read_bytes
from confir.errors import UnreadableError

TEXT = b"1 Q0 a 1 2 t\n"


class Web(BaseHTTPRequestHandler):
    """A server of good and bad files; ``/to/…`` leads on to an address."""

    protocol_version = "HTTP/1.1"
    leave = Event()  # when those that keep a client waiting stop

    def do_GET(self):
        self.close_connection = True
        if self.path.startswith("/to/"):
            self.answer(302, b"", Location=self.path.removeprefix("/to/"))
        elif self.path == "/large":
            self.answer(200, b"", **{"Content-Length": str(10**12)})
        elif self.path == "/endless":
            self.answer(200, b"")
            while not self.leave.is_set():
                self.wfile.write(bytes(1 << 16))
        elif self.path == "/slow":
            self.answer(200, TEXT)
            self.leave.wait()
        elif self.path == "/slow-head":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX")
            self.leave.wait()
        elif self.path == "/short":
            self.answer(200, TEXT, **{"Content-Length": "999"})
        else:
            self.answer(200, TEXT)

    def answer(self, code, content, **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def log_message(self, *_):
        """Print nothing."""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Print nothing where a client went away."""


@pytest.fixture(scope="module")
def web():
    """The address of a server on this machine."""
    with Server(("127.0.0.1", 0), Web) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        Web.leave.set()
        server.shutdown()


def test_a_file_is_fetched_whole(web):
    assert fetch(f"{web}/x.run") == TEXT
    assert fetch(web.replace("http", "HTTP") + "/x.run") == TEXT
    assert read_bytes(f"{web}/to/{web}/x.run", download=True) == TEXT


@pytest.mark.parametrize("there", ["ftp://127.0.0.1/x", "file:///etc/passwd", "data:text/plain,x"])
def test_an_address_leads_on_to_nothing_but_the_web(web, there):
    with pytest.raises(UnreadableError, match=r"cannot be fetched \(.*(ftp|not allowed)"):
        fetch(f"{web}/to/{there}")


def test_a_file_that_leads_on_to_itself_is_an_error(web):
    with pytest.raises(UnreadableError, match="cannot be fetched"):
        fetch(f"{web}/to//to/")


@pytest.mark.parametrize("path", ["large", "endless"])
def test_a_file_that_is_too_large_is_not_fetched(web, path, monkeypatch):
    monkeypatch.setattr(downloads, "_LARGEST_SIZE", 1 << 20)
    message = r"is not fetched to its end \(it has more than 1,048,576 bytes\); expected less, or a"
    with pytest.raises(UnreadableError, match=message):
        fetch(f"{web}/{path}")


@pytest.mark.parametrize("path", ["slow", "slow-head", "endless"])
def test_a_server_that_takes_too_long_is_given_up(web, path, monkeypatch):
    monkeypatch.setattr(downloads, "_SECONDS_IN_ALL", 0.05)
    monkeypatch.setattr(downloads, "_LARGEST_SIZE", 1 << 40)
    with pytest.raises(UnreadableError, match=r"it takes more than 0 seconds\); expected less, or"):
        fetch(f"{web}/{path}")


def test_a_connection_that_ends_too_early_is_an_error(web):
    with pytest.raises(UnreadableError, match="the connection ended too early"):
        fetch(f"{web}/short")


@pytest.mark.parametrize(
    "address", ["memory://confir/x.run", "file:///etc/passwd", "s3://bucket/x", "ftp://127.0.0.1/x"]
)
def test_nothing_but_the_web_is_opened(address):
    pytest.importorskip("fsspec").filesystem("memory").pipe("/confir/x.run", TEXT)
    message = (
        f"^{address}: only files of http and https are fetched; expected https://…, or a file$"
    )
    for download in (True, False):
        with pytest.raises(UnreadableError, match=message):
            read_bytes(address, download=download)
