"""What a search needs to know of a domain: the maximum over one support, and a bound on it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from tellapart.arrays import BoolArray, FloatArray
from tellapart.compiling import compiled

EPS = float(np.finfo(np.float64).eps)


# The maximum over the sphere: a trust region step, by the secular equation Σ_i c_i²/(s + g_i)² = 1.


@compiled
def secular_root(gaps: FloatArray, c: FloatArray, lowest: float) -> float:
    """Return the s ≥ lowest with Σ c_i²/(s + g_i)² = 1, or `lowest` if the sum is below 1 there.

    `gaps` g_i and `lowest` are at least 0. Newton on 1/√(sum) − 1, which is nearly linear and
    concave in s, so that the steps from the left never overshoot: a handful reach rounding error.
    """
    s = lowest
    norm2 = 0.0
    for i in range(c.shape[0]):
        norm2 += c[i] * c[i]
        # One term alone reaches 1 here, so the root is not further left.
        s = max(s, abs(c[i]) - gaps[i])
    if norm2 == 0.0 or s < 0.0:
        return lowest
    if s == 0.0:
        # Σ c²/g² at s = 0 decides: terms with g = c = 0 count as 0.
        total = 0.0
        for i in range(c.shape[0]):
            if c[i] != 0.0:
                total += (c[i] / gaps[i]) ** 2
        if total <= 1.0:
            return lowest
        s = 1e-16 * np.sqrt(norm2)
    for _ in range(100):
        total = 0.0
        slope = 0.0
        for i in range(c.shape[0]):
            ratio = c[i] / (s + gaps[i]) if c[i] != 0.0 else 0.0
            total += ratio * ratio
            slope += ratio * ratio / (s + gaps[i]) if c[i] != 0.0 else 0.0
        if total <= 1.0:
            break
        step = total * (np.sqrt(total) - 1.0) / slope
        if s + step <= s:
            break
        s += step
        if step <= 4e-16 * s:
            break
    return s


SMALL = 1e-100
"""Numbers below this are multiplied by a power of two, which changes no digit, before squaring."""


def maximise_on_sphere(
    A: FloatArray, a: FloatArray, spectrum: tuple[FloatArray, FloatArray] | None = None
) -> tuple[FloatArray, float]:
    """Return the maximiser of zᵀAz + aᵀz over ‖z‖₂ = 1, and its value.

    `spectrum` are the eigenvalues and eigenvectors of A, where the caller has them.

    With A = UΛUᵀ, λ₁ the largest eigenvalue and b = Uᵀa, the maximiser is
    z = ½(μI − A)⁻¹a with μ ≥ λ₁ the root of Σ b_i²/(4(μ − λ_i)²) = 1. In the *hard case*
    (b is 0 on the top eigenspace and the sum stays below 1 at μ = λ₁) the missing length is
    filled up along a top eigenvector.

    Examples
    --------
    >>> import numpy as np
    >>> z, value = maximise_on_sphere(np.diag([1.0, 0.0]), np.array([0.0, 1.0]))
    >>> bool(np.isclose(value, 1.25)), np.abs(z).round(4).tolist()
    (True, [0.866, 0.5])
    """
    largest = max(float(np.abs(A).max()), float(np.abs(a).max()))
    if 0.0 < largest < SMALL:
        up, down = _powers(largest)
        z, value = maximise_on_sphere(A * up, a * up)
        return z, value * down
    eigenvalues, vectors = np.linalg.eigh(A) if spectrum is None else spectrum
    gaps = eigenvalues[-1] - eigenvalues
    linear, size = a, float(np.abs(a).max())
    if 0.0 < size < SMALL:
        # z depends on a/gaps only: both are multiplied, so that no square of a vanishes.
        up, _ = _powers(size)
        with np.errstate(over="ignore"):
            linear, gaps = a * up, gaps * up
    c = (vectors.T @ linear) / 2
    # Below rounding error the component along the top eigenspace is noise, not a direction.
    noise = 8 * np.finfo(float).eps * float(np.linalg.norm(linear))
    c[(gaps <= noise) & (np.abs(c) <= noise)] = 0.0
    s = secular_root(gaps, c, 0.0)
    shifted = s + gaps
    coordinates = np.divide(c, shifted, out=np.zeros_like(c), where=shifted > 0)
    missing = 1.0 - float(coordinates @ coordinates)
    if missing > 0.0:
        coordinates[-1] += _signed(np.sqrt(coordinates[-1] ** 2 + missing), coordinates[-1])
    z = vectors @ coordinates
    z /= np.linalg.norm(z)
    return z, float(z @ A @ z + a @ z)


def _powers(size: float) -> tuple[float, float]:
    """Return a power of two that brings a small number to about 1, at most 2¹⁰⁰⁰, and 1/it."""
    exponent = min(-int(np.frexp(size)[1]), 1000)
    return 2.0**exponent, 2.0**-exponent


def _signed(length: float, entry: float) -> float:
    """Return what to add to `entry` so that its size becomes `length`, keeping its sign."""
    return length - entry if entry >= 0 else -length - entry


# The maximum of a concave quadratic over z ≥ 0, by pivoting.


def _lapack_solver() -> Any:
    """Return LAPACK's dgesv, for compiled code: np.linalg.solve there takes seconds to compile."""
    binding: Any = import_module("llvmlite.binding")
    extending: Any = import_module("numba.extending")
    types: Any = import_module("numba.types")
    address = extending.get_cython_function_address("scipy.linalg.cython_lapack", "dgesv")
    binding.add_symbol("tellapart_dgesv", address)
    ints, floats = types.CPointer(types.intc), types.CPointer(types.float64)
    return types.ExternalFunction(
        "tellapart_dgesv", types.void(ints, ints, floats, ints, ints, floats, ints, ints)
    )


