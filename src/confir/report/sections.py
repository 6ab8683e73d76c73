"""What may a study add to the report? A ``SECTION``, which its section.py holds.

The report gathers, draws and writes sections in the order of STUDIES, and knows nothing else of
them. A section with a place of its own on the page also has a template, section.html.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

from confir.data.qrels import Qrels
from confir.data.ranked_lists import RankedLists
from confir.data.scores import Scores
from confir.errors import InvalidValueError
from confir.report.tables import Table
from confir.studies import find_sections

if TYPE_CHECKING:
    from confir.report.contents import Contents, MeasureContents, Settings

Gathered = TypeVar("Gathered", "MeasureContents", "Contents")


class Figure(NamedTuple):
    """A chart of a report.

    Attributes
    ----------
    part
        The part of the report that it belongs to, and the name of its files.
    drawing
        The altair chart.
    level, measure
        What it is of; None where it is the same for all. The report adds the measure.
    by_run
        Whether it has one panel whose records each name a run, so that the page can filter them.
    zoomable
        Whether the reader may zoom into its points.
    """

    part: str
    drawing: Any
    level: float | None = None
    by_run: bool = False
    zoomable: bool = False
    measure: str | None = None


class Sentence(NamedTuple):
    """A sentence, its place among those of other sections, and the keys of the works it cites."""

    order: int
    text: str
    cites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """What a section is gathered from.

    Attributes
    ----------
    scores
        By one measure, or by all.
    settings
        How the report is made.
    qrels, lists
        What the scores were computed from; None where only the scores are known.
    documents
        Size of the collection; None where it is not known.
    results
        Those of the sections before, by study.
    measures
        What was gathered by each measure; empty for a section of one measure.
    """

    scores: Scores
    settings: Settings
    qrels: Qrels | None
    lists: RankedLists | None
    documents: int | None
    results: Mapping[str, Any]
    measures: tuple[MeasureContents, ...] = ()

    def require_lists(self) -> RankedLists:
        """Return qrels and runs; raise where only the scores are known."""
        if self.lists is None:
            raise InvalidValueError("this part needs qrels and runs, not scores alone")
        return self.lists

    def require_runs(self, what: str) -> None:
        """Raise where there are not two runs."""
        if len(self.scores.runs) < 2:
            raise InvalidValueError(f"there is one run; {what} would say nothing of it")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section(Generic[Gathered]):
    """A study's part in the report: how it is gathered and shown; what it lacks is absent.

    Attributes
    ----------
    by_measure
        Whether it is gathered for each measure on its own, or once for all.
    gather
        Returns its result. Where that raises a ConfirError, the section is left out and the page
        says why; where the section is ``needed``, there is no report.
    anchor, title, heading
        Its place on the page: id, words of the navigation, and heading; section.html is its body.
        Without an anchor it has none.
    stays
        Whether section.html is shown although the result is left out.
    context
        Returns what section.html needs, as ``own``, beside ``contents``, ``settings``, the numbers
        of ``runs`` and ``topics``, and the functions ``counted`` and ``percent``.
    figures
        Yields its charts, those of intervals at the levels given.
    tables
        Yields the tables behind its charts, with the part of each.
    page_data
        Returns what the page's script needs, as JSON can hold it; None where nothing is known.
    answer, methods
        Yield its sentences of the answer and of the methods paragraph.
    """

    by_measure: bool
    gather: Callable[[Scope], Any]
    needed: bool = False
    anchor: str = ""
    title: str = ""
    heading: str = ""
    stays: bool = False
    context: Callable[[Contents], dict[str, Any]] | None = None
    figures: Callable[[Gathered, tuple[float, ...]], Iterable[Figure]] | None = None
    tables: Callable[[Gathered], Iterable[tuple[str, Table]]] | None = None
    page_data: Callable[[Gathered], dict[str, Any] | None] | None = None
    answer: Callable[[Contents], Iterable[Sentence]] | None = None
    methods: Callable[[Contents], Iterable[Sentence]] | None = None


def section_sentences(contents: Contents, kind: Literal["answer", "methods"]) -> Iterator[Sentence]:
    """Yield the sentences of all sections for the answer, or for the methods paragraph."""
    for section in find_sections().values():
        write = getattr(section, kind)
        if write is not None:
            yield from write(contents)


def in_order(sentences: Iterable[Sentence]) -> list[Sentence]:
    """Return sentences in the order of their places; those of the same place stay as they are."""
    return sorted(sentences, key=lambda sentence: sentence.order)
