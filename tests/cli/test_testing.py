"""The assertion for pytest: the same decision and message as the gate of `confir compare`."""

import re

import pytest

import confir
from confir.errors import ConfirError, InvalidValueError
from confir.testing import assert_not_worse
from samples import short_sample

pytest_plugins = ["pytester"]


@pytest.fixture(scope="module")
def collection():
    sample = short_sample()
    return sample.qrels, {run.name: run for run in sample.runs}


def test_a_candidate_that_is_not_worse_passes(collection):
    qrels, runs = collection
    assert_not_worse(qrels, runs["bm25"], runs["rerank"], "AP")
    assert_not_worse(qrels, runs["bm25"], runs["bm25"], "AP")


def test_the_text_is_the_sentence_of_the_gate(collection):
    qrels, runs = collection
    pair = {"baseline": runs["rerank"], "candidate": runs["tfidf"]}
    comparison = confir.compare_runs(confir.evaluate(qrels, pair, ["AP"]), baseline="baseline")
    expected = confir.judge_gate(comparison, "AP").sentence()
    with pytest.raises(AssertionError) as failed:
        assert_not_worse(qrels, runs["rerank"], runs["tfidf"], "AP")
    assert str(failed.value) == expected
    assert expected.startswith("gate closed: by AP against baseline, candidate: ")


def test_it_fails_exactly_where_the_command_does(collection, tmp_path, confir_command):
    qrels, runs = collection
    confir.write_qrels(qrels, tmp_path / "qrels.txt")
    for name in ("rerank", "hybrid", "dense"):
        confir.write_run(runs[name], tmp_path / f"{name}.txt")
    files = [tmp_path / "qrels.txt", tmp_path / "rerank.txt"]
    seen = set()
    for name in ("hybrid", "dense"):
        for margin in (0.0, 0.02, 0.5):
            code, _, err = confir_command(
                *("compare", *files, tmp_path / f"{name}.txt", "--baseline", "rerank", "--quiet"),
                *("--fail-if-worse", "AP", "--margin", margin, "--format", "csv"),
            )
            seen.add(code)
            try:
                assert_not_worse(*files, tmp_path / f"{name}.txt", "AP", margin=margin)
            except AssertionError as failed:
                said = str(failed).replace("baseline", "rerank").replace("candidate", name)
                assert code == 1
                assert said in err
            else:
                assert code == 0
    assert seen == {0, 1}


@pytest.mark.parametrize("require", ["non-inferior", "superior"])
def test_more_can_be_required(collection, require):
    qrels, runs = collection
    assert_not_worse(qrels, runs["tfidf"], runs["rerank"], "AP", require=require)
    with pytest.raises(AssertionError, match="worse; required: significantly above 0"):
        assert_not_worse(qrels, runs["rerank"], runs["tfidf"], "AP", require=require)


def test_rules_of_reading_are_those_of_evaluate(collection):
    qrels, runs = collection
    two = {"a": runs["dense"], "b": runs["rerank"]}
    found = confir.compare_runs(confir.evaluate(qrels, two, ["P@5"], rel=2), baseline="b")
    shown = f"{found.difference.item():+.4f}"[:6]
    with pytest.raises(AssertionError, match=re.escape(shown)):
        assert_not_worse(qrels, runs["rerank"], runs["dense"], "P@5", rel=2)


@pytest.mark.parametrize("given", [{"margin": -1}, {"require": "best"}, {"level": 2}, {"rng": "x"}])
def test_wrong_arguments_are_no_failed_assertion(collection, given):
    qrels, runs = collection
    with pytest.raises(ConfirError):
        assert_not_worse(qrels, runs["bm25"], runs["rerank"], "AP", **given)


def test_runs_that_cannot_be_compared_are_an_error_and_no_pass():
    qrels = {"1": {"d": 1}}
    with pytest.raises(InvalidValueError):
        assert_not_worse(qrels, {"1": {"d": 1.0}}, {"1": {"e": 1.0}}, "AP")


def test_pytest_shows_the_sentence_and_the_line_of_the_test(pytester):
    pytester.makepyfile("""
        from confir.testing import assert_not_worse

        def test_search():
            qrels = {str(n): {"d": 1, "e": 0} for n in range(30)}
            good = {topic: {"d": 2.0, "e": 1.0} for topic in qrels}
            bad = {topic: {"d": 1.0 + int(topic) % 3, "e": 1.5} for topic in qrels}
            assert_not_worse(qrels, good, bad, "RR")
    """)
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*AssertionError: gate closed: by RR against baseline, candidate: *"]
    )
    result.stdout.no_fnmatch_line("*judge_gate*")
