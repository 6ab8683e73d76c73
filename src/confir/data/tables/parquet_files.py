"""Parquet: one file, several, or a folder partitioned by the values of columns."""

from __future__ import annotations

import io
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from confir.data.compression import RefusedError, check_expansion, is_limited, largest_expansion
from confir.data.files import is_address
from confir.errors import ConfirError, FormatError, MissingDependencyError, UnreadableError

# The first bytes of a file.
PARQUET_MARK = b"PAR1"

# Rows that are looked at together, and those of tables with columns of lists, to see how many bytes
# they hold.
_ROWS_CHECKED, _NESTED_ROWS_CHECKED = 1 << 16, 1 << 6
_SMALL_DICTIONARY, _SMALL_FILE = 64 << 10, 4 << 20
# What a number takes, and what a text takes beside its letters.
_CELL = 8
# Damaged pages are found where a file has checksums of them.
_VERIFIED = {"page_checksum_verification": True}


class RowFilter(NamedTuple):
    """The rows whose column of this name has a value."""

    column: str
    value: Any

    @property
    def expression(self) -> Any:
        """The condition, as pyarrow takes it."""
        held = import_pyarrow().compute.field(self.column)
        return held == self.value


def import_pyarrow(purpose: str = "reading Parquet") -> Any:
    """Return pyarrow, of which the modules ``compute`` and ``parquet`` are loaded."""
    try:
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise MissingDependencyError("pyarrow", purpose, "parquet") from None
    return pyarrow


def parquet_bytes(table: Any) -> bytes:
    """Return a table of pyarrow as the content of a Parquet file, with checksums of its pages."""
    stream = io.BytesIO()
    import_pyarrow("writing Parquet").parquet.write_table(table, stream, write_page_checksum=True)
    return stream.getvalue()


def is_parquet(path: str) -> bool:
    """Whether a path is a Parquet file, or a folder that holds some."""
    if "\0" not in path and os.path.isdir(path):
        return any(name.endswith(".parquet") for _, _, names in os.walk(path) for name in names)
    try:
        if not os.path.isfile(path):  # what is read from a pipe is gone
            return False
        with open(path, "rb") as stream:
            return stream.read(len(PARQUET_MARK)) == PARQUET_MARK
    except (OSError, ValueError):
        return False


def is_dataset(folder: str, names: Sequence[str]) -> bool:
    """Whether a folder with files of some names is one table: partitioned, or with a column of runs."""
    partitions = (os.path.join(folder, name) for name in names if "=" in name)
    if any(os.path.isdir(path) and is_parquet(path) for path in partitions):
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
    given: Any = paths[0] if len(paths) == 1 else list(paths)
    options: dict[str, Any] = {"exclude_invalid_files": False}
    with reading_parquet(paths[0]) as arrow:
        from pyarrow import dataset

        if is_address(paths[0]):
            options["filesystem"], given = _file_system(paths)
        found = dataset.dataset(given, format="parquet", **options)
        base = len(given.rstrip("/")) if isinstance(given, str) else 0
        folders = [part for path in found.files for part in path[base:].split("/")[:-1]]
        names = {part.partition("=")[0]: arrow.string() for part in folders if "=" in part}
        partitioning = dataset.partitioning(arrow.schema(names.items()), flavor="hive")
        text = [
            name
            for name, kind in zip(found.schema.names, found.schema.types, strict=True)
            if arrow.types.is_string(kind) and name.strip().casefold() in repeated
        ]
        scanned = dataset.ParquetFragmentScanOptions(**_VERIFIED)
        reading = dataset.ParquetFileFormat(
            dictionary_columns=text, default_fragment_scan_options=scanned
        )
        return dataset.dataset(given, format=reading, partitioning=partitioning, **options)


def read_parquet_content(content: bytes, source: str) -> Any:
    """Return the content of a Parquet file as a table of pyarrow."""
    parquet = import_pyarrow(f"{source}: reading Parquet").parquet
    with reading_parquet(source):
        _check_content(io.BytesIO(content), len(content))
        table = parquet.read_table(io.BytesIO(content), **_VERIFIED)
        table.column_names  # noqa: B018 - a damaged name is no text, which shows only here
    return table


def count_rows(data: Any, source: str, where: RowFilter | None = None) -> int:
    """Return the number of rows of a dataset: all, by what its files say at their ends, or some."""
    with reading_parquet(source):
        rows = int(data.count_rows(filter=where and where.expression))
        size = sum(_size_of_file(data, path) for path in data.files)
        check_expansion(size, _CELL * rows * len(data.schema.names))
    return rows


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
    from pyarrow import dataset

    reading = dataset.ParquetFragmentScanOptions(
        pre_buffer=False, use_buffered_stream=True, **_VERIFIED
    )
    options = {} if schema is None else {"schema": schema}
    with reading_parquet(source):
        _check_batches(data, columns, rows)
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


