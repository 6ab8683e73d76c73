"""Human judgements in addition to a model's: --human of evaluate, compare, plan and report."""

import json

import numpy as np
import pytest

from judge_files import noisy_judge, write_judge
from samples import short_sample

RANDOM = ("--human-sample", "random-topics")


@pytest.fixture
def files(tmp_path, sample_files):
    """Model judgements, human judgements of 15 topics and of all, and three runs."""
    qrels = short_sample().qrels.to_dict()
    chosen = np.random.default_rng(3).permutation(list(qrels))[:15].tolist()
    model = write_judge(tmp_path / "model.qrels", noisy_judge(qrels, leniency=0.3, noise=0.5))
    people = write_judge(tmp_path / "people.qrels", {t: qrels[t] for t in chosen})
    every = write_judge(tmp_path / "every.qrels", qrels)
    runs = [sample_files / "runs" / f"{name}.txt" for name in ("bm25", "dense", "rerank")]
    return {"model": model, "people": people, "every": every, "runs": runs}


@pytest.fixture
def command(confir_command, files):
    """A command on model judgements, with human judgements of 15 topics."""

    def run(name, *arguments, people="people"):
        given = (files["model"], *files["runs"], "--human", files[people])
        return confir_command(name, *given, *arguments)

    return run


@pytest.fixture
def by_model(command):
    """The command that evaluates."""
    return lambda *arguments: command("evaluate", *arguments)


def test_human_judgements_correct_a_model(by_model):
    outcome = by_model("--human-sample", "random-topics", "-m", "AP")
    assert outcome.code == 0, outcome.err
    assert "from 15 human-judged topics and 35 judged by the model alone" in outcome.out
    assert outcome.out.splitlines()[0].split() == ["run", "AP", "model", "bias", "weight", "worth"]
    table = outcome.out.partition("\n\n")[0].splitlines()
    assert all(line.count("[") == 2 for line in table[1:])  # of the mean and of the bias
    printed = by_model("--human-sample", "random-topics", "-m", "AP", "--format", "json")
    records = json.loads(printed.out)
    assert {"human_topics", "model_topics", "model_mean", "bias", "weight", "worth"} <= set(
        records[0]
    )
    assert all(record["low"] < record["mean"] < record["high"] for record in records)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--human needs --human-sample: how the human-judged topics were sampled"),
        (("--human-sample", "chosen"), "topics that were chosen for human judging say nothing"),
        (("--human-sample", "random"), "unknown way to choose human topics 'random'"),
        ((*RANDOM, "-q"), "--show topics cannot be combined with --human"),
        (
            (*RANDOM, "--show", "unjudged", "--treatment", "bounds"),
            "--show unjudged cannot be combined with --human",
        ),
        (
            ("--human-sample", "random-topics", "--method", "betting"),
            "method 'betting' does not fit",
        ),
        (
            ("--human-sample", "random-topics", "--method", "t", "--method", "logit-t"),
            "--human takes one --method",
        ),
    ],
)
def test_human_judgements_that_cannot_correct_are_refused(by_model, arguments, message):
    outcome = by_model(*arguments)
    assert outcome.code == 2
    assert outcome.err.startswith(f"confir: error: {message}"), outcome.err


def test_ranks_are_by_corrected_means(command):
    outcome = command("compare", *RANDOM, "-m", "AP", "--show", "ranks", "--replicates", "199")
    assert outcome.code == 0, outcome.err
    assert "over 15 topics with human judgements and 35 with a model's" in outcome.out
    assert outcome.out.splitlines()[1].startswith("rerank")


def test_runs_are_compared_by_human_judgements(command):
    arguments = (*RANDOM, "-m", "AP", "--replicates", "199")
    outcome = command("compare", *arguments)
    assert outcome.code == 0, outcome.err
    assert "by human judgements, estimated from these and the model's (PPI++)" in outcome.out
    assert "rerank is the best of the 3 runs by AP (95% confidence)" in outcome.out
    pairs = command("compare", *arguments, "--show", "pairs", "--format", "json")
    records = json.loads(pairs.out)
    assert {record["model_topics"] for record in records} == {35}
    assert all(0 <= record["weight"] <= 1 for record in records)
    best = command("compare", *arguments, "--show", "best")
    assert "15 topics with human judgements and 35 with a model's" in best.out


