"""Measures: those of the catalogue, and functions of one list."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from confir.arrays import Floats
from confir.data.ranked_lists.rankings import Rankings
from confir.measures.foreign_measures import ForeignMeasure
from confir.measures.score_bounds import DifferenceRule, Rule

Parameter = int | float | str | None
Compute = Callable[..., Floats]
Needs = Literal["relevant", "judged", "subtopics", "intents"]


@dataclass(frozen=True)
class Definition:
    """A measure without values for its parameters: an entry of the catalogue.

    Attributes
    ----------
    name
        Canonical name, that of ir-measures where it has the measure.
    compute
        Function of `Rankings` and, by keyword, of the parameters; the signature is the one place
        where parameters and their defaults are declared. A ``cutoff`` without default is required.
    needs
        The documents of a list that it takes into account: relevant, all judged, or those of
        subtopics; "intents" are subtopics with their probabilities, or all that are listed.
    counts
        Whether its scores are counts of documents.
    in_gains
        Whether its scores are as large as the gains of the qrels, unless ``rel`` is given. Other
        scores lie in [0, 1], except rarely for alpha_nDCG and nERR_IA, whose greedy ideal is not
        always the best.
    synonyms
        Other names, those of trec_eval among them, without cutoff.
    bounds
        Rule that bounds its scores over all judgements of unjudged documents, or the reason why
        there is none.
    differences
        Rule that bounds differences of two runs likewise, exactly; None where only the bounds of
        both are known.
    tied
        Function like ``compute`` of `TiedRankings`: the expected score over all orders of tied
        documents. A measure that has it must never lose by moving a better document up. None where
        there is none.
    """

    name: str
    compute: Compute
    needs: Needs = "relevant"
    counts: bool = False
    in_gains: bool = False
    synonyms: tuple[str, ...] = ()
    bounds: Rule | str = "confir has no rule for it"
    differences: DifferenceRule | None = None
    tied: Compute | None = None

    @property
    def summary(self) -> str:
        """The first line of the function's documentation."""
        return (inspect.getdoc(self.compute) or "").partition("\n")[0]

    @cached_property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """The parameters by name, cutoff included."""
        signature = inspect.signature(self.compute)
        return {
            name: parameter
            for name, parameter in signature.parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }

    def describe_parameters(self) -> list[str]:
        """Return the parameters as text, each with its default."""
        texts = []
        for name, parameter in self.parameters.items():
            if name == "cutoff":
                required = parameter.default is inspect.Parameter.empty
                texts.append("@k" if required else "[@k]")
            else:
                texts.append(f"{name}={parameter.default!r}")
        return texts


@dataclass(frozen=True, slots=True, repr=False)
class Measure:
    """A measure with its parameters, such as ``AP(rel=2)@100``; its text parses back to it.

    Attributes
    ----------
    definition, parameters, cutoff
        The measure, and the parameters that are not the default ones, by name.
    keywords
        What its function is called with: these parameters, and the cutoff if there is one.
    gain_map
        The gains that levels of the qrels have, such as "1:1,2:3"; None for the levels.
    lowest_gain
        The lowest gain that counts as relevant.
    looks_at_judged
        Whether it takes judged non-relevant documents into account.
    """

    definition: Definition
    parameters: tuple[tuple[str, Parameter], ...] = ()
    cutoff: int | None = None

    keywords: dict[str, Any] = field(init=False, compare=False)
    gain_map: str | None = field(init=False, compare=False)
    lowest_gain: int = field(init=False, compare=False)
    looks_at_judged: bool = field(init=False, compare=False)

    def __post_init__(self) -> None:
        named: dict[str, Any] = dict(self.parameters)
        gains, rel = named.get("gains"), named.get("rel")
        derived = {
            "keywords": named if self.cutoff is None else {**named, "cutoff": self.cutoff},
            "gain_map": None if gains is None else str(gains),
            "lowest_gain": rel if isinstance(rel, int) else 1,
            "looks_at_judged": self.definition.needs == "judged",
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def __call__(self, rankings: Rankings) -> Floats:
        """Return the scores: runs × topics × replicates."""
        return self.definition.compute(rankings, **self.keywords)

    def value(self, name: str) -> Any:
        """Return the value of a parameter, which may be its default."""
        return self.keywords.get(name, self.definition.parameters[name].default)

    def __repr__(self) -> str:
        return f"Measure({str(self)!r})"

    def __str__(self) -> str:
        settings = ",".join(f"{name}={value!r}" for name, value in self.parameters)
        text = f"{self.definition.name}({settings})" if settings else self.definition.name
        return text if self.cutoff is None else f"{text}@{self.cutoff}"


ListFunction = Callable[[Floats, Floats], float]


@dataclass(frozen=True, slots=True)
class ListMeasure:
    """A user-defined function of one list, called for every list and replicate: simple, but slow.

    Attributes
    ----------
    function
        Takes the gains of the list in rank order, NaN where a document is unjudged, and the gains
        of all judged documents of the topic, retrieved or not; returns the score.
    """

    function: ListFunction

    lowest_gain: ClassVar[int] = 1
    looks_at_judged: ClassVar[bool] = True

    def __str__(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)

    def __call__(self, rankings: Rankings) -> Floats:
        """Return the scores: runs × topics × replicates."""
        scores: Floats = np.zeros(rankings.depth.shape)
        topics = len(rankings.qrels.topics)
        for place in range(len(rankings.offsets) - 1):
            run, topic = divmod(place, topics)
            for replicate in range(scores.shape[2]):
                if rankings.depth[run, topic, replicate]:
                    gains = self._expand(rankings, place, replicate)
                    judged = np.repeat(
                        rankings.levels.astype(np.float64), rankings.counts[topic, :, replicate]
                    )
                    scores[run, topic, replicate] = float(self.function(gains, judged))
        return scores

    def _expand(self, rankings: Rankings, place: int, replicate: int) -> Floats:
        """Return the gains of one list in rank order."""
        span = slice(rankings.offsets[place], rankings.offsets[place + 1])
        run, topic = divmod(place, len(rankings.qrels.topics))
        depth = rankings.depth[run, topic, replicate]
        gains = np.full(depth, np.nan)
        copies = rankings.copies[span, replicate]
        first = np.repeat(rankings.before[span, replicate], copies)
        within = np.arange(len(first)) - np.repeat(np.cumsum(copies) - copies, copies)
        gains[first + within] = np.repeat(rankings.gain[span], copies)
        return gains


AnyMeasure = Measure | ListMeasure | ForeignMeasure
