"""Tables of a meta-analysis: several models side by side, and sentences on each group."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from confir.data.effect_files import Group
from confir.data.result import Record
from confir.data.table_columns import Role, TableColumn
from confir.defaults import ALL_PAIRS, NO_FAMILY
from confir.errors import counted
from confir.number_text import difference_text, p_text, p_words, percent, share_text, signed
from confir.pairs.decisions import Estimates, significant_directions
from confir.pairs.simultaneous import is_significant
from confir.report.result_table import records_table
from confir.report.tables import Table
from confir.studies.meta_analysis.models import FIXED, HARTUNG_KNAPP, STOUFFER
from confir.studies.meta_analysis.pooled_estimates import find_blocks
from confir.studies.meta_analysis.pooled_results import PooledEffect, PooledModels

# For more groups than this, only the main model is listed.
MOST_IN_FULL = 6


def as_models(pooled: PooledEffect | PooledModels) -> PooledModels:
    """Return effects pooled by several models; of one, it alone."""
    return pooled if isinstance(pooled, PooledModels) else PooledModels((pooled,))


def pooled_table(pooled: PooledEffect | PooledModels, note: str = "") -> Table:
    """Return a table of pooled effects: one row per group and model; of many groups, one each."""
    models = as_models(pooled)
    main = models.main
    shown = models if len(main.groups) <= MOST_IN_FULL else PooledModels((main,))
    same_count = bool((main.count == main.count.flat[0]).all())
    known = {
        name for group in main.groups for name, one in group._asdict().items() if one is not None
    }
    left_out = {
        *({*Group._fields} - known),
        *(() if is_simultaneous(main) else ["p_adjusted"]),
        *(["studies"] if same_count else ()),
    }
    columns = {name: column for name, column in _COLUMNS.items() if name not in left_out}
    over = f" over {_studies(int(main.count.flat[0]))}" if same_count else ""
    note = "; ".join(filter(None, (_note(models, shown, over), note)))
    return records_table(shown.to_records(), columns, note)


def pooled_sentences(pooled: PooledEffect) -> list[str]:
    """Return a sentence per group: effect, interval, and how far the studies differ."""
    arrays = (pooled.tested, *pooled.normal_limits)
    numbers = zip(*(array.reshape(-1).tolist() for array in arrays), strict=True)
    return [
        _sentence(group, record, pooled, tested, limits)
        for group, record, (tested, *limits) in zip(
            pooled.groups, pooled.to_records(), numbers, strict=True
        )
    ]


def is_simultaneous(pooled: PooledEffect) -> bool:
    """Whether the intervals that are shown hold for several pooled effects at once."""
    return pooled.family != NO_FAMILY and bool(pooled.tested.max() > 1)


def interval_name(pooled: PooledEffect) -> str:
    """Return what interval is shown: ``simultaneous 95% interval, 2 pairs with bm25``."""
    level = percent(pooled.level)
    if is_simultaneous(pooled):
        return f"simultaneous {level} interval, {_family_text(pooled)}"
    several = any(len(block) > 1 for block in find_blocks(pooled.groups).values())
    return f"{level} interval{' (of each effect alone)' if several else ''}"


def _family_text(pooled: PooledEffect) -> str:
    """Return how many pairs of runs a family holds; other measures may have fewer."""
    most = int(pooled.tested.max())
    at_most = "" if (pooled.tested == most).all() else "at most "
    if pooled.family == ALL_PAIRS:
        return f"{at_most or 'all '}{counted(most, 'pair')}"
    baselines = {group.baseline for group in pooled.groups}
    against = f" with {baselines.pop()}" if len(baselines) == 1 else " with a baseline"
    return f"{at_most}{counted(most, 'pair')}{against}"


def effect_sign(record: Record) -> int:
    """Return 1 or -1 where interval and adjusted p agree that the effect is not 0, else 0."""
    effect, p = record["effect"], record["p_adjusted"]
    estimates = Estimates(effect, *shown_limits(record), constant=False)
    return int(significant_directions(estimates, np.sign(effect), p, record["level"]))


def shown_limits(record: Record) -> tuple[float, float]:
    """Return the limits of a pooled effect: simultaneous in a family, else its own."""
    if record["family"] == NO_FAMILY:
        return record["low"], record["high"]
    return record["simultaneous_low"], record["simultaneous_high"]


def _effect_text(record: Record) -> str:
    """Return the effect with its interval; of a test alone, only the direction."""
    if record["model"] == STOUFFER and not math.isnan(record["p"]):
        return _direction_text(record)
    return difference_text(record["effect"], *shown_limits(record))


def _direction_text(record: Record) -> str:
    return "above 0" if record["p_greater"] <= 0.5 else "below 0"


def _predicted_text(record: Record) -> str:
    return difference_text(math.nan, record["predicted_low"], record["predicted_high"])


def _heterogeneity_text(record: Record) -> str:
    if math.isnan(record["q_p"]):
        return "–"
    return f"{record['q']:.1f} ({p_text(record['q_p'])})"


_COLUMNS = {
    **dict.fromkeys(("collection", "measure", "run", "baseline", "model"), TableColumn(Role.NAME)),
    "effect": TableColumn(
        Role.DIFFERENCE, text=_effect_text, bold=lambda one: effect_sign(one) != 0
    ),
    "p": TableColumn(Role.P),
    "p_adjusted": TableColumn(Role.P, "adj. p"),
    "predicted_low": TableColumn(Role.DIFFERENCE, "further study", text=_predicted_text),
    "tau2": TableColumn(Role.NUMBER, "τ²", format=".3g"),
    "i2": TableColumn(Role.SHARE, "I²", text=lambda one: share_text(one["i2"], 0)),
    "q": TableColumn(Role.NUMBER, "Q (p)", text=_heterogeneity_text),
    "studies": TableColumn(Role.COUNT),
}


def _note(models: PooledModels, shown: PooledModels, over: str) -> str:
    kinds = {pooled.model.kind for pooled in shown.pooled}
    level, interval = percent(models.main.level), interval_name(models.main)
    parts = [f"effect pooled{over} with {interval}, bold where it excludes 0"]
    if is_simultaneous(models.main):
        parts.append("adj. p by Bonferroni's bound")
    if STOUFFER in kinds:
        parts.append("p two-sided; Stouffer's method is a test without an estimate")
    if kinds - {STOUFFER, FIXED}:
        parts.append(f"further study: {level} prediction interval of its true effect")
    if len(shown.pooled) < len(models.pooled):
        parts.append(f"only {shown.main.model.name} is shown: CSV and JSON have all models")
    return "; ".join(parts)


def _studies(count: int) -> str:
    return counted(count, "study", "studies")


def _sentence(
    group: Group, record: Record, pooled: PooledEffect, tested: int, normal: Sequence[float]
) -> str:
    over = _studies(record["studies"])
    together = "simultaneous " if pooled.family != NO_FAMILY and tested > 1 else ""
    parts = [f"{_effect_words(record, pooled, together)}, over {over} by {pooled.model.name}"]
    low, high = shown_limits(record)
    if pooled.model.interval == HARTUNG_KNAPP and high - low < normal[1] - normal[0]:
        parts.append(
            f"narrower than the {together}normal interval [{signed(normal[0])}, {signed(normal[1])}], "
            "because the effects vary less than their standard errors explain: use the wider one"
        )
    if record["studies"] > 1:
        parts.append(_heterogeneity_words(record))
    if not math.isnan(record["predicted_low"]):
        parts.append(f"a further study's true effect is expected in {_predicted_text(record)}")
    return (f"{group}: " if str(group) else "") + "; ".join(parts)


def _effect_words(record: Record, pooled: PooledEffect, together: str) -> str:
    if pooled.model.kind == STOUFFER:
        adjusted = "adjusted " if together else ""
        return f"effect {_direction_text(record)}, {adjusted}{p_words(record['p_adjusted'])}"
    if math.isnan(record["effect"]):
        return "no pooled effect"
    low, high = shown_limits(record)
    if math.isnan(low):
        return f"pooled effect {signed(record['effect'])}, no interval"
    verdicts = {1: "significantly above 0", -1: "significantly below 0"}
    verdict = verdicts.get(effect_sign(record), "not significantly different from 0")
    return (
        f"pooled effect {signed(record['effect'])}, {together}{percent(record['level'])} interval "
        f"[{signed(low)}, {signed(high)}]: {verdict}"
    )


def _heterogeneity_words(record: Record) -> str:
    numbers = f"I² {share_text(record['i2'], 0)}, {p_words(record['q_p'])} by Q"
    if is_significant(record["q_p"], record["level"]):
        return f"significant heterogeneity between the studies ({numbers})"
    return f"no significant heterogeneity between the studies ({numbers})"
