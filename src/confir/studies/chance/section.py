"""The random baseline in the report."""

from __future__ import annotations

from collections.abc import Iterator

from confir.errors import InvalidValueError
from confir.report.contents import Contents, MeasureContents
from confir.report.sections import Figure, Scope, Section, Sentence
from confir.report.tables import Table
from confir.studies.chance.chance import Chance, compare_with_chance
from confir.studies.chance.chart import chance_chart
from confir.studies.chance.table import chance_note, chance_table


def _gather(scope: Scope) -> Chance:
    if scope.qrels is None or scope.documents is None:
        raise InvalidValueError("chance needs the qrels, which say how many documents are relevant")
    return compare_with_chance(
        scope.qrels,
        scope.scores,
        documents=scope.documents,
        depth=scope.settings.rules.depth,
        draws=0,
        rng=scope.settings.seed,
    )


def _figures(contents: MeasureContents, _: tuple[float, ...]) -> Iterator[Figure]:
    yield Figure("chance", chance_chart(contents["chance"]), by_run=True)


def _tables(contents: MeasureContents) -> Iterator[tuple[str, Table]]:
    chance: Chance = contents["chance"]
    yield "chance", chance_table(chance, chance_note(chance))


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
    figures=_figures,
    tables=_tables,
    methods=_methods,
)
