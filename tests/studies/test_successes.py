"""pass@k, pass^k and the worst of k, against all sets of k repeats."""

import itertools

import numpy as np
import pytest

import confir
from confir.errors import InvalidValueError


def made(values, measures=("AP",)):
    """Scores of topics × systems × repeats."""
    topics, systems, repeats = values.shape
    runs = tuple(f"s{s}@{r}" for s in range(systems) for r in range(repeats))
    names = tuple(f"t{t:02}" for t in range(topics))
    flat = np.repeat(values.reshape(topics, -1, 1), len(measures), axis=2)
    return confir.Scores(names, runs, measures, flat)


@pytest.mark.parametrize("threshold", [1.0, 0.5])
def test_scores_are_means_over_all_sets_of_k_repeats(threshold):
    rng = np.random.default_rng(1)
    values = rng.choice([0.0, 0.4, 0.5, 1.0], (6, 2, 5))
    found = confir.score_successes(made(values), threshold=threshold)
    for t, s, k in itertools.product(range(6), range(2), range(1, 6)):
        sets = list(itertools.combinations(values[t, s].tolist(), k))
        expected = {
            f"pass@{k}": np.mean([max(one) >= threshold for one in sets]),
            f"pass^{k}": np.mean([min(one) >= threshold for one in sets]),
            f"worst of {k}": np.mean([min(one) for one in sets]),
        }
        for name, value in expected.items():
            place = found.measures.index(name)
            assert found.values[t, s, place] == pytest.approx(value, abs=1e-12)


def test_one_try_is_the_share_of_successes_and_its_interval_that_of_any_scores():
    values = np.random.default_rng(2).integers(0, 2, (30, 2, 4)).astype(float)
    found = confir.score_successes(made(values))
    np.testing.assert_allclose(
        found.select(measure="pass@1").mean()[:, 0], values.mean(axis=(0, 2))
    )
    interval = confir.confidence_interval(found)
    assert interval.methods[0] == "calibrated-beta"
    assert (interval.low <= interval.estimate).all()


def test_k_goes_up_to_the_fewest_repeats():
    values = np.random.default_rng(3).random((8, 2, 3))
    scores = made(values).select(run=["s0@0", "s0@1", "s0@2", "s1@0", "s1@1"])
    assert [name for name in confir.score_successes(scores).measures if "pass@" in name] == [
        "pass@1",
        "pass@2",
    ]


def test_several_measures_need_a_choice():
    values = np.random.default_rng(4).random((8, 2, 3))
    scores = made(values, ("AP", "P@10"))
    with pytest.raises(InvalidValueError, match="there are 2 measures"):
        confir.score_successes(scores)
    assert confir.score_successes(scores, measure="P@10", threshold=0.5).runs == ("s0", "s1")


def test_the_command_prints_successes_with_intervals(tmp_path, capsys, monkeypatch):
    from confir.cli import start

    values = np.random.default_rng(5).integers(0, 2, (20, 2, 3)).astype(float)
    confir.write_scores(made(values), tmp_path / "scores.csv")
    given = ["confir", "evaluate", "--scores", str(tmp_path / "scores.csv"), "--repeats"]
    monkeypatch.setattr("sys.argv", [*given, "--show", "pass"])
    assert not start.run()
    printed = capsys.readouterr().out
    assert "pass^3" in printed
    assert f"{values[:, 0].mean():.4f} [" in printed
    monkeypatch.setattr("sys.argv", [*given[:-1], "--show", "pass"])
    assert start.run() == 2
    assert "--repeats" in capsys.readouterr().err
