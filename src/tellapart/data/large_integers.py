"""Whole numbers beyond 2⁵³, of which float64 holds only some: rounded without harm, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tellapart.errors import InputError, warn_caller

Extremes = tuple[int, int]

LARGEST_WHOLE = 1 << 53
"""Up to here float64 holds every whole number."""
FEWEST_STEPS = 1 << 20
"""Whole numbers that are rounded must range over so many of the steps they are rounded to."""


def rounded_extremes(values: NDArray[Any]) -> Extremes | None:
    """Return the smallest and the largest of whole numbers if float64 does not hold them all.

    >>> rounded_extremes(np.array([2**60, 2**60 + 256])) is None
    True
    >>> rounded_extremes(np.array([2**60, 2**60 + 1])) == (2**60, 2**60 + 1)
    True
    """
    if not values.size or values.dtype.kind not in "iu" or values.dtype.itemsize < 8:
        return None
    least, greatest = int(values.min()), int(values.max())
    if least >= -LARGEST_WHOLE and greatest <= LARGEST_WHOLE:
        return None
    # Of the bits of a number 53 are held, from its first one on: the others must be 0.
    _, n_bits = np.frexp(values.astype(np.float64))
    dropped = np.maximum(n_bits - 53, 0).astype(np.uint64)
    rest = np.abs(values).astype(np.uint64) & ((np.uint64(1) << dropped) - np.uint64(1))
    return (least, greatest) if rest.any() else None


def check_rounded(subject: str, least: int, greatest: int, *, exact: bool = True) -> None:
    """Refuse whole numbers that float64 merges; warn of those that it rounds without harm.

    Beyond 2⁵³ float64 holds multiples of 2, 4, … only. Where the numbers range over very many of
    these steps, as time in nanoseconds does, rounding does not matter; where they do not, numbers
    that differ may become equal.

    Parameters
    ----------
    subject : str
        What messages call the column.
    least, greatest : int
        The pooled extremes.
    exact : bool
        Whether the extremes are known exactly, so that equal ones mean that nothing varies.
    """
    span, largest = greatest - least, max(abs(least), abs(greatest))
    # Numbers beyond all of float64 are refused as infinite ones.
    if (exact and span == 0) or largest > int(np.finfo(np.float64).max):
        return
    step = int(np.spacing(float(largest)))
    if span < FEWEST_STEPS * step:
        raise InputError(
            f"{subject} must hold whole numbers up to 2**53, or far apart; got {least} to "
            f"{greatest}, of which float64 holds multiples of {step} only: subtract the smallest "
            "one first, or drop the column if it is an identifier"
        )
    warn_caller(
        f"{subject} holds whole numbers beyond 2**53, which are compared rounded to multiples of "
        f"{step}"
    )
