"""Copulas, sampled by frailties, by inverting a conditional distribution, or by maxima."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import beta, gamma, ndtr

from tellapart.arrays import FloatArray

Rng = np.random.Generator
Copula = Callable[[Rng, int], FloatArray]
"""A function of a generator and a number of rows that returns uniform columns."""


def independent(columns: int = 2) -> Copula:
    """Return the copula of independent columns."""
    return lambda rng, rows: rng.random((rows, columns))


def frank(theta: float, columns: int = 2) -> Copula:
    """Return Frank's copula, for theta above 0."""
    share = -np.expm1(-theta)

    def draw(rng: Rng, rows: int) -> FloatArray:
        frailty = rng.logseries(share, size=(rows, 1))
        scaled = rng.exponential(size=(rows, columns)) / frailty
        return np.asarray(-np.log1p(-share * np.exp(-scaled)) / theta)

    return draw


def clayton(theta: float, columns: int = 2) -> Copula:
    """Return Clayton's copula."""

    def draw(rng: Rng, rows: int) -> FloatArray:
        frailty = rng.gamma(1 / theta, size=(rows, 1))
        return np.asarray((1 + rng.exponential(size=(rows, columns)) / frailty) ** (-1 / theta))

    return draw


def gumbel(theta: float, columns: int = 2) -> Copula:
    """Return Gumbel's copula; its frailty is positive stable (Chambers, Mallows and Stuck)."""
    alpha = 1 / theta

    def draw(rng: Rng, rows: int) -> FloatArray:
        angle = np.pi * rng.random((rows, 1))
        waiting = rng.exponential(size=(rows, 1))
        frailty = (
            np.sin(alpha * angle)
            / np.sin(angle) ** theta
            * (np.sin((1 - alpha) * angle) / waiting) ** (theta - 1)
        )
        return np.asarray(np.exp(-((rng.exponential(size=(rows, columns)) / frailty) ** alpha)))

    return draw


def joe(theta: float, columns: int = 2) -> Copula:
    """Return Joe's copula; its frailty has Sibuya's distribution (Hofert)."""
    alpha = 1 / theta

    def draw(rng: Rng, rows: int) -> FloatArray:
        above = 1 - rng.random((rows, 1))
        near = (above * gamma(1 - alpha)) ** (-theta)
        whole = np.maximum(np.floor(near), 1)
        # P(V > n) is 1 / (n B(n, 1 - alpha)).
        exact = np.minimum(whole, 1e9)
        short = above < 1 / (exact * beta(exact, 1 - alpha))
        frailty = np.where(above >= 1 - alpha, 1, np.where(short, np.ceil(near), whole))
        scaled = rng.exponential(size=(rows, columns)) / frailty
        return np.asarray(1 - (-np.expm1(-scaled)) ** alpha)

    return draw


def normal(correlation: float) -> Copula:
    """Return the copula of two correlated normal columns."""

    def draw(rng: Rng, rows: int) -> FloatArray:
        first, other = rng.normal(size=(2, rows))
        second = correlation * first + np.sqrt(1 - correlation**2) * other
        return np.asarray(ndtr(np.column_stack([first, second])))

    return draw


def galambos(theta: float) -> Copula:
    """Return Galambos' copula of two columns."""

    def tail(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        ratio = (x / y) ** theta
        return x + y - x * (1 + ratio) ** (-1 / theta), 1 - (1 + ratio) ** (-1 / theta - 1)

    return _extreme(tail)


def husler_reiss(theta: float) -> Copula:
    """Return the copula of Hüsler and Reiss of two columns."""

    def tail(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        log_ratio = theta / 2 * np.log(x / y)
        first = ndtr(1 / theta + log_ratio)
        return x * first + y * ndtr(1 / theta - log_ratio), first

    return _extreme(tail)


def _extreme(tail: Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]) -> Copula:
    """Return the extreme-value copula exp(-l(-log u, -log v)); `tail` gives l and dl/dx."""

    def draw(rng: Rng, rows: int) -> FloatArray:
        u, level = rng.random((2, rows))
        x = -np.log(u)
        low, high = np.full(rows, -40.0), np.full(rows, 40.0)
        for _ in range(60):
            # Halve the interval of log(-log v) in which P(V <= v | u) reaches the level.
            middle = (low + high) / 2
            whole, slope = tail(x, np.exp(middle))
            above = np.exp(x - whole) * slope > level
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return np.column_stack([u, np.exp(-np.exp((low + high) / 2))])

    return draw


def khoudraji(other: Copula, first: float, second: float) -> Copula:
    """Return Khoudraji's copula of independence and another one, with its two shapes."""

    def draw(rng: Rng, rows: int) -> FloatArray:
        shapes = np.array([first, second])
        return np.maximum(
            rng.random((rows, 2)) ** (1 / (1 - shapes)), other(rng, rows) ** (1 / shapes)
        )

    return draw


def mixed(one: Copula, other: Copula, share: float) -> Copula:
    """Return the copula that is the first with a probability `share`, otherwise the second."""

    def draw(rng: Rng, rows: int) -> FloatArray:
        first = rng.random((rows, 1)) < share
        return np.where(first, one(rng, rows), other(rng, rows))

    return draw
