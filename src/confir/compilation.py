"""Compilation of kernels by numba, if installed.

Kernels are compiled eagerly for fixed types, or loaded from numba's cache, before threads use them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

Kernels = TypeVar("Kernels")
Compile = Callable[..., Any]  # (function, *types of its arguments) -> compiled function


def compile_with_numba(build: Callable[[Any, Compile], Kernels]) -> Kernels | None:
    """Return the kernels that a function builds, or None if numba is missing or disabled.

    Parameters
    ----------
    build
        From the numba module and a compiling function to kernels.
    """
    try:
        numba: Any = importlib.import_module("numba")
    except (ImportError, OSError):  # OSError: the current directory was deleted
        return None
    if numba.config.DISABLE_JIT:
        return None
    try:
        return build(numba, _compiler(numba, cached=True))
    except (OSError, RuntimeError):
        # No writable place for the cache, as in a container without a home directory.
        return build(numba, _compiler(numba, cached=False))


@cache
def inline_parts(*parts: Callable[..., Any]) -> None:
    """Inline functions that kernels call; a kernel and its parts must be in one file.

    numba's cache notices that the file of a kernel has changed, but not that another one has.
    """
    extending: Any = importlib.import_module("numba.extending")
    for part in parts:
        extending.register_jitable(forceinline=True)(part)


def _compiler(numba: Any, *, cached: bool) -> Compile:
    def compiled(kernel: Callable[..., Any], *types: Any) -> Any:
        return numba.njit(types, cache=cached, nogil=True, error_model="numpy")(kernel)

    return compiled
