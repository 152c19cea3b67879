"""A small problem as the audit knows it: plain numbers, and exact ones made of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

import mpmath as mp
import numpy as np
from numpy.typing import NDArray

DIGITS = 50
Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Problem:
    """max zᵀAz + aᵀz over ‖z‖₂ = 1, or aᵀz/√(zᵀAz) if `ratio`; at most d non-zeros.

    `factor` (shift, B) stands for A = shift·I − BᵀB, multiplied out in many digits.
    """

    family: str
    A: Vector
    a: Vector
    d: int
    nonnegative: bool = False
    ratio: bool = False
    required: tuple[int, ...] = ()
    factor: tuple[float, Vector] | None = None
    exact: mp.matrix = field(init=False, repr=False)
    linear: mp.matrix = field(init=False, repr=False)

    def __post_init__(self) -> None:
        mp.mp.dps = self.digits
        exact = mp.matrix(self.A.tolist())
        if self.factor is not None:
            shift, B = self.factor
            columns = mp.matrix(B.tolist())
            exact = shift * mp.eye(self.size) - columns.T * columns
        object.__setattr__(self, "exact", exact)
        object.__setattr__(self, "linear", mp.matrix(self.a.tolist()))

    @property
    def size(self) -> int:
        """Number of variables, D."""
        return int(self.a.shape[0])

    @property
    def digits(self) -> int:
        """Digits enough for the smallest entry beside the largest, squares included."""
        entries = np.abs(np.concatenate([self.A.ravel(), self.a]))
        present = entries[entries > 0]
        if present.size == 0:
            return DIGITS
        return DIGITS + 2 * int(np.ceil(np.log10(present.max()) - np.log10(present.min())))

    def supports(self, smallest: int = 1) -> Iterator[tuple[int, ...]]:
        """Return the sets of variables that may differ from 0, of `smallest` to d variables."""
        for count in range(smallest, self.d + 1):
            for chosen in combinations(range(self.size), count):
                if len({*chosen, *self.required}) <= self.d:
                    yield chosen

    def block(self, chosen: tuple[int, ...]) -> tuple[mp.matrix, mp.matrix]:
        """Return A and a of some variables, in many digits."""
        count = len(chosen)
        block = mp.matrix(count, count)
        for i, s in enumerate(chosen):
            for j, t in enumerate(chosen):
                block[i, j] = self.exact[s, t]
        return block, mp.matrix([self.linear[s] for s in chosen])

    def value(self, z: Vector) -> mp.mpf:
        """Return the objective at a point, in many digits."""
        mp.mp.dps = self.digits
        chosen = tuple(np.flatnonzero(z).tolist())
        block, linear = self.block(chosen)
        point = mp.matrix([mp.mpf(float(z[s])) for s in chosen])
        quadratic, along = (point.T * block * point)[0], (linear.T * point)[0]
        return along / mp.sqrt(quadratic) if self.ratio else quadratic + along
