"""The history of a gate as an HTML page: the newest look in sentences, the chart, and every look."""

from __future__ import annotations

import math
from importlib.resources import files

from confir.control_characters import without_controls
from confir.data.result import Record
from confir.errors import counted
from confir.number_text import difference_words, score_words
from confir.order import level_text
from confir.report.names import isolated
from confir.studies.history.chart import history_chart
from confir.studies.history.history import GateHistory
from confir.studies.history.history_file import FAILS
from confir.studies.history.looks import CANDIDATES, level_of_look, passing_loss
from confir.studies.history.table import SHORT_COMMIT


def history_page(history: GateHistory) -> str:
    """Return a self-contained page about a gate's looks, newest first."""
    import jinja2

    from confir.report.charts import chart_bytes

    records = history.to_records()
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = (files("confir.studies.history") / "page.html").read_text(encoding="utf-8")
    newest = [record for record in records if record["look"] == records[-1]["look"]]
    page = environment.from_string(template).render(
        title=f"Gate: {counted(records[-1]['look'], 'look')}",
        style=(files("confir.report") / "templates" / "page.css").read_text(encoding="utf-8"),
        lead=" ".join(map(decision_sentence, newest)),
        findings=[*_findings(records, newest)],
        chart=chart_bytes(history_chart(history), ".svg").decode(),
        rows=[_row(record) for record in reversed(records)],
        last=records[-1]["date"][:10],
    )
    return without_controls(page, keep_blanks=True)


def decision_sentence(record: Record) -> str:
    """Return a decision as a sentence: the means, and the difference with the interval that decides."""
    run, baseline = isolated(record["run"]), isolated(record["against"])
    difference = difference_words(*_interval(record))
    means = ""
    if record["mean"] is not None and not math.isnan(record["mean"]):
        means = f"{baseline} {score_words(record['against_mean'])} → {run} {score_words(record['mean'])}, "
    return f"Look {record['look']:,}: {run} {record['decision']} by {record['measure']} ({means}{difference})."


def _interval(record: Record) -> tuple[float, float, float]:
    low, high = (
        math.nan if record[end] is None else record[end] for end in ("look_low", "look_high")
    )
    return record["difference"], low, high


def _findings(records: list[Record], newest: list[Record]) -> list[str]:
    """Return how many looks failed, the level of the newest one, and the loss that would pass."""
    looks = {record["look"] for record in records}
    failed = {record["look"] for record in records if record["decision"] == FAILS}
    found = [f"{len(failed):,} of {counted(len(looks), 'look')} failed."]
    last = newest[-1]
    if last["looks"] == CANDIDATES:
        following = level_text(level_of_look(last["look"] + 1, last["level"]))
        found.append(
            f"Look {last['look']:,} was decided at level {level_text(last['look_level'])}, and the next one will "
            f"be at {following}, so that all looks together keep {level_text(last['level'])}."
        )
    else:
        found.append("The intervals are confidence sequences, which hold at every look.")
    found += [_loss_sentence(record) for record in newest if not math.isnan(passing_loss(record))]
    return found


def _loss_sentence(record: Record) -> str:
    loss = passing_loss(record)
    by = f"By {record['measure']}, with intervals as wide as those of {isolated(record['run'])} at this look"
    if loss >= 0.0:
        return f"{by}, an observed loss of up to {score_words(loss)} passes."
    return f"{by}, a candidate passes from an observed gain of {score_words(-loss)} on."


def _row(record: Record) -> dict[str, str]:
    known = record["mean"] is not None and not math.isnan(record["mean"])
    return {
        "look": f"{record['look']:,}",
        "date": record["date"][:10],
        "commit": (record["commit"] or "")[:SHORT_COMMIT],
        "measure": record["measure"],
        "run": record["run"],
        "against": record["against"],
        "means": f"{score_words(record['against_mean'])} → {score_words(record['mean'])}"
        if known
        else "–",
        "difference": difference_words(*_interval(record)),
        "level": level_text(record["look_level"]),
        "decision": record["decision"],
    }
