"""Coverage and family-wise error by kind of scores, where all runs have the same true mean.

    python reproductions/kinds.py [--samples 1000]

Prints, for each kind, how often the 95% interval of a mean contains the true mean, how often any pair
of a family of all pairs is significant, and the same if the kind is ignored.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import confir
from confir.data.files import write_whole
from confir.data.sampling_designs.design import Datasets
from confir.data.sampling_designs.judged_scores import JudgedScores
from confir.data.scores import Scores
from confir.errors import ConfirWarning

RUNS, REPLICATES, SEED = 6, 299, 31
Made = tuple[Any, Any]  # scores as they are, and with the kind ignored


def table(values: Any, names: tuple[str, ...] | None = None) -> Scores:
    """Return scores by a measure that may leave [0, 1], of topics × runs."""
    topics = tuple(f"t{place:04}" for place in range(len(values)))
    runs = names or tuple(f"r{place}" for place in range(values.shape[1]))
    return Scores(topics, runs, ("NumRet",), values[:, :, None])


def shared(rng: np.random.Generator, cluster: Any, columns: int, correlation: float) -> Any:
    """Return normal numbers of which those of a cluster share a part."""
    common = rng.normal(size=(cluster.max() + 1, columns))[cluster]
    own = rng.normal(size=(len(cluster), columns))
    return np.sqrt(correlation) * common + np.sqrt(1.0 - correlation) * own


def gaps(rng: np.random.Generator) -> Made:
    """Return scores of 30 topics, of which each run lacks a tenth."""
    values = 0.2 * rng.normal(size=(30, 1)) + 0.1 * rng.normal(size=(30, RUNS))
    values[rng.random(values.shape) < 0.1] = np.nan
    return table(values), None


def clusters(rng: np.random.Generator) -> Made:
    """Return scores of 100 topics in 20 clusters."""
    cluster = np.repeat(np.arange(20), 5)
    values = 0.2 * shared(rng, cluster, 1, 0.5) + 0.1 * shared(rng, cluster, RUNS, 0.5)
    plain = table(values)
    columns = {"topic": plain.topics, "cluster": [str(one) for one in cluster]}
    return plain.with_design(columns), plain


def strata(rng: np.random.Generator) -> Made:
    """Return scores of 60 topics in three strata of other means."""
    stratum = np.repeat(np.arange(3), 20)
    values = np.array([-0.3, 0.0, 0.3])[stratum][:, None] + 0.1 * rng.normal(size=(60, RUNS))
    plain = table(values)
    columns = {"topic": plain.topics, "stratum": [str(one) for one in stratum]}
    return plain.with_design(columns), plain


def repeats(number: int, spread: float) -> Callable[[np.random.Generator], Made]:
    """Return a function to scores of some repeats of each system on 25 topics."""

    def make(rng: np.random.Generator) -> Made:
        base = 0.2 * rng.normal(size=(25, 1, 1)) + 0.1 * rng.normal(size=(25, RUNS, 1))
        effect = spread * rng.normal(size=(1, RUNS, number))
        values = base + effect + 0.1 * rng.normal(size=(25, RUNS, number))
        names = tuple(f"r{r}@{k}" for r in range(RUNS) for k in range(number))
        scores = table(values.reshape(25, -1), names).with_repeats()
        return scores, Scores(scores.topics, scores.runs, scores.measures, scores.values)

    return make


def board(datasets: int, topics: int, sampling: Datasets) -> Callable[[np.random.Generator], Made]:
    """Return a function to scores of 3 repeats of each system on all datasets, which are fixed or random.

    A repeat moves a system on all datasets, and on each dataset by itself.
    """
    member = np.repeat(np.arange(datasets), topics)
    fixed = np.linspace(-0.2, 0.2, datasets)

    def make(rng: np.random.Generator) -> Made:
        level = fixed if sampling == "fixed" else 0.2 * rng.normal(size=datasets)
        values = level[member][:, None, None] + 0.1 * rng.normal(size=(len(member), 1, 1))
        if sampling == "random":
            values = values + 0.05 * rng.normal(size=(datasets, RUNS, 1))[member]
        values = values + 0.05 * rng.normal(size=(1, RUNS, 3))
        values = values + 0.03 * rng.normal(size=(datasets, RUNS, 3))[member]
        values = values + 0.1 * rng.normal(size=(len(member), RUNS, 3))
        names = tuple(f"r{r}@{k}" for r in range(RUNS) for k in range(3))
        runs = table(values.reshape(len(member), -1), names)
        columns = {"topic": runs.topics, "dataset": [f"d{one}" for one in member]}
        scores = runs.with_design(columns, datasets=sampling).with_repeats()
        plain = Scores(
            scores.topics, scores.runs, scores.measures, scores.values, design=scores.design
        )
        return scores, plain

    return make


def judged(people: int) -> Callable[[np.random.Generator], Made]:
    """Return a function to scores of 200 topics by a model, some of them with human judgements."""

    def make(rng: np.random.Generator) -> Made:
        human = 0.1 * rng.normal(size=(200, 1)) + 0.05 * rng.normal(size=(200, RUNS))
        model = 0.8 * human + 0.1 + 0.05 * rng.normal(size=human.shape)
        return _joined(human, model, rng.permutation(200)[:people]), None

    return make


def judged_clusters(rng: np.random.Generator) -> Made:
    """Return scores of 60 clusters of 5 topics, a quarter of the clusters with human judgements."""
    cluster = np.repeat(np.arange(60), 5)
    human = 0.1 * shared(rng, cluster, 1, 0.5) + 0.05 * shared(rng, cluster, RUNS, 0.5)
    model = 0.8 * human + 0.1 + 0.05 * shared(rng, cluster, RUNS, 0.5)
    drawn = np.flatnonzero(np.isin(cluster, rng.permutation(60)[:15]))
    return _joined(human, model, drawn, cluster), _joined(human, model, drawn)


def collection(rng: np.random.Generator, relevant: int) -> tuple[Any, Any]:
    """Return qrels and runs of 8 topics, easier from one to the next, with 100 new documents each."""
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, dict[str, float]]] = {f"r{place}": {} for place in range(RUNS)}
    for number in range(8):
        topic, judged = f"t{number}", np.arange(100) < relevant
        names = [f"{topic}-{one}" for one in rng.integers(1 << 60, size=100)]
        qrels[topic] = dict(zip(names, judged.astype(int).tolist(), strict=True))
        base = (0.6 + 0.2 * number) * judged + 0.7 * rng.normal(size=100)
        for lists in runs.values():
            found = base + 0.7 * rng.normal(size=100)
            lists[topic] = dict(zip(names, found.tolist(), strict=True))
    return qrels, runs


def documents(relevant: int) -> Callable[[np.random.Generator], Made]:
    """Return a function to AP on resampled collections, less its mean over 2,000 collections."""

    @cache
    def truth() -> float:
        rng = np.random.default_rng(SEED + 1)
        means = [
            confir.evaluate(*collection(rng, relevant), ["AP"]).mean().mean() for _ in range(2000)
        ]
        return float(np.mean(means))

    def make(rng: np.random.Generator) -> Made:
        seed = int(rng.integers(1 << 30))
        drawn = confir.resample_documents(
            *collection(rng, relevant), "AP", replicates=REPLICATES, rng=seed
        )
        scores = replace(drawn.scores, values=drawn.scores.values - truth())
        return replace(drawn, scores=scores, values=drawn.values - truth()), None

    return make


def judged_board(
    datasets: int, people: int, sampling: Datasets
) -> Callable[[np.random.Generator], Made]:
    """Return a function to scores of 80 topics of each dataset by a model, some of them with human judgements.

    The model judges each dataset by a scale of its own. Without the kind, all datasets are one.
    """
    member = np.repeat(np.arange(datasets), 80)
    fixed = np.linspace(-0.2, 0.2, datasets)

    def make(rng: np.random.Generator) -> Made:
        level = fixed if sampling == "fixed" else 0.2 * rng.normal(size=datasets)
        human = level[member][:, None] + 0.1 * rng.normal(size=(len(member), 1))
        human = human + 0.05 * rng.normal(size=(len(member), RUNS))
        if sampling == "random":
            human = human + 0.05 * rng.normal(size=(datasets, RUNS))[member]
        bias = np.linspace(0.0, 0.3, datasets)[member][:, None]
        model = 0.8 * human + bias + 0.05 * rng.normal(size=human.shape)
        drawn = np.concatenate([80 * d + rng.permutation(80)[:people] for d in range(datasets)])
        plain = _joined(human, model, drawn)
        columns = {"topic": plain.model.topics, "dataset": [f"d{one}" for one in member]}
        return plain.with_design(columns, datasets=sampling), plain

    return make


def judged_repeats(rng: np.random.Generator) -> Made:
    """Return scores of 3 repeats of each system on 200 topics by a model, 20 of them with human judgements."""
    base = 0.1 * rng.normal(size=(200, 1, 1)) + 0.05 * rng.normal(size=(200, RUNS, 1))
    human = base + 0.03 * rng.normal(size=(1, RUNS, 3)) + 0.05 * rng.normal(size=(200, RUNS, 3))
    model = 0.8 * human + 0.1 + 0.05 * rng.normal(size=human.shape)
    drawn = rng.permutation(200)[:20]
    names = tuple(f"r{r}@{k}" for r in range(RUNS) for k in range(3))
    runs = _joined(human.reshape(200, -1), model.reshape(200, -1), drawn, names=names)
    return runs.with_repeats(), _joined(human.mean(axis=2), model.mean(axis=2), drawn)


def _joined(
    human: Any,
    model: Any,
    drawn: Any,
    cluster: Any = None,
    names: tuple[str, ...] | None = None,
) -> JudgedScores:
    by_model = table(model, names)
    if cluster is not None:
        columns = {"topic": by_model.topics, "cluster": [str(one) for one in cluster]}
        by_model = by_model.with_design(columns)
    drawn = np.sort(drawn)
    topics = tuple(by_model.topics[place] for place in drawn)
    values = human[drawn][:, :, None]
    return JudgedScores(topics, by_model.runs, by_model.measures, values, model=by_model)


CASES: dict[str, Callable[[np.random.Generator], Made]] = {
    "30 topics, a tenth of the scores missing": gaps,
    "100 topics in 20 clusters, correlation .5": clusters,
    "60 topics in 3 strata": strata,
    "3 repeats on 25 topics, sd of a repeat .05": repeats(3, 0.05),
    "3 repeats, sd .15": repeats(3, 0.15),
    "2 repeats, sd .05": repeats(2, 0.05),
    "leaderboard, 3 repeats on 5 datasets of 12 topics": board(5, 12, "fixed"),
    "leaderboard, 3 repeats on 10 similar datasets": board(10, 12, "random"),
    "20 of 200 topics with human judgements": judged(20),
    "10 of 200 topics with human judgements": judged(10),
    "15 of 60 clusters of 5 topics with human judgements": judged_clusters,
    "documents resampled, 30 relevant for each of 8 topics": documents(30),
    "documents resampled, 12 relevant": documents(12),
    "documents resampled, 4 relevant": documents(4),
    "leaderboard, 10 of 80 topics of 5 datasets with human judgements": judged_board(
        5, 10, "fixed"
    ),
    "leaderboard, 10 of 80 topics of 10 similar datasets with human judgements": judged_board(
        10, 10, "random"
    ),
    "3 repeats, 20 of 200 topics with human judgements": judged_repeats,
}


def rates(scores: Any) -> tuple[float, bool]:
    """Return the share of intervals that hold 0, and whether any pair is called significant."""
    if scores.datasets:
        found = confir.make_leaderboard(scores, replicates=REPLICATES, rng=1)
        held = float(np.mean((found.macro_low <= 0) & (found.macro_high >= 0)))
        return held, bool(found.significant)
    interval = confir.confidence_interval(scores)
    held = float(np.mean((interval.low <= 0) & (interval.high >= 0)))
    compared = confir.compare_runs(scores, replicates=REPLICATES, rng=1)
    return held, bool((compared.p_adjusted <= 0.05).any())


def main() -> None:
    """Print a row per kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--case", default="", help="only kinds whose name begins so")
    parser.add_argument("--output", type=Path, help="folder for the page")
    parser.add_argument("--data", type=Path, help="not used: everything is simulated")
    given = parser.parse_args()
    samples = given.samples
    warnings.simplefilter("ignore", ConfirWarning)
    lines = [
        "# Kinds of scores: coverage of intervals and error rates of families\n",
        f"Six runs with the same true mean, {samples} samples of each kind, 95% intervals, α = .05; the last",
        "column has both rates where the kind is ignored (`reproductions/kinds.py`).\n",
        "| kind | coverage of a mean | family-wise error | if the kind is ignored |",
        "|---|---|---|---|",
    ]
    for name, make in CASES.items():
        if not name.startswith(given.case):
            continue
        rng = np.random.default_rng(SEED)
        found = [[rates(one) for one in make(rng) if one is not None] for _ in range(samples)]
        shown = [f"{number:.3f}".lstrip("0") for number in np.mean(found, axis=0).reshape(-1)]
        lines.append(f"| {name} | {shown[0]} | {shown[1]} | {', '.join(shown[2:]) or '–'} |")

    text = "\n".join(lines) + "\n"
    print(text)
    if given.output is not None:
        write_whole(given.output / "kinds.md", text.encode())


if __name__ == "__main__":
    main()
