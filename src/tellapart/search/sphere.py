"""Steps uphill on one support: on the sphere, z ≥ 0 if required, second order, never downhill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.statistics.pair_sums import Derivatives
from tellapart.strs.contract import Control
from tellapart.strs.domains import maximise_on_sphere
from tellapart.strs.faces import FaceSearch

MOST_STEPS = 50
TOLERANCE = 1e-10
# Proximity τ, in units of ‖∇²F‖: where it starts, how it shrinks and grows, where it gives up.
_FIRST_PROXIMITY = 0.1
_SHRINK, _GROW, _LARGEST_PROXIMITY = 0.2, 5.0, 1e6
# The shares of its promise that a step must keep for τ to shrink, and not to grow.
_TRUSTED, _DOUBTED = 0.75, 0.25
# Optimism of the early stop: the best still to come, in units of what the next step promises.
_HOPE = 4.0
# Faces of the orthant that a step looks at: more find no better points, and take long.
_FACES = 3
# Variables with smaller entries are left out where F does not fall by more than this share.
_NEGLIGIBLE, _NO_LOSS = 0.02, 1e-6


class Hill(Protocol):
    """What a climb asks of an objective; see `tellapart.statistics.objective.FittedObjective`."""

    @property
    def squares_weights(self) -> bool:
        """Whether ω(z) = z²."""

    @property
    def within_orthant(self) -> bool:
        """Whether only z ≥ 0 is searched."""

    regularization: float

    def local(self, z: FloatArray, variables: IntArray) -> Derivatives:
        """Return F(z), and ∇F(z) and ∇²F(z) in some variables."""


@dataclass(frozen=True)
class Peak:
    """A point with ‖z‖₂ = 1 and its value; on its support no small step improves it."""

    z: FloatArray
    value: float

    @property
    def support(self) -> IntArray:
        """The non-zeros of z, sorted."""
        return np.flatnonzero(self.z)


def model(
    derivatives: Derivatives, z: FloatArray, proximity: float
) -> tuple[FloatArray, FloatArray]:
    """Return A and a of the second-order model of F about z in sparse trust region form [E6].

        F(z) + ∇Fᵀ(y − z) + ½ (y − z)ᵀ∇²F(y − z) − (τ/2)‖y − z‖² = yᵀAy + aᵀy + constant
        A = ½∇²F − (τ/2) I,  a = ∇F − ∇²F z + τ z

    The paper prints the opposite sign on the last two terms of a.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.array([0.6, 0.8])
    >>> A, a = model(Derivatives(1.0, np.array([0.3, 0.4]), -np.eye(2)), z, 1.0)
    >>> (2 * A @ z + a).round(12).tolist()  # the model's gradient at z is that of F
    [0.3, 0.4]
    """
    hessian = derivatives.hessian
    A = 0.5 * hessian
    A[np.diag_indices_from(A)] -= 0.5 * proximity
    return A, derivatives.gradient - hessian @ z + proximity * z


def tangent_model(
    derivatives: Derivatives, z: FloatArray, proximity: float, *, even: bool
) -> tuple[FloatArray, FloatArray]:
    """Return A and a of a model that agrees with F to second order along the sphere at z.

    With P = I − zzᵀ, g = ∇F and H = ∇²F, on the sphere near z

        F(y) ≈ F(z) + gᵀv + ½ vᵀHv − ½ (gᵀz) ‖v‖²,  v = Py

    What H says of the direction z itself is of no use there, and misleads `model` far from z: it
    may promise most at −z, where F is no better. Two forms with the same expansion leave it out:

        yᵀ(½PHP + ½ z(Pg)ᵀ + ½ (Pg)zᵀ + ½ (gᵀz) zzᵀ)y  where F is `even`, so that −z is as good as z
        ½ yᵀPHPy + gᵀy  elsewhere

    Examples
    --------
    >>> import numpy as np
    >>> z = np.array([0.6, 0.8])
    >>> A, a = tangent_model(Derivatives(1.0, np.array([0.3, 0.4]), np.eye(2)), z, 0.0, even=True)
    >>> float(z @ A @ z + a @ z) == float(z @ A @ z - a @ z)
    True
    """
    gradient, hessian = derivatives.gradient, derivatives.hessian
    pulled = hessian @ z
    radial = float(gradient @ z)
    # ½PHP = ½H − ½(Hz)zᵀ − ½z(Hz)ᵀ + ½(zᵀHz)zzᵀ, and the other terms have the same shape.
    along = 0.5 * (float(z @ pulled) * z / 2 - pulled)
    if even:
        along += 0.5 * (gradient - radial * z) + 0.25 * radial * z
    A = 0.5 * hessian + np.multiply.outer(along, z) + np.multiply.outer(z, along)
    A[np.diag_indices_from(A)] -= 0.5 * proximity
    line = proximity * z
    return (A, line) if even else (A, line + gradient)


def climb(
    objective: Hill,
    z: FloatArray,
    *,
    support: IntArray | None = None,
    to_beat: float = -np.inf,
    most_steps: int = MOST_STEPS,
    tolerance: float = TOLERANCE,
    control: Control | None = None,
) -> Peak:
    """Return a point on `support` from which no second-order step leads higher.

    Each step goes to the exact maximum over the sphere of a second-order model; τ shrinks after
    a step that kept its promise and grows after one that did not; only steps uphill are taken,
    and convergence is quadratic at the end. The model is the one along the sphere; at λ = 0, where
    ω(z) = z, it is that of F in all directions until it misleads: the quadratic kernel's is exact.
    Where the objective asks for z ≥ 0, z and every step are; a weight that a step sets to 0 may
    come back until the climb ends, and is out of the support of the peak.

    Parameters
    ----------
    objective : Hill
        F.
    z : array
        Where to start, ‖z‖₂ = 1.
    support : int array, optional
        The variables that may move; those with z_s ≠ 0 if None.
    to_beat : float
        Give up as soon as this value seems out of reach.
    most_steps : int
        Evaluations at most.
    tolerance : float
        A step that promises less than this share of |F| is not taken.
    control : Control, optional
        Whose time limit ends the climb early, at the best point so far.
    """
    moving = np.flatnonzero(z) if support is None else support
    here = objective.local(z, moving)
    share = _FIRST_PROXIMITY
    along = objective.squares_weights or objective.regularization > 0
    for _ in range(most_steps):
        if control is not None and control.out_of_time:
            break
        least = tolerance * abs(here.value)
        step, promise, share = _best_step(objective, here, z[moving], share, along, least)
        if promise <= least or share > _LARGEST_PROXIMITY:
            break
        if here.value + _HOPE * promise < to_beat:
            break
        trial = np.zeros_like(z)
        trial[moving] = step
        there = objective.local(trial, moving)
        rise = there.value - here.value
        if rise > 0:
            z, here = trial, there
        if rise > _TRUSTED * promise:
            share *= _SHRINK
        elif rise < _DOUBTED * promise:
            along = True
            share *= _GROW
    return Peak(z, here.value)


def _best_step(
    objective: Hill,
    here: Derivatives,
    y: FloatArray,
    share: float,
    along: bool,
    least: float,
) -> tuple[FloatArray, float, float]:
    """Return where the model at y is highest, what that promises, and τ in units of ‖∇²F‖.

    Within z ≥ 0 the maximum is searched for on a few faces of the orthant. Where that finds no
    promise above `least` and cannot rule one out either, τ grows: a model that is concave enough
    is settled at once.
    """
    scale = float(np.abs(here.hessian).sum(axis=0).max(initial=0.0))
    while True:
        if along:
            A, a = tangent_model(here, y, share * scale, even=objective.squares_weights)
        else:
            A, a = model(here, y, share * scale)
        now = float(y @ A @ y + a @ y)
        step, top = maximise_on_sphere(A, a)
        if not objective.within_orthant or (step >= 0).all():
            break
        search = FaceSearch(A, a, cutoff=now + least, limit=_FACES, prove=False).run()
        step, top = search.point, search.value
        decided = top > now + least or search.bound <= now + least
        if decided or share > _LARGEST_PROXIMITY:
            break
        share *= _GROW
    return step, top - now, share


def pruned(objective: Hill, peak: Peak, control: Control, *, tolerance: float = TOLERANCE) -> Peak:
    """Return the peak without the variables whose weight does nothing for F.

    A climb leaves tiny entries where the maximum has none.
    """
    small = np.abs(peak.z) < _NEGLIGIBLE
    if not (small & (peak.z != 0)).any():
        return peak
    z = np.where(small, 0.0, peak.z)
    refitted = climb(objective, z / np.linalg.norm(z), tolerance=tolerance, control=control)
    loss = max(_NO_LOSS, tolerance) * abs(peak.value)
    return refitted if refitted.value >= peak.value - loss else peak
