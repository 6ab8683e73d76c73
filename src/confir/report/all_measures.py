"""What sections of a report compute of all measures at once: side by side, and lists by block."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from confir.errors import ConfirError
from confir.measures.lists_and_scores import BlockStudy, block_tasks
from confir.parallel import run_in_threads
from confir.report.sections import Scope, Section


def compute_for_all(sections: Mapping[str, Section[Any]], scope: Scope) -> dict[str, Any]:
    """Return what sections compute of all measures at once, by study; or why they cannot."""
    at_once = {
        study: partial(_or_error, one.gather_all, scope)
        for study, one in sections.items()
        if one.gather_all
    }
    found = {
        study: _or_error(one.from_lists.prepare, scope)
        for study, one in sections.items()
        if one.from_lists
    }
    by_block = {
        study: one._replace(compute=partial(_or_error, one.compute))
        for study, one in found.items()
        if isinstance(one, BlockStudy)
    }
    tasks: list[Callable[[], Any]] = [
        *at_once.values(),
        *block_tasks(list(by_block.values())),
    ]
    results = run_in_threads(lambda task: task(), tasks)
    parts = zip(*results[len(at_once) :], strict=True)
    joined = dict(zip(by_block, map(_join, by_block.values(), parts), strict=True))
    return {**found, **joined, **dict(zip(at_once, results, strict=False))}


def try_again(sections: Mapping[str, Section[Any]], scope: Scope) -> Scope:
    """Return the scope of one measure; what failed for all of them is computed for it alone."""
    failed = {
        study: section
        for study, section in sections.items()
        if section.by_measure and isinstance(scope.of_all.get(study), ConfirError)
    }
    return replace(scope, of_all={**scope.of_all, **compute_for_all(failed, scope)})


def _join(study: BlockStudy, parts: tuple[Any, ...]) -> Any:
    """Return the result of a study, or the first error of its parts."""
    errors = (part for part in parts if isinstance(part, ConfirError))
    return next(errors, None) or _or_error(study.join, parts)


def _or_error(compute: Callable[..., Any], *given: Any) -> Any:
    """Return a result, or the error of confir that there is instead."""
    try:
        return compute(*given)
    except ConfirError as error:
        return error
