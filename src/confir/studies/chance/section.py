"""The random baseline in the report."""

from __future__ import annotations

from collections.abc import Iterator

from confir.data.sampling.judged_scores import SampledScores
from confir.errors import InvalidValueError
from confir.report.contents import Contents, MeasureContents
from confir.report.sections import Scope, Section, Sentence, own_chart, own_table
from confir.studies.chance.chance import Chance
from confir.studies.chance.random_baseline import compare_with_chance


def _gather(scope: Scope) -> Chance:
    if isinstance(scope.scores, SampledScores):
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


def _methods(contents: Contents) -> Iterator[Sentence]:
    if contents.has("chance"):
        size = ", those that occur in qrels and runs" if contents.documents_counted else ""
        yield Sentence(
            80,
            f"Chance is the exact expectation over random rankings of {contents.documents:,} "
            f"documents{size}, after Bestgen (2015).",
            ("Bestgen2015",),
        )


SECTION: Section[MeasureContents] = Section(
    by_measure=True,
    gather=_gather,
    anchor="chance",
    title="Chance",
    heading="Random baseline",
    meaning="A score is meaningful only as far as it exceeds that of a random ranking.",
    figures=own_chart("chance", "chance", by_run=True),
    tables=own_table("chance", "chance"),
    methods=_methods,
)
