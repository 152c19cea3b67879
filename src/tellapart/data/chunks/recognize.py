"""What counts as a sample in chunks, told without loading what could read it."""

from __future__ import annotations

import sys


def is_chunked(data: object) -> bool:
    """Say whether this is a sample in chunks: a dataset of files, or a Dask array or DataFrame.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa, pyarrow.dataset as ds
    >>> is_chunked(np.eye(3)), is_chunked(ds.dataset(pa.table({"a": [1, 2]})))
    (False, True)
    """
    return is_file_dataset(data) or is_arrow_dataset(data) or is_dask(data)


def is_file_dataset(data: object) -> bool:
    """Say whether `tellapart.open_dataset` made this."""
    return _is_a(data, "tellapart.data.chunks.open_dataset", "FileDataset")


def is_arrow_dataset(data: object) -> bool:
    """Say whether this is a dataset of pyarrow."""
    return _is_a(data, "pyarrow.dataset", "Dataset")


def is_dask(data: object) -> bool:
    """Say whether this is a Dask array or DataFrame."""
    kind = type(data)
    package = kind.__module__.partition(".")[0]
    return package in ("dask", "dask_expr") and kind.__name__ in ("Array", "DataFrame")


def _is_a(data: object, module: str, name: str) -> bool:
    # Whoever has such an object has loaded its module.
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(data, getattr(loaded, name))
