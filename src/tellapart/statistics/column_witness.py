"""One column's MMD² under its scalar kernel, and its p and q, which V is made of."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tellapart.arrays import FloatArray
from tellapart.kernels.base import Expansion, ScalarKernel

# Pairs of rows up to which Gram matrices are formed: setting up fast sums takes a millisecond.
FEW_PAIRS = 40_000


@dataclass(frozen=True)
class ColumnWitness:
    """The means of one column's kernel, and its p and q: by evaluation, or held."""

    index: int
    mean_xx: float
    mean_yy: float
    mean_xy: float
    diagonal_xy: float = math.nan
    witness: Callable[[FloatArray], FloatArray] | None = None
    held: tuple[FloatArray, FloatArray] | None = None

    @classmethod
    def of(
        cls, index: int, scalar: ScalarKernel, x: FloatArray, y: FloatArray, paired: bool
    ) -> ColumnWitness:
        """Return the witness of a column that is held as a whole."""
        if not paired and x.size**2 + x.size * y.size + y.size**2 <= FEW_PAIRS:
            return cls._of_few(index, scalar, x, y)
        sums = scalar.expand(scalar.moments(x), scalar.moments(y))
        # The cross terms i = j, which only the paired estimator leaves out.
        diagonal = float(scalar.elementwise(x, y).mean()) if paired else math.nan
        witness, held = None, None
        if scalar.compact:
            witness = sums.witness
        else:
            held = sums.witness(x), sums.witness(y)
        return cls(index, sums.mean_xx, sums.mean_yy, sums.mean_xy, diagonal, witness, held)

    @classmethod
    def of_sums(cls, index: int, sums: Expansion) -> ColumnWitness:
        """Return the witness of a column whose kernel sums are known."""
        return cls(index, sums.mean_xx, sums.mean_yy, sums.mean_xy, witness=sums.witness)

    @classmethod
    def _of_few(
        cls, index: int, scalar: ScalarKernel, x: FloatArray, y: FloatArray
    ) -> ColumnWitness:
        kxx, kyy, kxy = scalar.gram(x, x), scalar.gram(y, y), scalar.gram(x, y)
        held = kxx.mean(axis=1) - kxy.mean(axis=1), kxy.mean(axis=0) - kyy.mean(axis=1)
        means = float(kxx.mean()), float(kyy.mean()), float(kxy.mean())
        return cls(index, *means, held=held)

    def mmd2(self, m: int, n: int, paired: bool = False) -> float:
        """Return MMD²_u of samples of m and n rows, or the paired form."""
        # k(v, v) = 1 is taken out of the means over all pairs.
        within = (m * self.mean_xx - 1) / (m - 1) + (n * self.mean_yy - 1) / (n - 1)
        if paired:
            return within - 2 * (m * self.mean_xy - self.diagonal_xy) / (m - 1)
        return within - 2 * self.mean_xy

    def centred(self, side: int, rows: slice, values: FloatArray) -> FloatArray:
        """Return p − mean(p) of some rows of x (side 0), or −(q − mean(q)) of y (side 1)."""
        if self.held is not None:
            result = self.held[side][rows].copy()
        else:
            assert self.witness is not None
            result = self.witness(values)
        result -= self.mean_xx - self.mean_xy if side == 0 else self.mean_xy - self.mean_yy
        return result
