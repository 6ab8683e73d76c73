"""The random baseline in the report."""

from __future__ import annotations

import numpy as np

from confir.arrays import TIE
from confir.errors import InvalidValueError, counted
from confir.number_text import score_words
from confir.report.contents import Contents, MeasureContents
from confir.report.sections import Scope, Section, Sentence
from confir.studies.chance.chance import Chance
from confir.studies.chance.random_baseline import compare_with_chance

# Smaller scores would be written as 0.
_SMALLEST = 0.0005


def _gather(scope: Scope) -> Chance:
    if not scope.scores.by_one_judge:
        scope.require_lists()
    if scope.qrels is None or scope.documents is None:
        raise InvalidValueError(
            "the random baseline needs qrels, for the number of relevant documents"
        )
    return compare_with_chance(
        scope.qrels,
        scope.scores,
        documents=scope.documents,
        depth=scope.settings.rules.depth,
        draws=0,
        rng=scope.settings.seed,
    )


def _conclusion(contents: Contents) -> str:
    """Return how many runs are above the expected score of a random ranking."""
    chance: Chance | None = contents.measures[0]["chance"]
    if chance is None or chance.scores is None:
        return ""
    expected = float(np.nanmean(chance.expected[:, 0]))
    means = chance.scores.mean()[:, 0]
    above, known = int((means > expected + TIE).sum()), int((~np.isnan(means)).sum())
    number = "less than 0.001" if expected < _SMALLEST else score_words(expected)
    which = "all runs score" if above == known else f"{above:,} of {counted(known, 'run')} score"
    if known == 1:
        which = "the run scores" if above else "the run does not score"
    return (
        f"{which[0].upper()}{which[1:]} more than a random ranking, whose expected "
        f"{contents.measures[0].measure} is {number}."
    )


SECTION: Section[MeasureContents] = Section(
    by_measure=True,
    gather=_gather,
    anchor="chance",
    heading="Random baseline",
    meaning="A score is meaningful only as far as it exceeds that of a random ranking.",
    part="chance",
    by_run=True,
    conclusion=_conclusion,
    methods=Sentence(
        80,
        "Chance is the exact expectation over random rankings of {documents}, after Bestgen (2015).",
        ("Bestgen2015",),
    ),
)
