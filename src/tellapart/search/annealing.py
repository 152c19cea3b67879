"""One annealed run: second-order steps over all supports, now and then downhill.

    z̃ = argmax over ‖z‖₂ = 1, ‖z‖₀ ≤ d of the second-order model of F at z_i less (τ/2)‖z − z_i‖²

(and z ≥ 0 where the objective asks for it) is a sparse trust region problem (`sphere.model`). It is
accepted with probability min(1, e^{Δ/T}), Δ = F(z̃) − F(z_i); T cools; the best point visited is
kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.search.sphere import Peak, model
from tellapart.statistics.objective import FittedObjective
from tellapart.strs.contract import Control
from tellapart.strs.incumbent import improve_by_swaps
from tellapart.strs.problem import SparseTrustRegion, polish

# The paper gives no values. τ in units of ‖∇²F‖: steps from bold to careful.
PROXIMITIES = (0.01, 0.1, 0.5)
# T in units of |F| at the start: first and last.
HOTTEST, COLDEST = 0.05, 0.0005
# Variables outside the support that a step may bring in.
N_OUTSIDERS = 6
# A step to the same point, up to this distance, is none.
_STILL = 1e-6


@dataclass(frozen=True)
class Trace:
    """How one annealed run went.

    Attributes
    ----------
    start : str
        What the run started from.
    values : tuple of float
        F at the current point, at the start and after each iteration.
    accepted : tuple of bool
        Whether the proposal of each iteration was taken.
    temperatures : tuple of float
        T of each iteration.
    best : float
        The best value visited.
    """

    start: str
    values: tuple[float, ...]
    accepted: tuple[bool, ...]
    temperatures: tuple[float, ...]
    best: float


def anneal(
    objective: FittedObjective,
    start: str,
    z: FloatArray,
    n_variables: int,
    *,
    iterations: int,
    rng: np.random.Generator,
    control: Control,
) -> tuple[Peak, Trace]:
    """Return the best point visited from z, and how the run went.

    A proposal that stays where it is would end the search in a local maximum; a random exchange
    of one variable takes its place.
    """
    if iterations == 0 or control.out_of_time:
        value = objective.value(z)
        return Peak(z, value), Trace(start, (value,), (), (), value)
    here = objective.derivatives(z)
    best = Peak(z, here.value)
    values, accepted, temperatures = [here.value], [], []
    scale = max(abs(here.value), float(np.finfo(np.float64).tiny))
    for i in range(iterations):
        if control.out_of_time:
            break
        temperature = scale * HOTTEST * (COLDEST / HOTTEST) ** (i / max(1, iterations - 1))
        norm = float(np.abs(here.hessian).sum(axis=0).max())
        proposal = best_of_model(
            *model(here, z, float(rng.choice(PROXIMITIES)) * norm),
            z,
            n_variables,
            control,
            squares=objective.squares_weights,
            nonnegative=objective.within_orthant,
        )
        if _distance(proposal, z) <= _STILL:
            proposal = exchange(z, n_variables, rng)
        there = objective.derivatives(proposal)
        rise = there.value - here.value
        taken = bool(rise >= 0 or rng.random() < np.exp(rise / temperature))
        if taken:
            z, here = proposal, there
            if here.value > best.value:
                best = Peak(z, here.value)
        values.append(here.value)
        accepted.append(taken)
        temperatures.append(temperature)
    trace = Trace(start, tuple(values), tuple(accepted), tuple(temperatures), best.value)
    return best, trace


def best_of_model(
    A: FloatArray,
    a: FloatArray,
    z: FloatArray,
    n_variables: int,
    control: Control,
    *,
    squares: bool,
    nonnegative: bool = False,
) -> FloatArray:
    """Return a strong point of yᵀAy + aᵀy: swaps from the support of z with a few outsiders.

    Where ω(z) = z² (`squares`) the model couples no outsider with those inside: what it says of
    them is on the diagonal, and of several only the one with the largest entry can serve.
    Elsewhere the gradient of the model decides. The point is ≥ 0 if `nonnegative`.
    """
    support = np.flatnonzero(z)
    slopes = a + 2 * A @ z
    lift = np.diag(A) if squares else (slopes if nonnegative else np.abs(slopes))
    lift = np.where(z == 0, lift, -np.inf)
    outside = z.shape[0] - support.shape[0]
    outsiders = np.argsort(-lift, kind="stable")[: min(N_OUTSIDERS, outside)]
    together = np.concatenate([support, outsiders])
    matrix, line = A[np.ix_(together, together)], a[together]
    # One unit for all entries changes nothing, and a row far out may have made them huge.
    unit = max(float(np.abs(matrix).max()), float(np.abs(line).max())) or 1.0
    size = min(n_variables, together.shape[0])
    problem = SparseTrustRegion(matrix / unit, line / unit, size, nonnegative=nonnegative)
    inside = np.arange(support.shape[0])
    point = np.zeros_like(z)
    point[together] = polish(problem, improve_by_swaps(problem, inside, control)[0])[0]
    return point


def exchange(z: FloatArray, n_variables: int, rng: np.random.Generator) -> FloatArray:
    """Return z with one variable, drawn at random, exchanged for another that is not in use."""
    chosen, others = np.flatnonzero(z), np.flatnonzero(z == 0)
    moved = z.copy()
    if others.size == 0:
        return moved
    coming = rng.choice(others)
    if chosen.size < n_variables:
        moved[coming] = np.abs(z[chosen]).min()
        return moved / np.linalg.norm(moved)
    leaving = rng.choice(chosen)
    moved[coming], moved[leaving] = z[leaving], 0.0
    return moved


def _distance(one: FloatArray, other: FloatArray) -> float:
    # −z is the same point where only z² counts; elsewhere its value shows.
    return float(min(np.linalg.norm(one - other), np.linalg.norm(one + other)))
