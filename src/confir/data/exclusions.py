"""Documents that do not count: pairs of topic and document that are taken from runs and qrels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from confir.arrays import Booleans, Integers
from confir.data.qrels import Qrels
from confir.data.run import Run
from confir.errors import (
    FormatError,
    IdenticalIdWarning,
    InputWarning,
    TopicMismatchError,
    TopicWarning,
    UnknownTopicWarning,
    counted,
    enumerate_names,
    warn_caller,
)


@dataclass(frozen=True, slots=True, repr=False)
class Exclusions:
    """Documents that do not count for a topic: a ranking without them is the one that is scored.

    Attributes
    ----------
    documents
        Topic → docids, which are taken from runs and qrels.
    identical
        Whether a document that has the id of its topic is taken from runs, though not from qrels, as
        BEIR does (Thakur et al. 2021); None where that was not specified.
    source
        The file that names the documents, for messages.
    drops
        Whether there are any such documents.
    watches
        Whether to warn of documents with the id of their topic: where nothing is excluded or allowed.
    """

    documents: Mapping[str, frozenset[str]] = field(default_factory=dict)
    identical: bool | None = None
    source: str = "exclude"
    drops: bool = field(init=False)
    watches: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "drops", bool(self.documents) or bool(self.identical))
        object.__setattr__(self, "watches", self.identical is None and not self.documents)

    def __repr__(self) -> str:
        pairs = sum(map(len, self.documents.values()))
        return (
            f"Exclusions({counted(pairs, 'document')} of {counted(len(self.documents), 'topic')})"
        )

    def without_watch(self) -> Exclusions:
        """Return the same documents, for where runs are read a second time and warned of before."""
        return replace(self, identical=bool(self.identical))

    def of_topic(self, topic: str) -> frozenset[str]:
        """Return the documents that do not count in the lists of a topic."""
        excluded = self.documents.get(topic, frozenset())
        return excluded | {topic} if self.identical else excluded

    def by_topic(self, topics: Sequence[str]) -> tuple[list[str], Integers]:
        """Return the documents to look for in the lists of topics, one after the other, and how many.

        They are those that do not count; where ``watches``, those with the id of their topic.
        """
        if self.watches:
            return list(topics), np.ones(len(topics), np.int64)
        found = [sorted(self.of_topic(topic)) for topic in topics]
        return [one for own in found for one in own], np.array(
            [len(own) for own in found], np.int64
        )

    def pairs(self) -> tuple[list[str], list[str]]:
        """Return the topics and the documents of all pairs that do not count, ids of topics aside."""
        listed = [(topic, one) for topic, own in self.documents.items() for one in sorted(own)]
        return [topic for topic, _ in listed], [one for _, one in listed]

    def drop_retrieved(self, run: Run) -> Run:
        """Return a run without the documents that do not count; a list without any others is gone."""
        kept = _kept(run, self.of_topic)
        if kept.all():
            return run
        before = np.concatenate(([0], np.cumsum(kept)))[run.offsets]
        held = np.flatnonzero(np.diff(before))
        return Run(
            run.name,
            tuple(run.topics[place] for place in held.tolist()),
            np.append(before[held], before[-1]),
            tuple(run.documents[place] for place in np.flatnonzero(kept).tolist()),
            run.scores[kept],
        )

    def drop_judged(self, qrels: Qrels) -> Qrels:
        """Return qrels without the documents that do not count; a topic without any others is gone."""
        kept = self._counting(qrels)
        if kept.all():
            return qrels
        if not kept.any():
            raise FormatError(
                "every judged document is excluded; expected some that count", path=self.source
            )
        return qrels.only(kept)

    def drop_checked(self, qrels: Qrels) -> Qrels:
        """Return whole qrels as `drop_judged` does, after a look at them.

        Raises or warns where they do not fit, or have relevant documents that do not count.
        """
        if self.identical:
            own = relevant_topics(qrels)
            warn_of_relevant_topics(
                f"{counted(len(own), 'topic')} ({enumerate_names(own, 5)})" if own else ""
            )
        if self.documents:
            self._check_topics(qrels)
            self._warn_of_relevant(qrels, self._counting(qrels))
        return self.drop_judged(qrels)

    def _counting(self, qrels: Qrels) -> Booleans:
        """Return which judged documents count."""
        return _kept(qrels, lambda topic: self.documents.get(topic, frozenset()))

    def _check_topics(self, qrels: Qrels) -> None:
        """Raise where no topic of the exclusions is one of the qrels; warn where some are not."""
        unknown = sorted(self.documents.keys() - set(qrels.topics))
        if len(unknown) == len(self.documents):
            raise TopicMismatchError(
                f"{self.source}: the topics ({enumerate_names(unknown, 3)}) are none of the qrels, which "
                f"have {enumerate_names(qrels.topics, 3)}; expected documents to exclude by topic"
            )
        if unknown:
            warn_caller(
                f"{self.source}: documents are excluded of {counted(len(unknown), 'topic')} that the "
                f"qrels lack ({enumerate_names(unknown, 5)})",
                UnknownTopicWarning,
            )

    def _warn_of_relevant(self, qrels: Qrels, kept: Booleans) -> None:
        """Warn of relevant documents that are taken from the qrels, and of topics that go with them."""
        relevant = np.flatnonzero(~kept & (qrels.gains >= 1)).tolist()
        topics = qrels.document_topics
        if relevant:
            named = [f"{qrels.documents[d]} of topic {qrels.topics[topics[d]]}" for d in relevant]
            warn_caller(
                f"{self.source}: {counted(len(relevant), 'excluded document')} "
                f"{'is' if len(relevant) == 1 else 'are'} relevant ({enumerate_names(named, 3)}); taken "
                "from the qrels as well, so that no measure counts them",
                InputWarning,
            )
        emptied = sorted(set(topics.tolist()) - set(topics[kept].tolist()))
        if emptied:
            names = enumerate_names([qrels.topics[place] for place in emptied], 5)
            warn_caller(
                f"{self.source}: all judged documents of {counted(len(emptied), 'topic')} are excluded "
                f"({names}), which {'is' if len(emptied) == 1 else 'are'} left out",
                TopicWarning,
            )


NOTHING_EXCLUDED = Exclusions()


def _kept(held: Run | Qrels, excluded_of: Callable[[str], frozenset[str]]) -> Booleans:
    """Return which documents of a run or of qrels are not among those that a topic excludes."""
    kept = np.ones(len(held.documents), bool)
    for topic, (start, stop) in zip(held.topics, pairwise(held.offsets.tolist()), strict=True):
        excluded = excluded_of(topic)
        if excluded:
            found = map(excluded.__contains__, held.documents[start:stop])
            kept[start:stop] = ~np.fromiter(found, bool, stop - start)
    return kept


def relevant_topics(qrels: Qrels) -> list[str]:
    """Return the topics for which the document with the id of the topic is judged relevant."""
    places = qrels.document_topics[identical_places(qrels) & (qrels.gains >= 1)]
    return [qrels.topics[place] for place in places.tolist()]


def identical_places(qrels: Qrels) -> Booleans:
    """Return which judged documents have the id of their topic."""
    owners = np.array(qrels.topics, object)[qrels.document_topics]
    same: Booleans = np.array(qrels.documents, object) == owners
    return same


def warn_of_relevant_topics(topics: str) -> None:
    """Warn of topics, in words, whose own document is relevant, though no run can retrieve it."""
    if not topics:
        return
    warn_caller(
        f"the qrels have a relevant document with the id of its topic for {topics}: it is taken from "
        "the runs, not from the qrels, so that recall and other measures count it as not retrieved; "
        "--exclude (exclude=) takes documents from both",
        IdenticalIdWarning,
    )


def warn_of_identical(found: Mapping[str, int], topics: int) -> None:
    """Warn of runs that retrieve, for some topics, the document with the id of the topic.

    Parameters
    ----------
    found
        Run → number of such topics.
    topics
        Number of topics of the qrels.
    """
    if not any(found.values()):
        return
    most = max(found, key=found.__getitem__)
    more = sum(map(bool, found.values())) - 1
    others = f", and so {_do(more)}" if more else ""
    warn_caller(
        f"run {most!r} retrieves the document with the id of the topic for {found[most]:,} of {topics:,} "
        f"topics{others}; if topics are documents of the collection, as in ArguAna, expected "
        "--exclude-identical (exclude_identical=True); if not, --no-exclude-identical (False)",
        IdenticalIdWarning,
    )


def _do(runs: int) -> str:
    return "does 1 more run" if runs == 1 else f"do {runs:,} more runs, for fewer or as many topics"
