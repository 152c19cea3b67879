"""Every support of a node looked at, most of them in families."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.budget import current_budget
from tellapart.compiling import compiled
from tellapart.strs.domains import Domain, multiplier_on_orthant, secular_root

# A compiled walk over supports that names those a dual bound does not close.
#
# With H = μI + M, M = −A, positive definite on the supports in question, the maximum over a support
# S is at most μ + ¼h(S), h(S) = a_Sᵀ H_SS⁻¹ a_S, for this one μ. Adding R to P raises h by
# r_Rᵀ Σ_RR⁻¹ r_R, where Σ = H − H_:P H_PP⁻¹ H_P: and r = a − H_:P H_PP⁻¹ a_P are what is left of H
# and a: a rank-one update per variable added, and the last two variables by the 2 × 2 formula.
#
# A family is skipped if its most promising members cannot reach the target: with unit diagonal,
# Σ_RR ⪰ Diag(1 − the m − 1 largest |Σ_jk| of row j) for every R of m variables (Gershgorin).
#
# Rounding error: H's diagonal is lowered by `MARGIN` of itself. The computed h is that of a matrix
# off by at most a few d²ε ≪ MARGIN of the diagonal, so that it is no lower than the exact one.


MARGIN = 1e-10
"""The part of its diagonal that H is lowered by, to cover rounding error."""
TINY_PIVOT = 1e-6
"""What is left of a diagonal entry, as a part of it, below which it decides nothing."""
SLIGHT = 1e-8
"""The part of its terms within which a test without branches leaves it to the exact one."""
SMALLER = (0.6, 0.35, 0.2, 0.1)
"""The multipliers, as parts of the walk's own, that a support is tried with before it is named."""
LEAF_WORK = 150
"""About the operations that a single support takes."""
TYPICAL = 0.6
"""The part of the largest effects that is added to all where variables are weighed together."""
BLOCK = 32
"""So many numbers at a time are compared with the largest so far."""
DONE, PAUSED, STUCK = 0, 1, 2
"""Whether the walk is over, wants to be resumed, or met a block that is not positive definite."""


class Levels(NamedTuple):
    """Where a walk is: level l has l variables added.

    `left[l]` is Σ, `slopes[l]` r, `gained[l]` h, and the variables that may follow are
    `lists[l, :counts[l]]`, of which `positions[l]` are done with; the one added last is the one
    before that. Below the last level `positions` says where the last two are. `reaches` are from
    `thin_out`. Level 0 is filled in by the caller, the others
    have counts of −1 at first. `floors` are the entries below which a pivot is too small, and
    `nonnegative` says whether z ≥ 0. `correlations` is room for `thin_out`.
    """

    left: FloatArray
    slopes: FloatArray
    reaches: FloatArray
    gained: FloatArray
    lists: IntArray
    counts: IntArray
    positions: IntArray
    floors: FloatArray
    nonnegative: bool
    correlations: FloatArray


class Leaves(NamedTuple):
    """What single supports are judged by: M and a of all variables, and multipliers to try.

    A support is `given` and some of `names`, in whose order the levels list the variables.
    """

    M: FloatArray
    a: FloatArray
    given: IntArray
    names: IntArray
    multipliers: FloatArray


