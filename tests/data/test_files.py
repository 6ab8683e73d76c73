"""Files are opened by their content, and written whole or not at all."""

import bz2
import errno
import gzip
import io
import lzma
import os
import re
import stat
import subprocess
import sys
import tempfile
import threading
from collections import deque
from pathlib import Path
from types import SimpleNamespace

import pytest
import zstandard

from confir.data import compression
from confir.data.files import open_bytes, read_bytes, write_whole
from confir.errors import ConfirError, MissingDependencyError, UnreadableError
from requirements import ON_LINUX, ON_UNIX

TEXT = b"301 Q0 FBIS3-1 1 2.5 tag\n" * 5000

COMPRESSORS = {
    "plain": lambda content: content,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda content: zstandard.ZstdCompressor().compress(content),
}
COMPRESSED = [kind for kind in COMPRESSORS if kind != "plain"]


def write(folder, content, name="data"):
    path = folder / name
    path.write_bytes(content)
    return path


def noise(size):
    """Return text that does not compress well."""
    return os.urandom(size // 2).hex().encode()


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_compression_is_recognised_by_content_not_by_name(tmp_path, kind):
    assert read_bytes(write(tmp_path, COMPRESSORS[kind](TEXT), "run.txt")) == TEXT


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_empty_content_is_read_as_empty(tmp_path, kind):
    assert read_bytes(write(tmp_path, COMPRESSORS[kind](b""))) == b""


@pytest.mark.parametrize("kind", COMPRESSED)
def test_compressed_files_put_together_are_read_one_after_the_other(tmp_path, kind):
    compress = COMPRESSORS[kind]
    path = write(tmp_path, compress(b"first ") + compress(b"") + compress(b"second"))
    assert read_bytes(path) == b"first second"


def test_a_skippable_frame_before_zstandard_data_is_skipped(tmp_path):
    frame = b"\x50\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"abc"
    assert read_bytes(write(tmp_path, frame + COMPRESSORS["zst"](TEXT))) == TEXT


def test_zstandard_data_of_the_largest_window_are_read(tmp_path):
    parameters = zstandard.ZstdCompressionParameters(window_log=28)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    assert read_bytes(write(tmp_path, compressor.compress(TEXT) + compressor.flush())) == TEXT


@pytest.mark.parametrize("start", [b"BZh", b"BZh9 ", b"BZh91AY ", b"PK", b"P*M ", b"(7zXZ"])
def test_text_that_only_looks_compressed_is_text(tmp_path, start):
    assert read_bytes(write(tmp_path, start + TEXT)) == start + TEXT


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_a_stream_can_be_read_in_parts(tmp_path, kind):
    path = write(tmp_path, COMPRESSORS[kind](TEXT))
    with open_bytes(path) as stream:
        parts = [stream.read(7), stream.read(100_000), stream.read()]
    assert b"".join(parts) == TEXT
    assert len(parts[0]) == 7


@pytest.mark.parametrize("kind", COMPRESSED)
@pytest.mark.parametrize("kept", [0.3, 0.9, -1], ids=str)
def test_truncated_data_are_named(tmp_path, kind, kept):
    content = COMPRESSORS[kind](noise(2000))
    stop = kept if kept < 0 else int(kept * len(content))
    path = write(tmp_path, content[:stop])
    with pytest.raises(UnreadableError) as caught:
        read_bytes(path)
    assert str(caught.value) == (
        f"{path}: the compressed data end too early; expected a complete file"
    )


@pytest.mark.parametrize("kind", COMPRESSED)
def test_damaged_data_are_named(tmp_path, kind):
    content = bytearray(COMPRESSORS[kind](TEXT))
    middle = len(content) // 2
    content[middle : middle + 20] = b"\xa5" * 20
    path = write(tmp_path, bytes(content))
    with pytest.raises(UnreadableError) as caught:
        read_bytes(path)
    assert str(caught.value).startswith(f"{path}: the compressed data are damaged (")


@pytest.mark.parametrize("kind", COMPRESSED)
def test_text_after_compressed_data_is_named(tmp_path, kind):
    path = write(tmp_path, COMPRESSORS[kind](TEXT) + b"301 Q0 FBIS3-1 1 2.5 tag\n")
    with pytest.raises(UnreadableError, match="the compressed data are damaged"):
        read_bytes(path)


def test_every_truncation_and_flipped_byte_ends_in_content_or_our_error(tmp_path):
    for kind in COMPRESSED:
        content = COMPRESSORS[kind](b"301 Q0 FBIS3-1 1 2.5 tag\n")
        for place in range(len(content)):
            flipped = bytearray(content)
            flipped[place] ^= 0x5A
            for variant in (content[:place], bytes(flipped)):
                path = write(tmp_path, variant)
                try:
                    read_bytes(path)
                except ConfirError as error:
                    assert str(path) in str(error)  # noqa: PT017


def test_a_missing_file_is_named(tmp_path):
    path = tmp_path / "nowhere.run"
    with pytest.raises(UnreadableError) as caught:
        read_bytes(path)
    assert str(caught.value) == f"{path}: no such file"


def test_a_directory_is_named(tmp_path):
    with pytest.raises(UnreadableError) as caught:
        read_bytes(tmp_path)
    assert str(caught.value) == f"{tmp_path}: is a directory; expected a file"


@pytest.mark.parametrize("path", ["a\0b", "a\ud800b"])
def test_a_path_that_cannot_exist_is_no_file(path):
    with pytest.raises(UnreadableError, match="no such file"):
        read_bytes(path)


def test_a_file_without_permission_is_named(tmp_path, monkeypatch):
    path = write(tmp_path, TEXT)

    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(UnreadableError) as caught:
        read_bytes(path)
    assert str(caught.value) == f"{path}: cannot be read (Permission denied)"


def test_an_error_of_the_reader_is_not_hidden(tmp_path):
    with pytest.raises(ZeroDivisionError), open_bytes(write(tmp_path, TEXT)):
        raise ZeroDivisionError


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_standard_input_is_read_from_a_buffer(monkeypatch, kind):
    content = io.BytesIO(COMPRESSORS[kind](TEXT))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=content))
    assert read_bytes("-") == TEXT


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_standard_input_is_read_from_a_pipe_that_trickles(monkeypatch, kind):
    """A compressed stream is recognised although its first byte comes alone."""
    content = COMPRESSORS[kind](TEXT)
    source, sink = os.pipe()

    def trickle():
        with open(sink, "wb", buffering=0) as stream:
            stream.writelines(content[i : i + 1] for i in range(12))
            stream.write(content[12:])

    writer = threading.Thread(target=trickle)
    with open(source, "rb") as stream:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stream))
        writer.start()
        assert read_bytes("-") == TEXT
    writer.join()


