"""Triples of columns: a product of three whose mean differs, by own ranks as for pairs.

z = δ/√(v (1/m + 1/n)), δ the difference of the mean products of three signs, or of three clipped
normal scores, and v the variance of the products within the samples.
"""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.evidence.copula import CopulaScores
from tellapart.evidence.groups import Group
from tellapart.evidence.mixture import fit_mixture, log_bayes_factor
from tellapart.evidence.pairs import calibrated
from tellapart.evidence.zscores import standardised
from tellapart.interrupts import check_interrupts
from tellapart.scan.scores import Singles

FEWEST_ROWS = 24
MOST_COLUMNS = 100
"""Columns whose triples are looked at: 160,000 triples…"""
MOST_WORK = 1_000_000_000
"""…unless the rows times the cube of the columns would be more than this."""
LEAST_VARIANCE = 0.05
CLIP = 2.0


def most_columns(n_rows: int) -> int:
    """Return the number of columns whose triples can be looked at within the work allowed.

    Examples
    --------
    >>> most_columns(300), most_columns(10_000)
    (100, 46)
    """
    return min(MOST_COLUMNS, int((MOST_WORK / n_rows) ** (1 / 3)))


def find_triples(x: CopulaScores, y: CopulaScores, columns: IntArray, most: int) -> list[Group]:
    """Return the triples that more likely differ than not, the surest first, `most` at most."""
    if columns.size < 3:
        return []
    kinds = [
        (np.sign(x.normal), np.sign(y.normal)),
        (_clipped(x.normal), _clipped(y.normal)),
    ]
    members: list[IntArray] = []
    parts: list[FloatArray] = []
    for s in range(columns.size - 2):
        check_interrupts()
        t, r = np.triu_indices(columns.size - s - 1, 1)
        members.append(np.stack([np.full(t.size, s), t + s + 1, r + s + 1]))
        parts.append(np.array([_zscores(*sides, s)[t, r] for sides in kinds]))
    triples = np.concatenate(members, axis=1)
    fewer = min(x.normal.shape[0], y.normal.shape[0])
    table = calibrated(np.concatenate(parts, axis=1), fewer)
    mixture = fit_mixture(log_bayes_factor(table**2), 1.0)
    groups = []
    for place in np.argsort(-mixture.log_odds, kind="stable")[:most]:
        if mixture.log_odds[place] <= 0:
            break
        kind = int(mixture.kind[place])
        own = triples[:, place]
        product = np.concatenate([side[:, own].prod(axis=1) for side in kinds[kind]])
        groups.append(
            Group(
                tuple(columns[own].tolist()),
                float(mixture.log_odds[place]),
                float(table[kind, place]),
                product,
            )
        )
    return groups


def _zscores(x: Singles, y: Singles, s: int) -> FloatArray:
    """Return the z-scores of the triples of column s and two later ones."""
    n_x, n_y = x.shape[0], y.shape[0]
    mean_x, square_x = _products(x, s)
    mean_y, square_y = _products(y, s)
    variance = (n_x * (square_x - mean_x**2) + n_y * (square_y - mean_y**2)) / (n_x + n_y)
    noise = np.sqrt(np.maximum(variance, LEAST_VARIANCE) * (1 / n_x + 1 / n_y))
    return np.asarray((mean_x - mean_y) / noise, dtype=np.float64)


def _products(values: Singles, s: int) -> tuple[Singles, Singles]:
    """Return the means of the products of column s and two later ones, and of their squares."""
    later = values[:, s + 1 :]
    own = values[:, s : s + 1]
    squares = later * later
    mean = (own * later).T @ later / len(values)
    square = (own * own * squares).T @ squares / len(values)
    return np.asarray(mean), np.asarray(square)


def _clipped(normal: Singles) -> Singles:
    return standardised(np.clip(normal, -CLIP, CLIP))
