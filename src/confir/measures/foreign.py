"""Measures provided by ir_measures, where it is installed.

They are for plain evaluation only: ir_measures scores whole runs, not resampled collections.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from confir.arrays import Floats
from confir.data.qrels import Qrels
from confir.data.run import Run
from confir.errors import InvalidValueError, TopicWarning, counted, enumerate_names, warn_caller

# ir_measures parses names as Python, which runs out of memory over deeply nested text.
_LONGEST_NAME = 200
# Nor does anybody else read 1_0 as ten.
_PYTHON_NUMBER = re.compile("[0-9]_[0-9]")


@dataclass(frozen=True, slots=True)
class ForeignMeasure:
    """A measure of ir_measures, such as ``infAP`` or ``IPrec@0.1``."""

    measure: Any

    lowest_gain: ClassVar[int] = 1
    looks_at_judged: ClassVar[bool] = False

    def __str__(self) -> str:
        return str(self.measure)

    def __call__(self, qrels: Qrels, run: Run) -> Floats:
        """Return the scores of a run on the topics of the qrels.

        A topic without a list scores 0; one on whose list the measure is not defined, NaN.
        """
        import ir_measures

        ranked = run.to_dict()
        try:
            judgements = self._judgements(qrels)
            results = list(ir_measures.iter_calc([self.measure], judgements, ranked))
        except (ValueError, RuntimeError, AssertionError, OSError, ArithmeticError) as error:
            problem = " ".join(str(error).split())
            raise InvalidValueError(f"ir_measures cannot compute {self}: {problem}") from error
        scores = {result.query_id: float(result.value) for result in results}
        missing = [np.nan if topic in ranked else 0.0 for topic in qrels.topics]
        values = np.array(
            [scores.get(topic, none) for topic, none in zip(qrels.topics, missing, strict=True)]
        )
        undefined = [qrels.topics[place] for place in np.flatnonzero(np.isnan(values))]
        if undefined:
            warn_caller(
                f"{self} of run {run.name!r} is not defined on {counted(len(undefined), 'topic')}, "
                f"which its mean leaves out: {enumerate_names(undefined, 5)}",
                TopicWarning,
            )
        return values

    def _judgements(self, qrels: Qrels) -> list[Any]:
        """Return the qrels for ir_measures, by subtopic if the measure uses subtopics."""
        import ir_measures

        topics = [qrels.topics[i] for i in qrels.document_topics.tolist()]
        if ir_measures.pyndeval.supports(self.measure):
            entries = zip(
                qrels.judged_documents.tolist(),
                qrels.subtopic_gains.tolist(),
                qrels.subtopics,
                strict=True,
            )
            return [
                ir_measures.Qrel(topics[place], qrels.documents[place], gain, subtopic)
                for place, gain, subtopic in entries
            ]
        rows = zip(topics, qrels.documents, qrels.gains.tolist(), strict=True)
        return [ir_measures.Qrel(*row) for row in rows]


def foreign_measure(name: str) -> ForeignMeasure | None:
    """Return the measure of ir_measures with this name, or None."""
    if len(name) > _LONGEST_NAME or _PYTHON_NUMBER.search(name):
        return None
    try:
        import ir_measures
    except ImportError:
        return None
    parsers: list[Any] = [ir_measures.parse_measure, ir_measures.parse_trec_measure]
    for parse in parsers:
        try:
            parsed = parse(name)
            found = parsed if isinstance(parsed, list) else [parsed]
            unknown = [one for one in found if not one.params.keys() <= one.SUPPORTED_PARAMS.keys()]
        except (
            *(ValueError, NameError, KeyError, AssertionError),
            *(SyntaxError, AttributeError, TypeError),
        ):
            continue
        if len(found) == 1 and not unknown:
            return ForeignMeasure(found[0])
    return None
