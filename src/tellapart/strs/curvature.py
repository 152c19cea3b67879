"""The matrix M = −A of a maximisation, dense or as a factor, restricted to some variables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from tellapart.arrays import FloatArray, IntArray
from tellapart.strs.problem import SparseQuadratic
from tellapart.strs.rounding import EPS

DENSE_LIMIT = 2_000
"""Up to this many variables a factor is multiplied out: one D × D matrix is then cheaper."""


@dataclass(frozen=True)
class Curvature:
    """M = −A over a list of variables: zᵀAz = −zᵀMz.

    Exactly one of `dense` (M itself) and `factor` (B with M = BᵀB − shift·I) is set.
    """

    dense: FloatArray | None
    factor: FloatArray | None
    shift: float

    @classmethod
    def of(cls, problem: SparseQuadratic) -> Curvature:
        """Return M for all variables of the problem."""
        if problem.factor is None or problem.n_columns <= DENSE_LIMIT:
            return cls(dense=-problem.A, factor=None, shift=0.0)
        return cls(dense=None, factor=problem.factor.B, shift=problem.factor.shift)

    @property
    def n_columns(self) -> int:
        """Number of variables in the list."""
        matrix = self.dense if self.factor is None else self.factor
        assert matrix is not None
        return int(matrix.shape[1])

    @property
    def depth(self) -> int:
        """Length of the sums behind an entry of M: what its rounding error grows with."""
        return 1 if self.factor is None else int(self.factor.shape[0])

    @property
    def diagonal(self) -> FloatArray:
        """The diagonal of M."""
        if self.factor is not None:
            lengths: FloatArray = np.einsum("ij,ij->j", self.factor, self.factor)
            return lengths - self.shift
        assert self.dense is not None
        return np.ascontiguousarray(np.diag(self.dense))

    def columns(self, index: IntArray) -> FloatArray:
        """Return M[:, index]."""
        if self.factor is not None:
            block = self.factor.T @ self.factor[:, index]
            block[index, np.arange(index.shape[0])] -= self.shift
            return block
        assert self.dense is not None
        return self.dense[:, index]

    def block(self, index: IntArray) -> FloatArray:
        """Return M[index, index]."""
        if self.factor is not None:
            columns = self.factor[:, index]
            block = columns.T @ columns
            block[np.diag_indices_from(block)] -= self.shift
            return block
        assert self.dense is not None
        return self.dense[np.ix_(index, index)]

    def principal(self, index: IntArray) -> Curvature:
        """Return M over some of the variables; small ones are made dense."""
        if index.shape[0] == self.n_columns:
            return self
        if self.factor is None or index.shape[0] <= DENSE_LIMIT:
            return Curvature(dense=self.block(index), factor=None, shift=0.0)
        return Curvature(dense=None, factor=self.factor[:, index], shift=self.shift)

    def lowest_shift(self) -> float:
        """Return a κ with M − κI ⪰ 0 proved: −shift for a factor, else just below λ_min(M)."""
        if self.factor is not None:
            return -self.shift
        assert self.dense is not None
        lowest = float(np.linalg.eigvalsh(self.dense)[0])
        # The computed eigenvalue is off by at most a small multiple of n·ε·‖M‖.
        return lowest - 8 * self.n_columns * EPS * float(np.linalg.norm(self.dense))

    def complement(
        self, kept: IntArray, others: IntArray, delta: float, margin: float
    ) -> tuple[FloatArray, float]:
        """Return the Schur complement of M over `kept`, once δ is subtracted on `others`.

        M_KK − M_KO (M_OO − δI)⁻¹ M_OK, for M ⪰ (δ + margin)·I with margin > 0, and a bound on
        the rounding error of its eigenvalues. With it and a diagonal Δ_K below it, the whole
        matrix M − Diag(Δ_K, δ) is PSD. From a factor only r × r matrices are formed: with
        η = −shift − δ it is B_Kᵀ(I + B_O B_Oᵀ/η)⁻¹B_K − shift·I.

        The error is at most a small multiple of n·ε·(condition of the inverted matrix)·(trace of
        the subtracted or inner product).
        """
        if self.factor is not None:
            eta = -self.shift - delta
            inside = self.factor[:, others] @ self.factor[:, others].T / eta
            inside[np.diag_indices_from(inside)] += 1.0
            condition = float(np.trace(inside))
            root = cholesky(inside, lower=True, check_finite=False)
            half = solve_triangular(root, self.factor[:, kept], lower=True, check_finite=False)
            result = half.T @ half
            mass = float(np.sum(self.factor[:, kept] ** 2))
            result[np.diag_indices_from(result)] -= self.shift
        else:
            assert self.dense is not None
            inside = self.dense[np.ix_(others, others)].copy()
            inside[np.diag_indices_from(inside)] -= delta
            root = cholesky(inside, lower=True, check_finite=False)
            cross = self.dense[np.ix_(others, kept)]
            half = solve_triangular(root, cross, lower=True, check_finite=False)
            result = self.block(kept) - half.T @ half
            # M − δI ⪰ 0, so that what is subtracted is at most M_KK − δI.
            mass = float((np.abs(self.diagonal[kept]) + abs(delta)).sum())
            condition = float(np.trace(inside)) / margin
        allowance = 8 * (self.n_columns + self.depth) * EPS * mass * max(condition, 1.0)
        return result, allowance
