"""Scores of datasets in files: folders with qrels and runs, tables with a column of datasets, means."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from confir.data.files import STDIN, read_bytes
from confir.data.formats.benchmark_results import (
    BenchmarkResult,
    Wanted,
    benchmark_means,
    named_by_folders,
)
from confir.data.formats.mteb import MODEL_FILE
from confir.data.formats.sources import recognise
from confir.data.score_files import read_score_table, read_scores, scores_from_table
from confir.data.scores import Scores
from confir.data.tables.board_tables import as_board_columns, board_entries
from confir.data.tables.input_table import InputTable
from confir.data.tables.parquet_files import is_parquet
from confir.data.tables.table_kind import fold
from confir.defaults import SEED
from confir.errors import (
    FormatError,
    InputWarning,
    InvalidValueError,
    TopicMismatchError,
    UnreadableError,
    counted,
    enumerate_names,
    warn_caller,
)
from confir.measures.evaluation import evaluate
from confir.measures.parsing import canonical_name
from confir.measures.score_sources import find_group_summaries, open_summary
from confir.measures.score_summary import ScoreSummary
from confir.studies.leaderboard.board_sources import one_measure
from confir.studies.leaderboard.dataset_scores import DatasetScores

# What scores are called whose measure no table names.
_UNNAMED = "score"
# What a run's list is scored by where nothing else is said, as embedding benchmarks are.
DEFAULT_MEASURE = "nDCG@10"


class HumanJudgements(NamedTuple):
    """Where human judgements of some topics of each dataset are.

    Attributes
    ----------
    path
        Of folders, the name of the qrels file, or of the score table, in each of them; or a path with
        ``{dataset}``. ``{subset}`` and ``{split}`` are those of the model's qrels. Of a table with a
        column of datasets, another such table.
    sample
        How the human-judged topics were sampled.
    rng
        Seed of what the draw of documents needs.
    """

    path: str
    sample: str
    rng: int | None = SEED

    def of_dataset(self, folder: str, name: str, part: Mapping[str, str]) -> str:
        """Return the file of one dataset; raise where there is none."""
        path = self.path
        for role, value in {"dataset": name, **part}.items():
            path = path.replace(f"{{{role}}}", value)
        inside = path if "{dataset}" in self.path else os.path.join(folder, path)
        if not os.path.exists(inside):
            raise UnreadableError(f"{inside}: no such file; expected human judgements of {name}")
        return inside

    def entry_of(self, folder: str, name: str) -> str | None:
        """Return the name of the file, or of the folder with it, in a dataset's folder; None elsewhere."""
        path = self.path.replace("{dataset}", name)
        if "{dataset}" in self.path:
            path = os.path.relpath(path, folder)
        first = Path(path).parts[0]
        return None if first == os.pardir or os.path.isabs(path) else first

    def correct(self, model: DatasetScores, column: str) -> DatasetScores:
        """Return the scores of datasets by a model, with those by human judgements in a table."""
        people = read_dataset_table(self.path, column, held=True)
        lacking = [name for name in model.names if name not in people.names]
        if lacking:
            raise TopicMismatchError(
                f"{self.path}: no scores by human judgements on dataset {enumerate_names(map(repr, lacking), 3)}; "
                "expected scores of some topics of each dataset"
            )
        found, corrected = people.by_name(), {}
        for name, part in model.by_name().items():
            with naming_dataset(name):
                corrected[name] = part.with_human(found[name], self.sample)
        return DatasetScores.of(corrected)


@contextmanager
def naming_dataset(name: str) -> Iterator[None]:
    """Name the dataset in errors about topics that humans or the model judged."""
    try:
        yield
    except TopicMismatchError as error:
        raise TopicMismatchError(f"dataset {name!r}: {error}") from error


