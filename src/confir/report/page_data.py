"""What the page's script reads, as compact JSON: results by measure and level, lists, tables, charts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from confir.arrays import Floats
from confir.data.ranked_lists.held_lists import HeldLists, TopicLists
from confir.number_text import number_text
from confir.report.contents import Contents, present_sections
from confir.report.gathering import most_different_topics
from confir.report.result_chart import clean_chart
from confir.report.result_table import table_of
from confir.report.sections import Figure
from confir.report.tables import Table

# More digits than shown, so that all digits of differences computed on the page are right.
_SCORE_DIGITS = 9

# More digits than a chart shows; fewer keep the page small.
_CHART_DIGITS = 6

# Documents of each list, and the most documents of all lists on the page; and the fewest runs.
LIST_DEPTH, _MOST_DOCUMENTS = 10, 25_000
_LEAST_RUNS = 8


def page_data(contents: Contents) -> dict[str, Any]:
    """Return the data of the page by measure and study."""
    *by_measure, of_all = (
        {
            study: section.page_data(part)
            for study, section in present_sections(part).items()
            if section.page_data is not None
        }
        for part in contents.parts
    )
    listed = contents.scores.listed()
    return {
        "runs": list(contents.scores.runs),
        "topics": [listed.topics[t] for t in contents.measures[0].topics_shown.tolist()],
        "all_topics": len(contents.scores.topics),
        "measures": [
            {"name": part.measure, "order": part.order, **found}
            for part, found in zip(contents.measures, by_measure, strict=True)
        ],
        **of_all,
    }


def level_key(level: float) -> str:
    """Return a level as a key of the page's data."""
    return repr(level)


def shown(values: Floats) -> list[float | None]:
    """Return numbers rounded as tables show them; None for missing ones."""
    flat = np.asarray(values, np.float64).reshape(-1).tolist()
    return [None if math.isnan(x) else float(number_text(x).replace(",", "")) for x in flat]


def in_full(values: Floats) -> Any:
    """Return scores as nested lists with more digits; None for missing ones."""
    numbers = np.round(values, _SCORE_DIGITS).astype(object)
    numbers[~np.isfinite(values)] = None
    return numbers.tolist()


def list_excerpts(contents: Contents, lists: TopicLists | None) -> dict[str, Any] | None:
    """Return the first documents of lists that readers are most likely to open.

    They are those of the baseline and of the best runs by each measure in turn, for the topics on
    which these runs differ most. None if only the scores are known.
    """
    if lists is None:
        return None
    orders = [part.order for part in contents.measures]
    in_turn = [order[place] for place in range(len(orders[0])) for order in orders]
    baseline = contents.settings.baseline
    first = [] if baseline is None else [contents.scores.runs.index(baseline)]
    runs = list(dict.fromkeys([*first, *in_turn]))[: max(_LEAST_RUNS, len(orders) + 2)]
    listed = contents.scores.listed()
    shown = [listed.topics[t] for t in contents.measures[0].topics_shown.tolist()]
    chosen = listed.select(run=[listed.runs[run] for run in runs], topic=shown)
    topics = most_different_topics(chosen, _MOST_DOCUMENTS // (LIST_DEPTH * len(runs)))
    numbers = {topic: place for place, topic in enumerate(lists.qrels.topics)}
    known = [topic for topic in topics.tolist() if shown[topic] in numbers]
    places = [lists.runs.index(contents.scores.runs[run]) for run in runs]
    depth = np.zeros(lists.depth.shape, np.int64)
    chosen_topics = [numbers[shown[topic]] for topic in known]
    depth[:, chosen_topics] = np.minimum(lists.depth[:, chosen_topics], LIST_DEPTH)
    tops = lists.of_topics(0, len(lists.qrels.topics), depth)
    return {
        "depth": LIST_DEPTH,
        "runs": runs,
        "topics": known,
        "by_topic": [_of_topic(tops, places, numbers[shown[topic]]) for topic in known],
    }


def _of_topic(lists: HeldLists, runs: list[int], topic: int) -> dict[str, Any]:
    """Return the documents of a topic with their grades, and the list of each run by number."""
    numbers: dict[int, int] = {}
    grades: list[int | None] = []
    listed = []
    for run in runs:
        start, stop = lists.offsets[run * len(lists.qrels.topics) + topic :][:2].tolist()
        judged = lists.judgements[start:stop].tolist()
        documents = lists.documents[start:stop].tolist()
        for document, judgement in zip(documents, judged, strict=True):
            if numbers.setdefault(document, len(numbers)) == len(grades):
                grades.append(None if judgement < 0 else int(lists.qrels.gains[judgement]))
        listed.append([numbers[document] for document in documents])
    return {
        "documents": [lists.docids[document] for document in numbers],
        "grades": grades,
        "lists": listed,
    }


def page_tables(contents: Contents) -> Iterator[dict[str, Any]]:
    """Yield the tables that the page does not build from its data."""
    for held in contents.parts:
        for study, section in present_sections(held).items():
            tables: Iterable[tuple[str, Table]] = ()
            if section.tables is not None:
                tables = section.tables(held)
            elif section.part:
                tables = [(section.part, table_of(held[study]))]
            for part, table in tables:
                yield {
                    "part": part,
                    "measure": held.measure,
                    "columns": list(table.columns),
                    "names": table.names,
                    "rows": [[cell.text for cell in row] for row in table.rows],
                    "strong": [[int(cell.strong) for cell in row] for row in table.rows],
                    "note": table.note,
                }


def page_chart(figure: Figure) -> dict[str, Any]:
    """Return a chart for the page, with its title as the caption, and numbers in fewer digits."""
    spec = _with_fewer_digits(clean_chart(figure.drawing))
    title = spec.pop("title", "")
    spec = single_panel(spec)
    if isinstance(spec.get("width"), int):
        spec |= {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
    return {
        "part": figure.part,
        "measure": figure.measure,
        "level": None if figure.level is None else level_key(figure.level),
        "by_run": figure.by_run,
        "zoomable": figure.zoomable,
        "caption": title if isinstance(title, str) else title["text"],
        "spec": spec,
    }


def _with_fewer_digits(part: Any) -> Any:
    """Return a specification whose data have fewer digits."""
    if isinstance(part, list):
        return [_with_fewer_digits(one) for one in part]
    if not isinstance(part, dict):
        return part
    changed = {key: _with_fewer_digits(one) for key, one in part.items() if key != "data"}
    if "data" in part:
        changed["data"] = {
            "values": [dict(map(_rounded, one.items())) for one in part["data"]["values"]]
        }
    return changed


def _rounded(item: tuple[str, Any]) -> tuple[str, Any]:
    key, value = item
    return key, float(f"{value:.{_CHART_DIGITS}g}") if isinstance(value, float) else value


def single_panel(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the panel of a chart with one panel: only such a chart can fill the page's width."""
    if "facet" in spec:
        inner = spec["spec"]
    elif len(spec.get("concat", ())) == 1:
        inner = spec["concat"][0]
    else:
        return spec
    kept = {key: spec[key] for key in ("data", "config", "$schema") if key in spec}
    panel: dict[str, Any] = kept | inner
    panel.pop("title", None)
    return panel
