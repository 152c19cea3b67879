"""Polynomials on a segment or a triangle: from values at lattice points to a bound on the maximum.

In Bernstein form a polynomial of degree q is Σ_γ b_γ B_γ(μ), with barycentric coordinates μ and
B_γ = q!/(γ₀! γ₁! γ₂!) μ^γ ≥ 0 of sum 1. So max_γ b_γ is an upper bound, the coefficients at the
corners are values, and halving an edge brings the two together quadratically.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.compiling import compiled

# Parts of a simplex that one call may keep open.
_MOST_PARTS = 64
# Halvings of one call.
_MOST_HALVINGS = 400
EDGES = ((0, 1), (0, 2), (1, 2))


def lattice(dimension: int, degree: int) -> IntArray:
    """Return the exponents (γ₀, …) of degree `degree`, γ₁ running fastest, one row each.

    Examples
    --------
    >>> lattice(1, 2).tolist()
    [[2, 0, 0], [1, 1, 0], [0, 2, 0]]
    """
    rows = [
        (degree - a - b, a, b)
        for b in range(degree + 1 if dimension == 2 else 1)
        for a in range(degree - b + 1 if dimension > 0 else 1)
    ]
    return np.array(rows, dtype=np.int64)


def _basis(points: FloatArray, exponents: IntArray) -> FloatArray:
    """Return B_γ at some points, of shape (points, γ)."""
    counts = np.array([_multinomial(row) for row in exponents])
    powers = points[:, None, :] ** exponents
    return np.asarray(counts * powers.prod(axis=2))


def _multinomial(row: IntArray) -> float:
    total = math.factorial(int(row.sum()))
    return total / math.prod(math.factorial(int(k)) for k in row)


@dataclass(frozen=True, eq=False)
class Tables:
    """What leads from values at the lattice points of degree q to Bernstein forms.

    Attributes
    ----------
    degree : int
        q.
    exponents : int array of shape (P, 3)
        See `lattice`.
    points : array of shape (P, 3)
        Barycentric coordinates of the lattice points.
    inverse : array of shape (P, P)
        Bernstein coefficients of degree q from values.
    factors : array of shape (P, P)
        b_α b_β enters the coefficient α + β of a product of two polynomials with this factor.
    lebesgue : float
        An upper bound on max_μ Σ |L_α(μ)|, L_α the Lagrange polynomials of the lattice.
    """

    degree: int
    exponents: IntArray
    points: FloatArray
    inverse: FloatArray
    factors: FloatArray
    lebesgue: float


# Upper bounds on the Lebesgue constants of equispaced points, by dimension and degree.
_LEBESGUE = {
    (0, 1): 1.0,
    (1, 3): 1.65, (1, 4): 2.25, (1, 5): 3.15, (1, 6): 4.60, (1, 7): 7.00, (1, 8): 11.05,
    (2, 3): 2.30, (2, 4): 3.55, (2, 5): 5.55, (2, 6): 8.85, (2, 7): 14.50, (2, 8): 24.30,
}  # fmt: skip


@cache
def tables(dimension: int, degree: int) -> Tables:
    """Return the tables of a simplex of dimension 0, 1 or 2."""
    degree = degree if dimension > 0 else 1
    exponents = lattice(dimension, degree)
    points = exponents / degree
    inverse = np.linalg.inv(_basis(points, exponents)).astype(np.float64)
    counts = np.array([_multinomial(row) for row in exponents])
    sums = exponents[:, None, :] + exponents
    of_sums = np.array([[_multinomial(row) for row in rows] for rows in sums])
    factors = np.multiply.outer(counts, counts) / of_sums
    return Tables(degree, exponents, points, inverse, factors, _LEBESGUE[dimension, degree])


@compiled
def copy_form(source, target):  # type: ignore[no-untyped-def]
    """Copy coefficients: a loop takes less time to compile than an assignment of arrays."""
    for a in range(source.shape[0]):
        for b in range(source.shape[1]):
            target[a, b] = source[a, b]


@compiled(fastmath={"reassoc", "contract", "nsz"})
def halve(source, left, right, degree, dimension, edge):  # type: ignore[no-untyped-def]
    """De Casteljau at the middle of an edge: `left` keeps its first corner, `right` its second.

    Coefficients are in a square array by the exponents of the corners 1 and 2; the exponent of
    the corner that is not on the edge is constant in each of the rows that are halved.
    """
    row = np.empty(degree + 1)
    for fixed in range(degree + 1 if dimension == 2 else 1):
        size = degree - fixed
        for k in range(size + 1):
            # The k-th of a row has exponent k at the second corner of the edge.
            if edge == 0:
                row[k] = source[k, fixed]
            elif edge == 1:
                row[k] = source[fixed, k]
            else:
                row[k] = source[size - k, k]
        for step in range(size + 1):
            last = size - step
            if edge == 0:
                left[step, fixed] = row[0]
                right[last, fixed] = row[last]
            elif edge == 1:
                left[fixed, step] = row[0]
                right[fixed, last] = row[last]
            else:
                left[size - step, step] = row[0]
                right[size - last, last] = row[last]
            for k in range(last):
                row[k] = 0.5 * (row[k] + row[k + 1])


@compiled(fastmath={"reassoc", "contract", "nsz"})
def _bends(source, degree, dimension, bends):  # type: ignore[no-untyped-def]
    """Sum the second differences along each edge: the edge with the largest is halved."""
    bends[0], bends[1], bends[2] = 0.0, 0.0, 0.0
    for b in range(degree + 1 if dimension == 2 else 1):
        for a in range(degree - b + 1):
            here = source[a, b]
            if a + b <= degree - 2:
                bends[0] += abs(here - 2 * source[a + 1, b] + source[a + 2, b])
                if dimension == 2:
                    bends[1] += abs(here - 2 * source[a, b + 1] + source[a, b + 2])
            if dimension == 2 and a >= 2 and b + 2 <= degree:
                bends[2] += abs(here - 2 * source[a - 1, b + 1] + source[a - 2, b + 2])


@compiled(fastmath={"reassoc", "contract", "nsz"})
def _largest(source, degree, dimension):  # type: ignore[no-untyped-def]
    """Return the largest coefficient, and the largest at a corner."""
    top = source[0, 0]
    for b in range(degree + 1 if dimension == 2 else 1):
        for a in range(degree - b + 1 if dimension > 0 else 1):
            top = max(top, source[a, b])
    corner = source[0, 0]
    if dimension > 0:
        corner = max(corner, source[degree, 0])
    if dimension == 2:
        corner = max(corner, source[0, degree])
    return top, corner


@compiled(fastmath={"reassoc", "contract", "nsz"})
def largest_value(coefficients, degree, dimension, enough, tolerance):  # type: ignore[no-untyped-def]
    """Return an upper bound on a polynomial in Bernstein form.

    The simplex is halved until the bound is at most `enough`, or within `tolerance` of a value.
    """
    parts = np.empty((_MOST_PARTS + 1, degree + 1, degree + 1))
    tops = np.empty(_MOST_PARTS + 1)
    bends = np.empty(3)
    source = np.empty((degree + 1, degree + 1))
    copy_form(coefficients, parts[0])
    tops[0], lower = _largest(parts[0], degree, dimension)
    count, done = 1, -np.inf
    for _ in range(_MOST_HALVINGS):
        worst = 0
        for k in range(1, count):
            if tops[k] > tops[worst]:
                worst = k
        settled = tops[worst] <= max(enough, lower + tolerance)
        if dimension == 0 or settled or count == _MOST_PARTS:
            break
        _bends(parts[worst], degree, dimension, bends)
        edge = 0
        if dimension == 2:
            edge = 1 if bends[1] > bends[0] else 0
            edge = 2 if bends[2] > bends[edge] else edge
        copy_form(parts[worst], source)
        halve(source, parts[worst], parts[count], degree, dimension, edge)
        count += 1
        for half in range(2):
            k = worst if half == 0 else count - 1
            tops[k], corner = _largest(parts[k], degree, dimension)
            lower = max(lower, corner)
        # Parts that are settled make room.
        k = 0
        while k < count:
            if tops[k] <= max(enough, lower):
                done = max(done, tops[k])
                count -= 1
                copy_form(parts[count], parts[k])
                tops[k] = tops[count]
            else:
                k += 1
        if count == 0:
            return done
    for k in range(count):
        done = max(done, tops[k])
    return done
