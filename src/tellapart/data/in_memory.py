"""Data in chunks as one table or array in memory, for calls that need all of it there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tellapart.data.chunks.recognize import is_arrow_dataset, is_dask, is_file_dataset
from tellapart.errors import InputError


def in_memory(title: str, data: Any) -> Any:
    """Return Dask data and datasets of files as what they hold; all else as it is.

    Parameters
    ----------
    title : str
        What messages call the data.
    data : object
        Anything that may hold a sample.

    Examples
    --------
    >>> import pyarrow as pa, pyarrow.dataset as ds
    >>> in_memory("X", ds.dataset(pa.table({"age": [31, 47]}))).to_pydict()
    {'age': [31, 47]}
    """
    if is_dask(data):
        with dead_workers_told(title):
            return data.compute()
    if is_file_dataset(data) or is_arrow_dataset(data) or _is_scanner(data):
        return data.to_table()
    return data


@contextmanager
def dead_workers_told(title: str) -> Iterator[None]:
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


def _is_scanner(data: object) -> bool:
    kind = type(data)
    return kind.__module__.partition(".")[0] == "pyarrow" and kind.__name__ == "Scanner"
