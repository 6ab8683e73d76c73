"""Scores of runs on datasets, as they were read: a table of each dataset, or means of all in one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from confir.arrays import best_first
from confir.data.sampling_designs.design import read_dataset_designs
from confir.data.scores import Scores
from confir.errors import (
    InvalidValueError,
    TopicMismatchError,
    UnsupportedMethodError,
    counted,
    enumerate_names,
)
from confir.measures.score_summary import ScoreSummary


class DatasetScores(NamedTuple):
    """Scores of runs on datasets.

    Attributes
    ----------
    parts
        The scores, or summaries of them, of each dataset; or one table of all datasets.
    names
        The datasets; none where one table has all of them.
    measures
        The measure of the main score of each dataset, where these differ; else none.
    """

    parts: tuple[Scores | ScoreSummary, ...]
    names: tuple[str, ...] = ()
    measures: Mapping[str, str] = {}

    @classmethod
    def of(cls, parts: Mapping[str, Scores | ScoreSummary]) -> Self:
        """Return the scores of datasets by name."""
        return cls(tuple(parts.values()), tuple(parts))

    @classmethod
    def joined(cls, found: Iterable[tuple[str, Self]]) -> Self:
        """Return the scores of all datasets of some sources, each of which has its own name."""
        parts: dict[str, Scores | ScoreSummary] = {}
        for source, datasets in found:
            if not datasets.names:
                raise InvalidValueError(f"{source}: means of datasets; expected scores of topics")
            for name, scores in datasets.by_name().items():
                if name in parts:
                    raise InvalidValueError(
                        f"two datasets are named {name!r}; expected different names"
                    )
                parts[name] = scores
        return cls.of(parts)

    def by_name(self) -> dict[str, Any]:
        """Return the scores of each dataset by its name."""
        return dict(zip(self.names, self.parts, strict=True))

    @property
    def source(self) -> Any:
        """The scores as `make_leaderboard` takes them: by dataset, or in one table."""
        return self.by_name() if self.names else self.parts[0]

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs that any dataset has."""
        return tuple(dict.fromkeys(run for part in self.parts for run in part.runs))

    def highest(self, top: int) -> list[str]:
        """Return the runs with the highest macro means, where all datasets have the same runs."""
        means = np.mean([part.mean()[:, 0] for part in self.parts], axis=0)
        return [self.parts[0].runs[place] for place in best_first(means)[:top]]

    def of_runs(self, chosen: Iterable[str]) -> Self:
        """Return the scores of some runs, of the datasets that have any of them."""
        wanted, kept = set(chosen), []
        for place, part in enumerate(self.parts):
            runs = [run for run in part.runs if run in wanted]
            if runs:
                kept.append((place, part.select(run=runs)))
        names = tuple(self.names[place] for place, _ in kept) if self.names else ()
        return self._replace(parts=tuple(part for _, part in kept), names=names)

    def with_designs(self, design: str, columns: Mapping[str, str | None]) -> Self:
        """Return the scores with the designs that a table gives the topics of each dataset.

        Parameters
        ----------
        design, columns
            A table with columns of datasets and topics, and names of its columns: role → name.
        """
        if not self.names:
            raise UnsupportedMethodError("means of datasets have no topics; expected no design")
        designs = read_dataset_designs(design, columns)
        lacking = [name for name in self.names if name not in designs]
        if lacking:
            raise TopicMismatchError(
                f"the design {design} lacks {counted(len(lacking), 'dataset')} "
                f"({enumerate_names(lacking, 5)}); expected rows for each dataset"
            )
        designed = (part.with_design(designs[name]) for name, part in self.by_name().items())
        return self._replace(parts=tuple(designed))
