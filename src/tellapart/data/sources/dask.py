"""Rows of Dask arrays and DataFrames: sums by whatever scheduler the user has.

Each lane is a chain of tasks, one per block, and the lanes are merged by a chain of their own. A
task never changes what it was given: where a worker dies, others do its tasks again from the same
inputs, and the answer is the same.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from itertools import accumulate
from typing import Any, cast
from uuid import uuid4

import narwhals as nw
import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.columns import ColumnKind, Reading, kind_of, to_arrow
from tellapart.data.row_stores import A, Cut, Fold, RowsDone, RowStore, lanes_of
from tellapart.data.sources.source import Source, distinct
from tellapart.data.summary import Summary, Survey
from tellapart.errors import InputError
from tellapart.optional import need
from tellapart.text import package_of


class DaskSource(Source):
    """A sample in a Dask array or DataFrame, opened but not yet computed."""

    def __init__(self, title: str, data: Any) -> None:
        self.title = title
        self.names: tuple[str, ...] | None = None
        self._lengths: list[int] = []
        if hasattr(data, "columns"):
            self.names = distinct(title, data.columns)
            self.n_columns = len(self.names)
        else:
            data = _checked_array(title, data)
            self.n_columns = int(data.shape[1])
        self._data = data

    @classmethod
    def claims(cls, data: object) -> bool:
        """Say whether this is a Dask array or DataFrame."""
        is_dask = package_of(data) in ("dask", "dask_expr")
        return is_dask and type(data).__name__ in ("Array", "DataFrame")

    @classmethod
    def load(cls, title: str, data: Any) -> Any:
        """Return what the workers compute."""
        with explained_deaths(title):
            return data.compute()

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:
        """What the types of the columns say; empty for an array."""
        if self.names is None:
            return ()
        # Dask keeps a frame of no rows: of objects it says nothing.
        rows = self._data._meta
        kinds = []
        for place in range(self.n_columns):
            series = nw.from_native(rows.iloc[:, place], series_only=True)
            arrow = None if series.dtype == nw.Object else to_arrow(series)
            kinds.append(ColumnKind() if arrow is None else kind_of(arrow.type))
        return tuple(kinds)

    def survey(self, survey: Survey, progress: RowsDone | None = None) -> Summary:
        """Return what the sample holds; rows are counted first, since marks go by row number."""
        self._lengths = self._count()
        starts = [0, *accumulate(self._lengths)]
        return cast(Summary, _fold(survey, self._chunks(), starts, progress))

    def open(self, reading: Reading) -> RowStore:
        """Return the rows as numbers, in the chunks of the data."""
        assert sum(self._lengths) == reading.n_rows
        return DaskRows(self._chunks(), self._lengths, reading)

    def _chunks(self) -> list[Any]:
        if self.names is None:
            return list(self._data.to_delayed()[:, 0])
        return list(self._data.to_delayed())

    def _count(self) -> list[int]:
        """Return how many rows each chunk has."""
        if self.names is None:
            return [int(size) for size in self._data.chunks[0]]
        dask = _dask()
        one = self._data[[self._data.columns[0]]]
        counts = [dask.delayed(len)(chunk) for chunk in one.to_delayed()]
        return [int(count) for count in dask.compute(*counts)]


@dataclass(frozen=True, eq=False)
class DaskRows(RowStore):
    """Rows that tasks compute, chunk by chunk.

    Parameters
    ----------
    chunks : list of Delayed
        The chunks as they come.
    lengths : list of int
        Rows of each.
    reading : Reading
        How chunks are read.
    """

    chunks: list[Any]
    lengths: list[int]
    reading: Reading
    side_by_side: bool = True

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        return self.reading.shape

    def fold(self, fold: Fold[A], step: int, progress: RowsDone | None = None) -> A:
        """Return the sum over all rows: see `tellapart.data.row_stores`."""
        cut = Cut(self.shape[0], step)
        starts = [cut.rows(block).start for block in range(cut.n_blocks)]
        return cast(A, _fold(fold, self._blocks(step), [*starts, cut.n_rows], progress))

    def _blocks(self, step: int) -> list[Any]:
        """Return the blocks: chunks cut and joined by row number."""
        dask, da = _dask(), import_module("dask.array")
        reading, n_columns = _whole(self.reading), self.shape[1]
        parts = [
            da.from_delayed(dask.delayed(_numbers)(reading, chunk), (n, n_columns), np.float64)
            for chunk, n in zip(self.chunks, self.lengths, strict=True)
            if n
        ]
        # By tasks: the other way of Dask starts all over when a worker dies.
        whole = da.concatenate(parts).rechunk((step, -1), method="tasks")
        return list(whole.to_delayed()[:, 0])


def _fold(fold: Any, chunks: Sequence[Any], starts: Sequence[int], progress: Any) -> Any:
    """Return the sum over chunks, of which the first rows have the numbers `starts`."""
    dask = _dask()
    settings, name = _whole(fold), f"tellapart-{uuid4().hex}"
    add, merge = dask.delayed(_added, pure=False), dask.delayed(_merged, pure=False)
    done = {f"{name}-{k}": starts[k + 1] - starts[k] for k in range(len(chunks))}
    lanes: list[Any] = []
    for lane in lanes_of(len(chunks)):
        held = None
        for k in lane:
            held = add(settings, held, starts[k], chunks[k], dask_key_name=f"{name}-{k}")
        lanes.append(held)
    if not lanes:
        return fold.start()
    total = lanes[0]
    for held in lanes[1:]:
        total = merge(settings, total, held)
    client = None if progress is None else _client()
    with explained_deaths("X and Y"):
        if client is not None and progress is not None:
            return _computed_by(client, total, lanes, done, progress)
        with nullcontext() if progress is None else _reporting(done, progress):
            return total.compute()


@contextmanager
def explained_deaths(title: str) -> Iterator[None]:
    """Say in one line that no worker of Dask could compute a block; other errors go through."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            raise
        raise InputError(
            f"{title} must be Dask data that its workers can compute; those that tried a block "
            "died one after the other, often for want of memory; use smaller chunks or larger "
            "workers"
        ) from error


