"""The error rate of a gate over repeated looks is at most that of a single look."""

import dataclasses
import json
import math
import os
import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import pytest

import confir
from confir.data.scores import Scores
from confir.errors import FormatError, InvalidValueError, UnreadableError, UnsupportedMethodError
from confir.pairs.gate import GateRule
from confir.pairs.verdict_words import difference_and_verdict, reason
from confir.studies.gate.arriving_topics import judge_arriving
from confir.studies.history.history_file import OpenHistory, read_looks
from confir.studies.history.looks import Look, begin_look, level_of_look

RULE = GateRule()


def scores_of(differences, topics=None, *, names=("base", "new"), measure="m0"):
    """A baseline of ½, and a run for each column of differences."""
    differences = np.atleast_2d(np.asarray(differences, float).T).T
    count, runs = differences.shape
    values = np.concatenate([np.full((count, 1), 0.5), 0.5 + differences], axis=1)
    topics = topics or [f"t{number:03d}" for number in range(count)]
    names = names if len(names) == runs + 1 else ("base", *(f"new{i}" for i in range(runs)))
    return Scores(tuple(topics), tuple(names), (measure,), values[:, :, None])


def judge_look(*given, **options):
    """Return the gates of a look that is recorded immediately."""
    gates, waiting = begin_look(*given, **options)
    with closing(waiting):
        waiting.append()
    return gates


def compared(differences, topics=None, **options):
    return confir.compare_runs(scores_of(differences, topics, **options), baseline="base", rng=1)


def look(commit=None, looks="candidates"):
    return Look(commit, "2026-01-02T03:04:05+00:00", looks)


def drawn(seed, count=30, shift=0.0, spread=0.1):
    rng = np.random.default_rng(seed)
    return np.clip(rng.normal(shift, spread, count), -0.5, 0.5)


def test_the_errors_of_all_looks_sum_to_that_of_one_gate():
    assert 1 - level_of_look(1, 0.95) == pytest.approx(0.05 * 6 / math.pi**2)
    errors = [1 - level_of_look(number, 0.95) for number in range(1, 20_001)]
    assert errors == sorted(errors, reverse=True)
    assert sum(errors) == pytest.approx(0.05, abs=1e-5)
    assert sum(errors) < 0.05
    with pytest.raises(InvalidValueError, match="look is 0; expected 1 or more"):
        level_of_look(0, 0.95)


@pytest.mark.slow
def test_candidates_that_change_nothing_are_failed_in_less_than_5_percent_of_histories():
    """1500 histories of 20 looks, as one measure each; as good as the baseline on average."""
    rng = np.random.default_rng(6)
    ever, ever_naive = np.zeros((2, 1500), bool)
    for number in range(1, 21):
        values = rng.random((40, 2, 1500))
        names = tuple(f"m{place}" for place in range(1500))
        topics = tuple(f"t{place:02d}" for place in range(40))
        scores = Scores(topics, ("base", "new"), names, values)
        comparison = confir.compare_runs(scores, baseline="base", family="none")
        ever_naive |= comparison.verdict[0, 0] == "worse"
        stricter = comparison.at(level_of_look(number, 0.95))
        ever |= stricter.verdict[0, 0] == "worse"
    assert 0 < ever.mean() <= 0.05
    assert ever_naive.mean() > 0.3


def test_a_look_is_judged_at_its_own_level_and_kept(tmp_path):
    path = tmp_path / "history.jsonl"
    comparison = compared(drawn(1, shift=-0.05))
    for number in (1, 2, 3):
        (gate,) = judge_look(path, comparison, ["m0"], RULE, look(f"c{number}"), seed=1)
        expected = confir.judge_gate(comparison.at(level_of_look(number, 0.95)), "m0")
        assert dataclasses.replace(gate, about="") == expected
        assert f"look {number}: " in gate.about
        assert "candidates tuned on these data remain uncontrolled" in gate.about
    records = read_looks(path)
    assert [record["look"] for record in records] == [1, 2, 3]
    last = records[-1]
    assert (last["low"], last["high"]) == tuple(float(limit[0, 0]) for limit in comparison.limits)
    assert last["look_low"] < last["low"] < last["difference"] < last["high"] < last["look_high"]
    assert (last["commit"], last["date"]) == ("c3", "2026-01-02T03:04:05+00:00")


