"""Quality against cost: the rule pair by pair, known frontiers by simulation, and bad input."""

import numpy as np
import pytest

import confir
from confir.data.scores import Scores
from confir.data.tables.cost_files import read_costs
from confir.errors import (
    FormatError,
    InvalidValueError,
    UnknownNameError,
    UnsupportedMethodError,
)
from confir.pairs.simultaneous import symmetric_bound
from requirements import required

RUNS = ("a", "b", "c", "<d>")


def made(seed=1, topics=40, quality=(0.3, 0.5, 0.5, 0.4), cost=(1.0, 2.0, 5.0, 5.0), spread=0.05):
    """Scores by topic, and costs by run and topic."""
    rng = np.random.default_rng(seed)
    runs = RUNS[: len(quality)]
    base = rng.normal(0.0, 0.1, (topics, 1))
    values = np.asarray(quality) + base + rng.normal(0, spread, (topics, len(runs)))
    spent = np.asarray(cost) * rng.lognormal(-0.02, 0.2, (topics, len(runs)))
    names = tuple(f"t{place:02}" for place in range(topics))
    scores = Scores(names, runs, ("m",), values[:, :, None])
    table = {
        "run": [run for run in runs for _ in names],
        "topic": [topic for _ in runs for topic in names],
        "latency": spent.T.reshape(-1).tolist(),
    }
    return scores, table, spent


def frame(table):
    return required("pandas").DataFrame(table)


def test_a_cost_given_twice_is_named():
    with pytest.raises(InvalidValueError, match="two columns of costs are named 'cost'"):
        read_costs([read_costs({"a": 1.0})[0], read_costs({"a": 2.0})[0]])


def test_constant_costs_are_compared_as_they_are():
    scores, _, _ = made()
    found = confir.compare_costs(scores, dict(zip(RUNS, (1, 2, 2, 5), strict=True)), rng=1)
    assert found.status[0, :, 0].tolist() == ["frontier", "undecided", "undecided", "dominated"]
    assert found.dominated_by[0][3][0] in (("b", "c"), ("c", "b"))
    assert np.isnan(found.cost_low).all()


def test_an_equal_cost_is_no_dearer():
    scores, _, _ = made()
    found = confir.compare_costs(scores, dict.fromkeys(RUNS, 3.0), rng=1)
    assert found.status[0, :, 0].tolist() == ["dominated", "undecided", "undecided", "dominated"]
    same = {run: [2.0] * 40 for run in RUNS}
    table = {
        "run": [run for run in RUNS for _ in scores.topics],
        "topic": list(scores.topics) * 4,
        "tokens": [value for values in same.values() for value in values],
    }
    by_topic = confir.compare_costs(scores, frame(table), rng=1)
    assert by_topic.status.tolist() == found.status.tolist()


def test_costs_by_topic_need_a_significant_difference():
    scores, table, spent = made()
    found = confir.compare_costs(scores, frame(table), rng=1)
    assert found.status[0, :, 0].tolist() == ["frontier", "frontier", "undecided", "dominated"]
    assert found.cost[0] == pytest.approx(spent.mean(axis=0))
    assert found.dominated_by[0][3][0] == ("b",)
    (sentence,) = found.sentences()
    assert sentence == (
        "m against latency: on the frontier: a, b; dominated by a better run that costs no more: <d>; "
        "undecided on these topics: c"
    )


