"""The strong SDP relaxation through the interior-point solver Clarabel: oracle and node solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.strs.bounds.sdp.dual import DualBound, dual_bound
from tellapart.strs.optional import load


@dataclass(frozen=True)
class ConicRelaxation:
    """What Clarabel says of one relaxation.

    `value` is its primal objective: a number without proof. `bound` is proved: it is the dual
    function at the multiplier W taken from Clarabel's dual point, whatever that point's quality.
    """

    value: float
    bound: DualBound
    Z: FloatArray
    q: FloatArray
    W: FloatArray
    solved: bool


def solve_conic(
    A: FloatArray,
    a: FloatArray,
    d: int,
    forced: BoolArray,
    *,
    tolerance: float = 1e-8,
    time_limit: float | None = None,
    solver: str = "sdp",
) -> ConicRelaxation:
    """Solve max ⟨Ã, Z⟩ over the strong relaxation, with q = 1 where `forced`.

    Variables are the upper triangle of Z, q, and P_ij ≥ |Z_ij| for i < j, which both rows share;
    the cones are one PSD cone of order D + 1, D second-order cones of size D + 1 and D of size 3.
    A q fixed to 0 is a row left out: pass the submatrix of the other variables. `solver` is the
    name that a missing Clarabel is reported under.
    """
    clarabel = load("clarabel", solver)
    size = a.shape[0]
    layout = _Layout(size, d)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    settings.max_threads = 1
    if time_limit is not None:
        settings.time_limit = max(time_limit, 1e-3)
    # Clarabel's accuracy is relative to data of about 1.
    scale = float(np.linalg.norm(A) + np.linalg.norm(a)) or 1.0
    objective = layout.objective(A / scale, a / scale)
    matrix, right = layout.constraints(forced)
    cones = [
        clarabel.ZeroConeT(2 + int(np.count_nonzero(forced))),
        clarabel.NonnegativeConeT(1 + size + size * (size - 1)),
        clarabel.PSDTriangleConeT(size + 1),
        *[clarabel.SecondOrderConeT(size + 1)] * size,
        *[clarabel.SecondOrderConeT(3)] * size,
    ]
    quadratic = sparse.csc_matrix((layout.columns, layout.columns))
    answer = clarabel.DefaultSolver(quadratic, objective, matrix, right, cones, settings).solve()
    x, multipliers = np.array(answer.x), np.array(answer.z)
    if not (np.isfinite(x).all() and np.isfinite(multipliers).all()):
        x, multipliers = np.zeros_like(x), np.zeros_like(multipliers)
    W = scale * layout.row_multiplier(multipliers, int(np.count_nonzero(forced)))
    bounds = [dual_bound(A, a, d, forced, W), dual_bound(A, a, d, forced)]
    return ConicRelaxation(
        value=-scale * float(objective @ x),
        bound=min(bounds, key=lambda bound: bound.value),
        Z=layout.matrix(x),
        q=x[layout.q],
        W=W,
        solved=answer.status in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved),
    )


class _Layout:
    """Where each number sits: columns of the variables, rows of the constraints."""

    def __init__(self, size: int, d: int) -> None:
        self.size, self.d = size, d
        order = size + 1
        # Column by column of the upper triangle, as Clarabel counts a PSD cone.
        later, earlier = np.tril_indices(order)
        self.upper = (earlier, later)
        self.index: IntArray = np.zeros((order, order), dtype=np.intp)
        self.index[earlier, later] = np.arange(earlier.shape[0])
        self.index[later, earlier] = np.arange(earlier.shape[0])
        triangle = earlier.shape[0]
        self.q: IntArray = triangle + np.arange(size)
        self.pairs = np.triu_indices(size, 1)
        self.sizes: IntArray = triangle + size + np.arange(self.pairs[0].shape[0])
        self.columns = triangle + size + self.sizes.shape[0]

    def objective(self, A: FloatArray, a: FloatArray) -> FloatArray:
        """Return −Ã as the cost of each variable."""
        whole = np.zeros((self.size + 1, self.size + 1))
        whole[1:, 1:] = A
        whole[0, 1:] = whole[1:, 0] = a / 2
        cost = np.zeros(self.columns)
        cost[: self.q[0]] = -(2.0 - (self.upper[0] == self.upper[1])) * whole[self.upper]
        return cost

    def matrix(self, x: FloatArray) -> FloatArray:
        """Return Z."""
        return np.asarray(x[self.index])

    def constraints(self, forced: BoolArray) -> tuple[Any, FloatArray]:
        """Return (M, b) with b − Mx in the product of the cones."""
        size, pairs = self.size, self.sizes.shape[0]
        inner = self.index[1:, 1:]
        diagonal = np.diag(inner)
        # Z₀₀ = 1, tr Z = 2, q = 1 where forced.
        fixed = np.flatnonzero(forced)
        blocks = [
            self._rows(np.zeros(1, dtype=np.intp), self.index[:1, 0], 1.0, 1),
            self._rows(np.zeros(size + 1, dtype=np.intp), np.diag(self.index), 1.0, 1),
            self._rows(np.arange(fixed.shape[0]), self.q[fixed], 1.0, fixed.shape[0]),
            # Σq ≤ d, q ≤ 1, Z_ij ≤ P_ij, −Z_ij ≤ P_ij.
            self._rows(np.zeros(size, dtype=np.intp), self.q, 1.0, 1),
            self._rows(np.arange(size), self.q, 1.0, size),
        ]
        entries, lines = inner[self.pairs], np.arange(pairs)
        larger = self._rows(lines, self.sizes, -1.0, pairs)
        blocks += [larger + self._rows(lines, entries, sign, pairs) for sign in (1.0, -1.0)]
        triangle = np.arange(self.q[0])
        weights = np.where(self.upper[0] == self.upper[1], -1.0, -np.sqrt(2.0))
        blocks.append(self._rows(triangle, triangle, weights, triangle.shape[0]))
        # Σ_j Z_ij² ≤ Z_ii q_i is (Z_ii − q_i/2)² + Σ_{j≠i} Z_ij² ≤ (q_i/2)².
        starts = np.arange(size) * (size + 1)
        line = starts[:, None] + 1 + np.arange(size)[None, :]
        blocks.append(
            self._rows(starts, self.q, -0.5, size * (size + 1))
            + self._rows(line.ravel(), inner.ravel(), -1.0, size * (size + 1))
            + self._rows(np.diag(line), self.q, 0.5, size * (size + 1))
        )
        # (Σ_j|Z_ij|)² ≤ d Z_ii q_i is (Z_ii − q_i)² + (2Σ_j|Z_ij|/√d)² ≤ (Z_ii + q_i)².
        starts = 3 * np.arange(size)
        share = -2.0 / np.sqrt(self.d)
        total = self._rows(starts, diagonal, -1.0, 3 * size)
        total += self._rows(starts, self.q, -1.0, 3 * size)
        total += self._rows(starts + 1, diagonal, -1.0, 3 * size)
        total += self._rows(starts + 1, self.q, 1.0, 3 * size)
        total += self._rows(starts + 2, diagonal, share, 3 * size)
        for side in self.pairs:
            total += self._rows(starts[side] + 2, self.sizes, share, 3 * size)
        blocks.append(total)
        right = np.zeros(sum(block.shape[0] for block in blocks))
        right[:2] = 1.0, 2.0
        first = 2 + fixed.shape[0]
        right[2:first] = 1.0
        right[first] = self.d
        right[first + 1 : first + 1 + size] = 1.0
        return sparse.vstack(blocks).tocsc(), right

    def row_multiplier(self, multipliers: FloatArray, fixed: int) -> FloatArray:
        """Return W (D × D): what the row constraints' multipliers charge the entries of Z.

        The multiplier of P_ij ≥ |Z_ij| is shared by rows i and j in the ratio in which their
        cones pay for P_ij.
        """
        size, pairs = self.size, self.sizes.shape[0]
        start = 2 + fixed + 1 + size
        above = multipliers[start : start + pairs]
        below = multipliers[start + pairs : start + 2 * pairs]
        start += 2 * pairs + int(self.q[0])
        ball = multipliers[start : start + size * (size + 1)].reshape(size, size + 1)
        start += size * (size + 1)
        cone = multipliers[start : start + 3 * size].reshape(size, 3)
        W = -ball[:, 1:]
        paid = -2.0 / np.sqrt(self.d) * cone[:, 2]
        W[np.diag_indices(size)] += paid - cone[:, 0] - cone[:, 1]
        i, j = self.pairs
        together = paid[i] + paid[j]
        ratio = np.divide(paid[i], together, out=np.full(pairs, 0.5), where=together > 0)
        W[i, j] += ratio * (above - below)
        W[j, i] += (1.0 - ratio) * (above - below)
        return np.asarray(W)

    def _rows(self, rows: IntArray, columns: IntArray, values: Any, count: int) -> Any:
        """Return a sparse block of `count` rows with the given entries."""
        data = np.broadcast_to(np.asarray(values, dtype=np.float64), rows.shape)
        return sparse.csr_matrix((data, (rows, columns)), shape=(count, self.columns))
