"""What does the choice of a judge change? Grades, means, leaderboards and verdicts, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Unpack

import numpy as np

from confir.arguments import as_flag, as_generator, as_level, check_replicates
from confir.arrays import Floats, Integers
from confir.data.experiment import Experiment
from confir.data.ranked_lists.held_lists import HeldLists
from confir.data.reading_rules import ReadingOptions, ReadingRules, takes_rules
from confir.data.result import Result, Variable, axis, constant, over, result
from confir.data.sampling_designs.design import refuse_design
from confir.data.sampling_designs.repeated_scores import find_repeats
from confir.data.scores import Scores
from confir.defaults import LEVEL, REPLICATES, SEED
from confir.errors import InvalidValueError, TopicMismatchError, TopicWarning, counted, warn_caller
from confir.measures.evaluation import chosen_measures, score_lists
from confir.measures.human_evaluation import by_judge
from confir.pairs.compare import compare_runs
from confir.pairs.decisions import BETTER, WORSE, Words
from confir.parallel import Progress
from confir.resampling.replicates import Rng, draw_topics, own_seed
from confir.studies.judgements.grade_agreement import (
    PAIR_PARTS,
    GradeAgreement,
    agreement_of,
    judge_weights,
    resampled_limits,
)
from confir.studies.judgements.judge_effects import Drawn, JudgedRuns, judged_runs, mean_biases
from confir.studies.judgements.judge_variance import JudgeVariance, split_variance
from confir.studies.judgements.judges import GradeMap, Judges, gather_judges
from confir.studies.judgements.leaderboards import correlate_leaderboards

# With fewer judges, their variance is not known well enough to be split off.
LEAST_JUDGES = 3

_AGREEMENT = (
    "documents",
    "same_grade",
    *(f"{name}{end}" for name in ("weighted_kappa", "kappa") for end in ("", "_low", "_high")),
    *(f"krippendorff_alpha{end}" for end in ("", "_low", "_high")),
)
_BOARDS = tuple(
    f"{name}{end}" for name in ("bias", "tau", "tau_ap") for end in ("", "_low", "_high")
)
_VERDICTS = ("run_pairs", "significant", "kept", "lost", "reversed", "gained")


@result
class JudgementComparison(Result):
    """What changes when another judge takes the place of a reference: arrays are pairs × measures.

    Attributes
    ----------
    pairs, measures
        The two judges of each pair, a reference and a judge; names of the measures.
    judges
        Names of all judges.
    topics
        Topics that the leaderboards are over.
    bias
        Mean of the judge's scores minus mean of the reference's, over runs and topics; with limits.
    tau, tau_ap
        Kendall's τ_b and the AP correlation of the two leaderboards, with limits.
    run_pairs, significant
        Pairs of runs, and those with a significant difference by the reference.
    kept, lost, reversed
        Of these, pairs with the same verdict by the judge, with none, and with the opposite one.
    gained
        Pairs with a significant difference by the judge alone.
    agreement, runs, variance
        Agreement on grades; means and gains of each run; components of variance, for three judges
        or more.
    repeats
        Number of repeats of each system where runs are systems; else empty.
    level
        Confidence level.
    """

    pairs: tuple[tuple[str, str], ...] = axis("judge_pair")
    measures: tuple[str, ...] = axis("measure")
    judges: tuple[str, ...]
    topics: int = constant()
    bias: Floats = over("judge_pair", "measure")
    bias_low: Floats = over("judge_pair", "measure")
    bias_high: Floats = over("judge_pair", "measure")
    tau: Floats = over("judge_pair", "measure")
    tau_low: Floats = over("judge_pair", "measure")
    tau_high: Floats = over("judge_pair", "measure")
    tau_ap: Floats = over("judge_pair", "measure")
    tau_ap_low: Floats = over("judge_pair", "measure")
    tau_ap_high: Floats = over("judge_pair", "measure")
    run_pairs: Integers = over("judge_pair", "measure")
    significant: Integers = over("judge_pair", "measure")
    kept: Integers = over("judge_pair", "measure")
    lost: Integers = over("judge_pair", "measure")
    reversed: Integers = over("judge_pair", "measure")
    gained: Integers = over("judge_pair", "measure")
    agreement: GradeAgreement
    runs: JudgedRuns
    variance: JudgeVariance | None
    repeats: tuple[int, ...]
    level: float = constant()

    label_parts: ClassVar[Mapping[str, tuple[str, ...]]] = PAIR_PARTS
    record_columns = (
        *("reference", "judge", "measure", "topics"),
        *(*_AGREEMENT, *_BOARDS, *_VERDICTS, "level"),
    )

    def derived(self) -> Iterator[Variable]:
        """Yield the agreement on grades, which is the same by all measures."""
        for name in _AGREEMENT:
            yield Variable(name, ("judge_pair",), getattr(self.agreement, name))


@takes_rules
def compare_judgements(
    judges: Any,
    runs: Any,
    measures: Any = None,
    *,
    grades: Sequence[int] | None = None,
    grade_maps: Mapping[str, GradeMap] | None = None,
    repeats: bool | str = False,
    level: float = LEVEL,
    replicates: int = REPLICATES,
    rng: Rng = SEED,
    progress: Progress | None = None,
    **rules: Unpack[ReadingOptions],
) -> JudgementComparison:
    """Return how far judges agree, and what the choice of a judge changes for the runs.

    Judges that disagree on documents may still rank runs alike, and judges that agree on most may
    favour some run: a language model often favours systems like itself. So agreement, leaderboards,
    verdicts and the gain of each run are compared side by side.

    Parameters
    ----------
    judges
        Judge → qrels, as a path or an object that `as_qrels` takes; or a list of these, in which
        paths may be ``NAME=PATH``. Two or more; each earlier one is a reference for the later ones.
    runs, measures, progress, **rules
        As in `evaluate`.
    grades
        The scale that all judges share, where some do not use all of its grades.
    grade_maps
        Judge → grade → grade of the common scale, where judges use different ones; scores follow
        the mapped grades, too.
    repeats
        Whether runs named ``system@1``, ``system@2``, … are repeats of systems, which are then
        compared; or how they are named, as in `Scores.with_repeats`.
    level, replicates, rng
        Confidence level; number of replicates, and seed or generator.

    Examples
    --------
    >>> sample = confir.sample_collection()
    >>> judges = {"first": sample.qrels, "second": sample.qrels}
    >>> confir.compare_judgements(judges, sample.runs[2:5], "AP", replicates=99).tau
    array([[1.]])
    """
    level = as_level(level)
    check_replicates(replicates)
    if not isinstance(repeats, str):
        as_flag("repeats", repeats)
    reading = ReadingRules(**rules)
    refuse_design(reading.design, "the comparison of judgements")
    found = gather_judges(judges, grades=grades, grade_maps=grade_maps, rules=reading)
    experiment = Experiment(found.qrels[0], runs, measures, **rules)
    chosen_measures(experiment)  # whose names are checked before runs are read
    lists = experiment.lists(progress)
    return compare_judged_lists(
        found,
        lists,
        measures,
        rules=reading,
        level=level,
        replicates=replicates,
        rng=rng,
        repeats=repeats,
    )


def compare_judged_lists(
    judges: Judges,
    lists: HeldLists,
    measures: Any,
    *,
    rules: ReadingRules,
    level: float,
    replicates: int,
    rng: Rng,
    repeats: bool | str = False,
) -> JudgementComparison:
    """Return what `compare_judgements` does, of lists for the topics that the judges share."""
    generator = as_generator(rng)
    seed = own_seed(generator)
    weights = judge_weights(judges, replicates, generator)
    agreement = agreement_of(judges, weights, level)
    scores = by_judge(
        lambda qrels: score_lists(lists.judged_by(qrels), measures, rules),
        judges.names,
        judges.qrels,
    )
    scores, weights = _on_complete_topics(scores, weights, seed)
    counts_of_repeats: tuple[int, ...] = ()
    if repeats is not False:
        systems = [
            one.with_repeats(repeats if isinstance(repeats, str) else None) for one in scores
        ]
        counts_of_repeats = tuple(systems[0].repeat_counts.tolist())
        scores = systems
    else:
        _warn_of_repeats(scores[0])
    drawn = Drawn(weights, replicates, seed, level)
    verdicts = by_judge(lambda one: _verdicts(one, drawn), judges.names, scores)
    first = scores[0]
    values = np.stack([one.values for one in scores])  # judges × topics × runs × measures
    biases = mean_biases(values.mean(axis=2), judges.pairs, level)
    taus = [_correlations(values[..., m], judges.pairs, drawn) for m in range(values.shape[3])]
    counts = [_count_verdicts(verdicts[a], verdicts[b]) for a, b in judges.pairs]
    boards = (*biases, *(np.stack(part).T for part in zip(*taus, strict=True)))
    several = len(judges.names) >= LEAST_JUDGES
    return JudgementComparison(
        pairs=judges.pair_names,
        measures=first.measures,
        judges=judges.names,
        topics=len(first.topics),
        **dict(zip(_BOARDS, boards, strict=True)),
        **dict(zip(_VERDICTS, map(np.stack, zip(*counts, strict=True)), strict=True)),
        agreement=agreement,
        runs=judged_runs(judges, scores, values, drawn),
        variance=split_variance(values, first.runs, first.measures) if several else None,
        repeats=counts_of_repeats,
        level=level,
    )


def _on_complete_topics(
    scores: list[Scores], weights: Floats, seed: int
) -> tuple[list[Scores], Floats]:
    """Return scores on the topics that all runs have, and weights of these."""
    complete = ~np.any([np.isnan(one.values).any(axis=(1, 2)) for one in scores], axis=0)
    if complete.all():
        return scores, weights
    names = [t for t, kept in zip(scores[0].topics, complete, strict=True) if kept]
    if len(names) < 2:
        raise TopicMismatchError(
            "leaderboards of two judges need 2 topics that all runs have; there "
            f"{'is 1' if names else 'are none'}"
        )
    warn_caller(
        f"leaderboards are compared on the {counted(len(names), 'topic')} that all runs have, of "
        f"{len(complete)}",
        TopicWarning,
    )
    own = draw_topics(len(names), len(weights), np.random.default_rng([seed, len(names)])).shares()
    return [one.select(topic=names) for one in scores], own


def _warn_of_repeats(scores: Scores) -> None:
    """Warn if all runs are named as repeats of systems, which would be compared with each other."""
    try:
        found = find_repeats(scores)
    except InvalidValueError:
        return
    warn_caller(
        f"the {len(scores.runs)} runs are named as repeats of {counted(len(found.systems), 'system')}, and "
        "repeats of one system are compared as runs here; --repeats (repeats=True) compares the systems"
    )


def _correlations(values: Floats, pairs: list[tuple[int, int]], drawn: Drawn) -> list[Floats]:
    """Return τ_b and τ_AP of all pairs of judges with limits, from judges × topics × runs."""

    def statistic(weights: Floats) -> Floats:
        return np.concatenate(correlate_leaderboards(weights @ values, pairs), axis=1)

    estimate, limits = resampled_limits(statistic, drawn.weights, 2 * len(pairs), drawn.level)
    halves = [np.split(array, 2) for array in (estimate, *limits)]
    return [half[part] for part in (0, 1) for half in halves]


def _verdicts(scores: Scores, drawn: Drawn) -> Integers:
    """Return the direction of each significant difference: pairs of runs × measures."""
    if len(scores.runs) < 2:
        return np.zeros((0, len(scores.measures)), np.int64)
    compared = compare_runs(scores, level=drawn.level, replicates=drawn.replicates, rng=drawn.seed)
    words: Words = compared.verdict[0]
    direction: Integers = np.where(words == BETTER, 1, np.where(words == WORSE, -1, 0))
    return direction


def _count_verdicts(reference: Integers, judge: Integers) -> tuple[Integers, ...]:
    """Return pairs of runs, significant, kept, lost, reversed and gained ones, by measure."""
    found, other = reference != 0, judge != 0
    return (
        np.full(reference.shape[1], len(reference)),
        found.sum(axis=0),
        (found & (judge == reference)).sum(axis=0),
        (found & ~other).sum(axis=0),
        (found & (judge == -reference)).sum(axis=0),
        (~found & other).sum(axis=0),
    )
