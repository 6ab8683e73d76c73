"""What sections of a report compute of all measures at once: in threads, and lists by block."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from confir.data.lists.ranked_lists import topic_blocks
from confir.errors import ConfirError
from confir.measures.scored_lists import BlockStudy
from confir.parallel import run_in_threads
from confir.report.sections import Scope, Section


def gather_all(sections: Mapping[str, Section[Any]], scope: Scope) -> dict[str, Any]:
    """Return what sections compute of all measures at once, by study; or why they cannot."""
    at_once = {s: partial(one.gather_all, scope) for s, one in sections.items() if one.gather_all}
    prepared = {
        s: _or_error(partial(one.gather_blocks, scope))
        for s, one in sections.items()
        if one.gather_blocks
    }
    by_block = {s: one for s, one in prepared.items() if isinstance(one, BlockStudy)}
    tasks = [*map(_guarded, at_once.values()), *_block_tasks(scope, by_block)]
    done = run_in_threads(lambda task: task(), tasks)
    results, blocks = done[: len(at_once)], done[len(at_once) :]
    joined = {s: _join(one, [block[s] for block in blocks]) for s, one in by_block.items()}
    return {**prepared, **joined, **dict(zip(at_once, results, strict=True))}


def try_again(sections: Mapping[str, Section[Any]], scope: Scope) -> Scope:
    """Return the scope of one measure; what failed for all of them is computed for it alone."""
    failed = {
        study: section
        for study, section in sections.items()
        if section.by_measure and isinstance(scope.of_all.get(study), ConfirError)
    }
    return replace(scope, of_all={**scope.of_all, **gather_all(failed, scope)})


def _block_tasks(
    scope: Scope, studies: Mapping[str, BlockStudy]
) -> list[Callable[[], dict[str, Any]]]:
    """Return what computes all studies of the lists of some topics: these are read once."""
    lists = scope.lists
    if lists is None or not studies:
        return []

    def compute(start: int, stop: int) -> dict[str, Any]:
        held = lists.of_topics(start, stop)
        return {s: _or_error(partial(one.compute, held)) for s, one in studies.items()}

    return [partial(compute, *block) for block in topic_blocks(lists.depth)]


def _join(study: BlockStudy, parts: list[Any]) -> Any:
    """Return the result of a study, or the first error of its parts."""
    errors = (part for part in parts if isinstance(part, ConfirError))
    return next(errors, None) or _or_error(partial(study.join, parts))


def _guarded(compute: Callable[[], Any]) -> Callable[[], Any]:
    return partial(_or_error, compute)


def _or_error(compute: Callable[[], Any]) -> Any:
    """Return a result, or the error of confir that there is instead."""
    try:
        return compute()
    except ConfirError as error:
        return error
