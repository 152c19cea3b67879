"""The bound from the convex hull of the sparse sphere, with a shift per variable.

Let M = −A and δ a vector with C = M − Diag(δ) ⪰ 0. A point z of the sparse sphere with
non-zeros marked by q ∈ {0,1}^D satisfies, for **any** u and any μ with e = μ + δ > 0,

    aᵀz − zᵀMz ≤ uᵀCu + μ + Σ_i q_i g_i² / (4 e_i),   g = a − 2Cu,

since zᵀCz ≥ 2uᵀCz − uᵀCu and, on the sphere, gᵀz − Σδ_i z_i² = gᵀz − Σ e_i z_i² + μ. So
the optimum is at most uᵀCu + μ + (the d largest scores h_i = g_i²/(4e_i)). With one δ for all
variables this is the d-support-norm bound κ + uᵀCu + ‖a − 2Cu‖_(d); a δ per variable
(`bounds.shift`) makes it as strong as the semidefinite relaxation with perspective cuts.

The best (u, μ) solves a concave problem over 0 ≤ q ≤ 1, Σq = d: with N = √q C √q + Diag(δ) on
the non-zeros of q, the value at q is a trust region problem on the sphere,
φ(q) = min_μ μ + ¼ (√q a)ᵀ(N + μI)⁻¹(√q a), its gradient is the score vector h and its
Hessian is explicit. Newton steps over q with a compiled pairwise solver for the quadratic
model converge in a few steps where first-order methods crawl.

Where z ≥ 0, gᵀz ≤ max(g, 0)ᵀz: every g_i above becomes max(g_i, 0), and the value at q is the
maximum over the sphere within the orthant, a trust region problem on the entries of z that are
positive. Without the sphere μ = 0 and δ > 0, the rest stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.budget import current_budget
from tellapart.compiling import compiled
from tellapart.strs.domains import (
    EPS,
    SPHERE,
    Domain,
    maximise_on_orthant,
    multiplier_on_orthant,
    secular_root,
)
from tellapart.strs.incumbent import Node, exchange_bounds
from tellapart.strs.problem import SparseQuadratic


@dataclass(frozen=True)
class Curvature:
    """M = −A over a list of variables: zᵀAz = −zᵀMz.

    Exactly one of `dense` (M itself) and `factor` (B with M = BᵀB − shift·I) is set.
    """

    dense: FloatArray | None
    factor: FloatArray | None
    shift: float

    @classmethod
    def of(cls, problem: SparseQuadratic) -> Curvature:
        """Return M for all variables of the problem."""
        if problem.factor is None or problem.n_columns <= current_budget().dense_columns:
            return cls(dense=-problem.A, factor=None, shift=0.0)
        return cls(dense=None, factor=problem.factor.B, shift=problem.factor.shift)

    @property
    def n_columns(self) -> int:
        """Number of variables in the list."""
        matrix = self.dense if self.factor is None else self.factor
        assert matrix is not None
        return int(matrix.shape[1])

    @property
    def depth(self) -> int:
        """Length of the sums behind an entry of M: what its rounding error grows with."""
        return 1 if self.factor is None else int(self.factor.shape[0])

    @property
    def diagonal(self) -> FloatArray:
        """The diagonal of M."""
        if self.factor is not None:
            lengths: FloatArray = np.einsum("ij,ij->j", self.factor, self.factor)
            return lengths - self.shift
        assert self.dense is not None
        return np.ascontiguousarray(np.diag(self.dense))

    def columns(self, index: IntArray) -> FloatArray:
        """Return M[:, index]."""
        if self.factor is not None:
            block = self.factor.T @ self.factor[:, index]
            block[index, np.arange(index.shape[0])] -= self.shift
            return block
        assert self.dense is not None
        return self.dense[:, index]

    def block(self, index: IntArray) -> FloatArray:
        """Return M[index, index]."""
        if self.factor is not None:
            columns = self.factor[:, index]
            block = columns.T @ columns
            block[np.diag_indices_from(block)] -= self.shift
            return block
        assert self.dense is not None
        return self.dense[np.ix_(index, index)]

    def principal(self, index: IntArray) -> Curvature:
        """Return M over some of the variables; small ones are made dense."""
        if index.shape[0] == self.n_columns:
            return self
        if self.factor is None or index.shape[0] <= current_budget().dense_columns:
            return Curvature(dense=self.block(index), factor=None, shift=0.0)
        return Curvature(dense=None, factor=self.factor[:, index], shift=self.shift)

    def lowest_shift(self) -> float:
        """Return a κ with M − κI ⪰ 0 proved: −shift for a factor, else just below λ_min(M)."""
        if self.factor is not None:
            return -self.shift
        assert self.dense is not None
        lowest = float(np.linalg.eigvalsh(self.dense)[0])
        # The computed eigenvalue is off by at most a small multiple of n·ε·‖M‖.
        return lowest - 8 * self.n_columns * EPS * float(np.linalg.norm(self.dense))

    def complement(
        self, kept: IntArray, others: IntArray, delta: FloatArray, margin: float
    ) -> tuple[FloatArray, float]:
        """Return the Schur complement of M over `kept`, once δ − margin is subtracted on `others`.

        M_KK − M_KO (M_OO − Diag(δ_O) + margin·I)⁻¹ M_OK, for M − Diag(δ) ⪰ 0 and margin > 0, and
        a bound on the rounding error of its eigenvalues. With it and a diagonal Δ_K below it, the
        whole matrix M − Diag(Δ_K, δ_O − margin) is PSD. From a factor only r × r matrices are
        formed: with η = margin − shift − δ_O > 0, or else LinAlgError, it is
        B_Kᵀ(I + B_O Diag(1/η) B_Oᵀ)⁻¹B_K − shift·I.

        The error is at most a small multiple of n·ε·(condition of the inverted matrix)·(trace of
        the subtracted or inner product).
        """
        if self.factor is not None:
            eta = margin - self.shift - delta[others]
            if not (eta > 0.0).all():
                raise LinAlgError
            inside = (self.factor[:, others] / eta) @ self.factor[:, others].T
            inside[np.diag_indices_from(inside)] += 1.0
            condition = float(np.trace(inside))
            root = cholesky(inside, lower=True, check_finite=False)
            half = solve_triangular(root, self.factor[:, kept], lower=True, check_finite=False)
            result = half.T @ half
            mass = float(np.sum(self.factor[:, kept] ** 2))
            result[np.diag_indices_from(result)] -= self.shift
        else:
            assert self.dense is not None
            inside = self.dense[np.ix_(others, others)].copy()
            inside[np.diag_indices_from(inside)] -= delta[others] - margin
            root = cholesky(inside, lower=True, check_finite=False)
            cross = self.dense[np.ix_(others, kept)]
            half = solve_triangular(root, cross, lower=True, check_finite=False)
            result = self.block(kept) - half.T @ half
            # M − Diag(δ) ⪰ 0, so that what is subtracted is at most M_KK − Diag(δ_K).
            mass = float((np.abs(self.diagonal[kept]) + np.abs(delta[kept])).sum())
            condition = float(np.trace(inside)) / margin
        allowance = 8 * (self.n_columns + self.depth) * EPS * mass * max(condition, 1.0)
        return result, allowance


# A concave quadratic over the capped simplex, by steps along pairs of coordinates.


EDGE = 1e-13
"""Coordinates this close to 0 or 1 are put there."""


@compiled
def maximise_over_capped_simplex(
    q: FloatArray, gradient: FloatArray, hessian: FloatArray, precision: float
) -> FloatArray:
    """Return x near the maximiser of gᵀ(x − q) + ½(x − q)ᵀH(x − q), 0 ≤ x ≤ 1, Σx = Σq.

    H is negative semidefinite. Each step moves weight from one coordinate to another: the
    receiver has the largest derivative, the giver is the one with the most to gain. Stops when
    no pair's derivatives differ by more than `precision`.
    """
    n = q.shape[0]
    x = q.copy()
    slope = gradient.copy()
    for _ in range(50 * n + 1000):
        to = -1
        worst = np.inf
        for i in range(n):
            if x[i] < 1.0 - EDGE and (to < 0 or slope[i] > slope[to]):
                to = i
            if x[i] > EDGE and slope[i] < worst:
                worst = slope[i]
        if to < 0 or slope[to] - worst <= precision:
            break
        giver = -1
        amount = 0.0
        best = 0.0
        for j in range(n):
            if x[j] <= EDGE or slope[j] >= slope[to]:
                continue
            bend = max(2 * hessian[to, j] - hessian[to, to] - hessian[j, j], 1e-300)
            lift = slope[to] - slope[j]
            step = min(lift / bend, 1.0 - x[to], x[j])
            gain = step * (lift - 0.5 * bend * step)
            if gain > best:
                best, amount, giver = gain, step, j
        if giver < 0:
            break
        x[to] += amount
        x[giver] -= amount
        if x[to] > 1.0 - EDGE:
            x[to] = 1.0
        if x[giver] < EDGE:
            x[giver] = 0.0
        for i in range(n):
            slope[i] += amount * (hessian[i, to] - hessian[i, giver])
    return x


@dataclass(frozen=True)
class HullPoint:
    """The relaxation at one q: the value φ(q), its (u, μ), and what derivatives need.

    `support` are the non-zeros of z: those of q, less what z ≥ 0 holds at 0. g is max(g, 0) there.
    """

    q: FloatArray
    support: IntArray
    root_q: FloatArray
    eigenvalues: FloatArray
    vectors: FloatArray
    sphere: FloatArray
    z: FloatArray
    mu: float
    interior: bool
    e: FloatArray
    g: FloatArray
    columns: FloatArray
    value: float

    @property
    def ratio(self) -> FloatArray:
        """R = g/(2e), so that z = q·r."""
        return self.g / (2 * self.e)

    @property
    def slack(self) -> FloatArray:
        """q(1 − q)r²: how far each variable's perspective term is from being tight."""
        return self.q * (1 - self.q) * self.ratio**2


