"""How are kernels compiled? By numba, where it is installed, and kept in its cache.

They are compiled for fixed types here and now, or taken from the cache, so that threads find them
ready.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

Kernels = TypeVar("Kernels")
Compile = Callable[..., Any]  # from a function and the types of its arguments to compiled code


def compile_with_numba(build: Callable[[Any, Compile], Kernels]) -> Kernels | None:
    """Return the kernels that a function makes, or None where numba is missing or switched off.

    Parameters
    ----------
    build
        From the module numba and a function that compiles, to kernels.
    """
    try:
        numba: Any = importlib.import_module("numba")
    except (ImportError, OSError):  # or a package that it imports looks for a folder that is gone
        return None
    if numba.config.DISABLE_JIT:
        return None
    try:
        return build(numba, _compiler(numba, cached=True))
    except (OSError, RuntimeError):
        # No place for the cache can be written, as in a container without a home directory.
        return build(numba, _compiler(numba, cached=False))


def _compiler(numba: Any, *, cached: bool) -> Compile:
    def compiled(kernel: Callable[..., Any], *types: Any) -> Any:
        return numba.njit(types, cache=cached, nogil=True, error_model="numpy")(kernel)

    return compiled
