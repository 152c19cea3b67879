"""The best shift per variable for the hull bound, by an interior-point method.

Over everything the hull bound may choose, it is a convex problem in (b, δ, μ, ν, p), b = a − 2Cu:

    min ¼(a − b)ᵀ(M − Diag δ)⁻¹(a − b) + μ + kν + Σ_i p_i
    s.t. (p_i + ν)(μ + δ_i) ≥ b_i²/4,  p_i ≥ 0   (i free; no ν and no sign for i forced in),
         M̄ − Diag δ ⪰ 0,

the dual of the semidefinite relaxation with perspective cuts. M̄ = M, or a Schur complement below
M that carries the variables left out of the problem (`Curvature.complement`). Newton steps on
the log-barrier problem in (b, δ, μ, ν), p eliminated by hand: one Cholesky factorisation of
order 2n + 2 a step, a few dozen steps in all.
Where z ≥ 0 the cones hold b ≥ g = a − 2Cu in place of g (max(g, 0) is what counts): one more
barrier, −log(b − g), and the steps are taken in g, b eliminated like p. Without the sphere μ = 0.
Only δ is kept: any δ with M − Diag δ ⪰ 0 gives a valid bound, however early this stops.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cholesky, lapack

from tellapart.arrays import BoolArray, FloatArray
from tellapart.budget import current_budget
from tellapart.strs.bounds.hull import HullNode, Relaxed
from tellapart.strs.domains import EPS, SPHERE, Domain

CENTRED = 0.05
"""Newton decrement per variable below which a barrier subproblem counts as solved.

