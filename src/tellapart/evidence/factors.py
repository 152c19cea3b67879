"""Scores less what many columns have in common: a shift shows better without shared noise.

Columns that follow common factors (a batch, a patient's size, an index of the market) are noisy
together. The leading principal components of the normal scores within the samples, those above what
noise alone would give, stand for the factors, and what is left of each column after its regression
on them is compared between the samples. Clearly shifted columns have no part in the factors:
a factor that is shifted itself would make columns differ that do not.
"""

from __future__ import annotations

import numpy as np

from tellapart.evidence.zscores import centred_within, standardised, within_samples, zscores
from tellapart.scan.scores import Singles

MOST_FACTORS = 5
# Fewer columns than this for each factor could be made of factors alone.
COLUMNS_OF_A_FACTOR = 8
# Columns with a larger |z| are clearly shifted.
SHIFTED = 3.0
# Columns that the factors are learned from at most, spread evenly over all.
MOST_COLUMNS = 500
# How far above the edge of the noise's spectrum, (1 + √(D/N))², an eigenvalue must lie.
ABOVE_NOISE = 1.2


def without_factors(normal: Singles, n_x: int) -> Singles | None:
    """Return the scores (N × P) less their regression on the factors; None where there are none.

    The first `n_x` rows are those of the first sample.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.normal(size=(200, 20)).astype(np.float32)
    >>> without_factors(noise, 100) is None
    True
    >>> common = rng.normal(size=(200, 1)).astype(np.float32)
    >>> rest = without_factors(noise + 2 * common, 100)
    >>> bool(abs(np.corrcoef(rest.T)[0, 1]) < 0.3)
    True
    """
    n_rows = normal.shape[0]
    calm = np.flatnonzero(np.abs(zscores(standardised(normal), n_x)) <= SHIFTED)
    if calm.size < COLUMNS_OF_A_FACTOR:
        return None
    some = normal[:, calm[:: -(-calm.size // MOST_COLUMNS)]]
    within = within_samples(some, n_x)
    correlation = within.T @ within / n_rows
    edge = (1 + np.sqrt(some.shape[1] / n_rows)) ** 2
    # Vectors take longer than values, and most tables have no factors.
    above = int((np.linalg.eigvalsh(correlation) > ABOVE_NOISE * edge).sum())
    count = min(above, MOST_FACTORS, calm.size // COLUMNS_OF_A_FACTOR)
    if count == 0:
        return None
    _, vectors = np.linalg.eigh(correlation)
    factors = standardised(some @ vectors[:, -count:])
    inside = centred_within(factors, n_x)
    slopes = np.linalg.lstsq(inside, centred_within(normal, n_x), rcond=None)[0]
    return standardised(normal - factors @ slopes)
