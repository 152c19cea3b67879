"""Scores less what many columns have in common: a shift shows better without shared noise.

Columns that follow common factors (a batch, a patient's size, an index of the market) are noisy
together. The leading principal components of the pooled normal scores, those above what noise
alone would give, stand for the factors, and what is left of each column after its regression on
them is compared between the samples. No label is seen.
"""

from __future__ import annotations

import numpy as np

from tellapart.evidence.zscores import standardised
from tellapart.scan.scores import Singles

MOST_FACTORS = 5
# Fewer columns than this for each factor could be made of factors alone.
COLUMNS_OF_A_FACTOR = 4
# Columns that the factors are learned from at most, spread evenly over all.
MOST_COLUMNS = 500
# How far above the edge of the noise's spectrum, (1 + √(D/N))², an eigenvalue must lie.
ABOVE_NOISE = 1.2


def without_factors(normal: Singles) -> Singles | None:
    """Return the scores (N × P) less their regression on the factors; None where there are none.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.normal(size=(200, 10)).astype(np.float32)
    >>> without_factors(noise) is None
    True
    >>> common = rng.normal(size=(200, 1)).astype(np.float32)
    >>> rest = without_factors(noise + 2 * common)
    >>> bool(abs(np.corrcoef(rest.T)[0, 1]) < 0.3)
    True
    """
    n_rows, n_columns = normal.shape
    if n_columns < COLUMNS_OF_A_FACTOR:
        return None
    step = -(-n_columns // MOST_COLUMNS)
    some = standardised(normal[:, ::step])
    values, vectors = np.linalg.eigh(some.T @ some / n_rows)
    edge = (1 + np.sqrt(some.shape[1] / n_rows)) ** 2
    above = int((values > ABOVE_NOISE * edge).sum())
    count = min(above, MOST_FACTORS, n_columns // COLUMNS_OF_A_FACTOR)
    if count == 0:
        return None
    factors = standardised(some @ vectors[:, -count:])
    return standardised(normal - factors @ (factors.T @ normal / n_rows))