@compiled
def walk(
    levels: Levels, leaves: Leaves, picks: int, cutoff: float, supports: IntArray, budget: int
) -> tuple[int, int, int]:
    """Go on with a walk; return its state, the number of supports found and the work done.

    Supports whose bound exceeds `cutoff` at all of the multipliers, the first of which is that of
    the levels, go to `supports`, which has room for one row of them at least.
    """
    left, slopes, gained = levels.left, levels.slopes, levels.gained
    lists, counts, positions = levels.lists, levels.counts, levels.positions
    target = 4.0 * (cutoff - leaves.multipliers[0])
    level, work, number = -1, 0, 0
    for each in range(counts.shape[0]):
        if counts[each] >= 0:
            level = each
    while level >= 0:
        size = counts[level]
        missing = picks - level
        if work > budget:
            return PAUSED, number, work
        i = positions[level]
        if missing < 3:
            # Only at level 0: no more than two are to be picked.
            state, number, done = _last_two(
                levels, leaves, 0, -1, missing, cutoff, supports, number
            )
            work += done
            if state != DONE:
                return state, number, work
        if missing < 3 or size - i < missing:
            counts[level] = -1
            level -= 1
            continue
        positions[level] = i + 1
        if _highest(levels.reaches[level], i, size, missing) <= target - gained[level]:
            positions[level + 1] = 0
            continue
        pivot = left[level, i, i]
        if pivot <= levels.floors[lists[level, i]]:
            return STUCK, number, work
        rest = size - i - 1
        if missing == 3:
            state, number, done = _last_two(levels, leaves, level, i, 2, cutoff, supports, number)
            work += done
            if state != DONE:
                positions[level] = i
                return state, number, work
            continue
        # What the variable added leaves of the ones after it.
        slope = slopes[level, i]
        if levels.nonnegative and slope < 0:
            # Where z ≥ 0 any t ≥ a is as valid as a: this t_i leaves the variable at 0.
            slope = 0.0
        gained[level + 1] = gained[level] + slope * slope / pivot
        for j in range(rest):
            share = left[level, i, i + 1 + j] / pivot
            lists[level + 1, j] = lists[level, i + 1 + j]
            slopes[level + 1, j] = slopes[level, i + 1 + j] - share * slope
            for k in range(rest):
                left[level + 1, j, k] = (
                    left[level, i + 1 + j, i + 1 + k] - share * left[level, i, i + 1 + k]
                )
        work += rest * rest
        counts[level + 1] = rest
        positions[level + 1] = 0
        work += thin_out(levels, level + 1, missing - 1, target - gained[level + 1])
        level += 1
    return DONE, number, work


@compiled
def _last_two(
    levels: Levels,
    leaves: Leaves,
    level: int,
    i: int,
    missing: int,
    cutoff: float,
    supports: IntArray,
    number: int,
) -> tuple[int, int, int]:
    """Visit the supports with the i-th variable and the last one or two; with no i-th if i < 0.

    From the position noted on; return the state, the number of supports found and the work done.
    """
    before, nonnegative, positions = levels.left[level], levels.nonnegative, levels.positions
    names = levels.lists[level, i + 1 : levels.counts[level]]
    size = names.shape[0]
    room = 4.0 * (cutoff - leaves.multipliers[0]) - levels.gained[level]
    # What the i-th variable leaves of the others; their covariances as they are needed.
    shares, pivot_row = np.zeros(size), np.zeros(size)
    diagonal, slopes = np.empty(size), np.empty(size)
    pivot, slope = 1.0, 0.0
    if i >= 0:
        pivot, slope = before[i, i], levels.slopes[level, i]
        if nonnegative and slope < 0:
            slope = 0.0
        room -= slope * slope / pivot
    for j in range(size):
        if i >= 0:
            pivot_row[j] = before[i, i + 1 + j]
            shares[j] = pivot_row[j] / pivot
        slopes[j] = levels.slopes[level, i + 1 + j] - shares[j] * slope
        diagonal[j] = before[i + 1 + j, i + 1 + j] - shares[j] * pivot_row[j]
        if diagonal[j] <= levels.floors[names[j]]:
            return STUCK, number, size
    work = size
    support = np.empty(leaves.given.shape[0] + supports.shape[1], dtype=np.int64)
    for k in range(leaves.given.shape[0]):
        support[k] = leaves.given[k]
    picked = support[leaves.given.shape[0] :]
    note = level + 1 if i >= 0 else level
    for k in range(note):
        picked[k] = levels.lists[k, positions[k] - 1]
    for j in range(positions[note], size):
        if number + size > supports.shape[0]:
            positions[note] = j
            return PAUSED, number, work
        work += size - j
        last = j + 1 if missing == 1 else size
        first = last - 1 if missing == 1 else j + 1
        row, s_j, r_j = before[i + 1 + j, i + 1 : i + 1 + size], diagonal[j], slopes[j]
        if missing == 2 and not _may_exceed(
            row, pivot_row, shares[j], s_j, r_j, diagonal, slopes, room, j + 1
        ):
            continue
        for k in range(first, last):
            s_k, r_k, s_jk = diagonal[k], slopes[k], row[k] - shares[j] * pivot_row[k]
            if missing == 1:
                gain, det, scale = (r_j * r_j if r_j > 0 or not nonnegative else 0.0), s_j, s_j
            else:
                to_j, to_k = r_j * s_k - r_k * s_jk, r_k * s_j - r_j * s_jk
                gain, scale = r_j * to_j + r_k * to_k, s_j * s_k
                det = scale - s_jk * s_jk
                if nonnegative and (to_j < 0 or to_k < 0) and det > 0:
                    # One of them is better off alone.
                    alone_j = r_j * r_j / s_j if r_j > 0 else 0.0
                    alone_k = r_k * r_k / s_k if r_k > 0 else 0.0
                    gain = max(alone_j, alone_k) * det
            # Too close to singular to be judged: left to a closer look.
            singular = det <= TINY_PIVOT * scale
            if not singular and gain <= room * det:
                continue
            picked[note], picked[-1] = names[j], names[k]
            work += LEAF_WORK
            if singular or _exceeds(leaves, support, cutoff, nonnegative):
                for each in range(picked.shape[0]):
                    supports[number, each] = picked[each]
                number += 1
    positions[note] = 0
    return DONE, number, work


