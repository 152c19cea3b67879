"""Upper bounds on F of the Gaussian kernel over patches of weights, rounding error allowed for.

With w = z² and t_ij,s = ψ_s/2σ² ≥ 0 the kernel of a pair of rows is exp(−Σ_s w_s t_ij,s), an
exponential of a function that is linear on a patch: a segment or triangle of weights. MMD² is a
small difference of large sums, so a bound has to keep the cancellation: every exponential is
replaced by its polynomial interpolant of degree q at the lattice points of the patch, and what F
becomes is a polynomial, whose maximum `tellapart.search.bernstein` bounds. With Λ the Lebesgue
constant, [l, u] the range of t on the patch and ρ = (u − l)/2, an exponential is missed by at most

    (1 + Λ) min_p max |exp(−t) − p(t)| ≤ (1 + Λ) e^{−(l+u)/2} 2 Σ_{k>q} I_k(ρ)

the tail of its Chebyshev series; where a constant is nearer, that takes its place. The errors of
MMD² and of r add up over pairs. With P the interpolant of r, ε its error and E² = Σ_i g_i ε_i²,

    Σ_i g_i r̃_i² ≥ ((Σ_i g_i P̃_i²)^½ − E)² ≥ (1 − τ) Σ_i g_i P̃_i² − (1/τ − 1) E²,  0 < τ ≤ 1
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.compiling import compiled
from tellapart.search.bernstein import EDGES, largest_value, tables
from tellapart.search.certificate import Refined
from tellapart.statistics.objective import FittedObjective

# Sums may be taken in any order: the allowance for rounding error covers all.
_LOOSE = {"reassoc", "contract", "nsz", "arcp"}
# Beyond, exp(−t) is 0 for every purpose here: at a lattice point it is below e^{−75}.
_FARTHEST = 600.0
ROUNDING = 1e-11
"""A generous bound on rounding error, relative to Σ|W_ij| = 4 and to the variance."""
RESOLUTION = 1e-8
"""Above all that this allowance may add to a bound."""
_APART = 1e300
# The maximum of a polynomial is bounded to this share of the gap.
_TOLERANCE = 0.1
_LOG2E = 1 / math.log(2)
_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
_TAYLOR = tuple(1 / math.factorial(k) for k in range(13))


SIDE = 16
"""Rows of a tile of pairs."""
_TILE = SIDE * SIDE


@compiled(fastmath={"reassoc", "contract", "nsz"})
def _exponentials(values, out, bits, scales):  # type: ignore[no-untyped-def]
    """Write exp of `values` in [−700, 0] to `out`, to 1e-15: a loop that the compiler vectorises.

    `scales` is the memory of `bits`, read as floating-point numbers.
    """
    c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12 = _TAYLOR
    for j in range(_TILE):
        power = math.floor(values[j] * _LOG2E + 0.5)
        r = (values[j] - power * _LN2_HIGH) - power * _LN2_LOW
        high = c7 + r * (c8 + r * (c9 + r * (c10 + r * (c11 + r * c12))))
        out[j] = c0 + r * (c1 + r * (c2 + r * (c3 + r * (c4 + r * (c5 + r * (c6 + r * high))))))
        bits[j] = (np.int64(power) + 1023) << 52
    for j in range(_TILE):
        out[j] *= scales[j]


@compiled(fastmath=_LOOSE)
def _steps(target, source, degree, out, work, bits, scales):  # type: ignore[no-untyped-def]
    """Write exp((target − source)/degree) to `out`."""
    for j in range(_TILE):
        work[j] = -abs(target[j] - source[j]) / degree
    _exponentials(work, out, bits, scales)
    for j in range(_TILE):
        out[j] = out[j] if target[j] < source[j] else 1.0 / out[j]


@compiled(fastmath=_LOOSE)
def _add_up(values, steps, rows, columns):  # type: ignore[no-untyped-def]
    """Write the sums over rows and columns of a tile, and multiply its values by `steps`."""
    for b in range(SIDE):
        columns[b] = 0.0
    for a in range(SIDE):
        total, begin = 0.0, a * SIDE
        for b in range(SIDE):
            value = values[begin + b]
            total += value
            columns[b] += value
            values[begin + b] = value * steps[begin + b]
        rows[a] = total


@compiled(fastmath=_LOOSE)
def _miss(  # type: ignore[no-untyped-def]
    e0, e1, e2, size, degree, lebesgue, missed, start, along, across, work, bits, scales, edges
):
    """Bound the error of each exponential; where a constant is nearer, put it in its place."""
    largest, middle, halves = np.empty(_TILE), np.empty(_TILE), np.empty(_TILE)
    for j in range(_TILE):
        high, low = max(e0[j], e1[j]), min(e0[j], e1[j])
        if size == 3:
            high, low = max(high, e2[j]), min(low, e2[j])
        work[j], halves[j] = high, 0.5 * (high - low)
    _exponentials(work, largest, bits, scales)
    for j in range(_TILE):
        work[j] -= halves[j]
    _exponentials(work, middle, bits, scales)
    tail = 2.0 * (1.0 + lebesgue)
    for k in range(1, degree + 2):
        tail /= 2.0 * k
    # Beyond this ρ the tail of the series is not bounded as below.
    farthest = math.sqrt(3.6 * (degree + 2))
    bend, slope = 0.25 / (degree + 2), 0.5 / (degree + 2)
    for j in range(_TILE):
        work[j] = min(halves[j], farthest)
        missed[j] = tail * middle[j] * work[j]
    for _ in range(degree):
        for j in range(_TILE):
            missed[j] *= work[j]
    for j in range(_TILE):
        rho = work[j]
        error = missed[j] / ((1.0 - bend * rho * rho) * (1.0 - slope * rho))
        # e^{−u} = e^{−(l+u)}/e^{−l}
        smallest = middle[j] * middle[j] / largest[j]
        constant = 0.5 * (largest[j] - smallest)
        flat = halves[j] >= farthest or constant < error
        missed[j] = constant if flat else error
        start[j] = 0.5 * (largest[j] + smallest) if flat else start[j]
        along[j] = 1.0 if flat else along[j]
        across[j] = 1.0 if flat else across[j]
    if size == 3:
        share0, share1, share2 = 0.0, 0.0, 0.0
        for j in range(_TILE):
            a, b, c = abs(e0[j] - e1[j]), abs(e0[j] - e2[j]), abs(e1[j] - e2[j])
            longest = max(a, max(b, c))
            share0 += missed[j] if a == longest else 0.0
            share1 += missed[j] if b == longest else 0.0
            share2 += missed[j] if c == longest else 0.0
        edges[0] += share0
        edges[1] += share1
        edges[2] += share2


@compiled(fastmath=_LOOSE)
def lattice_sums(  # type: ignore[no-untyped-def]
    pairs, columns, corners, n_x, n_y, degree, lebesgue, statistics, sums, errors, edges
):
    """Sum K over pairs at the lattice points of a patch, and bound what interpolation misses.

    Parameters
    ----------
    pairs : array of shape (D, tiles, SIDE²)
        t of the pairs, see `tiles_of_pairs`.
    columns, corners : arrays of shapes (k,) and (k, k)
        The variables, and the weights of each at the corners of the patch.
    statistics, sums : arrays of shapes (P,) and (P, N)
        Zeros that receive MMD² and r at the lattice points; r up to constants within the samples.
        N counts the rows that fill up tiles, too.
    errors, edges : arrays of shapes (N,) and (3,)
        Zeros that receive the errors of r, and the share of each edge in them.

    Returns the error of MMD².
    """
    size = columns.shape[0]
    blocks_x, blocks = -(-n_x // SIDE), -(-n_x // SIDE) - (-n_y // SIDE)
    exponents = np.empty((3, _TILE))
    missed, work, values = np.zeros(_TILE), np.empty(_TILE), np.empty(_TILE)
    start, along, across = np.empty(_TILE), np.ones(_TILE), np.ones(_TILE)
    bits = np.empty(_TILE, dtype=np.int64)
    scales = bits.view(np.float64)
    row_sums, column_sums = np.empty(SIDE), np.empty(SIDE)
    total_error, tile = 0.0, 0
    for upper in range(blocks):
        for lower in range(upper, blocks):
            # Signs are those of r: a tile's row sums are over the rows of `lower`.
            own = 1.0 / n_x if upper < blocks_x else -1.0 / n_y
            other = 1.0 / n_x if lower < blocks_x else -1.0 / n_y
            weight = -2.0 / (n_x * float(n_y))
            if lower < blocks_x:
                weight = 2.0 / (n_x * (n_x - 1.0))
            elif upper >= blocks_x:
                weight = 2.0 / (n_y * (n_y - 1.0))
            if upper == lower:
                weight *= 0.5  # the tile holds every pair twice
            for k in range(size):
                for s in range(size):
                    share, column, target = corners[k, s], pairs[columns[s], tile], exponents[k]
                    if s == 0:
                        for j in range(_TILE):
                            target[j] = share * column[j]
                    elif share != 0.0:
                        for j in range(_TILE):
                            target[j] += share * column[j]
                target = exponents[k]
                for j in range(_TILE):
                    target[j] = -min(target[j], _FARTHEST)
            tile += 1
            # K at corner 0, and the factors from lattice point to lattice point.
            _exponentials(exponents[0], start, bits, scales)
            if size > 1:
                _steps(exponents[1], exponents[0], degree, along, work, bits, scales)
                if size == 3:
                    _steps(exponents[2], exponents[0], degree, across, work, bits, scales)
                _miss(
                    exponents[0], exponents[1], exponents[2], size, degree, lebesgue, missed,
                    start, along, across, work, bits, scales, edges,
                )  # fmt: skip
                _add_up(missed, missed, row_sums, column_sums)
                for a in range(SIDE):
                    errors[upper * SIDE + a] += abs(other) * row_sums[a]
                    total_error += abs(weight) * row_sums[a]
                    if upper != lower:
                        errors[lower * SIDE + a] += abs(own) * column_sums[a]
            point = 0
            for b in range(degree + 1 if size == 3 else 1):
                for j in range(_TILE):
                    values[j] = start[j]
                for _ in range(degree - b + 1 if size > 1 else 1):
                    _add_up(values, along, row_sums, column_sums)
                    total = 0.0
                    for k in range(SIDE):
                        total += row_sums[k]
                        sums[point, upper * SIDE + k] += other * row_sums[k]
                    if upper != lower:
                        for k in range(SIDE):
                            sums[point, lower * SIDE + k] += own * column_sums[k]
                    statistics[point] += weight * total
                    point += 1
                for j in range(_TILE):
                    start[j] *= across[j]
    return total_error


def tiles_of_pairs(columns: Iterable[FloatArray], count: int, n_x: int, n_y: int) -> FloatArray:
    """Return t of all pairs of rows in tiles on and above the diagonal, of shape (D, tiles, SIDE²).

    `columns` are `count` matrices of t. Rows of X and of Y fill tiles of their own. What belongs to
    no pair of different rows is so far apart that K is 0.
    """
    blocks_x, blocks_y = -(-n_x // SIDE), -(-n_y // SIDE)
    blocks = blocks_x + blocks_y
    rows = np.concatenate([np.arange(n_x), blocks_x * SIDE + np.arange(n_y)])
    upper, lower = np.triu_indices(blocks)
    tiles = np.empty((count, upper.size, _TILE))
    whole = np.full((blocks * SIDE, blocks * SIDE), _APART)
    for s, values in enumerate(columns):
        whole[np.ix_(rows, rows)] = values
        np.fill_diagonal(whole, _APART)
        squares = whole.reshape(blocks, SIDE, blocks, SIDE).swapaxes(1, 2)
        tiles[s] = squares[upper, lower].reshape(upper.size, _TILE)
    return tiles


@compiled(fastmath=_LOOSE)
def _centre(values, count):  # type: ignore[no-untyped-def]
    """Centre the first `count` values and divide them by it; the others fill up tiles."""
    mean = 0.0
    for i in range(count):
        mean += values[i] / count
    for i in range(values.shape[0]):
        values[i] = (values[i] - mean) / count if i < count else 0.0


@compiled(fastmath=_LOOSE)
def _patch_bound(  # type: ignore[no-untyped-def]
    pairs, columns, corners, n_x, n_y, variance_weight, degree, lebesgue, exponents, inverse,
    inverse_transposed, factors, enough, tolerance,
):  # fmt: skip
    n_points, dimension = exponents.shape[0], columns.shape[0] - 1
    begin = -(-n_x // SIDE) * SIDE
    n_rows = begin - (-n_y // SIDE) * SIDE
    statistics, sums = np.zeros(n_points), np.zeros((n_points, n_rows))
    errors, edges = np.zeros(n_rows), np.zeros(3)
    missed = lattice_sums(
        pairs, columns, corners, n_x, n_y, degree, lebesgue, statistics, sums, errors, edges
    )
    # r̃ times √g, so that products of rows are sums over g r̃ r̃.
    squared_errors = 0.0
    for i in range(n_rows):
        squared_errors += (errors[i] / (n_x if i < begin else n_y)) ** 2
    for point in range(n_points):
        _centre(sums[point, :begin], n_x)
        _centre(sums[point, begin:], n_y)
    products = np.dot(sums, np.ascontiguousarray(sums.T))
    best = 0
    for point in range(1, n_points):
        if (
            statistics[point] - variance_weight * products[point, point]
            > statistics[best] - variance_weight * products[best, best]
        ):
            best = point
    value = statistics[best] - missed
    value -= variance_weight * (math.sqrt(products[best, best]) + math.sqrt(squared_errors)) ** 2
    # √Σg r̃² ≥ √V − E, so Σg r̃² ≥ (1 − τ)V − (1/τ − 1)E² for every τ in (0, 1].
    largest_variance, scale = 0.0, 0.0
    for point in range(n_points):
        largest_variance = max(largest_variance, products[point, point])
    kept, lost = 1.0, 0.0
    if squared_errors >= largest_variance:
        kept = 0.0
    elif squared_errors > 0.0:
        share = math.sqrt(squared_errors / largest_variance)
        kept, lost = 1.0 - share, (1.0 / share - 1.0) * squared_errors
    products = np.dot(np.dot(inverse, products), inverse_transposed)
    means, size = np.zeros(n_points), 0.0
    for a in range(n_points):
        for b in range(n_points):
            means[a] += inverse[a, b] * statistics[b]
            size += abs(inverse[a, b]) / n_points
    total = 2 * degree
    objective = np.empty((total + 1, total + 1))
    for a in range(total + 1):
        for b in range(total + 1):
            objective[a, b] = 0.0 if a + b <= total else -np.inf
    for a in range(n_points):
        for b in range(n_points):
            first, second = exponents[a, 1] + exponents[b, 1], exponents[a, 2] + exponents[b, 2]
            variance = variance_weight * kept * products[a, b]
            objective[first, second] += factors[a, b] * (0.5 * (means[a] + means[b]) - variance)
            scale += factors[a, b] * abs(variance)
    missed += variance_weight * lost
    missed += ROUNDING * (4.0 + scale) * size
    top = largest_value(objective, total, dimension, enough - missed, tolerance)
    edge = 0
    if dimension == 2:
        edge = 1 if edges[1] > edges[0] else 0
        edge = 2 if edges[2] > edges[edge] else edge
    return top + missed, value, best, edge


@dataclass(frozen=True, eq=False)
class Patch:
    """Weights w = Σ_k μ_k w_k of a few variables: a point, a segment or a triangle.

    Attributes
    ----------
    columns : int array of shape (k,)
        The variables.
    corners : array of shape (k, k)
        Their weights at each corner w_k.
    edge : int
        The edge to be halved, (0, 1), (0, 2) or (1, 2); −1 where F is not bounded yet.
    """

    columns: IntArray
    corners: FloatArray
    edge: int = -1

    def halves(self) -> tuple[Patch, Patch]:
        """Cut the edge in the middle."""
        a, b = EDGES[self.edge]
        first, second = self.corners.copy(), self.corners.copy()
        first[b] = second[a] = (self.corners[a] + self.corners[b]) / 2
        return Patch(self.columns, first), Patch(self.columns, second)


class GaussianPatches:
    """The patches of all supports of one objective; see `tellapart.search.certificate.Regions`.

    Parameters
    ----------
    objective : FittedObjective
        F of a Gaussian kernel.
    degree : int
        Degree of the interpolants.
    """

    def __init__(self, objective: FittedObjective, degree: int = 6) -> None:
        self._objective = objective
        self._degree = degree
        self._pairs: FloatArray | None = None

    def release(self) -> None:
        """Give the memory of the pairs of rows back; they are made again when needed."""
        self._pairs = None

    def roots(self, n_variables: int) -> list[Patch]:
        """Return the simplex of each support of `n_variables` variables."""
        supports = combinations(range(self._objective.samples.n_columns), n_variables)
        return [Patch(np.array(support), np.eye(n_variables)) for support in supports]

    @property
    def resolution(self) -> float:
        """What rounding error may add to a bound, at most."""
        return RESOLUTION

    def refine(self, region: Patch, value: float, allowed: float) -> Refined[Patch]:
        """Bound F on a patch, or on its halves where that is done."""
        parts = [region] if region.edge < 0 else list(region.halves())
        enough, tolerance = value + allowed, _TOLERANCE * allowed
        bounded = [self._bounded(part, enough, tolerance) for part in parts]
        best = max(bounded, key=lambda refined: refined.value)
        return Refined([part for refined in bounded for part in refined.parts], best.value, best.z)

    def _bounded(self, patch: Patch, enough: float, tolerance: float) -> Refined[Patch]:
        samples = self._objective.samples
        if self._pairs is None:
            self._pairs = self._all_pairs()
        known = tables(patch.columns.size - 1, self._degree)
        bound, value, point, edge = _patch_bound(
            self._pairs,
            patch.columns,
            patch.corners,
            samples.n_x,
            samples.n_y,
            self._objective.variance_weight,
            known.degree,
            known.lebesgue,
            known.exponents,
            known.inverse,
            np.ascontiguousarray(known.inverse.T),
            known.factors,
            enough,
            tolerance,
        )
        z = np.zeros(samples.n_columns)
        z[patch.columns] = np.sqrt(known.points[point, : patch.columns.size] @ patch.corners)
        return Refined([(bound, replace(patch, edge=edge))], value, z)

    def _all_pairs(self) -> FloatArray:
        samples, kernel = self._objective.samples, self._objective.kernel
        variance = kernel.exponent_variance
        assert variance is not None  # `regions_of` says so
        pooled = np.concatenate([samples.x, samples.y])
        # One at a time: the matrices of all columns would take twice the memory of the tiles.
        columns = (
            psi.gram(values, values) / (2 * variance)
            for psi, values in zip(kernel.scalars, np.ascontiguousarray(pooled.T), strict=True)
        )
        return tiles_of_pairs(columns, samples.n_columns, samples.n_x, samples.n_y)