@pytest.mark.parametrize("kind", ["none", "text", "closed"])
def test_standard_input_without_bytes_is_named(monkeypatch, kind):
    closed = io.BytesIO()
    closed.close()
    inputs = {"none": None, "text": io.StringIO("text"), "closed": SimpleNamespace(buffer=closed)}
    monkeypatch.setattr(sys, "stdin", inputs[kind])
    with pytest.raises(UnreadableError, match="-: standard input is closed"):
        read_bytes("-")


def test_a_missing_zstandard_is_named_with_the_command_that_installs_it(tmp_path, monkeypatch):
    path = write(tmp_path, COMPRESSORS["zst"](TEXT))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'confir\[zst\]'"):
        read_bytes(path)
    with pytest.raises(MissingDependencyError, match=r"pip install 'confir\[zst\]'"):
        write_whole(tmp_path / "out.zst", TEXT)
    assert os.listdir(tmp_path) == ["data"]


@pytest.mark.parametrize(("ending", "kind"), [(f".{kind}", kind) for kind in COMPRESSED])
def test_a_file_is_compressed_as_its_ending_says(tmp_path, ending, kind):
    for name in (f"run{ending}", f"run{ending.upper()}"):
        write_whole(tmp_path / name, TEXT)
        stored = (tmp_path / name).read_bytes()
        assert stored[:3] == COMPRESSORS[kind](b"x")[:3]
        assert len(stored) < len(TEXT)
        assert read_bytes(tmp_path / name) == TEXT


