"""Rows of the paper on MMD-FUSE, and the generators Blob and HDGM of Liu et al. (2020).

Biggs, Schrab and Gretton, MMD-FUSE (2023), github.com/antoninschrab/mmdfuse-paper: mixtures of four
normal clusters one of which has another spread in Y, and uniform samples against ones with a
perturbed density, 500 + 500 rows. Liu, Xu, Lu, Zhang, Gretton and Sutherland, Learning deep kernels
(2020), github.com/fengliu90/DK-for-TST: nine clusters on a grid that are correlated in Y, and two
clusters in ten columns that are correlated in opposite ways.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from public.copulas import Rng
from tellapart.arrays import FloatArray

ROWS = 500
Pair = tuple[FloatArray, FloatArray]
Study = Callable[[Rng], Pair]


def mixture(rng: Rng, spread: float) -> Pair:
    """Return four normal clusters at (±20, ±20), the fourth of Y with another spread."""
    pair = []
    for fourth in (1.0, spread):
        which = rng.integers(0, 4, size=ROWS)
        centres = 20.0 * np.array([[1, 1], [-1, 1], [1, -1], [-1, -1]])[which]
        own = np.where(which == 3, fourth, 1.0)[:, None]
        pair.append(centres + own * rng.normal(size=(ROWS, 2)))
    return pair[0], pair[1]


def _ripple(values: FloatArray) -> FloatArray:
    """Return a bump upwards on the first half of the unit interval, downwards on the second."""
    sign = np.where(values < 0.5, 1.0, -1.0)
    within = 1 - (4 * (values % 0.5) - 1) ** 2
    # Far from a bump it is exp of a large negative number, which is zero.
    return np.asarray(sign * np.exp(-1 / np.maximum(within, 1e-3)) * (within > 1e-3))


def perturbed(rng: Rng, columns: int, scale: float) -> Pair:
    """Return rows of a perturbed uniform density, and uniform rows.

    The cube is cut in two along each column; in each part the density is raised and lowered by one
    product of ripples, up to `scale` times as much as keeps it above zero, with a random sign.
    """
    signs = rng.choice([-1.0, 1.0], size=(2,) * columns)
    X = np.empty((0, columns))
    while len(X) < ROWS:
        rows = rng.random((4 * ROWS, columns))
        parts = np.floor(2 * rows).astype(int)
        ripples = np.prod(np.e * _ripple(2 * rows - parts), axis=1)
        density = 1 + scale * signs[tuple(parts.T)] * ripples
        X = np.concatenate([X, rows[rng.random(len(rows)) * (1 + scale) < density]])
    return X[:ROWS], rng.random((ROWS, columns))


def blob(rng: Rng, rows_a_mode: int) -> Pair:
    """Return nine clusters on a grid of three by three, round in X, correlated in Y."""
    pair = []
    # In variances of 0.03, from cluster to cluster.
    covariances = np.array([-20, -22, -24, -26, 0, 20, 22, 24, 26]) / 1000
    for correlations in (np.zeros(9), covariances / 0.03):
        which = rng.integers(0, 9, size=9 * rows_a_mode)
        own = correlations[which]
        first, second = np.sqrt(0.03) * rng.normal(size=(2, len(which)))
        second = own * first + np.sqrt(1 - own**2) * second
        pair.append(np.column_stack([which // 3 + first, which % 3 + second]))
    return pair[0], pair[1]


def hdgm(rng: Rng, rows_a_mode: int) -> Pair:
    """Return two clusters in ten columns; in Y two columns are correlated by ±0.5 within them."""
    pair = []
    for correlation in (0.0, 0.5):
        second = np.repeat([0, 1], rows_a_mode)
        values = rng.normal(size=(2 * rows_a_mode, 10))
        own = correlation * np.where(second == 0, 1, -1)
        values[:, 1] = own * values[:, 0] + np.sqrt(1 - own**2) * values[:, 1]
        pair.append(values + 0.5 * second[:, None])
    return pair[0], pair[1]


SPREADS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
SCALES = {1: (0.0, 0.1, 0.2, 0.3, 0.4, 0.5), 2: (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)}
STUDIES: dict[str, Study] = {
    **{f"mixture {spread:g}": partial(mixture, spread=spread) for spread in SPREADS},
    **{
        f"perturbed d={columns} {scale:g}": partial(perturbed, columns=columns, scale=scale)
        for columns, scales in SCALES.items()
        for scale in scales
    },
    **{f"blob {rows}": partial(blob, rows_a_mode=rows) for rows in (20, 40, 90)},
    **{f"HDGM {rows}": partial(hdgm, rows_a_mode=rows) for rows in (250, 500)},
}
NULLS = ("mixture 1", "perturbed d=1 0", "perturbed d=2 0")