def plain_directions(scores, costs, level, replicates, seed):
    """The rule pair by pair: one family of all pairs in both quantities, by plain loops."""
    from scipy import stats

    both = [scores, costs]
    n, runs = scores.shape
    pairs = [(i, j) for i in range(runs) for j in range(i)]
    m = 2 * len(pairs)
    u = 1 - m ** (-1 / n)
    apart = [[x[:, i] - x[:, j] for i, j in pairs] for x in both]
    median = [np.median([d.var(ddof=1) for d in part]) for part in apart]
    rng = np.random.default_rng(seed)
    largest = []
    for _ in range(replicates):
        drawn = rng.integers(n, size=n)
        t = [
            abs(d[drawn].mean() - d.mean())
            / np.sqrt((d[drawn].var() + u * added * (n - 1) / n) / n)
            for part, added in zip(apart, median, strict=True)
            for d in part
        ]
        largest.append(max(t))
    place = int(np.ceil((replicates + 1) * level))
    c = np.clip(
        np.sort(largest)[place - 1] * 1.0,
        stats.t.isf((1 - level) / 2, n - 1),
        stats.t.isf((1 - level) / (2 * m), n - 1),
    )
    found = []
    for part, added in zip(apart, median, strict=True):
        signs = np.zeros((runs, runs), int)
        for (i, j), d in zip(pairs, part, strict=True):
            se = np.sqrt((d.var(ddof=1) + u * added) / n)
            total = d.sum() / np.sqrt((d**2).sum())
            certain = symmetric_bound(total, m, 2) <= 1 - level
            significant = abs(d.mean()) > c * se or certain
            signs[i, j] = np.sign(d.mean()) * significant
            signs[j, i] = -signs[i, j]
        found.append(signs)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_statuses_are_those_of_plain_loops(seed):
    rng = np.random.default_rng(seed)
    quality, cost = rng.uniform(0.3, 0.5, 4), rng.uniform(1.0, 2.0, 4)
    scores, table, spent = made(seed + 10, 20, quality, cost, 0.15)
    found = confir.compare_costs(scores, frame(table), replicates=1999, rng=1)
    better, dearer = plain_directions(scores.values[:, :, 0], spent, 0.95, 1999, 5)
    for run in range(4):
        others = [other for other in range(4) if other != run]
        by = [other for other in others if better[other, run] > 0 and dearer[other, run] < 0]
        safe = all(better[run, other] > 0 or dearer[run, other] < 0 for other in others)
        expected = "dominated" if by else "frontier" if safe else "undecided"
        assert found.status[0, run, 0] == expected
        assert set(found.dominated_by[0][run][0]) == {RUNS[other] for other in by}


def test_efficient_runs_are_those_that_no_run_reaches():
    scores, _, _ = made()
    costs = {"a": 1.0, "b": 2.0, "c": 2.0, "<d>": 5.0}
    found = confir.compare_costs(scores, costs, replicates=99, rng=1)
    mean = scores.values[:, :, 0].mean(axis=0)
    spent = np.array(list(costs.values()))
    for run in range(4):
        reached = (mean >= mean[run]) & (spent <= spent[run])
        beaten = reached & ((mean > mean[run]) | (spent < spent[run]))
        assert found.efficient[0, run, 0] == (not beaten.any())
    assert found.share_frontier[0, 0, 0] == 1.0
    assert found.share_frontier[0, 1, 0] + found.share_frontier[0, 2, 0] == pytest.approx(1.0)


def test_several_costs_and_measures_are_looked_at_one_after_the_other(tmp_path):
    scores, table, _ = made()
    two = Scores(scores.topics, scores.runs, ("m", "n"), np.repeat(scores.values, 2, axis=2))
    path = tmp_path / "price.csv"
    path.write_text("run,price,tokens\na,1,7\nb,2,8\nc,3,7\n<d>,4,9\n")
    found = confir.compare_costs(two, [frame(table), path], replicates=199, rng=1)
    assert found.costs == ("latency", "price", "tokens")
    assert found.status.shape == (3, 4, 2)
    alone = confir.compare_costs(scores, path, replicates=199, rng=1)
    assert found.status[1:, :, :1].tolist() == alone.status.tolist()
    assert len(found.to_records()) == 24


def test_the_order_of_topics_does_not_matter():
    scores, table, _ = made()
    turned = Scores(scores.topics[::-1], scores.runs, ("m",), scores.values[::-1])
    first, second = (
        confir.compare_costs(each, frame(table), replicates=199, rng=1) for each in (scores, turned)
    )
    assert first.to_records() == second.to_records()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("b,", r"costs\.csv:3: the latency of run 'b' is missing"),
        ("b,-1", r"costs\.csv:3: the latency of run 'b' is -1; expected a number of 0 or more"),
        ("b,nan", r"costs\.csv:3"),
        ("b,fast", r"costs\.csv:3"),
        ("a,2", r"costs\.csv:3: a second latency of run 'a'"),
    ],
)
def test_wrong_costs_are_refused_with_their_line(tmp_path, row, message):
    path = tmp_path / "costs.csv"
    path.write_text(f"run,latency\na,1\n{row}\n")
    scores = made(quality=(0.3, 0.5), cost=(1, 2))[0]
    with pytest.raises(FormatError, match=message):
        confir.compare_costs(scores, path)


