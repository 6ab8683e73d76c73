"""The beginnings of ranked lists on the page: those that its readers are most likely to open."""

from __future__ import annotations

from typing import Any

import numpy as np

from confir.data.ranked_lists.held_lists import HeldLists, TopicLists
from confir.report.contents import Contents
from confir.report.gathering import most_different_topics

# Documents of each list, and how many the page holds of all lists together.
LIST_DEPTH, _MOST_DOCUMENTS = 10, 25_000
_LEAST_RUNS = 8


def list_excerpts(contents: Contents, lists: TopicLists | None) -> dict[str, Any] | None:
    """Return the first documents of the best runs, for the topics on which these differ most.

    None if only the scores are known.
    """
    if lists is None:
        return None
    runs = _chosen_runs(contents)
    listed = contents.scores.listed()
    shown = [listed.topics[t] for t in contents.measures[0].topics_shown.tolist()]
    chosen = listed.select(run=[listed.runs[run] for run in runs], topic=shown)
    topics = most_different_topics(chosen, _MOST_DOCUMENTS // (LIST_DEPTH * len(runs)))
    numbers = {topic: place for place, topic in enumerate(lists.qrels.topics)}
    known = [topic for topic in topics.tolist() if shown[topic] in numbers]
    places = [lists.runs.index(contents.scores.runs[run]) for run in runs]
    depth = np.zeros(lists.depth.shape, np.int64)
    chosen_topics = [numbers[shown[topic]] for topic in known]
    depth[:, chosen_topics] = np.minimum(lists.depth[:, chosen_topics], LIST_DEPTH)
    tops = lists.of_topics(0, len(lists.qrels.topics), depth)
    return {
        "depth": LIST_DEPTH,
        "runs": runs,
        "topics": known,
        "by_topic": [_of_topic(tops, places, numbers[shown[topic]]) for topic in known],
    }


def _chosen_runs(contents: Contents) -> list[int]:
    """Return the best runs by each measure in turn, and the baseline."""
    orders = [part.order for part in contents.measures]
    by_place = [order[place] for place in range(len(orders[0])) for order in orders]
    baseline = contents.settings.baseline
    first = [] if baseline is None else [contents.scores.runs.index(baseline)]
    return list(dict.fromkeys([*first, *by_place]))[: max(_LEAST_RUNS, len(orders) + 2)]


def _of_topic(lists: HeldLists, runs: list[int], topic: int) -> dict[str, Any]:
    """Return the documents of a topic with their grades, and the list of each run by number."""
    numbers: dict[int, int] = {}
    grades: list[int | None] = []
    listed = []
    for run in runs:
        start, stop = lists.offsets[run * len(lists.qrels.topics) + topic :][:2].tolist()
        judged = lists.judgements[start:stop].tolist()
        documents = lists.documents[start:stop].tolist()
        for document, judgement in zip(documents, judged, strict=True):
            if numbers.setdefault(document, len(numbers)) == len(grades):
                grades.append(None if judgement < 0 else int(lists.qrels.gains[judgement]))
        listed.append([numbers[document] for document in documents])
    return {
        "documents": [lists.docids[document] for document in numbers],
        "grades": grades,
        "lists": listed,
    }
