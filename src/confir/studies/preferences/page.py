"""Votes as an HTML page: the strongest system, its rivals, all pairs, and whether strengths fit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import PurePath
from typing import Any

from confir.control_characters import without_controls
from confir.errors import counted
from confir.number_text import limits_words, percent, score_words, share_text
from confir.pairs.gate import Gate
from confir.pairs.verdict_words import baseline_sentence, pairs_sentence
from confir.report.chart_files import chart_bytes
from confir.report.messages import by_importance, isolated, joined_names, sentence_case
from confir.report.page_data import level_key, shown
from confir.report.report_page import Origin, page_environment, unbroken
from confir.report.result_chart import specification
from confir.report.result_table import result_table
from confir.report.tables import to_html
from confir.studies.best.section import best_gaps
from confir.studies.best.table import excluded_sentence
from confir.studies.comparison.baseline_section import baseline_gaps
from confir.studies.comparison.table import group_table
from confir.studies.means.board import Board, first_board
from confir.studies.preferences.preferences import Preferences
from confir.studies.preferences.table import (
    effect_sentences,
    fit_sentence,
    leading_systems,
    preference_best_table,
    preference_ranks_table,
)
from confir.studies.preferences.vote_plan import VotePlan, plan_of

_SYSTEM = "system"


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
    source, baseline = origin or Origin(), found.comparison.baseline
    systems = counted(len(found.runs), _SYSTEM)
    named = [PurePath(path).name for path in source.files[:1]]
    pairs, plan = found.pairs(), plan_of(found.strengths, baseline=baseline, level=found.level)
    tables = {"pairs": result_table(pairs), "plan": result_table(plan)}
    if found.effects.effects:
        tables["effects"] = result_table(found.effects)
    if baseline is None:
        tables["ranks"] = preference_ranks_table(found)
        tables["groups"] = group_table(found.group_runs(), what=_SYSTEM)
        tables["best"] = preference_best_table(found)
    text = (
        page_environment()
        .get_template("preferences/page.html")
        .render(
            title=f"{systems} on {named[0]}" if named else f"Votes on {systems}",
            style=(files("confir.report") / "templates" / "page.css").read_text(encoding="utf-8"),
            about=found.about,
            baseline=baseline,
            level=percent(found.level),
            lead=unbroken(_lead(found)),
            findings=[unbroken(f"{one}.") for one in _findings(found, gates)],
            board=_board(found),
            extras=[_extras(found, place) for place in found.order],
            members=int(found.may_be_best.sum()),
            pairs=_pairs_said(found),
            fit=fit_sentence(found),
            effects=_effects_said(found),
            needed=_needed(plan),
            tables={name: to_html(table) for name, table in tables.items()},
            drawing=chart_bytes(specification(pairs), ".svg").decode() if baseline is None else "",
            unit=found.cluster,
            df=found.units - 1,
            origin=source,
            facts={"Level": percent(found.level), "Seed": str(seed)}
            | {"Replicates": f"{found.comparison.replicates:,}"},
            counted=counted,
            isolated=isolated,
            **by_importance(source.warnings),
        )
    )
    return without_controls(text, keep_blanks=True, keep_isolates=True)


def _pairs_said(found: Preferences) -> str:
    """Return how many pairs differ, or how many systems differ from the baseline."""
    baseline = found.comparison.baseline
    if baseline is None:
        return f"{sentence_case(pairs_sentence(found.comparison, 0, _SYSTEM))}."
    return f"{baseline_sentence(found.comparison, 0, isolated(baseline), _SYSTEM)}."


def _effects_said(found: Preferences) -> str:
    """Return which effects beside strengths are significant."""
    p = zip(found.effects.effects, found.effects.p.tolist(), strict=True)
    names = [isolated(name) for name, own in p if own <= 1.0 - found.level]
    return f"Significant: {joined_names(names)}" if names else "No effect is significant"


def _lead(found: Preferences) -> str:
    """Return the answer: who is the strongest, and who may be; or who beats the baseline."""
    if found.comparison.baseline is not None:
        return _pairs_said(found)
    first, count = found.order[0], int(found.may_be_best.sum())
    limits = _with_minus(limits_words(float(found.low[first]), float(found.high[first])))
    led = (
        f"{leading_systems(found)}, {score_words(float(found.strength[first]))} ({percent(found.level)} confidence interval "
        f"{limits})"
    )
    systems = len(found.runs)
    if count == 1:
        return f"{led}, and is the best of the {systems:,} systems."
    if count < systems:
        return f"{led}; {count:,} of the {systems:,} systems may be the best."
    return f"{led}; each of the {systems:,} systems may be the best."


def _findings(found: Preferences, gates: Sequence[Gate]) -> Iterator[str]:
    """Yield the gate, effects beside strengths, the pairs, what the best set left out, and the fit."""
    for gate in gates:
        said = gate.sentence()
        yield f"{said[0].upper()}{said[1:]}{f'; {gate.about}' if gate.about else ''}"
    yield from effect_sentences(found)
    if found.comparison.baseline is None:
        yield _pairs_said(found).removesuffix(".")
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


def _needed(plan: VotePlan) -> str:
    """Return how many votes separate the first two systems of a plan."""
    first, second = map(isolated, plan.contrasts[0])
    more = float(plan.votes[0])
    if not more:
        return f"Enough to separate {first} from {second}."
    if more == math.inf:
        return f"{first} and {second} are equally strong: no number of votes separates them."
    return f"{more:,.0f} further votes, spread as so far, would separate {first} from {second}."