def test_a_gate_is_by_human_judgements(command, files):
    gate = ("--baseline", files["runs"][2], "--fail-if-worse", "AP", "--replicates", "199")
    outcome = command("compare", *RANDOM, "-m", "AP", *gate)
    assert outcome.code == 1, outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--human needs --human-sample"),
        (
            (*RANDOM, "--show", "pairs", "--test", "wilcoxon"),
            "the Wilcoxon test needs the score on each topic",
        ),
        ((*RANDOM, "--show", "pairs", "--method", "bca"), "method 'bca' does not fit"),
        ((*RANDOM, "--missing", "drop", "--depth", "0"), "--depth is 0"),
        (("--human-sample", "all"), "the human judgements lack 35 topics of the model's"),
    ],
)
def test_comparisons_that_human_judgements_cannot_correct_are_refused(command, arguments, message):
    outcome = command("compare", "-m", "AP", *arguments)
    assert outcome.code == 2
    assert outcome.err.startswith(f"confir: error: {message}"), outcome.err


def test_a_score_table_takes_no_qrels_by_human_judgements(confir_command, files, tmp_path):
    table = tmp_path / "scores.csv"
    table.write_text("topic,a,b\n1,0.1,0.2\n2,0.3,0.1\n", encoding="utf-8")
    for name in ("evaluate", "compare", "report", "plan"):
        outcome = confir_command(
            name, "--scores", table, "--human", files["people"], *RANDOM, "--quiet"
        )
        assert outcome.code == 2
        assert f"{files['people']}: this looks like qrels; expected columns run" in outcome.err
    outcome = confir_command("evaluate", files["model"], files["runs"][0], *RANDOM)
    assert "--human-sample is for human judgements: expected --human QRELS" in outcome.err


def test_human_judgements_of_all_topics_are_used_alone(command):
    outcome = command("evaluate", "--human-sample", "all", "-m", "AP", people="every")
    assert outcome.code == 0, outcome.err
    assert "humans judged all topics: means are by their judgements" in outcome.out
    assert "calibrated-beta" in outcome.out
    outcome = command("compare", "--human-sample", "all", "-m", "AP", people="every")
    assert "humans judged all topics: differences are by their judgements" in outcome.out
    outcome = command("evaluate", *RANDOM, "-m", "AP", people="every")
    assert outcome.code == 2
    assert "without them, human judgements stand for themselves ('all')" in outcome.err


def test_plans_count_human_judged_topics(command):
    outcome = command("plan", *RANDOM, "-m", "AP", "--half-width", "0.05")
    assert outcome.code == 0, outcome.err
    assert "topics are those that humans judge; for each, the model judges 2.3 more" in outcome.out


def test_a_report_says_whose_judgements_it_is_by(command, files, tmp_path):
    page = tmp_path / "report.html"
    with files["people"].open("a", encoding="utf-8") as people:
        people.write("unknown 0 d 1\n")
    arguments = ("-m", "AP", "--replicates", "199", "-o", page, "--quiet")
    outcome = command("report", *RANDOM, *arguments)
    assert outcome.code == 0, outcome.err
    text = page.read_text(encoding="utf-8")
    assert "of all 50 topics would give, from those of 15 and a model&#39;s of all." in text
    warned = "the model did not judge 1 human-judged topic (unknown), left out"
    assert warned in text  # the page says so, however quiet the command
    assert warned not in outcome.err
    assert "prediction-powered estimates (PPI++, Angelopoulos et al. 2023)" in text
    assert "@misc{Angelopoulos2023" in text
    assert "@book{Cochran1977" in text
    assert "which human judgements of some topics or documents do not correct" in text
    refused = command("report", *RANDOM, *arguments, "--method", "gaffke")
    assert refused.code == 2
    assert "method 'gaffke' does not fit" in refused.err


