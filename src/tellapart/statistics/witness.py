"""The witness function: which sample is the denser at a point, as the kernel sees it."""

from __future__ import annotations

from typing import Any, cast

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse

from tellapart.arrays import FloatArray, IntArray
from tellapart.budget import current_budget
from tellapart.data.columns import Column, part_column, read_column, to_times
from tellapart.data.samples import Samples
from tellapart.data.sources import open_held
from tellapart.data.sources.anndata import is_anndata
from tellapart.data.sources.array import NamedMatrix
from tellapart.data.sources.source import HeldSource
from tellapart.data.times import parts_of, split_name, type_of
from tellapart.errors import InputError
from tellapart.kernels.base import FittedKernel


def mean_difference(
    kernel: FittedKernel, samples: Samples, z: FloatArray, points: FloatArray
) -> FloatArray:
    """Return mean_i K_z(x_i, v) − mean_j K_z(y_j, v) at each point v, in bounded memory."""
    all_columns = np.arange(samples.n_columns)
    x, y = samples.x[:, all_columns], samples.y[:, all_columns]
    step = max(current_budget().witness_block_bytes // (8 * max(samples.n_x, samples.n_y)), 1)
    blocks = [
        kernel.gram(points[start : start + step], x, z).mean(axis=1)
        - kernel.gram(points[start : start + step], y, z).mean(axis=1)
        for start in range(0, points.shape[0], step)
    ]
    return np.concatenate(blocks) if blocks else np.zeros(0)


# Points at which to look at a fitted kernel: rows like those of the samples it was fitted on.


def read_points(points: object, like: Samples, needed: IntArray) -> FloatArray:
    """Return the `needed` columns of points as a matrix; no others are read.

    Tables are matched by name and their categories by label; a label that the samples do not
    have gets the code −1, which equals none of theirs. Arrays hold codes for categories.
    """
    if sparse.issparse(points) or isinstance(points, NamedMatrix) or is_anndata(points):
        return _from_matrix(open_held("points", points, any_rows=True), like, needed)
    frame = nw.from_native(points, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return _from_table(frame, like, needed)
    try:
        if np.iscomplexobj(cast(Any, points)):
            raise TypeError  # NumPy would drop the imaginary parts
        values = np.atleast_2d(np.asarray(points, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"points must be a table or an array of numbers; got {type(points).__name__}"
        ) from None
    if values.ndim != 2 or values.shape[1] != like.n_columns:
        raise InputError(f"points must have {like.n_columns} columns; got shape {values.shape}")
    return _checked(values[:, needed], like, needed)


def _from_matrix(source: HeldSource, like: Samples, needed: IntArray) -> FloatArray:
    if source.names is None:
        if source.shape[1] != like.n_columns:
            raise InputError(f"points must have {like.n_columns} columns; got shape {source.shape}")
        positions = needed
    else:
        position_of = {name: position for position, name in enumerate(source.names)}
        absent = [like.names[s] for s in needed if like.names[s] not in position_of]
        if absent:
            raise InputError(
                f"points must have the column {absent[0]!r}; got {list(source.names[:10])}"
            )
        positions = np.array([position_of[like.names[s]] for s in needed], dtype=np.intp)
    columns = [
        source.column(int(position), like.names[s]).values
        for position, s in zip(positions, needed, strict=True)
    ]
    return _checked(np.stack(columns, axis=1), like, needed)


def _from_table(frame: nw.DataFrame[Any], like: Samples, needed: IntArray) -> FloatArray:
    columns = frame.columns
    values = np.zeros((frame.shape[0], needed.size))
    for position, s in enumerate(needed):
        name = like.names[s]
        column = _column(frame, columns, name)
        if (column.form == "numeric") != (like.kinds[s] == "numeric"):
            raise InputError(f"column {name!r} of points must be {like.kinds[s]}")
        if like.kinds[s] == "numeric":
            values[:, position] = column.values
        else:
            codes = column.codes_among(like.categories[name])
            values[:, position] = np.where(np.isnan(codes), -1.0, codes)
    return _checked(values, like, needed)


def _column(frame: nw.DataFrame[Any], columns: list[str], name: str) -> Column:
    """Read a column, or the part of a date that was compared under its name."""
    if name in columns:
        return read_column("points", name, frame[name])
    whole = split_name(name)
    if whole is None or whole[0] not in columns:
        raise InputError(f"points must have the column {name!r}; got {columns[:10]}")
    values = to_times(frame[whole[0]])
    if values is None or whole[1] not in parts_of(type_of(values)):
        raise InputError(f"column {whole[0]!r} of points must hold dates, times or durations")
    return part_column("points", name, values, whole[1])


def _checked(values: FloatArray, like: Samples, needed: IntArray) -> FloatArray:
    finite = np.isfinite(values).all(axis=0)
    broken = [like.names[s] for s in needed[~finite]]
    if broken:
        raise InputError(f"points must hold finite numbers; column {broken[0]!r} does not")
    return values
