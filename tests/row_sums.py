"""Folds whose answer shows every order of addition, and data in every form of chunks."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, feather, parquet


@dataclass(frozen=True)
class Sums:
    """Sums of columns, of products, and of products with the row number: rounded all along."""

    n_columns: int

    def start(self):
        return np.zeros((self.n_columns, self.n_columns + 2))

    def add(self, held, first_row, values):
        assert values.flags.f_contiguous
        assert values.dtype == np.float64
        rows = np.arange(first_row, first_row + values.shape[0])
        held[:, 0] += values.sum(axis=0)
        held[:, 1] += rows @ values
        for s in range(self.n_columns):
            held[:, 2 + s] += [np.sum(values[:, s] * values[:, t]) for t in range(self.n_columns)]
        return held

    def merge(self, left, right):
        left += right
        return left


@dataclass(frozen=True)
class DyingSums(Sums):
    """Sums whose first look at a certain row ends the process that takes it."""

    row: int
    marker: str

    def add(self, held, first_row, values):
        if first_row <= self.row < first_row + values.shape[0] and not Path(self.marker).exists():
            Path(self.marker).touch()
            os._exit(1)
        return super().add(held, first_row, values)


def numbers(n_rows, seed=0, n_columns=4):
    """Give values of many magnitudes, so that sums in another order have other last bits."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_columns)) * 10.0 ** rng.uniform(-3, 3, (n_rows, 1))


def table(values):
    return pa.table({f"x{s}": column for s, column in enumerate(values.T)})


def write_parts(folder, values, cuts, form):
    """Write rows into several files, cut where they should not be; give their paths in order."""
    folder.mkdir()
    write = {
        "parquet": lambda t, p: parquet.write_table(t, p, row_group_size=37),
        "feather": lambda t, p: feather.write_feather(t, p, chunksize=41),
        "csv": csv.write_csv,
    }[form]
    paths = []
    for start, stop in zip((0, *cuts), (*cuts, len(values)), strict=True):
        paths.append(folder / f"part{len(paths):03d}.{form}")
        write(table(values[start:stop]), paths[-1])
    return paths