def test_documents_drawn_at_random_correct_scores(confir_command, files, tmp_path):
    rng = np.random.default_rng(1)
    lines = [line.split() for line in files["every"].read_text(encoding="utf-8").splitlines()]
    drawn = [f"{' '.join(fields)} 0.4\n" for fields in lines if rng.random() < 0.4]
    people = tmp_path / "drawn.qrels"
    people.write_text("".join(drawn), encoding="utf-8")
    given = (files["model"], *files["runs"], "--human", people, "--depth", "50")
    stated = ("--human-sample", "random-documents", "-m", "P@10", "-m", "nDCG@10")
    outcome = confir_command("evaluate", *given, *stated)
    assert outcome.code == 0, outcome.err
    assert f"by human judgements of {len(drawn):,} of {len(lines):,} documents" in outcome.out
    assert "by t, over 50 topics" in outcome.out
    outcome = confir_command("compare", *given, *stated, "--replicates", "99")
    assert f"by human judgements of {len(drawn):,} of" in outcome.out
    refused = confir_command("evaluate", *given, "--human-sample", "random-topics")
    assert refused.code == 2
    assert "5 columns; expected 4" in refused.err
    goal = ("--human-topics", "--half-width", "0.08")
    plan = confir_command("plan", *given, *stated, *goal)
    assert plan.code == 0, plan.err
    assert "topics, and documents of each, to be judged by humans for a 95% t" in plan.out
    priced = confir_command(
        "plan", *given, *stated, *goal, "--human-cost", "1", "--model-cost", "1"
    )
    assert "cost without" in priced.out
    refused = confir_command("plan", *given, *stated, *goal, "--model-topics", "9")
    assert refused.code == 2
    assert "--model-topics is for --human-sample random-topics" in refused.err


def test_topics_for_human_judgement_are_planned(command):
    goal = (*RANDOM, "-m", "AP", "--human-topics", "--half-width", "0.05")
    outcome = command("plan", *goal, "--model-topics", "500")
    assert outcome.code == 0, outcome.err
    assert "topics to be judged by humans for a 95% t interval of the mean" in outcome.out
    priced = command("plan", *goal, "--human-cost", "1", "--model-cost", "0.01")
    assert "cost without" in priced.out
    for arguments, message in (
        ((*RANDOM, "--human-topics"), "--human-topics needs --half-width"),
        ((*goal, "--power", "0.9"), "--power "),
        ((*goal, "--topics", "9"), "--topics is for --human-sample random-documents"),
        (
            (*RANDOM, "--half-width", "0.1", "--model-cost", "1"),
            "--model-cost is for --human-topics",
        ),
    ):
        refused = command("plan", *arguments)
        assert refused.code == 2
        assert refused.err.startswith(f"confir: error: {message}"), refused.err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("topics", ""),
        ("coverage", ""),
        ("measures", "the comparison of measures needs"),
        ("type-one", "the study of the Type I error needs"),
        ("bias-variance", "the study of bias and variance needs"),
        ("components", "the analysis of variance components needs"),
    ],
)
def test_every_command_of_scores_takes_human_judgements_or_says_why_not(command, name, message):
    own = {"measures": ["--power"], "coverage": ["--samples", "9", "--replicates", "99"]}
    outcome = command(name, *RANDOM, "-m", "AP", *own.get(name, []))
    assert outcome.code == (2 if message else 0), outcome.err
    assert message in outcome.err
    assert ("each difference has a weight of the model of its own" in outcome.err) == bool(message)


def test_repeats_are_corrected_by_human_judgements(confir_command, files):
    named = [
        f"s{place // 2}@{place}={run}"
        for place, run in enumerate(files["runs"] + files["runs"][:1])
    ]
    given = (files["model"], *named, "--human", files["people"], *RANDOM, "--repeats", "-m", "AP")
    for name in ("evaluate", "compare", "plan", "topics"):
        outcome = confir_command(name, *given)
        assert outcome.code == 0, outcome.err
    records = json.loads(confir_command("evaluate", *given, "--format", "json").out)
    assert [record["system"] for record in records] in (["s0", "s1"], ["s1", "s0"])
    assert {record["topics"] for record in records} == {15}
    passed = confir_command("evaluate", *given, "--show", "pass", "--threshold", "0.2")
    assert "pass@2" in passed.out
