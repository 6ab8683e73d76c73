"""``confir preferences``: views, records, charts, the gate, and what is refused."""

import json
import re
from html import unescape

import pytest

ROWS = ["x,y,x,j1", "y,x,x,j2", "x,y,y,j3", "y,z,left,j1", "z,y,z,j2", "x,z,tie,j3", "z,x,x,j4"]
VOTES = "left,right,winner,judge\n" + "".join(
    f"{row}{number % 3}\n" for number in range(6) for row in ROWS
)
FEW = ("--replicates", 99)


@pytest.fixture
def votes(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    return path


@pytest.fixture
def preferences(confir_command, votes):
    def run(*arguments):
        return confir_command("preferences", votes, *arguments)

    return run


def test_strengths_are_printed_strongest_first_with_best_set_and_fit(preferences):
    outcome = preferences(*FEW)
    assert outcome.code == 0
    said, fit, _, *lines = outcome.out.splitlines()
    assert said.startswith("x has the highest strength, ")
    assert said.endswith("; 2 of the 3 systems may be the best (95% confidence)")
    assert fit.startswith("One strength per system")
    assert lines[0].split()[:6] == ["system", "strength", "wins", "votes", "rank", "ranks"]
    assert [line.split()[0] for line in lines[1:4]] == ["x", "y", "z"]
    assert "42 votes between 3 systems, 6 of them ties, treated as independent" in outcome.out


@pytest.mark.parametrize("view", ["strengths", "best"])
def test_systems_that_share_the_highest_strength_are_all_named(confir_command, tmp_path, view):
    votes, page = tmp_path / "even.csv", tmp_path / "even.html"
    votes.write_text("left,right,winner\n" + "A,B,left\n" * 12 + "A,B,right\n" * 12)
    text = confir_command("preferences", votes, *FEW, "--show", view).out
    assert text.startswith("A and B have the highest strength, 0.000 [")
    assert "; each of the 2 systems may be the best" in text
    confir_command("preferences", votes, *FEW, "-o", page)
    said = re.sub("[\u2066-\u2069]", "", unescape(page.read_text()))
    assert "A and B have the highest strength, 0.000 (" in said


@pytest.fixture
def left_wins(tmp_path):
    """400 votes of which the left side wins 70 %, whoever stands there, and longer answers more."""
    path = tmp_path / "left.csv"
    pairs = [(a, b) for a in "xyz" for b in "xyz" if a != b]
    rows = [
        f"{a},{b},{'left' if n % 10 < 7 else 'right'},{100 + n % 7},{100 + n % 5}"
        for n in range(400)
        for a, b in [pairs[n % 6]]
    ]
    path.write_text("model_a,model_b,winner,length_a,length_b\n" + "\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize("view", ["strengths", "best", "pairs", "ranks", "effects"])
def test_a_side_that_wins_is_said_in_the_first_lines(confir_command, left_wins, view):
    given = ("preferences", left_wins, "--show", view, *FEW)
    first = confir_command(*given).out.splitlines()[:2]
    assert any(
        "The left side wins 70.3% of the votes between equal systems" in one for one in first
    )
    assert any(one.endswith("add --position adjust") for one in first)
    adjusted = confir_command(*given, "--position", "adjust").out.splitlines()[:2]
    assert any(one.endswith("strengths are adjusted for it") for one in adjusted)


def test_a_gate_says_that_a_side_wins(confir_command, left_wins):
    given = ("preferences", left_wins, "--baseline", "x", "--fail-if-worse", *FEW)
    assert confir_command(*given).out.startswith("The left side wins 70.3% of the votes")


def test_effects_are_records_and_part_of_the_page(confir_command, left_wins, tmp_path):
    given = ("preferences", left_wins, "--position", "adjust", "--covariate", "length", *FEW)
    records = json.loads(confir_command(*given, "--show", "effects", "--format", "json").out)
    assert [(one["effect"], one["adjusted"]) for one in records] == [
        ("position", True),
        ("length", True),
    ]
    systems = json.loads(confir_command(*given, "--format", "json").out)
    assert {one["position"] for one in systems} == {records[0]["estimate"]}
    assert {one["position_p"] for one in systems} == {records[0]["p"]}
    page = tmp_path / "votes.html"
    assert confir_command(*given, "-o", page).code == 0
    text = re.sub("[\u2066-\u2069]", "", unescape(page.read_text()))
    assert "Does the side of an answer matter?" in text
    assert "adjusted for position, length" in text
    assert "Strengths are adjusted for length (effect" in text


def test_votes_without_sides_show_no_effects(confir_command, tmp_path):
    votes = tmp_path / "votes.csv"
    votes.write_text("left,right,winner\n" + "base,new,left\nbase,new,right\n" * 6)
    refused = confir_command("preferences", votes, *FEW, "--show", "effects")
    assert refused.code == 2
    assert "the side follows from the systems: 'base', 'new' always on one side" in refused.err
    assert "position" not in confir_command("preferences", votes, *FEW).out
    (first, *_) = json.loads(confir_command("preferences", votes, *FEW, "--format", "json").out)
    assert first["position"] is None
    text = tmp_path / "page.html"
    assert confir_command("preferences", votes, *FEW, "-o", text).code == 0
    assert "side of an answer" not in text.read_text()


def test_records_have_strengths_that_sum_to_0(preferences):
    records = json.loads(preferences(*FEW, "--format", "json").out)
    assert sum(record["strength"] for record in records) == pytest.approx(0)
    assert [record["votes"] for record in records] == [30, 30, 24]
    assert {record["cluster"] for record in records} == {"vote"}
    clustered = json.loads(preferences(*FEW, "--cluster", "judge", "--format", "json").out)
    assert {(record["units"], record["cluster"]) for record in clustered} == {(12, "judge")}


@pytest.mark.parametrize("view", ["pairs", "ranks", "best", "groups", "plan"])
@pytest.mark.parametrize("ending", ["csv", "tex", "md", "html"])
def test_every_view_is_written_in_every_format(preferences, tmp_path, view, ending):
    few = () if view == "plan" else FEW
    target = tmp_path / f"out.{ending}"
    outcome = preferences("--show", view, *few, "-o", target)
    assert outcome.code == 0, outcome.err
    assert target.stat().st_size > 50


@pytest.mark.parametrize("view", ["strengths", "pairs"])
def test_strengths_and_pairs_have_a_chart(preferences, tmp_path, view):
    outcome = preferences("--show", view, *FEW, "-o", tmp_path / "chart.svg")
    assert outcome.code == 0
    assert "<svg" in (tmp_path / "chart.svg").read_text()


def test_a_page_has_the_answer_of_the_terminal_and_all_parts(preferences, tmp_path):
    page = tmp_path / "votes.html"
    assert preferences(*FEW, "-o", page).code == 0
    text = re.sub("[\u2066-\u2069]", "", unescape(page.read_text()))  # isolates around names
    records = json.loads(preferences(*FEW, "--format", "json").out)
    best = max(records, key=lambda record: record["strength"])
    members = sum(record["may_be_best"] for record in records)
    assert f"{best['run']} has the highest strength, {best['strength']:.3f}" in text
    assert members == 2
    assert "; 2 of the 3 systems may be the best." in text
    assert preferences(*FEW).out.splitlines()[1] in text
    assert text.count("<svg") == 1
    for anchor in ("pairs", "ranks", "best", "fit", "plan", "methods"):
        assert f'<details class="part" id="{anchor}">' in text
    assert "confir preferences" in text
    assert "--seed 2006" in text
    assert "://" not in text.replace("http://www.w3.org/", "")


def test_a_page_with_a_baseline_has_its_family_alone_and_the_gate(confir_command, tmp_path):
    votes, page = tmp_path / "votes.csv", tmp_path / "votes.html"
    votes.write_text("left,right,winner\n" + "old,new,left\n" * 40 + "new,old,left\n" * 5)
    given = ("preferences", votes, "--baseline", "old", "--fail-if-worse", *FEW)
    outcome = confir_command(*given, "-o", page)
    assert outcome.code == 1
    assert "gate closed: by strength against old" in outcome.err
    text = page.read_text()
    assert "Gate closed: by strength against old, new: difference -2.07" in text
    assert "may be best" not in text
    assert 'id="ranks"' not in text


def test_systems_whose_votes_are_all_ties_are_the_same_by_all_votes(confir_command, tmp_path):
    votes = tmp_path / "votes.csv"
    votes.write_text("left,right,winner\n" + "A,B,tie\n" * 12)
    outcome = confir_command("preferences", votes, "--baseline", "A", "--fail-if-worse", *FEW)
    assert "identical (0.000, p = 1; the same score by all 12 votes)" in outcome.out


def test_groups_are_of_strengths(preferences):
    said = preferences("--show", "groups", *FEW).out.splitlines()[-1]
    assert said.startswith("strength, and in parentheses groups: systems with a letter in common")


def test_a_view_that_is_asked_for_is_a_table_of_html(preferences, tmp_path):
    page = tmp_path / "strengths.html"
    assert preferences("--show", "strengths", *FEW, "-o", page).code == 0
    text = page.read_text()
    assert (text.count("<table>"), "<details" in text) == (1, False)


def test_dropped_ties_and_priors_change_the_strengths(preferences):
    def strengths(*options):
        records = json.loads(preferences(*FEW, *options, "--format", "json").out)
        return [record["strength"] for record in records]

    plain, dropped, prior = strengths(), strengths("--ties", "drop"), strengths("--prior", 10)
    assert max(dropped) > max(plain) > max(prior)


@pytest.mark.parametrize("baseline", ["x", "y"])
def test_a_gate_without_significant_losses_is_open(preferences, baseline):
    outcome = preferences(*FEW, "--baseline", baseline, "--fail-if-worse", "--margin", 3)
    assert (outcome.code, "gate open: by strength" in outcome.out) == (0, True)


def test_a_gate_is_closed_by_a_weaker_system(confir_command, tmp_path):
    path = tmp_path / "votes.jsonl"
    record = {"model_a": "old", "model_b": "new"}
    winners = ["model_a"] * 40 + ["model_b"] * 5
    path.write_text("\n".join(json.dumps({**record, "winner": winner}) for winner in winners))
    given = ("preferences", path, "--baseline", "old", "--fail-if-worse", *FEW)
    outcome = confir_command(*given)
    assert outcome.code == 1
    assert "gate closed: by strength against old, new: difference -2.07" in outcome.out
    saved = confir_command(*given, "-o", tmp_path / "pairs.csv")
    assert (saved.code, "gate closed: by strength" in saved.err) == (1, True)
    assert confir_command(*given, "--margin", 9).code == 0
    assert confir_command(*given, "--require", "superior").code == 1


def test_looks_of_the_gate_and_junit_are_kept_as_those_of_compare(
    confir_command, preferences, tmp_path
):
    history, junit = tmp_path / "looks.jsonl", tmp_path / "gate.xml"
    kept = ("--history", history, "--junit", junit)
    for commit in ("c1", "c2"):
        gate = (*FEW, "--baseline", "x", "--fail-if-worse", *kept, "--commit", commit)
        outcome = preferences(*gate)
        assert outcome.code == 0, outcome.err
    assert "look 2: its intervals have level 99.2%" in outcome.out
    looks = json.loads(confir_command("history", history, "--format", "json").out)
    strength = {
        one["run"]: one["strength"] for one in json.loads(preferences("--format", "json").out)
    }
    assert [(one["look"], one["run"]) for one in looks] == [(1, "y"), (1, "z"), (2, "y"), (2, "z")]
    for one in looks:
        assert (one["measure"], one["against"], one["topics"]) == ("strength", "x", 42)
        assert one["mean"] == pytest.approx(strength[one["run"]])
        assert one["difference"] == pytest.approx(strength[one["run"]] - strength["x"])
    widths = [one["look_high"] - one["look_low"] for one in looks]
    assert widths[2] > 1.1 * widths[0]
    assert 'name="strength against x" errors="0" skipped="0" tests="2"' in junit.read_text()


def test_pairs_are_shown_where_there_is_a_baseline(preferences):
    with_view = preferences(*FEW, "--show", "pairs", "--baseline", "x").out
    assert preferences(*FEW, "--baseline", "x").out == with_view


def test_two_systems_have_a_confidence_sequence(confir_command, tmp_path):
    path = tmp_path / "clicks.csv"
    rows = "".join(f"new,old,{5 + n % 3},{1 + n % 2},q{n}\n" for n in range(60))
    path.write_text(f"left,right,left_wins,right_wins,query\n{rows}")
    given = ("preferences", path, "--show", "sequence", "--baseline", "old", "--cluster", "topic")
    (record,) = json.loads(confir_command(*given, "--format", "json").out)
    assert (record["units"], record["cluster"]) == (60, "topic")
    assert 0.5 < record["low"] < record["share"] < record["high"]
    assert "new is preferred to old" in confir_command(*given).out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--fail-if-worse"], "--fail-if-worse needs --baseline"),
        (["--margin", "0.1"], "--margin needs --fail-if-worse"),
        (["--history", "looks.jsonl"], "--history needs --fail-if-worse: it belongs to a gate"),
        (
            ["--baseline", "x", "--fail-if-worse", "--history", "looks.jsonl", "--looks", "topics"],
            "--looks topics is for scores; of votes that arrive, --show sequence gives limits",
        ),
        (["--half-width", "0.1"], "--half-width has no effect on --show strengths"),
        (["--show", "plan", "--seed", "3"], "--seed has no effect on --show plan"),
        (["--show", "groups", "--baseline", "x"], "--baseline has no effect on --show groups"),
        (
            ["--show", "best", "--baseline", "x", "--fail-if-worse"],
            "--baseline has no effect on --show best",
        ),
        (
            ["--show", "sequence"],
            "there are 3 systems; limits for every look are of votes between 2",
        ),
        (["--show", "all"], "unknown value of --show 'all'"),
        (["--cluster", "topic"], "votes name no topic"),
        (["--covariate", "length"], "no column, and no pair of columns, for the covariate"),
        (["--position", "left"], "'left'"),
        (
            ["--show", "sequence", "--position", "adjust"],
            "--position has no effect on --show sequence",
        ),
        (["--baseline", "w"], "unknown system 'w'"),
        (["--prior", "-1"], "prior is -1.0; expected a number above 0"),
        (["--level", "2"], "2"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(preferences, arguments, problem):
    outcome = preferences(*arguments)
    assert outcome.code == 2
    assert problem in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_command_without_votes_gives_an_example(confir_command):
    outcome = confir_command("preferences")
    assert outcome.code == 2
    assert "for example: confir preferences votes.csv" in outcome.err


def test_plan_takes_votes_too(confir_command, votes, preferences):
    one = confir_command("plan", "--votes", votes, "--half-width", 0.1, "--format", "json").out
    assert one == preferences("--show", "plan", "--half-width", 0.1, "--format", "json").out
    refused = confir_command("plan", "--votes", votes, "-m", "AP")
    assert (refused.code, "--measure cannot be combined with --votes" in refused.err) == (2, True)


def test_names_are_escaped(confir_command, tmp_path):
    path = tmp_path / "votes.csv"
    rows = "<script>a_1,\x1b[31mconstructor,left\n\x1b[31mconstructor,<script>a_1,left\n" * 6
    path.write_text(f"left,right,winner\n{rows}")
    page, latex = tmp_path / "t.html", tmp_path / "t.tex"
    for target in (page, latex):
        assert confir_command("preferences", path, *FEW, "-o", target).code == 0
    assert "&lt;script&gt;a_1" in page.read_text()
    assert "<script" not in page.read_text()
    assert "\x1b" not in page.read_text()
    assert "a\\_1" in latex.read_text()
    assert "\x1b" not in confir_command("preferences", path, *FEW).out


def test_a_leaderboard_by_wins_takes_any_scale(confir_command, tmp_path):
    path = tmp_path / "means.csv"
    rows = [(0.1, 0.2, 0.3), (20, 10, 40), (3, 2, 5), (0.5, 0.4, 0.3), (30, 35, 20)] * 2
    lines = [f"d{n},{','.join(map(str, row))}" for n, row in enumerate(rows)]
    path.write_text("\n".join(["dataset,a,b,c", *lines]) + "\n")
    outcome = confir_command("leaderboard", "--means", path, "--by-wins", *FEW, "--format", "json")
    records = json.loads(outcome.out)
    assert [record["votes"] for record in records] == [20, 20, 20]
    assert {(record["units"], record["cluster"]) for record in records} == {(10, "dataset")}
    assert [record["wins"] for record in records] == [10, 8, 12]
    refused = confir_command("leaderboard", "--means", path, "--prior", 1)
    assert (refused.code, "--prior is for --by-wins" in refused.err) == (2, True)
