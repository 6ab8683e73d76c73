"""Rules for reading qrels and runs, and for scoring their topics: keywords of most verbs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypedDict, TypeVar, cast, get_args

from confir.arguments import as_choice, as_flag, as_integer, as_text
from confir.data.exclusions import NOTHING_EXCLUDED
from confir.data.files import PathLike
from confir.data.formats.exclusion_files import ExcludedSource, as_exclusions
from confir.data.formats.format import NAMINGS, NameBy, Reading
from confir.data.qrels import Intents
from confir.data.run import TIE_PRECISIONS, TiePrecision
from confir.data.run_scores import RunScores
from confir.data.sampling_designs.design import ROLES, Datasets, DesignSource
from confir.errors import InvalidValueError

Missing = Literal["zero", "drop", "error"]

Verb = TypeVar("Verb", bound=Callable[..., Any])
Designed = TypeVar("Designed", bound=RunScores)


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
    subset, split
        The part of files that hold several, such as predictions of MTEB, or books of Quepid.
    download
        Whether what is not on this machine may be fetched: ``https://…`` and ``irds:…``.
    exclude
        Documents that do not count, taken from runs and qrels before ranks are given: a file, or a
        mapping topic → docids.
    exclude_identical
        Whether a document with the id of its topic is taken from runs, as BEIR does; by default it
        is not, with a warning.
    design
        Dataset, stratum, cluster or weight of each topic: a file, a frame or a mapping, as in
        `Scores.with_design`.
    dataset, stratum, cluster, weight
        Names of the design's columns where they have others.
    datasets
        "fixed" for conclusions about these datasets, "random" for datasets like these.
    reading
        What follows for files: what is read of them, and which documents do not count.
    """

    rel: int = 1
    depth: int | None = None
    missing: Missing = "zero"
    name_by: NameBy = "file"
    tie_precision: TiePrecision = "double"
    intents: PathLike | Intents | None = None
    subset: str | None = None
    split: str | None = None
    download: bool = False
    exclude: ExcludedSource | None = None
    exclude_identical: bool | None = None
    design: DesignSource | None = None
    dataset: str | None = None
    stratum: str | None = None
    cluster: str | None = None
    weight: str | None = None
    datasets: Datasets = "fixed"
    reading: Reading = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        as_integer("rel", self.rel)
        if self.depth is not None:
            as_integer("depth", self.depth)
        as_choice("missing", self.missing, get_args(Missing), "way to treat missing topics")
        as_choice("name_by", self.name_by, NAMINGS)
        as_choice("tie_precision", self.tie_precision, TIE_PRECISIONS)
        for name in ("subset", "split"):
            if getattr(self, name) is not None:
                as_text(name, getattr(self, name))
        as_flag("download", self.download)
        if self.exclude_identical is not None:
            as_flag("exclude_identical", self.exclude_identical)
        reading = Reading(self.subset, self.split, self.download)
        if self.exclude is not None or self.exclude_identical is not None:
            excluded = NOTHING_EXCLUDED
            if self.exclude is not None:  # read once, for all that the rules are handed on to
                excluded = as_exclusions(self.exclude)
                object.__setattr__(self, "exclude", excluded)
            excluded = replace(excluded, identical=self.exclude_identical)
            reading = reading._replace(exclusions=excluded)
        object.__setattr__(self, "reading", reading)
        as_choice("datasets", self.datasets, get_args(Datasets))
        if self.design is None:
            named = [role for role in ROLES if getattr(self, role) is not None]
            named += ["datasets"] if self.datasets != "fixed" else []
            if named:
                raise InvalidValueError(
                    f"{named[0]} requires a design of the topics (--design, design=)"
                )

    def with_design(self, scores: Designed) -> Designed:
        """Return scores with the design of their topics, if there is one."""
        if self.design is None:
            return scores
        columns = {role: getattr(self, role) for role in ROLES}
        found = scores.with_design(self.design, datasets=self.datasets, **columns)
        return cast("Designed", found)

    def keywords(self) -> ReadingOptions:
        """Return the rules as keywords of verbs."""
        given = {one.name: getattr(self, one.name) for one in fields(self) if one.init}
        return cast("ReadingOptions", given)

    def changed(self) -> dict[str, Any]:
        """Return the rules that are not the default ones, by name."""
        defaults = {one.name: one.default for one in fields(self)}
        return {
            name: value
            for name, value in self.keywords().items()
            if value is not defaults[name] and (defaults[name] is None or value != defaults[name])
        }


class ReadingOptions(TypedDict, total=False):
    """The attributes of `ReadingRules` as keywords of verbs."""

    rel: int
    depth: int | None
    missing: Missing
    name_by: NameBy
    tie_precision: TiePrecision
    intents: PathLike | Intents | None
    subset: str | None
    split: str | None
    download: bool
    exclude: ExcludedSource | None
    exclude_identical: bool | None
    design: DesignSource | None
    dataset: str | None
    stratum: str | None
    cluster: str | None
    weight: str | None
    datasets: Datasets


def takes_rules(verb: Verb) -> Verb:
    """Show the keywords of `ReadingRules` in the signature of what takes them as ``**rules``."""
    signature = inspect.signature(verb)
    parameters = list(signature.parameters.values())
    rules = inspect.signature(ReadingRules).parameters.values()
    shown = [rule.replace(kind=rule.KEYWORD_ONLY) for rule in rules]
    vars(verb)["__signature__"] = signature.replace(parameters=[*parameters[:-1], *shown])
    return verb