def _reporting(done: dict[str, int], progress: RowsDone) -> Any:
    """Return a context in which every finished task of a block is reported."""
    finished = 0

    def report(key: Any, *_: Any) -> None:
        nonlocal finished
        if key in done:
            finished += done[key]
            progress(finished)

    return import_module("dask.callbacks").Callback(posttask=report)


def _computed_by(
    client: Any, total: Any, lanes: Sequence[Any], done: dict[str, int], progress: RowsDone
) -> Any:
    """Return what a cluster computes, reporting every lane that is finished."""
    sizes = list(done.values())
    rows = [sum(sizes[k] for k in lane) for lane in lanes_of(len(sizes))]
    futures = client.compute([*lanes, total])
    size = dict(zip((future.key for future in futures), rows, strict=False))
    finished = 0
    for future in import_module("distributed").as_completed(futures[:-1]):
        finished += size[future.key]
        progress(finished)
    return futures[-1].result()


def _added(fold: Any, held: Any, first_row: int, values: Any) -> Any:
    # A task that is run again must find its input as it was.
    before = fold.start() if held is None else copy.deepcopy(held)
    block = np.asfortranarray(values) if isinstance(values, np.ndarray) else values
    return fold.add(before, first_row, block)


def _merged(fold: Any, left: Any, right: Any) -> Any:
    return fold.merge(copy.deepcopy(left), right)


def _numbers(reading: Reading, chunk: Any) -> FloatArray:
    return reading.matrix(reading.open(chunk))


def _whole(settings: object) -> Any:
    """Return settings as one input that all tasks share, not looked into by Dask."""
    return _dask().delayed(settings, pure=False, traverse=False)


def _checked_array(title: str, data: Any) -> Any:
    """Return a Dask array of numbers with two dimensions, known sizes and unbroken rows."""
    if data.ndim != 2:
        raise InputError(
            f"{title} must be 2-dimensional (rows × columns); got a Dask array of "
            f"{data.ndim} dimensions"
        )
    if data.dtype.kind not in "biuf":
        raise InputError(f"{title} must hold numbers; got a Dask array of dtype {data.dtype}")
    if any(math.isnan(size) for size in data.shape):
        data = data.compute_chunk_sizes()
    return data.rechunk({1: -1}, method="tasks")


def _client() -> Any:
    """Return the cluster that is in use, if there is one."""
    try:
        return import_module("distributed").default_client()
    except (ImportError, ValueError):
        return None


def _dask() -> Any:
    return need("Dask data", "dask", "distributed")
