"""A reference that is split once: rows to choose variables from, and rows to hold out."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np

from tellapart.arrays import IntArray
from tellapart.data.row_order import RowOrder
from tellapart.data.samples import Samples
from tellapart.kernels import Kernel
from tellapart.testing.settings import TestSettings
from tellapart.testing.stored_kernel import StoredKernel


@dataclass(frozen=True)
class ReferenceHalves:
    """The two parts of the reference's rows, which never change side, and the kernel.

    Attributes
    ----------
    parts : array
        Of every row of the reference: 0 to choose variables from, 1 to hold out.
    kernel : Kernel
        With the bandwidths of the reference's training rows where columns have their own.
    """

    parts: IntArray
    kernel: Kernel

    @classmethod
    def of(
        cls, reference: Samples, settings: TestSettings, rng: np.random.Generator
    ) -> ReferenceHalves:
        """Split the rows of the reference, which stands on both sides, and fit the kernel."""
        parts = split_rows(reference.n_x, settings.test_size, rng)
        kernel = settings.fittable
        if kernel.abilities.own_bandwidths:
            # Every second row on either side: a kernel pools both sides again.
            train = np.flatnonzero(parts == 0)
            pooled = reference.rows(train[::2], train[1::2])
            kernel = StoredKernel.of(kernel, pooled, settings.threads)
        return cls(parts, kernel)


@dataclass(frozen=True)
class _Divided(Samples):
    """Samples whose split is decided already."""

    halves: tuple[Samples, ...] = field(default=(), repr=False)

    def split(
        self,
        test_size: float,  # noqa: ARG002
        rng: np.random.Generator,  # noqa: ARG002
        order: RowOrder | None = None,  # noqa: ARG002
    ) -> tuple[Samples, Samples]:
        train, held_out = self.halves
        return train, held_out


def divide(samples: Samples, of_x: IntArray, of_y: IntArray) -> Samples:
    """Return samples whose split is decided: rows of part 0 choose, rows of part 1 are held out."""
    train, held_out = (
        samples.rows(np.flatnonzero(of_x == part), np.flatnonzero(of_y == part)) for part in (0, 1)
    )
    given = {f.name: getattr(samples, f.name) for f in fields(Samples)}
    return _Divided(**given, halves=(train, held_out))


def split_rows(n_rows: int, test_size: float, rng: np.random.Generator) -> IntArray:
    """Return the part of every row: 0 to choose variables from, 1 to hold out; each has two."""
    n_test = min(max(round(n_rows * test_size), 2), n_rows - 2)
    parts = np.zeros(n_rows, dtype=np.intp)
    parts[rng.permutation(n_rows)[:n_test]] = 1
    return parts
