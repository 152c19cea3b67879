"""What a search needs to know of a domain: the maximum over one support, and a bound on it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from tellapart.arrays import FloatArray


class Domain(ABC):
    """The set over which zᵀAz + aᵀz is maximised, the same on every support."""

    on_sphere: ClassVar[bool]
    """Whether ‖z‖₂ = 1; else z may be any vector, and A is negative definite."""
    nonnegative: ClassVar[bool]
    """Whether z ≥ 0."""

    @abstractmethod
    def maximise(
        self, A: FloatArray, a: FloatArray, above: float = -np.inf
    ) -> tuple[FloatArray, float]:
        """Return the best point over one support, given its block of A and part of a.

        Where its value is at most `above`, any other point will do, or none: z = 0 and −∞.
        """

    @abstractmethod
    def bound(
        self, A: FloatArray, a: FloatArray, value: float, cutoff: float, error: float
    ) -> float:
        """Return a proved bound on the maximum over one support, whose computed maximum is `value`.

        `error` is how far zᵀAz may be off because A was multiplied out. Above `cutoff` more work
        goes into a lower bound.
        """

    def promise(self, vector: FloatArray) -> FloatArray:
        """Return how much a step along each variable may gain, `vector` being the slopes."""
        return vector if self.nonnegative else np.abs(vector)