def test_unknown_runs_missing_runs_and_missing_topics_are_refused(tmp_path):
    scores, table, _ = made(quality=(0.3, 0.5), cost=(1, 2))
    with pytest.raises(
        UnknownNameError, match="unknown run with cost in costs 'bb'; did you mean b"
    ):
        confir.compare_costs(scores, {"a": 1, "bb": 2})
    with pytest.raises(InvalidValueError, match="no cost of b; expected the cost of every run"):
        confir.compare_costs(scores, {"a": 1})
    short = {name: column[:-1] for name, column in table.items()}
    with pytest.raises(InvalidValueError, match="no latency of run 'b' on t39"):
        confir.compare_costs(scores, frame(short))
    path = tmp_path / "costs.csv"
    path.write_text("run\na\nb\n")
    with pytest.raises(FormatError, match="no column of costs"):
        confir.compare_costs(scores, path)
    with pytest.raises(InvalidValueError, match="the cost of 'b' is -1"):
        confir.compare_costs(scores, {"a": 1, "b": -1})


def test_one_run_and_a_summary_are_refused():
    scores, _, _ = made()
    with pytest.raises(InvalidValueError, match="there is one run"):
        confir.compare_costs(scores.select(run="a"), {"a": 1})
    with pytest.raises(UnsupportedMethodError, match="which summaries of scores lack"):
        confir.compare_costs(confir.summarise_scores(scores), {"a": 1})


@pytest.mark.slow
@pytest.mark.parametrize("topics", [25, 50])
def test_wrong_verdicts_are_as_rare_as_stated_by_simulation(topics):
    """Run a is cheapest; b and c tie in quality, c is dearer; d is dominated by b alone."""
    quality, cost = np.array([0.3, 0.42, 0.42, 0.38, 0.3]), np.array([1.0, 2.0, 2.5, 3.0, 1.0])
    below = np.array([False, False, False, True, False])  # truly better and cheaper: b than d
    on = np.array([False, True, False, False, False])
    samples, wrong = 300, np.zeros(2)
    rng = np.random.default_rng(topics)
    names = tuple(f"t{place:02}" for place in range(topics))
    for _ in range(samples):
        base = rng.normal(0.0, 0.1, (topics, 1))
        values = quality + base + rng.normal(0, 0.08, (topics, 5))
        spent = cost * rng.lognormal(-0.045, 0.3, (topics, 5))
        scores = Scores(names, tuple("abcde"), ("m",), values[:, :, None])
        table = {
            "run": [run for run in "abcde" for _ in names],
            "topic": list(names) * 5,
            "latency": spent.T.reshape(-1).tolist(),
        }
        found = confir.compare_costs(scores, frame(table), replicates=199, rng=1)
        status = found.status[0, :, 0]
        wrong += ((status == "dominated") & ~below).any(), ((status == "frontier") & ~on).any()
    error = 3 * np.sqrt(0.05 * 0.95 / samples)
    assert (wrong / samples <= 0.05 + error).all(), wrong / samples


def panels_of(found):
    """Return the panels of the chart: the scale of the costs, and records with their labels."""
    required("altair")
    spec = confir.chart(found).to_dict()
    for panel in spec["concat"]:
        x = next(layer["encoding"]["x"] for layer in panel["layer"] if "x" in layer["encoding"])
        data = panel.get("data") or spec.get("data") or panel["layer"][0]["data"]
        yield x["scale"], data.get("values") or spec["datasets"][data["name"]]


def test_chart_has_a_logarithmic_axis_where_costs_differ_by_orders_of_magnitude():
    scores, _, _ = made()
    costs = {
        "run": RUNS,
        "price": (1, 2, 5, 5),
        "latency": (1, 20, 300, 4000),
        "free": (0, 1, 2, 90),
    }
    found = confir.compare_costs(scores, frame(costs), replicates=99, rng=1)
    scales = [scale for scale, _ in panels_of(found)]
    assert [scale.get("type") for scale in scales] == [None, "log", None]
    low, high = scales[1]["domain"]
    assert 0 < low < 1
    assert 4000 < high < 10_000


def test_names_of_runs_in_the_chart_do_not_share_a_place():
    scores, _, _ = made(quality=(0.5, 0.5, 0.5, 0.5), spread=1e-3)
    found = confir.compare_costs(scores, dict.fromkeys(RUNS, 2.0), replicates=99, rng=1)
    ((_, records),) = panels_of(found)
    places = [(one["label_x"], one["label_y"]) for one in records if one["align"]]
    assert len(places) > 1
    assert len(set(places)) == len(places)
