"""Votes as an HTML page: the strongest system, its rivals, all pairs, and whether strengths fit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import PurePath
from typing import Any, NamedTuple

from confir.control_characters import without_controls
from confir.errors import counted
from confir.number_text import limits_words, percent_words, score_words, share_text
from confir.report.charts import chart, chart_bytes
from confir.report.contents import by_importance
from confir.report.names import isolated, sentence_case
from confir.report.page_data import level_key, shown
from confir.report.report_page import Origin, page_environment, unbroken
from confir.report.result_table import result_table
from confir.report.tables import to_html
from confir.studies.best.section import best_gaps
from confir.studies.comparison.gate import Gate
from confir.studies.comparison.section import baseline_gaps
from confir.studies.comparison.table import group_table
from confir.studies.comparison.wording import baseline_sentence, excluded_sentence, pairs_sentence
from confir.studies.means.board import Board, first_board
from confir.studies.preferences.preferences import Preferences
from confir.studies.preferences.table import (
    fit_sentence,
    preference_best_table,
    preference_ranks_table,
)
from confir.studies.preferences.vote_plan import VotePlan, plan_of

_SYSTEM = "system"


class _FoldedPart(NamedTuple):
    """A folded part of the page; ``tables`` and ``drawing`` are HTML and SVG of our own making."""

    anchor: str
    heading: str
    conclusion: str
    meaning: str
    tables: tuple[str, ...] = ()
    drawing: str = ""


def preferences_page(
    found: Preferences, *, seed: int, gates: Sequence[Gate] = (), origin: Origin | None = None
) -> str:
    """Return a self-contained page about votes.

    Parameters
    ----------
    found
        What `rate_preferences` returns.
    seed
        Of the replicates, which the page states.
    gates
        What was decided about the baseline's rivals.
    origin
        Files, command and warnings to name.
    """
    source = origin or Origin()
    board = _board(found)
    page = page_environment().get_template("preferences/page.html")
    text = page.render(
        title=_title(found, source),
        style=(files("confir.report") / "templates" / "page.css").read_text(encoding="utf-8"),
        about=found.about,
        baseline=found.comparison.baseline,
        level=percent_words(found.level),
        lead=unbroken(_lead(found)),
        findings=[unbroken(f"{one}.") for one in _findings(found, gates)],
        board=board,
        extras=[_extras(found, place) for place in found.order],
        parts=[*_parts(found)],
        methods=_methods(found),
        origin=source,
        facts={"Level": percent_words(found.level), "Seed": str(seed)}
        | {"Replicates": f"{found.comparison.replicates:,}"},
        counted=counted,
        **by_importance(source.warnings),
    )
    return without_controls(text, keep_blanks=True)


def _title(found: Preferences, origin: Origin) -> str:
    systems = counted(len(found.runs), _SYSTEM)
    return (
        f"{systems} on {PurePath(origin.files[0]).name}" if origin.files else f"Votes on {systems}"
    )


def _lead(found: Preferences) -> str:
    """Return the answer: who is the strongest, and who may be; or who beats the baseline."""
    if found.comparison.baseline is not None:
        return f"{sentence_case(baseline_sentence(found.comparison, 0, _SYSTEM))}."
    first, count = found.order[0], int(found.may_be_best.sum())
    limits = _with_minus(limits_words(float(found.low[first]), float(found.high[first])))
    led = (
        f"{isolated(found.runs[first])} has the highest strength, "
        f"{score_words(float(found.strength[first]))} ({percent_words(found.level)} confidence interval "
        f"{limits})"
    )
    systems = len(found.runs)
    if count == 1:
        return f"{led}, and is the best of the {systems:,} systems."
    if count < systems:
        return f"{led}; {count:,} of the {systems:,} systems may be the best."
    return (
        f"{led}; {'either' if systems == 2 else 'each'} of the {systems:,} systems may be the best."
    )


def _findings(found: Preferences, gates: Sequence[Gate]) -> Iterator[str]:
    """Yield at most three sentences: the pairs or the gate, the fit, and what the best set left out."""
    for gate in gates:
        said = gate.sentence()
        yield f"{said[0].upper()}{said[1:]}{f'; {gate.about}' if gate.about else ''}"
    if found.comparison.baseline is None:
        yield sentence_case(pairs_sentence(found.comparison, 0, _SYSTEM))
        why = excluded_sentence(found.best, found.comparison, 0, _SYSTEM)
        if why:
            yield why
    yield fit_sentence(found)


def _board(found: Preferences) -> Board:
    """Return the leaderboard: strengths, and gaps to the best or to the baseline."""
    level = level_key(found.level)
    limits = zip(found.low.tolist(), found.high.tolist(), strict=True)
    measure: dict[str, Any] = {
        "name": "strength",
        "order": found.order,
        "means": {
            "rank": found.rank.tolist(),
            "mean": shown(found.strength),
            "mean_text": [_with_minus(score_words(one)) for one in found.strength.tolist()],
            "at": {
                level: {
                    "low": shown(found.low),
                    "high": shown(found.high),
                    "limits": [_with_minus(limits_words(*ends)) for ends in limits],
                }
            },
        },
    }
    baseline = found.comparison.baseline
    if baseline is None:
        measure["best"] = best_gaps({found.level: found.best})
    else:
        place = found.runs.index(baseline)
        gaps = baseline_gaps({found.level: found.comparison}, place)
        measure["comparison"] = {"baseline": place, "gaps": gaps}
    return first_board({"runs": found.runs, "measures": [measure]}, level)


def _with_minus(number: str) -> str:
    """Return a number as text with the sign that gaps have."""
    return number.replace("-", "−")


def _extras(found: Preferences, place: int) -> tuple[str, str, str]:
    """Return predicted wins, votes and the limits of the rank."""
    low, high = int(found.rank_low[place]), int(found.rank_high[place])
    ranks = f"{low}" if low == high else f"{low}–{high}"
    return share_text(float(found.share[place])), f"{found.votes[place]:,}", ranks


def _parts(found: Preferences) -> Iterator[_FoldedPart]:
    """Yield what is folded below the answer."""
    pairs, baseline = found.pairs(), found.comparison.baseline
    if baseline is None:
        yield _FoldedPart(
            "pairs",
            "Which pairs differ?",
            f"{sentence_case(pairs_sentence(found.comparison, 0, _SYSTEM))}.",
            "All pairs are one family: intervals and p-values are simultaneous. A cell of the chart is the "
            "row's share of wins against the column, as observed and as strengths predict it.",
            (to_html(result_table(pairs)),),
            chart_bytes(chart(pairs), ".svg").decode(),
        )
        yield _FoldedPart(
            "ranks",
            "Groups and ranks",
            f"Simultaneous ranks of the strongest: {_extras(found, found.order[0])[2]}.",
            "Of the same family of all pairs; the interval of one rank by itself is narrower.",
            (
                to_html(preference_ranks_table(found)),
                to_html(group_table(found.group_runs(), what=_SYSTEM)),
            ),
        )
        yield _FoldedPart(
            "best",
            "Which systems may be the best?",
            f"{int(found.may_be_best.sum()):,} of {len(found.runs):,}.",
            "The table above with p-values and shares of first ranks.",
            (to_html(preference_best_table(found)),),
        )
    else:
        yield _FoldedPart(
            "pairs",
            f"Which systems differ from {isolated(baseline)}?",
            f"{sentence_case(baseline_sentence(found.comparison, 0, _SYSTEM))}.",
            "The pairs with the baseline are one family: intervals and p-values are simultaneous.",
            (to_html(result_table(pairs)),),
        )
    yield _FoldedPart(
        "fit",
        "Is one strength per system enough?",
        f"{fit_sentence(found)}.",
        "Strengths assume one dimension: who beats a strong system beats a weak one by more. Where the "
        "model does not fit, strengths are averages over the pairs asked about, and predictions of single "
        "pairs may be wrong: compare the observed with the predicted shares.",
    )
    plan = plan_of(found.strengths, baseline=baseline, level=found.level)
    yield _FoldedPart(
        "plan",
        "How many more votes are needed?",
        _needed(plan),
        "A plan for the observed differences, which are estimates themselves.",
        (to_html(result_table(plan)),),
    )


def _needed(plan: VotePlan) -> str:
    """Return how many votes separate the first two systems of a plan."""
    first, second = map(isolated, plan.contrasts[0])
    more = float(plan.votes[0])
    if not more:
        return f"Enough to separate {first} from {second}."
    if more == math.inf:
        return f"{first} and {second} are equally strong: no number of votes separates them."
    return f"{more:,.0f} further votes, spread as so far, would separate {first} from {second}."


def _methods(found: Preferences) -> str:
    """Return how it was computed, as a paragraph to cite."""
    unit = found.cluster
    return (
        f"Strengths are those of Bradley and Terry (1952), fitted by maximum likelihood with a sum of 0, to "
        f"{found.about}; a tie counts half a win for each. Their covariance is that of sums over "
        f"{unit}s, and {percent_words(found.level)} intervals use t with {found.units - 1:,} degrees of "
        f"freedom. Differences of pairs are a family with simultaneous intervals, from bootstrap samples of the {unit}s; "
        "the confidence set of the best is from multiple comparisons with the best (Hsu 1984), and ranks follow "
        "from the pairs (Mogstad et al. 2024). The goodness of fit is the deviance of the table of pairs, with a "
        "p-value by simulation from the strengths."
    )
