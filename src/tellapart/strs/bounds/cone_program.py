"""Cone programs written for Clarabel: sparse blocks of rows, each with its cone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tellapart.arrays import FloatArray, IntArray
from tellapart.strs.optional import load

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