def test_a_build_that_runs_again_costs_no_look(tmp_path):
    path = tmp_path / "history.jsonl"
    comparison = compared(drawn(1, shift=-0.05))
    first = judge_look(path, comparison, ["m0"], RULE, look("c1"), seed=1)
    assert judge_look(path, comparison, ["m0"], RULE, look("c1"), seed=1) == first
    assert len(read_looks(path)) == 1
    judge_look(path, compared(drawn(2)), ["m0"], RULE, look("c1"), seed=1)  # other scores
    judge_look(path, compared(drawn(2)), ["m0"], GateRule(margin=0.01), look("c1"), seed=1)
    judge_look(path, compared(drawn(2)), ["m0"], RULE, look(None), seed=1)
    judge_look(path, compared(drawn(2)), ["m0"], RULE, look(None), seed=1)  # no commit is known
    assert [record["look"] for record in read_looks(path)] == [1, 2, 3, 4, 5]


@pytest.mark.filterwarnings("ignore::confir.errors.DegenerateSampleWarning")
@pytest.mark.parametrize("require", ["not-worse", "non-inferior", "superior"])
def test_identical_runs_pass_unless_they_must_be_superior(tmp_path, require):
    for looks in ("candidates", "topics"):
        path = tmp_path / f"{looks}.jsonl"
        rule = GateRule(require)
        (gate,) = judge_look(path, compared(np.zeros(9)), ["m0"], rule, look(None, looks), seed=1)
        assert gate.closed is (require == "superior")


def test_topics_enter_once_in_order_of_arrival(tmp_path):
    path = tmp_path / "history.jsonl"
    differences = drawn(3, 60, shift=-0.2, spread=0.1)
    names = [f"t{number:03d}" for number in range(60)]
    for size in (10, 25, 25, 60):
        batch = compared(differences[:size], names[:size])
        (gate,) = judge_look(path, batch, ["m0"], RULE, look(f"c{size}", "topics"), seed=1)
    records = read_looks(path)
    assert [len(record["arrived"]) for record in records] == [10, 15, 35]
    assert {*records[1]["arrived"]} == {*names[10:25]}
    assert list(records[2]["arrived"]) != sorted(records[2]["arrived"])  # permuted in the batch
    assert [record["topics"] for record in records] == [10, 25, 60]
    lows = [record["look_low"] for record in records]
    highs = [record["look_high"] for record in records]
    assert lows == sorted(lows)
    assert highs == sorted(highs, reverse=True)
    assert highs[-1] < 0
    assert gate.closed
    assert "difference -0.2" in gate.sentence()
    assert "60 topics in order of arrival, 35 of them new" in gate.about
    assert not reason(gate.candidates[0].decision)


def test_topics_that_left_still_count_and_changed_ones_are_an_error(tmp_path):
    path = tmp_path / "history.jsonl"
    differences = drawn(3, 20, shift=-0.2)
    judge_look(path, compared(differences[:10]), ["m0"], RULE, look("a", "topics"), seed=1)
    later = compared(differences[5:], [f"t{number:03d}" for number in range(5, 20)])
    judge_look(path, later, ["m0"], RULE, look("b", "topics"), seed=1)
    assert read_looks(path)[-1]["topics"] == 20
    before = path.read_bytes()
    changed = differences.copy()
    changed[3] += 0.1
    with pytest.raises(
        InvalidValueError, match="another difference on topic 't003' than at an ear"
    ):
        judge_look(path, compared(changed), ["m0"], RULE, look("c", "topics"), seed=1)
    assert path.read_bytes() == before


def test_candidates_share_the_error_where_topics_arrive():
    one = drawn(4, 80, shift=-0.03)
    alone = judge_arriving(compared(one), "m0", {}, rng=1)[0].candidates[0].decision
    both = judge_arriving(compared(np.stack([one, one], axis=1)), "m0", {}, rng=1)[0]
    for candidate in both.candidates:
        assert candidate.decision.low < alone.low < alone.high < candidate.decision.high
        assert candidate.decision.level == 0.95
        assert "simultaneous 95% interval" in difference_and_verdict(candidate.decision)


@pytest.mark.parametrize("require", ["not-worse", "non-inferior", "superior"])
def test_arriving_topics_decide_by_the_limits(require):
    rule = {"require": require, "margin": 0.1}
    closed = {
        shift: judge_arriving(compared(drawn(5, 300, shift, 0.05)), "m0", {}, **rule, rng=1)[
            0
        ].closed
        for shift in (-0.3, 0.0, 0.3)
    }
    expected = {
        "not-worse": {-0.3: True, 0.0: False, 0.3: False},
        "non-inferior": {-0.3: True, 0.0: False, 0.3: False},
        "superior": {-0.3: True, 0.0: True, 0.3: False},
    }
    assert closed == expected[require]


