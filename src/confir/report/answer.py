"""Which run is best, how sure is that, and what limits the certainty? In sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from confir.data.common_topics import LEAST_COMMON_TOPICS, common_topics, have_same_topics
from confir.errors import enumerate_names
from confir.order import is_best
from confir.report.contents import Contents, MeasureContents
from confir.report.numbers import (
    counted,
    interval_text,
    number_text,
    p_text,
    percent,
    runs_differ_in_topics,
    topics_text,
)
from confir.studies.comparison import Comparison, Place
from confir.studies.corrections import CORRECTION_NAMES
from confir.studies.verdicts import BETTER, IDENTICAL, INCONCLUSIVE, OPPOSITE, signed

_NAMES_SHOWN = 5

# Beside the verdicts of a comparison: the two runs share fewer than two topics.
NOT_COMPARED = "not compared"

# Shares of a variance that differ by less are about equal: replicates are few.
_ABOUT_EQUAL = 0.1


def answer_sentences(contents: Contents) -> list[str]:
    """Return what the report finds by the first measure, most important first."""
    first, level = contents.measures[0], contents.settings.level
    return [
        _best_sentence(first, level),
        *_against_others(first, level),
        *_rank_sentence(first, level),
        *_other_measures(contents),
        *_shares_sentence(contents),
        *_plan_sentence(contents),
        *_coverage_sentence(first),
    ]


def isolated(name: str) -> str:
    """Return a name that keeps its direction of writing to itself, and leaves text around it be."""
    return name if name.isascii() else f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}"


def verdicts_against(comparison: Comparison, run: int) -> dict[int, str]:
    """Return the verdict on each other run against one, from that one's side.

    ``better`` says that the one run is better than the other.
    """
    verdict: dict[int, str] = {}
    pairs = zip(comparison.first.tolist(), comparison.second.tolist(), strict=True)
    for (first, second), word in zip(pairs, pair_verdicts(comparison), strict=True):
        if second == run:
            verdict[first] = word
        elif first == run:
            verdict[second] = OPPOSITE.get(word, word)
    return verdict


def pair_verdicts(comparison: Comparison) -> list[str]:
    """Return the verdict on each pair; pairs that share too few topics are not compared."""
    compared = comparison.topics[:, 0] >= 2
    words: list[str] = np.where(compared, comparison.verdict[0, :, 0], NOT_COMPARED).tolist()
    return words


def _names(runs: Iterable[str]) -> str:
    return enumerate_names(map(isolated, runs), _NAMES_SHOWN)


def _best_sentence(contents: MeasureContents, level: float) -> str:
    scores = contents.scores
    best = contents.order()[0]
    interval = contents.intervals[level]
    mean, low, high = (
        float(a.reshape(-1)[best]) for a in (interval.estimate, interval.low, interval.high)
    )
    counts = interval.topics.reshape(-1)
    topics = topics_text(counts)
    if math.isnan(mean):
        over = counted(len(scores.topics), "topic")
        return f"By {contents.measure} over {over}, no run has a score."
    shares = is_best(contents.comparable_means())
    tied = [place for place in contents.order()[1:] if shares[place]]
    which = "the run is"
    if len(scores.runs) > 1:
        which = f"the best of {len(scores.runs)} runs is"
    said = f"mean {number_text(mean)}"
    if runs_differ_in_topics(counts[:, None]).any():
        said += f" over its {counted(int(counts[best]), 'topic')}"
    if not (math.isnan(low) or math.isnan(high)):
        limits = interval_text(mean, low, high).partition(" ")[2]
        said += f", {percent(level)} interval {limits}"
    if tied:
        said += f"; the same mean{_where_compared(contents)}: {_names(scores.runs[place] for place in tied)}"
    where = _where_compared(contents)
    return f"By {contents.measure} over {topics}, {which} {isolated(scores.runs[best])}{where}: {said}."


def _where_compared(contents: MeasureContents) -> str:
    """Return on which topics means are compared, where runs do not have the same ones."""
    values = contents.scores.values
    if have_same_topics(values).all():
        return ""
    common = int(common_topics(values).sum())
    if common < LEAST_COMMON_TOPICS:
        return " by its mean over its own topics"
    return f" on the {common} topics that all runs have"


def _against_others(contents: MeasureContents, level: float) -> list[str]:
    """Return which runs the best one is significantly better than, and which it is not."""
    if not contents.comparisons:
        return [f"Runs are not compared: {contents.left_out['comparisons']}."]
    comparison = contents.comparisons[level]
    best, *others = contents.order()
    verdicts = verdicts_against(comparison, best)
    runs: dict[str, list[str]] = {}
    for place in others:
        runs.setdefault(verdicts[place], []).append(contents.scores.runs[place])
    beaten, unclear = runs.pop(BETTER, []), runs.pop(INCONCLUSIVE, [])
    return [
        *_better_sentences(len(beaten), unclear, len(others), _how_compared(comparison)),
        *(_exception(word, names) for word, names in runs.items()),
    ]


def _better_sentences(beaten: int, unclear: list[str], others: int, how: str) -> list[str]:
    """Return how many runs the best one is better than, and which are indistinguishable from it."""
    if beaten == others:
        every = "the other run" if others == 1 else f"every one of the other {others} runs"
        return [f"It is significantly better than {every} ({how})."]
    if others == 1:
        said = f"It is not significantly better than the other run, {_names(unclear)} ({how})."
        return [said] if unclear else []
    better = f"It is significantly better than {beaten} of the other {others} runs ({how})."
    if not beaten:
        better = f"It is not significantly better than any of the other {others} runs ({how})"
        next_runs = f"; the next by the mean: {_names(unclear)}" if unclear else ""
        return [f"{better}{next_runs}."]
    if not unclear:
        return [better]
    runs = "One run is" if len(unclear) == 1 else f"{len(unclear)} runs are"
    return [better, f"{runs} statistically indistinguishable from it: {_names(unclear)}."]


def _exception(word: str, names: list[str]) -> str:
    """Return what is unusual about runs beside the best one: missing topics, or equal scores."""
    if word == NOT_COMPARED:
        return f"It is not compared with {_names(names)}: fewer than 2 topics in common."
    if word == IDENTICAL:
        return f"It is identical to {_names(names)}: the same score on every topic."
    better = "is" if len(names) == 1 else "are"
    return f"On the topics in common, {_names(names)} {better} significantly better than it."


def _how_compared(comparison: Comparison) -> str:
    how = f"paired {comparison.tests[0]} test, α = {1 - comparison.level:.4g}"
    tested = int(comparison.tested[0])
    if tested > 1:
        how += f", {CORRECTION_NAMES[comparison.correction]} for {counted(tested, 'pair')}"
    return how


def _rank_sentence(contents: MeasureContents, level: float) -> list[str]:
    """Return how often the run stays the best where topics are drawn anew.

    The draws favour it as these topics did: the sentence says so, since readers take the share for
    a probability.
    """
    if not contents.rankings or len(contents.scores.runs) < 2:
        return []
    ranking = contents.rankings[level]
    best = contents.order()[0]
    low, high = int(ranking.low[best, 0]), int(ranking.high[best, 0])
    places = f"between {low} and {high}" if low < high else f"{low}"
    share = float(ranking.p_best[best, 0])
    often = "more than 99 %" if share > 0.99 else percent(share, 2)
    return [
        (
            f"Of sets of topics drawn anew from these, it is the best in {often}, and its rank is "
            f"{places} ({percent(level)} interval); such draws cannot undo luck with the topics at hand."
        )
    ]


def _other_measures(contents: Contents) -> list[str]:
    """Return whether the other measures name the same best run."""
    if len(contents.measures) < 2 or len(contents.scores.runs) < 2:
        return []
    best = contents.measures[0].order()[0]
    same, others = [], []
    for part in contents.measures[1:]:
        highest = is_best(part.comparable_means())
        if highest[best]:
            same.append(part.measure)
        elif highest.any():
            others.append(f"{isolated(contents.scores.runs[part.order()[0]])} by {part.measure}")
    sentences = []
    if same:
        sentences.append(f"It has the best mean by {enumerate_names(same, _NAMES_SHOWN)}, too.")
    if others:
        sentences.append(
            f"By other measures, other runs have the best mean: "
            f"{enumerate_names(others, _NAMES_SHOWN)}."
        )
    return sentences


def _shares_sentence(contents: Contents) -> list[str]:
    """Return what limits the certainty of the best difference: topics or documents."""
    collection = contents.collection
    if collection is None or collection.difference_variance is None:
        return []
    variance = collection.difference_variance
    best, runner_up = collection.order()[:2]
    place = variance.runs.index(runner_up)
    total = float(variance.total[0, 0, place])
    if not total > 0.0:
        return []
    topics, documents, both = (
        float(part[0, 0, place]) / total
        for part in (variance.topics, variance.documents, variance.interaction)
    )
    limit = "topics and documents limit the certainty about equally"
    if abs(topics - documents) >= _ABOUT_EQUAL:
        limit = f"the {'topics' if topics > documents else 'documents'} limit the certainty most"
    return [
        (
            f"Of the variance of the difference between {isolated(best)} and "
            f"{isolated(runner_up)} by {variance.measures[0]}, {percent(topics, 2)} comes from the "
            f"choice of topics, {percent(documents, 2)} from the documents of the collection and "
            f"{percent(both, 2)} from their interaction, which more of either reduces: {limit}."
        )
    ]


def _plan_sentence(contents: Contents) -> list[str]:
    """Return how many topics the best difference needs, where it is inconclusive."""
    plan, first = contents.plan, contents.measures[0]
    if plan is None or not first.comparisons:
        return []
    best, runner_up = first.order()[:2]
    comparison = first.comparisons[contents.settings.level]
    record = plan.to_records()[0]
    if verdicts_against(comparison, best)[runner_up] != INCONCLUSIVE or math.isnan(
        record["topics"]
    ):
        return []
    name = isolated(record["baseline"])
    pair = (comparison.first == min(best, runner_up)) & (comparison.second == max(best, runner_up))
    decision = comparison.decision(Place(0, int(np.flatnonzero(pair)[0]), 0))
    if decision.lost_by_correction:
        return [
            (
                f"On its own, the difference from {name} ({signed(record['difference'])}) would be "
                f"significant (p {p_text(decision.p)}); after the correction for "
                f"{counted(decision.family.pairs, 'pair')} it is not."
            )
        ]
    return [
        (
            f"If its true difference from {name} is the one observed "
            f"({signed(record['difference'])}), a test of this pair alone has power "
            f"{record['power']:g} with about {record['topics']:,} topics; there are "
            f"{len(contents.scores.topics)}."
        )
    ]


def _coverage_sentence(contents: MeasureContents) -> list[str]:
    """Return how often such intervals hold the mean, and where they do so least."""
    coverage = contents.coverage
    if coverage is None:
        return []
    record = coverage.summary()[0]
    sentence = (
        f"On scores like these, about {percent(record['coverage'], 3)} of such intervals hold the "
        f"mean of all topics; {percent(record['level'])} is claimed."
    )
    outliers = coverage.outliers()
    if not outliers:
        return [sentence]
    worst = outliers[0]
    among = f"{len(outliers)} of {len(coverage.runs)} runs" if len(outliers) > 1 else "one run"
    return [
        (
            f"{sentence} They hold it far less often for {among}, least for "
            f"{isolated(worst['run'])}: {percent(worst['coverage'], 3)} ({worst['reason']})."
        )
    ]
