"""Record batches of files, in the order of their rows, with as little read ahead as will do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow import compute, parquet
from pyarrow import dataset as ds

from tellapart.errors import InputError
from tellapart.text import safe

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