def test_compressed_files_of_the_same_content_are_the_same(tmp_path):
    for name in ("a.gz", "b.gz"):
        write_whole(tmp_path / name, TEXT)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_after_a_failure_the_old_file_stands_and_nothing_else_is_left(
    tmp_path, monkeypatch, failure
):
    path = write(tmp_path, b"old")

    def fail(*_, **__):
        raise failure

    monkeypatch.setattr(os, "replace", fail)
    expected = UnreadableError if isinstance(failure, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as caught:
        write_whole(path, TEXT)
    if expected is UnreadableError:
        assert str(caught.value) == f"{path}: cannot be written (No space left)"
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["data"]


@ON_UNIX
def test_a_write_that_stops_halfway_leaves_the_old_file(tmp_path):
    """The system itself cuts the write off, by a limit to the size of files."""
    path = write(tmp_path, b"old")
    program = (
        "import resource, signal, sys\n"
        "from confir.data.files import write_whole\n"
        "from confir.errors import UnreadableError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n"
        "    write_whole(sys.argv[1], bytes(5000))\n"
        "except UnreadableError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", program, path], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{path}: cannot be written (File too large)\n"
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["data"]


@ON_UNIX
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_new_file_has_the_permissions_that_the_umask_leaves(tmp_path, mask):
    before = os.umask(mask)
    try:
        write_whole(tmp_path / "out", TEXT)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o666 & ~mask


@ON_UNIX
def test_a_replaced_file_keeps_its_permissions(tmp_path):
    path = write(tmp_path, b"old")
    path.chmod(0o600)
    write_whole(path, TEXT)
    assert path.read_bytes() == TEXT
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path):
    (tmp_path / "there").mkdir()
    target = write(tmp_path / "there", b"old")
    link = tmp_path / "link"
    link.symlink_to(target)
    write_whole(link, TEXT)
    assert link.is_symlink()
    assert target.read_bytes() == TEXT
    assert os.listdir(tmp_path / "there") == ["data"]


def test_a_path_without_folder_is_written_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_whole("out", TEXT)
    assert os.listdir(tmp_path) == ["out"]


def test_a_name_of_the_greatest_length_is_written(tmp_path):
    path = tmp_path / ("x" * 255)
    write_whole(path, TEXT)
    assert path.read_bytes() == TEXT


def test_a_folder_that_is_not_there_is_named(tmp_path):
    path = tmp_path / "nowhere" / "out"
    with pytest.raises(UnreadableError) as caught:
        write_whole(path, TEXT)
    assert str(caught.value) == f"{path}: cannot be written (No such file or directory)"


def test_a_directory_is_not_overwritten(tmp_path):
    with pytest.raises(UnreadableError) as caught:
        write_whole(tmp_path, TEXT)
    assert str(caught.value) == f"{tmp_path}: cannot be written (Is a directory)"


def test_a_path_that_cannot_exist_is_not_written():
    with pytest.raises(UnreadableError, match="cannot be written"):
        write_whole("a\0b", TEXT)