@compiled(fastmath=True)
def _may_exceed(
    row: FloatArray,
    pivot_row: FloatArray,
    share: float,
    s_j: float,
    r_j: float,
    diagonal: FloatArray,
    slopes: FloatArray,
    room: float,
    first: int,
) -> bool:
    """Whether a pair of the j-th variable with one from `first` on may gain more than `room`.

    A loop without branches; where it says no by less than rounding error, the pair is looked at.
    """
    number = 0
    for k in range(first, row.shape[0]):
        s_jk = row[k] - share * pivot_row[k]
        square, scale = s_jk * s_jk, s_j * diagonal[k]
        gain = r_j * r_j * diagonal[k] - 2.0 * r_j * slopes[k] * s_jk + slopes[k] * slopes[k] * s_j
        det = scale - square
        number += (gain > room * det - SLIGHT * abs(room) * scale) | (det <= 2 * TINY_PIVOT * scale)
    return number > 0


@compiled
def _exceeds(leaves: Leaves, support: IntArray, cutoff: float, nonnegative: bool) -> bool:
    """Whether a support's dual bound exceeds a cutoff at every multiplier but the first."""
    size, given = support.shape[0], leaves.given.shape[0]
    block, linear = np.empty((size, size)), np.empty(size)
    for i in range(size):
        of_i = support[i] if i < given else leaves.names[support[i]]
        linear[i] = leaves.a[of_i]
        for j in range(i + 1):
            of_j = support[j] if j < given else leaves.names[support[j]]
            block[i, j] = leaves.M[of_i, of_j]
    lowest = np.inf
    for mu in leaves.multipliers[1:]:
        lowest = min(lowest, _bound(block, linear, mu, nonnegative))
        if lowest <= cutoff:
            break
    return lowest > cutoff


@compiled
def thin_out(levels: Levels, level: int, missing: int, room: float) -> int:
    """Drop variables that are in no set of `missing` that gains more than `room`; return the work.

    Until nothing changes: fewer variables have smaller row sums. By `_reach_alone` first, which
    costs least, then by `_reach_together`. `reaches` become what `_reach_alone` finds that each of
    those left adds at most.
    """
    left, slopes, names = levels.left[level], levels.slopes[level], levels.lists[level]
    counts, correlations = levels.counts, levels.correlations
    work, together = 0, False
    while counts[level] >= missing:
        size = counts[level]
        reach = levels.reaches[level] if not together else np.empty(size)
        scales, effects = np.empty(size), np.empty(size)
        for j in range(size):
            if left[j, j] <= levels.floors[names[j]]:
                for k in range(size):
                    levels.reaches[level, k] = np.inf
                return work
            scales[j] = 1.0 / np.sqrt(left[j, j])
            effects[j] = abs(slopes[j]) * scales[j]
            if levels.nonnegative and slopes[j] < 0:
                effects[j] = 0.0
        _correlate(left, scales, levels.nonnegative, correlations)
        if together:
            _reach_together(correlations, effects, missing, reach)
        else:
            _reach_alone(correlations, effects, missing, reach)
        work += size * size
        best = np.zeros(missing)
        for j in range(size):
            if reach[j] > best[0]:
                _push(best, reach[j])
        others = 0.0
        for k in range(1, missing):
            others += best[k]
        kept = 0
        for j in range(size):
            # Its own share and the best others; for one of the best themselves, all of them.
            total = others + reach[j] if reach[j] < best[0] else others + best[0]
            if total > room:
                if kept != j:
                    names[kept] = names[j]
                    slopes[kept] = slopes[j]
                    levels.reaches[level, kept] = levels.reaches[level, j]
                    for k in range(size):
                        left[kept, k] = left[j, k]
                    for k in range(size):
                        left[k, kept] = left[k, j]
                kept += 1
        counts[level] = kept
        if kept == size:
            if together:
                break
            together = True
    return work