@dataclass(frozen=True)
class HullBound:
    """A proved bound and the scores behind it: total = base + forced + the `picks` largest."""

    total: float
    scores: FloatArray


class HullRelaxation:
    """The relaxation over some variables, of which `forced` are in and `picks` more are free."""

    def __init__(
        self,
        curvature: Curvature,
        a: FloatArray,
        delta: FloatArray,
        forced: BoolArray,
        picks: int,
        domain: Domain = SPHERE,
    ) -> None:
        self.curvature = curvature
        self.domain = domain
        self.a = a
        self.delta = delta
        self.forced = forced
        self.free = np.flatnonzero(~forced)
        self.picks = picks
        diagonal = np.maximum(curvature.diagonal - delta, 0.0)
        # The second term covers the rounding of the difference itself.
        self.root_diagonal = np.sqrt(diagonal) + np.sqrt(EPS * np.abs(delta))

    def evaluate(self, q: FloatArray) -> HullPoint:
        """Return φ(q) with its maximiser z and multiplier μ."""
        support = np.flatnonzero(q)
        root_q = np.sqrt(q[support])
        columns = self.curvature.columns(support).copy()
        columns[support, np.arange(support.shape[0])] -= self.delta[support]
        inner = root_q[:, None] * columns[support] * root_q
        inner[np.diag_indices_from(inner)] += self.delta[support]
        if self.domain.nonnegative:
            positive = self._positive(inner, root_q * self.a[support])
            support, root_q, columns = support[positive], root_q[positive], columns[:, positive]
            inner = inner[np.ix_(positive, positive)]
        eigenvalues, vectors = np.linalg.eigh(inner)
        linear = root_q * self.a[support]
        c = (vectors.T @ linear) / 2
        mu, interior = self._multiplier(eigenvalues, c)
        sphere = vectors @ (c / (eigenvalues + mu))
        z = root_q * sphere
        g = self.a - 2 * (columns @ z)
        if self.domain.nonnegative:
            g = np.maximum(g, 0.0)
        return HullPoint(
            q=q,
            support=support,
            root_q=root_q,
            eigenvalues=eigenvalues,
            vectors=vectors,
            sphere=sphere,
            z=z,
            mu=mu,
            interior=interior,
            e=mu + self.delta,
            g=g,
            columns=columns,
            value=mu + 0.5 * float(linear @ sphere),
        )

    def _multiplier(self, eigenvalues: FloatArray, c: FloatArray) -> tuple[float, bool]:
        """Return the best μ with e = μ + δ > 0 kept, and whether that limit did not bind."""
        if not self.domain.on_sphere:
            return 0.0, False
        mu_start = self._lowest_multiplier(eigenvalues, c)
        extra = secular_root(eigenvalues + mu_start, c, 0.0)
        return mu_start + extra, extra > 0.0

    def _lowest_multiplier(self, eigenvalues: FloatArray, c: FloatArray) -> float:
        """Return the least μ allowed: e > 0 and N + μI positive definite, rounding included."""
        lowest = float(self.delta.min())
        start = 1e-9 * (float(np.linalg.norm(c)) + 1e-3 * abs(lowest))
        # Eigenvalues known up to rounding error must not end up at 0.
        largest = float(np.abs(eigenvalues).max(initial=0.0))
        start += 4 * EPS * largest + float(np.finfo(float).tiny)
        return start - min(lowest, float(eigenvalues.min(initial=lowest)))

    def _positive(self, inner: FloatArray, linear: FloatArray) -> BoolArray:
        """Return which entries of the maximiser over z ≥ 0 are positive."""
        passive = linear > 0
        if self.domain.on_sphere:
            eigenvalues = np.linalg.eigvalsh(inner).astype(np.float64, copy=False)
            lowest = self._lowest_multiplier(eigenvalues, linear / 2)
            multiplier_on_orthant(inner, linear, lowest, passive)
        else:
            maximise_on_orthant(inner, linear, passive)
        return passive

    def bound(self, point: HullPoint) -> HullBound:
        """Return the proved bound of u = z and μ: every rounding error is allowed for.

        |C_ij| ≤ √(C_ii C_jj) bounds the errors of C·u without a second product.
        """
        relative = 4 * (point.support.shape[0] + self.curvature.depth + 16) * EPS
        weight = float(self.root_diagonal[point.support] @ np.abs(point.z))
        error = relative * (np.abs(self.a) + 2 * self.root_diagonal * weight)
        quadratic = float(point.z @ (point.columns[point.support] @ point.z))
        quadratic += relative * weight**2
        scores = (np.abs(point.g) + error) ** 2 / (4 * point.e) * (1 + 16 * EPS)
        top = self.largest(scores)
        total = quadratic + point.mu + top
        total += relative * (abs(quadratic) + abs(point.mu) + top)
        return HullBound(total, scores)

    def largest(self, scores: FloatArray) -> float:
        """Return the sum of the forced scores and of the `picks` largest free ones."""
        free = scores[self.free]
        total = float(scores[self.forced].sum())
        if self.picks > 0:
            total += float(np.partition(free, -self.picks)[-self.picks :].sum())
        return total

    def solve(
        self,
        q: FloatArray,
        *,
        tolerance: float,
        cutoff: float,
        stop: Callable[[], bool],
        steps: int = 60,
    ) -> tuple[HullPoint, HullBound]:
        """Return the relaxation's solution and the best proved bound, from a feasible q.

        Stops when the bound is within `tolerance` of φ(q), or at most `cutoff`.
        """
        point = self.evaluate(q)
        best = self.bound(point)
        for _ in range(steps):
            if best.total <= cutoff or best.total - point.value <= tolerance or stop():
                break
            moved = self._newton_step(point, best)
            if moved is None:
                break
            point = moved
            candidate = self.bound(point)
            if candidate.total < best.total:
                best = candidate
        return point, best

    def _newton_step(self, point: HullPoint, bound: HullBound) -> HullPoint | None:
        """Return the point after one Newton step with backtracking, None if none helps."""
        movable = self._movable(point, bound.scores)
        gradient = point.e * point.ratio**2
        # The quadratic model needs no more accuracy than the gap it is to close.
        precision = 1e-3 * (bound.total - point.value) / max(self.picks, 1)
        target = maximise_over_capped_simplex(
            point.q[movable], gradient[movable], self._hessian(point, movable), precision
        )
        direction = target - point.q[movable]
        promise = float(gradient[movable] @ direction)
        step = 1.0
        while step > 1e-7:
            q = point.q.copy()
            q[movable] = np.clip(q[movable] + step * direction, 0.0, 1.0)
            moved = self.evaluate(q)
            if moved.value >= point.value + 1e-4 * step * promise:
                return moved
            step *= 0.5
        return None

    def _movable(self, point: HullPoint, scores: FloatArray) -> IntArray:
        """Return the free variables in play: in the support, or with a score near the top."""
        near = min(self.free.shape[0], max(4 * self.picks, 40))
        free_scores = scores[self.free]
        top = self.free[np.argpartition(-free_scores, near - 1)[:near]]
        marked = np.zeros(self.a.shape[0], dtype=bool)
        marked[top] = True
        marked[point.q > 0] = True
        marked[self.forced] = False
        return np.flatnonzero(marked)

    def _hessian(self, point: HullPoint, movable: IntArray) -> FloatArray:
        """Return ∇²φ over some variables.

        At fixed μ it is −2 r_i K_ij r_j with K = C − C_:S (C_SS + Diag(e/q))⁻¹ C_S:. The best μ
        moves with q: that subtracts (∂h/∂μ)(∂h/∂μ)ᵀ / φ_μμ.
        """
        shifted = point.eigenvalues + point.mu
        half = (point.vectors / np.sqrt(shifted)).T * point.root_q
        reduced = half @ point.columns[movable].T
        block = self.curvature.block(movable)
        block[np.diag_indices_from(block)] -= self.delta[movable]
        ratio = point.ratio[movable]
        hessian = -2 * ratio[:, None] * (block - reduced.T @ reduced) * ratio
        if point.interior:
            move = -point.vectors @ ((point.vectors.T @ point.sphere) / shifted)
            curvature = -2 * float(point.sphere @ move)
            ratio_move = -(point.columns[movable] @ (point.root_q * move)) - ratio
            gradient_move = ratio**2 + 2 * ratio * ratio_move
            if curvature > 0:
                hessian -= np.outer(gradient_move, gradient_move) / curvature
        return hessian


