"""Anderson acceleration: a fixed-point iteration helped along by its last few steps."""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray

DAMPING = 1e-10
"""Relative ridge on the least-squares problem, whose columns become nearly parallel."""


class Anderson:
    """Extrapolate x ↦ x + s(x) from the last `memory` pairs (Δx, Δs).

    The next point is x + s − Σ_k γ_k (Δx_k + Δs_k) with γ = argmin ‖s − Σ_k γ_k Δs_k‖₂: the step
    that would end the iteration if s were affine. Safeguards are the caller's.
    """

    def __init__(self, memory: int, length: int) -> None:
        self._moves = np.empty((memory, length))
        self._steps = np.empty((memory, length))
        self._gram = np.zeros((memory, memory))
        self._last: tuple[FloatArray, FloatArray] | None = None
        self._seen = 0

    def reset(self) -> None:
        """Forget all steps, as after a change of the iteration itself."""
        self._last = None
        self._seen = 0

    def extrapolate(self, point: FloatArray, step: FloatArray) -> FloatArray:
        """Return the next point after `point`, whose plain successor is point + step."""
        x, s = point.ravel(), step.ravel()
        if self._last is not None:
            place = self._seen % self._steps.shape[0]
            np.subtract(s, self._last[1], out=self._steps[place])
            np.subtract(x, self._last[0], out=self._moves[place])
            self._moves[place] += self._steps[place]
            self._seen += 1
            used = min(self._seen, self._steps.shape[0])
            products = self._steps[:used] @ self._steps[place]
            self._gram[place, :used] = self._gram[:used, place] = products
        self._last = (x, s)
        used = min(self._seen, self._steps.shape[0])
        # One pair is too little to tell a direction from noise.
        if used < 2:
            return point + step
        gram = self._gram[:used, :used]
        ridge = DAMPING * float(np.trace(gram))
        if ridge == 0.0:
            return point + step
        weights = np.linalg.solve(gram + ridge * np.eye(used), self._steps[:used] @ s)
        moved = x + s - weights @ self._moves[:used]
        return np.asarray(moved.reshape(point.shape))
