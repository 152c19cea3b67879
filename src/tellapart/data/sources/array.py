"""Arrays of anything as arrays of numbers: whatever else is in them is refused, with its place."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tellapart.data.column_store import ColumnStore, MappedColumns
from tellapart.data.columns import (
    LARGEST_WHOLE,
    as_float,
    check_rounded,
    is_number,
    looks_numeric,
    rounded_extremes,
)
from tellapart.data.sources.table import EXPECTED, described
from tellapart.errors import InputError

Matrix = np.ndarray[tuple[int, int], np.dtype[Any]]


def as_array(title: str, data: object) -> Matrix:
    """Return the data as an array of two dimensions, of any dtype."""
    if data is None or isinstance(data, str | bytes | dict | set):
        raise InputError(f"{title} must be {EXPECTED}; got {described(data)}")
    if hasattr(data, "collect") and hasattr(data, "collect_schema"):
        raise InputError(f"{title} must be {EXPECTED}; got {described(data)}: call .collect()")
    if isinstance(data, np.ma.MaskedArray) and data.dtype.kind in "biuf":
        rounded = rounded_extremes(data.compressed())
        if rounded is not None:
            check_rounded(title, *rounded, exact=False)
        data = np.ma.filled(data.astype(np.float64), np.nan)
    try:
        values = np.asarray(data)
        if values.dtype.kind in "US" and not isinstance(data, np.ndarray):
            # NumPy turned the numbers beside a text into text as well: keep them apart.
            values = np.array(data, dtype=object)
    except ValueError:
        raise InputError(
            f"{title} must be {EXPECTED}; got {described(data)} with rows of unequal length"
        ) from None
    if values.ndim == 1:
        raise InputError(
            f"{title} must be 2-dimensional (rows × columns); got {described(data)} of one "
            "dimension; reshape a single variable to one column, .reshape(-1, 1) or .to_frame()"
        )
    if values.ndim != 2:
        raise InputError(
            f"{title} must be {EXPECTED}; got {described(data)} of {values.ndim} dimensions"
        )
    return cast(Matrix, values)


def mapped(title: str, values: NDArray[Any]) -> NDArray[Any] | ColumnStore:
    """Return a memory-mapped array, never as a copy of the whole; see `as_numbers`."""
    if values.dtype.kind in "iuf" and values.dtype != np.float64 and not has_large_whole(values):
        return MappedColumns(values)
    return as_numbers(title, values)


def as_numbers(title: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return the array as float64 or booleans; anything else is refused.

    Whole numbers beyond 2⁵³ stay as they are, to be looked at column by column.
    """
    kind = values.dtype.kind
    if kind == "b" or has_large_whole(values):
        return values
    if kind in "iuf":
        with np.errstate(over="ignore"):  # long doubles: infinite values are refused later
            return values.astype(np.float64, copy=False)
    if kind == "O":
        return _from_objects(title, values)
    if kind in "US":
        places = np.ndindex(values.shape)
        place = next((p for p in places if not looks_numeric(str(values[p]))), (0, 0))
        raise _not_a_number(title, values[place].item(), place)
    raise InputError(f"{title} must hold numbers; got an array of dtype {values.dtype}")


def has_large_whole(values: NDArray[Any]) -> bool:
    """Say whether an array holds whole numbers beyond those of which float64 holds every one."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return False
    return bool(int(values.max()) > LARGEST_WHOLE or int(values.min()) < -LARGEST_WHOLE)


def _from_objects(title: str, values: NDArray[Any]) -> NDArray[Any]:
    floats = np.empty(values.shape)
    whole = values.ravel().tolist()
    if all(type(value) is int for value in whole) and any(v != as_float(v) for v in whole):
        # As an array of these numbers would be; those of Python may be larger still.
        limits = np.iinfo(np.int64)
        if limits.min <= min(whole) and max(whole) <= limits.max:
            return values.astype(np.int64)
    for place, value in np.ndenumerate(values):
        if value is None or type(value).__name__ == "NAType":  # pandas.NA, without pandas
            floats[place] = np.nan
        elif is_number(value):
            floats[place] = as_float(value)
        else:
            raise _not_a_number(title, value, place)
    return floats


def _not_a_number(title: str, value: object, place: tuple[int, ...]) -> InputError:
    return InputError(
        f"{title} must hold numbers; got {value!r} ({type(value).__name__}) "
        f"at row {place[0]}, column {place[1]}"
    )
