"""The ranks of judged documents by dictionaries of Python: what the reader of blocks is compared with."""

from collections.abc import Sequence
from itertools import pairwise, repeat

import numpy as np

from confir.data.qrels import Qrels
from confir.data.ranked_lists.rankings import Rankings, empty_rankings, rank_in_single_precision
from confir.data.run import Run, TiePrecision

# In place of the position of an unjudged document that has the id of its topic.
_TOPIC = -2


class JudgedPositions:
    """Finds judged documents: topic → docid → position in ``qrels.documents``.

    ``topics`` has the number of each topic of the qrels.
    """

    def __init__(self, qrels: Qrels) -> None:
        self.qrels = qrels
        self._empty = empty_rankings(qrels)
        self.topics = {topic: i for i, topic in enumerate(qrels.topics)}
        self._documents = [
            dict(zip(qrels.documents[start:stop], range(start, stop), strict=True))
            for start, stop in pairwise(qrels.offsets.tolist())
        ]
        for topic, positions in zip(qrels.topics, self._documents, strict=True):
            positions.setdefault(topic, _TOPIC)

    def rank(self, run: Run, tie_precision: TiePrecision = "double") -> Rankings:
        """Return where the judged documents stand in the lists of a run."""
        return self.rank_and_count(run, tie_precision)[0]

    def rank_and_count(self, run: Run, tie_precision: TiePrecision) -> tuple[Rankings, int]:
        """Return what `rank` does, and how many lists have a document with the topic's id."""
        documents: Sequence[str] = run.documents
        if tie_precision == "single":
            documents = rank_in_single_precision(run)
        depth = np.zeros(len(self.qrels.topics), np.int64)
        none = np.zeros(0, np.int64)
        lists, found, before = [none], [none], [none]
        identical = 0
        for topic, (start, stop) in zip(run.topics, pairwise(run.offsets.tolist()), strict=True):
            number = self.topics.get(topic)
            if number is None:
                continue
            positions = self._documents[number]
            ranked = np.fromiter(
                map(positions.get, documents[start:stop], repeat(-1)), np.int64, stop - start
            )
            places = np.flatnonzero(ranked >= 0)
            identical += bool((ranked == positions[topic]).any())
            depth[number] = stop - start
            found.append(ranked[places])
            before.append(places)
            lists.append(np.full(len(places), number))
        columns = (np.concatenate(column) for column in (lists, found, before))
        return self._empty.filled((run.name,), depth[None], *columns), identical
