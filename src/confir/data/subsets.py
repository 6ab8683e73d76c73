"""What is left of qrels and runs when only some documents count?"""

from __future__ import annotations

import numpy as np

from confir.arrays import Booleans
from confir.data.qrels import Qrels
from confir.data.run import Run


def restrict_qrels(qrels: Qrels, kept: Booleans) -> Qrels:
    """Return the qrels of some documents only; a topic left without any is no topic."""
    places = np.cumsum(kept) - 1
    judged = kept[qrels.judged_documents]
    topics = qrels.document_topics[kept]
    held = np.unique(topics)
    names = np.array(qrels.documents, object)[kept].tolist()
    subtopics = np.array(qrels.subtopics, object)[judged].tolist()
    return Qrels(
        topics=tuple(qrels.topics[t] for t in held.tolist()),
        offsets=np.append(np.searchsorted(topics, held), len(topics)),
        documents=tuple(names),
        gains=qrels.gains[kept],
        judged_documents=places[qrels.judged_documents[judged]],
        subtopics=tuple(subtopics),
        subtopic_gains=qrels.subtopic_gains[judged],
        intents=qrels.intents,
    )


def restrict_run(run: Run, kept: Booleans) -> Run:
    """Return the run with some of its documents only; a topic left without any is no topic."""
    topics = np.repeat(np.arange(len(run.topics)), np.diff(run.offsets))[kept]
    held = np.unique(topics)
    return Run(
        name=run.name,
        topics=tuple(run.topics[t] for t in held.tolist()),
        offsets=np.append(np.searchsorted(topics, held), len(topics)),
        documents=tuple(np.array(run.documents, object)[kept].tolist()),
        scores=run.scores[kept],
    )
