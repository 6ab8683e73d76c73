"""Score tables made of arrays, for tests of studies."""

import numpy as np

from confir.data.scores import Scores


def table(values, runs=None):
    """Scores of one measure or several: topics × runs (× measures)."""
    values = np.asarray(values, float)
    values = values[:, :, None] if values.ndim == 2 else values
    return Scores(
        tuple(f"{t:04d}" for t in range(values.shape[0])),
        tuple(runs or (f"run{r}" for r in range(values.shape[1]))),
        tuple(f"m{m}" for m in range(values.shape[2])),
        values,
    )
