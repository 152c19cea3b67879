"""A reference that is split once: rows to choose variables from, and rows to hold out."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from tellapart.arrays import IntArray
from tellapart.data.samples import Samples, draw_rows
from tellapart.kernels import Kernel
from tellapart.testing.settings import TestSettings
from tellapart.testing.stored_kernel import StoredKernel


@dataclass(frozen=True)
class ReferenceHalves:
    """The two parts of the reference's rows, which never change side, and the kernel.

    Attributes
    ----------
    train, held_out : array
        Rows of the reference.
    kernel : Kernel
        With the bandwidths of the reference's training rows where columns have their own.
    """

    train: IntArray
    held_out: IntArray
    kernel: Kernel

    @classmethod
    def of(
        cls, reference: Samples, settings: TestSettings, rng: np.random.Generator
    ) -> ReferenceHalves:
        """Split the rows of the reference, which stands on both sides, and fit the kernel."""
        train, held_out = _split(reference.n_x, settings.test_size, rng)
        kernel = settings.fittable
        if kernel.abilities.own_bandwidths:
            # Every second row on either side: a kernel pools both sides again.
            pooled = reference.rows(train[::2], train[1::2])
            kernel = StoredKernel.of(kernel, pooled, settings.threads)
        return cls(train, held_out, kernel)

    def divide(
        self, samples: Samples, test_size: float, ratio: float, rng: np.random.Generator
    ) -> Samples:
        """Return the samples with their halves decided, the batch's drawn here."""
        batch = _split(samples.n_y, test_size, rng)
        train, held_out = (
            samples.rows(some_rows(ours, ratio * theirs.size, rng), theirs)
            for ours, theirs in zip((self.train, self.held_out), batch, strict=True)
        )
        return _Divided(
            samples.x,
            samples.y,
            samples.names,
            samples.kinds,
            samples.categories,
            samples.dropped_columns,
            samples.dropped_rows,
            halves=(train, held_out),
        )


@dataclass(frozen=True)
class _Divided(Samples):
    """Samples whose split is decided already."""

    halves: tuple[Samples, ...] = field(default=(), repr=False)

    def split(self, test_size: float, rng: np.random.Generator) -> tuple[Samples, Samples]:  # noqa: ARG002
        train, held_out = self.halves
        return train, held_out


def some_rows(rows: IntArray, most: float, rng: np.random.Generator) -> IntArray:
    """Return at most so many of the rows, drawn at random."""
    return rows[draw_rows(rows.size, math.ceil(min(most, rows.size)), rng)]


def _split(n_rows: int, test_size: float, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return the training rows and the held-out rows, at least two of each."""
    n_test = min(max(round(n_rows * test_size), 2), n_rows - 2)
    order = rng.permutation(n_rows)
    return np.sort(order[n_test:]), np.sort(order[:n_test])
