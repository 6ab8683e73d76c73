"""Passwords and tokens of addresses are sent to their host alone, and shown nowhere."""

import base64
import json
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar

import pytest

import confir
from confir.data.downloads import fetch
from confir.data.files import name_from_path
from confir.errors import ConfirError, FormatError, UnreadableError, warn_caller, without_passwords

SECRET = "s3cr3t"  # noqa: S105 - of nobody
NAME_AND_SECRET = base64.b64encode(b"ann:s3cr3t").decode()


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://ann:s3cr3t@host/a.run", "https://***@host/a.run"),
        ("https://ann:s3c@r3t@host:80/a@b", "https://***@host:80/a@b"),
        ("s3://key:s3cr3t@bucket/a", "s3://***@bucket/a"),
        ("'https://s3cr3t@host'", "'https://***@host'"),
        ("https://host/a?token=s3cr3t&x=1", "https://host/a?token=***&x=1"),
        ("https://host/a?x=1&X-Amz-Signature=s3cr3t#y", "https://host/a?x=1&X-Amz-Signature=***#y"),
        ("at https://ann:s3cr3t@host: no", "at https://***@host: no"),
        ("https://host/a@b.run", "https://host/a@b.run"),
        ("name=file@2.run", "name=file@2.run"),
        ("P@10 and a@b.c", "P@10 and a@b.c"),
    ],
)
def test_text_is_shown_without_passwords(address, shown):
    assert without_passwords(address) == shown


def test_errors_and_warnings_of_the_library_show_no_password():
    address = f"https://ann:{SECRET}@host/x"
    for error in (ConfirError(address), UnreadableError(address), FormatError("no", path=address)):
        assert SECRET not in str(error)
        assert "host/x" in str(error)
    with pytest.raises(UnreadableError) as refused:
        confir.read_run(f"ftp://ann:{SECRET}@host/a.run")
    assert SECRET not in str(refused.value)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warn_caller(address)
    assert SECRET not in str(found[0].message)
    assert SECRET not in name_from_path(f"https://ann:{SECRET}@host")
    assert SECRET not in name_from_path(f"https://host/a.run?token={SECRET}")


class Files(BaseHTTPRequestHandler):
    """Serves a folder to whoever knows the name and the password; ``/to/…`` leads on to an address."""

    asked: ClassVar[list[tuple[str, str | None]]] = []
    folder: ClassVar[Path] = Path()

    def do_GET(self):
        given = self.headers.get("Authorization")
        self.asked.append((self.path, given))
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/to/"))
            self.end_headers()
            return
        path = self.folder / self.path.removeprefix("/")
        known = given == f"Basic {NAME_AND_SECRET}"
        self.send_response(200 if known and path.is_file() else 404 if known else 401)
        self.end_headers()
        self.wfile.write(path.read_bytes() if known and path.is_file() else b"")

    def log_message(self, *_):
        """Print nothing."""


@pytest.fixture
def served(sample_files, monkeypatch):
    """The address of the sample's files, with name and password; and what is asked for."""
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    Files.asked, Files.folder = [], sample_files
    server = ThreadingHTTPServer(("127.0.0.1", 0), Files)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://ann:{SECRET}@127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_no_output_of_a_command_shows_the_password(confir_command, served, tmp_path):
    files = [f"{served}/qrels.txt", *(f"{served}/runs/{run}.txt" for run in ("bm25", "dense"))]
    printed = []
    commands = {
        "evaluate": ["-o", tmp_path / "a.json", "--provenance"],
        "compare": ["-o", tmp_path / "b.csv", "--provenance"],
        "report": ["-o", tmp_path / "c.html", "--replicates", "99"],
        "plan": [],
    }
    for command, options in commands.items():
        outcome = confir_command(command, *files, "-m", "AP", "--download", *options)
        assert outcome.code == 0, outcome.err
        printed += [outcome.out, outcome.err]
    outcome = confir_command("evaluate", f"{served}/none.txt", files[1], "-m", "AP", "--download")
    assert outcome.code == 2
    assert "***@127.0.0.1" in outcome.err
    printed.append(outcome.err)
    outcome = confir_command("evaluate", *files, "-m", "AP")
    assert outcome.code == 2
    printed += [outcome.err, confir_command("evaluate", *files, "--tokn=x").err]
    printed += [path.read_text() for path in tmp_path.iterdir()]
    assert len(printed) > 12
    for text in printed:
        assert SECRET not in text
        assert NAME_AND_SECRET not in text
    record = json.loads((tmp_path / "a.json.provenance.json").read_text())
    assert "http://***@127.0.0.1" in record["command"]
    assert all(one["path"].startswith("http://***@127.0.0.1") for one in record["inputs"])


def test_the_password_is_sent_to_its_own_host_alone(served):
    with pytest.raises(UnreadableError, match="401"):
        fetch(f"{served}/to/{served.replace(f'ann:{SECRET}@', '')}/qrels.txt")
    assert [given for _, given in Files.asked] == [f"Basic {NAME_AND_SECRET}", None]