def read_folder(
    folder: str,
    measures: Sequence[str],
    qrels: str | None,
    human: HumanJudgements | None = None,
    **rules: Any,
) -> DatasetScores:
    """Return the scores in a folder, by dataset: of its runs by its qrels, or in its score tables.

    Those of one table in Parquet that is long are summed up.

    Parameters
    ----------
    folder
        The folder of a dataset, after which that is named.
    measures
        What runs are scored by; none for the default.
    qrels
        Name of the qrels file; by default the file whose name starts with "qrels". With
        ``{subset}`` or ``{split}`` in it, each such part of the runs' files is a dataset.
    human
        Human judgements of some topics, where the qrels are a model's.
    **rules
        How runs are read, as in `ReadingRules`.
    """
    dataset = Path(folder).resolve().name
    by_human = None if human is None else human.entry_of(folder, dataset)
    inside = sorted(
        path
        for path in Path(folder).iterdir()
        if not path.name.startswith(".")
        and (by_human is None or _part_judged(path, by_human) is None)
    )
    if not inside:
        raise UnreadableError(f"{folder}: the folder is empty; expected a qrels file and runs")
    found = _find_qrels(folder, inside, qrels)
    if not found:
        return _read_score_tables(folder, dataset, inside, human)
    runs = [str(path) for path in inside if path not in found and _part_judged(path, None) is None]
    if not runs:
        first = next(iter(found)).name
        raise UnreadableError(f"{folder}: {first}, but no runs; expected at least one")
    scored: dict[str, Scores | ScoreSummary] = {}
    for path, part in found.items():
        given: dict[str, Any] = dict(rules | part)
        if human is not None:
            by = human.of_dataset(folder, dataset, part)
            given |= {"human": by, "human_sample": human.sample, "rng": human.rng}
        name = "/".join([dataset, *part.values()])
        with naming_dataset(name) if human is not None else nullcontext():
            scored[name] = evaluate(str(path), runs, list(measures) or [DEFAULT_MEASURE], **given)
    return DatasetScores.of(scored)


def _find_qrels(
    folder: str, inside: Sequence[Path], qrels: str | None
) -> dict[Path, dict[str, str]]:
    """Return the qrels files in a folder, and which subset and split each judges; raise if unclear."""
    found = {path: part for path in inside if (part := _part_judged(path, qrels)) is not None}
    if len(found) > 1 and not any(found.values()):
        raise InvalidValueError(
            f"{folder}: several qrels files ({enumerate_names([p.name for p in found])}); expected "
            "one, or its name with --qrels"
        )
    if not found and qrels is not None:
        raise UnreadableError(f"{folder}: no file {qrels!r}; expected the qrels there")
    return found


def _read_score_tables(
    folder: str, dataset: str, inside: Sequence[Path], human: HumanJudgements | None
) -> DatasetScores:
    """Return the scores of a dataset in the tables of its folder, which has no qrels."""
    tables = [str(path) for path in inside if path.is_file()]
    if not tables:
        names = enumerate_names([path.name for path in inside], 3)
        raise UnreadableError(
            f"{folder}: only folders ({names}); expected the folder of one dataset, with qrels and "
            f"runs, or score tables: {os.path.join(folder, '*')} names each folder"
        )
    if human is not None:
        judged = read_scores(human.of_dataset(folder, dataset, {}))
        with naming_dataset(dataset):
            corrected = read_scores(tables).with_human(judged, human.sample)
        return DatasetScores((corrected,), (dataset,))
    long = open_summary(tables[0]) if len(tables) == 1 else None
    try:
        return DatasetScores((read_scores(tables) if long is None else long,), (dataset,))
    except FormatError as error:
        problem = f"{error.problem}; or, if these are runs, a qrels file (qrels*) in {folder}"
        raise FormatError(problem, path=error.path, line=error.line) from None


def _part_judged(path: Path, qrels: str | None) -> dict[str, str] | None:
    """Return which subset and split a qrels file judges, by its name; None of any other file."""
    if qrels is None:
        return {} if path.is_file() and path.name.lower().startswith("qrels") else None
    pattern = re.escape(qrels)
    for part in ("subset", "split"):
        pattern = pattern.replace(re.escape(f"{{{part}}}"), f"(?P<{part}>.+?)", 1)
    matched = re.fullmatch(pattern, path.name)
    return None if matched is None else matched.groupdict()


def read_dataset_table(path: str, column: str, *, held: bool = False) -> DatasetScores:
    """Return the scores of each dataset in one table; without topics, the datasets' means.

    Those of a table in Parquet that is long are summed up.

    Parameters
    ----------
    path
        A table with a column of datasets, and one of topics or none.
    column
        Name of the column of datasets.
    held
        Whether every score is needed, so that long tables are held in memory.
    """
    long = None if held else find_group_summaries(path, column)
    if long:
        return DatasetScores.of(long)
    table = read_score_table(path)
    place = table.find_named([fold(column)])
    if place is None:
        raise table.header_error(
            f"no column {column!r} of datasets; expected one, or a table of means (--means)"
        )
    rest = _without(table, place)
    if rest.find("topic") is None:
        return DatasetScores((scores_from_table(_as_topics(table, place), unit="dataset"),))
    ids = table.ids(place)
    parts = (scores_from_table(rest.where(ids.codes == code)) for code in range(len(ids.names)))
    return DatasetScores(tuple(parts), tuple(ids.names))


