"""Upper bounds on F of the quadratic kernel over the weights of a support.

With K = (Σ_s z_s k_s + c)² MMD² is quadratic in z and σ² of degree four, and the sums over pairs
of rows are taken once for all supports (`tellapart.statistics.quadratic_moments.RowMoments`). On
the sphere F = E(z) + O(z), E homogeneous of degree 4 and O of degree 3: a factor ‖z‖² = 1 lifts
what is of lower degree. A patch of the sphere is z = y/s, y on the flat simplex of its corners,
which are of length 1, and s = ‖y‖ in [s₀, 1], so

    F(z) = (E(y) + s O(y))/s⁴ ≤ N/s₀⁴ if N > 0, and N else
    N = max (E + O) + (1 − s₀) max(0, −min O)

by the coefficients of E + O and O in Bernstein form. Halving an edge keeps the forms homogeneous.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.compiling import compiled
from tellapart.search.bernstein import copy_form, halve
from tellapart.search.certificate import Refined
from tellapart.statistics.objective import FittedObjective

_MOST_PARTS = 512
_FIRST_HALVINGS = 500
# More than the terms of E and O of three variables.
_TERMS = 250
ROUNDING = 1e-11
"""A generous bound on rounding error, relative to the sizes of all coefficients."""


@compiled(fastmath={"reassoc", "contract", "nsz"})
def _scale_corner(form, degree, dimension, corner, factor):  # type: ignore[no-untyped-def]
    """Multiply the coefficients by factor^γ_k, γ_k the exponent of a corner."""
    for b in range(degree + 1 if dimension == 2 else 1):
        for a in range(degree - b + 1):
            power = degree - a - b
            if corner == 1:
                power = a
            elif corner == 2:
                power = b
            for _ in range(power):
                form[a, b] *= factor


@compiled(fastmath={"reassoc", "contract", "nsz"})
def _part_bound(even, odd, corners, dimension):  # type: ignore[no-untyped-def]
    """Return the bound of the module's text, and the best corner with its value."""
    top, low = -np.inf, np.inf
    for b in range(5 if dimension == 2 else 1):
        for a in range(5 - b if dimension > 0 else 1):
            lifted, c = 0.0, 4 - a - b
            # Degree elevation of O, by Σμ = 1.
            if c > 0:
                lifted += 0.25 * c * odd[a, b]
            if a > 0:
                lifted += 0.25 * a * odd[a - 1, b]
            if b > 0:
                lifted += 0.25 * b * odd[a, b - 1]
            top = max(top, even[a, b] + lifted)
    for b in range(4 if dimension == 2 else 1):
        for a in range(4 - b if dimension > 0 else 1):
            low = min(low, odd[a, b])
    best, value = 0, even[0, 0] + odd[0, 0]
    if dimension > 0 and even[4, 0] + odd[3, 0] > value:
        best, value = 1, even[4, 0] + odd[3, 0]
    if dimension == 2 and even[0, 4] + odd[0, 3] > value:
        best, value = 2, even[0, 4] + odd[0, 3]
    # s ≥ y·n for every unit vector n.
    size = dimension + 1
    length, shortest = 0.0, 1.0
    for s in range(size):
        total = 0.0
        for k in range(size):
            total += corners[k, s]
        length += total * total
    for k in range(size):
        along = 0.0
        for s in range(size):
            for other in range(size):
                along += corners[k, s] * corners[other, s]
        shortest = min(shortest, along / math.sqrt(length))
    top += (1.0 - shortest) * max(0.0, -low)
    if top > 0.0:
        top /= shortest**4
    return top, best, value


