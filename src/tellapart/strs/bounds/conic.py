"""The strong SDP relaxation through the interior-point solver Clarabel: oracle and node solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.strs.bounds.sdp import DualBound, dual_bound
from tellapart.strs.contract import load

# Cone programs written for Clarabel: sparse blocks of rows, each with its cone.


SHORTEST = 1e-3
"""Seconds that Clarabel gets at least: it takes no limit of 0."""
USELESS = 1e50
"""Numbers of this size are no answer to data of about 1, and squares of larger ones overflow."""


@dataclass(frozen=True)
class ConeAnswer:
    """Clarabel's point and multipliers, both 0 if they are useless, and whether it is content."""

    x: FloatArray
    dual: FloatArray
    solved: bool


class ConeProgram:
    """min ½xᵀPx + cᵀx over b − Mx in a product of cones, gathered block by block.

    Every block returns the slice of the dual vector that holds its multipliers. `solver` is the
    name under which a missing Clarabel is reported.
    """

    def __init__(self, columns: int, solver: str) -> None:
        self.clarabel = load("clarabel", solver)
        self.columns = columns
        self.blocks: list[Any] = []
        self.right: list[FloatArray] = []
        self.cones: list[Any] = []
        self.rows = 0

    def block(self, rows: Any, columns: Any, values: Any, count: int) -> Any:
        """Return a sparse block of `count` rows with the given entries, for sums of blocks."""
        rows, columns = np.asarray(rows), np.asarray(columns)
        data = np.broadcast_to(np.asarray(values, dtype=np.float64), rows.shape)
        return sparse.csr_matrix((data, (rows, columns)), shape=(count, self.columns))

    def equal(self, blocks: list[Any], right: FloatArray) -> slice:
        """Add Mx = b."""
        return self._add(blocks, right, [self.clarabel.ZeroConeT(right.shape[0])])

    def at_most(self, blocks: list[Any], right: FloatArray) -> slice:
        """Add Mx ≤ b."""
        return self._add(blocks, right, [self.clarabel.NonnegativeConeT(right.shape[0])])

    def second_order(self, block: Any, right: FloatArray, order: int) -> slice:
        """Add (t, y) = b − Mx with ‖y‖₂ ≤ t, for every `order` rows."""
        cones = [self.clarabel.SecondOrderConeT(order)] * (right.shape[0] // order)
        return self._add([block], right, cones)

    def semidefinite(self, block: Any, order: int) -> slice:
        """Add −Mx ⪰ 0, its `triangle` scaled by √2 off the diagonal."""
        cone = self.clarabel.PSDTriangleConeT(order)
        return self._add([block], np.zeros(block.shape[0]), [cone])

    def _add(self, blocks: list[Any], right: FloatArray, cones: list[Any]) -> slice:
        self.blocks += blocks
        self.right.append(right)
        self.cones += cones
        self.rows += right.shape[0]
        return slice(self.rows - right.shape[0], self.rows)

    def solve(
        self,
        cost: FloatArray,
        quadratic: Any = None,
        *,
        time_limit: float | None = None,
        tolerance: float = 1e-8,
    ) -> ConeAnswer:
        """Solve with data of about 1, to which Clarabel's tolerances are relative.

        `quadratic` is the upper triangle of P. An answer beyond all sizes or not a number, as after
        no time at all, comes back as 0, and so does a failure of Clarabel: what is proved from
        multipliers holds for all of them.
        """
        settings = self.clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_threads = 1
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        if time_limit is not None:
            settings.time_limit = max(time_limit, SHORTEST)
        if quadratic is None:
            quadratic = sparse.csc_matrix((self.columns, self.columns))
        matrix = sparse.vstack(self.blocks, format="csc")
        right = np.concatenate(self.right)
        nothing = ConeAnswer(np.zeros(self.columns), np.zeros(self.rows), False)
        try:
            answer = self.clarabel.DefaultSolver(
                quadratic, cost, matrix, right, self.cones, settings
            ).solve()
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException as error:  # a panic of its Rust code is no Exception
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            return nothing
        x, dual = np.array(answer.x), np.array(answer.z)
        if not ((np.abs(x) < USELESS).all() and (np.abs(dual) < USELESS).all()):
            return nothing
        status = self.clarabel.SolverStatus
        return ConeAnswer(x, dual, answer.status in (status.Solved, status.AlmostSolved))


def triangle(order: int) -> IntArray:
    """Return where Clarabel stores entry (i, j): the upper triangle, column by column."""
    index: IntArray = np.zeros((order, order), dtype=np.intp)
    later, earlier = np.tril_indices(order)
    index[earlier, later] = index[later, earlier] = np.arange(later.shape[0])
    return index


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
    n = a.shape[0]
    index = triangle(n + 1)
    inner, diagonal = index[1:, 1:], np.diag(index)[1:]
    pairs = np.triu_indices(n, 1)
    corner = int(index[-1, -1]) + 1
    q = corner + np.arange(n)
    sizes = corner + n + np.arange(pairs[0].shape[0])
    program = ConeProgram(corner + n + sizes.shape[0], solver)
    row, block = np.arange(n), program.block

    # Z₀₀ = 1, tr Z = 2, q = 1 where forced.
    fixed = np.flatnonzero(forced)
    program.equal(
        [
            block([0], index[:1, 0], 1.0, 1),
            block(np.zeros(n + 1, dtype=np.intp), np.diag(index), 1.0, 1),
            block(np.arange(fixed.shape[0]), q[fixed], 1.0, fixed.shape[0]),
        ],
        np.concatenate([[1.0, 2.0], np.ones(fixed.shape[0])]),
    )
    # Σq ≤ d, q ≤ 1.
    total = block(np.zeros(n, dtype=np.intp), q, 1.0, 1)
    shares = [total, block(row, q, 1.0, n)]
    # Z_ij ≤ P_ij, −Z_ij ≤ P_ij.
    line, count = np.arange(sizes.shape[0]), sizes.shape[0]
    larger = block(line, sizes, -1.0, count)
    sides = [larger + block(line, inner[pairs], sign, count) for sign in (1.0, -1.0)]
    limits = np.concatenate([[float(d)], np.ones(n), np.zeros(2 * count)])
    linear = program.at_most([*shares, *sides], limits)
    # Clarabel's triangle holds √2·Z_ij for i < j.
    entry = np.arange(corner)
    weights = np.full(corner, -np.sqrt(2.0))
    weights[np.diag(index)] = -1.0
    program.semidefinite(block(entry, entry, weights, corner), n + 1)
    # Σ_j Z_ij² ≤ Z_ii q_i is (Z_ii − q_i/2)² + Σ_{j≠i} Z_ij² ≤ (q_i/2)².
    starts, rows = row * (n + 1), n * (n + 1)
    lines = starts[:, None] + 1 + row[None, :]
    balls = program.second_order(
        block(starts, q, -0.5, rows)
        + block(lines.ravel(), inner.ravel(), -1.0, rows)
        + block(np.diag(lines), q, 0.5, rows),
        np.zeros(rows),
        n + 1,
    )
    # (Σ_j|Z_ij|)² ≤ d Z_ii q_i is (Z_ii − q_i)² + (2Σ_j|Z_ij|/√d)² ≤ (Z_ii + q_i)².
    starts, share = 3 * row, -2.0 / np.sqrt(d)
    sums = block(starts, diagonal, -1.0, 3 * n) + block(starts, q, -1.0, 3 * n)
    sums += block(starts + 1, diagonal, -1.0, 3 * n)
    sums += block(starts + 1, q, 1.0, 3 * n)
    sums += block(starts + 2, diagonal, share, 3 * n)
    for side in pairs:
        sums += block(starts[side] + 2, sizes, share, 3 * n)
    cones = program.second_order(sums, np.zeros(3 * n), 3)

    scale = float(np.linalg.norm(A) + np.linalg.norm(a)) or 1.0
    cost = np.zeros(program.columns)
    cost[inner[pairs]] = -2.0 * (A / scale)[pairs]
    cost[diagonal] = -np.diag(A / scale)
    cost[index[0, 1:]] = -2.0 * (a / scale / 2)
    answer = program.solve(cost, time_limit=time_limit, tolerance=tolerance)

    ball = answer.dual[balls].reshape(n, n + 1)
    cone = answer.dual[cones].reshape(n, 3)
    paid = share * cone[:, 2]
    W = -ball[:, 1:]
    W[np.diag_indices(n)] += paid - cone[:, 0] - cone[:, 1]
    above, below = np.split(answer.dual[linear][1 + n :], 2)
    charge_pairs(W, paid, pairs, above - below)
    W *= scale
    bound, trivial = dual_bound(A, a, d, forced, W), dual_bound(A, a, d, forced)
    if trivial.value < bound.value:
        bound, W = trivial, np.zeros_like(W)
    return ConicRelaxation(
        value=-scale * float(cost @ answer.x),
        bound=bound,
        Z=np.asarray(answer.x[index]),
        q=answer.x[q],
        W=W,
        solved=answer.solved,
    )


def charge_pairs(
    W: FloatArray, paid: FloatArray, pairs: tuple[IntArray, IntArray], charge: FloatArray
) -> None:
    """Add the multipliers of P_ij ≥ |Z_ij|, i < j, to both rows of W that share P_ij.

    In the ratio in which the rows' cones pay for P_ij: each share is then within what its row
    pays.
    """
    i, j = pairs
    together = paid[i] + paid[j]
    ratio = np.divide(paid[i], together, out=np.full(i.shape[0], 0.5), where=together > 0)
    W[i, j] += ratio * charge
    W[j, i] += (1.0 - ratio) * charge
