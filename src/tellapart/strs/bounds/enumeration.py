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
DONE, PAUSED, STUCK = 0, 1, 2
"""Whether the walk is over, wants to be resumed, or met a block that is not positive definite."""


class Levels(NamedTuple):
    """Where a walk is: level l has l variables added.

    `left[l]` is Σ, `slopes[l]` r, `gained[l]` h, and the variables that may follow are
    `lists[l, :counts[l]]`, of which `positions[l]` are done with; the one added last is the one
    before that. `reaches` are from `thin_out`. Level 0 is filled in by the caller, the others
    have counts of −1 at first. `floors` are the entries below which a pivot is too small, and
    `nonnegative` says whether z ≥ 0.
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


@compiled
def walk(
    levels: Levels, picks: int, target: float, supports: IntArray, budget: int
) -> tuple[int, int, int]:
    """Go on with a walk; return its state, the number of supports found and the work done.

    Supports whose h exceeds `target` go to `supports`, which has room for one row of them at least.
    """
    left, slopes, gained = levels.left, levels.slopes, levels.gained
    lists, counts, positions = levels.lists, levels.counts, levels.positions
    level, work, number = -1, 0, 0
    for each in range(counts.shape[0]):
        if counts[each] >= 0:
            level = each
    while level >= 0:
        size = counts[level]
        missing = picks - level
        if work > budget:
            return PAUSED, number, work
        if missing <= 2:
            state, number, done = _last_two(levels, level, missing, target, supports, number)
            work += done
            if state != DONE:
                return state, number, work
            counts[level] = -1
            level -= 1
            continue
        i = positions[level]
        if size - i < missing:
            counts[level] = -1
            level -= 1
            continue
        positions[level] = i + 1
        if _highest(levels.reaches[level], i, size, missing) <= target - gained[level]:
            continue
        pivot = left[level, i, i]
        if pivot <= levels.floors[lists[level, i]]:
            return STUCK, number, work
        # What the variable added leaves of the ones after it.
        rest = size - i - 1
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
        if missing > 3:
            work += thin_out(levels, level + 1, missing - 1, target - gained[level + 1])
        level += 1
    return DONE, number, work


@compiled
def _last_two(
    levels: Levels, level: int, missing: int, target: float, supports: IntArray, number: int
) -> tuple[int, int, int]:
    """Visit the supports with the last one or two variables, from `positions[level]` on."""
    left, slopes, lists = levels.left[level], levels.slopes[level], levels.lists
    positions, nonnegative = levels.positions, levels.nonnegative
    size = levels.counts[level]
    room = target - levels.gained[level]
    work = 0
    for i in range(positions[level], size):
        if number + size > supports.shape[0]:
            positions[level] = i
            return PAUSED, number, work
        s_i, r_i = left[i, i], slopes[i]
        if s_i <= levels.floors[lists[level, i]]:
            return STUCK, number, work
        last = i + 1 if missing == 1 else size
        for j in range(i if missing == 1 else i + 1, last):
            s_j, r_j, s_ij = left[j, j], slopes[j], left[i, j]
            if missing == 1:
                gain, det = (r_i * r_i if r_i > 0 or not nonnegative else 0.0), s_i
            else:
                to_i, to_j = r_i * s_j - r_j * s_ij, r_j * s_i - r_i * s_ij
                gain, det = r_i * to_i + r_j * to_j, s_i * s_j - s_ij * s_ij
                if nonnegative and (to_i < 0 or to_j < 0) and det > 0:
                    # One of them is better off alone.
                    alone_i = r_i * r_i / s_i if r_i > 0 else 0.0
                    alone_j = r_j * r_j / s_j if r_j > 0 else 0.0
                    gain = max(alone_i, alone_j) * det
            # Too close to singular to be judged: left to a closer look.
            if gain > room * det or det <= TINY_PIVOT * s_i * s_j:
                for k in range(level):
                    supports[number, k] = lists[k, positions[k] - 1]
                supports[number, level] = lists[level, i]
                if missing == 2:
                    supports[number, level + 1] = lists[level, j]
                number += 1
        work += last - i
    return DONE, number, work


@compiled
def thin_out(levels: Levels, level: int, missing: int, room: float) -> int:
    """Drop variables that are in no set of `missing` that gains more than `room`; return the work.

    Until nothing changes: fewer variables have smaller row sums. `reaches` become what each of
    those left adds at most.
    """
    left, slopes, names = levels.left[level], levels.slopes[level], levels.lists[level]
    reach, counts = levels.reaches[level], levels.counts
    work = 0
    while True:
        size = counts[level]
        if size < missing:
            break
        top = np.empty(missing - 1)
        for j in range(size):
            s_j = left[j, j]
            reach[j] = np.inf
            if s_j <= levels.floors[names[j]]:
                continue
            top[:] = 0.0
            for k in range(size):
                if k != j:
                    share = left[j, k] * left[j, k] / left[k, k] if left[k, k] > 0 else np.inf
                    if share > top[0]:
                        _push(top, share)
            together = 0.0
            for share in top:
                together += float(np.sqrt(share / s_j))
            slope = slopes[j]
            if levels.nonnegative and slope < 0:
                slope = 0.0
            if together < 0.999:
                # The difference from 1 is off by far less than 1e-10 of itself.
                reach[j] = (1.0 + 1e-10) * slope * slope / (s_j * (1.0 - together))
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
                    for k in range(size):
                        left[kept, k] = left[j, k]
                    for k in range(size):
                        left[k, kept] = left[k, j]
                kept += 1
        counts[level] = kept
        if kept == size:
            break
    return work


@compiled
def _highest(reach: FloatArray, i: int, size: int, missing: int) -> float:
    """Return what `missing` variables gain at most, the i-th and others after it."""
    best = np.zeros(missing - 1)
    for j in range(i + 1, size):
        if reach[j] > best[0]:
            _push(best, reach[j])
    return float(reach[i] + best.sum())


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
        bounds[row] = _bound(block, t, mu)
    return bounds


@compiled
def _bound(M: FloatArray, t: FloatArray, mu: float) -> float:
    """Return μ + ¼tᵀ(μI + M)⁻¹t, not below the exact one; infinity if that is not definite."""
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
        size, depth = free.shape[0], max(self.picks - 1, 1)
        self.names = free[order]
        self.levels = Levels(
            left=np.empty((depth, size, size)),
            slopes=np.empty((depth, size)),
            reaches=np.full((depth, size), np.inf),
            gained=np.full(depth, gained),
            lists=np.zeros((depth, size), dtype=np.int64),
            counts=np.full(depth, -1),
            positions=np.zeros(depth, dtype=np.int64),
            floors=TINY_PIVOT * np.abs(diagonal[order]),
            nonnegative=self.domain.nonnegative,
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
            target = 4 * (cutoff() - self.mu)
            if first and self.picks > 2:
                thin_out(self.levels, 0, self.picks, target - float(self.levels.gained[0]))
            first = False
            state, number, work = walk(
                self.levels, self.picks, target, self.open_rows, current_budget().enumeration_pause
            )
            self.work += work
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

        As if the supports not visited yet took as many each as those done with; the most
        promising come first, and take the most.
        """
        if self.finished or not self.started:
            return float(self.work)
        size, position = int(self.levels.counts[0]), int(self.levels.positions[0])
        left = comb(max(size - position, 0), self.picks)
        done = 1 - left / max(comb(max(size, self.picks), self.picks), 1)
        return self.work / done if done > 0 else np.inf

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
