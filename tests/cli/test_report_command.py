"""``confir report`` and the report of ``confir demo`` as a user runs them."""

import html
import re

import pytest

from confir.cli import demo
from confir.measures.evaluation import evaluate
from confir.report.gathering import gather_contents


@pytest.fixture
def scores(tmp_path):
    """A small score table."""
    lines = ["run,measure,topic,score"]
    for run in ("one", "two"):
        lines += [
            f"{run},AP,{t},{(3 * t + len(run)) % 7 / 10 + 0.01 * (run == 'two')}" for t in range(9)
        ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def folder(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    return target


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_runs_and_qrels_become_a_page_with_command_and_seed(confir_command, sample_files, folder):
    runs = [sample_files / "runs" / f"{name}.txt" for name in ("bm25-rm3", "dense")]
    page = folder / "r.html"
    code, out, err = confir_command(
        "report", sample_files / "qrels.txt", *runs, "-m", "AP", "--replicates", 499, "-o", page
    )
    assert code == 0
    assert out == f"{page}: 2 runs, 50 topics, seed 2006\n"
    assert "lacks 1 topic" in err
    text = page.read_text()
    assert f"-o {page} --seed 2006</pre>" in text
    assert str(sample_files / "qrels.txt") in text
    assert text.count("<li>run &#39;bm25-rm3&#39; lacks 1 topic") == 1
    assert list(folder.iterdir()) == [page]


def test_a_score_table_becomes_a_page_without_the_parts_about_documents(
    confir_command, scores, folder
):
    page = folder / "r.html"
    options = ("--title", "Two runs", "--seed", 7, "--replicates", 499, "--quiet")
    code, out, err = confir_command("report", "--scores", scores, "-o", page, *options)
    assert (code, out, err) == (0, "", "")
    text = page.read_text()
    assert "<title>Two runs</title>" in text
    assert "this part needs qrels and runs, not scores alone" in text
    assert text.count("--seed") == 1


def test_what_was_unusual_about_the_files_is_reported_on_the_page(
    confir_command, folder, monkeypatch
):
    monkeypatch.chdir(folder)
    (folder / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n")
    (folder / "five.run").write_text("1 Q0 a 1 2.0\n1 Q0 b 2 1.0\n2 Q0 a 1 1.0\n")
    code, _, err = confir_command(
        "report", "qrels.txt", "five.run", "-m", "P@5", "--replicates", 199, "-o", "r.html"
    )
    assert code == 0
    (warning,) = re.findall(r"confir: warning: (five\.run.*)", err)
    assert f"<li>{html.escape(warning, quote=False)}</li>" in html_text(folder / "r.html")


def html_text(path):
    """The page, its quotes as they were written."""
    return path.read_text().replace("&#39;", "'").replace("&#34;", '"')


def test_one_run_and_one_topic_are_counted_in_the_singular(confir_command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "one.csv").write_text("run,measure,topic,score\na,AP,1,0.5\n")
    code, out, _ = confir_command("report", "--scores", "one.csv", "-o", "r.html")
    assert (code, out) == (0, "r.html: 1 run, 1 topic, seed 2006\n")


def test_figures_are_written_next_to_the_page(confir_command, scores, folder):
    options = ("--figures", folder / "figures", "--replicates", 199, "--quiet")
    assert confir_command("report", "--scores", scores, "-o", folder / "r.html", *options).code == 0
    names = {path.name for path in (folder / "figures").iterdir()}
    assert {"means-AP.svg", "means-AP.pdf", "pairs-AP.svg", "differences-AP.pdf"} <= names


def test_options_reach_the_report(confir_command, sample_files, folder, monkeypatch):
    seen = {}

    def gather(scores, **given):
        seen.update(given, scores=scores)
        return gather_contents(scores, **given)

    monkeypatch.setattr("confir.report.report_page.gather_contents", gather)
    options = ("--rel", 2, "--depth", 100, "--documents", 99_999, "--level", 0.9, "--seed", 3)
    run = sample_files / "runs" / "dense.txt"
    code, _, err = confir_command(
        *("report", sample_files / "qrels.txt", run, "-m", "AP", "-o", folder / "r.html"),
        *(*options, "--method", "t", "--replicates", 199, "--quiet"),
    )
    assert (code, err) == (0, "")
    settings = seen["settings"]
    assert (settings.rules.rel, settings.rules.depth, settings.documents) == (2, 100, 99_999)
    assert (settings.level, settings.seed, settings.method) == (0.9, 3, "t")
    assert seen["scores"].measures == ("AP(rel=2)",)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-o", "r.pdf"), "r.pdf: the page is HTML; expected a name such as report.html"),
        (("-o", "none/r.html"), "none/r.html: cannot be written (no such folder)"),
        (("--method", "studnet"), "unknown method 'studnet'; "),
        (("--level", "95"), "95"),
        (("--replicates", "0"), "0"),
        (("--figures", "scores.csv"), "scores.csv: cannot be made a folder"),
        (("qrels.txt",), "--scores stands in for QRELS RUN...; give one or the other"),
    ],
)
def test_bad_options_are_named_and_nothing_is_written(
    confir_command, scores, monkeypatch, arguments, said
):
    monkeypatch.chdir(scores.parent)
    before = sorted(scores.parent.iterdir())
    code, out, err = confir_command("report", *arguments, "--scores", "scores.csv")
    assert code == 2
    assert out == ""
    assert err.startswith("confir: error: ")
    assert said in err
    assert len(err.splitlines()) == 1
    assert sorted(scores.parent.iterdir()) == before


@pytest.mark.parametrize("arguments", [(), ("qrels.txt",)])
def test_nothing_to_report_is_said_with_an_example(
    confir_command, tmp_path, monkeypatch, arguments
):
    monkeypatch.chdir(tmp_path)
    code, _, err = confir_command("report", *arguments)
    assert code == 2
    assert "expected QRELS and at least one RUN, or --scores FILE" in err
    assert "confir report qrels.txt bm25.run dense.run" in err
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_not_there_is_named(confir_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = confir_command("report", "--scores", "none.csv")
    assert code == 2
    assert "none.csv" in err
    assert list(tmp_path.iterdir()) == []


def test_the_demo_writes_the_page_and_says_where(confir_command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    written = {}

    def write(path, scores, **given):  # what it writes is tested elsewhere, and takes long
        written.update(given, path=path, scores=scores)

    monkeypatch.setattr("confir.report.report_page.write_report", write)
    code, out, err = confir_command("demo", "--report", "demo.html", "--seed", 5)
    assert code == 0
    assert "rerank" in out
    assert "demo.html: a page about the sample" in err
    assert written["path"] == "demo.html"
    assert written["rng"] == 5
    assert written["title"] == "confir sample collection"
    scores = evaluate(written["scores"])
    assert [run.name for run in written["scores"].sources] == list(scores.runs)
    assert written["scores"].qrels.topics == scores.topics
    assert written["origin"].command == "confir demo --report demo.html --seed 5"


@pytest.mark.parametrize(
    ("found", "started", "shown"),
    [
        ("/bin/confir", "x/__main__.py", "confir"),
        (None, "my venv/bin/confir", "'my venv/bin/confir'"),
        (None, "x/confir/__main__.py", "'/my venv/python' -m confir"),
    ],
)
def test_what_to_try_next_can_be_typed(monkeypatch, found, started, shown):
    monkeypatch.setattr("shutil.which", lambda _: found)
    monkeypatch.setattr("sys.argv", [started])
    monkeypatch.setattr("sys.executable", "/my venv/python")
    assert demo._program() == shown


def test_the_demo_refuses_a_page_that_is_no_html(confir_command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    code, out, err = confir_command("demo", "--report", "demo.txt")
    assert (code, out) == (2, "")
    assert "demo.txt: the page is HTML" in err
    assert list(folder.iterdir()) == []
