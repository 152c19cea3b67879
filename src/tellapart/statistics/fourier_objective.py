"""F of kernels of squared differences on many rows, by random frequencies: no pairs of rows.

Where φ is a mixture of exponentials (`tellapart.statistics.fourier_objective`) and ω(z) = z²,

    K_z(u, v) ≈ φ(0)/R Σ_k cos(Σ_s z_s w_ks (u_s − v_s)),   w_ks ~ N(0, 2ρ_k), u and v in units of τ

With θ_ik = Σ_s z_s w_ks u_is, all sums over pairs are products of Ψ_k = Σ_i g_i e^{iθ_ik} of X and
of Y, and their derivatives in z are sums over rows of e^{iθ} times u_s and u_s u_r. The frequencies
are fixed, so that F is one smooth function of z. A value costs O(R) for each row. The error of MMD²
is a share of it, about one part in a hundred for two columns at the median bandwidth; the noise of
the rows is that of all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import nnls
from scipy.special import ndtri

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.budget import current_budget
from tellapart.data.samples import Samples
from tellapart.interrupts import check_interrupts
from tellapart.kernels.base import Exponential, FittedKernel, Outer
from tellapart.statistics.pair_sums import Derivatives

# A typical t is about 2 whatever the units: six decades of it, and of the rates.
_INDICES = np.concatenate([[0.0], np.logspace(-3, 3, 241)])
_RATES = np.logspace(-3.5, 3.5, 141)
_MOST_ITERATIONS = 10_000
ACCURACY = 1e-3
"""The largest error of a mixture that may stand for φ, as a share of φ(0)."""


@dataclass(frozen=True)
class Exponentials:
    """φ(t) = height · Σ_k shares_k exp(−rates_k t), the shares adding up to 1.

    By Schoenberg's theorem φ(Σ_s ω_s (u_s − v_s)²) is a kernel for every number of columns just if
    φ is such a mixture. Random frequencies of a mixture are easy to draw, and with them a kernel of
    many rows costs a sum over rows instead of one over pairs of rows.

    Examples
    --------
    >>> import numpy as np
    >>> Exponentials(np.array([0.5]), np.array([1.0]), 2.0).value(np.array([0.0, 2.0])).round(4)
    array([2.    , 0.7358])
    """

    rates: FloatArray
    shares: FloatArray
    height: float

    def value(self, t: FloatArray) -> FloatArray:
        """Return φ(t)."""
        decays = np.exp(-np.multiply.outer(np.asarray(t), self.rates))
        return np.asarray(self.height * (decays @ self.shares))


def exponentials_of(outer: Outer) -> Exponentials | None:
    """Return φ as a mixture: its own if it knows it, else fitted; None where none is close enough.

    Examples
    --------
    >>> from tellapart.kernels.base import Exponential
    >>> exponentials_of(Exponential(2.0)).rates.tolist()
    [0.25]
    """
    if isinstance(outer, Exponential):
        return Exponentials(np.array([1 / (2 * outer.variance)]), np.ones(1), 1.0)
    with np.errstate(all="ignore"):
        target = np.asarray(outer.value(_INDICES), dtype=np.float64)
    if not np.isfinite(target).all() or target[0] <= 0:
        return None
    decays = np.exp(-np.multiply.outer(_INDICES, _RATES))
    try:
        shares, _ = nnls(decays, target / target[0], maxiter=_MOST_ITERATIONS)
    except RuntimeError:  # no convergence: nothing is known of φ
        return None
    total = float(shares.sum())
    if total == 0.0:
        return None
    used = np.flatnonzero(shares)
    mixture = Exponentials(_RATES[used], shares[used] / total, float(target[0]))
    error = float(np.abs(mixture.value(_INDICES) - target).max())
    return mixture if error <= ACCURACY * target[0] else None


N_FREQUENCIES = 512
"""R, a power of two: frequencies of a low-discrepancy sequence, each a cosine and a sine."""
# Values beyond so many τ count as this far: single precision has no more digits for the angles.
_FARTHEST = 1e3


@dataclass(frozen=True)
class Frequencies:
    """w_ks of all columns, of shape (D, R), and the rate ρ_k that each was drawn for."""

    matrix: FloatArray
    rates: FloatArray

    @classmethod
    def draw(cls, mixture: Exponentials, n_columns: int, rng: np.random.Generator) -> Frequencies:
        """Draw them by a scrambled Sobol sequence, whose low-dimensional averages err least."""
        size = n_columns + 1
        # Half a second to load, which only those wait for who choose by frequencies.
        from scipy.stats import qmc

        if size <= qmc.Sobol.MAXDIM:
            points = qmc.Sobol(size, scramble=True, seed=rng).random(N_FREQUENCIES)
        else:
            points = rng.random((N_FREQUENCIES, size))
        edges = np.cumsum(mixture.shares)[:-1]
        rates = mixture.rates[np.searchsorted(edges, points[:, 0], side="right")]
        tiny = np.finfo(np.float64).eps
        normal = ndtri(np.clip(points[:, 1:], tiny, 1 - tiny)).T
        return cls(normal * np.sqrt(2 * rates), rates)

    def columns(self, index: IntArray) -> Frequencies:
        """Return those of some columns."""
        return Frequencies(self.matrix[index], self.rates)


class FourierObjective:
    """F(z) = MMD²(z) − λ σ²(z) of many rows; what `climb` asks of an objective, and slopes.

    Parameters
    ----------
    samples : Samples
        The two samples, all of whose columns vary.
    kernel : FittedKernel
        A kernel that `serves` says yes to.
    regularization : float
        λ.
    frequencies : Frequencies
        Those of the columns.
    """

    squares_weights = True
    # With finitely many frequencies F is not quite even in every z_s: one orthant is searched.
    within_orthant = True

    def __init__(
        self,
        samples: Samples,
        kernel: FittedKernel,
        regularization: float,
        frequencies: Frequencies,
    ) -> None:
        self.samples = samples
        self.kernel = kernel
        self.regularization = regularization
        self.frequencies = frequencies

    @classmethod
    def draw(
        cls,
        samples: Samples,
        kernel: FittedKernel,
        regularization: float,
        rng: np.random.Generator,
    ) -> FourierObjective | None:
        """Return the objective with frequencies drawn for it; None where the kernel has none."""
        if kernel.weight.power != 2 or kernel.squared_scales is None:
            return None
        mixture = exponentials_of(kernel.outer)
        if mixture is None or kernel.constant.any():
            return None
        frequencies = Frequencies.draw(mixture, samples.n_columns, rng)
        return cls(samples, kernel, regularization, frequencies)

    def columns(self, index: IntArray) -> FourierObjective:
        """Return the objective of some variables only, with the same frequencies."""
        return FourierObjective(
            self.samples.columns(index),
            self.kernel.columns(index),
            self.regularization,
            self.frequencies.columns(index),
        )

    def on(self, samples: Samples) -> FourierObjective:
        """Return the objective of other rows of the same columns, with the same frequencies."""
        return FourierObjective(samples, self.kernel, self.regularization, self.frequencies)

    def value(self, z: FloatArray) -> float:
        """Return F(z)."""
        return self.local(z, np.zeros(0, dtype=np.intp)).value

    def weights(self, z: FloatArray) -> FloatArray:
        """Return the weights ω(z_s) of the columns in the index."""
        return np.square(z)

    def lift(self, slopes: FloatArray) -> FloatArray:
        """Return what a first step of each weight gains: its slope."""
        return slopes.copy()

    def local(self, z: FloatArray, variables: IntArray) -> Derivatives:
        """Return F(z), ∇F(z) and ∇²F(z) in `variables`, which take in all z_s ≠ 0.

        Of ∇²σ² the part with ∇²r is left out (Gauss–Newton): it is small where F is large, and a
        climb whose steps are checked needs no more.
        """
        angles = self._angles(z)
        size = variables.shape[0]
        left, right = np.triu_indices(size)

        def moments(values: Singles) -> Singles:
            chosen = values[:, variables]
            crosses = chosen[:, left] * chosen[:, right]
            return np.concatenate([np.ones_like(values[:, :1]), chosen, crosses], axis=1)

        x, y = (
            self._expanded(_sums(group, angles, moments) / group.shape[0], variables)
            for group in self._groups
        )
        difference = x - y
        m, n = self.samples.n_x, self.samples.n_y
        total = difference.product(difference)
        for wave, count in ((x, m), (y, n)):
            total = total + (wave.product(wave) - Derivatives.constant(1.0, size)) * (
                1 / (count - 1)
            )
        statistic = total * self._height
        variance = self._variance(difference, angles, variables)
        return statistic - variance * self.regularization

    def weight_slopes(self, z: FloatArray) -> FloatArray:
        """Return ∂F/∂ω_s of all columns, ∂K/∂ω_s = Σ_k −ρ_k ψ_s of the frequencies k."""
        angles = self._angles(z)
        m, n = self.samples.n_x, self.samples.n_y

        def moments(values: Singles) -> Singles:
            return np.concatenate([np.ones_like(values[:, :1]), values, values**2], axis=1)

        x, y = (_sums(group, angles, moments) / group.shape[0] for group in self._groups)
        difference = x - y
        slopes = self._pair_slopes(difference, difference)
        slopes += self._pair_slopes(x, x) / (m - 1) + self._pair_slopes(y, y) / (n - 1)
        slopes *= self._height
        if self.regularization == 0:
            return slopes
        pulled = np.zeros_like(x)
        for group, weight in zip(self._groups, self._group_weights, strict=True):
            sums = self._row_sums(group, angles, difference[:, 0])
            pulls = weight * (sums - sums.mean())
            pulled += _sums(group, angles, moments, pulls.astype(np.float32))
        scale = 2 * self._variance_scale * self._height
        return slopes - self.regularization * scale * self._pair_slopes(pulled, difference)

    @property
    def n_features(self) -> int:
        """How many frequencies stand for the kernel."""
        return int(self.frequencies.rates.shape[0])

    @cached_property
    def _height(self) -> float:
        return float(self.kernel.outer.value(np.zeros(1))[0])

    @cached_property
    def _groups(self) -> tuple[Singles, Singles]:
        """Both samples in units of τ_s about the pooled medians: rows × columns."""
        scales = self.kernel.squared_scales
        assert scales is not None  # `draw` says so
        all_columns = np.arange(self.samples.n_columns)
        x, y = self.samples.x[:, all_columns], self.samples.y[:, all_columns]
        middle = np.median(np.concatenate([x, y]), axis=0)

        def scaled(values: FloatArray) -> Singles:
            with np.errstate(over="ignore"):
                units = np.clip((values - middle) / scales, -_FARTHEST, _FARTHEST)
            return np.asarray(units, dtype=np.float32)

        return scaled(x), scaled(y)

    @property
    def _group_weights(self) -> tuple[float, float]:
        return 1 / self.samples.n_x**2, 1 / self.samples.n_y**2

    @property
    def _variance_scale(self) -> float:
        """4ñ φ(0), of σ² = 4ñ Σ_i g_i r̃_i² with one factor φ(0) of r."""
        m, n = self.samples.n_x, self.samples.n_y
        return 8 * m * n / (m + n) * self._height

    def _angles(self, z: FloatArray) -> _Angles:
        used = np.flatnonzero(z)
        turned = z[used, None] * self.frequencies.matrix[used]
        return _Angles(used, turned.astype(np.float32))

    def _expanded(self, sums: FloatArray, variables: IntArray) -> _Wave:
        """Return Ψ to second order in z from the sums of e^{iθ} times 1, u_s and u_s u_r."""
        size = variables.shape[0]
        frequencies = self.frequencies.matrix[variables]
        cosines, sines = sums
        first = slice(1, 1 + size)
        left, right = np.triu_indices(size)
        bends = np.zeros((size, size, 2 * frequencies.shape[1]))
        both = frequencies[left] * frequencies[right]
        bends[left, right] = -np.concatenate(
            [both * cosines[1 + size :], both * sines[1 + size :]], 1
        )
        bends[right, left] = bends[left, right]
        slopes = np.concatenate([-frequencies * sines[first], frequencies * cosines[first]], axis=1)
        return _Wave(np.concatenate([cosines[0], sines[0]]), slopes, bends)

    def _variance(self, difference: _Wave, angles: _Angles, variables: IntArray) -> Derivatives:
        """Return σ² and its derivatives, from r_i = ⟨e^{iθ_i}, Ψ^X − Ψ^Y⟩."""
        size = variables.shape[0]
        total = Derivatives.constant(0.0, size)
        if self.regularization == 0:
            return total
        frequencies = self.frequencies.matrix[variables]
        a, b = np.split(difference.value, 2)
        slopes_a, slopes_b = np.split(difference.slopes, 2, axis=1)
        with_cosine = np.concatenate([a[None], frequencies * b, slopes_a]).astype(np.float32).T
        with_sine = np.concatenate([b[None], -frequencies * a, slopes_b]).astype(np.float32).T
        scale = self._height / frequencies.shape[1] if size else self._height / a.shape[0]
        for group, weight in zip(self._groups, self._group_weights, strict=True):
            rows = np.empty((group.shape[0], 1 + size))
            for block, cosine, sine in angles.blocks(group):
                turned = cosine @ with_cosine + sine @ with_sine
                rows[block, 0] = turned[:, 0]
                chosen = group[block][:, variables]
                rows[block, 1:] = chosen * turned[:, 1 : 1 + size] + turned[:, 1 + size :]
            rows *= scale
            rows -= rows.mean(axis=0)
            products = weight * (rows.T @ rows)
            total = total + Derivatives(
                float(products[0, 0]), 2 * products[0, 1:], 2 * products[1:, 1:]
            )
        return total * (self._variance_scale / self._height)

    def _row_sums(self, group: Singles, angles: _Angles, difference: FloatArray) -> FloatArray:
        """Return r_i / φ(0) of the rows of one sample."""
        a, b = (block.astype(np.float32) for block in difference)
        sums = np.empty(group.shape[0])
        for block, cosine, sine in angles.blocks(group):
            sums[block] = cosine @ a + sine @ b
        return sums / self.n_features

    def _pair_slopes(self, one: FloatArray, other: FloatArray) -> FloatArray:
        """Return Σ_ij v_i w_j ∂K_ij/∂ω_s / φ(0) from the sums with weights v and with w."""
        size = self.samples.n_columns
        values, squares = slice(1, 1 + size), slice(1 + size, None)
        total = one[:, squares] * other[:, :1] + one[:, :1] * other[:, squares]
        total -= 2 * one[:, values] * other[:, values]
        return np.asarray(-(total.sum(axis=0) @ self.frequencies.rates) / self.n_features)


@dataclass(frozen=True)
class _Angles:
    """θ = Σ_s z_s w_ks u_is: the columns in use, and z_s w_ks of shape (|S|, R)."""

    used: IntArray
    turned: Singles

    def blocks(self, group: Singles) -> Iterator[tuple[slice, Singles, Singles]]:
        """Yield blocks of rows with the cosines and sines of their angles."""
        step = max(1, current_budget().pair_block_entries // self.turned.shape[1])
        for start in range(0, group.shape[0], step):
            check_interrupts()
            block = slice(start, min(start + step, group.shape[0]))
            angles = group[block][:, self.used] @ self.turned
            yield block, np.cos(angles), np.sin(angles)


@dataclass(frozen=True)
class _Wave:
    """Ψ of all frequencies, cosines before sines, with its derivatives in z."""

    value: FloatArray
    slopes: FloatArray
    bends: FloatArray

    def __sub__(self, other: _Wave) -> _Wave:
        return _Wave(self.value - other.value, self.slopes - other.slopes, self.bends - other.bends)

    def product(self, other: _Wave) -> Derivatives:
        """Return ⟨Ψ, Ψ′⟩/R and its derivatives."""
        crossed = self.slopes @ other.slopes.T
        hessian = self.bends @ other.value + other.bends @ self.value + crossed + crossed.T
        gradient = self.slopes @ other.value + other.slopes @ self.value
        scale = 2 / self.value.shape[0]
        return Derivatives(
            scale * float(self.value @ other.value), scale * gradient, scale * hessian
        )


def _sums(
    group: Singles,
    angles: _Angles,
    moments: Callable[[Singles], Singles],
    weights: Singles | None = None,
) -> FloatArray:
    """Return Σ_i g_i (cos θ_i, sin θ_i) times each moment of the row: of shape (2, q, R)."""
    total: FloatArray | None = None
    for block, cosine, sine in angles.blocks(group):
        rows = moments(group[block])
        if weights is not None:
            rows = rows * weights[block, None]
        sums = np.stack([rows.T @ cosine, rows.T @ sine]).astype(np.float64)
        total = sums if total is None else total + sums
    assert total is not None
    return total
