"""What the arrays of a problem must be: checked once, at its door."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tellapart.arrays import FloatArray, IntArray
from tellapart.errors import InputError


def real_numbers(name: str, values: ArrayLike, shape: str) -> FloatArray:
    """Return an array of floats, or say what came instead."""
    try:
        if np.iscomplexobj(values):
            raise TypeError
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"{name} must be a {shape} of real numbers; got {type(values).__name__}"
        ) from None


def checked_vector(name: str, values: ArrayLike) -> FloatArray:
    """Return a copy of a vector of finite numbers."""
    vector = real_numbers(name, values, "vector")
    if vector.ndim != 1 or vector.shape[0] < 1:
        raise InputError(
            f"{name} must be a vector with at least one entry; got shape {vector.shape}"
        )
    if not np.isfinite(vector).all():
        raise InputError(f"{name} must hold finite numbers only; got NaN or infinite entries")
    return vector.copy()


def checked_indices(required: ArrayLike | None, n_columns: int, d: int) -> IntArray:
    """Return the required variables, sorted; at most d of them."""
    if required is None:
        return np.empty(0, dtype=np.intp)
    expected = f"required must be at most d = {d} different indices in 0..{n_columns - 1}"
    try:
        given = np.asarray(required)
    except ValueError:
        raise InputError(f"{expected}; got {required!r}") from None
    if given.ndim != 1 or (given.shape[0] > 0 and given.dtype.kind not in "iu"):
        raise InputError(f"{expected}; got {required!r}")
    indices = np.unique(given).astype(np.intp)
    inside = indices.shape[0] == 0 or (indices[0] >= 0 and indices[-1] < n_columns)
    if indices.shape[0] != given.shape[0] or indices.shape[0] > d or not inside:
        raise InputError(f"{expected}; got {given.tolist()}")
    return indices


def checked_symmetric(name: str, values: ArrayLike) -> FloatArray:
    """Return a symmetric matrix of finite numbers, slight asymmetry averaged away."""
    matrix = real_numbers(name, values, "matrix")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] < 1:
        raise InputError(f"{name} must be a square matrix; got shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise InputError(f"{name} must hold finite numbers only; got NaN or infinite entries")
    asymmetry = float(np.abs(matrix - matrix.T).max(initial=0.0))
    if asymmetry > 1e-8 * float(np.abs(matrix).max(initial=0.0)):
        raise InputError(f"{name} must be symmetric; got max |{name} - {name}^T| = {asymmetry:.3g}")
    return np.ascontiguousarray(matrix / 2 + matrix.T / 2)
