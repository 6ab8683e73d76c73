"""How do the entries of a table become runs? One run, or one per name in the column of runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confir.data.formats.entries import Entries
from confir.data.run import Run, build_run, pick
from confir.data.tables.input_table import encode_ids
from confir.errors import FormatError, enumerate_names


def runs_from_entries(
    entries: Entries, name: str | None, default: str, path: str | None = None
) -> list[Run]:
    """Return the runs that entries hold, in the order of their first entries.

    Parameters
    ----------
    entries
        One per retrieved document.
    name
        What the run is to be called; entries of several runs are then an error.
    default
        The run's name where neither the user nor a column says it.
    path
        The file, for messages.
    """
    if entries.runs is None or not entries.runs:
        made = [(name or default, entries.topics, entries.documents, entries.values)]
    else:
        ids = encode_ids(entries.runs)
        # the rows of all runs by one sort: looking at all rows for each run would not scale
        order = np.argsort(ids.codes, kind="stable")
        topics, documents = pick(entries.topics, order), pick(entries.documents, order)
        values = entries.values[order]
        ends = np.cumsum(np.bincount(ids.codes, minlength=len(ids.names))).tolist()
        spans = map(slice, [0, *ends[:-1]], ends)
        made = [
            (run, topics[own], documents[own], values[own])
            for run, own in zip(ids.names, spans, strict=True)
        ]
        if name is not None and len(made) == 1:
            made = [(name, *made[0][1:])]
    runs = [build_run(*one, path=path) for one in made]
    if name is not None:
        single_run(runs, path or name)
    return runs


def single_run(runs: Sequence[Run], place: str) -> Run:
    """Return the run of a source that may hold one only."""
    check_single([run.name for run in runs], place)
    return runs[0]


def check_single(names: Sequence[str], place: str) -> None:
    """Raise where a source that may hold one run only holds runs of several names."""
    if len(names) != 1:
        known = enumerate_names(names, 5)
        raise FormatError(f"holds {len(names)} runs ({known}); expected one here", path=place)
