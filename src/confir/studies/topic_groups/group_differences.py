"""Does the difference between two runs depend on the kind of topic? Differences by group of topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from confir.arguments import as_generator, as_level, check_replicates
from confir.arrays import Booleans, Floats, Integers
from confir.data.experiment import on_its_scheduler
from confir.data.result import Record, Variable, axis, constant, over, result
from confir.data.sampling_designs.design import DesignSource
from confir.data.sampling_designs.topic_groups import TopicGroups, as_topic_groups
from confir.data.score_objects import ScoresSource
from confir.data.scores import Scores
from confir.defaults import LEVEL, REPLICATES, SEED
from confir.errors import collect_warnings, warn_caller
from confir.measures.score_sources import as_scores
from confir.pairs.compare import compare_runs
from confir.pairs.comparison import Comparison
from confir.pairs.decisions import NOT_COMPARED, Words
from confir.pairs.differences import LEAST_TOPICS, Pairs
from confir.pairs.families import adjust_p_values
from confir.pairs.pair_results import PairResult, open_words
from confir.pairs.simultaneous import borderline_decisions, is_significant, monte_carlo_error
from confir.resampling.kinds import as_sample, needs
from confir.resampling.replicates import FURTHER, Rng, can_draw_further, own_seed
from confir.resampling.sample import Knowledge
from confir.studies.topic_groups.heterogeneity import Heterogeneity, check_groups

# The group of all topics, and its columns.
EVERY_GROUP = "all topics"
_OF_EVERY_GROUP = ("difference", "low", "high", "verdict")


@result
class GroupComparison(PairResult):
    """Differences between runs in each group of topics, each run minus its baseline.

    Attributes
    ----------
    scores
        The scores that were compared.
    column
        What the groups are by.
    groups, sizes
        Names of the groups, and the number of topics of each.
    overall
        The comparison on all topics, which the groups do not change.
    first, second
        Numbers of the two runs of each pair: baseline and run.
    difference, low, high, open_end
        Mean difference in each group and its interval, simultaneous over pairs and groups; NaN where
        topics are too few. ``open_end`` is as in `Comparison`.
    topics
        Topics of the group that both runs have.
    verdict, borderline
        better, worse, equivalent, identical or inconclusive by that interval; not compared where
        both runs have fewer than two topics; and whether another seed might change it.
    f, df_groups, df_error, p, p_adjusted
        Welch's F that the difference is the same in all groups tested, p by permutation of the
        groups' labels, adjusted by Holm's method for the pairs; NaN where it is not tested.
    groups_borderline
        Whether other permutations might change the decision of that test.
    tested
        Which groups are tested: those of five topics or more whose differences vary.
    untested
        Why no pair is tested; empty where pairs are.
    level, replicates
        Of the intervals, all groups together; permutations and replicates.
    """

    scores: Scores
    column: str = constant(column="by")
    groups: tuple[str, ...] = axis("group")
    sizes: Integers = over("group")
    overall: Comparison
    first: Integers = over("pair")
    second: Integers = over("pair")
    difference: Floats = over("group", "pair", "measure")
    low: Floats = over("group", "pair", "measure")
    high: Floats = over("group", "pair", "measure")
    open_end: Integers = over("group", "pair", "measure")
    topics: Integers = over("group", "pair", "measure")
    verdict: Words = over("group", "pair", "measure")
    borderline: Booleans = over("group", "pair", "measure")
    f: Floats = over("pair", "measure")
    df_groups: Floats = over("pair", "measure")
    df_error: Floats = over("pair", "measure")
    p: Floats = over("pair", "measure")
    p_adjusted: Floats = over("pair", "measure")
    groups_borderline: Booleans = over("pair", "measure")
    tested: Booleans = over("group", "pair", "measure")
    untested: str
    level: float = constant()
    replicates: int

    row_order = ("measure", "pair", "group")
    record_columns = (
        *(
            "measure",
            "against",
            "run",
            "by",
            "group",
            "topics",
            "difference",
            "low",
            "high",
            "open",
        ),
        *("level", "verdict", "borderline", "overall_difference", "overall_low", "overall_high"),
        *("overall_verdict", "f", "df_groups", "df_error", "p_groups", "p_groups_adjusted"),
        *("groups_borderline", "tested"),
    )

    def derived(self) -> Iterator[Variable]:
        """Yield open ends, what all topics show, and the test's p-values by their full names."""
        cells = ("pair", "measure")
        yield Variable("open", ("group", *cells), open_words(self.open_end))
        words = self.verdict.astype(object)
        words[self.verdict == NOT_COMPARED] = None
        yield Variable("verdict", ("group", *cells), words)
        limits = self.overall.limits
        yield Variable("overall_difference", cells, self.overall.difference)
        yield Variable("overall_low", cells, limits.low)
        yield Variable("overall_high", cells, limits.high)
        yield Variable("overall_verdict", cells, self.overall.verdict[0])
        yield Variable("p_groups", cells, self.p)
        yield Variable("p_groups_adjusted", cells, self.p_adjusted)

    def records_with_overall(self) -> list[Record]:
        """Return the records of groups, each pair's after one of all topics, which is ``whole``."""
        overall, groups = self.overall, len(self.groups)
        ends = open_words(overall.open_end)
        found = []
        for number, record in enumerate(self.to_records()):
            measure, pair = divmod(number // groups, len(self.first))
            if number % groups == 0:
                cell = pair, measure
                whole = {name: record[f"overall_{name}"] for name in _OF_EVERY_GROUP}
                whole |= {"topics": int(overall.topics[cell]), "open": ends[cell], "whole": True}
                unclear = bool(overall.borderline[0, pair, measure])
                found.append({**record, **whole, "group": EVERY_GROUP, "borderline": unclear})
            word = record["verdict"] or NOT_COMPARED
            found.append({**record, "verdict": word, "whole": False})
        return found

    @property
    def significant(self) -> Booleans:
        """Whether the difference depends on the group: pairs × measures."""
        known = ~np.isnan(self.p_adjusted)
        found: Booleans = known & is_significant(np.where(known, self.p_adjusted, 1.0), self.level)
        return found

    def sentences(self) -> list[str]:
        """Return one answer per measure and pair: does the difference depend on the group?"""
        from confir.studies.topic_groups.sentences import group_sentence

        pairs, measures = range(len(self.first)), range(len(self.scores.measures))
        return [group_sentence(self, pair, measure) for measure in measures for pair in pairs]


@on_its_scheduler
@needs(Knowledge.TOPICS, "the comparison of groups of topics")
def compare_groups(
    scores: ScoresSource,
    *,
    by: str | Mapping[str, Any] | TopicGroups,
    table: DesignSource | None = None,
    baseline: str | None = None,
    level: float = LEVEL,
    replicates: int = REPLICATES,
    rng: Rng = SEED,
) -> GroupComparison:
    """Return the differences between runs in each group of topics, and whether they depend on it.

    A run may help one kind of topic and hurt another, which a mean over all of them hides. That it
    is significant in one group and not in the other says nothing of a difference between groups,
    which is therefore tested by itself.

    Each group is a family of its own at ``level^(1/Γ)`` for Γ groups, so that the intervals of all
    groups and pairs are simultaneous. Whether a pair's difference is the same in all groups is tested
    by Welch's F, with p-values by permutation and Holm's correction for the pairs of a measure.

    Parameters
    ----------
    scores
        Scores of two runs or more, or what `as_scores` makes them of.
    by
        What groups topics: a column of ``table`` or of the scores' design; or topic → group.
    table
        A table of topics: a file, a frame or a mapping of columns, one of which is topic.
    baseline, replicates, rng
        As in `compare_runs`; replicates are also the permutations.
    level
        Of the intervals of all groups together; 1 - level is the α of the test.

    Examples
    --------
    >>> scores = {"a": [0.3, 0.5, 0.4, 0.6, 0.2, 0.8], "b": [0.2, 0.5, 0.1, 0.3, 0.4, 0.5]}
    >>> long = {"1": "yes", "2": "yes", "3": "yes", "4": "no", "5": "no", "6": "no"}
    >>> confir.compare_groups(scores, by=long)
    GroupComparison(group: 2, pair: 1, measure: 1, column='group', level=0.95)
    """
    held = as_scores(scores, human=True)
    groups = as_topic_groups(by, held, table)
    level = as_level(level)
    check_replicates(replicates)
    seed = own_seed(as_generator(rng))
    drawing: dict[str, Any] = {"replicates": replicates, "rng": seed}
    overall = compare_runs(held, baseline=baseline, level=level, **drawing)
    sizes = [len(members) for members in groups.members().values()]
    compared = sum(size >= LEAST_TOPICS for size in sizes)
    own = level ** (1.0 / compared)
    parts = [
        _compare_group(name, part, overall, {**drawing, "level": own})
        for name, part in groups.parts(held)
    ]
    tested, reason = _test(held, groups, overall, level, replicates, seed)
    return GroupComparison(
        scores=held,
        column=groups.column,
        groups=groups.names,
        sizes=np.array(sizes),
        overall=overall,
        first=overall.first,
        second=overall.second,
        **{name: np.stack([part[name] for part in parts]) for name in parts[0]},
        **tested,
        untested=reason,
        level=level,
        replicates=replicates,
    )


def _compare_group(
    name: str, scores: Scores, overall: Comparison, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what one group says of all pairs, pairs × measures: means alone where topics are few."""
    apart = scores.values[:, overall.second] - scores.values[:, overall.first]
    topics: Integers = np.isfinite(apart).sum(axis=0)
    if topics.max() < LEAST_TOPICS or scores.topic_counts().max() < LEAST_TOPICS:
        shape = overall.difference.shape
        mean = np.where(topics > 0, np.nansum(apart, axis=0) / np.maximum(topics, 1), np.nan)
        none = np.zeros(shape, int)
        return {
            "difference": mean,
            **dict.fromkeys(("low", "high"), np.full(shape, np.nan)),
            "open_end": none,
            "topics": topics,
            "verdict": np.full(shape, NOT_COMPARED),
            "borderline": none > 0,
        }
    with collect_warnings() as collected:
        found = compare_runs(scores, baseline=overall.baseline, **options)
    for message, category in collected:
        warn_caller(f"{name}: {message}", category)
    return {
        "difference": found.difference,
        "low": found.limits.low,
        "high": found.limits.high,
        "open_end": found.open_end,
        "topics": found.topics,
        "verdict": np.where(found.topics >= LEAST_TOPICS, found.verdict[0], NOT_COMPARED),
        "borderline": found.borderline[0],
    }


def _test(
    scores: Scores,
    groups: TopicGroups,
    overall: Comparison,
    level: float,
    replicates: int,
    seed: int,
) -> tuple[dict[str, Any], str]:
    """Return the test of every pair, as fields of the result, and why there is none.

    Where a decision is borderline, ten times as many permutations are drawn.
    """
    shape = overall.difference.shape
    reason = _objection(scores, groups)
    if reason:
        none = np.full(shape, np.nan)
        fields = dict.fromkeys(("f", "df_groups", "df_error", "p", "p_adjusted"), none)
        empty = np.zeros((len(groups.names), *shape), np.bool_)
        return {**fields, "groups_borderline": empty[0], "tested": empty}, reason
    joined = _heterogeneity(scores, groups, overall, replicates, seed)
    unclear = _is_borderline(joined.p.reshape(shape), level, replicates)
    if unclear.any() and can_draw_further(len(overall.first), len(scores.topics), replicates):
        joined = _heterogeneity(scores, groups, overall, FURTHER * replicates, seed)
        unclear = _is_borderline(joined.p.reshape(shape), level, FURTHER * replicates)
    found = {
        name: part.reshape(*part.shape[:-1], *shape) for name, part in joined._asdict().items()
    }
    if np.isnan(joined.p).all():
        reason = "fewer than two groups have five topics or more whose differences vary"
    found["p_adjusted"] = adjust_p_values(found["p"], "holm")
    return {**found, "groups_borderline": unclear}, reason


def _heterogeneity(
    scores: Scores, groups: TopicGroups, overall: Comparison, permutations: int, seed: int
) -> Heterogeneity:
    """Return the test of all pairs, one column per pair and measure."""
    pairs = Pairs(as_sample(scores), overall.first, overall.second)
    numbers = groups.codes(scores.topics)
    blocks = [
        check_groups(pairs.contrast(columns).unit_scores(), numbers, permutations, seed)
        for columns in pairs.blocks()
    ]
    return Heterogeneity(*(np.concatenate(part, axis=-1) for part in zip(*blocks, strict=True)))


def _is_borderline(p: Floats, level: float, permutations: int) -> Booleans:
    """Return where other permutations might change whether an adjusted p-value is significant."""
    error = monte_carlo_error(p, permutations)

    def moved(errors: float) -> Floats:
        return adjust_p_values(np.clip(p + errors * error, 0.0, 1.0), "holm")

    return borderline_decisions(moved, level) & ~np.isnan(p)


def _objection(scores: Scores, groups: TopicGroups) -> str:
    """Return why labels of topics cannot be permuted; nothing where they can."""
    large = [part for _, part in groups.parts(scores) if len(part.topics) >= LEAST_TOPICS]
    whole = as_sample(scores)
    torn = [whole] if whole.scheme.clusters not in (0, whole.topics) else []  # between groups, too
    for sample in (*torn, *map(as_sample, large)):
        if Knowledge.VALUES not in sample.knowledge:
            return f"permuting topics needs {Knowledge.VALUES}, which {sample.kind} lack"
    return ""
