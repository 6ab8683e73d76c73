"""Whole lists with their scores, from which studies of unjudged and of tied documents start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import as_function
from confir.arrays import Floats
from confir.data.experiment import Experiment, as_experiment
from confir.data.ranked_lists.held_lists import HeldLists, TopicLists, topic_blocks
from confir.data.ranked_lists.rankings import Rankings, stack_rankings
from confir.data.reading_rules import ReadingOptions, ReadingRules
from confir.data.scores import Scores
from confir.errors import UnsupportedMethodError
from confir.measures.binary import judged_share
from confir.measures.evaluation import chosen_measures, evaluate
from confir.measures.measure import AnyMeasure, Measure
from confir.measures.parsing import parse_measures
from confir.parallel import Progress, run_in_threads

# Returns why a measure of the catalogue cannot be used; nothing where it can.
Objection = Callable[[Measure], str | None]


@dataclass(frozen=True, eq=False)
class ListsAndScores:
    """Lists, and their scores by measures of the catalogue.

    Attributes
    ----------
    lists
        The whole lists, of the runs and topics that have scores and perhaps of others.
    scores
        The scores; NaN where a run has none.
    measures
        The measures of the scores.
    rules
        How the lists were read, and the depth at which they are cut.
    """

    lists: TopicLists
    scores: Scores
    measures: tuple[Measure, ...]
    rules: ReadingRules

    @cached_property
    def cut_lists(self) -> HeldLists:
        """The lists of all topics, cut at the depth of the rules."""
        return self.cut(self.lists.of_topics(0, len(self.lists.qrels.topics)))

    def cut(self, lists: HeldLists) -> HeldLists:
        """Return some of the lists, cut at the depth of the rules."""
        return lists if self.rules.depth is None else lists.cut(self.rules.depth)

    @cached_property
    def longest(self) -> int:
        """Length of the longest list, as the depth of the rules leaves it."""
        longest = int(self.lists.depth.max(initial=1))
        return min(longest, self.rules.depth or longest)

    @cached_property
    def rankings(self) -> Rankings:
        """The judged documents of all runs, as the depth of the rules leaves them."""
        stacked = stack_rankings(self.lists.rankings())
        return stacked if self.rules.depth is None else stacked.cut(self.rules.depth)

    def scores_of(self, values: Sequence[Floats] | Floats) -> Scores:
        """Return scores like these from values for all runs and topics of the lists.

        Parameters
        ----------
        values
            For each measure, runs × topics of the lists.
        """
        runs = [self.lists.runs.index(run) for run in self.scores.runs]
        places = {topic: place for place, topic in enumerate(self.lists.qrels.topics)}
        topics = [places[topic] for topic in self.scores.topics]
        found = np.asarray(values)[:, runs][:, :, topics].transpose(2, 1, 0)
        return replace(self.scores, values=np.where(np.isnan(self.scores.values), np.nan, found))

    def pool_depths(self, depth: int | None) -> tuple[int | None, ...]:
        """Return for each measure how deep runs are looked at for documents that may be judged.

        To the depth given, else to the measure's cutoff; None where that is all of the lists.
        """
        wanted = [depth or measure.cutoff for measure in self.measures]
        return tuple(one if one is not None and one < self.longest else None for one in wanted)

    def judged(self) -> Floats:
        """Return the share judged of the first k documents, the mean over lists: runs × measures.

        Of the whole lists for measures without cutoff.
        """
        present = self.rankings.present
        shares = (judged_share(self.rankings, cutoff=one.cutoff)[:, :, 0] for one in self.measures)
        return self.scores_of([np.where(present, share, np.nan) for share in shares]).mean()


class BlockStudy(NamedTuple):
    """What is computed of lists some topics at a time.

    Attributes
    ----------
    lists
        The lists.
    compute
        Returns numbers about the lists of some topics, which are their last axis.
    finish
        Returns the result from the numbers about all topics, joined along that axis.
    """

    lists: TopicLists
    compute: Callable[[HeldLists], Floats]
    finish: Callable[[Floats], Any]

    def result(self) -> Any:
        """Return the result, computed in threads."""
        blocks = run_in_threads(lambda task: task(), block_tasks([self]))
        return self.finish(np.concatenate([part for (part,) in blocks], axis=-1))


def block_tasks(studies: Sequence[BlockStudy]) -> list[Callable[[], list[Any]]]:
    """Return tasks that each compute studies of the same lists for some topics, read once."""
    if not studies:
        return []
    lists = studies[0].lists

    def compute(start: int, stop: int) -> list[Any]:
        held = lists.of_topics(start, stop)
        return [study.compute(held) for study in studies]

    return [partial(compute, *block) for block in topic_blocks(lists.depth)]


def read_lists_and_scores(
    qrels: Any,
    runs: Any,
    measures: Any,
    rules: ReadingOptions,
    objection: Objection,
    progress: Progress | None,
) -> ListsAndScores:
    """Return lists and scores of an experiment, or of what makes one.

    Parameters
    ----------
    qrels, runs, measures, progress
        As in `evaluate`.
    rules
        How to read qrels and runs.
    objection
        Why a measure cannot be used; raised before anything is read.
    """
    as_function("progress", progress)
    experiment: Experiment = as_experiment(qrels, runs, rules)
    chosen = chosen_measures(experiment, measures)
    wanted = usable_measures(chosen, experiment.rules, objection)
    lists = experiment.lists_by_topic(progress)
    return join_scores(lists, evaluate(experiment, measures=wanted), experiment.rules, objection)


def join_scores(
    lists: TopicLists, scores: Scores, rules: ReadingRules, objection: Objection
) -> ListsAndScores:
    """Return lists with their scores; raise where a measure cannot be used."""
    return ListsAndScores(lists, scores, usable_measures(scores.measures, rules, objection), rules)


def with_usable_scores(
    lists: TopicLists, scores: Scores, rules: ReadingRules, objection: Objection
) -> ListsAndScores:
    """Return lists with their scores by those measures that can be used."""
    measures = dict(zip(scores.measures, parse_measures(scores.measures, rules.rel), strict=True))
    usable = {
        name: one
        for name, one in measures.items()
        if isinstance(one, Measure) and objection(one) is None
    }
    if not usable:
        usable_measures(scores.measures, rules, objection)
    return ListsAndScores(lists, scores.select(measure=list(usable)), tuple(usable.values()), rules)


def usable_measures(
    measures: Sequence[str | AnyMeasure], rules: ReadingRules, objection: Objection
) -> tuple[Measure, ...]:
    """Return measures, which may be given by name; raise where one cannot be used, with the reason."""
    usable = []
    for measure in parse_measures(measures, rules.rel):
        reason: str | None = "it is not a measure of confir's catalogue"
        if isinstance(measure, Measure):
            reason = objection(measure)
            usable.append(measure)
        if reason is not None:
            raise UnsupportedMethodError(f"{measure}: {reason}")
    return tuple(usable)