_dgesv = _lapack_solver()


@compiled
def _solve(A: FloatArray, b: FloatArray) -> None:
    """Set b to the solution z of Aᵀz = b; A becomes its factors."""
    n = b.shape[0]
    # Arguments are handed over by their addresses: n, 1, whether it failed, and room for pivots.
    size = np.empty(n + 3, np.intc)
    one, failed, pivots = size[1:], size[2:], size[3:]
    size[0], one[0], failed[0] = n, 1, 0
    for i in range(n):
        for j in range(n):
            if not math.isfinite(A[i, j]):
                failed[0] = 1
    if failed[0] == 0:
        _dgesv(
            size.ctypes, one.ctypes, A.ctypes, size.ctypes, pivots.ctypes, b.ctypes, size.ctypes,
            failed.ctypes,
        )  # fmt: skip
    if failed[0] != 0:
        raise np.linalg.LinAlgError("a matrix that should be positive definite is not")


PATIENCE = 3
"""Block pivots that may fail to lower the number of wrong signs before single pivots take over."""


@compiled
def maximise_on_orthant(H: FloatArray, c: FloatArray, passive: BoolArray) -> FloatArray:
    """Return the maximiser of cᵀw − wᵀHw over w ≥ 0, H positive definite.

    `passive` marks the entries that may be positive: a guess on entry, the answer on return.
    Block principal pivoting: solve 2Hw = c on the passive entries, exchange every entry of the
    wrong sign (w < 0, or a slope c − 2Hw > 0 outside), until there is none. Single exchanges
    of the last wrong one, which cannot cycle, take over where blocks do not help.
    """
    n = c.shape[0]
    w, slope, size = np.empty(n), np.empty(n), np.empty(n)
    index = np.empty(n, np.intp)
    wrong = np.empty(n, np.bool_)
    fewest = n + 1
    patience = PATIENCE
    for _ in range(20 * n + 50):
        m = 0
        for i in range(n):
            w[i], slope[i], size[i] = 0.0, c[i], abs(c[i])
            if passive[i]:
                index[m] = i
                m += 1
        if m > 0:
            block, solved = np.empty((m, m)), np.empty(m)
            for i in range(m):
                solved[i] = 0.5 * c[index[i]]
                for j in range(m):
                    block[j, i] = H[index[i], index[j]]
            _solve(block, solved)
            for i in range(m):
                w[index[i]] = solved[i]
                for j in range(n):
                    slope[j] -= 2.0 * H[j, index[i]] * solved[i]
                    size[j] += abs(2.0 * H[j, index[i]] * solved[i])
        count, last = 0, 0
        for i in range(n):
            # A slope that is rounding error gains nothing.
            wrong[i] = w[i] < 0.0 if passive[i] else slope[i] > 1e-14 * size[i]
            if wrong[i]:
                count, last = count + 1, i
        if count == 0:
            break
        if count < fewest:
            fewest = count
            patience = PATIENCE
        else:
            patience -= 1
        for i in range(n):
            if wrong[i] and (patience >= 0 or i == last):
                passive[i] = not passive[i]
    for i in range(n):
        if w[i] <= 0.0:
            w[i] = 0.0
            passive[i] = False
    return w


