"""Runs that miss datasets: the cells that are there, and an additive model of run and dataset.

The mean of run s on dataset d is ``θ_s + b_d + error`` with ``Σ b_d = 0``, by least squares over the
cells that are there: θ_s is the run's macro mean over all datasets, its own where it has all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.scores import Scores
from confir.errors import TopicMismatchError, UnsupportedMethodError, enumerate_names


class DatasetCells(NamedTuple):
    """Scores of runs by dataset, in which cells may be missing.

    Attributes
    ----------
    names, runs
        Of the datasets, and of the runs.
    scores
        Of each dataset, topics × the runs that it has; one row where its means alone are known.
    present
        Which dataset has which run: datasets × runs.
    """

    names: tuple[str, ...]
    runs: tuple[str, ...]
    scores: tuple[Floats, ...]
    present: Booleans

    @classmethod
    def of(cls, scores: Scores) -> DatasetCells:
        """Return the scores by one measure; topics that a run of the dataset lacks are left out."""
        design = scores.dataset_design
        if any(getattr(design, role) is not None for role in ("stratum", "cluster", "weight")):
            raise UnsupportedMethodError(
                "runs that miss datasets are ranked by a model that takes topics of a dataset as a "
                "simple random sample; expected no strata, clusters or weights"
            )
        names = scores.datasets
        parts, present = [], []
        for name in names:
            inside = np.array([own == name for own in design.dataset or ()])
            own = scores.values[inside][:, :, 0]
            there = ~np.isnan(own)
            has = there.any(axis=0)
            if not has.any():
                raise TopicMismatchError(
                    f"no run has a score by {scores.measures[0]} on dataset {name!r}: leave it out"
                )
            complete = own[there[:, has].all(axis=1)][:, has]
            if not len(complete):
                raise TopicMismatchError(
                    f"no topic of dataset {name!r} has scores of all of its runs"
                )
            parts.append(complete)
            present.append(has)
        return cls(names, scores.runs, tuple(parts), np.stack(present))

    @property
    def counts(self) -> Integers:
        """Number of topics of each dataset."""
        return np.array([len(part) for part in self.scores])

    def means(self) -> Floats:
        """Return the mean of each cell: datasets × runs, NaN where it is missing."""
        mean = np.full(self.present.shape, np.nan)
        for row, has, part in zip(mean, self.present, self.scores, strict=True):
            row[has] = part.mean(axis=0)
        return mean


@dataclass(frozen=True, eq=False)
class AdditiveFit:
    """The least-squares fit of runs and datasets.

    Attributes
    ----------
    present, mean
        The cells: datasets × runs, NaN where one is missing.
    """

    present: Booleans
    mean: Floats

    @property
    def runs(self) -> int:
        """Number of runs."""
        return int(self.present.shape[1])

    @property
    def datasets(self) -> int:
        """Number of datasets."""
        return int(self.present.shape[0])

    @cached_property
    def matrix(self) -> Floats:
        """The design matrix: cells × (runs + datasets - 1); dataset effects sum to 0."""
        dataset, run = np.nonzero(self.present)
        matrix = np.zeros((len(run), self.runs + self.datasets))
        matrix[np.arange(len(run)), run] = 1.0
        matrix[np.arange(len(run)), self.runs + dataset] = 1.0
        last = matrix[:, -1:]
        return np.hstack([matrix[:, : self.runs], matrix[:, self.runs : -1] - last])

    @cached_property
    def inverse(self) -> Floats:
        """``(X'X)⁻¹``."""
        return np.asarray(np.linalg.inv(self.matrix.T @ self.matrix), np.float64)

    @cached_property
    def weights(self) -> Floats:
        """What each cell adds to each coefficient: (runs + datasets - 1) × cells."""
        return self.inverse @ self.matrix.T

    def coefficients(self, cells: Floats) -> Floats:
        """Return macro means and effects of datasets from means of cells (… × cells)."""
        found = cells @ self.weights.T
        last = -found[..., self.runs :].sum(axis=-1, keepdims=True)
        return np.concatenate([found, last], axis=-1)

    @cached_property
    def fitted(self) -> tuple[Floats, Floats]:
        """Macro means of runs, and effects of datasets."""
        found = self.coefficients(self.mean[self.present])
        return found[: self.runs], found[self.runs :]

    def filled(self, cells: Floats) -> Floats:
        """Return means of cells (… × cells) with those predicted that are missing: … × datasets × runs."""
        found = self.coefficients(cells)
        whole: Floats = found[..., None, : self.runs] + found[..., self.runs :, None]
        whole[..., self.present] = cells
        return whole

    @property
    def df(self) -> int:
        """Degrees of freedom of the residuals: cells - runs - datasets + 1."""
        return int(self.present.sum()) - self.runs - self.datasets + 1

    def residual_variance(self) -> float:
        """Return the variance of the residuals, σ²."""
        theta, effects = self.fitted
        residual = (self.mean - theta - effects[:, None])[self.present]
        return float(np.square(residual).sum() / self.df)

    def dataset_variance(self) -> tuple[float, float]:
        """Return the variance of the datasets' effects, and that of their errors for σ² = 1."""
        _, effects = self.fitted
        between = np.square(effects).sum() / (self.datasets - 1)
        block = self.inverse[self.runs :, self.runs :]
        return float(between), float((np.trace(block) + block.sum()) / (self.datasets - 1))


def fit_additive(datasets: DatasetCells) -> AdditiveFit:
    """Return the fit; raise where no dataset connects some runs with the others."""
    _check_connected(datasets)
    return AdditiveFit(datasets.present, datasets.means())


def _check_connected(datasets: DatasetCells) -> None:
    """Raise where runs share no dataset with the others, directly or through other runs."""
    present = datasets.present
    lacking = [datasets.runs[r] for r in np.flatnonzero(~present.any(axis=0)).tolist()]
    if lacking:
        raise TopicMismatchError(f"{enumerate_names(lacking, 5)}: no score on any dataset")
    reached = np.zeros(len(datasets.runs), np.bool_)
    reached[int(np.argmax(present.sum(axis=0)))] = True
    while True:
        via = present[:, reached].any(axis=1)
        further = present[via].any(axis=0)
        if (further <= reached).all():
            break
        reached |= further
    if not reached.all():
        apart = [datasets.runs[r] for r in np.flatnonzero(~reached).tolist()]
        raise TopicMismatchError(
            f"no dataset connects {enumerate_names(apart, 5)} with the other runs; expected runs that "
            "share datasets, directly or through other runs"
        )