def rebalance(q: FloatArray, scores: FloatArray, free: IntArray, picks: int) -> FloatArray:
    """Return q with Σ over `free` brought to `picks`, by moving the most or least promising."""
    result = q.copy()
    missing = picks - float(result[free].sum())
    order = free[np.argsort(-scores[free], kind="stable")]
    if missing > 0:
        room = 1.0 - result[order]
        result[order] += np.clip(missing - (np.cumsum(room) - room), 0.0, room)
    else:
        order = order[::-1]
        held = result[order]
        result[order] -= np.clip(-missing - (np.cumsum(held) - held), 0.0, held)
    return result


@dataclass(frozen=True)
class HullNode(Node):
    """A node and where its relaxation starts: `delta`, `q` and `scores` run along the variables.

    M − Diag(δ) ⪰ 0 is proved, so children inherit δ; `shift_size` is the number of variables
    when δ was optimised, 0 for never.
    """

    delta: FloatArray
    q: FloatArray
    scores: FloatArray
    shift_size: int = 0

    @classmethod
    def root(cls, problem: SparseQuadratic, shift: float, bound: float = np.inf) -> HullNode:
        """Return the node of all points, with one shift for all variables."""
        size = problem.n_columns
        q = np.zeros(size)
        q[problem.best_support(problem.a)] = 1.0
        return cls(
            variables=np.arange(size),
            forced=problem.is_required,
            bound=bound,
            delta=np.full(size, shift),
            q=q,
            scores=problem.domain.promise(problem.a),
        )

    def supports(self, d: int) -> Iterator[IntArray]:
        """Return the supports that together contain every point of the node."""
        free = self.variables[~self.forced]
        picked = combinations(free, min(self.picks(d), free.shape[0]))
        forced = self.variables[self.forced]
        return (np.sort(np.append(forced, chosen)).astype(np.intp) for chosen in picked)

    def visits(self, d: int) -> int:
        """Return about how many operations it takes to solve the node support by support."""
        free = int((~self.forced).sum())
        return comb(free, min(self.picks(d), free)) * (3_000 + d**3)

    def keep(self, kept: BoolArray, forced: BoolArray, d: int) -> HullNode:
        """Return the child with the variables `kept`, of which `forced` are in."""
        child = super().keep(kept, forced, d)
        free = np.flatnonzero(~child.forced)
        q = np.where(forced, 1.0, self.q)[kept]
        scores = self.scores[kept]
        if 0 < child.picks(d) < free.shape[0]:
            q = rebalance(q, scores, free, child.picks(d))
        return replace(child, delta=self.delta[kept], q=q, scores=scores)


