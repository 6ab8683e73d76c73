"""Do judges give the same grades? Confusion, Cohen's κ and Krippendorff's α.

Documents of one topic are judged alike or unlike together: replicates draw whole topics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast, overload

import numpy as np

from confir.arguments import as_generator, as_level, check_replicates
from confir.arrays import TIE, Floats, Integers
from confir.data.result import Record, Result, axis, constant, over, result
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.defaults import LEVEL, REPLICATES, SEED
from confir.errors import InvalidValueError, TopicMismatchError
from confir.intervals.interval import Limits
from confir.intervals.standard_error import T
from confir.resampling.replicates import Rng, draw_topics
from confir.resampling.topic_distribution import jackknife_distribution
from confir.resampling.variance_components import mean_over_topics, spread
from confir.studies.judgements.grade_coefficients import (
    cohen_kappa,
    count_grades,
    drawn_counts,
    joint_coincidences,
    ordinal_alpha,
)
from confir.studies.judgements.judges import GradeMap, Judges, gather_judges

if TYPE_CHECKING:
    from confir.studies.judgements.label_agreement import LabelAgreement

# Coefficients of agreement, each with limits.
_COEFFICIENTS = ("kappa", "weighted_kappa", "krippendorff_alpha")

PAIR_PARTS: Mapping[str, tuple[str, ...]] = {"judge_pair": ("reference", "judge")}


def _has_grade(grade: int, record: Record) -> bool:
    return bool(record["grade"] == grade)


def pair_note(pairs: Sequence[tuple[str, str]]) -> str:
    """Return which judge of a pair is the reference."""
    if len(pairs) > 1:
        return "the first judge of a pair is the reference"
    return f"judge {pairs[0][1]}, reference {pairs[0][0]}"


@result
class GradeConfusion(Result):
    """How often two judges gave which grades to the same document.

    Attributes
    ----------
    pairs
        The two judges of each pair.
    reference_grades, judge_grades
        The grades of the common scale, ascending.
    documents
        Documents of each grade by the one and the other: pairs × grades × grades.
    unit, words
        What is counted, in words; and what grades are called, where by words.
    """

    pairs: tuple[tuple[str, str], ...] = axis("judge_pair")
    reference_grades: tuple[int, ...] = axis("reference_grade")
    judge_grades: tuple[int, ...] = axis("judge_grade")
    documents: Integers = over("judge_pair", "reference_grade", "judge_grade")
    unit: str = "documents"
    words: tuple[str, ...] = ()

    label_parts: ClassVar[Mapping[str, tuple[str, ...]]] = PAIR_PARTS

    @property
    def specific_agreement(self) -> Floats:
        """Share of the judgements of a grade that the other judge shares: pairs × grades.

        Twice the documents that both give the grade, over the judgements that give it ([Dice1945]).
        """
        both = np.diagonal(self.documents, axis1=1, axis2=2)
        given = self.documents.sum(axis=1) + self.documents.sum(axis=2)
        unused: Floats = np.full(both.shape, np.nan)
        agreed: Floats = np.divide(2.0 * both, given, out=unused, where=given > 0)
        return agreed

    def table_columns(self) -> TableColumns:
        """Return how the columns read, one per grade of the judge; equal grades are bold."""
        names = ["judges", "grade"][len(self.pairs) == 1 :]
        return {
            **dict.fromkeys(names, TableColumn(Role.NAME)),
            **{
                str(grade): TableColumn(Role.COUNT, bold=partial(_has_grade, grade))
                for grade in self.judge_grades
            },
            "all": TableColumn(Role.COUNT),
            "agreement": TableColumn(Role.SHARE),
        }

    def table_records(self) -> list[Record]:
        """Return a record per pair of judges and grade of the reference; the first names the pair."""
        agreement = self.specific_agreement.tolist()
        return [
            {
                "judges": "" if row else ", ".join(pair),
                "grade": grade,
                **dict(zip(map(str, self.judge_grades), counts.tolist(), strict=True)),
                "all": int(counts.sum()),
                "agreement": agreement[place][row],
            }
            for place, pair in enumerate(self.pairs)
            for row, (grade, counts) in enumerate(
                zip(self.reference_grades, self.documents[place], strict=True)
            )
        ]

    def note(self) -> str:
        """Return what is counted."""
        called = ", ".join(
            f"{grade}: {word}" for grade, word in zip(self.judge_grades, self.words, strict=False)
        )
        return (
            f"{self.unit} by the grade of the reference (rows) and of the judge (columns)"
            f"{called and f' ({called})'}; {pair_note(self.pairs)}; agreement: of the judgements that give a grade, the "
            "share in which the other judge gives it too"
        )


@result
class GradeAgreement(Result):
    """How far judges agree on the grades of the documents that both judged: arrays are by pair.

    Attributes
    ----------
    pairs
        The two judges of each pair: a reference, and the judge that is compared with it.
    topics
        Topics that all judges have.
    documents, only_reference, only_judge
        Documents that both, or one of them alone, judged.
    same_grade
        Share of the documents to which both give the same grade.
    kappa, weighted_kappa
        Cohen's κ, unweighted and with quadratic weights of the grades' ranks, with limits.
    krippendorff_alpha
        Krippendorff's α for ordinal grades, with limits.
    joint_alpha, joint_low, joint_high
        The same of all judges together, over the documents that two or more of them judged.
    confusion
        The grades of both judges.
    level
        Confidence level of the limits.
    """

    pairs: tuple[tuple[str, str], ...] = axis("judge_pair")
    topics: int = constant()
    documents: Integers = over("judge_pair")
    only_reference: Integers = over("judge_pair")
    only_judge: Integers = over("judge_pair")
    same_grade: Floats = over("judge_pair")
    kappa: Floats = over("judge_pair")
    kappa_low: Floats = over("judge_pair")
    kappa_high: Floats = over("judge_pair")
    weighted_kappa: Floats = over("judge_pair")
    weighted_kappa_low: Floats = over("judge_pair")
    weighted_kappa_high: Floats = over("judge_pair")
    krippendorff_alpha: Floats = over("judge_pair")
    krippendorff_alpha_low: Floats = over("judge_pair")
    krippendorff_alpha_high: Floats = over("judge_pair")
    joint_alpha: float
    joint_low: float
    joint_high: float
    confusion: GradeConfusion
    level: float = constant()

    label_parts: ClassVar[Mapping[str, tuple[str, ...]]] = PAIR_PARTS


@overload
def measure_agreement(
    judges: Any,
    *,
    grades: Sequence[int] | None = None,
    grade_maps: Mapping[str, GradeMap] | None = None,
    level: float = LEVEL,
    replicates: int = REPLICATES,
    rng: Rng = SEED,
) -> GradeAgreement: ...


@overload
def measure_agreement(
    judges: Sequence[str] | None = None,
    *,
    labels: Any,
    grades: Sequence[int | str] | None = None,
    thresholds: Sequence[float] | None = None,
    level: float = LEVEL,
    replicates: int = REPLICATES,
    rng: Rng = SEED,
) -> LabelAgreement: ...


def measure_agreement(
    judges: Any = None,
    *,
    labels: Any = None,
    grades: Sequence[int | str] | None = None,
    grade_maps: Mapping[str, GradeMap] | None = None,
    thresholds: Sequence[float] | None = None,
    level: float = LEVEL,
    replicates: int = REPLICATES,
    rng: Rng = SEED,
) -> GradeAgreement | LabelAgreement:
    """Return how far judges agree on the grades of documents, or on labels, with intervals over topics.

    Most documents are not relevant, so that judges agree on many by chance: κ and α subtract that.
    Documents of a topic are judged alike, so that intervals resample whole topics.

    Parameters
    ----------
    judges, grades, grade_maps
        As in `compare_judgements`; with labels, the columns of the judges and all labels in order.
    labels
        In place of qrels, a table of items with columns human and judge, and item, topic and weight
        where known: a path, a frame, a list of dicts, or a mapping column → cells.
    thresholds
        The lowest labels that pass, for sensitivity and specificity of grades and scores.
    level, replicates, rng
        Confidence level; number of replicates, and seed or generator.

    Examples
    --------
    >>> judge = {"1": {"d": 1, "e": 0}, "2": {"d": 1, "e": 0}}
    >>> confir.measure_agreement({"first": judge, "second": judge}, replicates=99)
    GradeAgreement(judge_pair: 1, topics=2, level=0.95)
    """
    level = as_level(level)
    check_replicates(replicates)
    if labels is not None:
        if grade_maps is not None:
            raise InvalidValueError("grade_maps is for qrels; expected labels on one scale: grades")
        from confir.studies.judgements.label_agreement import agreement_of_labels
        from confir.studies.judgements.labels import read_labels

        read = read_labels(labels, judges, grades, thresholds)
        return agreement_of_labels(read, replicates, as_generator(rng), level)
    if judges is None or thresholds is not None:
        given = "thresholds" if judges is not None else "neither judges nor labels"
        raise InvalidValueError(f"{given} given; expected the qrels of two judges, or labels")
    found = gather_judges(
        judges, grades=cast("Sequence[int] | None", grades), grade_maps=grade_maps
    )
    weights = judge_weights(found, replicates, as_generator(rng))
    return agreement_of(found, weights, level)


def judge_weights(judges: Judges, replicates: int, rng: np.random.Generator) -> Floats:
    """Return replicate weights of the topics; raise where there are too few to resample."""
    if len(judges.topics) < 2:
        raise InvalidValueError(
            "the judges have one topic in common; intervals over topics need at least 2"
        )
    return draw_topics(len(judges.topics), replicates, rng).shares()


def agreement_of(judges: Judges, weights: Floats, level: float) -> GradeAgreement:
    """Return the agreement of judges, with limits from replicate weights of the topics."""
    topic, grades = judges.graded_documents()
    shared = [_shared(judges, grades, a, b) for a, b in judges.pairs]
    size, topics = len(judges.grades), len(judges.topics)
    confusions = [
        count_grades(topic[both], grades[both, a], grades[both, b], topics, size)
        for both, (a, b) in zip(shared, judges.pairs, strict=True)
    ]
    coincidences = [one + one.transpose(0, 2, 1) for one in confusions]
    joint = joint_coincidences(topic, grades, topics, size)

    def statistic(drawn: Floats) -> Floats:
        columns = [cohen_kappa(drawn_counts(drawn, one), power=0) for one in confusions]
        columns += [cohen_kappa(drawn_counts(drawn, one), power=2) for one in confusions]
        columns += [ordinal_alpha(drawn_counts(drawn, one)) for one in (*coincidences, joint)]
        return np.stack(columns, axis=1)

    estimate, limits = resampled_limits(statistic, weights, 3 * len(shared) + 1, level)
    places = np.split(np.arange(3 * len(shared)), 3)
    coefficients: dict[str, Any] = {
        f"{name}{end}": array[place]
        for name, place in zip(_COEFFICIENTS, places, strict=True)
        for end, array in zip(("", "_low", "_high"), (estimate, *limits), strict=True)
    }
    total = np.array([one.sum(axis=0) for one in confusions]).astype(np.int64)
    count = total.sum(axis=(1, 2))
    judged = (grades >= 0).sum(axis=0)
    joint_alpha, joint_low, joint_high = (float(array[-1]) for array in (estimate, *limits))
    return GradeAgreement(
        pairs=judges.pair_names,
        topics=topics,
        documents=count,
        only_reference=np.array([judged[a] for a, _ in judges.pairs]) - count,
        only_judge=np.array([judged[b] for _, b in judges.pairs]) - count,
        same_grade=np.trace(total, axis1=1, axis2=2) / count,
        **coefficients,
        joint_alpha=joint_alpha,
        joint_low=joint_low,
        joint_high=joint_high,
        confusion=GradeConfusion(judges.pair_names, judges.grades, judges.grades, total),
        level=level,
    )


def resampled_limits(
    statistic: Callable[[Floats], Floats], weights: Floats, columns: int, level: float
) -> tuple[Floats, Limits]:
    """Return a coefficient of weighted topics and its limits in [-1, 1], by column.

    Student's interval around the estimate less its bias by the bootstrap: samples order runs less
    alike than all topics would, and percentiles of replicates add the same error once more. The
    standard error is the larger of jackknife's and bootstrap's. (docs/judges.md has the measured
    coverage.) NaN where the coefficient is undefined, or the same in all replicates.
    """
    labels = (("judges", "agreement"),) * columns
    support = np.zeros(columns, np.bool_)
    found = jackknife_distribution(statistic, weights.shape[1], weights, labels, support)
    replicates = found.require("replicates")
    bias = mean_over_topics(replicates) - found.estimate
    se = np.fmax(found.require("se"), spread(replicates.T))
    low, high = T.compute(replace(found, estimate=found.estimate - bias, se=se), level)
    inside = Limits(
        np.clip(np.minimum(low, found.estimate), -1.0, 1.0),
        np.clip(np.maximum(high, found.estimate), -1.0, 1.0),
    )
    return found.estimate, Limits(*(np.where(se > TIE, one, np.nan) for one in inside))


def _shared(judges: Judges, grades: Integers, first: int, second: int) -> Any:
    """Return which documents two judges have both judged; raise where there is none."""
    both = (grades[:, first] >= 0) & (grades[:, second] >= 0)
    if not both.any():
        raise TopicMismatchError(
            f"the judges {judges.names[first]} and {judges.names[second]} have no judged document "
            "in common, although they have topics in common; expected judgements of the same "
            "documents"
        )
    return both
