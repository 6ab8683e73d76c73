"""A study's part in the report: the ``SECTION`` of its section.py.

The report computes, draws and writes sections in the order of STUDIES. A section with its own part
of the page also has a template, section.html.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

from confir.data.lists.topic_lists import TopicLists
from confir.data.qrels import Qrels
from confir.data.scores import Scores
from confir.errors import ConfirError, InvalidValueError
from confir.measures.lists_and_scores import (
    BlockStudy,
    ListsAndScores,
    Objection,
    usable_measures,
    with_usable_scores,
)
from confir.measures.score_sources import as_scores
from confir.measures.score_summary import ScoreSummary
from confir.report.charts import chart
from confir.report.result_table import table_of
from confir.report.tables import Table
from confir.studies import find_sections

if TYPE_CHECKING:
    from confir.report.contents import Contents, MeasureContents, Settings

# Sentences below the headline; what else is found stands in the parts of the page.
MOST_FINDINGS = 3

Gathered = TypeVar("Gathered", "MeasureContents", "Contents")


class Figure(NamedTuple):
    """A chart of a report.

    Attributes
    ----------
    part
        Part of the report, and file name of the figure.
    drawing
        The altair chart.
    level, measure
        What it is of; None if it is the same for all. The report adds the measure.
    by_run
        Whether it has one panel with a run in every record, which the page can filter.
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
    """A sentence, its position among those of other sections, and the keys of works cited."""

    order: int
    text: str
    cites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The input of a section.

    Attributes
    ----------
    scores
        Scores by one measure, or by all.
    settings
        How the report is made.
    qrels, lists
        What the scores were computed from; None if only the scores are known.
    documents
        Size of the collection; None if it is not known.
    results
        Results of earlier sections, by study.
    measures
        Results by measure; empty for a section of one measure.
    of_all
        What sections computed at first, of all measures at once, by study; or why they could not.
    """

    scores: Scores | ScoreSummary
    settings: Settings
    qrels: Qrels | None
    lists: TopicLists | None
    documents: int | None
    results: Mapping[str, Any]
    measures: tuple[MeasureContents, ...] = ()
    of_all: Mapping[str, Any] = field(default_factory=dict)

    def found(self, study: str) -> Any:
        """Return what a section computed of all measures; raise why it could not."""
        found = self.of_all[study]
        if isinstance(found, ConfirError):
            raise found
        return found

    def own_part(self, study: str) -> Any:
        """Return this measure's part of what a section computed of all measures."""
        return self.found(study).select(measure=self.scores.measures)

    def require_lists(self, *, human: bool = False) -> TopicLists:
        """Return qrels and runs; raise if only the scores are known.

        Lists are by the qrels: with human judgements of some topics, they raise unless ``human``
        says that the part is about the qrels themselves.
        """
        if self.lists is None:
            raise InvalidValueError("this part needs qrels and runs, not scores alone")
        if not self.scores.by_one_judge and not human:
            raise InvalidValueError(
                "this part is about documents by one judge's qrels, which human judgements of "
                "some topics or documents do not correct"
            )
        return self.lists

    def require_runs(self, what: str) -> None:
        """Raise if there are not two runs."""
        if len(self.scores.runs) < 2:
            raise InvalidValueError(f"there is one run; {what} needs at least 2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section(Generic[Gathered]):
    """A study's part in the report: how it is computed and shown.

    Attributes
    ----------
    by_measure
        Whether it is computed for each measure, or once for all.
    gather
        Returns its result, or None if it has nothing to say. If it raises a ConfirError, the
        section is left out and the page says why; if the section is ``needed``, there is no report.
    gather_all
        Returns what is computed of all measures at once, beside other sections; ``gather`` takes it,
        or each measure's part.
    gather_blocks
        Returns how that is computed from lists, some topics at a time.
    anchor, heading
        Id and heading; section.html is the body. Without an anchor it is not on the page.
    heading_of
        Returns the heading where it depends on the contents.
    leads
        Whether the part stands below the answer, on the first screen; all others are folded.
    meaning
        What the part says to its reader, in one sentence.
    conclusion
        Returns what the part finds by the first measure, in one line: what is read of it while it is
        folded. "" if it finds nothing there.
    stays
        Whether section.html is shown even if the result is left out.
    context
        Returns variables of section.html, as ``own``, in addition to ``contents``, ``settings``,
        the numbers of ``runs`` and ``topics``, and the functions ``counted`` and ``percent``.
    figures
        Yields its charts, those of intervals at the levels given.
    paper
        Yields charts for papers alone: of what the page shows in another way.
    tables
        Yields the tables behind its charts, with the part of each.
    page_data
        Returns JSON data for the page's script; None if there is none.
    answer, methods
        Yield its sentences of the answer and of the methods paragraph.
    """

    by_measure: bool
    gather: Callable[[Scope], Any]
    gather_all: Callable[[Scope], Any] | None = None
    gather_blocks: Callable[[Scope], BlockStudy] | None = None
    needed: bool = False
    anchor: str = ""
    heading: str = ""
    heading_of: Callable[[Contents], str] | None = None
    leads: bool = False
    meaning: str = ""
    conclusion: Callable[[Contents], str] | None = None
    stays: bool = False
    context: Callable[[Contents], dict[str, Any]] | None = None
    figures: Callable[[Gathered, tuple[float, ...]], Iterable[Figure]] | None = None
    paper: Callable[[Gathered, tuple[float, ...]], Iterable[Figure]] | None = None
    tables: Callable[[Gathered], Iterable[tuple[str, Table]]] | None = None
    page_data: Callable[[Gathered], dict[str, Any] | None] | None = None
    answer: Callable[[Contents], Iterable[Sentence]] | None = None
    methods: Callable[[Contents], Iterable[Sentence]] | None = None


def gather_from_lists(
    study: str, compute: Callable[[ListsAndScores], BlockStudy], objection: Objection
) -> tuple[Callable[[Scope], Any], Callable[[Scope], BlockStudy]]:
    """Return ``gather`` and ``gather_blocks`` of a section about whole lists and their scores.

    Parameters
    ----------
    study
        Its name.
    compute
        How it computes something of all measures that it can use.
    objection
        Why it cannot use a measure.
    """

    def gather_blocks(scope: Scope) -> BlockStudy:
        lists, scores = scope.require_lists(), as_scores(scope.scores)
        return compute(with_usable_scores(lists, scores, scope.settings.rules, objection))

    def gather(scope: Scope) -> Any:
        scope.require_lists()
        usable_measures(scope.scores.measures, scope.settings.rules, objection)
        return scope.own_part(study)

    return gather, gather_blocks


def own_chart(
    study: str, part: str, *, by_run: bool = False, zoomable: bool = False
) -> Callable[[Any, tuple[float, ...]], Iterator[Figure]]:
    """Return the ``figures`` of a section that shows the chart of its result and no other."""

    def figures(contents: Any, _: tuple[float, ...]) -> Iterator[Figure]:
        yield Figure(part, chart(contents[study]), by_run=by_run, zoomable=zoomable)

    return figures


def own_table(study: str, part: str) -> Callable[[Any], Iterator[tuple[str, Table]]]:
    """Return the ``tables`` of a section that shows the table of its result and no other."""

    def tables(contents: Any) -> Iterator[tuple[str, Table]]:
        yield part, table_of(contents[study])

    return tables


def section_sentences(contents: Contents, kind: Literal["answer", "methods"]) -> Iterator[Sentence]:
    """Yield the sentences of all sections for the answer, or for the methods paragraph."""
    for section in find_sections().values():
        write = getattr(section, kind)
        if write is not None:
            yield from write(contents)


def answer_sentences(contents: Contents) -> list[str]:
    """Return the headline by the first measure, and at most three sentences more."""
    found = in_order(section_sentences(contents, "answer"))
    return [sentence.text for sentence in found[: 1 + MOST_FINDINGS]]


def conclusions(contents: Contents) -> dict[str, str]:
    """Return what the folded parts of the page find by the first measure, by anchor."""
    return {
        section.anchor: section.conclusion(contents)
        for study, section in find_sections().items()
        if section.conclusion is not None and contents.has(study)
    }


def in_order(sentences: Iterable[Sentence]) -> list[Sentence]:
    """Return sentences sorted by their position; equal positions keep their order."""
    return sorted(sentences, key=lambda sentence: sentence.order)
