"""What is a measure? A named function of rankings, with parameters and a cutoff."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from confir.arrays import Floats
from confir.data.rankings import Rankings

Parameter = int | float | str | None
Compute = Callable[..., Floats]
Needs = Literal["relevant", "judged", "subtopics"]


@dataclass(frozen=True, slots=True)
class Definition:
    """A measure without values for its parameters: a line of the catalogue.

    Attributes
    ----------
    name
        Canonical name, that of ir-measures where it has the measure.
    compute
        Function of `Rankings` and, by keyword, of the parameters; the signature is the one place
        where parameters and their defaults are declared. A ``cutoff`` without default is required.
    needs
        Which documents of a list it looks at: relevant ones, all judged ones, or those that serve
        subtopics.
    support
        Lowest and highest possible score; None where there is no highest.
    synonyms
        Other names, those of trec_eval among them, without cutoff.
    """

    name: str
    compute: Compute
    needs: Needs = "relevant"
    support: tuple[float, float] | None = (0.0, 1.0)
    synonyms: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """The first line of the function's documentation."""
        return (inspect.getdoc(self.compute) or "").partition("\n")[0]

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """The parameters by name, cutoff included."""
        signature = inspect.signature(self.compute)
        return {
            name: parameter
            for name, parameter in signature.parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure with its parameters, such as ``AP(rel=2)@100``; its text parses back to it."""

    definition: Definition
    parameters: tuple[tuple[str, Parameter], ...] = ()
    cutoff: int | None = field(default=None)

    def __call__(self, rankings: Rankings) -> Floats:
        """Return the scores: runs × topics × replicates."""
        keywords: dict[str, Any] = dict(self.parameters)
        if self.cutoff is not None:
            keywords["cutoff"] = self.cutoff
        return self.definition.compute(rankings, **keywords)

    def __str__(self) -> str:
        settings = ",".join(f"{name}={value!r}" for name, value in self.parameters)
        text = f"{self.definition.name}({settings})" if settings else self.definition.name
        return text if self.cutoff is None else f"{text}@{self.cutoff}"
