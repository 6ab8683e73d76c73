"""Compact letter displays of groups."""

import numpy as np

from confir.data.scores import Scores
from confir.pairs.compare import compare_runs
from confir.pairs.ranking import rank_runs
from confir.pairs.run_groups import group_letters
from confir.studies.comparison.table import all_pairs_table


def test_letters_go_on_after_z_and_many_are_a_range():
    assert [group_letters(*ends) for ends in ((1, 1), (1, 2), (2, 5), (26, 26))] == [
        "a",
        "ab",
        "bcde",
        "z",
    ]
    assert [
        group_letters(*ends) for ends in ((1, 5), (26, 27), (27, 27), (53, 53), (702, 703))
    ] == [
        "a–e",
        "z–aa",
        "aa",
        "ba",
        "zz–aaa",
    ]


def test_runs_share_a_letter_where_they_do_not_differ_significantly():
    rng = np.random.default_rng(8)
    means = np.array([0.3, 0.34, 0.38, 0.6])
    values = np.clip(means + rng.normal(0, 0.06, (25, 4)), 0, 1)[:, :, None]
    scores = Scores(tuple(map(str, range(25))), ("a", "b", "c", "d"), ("AP",), values)
    comparison = compare_runs(scores, replicates=499, rng=3)
    ranking = rank_runs(scores, replicates=499, rng=3)
    table = all_pairs_table(comparison, ranking)
    assert table.columns == ("run", "AP", "group", "rank")
    letters = {row[0].text: set(row[2].text) for row in table.rows}
    significant = 0
    for pair, verdict in enumerate(comparison.verdict[0, :, 0].tolist()):
        first, second = comparison.names(pair)
        differ = verdict in ("better", "worse")
        significant += differ
        if letters[first] & letters[second]:
            assert not differ
    assert 3 <= significant < 6
    for row in table.rows:
        place = scores.runs.index(row[0].text)
        low, high = ranking.simultaneous_low[place, 0], ranking.simultaneous_high[place, 0]
        assert row[3].text == f"{low} to {high}"
