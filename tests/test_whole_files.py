"""Files of killed commands: recognised by machine, process and age, and replaced."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from confir import whole_files
from confir.data.output_folder import OutputFolder, check_output_folder
from confir.errors import InvalidValueError
from confir.parallel import run_tasks
from confir.whole_files import is_abandoned, replace_file
from requirements import ON_UNIX

RANDOM = "0123456789abcdef"
DAY = 24 * 3600

KILLED = """
import os, signal, sys
from confir import whole_files
from confir.data.output_folder import OutputFolder
whole_files._write_all = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
replace_file = whole_files.replace_file
with OutputFolder(sys.argv[1]) as folder:
    replace_file(folder.file("a.txt"), b"a")
"""


def unfinished(folder, name, age=0.0):
    """Return an unfinished file of so many seconds ago."""
    path = folder / name
    path.write_bytes(b"half")
    then = time.time() - age
    os.utime(path, (then, then))
    return path


def gone():
    """Return the number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


@ON_UNIX
def test_a_folder_in_which_a_command_was_killed_is_written_again(tmp_path):
    target = tmp_path / "out"
    done = subprocess.run([sys.executable, "-c", KILLED, target], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = target.iterdir()
    assert left.name.endswith(".part")
    with OutputFolder(target) as folder:
        replace_file(folder.file("a.txt"), b"a")
    assert {path.name for path in target.iterdir()} == {".confir", "a.txt"}


@ON_UNIX
def test_unfinished_files_of_processes_that_are_gone_are_abandoned(tmp_path):
    here, other = whole_files._host(), "0badcafe"
    assert is_abandoned(unfinished(tmp_path, f".confir-{here}-{gone()}-{RANDOM}.part"))
    assert is_abandoned(unfinished(tmp_path, f".confir-{here}-{os.getpid()}-{RANDOM}.part"))
    assert not is_abandoned(unfinished(tmp_path, f".confir-{here}-{os.getppid()}-{RANDOM}.part"))
    assert is_abandoned(unfinished(tmp_path, f".confir-{here}-{10**30}-{RANDOM}.part"))
    for name in (f".confir-{other}-{gone()}-{RANDOM}.part", f".confir-{RANDOM}.part"):
        assert not is_abandoned(unfinished(tmp_path, name))
        assert is_abandoned(unfinished(tmp_path, name, age=2 * DAY))


@pytest.mark.parametrize(
    "name",
    ["paper.part", ".confir-notes.part", f".confir-{RANDOM}.partly", f"confir-{RANDOM}.part"],
)
def test_files_of_other_names_are_never_abandoned(tmp_path, name):
    assert not is_abandoned(unfinished(tmp_path, name, age=9 * DAY))


@ON_UNIX
def test_a_link_of_that_name_is_never_abandoned(tmp_path):
    place = tmp_path / f".confir-{RANDOM}.part"
    place.symlink_to(tmp_path / "elsewhere")
    os.utime(place, (0, 0), follow_symlinks=False)
    assert not is_abandoned(place)


def test_the_file_that_is_being_written_is_not_abandoned(tmp_path, monkeypatch):
    seen = []

    def look(stream, content):
        (path,) = tmp_path.glob(".confir-*")
        os.utime(path, (0, 0))
        seen.append(is_abandoned(path) and os.name == "posix")
        stream.write(content)

    monkeypatch.setattr(whole_files, "_write_all", look)
    replace_file(tmp_path / "a.txt", b"a")
    assert seen == [False]
    assert whole_files._being_written == set()


def test_a_folder_into_which_another_process_writes_is_refused(tmp_path):
    unfinished(tmp_path, f".confir-0badcafe-1-{RANDOM}.part")
    with pytest.raises(InvalidValueError, match="another process of confir seems to write"):
        check_output_folder(tmp_path)


def test_a_folder_of_results_is_resumed_without_abandoned_files(tmp_path):
    work = {"study": "squares"}

    def squares(number):
        return {"square": np.array([number * number])}

    run_tasks(squares, range(2), resume=tmp_path, study=work)
    old = unfinished(tmp_path, f".confir-{RANDOM}.part", age=2 * DAY)
    new = unfinished(tmp_path, f".confir-0badcafe-1-{RANDOM}.part")
    assert len(run_tasks(squares, range(2), resume=tmp_path, study=work)) == 2
    assert not old.exists()
    assert new.exists()
