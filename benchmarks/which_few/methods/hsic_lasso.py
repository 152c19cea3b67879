"""HSIC Lasso: columns whose kernels add up to that of the label (pyHSICLasso)."""

from __future__ import annotations

import contextlib
import io

import numpy as np

from which_few.methods.base import method
from which_few.table import Encoded, IntArray, Table, encode

NEEDS = ("pyHSICLasso",)


def _path(data: Encoded, d: int, block: int) -> IntArray:
    from pyHSICLasso import HSICLasso

    model = HSICLasso()
    # Levels of one column may enter one after the other: ask for more until there are d columns.
    extra = len(data.owner) - len(np.unique(data.owner))
    with contextlib.redirect_stdout(io.StringIO()):
        model.input(data.values, data.labels)
        model.classification(min(d + extra, len(data.owner) - 1), B=block, n_jobs=1)
    # Ordered by size, not by entry: as the library itself reports them.
    return data.first(np.asarray(model.get_index(), dtype=np.int64), d)


@method("hsic-lasso", "pyHSICLasso.HSICLasso().classification(d): blocks of 20 rows", NEEDS)
def blocks(X: Table, Y: Table, d: int, seed: int) -> IntArray:  # noqa: ARG001
    """Select by the default call, which has a seed of its own."""
    return _path(encode(X, Y), d, 20)


@method("hsic-lasso-full", "pyHSICLasso.HSICLasso().classification(d, B=0): all rows", NEEDS)
def full(X: Table, Y: Table, d: int, seed: int) -> IntArray:  # noqa: ARG001
    """Select without blocks: slower, and nothing is left to chance."""
    return _path(encode(X, Y), d, 0)