@compiled(fastmath=True)
def _correlate(
    left: FloatArray, scales: FloatArray, nonnegative: bool, correlations: FloatArray
) -> None:
    """Fill in how much pairs may help each other: |Σ_jk| with unit diagonal.

    Where z ≥ 0 only negative ones do: zᵀΣz is no less than without the others.
    """
    size = scales.shape[0]
    for j in range(size):
        for k in range(size):
            entry = left[j, k] * scales[j] * scales[k]
            correlations[j, k] = max(-entry, 0.0) if nonnegative else abs(entry)
        correlations[j, j] = 0.0


@compiled
def _reach_alone(
    correlations: FloatArray, effects: FloatArray, missing: int, reach: FloatArray
) -> None:
    """Fill in r_j²/(1 − τ_j), τ_j the sum of the m − 1 largest |Σ_jk| of row j; r_j ≥ 0."""
    size = effects.shape[0]
    top, ones, products = np.empty(missing - 1), np.ones(size), np.empty(size)
    for j in range(size):
        together = _largest(correlations[j], ones, products, top)
        # The difference from 1 is off by far less than 1e-10 of itself.
        reach[j] = (
            (1.0 + 1e-10) * effects[j] * effects[j] / (1.0 - together)
            if together < 0.999
            else np.inf
        )


@compiled
def _reach_together(
    correlations: FloatArray, effects: FloatArray, missing: int, reach: FloatArray
) -> None:
    """Fill in shares of a bound that knows both of a pair.

    For any t > 0, τ_j = Σ_k |Σ_jk| t_k/t_j: Σ_RR ⪰ Diag(1 − τ_j) with the sum over R, whose gain is
    at most Σ r_j²/(1 − τ_j(R)) ≤ Σ r_j² + Σ_j c_j Σ_k |Σ_jk| t_k/t_j with c_j = r_j²/(1 − τ_j), τ_j
    of the m − 1 largest. The terms of a pair may be counted with either of the two: counted with
    its partner, a variable with a small effect adds no more than it helps the others. The t that
    are about as large as the weights may become make the bound tight.
    """
    size = effects.shape[0]
    top, products = np.empty(missing - 1), np.empty(size)
    largest = np.zeros(missing)
    for j in range(size):
        if effects[j] > largest[0]:
            _push(largest, effects[j])
    typical = 1e-300
    for each in largest:
        typical += TYPICAL * each / missing
    t, balance, costs = np.empty(size), np.empty(size), np.empty(size)
    for j in range(size):
        t[j] = np.sqrt(effects[j] + typical)
    for j in range(size):
        balance[j] = np.sqrt(_largest(correlations[j], t, products, top) / t[j] + 1e-3)
    for j in range(size):
        t[j] *= balance[j]
    for j in range(size):
        together = _largest(correlations[j], t, products, top) / t[j]
        if together >= 0.999:
            for k in range(size):
                reach[k] = np.inf
            return
        costs[j] = effects[j] * effects[j] / ((1.0 - together) * t[j])
    for j in range(size):
        helped = _largest(correlations[j], costs, products, top) * t[j]
        reach[j] = (1.0 + 1e-10) * (effects[j] * effects[j] + helped)


@compiled
def _largest(row: FloatArray, factors: FloatArray, products: FloatArray, top: FloatArray) -> float:
    """Return the sum of the largest products of a row with its factors, as many as `top` holds."""
    size = factors.shape[0]
    for k in range(top.shape[0]):
        top[k] = 0.0
    _multiply(row, factors, products)
    for first in range(0, size, BLOCK):
        last = min(size, first + BLOCK)
        if _maximum(products, first, last) > top[0]:
            for k in range(first, last):
                if products[k] > top[0]:
                    _push(top, products[k])
    total = 0.0
    for each in top:
        total += each
    return total


@compiled(fastmath=True)
def _multiply(row: FloatArray, factors: FloatArray, products: FloatArray) -> None:
    """Fill in products."""
    for k in range(factors.shape[0]):
        products[k] = row[k] * factors[k]


@compiled(fastmath=True)
def _maximum(values: FloatArray, first: int, last: int) -> float:
    """Return the largest of some values."""
    highest = float(values[first])
    for k in range(first, last):
        highest = max(highest, values[k])
    return highest