@compiled(fastmath={"reassoc", "contract", "nsz"})
def _largest_on_sphere(even, odd, signs, dimension, value, allowed, margin, most):  # type: ignore[no-untyped-def]
    """Return an upper bound on F over one orthant of the sphere, and the best corner met.

    Parts are halved until the bound exceeds the best value known by what is allowed, `most` times
    at most. `margin` is an allowance for rounding error.
    """
    size = dimension + 1
    evens, odds = np.zeros((_MOST_PARTS, 5, 5)), np.zeros((_MOST_PARTS, 4, 4))
    corners = np.zeros((_MOST_PARTS, size, size))
    bounds = np.empty(_MOST_PARTS)
    point = np.zeros(size)
    copy_form(even, evens[0])
    copy_form(odd, odds[0])
    whole_even, whole_odd = np.empty((5, 5)), np.empty((4, 4))
    for k in range(size):
        corners[0, k, k] = signs[k]
    best_value = value
    bounds[0], corner, found = _part_bound(evens[0], odds[0], corners[0], dimension)
    if found > best_value:
        best_value = found
        for s in range(size):
            point[s] = corners[0, corner, s]
    count, done, halvings = 1, -np.inf, 0
    while count > 0:
        last = count - 1
        enough = best_value + allowed
        if bounds[last] + margin <= enough or dimension == 0:
            done = max(done, bounds[last])
            count -= 1
            continue
        if halvings >= most or count + 1 >= _MOST_PARTS:
            break
        halvings += 1
        edge, longest = 0, -1.0
        for e in range(3 if dimension == 2 else 1):
            a, b = (0, 1) if e == 0 else ((0, 2) if e == 1 else (1, 2))
            distance = 0.0
            for s in range(size):
                distance += (corners[last, a, s] - corners[last, b, s]) ** 2
            if distance > longest:
                edge, longest = e, distance
        a, b = (0, 1) if edge == 0 else ((0, 2) if edge == 1 else (1, 2))
        copy_form(evens[last], whole_even)
        copy_form(odds[last], whole_odd)
        halve(whole_even, evens[last], evens[count], 4, dimension, edge)
        halve(whole_odd, odds[last], odds[count], 3, dimension, edge)
        length = 0.0
        for s in range(size):
            length += (0.5 * (corners[last, a, s] + corners[last, b, s])) ** 2
        factor = 1.0 / math.sqrt(length)
        copy_form(corners[last], corners[count])
        for s in range(size):
            middle = 0.5 * factor * (corners[count, a, s] + corners[count, b, s])
            corners[last, b, s] = middle
            corners[count, a, s] = middle
        _scale_corner(evens[last], 4, dimension, b, factor)
        _scale_corner(odds[last], 3, dimension, b, factor)
        _scale_corner(evens[count], 4, dimension, a, factor)
        _scale_corner(odds[count], 3, dimension, a, factor)
        count += 1
        for half in range(2):
            k = last + half
            bounds[k], corner, found = _part_bound(evens[k], odds[k], corners[k], dimension)
            if found > best_value:
                best_value = found
                for s in range(size):
                    point[s] = corners[k, corner, s]
    for k in range(count):
        done = max(done, bounds[k])
    return done + margin, best_value, point


@compiled
def _as_bernstein(form, degree, factorial, size, signs):  # type: ignore[no-untyped-def]
    """Divide the coefficients of monomials by how many products have them, on one orthant."""
    for b in range(degree + 1 if size == 3 else 1):
        for a in range(degree + 1 - b if size > 1 else 1):
            c, count = degree - a - b, factorial
            for exponent in (a, b, c):
                for step in range(2, exponent + 1):
                    count /= step
            sign = signs[0] if c % 2 else 1.0
            if size > 1 and a % 2:
                sign *= signs[1]
            if size > 2 and b % 2:
                sign *= signs[2]
            form[a, b] *= sign / count


