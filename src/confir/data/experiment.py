"""What is an experiment? Qrels, runs, and the rules for reading them; each file is read once."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar, cast, get_args

from confir.arguments import as_choice, as_integer
from confir.data.files import STDIN, PathLike
from confir.data.formats.objects import as_qrels, as_runs
from confir.data.formats.trec_files import NAMINGS, NameBy, RunSource
from confir.data.qrels import Intents, Qrels
from confir.data.ranked_lists import RankedLists
from confir.data.rankings import TIE_PRECISIONS, TiePrecision
from confir.data.run import Run
from confir.data.scanning.list_scanner import scan_sources
from confir.errors import InvalidValueError

Missing = Literal["zero", "drop", "error"]

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class ReadingRules:
    """Rules for reading qrels and runs, and for scoring their topics.

    Attributes
    ----------
    rel
        Lowest gain that counts as relevant, for measures that do not name their own.
    depth
        Use only this many documents of each list, from the top.
    missing
        A topic that a run lacks scores 0 ("zero"), has no score ("drop") or is an "error".
    name_by
        "tag" names an unnamed run by the tag of its first line.
    tie_precision
        "single" compares retrieval scores as trec_eval 9 and pytrec_eval do.
    intents
        Intent probabilities: a file, or a mapping topic → subtopic → probability.
    """

    rel: int = 1
    depth: int | None = None
    missing: Missing = "zero"
    name_by: NameBy = "file"
    tie_precision: TiePrecision = "double"
    intents: PathLike | Intents | None = None

    def __post_init__(self) -> None:
        as_integer("rel", self.rel)
        if self.depth is not None:
            as_integer("depth", self.depth)
        as_choice("missing", self.missing, get_args(Missing), "way to treat missing topics")
        as_choice("name_by", self.name_by, NAMINGS)
        as_choice("tie_precision", self.tie_precision, TIE_PRECISIONS)

    def changed(self) -> dict[str, Any]:
        """Return the rules that are not the default ones, by name."""
        values = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {
            name: value
            for name, (value, default) in values.items()
            if value is not default and (default is None or value != default)
        }


class Experiment:
    """Qrels, runs, and the rules for reading them: what every verb can start from.

    Files are found once and read when they are first needed; qrels, whole lists and scores are kept
    for all verbs.

    Parameters
    ----------
    qrels, runs
        Files or objects, as in `evaluate`.
    measures
        What to score by; by default what a verb scores by without an experiment.
    rel, depth, missing, name_by, tie_precision, intents
        As in `evaluate`; `rules` holds them.
    """

    def __init__(
        self,
        qrels: Any,
        runs: Any,
        measures: Any = None,
        *,
        rel: int = 1,
        depth: int | None = None,
        missing: Missing = "zero",
        name_by: NameBy = "file",
        tie_precision: TiePrecision = "double",
        intents: PathLike | Intents | None = None,
    ) -> None:
        self._rules = ReadingRules(rel, depth, missing, name_by, tie_precision, intents)
        self._given = (qrels, runs)
        self._measures = measures
        self._kept: dict[str, Any] = {}

    @property
    def rules(self) -> ReadingRules:
        """How qrels and runs are read."""
        return self._rules

    @property
    def measures(self) -> Any:
        """The measures that were named; None where the verb chooses."""
        return self._measures

    @property
    def qrels(self) -> Qrels:
        """The judgements."""
        return self._keep("qrels", lambda: as_qrels(self._given[0], intents=self.rules.intents))

    @property
    def sources(self) -> tuple[Run | RunSource, ...]:
        """The runs, in order: those in files as files."""
        return self._keep("sources", lambda: tuple(as_runs(self._given[1])))

    @property
    def has_lists(self) -> bool:
        """Whether the lists have been read already."""
        return "lists" in self._kept

    def lists(self, progress: Callable[[int], None] | None = None) -> RankedLists:
        """Return the whole lists of all runs; ``progress`` is called with 1 after each run."""
        return self._keep(
            "lists",
            lambda: scan_sources(
                self.qrels, self.sources, self.rules.name_by, self.rules.tie_precision, progress
            ),
        )

    @property
    def can_be_read_again(self) -> bool:
        """Whether all runs are objects or files; standard input and pipes can be read once."""
        paths = [source.path for source in self.sources if isinstance(source, RunSource)]
        return all(path != STDIN and os.path.isfile(path) for path in paths)

    @property
    def kept(self) -> dict[str, Any]:
        """What has been read and computed; `evaluate` keeps the scores here."""
        return self._kept

    def _keep(self, name: str, make: Callable[[], Part]) -> Part:
        """Return what is kept under a name; made at the first call."""
        if name not in self._kept:
            self._kept[name] = make()
        return cast("Part", self._kept[name])

    def __repr__(self) -> str:
        named = {"measures": self.measures} if self.measures is not None else {}
        shown = [f"{name}={value!r}" for name, value in {**named, **self.rules.changed()}.items()]
        return f"Experiment({', '.join(['qrels', 'runs', *shown])})"


def as_experiment(qrels: Any, runs: Any, rules: ReadingRules) -> Experiment:
    """Return the experiment that was given in place of qrels, or one of qrels, runs and rules."""
    if not isinstance(qrels, Experiment):
        keywords: dict[str, Any] = {one.name: getattr(rules, one.name) for one in fields(rules)}
        return Experiment(qrels, runs, **keywords)
    clashing = [*(["runs"] if runs is not None else []), *rules.changed()]
    if clashing:
        raise InvalidValueError(
            f"{clashing[0]} is given beside an Experiment, which has its own; expected one or the "
            "other"
        )
    return qrels