@compiled
def multiplier_on_orthant(
    N: FloatArray, c: FloatArray, lowest: float, passive: BoolArray
) -> tuple[float, FloatArray]:
    """Return the μ ≥ lowest at which the maximiser w of cᵀw − wᵀ(N + μI)w, w ≥ 0, has length 1.

    And w; `lowest` and its w, if that is no longer than 1. N + lowest·I is positive definite.
    ‖w‖ falls with μ. Newton on 1/‖w‖ − 1, concave while `passive` (a guess on entry, the answer
    on return) stays, within a bracket that guards it where that changes.
    """
    n = c.shape[0]
    low, high = lowest, np.inf
    mu = lowest
    shifted = N.copy()
    w = np.zeros(n)
    for step in range(100):
        for i in range(n):
            shifted[i, i] = N[i, i] + mu
        w = maximise_on_orthant(shifted, c, passive)
        norm2 = float(w @ w)
        if step == 0 and norm2 <= 1.0:
            return mu, w
        if norm2 >= 1.0:
            low = mu
        else:
            high = mu
        # `high` may be infinite, and an infinite bracket is no narrow one.
        if abs(norm2 - 1.0) <= 1e-14 or high <= low + 1e-15 * abs(low):
            break
        index = np.flatnonzero(passive)
        move = np.inf
        if index.shape[0] > 0:
            block = np.empty((index.shape[0], index.shape[0]))
            positive = np.empty(index.shape[0])
            for i in range(index.shape[0]):
                positive[i] = w[index[i]]
                for j in range(index.shape[0]):
                    block[j, i] = shifted[index[i], index[j]]
            solved = positive.copy()
            _solve(block, solved)
            move = norm2 * (np.sqrt(norm2) - 1.0) / float(positive @ solved)
        following = mu + move
        if not low < following < high:
            if abs(move) <= 4e-16 * abs(mu) or not np.isfinite(high):
                break
            following = 0.5 * (low + high)
        mu = following
    return mu, w


# How far floating-point arithmetic can be off: allowances that keep bounds valid.


GOLDEN = (5**0.5 - 1) / 2

GOLDEN_STEPS = 80
"""0.618⁸⁰ is below ε: no closer look is possible."""


def block_slack(A: FloatArray, a: FloatArray) -> float:
    """Return an allowance for the rounding error of the maximum of zᵀAz + aᵀz on the sphere.

    Eigenvalues of A are off by at most a small multiple of n·ε·‖A‖_F, and the value is off by no
    more than that and the same multiple of ε·‖a‖.
    """
    return 16 * (int(a.shape[0]) + 4) * EPS * (length_of(A) + length_of(a))


def length_of(values: FloatArray) -> float:
    """Return the Euclidean norm, also of numbers whose squares vanish."""
    largest = float(np.abs(values).max())
    return largest * float(np.linalg.norm(values / largest)) if largest > 0.0 else 0.0


def sphere_bound(
    A: FloatArray, a: FloatArray, value: float, cutoff: float, error: float = 0.0
) -> float:
    """Return a proved bound on the maximum of zᵀAz + aᵀz on the sphere, computed as `value`.

    That is `value` and its slack. Where a variable on a huge scale lifts it above `cutoff`, the
    least dual bound is looked for too: rescaled by variable, none of them blurs the others.
    `error` is how far zᵀAz may be off.
    """
    highest = value + (block_slack(A, a) + error)
    if highest <= cutoff:
        return highest
    return min(highest, _least_dual_bound(A, a, highest) + error)


def dual_bound_on_sphere(A: FloatArray, a: FloatArray, mu: float) -> float:
    """Return μ + ¼aᵀ(μI − A)⁻¹a, rounded up, if μ is proved to exceed λ_max(A); else infinity.

    It bounds zᵀAz + aᵀz over the sphere. With the diagonal Δ of M = μI − A, the entries of
    Δ^{-½}MΔ^{-½} are off by a few ε of their own sizes, and those are at most 1 for M ⪰ 0,
    whatever the scales of the variables. Its eigenvalues are lowered by all that this may hide.
    """
    room = mu - np.diag(A)
    if not room.min() > 0.0:
        return float("inf")
    units = np.sqrt(room)
    scaled = -(A / units[:, None]) / units
    np.fill_diagonal(scaled, 1.0)
    eigenvalues, vectors = np.linalg.eigh(scaled)
    size = int(room.shape[0])
    off = 16 * (size + 4) * EPS
    eigenvalues -= off * max(1.0, float(np.linalg.norm(scaled)))
    if eigenvalues[0] <= 0.0:
        return float("inf")
    linear = a / units
    along = np.abs(vectors.T @ linear) + off * float(np.linalg.norm(linear))
    lift = (1 + off) * float(along @ (along / eigenvalues)) / 4
    return mu + lift + 4 * EPS * (abs(mu) + lift)


