"""Simulated runs and qrels: a collection whose true relevance is known.

The model has few parts. A topic has a difficulty, its number of relevant documents (lognormal)
and two to five subtopics; a relevant document has a gain from 1 to 3. A system sees a document as

    strength(gain) · separation + easiness + evidence

The separation is how far the system lifts the topic's relevant documents above the others: a mean,
minus the topic's difficulty, plus the system's quality, plus how well system and topic suit each
other. The easiness belongs to the document, the same for every system, so that runs agree on which
topics are easy. The evidence is a mixture of signals that several systems may share, such as
the words of a document, and of noise of the system's own; likewise how well system and topic suit
each other. All of these are normal.

All relevant documents are judged, and of the others those that some run ranks among its first few;
the rest are unjudged. A document is judged for one subtopic only, so that trec_eval, which allows a
document once per topic, reads the qrels too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import NamedTuple, NoReturn

import numpy as np

from confir.arguments import as_generator, as_integer
from confir.arrays import Booleans, Floats, Integers
from confir.data.files import PathLike
from confir.data.output_folder import OutputFolder
from confir.data.qrels import Qrels, build_qrels
from confir.data.run import Run, build_run
from confir.data.trec import write_trec_qrels, write_trec_run
from confir.errors import InvalidValueError, enumerate_names

FEWEST_RELEVANT, MOST_RELEVANT = 2, 200
FEWEST_SUBTOPICS, MOST_SUBTOPICS = 2, 5
FIRST_TOPIC = 101

# Chosen so that the sample resembles the AP of TREC 2004 Robust: mean, spread over topics, skewness
# and correlation between runs.
RELEVANT_SPREAD = 1.1
SEPARATION = 1.85
DIFFICULTY_SPREAD = 0.6
SUITABILITY_SPREAD = 0.4
EASINESS_WEIGHT = 0.7
EVIDENCE_WEIGHT = math.sqrt(1.0 - EASINESS_WEIGHT**2)
STRENGTH_BY_GAIN = np.array([0.0, 0.85, 1.1, 1.3])
LOWER_GAINS = (0.6, 0.87)  # shares of the relevant documents with gain 1, and with gain 1 or 2

SAMPLE_SEED = 2004


@dataclass(frozen=True, slots=True)
class System:
    """What makes a simulated run.

    Attributes
    ----------
    name
        The run's name.
    quality
        How much further than usual it lifts relevant documents, in standard deviations.
    signals
        Signal → weight in the system's evidence; systems that name the same signal are alike. What
        the squared weights leave of 1 is the weight of the system's own noise.
    location, scale
        What the scores are like: location + scale · (what the system sees).
    decimals
        Decimals of the scores; few make ties.
    missing
        Number of topics that the run lacks.
    """

    name: str
    quality: float = 0.0
    signals: Mapping[str, float] = field(default_factory=dict)
    location: float = 10.0
    scale: float = 2.0
    decimals: int = 6
    missing: int = 0

    def __post_init__(self) -> None:
        # rounding may lift weights such as twice √½ a little above 1
        if not sum(weight**2 for weight in self.signals.values()) <= 1.0 + 1e-9:
            self._reject("signals", "weights whose squares sum to at most 1")
        for name in ("quality", "location", "scale"):
            if not math.isfinite(getattr(self, name)):
                self._reject(name, "a finite number")
        if self.scale <= 0:
            self._reject("scale", "a number above 0")
        if not isinstance(self.decimals, Integral):
            self._reject("decimals", "a whole number")
        if not isinstance(self.missing, Integral) or self.missing < 0:
            self._reject("missing", "a whole number from 0")

    def _reject(self, name: str, expected: str) -> NoReturn:
        value = getattr(self, name)
        raise InvalidValueError(f"system {self.name!r}: {name} is {value!r}; expected {expected}")


SAMPLE_SYSTEMS = (
    System("bm25", -0.25, {"words": 0.85}, location=6.0, scale=4.0),
    System("bm25-rm3", -0.1, {"words": 0.75}, location=1.2, scale=0.6, missing=1),
    System("dense", 0.0, {"meaning": 0.9}, location=70.0, scale=3.0),
    System("dense-tuned", 0.0, {"meaning": 0.9}, location=66.0, scale=4.0),
    System("hybrid", 0.25, {"words": 0.55, "meaning": 0.65}, location=2.0, scale=1.0),
    System("rerank", 0.55, {"words": 0.3, "meaning": 0.6}, location=-8.0, scale=3.0),
    # an index of quantised weights: whole numbers as scores
    System("splade", 0.1, {"words": 0.6, "meaning": 0.5}, location=60.0, scale=14.0, decimals=0),
    System("tfidf", -0.7, {"words": 0.7}, location=1.5, scale=0.9),
)


@dataclass(frozen=True, slots=True, eq=False)
class Collection:
    """Qrels and the runs that they judge."""

    qrels: Qrels
    runs: tuple[Run, ...]

    def __post_init__(self) -> None:
        names = [run.name for run in self.runs]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InvalidValueError(
                f"several runs are named {enumerate_names(twice)}; expected distinct names"
            )


class _Truth(NamedTuple):
    """What is true of the candidate documents: arrays of topics × candidates.

    The candidates stand by docid, descending, which is how runs break ties. ``docids`` are the ids
    to which the numbers in ``documents`` point; ``difficulty`` is an array of topics.
    """

    docids: list[str]
    documents: Integers
    gains: Integers
    subtopics: Integers
    easiness: Floats
    difficulty: Floats


class _Signal(NamedTuple):
    """What a signal says: how well it suits each topic, and its evidence for each document."""

    suitability: Floats
    evidence: Floats


def simulate_collection(
    *,
    topics: int = 50,
    runs: int | Sequence[System] = 8,
    depth: int = 1000,
    relevant: float = 30.0,
    pool_depth: int = 50,
    rng: np.random.Generator | int | None = None,
) -> Collection:
    """Return a simulated collection: qrels with gains and subtopics, and ranked runs.

    Parameters
    ----------
    topics
        Number of topics.
    runs
        The systems, or their number: then they are unrelated, of evenly spread quality.
    depth
        Documents that a run retrieves for a topic.
    relevant
        Median number of relevant documents of a topic, from 2 to 200, as are the numbers.
    pool_depth
        How many documents at the top of every run are judged, relevant or not.
    rng
        Generator or seed.
    """
    for name, value in (("topics", topics), ("depth", depth), ("pool_depth", pool_depth)):
        as_integer(name, value)
    if not isinstance(relevant, Real) or not FEWEST_RELEVANT <= relevant <= MOST_RELEVANT:
        raise InvalidValueError(
            f"relevant is {relevant!r}; expected a number from {FEWEST_RELEVANT} to {MOST_RELEVANT}"
        )
    systems = _list_systems(runs, topics)
    generator = as_generator(rng)
    names = [str(FIRST_TOPIC + number) for number in range(topics)]
    truth = _draw_truth(generator, topics, 3 * depth + 1000, relevant)
    shared = {
        signal: _draw_signal(generator, truth)
        for signal in dict.fromkeys(signal for system in systems for signal in system.signals)
    }
    judged = truth.gains > 0
    made = []
    for system in systems:
        scores = _score_documents(generator, system, truth, shared)
        ranked = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
        present = np.sort(np.argsort(generator.random(topics), kind="stable")[system.missing :])
        judged[present[:, None], ranked[present, :pool_depth]] = True
        made.append(_make_run(system.name, names, present, truth, ranked, scores))
    return Collection(_judge_documents(names, truth, judged), tuple(made))


def sample_collection() -> Collection:
    """Return the built-in sample, always the same: 50 topics and 8 runs of depth 1000.

    It has what real experiments have: two runs that hardly differ (dense and dense-tuned), tied
    scores (splade), a run without one of the topics (bm25-rm3), a weak baseline (tfidf) and a clear
    winner (rerank).

    Examples
    --------
    >>> confir.sample_collection().qrels
    Qrels(50 topics, 10079 judged documents)
    """
    return simulate_collection(runs=SAMPLE_SYSTEMS, rng=SAMPLE_SEED)


def write_collection(collection: Collection, folder: PathLike) -> None:
    """Write a collection as TREC files: qrels.txt, and runs/NAME.txt for every run.

    The folder must be new, empty, or one that confir wrote.
    """
    for run in collection.runs:
        if not run.name or any(mark in run.name for mark in "/\\\0"):
            raise InvalidValueError(f"run {run.name!r} cannot be written: expected a file name")
    with OutputFolder(folder) as target:
        write_trec_qrels(collection.qrels, target.file("qrels.txt"))
        for run in collection.runs:
            write_trec_run(run, target.file(f"runs/{run.name}.txt"))
        target.remove_stale()


def _list_systems(runs: int | Sequence[System], topics: int) -> Sequence[System]:
    """Return the systems that were asked for."""
    if not isinstance(runs, Sequence):
        as_integer("runs", runs)
        qualities = np.linspace(-0.5, 0.5, runs).tolist()
        return [System(f"run{place}", quality) for place, quality in enumerate(qualities, start=1)]
    if not runs or not all(isinstance(system, System) for system in runs):
        raise InvalidValueError(f"runs is {runs!r}; expected a number, or one system or more")
    for system in runs:
        if system.missing >= topics:
            raise InvalidValueError(
                f"system {system.name!r} lacks {system.missing} topics; expected fewer than all "
                f"{topics}"
            )
    return runs


def _draw_truth(rng: np.random.Generator, topics: int, candidates: int, relevant: float) -> _Truth:
    shape = (topics, candidates)
    docids, documents = _draw_documents(rng, topics, candidates)
    spread = np.exp(RELEVANT_SPREAD * rng.standard_normal(topics))
    counts = np.clip(np.rint(relevant * spread), FEWEST_RELEVANT, MOST_RELEVANT).astype(np.int64)
    lot = np.argsort(rng.random(shape), axis=1, kind="stable")
    relevant_gains = 1 + np.searchsorted(LOWER_GAINS, rng.random(shape))
    gains = np.where(lot < counts[:, None], relevant_gains, 0)
    sizes = rng.integers(FEWEST_SUBTOPICS, MOST_SUBTOPICS + 1, topics)
    sizes = np.minimum(sizes, counts)[:, None]
    # the first lots see to it that every subtopic has a relevant document; the square makes the
    # first subtopics the more frequent ones
    subtopics = np.where(lot < sizes, lot, (sizes * rng.random(shape) ** 2).astype(np.int64))
    return _Truth(
        docids,
        documents,
        gains,
        subtopics + 1,
        easiness=rng.standard_normal(shape),
        difficulty=DIFFICULTY_SPREAD * rng.standard_normal(topics),
    )


def _draw_documents(
    rng: np.random.Generator, topics: int, candidates: int
) -> tuple[list[str], Integers]:
    """Return the ids of a corpus, and the numbers of each topic's candidates in it, descending.

    Steps through the corpus that cannot reach around it make a topic's candidates distinct; topics
    share some of them.
    """
    longest_step = 16
    corpus = longest_step * candidates
    docids = [f"D-{number // 100:04d}-{number % 100:04d}" for number in range(corpus)]
    steps = rng.integers(1, longest_step + 1, (topics, candidates))
    numbers = (rng.integers(0, corpus, topics)[:, None] + np.cumsum(steps, axis=1)) % corpus
    return docids, np.sort(numbers, axis=1)[:, ::-1]


def _draw_signal(rng: np.random.Generator, truth: _Truth) -> _Signal:
    return _Signal(
        rng.standard_normal(truth.difficulty.shape), rng.standard_normal(truth.easiness.shape)
    )


def _score_documents(
    rng: np.random.Generator, system: System, truth: _Truth, shared: Mapping[str, _Signal]
) -> Floats:
    """Return a system's scores of all candidates, rounded: last bits must not decide a rank."""
    own = math.sqrt(1.0 - min(1.0, sum(weight**2 for weight in system.signals.values())))
    mixture = [(weight, shared[signal]) for signal, weight in system.signals.items()]
    suitability = np.zeros_like(truth.difficulty)
    evidence = np.zeros_like(truth.easiness)
    for weight, signal in [*mixture, (own, _draw_signal(rng, truth))]:
        suitability += weight * signal.suitability
        evidence += weight * signal.evidence
    separation = SEPARATION - truth.difficulty + system.quality + SUITABILITY_SPREAD * suitability
    seen = (
        STRENGTH_BY_GAIN[truth.gains] * separation[:, None]
        + EASINESS_WEIGHT * truth.easiness
        + EVIDENCE_WEIGHT * evidence
    )
    scores: Floats = np.round(system.location + system.scale * seen, system.decimals)
    return scores


def _make_run(
    name: str,
    topics: Sequence[str],
    present: Integers,
    truth: _Truth,
    ranked: Integers,
    scores: Floats,
) -> Run:
    """Return the run of a system's ranked candidates, with only the present topics."""
    documents = np.take_along_axis(truth.documents, ranked, axis=1)[present]
    kept = np.take_along_axis(scores, ranked, axis=1)[present]
    depth = ranked.shape[1]
    return build_run(
        name,
        [topics[number] for number in present.tolist() for _ in range(depth)],
        [truth.docids[number] for number in documents.ravel().tolist()],
        kept.ravel(),
    )


def _judge_documents(topics: Sequence[str], truth: _Truth, judged: Booleans) -> Qrels:
    """Return the qrels of the judged candidates; backwards, for docids to ascend."""
    topic, place = (index[::-1] for index in np.nonzero(judged))
    return build_qrels(
        [topics[number] for number in topic.tolist()],
        [str(number) for number in truth.subtopics[topic, place].tolist()],
        [truth.docids[number] for number in truth.documents[topic, place].tolist()],
        truth.gains[topic, place],
    )