def read_parquet_folder(path: str) -> Any:
    """Return the table of all files in a folder."""
    import_pyarrow(f"{path}: reading Parquet")
    data = open_parquet([path])
    with reading_parquet(path):
        for file in data.get_fragments():
            _check_content(file.open(), _size_of_file(data, file.path))
        return data.to_table()


@contextmanager
def reading_parquet(source: str) -> Iterator[Any]:
    """Give pyarrow; say what it cannot read there, or where more is held than is read."""
    arrow = import_pyarrow()
    try:
        yield arrow
    except RefusedError as error:
        raise UnreadableError(f"{source}: {error}") from None
    except (MemoryError, ConfirError):
        raise
    except FileNotFoundError:
        raise UnreadableError(f"{source}: no such file or folder") from None
    except (arrow.ArrowException, OSError, ValueError) as error:
        problem = str(error).split("\n", maxsplit=1)[0]
        raise FormatError(f"cannot be read as Parquet ({problem})", path=source) from None


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


def _size_of_file(data: Any, path: str) -> int:
    return data.filesystem.get_file_info(path).size or 0


def _check_content(opened: Any, size: int) -> None:
    """Raise where a file of so many bytes holds too many to be read whole.

    Equal values stand in a file once, in a dictionary of each column. They are looked at by it, so
    that the check itself does not take the memory.
    """
    parquet = import_pyarrow().parquet
    file = parquet.ParquetFile(opened)
    groups = [file.metadata.row_group(place) for place in range(file.num_row_groups)]
    check_expansion(size, sum(group.total_byte_size for group in groups))
    flat = _text_columns(file.schema_arrow)
    read = parquet.ParquetFile(opened, metadata=file.metadata, read_dictionary=flat, **_VERIFIED)
    nested = len(file.schema.names) > len(file.schema_arrow.names)
    held = 0
    for batch in read.iter_batches(_NESTED_ROWS_CHECKED if nested else _ROWS_CHECKED):
        held += sum(map(_held_bytes, batch.columns))
        check_expansion(size, held)


def _text_columns(schema: Any) -> list[str]:
    """Return the columns of text, and of bytes."""
    kinds = import_pyarrow().types
    tests = (kinds.is_string, kinds.is_large_string, kinds.is_binary, kinds.is_large_binary)
    pairs = zip(schema.names, schema.types, strict=True)
    return [name for name, kind in pairs if any(test(kind) for test in tests)]


def _held_bytes(column: Any) -> int:
    """Return how many bytes a column takes where each row has its own value."""
    arrow = import_pyarrow()
    if not arrow.types.is_dictionary(column.type):
        return int(column.nbytes)
    sizes = arrow.compute.binary_length(column.dictionary).take(column.indices)
    return _CELL * len(column) + int(arrow.compute.sum(sizes).as_py() or 0)


def _check_batches(data: Any, columns: Sequence[str], rows: int) -> None:
    """Raise where one value of a column is so long that a batch of rows that have it is too large.

    A value that is in no dictionary stands in the file as often as it is held.
    """
    if not is_limited():
        return
    for file in data.get_fragments() if hasattr(data, "get_fragments") else [data]:
        text = {*columns} & {*_text_columns(file.physical_schema)}
        size = _size_of_file(file, file.path) if text else 0
        for group in file.row_groups if text else ():
            described = file.metadata.row_group(group.id)
            for column in map(described.column, range(described.num_columns)):
                if column.path_in_schema in text and _may_expand(column, rows, size):
                    longest = _longest_value(file, group.id, column.path_in_schema)
                    check_expansion(size, min(rows, column.num_values) * longest)


def _may_expand(column: Any, rows: int, size: int) -> bool:
    """Whether a batch of rows may expand beyond reason by the dictionary of a column.

    To look into a large dictionary takes as long as to read a row group. It makes a file large, too,
    and is looked into only in files that are not.
    """
    if not column.has_dictionary_page:
        return False
    compressed = column.data_page_offset - column.dictionary_page_offset
    most = min(rows, column.num_values) * column.total_uncompressed_size
    small = compressed < _SMALL_DICTIONARY or size < _SMALL_FILE
    return small and most > largest_expansion(size)


def _longest_value(file: Any, group: int, name: str) -> int:
    """Return the bytes of the longest value in the dictionary of a column of a row group."""
    arrow = import_pyarrow()
    read = arrow.parquet.ParquetFile(file.open(), metadata=file.metadata, read_dictionary=[name])
    first = next(read.iter_batches(1, [group], [name])).column(0)  # has all of the dictionary
    return int(arrow.compute.max(arrow.compute.binary_length(first.dictionary)).as_py() or 0)
