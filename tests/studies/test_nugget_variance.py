"""The variance due to the choice of nuggets, against plain sums and a known truth."""

import json
import statistics

import numpy as np
import pytest

import confir
from confir.cli import start
from confir.errors import FormatError
from foreign_files import assigned

WORDS = {1.0: "support", 0.5: "partial_support", 0.0: "not_support"}


def write_answers(path, credit, vital=None, run="x"):
    """Answers of a run, of which credit has a list of credits per topic."""
    lines = []
    for topic, own in enumerate(credit):
        important = ["vital"] * len(own) if vital is None else vital[topic]
        texts = [f"fact {place}" for place in range(len(own))]
        words = [WORDS[one] for one in own]
        lines.append(assigned(run, f"{topic:05}", *zip(texts, important, words, strict=True)))
    with open(path, "a") as file:
        file.write("".join(lines))
    return path


def plain_share(credit):
    """The definition, topic by topic: mean of s²/k, of topics with two nuggets, over s²."""
    within = [statistics.variance(own) / len(own) for own in credit if len(own) > 1]
    scores = [statistics.fmean(own) if own else 0.0 for own in credit]
    return statistics.fmean(within) / statistics.variance(scores)


def test_shares_are_those_of_the_definition(tmp_path):
    rng = np.random.default_rng(4)
    credit = [rng.choice([0.0, 0.5, 1.0], rng.integers(1, 9)).tolist() for _ in range(25)]
    vital = [rng.choice(["vital", "okay"], len(own)).tolist() for own in credit]
    path = write_answers(tmp_path / "a.jsonl", credit, vital)
    found = confir.estimate_nugget_variance(path)
    chosen = [
        [one for one, word in zip(own, words, strict=True) if word == "vital"]
        for own, words in zip(credit, vital, strict=True)
    ]
    strict = [[float(one == 1.0) for one in own] for own in credit]
    strict_vital = [[float(one == 1.0) for one in own] for own in chosen]
    expected = [plain_share(one) for one in (strict_vital, strict, chosen, credit)]
    np.testing.assert_allclose(found.share[0], expected, rtol=1e-12)
    assert (
        found.topics[0].tolist()
        == [sum(len(own) > 1 for own in one) for one in (chosen, credit)] * 2
    )
    variance = np.var(confir.read_scores(path).values, axis=0, ddof=1)
    np.testing.assert_allclose(found.topic_variance, variance, rtol=1e-12)


def test_the_share_is_that_of_a_simulation_with_known_variances(tmp_path):
    # difficulty uniform on [0, 1], k nuggets each: variances are 1/12 and (1/6)/k
    rng = np.random.default_rng(7)
    topics, nuggets = 4000, 10
    ease = rng.random(topics)
    credit = (rng.random((topics, nuggets)) < ease[:, None]).astype(float).tolist()
    found = confir.estimate_nugget_variance(write_answers(tmp_path / "a.jsonl", credit))
    by_nuggets = 1 / 6 / nuggets
    # 4 standard errors of the share, about
    assert found.share[0, 3] == pytest.approx(by_nuggets / (1 / 12 + by_nuggets), abs=0.012)


def test_nothing_is_said_where_scores_do_not_vary_or_nuggets_are_too_few(tmp_path):
    same = confir.estimate_nugget_variance(write_answers(tmp_path / "a.jsonl", [[1.0, 0.0]] * 3))
    assert np.isnan(same.share).all()
    few = confir.estimate_nugget_variance(write_answers(tmp_path / "b.jsonl", [[1.0], [0.0]]))
    assert np.isnan(few.share).all()
    assert few.topics.tolist() == [[0, 0, 0, 0]]


def test_files_without_nuggets_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("topic,run,measure,score\n1,x,AP,0.5\n")
    with pytest.raises(
        FormatError, match=r"t.csv: no assignments of nuggetizer; expected lines of"
    ):
        confir.estimate_nugget_variance(path)


def test_evaluate_says_the_share_and_escapes_names(tmp_path, capsys, monkeypatch):
    path = tmp_path / "answers.jsonl"
    write_answers(path, [[1.0, 0.0, 0.5], [1.0, 1.0, 0.0], [0.0, 0.0, 0.5]], run="<b>&\x1b[31m")
    given = ["confir", "evaluate", "--scores", str(path), "-m", "vital"]
    monkeypatch.setattr("sys.argv", given)
    assert not start.run()
    text = capsys.readouterr().out
    share = confir.estimate_nugget_variance(path).share[0, 2]
    assert f"comes from the choice of nuggets: {100 * share:.1f}% of vital" in text
    assert "\x1b" not in text
    monkeypatch.setattr("sys.argv", [*given, "-o", str(tmp_path / "t.html")])
    start.run()
    assert "<b>" not in (tmp_path / "t.html").read_text()
    monkeypatch.setattr("sys.argv", [*given, "--format", "json"])
    capsys.readouterr()
    start.run()
    assert json.loads(capsys.readouterr().out)[0]["measure"] == "vital"


def test_a_folder_of_answers_is_one_table(tmp_path, capsys, monkeypatch):
    for run in ("x", "y"):
        write_answers(tmp_path / f"{run}.jsonl", [[1.0, 0.0], [1.0, 1.0], [0.5, 0.0]], run=run)
    found = confir.estimate_nugget_variance(tmp_path)
    assert found.runs == ("x", "y")
    monkeypatch.setattr(
        "sys.argv", ["confir", "compare", "--scores", str(tmp_path), "-m", "all", "--show", "pairs"]
    )
    assert not start.run()
    assert "identical" in capsys.readouterr().out
