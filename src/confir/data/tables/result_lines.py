"""Results of AutoJudge and its neighbours as bare lines: which column holds what.

Lines are those of ``autojudge_evaluate.eval_results.io`` (trec-auto-judge/auto-judge-evaluate 0.3):
``tot`` (run measure topic value), ``ir_measures`` (run topic measure value) and ``ranking`` (topic Q0
run rank value measure, a TREC run whose documents are runs); and of gdeval's kin (measure topic run
value).
"""

from __future__ import annotations

from collections.abc import Sequence

from confir.data.tables.measure_names import begins_like_a_measure, find_measures
from confir.data.text_numbers import parse_number
from confir.errors import FormatError

SUMMARY = "all"

_SHAPES = (
    ("run", "measure", "topic"),
    ("run", "topic", "measure"),
    ("measure", "topic", "run"),
)
RANKING = ("topic", "-", "run", "-", "value", "measure")
# Names of measures that are no names of usual ones: those of nuggetizer, of which one is "all".
_NUGGETS = frozenset({"vital", "strict_vital", "strict_all"})


def order_of_four(columns: Sequence[Sequence[str]], source: str) -> tuple[str, ...]:
    """Return what the columns of four hold, as far as it is certain; raise where it is not.

    It is where one column alone can hold the measures, by names of usual measures, and one the
    topics, by the summary "all" or since measures are no numbers.
    """
    found = _fitting(columns)
    if found is None:
        raise FormatError(
            "the columns of runs, measures and topics cannot be distinguished; expected --columns "
            "run,measure,topic,value (columns=), in the order of the file",
            path=source,
        )
    return *found, "value"


def _fitting(columns: Sequence[Sequence[str]]) -> tuple[str, ...] | None:
    names = [set(column) for column in columns[:3]]
    likeness = [_share_of_measures(own) for own in names]
    best = max(likeness)
    summarised = [SUMMARY in own and not own & _NUGGETS for own in names]
    # lines that begin with a measure are rare: only where it is one by its name
    shapes = [one for one in _SHAPES if one[0] == "run" or likeness[0] > 0]
    if any(summarised):
        shapes = [one for one in shapes if summarised[one.index("topic")]]
    if best > 0:
        shapes = [one for one in shapes if likeness[one.index("measure")] == best]
    elif not any(summarised) and _are_whole(columns[3]):
        return None  # which qrels have, too
    shapes = [one for one in shapes if not _are_numbers(names[one.index("measure")])]
    return shapes[0] if len(shapes) == 1 else None


def is_ranking(columns: Sequence[Sequence[str]]) -> bool:
    """Whether lines of six columns are a ranking of runs, rather than a run.

    It is if all tags are names of usual measures, if a topic is the summary "all", or if every
    measure ranks the same runs.
    """
    topics, measures = columns[0], columns[5]
    names = set(measures)
    if SUMMARY in topics or _share_of_measures(names) == 1.0 or names & _NUGGETS:
        return True
    ranked = set(zip(topics, columns[2], strict=True))
    return len(names) > 1 and len(topics) == len(names) * len(ranked)


def _share_of_measures(names: set[str]) -> float:
    usual = {*find_measures(names), *filter(begins_like_a_measure, names), *(names & _NUGGETS)}
    return len(usual) / len(names)


def _are_numbers(names: set[str]) -> bool:
    return all(parse_number(name) is not None for name in names)


def _are_whole(cells: Sequence[str]) -> bool:
    numbers = [parse_number(cell) for cell in cells]
    return all(number is not None and number.is_integer() for number in numbers)
