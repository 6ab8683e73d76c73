"""``confir meta`` as a user runs it."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import confir
from confir.data.files import write_whole
from confir.data.scores import Scores

ROWS = [("a", 0.1, 0.05), ("b", 0.3, 0.1), ("c", 0.2, 0.2)]
CSV = "study,effect,se\n" + "".join(f"{s},{d},{e}\n" for s, d, e in ROWS)


def records(outcome):
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def comparisons(count):
    """Comparisons of two runs on simulated collections of 20 topics each."""
    rng = np.random.default_rng(4)
    topics = tuple(f"{topic:02}" for topic in range(20))
    scores = [
        Scores(topics, ("base", "new"), ("AP",), rng.beta([[[2.0], [2.6]]], 4, (20, 2, 1)))
        for _ in range(count)
    ]
    return [confir.compare_runs(table, baseline="base") for table in scores]


def test_prints_all_models_and_a_sentence(confir_command, tmp_path):
    (tmp_path / "e.csv").write_text(CSV)
    outcome = confir_command("meta", tmp_path / "e.csv")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0].split()[:2] == ["model", "effect"]
    assert [line.split()[0] for line in lines[1:9]] == [
        "stouffer",
        "fixed",
        "dersimonian-laird",
        "dersimonian-laird+hartung-knapp",
        "paule-mandel",
        "paule-mandel+hartung-knapp",
        "reml",
        "reml+hartung-knapp",
    ]
    assert "effect pooled over 3 studies with 95% interval" in outcome.out
    verdict = "not significantly different from 0"
    assert f"{verdict}, over 3 studies by paule-mandel+hartung-knapp" in lines[-1]


@pytest.mark.parametrize("kind", ["csv", "tsv", "json", "jsonl", "parquet", "csv.gz"])
def test_reads_every_kind_of_table_alike(confir_command, tmp_path, kind):
    path = tmp_path / f"effects.{kind}"
    table = [{"Study": s, "Effect": d, "SE": e} for s, d, e in ROWS]
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(table), path)
    elif kind == "csv.gz":
        write_whole(path, CSV.encode())
    else:
        path.write_text(
            {
                "csv": f"# by hand\n\n{CSV}",
                "tsv": CSV.replace(",", "\t"),
                "json": json.dumps(table),
                "jsonl": "\n".join(map(json.dumps, table)),
            }[kind]
        )
    arguments = ["--model", "fixed", "--format", "json"]
    (record,) = records(confir_command("meta", path, *arguments))
    assert record["effect"] == pytest.approx((0.1 * 400 + 0.3 * 100 + 0.2 * 25) / 525)
    assert record["studies"] == 3


def test_files_of_confir_compare_are_collections(confir_command, tmp_path):
    made = comparisons(3)
    for place, comparison in enumerate(made):
        (tmp_path / f"c{place}.json").write_text(json.dumps(comparison.to_records()))
    files = [tmp_path / "c0.json", tmp_path / "c1.json", f"third={tmp_path / 'c2.json'}"]
    found = records(confir_command("meta", *files, "--model", "fixed", "--format", "json"))
    # limits by t give back the very standard errors
    differences = np.array([comparison.difference.item() for comparison in made])
    weights = np.array([comparison.se.item() for comparison in made]) ** -2
    (record,) = found
    assert (record["measure"], record["run"], record["baseline"]) == ("AP", "new", "base")
    assert record["effect"] == pytest.approx(weights @ differences / weights.sum(), rel=1e-12)
    assert record["high"] - record["low"] == pytest.approx(2 * 1.959964 * weights.sum() ** -0.5)
    joined = [
        {**record, "collection": f"c{place}"}
        for place, comparison in enumerate(made)
        for record in comparison.to_records()
    ]
    (tmp_path / "all.json").write_text(json.dumps(joined))
    one = confir_command("meta", tmp_path / "all.json", "--model", "fixed", "--format", "json")
    assert records(one) == found


def test_comparisons_in_opposite_directions_are_pooled_with_the_sign_changed(
    confir_command, tmp_path
):
    first, second = comparisons(2)
    write_whole(tmp_path / "one.json", json.dumps(first.to_records()).encode())
    write_whole(tmp_path / "two.json", json.dumps(second.to_records()).encode())
    alike = records(
        confir_command("meta", tmp_path / "one.json", tmp_path / "two.json", "--format", "json")
    )
    turned = [
        record
        | {
            "run": record["against"],
            "against": record["run"],
            "difference": -record["difference"],
            "low": -record["high"],
            "high": -record["low"],
        }
        for record in second.to_records()
    ]
    (tmp_path / "two.json").write_text(json.dumps(turned))
    outcome = confir_command(
        "meta", tmp_path / "one.json", tmp_path / "two.json", "--format", "json"
    )
    assert records(outcome) == alike
    assert "two.json: differences are read with the opposite sign" in outcome.err
    assert "new against base" in outcome.err
    outcome = confir_command(
        "meta", tmp_path / "two.json", tmp_path / "one.json", "--format", "json"
    )
    ours, theirs = (
        next(record for record in found if record["model"] == "fixed")
        for found in (records(outcome), alike)
    )
    assert (ours["run"], ours["baseline"]) == ("base", "new")
    assert ours["effect"] == pytest.approx(-theirs["effect"])
    assert (ours["low"], ours["high"]) == pytest.approx((-theirs["high"], -theirs["low"]))


def test_means_and_both_directions_of_one_study_keep_their_sign(confir_command, tmp_path):
    rows = ["x,new,base,0.3,0.1", "y,base,new,0.2,0.1"]
    (tmp_path / "means.csv").write_text("\n".join(["study,run,baseline,mean,se", *rows]))
    found = records(
        confir_command("meta", tmp_path / "means.csv", "--model", "fixed", "--format", "json")
    )
    assert [record["effect"] for record in found] == pytest.approx([0.3, 0.2])
    rows = ["x,new,base,0.3,0.1", "x,base,new,0.2,0.1"]
    (tmp_path / "both.csv").write_text("\n".join(["study,run,baseline,effect,se", *rows]))
    found = records(
        confir_command("meta", tmp_path / "both.csv", "--model", "fixed", "--format", "json")
    )
    assert [record["effect"] for record in found] == pytest.approx([0.3, 0.2])


def test_files_may_compare_different_runs(confir_command, tmp_path):
    header = "run,baseline,difference,low,high,level"
    (tmp_path / "one.csv").write_text(f"{header}\nnew,base,0.1,0.0,0.2,0.95\n")
    (tmp_path / "two.csv").write_text(f"{header}\nother,base,0.2,0.1,0.3,0.95\n")
    found = records(
        confir_command(
            "meta",
            tmp_path / "one.csv",
            tmp_path / "two.csv",
            "--model",
            "fixed",
            "--format",
            "json",
        )
    )
    assert [record["run"] for record in found] == ["new", "other"]
    assert [record["effect"] for record in found] == pytest.approx([0.1, 0.2])


def test_topics_are_pooled_within_each_collection_and_run(confir_command, tmp_path):
    table = "collection,topic,run,effect,sigma\n" + "".join(
        f"{c},{t},{r},{0.1 * t + (r == 'y')},0.1\n" for c in "ab" for t in (1, 2, 3) for r in "xy"
    )
    (tmp_path / "e.csv").write_text(table)
    arguments = ["--model", "fixed", "--format", "json"]
    found = records(confir_command("meta", tmp_path / "e.csv", *arguments))
    assert [(r["collection"], r["run"]) for r in found] == [
        ("a", "x"),
        ("a", "y"),
        ("b", "x"),
        ("b", "y"),
    ]
    assert [r["effect"] for r in found] == pytest.approx([0.2, 1.2, 0.2, 1.2])


def test_scores_with_limits_are_pooled_as_logits_less_a_baseline(confir_command, tmp_path):
    # limits symmetric on the logit scale: logit 0 ± 1.96·0.5 and ln 4 ± 1.96·0.5
    table = "run,topic,score,low,high,level\n"
    for run, logit in (("base", 0.0), ("new", np.log(4))):
        for topic in ("01", "02"):
            low, score, high = 1 / (1 + np.exp(-(logit + np.array([-1, 0, 1]) * 0.97998199)))
            table += f"{run},{topic},{score},{low},{high},0.95\n"
    (tmp_path / "topics.csv").write_text(table)
    arguments = ["--effect", "logit-difference", "--baseline", "base", "--model", "fixed"]
    (record,) = records(
        confir_command("meta", tmp_path / "topics.csv", *arguments, "--format", "json")
    )
    assert (record["measure"], record["run"], record["baseline"]) == ("logit score", "new", "base")
    assert record["effect"] == pytest.approx(np.log(4))
    # σ of a difference √2·0.5, of the mean of two topics 0.5
    assert record["high"] - record["low"] == pytest.approx(2 * 1.959964 * 0.5, rel=1e-6)
    adjusted = confir_command(
        "meta",
        tmp_path / "topics.csv",
        "--effect",
        "adjusted",
        "--model",
        "fixed",
        "--format",
        "csv",
    )
    assert "logit score,new,mean of runs,fixed,0.693147" in adjusted.out


def test_limits_without_a_level_are_taken_for_the_level_asked_for(confir_command, tmp_path):
    (tmp_path / "e.csv").write_text("topic,effect,low,high\n01,0.1,0.0,0.2\n02,0.1,-0.1,0.3\n")
    outcome = confir_command("meta", tmp_path / "e.csv", "--model", "fixed", "--level", "0.9")
    assert "limits are taken for those of level 0.9" in outcome.err
    assert "+0.1000 [+0.0106, +0.1894]" in outcome.out
    assert "studies are topics" in outcome.out


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("d,0.1,1e-200", "the standard error is 1e-200; expected a number from 1e-100 to 1e+100"),
        ("d,1e308,0.1", "the effect is 1e+308; expected a number from -1e+100 to 1e+100"),
    ],
)
def test_effects_out_of_range_are_named_with_their_line(confir_command, tmp_path, row, said):
    (tmp_path / "e.csv").write_text(f"{CSV}{row}\n")
    outcome = confir_command("meta", tmp_path / "e.csv")
    assert f"e.csv:{len(CSV.splitlines()) + 1}: {said}" in outcome.err


def test_a_study_without_sigma_is_named(confir_command, tmp_path):
    (tmp_path / "e.csv").write_text(CSV + "d,0.4,0\ne,0.4,NA\n")
    outcome = confir_command("meta", tmp_path / "e.csv")
    assert "sigma is 0: d, e" in outcome.err
    assert confir_command("meta", tmp_path / "e.csv", "--quiet").err == ""


@pytest.mark.parametrize("ending", ["svg", "md", "tex", "parquet"])
def test_writes_the_forest_plot_and_tables(confir_command, tmp_path, ending):
    (tmp_path / "e.csv").write_text(CSV)
    target = tmp_path / f"out.{ending}"
    assert confir_command("meta", tmp_path / "e.csv", "-o", target).code == 0
    content = target.read_bytes()
    expected = {"svg": b"<svg", "md": b"### In words", "tex": b"\\toprule", "parquet": b"PAR1"}
    assert expected[ending] in content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("study,effect,se\n", ":1: a header without rows"),
        ("effect,se\n1,1\n", "no column of studies"),
        ("study,se\na,1\n", ":1: no column of effects"),
        ("study,effect\na,1\n", ":1: no column of standard errors"),
        ("study,effect,se\na,1\n", ":2: 2 columns; expected 3"),
        ("study,effect,se,se\na,1,1,1\n", ":1: two columns are named 'se'"),
        ("study,effect,se\na,1,1\n,2,1\n", ":3: study '' is not an id"),
        ("study,effect,se\na,x,1\n", ":2: 'x' under 'effect' is not a finite number"),
        ("study,effect,se\na,1_0,1\n", ":2: '1_0' under 'effect'"),
        ("study,effect,se\na,inf,1\n", ":2: 'inf' under 'effect'"),
        ("study,effect,se\na,1,-1\n", ":2: the standard error is -1; expected"),
        ("study,effect,low,high\na,1,2,0\n", ":2: low 2 is above high 0"),
        ("study,effect,low,high,level\na,1,0,2,95\n", ":2: the level is 95; expected"),
        ("study,effect,se\na,1,1\n\na,2,1\n", ":4: a second effect of study 'a'; expected one"),
        ('[{"study": "a", "effect": 1, "se": 1}, 2]', "row 2: not a record"),
        ('[{"study": true, "effect": 1, "se": 1}]', "row 1: study True is not an id"),
        ("[]", "no records"),
        ('[{"study": ', "not JSON"),
        ("PAR1", "cannot be read as Parquet"),
    ],
)
def test_bad_tables_are_named_with_the_line(confir_command, tmp_path, content, message):
    (tmp_path / "bad").write_text(content)
    outcome = confir_command("meta", tmp_path / "bad")
    assert outcome.code == 2
    assert outcome.out == ""
    assert message in outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "remel"], "did you mean reml?"),
        (["--baseline", "x"], "--baseline needs --effect"),
        (["--effect", "logit"], "expected a table with a column run"),
        (["--level", "1"], "level is 1"),
    ],
)
def test_options_that_do_not_fit_are_an_error(confir_command, tmp_path, arguments, message):
    (tmp_path / "e.csv").write_text(CSV)
    outcome = confir_command("meta", tmp_path / "e.csv", *arguments)
    assert outcome.code == 2
    assert message in outcome.err


def test_a_baseline_that_is_no_run_is_an_error(confir_command, tmp_path):
    (tmp_path / "e.csv").write_text("topic,run,score,low,high\n1,bm25,0.5,0.4,0.6\n")
    arguments = ["--effect", "difference", "--baseline", "bm52"]
    assert "did you mean bm25?" in confir_command("meta", tmp_path / "e.csv", *arguments).err


def on_sample(folder, *arguments):
    runs = [folder / "runs" / f"{name}.txt" for name in ("bm25", "dense", "tfidf")]
    return ["meta", folder / "qrels.txt", *runs, "-m", "AP", "--replicates", 200, *arguments]


def test_topics_of_runs_are_pooled_directly(confir_command, sample_files):
    outcome = confir_command(*on_sample(sample_files, "--baseline", "bm25", "--model", "reml"))
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[1].split()[:5] == ["logit", "AP", "dense", "bm25", "reml"]
    assert lines[2].split()[:5] == ["logit", "AP", "tfidf", "bm25", "reml"]
    assert "over 50 studies" in lines[4]
    assert lines[4].endswith("studies are topics; 200 replicates of the collection, seed 2006")


RUNS = "study,run,baseline,effect,se\n" + "".join(
    f"{study},{run},base,{effect},0.2\n"
    for study in "abcd"
    for run, effect in (("x", 0.21), ("y", 0.5))
)


def test_several_runs_against_a_baseline_are_a_family(confir_command, tmp_path):
    (tmp_path / "e.csv").write_text(RUNS)
    arguments = ["meta", tmp_path / "e.csv", "--model", "fixed"]
    outcome = confir_command(*arguments)
    assert "+0.2100 [-0.0141, +0.4341]" in outcome.out  # ±2.241403 · 0.1, z at 1 - 0.05/4
    assert "simultaneous 95% interval, 2 pairs with base, bold where it excludes 0" in outcome.out
    for found, factor in (
        (records(confir_command(*arguments, "--format", "json")), 2),
        (records(confir_command(*arguments, "--family", "none", "--format", "json")), 1),
    ):
        assert [r["family"] for r in found] == [("none", "baseline")[factor - 1]] * 2
        assert [r["p_adjusted"] for r in found] == pytest.approx([factor * r["p"] for r in found])
        assert found[0]["low"] == pytest.approx(0.21 - 0.1959964)
    outcome = confir_command(*arguments, "--family", "none")
    assert "+0.2100 [+0.0140, +0.4060]" in outcome.out
    assert "95% interval (of each effect alone), bold" in outcome.out


@pytest.mark.parametrize(
    ("family", "message"),
    [
        ("all-pairs", "effects are pooled against base; expected the family baseline"),
        ("best", "unknown value of --family 'best'"),
    ],
)
def test_families_that_do_not_fit_are_an_error(confir_command, tmp_path, family, message):
    (tmp_path / "e.csv").write_text(RUNS)
    outcome = confir_command("meta", tmp_path / "e.csv", "--family", family)
    assert outcome.code == 2
    assert message in outcome.err


def test_direct_effects_are_those_of_the_library(confir_command, sample_files):
    options = ["--seed", 3, "--effect", "difference", "--baseline", sample_files / "runs/bm25.txt"]
    found = records(
        confir_command(*on_sample(sample_files, *options, "--model", "fixed", "--format", "json"))
    )
    runs = [sample_files / "runs" / f"{name}.txt" for name in ("bm25", "dense", "tfidf")]
    sample = confir.resample_documents(
        sample_files / "qrels.txt", runs, "AP", replicates=200, rng=3
    )
    effects = confir.collection_effects(sample, effect="difference", baseline="bm25")
    expected = confir.pool_effects(**effects._asdict(), model="fixed").to_records()
    for field in ("measure", "run", "baseline", "effect", "low", "high", "p", "q", "studies"):
        assert [record[field] for record in found] == [record[field] for record in expected]


def test_direct_effects_agree_with_those_from_the_table_of_topics(
    confir_command, whole_files, tmp_path
):
    topics = tmp_path / "topics.csv"
    runs = [whole_files / "runs" / f"{name}.txt" for name in ("bm25", "dense", "tfidf")]
    arguments = ["--replicates", 200, "-q", "-o", topics]
    assert confir_command("collection", whole_files / "qrels.txt", *runs, *arguments).code == 0
    compare = ["--effect", "logit-difference", "--baseline", "bm25", "--model", "reml"]
    by_table = records(confir_command("meta", topics, *compare, "--format", "json"))
    direct = on_sample(whole_files, *compare, "--pairing", "independent", "--format", "json")
    for one, other in zip(by_table, records(confir_command(*direct)), strict=True):
        assert one["run"] == other["run"]
        assert other["effect"] == pytest.approx(one["effect"], rel=1e-6)
        assert other["low"] == pytest.approx(one["low"], rel=1e-4)


def test_a_single_topic_has_no_random_effects(confir_command, tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 1\n2 0 c 0\n")
    (tmp_path / "x.run").write_text("1 0 a 1 2 x\n1 0 d 2 1 x\n2 0 c 1 1 x\n")
    outcome = confir_command("meta", tmp_path / "qrels", tmp_path / "x.run", "-m", "AP")
    assert outcome.code == 0
    assert "no relevant document for 1 of 2 topics (2), which have no score" in outcome.err
    assert "random effects need 2 studies" in outcome.err
    assert "no interval, over 1 study" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--baseline", "bm52"], "unknown run 'bm52'; did you mean bm25?"),
        (["--effect", "logit", "--baseline", "bm25"], "the effect 'logit' takes no baseline"),
        (["--effect", "difference"], "the effect 'difference' needs a baseline"),
        (["--pairing", "both"], "unknown value of --pairing 'both'"),
        (["-m", "NumRet"], "measures in [0, 1], which NumRet is not"),
        (["--missing", "no"], "unknown value of --missing 'no'"),
        (["--epsilon", "0.7"], "epsilon is 0.7"),
        (["--pairing", "independent"], "--pairing is for differences; expected --baseline RUN"),
        (
            ["--pairing", "independent", "--effect", "adjusted", "--baseline", "bm25"],
            "expected --baseline RUN, and not --effect adjusted",
        ),
    ],
)
def test_what_cannot_be_pooled_over_topics_is_an_error(
    confir_command, sample_files, arguments, message
):
    outcome = confir_command(*on_sample(sample_files, *arguments))
    assert outcome.code == 2
    assert message in outcome.err


def test_runs_without_a_measure_must_name_one(confir_command, sample_files):
    files = [sample_files / "qrels.txt", sample_files / "runs" / "bm25.txt"]
    assert "name a measure with -m" in confir_command("meta", *files).err
    assert "expected QRELS and at least one RUN" in confir_command("meta", files[0], "-m", "AP").err


def test_options_of_documents_are_refused_for_tables(confir_command, tmp_path):
    (tmp_path / "e.csv").write_text(CSV)
    outcome = confir_command("meta", tmp_path / "e.csv", "--seed", 3)
    assert outcome.code == 2
    assert "--seed is for QRELS RUN..., whose measure -m names" in outcome.err
