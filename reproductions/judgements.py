"""Do intervals hold where judges differ? Coverage on TREC 2021 Deep Learning.

The 53 topics that people and models judged are the population. Samples of them are drawn with
replacement: for the leaderboards of two judges, and for means and differences by people's judgements
of n topics and a model's of 400 more.

    python reproductions/judgements.py --data DATA --output docs/reproductions
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from confir.resampling.judgements import JudgedSample

import confir
from confir.data.files import write_whole
from confir.intervals.catalogue import METHODS
from confir.intervals.interval import Limits
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.moments import jackknife_distribution
from confir.resampling.topics import topic_weights
from confir.studies.judgements.grade_agreement import resampled_limits
from confir.studies.judgements.leaderboards import correlate_leaderboards

SEED = 2021
LEVEL = 0.95
MODELS = ("umbrela-gpt4", "binary-gpt4o", "binary-llama3.2")
# People and UMBRELA give four grades, relevant from 2 on; the others say relevant or not.
MEASURES = {"nDCG@10": ("nDCG@10", "nDCG@10"), "AP": ("AP(rel=2)", "AP")}
MODEL_TOPICS = 400


def read_scores(folder: Path) -> dict[str, dict[str, np.ndarray]]:
    """Return the scores of all runs by each measure and judge: topics × runs."""
    found: dict[str, dict[str, np.ndarray]] = {name: {} for name in MEASURES}
    for judge in ("nist", *MODELS):
        for name, (graded, binary) in MEASURES.items():
            measure = binary if judge.startswith("binary") else graded
            scores = confir.evaluate(folder / f"qrels.{judge}.txt", folder / "runs", [measure])
            found[name][judge] = scores.values[:, :, 0]
    return found


def covered(limits: Limits, truth: np.ndarray) -> np.ndarray:
    """Return which intervals hold the truth; one that is not known does not."""
    return np.asarray((limits.low <= truth) & (truth <= limits.high))


def leaderboard_rows(scores: dict[str, np.ndarray], topics: int, samples: int) -> list[str]:
    """Return the coverage of intervals of τ_b and τ_AP by several methods, a row per coefficient."""
    rng = np.random.default_rng([SEED, topics])
    values = np.stack([scores[judge] for judge in ("nist", *MODELS)])
    pairs = [(0, place + 1) for place in range(len(MODELS))]

    def coefficients(weights: np.ndarray, held: np.ndarray) -> np.ndarray:
        return np.concatenate(correlate_leaderboards(weights @ held, pairs), axis=1)

    population = values.shape[1]
    truth = coefficients(np.full((1, population), 1.0 / population), values)[0]
    hits: dict[str, list[np.ndarray]] = {}
    for _ in range(samples):
        held = values[:, rng.integers(0, population, topics)]
        weights = topic_weights(topics, 499, rng)

        def statistic(drawn: np.ndarray, held: np.ndarray = held) -> np.ndarray:
            return coefficients(drawn, held)

        labels = (("judges", "tau"),) * len(truth)
        plain = jackknife_distribution(
            statistic, topics, weights, labels, np.zeros(len(truth), bool)
        )
        for name in ("percentile", "bca"):
            found = METHODS[name].compute(plain, LEVEL)
            hits.setdefault(name, []).append(covered(found, truth))
        _, own = resampled_limits(statistic, weights, len(truth), LEVEL)
        hits.setdefault("confir", []).append(covered(own, truth))
    shares = {name: np.mean(found, axis=0) for name, found in hits.items()}
    rows = []
    for place, name in enumerate(("τ_b", "τ_AP")):
        part = slice(place * len(MODELS), (place + 1) * len(MODELS))
        cells = [" / ".join(f"{share:.2f}" for share in shares[m][part]) for m in shares]
        rows.append(f"| {name} | {topics} | {' | '.join(cells)} |")
    return rows


def human_only(sample: JudgedSample, like: SamplingDistribution) -> SamplingDistribution:
    """Return the distribution of the means over the human topics alone."""
    n = len(sample.human)
    se = sample.human.std(axis=0, ddof=1) / np.sqrt(n)
    df = np.full(len(se), n - 1.0)
    return replace(like, estimate=sample.human.mean(axis=0), se=se, df=df)


def correction_cells(y: np.ndarray, f: np.ndarray, topics: int, samples: int, method: str) -> str:
    """Return coverage of corrected, human-only and model-only intervals, and relative width."""
    rng = np.random.default_rng([SEED, topics])
    truth = y.mean(axis=0)
    hits: list[list[np.ndarray]] = [[], [], []]
    widths: list[tuple[float, float]] = []
    labels = tuple((str(run), "score") for run in range(y.shape[1]))
    support = np.zeros(len(labels), bool)
    for _ in range(samples):
        drawn, more = rng.integers(0, len(y), topics), rng.integers(0, len(y), MODEL_TOPICS)
        sample = JudgedSample(labels, y[drawn], f[drawn], f[more], support)
        corrected = sample.distribution(None)
        alone = human_only(sample, corrected)
        model = human_only(JudgedSample(labels, f[more], f[more], f[more], support), corrected)
        limits = [METHODS[method].compute(one, LEVEL) for one in (corrected, alone, model)]
        for hit, found in zip(hits, limits, strict=True):
            hit.append(covered(found, truth))
        own, people = (np.nanmean(one.high - one.low) for one in limits[:2])
        widths.append((float(own), float(people)))
    shares = [f"{np.mean(hit):.3f}" for hit in hits]
    own, people = np.mean(widths, axis=0)
    return f"{' / '.join(shares)} | {own / people:.2f}"


def correction_rows(scores: dict[str, dict[str, np.ndarray]], samples: int) -> list[str]:
    """Return a row per measure, model and number of human topics: means, and differences."""
    rows = []
    for measure, by_judge in scores.items():
        for model in MODELS:
            y, f = by_judge["nist"], by_judge[model]
            differences = [one[:, 1:] - one[:, :-1] for one in (y, f)]
            apart = differences[0].std(axis=0) > 0
            for topics in (10, 20, 30):
                means = correction_cells(y, f, topics, samples, "logit-t")
                pairs = correction_cells(
                    *(one[:, apart] for one in differences), topics, samples, "t"
                )
                rows.append(f"| {measure} | {model} | {topics} | {means} | {pairs} |")
    return rows


def main() -> None:
    """Draw samples, print the tables, and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--samples", type=int, default=200)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    scores = read_scores(given.data / "trec-dl-2021")
    boards = [
        row
        for topics in (25, 50)
        for row in leaderboard_rows(scores["nDCG@10"], topics, given.samples)
    ]
    corrections = correction_rows(scores, given.samples)
    error = np.sqrt(0.95 * 0.05 / given.samples)
    lines = [
        "# Intervals where judges differ",
        "",
        (
            "Made by `python reproductions/judgements.py --data DATA --output docs/reproductions`, on the "
            "42 runs and 53 topics of TREC 2021 Deep Learning that NIST's assessors and three language "
            f"models judged. The 53 topics are the population; {given.samples} samples are drawn with "
            f"replacement a row. Runs share topics: the Monte-Carlo error of a share of .95 is up to "
            f"{error:.3f}."
        ),
        "",
        "## Leaderboards of two judges",
        "",
        f"Coverage of 95 % intervals of τ_b and τ_AP of nDCG@10, NIST against {' / '.join(MODELS)}.",
        "",
        "| | topics | percentile | BCa | confir |",
        "|---|---:|---:|---:|---:|",
        *boards,
        "",
        (
            "Samples order runs less alike than the population does, and resamples of them err in the same "
            "direction: percentiles of replicates miss the truth. confir's intervals are those of "
            "[judges](../judges.md#intervals): mostly conservative, .91 at worst."
        ),
        "",
        "## A model's judgements, corrected by people's",
        "",
        (
            f"People judge n topics, the model these and {MODEL_TOPICS} more. Coverage of 95 % intervals "
            "(corrected / people alone / model alone), and mean width of the corrected ones relative to "
            "those of people alone: for means by logit-t, and for differences of two runs by t."
        ),
        "",
        "| measure | model | n | means | width | differences | width |",
        "|---|---|---:|---:|---:|---:|---:|",
        *corrections,
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    if given.output is not None:
        write_whole(given.output / "judgements.md", text.encode())


if __name__ == "__main__":
    main()
