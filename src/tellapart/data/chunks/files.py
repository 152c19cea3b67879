"""Rows of files, streamed once per sum: Parquet, Feather and delimited text by pyarrow.dataset."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import dataset as ds

from tellapart.arrays import FloatArray
from tellapart.data.chunks.ahead import ahead
from tellapart.data.chunks.batches import FAILURES, RowsWhere, batches, one_line
from tellapart.data.chunks.chunk import ColumnKind, Labels, Reading, kind_of
from tellapart.data.chunks.fold import A, Cut, Fold, RowsDone, RowStore, fold_stream
from tellapart.data.chunks.source import ChunkSource
from tellapart.data.chunks.summary import Summary, Survey
from tellapart.data.sources import distinct
from tellapart.errors import InputError
from tellapart.interrupts import check_interrupts

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
