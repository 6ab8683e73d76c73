"""``confir collection``: all views and formats, and error messages."""

import base64
import csv
import io
import json
import re
import zlib

import pytest

from confir.data.simulation import simulate_collection, write_collection


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Qrels and two runs on disk."""
    folder = tmp_path_factory.mktemp("small")
    write_collection(simulate_collection(topics=12, runs=2, depth=60, relevant=8, rng=4), folder)
    return folder


@pytest.fixture
def collection(confir_command, files):
    """A function that runs the command on the two runs, by default with few replicates."""

    def run(*arguments):
        few = () if "--replicates" in arguments else ("--replicates", 100)
        return confir_command("collection", files / "qrels.txt", files / "runs", *few, *arguments)

    return run


def test_means_are_shown_with_intervals_by_the_bootstrap(collection):
    code, out, err = collection()
    assert (code, err) == (0, "")
    heading, first, *_ = out.splitlines()
    assert heading.split() == ["run", "method", "MAP", "L-MAP", "GMAP"]
    assert first.split()[:2] == ["run2", "bootstrap"]
    assert "parametric" not in out
    assert "parametric" in collection("--method", "parametric").out
    assert "evaluate" not in out
    assert "over 12 topics with 95% interval over collections; 100 replicates, seed 2006" in out
    assert "replicates without relevant documents left out" in out


def test_records_are_those_of_the_design(collection):
    records = json.loads(collection("--format", "json").out)
    fields = ["run", "measure", "summary", "topics", "mean", "low", "high", "level", "method"]
    assert all(list(record) == fields for record in records)
    assert len(records) == 2 * 3


def test_every_topic_is_shown_with_its_interval(collection):
    rows = list(csv.DictReader(io.StringIO(collection("-q", "--format", "csv").out)))
    assert len(rows) == 24
    assert {"run", "topic", "score", "low", "high", "relevant", "relevant_retrieved"} < set(rows[0])
    assert {row["corrected"] for row in rows} == {"True", "False"}


def test_several_measures_and_a_method_for_topics(collection):
    out = collection("-m", "AP", "-m", "nDCG@10", "-q", "--method", "bca").out
    assert out.splitlines()[0].split()[:4] == ["run", "measure", "topic", "score"]
    assert "over collections by bca" in out


def test_differences_from_a_baseline_come_with_verdicts(collection, files):
    out = collection("--baseline", files / "runs" / "run1.txt").out
    heading, first, *_ = out.splitlines()
    assert heading.split()[:4] == ["run", "mean", "of", "resampled"]
    assert first.split()[:2] == ["run2", "MAP"]
    records = json.loads(collection("--baseline", "run1", "--format", "json").out)
    assert [record["summary"] for record in records] == ["mean", "logit-mean", "logit-mean"]
    assert records[2]["resampled"] == "topics and documents"
    both = json.loads(collection("--baseline", "run1", "--pairing", "both", "--format", "json").out)
    assert len(both) == 5


def test_differences_on_every_topic(collection):
    out = collection("--baseline", "run1", "-q", "--format", "csv").out
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == 24
    assert {row["scale"] for row in rows} == {"score", "logit"}


def test_variance_is_shared_out(collection):
    out = collection("--show", "variance").out
    assert out.splitlines()[0].split()[-5:] == ["topics", "documents", "interaction", "total", "sd"]
    records = json.loads(
        collection("--show", "variance", "--baseline", "run1", "--format", "json").out
    )
    fields = ["run", "against", "measure", "summary", "topics", "documents", "interaction"]
    assert list(records[0]) == [*fields, "total"]
    assert records[0]["against"] == "run1"


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("-q",),
        (
            "--show",
            "variance",
        ),
        ("--baseline", "run1"),
    ],
)
def test_charts_are_drawn(collection, tmp_path, arguments):
    path = tmp_path / "chart.svg"
    assert collection(*arguments, "-o", path).code == 0
    assert path.read_text().startswith("<svg")


def test_same_seed_same_output(collection):
    assert collection().out == collection().out != collection("--seed", 1).out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", "logit"), "unknown method for means 'logit'"),
        (("-q", "--method", "bca", "--method", "logit"), "takes one --method"),
        (("-m", "NumRet"), "measures in [0, 1], which NumRet is not"),
        (("--epsilon", "0.7"), "epsilon is 0.7"),
        (("--margin", "0.1"), "No such option: --margin"),
        (("--level", "1"), "level is 1.0"),
        (("--replicates", "0"), "replicates is 0"),
        (("--baseline", "run9"), "unknown run 'run9'"),
        (("--baseline", "run1", "--method", "bootstrap"), "--method has no effect on --show pairs"),
        (("--show", "variance", "-q"), "-q is --show topics"),
        (
            ("--show", "variance", "--level", "0.9"),
            "--level has no effect on --show variance",
        ),
        (("--show", "variance", "--no-small-r"), "--small-r/--no-small-r has no effect on"),
        (("--baseline", "run1", "--small-r"), "--small-r/--no-small-r has no effect on"),
        (("--pairing", "both"), "--pairing has no effect on --show means"),
        (
            ("--show", "variance", "--baseline", "run1", "--pairing", "both"),
            "--pairing has no effect on --show variance",
        ),
        (("--pairing", "one"), "unknown value of --pairing 'one'"),
        (("--missing", "no"), "unknown value of --missing 'no'"),
    ],
)
def test_wrong_options_are_named_in_one_sentence(collection, arguments, message):
    code, out, err = collection(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.fixture
def unjudged(confir_command, tmp_path):
    """A function that runs a command on four topics, one of them without a relevant document."""
    judged = "".join(f"{t} 0 a {t}\n{t} 0 b 0\n{t} 0 c 1\n" for t in (1, 2, 3))
    (tmp_path / "qrels.txt").write_text(judged + "4 0 a 0\n")
    lines = [f"{t} Q0 {d} 1 {s} x\n" for t in (1, 2, 3, 4) for s, d in enumerate("cab")]
    (tmp_path / "x.run").write_text("".join(lines))

    def run(command, *arguments):
        return confir_command(command, tmp_path / "qrels.txt", tmp_path / "x.run", *arguments)

    return run


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("-q",),
        (
            "--show",
            "variance",
        ),
    ],
)
def test_a_caption_says_why_evaluate_has_more_topics(unjudged, arguments):
    outcome = unjudged("collection", "--replicates", 50, *arguments)
    left_out = "topics without relevant documents left out (1 of 4), which confir evaluate includes"
    assert left_out in outcome.out.replace("\n", " ")
    assert "1 of 4 topics (4), which have no score on resampled collections" in outcome.err
    scores = json.loads(unjudged("evaluate", "-m", "AP", "-q", "--format", "json").out)
    assert {record["topic"] for record in scores} > {"4"}


def test_a_caption_counts_topics_by_measure_where_gains_matter(unjudged):
    out = unjudged("collection", "--replicates", 50, "-m", "AP", "-m", "AP(rel=2)").out
    assert "left out (1 for AP, 2 for AP(rel=2) of 4)" in out.replace("\n", " ")


def test_a_score_table_will_not_do(confir_command):
    code, _, err = confir_command("collection")
    assert code == 2
    assert "a score table is not enough" in err


@pytest.mark.parametrize(("precision", "score"), [("double", 1.0), ("single", 0.5)])
@pytest.mark.parametrize("command", ["collection", "report"])
def test_ties_are_compared_as_asked(confir_command, tmp_path, command, precision, score):
    (tmp_path / "qrels.txt").write_text("".join(f"{t} 0 a 1\n{t} 0 b 0\n" for t in range(3)))
    lines = [f"{t} Q0 a 1 1.00000001 x\n{t} Q0 b 2 1.0 x\n" for t in range(3)]
    (tmp_path / "x.run").write_text("".join(lines))
    inputs = [tmp_path / "qrels.txt", tmp_path / "x.run", "-m", "AP", "--tie-precision", precision]
    if command == "collection":
        asked = confir_command("collection", *inputs, "--replicates", 20, "--format", "json")
        assert json.loads(asked.out)[0]["mean"] == score
    else:
        page = tmp_path / "r.html"
        assert confir_command("report", *inputs, "-o", page).code == 0
        (packed,) = re.findall(r'id="packed-tables">([^<]*)<', page.read_text())
        tables = json.loads(zlib.decompress(base64.b64decode(packed)))
        (table,) = [table for table in tables if table["part"] == "collection"]
        assert table["rows"][0][-1].startswith(f"{score:.4f}")


@pytest.mark.parametrize("baseline", [[], ["--baseline", "bm25"]])
def test_variances_stand_best_run_first(confir_command, sample_files, baseline):
    inputs = [sample_files / "qrels.txt", sample_files / "runs", "-m", "AP", "--replicates", 10]
    printed = confir_command("collection", *inputs, "--show", "variance", *baseline).out
    runs = list(
        dict.fromkeys(line.split()[0] for line in printed.splitlines()[1:] if "MAP" in line)
    )
    assert runs[:2] == ["rerank", "hybrid"]
    assert runs[-1] == "tfidf"
    assert len(runs) == 8 - bool(baseline)


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (["--replicates", 49], "50 or more"),
        (["--replicates", 49, "--show", "variance"], "50 or more"),
        (["--replicates", 398, "-q", "--method", "percentile"], "399 or more"),
    ],
)
def test_few_replicates_are_warned_of(confir_command, files, arguments, needed):
    inputs = [files / "qrels.txt", files / "runs"]
    code, _, err = confir_command("collection", *inputs, *arguments)
    assert code == 0
    assert needed in err
    enough = [arguments[0], arguments[1] + 1, *arguments[2:]]
    assert confir_command("collection", *inputs, *enough).err == ""


@pytest.mark.parametrize("pairing", ["paired", "independent"])
def test_identical_runs_are_called_identical_and_do_not_count(files, collection, pairing):
    asked = ["--baseline", "run1", "--pairing", pairing, "--format", "json"]
    twin = f"twin={files / 'runs' / 'run1.txt'}"
    records = json.loads(collection(twin, *asked).out)
    alone = json.loads(collection(*asked).out)
    assert {r["verdict"] for r in records if r["run"] == "twin"} == {"identical"}
    assert [r["p_adjusted"] for r in records if r["run"] == "run2"] == [
        r["p_adjusted"] for r in alone
    ]
    topics = json.loads(collection(twin, *asked, "-q").out)
    assert {r["verdict"] for r in topics if r["run"] == "twin"} == {"identical"}
    assert "identical" not in {r["verdict"] for r in topics if r["run"] == "run2"}
    printed = collection(twin, "--baseline", "run1").out
    assert "Holm's correction for 1 run;" in printed


@pytest.mark.parametrize(
    ("view", "first"),
    [
        ("best", ["measure", "rank", "run", "mean"]),
        ("pairs", ["measure", "run", "against", "difference"]),
        ("groups", ["measure", "run", "mean", "first_group"]),
        ("ranks", ["run", "measure", "topics", "mean"]),
    ],
)
def test_all_runs_are_compared_over_collections(collection, view, first):
    code, out, _ = collection("--show", view)
    assert code == 0
    assert "over similar collections: documents are resampled, topics stay" in out
    assert out.count("100 replicates") == 1
    assert out.count("seed 2006") == 1
    assert "replicates without relevant documents left out" in out
    assert "samples of the topics" not in out
    records = json.loads(collection("--show", view, "--format", "json").out)
    assert list(records[0])[:4] == first
    assert len(records) == (1 if view == "pairs" else 2)


def test_the_first_line_says_that_collections_vary(collection):
    headline = collection("--show", "best").out.splitlines()[0]
    assert headline.endswith("(95% confidence, over similar collections)")


def test_all_pairs_have_the_differences_from_a_baseline(collection):
    (pair,) = json.loads(collection("--show", "pairs", "--format", "json").out)
    known = json.loads(collection("--baseline", pair["against"], "--format", "json").out)[0]
    assert (known["summary"], known["run"]) == ("mean", pair["run"])
    for name in ("difference", "low", "high", "p", "effect_size"):
        assert pair[name] == pytest.approx(known[name], abs=1e-12)
    assert [pair[name] for name in ("wins", "ties", "losses", "verdict")] == [
        known[name] for name in ("wins", "ties", "losses", "verdict")
    ]


@pytest.mark.parametrize("view", ["best", "pairs", "groups", "ranks"])
def test_too_few_collections_decide_nothing(collection, view):
    few = collection("--show", view, "--replicates", 18)
    assert (few.code, few.out) == (2, "")
    assert "18 replicates of the collection; differences at level 0.95 need at least 19" in few.err
    assert collection("--show", view, "--replicates", 19).code == 0


@pytest.mark.parametrize("view", ["best", "groups", "ranks"])
@pytest.mark.parametrize("option", [("--baseline", "run1"), ("--method", "parametric")])
def test_views_of_all_runs_refuse_what_has_no_effect_on_them(collection, view, option):
    code, _, err = collection("--show", view, *option)
    assert code == 2
    assert f"has no effect on --show {view}" in err


def test_the_best_of_one_run_is_refused(confir_command, files):
    code, _, err = confir_command(
        "collection", files / "qrels.txt", files / "runs" / "run1.txt", "--show", "best"
    )
    assert code == 2
    assert "a comparison needs at least 2" in err
