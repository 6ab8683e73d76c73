"""How do runs and qrels become data frames, of pandas, polars or pyarrow?"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from confir.data.entries import judgements
from confir.data.qrels import Qrels
from confir.data.run import Run
from confir.errors import MissingDependencyError, UnknownNameError

Backend = Literal["pandas", "polars", "pyarrow"]

BACKENDS: tuple[Backend, ...] = ("pandas", "polars", "pyarrow")


def run_to_frame(run: Run, backend: str | None = None) -> Any:
    """Return a data frame with the columns topic, docid, rank, score, best document first."""
    sizes = np.diff(run.offsets)
    first = np.repeat(run.offsets[:-1], sizes)
    columns = {
        "topic": np.repeat(np.array(run.topics, object), sizes).tolist(),
        "docid": list(run.documents),
        "rank": (np.arange(len(first)) - first + 1).tolist(),
        "score": run.scores.tolist(),
    }
    return build_frame(columns, backend)


def qrels_to_frame(qrels: Qrels, backend: str | None = None) -> Any:
    """Return a data frame with the columns topic, subtopic, docid, gain: a row a judgement."""
    topics, subtopics, documents = judgements(qrels)
    columns = {
        "topic": topics,
        "subtopic": subtopics,
        "docid": documents,
        "gain": qrels.subtopic_gains.tolist(),
    }
    return build_frame(columns, backend)


def build_frame(columns: Mapping[str, list[Any]], backend: str | None) -> Any:
    """Return a data frame of columns, made by a backend or by the first that is installed."""
    wanted = [name for name in BACKENDS if backend in (None, name)]
    if not wanted:
        raise UnknownNameError("backend", str(backend), BACKENDS)
    installed = next((name for name in wanted if importlib.util.find_spec(name)), None)
    if installed is None:
        extra = "parquet" if wanted[0] == "pyarrow" else None
        raise MissingDependencyError(wanted[0], "a data frame", extra)
    import narwhals as nw

    return nw.from_dict(columns, backend=installed).to_native()
