"""The bootstrap over documents on a cluster: workers read the runs' files, and draw by topics."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from confir.data.experiment import Experiment
from confir.data.qrels import Qrels
from confir.data.reading_rules import ReadingRules
from confir.data.scanning.list_reader import scan_sources
from confir.errors import collect_warnings
from confir.measures.worker_evaluation import RunFile, find_run_files
from confir.parallel import Progress, iterate_blocks, run_blocks
from confir.resampling.document_replicates import DocumentReplicates
from confir.resampling.prepared_lists import (
    Drawing,
    DrawnScores,
    HeldTopics,
    Outline,
    PreparedLists,
    join_topics,
)


def resample_files(
    experiment: Experiment, drawing: Drawing, progress: Progress | None
) -> DocumentReplicates:
    """Return the scores of runs in files, which workers read, on resampled collections."""
    files = _FileLists(experiment.qrels, find_run_files(experiment), experiment.rules, drawing)
    (outline,) = run_blocks(files.outline, [None])
    parts = drawing.split_topics(outline.judged, outline.depth)
    drawn = ((parts[number], scores) for number, scores in iterate_blocks(files.resample, parts))
    return join_topics(outline, drawing, drawn, progress)


class _FileLists:
    """Lists in files, which every process reads once, when it gets its first topics."""

    def __init__(
        self, qrels: Qrels, files: Sequence[RunFile], rules: ReadingRules, drawing: Drawing
    ) -> None:
        self._given = qrels, files, rules, drawing
        self._reading = threading.Lock()
        self._held: HeldTopics | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Let other processes read the files themselves."""
        return type(self), self._given

    def outline(self, _: None) -> Outline:
        """Return what is the same on all resampled collections, with all warnings."""
        return self._prepare().outline

    def resample(self, topics: slice) -> DrawnScores:
        """Return the scores of some topics on resampled collections."""
        qrels, _, _, drawing = self._given
        with self._reading:  # of the threads of a worker, one reads
            if self._held is None:
                with collect_warnings():  # which `outline` gives
                    self._held = self._prepare().hold((0, len(qrels.topics)))
            held = self._held
        return drawing.resample(held.task(topics))

    def _prepare(self) -> PreparedLists:
        qrels, files, rules, drawing = self._given
        for file in files:
            file.check()
        sources = [file.source for file in files]
        excluded = rules.reading.exclusions.without_watch()
        how = (rules.name_by, rules.tie_precision, None, excluded)
        return PreparedLists(scan_sources(qrels, sources, *how), drawing)
