"""Verification of the real collections: differences from the tests' copy are detected."""

import gzip
import shutil
import subprocess
import sys
from pathlib import Path

VERIFY = Path(__file__).parents[2] / "collections" / "verify.py"


def verify(folder):
    command = [sys.executable, VERIFY, folder]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_what_is_missing_or_different_is_named(real_data, tmp_path):
    folder = tmp_path / "trec-dl-2021"
    folder.mkdir()
    for path in (real_data / "trec-dl-2021").glob("qrels.*"):
        shutil.copy(path, folder)
    plain = folder / "qrels.nist.txt"
    with gzip.open(f"{plain}.gz", "wb") as stream:  # compressed, it is the same
        stream.write(plain.read_bytes())
    plain.unlink()
    (folder / "qrels.umbrela-gpt4.txt").write_text("changed")
    (folder / "qrels.syndl-gpt4.txt.xz").write_bytes(b"damaged")
    outcome = verify(tmp_path)
    assert outcome.returncode == 1
    assert "trec-dl-2021: 42 missing (trec-dl-2021/runs/" in outcome.stdout
    assert "; 2 different (trec-dl-2021/qrels.syndl-gpt4.txt)" in outcome.stdout
    assert "mteb-beir: not here" in outcome.stdout
    assert "10 collections are not complete" in outcome.stderr
