"""Judgements in the report: what would change with another judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from confir.data.sampling_designs.design import refuse_design
from confir.errors import InvalidValueError
from confir.report.contents import Contents
from confir.report.result_table import result_table
from confir.report.sections import Figure, Scope, Section, Sentence
from confir.report.tables import Table
from confir.studies.judgements.chart import judgement_chart
from confir.studies.judgements.input_files import parse_grades
from confir.studies.judgements.judgement_comparison import JudgementComparison, compare_judged_lists
from confir.studies.judgements.judges import gather_judges, name_judges
from confir.studies.judgements.table import judgement_table, judges_sentence

# What the qrels of the report are called next to those of other judges.
_OWN = "qrels"


def _gather(scope: Scope) -> JudgementComparison:
    """Return the comparison of the report's qrels with those of other judges."""
    settings = scope.settings
    if scope.lists is None:
        raise InvalidValueError(
            "another judge changes scores of runs; expected qrels and runs, not repeats of systems or scores"
        )
    refuse_design(scope.scores.design, "the comparison of judgements")
    others: Mapping[str, Any] = name_judges(settings.judges)
    if _OWN in others:
        raise InvalidValueError(
            f"a judge is named {_OWN!r}, as the qrels of the report are; expected another name, as "
            "in NAME=PATH"
        )
    scale, maps = parse_grades(settings.grades)
    sources = {_OWN: scope.lists.qrels, **others}
    judges = gather_judges(sources, grades=scale, grade_maps=maps, rules=settings.rules)
    lists = scope.lists.of_topics(0, len(scope.lists.qrels.topics))
    kept = np.isin(np.array(lists.qrels.topics, object), np.array(judges.topics, object))
    return compare_judged_lists(
        judges,
        lists.restrict(kept),
        list(scope.scores.measures),
        rules=settings.rules,
        level=settings.level,
        **settings.drawing,
    )


def _context(contents: Contents) -> dict[str, Any]:
    comparison: JudgementComparison = contents["judgements"]
    return {"sentences": list(_sentences(comparison, range(len(comparison.measures))))}


def _sentences(comparison: JudgementComparison, measures: Iterable[int]) -> Iterator[str]:
    """Yield what each other judge would change, by some measures."""
    for place, (reference, _) in enumerate(comparison.pairs):
        if reference == _OWN:
            yield from (judges_sentence(comparison, place, measure) for measure in measures)


def _conclusion(contents: Contents) -> str:
    comparison: JudgementComparison = contents["judgements"]
    chosen = comparison.measures.index(contents.measures[0].measure)
    return " ".join(_sentences(comparison, [chosen]))


def _figures(contents: Contents, _: tuple[float, ...]) -> Iterator[Figure]:
    comparison: JudgementComparison = contents["judgements"]
    others = [judge for reference, judge in comparison.pairs if reference == _OWN]
    yield Figure("judges", judgement_chart(comparison.select(reference=_OWN, judge=others)))


def _tables(contents: Contents) -> Iterator[tuple[str, Table]]:
    comparison: JudgementComparison = contents["judgements"]
    yield "judges", judgement_table(comparison)
    yield "judges-runs", result_table(comparison.runs)
    yield "judges-grades", result_table(comparison.agreement.confusion)


SECTION: Section[Contents] = Section(
    by_measure=False,
    gather=_gather,
    needed=True,
    setting="judges",
    anchor="judges",
    heading="Would another judge change the results?",
    meaning="If verdicts change with the judge, they depend on the judgements as much as on the runs.",
    context=_context,
    figures=_figures,
    tables=_tables,
    conclusion=_conclusion,
    methods=Sentence(
        95,
        "Judges were compared by Cohen's κ with quadratic weights, Krippendorff's α for ordinal "
        "grades, and Kendall's τ_b and the AP correlation of their leaderboards, with {level} intervals "
        "over topics; the gain of a run, its bias minus the mean bias of all runs, has simultaneous "
        "intervals.",
        ("Cohen1968", "Krippendorff2011", "Kendall1945", "Yilmaz2008"),
    ),
)
