"""Tables and sentences about preferences."""

from __future__ import annotations

import math
from dataclasses import replace

from confir.errors import counted
from confir.number_text import (
    SENTENCE_DECIMALS,
    NumberText,
    difference_text,
    frequency_text,
    interval_text,
    number_text,
    p_text,
)
from confir.report.names import isolated
from confir.report.tables import Cell, Table
from confir.studies.best.table import BORDERLINE_SET, set_text
from confir.studies.comparison.wording import BORDERLINE
from confir.studies.preferences.early_looks import ShareSequence
from confir.studies.preferences.preferences import PreferencePairs, Preferences
from confir.studies.preferences.vote_plan import VotePlan

# A p-value up to this is a sentence's evidence against the model.
_DOUBTFUL = 0.05


def preferences_table(found: Preferences, seed: int | None = None) -> Table:
    """Return systems, strongest first: strength, predicted wins, votes, ranks, best set."""
    rows = tuple(
        (
            Cell(found.runs[place], strong=bool(found.may_be_best[place])),
            Cell(interval_text(found.strength[place], found.low[place], found.high[place])),
            Cell(_share(float(found.share[place]))),
            Cell(f"{found.votes[place]:,}"),
            Cell(f"{found.rank[place]}"),
            Cell(_ranks(found, place)),
            Cell(set_text(found.may_be_best[place], found.best_borderline[place])),
        )
        for place in found.order
    )
    columns = ("system", "strength", "wins", "votes", "rank", "ranks", "may be best")
    note = (
        f"{about_votes(found)}; strength: Bradley-Terry, 0 on average, with its "
        f"{_percent(found.level)} interval; wins: predicted share of wins against the average of the "
        "other systems; ranks: simultaneous limits, of all ranks at once; may be best: confidence "
        f"set of the best (Hsu 1984){_borderline(found)}"
    )
    return Table(columns, rows, _with_seed(note, seed), bold="may be best")


def strengths_table(found: Preferences) -> Table:
    """Return systems, strongest first, with the answer in words below."""
    table = preferences_table(found)
    return replace(table, note="\n".join([best_sentence(found), table.note, fit_sentence(found)]))


def _ranks(found: Preferences, place: int) -> str:
    unclear = ", borderline" if found.borderline[place] else ""
    return f"{found.rank_low[place]} to {found.rank_high[place]}{unclear}"


def _borderline(found: Preferences) -> str:
    marked = (found.borderline | found.best_borderline).any()
    return "; borderline: other replicates might change the decision" if marked else ""


def best_sentence(found: Preferences) -> str:
    """Return which systems may be the best, as a sentence without its full stop."""
    first = found.order[0]
    top, systems = isolated(found.runs[first]), counted(len(found.runs), "system")
    sure = f"({_percent(found.level)} confidence)"
    members = int(found.may_be_best.sum())
    if members == 1:
        return f"{top} is the best of the {systems} {sure}"
    numbers = (float(part[first]) for part in (found.strength, found.low, found.high))
    strength = NumberText.of(*numbers, decimals=SENTENCE_DECIMALS)
    which = "each" if members == len(found.runs) else f"{members:,}"
    return f"{top} has the highest strength, {strength}; {which} of the {systems} may be the best {sure}"


def fit_sentence(found: Preferences) -> str:
    """Return whether one strength per system is enough, as a sentence without its full stop."""
    fit = found.fit
    if math.isnan(fit.p):
        return "Whether one strength per system is enough cannot be tested with so few pairs"
    verdict = "does not fit" if fit.p <= _DOUBTFUL else "fits"
    turns = counted(fit.cycles, "triple")
    alone = "" if found.cluster == "vote" else ", both as if votes were independent"
    return (
        f"One strength per system {verdict} the shares of all pairs (deviance {fit.deviance:.1f} "
        f"with {fit.df} df, p = {p_text(fit.p)} by simulation); {turns} of systems beat each other "
        f"in a circle, {fit.expected_cycles:.1f} expected by chance (p = {p_text(fit.cycles_p)})"
        f"{alone}"
    )


def preference_pairs_table(pairs: PreferencePairs, seed: int | None = None) -> Table:
    """Return pairs of systems: votes, observed and predicted share of wins, difference, verdict."""
    rows = tuple(
        (
            Cell(run),
            Cell(against),
            Cell(
                pairs.verdict[place] + ", borderline" * bool(pairs.borderline[place]),
                strong=pairs.verdict[place] in ("better", "worse"),
            ),
            Cell(f"{pairs.wins[place]}/{pairs.ties[place]}/{pairs.losses[place]}"),
            Cell(_share(float(pairs.observed[place]))),
            Cell(_share(float(pairs.predicted[place]))),
            Cell(difference_text(pairs.difference[place], pairs.low[place], pairs.high[place])),
            Cell(p_text(pairs.p_adjusted[place])),
        )
        for place, (run, against) in enumerate(pairs.pairs)
    )
    columns = (
        *("system", "against", "verdict", "w/t/l", "observed", "predicted", "difference", "adj. p"),
    )
    note = (
        f"w/t/l: votes won, tied, lost against each other; observed: share of wins, a tie counting "
        f"half; predicted: by strengths; difference in strength with its {_simultaneous(pairs)}"
        f"{_percent(pairs.level)} interval and p-value, {_family(pairs)}"
        + (f"; borderline: {BORDERLINE}" if pairs.borderline.any() else "")
    )
    return Table(columns, rows, _with_seed(note, seed), 3, "significant difference")


def _simultaneous(pairs: PreferencePairs) -> str:
    return "simultaneous " if len(pairs.pairs) > 1 else ""


