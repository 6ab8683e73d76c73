"""Calibration in the report: the coverage of intervals such as those of the leaderboard."""

from __future__ import annotations

import math
from typing import Any

from confir.defaults import LEVEL
from confir.intervals.standard_error import two_sided_normal
from confir.number_text import percent
from confir.report.contents import Contents, MeasureContents
from confir.report.messages import isolated
from confir.report.sections import Scope, Section, Sentence
from confir.studies.coverage.coverage import Coverage, estimate_coverage

# Enough to estimate a coverage to about one percentage point.
COVERAGE_SAMPLES, COVERAGE_REPLICATES = 500, 500

# A coverage that is off by at most this is called calibrated: what the simulation is exact to.
_WELL_CALIBRATED = 0.02


def _gather(scope: Scope) -> Coverage:
    level = scope.settings.level
    return estimate_coverage(
        scope.scores,
        methods=[scope.results["means"][level].method],
        level=level,
        samples=COVERAGE_SAMPLES,
        replicates=COVERAGE_REPLICATES,
        rng=scope.settings.seed,
    )


def _context(contents: Contents) -> dict[str, Any]:
    """Return the numbers in section.html; the error is half the 95% interval, in points."""
    level = contents.settings.level
    error = 100 * two_sided_normal(LEVEL) * math.sqrt(level * (1 - level) / COVERAGE_SAMPLES)
    return {"of_100": f"{100 * level:.10g}", "samples": COVERAGE_SAMPLES, "error": f"{error:.2g}"}


def _conclusion(contents: Contents) -> str:
    """Return the coverage of such intervals, and where it is lowest."""
    coverage: Coverage | None = contents.measures[0]["coverage"]
    if coverage is None:
        return ""
    record = coverage.summary()[0]
    text = (
        f"in simulations on these scores, about {percent(record['coverage'], 3)} of "
        f"{percent(record['level'])} intervals contain the true mean."
    )
    outliers = coverage.outliers()
    if outliers:
        worst = outliers[0]
        reason = worst["reason"].replace("topic", contents.scores.unit_name)
        several = f"{len(outliers):,} of {len(coverage.runs):,} runs"
        among = several if len(outliers) > 1 else "one run"
        text += (
            f" They contain it far less often for {among}, least for {isolated(worst['run'])}: "
            f"{percent(worst['coverage'], 3)} ({reason})."
        )
    calibrated = not outliers and abs(record["coverage"] - record["level"]) <= _WELL_CALIBRATED
    return f"Yes: {text}" if calibrated else text[0].upper() + text[1:]


SECTION: Section[MeasureContents] = Section(
    by_measure=True,
    gather=_gather,
    anchor="coverage",
    heading="Are the intervals calibrated?",
    meaning="Intervals are calibrated if they contain the true mean as often as their level says.",
    context=_context,
    part="coverage",
    conclusion=_conclusion,
    methods=Sentence(
        50,
        f"The coverage of the intervals was estimated on these scores, from "
        f"{COVERAGE_SAMPLES} samples of topics drawn with replacement, after Soboroff (2014).",
        ("Soboroff2014",),
    ),
)
