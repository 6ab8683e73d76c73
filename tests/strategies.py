"""Hypothesis strategies: small collections of every kind."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from confir.arrays import Integers
from confir.data.qrels import Qrels, build_qrels
from confir.data.ranked_lists.rankings import Rankings, stack_rankings
from confir.data.run import Run, build_run
from judged_positions import JudgedPositions
from reference.plain_measures import PlainList

# Ids are text: numbers with leading zeros, words that mean "missing", and any letters.
DOCIDS = ("d1", "d10", "d2", "NA", "001", "1", "Ωx", "nan", "a-b_c", "D2")
SUBTOPICS = ("0", "1", "2", "x")
UNJUDGED_TOPIC = "~unjudged"

Counts = Mapping[str, Integers]

# Each measure of the catalogue with and without cutoff, and with each of its parameters.
VARIANTS: dict[str, tuple[str, ...]] = {
    "AP": ("AP", "AP@1", "AP@3", "AP@100", "AP(rel=2)", "AP(rel=2)@3"),
    "P": ("P@1", "P@3", "P@100", "P(rel=2)@3"),
    "R": ("R@1", "R@3", "R@100", "R(rel=2)@3"),
    "Rprec": ("Rprec", "Rprec(rel=2)"),
    "RR": ("RR", "RR@1", "RR@3", "RR@100", "RR(rel=2)"),
    "nDCG": (
        "nDCG",
        "nDCG@1",
        "nDCG@3",
        "nDCG@100",
        "nDCG(dcg='exp-log2')@3",
        "nDCG(gains='1:0.1,2:0.7')",
        "nDCG(gains='1:5,2:3,4:0')@3",
    ),
    "ERR": ("ERR", "ERR@1", "ERR@3", "ERR@100", "ERR(gmax=5)@3", "ERR(gains='1:3,2:0.3')"),
    "nERR": ("nERR", "nERR@1", "nERR@3", "nERR@100", "nERR(gmax=6)", "nERR(gains='1:3,2:0')@3"),
    "rbp": ("rbp", "rbp(p=0.5)"),
    "RBP": ("RBP", "RBP@3", "RBP(p=0.5)", "RBP(rel=1)", "RBP(p=0.95,rel=2)@3", "RBP(gains='1:9')"),
    "Q": ("Q", "Q@1", "Q@3", "Q@100", "Q(beta=0)", "Q(beta=2.5)@3", "Q(gains='1:5,2:0.3')"),
    "Bpref": ("Bpref", "Bpref(rel=2)"),
    "Success": ("Success@1", "Success@3", "Success(rel=2)@100"),
    "Judged": ("Judged", "Judged@1", "Judged@3", "Judged@100"),
    "alpha_nDCG": (
        "alpha_nDCG",
        "alpha_nDCG@1",
        "alpha_nDCG@3",
        "alpha_nDCG@100",
        "alpha_nDCG(alpha=0.1)@3",
        "alpha_nDCG(alpha=0)",
        "alpha_nDCG(alpha=1)",
        "alpha_nDCG(rel=2)@3",
    ),
    "ERR_IA": ("ERR_IA", "ERR_IA@1", "ERR_IA@3", "ERR_IA@100", "ERR_IA(alpha=0.3,rel=2)@3"),
    "nERR_IA": ("nERR_IA", "nERR_IA@1", "nERR_IA@3", "nERR_IA@100", "nERR_IA(alpha=0.9)@3"),
    "StRecall": ("StRecall", "StRecall@1", "StRecall@3", "StRecall(rel=2)@100"),
    "D_nDCG": ("D_nDCG", "D_nDCG@1", "D_nDCG@3", "D_nDCG@100", "D_nDCG(gains='1:5,2:0.3')"),
    "DS_nDCG": ("DS_nDCG", "DS_nDCG@3", "DS_nDCG(gamma=0.2)@1", "DS_nDCG(gains='1:5')@100"),
    "NumRet": ("NumRet",),
    "NumRel": ("NumRel", "NumRel(rel=2)"),
    "NumRelRet": ("NumRelRet", "NumRelRet(rel=2)"),
}


@dataclass(frozen=True)
class Collection:
    """A small test collection.

    Attributes
    ----------
    judgements
        topic → docid → subtopic → gain; never without a judgement.
    lists
        For each run, topic → docids in rank order.
    intents
        topic → subtopic → weight, for the topics that list their intents.
    """

    judgements: dict[str, dict[str, dict[str, int]]]
    lists: tuple[dict[str, list[str]], ...]
    intents: dict[str, dict[str, float]]

    @property
    def qrels(self) -> Qrels:
        rows = [
            (topic, subtopic, document, gain)
            for topic, documents in self.judgements.items()
            for document, gains in documents.items()
            for subtopic, gain in gains.items()
        ]
        topics, subtopics, documents, gains = zip(*rows, strict=True)
        return build_qrels(
            topics, subtopics, documents, np.array(gains), intents=self.intents or None
        )

    @property
    def runs(self) -> list[Run]:
        return [as_run(f"run{number}", lists) for number, lists in enumerate(self.lists)]

    def rankings(self) -> Rankings:
        positions = JudgedPositions(self.qrels)
        return stack_rankings([positions.rank(run) for run in self.runs])

    def resampled(self, counts: Counts) -> Rankings:
        """Return the rankings in which each document stands as often as its counts say."""
        plain, qrels = self.rankings(), self.qrels
        replicates = len(next(iter(counts.values())))
        before, copies = [], []
        depth = np.zeros((*plain.depth.shape[:2], replicates), np.int64)
        for run, lists in enumerate(self.lists):
            for number, topic in enumerate(qrels.topics):
                for document in lists.get(topic, []):
                    if document in self.judgements[topic]:
                        before.append(depth[run, number].copy())
                        copies.append(counts[document])
                    depth[run, number] += counts[document]
        judged = np.array([counts[document] for document in qrels.documents])
        in_topic = qrels.document_topics[:, None] == np.arange(len(qrels.topics))
        at_level = qrels.gains[:, None] == plain.levels
        return replace(
            plain,
            depth=depth,
            before=np.array(before, np.int64).reshape(-1, replicates),
            copies=np.array(copies, np.int64).reshape(-1, replicates),
            counts=np.einsum("dt,dl,db->tlb", in_topic.astype(int), at_level.astype(int), judged),
            judged_copies=judged,
        )

    def plain_list(
        self, run: int, topic: str, counts: Counts | None = None, replicate: int = 0
    ) -> PlainList:
        """Return one list, each document repeated as often as its count says."""

        def repeated(documents: list[str]) -> list[str]:
            if counts is None:
                return documents
            return [name for name in documents for _ in range(counts[name][replicate])]

        judged = self.judgements[topic]
        weights = self.intents.get(topic) or {
            subtopic: 1.0 for gains in judged.values() for subtopic in gains
        }
        return PlainList(
            ranked=repeated(self.lists[run].get(topic, [])),
            judged=repeated(list(judged)),
            gains={document: max(gains.values()) for document, gains in judged.items()},
            served={
                document: {subtopic: gain for subtopic, gain in gains.items() if gain > 0}
                for document, gains in judged.items()
            },
            intents={name: weight / sum(weights.values()) for name, weight in weights.items()},
        )


# How many new examples `make verify` draws of every property; without it, `make test` tries a few fixed ones.
NEW_EXAMPLES = int(os.environ.get("CONFIR_EXAMPLES", "0"))


def at_most(number: int) -> int:
    """Return how many examples of a cheap property are tried: at most 40 in `make test`."""
    return NEW_EXAMPLES or min(number, 40)


def examples(number: int) -> settings:
    """Return settings that try so many examples: at most 20 in `make test`."""
    return settings(max_examples=NEW_EXAMPLES or min(number, 20))


def as_run(name: str, lists: Mapping[str, list[str]]) -> Run:
    """Return the run with these lists, and one of a topic that nobody judged."""
    rows = [
        (topic, document, -float(rank))
        for topic, documents in {**lists, UNJUDGED_TOPIC: ["d1"]}.items()
        for rank, document in enumerate(documents)
    ]
    topics, documents, scores = zip(*rows, strict=True)
    return build_run(name, topics, documents, np.array(scores))


@st.composite
def collections(
    draw: st.DrawFn, *, topics: int = 2, runs: int = 2, lowest: int = -2, highest: int = 4
) -> Collection:
    """Draw collections with empty lists, missing topics and topics without relevant documents."""
    gains = st.integers(lowest, highest)
    one_subtopic = st.fixed_dictionaries({"0": gains})
    by_subtopic = st.dictionaries(st.sampled_from(SUBTOPICS), gains, min_size=1)
    documents = st.sampled_from(DOCIDS)
    judged = st.dictionaries(documents, one_subtopic, min_size=1) | st.dictionaries(
        documents, by_subtopic, min_size=1
    )
    names = [f"{number:02}" for number in range(draw(st.integers(1, topics)))]
    judgements = {name: draw(judged) for name in names}
    ranked = st.lists(documents, unique=True, max_size=len(DOCIDS))
    lists = st.dictionaries(st.sampled_from(names), ranked)
    weights = st.dictionaries(
        st.sampled_from(SUBTOPICS), st.sampled_from((0.5, 1.0, 3.0)), min_size=1
    )
    intents = st.just({}) | st.dictionaries(st.sampled_from(names), weights)
    return Collection(
        judgements,
        tuple(draw(st.lists(lists, min_size=1, max_size=runs))),
        draw(intents),
    )


@st.composite
def document_counts(draw: st.DrawFn, *, replicates: int = 3) -> dict[str, Integers]:
    """Draw how often each document stands in each replicate of the collection, as Poisson(1)."""
    seed = draw(st.integers(0, 2**32 - 1))
    drawn = np.random.default_rng(seed).poisson(1.0, (len(DOCIDS), replicates))
    return dict(zip(DOCIDS, drawn, strict=True))


@dataclass(frozen=True)
class TiedTopic:
    """One topic: gains of judged documents, and runs with scores of which some may be equal."""

    gains: dict[str, int]
    scores: tuple[dict[str, float], ...]

    @property
    def qrels(self) -> Qrels:
        return build_qrels(
            ["1"] * len(self.gains), ["0"] * len(self.gains), list(self.gains), self.levels
        )

    @property
    def levels(self) -> Integers:
        return np.array(list(self.gains.values()))

    @property
    def runs(self) -> list[Run]:
        return [
            build_run(f"run{i}", ["1"] * len(s), list(s), np.array(list(s.values()), float))
            for i, s in enumerate(self.scores)
        ]

    def ranked(self, run: int) -> list[str]:
        """Return the docids of a run as trec_eval ranks them."""
        scores = self.scores[run]
        return sorted(sorted(scores, reverse=True), key=lambda document: -scores[document])


@st.composite
def tied_topics(
    draw: st.DrawFn,
    *,
    judged: int = 5,
    unjudged: int = 4,
    least_runs: int = 1,
    runs: int = 2,
    levels: int = 20,
) -> TiedTopic:
    """Draw a topic whose lists have judged and unjudged documents; few levels make many ties."""
    grades = st.lists(st.integers(0, 3), min_size=1, max_size=judged)
    gains = {f"j{i}": gain for i, gain in enumerate(draw(grades))}
    documents = [*gains, *(f"u{i}" for i in range(draw(st.integers(0, unjudged))))]
    scores = st.integers(0, levels - 1).map(float)
    listed = st.dictionaries(st.sampled_from(documents), scores, min_size=1)
    return TiedTopic(gains, tuple(draw(st.lists(listed, min_size=least_runs, max_size=runs))))