def _family(pairs: PreferencePairs) -> str:
    count = len(pairs.pairs)
    return f"adjusted for all {count} pairs" if count > 1 else "by t"


def preference_best_table(found: Preferences, seed: int | None = None) -> Table:
    """Return which systems may be the best, with their gaps to the best of the others."""
    best = found.best
    order = sorted(found.order, key=lambda place: not found.may_be_best[place])
    rows = tuple(
        (
            Cell(found.runs[place], strong=bool(found.may_be_best[place])),
            Cell(set_text(found.may_be_best[place], found.best_borderline[place])),
            Cell(number_text(found.strength[place])),
            Cell(
                difference_text(
                    best.difference[place, 0], best.lower[place, 0], best.upper[place, 0]
                )
            ),
            Cell(p_text(best.p[place, 0])),
            Cell(frequency_text(best.share_first[place, 0])),
        )
        for place in order
    )
    note = (
        f"{about_votes(found)}; in set: no other system is significantly stronger, "
        "adjusted for all others (Hsu 1984, one-sided); gap: difference in strength from the best of "
        "the others, with simultaneous limits; p: of no other system being stronger; first: share of "
        f"bootstrap samples of the {found.cluster}s in which it ranks first"
        + (f"; {BORDERLINE_SET}" if found.best_borderline.any() else "")
    )
    columns = ("system", "in set", "strength", "gap", "p", "first")
    return Table(columns, rows, _with_seed(note, seed), 2, "may be best")


def preference_ranks_table(found: Preferences, seed: int | None = None) -> Table:
    """Return the ranks of systems with both intervals."""
    ranking = found.ranking
    rows = tuple(
        (
            Cell(found.runs[place]),
            Cell(number_text(found.strength[place])),
            Cell(f"{found.rank[place]}"),
            Cell(f"{ranking.low[place, 0]} to {ranking.high[place, 0]}"),
            Cell(_ranks(found, place)),
        )
        for place in found.order
    )
    note = (
        f"{about_votes(found)}; {_percent(found.level)} interval of the rank of each system on its own, and "
        "simultaneous, of all ranks at once"
        + ("; borderline: other replicates might change a limit" if found.borderline.any() else "")
    )
    columns = ("system", "strength", "rank", "interval", "simultaneous")
    return Table(columns, rows, _with_seed(note, seed))


def sequence_table(found: ShareSequence) -> Table:
    """Return the share of wins with limits that hold at every look."""
    row = (
        Cell(found.run),
        Cell(found.against),
        Cell(interval_text(found.share, found.low, found.high)),
        Cell(p_text(found.p)),
        Cell(f"{found.votes:,}"),
    )
    note = (
        f"{found.sentence}; share of wins over {counted(found.units, found.cluster)}, a tie counting "
        f"half, with a {_percent(found.level)} confidence sequence: limits and p-value hold at every "
        "look (Waudby-Smith & Ramdas 2023)"
    )
    return Table(("system", "against", "share of wins", "p", "votes"), (row,), note, 2)


def vote_plan_table(plan: VotePlan) -> Table:
    """Return how many more votes each contrast needs, and which pair to ask about."""
    rows = tuple(
        (
            Cell(run),
            *([Cell(against)] if against else []),
            Cell(number_text(plan.difference[place])),
            Cell(f"±{number_text(plan.half_width[place])}"),
            Cell(f"±{number_text(plan.target[place])}"),
            Cell(_votes(plan.votes[place])),
            Cell(
                "this pair" if {run, against} == {*plan.ask[place]} else " – ".join(plan.ask[place])
            ),
            Cell(_votes(plan.ask_votes[place])),
        )
        for place, (run, against) in enumerate(plan.contrasts)
    )
    compared = bool(plan.contrasts[0][1])
    names = ("system", "against") if compared else ("system",)
    what = "difference" if compared else "strength"
    goal = (
        f"an interval of ± {plan.target[0]:g}"
        if plan.goal == "half-width"
        else f"a significant difference with power {plan.power:g}, if it is the observed one"
    )
    like = "" if plan.cluster == "vote" else f", on further {plan.cluster}s like these"
    if plan.cluster == "judge":
        like = ", by further judges like these"
    note = (
        f"further votes{like}, for {goal}, level {_percent(plan.level)}, of each {what} by itself; votes: "
        "spread over pairs as so far; ask: the pair whose votes lower the variance most; on it: votes "
        "on that pair alone; a dash where no number suffices"
    )
    columns = (*names, what, "now", "wanted", "votes", "ask", "on it")
    return Table(columns, rows, note, len(names))


def _votes(number: float) -> str:
    return f"{number:,.0f}" if math.isfinite(number) else "–"


def about_votes(found: Preferences) -> str:
    """Return what the strengths rest on, in words."""
    votes = f"{counted(found.total, 'vote')} between {len(found.runs)} systems"
    ties = int(found.ties.sum()) // 2
    tied = f", {ties:,} of them ties" if ties else ""
    added = found.strengths.prior
    prior = f", and {added:g} ties of each system with an average one" if added else ""
    if found.cluster == "vote":
        return f"{votes}{tied}{prior}, treated as independent"
    joined = "by" if found.cluster == "judge" else "on"
    return f"{votes}{tied}{prior}, {joined} {counted(found.units, found.cluster)}"


def _percent(level: float) -> str:
    return f"{100 * level:.10g}%"


def _share(share: float) -> str:
    return "–" if math.isnan(share) else f"{100 * share:.1f}%"


def _with_seed(note: str, seed: int | None) -> str:
    return note if seed is None else f"{note}; seed {seed}"