Exact centring buys nothing: indifferent variables slide along their barrier for dozens of steps.
"""

APART = 0.1
"""How far b starts above max(g, 0), as a part of the b whose score is an even share of the gap."""

GROWTH = 15.0
"""Factor by which the weight of the objective grows between barrier subproblems."""


@dataclass(frozen=True)
class ShiftProblem:
    """The data: M, M̄ (`ground`), a, which variables are forced, and how many more are picked.

    `mu_above` is a limit that μ must stay above: −δ of the variables left out.
    """

    matrix: FloatArray
    ground: FloatArray
    a: FloatArray
    forced: BoolArray
    picks: int
    mu_above: float
    domain: Domain = SPHERE


@dataclass(frozen=True)
class _Iterate:
    """Where the method stands, with the Cholesky factors of M − Diag δ and M̄ − Diag δ.

    g is a − 2Cu, and b is g too unless z ≥ 0.
    """

    g: FloatArray
    b: FloatArray
    delta: FloatArray
    mu: float
    nu: float
    p: FloatArray
    factor: FloatArray
    ground_factor: FloatArray
    objective: float
    barrier: float

    def merit(self, weight: float) -> float:
        return weight * self.objective + self.barrier


def best_shift(
    problem: ShiftProblem,
    delta: FloatArray,
    mu: float,
    g: FloatArray,
    *,
    tolerance: float,
    scale: float,
    stop: Callable[[], bool],
    steps: int = 150,
) -> FloatArray:
    """Return δ whose bound is within about `tolerance` of the best.

    (δ, μ, g) must be strictly feasible; `scale` is the size of the gap there.
    """
    iterate = _start(problem, delta, mu, g, scale)
    if iterate is None:
        return delta
    barriers = (5 if problem.domain.nonnegative else 4) * problem.a.shape[0]
    centred = 1.0 + CENTRED * problem.a.shape[0]
    weight = barriers / scale
    last = barriers / tolerance
    taken = 0
    while taken < steps and not stop():
        moved, decrement = _newton_step(problem, iterate, weight)
        taken += 1
        if moved is not None:
            iterate = moved
        if moved is None or decrement < centred:
            if weight >= last:
                break
            weight = min(weight * GROWTH, last)
    return iterate.delta


def _start(
    problem: ShiftProblem, delta: FloatArray, mu: float, g: FloatArray, scale: float
) -> _Iterate | None:
    e = mu + delta
    if (e <= 0).any():
        return None
    b = g
    if problem.domain.nonnegative:
        b = np.maximum(g, 0.0) + APART * np.sqrt(4 * e * scale / g.shape[0])
    scores = b * b / (4 * e)
    free = np.flatnonzero(~problem.forced)
    nu = float(np.partition(scores[free], -problem.picks)[-problem.picks])
    margin = scale / problem.a.shape[0]
    p = np.where(problem.forced, scores, np.maximum(scores - nu, 0.0)) + margin
    return _at(problem, g, b, delta, mu, nu, p)


def _at(
    problem: ShiftProblem,
    g: FloatArray,
    b: FloatArray,
    delta: FloatArray,
    mu: float,
    nu: float,
    p: FloatArray,
) -> _Iterate | None:
    """Return the iterate at a point, None outside the domain of the barrier."""
    free = ~problem.forced
    e = mu + delta
    cones = (p + nu * free) * e - b * b / 4
    if mu <= problem.mu_above or (e <= 0).any() or (cones <= 0).any() or (p[free] <= 0).any():
        return None
    if problem.domain.nonnegative and (b <= g).any():
        return None
    ground_factor, failed = lapack.dpotrf(problem.ground - np.diag(delta), lower=1)
    if failed:
        return None
    factor = ground_factor
    if problem.matrix is not problem.ground:
        factor, failed = lapack.dpotrf(problem.matrix - np.diag(delta), lower=1)
        if failed:
            return None
    half, _ = lapack.dtrtrs(factor, (problem.a - g) / 2, lower=1)
    objective = float(half @ half) + mu + problem.picks * nu + float(p.sum())
    barrier = -2 * float(np.log(ground_factor.diagonal()).sum())
    barrier -= float(np.log(cones).sum()) + float(np.log(p[free]).sum())
    if np.isfinite(problem.mu_above):
        barrier -= float(np.log(mu - problem.mu_above))
    if problem.domain.nonnegative:
        barrier -= float(np.log(b - g).sum())
    return _Iterate(g, b, delta, mu, nu, p, factor, ground_factor, objective, barrier)


@dataclass(frozen=True)
class _Cones:
    """Derivatives of the terms −log((p + ν)e − b²/4) − log p in (e, b, ν), p eliminated.

    `e`, `b`, `n` are the gradient, `ee` … `nn` the Hessian, entry by entry. A step in the others
    moves p by −newton_p − (from_n·Δν + from_e·Δe + from_b·Δb), which saves `saved` of the merit.
    """

    e: FloatArray
    b: FloatArray
    n: FloatArray
    ee: FloatArray
    eb: FloatArray
    bb: FloatArray
    nn: FloatArray
    ne: FloatArray
    nb: FloatArray
    newton_p: FloatArray
    from_n: FloatArray
    from_e: FloatArray
    from_b: FloatArray
    saved: float


def _cones(problem: ShiftProblem, at: _Iterate, weight: float) -> _Cones:
    free = (~problem.forced).astype(float)
    e = at.mu + at.delta
    y = at.p + at.nu * free
    cone = y * e - at.b * at.b / 4
    dy, de, db = -e / cone, -y / cone, at.b / (2 * cone)
    yy, ye, yb = dy * dy, dy * de - 1 / cone, dy * db
    inverse_p = free / at.p
    gradient_p = weight + dy - inverse_p
    pp = yy + inverse_p**2
    newton_p = gradient_p / pp
    yy_p, ye_p, yb_p = yy / pp, ye / pp, yb / pp
    return _Cones(
        e=de - ye * newton_p,
        b=db - yb * newton_p,
        n=(dy - yy * newton_p) * free,
        ee=de * de - ye * ye_p,
        eb=de * db - ye * yb_p,
        bb=db * db + 0.5 / cone - yb * yb_p,
        nn=(yy - yy * yy_p) * free,
        ne=(ye - yy * ye_p) * free,
        nb=(yb - yy * yb_p) * free,
        newton_p=newton_p,
        from_n=yy_p * free,
        from_e=ye_p,
        from_b=yb_p,
        saved=float(gradient_p @ newton_p),
    )


@dataclass(frozen=True)
class _Above:
    """How b moves with the others where z ≥ 0, b eliminated.

    By −newton_b − (from_n·Δν + from_e·Δe + from_g·Δg).
    """

    newton_b: FloatArray
    from_n: FloatArray
    from_e: FloatArray
    from_g: FloatArray


def _eliminate_b(cones: _Cones, at: _Iterate) -> tuple[_Cones, _Above]:
    """Return the derivatives with −log(b − g) added and g in the place of b, b eliminated."""
    inverse = 1 / (at.b - at.g)
    square = inverse * inverse
    gradient_b, bb = cones.b - inverse, cones.bb + square
    newton_b = gradient_b / bb
    eb_b, nb_b, gb_b = cones.eb / bb, cones.nb / bb, -square / bb
    reduced = replace(
        cones,
        e=cones.e - cones.eb * newton_b,
        b=inverse + square * newton_b,
        n=cones.n - cones.nb * newton_b,
        ee=cones.ee - cones.eb * eb_b,
        eb=-cones.eb * gb_b,
        bb=square + square * gb_b,
        nn=cones.nn - cones.nb * nb_b,
        ne=cones.ne - cones.nb * eb_b,
        nb=-cones.nb * gb_b,
        saved=cones.saved + float(gradient_b @ newton_b),
    )
    return reduced, _Above(newton_b, nb_b, eb_b, gb_b)


def _newton_system(
    problem: ShiftProblem, at: _Iterate, weight: float, cones: _Cones
) -> tuple[FloatArray, FloatArray]:
    """Return the gradient and Hessian (upper triangle) of the merit in (g, δ, μ, ν)."""
    n = problem.a.shape[0]
    inverse = _inverse(at.factor)
    ground_inverse = inverse if at.factor is at.ground_factor else _inverse(at.ground_factor)
    u = inverse @ (problem.a - at.g) / 2
    gradient = np.empty(2 * n + 2)
    gradient[:n] = -weight * u + cones.b
    gradient[n:-2] = weight * u * u + ground_inverse.diagonal() + cones.e
    gradient[-2] = weight + cones.e.sum()
    gradient[-1] = weight * problem.picks + cones.n.sum()
    hessian = np.zeros((2 * n + 2, 2 * n + 2))
    scaled = inverse * u
    hessian[:n, :n] = 0.5 * weight * inverse
    hessian[:n, n:-2] = -weight * scaled
    hessian[n:-2, n:-2] = 2 * weight * u[:, None] * scaled + ground_inverse**2
    index = np.arange(n)
    hessian[index, index] += cones.bb
    hessian[index, n + index] += cones.eb
    hessian[n + index, n + index] += cones.ee
    hessian[:n, -2], hessian[n:-2, -2], hessian[-2, -2] = cones.eb, cones.ee, cones.ee.sum()
    hessian[:n, -1], hessian[n:-2, -1], hessian[-2, -1] = cones.nb, cones.ne, cones.ne.sum()
    hessian[-1, -1] = cones.nn.sum()
    if np.isfinite(problem.mu_above):
        room = at.mu - problem.mu_above
        gradient[-2] -= 1 / room
        hessian[-2, -2] += 1 / room**2
    if not problem.domain.on_sphere:
        # μ does not move.
        gradient[-2] = hessian[:, -2] = hessian[-2, :] = 0.0
        hessian[-2, -2] = 1.0
    return gradient, hessian


def _newton_step(
    problem: ShiftProblem, at: _Iterate, weight: float
) -> tuple[_Iterate | None, float]:
    """Return the iterate after a damped Newton step (None if none helps) and the decrement."""
    n = problem.a.shape[0]
    cones = _cones(problem, at, weight)
    above: _Above | None = None
    if problem.domain.nonnegative:
        cones, above = _eliminate_b(cones, at)
    gradient, hessian = _newton_system(problem, at, weight, cones)
    root, failed = lapack.dpotrf(hessian, lower=0)
    if failed:
        # Near the end the Hessian is PSD only up to rounding error.
        hessian[np.diag_indices_from(hessian)] *= 1 + 1e-10
        root, failed = lapack.dpotrf(hessian, lower=0)
        if failed:
            return None, 0.0
    step, _ = lapack.dpotrs(root, -gradient, lower=0)
    step_g, step_delta, step_mu, step_nu = step[:n], step[n:-2], step[-2], step[-1]
    step_b = step_g
    if above is not None:
        step_b = above.from_n * step_nu + above.from_e * (step_delta + step_mu)
        step_b = -above.newton_b - step_b - above.from_g * step_g
    step_p = cones.from_n * step_nu + cones.from_e * (step_delta + step_mu)
    step_p = -cones.newton_p - step_p - cones.from_b * step_b
    decrement = -float(gradient @ step) + cones.saved

    merit = at.merit(weight)
    length = 1.0
    while length > 1e-9:
        moved = _at(
            problem,
            at.g + length * step_g,
            at.b + length * step_b,
            at.delta + length * step_delta,
            at.mu + length * float(step_mu),
            at.nu + length * float(step_nu),
            at.p + length * step_p,
        )
        if moved is not None and moved.merit(weight) <= merit - 0.01 * length * decrement:
            return moved, decrement
        length *= 0.5
    return None, decrement


def _inverse(factor: FloatArray) -> FloatArray:
    """Return the inverse from a lower Cholesky factor."""
    lower, _ = lapack.dpotri(factor, lower=1)
    inverse: FloatArray = np.tril(lower) + np.tril(lower, -1).T
    return inverse


# A node of the branch-and-bound tree, and the proved bound it gets.


SHARED_DROP = 0.5
"""How far below the uniform shift the shared one lies, in units of e = μ + δ there."""


def tighten(
    relaxed: Relaxed, d: int, *, value: float, tolerance: float, stop: Callable[[], bool]
) -> HullNode:
    """Return the node with the best shift found for it, proved; the same node if none is."""
    node, point = relaxed.node, relaxed.point
    size = node.variables.shape[0]
    most = current_budget().shifted_columns
    if size <= most + most // 4:
        chosen, others = np.arange(size), np.empty(0, dtype=np.intp)
    else:
        needed = node.forced | (node.q > 0)
        number = max(most, int(needed.sum()))
        if number > 2 * most:
            # A step costs the cube of this number: branching is quicker.
            return replace(node, shift_size=size)
        order = np.argsort(-np.where(needed, np.inf, relaxed.hull.scores), kind="stable")
        chosen, others = np.sort(order[:number]), np.sort(order[number:])
    matrix = relaxed.curvature.block(chosen)
    ground, allowance, shared = matrix, 0.0, -np.inf
    if others.shape[0] > 0:
        base = float(node.delta.min())
        margin = SHARED_DROP * (point.mu + base)
        shared = base - margin
        try:
            ground, allowance = relaxed.curvature.complement(chosen, others, shared, margin)
        except LinAlgError:
            allowance = np.inf
        if allowance > margin:
            # What rounding error takes is more than what the shift could give.
            return replace(node, shift_size=size)
    lowest = float(np.linalg.eigvalsh(ground)[0]) - allowance
    domain = relaxed.relaxation.domain
    if not domain.on_sphere and lowest <= 0.0:
        return replace(node, shift_size=size)
    e_scale = float(point.e[chosen].max())
    drop = 1e-3 * e_scale
    mu = max(point.mu, -shared if others.shape[0] else -np.inf, -lowest) + 2e-3 * e_scale
    if not domain.on_sphere:
        # μ stays 0: the start must leave room between 0 and the lowest eigenvalue.
        drop, mu = min(drop, lowest / 2), 0.0
    start = np.full(chosen.shape[0], lowest - drop)
    z = np.zeros(size)
    z[point.support] = point.z
    b = relaxed.relaxation.a[chosen] - 2 * (matrix @ z[chosen] - start * z[chosen])
    problem = ShiftProblem(
        matrix=matrix,
        ground=ground,
        a=relaxed.relaxation.a[chosen],
        forced=node.forced[chosen],
        picks=node.picks(d),
        mu_above=-shared if others.shape[0] else -np.inf,
        domain=domain,
    )
    scale = 0.3 * max(abs(value), relaxed.hull.total - value)
    delta = best_shift(problem, start, mu, b, tolerance=tolerance, scale=scale, stop=stop)
    proved = _proved(ground, delta, allowance)
    if proved is None or not (domain.on_sphere or proved.min() > 0.0):
        return replace(node, shift_size=size)
    full = np.full(size, shared)
    full[chosen] = proved
    return replace(node, delta=full, shift_size=size)


def _proved(ground: FloatArray, delta: FloatArray, allowance: float) -> FloatArray | None:
    """Return δ lowered so that M̄ − Diag(δ) ⪰ 0 holds whatever the rounding errors.

    A Cholesky factorisation that runs through proves that the matrix plus an error of at most
    (n + 2)ε·trace is PSD.
    """
    shifted = ground - np.diag(delta)
    try:
        cholesky(shifted, lower=True, check_finite=False)
    except LinAlgError:
        return None
    safety = 4 * (delta.shape[0] + 2) * EPS * float(np.abs(np.diag(shifted)).sum())
    safety += 4 * EPS * float(np.abs(np.diag(ground)).max() + np.abs(delta).max())
    lowered: FloatArray = delta - safety - allowance
    return lowered
