"""Tables of published boards: means of models on datasets, one row per model, per dataset, or per mean.

Boards have columns that are no datasets: averages, sizes, prices, links. What is certain is left out, with a
warning; where it is not certain which columns are datasets, the board is refused with the ``--columns`` that
would read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Floats
from confir.data.tables.column_names import TOPIC_NAMES
from confir.data.tables.input_table import InputTable
from confir.data.tables.measure_names import find_measures
from confir.data.tables.published_files import are_means
from confir.data.tables.score_columns import measure_from_path
from confir.data.tables.summary_rows import drop_summaries
from confir.data.text_numbers import cell_number
from confir.errors import (
    FormatError,
    InvalidValueError,
    ReadingWarning,
    enumerate_names,
    warn_caller,
)

_EXPECTED = "expected which columns hold run, dataset, measure and value, such as run=Model,value=ARC,value=MMLU"

# What the columns of a board may be called, the preferred name first; blanks and hyphens are as "_".
_NAMES = {
    "run": (
        *("model", "model_name", "model_id", "run", "run_id", "runid", "system", "system_name"),
        *("method", "approach", "submission", "encoder", "retriever", "embedding_model", "llm"),
        *("name", "tag", "fullname"),
    ),
    "dataset": (
        *("dataset", "dataset_name", "dataset_id", "task", "task_name", "benchmark"),
        *("benchmark_name", "collection", "corpus", *TOPIC_NAMES),
    ),
    "measure": ("measure", "metric", "metric_name"),
    "value": ("score", "value", "mean", "main_score"),
}
_SEVERAL_DATASETS = "expected means on several datasets: a column per dataset (--columns names them), or columns dataset, run and score"
# A column without a name, as of row names; and how the user names it.
_NAMELESS = re.compile(r"|index|unnamed:_\d+|__index_level_\d+__")
_INDEX = "index"

# Words in the names of columns that are no datasets: averages and ranks, what models are, and what they cost.
_NO_DATASET = re.compile(
    r"average|avg|mean|overall|median|rank|ranking|borda|elo|votes|params|parameters?|size|dimensions?|"
    r"vocabulary|vocab|tokens|mb|gb|speed|latency|throughput|seconds|runtime|duration|cost|price|usd|licen[cs]e|"
    r"licensed|url|released?|downloads|likes|hub|epochs?|steps?|seeds?|std|stdev|stderr"
)
# Such names as a whole; a dataset may have these words in its name.
_OTHER_NAME = re.compile(
    r"n|num|count|total|sum|macro|micro|support|samples|runs|index|idx|date|year|month|version|time|length|"
    r"max_(sequence_)?length|context(_length|_window)?|links?|sem?|sd"
)
# Last words of columns that say more of the column before: its error, its limits, its number of topics.
_LAST_WORD = re.compile(r"sem?|sd|ci|err|error|var|low|lower|high|upper|min|max|n|count|samples")
# Words in the names of columns that name a measure; others are those of confir and of trec_eval.
_MEASURE_WORD = re.compile(
    r"accuracy|acc|precision|recall|f[12]?|auc|auroc|auprc|roc|m?ap|m?rr|n?dcg|n?err|bpref|spearman|kendall|"
    r"pearson|kendalltau|tau|rho|r2|mae|mse|rmse|mape|em|bleu|rouge|chrf|meteor|bertscore|comet|ter|wer|cer|ppl|"
    r"perplexity|winrate|win|rate|mcc|kappa|score|success|hits?|pairwise|norm|faithfulness|relevan(ce|cy)|"
    r"correctness|loss"
)
_WORD = re.compile(r"[^\W_]+")

# What stands for a missing number on boards, beside what does in tables.
_MISSING = {"-", "—", "n/a", "none", "null", "?"}
_BOOLEANS = {"true", "false", "yes", "no"}
# Means are shares, or percentages.
_LARGEST_MEANS = (1.0, 100.0)
# So many columns are listed for the user to choose from.
_LISTED = 12


class BoardColumns(NamedTuple):
    """Names of the columns of a board, as the user gives them; None and none where he does not."""

    run: str | None = None
    dataset: str | None = None
    measure: str | None = None
    values: tuple[str, ...] = ()


def as_board_columns(given: str | None, dataset: str | None = None) -> BoardColumns:
    """Return which columns hold what, as text such as ``run=Model,value=ARC,value=MMLU`` says it."""
    found: dict[str, list[str]] = {}
    for part in (given or "").split(",") if given else ():
        role, equals, name = part.partition("=")
        role = {"topic": "dataset"}.get(role.strip(), role.strip())
        if role not in _NAMES or not equals:
            raise InvalidValueError(f"columns is {given!r}; {_EXPECTED}")
        found.setdefault(role, []).append(name.strip())
    if dataset is not None:
        found.setdefault("dataset", []).append(dataset)
    twice = [role for role, names in found.items() if len(names) > 1 and role != "value"]
    if twice:
        raise InvalidValueError(f"columns names two columns of {twice[0]}s; expected one")
    one = {role: names[0] for role, names in found.items() if role != "value"}
    return BoardColumns(**one, values=tuple(found.get("value", ())))


def board_entries(table: InputTable, given: BoardColumns) -> InputTable:
    """Return the means on a board in the columns run, measure, topic and score; topics are datasets."""
    places = _places(table, given)
    by_rows = {role: place for role, place in places.items() if role != "value"}
    if "run" in places and "dataset" not in places:
        table, _ = drop_summaries(table, places["run"])
        values = _named(table, given.values) or _dataset_columns(table, by_rows)
        _check_single(table, by_rows, values)
        heads = "dataset"
    elif "run" in places:
        values = _named(table, given.values) or _value_columns(table, places)
        heads = "measure"
    else:
        table, _ = drop_summaries(table, places["dataset"])
        values = _named(table, given.values) or _run_columns(table, by_rows)
        heads = "run"
    return _entries(table, by_rows, values, heads)


def _entries(
    table: InputTable, places: Mapping[str, int], values: Sequence[int], heads: str
) -> InputTable:
    """Return one row per mean; the names of columns of means are those of ``heads``."""
    rows = len(table)
    columns: dict[str, list[Any]] = {}
    for role in ("run", "measure", "dataset"):
        if role in places:
            columns[role] = table.texts(places[role]) * len(values)
        elif role == heads and not _is_value_name(table, values):
            columns[role] = [table.header[place] for place in values for _ in range(rows)]
        else:
            columns[role] = [measure_from_path(table.source)] * (rows * len(values))
    scores = [number for place in values for number in _numbers(table, place).tolist()]
    lines = np.tile(np.asarray(table.lines), len(values))
    # the rows of a board stay where they are: a mean is missing where its cell is blank
    return replace(
        table,
        header=["run", "measure", "topic", "score"],
        columns=[columns["run"], columns["measure"], columns["dataset"], scores],
        lines=lines,
    )


def _places(table: InputTable, given: BoardColumns) -> dict[str, int]:
    """Return the places of the columns of models, datasets, measures and values, as far as there are."""
    found: dict[str, int] = {}
    for role in ("run", "dataset", "measure"):
        name = getattr(given, role)
        place = _find(table, _NAMES[role]) if name is None else _named(table, [name])[0]
        if place is not None:
            found[role] = place
    if given.run is not None and given.dataset is None and "dataset" in found:
        del found["dataset"]
    if given.dataset is not None and given.run is None and not given.values and "run" in found:
        del found["run"]
    value = None if given.values else _find(table, _NAMES["value"])
    if "dataset" not in found and are_means(table.header):
        raise table.header_error(
            "means of one dataset with their errors; confir evaluate --scores gives their intervals; "
            f"{_SEVERAL_DATASETS}"
        )
    if "run" not in found and "dataset" not in found:
        raise _unclear(table)
    if "run" in found and "dataset" in found and value is not None:
        found["value"] = value
    return found


def _unclear(table: InputTable) -> FormatError:
    """Return the error that asks whether rows are models or datasets."""
    texts = [p for p in range(len(table.header)) if _kind(table, p) == "text"]
    name = _argument(table.header[texts[0] if texts else 0])
    return table.header_error(
        "no column that is named like models or datasets; expected one row per model: --columns "
        f"{_quoted(f'run={name}')}; or one row per dataset: --columns {_quoted(f'dataset={name}')}"
    )


def _find(table: InputTable, names: Iterable[str]) -> int | None:
    """Return the place of the first of some names that is a column."""
    plain = [_plain(name) for name in table.header]
    return next((plain.index(name) for name in names if name in plain), None)


def _named(table: InputTable, names: Sequence[str]) -> list[int]:
    """Return the places of columns that the user names; raise where there is none."""
    found = []
    for name in names:
        place = table.named(name)
        if place is None and name == _INDEX:
            plain = enumerate(map(_plain, table.header))
            place = next((at for at, other in plain if _NAMELESS.fullmatch(other)), None)
        if place is None:
            known = enumerate_names(map(repr, table.header), 20)
            raise table.header_error(f"no column {name!r}; expected one of {known}")
        found.append(place)
    return found


def _dataset_columns(table: InputTable, places: Mapping[str, int]) -> list[int]:
    """Return the columns of datasets of a table with one row per model; raise where these are unclear."""
    numbers, left = _number_columns(table, places, _NO_DATASET)
    if not numbers:
        raise table.header_error(
            f"no column of means on a dataset besides {enumerate_names(map(repr, left), 5)}; {_SEVERAL_DATASETS}"
        )
    doubts = _doubts(table, numbers)
    if doubts:
        sure = [table.header[place] for place in numbers if place not in doubts]
        said = enumerate_names((f"{table.header[at]!r} {why}" for at, why in doubts.items()), 3)
        line = f"expected {_line(table, places, sure)}" if len(sure) > 1 else _SEVERAL_DATASETS
        raise table.header_error(f"which columns are datasets is not clear: {said}; {line}")
    _say_left(table, left, "datasets")
    return numbers


def _number_columns(
    table: InputTable, places: Mapping[str, int], words: re.Pattern[str], *, exact: bool = False
) -> tuple[list[int], list[str]]:
    """Return the columns of numbers, and the names of those that hold none or are named by some words.

    With ``exact``, the words are whole names.
    """
    numbers, left = [], []
    for place, name in enumerate(table.header):
        if place in places.values():
            continue
        named = _OTHER_NAME.fullmatch(_plain(name)) or any(
            map(words.fullmatch, [_plain(name)] if exact else _words(name))
        )
        kind = _kind(table, place)
        if named or kind in ("text", "boolean", "blank") or _numbers_rows(table, place):
            left.append(name)
        elif kind == "mixed":
            raise _no_number(table, place)
        else:
            numbers.append(place)
    return numbers, left


def _doubts(table: InputTable, places: Sequence[int]) -> dict[int, str]:
    """Return the columns of numbers that need not be datasets, and why."""
    doubts: dict[int, str] = {}
    stems: dict[str, list[int]] = {}
    for place in places:
        name = table.header[place]
        words = [word for word in _words(name) if not _MEASURE_WORD.fullmatch(word)]
        measured = len(words) < len(_words(name)) or bool(find_measures([name]))
        if _plain(name) in _NAMES["value"] or (measured and (not words or find_measures([name]))):
            doubts[place] = "is named like a measure"
        elif words and _LAST_WORD.fullmatch(words[-1]):
            doubts[place] = f"is named like {words[-1]} of another column"
        elif measured:
            stems.setdefault(" ".join(words), []).append(place)
    for same in stems.values():
        if len(same) > 1:
            doubts |= dict.fromkeys(same, "is one of several measures")
    values = {place: _numbers(table, place) for place in places}
    largest = {place: float(np.nanmax(np.abs(held))) for place, held in values.items()}
    for limit in _LARGEST_MEANS:
        above = [place for place in places if largest[place] > limit]
        if above and len(above) < len(places):
            fewer = (
                above if 2 * len(above) <= len(places) else [p for p in places if p not in above]
            )
            why = f"is {'above' if fewer is above else 'within'} {limit:g}, unlike others"
            doubts |= {place: why for place in fewer if place not in doubts}
    whole = [p for p, held in values.items() if np.all(np.isnan(held) | (held == np.rint(held)))]
    if len(whole) < len(places):
        doubts |= {p: "holds whole numbers only" for p in whole if p not in doubts}
    return doubts


def _value_columns(table: InputTable, places: Mapping[str, int]) -> list[int]:
    """Return the columns of scores of a table with one row per model and dataset."""
    known = {role: place for role, place in places.items() if role != "value"}
    if "value" in places:
        _say_left(
            table,
            [n for p, n in enumerate(table.header) if p not in places.values()],
            "used",
        )
        return [places["value"]]
    numbers, left = _number_columns(table, known, _NO_DATASET)
    if not numbers or ("measure" in places and len(numbers) > 1):
        raise table.header_error("no column of scores; expected one that is named score")
    _say_left(table, left, "used")
    return numbers


def _run_columns(table: InputTable, places: Mapping[str, int]) -> list[int]:
    """Return the columns of runs of a table with one row per dataset."""
    numbers, left = _number_columns(table, places, _NO_DATASET, exact=True)
    measures = find_measures([table.header[place] for place in numbers])
    if not numbers or measures:
        found = (
            f"columns are named like measures ({enumerate_names(measures, 3)})"
            if measures
            else "no column of runs"
        )
        raise table.header_error(
            f"{found}; expected a column per run, or columns dataset, run, score"
        )
    _say_left(table, left, "runs")
    return numbers


def _check_single(table: InputTable, places: Mapping[str, int], values: Sequence[int]) -> None:
    """Raise where a model has two rows, by the same measure."""
    keys = list(zip(*(table.texts(place) for place in places.values()), strict=True))
    first: dict[tuple[str, ...], int] = {}
    for row, key in enumerate(keys):
        if key not in first:
            first[key] = row
            continue
        others = [p for p in range(len(table.header)) if p not in (*places.values(), *values)]
        apart = [
            table.header[p] for p in others if table.cells(p)[row] != table.cells(p)[first[key]]
        ]
        said = f", which differ in {enumerate_names(map(repr, apart), 3)}" if apart else ""
        raise table.error(
            f"a second row of model {key[0]!r} (the first: {table.describe_row(first[key])}){said}; expected "
            "one row per model",
            row,
        )


def _kind(table: InputTable, place: int) -> str:
    """Return what a column holds: "numbers", "text", "boolean", nothing ("blank"), or "mixed" cells."""
    kinds = set()
    for cell in table.cells(place):
        if isinstance(cell, bool) or (
            isinstance(cell, str) and cell.strip().casefold() in _BOOLEANS
        ):
            kinds.add("boolean")
        elif not _is_missing(cell):
            kinds.add("text" if _number(cell) is None else "numbers")
    if not kinds:
        return "blank"
    return kinds.pop() if len(kinds) == 1 else "mixed" if "numbers" in kinds else "text"


def _is_missing(cell: Any) -> bool:
    number = cell_number(cell)
    named = isinstance(cell, str) and cell.strip().casefold() in _MISSING
    return named or (number is not None and bool(np.isnan(number)))


def _number(cell: Any) -> float | None:
    """Return the number in a cell, whose percent sign does not count; None where there is none."""
    return cell_number(cell.strip().removesuffix("%") if isinstance(cell, str) else cell)


def _numbers(table: InputTable, place: int) -> Floats:
    """Return the numbers in a column; NaN where one is missing."""
    found = [np.nan if _is_missing(cell) else _number(cell) for cell in table.cells(place)]
    if None in found:
        raise _no_number(table, place)
    return np.array(found, np.float64)


def _no_number(table: InputTable, place: int) -> FormatError:
    """Return the error about the first cell of a column that holds no number."""
    cells = table.cells(place)
    row = next(r for r, cell in enumerate(cells) if not _is_missing(cell) and _number(cell) is None)
    return table.error(
        f"{cells[row]!r} under {table.header[place]!r} is no number, as others are; expected one number per cell, "
        "or --columns with the columns to read",
        row,
    )


def _numbers_rows(table: InputTable, place: int) -> bool:
    """Whether a column only numbers the rows."""
    cells = table.cells(place)
    if _kind(table, place) != "numbers" or len(cells) < 3:
        return False
    steps = np.diff(_numbers(table, place))
    return bool(np.all(steps == 1.0))


def _is_value_name(table: InputTable, places: Sequence[int]) -> bool:
    """Whether the one column of scores is named so, rather than after what it holds."""
    return len(places) == 1 and _plain(table.header[places[0]]) in _NAMES["value"][:3]


def _say_left(table: InputTable, left: Sequence[str], what: str) -> None:
    """Warn of the columns that are not read."""
    if left:
        names = enumerate_names((name or "the nameless one" for name in left), 8)
        warn_caller(f"{table.source}: columns that are no {what}: {names}", ReadingWarning)


def _line(table: InputTable, places: Mapping[str, int], names: Sequence[str]) -> str:
    """Return the ``--columns`` that reads some columns as datasets."""
    listed = [f"value={name}" for name in names[:_LISTED]] + (["…"] if len(names) > _LISTED else [])
    run = _argument(table.header[places["run"]])
    return f"--columns {_quoted(','.join([f'run={run}', *listed]))}"


def _argument(name: str) -> str:
    return _INDEX if _NAMELESS.fullmatch(_plain(name)) else name


def _quoted(text: str) -> str:
    return text if re.fullmatch(r"[\w=,.:/@-]+", text) else f"'{text}'"


def _plain(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().casefold())


def _words(name: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(name)]
