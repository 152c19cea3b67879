"""Rows of files, streamed once per sum: Parquet, Feather and delimited text by pyarrow.dataset."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from pyarrow import compute, parquet
from pyarrow import dataset as ds

from tellapart.arrays import FloatArray
from tellapart.data.chunks.chunk import ColumnKind, Labels, Reading, kind_of
from tellapart.data.chunks.fold import A, Cut, Fold, RowsDone, RowStore, fold_stream
from tellapart.data.chunks.summary import ChunkSource, Summary, Survey
from tellapart.data.sources import distinct
from tellapart.errors import InputError
from tellapart.interrupts import check_interrupts
from tellapart.text import safe

# Record batches of files, in the order of their rows, with as little read ahead as will do.


# What Arrow decodes at a time, in bytes of float64 and in rows, and how far it may read ahead.
BATCH_BYTES = 1 << 23
FEWEST_ROWS, MOST_ROWS = 1 << 10, 1 << 17
BATCHES_AHEAD, FILES_AHEAD = 4, 1
# What is read of a Parquet file at a time: for all columns together, and for one.
BUFFER_BYTES = 1 << 24
LEAST_BUFFER, MOST_BUFFER = 1 << 14, 1 << 18

FAILURES = (pa.ArrowException, OSError, UnicodeDecodeError)
"""What Arrow raises where a file cannot be read."""


class RowsWhere(NamedTuple):
    """The rows with some values of a column."""

    column: str
    values: pa.Array


def batches(
    dataset: Any, names: Sequence[str], *, whole: bool, where: RowsWhere | None = None
) -> Iterator[Any]:
    """Give out batches that hold some columns, in their order.

    `whole` says that a dataset is all rows of its files and nothing but the columns in them; of
    those, the rows that `where` names are read.
    """
    rows = min(max(BATCH_BYTES // (8 * len(names)), FEWEST_ROWS), MOST_ROWS)
    if whole and isinstance(dataset.format, ds.ParquetFileFormat):
        found = _of_parquet(dataset, names, rows, where)
    else:
        found = dataset.scanner(
            columns=list(names),
            batch_size=rows,
            batch_readahead=BATCHES_AHEAD,
            fragment_readahead=FILES_AHEAD,
            filter=None if where is None else ds.field(where.column).isin(where.values),
        ).to_batches()
    return (batch for batch in found if batch.num_rows)


def _of_parquet(
    dataset: Any, names: Sequence[str], rows: int, where: RowsWhere | None
) -> Iterator[Any]:
    """Read Parquet files page by page; the scanner of a dataset holds whole groups of rows."""
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
                        marked = compute.is_in(batch[where.column], value_set=where.values)
                        batch = batch.filter(marked)
                    yield batch.select(list(names))
        except FAILURES as error:
            raise InputError(f"{safe(path)}: the file cannot be read: {one_line(error)}") from None


def one_line(error: BaseException) -> str:
    """Return what Arrow says, which may quote several lines of a file."""
    return " ".join(safe(error).split())


# One step ahead: a thread that reads the next item while the present one is worked on.


T = TypeVar("T")

# How long the thread waits before it looks whether anyone still wants what it has read.
_LOOK_SECONDS = 0.1


def ahead(items: Iterable[T], depth: int = 1) -> Generator[T]:
    """Give out the items in order, `depth` of them waiting; an error comes out in its turn.

    Examples
    --------
    >>> list(ahead(iter(range(4))))
    [0, 1, 2, 3]
    """
    waiting: Queue[tuple[T | None, BaseException | None]] = Queue(depth)
    closed = Event()

    def put(item: T | None, error: BaseException | None = None) -> None:
        while not closed.is_set():
            try:
                return waiting.put((item, error), timeout=_LOOK_SECONDS)
            except Full:
                continue
        return None

    def read() -> None:
        try:
            for item in items:
                put(item)
                if closed.is_set():
                    return
        except BaseException as error:  # whatever it is, the caller is told
            put(None, error)
        else:
            put(None, StopIteration())

    reader = Thread(target=read, name="tellapart-ahead", daemon=True)
    reader.start()
    try:
        while True:
            item, error = waiting.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            yield item  # type: ignore[misc]
    finally:
        closed.set()
        while not waiting.empty():
            try:
                waiting.get_nowait()
            except Empty:
                break
        reader.join()


_CSV_COLUMN = re.compile(r"CSV column #(\d+)")


class FileSource(ChunkSource):
    """A sample in files, or any other dataset of pyarrow.

    Parameters
    ----------
    title : str
        What messages call the sample.
    dataset : pyarrow.dataset.Dataset
        Where the rows are.
    names : tuple of str or None
        The columns to read; None for all of them.
    whole : bool
        Whether the dataset is all rows of its files and nothing but the columns in them.
    where : RowsWhere or None
        The rows to read; None for all of them.
    """

    waits = True

    def __init__(
        self,
        title: str,
        dataset: Any,
        names: tuple[str, ...] | None = None,
        *,
        whole: bool = False,
        where: RowsWhere | None = None,
    ) -> None:
        self.title = title
        self.dataset = dataset
        self.whole = whole
        self.where = where
        self.names: tuple[str, ...] = (
            distinct(title, tuple(dataset.schema.names)) if names is None else names
        )
        self.n_columns = len(self.names)

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:
        """What the types of the columns say."""
        schema = self.dataset.schema
        delimited = isinstance(getattr(self.dataset, "format", None), ds.CsvFileFormat)
        return tuple(kind_of(schema.field(name).type, delimited=delimited) for name in self.names)

    def survey(self, survey: Survey, progress: RowsDone | None = None) -> Summary:
        """Return what the sample holds; types that Arrow guessed too narrow are widened."""
        while True:
            try:
                return self._survey(survey, progress)
            except pa.ArrowInvalid as error:
                self.dataset = _widened(self.title, self.dataset, error)
            except FAILURES as error:
                raise _unreadable(self.title, error) from None

    def _survey(self, survey: Survey, progress: RowsDone | None) -> Summary:
        columns, reading = self._projected(survey.reading)
        survey = replace(survey, reading=reading)
        held = survey.start()
        found = batches(self.dataset, columns, whole=self.whole, where=self.where)
        with closing(ahead(found)) as waiting:
            for batch in waiting:
                check_interrupts()
                held = survey.add(held, held.n_rows, batch)
                if progress is not None:
                    progress(held.n_rows)
        return held

    def store(self, reading: Reading, labels: Labels, n_rows: int) -> RowStore:
        """Return the rows as numbers, to be read again for every sum."""
        columns, own = self._projected(reading)
        return FileRows(self.dataset, columns, own, labels, n_rows, self.whole, self.where)

    def _projected(self, reading: Reading) -> tuple[tuple[str, ...], Reading]:
        """Return the columns to read of files, and how to read batches that hold only them."""
        places = list(dict.fromkeys(reading.places))
        columns = tuple(self.names[place] for place in places)
        at = {place: k for k, place in enumerate(places)}
        return columns, replace(reading, places=tuple(at[place] for place in reading.places))


@dataclass(frozen=True, eq=False)
class FileRows(RowStore):
    """Rows of files: read again for every sum, and never more than a few blocks of them held."""

    dataset: Any
    columns: tuple[str, ...]
    reading: Reading
    labels: Labels
    n_rows: int
    whole: bool
    where: RowsWhere | None = None

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        return self.n_rows, len(self.labels)

    def fold(self, fold: Fold[A], step: int, progress: RowsDone | None = None) -> A:
        """Return the sum over all rows: see `tellapart.data.chunks.fold`."""
        cut = Cut(self.n_rows, step)
        try:
            with closing(ahead(self._blocks(cut))) as blocks:
                return fold_stream(fold, blocks, cut, progress)
        except FAILURES as error:
            raise _unreadable(self.reading.title, error) from None

    def _blocks(self, cut: Cut) -> Iterator[FloatArray]:
        """Give out the blocks: batches as they come, cut and joined by row number."""
        block, filled, done = self._empty(cut, 0), 0, 0
        for batch in batches(self.dataset, self.columns, whole=self.whole, where=self.where):
            columns = self.reading.open(batch).numbers(self.labels)
            taken, n_rows = 0, columns[0].size
            if done + n_rows > self.n_rows:
                raise _changed(self.reading.title, self.n_rows)
            while taken < n_rows:
                count = min(n_rows - taken, block.shape[0] - filled)
                for s, column in enumerate(columns):
                    block[filled : filled + count, s] = column[taken : taken + count]
                taken, filled, done = taken + count, filled + count, done + count
                if filled == block.shape[0]:
                    yield block
                    block, filled = self._empty(cut, done), 0
        if done < self.n_rows:
            raise _changed(self.reading.title, self.n_rows)

    def _empty(self, cut: Cut, first_row: int) -> FloatArray:
        return np.empty((min(cut.step, self.n_rows - first_row), self.shape[1]), order="F")


def _unreadable(title: str, error: BaseException) -> InputError:
    """Return the error for files that Arrow cannot read; it names the file where it can."""
    return InputError(f"{title}: the files cannot be read: {one_line(error)}")


def _changed(title: str, n_rows: int) -> InputError:
    return InputError(
        f"{title}: the files were changed while they were read: there were {n_rows} rows"
    )


def _widened(title: str, dataset: Any, error: pa.ArrowInvalid) -> Any:
    """Return delimited files with a wider type for the column that could not be converted.

    Arrow guesses a type from the first megabyte: numbers may turn out to be text later on.
    """
    found = _CSV_COLUMN.search(str(error))
    is_text = isinstance(getattr(dataset, "format", None), ds.CsvFileFormat)
    if found is None or not is_text or _has_partitions(dataset):
        raise _unreadable(title, error) from None
    column = dataset.schema.field(int(found[1]))
    wider = _wider(column.type)
    if wider is None:
        raise _unreadable(title, error) from None
    schema = dataset.schema.set(int(found[1]), pa.field(column.name, wider))
    # Arrow itself replaces a type only by one that it can be cast to.
    return ds.dataset(
        dataset.files, schema=schema, format=dataset.format, filesystem=dataset.filesystem
    )


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
