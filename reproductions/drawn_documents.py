"""How much do scores vary with the documents that are sampled for human judgement? TREC 2021 Deep Learning.

A model judged all documents; samples of these are drawn for human judgement many times. The variance of
each score over draws is compared with the estimate from each draw: by replicates of the draw, as in
confir, and by the delta method.

    python reproductions/drawn_documents.py --data DATA --output docs/reproductions
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np

import confir
from confir.data.files import write_whole
from confir.measures.estimated_judgements import DocumentSample, Redrawn
from confir.measures.estimated_scores import Listed, Ratio, is_sum, ratio_of, score_sampled_lists
from confir.measures.measure import Measure

SEED = 2021
# Probabilities of being drawn: of documents that the model calls relevant, and of others.
DESIGNS = ((0.1, 0.1), (0.2, 0.2), (0.4, 0.4), (0.5, 0.2), (1.0, 0.2))
MEASURES = ("P@10", "nDCG@10", "nDCG", "AP(rel=2)", "R(rel=2)@100")
# Rates at which variances are predicted from a draw.
RATES = np.array([0.5, 1.0, 2.0])
# Step of the numerical derivatives of the delta method, relative to the estimate, and documents per batch.
STEP, AT_ONCE = 1e-4, 40


class Judged(NamedTuple):
    """Documents with the gains by both judges, and where they stand in the lists."""

    topics: np.ndarray
    model: np.ndarray
    human: np.ndarray
    listed: Listed

    @staticmethod
    def read(folder: Path) -> Judged:
        """Return what UMBRELA and NIST say, and every fifth run."""
        runs = sorted((folder / "runs").iterdir())[::5]
        experiment = confir.Experiment(folder / "qrels.umbrela-gpt4.txt", runs)
        qrels, people = experiment.qrels, confir.read_qrels(folder / "qrels.nist.txt").to_dict()
        names = [qrels.topics[place] for place in qrels.document_topics.tolist()]
        human = [people[topic][docid] for topic, docid in zip(names, qrels.documents, strict=True)]
        listed = Listed.of(experiment.lists())
        return Judged(qrels.document_topics, qrels.gains, np.array(human), listed)

    def draw(self, design: tuple[float, float], rng: np.random.Generator) -> DocumentSample:
        """Return a draw of documents, each independently of the others."""
        chance = np.where(self.model >= 2, *design)
        drawn = rng.random(len(chance)) < chance
        human, kept = np.where(drawn, self.human, 0), np.where(drawn, chance, 1.0)
        return DocumentSample(self.topics, self.model, human, drawn, kept)


def delta_variance(ratio: Ratio, sample: DocumentSample, listed: Listed) -> np.ndarray:
    """Return ``Σ (1-π)·d²`` over the documents drawn, d the score's derivative by the part they add."""
    value = ratio(sample.as_drawn())
    drawn = np.flatnonzero(sample.drawn)
    topics, chance = sample.topics[drawn], sample.probability[drawn]
    place = np.arange(len(drawn)) - np.searchsorted(topics, topics)  # among those of its topic
    variance = np.zeros(len(value))
    for start in range(0, int(place.max()) + 1, AT_ONCE):
        now = (place >= start) & (place < start + AT_ONCE)
        weights = np.ones((len(sample.drawn), AT_ONCE))
        weights[drawn[now], place[now] - start] += STEP  # one document of each topic at a time
        share = np.zeros((int(topics[-1]) + 1, AT_ONCE))
        share[topics[now], place[now] - start] = 1.0 - chance[now]
        slope = (ratio(Redrawn(weights, np.ones(len(weights)))) - value) / STEP
        variance += (np.square(slope) * share[listed.topics]).sum(axis=1)
    return variance


class Varied(NamedTuple):
    """Draws of one design by one measure: values and variances, draws × lists; sums by rate."""

    values: np.ndarray
    replicates: np.ndarray
    delta: np.ndarray
    predicted: np.ndarray

    @property
    def truth(self) -> float:
        """Variance of a topic's score over draws, its mean over topics and runs."""
        return float(self.values.var(axis=0, ddof=1).mean())


def vary(judged: Judged, design: tuple[float, float], draws: int) -> dict[str, Varied]:
    """Return scores of many draws, and what each says of their variance."""
    rng = np.random.default_rng([SEED, *(round(100 * chance) for chance in design)])
    measures = [one for one in map(confir.parse_measure, MEASURES) if isinstance(one, Measure)]
    found: dict[str, list[tuple[np.ndarray, ...]]] = {name: [] for name in MEASURES}
    for _ in range(draws):
        sample = judged.draw(design, rng)
        scored = score_sampled_lists(measures, sample, judged.listed, RATES, rng)
        for name, measure, one in zip(MEASURES, measures, scored, strict=True):
            variance = one.variance.ravel()
            delta = (
                variance
                if is_sum(measure)
                else delta_variance(ratio_of(measure, sample, judged.listed), sample, judged.listed)
            )
            by_rate = np.trace(one.covariance, axis1=1, axis2=2) / len(one.value)
            found[name].append((one.value.ravel(), variance, delta, by_rate))
    return {name: Varied(*map(np.array, zip(*parts, strict=True))) for name, parts in found.items()}