@compiled
def _forms(gram, matrix, vector, variance_weight, columns, signs, even, odd):  # type: ignore[no-untyped-def]
    """Add E and O of a support on one orthant in Bernstein form to zeros; return their size."""
    size, n_columns = columns.shape[0], vector.shape[0]
    powers = np.zeros(3, dtype=np.int64)
    total = 0.0
    # Every product of four weights, or of three, by the exponents of the variables 1 and 2.
    for i in range(size):
        for j in range(size):
            linear = variance_weight * gram[columns[i], columns[j]]
            square = matrix[columns[i], columns[j]] - linear
            left = n_columns + columns[i] * n_columns + columns[j]
            for k in range(size):
                powers[:] = 0
                powers[i] += 1
                powers[j] += 1
                powers[k] += 2
                even[powers[1], powers[2]] += square
                powers[:] = 0
                powers[i] += 1
                powers[j] += 1
                powers[k] += 1
                odd[powers[1], powers[2]] -= 2 * variance_weight * gram[left, columns[k]]
                for m in range(size):
                    right = n_columns + columns[k] * n_columns + columns[m]
                    powers[m] += 1
                    even[powers[1], powers[2]] -= variance_weight * gram[left, right]
                    powers[m] -= 1
                    total += abs(variance_weight * gram[left, right])
                total += abs(2 * variance_weight * gram[left, columns[k]])
                total += abs(square) + 2 * abs(linear)
    for i in range(size):
        for k in range(size):
            powers[:] = 0
            powers[i] += 1
            powers[k] += 2
            odd[powers[1], powers[2]] += vector[columns[i]]
            total += abs(vector[columns[i]])
    _as_bernstein(even, 4, 24.0, size, signs)
    _as_bernstein(odd, 3, 6.0, size, signs)
    return total


@dataclass(frozen=True, eq=False)
class Support:
    """A few variables with signs of their weights, and the halvings spent on it."""

    columns: IntArray
    signs: FloatArray
    halvings: int = 0


class QuadraticPatches:
    """The supports of one objective; see `tellapart.search.certificate.Regions`.

    Parameters
    ----------
    objective : FittedObjective
        F of a quadratic kernel.
    """

    def __init__(self, objective: FittedObjective) -> None:
        self._objective = objective
        self._sums: tuple[FloatArray, FloatArray, FloatArray] | None = None

    @property
    def resolution(self) -> float:
        """What rounding error may add to a bound, at most."""
        gram, matrix, vector = self._known()
        largest = self._objective.variance_weight * float(np.abs(gram).max())
        largest += float(np.abs(matrix).max()) + float(np.abs(vector).max())
        return _TERMS * ROUNDING * largest

    def release(self) -> None:
        """Give the memory of the sums back; they are made again when needed."""
        self._sums = None

    def roots(self, n_variables: int) -> list[Support]:
        """Return the supports of `n_variables` variables, once for each choice of signs."""
        signed = self._objective.signed
        signs = list(product(*[(1.0, -1.0) if signed else (1.0,)] * n_variables))
        supports = combinations(range(self._objective.samples.n_columns), n_variables)
        return [Support(np.array(s), np.array(sign)) for s in supports for sign in signs]

    def refine(self, region: Support, value: float, allowed: float) -> Refined[Support]:
        """Bound F on a support, with eight times the halvings of before."""
        even, odd = np.zeros((5, 5)), np.zeros((4, 4))
        weight = self._objective.variance_weight
        total = _forms(*self._known(), weight, region.columns, region.signs, even, odd)
        halvings = max(8 * region.halvings, _FIRST_HALVINGS)
        bound, found, point = _largest_on_sphere(
            even,
            odd,
            region.signs,
            region.columns.size - 1,
            value,
            allowed,
            ROUNDING * total,
            halvings,
        )
        z = np.zeros(self._objective.samples.n_columns)
        z[region.columns] = point
        return Refined([(bound, replace(region, halvings=halvings))], found, z)

    def _known(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return Σ_i g_i f̃_i f̃_iᵀ, where r_i = f_iᵀ(z, zzᵀ), and 𝒜 and 𝒯 of MMD²."""
        if self._sums is None:
            moments, offset = self._objective.row_moments(), self._objective.kernel.square_offset
            form = self._objective.quadratic_form()
            assert moments is not None  # `regions_of` says so
            assert offset is not None
            assert form is not None
            n_rows, n_x = moments.row_vectors.shape[0], self._objective.samples.n_x
            flat = moments.row_matrices.reshape(n_rows, -1)
            factors = np.concatenate([2 * offset * moments.row_vectors, flat], axis=1)
            for group in (slice(0, n_x), slice(n_x, None)):
                block = factors[group]
                factors[group] = (block - block.mean(axis=0)) / block.shape[0]
            self._sums = factors.T @ factors, *form
        return self._sums
