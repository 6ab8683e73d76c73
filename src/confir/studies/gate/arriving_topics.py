"""Gates on arriving topics, where every look counts.

The same pair is looked at again and again. A confidence sequence over the topics in their order of
arrival holds at all looks at once (Waudby-Smith & Ramdas 2023); each topic enters once.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from confir.arguments import as_generator
from confir.arrays import TIE, Floats
from confir.defaults import BASELINE, NO_FAMILY, SEED
from confir.errors import InvalidValueError, UnsupportedMethodError, counted
from confir.intervals.bounded import confidence_sequence
from confir.measures.missing_scores import Ranges
from confir.measures.parsing import bounded_measures
from confir.pairs.comparison import Comparison
from confir.pairs.decisions import BETTER, IDENTICAL, INCONCLUSIVE, WORSE, Decision
from confir.pairs.gate import (
    Candidate,
    Gate,
    Requirement,
    check_coverage,
    check_gate,
    passes,
)
from confir.pairs.paired_tests import DEFAULT_TEST
from confir.resampling.kinds import require_knowledge
from confir.resampling.replicates import Rng
from confir.resampling.sample import Knowledge

# The differences of a run by topic, in order of arrival.
Arrived = Mapping[str, float]


def judge_arriving(
    comparison: Comparison,
    measure: str,
    earlier: Mapping[str, Arrived],
    *,
    margin: float = 0.0,
    require: Requirement = "not-worse",
    missing: str | None = None,
    bounds: Ranges | None = None,  # noqa: ARG001 - topics without a score have not arrived yet
    rng: Rng = SEED,
) -> tuple[Gate, list[dict[str, float]]]:
    """Return whether the candidates pass, by limits that hold at every look, and their new topics.

    Topics that are new enter in a random order, which their scores do not influence. With several
    candidates, the error is divided among them (Bonferroni).

    Parameters
    ----------
    comparison, measure, margin, require, missing, bounds
        As for `judge_gate`; the measure has scores in [0, 1].
    earlier
        The differences of earlier looks by run.
    rng
        Seed or generator of the order of new topics.
    """
    baseline, margin = check_gate(comparison, measure, margin, require)
    require_knowledge(
        comparison.scores, Knowledge.VALUES, "a confidence sequence over arriving topics"
    )
    if not bounded_measures(comparison.scores)[comparison.measures.index(measure)]:
        raise UnsupportedMethodError(
            f"{measure} has scores outside [0, 1]; limits for arriving topics need scores in it"
        )
    runs = [comparison.names(pair)[1] for pair in range(len(comparison.first))]
    new = _new_topics(comparison, measure, earlier, as_generator(rng))
    whole = [{**earlier.get(run, {}), **arrived} for run, arrived in zip(runs, new, strict=True)]
    decisions = [
        _decide((baseline, run), np.array(list(seen.values())), comparison.level, len(runs))
        for run, seen in zip(runs, whole, strict=True)
    ]
    # the side of the margin: 1 above, -1 below, 0 on both
    sides = [int(one.low > -margin) - int(one.high < -margin) for one in decisions]
    candidates = tuple(
        Candidate(
            one.run,
            one,
            bool(passes(one.verdict, one.significant, side, require, within=False)),
        )
        for one, side in zip(decisions, sides, strict=True)
    )
    about = (
        f"confidence sequence over {counted(max(map(len, whole)), 'topic')} in order of arrival, "
        f"{max(map(len, new)):,} of them new: its limits hold at every look"
    )
    cautions = check_coverage(comparison, measure, missing)
    gate = Gate(measure, baseline, require, margin, comparison.level, candidates, about, cautions)
    return gate, new


def _new_topics(
    comparison: Comparison,
    measure: str,
    earlier: Mapping[str, Arrived],
    generator: np.random.Generator,
) -> list[dict[str, float]]:
    """Return the differences of each candidate on topics that no earlier look had, shuffled."""
    by_topic = comparison.topic_differences().select(measure=measure)
    table = by_topic.difference[:, :, 0]  # topics × pairs
    order = generator.permutation(len(table)).tolist()
    found = []
    for pair in range(table.shape[1]):
        run = comparison.names(pair)[1]
        known, new = earlier.get(run, {}), {}
        for place in order:
            topic, value = comparison.scores.topics[place], float(table[place, pair])
            if topic in known and abs(known[topic] - value) > TIE:
                raise InvalidValueError(
                    f"run {run!r} has another difference on topic {topic!r} than at an earlier "
                    "look; expected the same runs with more topics: a new pair needs a new history"
                )
            if topic not in known and not np.isnan(value):
                new[topic] = value
        if not new and not known:
            raise InvalidValueError(f"run {run!r} has no topic in common with the baseline")
        found.append(new)
    return found


def _decide(names: tuple[str, str], differences: Floats, level: float, candidates: int) -> Decision:
    """Return the decision on one of some candidates, which all of its topics so far make."""
    own_level = 1.0 - (1.0 - level) / candidates
    found = confidence_sequence((differences[:, None] + 1.0) / 2.0, own_level)
    low, high = (2.0 * float(limit[0]) - 1.0 for limit in found.limits)
    direction = int(np.sign(low)) if low * high > 0 else 0
    identical = not differences.any()
    verdict = {1: BETTER, -1: WORSE, 0: IDENTICAL if identical else INCONCLUSIVE}[direction]
    p = float(found.p[0])
    return Decision(
        baseline=names[0],
        run=names[1],
        verdict=verdict,
        difference=float(differences.mean()),
        low=low,
        high=high,
        level=level,
        test=DEFAULT_TEST,
        direction=direction,
        p=p,
        p_adjusted=min(1.0, candidates * p),
        family=BASELINE if candidates > 1 else NO_FAMILY,
        pairs=candidates,
        correction=None,
        margin=None,
        topics=len(differences),
        constant=False,
    )
