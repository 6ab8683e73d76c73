"""How is Parquet opened? One file, several, or a folder parted by the values of columns."""

from __future__ import annotations

import io
import os
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from confir.data.files import is_address
from confir.errors import FormatError, MissingDependencyError, UnreadableError

_MARK = b"PAR1"


class RowFilter(NamedTuple):
    """The rows whose column of this name has a value."""

    column: str
    value: Any

    @property
    def expression(self) -> Any:
        """The condition, as pyarrow takes it."""
        import pyarrow.compute as pc

        return pc.field(self.column) == self.value


def import_pyarrow(purpose: str) -> tuple[Any, Any]:
    """Return pyarrow and its module for Parquet."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingDependencyError("pyarrow", purpose, "parquet") from None
    return pa, pq


def is_parquet(path: str) -> bool:
    """Whether a path is a Parquet file, or a folder that holds some."""
    if "\0" not in path and os.path.isdir(path):
        return any(name.endswith(".parquet") for _, _, names in os.walk(path) for name in names)
    try:
        with open(path, "rb") as stream:
            return stream.read(len(_MARK)) == _MARK
    except (OSError, ValueError):
        return False


def is_dataset(folder: str, names: Sequence[str]) -> bool:
    """Whether a folder with files of some names is one table: parted, or with a column of runs."""
    parted = (os.path.join(folder, name) for name in names if "=" in name)
    if any(os.path.isdir(path) and is_parquet(path) for path in parted):
        return True
    files = [name for name in names if not name.startswith((".", "_"))]
    if not files or not all(name.endswith(".parquet") for name in files):
        return False
    try:
        return "run" in open_parquet([folder]).schema.names
    except (FormatError, MissingDependencyError):  # of which the readers of the files speak
        return False


def open_parquet(paths: Sequence[str], repeated: Collection[str] = ()) -> Any:
    """Return files or a folder as a dataset of pyarrow; values in names of folders are text.

    Parameters
    ----------
    paths
        The files, or one folder, or addresses of fsspec.
    repeated
        Columns of text, in small letters, that come by their distinct values.
    """
    arrow, _ = import_pyarrow("reading Parquet")
    from pyarrow import dataset

    given: Any = paths[0] if len(paths) == 1 else list(paths)
    options: dict[str, Any] = {"exclude_invalid_files": False}
    try:
        if is_address(paths[0]):
            options["filesystem"], given = _file_system(paths)
        found = dataset.dataset(given, format="parquet", **options)
        base = len(given.rstrip("/")) if isinstance(given, str) else 0
        folders = [part for path in found.files for part in path[base:].split("/")[:-1]]
        names = {part.partition("=")[0]: arrow.string() for part in folders if "=" in part}
        parted = dataset.partitioning(arrow.schema(names.items()), flavor="hive")
        text = [
            name
            for name, kind in zip(found.schema.names, found.schema.types, strict=True)
            if arrow.types.is_string(kind) and name.strip().casefold() in repeated
        ]
        reading = dataset.ParquetFileFormat(dictionary_columns=text)
        return dataset.dataset(given, format=reading, partitioning=parted, **options)
    except FileNotFoundError:
        raise UnreadableError(f"{paths[0]}: no such file or folder") from None
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise unreadable_parquet(paths[0], error) from None


def read_parquet_content(content: bytes, source: str) -> Any:
    """Return the content of a Parquet file as a table of pyarrow."""
    arrow, parquet = import_pyarrow(f"{source}: reading Parquet")
    try:
        table = parquet.read_table(io.BytesIO(content))
        table.column_names  # noqa: B018 - a damaged name is no text, which shows only here
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise unreadable_parquet(source, error) from None
    return table


def count_rows(data: Any, source: str, where: RowFilter | None = None) -> int:
    """Return the number of rows of a dataset: all, by what its files say at their ends, or some."""
    arrow, _ = import_pyarrow("reading Parquet")
    try:
        return int(data.count_rows(filter=where and where.expression))
    except (arrow.ArrowException, OSError) as error:
        raise unreadable_parquet(source, error) from None


def scan_batches(
    data: Any,
    columns: Sequence[str],
    rows: int,
    source: str,
    schema: Any = None,
    where: RowFilter | None = None,
) -> Iterator[Any]:
    """Yield some columns in batches of at most so many rows.

    Parameters
    ----------
    data, schema
        A dataset; or one of its files, and the schema of the dataset.
    columns, rows, source
        Names of the columns; rows of a batch; what the data are called in messages.
    where
        Which rows; by default all.
    """
    arrow, _ = import_pyarrow("reading Parquet")
    from pyarrow import dataset

    reading = dataset.ParquetFragmentScanOptions(pre_buffer=False, use_buffered_stream=True)
    options = {} if schema is None else {"schema": schema}
    try:
        scanner = data.scanner(
            columns=list(columns),
            filter=where and where.expression,
            batch_size=rows,
            batch_readahead=2,
            fragment_readahead=1,
            fragment_scan_options=reading,
            **options,
        )
        for batch in scanner.to_batches():
            if batch.num_rows:
                yield batch
    except (arrow.ArrowException, OSError) as error:
        raise unreadable_parquet(source, error) from None


def read_parquet_folder(path: str) -> Any:
    """Return the table of all files in a folder."""
    arrow, _ = import_pyarrow(f"{path}: reading Parquet")
    data = open_parquet([path])
    try:
        return data.to_table()
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise unreadable_parquet(path, error) from None


def unreadable_parquet(path: str, error: Exception) -> FormatError:
    """Return the error for what pyarrow cannot read."""
    problem = str(error).split("\n", maxsplit=1)[0]
    return FormatError(f"cannot be read as Parquet ({problem})", path=path)


def _file_system(paths: Sequence[str]) -> tuple[Any, Any]:
    """Return the file system of addresses, and the paths within it."""
    try:
        import fsspec
    except ImportError:
        raise MissingDependencyError("fsspec", f"{paths[0]}: an address", None) from None
    try:
        system, _ = fsspec.core.url_to_fs(paths[0])
    except (ImportError, ValueError) as error:
        raise UnreadableError(f"{paths[0]}: cannot be opened ({error})") from None
    inner = [system._strip_protocol(path) for path in paths]  # noqa: SLF001 - fsspec has no other way
    return system, inner[0] if len(inner) == 1 else inner