def test_scores_outside_the_unit_interval_have_no_sequence():
    with pytest.raises(UnsupportedMethodError, match=r"m0 has scores outside \[0, 1\]"):
        judge_arriving(compared([3.0, 4.0, 5.0]), "m0", {})


def test_kinds_of_looks_are_not_mixed(tmp_path):
    path = tmp_path / "history.jsonl"
    judge_look(path, compared(drawn(1)), ["m0"], RULE, look("a"), seed=1)
    with pytest.raises(
        InvalidValueError, match="the history is of --looks candidates; expected that, --new-base"
    ):
        judge_look(path, compared(drawn(1)), ["m0"], RULE, look("b", "topics"), seed=1)


def test_nothing_is_made_where_a_look_cannot_be_judged(tmp_path):
    path = tmp_path / "history.jsonl"
    with pytest.raises(confir.errors.UnknownNameError):
        judge_look(path, compared(drawn(1)), ["m9"], RULE, look(), seed=1)
    assert not path.exists()


def test_looks_at_the_same_time_get_numbers_of_their_own(tmp_path):
    path = tmp_path / "history.jsonl"
    comparison = compared(drawn(1))

    def one(number):
        judge_look(path, comparison, ["m0"], RULE, look(f"c{number}"), seed=1)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, range(24)))
    assert [record["look"] for record in read_looks(path)] == list(range(1, 25))


def test_a_line_that_was_not_ended_is_ended(tmp_path):
    path = tmp_path / "history.jsonl"
    judge_look(path, compared(drawn(1)), ["m0"], RULE, look("a"), seed=1)
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    judge_look(path, compared(drawn(2)), ["m0"], RULE, look("b"), seed=1)
    assert [record["look"] for record in read_looks(path)] == [1, 2]


def test_a_full_disk_leaves_no_part_of_a_look(tmp_path, monkeypatch):
    path = tmp_path / "history.jsonl"
    judge_look(path, compared(drawn(1)), ["m0"], RULE, look("a"), seed=1)
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UnreadableError, match="No space left on device"):
        judge_look(path, compared(drawn(2)), ["m0"], RULE, look("b"), seed=1)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: "{", "no JSON object"),
        (lambda _: "3", "no JSON object"),
        (lambda line: line.replace("0.95", "NaN"), "NaN is no number"),
        (lambda line: line.replace("0.95", "-Infinity"), "-Infinity is no number"),
        (lambda line: line.replace("0.95", "0"), "level is 0"),
        (
            lambda line: re.sub('"look_level": [0-9.]+', '"look_level": 1.0', line),
            "look_level is 1",
        ),
        (lambda line: re.sub('"low": [^,]+', '"low": 0.9', line, count=1), "low 0.9 is above high"),
        (
            lambda line: re.sub('"look_low": [^,]+', '"look_low": 0.9', line),
            "look_low 0.9 is above",
        ),
        (lambda line: line.replace("2026-01-02T03:04:05+00:00", "9999-99-99"), "date is '9999-99-"),
        (
            lambda line: line.replace("2026-01-02T03:04:05+00:00", "yesterday"),
            "date is 'yesterday'",
        ),
        (lambda line: line[: len(line) // 2], "no JSON object"),
        (lambda line: line.replace('"look": 1', '"look": true'), "look is True"),
        (lambda line: line.replace('"look": 1', '"look": 0'), "look is 0"),
        (lambda line: line.replace('"look": 1', '"look": 1' + 9 * "0"), "look is 1000000000"),
        (
            lambda line: line.replace('"look": 1', '"look": 1' + 999 * "0"),
            "look is an integer of 33",
        ),
        (lambda line: line.replace('"topics": ', '"topics": 9' + 30 * "0"), "topics is an integer"),
        (lambda line: line.replace('"topics": ', '"topics": -'), "topics is -"),
        (lambda line: line.replace("0.95", "1.95"), "level is 1.95"),
        (lambda line: line.replace('"margin": ', '"margin": -1'), "margin is -1"),
        (lambda line: line.replace('"margin": 0.0', '"margin": 1e999'), "margin is inf"),
        (
            lambda line: line.replace('"difference": ', '"difference": 1e308, "x": '),
            "difference is 1e",
        ),
        (lambda line: line.replace('"passes"', '"maybe"'), "look 1 is said to be 'maybe'"),
        (lambda line: line.replace('"run"', '"system"'), "run is missing"),
        (lambda line: line.replace('"level"', '"arrived": [1], "level"'), "arrived holds no diff"),
        (lambda line: line.replace('"level"', '"arrived": {"a": 7}, "level"'), "arrived holds no"),
    ],
)
def test_a_faulty_line_is_named(tmp_path, change, message):
    path = tmp_path / "history.jsonl"
    judge_look(path, compared(drawn(1)), ["m0"], RULE, look("a"), seed=1)
    path.write_text("\n" + change(path.read_text().strip()) + "\n")
    with pytest.raises(FormatError, match=rf"history.jsonl:2: {message}.*expected a line that --h"):
        confir.read_history(path)


