"""Assertions for tests of search systems: a gate that fails a pytest with its reason."""

from __future__ import annotations

import warnings
from typing import Any, Unpack

from confir.arguments import as_choice
from confir.data.reading_rules import ReadingOptions
from confir.defaults import LEVEL, SEED
from confir.errors import DegenerateSampleWarning
from confir.measures.evaluation import evaluate
from confir.measures.measure import Measure
from confir.pairs.compare import compare_runs
from confir.pairs.gate import REQUIREMENTS, Requirement, judge_gate
from confir.resampling.replicates import Rng

_BASELINE, _CANDIDATE = "baseline", "candidate"


def assert_not_worse(
    qrels: Any,
    baseline: Any,
    candidate: Any,
    measure: str | Measure = "nDCG@10",
    *,
    margin: float = 0.0,
    require: Requirement = "not-worse",
    level: float = LEVEL,
    rng: Rng = SEED,
    **rules: Unpack[ReadingOptions],
) -> None:
    """Raise AssertionError, with what the gate says, where a candidate loses against the baseline.

    It decides as ``confir compare --fail-if-worse`` does, so a test in Python and a job in continuous
    integration cannot disagree.

    Parameters
    ----------
    qrels, baseline, candidate
        Qrels, and two runs: files, or objects that `evaluate` takes.
    measure
        The measure that decides.
    margin
        A loss up to this does not matter.
    require
        "not-worse" fails where the candidate is significantly below -margin, "non-inferior" where it
        is not significantly above -margin, "superior" where it is not significantly above 0.
    level, rng
        Confidence level, and seed or generator.
    **rules
        How qrels and runs are read, and topics scored, as in `evaluate`.

    Examples
    --------
    >>> sample = confir.sample_collection()
    >>> bm25, dense = sample.runs[0], sample.runs[2]
    >>> confir.testing.assert_not_worse(sample.qrels, bm25, dense, "nDCG@10", margin=0.02)
    """
    __tracebackhide__ = True
    as_choice("require", require, REQUIREMENTS, "requirement")
    scores = evaluate(qrels, {_BASELINE: baseline, _CANDIDATE: candidate}, [measure], **rules)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateSampleWarning)  # a system that did not change
        comparison = compare_runs(
            scores, baseline=_BASELINE, margin=margin or None, level=level, rng=rng
        )
    missing = "drop" if rules.get("missing") == "drop" else None
    gate = judge_gate(
        comparison, scores.measures[0], margin=margin, require=require, missing=missing
    )
    if gate.closed:
        raise AssertionError(gate.sentence())
