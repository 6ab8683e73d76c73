"""Work that is refused before it starts, because nobody would wait for its end."""

import itertools

import pytest

from confir.errors import InvalidValueError
from confir.measures import strengths
from confir.measures.strengths import fit_strengths
from confir.pairs import differences

RUNS = "abcdefgh"
ALL_PAIRS = {
    "compare": ("compare", "--scores", "scores.csv"),
    "ranks": ("compare", "--scores", "scores.csv", "--show", "ranks"),
    "best": ("compare", "--scores", "scores.csv", "--show", "best"),
    "pairs": ("compare", "--scores", "scores.csv", "--show", "pairs"),
    "groups": ("compare", "--scores", "scores.csv", "--design", "topics.csv", "--by", "kind"),
    "report": ("report", "--scores", "scores.csv", "-o", "page.html"),
    "tradeoff": ("tradeoff", "--scores", "scores.csv", "--cost", "costs.csv"),
    "leaderboard": ("leaderboard", "datasets.csv"),
    "preferences": ("preferences", "votes.csv"),
    "votes": ("preferences", "votes.csv", "--show", "plan"),
}
BASELINE = {
    "compare": ("compare", "--scores", "scores.csv", "--baseline", "a"),
    "plan": ("plan", "--scores", "scores.csv"),
    "report": ("report", "--scores", "scores.csv", "--baseline", "a", "-o", "page.html"),
}


@pytest.fixture
def eight_runs(tmp_path, monkeypatch):
    """Files with eight runs, whose 28 pairs are one too many."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(differences, "MOST_DIFFERENCES", 27)
    head = ",".join(RUNS)
    rows = [",".join(f"0.{(3 * t + 5 * r) % 9}" for r in range(8)) for t in range(6)]
    scores = "".join(f"{topic},{row}\n" for topic, row in enumerate(rows, start=1))
    (tmp_path / "scores.csv").write_text(f"topic,{head}\n{scores}")
    by_dataset = "".join(f"{name},{line}\n" for name in "xyz" for line in scores.splitlines())
    (tmp_path / "datasets.csv").write_text(f"dataset,topic,{head}\n{by_dataset}")
    (tmp_path / "topics.csv").write_text(
        "topic,kind\n" + "".join(f"{t},{'uv'[t % 2]}\n" for t in range(1, 7))
    )
    (tmp_path / "costs.csv").write_text(
        "run,cost\n" + "".join(f"{r},{i}\n" for i, r in enumerate(RUNS))
    )
    votes = "".join(
        f"{left},{right},{winner}\n"
        for left, right in itertools.combinations(RUNS, 2)
        for winner in (left, right)
    )
    (tmp_path / "votes.csv").write_text(f"model_a,model_b,winner\n{votes}")


@pytest.mark.usefixtures("eight_runs")
@pytest.mark.parametrize("case", ALL_PAIRS)
def test_too_many_pairs_are_refused_before_anything_is_resampled(confir_command, monkeypatch, case):
    def work(*_, **__):
        raise AssertionError("resampled")

    monkeypatch.setattr("confir.pairs.run_pairs.studentised_maxima", work)
    monkeypatch.setattr("confir.pairs.families.largest_statistics", work)
    monkeypatch.setattr("confir.studies.tradeoff.frontier.largest_statistics", work)
    monkeypatch.setattr("confir.measures.strengths.maximise_likelihood", work)
    outcome = confir_command(*ALL_PAIRS[case])
    assert outcome.code == 2
    assert "8 runs make 28 pairs, by 1 measure" in outcome.err
    assert "more than 27 differences: " in outcome.err
    assert ("name a baseline" in outcome.err) == (
        case in ("compare", "ranks", "best", "pairs", "groups", "report")
    )


@pytest.mark.usefixtures("eight_runs")
@pytest.mark.parametrize("case", BASELINE)
def test_what_needs_fewer_pairs_is_answered(confir_command, case):
    outcome = confir_command(*BASELINE[case])
    assert outcome.code == 0, outcome.err


@pytest.mark.parametrize("cluster", [None, "judge"])
def test_votes_whose_influence_does_not_fit_into_memory_are_refused(monkeypatch, cluster):
    votes = {"left": "aab" * 4, "right": "bcc" * 4}
    votes = {name: list(column) for name, column in votes.items()}
    votes["winner"] = [votes[side][i] for i, side in enumerate(["left", "right"] * 6)]
    votes["judge"] = [f"j{i}" for i in range(12)]
    fit_strengths(votes, cluster=cluster)
    monkeypatch.setattr(strengths, "_MOST_NUMBERS", 17)
    with pytest.raises(InvalidValueError, match=r"\d+ (pairs and outcomes|judges) by 3 systems"):
        fit_strengths(votes, cluster=cluster)
