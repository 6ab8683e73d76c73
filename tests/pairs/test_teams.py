"""Teams by their best runs, against a plain loop; files of teams, and the command for organisers."""

import json
from dataclasses import replace

import numpy as np
import pytest

from confir.data.scores import Scores
from confir.data.tables.team_files import read_teams
from confir.errors import FormatError, TopicMismatchError
from confir.pairs.best_runs import find_best, rank_teams
from confir.studies.best.table import team_sentence, teams_table

RUNS = ("a1", "a2", "b1", "c1", "c2", "c3")
TEAMS = {run: run[0].upper() for run in RUNS}


@pytest.fixture(scope="module")
def best():
    rng = np.random.default_rng(3)
    level = np.array([0.30, 0.62, 0.60, 0.35, 0.50, 0.40])
    values = np.clip(level[None, :, None] + rng.normal(0, 0.1, (40, 6, 2)), 0, 1)
    scores = Scores(tuple(f"{t:02}" for t in range(40)), RUNS, ("AP", "RR"), values)
    return find_best(scores, replicates=199, rng=1)


def test_teams_are_those_of_a_plain_loop(best):
    board = rank_teams(best, TEAMS)
    assert board.teams == ("A", "B", "C")
    for m in range(2):
        means = {}
        for t, team in enumerate(board.teams):
            own = [r for r, run in enumerate(RUNS) if TEAMS[run] == team]
            top = max(own, key=lambda r: best.mean[r, m])
            means[team] = best.mean[top, m]
            assert board.best_runs[t][m] == RUNS[top]
            assert board.mean[t, m] == best.mean[top, m]
            assert (board.low[t, m], board.high[t, m]) == (best.low[top, m], best.high[top, m])
            assert board.candidates[t, m] == sum(best.in_set[r, m] for r in own)
            assert board.may_be_best[t, m] == any(best.in_set[r, m] for r in own)
        ordered = sorted(means, key=means.get, reverse=True)
        assert [board.teams[place] for place in board.order(m)] == ordered
        assert [board.rank[place, m] for place in board.order(m)] == [1, 2, 3]
    assert board.runs.tolist() == [2, 1, 3]
    records = board.to_records()
    assert [record["measure"] for record in records] == ["AP"] * 3 + ["RR"] * 3
    assert [record["rank"] for record in records] == [1, 2, 3] * 2


def test_the_sentence_names_team_run_and_how_many_may_be_best(best):
    board = rank_teams(best, TEAMS)
    members = int(board.may_be_best[:, 0].sum())
    said = team_sentence(board, 0)
    assert said.startswith("Among 6 runs of 3 teams, A has the highest AP (a2, 0.6")
    assert f"runs of {members} teams may be the best (95% confidence)" in said
    table = teams_table(board)
    assert table.columns[:5] == ("measure", "rank", "team", "best run", "mean")
    assert len(table.rows) == 6
    alone = rank_teams(find_best(_apart(), replicates=99, rng=1), TEAMS)
    assert "; runs of A alone may be the best" in team_sentence(alone, 0)


def _apart():
    rng = np.random.default_rng(1)
    values = np.clip(np.array([0.1, 0.9, 0.2, 0.1, 0.2, 0.1]) + rng.normal(0, 0.02, (30, 6)), 0, 1)
    return Scores(tuple(f"{t:02}" for t in range(30)), RUNS, ("AP",), values[:, :, None])


def test_every_run_has_a_team(best):
    with pytest.raises(TopicMismatchError, match="no team is given for c3; expected one for each"):
        rank_teams(best, {run: team for run, team in TEAMS.items() if run != "c3"})


@pytest.mark.parametrize(
    "text",
    [
        "# of 2026\na1 A\n\nb1\tB\n",
        "run,team\na1,A\nb1,B\n",
        "team\tyear\trun\nA\t1\ta1\nB\t2\tb1\n",
        'tag,team,"note"\na1,A,x\nb1,B,y\nb1,B,again\n',
    ],
)
def test_teams_are_read_from_lines_and_tables(tmp_path, text):
    path = tmp_path / "teams.txt"
    path.write_text(text)
    assert read_teams(path) == {"a1": "A", "b1": "B"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a1\n", r"teams.txt:1: 1 column; expected a run and its team"),
        ("a1 A more\n", r"teams.txt:1: 3 columns; expected a run and its team"),
        ("run,team\na1,\n", r"teams.txt:2: team '' is not an id"),
        ("a1 A\nb1 B\na1 B\n", r"teams.txt:3: run 'a1' is of team 'B', and of 'A' before"),
        ("# nothing\n", r"teams.txt: the file is empty; expected a run"),
    ],
)
def test_a_file_that_is_wrong_is_named_with_its_line(tmp_path, text, message):
    path = tmp_path / "teams.txt"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        read_teams(path)


def test_records_are_those_of_json(best):
    records = json.loads(json.dumps(rank_teams(best, TEAMS).to_records()))
    assert {type(record["may_be_best"]) for record in records} == {bool}


def test_teams_with_equal_best_means_share_a_rank(best):
    close = np.array([0.1, 0.3, 0.3 + 1e-16, 0.1, 0.3 - 5e-17, 0.2])[:, None]
    level = replace(best.select(measure="AP"), mean=close)
    assert rank_teams(level, TEAMS).rank[:, 0].tolist() == [1, 1, 1]
