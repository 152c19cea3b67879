# ruff: noqa: D103 - the name of a kind says what it is
"""Shifts along correlated columns, of heavy tails, of few columns, and of levels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from development.kind import Pair, Rng, kind, normal
from tellapart.arrays import FloatArray


def series(rng: Rng, rows: int, columns: int, correlation: float) -> FloatArray:
    """Return columns each of which is correlated with the one before."""
    values = rng.normal(size=(rows, columns))
    for j in range(1, columns):
        values[:, j] = correlation * values[:, j - 1] + np.sqrt(1 - correlation**2) * values[:, j]
    return values


@kind
def contrast_in_series(rng: Rng) -> Pair:
    X, Y = (series(rng, 120, 30, 0.7) for _ in range(2))
    X[:, 4:12] += 0.15 * np.array([1, -1] * 4)
    return X, Y


@kind
def contrast_of_copies(rng: Rng) -> Pair:
    common = rng.normal(size=(2, 90, 12))
    X, Y = np.concatenate([common, common + 0.4 * rng.normal(size=common.shape)], axis=2)
    X[:, 0] += 0.12
    X[:, 12] -= 0.12
    return X, Y


@kind
def bump_in_series(rng: Rng) -> Pair:
    X, Y = (series(rng, 100, 60, 0.85) for _ in range(2))
    X[:, 10:26] += 0.42 * np.sin(np.linspace(0, np.pi, 16))
    return X, Y


@kind
def shift_of_a_correlated_block(rng: Rng) -> Pair:
    X, Y = normal(rng, 100, 40)
    for Z in (X, Y):
        Z[:, :8] = 0.75 * rng.normal(size=(100, 1)) + 0.66 * Z[:, :8]
    X[:, :8] += 0.33
    return X, Y


@kind
def shift_all_either_way(rng: Rng) -> Pair:
    X, Y = normal(rng, 100, 50)
    return X + 0.15 * rng.choice([-1, 1], 50), Y


@kind
def shift_wide_series(rng: Rng) -> Pair:
    X, Y = (series(rng, 20, 600, 0.6) for _ in range(2))
    return X + 0.19, Y


@kind
def shift_heavy_tails(rng: Rng) -> Pair:
    X, Y = rng.standard_t(1.5, size=(2, 100, 30))
    X[:, :4] += 0.55
    return X, Y


@kind
def shift_heavy_tails_all(rng: Rng) -> Pair:
    X, Y = rng.standard_t(2, size=(2, 80, 40))
    return X + 0.17, Y


@kind
def shift_alone(rng: Rng) -> Pair:
    X, Y = normal(rng, 60, 1)
    return X + 0.45, Y


@kind
def shift_of_two(rng: Rng) -> Pair:
    X, Y = (series(rng, 60, 2, 0.6) for _ in range(2))
    return X + np.array([0.3, -0.1]), Y


@kind
def shift_of_four(rng: Rng) -> Pair:
    X, Y = normal(rng, 50, 4)
    return X + 0.27, Y


@kind
def shift_few_patients(rng: Rng) -> Pair:
    X, Y = normal(rng, 15, 25)
    X[:, :4] += 0.85
    return X, Y


@kind
def shares_of_one(rng: Rng) -> Pair:
    usual = [0.3, 0.25, 0.2, 0.15, 0.1]

    def table(first: Sequence[float]) -> pd.DataFrame:
        every = [first if i == 3 else usual for i in range(9)]
        drawn = (rng.choice(list("abcde"), 180, p=p) for p in every)
        return pd.DataFrame({f"c{i}": levels for i, levels in enumerate(drawn)})

    return table([0.2, 0.31, 0.17, 0.12, 0.2]), table(usual)


@kind
def shares_of_several(rng: Rng) -> Pair:
    def table(more: float) -> pd.DataFrame:
        return pd.DataFrame(
            {
                f"c{i}": rng.choice(
                    list("abc"), 150, p=[0.5 - more * (i < 4), 0.3 + more * (i < 4), 0.2]
                )
                for i in range(12)
            }
        )

    return table(0.1), table(0.0)