def _least_dual_bound(A: FloatArray, a: FloatArray, highest: float) -> float:
    """Return the least dual bound met by a golden section search over μ, which is convex."""
    low, high = float(np.diag(A).max()), highest
    least = dual_bound_on_sphere(A, a, high)
    for _ in range(GOLDEN_STEPS):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        at_left, at_right = (dual_bound_on_sphere(A, a, mu) for mu in (left, right))
        least = min(least, at_left, at_right)
        # Both infinite: too low to be proved, so that the least one lies to the right.
        if at_left < at_right:
            high = right
        else:
            low = left
    return least


# The domains.


class Domain(ABC):
    """The set over which zᵀAz + aᵀz is maximised, the same on every support."""

    on_sphere: ClassVar[bool]
    """Whether ‖z‖₂ = 1; else z may be any vector, and A is negative definite."""
    nonnegative: ClassVar[bool]
    """Whether z ≥ 0."""

    @abstractmethod
    def maximise(
        self, A: FloatArray, a: FloatArray, above: float = -np.inf
    ) -> tuple[FloatArray, float]:
        """Return the best point over one support, given its block of A and part of a.

        Where its value is at most `above`, any other point will do, or none: z = 0 and −∞.
        """

    @abstractmethod
    def bound(
        self, A: FloatArray, a: FloatArray, value: float, cutoff: float, error: float
    ) -> float:
        """Return a proved bound on the maximum over one support, whose computed maximum is `value`.

        `error` is how far zᵀAz may be off because A was multiplied out. Above `cutoff` more work
        goes into a lower bound.
        """

    def promise(self, vector: FloatArray) -> FloatArray:
        """Return how much a step along each variable may gain, `vector` being the slopes."""
        return vector if self.nonnegative else np.abs(vector)


class Space(Domain):
    """Any z, for a negative definite A: the maximum over a support is ¼aᵀM⁻¹a, M = −A."""

    on_sphere = False
    nonnegative = False

    def maximise(
        self,
        A: FloatArray,
        a: FloatArray,
        above: float = -np.inf,  # noqa: ARG002 - one solve answers everything
    ) -> tuple[FloatArray, float]:
        """Return ½M⁻¹a and its value."""
        z: FloatArray = np.linalg.solve(-A, a / 2).astype(np.float64, copy=False)
        return z, float(z @ A @ z + a @ z)

    def bound(
        self,
        A: FloatArray,
        a: FloatArray,
        value: float,
        cutoff: float,  # noqa: ARG002 - there is one bound only
        error: float,
    ) -> float:
        """Return ¼tᵀM⁻¹t, t = a or, where z ≥ 0, above it; rounding error allowed for."""
        t = self._above(A, a)
        # The bound on the sphere at μ = 0 holds without the sphere.
        return max(dual_bound_on_sphere(A, t, 0.0), value) + error

    def _above(self, A: FloatArray, a: FloatArray) -> FloatArray:  # noqa: ARG002 - see SpaceOrthant
        """Return the linear term of the bound: a, or any t ≥ a where z ≥ 0."""
        return a


class SpaceOrthant(Space):
    """z ≥ 0: nonnegative least squares on each support."""

    nonnegative = True

    def maximise(
        self,
        A: FloatArray,
        a: FloatArray,
        above: float = -np.inf,  # noqa: ARG002 - one solve answers everything
    ) -> tuple[FloatArray, float]:
        """Return the maximiser over z ≥ 0 and its value."""
        z = maximise_on_orthant(-A, a, a > 0)
        return z, float(z @ A @ z + a @ z)

    def _above(self, A: FloatArray, a: FloatArray) -> FloatArray:
        """Return max(a, 2Mz): at the maximiser z this makes the bound tight."""
        z: FloatArray = maximise_on_orthant(-A, a, a > 0)
        return np.maximum(a, -2 * (A @ z))


class Sphere(Domain):
    """‖z‖₂ = 1, entries of any sign."""

    on_sphere = True
    nonnegative = False

    def maximise(
        self,
        A: FloatArray,
        a: FloatArray,
        above: float = -np.inf,  # noqa: ARG002 - one eigendecomposition answers everything
    ) -> tuple[FloatArray, float]:
        """Return the maximiser on the sphere (`maximise_on_sphere`), whatever `above`."""
        return maximise_on_sphere(A, a)

    def bound(
        self, A: FloatArray, a: FloatArray, value: float, cutoff: float, error: float
    ) -> float:
        """Return the value and its slack, or a dual bound (`sphere_bound`)."""
        return sphere_bound(A, a, value, cutoff, error)


SPHERE = Sphere()
"""The domain where nothing else is said."""
