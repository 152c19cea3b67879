"""The same two samples, given in another way."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tellapart as ta

Pair = tuple[pd.DataFrame, pd.DataFrame]
Change = Callable[[pd.DataFrame, pd.DataFrame, np.random.Generator], Pair]
Form = Callable[[pd.DataFrame], Any]


def draw_pair(seed: int, most_rows: int = 60) -> Pair:
    """Return two samples of 20 rows or more over four to seven columns, and one of five kinds.

    Of no difference, a shift, a spread, another shape or a dependence. One column holds few values,
    and all values are exact in single precision, so that every form of the table holds the same.
    """
    rng = np.random.default_rng([17, seed])
    n_columns = int(rng.integers(4, 8))
    n_x, n_y = (int(n) for n in rng.integers(20, most_rows + 1, 2))
    x, y = rng.normal(size=(n_x, n_columns)), rng.normal(size=(n_y, n_columns))
    kind = seed % 5
    if kind == 1:
        y[:, 0] += 1.0
    if kind == 2:
        y[:, 1] *= 2.0
    if kind == 3:
        y[:, 2] = np.sign(y[:, 2]) + 0.3 * y[:, 2]
    if kind == 4:
        y[:, 2] = 0.8 * y[:, 0] + 0.6 * y[:, 2]
    names = [f"x{s}" for s in range(n_columns)]
    frames = []
    for values in (x, y):
        values[:, -1] = np.round(values[:, -1])
        exact = values.astype(np.float32).astype(np.float64)
        frames.append(pd.DataFrame(exact, columns=names))
    return frames[0], frames[1]


def other_rows(X: pd.DataFrame, Y: pd.DataFrame, rng: np.random.Generator) -> Pair:
    """Return each sample with its rows in another order."""
    return X.iloc[rng.permutation(len(X))], Y.iloc[rng.permutation(len(Y))]


def other_columns(X: pd.DataFrame, Y: pd.DataFrame, rng: np.random.Generator) -> Pair:
    """Return both samples with their columns in another order, names and all."""
    order = rng.permutation(X.shape[1])
    return X.iloc[:, order], Y.iloc[:, order]


def swapped(X: pd.DataFrame, Y: pd.DataFrame, rng: np.random.Generator) -> Pair:  # noqa: ARG001
    """Return the second sample first."""
    return Y, X


def powers_of_two(X: pd.DataFrame, Y: pd.DataFrame, rng: np.random.Generator) -> Pair:
    """Return each column multiplied by a power of two: no digit is lost."""
    factors = 2.0 ** rng.integers(-8, 9, X.shape[1])
    return X * factors, Y * factors


def factors(X: pd.DataFrame, Y: pd.DataFrame, rng: np.random.Generator) -> Pair:
    """Return each column multiplied by a positive number."""
    by = np.exp(rng.normal(scale=2.0, size=X.shape[1]))
    return X * by, Y * by


def shifts(X: pd.DataFrame, Y: pd.DataFrame, rng: np.random.Generator) -> Pair:
    """Return each column with a number added."""
    by = rng.normal(scale=10.0, size=X.shape[1])
    return X + by, Y + by


CHANGES: dict[str, Change] = {
    "rows": other_rows,
    "columns": other_columns,
    "swapped": swapped,
    "powers of two": powers_of_two,
    "factors": factors,
    "shifts": shifts,
}


def as_sparse(frame: pd.DataFrame) -> Any:
    """Return a sparse matrix."""
    from scipy import sparse

    return sparse.csr_array(frame.to_numpy())


def as_polars(frame: pd.DataFrame) -> Any:
    """Return a polars table."""
    import polars as pl

    return pl.DataFrame({name: frame[name].to_numpy() for name in frame})


def as_arrow(frame: pd.DataFrame) -> Any:
    """Return an Arrow table."""
    import pyarrow as pa

    return pa.table({name: frame[name].to_numpy() for name in frame})


FORMS: dict[str, Form] = {
    "NumPy": lambda frame: frame.to_numpy(),
    "float32": lambda frame: frame.to_numpy(dtype=np.float32),
    "Fortran": lambda frame: np.asfortranarray(frame.to_numpy()),
    "polars": as_polars,
    "Arrow": as_arrow,
    "sparse": as_sparse,
}
"""What a table may be, beside pandas."""


def _in_files(ending: str, n_files: int) -> Form:
    def opened(frame: pd.DataFrame) -> Any:
        folder = Path(tempfile.mkdtemp(dir=os.environ.get("TMPDIR")))
        cuts = np.linspace(0, len(frame), n_files + 1).astype(int)
        for k in range(n_files):
            part, path = frame.iloc[cuts[k] : cuts[k + 1]], folder / f"{k}.{ending}"
            if ending == "csv":
                part.to_csv(path, index=False)
            else:
                part.to_parquet(path, index=False, row_group_size=7)
        return ta.open_dataset(str(folder / f"*.{ending}"))

    return opened


def _by_dask(n_parts: int) -> Form:
    def parted(frame: pd.DataFrame) -> Any:
        import dask.dataframe as dd

        return dd.from_pandas(frame.reset_index(drop=True), npartitions=n_parts)

    return parted


CHUNKS: dict[str, Form] = {
    "one CSV": _in_files("csv", 1),
    "three Parquets": _in_files("parquet", 3),
    "Dask, two parts": _by_dask(2),
    "Dask, five parts": _by_dask(5),
}
"""The same rows, read chunk by chunk."""
