"""Datasets of files: Parquet, Feather and delimited text, streamed once per sum by pyarrow."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

from tellapart.data.column_notes import row_labels
from tellapart.data.columns import ColumnKind, Reading, kind_of
from tellapart.data.row_stores import A, Fold, RowsDone, RowStore
from tellapart.data.sources.source import ChunkedSource, StreamedRows, distinct
from tellapart.data.summary import Summary, Survey
from tellapart.errors import InputError
from tellapart.optional import arrow_errors, pa, pc
from tellapart.text import safe

# What Arrow decodes at a time, in bytes of float64 and in rows, and how far it may read ahead.
BATCH_BYTES = 1 << 23
FEWEST_ROWS, MOST_ROWS = 1 << 10, 1 << 17
BATCHES_AHEAD, FILES_AHEAD = 4, 1
# What is read of a Parquet file at a time: for all columns together, and for one.
BUFFER_BYTES = 1 << 24
LEAST_BUFFER, MOST_BUFFER = 1 << 14, 1 << 18

FAILURES = (OSError, UnicodeDecodeError)
"""What is raised where a file cannot be read, beside the errors of Arrow."""
_CSV_COLUMN = re.compile(r"CSV column #(\d+)")


class RowsWhere(NamedTuple):
    """The rows with some values of a column."""

    column: str
    values: pa.Array


@dataclass(frozen=True, eq=False, repr=False)
class FileDataset:
    """Files that together hold one sample: made by `open_dataset`, read block by block.

    Attributes
    ----------
    dataset : pyarrow.dataset.Dataset
        The files.
    names : tuple of str
        The columns that are compared.
    where : RowsWhere or None
        The rows that are compared; None for all of them.
    """

    dataset: Any
    names: tuple[str, ...]
    where: RowsWhere | None = None

    def to_table(self) -> pa.Table:
        """Read everything into memory."""
        record_batches = batches(self.dataset, self.names, whole=True, where=self.where)
        schema = pa.schema([self.dataset.schema.field(name) for name in self.names])
        return pa.Table.from_batches(record_batches, schema)

    def __repr__(self) -> str:
        n_files = len(self.dataset.files)
        files = "1 file" if n_files == 1 else f"{n_files} files"
        return f"<FileDataset of {files}, {len(self.names)} columns>"


class DatasetSource(ChunkedSource):
    """A sample in files that `tellapart.open_dataset` opened, or any other dataset of pyarrow."""

    waits = True

    def __init__(self, title: str, data: Any) -> None:
        self.title = title
        self.is_whole = isinstance(data, FileDataset)
        self.where: RowsWhere | None = None
        if not isinstance(data, FileDataset):
            self.dataset = data
            self.names: tuple[str, ...] = distinct(title, data.schema.names)
        else:
            self.dataset, self.names, self.where = data.dataset, data.names, data.where
            every = self.dataset.schema.names
            unread = [name for name in every if name not in set(self.names)]
            self.row_labels = tuple(name for name in row_labels(every) if name in unread)
            self.unchosen = tuple(name for name in unread if name not in self.row_labels)
        self.n_columns = len(self.names)

    @classmethod
    def claims(cls, data: object) -> bool:
        """Say whether this is a dataset of files."""
        # A caller with a dataset of pyarrow has loaded the module, which takes half a second.
        loaded = sys.modules.get("pyarrow.dataset")
        return isinstance(data, FileDataset) or (
            loaded is not None and isinstance(data, loaded.Dataset)
        )

    @classmethod
    def load(cls, title: str, data: Any) -> Any:  # noqa: ARG003
        """Return all rows as one table."""
        return data.to_table()

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:
        """What the types of the columns say."""
        schema, delimited = self.dataset.schema, _is_delimited(self.dataset)
        return tuple(kind_of(schema.field(name).type, delimited=delimited) for name in self.names)

    def chunks(self, places: Sequence[int]) -> Iterator[Any]:
        """Give out record batches."""
        names = [self.names[place] for place in places]
        return batches(self.dataset, names, whole=self.is_whole, where=self.where)

    def survey(self, survey: Survey, progress: RowsDone | None = None) -> Summary:
        """Return what the sample holds; types that Arrow guessed too narrow are widened."""
        while True:
            try:
                return super().survey(survey, progress)
            except pa.ArrowInvalid as error:
                self.dataset = _widened(self.title, self.dataset, error)
            except arrow_errors(*FAILURES) as error:
                raise _unreadable(self.title, error) from None

    def open(self, reading: Reading) -> RowStore:
        """Return the rows as numbers, to be read again for every sum."""
        return FileRows(self, reading)


@dataclass(frozen=True, eq=False)
class FileRows(StreamedRows):
    """Rows of files, with errors that name them."""

    def fold(self, fold: Fold[A], step: int, progress: RowsDone | None = None) -> A:
        """Return the sum over all rows: see `tellapart.data.row_stores`."""
        try:
            return super().fold(fold, step, progress)
        except arrow_errors(*FAILURES) as error:
            raise _unreadable(self.source.title, error) from None


def batches(
    dataset: Any, names: Sequence[str], *, whole: bool, where: RowsWhere | None = None
) -> Iterator[Any]:
    """Give out batches that hold some columns, in their order.

    `whole` says that a dataset is all rows of its files and nothing but the columns in them; of
    those, the rows that `where` names are read.
    """
    rows = min(max(BATCH_BYTES // (8 * len(names)), FEWEST_ROWS), MOST_ROWS)
    ds = import_module("pyarrow.dataset")
    if whole and isinstance(dataset.format, ds.ParquetFileFormat):
        record_batches = _of_parquet(dataset, names, rows, where)
    else:
        record_batches = dataset.scanner(
            columns=list(names),
            batch_size=rows,
            batch_readahead=BATCHES_AHEAD,
            fragment_readahead=FILES_AHEAD,
            filter=None if where is None else ds.field(where.column).isin(where.values),
        ).to_batches()
    return (batch for batch in record_batches if batch.num_rows)


def _of_parquet(
    dataset: Any, names: Sequence[str], rows: int, where: RowsWhere | None
) -> Iterator[Any]:
    """Read Parquet files page by page; the scanner of a dataset holds whole groups of rows."""
    parquet = import_module("pyarrow.parquet")
    buffer = min(max(BUFFER_BYTES // len(names), LEAST_BUFFER), MOST_BUFFER)
    columns = dict.fromkeys(names if where is None else (*names, where.column))
    for path in dataset.files:
        try:
            with (
                dataset.filesystem.open_input_file(path) as stream,
                parquet.ParquetFile(stream, buffer_size=buffer, pre_buffer=False) as file,
            ):
                for batch in file.iter_batches(rows, columns=list(columns)):
                    if where is not None:
                        marked = pc.is_in(batch[where.column], value_set=where.values)
                        batch = batch.filter(marked)
                    yield batch.select(list(names))
        except arrow_errors(*FAILURES) as error:
            raise InputError(f"{safe(path)}: the file cannot be read: {one_line(error)}") from None


def one_line(error: BaseException) -> str:
    """Return what Arrow says, which may quote several lines of a file."""
    return " ".join(safe(error).split())


def _unreadable(title: str, error: BaseException) -> InputError:
    """Return the error for files that Arrow cannot read; it names the file where it can."""
    return InputError(f"{title}: the files cannot be read: {one_line(error)}")


def _widened(title: str, dataset: Any, error: pa.ArrowInvalid) -> Any:
    """Return delimited files with a wider type for the column that could not be converted.

    Arrow guesses a type from the first megabyte: numbers may turn out to be text later on.
    """
    in_message = _CSV_COLUMN.search(str(error))
    if in_message is None or not _is_delimited(dataset) or _has_partitions(dataset):
        raise _unreadable(title, error) from None
    column = dataset.schema.field(int(in_message[1]))
    wider = _wider(column.type)
    if wider is None:
        raise _unreadable(title, error) from None
    schema = dataset.schema.set(int(in_message[1]), pa.field(column.name, wider))
    # Arrow itself replaces a type only by one that it can be cast to.
    return import_module("pyarrow.dataset").dataset(
        dataset.files, schema=schema, format=dataset.format, filesystem=dataset.filesystem
    )


def _is_delimited(dataset: Any) -> bool:
    delimited = import_module("pyarrow.dataset").CsvFileFormat
    return isinstance(getattr(dataset, "format", None), delimited)


def _has_partitions(dataset: Any) -> bool:
    """Say whether names of folders stand for columns: such a dataset cannot be opened again."""
    return dataset.partitioning is not None and len(dataset.partitioning.schema) > 0


def _wider(kind: Any) -> Any:
    """Return the next type that Arrow itself would try for delimited text, or None."""
    if pa.types.is_null(kind) or pa.types.is_integer(kind):
        return pa.float64()
    if pa.types.is_floating(kind):
        return pa.bool_()
    return None if pa.types.is_string(kind) else pa.string()
