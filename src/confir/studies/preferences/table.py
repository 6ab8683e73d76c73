"""Tables and sentences about preferences that the results do not declare themselves."""

from __future__ import annotations

import math
from operator import itemgetter

from confir.data.table_columns import LIMITS, Role, TableColumn
from confir.errors import counted
from confir.measures.strengths import POSITION
from confir.number_text import (
    SENTENCE_DECIMALS,
    difference_words,
    number_text,
    p_words,
    percent,
    share_text,
)
from confir.report.messages import isolated, joined_names
from confir.report.result_table import records_table, result_table
from confir.report.tables import Table
from confir.studies.best.table import BORDERLINE_SET
from confir.studies.preferences.preferences import Preferences

# A p-value up to this is a sentence's evidence against the model.
_DOUBTFUL = 0.05


def strengths_table(found: Preferences) -> Table:
    """Return systems, strongest first, with the answer in words below."""
    said = [best_sentence(found), *effect_sentences(found), found.note(), fit_sentence(found)]
    return result_table(found, "\n".join(said))


def best_sentence(found: Preferences) -> str:
    """Return which systems may be the best, as a sentence without its full stop."""
    first = found.order[0]
    systems = counted(len(found.runs), "system")
    sure = f"({percent(found.level)} confidence)"
    members = int(found.may_be_best.sum())
    if members == 1:
        return f"{isolated(found.runs[first])} is the best of the {systems} {sure}"
    numbers = (float(part[first]) for part in (found.strength, found.low, found.high))
    strength = number_text(*numbers, decimals=SENTENCE_DECIMALS)
    which = "each" if members == len(found.runs) else f"{members:,}"
    return f"{leading_systems(found)}, {strength}; {which} of the {systems} may be the best {sure}"


def effect_sentences(found: Preferences) -> list[str]:
    """Return significant effects of the position, and all that strengths are adjusted for."""
    effects, said = found.effects, []
    for record in effects.to_records():
        name, share = record["effect"], record["share"]
        if not record["adjusted"] and not record["p"] <= 1.0 - found.level:
            continue
        values = (record[part] for part in ("estimate", *LIMITS))
        effect = f"{difference_words(*values)} on the logit"
        if name != POSITION:
            unit = number_text(record["unit"], decimals=SENTENCE_DECIMALS)
            said.append(
                f"Strengths are adjusted for {isolated(name)} (effect {effect} per {unit}, "
                f"{p_words(record['p'])})"
            )
            continue
        side = "left" if share >= 0.5 else "right"
        then = "are adjusted for it" if record["adjusted"] else "ignore this: add --position adjust"
        said.append(
            f"The {side} side wins {share_text(max(share, 1.0 - share))} of the votes between equal "
            f"systems (effect {effect}, {p_words(record['p'])}); strengths {then}"
        )
    sides = found.strengths.sides
    if effects.reason and sides.points.sum() in (0.0, sides.votes.sum()):
        side = "left" if sides.points.sum() else "right"
        said.append(
            f"The {side} side wins all {found.total:,} votes, which may show the position, not the systems"
        )
    return said


def leading_systems(found: Preferences) -> str:
    """Return which systems have the highest strength, in words."""
    leaders = [found.runs[place] for place in found.order if found.rank[place] == 1]
    have = "has" if len(leaders) == 1 else "have"
    return f"{joined_names(leaders)} {have} the highest strength"


def fit_sentence(found: Preferences) -> str:
    """Return whether one strength per system is enough, as a sentence without its full stop."""
    fit = found.fit
    if {*found.strengths.effects.names} - {POSITION}:
        return "Whether one strength per system is enough is not tested where covariates make votes differ"
    if math.isnan(fit.p):
        return "Whether one strength per system is enough cannot be tested with so few pairs"
    verdict = "does not fit" if fit.p <= _DOUBTFUL else "fits"
    pairs = "pairs in both orders" if found.strengths.effects.names else "pairs"
    alone = "" if found.cluster == "vote" else ", both as if votes were independent"
    return (
        f"One strength per system {verdict} the shares of all {pairs} (deviance {fit.deviance:.1f} "
        f"with {fit.df} df, {p_words(fit.p)} by simulation); {counted(fit.cycles, 'triple')} of systems "
        f"beat each other in a circle, {fit.expected_cycles:.1f} expected by chance "
        f"({p_words(fit.cycles_p)}){alone}"
    )


def preference_best_table(found: Preferences) -> Table:
    """Return which systems may be the best, with their gaps to the best of the others."""
    records = sorted(found.best.to_records(), key=lambda record: not record["may_be_best"])
    columns = {
        "run": TableColumn(Role.NAME, "system", bold=itemgetter("may_be_best")),
        "may_be_best": TableColumn(
            Role.VERDICT, "in set", ("borderline",), words={True: "yes", False: "no"}
        ),
        "mean": TableColumn(Role.SCORE, "strength"),
        "gap": TableColumn(Role.DIFFERENCE, others=("gap_low", "gap_high")),
        "p": TableColumn(Role.P),
        "share_first": TableColumn(Role.FREQUENCY, "first"),
    }
    note = (
        f"{found.about}; in set: no other system is significantly stronger, adjusted for all others (Hsu "
        "1984, one-sided); gap: difference in strength from the best of the others, with simultaneous "
        "limits; p: of no other system being stronger; first: share of bootstrap samples of the "
        f"{found.cluster}s in which it ranks first"
        + (f"; {BORDERLINE_SET}" if found.best_borderline.any() else "")
    )
    return records_table(records, columns, note, "may be best")


def preference_ranks_table(found: Preferences) -> Table:
    """Return the ranks of systems with both intervals."""
    columns = {
        "run": TableColumn(Role.NAME, "system"),
        "mean": TableColumn(Role.SCORE, "strength"),
        "rank": TableColumn(Role.COUNT),
        "low": TableColumn(Role.RANGE, "interval", ("high",)),
        "simultaneous_low": TableColumn(
            Role.RANGE, "simultaneous", ("simultaneous_high", "borderline")
        ),
    }
    note = (
        f"{found.about}; {percent(found.level)} interval of the rank of each system on its own, and "
        "simultaneous for all systems"
        + ("; borderline: another seed might change a limit" if found.borderline.any() else "")
    )
    return records_table(found.ranking.to_records(), columns, note)
