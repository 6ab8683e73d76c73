"""The history of a gate as an HTML page: the newest look in sentences, the chart, and every look."""

from __future__ import annotations

import math
from importlib.resources import files

from confir.control_characters import without_controls
from confir.data.result import Record
from confir.errors import counted, enumerate_names
from confir.number_text import difference_words, level_text, score_words, signed_words
from confir.report.messages import isolated, joined_names
from confir.studies.gate.false_alarms import alarm_sentences
from confir.studies.history.chart import history_chart
from confir.studies.history.history import SHORT_COMMIT, GateHistory
from confir.studies.history.history_file import FAILS, PASSES
from confir.studies.history.looks import CANDIDATES, level_of_look, passing_loss

# Columns of the table of looks that are left out where all looks agree.
_NAMES = ("measure", "run", "against")

# The difference, and the interval that decides.
_INTERVAL = ("difference", "look_low", "look_high")

# Decisions of the newest look that are stated above the chart, and failed looks that are named.
_MOST_DECISIONS = 2
_MOST_NAMED = 5


def history_page(history: GateHistory) -> str:
    """Return a self-contained page about a gate's looks, newest first."""
    import jinja2

    from confir.report.chart_files import chart_bytes

    records = history.to_records()
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = (files("confir.studies.history") / "page.html").read_text(encoding="utf-8")
    newest = [record for record in records if record["look"] == records[-1]["look"]]
    varying = [name for name in _NAMES if len({record[name] for record in records}) > 1]
    page = environment.from_string(template).render(
        title=f"Gate: {counted(records[-1]['look'], 'look')}",
        style=(files("confir.report") / "templates" / "page.css").read_text(encoding="utf-8"),
        lead=lead_sentence(newest),
        # those that fail first; the table has all of them
        findings=[
            *map(
                _decision_sentence,
                sorted(newest, key=lambda one: one["decision"] != FAILS)[:_MOST_DECISIONS],
            ),
            _count_sentence(records),
            *(f"{one[0].upper()}{one[1:]}." for one in history.changes()),
            *_alarms(history),
        ],
        chart=chart_bytes(history_chart(history), ".svg").decode(),
        level=_level_sentence(newest[-1]),
        names=varying,
        rows=[_row(record) for record in reversed(records)],
        facts=_facts(newest, varying),
    )
    return without_controls(page, keep_blanks=True, keep_isolates=True)


def lead_sentence(newest: list[Record]) -> str:
    """Return how the newest look decided: who fails, and who passes."""
    look = newest[0]["look"]
    runs = list(dict.fromkeys(record["run"] for record in newest))
    said = []
    for run in runs:
        by = {
            word: [r["measure"] for r in newest if (r["run"], r["decision"]) == (run, word)]
            for word in (FAILS, PASSES)
        }
        parts = [f"{word} by {joined_names(measures)}" for word, measures in by.items() if measures]
        said.append(f"{isolated(run)} {' and '.join(parts)}")
    return f"Look {look:,}: {'; '.join(said)}."


def _decision_sentence(record: Record) -> str:
    """Return a decision as a sentence: means, difference, interval, and the loss that would pass."""
    run, baseline = isolated(record["run"]), isolated(record["against"])
    numbers = tuple(record[name] for name in _INTERVAL)
    text = f"{record['measure']}: "
    if not math.isnan(record["mean"]):
        text += f"{baseline} {score_words(record['against_mean'])} → {run} {score_words(record['mean'])}, "
    else:
        text += f"{run} against {baseline} "
    text += signed_words(record["difference"])
    if any(map(math.isnan, numbers)):
        return f"{text}."
    limits = difference_words(*numbers).partition(" ")[2]
    text += f" ({level_text(record['look_level'])} confidence interval {limits})"
    loss = passing_loss(record)
    passing = f"a candidate passes from an observed gain of {score_words(-loss)} on"
    if loss >= 0.0:
        passing = f"an observed loss of up to {score_words(loss)} would pass"
    return f"{text}; with such an interval, {passing}."


def _count_sentence(records: list[Record]) -> str:
    """Return what the gate asks for, and how many looks failed."""
    last = records[-1]
    looks = {record["look"] for record in records}
    failed = sorted({record["look"] for record in records if record["decision"] == FAILS})
    which = f" (look {enumerate_names(map(str, failed), _MOST_NAMED)})" if failed else ""
    baseline, margin = isolated(last["against"]), last["margin"]
    rule = {
        "not-worse": f"fails if it is significantly worse than {baseline}"
        + (f" by more than {margin:g}" if margin else ""),
        "non-inferior": f"passes if it is non-inferior to {baseline} (margin {margin:g})",
        "superior": f"passes if it is significantly better than {baseline}",
    }[last["require"]]
    return f"{len(failed):,} of {counted(len(looks), 'look')} failed{which}: a candidate {rule}."


def _alarms(history: GateHistory) -> list[str]:
    """Return how often the gate is wrong and what it catches, as the newest look with such numbers says."""
    known = [
        (look, kept, require)
        for (look, *_), kept, require in zip(
            history.entries, history.false_alarms, history.require, strict=True
        )
        if kept is not None
    ]
    if not known:
        return []
    look, kept, require = known[-1]
    first, *rest = alarm_sentences(kept, require)
    return [f"At the level of look {look:,}: {first[0].lower()}{first[1:]}", *rest]


def _level_sentence(last: Record) -> str:
    """Return the level of the newest look, and why it is so high."""
    if last["looks"] != CANDIDATES:
        return "The intervals are confidence sequences, which hold at every look."
    place = last["look"] - last["first_look"] + 1
    following = level_text(level_of_look(place + 1, last["level"]))
    together = (
        "all looks" if last["first_look"] == 1 else f"all looks since look {last['first_look']:,}"
    )
    return (
        f"Look {last['look']:,} was decided at level {level_text(last['look_level'])}, and the next one will "
        f"be at {following}, so that {together} together keep {level_text(last['level'])}."
    )


def _facts(newest: list[Record], varying: list[str]) -> str:
    """Return what all looks have in common, and the day of the newest."""
    last = newest[-1]
    same = [last[name] for name in ("measure",) if name not in varying]
    if "run" not in varying and "against" not in varying:
        same.append(f"{isolated(last['run'])} against {isolated(last['against'])}")
    return " · ".join([*same, f"newest look {last['date'][:10]}"])


def _row(record: Record) -> dict[str, str]:
    return {
        "look": f"{record['look']:,}",
        "date": record["date"][:10],
        "commit": (record["commit"] or "")[:SHORT_COMMIT],
        "measure": record["measure"],
        "run": record["run"],
        "against": record["against"],
        "means": f"{score_words(record['against_mean'])} → {score_words(record['mean'])}"
        if not math.isnan(record["mean"])
        else "–",
        "difference": difference_words(*(record[name] for name in _INTERVAL)),
        "level": level_text(record["look_level"]),
        "decision": record["decision"],
    }
