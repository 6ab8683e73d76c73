"""Charts as files: the same at every run, and an error where there is no room for the converter."""

import subprocess
import sys

import pytest

import confir
from confir.report.svg_conversion import in_order
from requirements import ON_LINUX

WITHIN = (
    "import resource, sys; limit = 12_000_000 << 10; "
    "resource.setrlimit(resource.RLIMIT_AS, (limit, limit)); "
    "from confir.cli import main; main()"
)


@ON_LINUX
@pytest.mark.parametrize("name", ["chart.pdf", "chart.svg", "chart.png", "page.html"])
def test_too_few_addresses_for_charts_are_an_error(tmp_path, monkeypatch, name):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # holds no scripts of pages
    confir.write_scores({"a": [0.5, 0.25, 0.75], "b": [0.5, 0.5, 0.25]}, tmp_path / "s.csv")
    command = "report" if name == "page.html" else "evaluate"
    words = [command, "--scores", tmp_path / "s.csv", "-o", tmp_path / name]
    done = subprocess.run(
        [sys.executable, "-c", WITHIN, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == (
        "confir: error: charts cannot be drawn within 11,718 MB of addresses (ulimit -v); expected no "
        "such limit, or tables alone\n"
    )
    assert not (tmp_path / name).exists()
    table = [*words[:3], "-o", tmp_path / "t.csv"] if command == "evaluate" else words[:3]
    if command == "evaluate":
        subprocess.run([sys.executable, "-c", WITHIN, *table], check=True)


def pdf_of(objects, root):
    """Return a small PDF file of some objects, by number, in the order in which they are given."""
    content, places = b"%PDF-1.7\n", {}
    for number, own in objects.items():
        places[number] = len(content)
        content += b"%d 0 obj\n%s\nendobj\n" % (number, own)
    start = len(content)
    lines = b"".join(b"%010d 00000 n \n" % places[number] for number in sorted(objects))
    content += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + lines
    size = b"trailer\n<<\n  /Size %d\n  /Root %d 0 R\n>>\n" % (len(objects) + 1, root)
    return content + size + b"startxref\n%d\n%%%%EOF" % start


def test_objects_of_a_pdf_have_one_order():
    fonts = b"<<\n  /fo0 %d 0 R\n  /fo1 %d 0 R\n>>"
    swapped = b"<<\n  /fo1 %d 0 R\n  /fo0 %d 0 R\n>>"
    stream = b"<<\n  /Length 19\n>>\nstream\n9 0 R 3 0 R endobj\n\nendstream"
    one = {1: fonts % (2, 3), 2: b"(sans)", 3: b"[4 0 R (bold)]", 4: stream}
    other = {3: b"(sans)", 4: b"[2 0 R (bold)]", 2: stream, 1: swapped % (4, 3)}
    assert pdf_of(one, 1) != pdf_of(other, 1)
    assert in_order(pdf_of(one, 1)) == in_order(pdf_of(other, 1)) == pdf_of(one, 1)
    assert in_order(b"%PDF-2.0 of another form") == b"%PDF-2.0 of another form"


def test_a_chart_is_the_same_file_at_every_run(tmp_path):
    confir.write_scores({"a": [0.5, 0.25, 0.75], "b": [0.5, 0.5, 0.25]}, tmp_path / "s.csv")
    interval = confir.confidence_interval(confir.read_scores(tmp_path / "s.csv"))
    for ending in (".pdf", ".svg", ".png"):
        made = set()
        for number in range(4):
            confir.save_chart(confir.chart(interval), tmp_path / f"{number}{ending}")
            made.add((tmp_path / f"{number}{ending}").read_bytes())
        assert len(made) == 1

    # each object of the last PDF lies where the file says
    pdf = (tmp_path / "0.pdf").read_bytes()
    table = pdf[pdf.rindex(b"\nxref\n") :]
    assert int(table.split()[-2]) == pdf.rindex(b"\nxref\n") + 1
    places = [int(line[:10]) for line in table.splitlines() if line.endswith(b" n ")]
    assert len(places) > 9
    for number, place in enumerate(places, start=1):
        assert pdf[place:].startswith(b"%d 0 obj\n" % number)
