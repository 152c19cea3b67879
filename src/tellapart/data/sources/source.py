"""The contract of an input: one sample as it came, opened but not yet read.

A kind of input is one class and its line in the registry of `tellapart.data.sources`. An input
that can be held in memory says what it claims and turns it into a table, a matrix or an array; one
that comes in chunks names its columns and gives its chunks out, as often as it is asked to; one
whose rows are summed elsewhere says how (`survey`, `open`), on `Source` itself:

    class Records(HeldSource):                      class Query(ChunkedSource):
        @classmethod                                    def __init__(self, title, query):
        def claims(cls, data):                              self.title, self.query = title, query
            return isinstance(data, RecordList)             self.names = query.columns
        @classmethod                                        self.n_columns = len(query.columns)
        def load(cls, title, data):                     @classmethod
            return pa.Table.from_pylist(data.rows)      def claims(cls, data):
                                                            return isinstance(data, SqlQuery)
                                                        def chunks(self, places):
                                                            for rows in self.query.batches():
                                                                yield np.array(rows)[:, places]
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray
from tellapart.data.column_store import ColumnStore, Values
from tellapart.data.columns import (
    Column,
    ColumnKind,
    Reading,
    Series,
    number_column,
    read_column,
    read_part,
    to_times,
)
from tellapart.data.missing import FEWEST_ROWS
from tellapart.data.row_stores import A, ArrayRows, Cut, Fold, RowsDone, RowStore, fold_stream
from tellapart.data.summary import Summary, Survey
from tellapart.data.times import is_null, parts_of, type_of
from tellapart.errors import InputError
from tellapart.interrupts import check_interrupts
from tellapart.optional import is_arrow, pa
from tellapart.text import quoted

EXPECTED = (
    "a 2-dimensional array, a SciPy sparse matrix, a pandas, polars or pyarrow table, or AnnData"
)
# narwhals has no dtype for moments of pandas in zones such as America/New_York.
_TIMES = (nw.Date, nw.Datetime, nw.Time, nw.Duration, nw.Object, nw.Unknown)


class Source(ABC):
    """One sample: what it is called, its columns, and how to go through its rows.

    Attributes
    ----------
    title : str
        What messages call it.
    names : tuple of str, or None
        Names of the columns, if they have any.
    n_columns : int
        Number of columns.
    row_labels : tuple of str
        Columns of a file that are not compared: saved row labels.
    unchosen : tuple of str
        Columns of a file that the user excluded.
    waits : bool
        Whether going through it leaves a core idle now and then.
    in_memory : bool
        Whether all rows are held in memory.
    """

    title: str
    names: tuple[str, ...] | None
    n_columns: int
    row_labels: tuple[str, ...] = ()
    unchosen: tuple[str, ...] = ()
    waits: bool = False
    in_memory: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def claims(cls, data: object) -> bool:
        """Say whether this kind of input reads an object; nothing may be loaded to find out."""

    @classmethod
    def opened(cls, title: str, data: Any) -> Source:
        """Open an object that was claimed."""
        return cls(title, data)  # type: ignore[call-arg]

    @classmethod
    @abstractmethod
    def load(cls, title: str, data: Any) -> Any:
        """Return what an object holds as a table, a matrix or an array in memory."""

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:
        """What the types of the columns say; empty where there are none, as in a matrix."""
        return ()

    def is_empty(self, place: int) -> bool:
        """Say whether a column of a table has no value at all, as far as its type says so."""
        return self.kinds[place].empty

    @abstractmethod
    def survey(self, survey: Survey, progress: RowsDone | None = None) -> Summary:
        """Return what the sample holds, after one pass over it."""

    @abstractmethod
    def open(self, reading: Reading) -> RowStore:
        """Return the rows as numbers, to be summed over: once it is known what they hold."""


class ChunkedSource(Source):
    """A sample that comes in chunks of consecutive rows, one after the other."""

    @abstractmethod
    def chunks(self, places: Sequence[int]) -> Iterator[Any]:
        """Give out consecutive rows of the columns at some places.

        A chunk is an array, an Arrow record batch, or a pandas frame.
        """

    @classmethod
    def load(cls, title: str, data: Any) -> Any:
        """Return what an object holds as a table, a matrix or an array in memory."""
        source = cls.opened(title, data)
        assert isinstance(source, ChunkedSource)
        chunks = list(source.chunks(range(source.n_columns)))
        if isinstance(chunks[0], np.ndarray):
            return np.concatenate(chunks)
        if is_arrow(chunks[0], "RecordBatch"):
            return pa.Table.from_batches(chunks).rename_columns(list(source.names or ()))
        return pa.concat_tables([pa.Table.from_pandas(c, preserve_index=False) for c in chunks])

    def survey(self, survey: Survey, progress: RowsDone | None = None) -> Summary:
        """Return what the sample holds, after one pass over it."""
        places, reading = survey.reading.projected()
        survey = replace(survey, reading=reading)
        held = survey.start()
        with closing(ahead(self.chunks(places))) as waiting:
            for chunk in waiting:
                check_interrupts()
                held = survey.add(held, held.n_rows, chunk)
                if progress is not None:
                    progress(held.n_rows)
        return held

    def open(self, reading: Reading) -> RowStore:
        """Return the rows as numbers, to be summed over: once it is known what they hold."""
        return StreamedRows(self, reading)


@dataclass(frozen=True, eq=False)
class StreamedRows(RowStore):
    """Rows in chunks, read again for every sum: never more than a few blocks of them are held."""

    source: ChunkedSource
    reading: Reading

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        return self.reading.shape

    def fold(self, fold: Fold[A], step: int, progress: RowsDone | None = None) -> A:
        """Return the sum over all rows: see `tellapart.data.row_stores`."""
        cut = Cut(self.shape[0], step)
        with closing(ahead(self._blocks(cut))) as blocks:
            return fold_stream(fold, blocks, cut, progress)

    def _blocks(self, cut: Cut) -> Iterator[FloatArray]:
        """Give out the blocks: chunks as they come, cut and joined by row number."""
        places, reading = self.reading.projected()
        block, filled, done = self._empty(cut, 0), 0, 0
        for chunk in self.source.chunks(places):
            columns = reading.numbers(reading.open(chunk))
            taken, n_rows = 0, columns[0].size
            if done + n_rows > cut.n_rows:
                raise self._changed()
            while taken < n_rows:
                count = min(n_rows - taken, block.shape[0] - filled)
                for s, column in enumerate(columns):
                    block[filled : filled + count, s] = column[taken : taken + count]
                taken, filled, done = taken + count, filled + count, done + count
                if filled == block.shape[0]:
                    yield block
                    block, filled = self._empty(cut, done), 0
        if done < cut.n_rows:
            raise self._changed()

    def _empty(self, cut: Cut, first_row: int) -> FloatArray:
        return np.empty((min(cut.step, cut.n_rows - first_row), self.shape[1]), order="F")

    def _changed(self) -> InputError:
        return InputError(
            f"{self.source.title}: the rows were changed while they were read: there were "
            f"{self.shape[0]} rows"
        )


T = TypeVar("T")


def ahead(items: Iterable[T]) -> Generator[T]:
    """Give out items in order, the next read by a thread; an error comes out in its turn.

    Examples
    --------
    >>> list(ahead(iter(range(4))))
    [0, 1, 2, 3]
    """
    iterator, end = iter(items), object()
    with ThreadPoolExecutor(1, thread_name_prefix="tellapart-ahead") as thread:
        waiting = thread.submit(next, iterator, end)
        while (item := waiting.result()) is not end:
            waiting = thread.submit(next, iterator, end)
            yield item  # type: ignore[misc]


@dataclass(frozen=True, eq=False)
class HeldSource(Source):
    """A sample in memory.

    Attributes
    ----------
    shape : pair of int
        Rows and columns.
    data : float or bool array, column store, or tuple of columns
        A matrix if all columns are numbers or all are booleans, else the columns one by one.
    boolean : bool
        Whether a sparse matrix held truth values.
    dtypes : tuple of narwhals dtypes
        Those of a table's columns; empty for a matrix.
    """

    title: str
    names: tuple[str, ...] | None
    shape: tuple[int, int]
    data: NDArray[Any] | ColumnStore | tuple[Series, ...]
    boolean: bool = False
    dtypes: tuple[Any, ...] = ()
    row_labels: tuple[str, ...] = ()
    _parts: dict[tuple[int, str], Column] = field(default_factory=dict, repr=False)

    in_memory: ClassVar[bool] = True

    @classmethod
    def opened(cls, title: str, data: Any) -> Source:
        """Open an object that was claimed; one that `load` converts never comes here."""
        raise TypeError(f"{cls.__name__} must convert {data!r} for {title}, or open it")

    @classmethod
    def load(cls, title: str, data: Any) -> Any:  # noqa: ARG003
        """Return what an object holds as a table, a matrix or an array in memory."""
        return data

    @property
    def n_columns(self) -> int:  # type: ignore[override]
        """Number of columns, D."""
        return self.shape[1]

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns: x0, x1, … where they have none."""
        return self.names or tuple(f"x{s}" for s in range(self.n_columns))

    @property
    def numbers(self) -> Values | None:
        """The whole sample as it is, if every column is numeric and in one matrix."""
        if isinstance(self.data, ColumnStore):
            return None if self.boolean else self.data
        if isinstance(self.data, tuple) or self.data.dtype != np.float64:
            return None
        return self.data

    @cached_property
    def kinds(self) -> tuple[ColumnKind, ...]:
        """What the types of the columns say; empty for a matrix."""
        kind_of_dtype: dict[Any, ColumnKind] = {}
        kinds = []
        for place, dtype in enumerate(self.dtypes):
            if isinstance(dtype, _TIMES):
                times = self.times(place)
                parts = () if times is None else parts_of(type_of(times))
                kinds.append(ColumnKind(parts, dtype=str(dtype)))
            else:
                if dtype not in kind_of_dtype:
                    kind_of_dtype[dtype] = ColumnKind(whole=dtype.is_integer(), dtype=str(dtype))
                kinds.append(kind_of_dtype[dtype])
        return tuple(kinds)

    def is_empty(self, place: int) -> bool:
        """Say whether a column of a table has no value at all."""
        values = self.times(place)
        return values is not None and is_null(values)

    def times(self, place: int) -> Any:
        """Return a column as parts of dates are read from it; see `to_times`."""
        return to_times(self.data[place]) if isinstance(self.data, tuple) else self.data[:, place]

    def column(self, place: int, name: str, part: str | None = None) -> Column:
        """Return one column under the name that both samples use, or a part of its dates."""
        if part is not None:
            # Read twice, to see what varies and to compare it: held in between.
            held = self._parts.pop((place, part), None)
            return held or read_part(self.title, name, self.times(place), part)
        if isinstance(self.data, tuple):
            return read_column(self.title, name, self.data[place])
        return number_column(self.title, name, self.data[:, place], boolean=self.boolean)

    def hold_part(self, place: int, name: str, part: str) -> Column:
        """Return a part of dates or times, and keep it until it is asked for again."""
        column = self._parts[place, part] = self.column(place, name, part)
        return column

    def numbers_of(self, place: int) -> FloatArray:
        """Return the numbers of one column that are not missing."""
        values = self.column(place, "").values
        return np.asarray(values[~np.isnan(values)])

    def extremes(self, places: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest number of some columns."""
        if isinstance(self.data, np.ndarray):
            chosen = self.data[:, list(places)]
            return chosen.min(axis=0), chosen.max(axis=0)
        every = [self.numbers_of(place) for place in places]
        low = [values.min(initial=np.inf) for values in every]
        return np.array(low), np.array([values.max(initial=-np.inf) for values in every])

    def columns(self, reading: Reading) -> list[Column]:
        """Return the columns that are read."""
        columns_read = zip(reading.places, reading.names, reading.parts, strict=True)
        return [reading.resolved(self.column(*one)) for one in columns_read]

    def survey(self, survey: Survey, progress: RowsDone | None = None) -> Summary:
        """Return what the sample holds."""
        summary = survey.add_columns(survey.start(), 0, self.columns(survey.reading))
        if progress is not None:
            progress(summary.n_rows)
        return summary

    def open(self, reading: Reading) -> RowStore:
        """Return the rows as one array."""
        return ArrayRows(reading.matrix(self.columns(reading)))


def check_shape(title: str, n_rows: int, n_columns: int) -> None:
    """Raise if there are too few rows or columns."""
    check_columns(title, n_columns)
    if n_rows < FEWEST_ROWS:
        raise InputError(f"{title} must have at least {FEWEST_ROWS} rows; got {n_rows}")


def check_columns(title: str, n_columns: int) -> None:
    """Raise if there are no columns."""
    if n_columns == 0:
        raise InputError(f"{title} must have at least one column; got none")


def distinct(title: str, names: Iterable[object]) -> tuple[str, ...]:
    """Return names as texts if no two are the same."""
    every = tuple(map(str, names))
    if len(set(every)) < len(every):  # such as 1 and "1"
        repeated = [name for name, count in Counter(every).items() if count > 1]
        raise InputError(
            f"{title} must have distinct column names; got more than one {quoted(repeated)}"
        )
    return every
