"""Short names for the types of arrays."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

# As numpy.typing.NDArray spells them; importing that takes longer than all of this package.
Floats: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[np.float64]]
Integers: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]
Booleans: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[np.bool_]]
Bytes: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[np.uint8]]
# Positions of documents in lists, which may be long: four bytes each.
Numbers: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[np.int32]]
# Retrieval scores as trec_eval 9 compares them.
SingleFloats: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[np.float32]]