@dataclass(frozen=True)
class Relaxed:
    """A node with its relaxation solved."""

    node: HullNode
    curvature: Curvature
    relaxation: HullRelaxation
    point: HullPoint
    hull: HullBound


def relax(
    node: HullNode,
    curvature: Curvature,
    a: FloatArray,
    d: int,
    domain: Domain = SPHERE,
    *,
    tolerance: float,
    cutoff: float,
    stop: Callable[[], bool],
) -> Relaxed:
    """Solve the hull relaxation of a node at its shift; `curvature` runs along its variables."""
    relaxation = HullRelaxation(
        curvature, a[node.variables], node.delta, node.forced, node.picks(d), domain
    )
    point, hull = relaxation.solve(node.q, tolerance=tolerance, cutoff=cutoff, stop=stop)
    bound = min(node.bound, hull.total)
    solved = replace(node, q=point.q, scores=hull.scores, bound=bound)
    return Relaxed(solved, curvature, relaxation, point, hull)


def fix_variables(relaxed: Relaxed, d: int, cutoff: float) -> tuple[HullNode, float]:
    """Force in and remove what the scores prove, and return the highest bound given up."""
    node = relaxed.node
    if_in, if_out = exchange_bounds(
        relaxed.hull.total, relaxed.hull.scores, node.forced, node.picks(d)
    )
    return node.fix(if_in, if_out, cutoff, d)