def test_lines_that_contradict_each_other_are_named(tmp_path):
    path = tmp_path / "history.jsonl"
    for seed in (1, 2):
        judge_look(path, compared(drawn(seed)), ["m0"], RULE, look(f"c{seed}"), seed=1)
    first, second = path.read_text().splitlines(keepends=True)
    path.write_text(first + second + second)
    message = r"jsonl:3: look 2 decides on 'new' a second time \(first: line 2\); expected lines"
    with pytest.raises(FormatError, match=message):
        confir.read_history(path)
    path.write_text(second + first)
    with pytest.raises(FormatError, match=r"jsonl:2: look 1 comes after look 2; expected lines"):
        confir.read_history(path)


@pytest.mark.parametrize("content", [b"\0" * 5000, b'{"look": ', '{"a": 1}\n'.encode("utf-16")])
def test_what_is_no_history_is_refused_and_stays(tmp_path, content):
    path = tmp_path / "history.jsonl"
    path.write_bytes(content)
    for use in (
        lambda: confir.read_history(path),
        lambda: judge_look(path, compared(drawn(1)), ["m0"], RULE, look("a"), seed=1),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(FormatError):
                use()
    assert path.read_bytes() == content


def test_a_history_can_have_so_many_looks_and_no_more(tmp_path):
    path = tmp_path / "history.jsonl"
    judge_look(path, compared(drawn(1)), ["m0"], RULE, look("a"), seed=1)
    path.write_text(path.read_text().replace('"look": 1,', '"look": 1000000,'))
    before = path.read_bytes()
    with pytest.raises(InvalidValueError, match="the history has 1,000,000 looks; expected fewer"):
        judge_look(path, compared(drawn(2)), ["m0"], RULE, look("b"), seed=1)
    assert path.read_bytes() == before


def test_an_empty_or_missing_history_is_an_error(tmp_path):
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(FormatError, match="the history is empty"):
        confir.read_history(tmp_path / "empty.jsonl")
    (tmp_path / "cut.jsonl").write_text('{"look": 1, "deci')
    with (
        pytest.warns(UserWarning, match="cut short"),
        pytest.raises(FormatError, match="the only look was cut short"),
    ):
        confir.read_history(tmp_path / "cut.jsonl")
    with pytest.raises(UnreadableError, match="no such file"):
        confir.read_history(tmp_path / "nowhere.jsonl")
    path = tmp_path / "new.jsonl"
    waiting = OpenHistory(path, lambda _: [])
    waiting.append()
    waiting.close()
    assert read_looks(path) == []
    assert not path.exists()


def test_a_history_is_a_result_table_and_chart(tmp_path):
    path = tmp_path / "history.jsonl"
    odd = ("base", "constructor", "<script>")
    for seed in (1, 2):
        pair = np.stack([drawn(seed, shift=-0.3), drawn(seed + 9)], axis=1)
        judge_look(path, compared(pair, names=odd), ["m0"], RULE, look(f"c{seed}"), seed=1)
    history = confir.read_history(path)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert history.to_records() == records
    assert [record["look"] for record in history.select(run="<script>").to_records()] == [1, 2]
    page = history._repr_html_()
    assert "&lt;script&gt;" in page
    assert "<script>" not in page
    drawing = confir.chart(history).to_dict()
    assert "slice(" in json.dumps(drawing)
    confir.save_chart(history, tmp_path / "chart.svg")
    assert "constructor" in (tmp_path / "chart.svg").read_text()
