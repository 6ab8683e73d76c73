"""How is work spread? Over threads here, so that the result does not depend on their number."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def usable_cores() -> int:
    """Return the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_in_threads(function: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
    """Return the function's result for every task, in order.

    For functions that leave the interpreter's lock, as numpy does. Matrix products are kept to a
    thread each meanwhile: nested threads would get in each other's way.
    """
    if len(tasks) < 2 or usable_cores() < 2:
        return [function(task) for task in tasks]
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1), ThreadPoolExecutor(usable_cores()) as pool:
        return list(pool.map(function, tasks))
