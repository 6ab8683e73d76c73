"""Experiments: qrels and runs, and the rules for reading them; each file is read once."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from numbers import Integral
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, Unpack, cast

import numpy as np

from confir.arguments import as_function, check_rng
from confir.data.exclusions import NOTHING_EXCLUDED
from confir.data.formats.format import RunSource
from confir.data.formats.sources import as_runs, find_run_datasets, qrels_called
from confir.data.qrels import Qrels
from confir.data.reading_rules import ReadingOptions, ReadingRules, takes_rules
from confir.data.run import Run
from confir.data.sampling_designs.design import refuse_design
from confir.defaults import SEED
from confir.errors import InvalidValueError
from confir.scheduler import check_address, use_scheduler

if TYPE_CHECKING:
    from confir.data.formats.run_metadata import RunMetadata
    from confir.data.ranked_lists.held_lists import HeldLists, TopicLists

Part = TypeVar("Part")
P = ParamSpec("P")

# Runs of up to this many bytes are kept as whole lists, in up to twice as much memory, when they are
# read for scores alone.
_KEPT_SIZE = 1 << 29
# Whole lists of runs of more bytes are stored on disk, for work on some topics at a time.
_HELD_SIZE = 1 << 28


def on_its_scheduler(verb: Callable[P, Part]) -> Callable[P, Part]:
    """Let a verb send its work to the scheduler of the experiment that it is given, if any."""

    @functools.wraps(verb)
    def working(*given: P.args, **keywords: P.kwargs) -> Part:
        everything = (*given, *keywords.values())
        experiments = [one for one in everything if isinstance(one, Experiment)]
        if not experiments or experiments[0].scheduler is None:
            return verb(*given, **keywords)
        with use_scheduler(experiments[0].scheduler):
            return verb(*given, **keywords)

    return working


class Experiment:
    """Qrels, runs, and the rules for reading them: what every verb can start from.

    Files are found once, and read once when they are first needed: qrels, whole lists and scores
    are kept for all verbs. Runs of more than half a gigabyte are first only scored, and read again for
    verbs that need their whole lists. Verbs that look at some topics at a time store the lists of runs
    of more than half of that in temporary files.

    Parameters
    ----------
    qrels, runs
        Files or objects, as in `evaluate`.
    measures
        What to score by; by default what a verb scores by without an experiment.
    human, human_sample
        Human judgements of some topics, where ``qrels`` are a model's, and how these were sampled:
        as in `evaluate`.
    rng
        Draws anew the human-judged documents, with "random-documents": as in `evaluate`.
    scheduler
        Of the Dask cluster that verbs of this experiment work on, as in `use_scheduler`.
    **rules
        How to read them: rel, depth, missing, name_by, … as in `ReadingRules`.

    Attributes
    ----------
    rules
        How qrels and runs are read.
    measures
        The measures that were named; None where the verb chooses.
    human
        Human judgements as they were given, and how their topics were sampled; or None.
    rng, scheduler
        As given; no scheduler for work in this process.
    kept
        What has been read and computed: "qrels"; "lists", held in memory or stored on disk, once whole
        lists were read; the "scores" that `evaluate` keeps here.
    """

    rules: ReadingRules
    measures: Any
    human: tuple[Any, str] | None
    rng: int | np.random.Generator | None
    scheduler: str | None
    kept: dict[str, Any]
    _given: tuple[Any, Any]

    @takes_rules
    def __init__(
        self,
        qrels: Any,
        runs: Any,
        measures: Any = None,
        *,
        human: Any = None,
        human_sample: str | None = None,
        rng: int | np.random.Generator | None = SEED,
        scheduler: str | None = None,
        **rules: Unpack[ReadingOptions],
    ) -> None:
        address = None if scheduler is None else check_address(scheduler)
        reading, judged = ReadingRules(**rules), None
        if human is not None or human_sample is not None:
            judged = _checked_human(human, human_sample)
        check_rng(rng)
        vars(self).update(rules=reading, measures=measures, human=judged, rng=rng)
        vars(self).update(scheduler=address, kept={}, _given=(qrels, runs))

    def __setattr__(self, name: str, _: Any) -> None:
        raise AttributeError(f"{name} cannot be set: an Experiment is made of its arguments alone")

    @property
    def qrels(self) -> Qrels:
        """The judgements, without documents that do not count."""
        if "qrels" not in self.kept:
            reading = self.rules.reading
            whole = reading._replace(exclusions=NOTHING_EXCLUDED)
            qrels = qrels_called("qrels", self._given[0], self.rules.intents, whole)
            drops = reading.exclusions.drops
            self.kept["qrels"] = reading.exclusions.drop_checked(qrels) if drops else qrels
        return cast("Qrels", self.kept["qrels"])

    def with_human(self, human: Any, human_sample: str | None, rng: Any) -> Experiment:
        """Return the same experiment with human judgements as well; what was read stays read."""
        own: dict[str, Any] = {"human": human, "human_sample": human_sample, "rng": rng}
        own |= self.rules.keywords()
        judged = Experiment(*self._given, self.measures, scheduler=self.scheduler, **own)
        judged.kept.update((name, part) for name, part in self.kept.items() if name != "scores")
        return judged

    @property
    def sources(self) -> tuple[Run | RunSource, ...]:
        """The runs, in order: those in files as files."""
        if "sources" not in self.kept:
            how = self.rules.reading, self.rules.name_by
            self.kept["sources"] = tuple(as_runs(self._given[1], *how))
        return cast("tuple[Run | RunSource, ...]", self.kept["sources"])

    @property
    def run_metadata(self) -> dict[str, RunMetadata]:
        """Who made the runs that have metadata beside them, and how, by name."""
        files = [one for one in self.sources if isinstance(one, RunSource)]
        return {file.label(): file.metadata for file in files if file.metadata is not None}

    @property
    def is_partitioned(self) -> bool:
        """Whether runs are evaluated part by part: in Parquet datasets, by one judge, no design."""
        return bool(self.run_datasets) and not self.human and self.rules.design is None

    @property
    def run_datasets(self) -> list[RunSource]:
        """The runs in Parquet that are too many to be read whole; none where lists were read."""
        if "lists" in self.kept:
            return []
        if "run_datasets" not in self.kept:
            self.kept["run_datasets"] = find_run_datasets(self._given[1])
        return cast("list[RunSource]", self.kept["run_datasets"])

    @property
    def judgement_dataset(self) -> str | None:
        """The folder of Parquet files that holds the qrels; None where they are anything else."""
        given = self._given[0]
        is_folder = isinstance(given, str | os.PathLike) and os.path.isdir(given)
        return os.fspath(given) if is_folder and "qrels" not in self.kept else None

    def lists(self, progress: Callable[[int], None] | None = None) -> HeldLists:
        """Return the whole lists of all runs; ``progress`` is called with 1 after each run."""
        from confir.data.ranked_lists.held_lists import HeldLists
        from confir.data.ranked_lists.list_reader import read_source_lists

        as_function("progress", progress)
        held = self.kept.get("lists")
        if not isinstance(held, HeldLists):  # but stored on disk, or not read
            rules = self.rules
            how = rules.name_by, rules.tie_precision, progress, rules.reading.exclusions
            held = self.kept["lists"] = read_source_lists(self.qrels, self.sources, *how)
        return held

    def lists_by_topic(self, progress: Callable[[int], None] | None = None) -> TopicLists:
        """Return the whole lists for work on some topics at a time: from disk where they are long.

        ``progress`` is called with 1 after each run.
        """
        as_function("progress", progress)
        if "lists" in self.kept:
            return cast("TopicLists", self.kept["lists"])
        files = [one for one in self.sources if isinstance(one, RunSource)]
        if not self.is_in_files or sum(one.content_size() for one in files) <= _HELD_SIZE:
            return self.lists(progress)
        from confir.data.ranked_lists.stored_lists import store_lists

        rules, shown = self.rules, _ShownOnce(progress)
        how = rules.name_by, rules.tie_precision, shown.first, rules.reading.exclusions
        stored = store_lists(self.qrels, files, *how)
        if stored is None:
            return self.lists(shown.again)
        self.kept["lists"] = stored
        return stored

    @property
    def reads_lists_at_once(self) -> bool:
        """Whether whole lists are read even where only their judged documents are needed.

        They are if they fit in memory, since other verbs may need them, and always from standard input and
        pipes, which cannot be read again.
        """
        sizes = [one.content_size() for one in self.sources if isinstance(one, RunSource)]
        return not all(sizes) or sum(sizes) <= _KEPT_SIZE

    @property
    def is_in_files(self) -> bool:
        """Whether all runs are files that other processes can read: no objects, pipes or empty files."""
        return all(isinstance(one, RunSource) and one.content_size() for one in self.sources)

    def __repr__(self) -> str:
        named = {"measures": self.measures} if self.measures is not None else {}
        if self.human is not None:
            named["human_sample"] = self.human[1]
        if self.scheduler is not None:
            named["scheduler"] = self.scheduler
        shown = [f"{name}={value!r}" for name, value in {**named, **self.rules.changed()}.items()]
        return f"Experiment({', '.join(['qrels', 'runs', *shown])})"


class _ShownOnce:
    """Shows the progress of reading runs, some of which may be read twice."""

    def __init__(self, progress: Callable[[int], None] | None) -> None:
        self._progress = progress or (lambda _: None)
        self._shown = 0

    def first(self, runs: int) -> None:
        """Show runs that are read for the first time."""
        self._shown += runs
        self._progress(runs)

    def again(self, runs: int) -> None:
        """Show runs, but not as many as were shown before."""
        before = min(runs, self._shown)
        self._shown -= before
        if runs > before:
            self._progress(runs - before)


def _checked_human(human: Any, human_sample: str | None) -> tuple[Any, str]:
    """Return human judgements and how their topics were sampled; raise where only one is given."""
    from confir.data.sampling_designs.judged_scores import HUMAN_SAMPLES, check_sample

    if human is None:
        raise InvalidValueError(
            "human_sample is given without human: expected human judgements, too"
        )
    if human_sample is None:
        raise InvalidValueError(
            "human is given without human_sample: how the human-judged topics were sampled; expected one "
            f"of {', '.join(HUMAN_SAMPLES)}"
        )
    return human, check_sample(human_sample)


def is_default_seed(rng: int | np.random.Generator | None) -> bool:
    """Whether draws are those of the default seed, which counts as none given."""
    return isinstance(rng, Integral) and rng == SEED


def as_experiment(
    qrels: Any,
    runs: Any,
    rules: ReadingOptions,
    human: tuple[Any, str | None] | None = None,
    *,
    rng: int | np.random.Generator | None = SEED,
    without_design: str = "",
) -> Experiment:
    """Return the experiment that was given in place of qrels, or one of qrels, runs and rules.

    Verbs that take human judgements beside a model's pass them on, as (None, None) where there
    are none, with the ``rng`` of replicates of their draw; for the others, an experiment that has
    some raises. ``without_design`` names what cannot take a design into account, and refuses one.
    """
    if without_design:
        given = qrels.rules.design if isinstance(qrels, Experiment) else rules.get("design")
        refuse_design(given, without_design)
    judged, sample = human or (None, None)
    if not isinstance(qrels, Experiment):
        own: dict[str, Any] = {"human": judged, "human_sample": sample, "rng": rng}
        return Experiment(qrels, runs, **own, **rules)
    changed = ReadingRules(**rules).changed() if rules else {}
    if judged is not None and qrels.human is None and runs is None:
        return qrels.with_human(judged, sample, qrels.rng if is_default_seed(rng) else rng)
    beside = {"runs": runs, "human": judged, "rng": None if is_default_seed(rng) else rng}
    clashing = [*(name for name, value in beside.items() if value is not None), *changed]
    if clashing:
        raise InvalidValueError(
            f"{clashing[0]} is given beside an Experiment, which has its own; expected one or the "
            "other"
        )
    if human is None and qrels.human is not None:
        raise InvalidValueError(
            "the Experiment has human and model judgements, which this verb does not combine; expected "
            "one without human"
        )
    return qrels