@ON_UNIX
def test_a_named_pipe_is_written_into(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    received = []
    reader = threading.Thread(target=lambda: received.append(path.read_bytes()))
    reader.start()
    write_whole(path, TEXT)
    reader.join()
    assert received == [TEXT]
    assert stat.S_ISFIFO(path.stat().st_mode)


@ON_LINUX
def test_a_full_device_is_named():
    with pytest.raises(UnreadableError, match="cannot be written"):
        write_whole("/dev/full", TEXT)


WRITE_TO_STDOUT = (
    "import sys\n"
    "from confir.data.files import write_whole\n"
    "print('before', flush=True)\n"
    "write_whole(sys.argv[1], b'content\\n')\n"
)


@ON_LINUX
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_is_written_into_be_it_a_pipe_or_a_file(tmp_path, name):
    command = [sys.executable, "-c", WRITE_TO_STDOUT, name]
    piped = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    assert piped.stdout == b"before\ncontent\n"
    path = tmp_path / "out"
    with path.open("wb") as stream:
        subprocess.run(command, stdout=stream, check=True)
    assert path.read_bytes() == b"before\ncontent\n"
    assert os.path.islink(name)


@ON_LINUX
def test_files_in_memory_are_replaced_like_any_other():
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        file.write(b"longer content")
        file.flush()
        write_whole(file.name, b"content")
        assert Path(file.name).read_bytes() == b"content"


@pytest.mark.parametrize("kind", COMPRESSED)
@pytest.mark.parametrize("zeros", [4, 1 << 18])
def test_zeros_between_and_after_compressed_data_are_padding(tmp_path, kind, zeros):
    part = COMPRESSORS[kind](TEXT) + bytes(zeros)
    assert read_bytes(write(tmp_path, part + part)) == TEXT + TEXT


@pytest.mark.parametrize("kind", COMPRESSED)
def test_a_damaged_second_part_is_not_lost_in_silence(tmp_path, kind):
    part = COMPRESSORS[kind](TEXT)
    path = write(tmp_path, part + b"\x01" + part[1:])
    with pytest.raises(UnreadableError, match="the compressed data are damaged"):
        read_bytes(path)


@pytest.mark.parametrize("kind", COMPRESSED)
def test_data_larger_than_any_buffer_are_read(tmp_path, kind):
    content = noise(700_000) + TEXT + noise(300_000)
    path = write(tmp_path, COMPRESSORS[kind](content))
    assert read_bytes(path) == content
    with open_bytes(path) as stream:
        assert stream.read(300_001) + stream.read() == content


def test_standard_input_is_read_once(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1 0 d 1\n")))
    assert read_bytes("-") == b"1 0 d 1\n"
    with pytest.raises(UnreadableError, match="standard input was read already"):
        read_bytes("-")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"other")))
    assert read_bytes("-") == b"other"


@pytest.mark.parametrize("kind", COMPRESSED)
def test_compressed_zeros_are_refused_at_once(tmp_path, kind):
    path = write(tmp_path, COMPRESSORS[kind](TEXT[:100] + bytes(100)))
    with pytest.raises(UnreadableError, match="data: the compressed data are not text"):
        read_bytes(path)


@pytest.mark.parametrize("kind", COMPRESSED)
def test_compressed_parquet_may_hold_zeros(tmp_path, kind):
    content = b"PAR1" + bytes(100)
    assert read_bytes(write(tmp_path, COMPRESSORS[kind](content))) == content


@pytest.mark.parametrize("kind", COMPRESSED)
def test_data_that_expand_beyond_reason_are_refused_unless_asked_for(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(compression, "_TRUSTED_TEXT", 1 << 20)
    monkeypatch.setattr(compression, "_LARGEST_RATIO", 100)
    content = b"1 Q0 d 1 2.5 tag\n" * (1 << 18)
    path = write(tmp_path, COMPRESSORS[kind](content))
    with pytest.raises(UnreadableError, match=r"compressed bytes hold more than .*=any in the env"):
        read_bytes(path)
    with (
        pytest.raises(UnreadableError, match="compressed bytes hold more"),
        open_bytes(path) as data,
    ):
        deque(iter(lambda: data.read(100_000), b""))
    monkeypatch.setenv("CONFIR_DECOMPRESS", "any")
    assert read_bytes(path) == content


@pytest.mark.parametrize(("ending", "kind"), [("gz", "gzip"), ("bz2", "bzip2"), ("xz", "xz")])
def test_data_that_expand_come_in_small_pieces(tmp_path, ending, kind):
    size = 1 << 23
    with open(write(tmp_path, COMPRESSORS[ending](b"1" * size)), "rb") as raw:
        sizes = [len(piece) for piece in iter(compression.Decompressed(raw, kind)._next, b"")]
    assert sum(sizes) == size
    assert max(sizes) <= 1 << 20


def test_a_few_kilobytes_that_hold_gigabytes_are_refused_in_one_sentence(tmp_path):
    path = write(tmp_path, bz2.compress(b"1" * (45 << 20)) * 100)
    assert path.stat().st_size < 10_000
    done = subprocess.run(
        [sys.executable, "-m", "confir", "evaluate", path, path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert re.fullmatch(
        r"confir: error: .*data: [\d,]+ compressed bytes hold more than 17,[\d,]+; "
        "CONFIR_DECOMPRESS=any in the environment reads them anyway\n",
        done.stderr,
    )
