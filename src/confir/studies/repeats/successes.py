"""Success over repeats: pass@k, pass^k, and the worst of k.

With n repeats of a system on a topic, c of them successes, the shares of sets of k repeats with a
success, and with successes alone, are unbiased for k tries (Chen et al. 2021); so is the mean lowest
score of such sets.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from confir.arguments import as_choice, as_real
from confir.arrays import Floats
from confir.data.sampling_designs.judged_scores import JudgedScores
from confir.data.score_objects import ScoresSource
from confir.data.scores import Scores
from confir.errors import InvalidValueError
from confir.measures.score_sources import as_scores

# A score is a success.
SUCCESS = 1.0


def score_successes(
    scores: ScoresSource, *, measure: str | None = None, threshold: float = SUCCESS
) -> Scores:
    """Return pass@k, pass^k and the worst of k for each system and topic, as scores.

    Their means, intervals and comparisons are those of all scores: `confidence_interval`,
    `compare_runs`. k goes up to the fewest repeats of a system.

    Parameters
    ----------
    scores
        Scores of repeats, or what `Scores.with_repeats` returns; by human and model judgements, too, whose
        means the human ones then correct.
    measure
        By which repeats succeed; by default the only one.
    threshold
        The lowest score that is a success.

    Examples
    --------
    >>> runs = {"a@1": [1.0, 0.0], "a@2": [1.0, 1.0], "a@3": [0.0, 0.0]}
    >>> confir.score_successes(runs).mean().round(3)
    array([[0.5  , 0.833, 1.   , 0.5  , 0.167, 0.   , 0.5  , 0.167, 0.   ]])
    """
    table = as_scores(scores, human=True)
    limit = as_real("threshold", threshold)
    repeated = table.with_repeats()
    if table.corrected:
        people, model = (
            score_successes(one, measure=measure, threshold=threshold)
            for one in (repeated.people, repeated.model)
        )
        kept = {one.name: getattr(people, one.name) for one in fields(people)}
        return JudgedScores(**kept, model=model, human_sample=repeated.human_sample)
    place = _place(repeated, measure)
    values = repeated.repeats[:, :, :, place]
    counts = repeated.repeat_counts
    tries = range(1, int(counts.min()) + 1)
    found: list[Floats] = []
    for k in tries:
        parts = [_of_sets(values[:, s, :n], k, limit) for s, n in enumerate(counts.tolist())]
        found.append(np.stack(parts, axis=1))
    shaped = np.stack(found, axis=2)  # topics × systems × tries × three
    names = [f"{name}{k}" for name in ("pass@", "pass^", "worst of ") for k in tries]
    whole = np.moveaxis(shaped, 3, 2).reshape(*shaped.shape[:2], -1)
    return Scores(
        repeated.topics,
        repeated.runs,
        tuple(names),
        whole,
        repeated.bounded,
        design=repeated.design,
    )


def _place(scores: Scores, measure: str | None) -> int:
    """Return the number of the measure by which repeats succeed."""
    if measure is not None:
        return scores.measures.index(as_choice("measure", measure, scores.measures))
    if len(scores.measures) > 1:
        raise InvalidValueError(
            f"there are {len(scores.measures)} measures; successes are by one: expected its name"
        )
    return 0


def _of_sets(values: Floats, tries: int, threshold: float) -> Floats:
    """Return the three means over all sets of k of n repeats: topics × 3.

    ``1 - C(n-c, k)/C(n, k)``, ``C(c, k)/C(n, k)`` and ``Σ_j x_(j) C(n-j, k-1)/C(n, k)`` over the
    ascending scores, the j-th of which is the lowest in C(n-j, k-1) sets.
    """
    from scipy.special import comb

    repeats = values.shape[1]
    successes = np.sum(values >= threshold, axis=1)
    every = comb(repeats, tries)
    some = 1.0 - comb(repeats - successes, tries) / every
    all_of_them = comb(successes, tries) / every
    lowest_in = comb(repeats - np.arange(1, repeats + 1), tries - 1) / every
    return np.stack([some, all_of_them, np.sort(values, axis=1) @ lowest_in], axis=1)