@compiled
def _highest(reach: FloatArray, i: int, size: int, missing: int) -> float:
    """Return what `missing` variables gain at most, the i-th and others after it."""
    best = np.zeros(missing - 1)
    for j in range(i + 1, size):
        if reach[j] > best[0]:
            _push(best, reach[j])
    total = reach[i]
    for each in best:
        total += each
    return float(total)


@compiled
def _push(top: FloatArray, value: float) -> None:
    """Put a value among the largest, kept in rising order, in the place of the least."""
    position = 0
    while position + 1 < top.shape[0] and top[position + 1] < value:
        top[position] = top[position + 1]
        position += 1
    top[position] = value


# The dual bound of single supports at the best multiplier of each, in compiled code.


EDGE = 1e-9
"""How far above −λ_min(M) the multiplier stays, as a part of the size of the numbers."""


@compiled
def dual_bounds(M: FloatArray, a: FloatArray, supports: IntArray, nonnegative: bool) -> FloatArray:
    """Return μ + ¼tᵀ(μI + M)⁻¹t for each support, at about the best μ and t.

    It bounds aᵀz − zᵀMz over ‖z‖₂ = 1 on the support; t = a, or t ≥ a where z ≥ 0. The diagonal
    of μI + M is lowered by more than rounding error, as in `walk`.
    """
    size = supports.shape[1]
    bounds = np.empty(supports.shape[0])
    block = np.empty((size, size))
    linear = np.empty(size)
    for row in range(supports.shape[0]):
        for i in range(size):
            linear[i] = a[supports[row, i]]
            for j in range(size):
                block[i, j] = M[supports[row, i], supports[row, j]]
        eigenvalues, vectors = np.linalg.eigh(block)
        scale = np.abs(eigenvalues).max() + np.abs(linear).max()
        lowest = EDGE * scale - eigenvalues[0]
        t = linear
        if nonnegative:
            mu, w = multiplier_on_orthant(block, linear, lowest, linear > 0)
            t = np.maximum(linear, 2.0 * (block @ w + mu * w))
        else:
            c = np.ascontiguousarray(vectors.T) @ linear / 2.0
            mu = secular_root(eigenvalues - eigenvalues[0], c, EDGE * scale) - eigenvalues[0]
        bounds[row] = _bound(block, t, mu, False)
    return bounds


@compiled
def _bound(M: FloatArray, t: FloatArray, mu: float, nonnegative: bool) -> float:
    """Return μ + ¼tᵀ(μI + M)⁻¹t, not below the exact one; infinity if that is not definite.

    Where z ≥ 0 entries of t are raised as in `walk`. Only the lower triangle of M is read.
    """
    size = t.shape[0]
    factor = np.zeros((size, size))
    along = np.empty(size)
    total = 0.0
    for i in range(size):
        diagonal = M[i, i] + mu
        if diagonal <= 0.0:
            return np.inf
        along[i] = t[i]
        for j in range(i):
            entry = M[i, j]
            for k in range(j):
                entry -= factor[i, k] * factor[j, k]
            factor[i, j] = entry / factor[j, j]
            along[i] -= factor[i, j] * along[j]
        pivot = diagonal * (1.0 - MARGIN)
        for k in range(i):
            pivot -= factor[i, k] ** 2
        if pivot <= MARGIN * diagonal:
            return np.inf
        factor[i, i] = np.sqrt(pivot)
        along[i] /= factor[i, i]
        if nonnegative and along[i] < 0.0:
            along[i] = 0.0
        total += along[i] ** 2
    return mu + total / 4.0 + 1e-14 * (abs(mu) + total)


