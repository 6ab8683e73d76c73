"""Checks that runs, qrels and measures fit together: what is refused, and what is warned of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confir.data.common_topics import name_topics, warn_of_left_out_topics
from confir.data.qrels import Qrels
from confir.data.reading_rules import Missing
from confir.data.scanning.scanner import Ranked
from confir.data.scores import Scores
from confir.errors import (
    InvalidValueError,
    MissingTopicWarning,
    NothingRelevantWarning,
    TopicMismatchError,
    UnknownTopicWarning,
    enumerate_names,
    warn_caller,
)
from confir.measures.measure import AnyMeasure, Measure


def check_ranked(
    qrels: Qrels, ranked: Sequence[Ranked], measures: Sequence[AnyMeasure], missing: Missing
) -> None:
    """Raise or warn where runs share a name, or where runs, qrels and measures do not fit."""
    names = [name for part, _ in ranked for name in part.runs]
    if len(set(names)) < len(names):
        repeated = sorted({name for name in names if names.count(name) > 1})
        raise InvalidValueError(
            f"several runs are named {repeated[0]!r}, by their tags or otherwise; name them as in "
            "one=PATH other=PATH"
        )
    check_topics(qrels, ranked, missing)
    levels, counts = qrels.count_by_gain()
    without = counts[:, levels >= 1].sum(axis=1) == 0
    highest = int(levels.max(initial=0))
    if without.any() or any(measure.lowest_gain > max(highest, 1) for measure in measures):
        topics = [qrels.topics[place] for place in np.flatnonzero(without)]
        shares = f"{len(topics)} of {len(qrels.topics)} topics ({enumerate_names(topics)})"
        warn_of_nothing_relevant(shares if topics else "", highest, measures)


def warn_of_gains_above_one(scores: Scores, measures: Sequence[AnyMeasure]) -> None:
    """Warn of scores above 1 by RBP, whose gains are those of the qrels unless it says otherwise."""
    highest = np.nanmax(scores.values, axis=(0, 1), initial=0.0)
    for measure, score in zip(measures, highest.tolist(), strict=True):
        if score <= 1.0 or not isinstance(measure, Measure) or not measure.definition.in_gains:
            continue
        if measure.keywords.keys().isdisjoint(("rel", "gains")):
            warn_caller(
                f"{measure} is up to {score:.2f} on a topic, above 1: it takes the grades of the qrels for "
                "gains; expected a gain for each grade, as gains='1:0.5,2:1' gives, or rel"
            )


def check_topics(qrels: Qrels, ranked: Sequence[Ranked], missing: Missing) -> None:
    """Raise or warn where runs and qrels have different topics."""
    lacking: dict[str, list[str]] = {}
    unknown: dict[str, list[str]] = {}
    for rankings, extra in ranked:
        name = rankings.runs[0]
        if not rankings.present.any():
            shown = enumerate_names(extra, 3) if extra else "none"
            raise TopicMismatchError(
                f"run {name!r} and the qrels have no topic in common: the run has {shown}, "
                f"the qrels have {enumerate_names(qrels.topics, 3)}"
            )
        absent = np.flatnonzero(~rankings.present[0]).tolist()
        if absent:
            lacking[name] = [qrels.topics[i] for i in absent]
        if extra:
            unknown[name] = list(extra)
    if lacking and missing == "drop":
        present = np.concatenate([rankings.present for rankings, _ in ranked])
        same = bool((present == present[0]).all())
        warn_of_left_out_topics(lacking, "of the qrels", same=same)
    if lacking or unknown:
        without = name_topics(lacking) if lacking else ""
        report_topics(without, name_topics(unknown, verb="has") if unknown else "", missing)


def report_topics(lacking: str, unknown: str, missing: Missing) -> None:
    """Raise or warn of runs that lack topics of the qrels or have others; both are named in words."""
    if lacking and missing == "error":
        raise TopicMismatchError(f"{lacking} of the qrels; expected all of them")
    if lacking and missing == "zero":
        warn_caller(f"{lacking} of the qrels, scored 0", MissingTopicWarning)
    if unknown:
        warn_caller(f"{unknown} that the qrels lack, left out", UnknownTopicWarning)


def warn_of_nothing_relevant(without: str, highest: int, measures: Sequence[AnyMeasure]) -> None:
    """Warn of topics without relevant documents, named in words, and where ``rel`` is above every gain."""
    if without:
        warn_caller(
            f"the qrels have no relevant document for {without}, which are scored as in trec_eval, 0 "
            "by most measures",
            NothingRelevantWarning,
        )
    asking = [str(measure) for measure in measures if measure.lowest_gain > max(highest, 1)]
    if asking:
        warn_caller(
            f"no document has a gain as high as {enumerate_names(asking)} asks for: the highest is "
            f"{highest}",
            NothingRelevantWarning,
        )