class MeansOptions(NamedTuple):
    """Which means are read of tables of means and of results of benchmarks.

    Attributes
    ----------
    measure, split, subset
        Names; None for the only measure, or main scores, for the test split and for all subsets.
    columns, dataset
        Which columns of a table hold what, as text; the column of datasets.
    drop_datasets
        Whether datasets are left out that lack the measure, the split or the subset.
    """

    measure: str | None = None
    split: str | None = None
    subset: str | None = None
    columns: str | None = None
    dataset: str | None = None
    drop_datasets: bool = False


def read_means(paths: Sequence[str], wanted: MeansOptions) -> DatasetScores:
    """Return means of models on datasets: those in a table, or in the results of benchmarks.

    A folder stands for the results below it.
    """
    results: list[BenchmarkResult] = []
    tables: list[str] = []
    for path in paths:
        found = _folder_results(path) if _is_folder(path) else _file_results(path)
        results += found or []
        tables += [] if found else [path]
    if not tables:
        return _of_results(results, wanted)
    if results or len(tables) > 1:
        raise InvalidValueError(
            f"{tables[0]}: a table of means, beside {counted(len(paths) - 1, 'other file')}; expected one table, "
            "or results of one or more models on each dataset"
        )
    for option in ("split", "subset"):
        if getattr(wanted, option) is not None:
            raise InvalidValueError(
                f"{tables[0]}: a table of means has no {option}s; expected no --{option}"
            )
    columns = as_board_columns(wanted.columns, wanted.dataset)
    entries = board_entries(read_score_table(tables[0]), columns)
    means = scores_from_table(entries, unit="dataset")
    return DatasetScores((_by_measure(means, wanted.measure, tables[0]),))


def _of_results(results: Sequence[BenchmarkResult], wanted: MeansOptions) -> DatasetScores:
    """Return the means that results of benchmarks say."""
    for option in ("columns", "dataset"):
        if getattr(wanted, option) is not None:
            raise InvalidValueError(
                f"--{option} is for tables; results of benchmarks have no columns"
            )
    measure = wanted.measure
    spellings = () if measure is None else (measure, canonical_name(measure))
    chosen = Wanted(spellings, wanted.split, wanted.subset, drop_datasets=wanted.drop_datasets)
    means = benchmark_means(named_by_folders(results), chosen)
    return DatasetScores((means.scores,), measures=means.main_measures())


def _by_measure(means: Scores, measure: str | None, path: str) -> Scores:
    """Return the means by the measure that is named; raise where the table does not name it."""
    if measure is not None and means.measures == (_UNNAMED,):
        raise InvalidValueError(
            f"{path} names no measure, so that it need not be {measure}; expected no -m, a column measure, or a file "
            f"that is named after its measure, such as means.{measure}.csv"
        )
    return one_measure(means, measure)


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not is_parquet(path)


def _file_results(path: str) -> Sequence[BenchmarkResult] | None:
    """Return the results of a benchmark in a file; None where it is a table."""
    if os.path.isdir(path) or path == STDIN:
        return None
    content = read_bytes(path)
    read = recognise(path, content).read_results
    return None if read is None else read(content, path)


def _folder_results(folder: str) -> list[BenchmarkResult]:
    """Return the results of benchmarks below a folder, such as MODEL/REVISION/TASK.json of MTEB."""
    found = [os.path.join(home, name) for home, _, names in os.walk(folder) for name in names]
    files = sorted(
        one for one in found if one.endswith((".json", ".jsonl")) and not one.endswith(MODEL_FILE)
    )
    if not files:
        raise UnreadableError(f"{folder}: no file .json below it; expected results of MTEB")
    results: list[BenchmarkResult] = []
    others: list[str] = []
    for path in files:
        read = _file_results(path)
        results += read or []
        others += [path] if read is None else []
    if not results:
        raise FormatError(
            f"none of its {counted(len(files), 'file')} has results of a benchmark; expected some, such as of MTEB",
            path=folder,
        )
    if others:
        warn_caller(
            f"{folder}: files without results of a benchmark: {enumerate_names(others, 3)}",
            InputWarning,
        )
    return results


def _without(table: InputTable, place: int) -> InputTable:
    """Return a table without one of its columns."""
    kept = [p for p in range(len(table.header)) if p != place]
    header, columns = [table.header[p] for p in kept], [table.columns[p] for p in kept]
    return replace(table, header=header, columns=columns)


def _as_topics(table: InputTable, place: int) -> InputTable:
    """Return a table of means, whose datasets take the place of topics."""
    return replace(
        table, header=["topic" if p == place else name for p, name in enumerate(table.header)]
    )
