"""MMD² of two large samples of one distribution: a weighted sum of chi-squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arguments import check_integer
from tellapart.arrays import FloatArray
from tellapart.errors import InputError
from tellapart.statistics.mmd import effective_size
from tellapart.theory.weighted_chi_squares import WeightedChiSquares


@dataclass(frozen=True, eq=False)
class NullLimit:
    """The law of MMD²_u under H₀ as both samples grow.

        ñ MMD²_u → 2 Σ_i λ_i (Z_i² − 1),     ñ = 2mn/(m + n),  Z_i independent N(0, 1),

    λ_i the eigenvalues of the centred kernel under the common distribution. The paper prints it
    for m = n as n T → Σ λ_i (Z_i² − 2) without the law of Z_i: there Z_i ~ N(0, 2). It is an
    *asymptotic* law: p-values of tests in this package come from permutations, which are valid in
    finite samples; this limit says what to expect before there are data.

    Parameters
    ----------
    eigenvalues : array
        λ_i ≥ 0.
    n_x, n_y : int
        m and n.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=200)
    >>> gram = np.exp(-0.5 * np.subtract.outer(rows, rows) ** 2)
    >>> limit = NullLimit.of_gram(gram, n_x=80)
    >>> bool(0.049 < limit.pvalue(limit.quantile(0.95)) < 0.051)
    True
    """

    eigenvalues: FloatArray
    n_x: int
    n_y: int

    def __post_init__(self) -> None:
        check_integer("n_x", self.n_x, 2)
        check_integer("n_y", self.n_y, 2)

    @classmethod
    def of_gram(cls, gram: FloatArray, n_x: int, n_y: int | None = None) -> NullLimit:
        """Return the limit with λ_i estimated by the eigenvalues of H K H/(N − 1), H = I − 11ᵀ/N.

        Parameters
        ----------
        gram : array of shape (N, N)
            K(w_i, w_j) of the pooled rows, under H₀ a sample of the common distribution.
        n_x, n_y : int
            Rows of the samples to be tested; n_y is N − n_x where it is left out.
        """
        gram = np.asarray(gram, dtype=np.float64)
        if gram.ndim != 2 or gram.shape[0] != gram.shape[1] or gram.shape[0] < 3:
            raise InputError(f"gram must be square, of order 3 at least; got shape {gram.shape}")
        rows = gram.shape[0]
        means = gram.mean(axis=0)
        centred = gram - means - means[:, np.newaxis] + means.mean()
        # A positive definite kernel has none below 0 but by rounding.
        eigenvalues = np.maximum(np.linalg.eigvalsh(centred), 0.0) / (rows - 1)
        return cls(eigenvalues, n_x, rows - n_x if n_y is None else n_y)

    @property
    def variance(self) -> float:
        """The variance of MMD²_u under the limit, 8 Σ λ_i²/ñ²."""
        size = effective_size(self.n_x, self.n_y)
        return float(8 * np.square(self.eigenvalues).sum() / size**2)

    def pvalue(self, statistic: float) -> float:
        """Return the limit's P(MMD²_u > statistic) under H₀."""
        size, law = effective_size(self.n_x, self.n_y), WeightedChiSquares(self.eigenvalues)
        return law.sf(size * statistic / 2 + law.mean)

    def quantile(self, probability: float) -> float:
        """Return the value that MMD²_u stays below with this probability: 1 − α, a threshold."""
        size, law = effective_size(self.n_x, self.n_y), WeightedChiSquares(self.eigenvalues)
        return (law.quantile(probability) - law.mean) * 2 / size
