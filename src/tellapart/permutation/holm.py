"""Several tests at once: p-values adjusted so that false alarms stay rare in the whole family."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tellapart.arrays import FloatArray


def holm(pvalues: Sequence[float], n_tests: int | None = None) -> FloatArray:
    """Return Holm's adjusted p-values, p̃_(i) = max_{j ≤ i} min(1, (m − j + 1) p_(j)).

    Rejecting where p̃ ≤ α makes any false rejection at all have a chance of at most α, however
    the tests depend on each other, provided each p-value is valid by itself.

    Parameters
    ----------
    pvalues : sequence of float
        One p-value per test, in any order.
    n_tests : int or None
        m, if more tests were planned than gave a p-value; the others count as p = 1.

    Returns
    -------
    array
        The adjusted p-values, in the order of `pvalues`.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.02]).tolist()
    [0.03, 0.04, 0.04]
    """
    p = np.asarray(pvalues, dtype=np.float64)
    m = p.size if n_tests is None else n_tests
    order = np.argsort(p, kind="stable")
    factors = m - np.arange(p.size)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p[order]), 1.0)
    return adjusted
