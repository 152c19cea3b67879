"""A compiled walk over supports that names those a dual bound does not close.

With H = μI + M, M = −A, positive definite on the supports in question, the maximum over a support
S is at most μ + ¼h(S), h(S) = a_Sᵀ H_SS⁻¹ a_S, for this one μ. Adding R to P raises h by
r_Rᵀ Σ_RR⁻¹ r_R, where Σ = H − H_:P H_PP⁻¹ H_P: and r = a − H_:P H_PP⁻¹ a_P are what is left of H
and a: a rank-one update per variable added, and the last two variables by the 2 × 2 formula.

A family is skipped if its most promising members cannot reach the target: with unit diagonal,
Σ_RR ⪰ Diag(1 − the m − 1 largest |Σ_jk| of row j) for every R of m variables (Gershgorin).

Rounding error: H's diagonal is lowered by `MARGIN` of itself. The computed h is that of a matrix
off by at most a few d²ε ≪ MARGIN of the diagonal, so that it is no lower than the exact one.
"""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.compiling import compiled

MARGIN = 1e-10
"""The part of its diagonal that H is lowered by, to cover rounding error."""
TINY_PIVOT = 1e-6
"""What is left of a diagonal entry, as a part of it, below which it decides nothing."""
DONE, PAUSED, STUCK = 0, 1, 2
"""Whether the walk is over, wants to be resumed, or met a block that is not positive definite."""


@compiled
def walk(
    left: FloatArray,
    slopes: FloatArray,
    reaches: FloatArray,
    gained: FloatArray,
    lists: IntArray,
    counts: IntArray,
    places: IntArray,
    floors: FloatArray,
    picks: int,
    target: float,
    nonnegative: bool,
    found: IntArray,
    budget: int,
) -> tuple[int, int, int]:
    """Go on with a walk; return its state, the number of supports found and the work done.

    Level l has l variables added: `left[l]` is Σ, `slopes[l]` r, `gained[l]` h, and the
    variables that may follow are `lists[l, :counts[l]]`, of which `places[l]` are done with; the
    one added last is the one before that. `reaches` are from `thin_out`. Level 0 is filled in by
    the caller, the others have counts of −1 at first. `floors` are the entries below which a
    pivot is too small. Supports whose h exceeds `target` go to `found`, which has room for one row
    of them at least.
    """
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
            state, number, done = _last_two(
                left[level],
                slopes[level],
                gained[level],
                lists,
                counts,
                places,
                floors,
                level,
                missing,
                target,
                nonnegative,
                found,
                number,
            )
            work += done
            if state != DONE:
                return state, number, work
            counts[level] = -1
            level -= 1
            continue
        i = places[level]
        if size - i < missing:
            counts[level] = -1
            level -= 1
            continue
        places[level] = i + 1
        if _highest(reaches[level], i, size, missing) <= target - gained[level]:
            continue
        pivot = left[level, i, i]
        if pivot <= floors[lists[level, i]]:
            return STUCK, number, work
        # What the variable added leaves of the ones after it.
        rest = size - i - 1
        slope = slopes[level, i]
        if nonnegative and slope < 0:
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
        places[level + 1] = 0
        if missing > 3:
            work += thin_out(
                left[level + 1],
                slopes[level + 1],
                reaches[level + 1],
                lists[level + 1],
                counts,
                level + 1,
                missing - 1,
                target - gained[level + 1],
                nonnegative,
                floors,
            )
        level += 1
    return DONE, number, work


@compiled
def _last_two(
    left: FloatArray,
    slopes: FloatArray,
    gained: float,
    lists: IntArray,
    counts: IntArray,
    places: IntArray,
    floors: FloatArray,
    level: int,
    missing: int,
    target: float,
    nonnegative: bool,
    found: IntArray,
    number: int,
) -> tuple[int, int, int]:
    """Visit the supports with the last one or two variables, from `places[level]` on."""
    size = counts[level]
    room = target - gained
    work = 0
    for i in range(places[level], size):
        if number + size > found.shape[0]:
            places[level] = i
            return PAUSED, number, work
        s_i, r_i = left[i, i], slopes[i]
        if s_i <= floors[lists[level, i]]:
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
                    found[number, k] = lists[k, places[k] - 1]
                found[number, level] = lists[level, i]
                if missing == 2:
                    found[number, level + 1] = lists[level, j]
                number += 1
        work += last - i
    return DONE, number, work


@compiled
def thin_out(
    left: FloatArray,
    slopes: FloatArray,
    reach: FloatArray,
    names: IntArray,
    counts: IntArray,
    level: int,
    missing: int,
    room: float,
    nonnegative: bool,
    floors: FloatArray,
) -> int:
    """Drop variables that are in no set of `missing` that gains more than `room`; return the work.

    Until nothing changes: fewer variables have smaller row sums. `reach` becomes what each of
    those left adds at most.
    """
    work = 0
    while True:
        size = counts[level]
        if size < missing:
            break
        top = np.empty(missing - 1)
        for j in range(size):
            s_j = left[j, j]
            reach[j] = np.inf
            if s_j <= floors[names[j]]:
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
            if nonnegative and slope < 0:
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
    place = 0
    while place + 1 < top.shape[0] and top[place + 1] < value:
        top[place] = top[place + 1]
        place += 1
    top[place] = value