class Enumeration:
    """The supports of the variables `forced` and `picks` others; M = −A and a run along all.

    `open_supports` yields those whose best dual bound may exceed a cutoff; the maxima over all
    others are at most the cutoff in force when they were passed. After an end without
    `finished` nothing is proved.
    """

    def __init__(
        self, M: FloatArray, a: FloatArray, forced: BoolArray, picks: int, domain: Domain, mu: float
    ) -> None:
        self.M, self.a, self.domain, self.mu, self.picks = M, a, domain, mu, picks
        self.given = np.flatnonzero(forced)
        self.finished = False
        self.work = 0
        self.marks: list[tuple[float, int]] = []
        H = M + mu * np.eye(a.shape[0])
        H[np.diag_indices_from(H)] *= 1 - MARGIN
        free = np.flatnonzero(~forced)
        self.started = self._condition(H, free)

    def _condition(self, H: FloatArray, free: IntArray) -> bool:
        """Fill in level 0: what the forced variables leave of H and a; False if H rules it out."""
        left, slopes, gained = H[np.ix_(free, free)], self.a[free], 0.0
        if self.given.shape[0] > 0:
            try:
                root = cholesky(H[np.ix_(self.given, self.given)], lower=True)
            except LinAlgError:
                return False
            cross = solve_triangular(root, H[np.ix_(self.given, free)], lower=True)
            along = solve_triangular(root, self.a[self.given], lower=True)
            left, slopes = left - cross.T @ cross, slopes - cross.T @ along
            gained = float(along @ along)
        diagonal = np.diag(H)[free]
        if not (np.diag(left) > TINY_PIVOT * np.abs(diagonal)).all():
            return False
        # The most promising first: what comes last is skipped together.
        order = np.argsort(-self.domain.promise(slopes) / np.sqrt(np.diag(left)), kind="stable")
        size, depth = free.shape[0], max(self.picks - 2, 1)
        self.names = free[order]
        smaller = [part * self.mu for part in SMALLER if self.domain.on_sphere]
        self.leaves = Leaves(
            self.M, self.a, self.given, self.names, np.array([self.mu, *smaller], dtype=float)
        )
        self.levels = Levels(
            left=np.empty((depth, size, size)),
            slopes=np.empty((depth, size)),
            reaches=np.full((depth, size), np.inf),
            gained=np.full(depth, gained),
            lists=np.zeros((depth, size), dtype=np.int64),
            counts=np.full(depth, -1),
            positions=np.zeros(depth + 1, dtype=np.int64),
            floors=TINY_PIVOT * np.abs(diagonal[order]),
            nonnegative=self.domain.nonnegative,
            correlations=np.empty((size, size)),
        )
        self.levels.left[0] = left[np.ix_(order, order)]
        self.levels.slopes[0] = slopes[order]
        self.levels.lists[0] = np.arange(size)
        self.levels.counts[0] = size
        room = current_budget().enumeration_supports + size
        self.open_rows = np.empty((room, self.picks), dtype=np.int64)
        return True

    def open_supports(self, cutoff: Callable[[], float]) -> Iterator[IntArray | None]:
        """Yield supports that need a closer look, and None at pauses."""
        first = True
        while self.started:
            level = cutoff()
            if first and self.picks > 2:
                room = 4 * (level - self.mu) - float(self.levels.gained[0])
                thin_out(self.levels, 0, self.picks, room)
            first = False
            state, number, work = walk(
                self.levels,
                self.leaves,
                self.picks,
                level,
                self.open_rows,
                current_budget().enumeration_pause,
            )
            self.work += work
            self._note_progress()
            if state == STUCK:
                return
            yield from self._not_closed(self.open_rows[:number], cutoff)
            yield None
            if state == DONE:
                self.finished = True
                return

    @property
    def promised_work(self) -> float:
        """About the operations of the whole enumeration, too many rather than too few.

        As if the supports not visited yet took as many each as the later half of those done with;
        the most promising come first, and take the most.
        """
        if self.finished or not self.started:
            return float(self.work)
        done, work = self.marks[-1]
        before, less = next(mark for mark in self.marks if mark[0] >= done / 2)
        if before == done:
            before, less = 0.0, 0
        return work + (1 - done) * (work - less) / (done - before) if done > 0 else np.inf

    def _note_progress(self) -> None:
        """Note the share of all supports that is done with, and the work until then."""
        size, position = int(self.levels.counts[0]), int(self.levels.positions[0])
        left = comb(max(size - position, 0), self.picks)
        self.marks.append((1 - left / max(comb(max(size, self.picks), self.picks), 1), self.work))

    def _not_closed(self, open_rows: IntArray, cutoff: Callable[[], float]) -> Iterator[IntArray]:
        """Yield those of some supports that their own best multiplier does not close."""
        given = np.broadcast_to(self.given, (open_rows.shape[0], self.given.shape[0]))
        supports = np.hstack([given, self.names[open_rows]])
        if self.domain.on_sphere:
            bounds = dual_bounds(self.M, self.a, supports, self.domain.nonnegative)
            order = np.argsort(-bounds, kind="stable")
            supports, bounds = supports[order], bounds[order]
            for support, bound in zip(supports, bounds, strict=True):
                # The cutoff rises with what is found.
                if bound <= cutoff():
                    break
                yield np.sort(support)
        else:
            yield from (np.sort(support) for support in supports)
