"""Points at which to look at a fitted kernel: rows like those of the samples it was fitted on."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.columns import read_column
from tellapart.data.samples import Samples
from tellapart.data.sources import NamedMatrix, Source, is_anndata, open_matrix
from tellapart.errors import InputError


def read_points(points: object, like: Samples, needed: IntArray) -> FloatArray:
    """Return the `needed` columns of points as a matrix; no others are read.

    Tables are matched by name and their categories by label; a label that the samples do not
    have gets the code −1, which equals none of theirs. Arrays hold codes for categories.
    """
    if sparse.issparse(points) or isinstance(points, NamedMatrix) or is_anndata(points):
        return _from_matrix(open_matrix("points", points), like, needed)
    frame = nw.from_native(points, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return _from_table(frame, like, needed)
    try:
        if np.iscomplexobj(points):
            raise TypeError  # NumPy would drop the imaginary parts
        values = np.atleast_2d(np.asarray(points, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"points must be a table or an array of numbers; got {type(points).__name__}"
        ) from None
    if values.ndim != 2 or values.shape[1] != like.n_columns:
        raise InputError(f"points must have {like.n_columns} columns; got shape {values.shape}")
    return _checked(values[:, needed], like, needed)


def _from_matrix(source: Source, like: Samples, needed: IntArray) -> FloatArray:
    if source.names is None:
        if source.shape[1] != like.n_columns:
            raise InputError(f"points must have {like.n_columns} columns; got shape {source.shape}")
        places = needed
    else:
        found = {name: place for place, name in enumerate(source.names)}
        absent = [like.names[s] for s in needed if like.names[s] not in found]
        if absent:
            raise InputError(
                f"points must have the column {absent[0]!r}; got {list(source.names[:10])}"
            )
        places = np.array([found[like.names[s]] for s in needed], dtype=np.intp)
    columns = [
        source.column(int(place), like.names[s]).values
        for place, s in zip(places, needed, strict=True)
    ]
    return _checked(np.stack(columns, axis=1), like, needed)


def _from_table(frame: nw.DataFrame[Any], like: Samples, needed: IntArray) -> FloatArray:
    absent = [like.names[s] for s in needed if like.names[s] not in frame.columns]
    if absent:
        raise InputError(f"points must have the column {absent[0]!r}; got {frame.columns[:10]}")
    values = np.zeros((frame.shape[0], needed.size))
    for place, s in enumerate(needed):
        name = like.names[s]
        column = read_column("points", name, frame[name])
        if (column.form == "numeric") != (like.kinds[s] == "numeric"):
            raise InputError(f"column {name!r} of points must be {like.kinds[s]}")
        if like.kinds[s] == "numeric":
            values[:, place] = column.values
        else:
            codes = column.codes_among(like.categories[name])
            values[:, place] = np.where(np.isnan(codes), -1.0, codes)
    return _checked(values, like, needed)


def _checked(values: FloatArray, like: Samples, needed: IntArray) -> FloatArray:
    finite = np.isfinite(values).all(axis=0)
    broken = [like.names[s] for s in needed[~finite]]
    if broken:
        raise InputError(f"points must hold finite numbers; column {broken[0]!r} does not")
    return values