def design_text(design: tuple[float, float]) -> str:
    """Return the probabilities of a design."""
    return f"{design[0]:g}" if len(set(design)) == 1 else f"{design[0]:g} / {design[1]:g}"


def variance_rows(
    judged: Judged, varied: dict[tuple[float, float], dict[str, Varied]]
) -> list[str]:
    """Return a row per measure and design: bias and spread, and how near the variances are."""
    every = np.ones(len(judged.topics))
    whole = DocumentSample(judged.topics, judged.model, judged.human, every > 0, every)
    measures = [one for one in map(confir.parse_measure, MEASURES) if isinstance(one, Measure)]
    scored = score_sampled_lists(measures, whole, judged.listed, RATES, np.random.default_rng(SEED))
    rows = []
    for name, one in zip(MEASURES, scored, strict=True):
        for design, by_measure in varied.items():
            drawn = by_measure[name]
            means = drawn.values.reshape(len(drawn.values), *one.value.shape).mean(axis=2)
            bias = np.abs(means.mean(axis=0) - one.value.mean(axis=1)).mean()
            cells = (
                f"{np.sqrt(drawn.truth):.3f} | {bias:.3f} | {means.std(axis=0, ddof=1).mean():.3f}"
            )
            ratios = [part.mean() / drawn.truth for part in (drawn.replicates, drawn.delta)]
            shown = " | ".join(f"{ratio:.2f}" for ratio in ratios)
            rows.append(f"| {name} | {design_text(design)} | {cells} | {shown} |")
    return rows


def prediction_rows(varied: dict[tuple[float, float], dict[str, Varied]]) -> list[str]:
    """Return what draws say of the variance at half and at twice their rate, relative to the truth."""
    thin, pilot, dense = (varied[design] for design in DESIGNS[:3])
    rows = []
    for name in MEASURES:
        half, _, double = pilot[name].predicted.mean(axis=0)
        rows.append(
            f"| {name} | {half / thin[name].truth:.2f} | {double / dense[name].truth:.2f} |"
        )
    return rows


def main() -> None:
    """Draw documents, print the tables, and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--draws", type=int, default=100)
    given = parser.parse_args()
    judged = Judged.read(given.data / "trec-dl-2021")
    varied = {design: vary(judged, design, given.draws) for design in DESIGNS}
    runs = len(judged.listed.topics) // (int(judged.topics[-1]) + 1)
    lines = [
        "# Variance of scores over samples of judged documents",
        "",
        (
            "Made by `python reproductions/drawn_documents.py --data DATA --output docs/reproductions`, on "
            f"{runs} runs and the 53 topics of TREC 2021 Deep Learning. UMBRELA (GPT-4) judged all "
            f"{len(judged.topics):,} documents; NIST's judgements are known for those that are drawn, each "
            "with the probability given: one for all, or one for documents that UMBRELA calls relevant "
            f"(grade 2 or 3) and one for the others. {given.draws} draws of each design."
        ),
        "",
        (
            "sd: standard deviation of a topic's score over draws (root of the mean variance over topics "
            "and runs); bias, se: of the mean of a run over topics, over draws (mean over runs); replicates, "
            "delta: mean estimated variance relative to that over draws, by confir's replicates and by the "
            "delta method."
        ),
        "",
        "| measure | drawn | sd | bias | se | replicates | delta |",
        "|---|---:|---:|---:|---:|---:|---:|",
        *variance_rows(judged, varied),
        "",
        (
            "P is a sum, with a variance in closed form. For AP and R, replicates are far better "
            "than the delta method, except if all documents that the model calls relevant are "
            "drawn: both are then too small, because the variance comes from the rare relevant "
            "documents among the others. For nDCG both are close; if a tenth or a fifth of the "
            "documents are drawn, both are too large without a cutoff."
        ),
        "",
        "## At other rates",
        "",
        (
            "Plans use the variance at other sampling rates that is estimated from a pilot. From "
            "draws at a rate of 0.2: mean estimated variance at 0.1 and at 0.4, relative to that "
            "over draws at these rates."
        ),
        "",
        "| measure | 0.1 | 0.4 |",
        "|---|---:|---:|",
        *prediction_rows(varied),
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    if given.output is not None:
        write_whole(given.output / "drawn-documents.md", text.encode())


if __name__ == "__main__":
    main()
