"""The ℓ₁ relaxation: its region, Proposition 2's program in SCIP, its convex part in Clarabel."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tellapart.arrays import FloatArray, IntArray
from tellapart.strs.bounds.conic import ConeProgram
from tellapart.strs.contract import Control, load
from tellapart.strs.domains import EPS
from tellapart.threads import run_beside

# The region T = {‖z‖₂ ≤ 1, ‖z‖₁ ≤ √d} that holds every d-sparse point of the unit ball.


def support_function(g: FloatArray, d: int) -> float:
    """Return max {gᵀz : z ∈ T} = min over τ ≥ 0 of ‖(|g| − τ)₊‖₂ + τ√d, rounded up.

    Every τ ≥ 0 gives an upper bound, so that the result stays one whatever the rounding errors
    of the best τ.

    Examples
    --------
    >>> import numpy as np
    >>> round(support_function(np.array([3.0, -4.0]), 2), 12)
    5.0
    >>> round(support_function(np.array([3.0, -4.0]), 1), 12)
    4.0
    """
    tau = best_threshold(g, d)
    excess = np.maximum(np.abs(g) - tau, 0.0)
    value = float(np.linalg.norm(excess)) + tau * float(np.sqrt(d))
    return value * float(1 + 2 * (g.shape[0] + 8) * EPS)


def best_threshold(g: FloatArray, d: int) -> float:
    """Return the τ ≥ 0 that minimises ‖(|g| − τ)₊‖₂ + τ√d.

    The slope in τ is √d − ‖w‖₁/‖w‖₂ with w = (|g| − τ)₊. With the k largest entries above τ,
    m their mean and V the sum of their squared deviations from it, the slope is zero at
    τ = m − √(dV/(k(k − d))). The right k is the first at whose next entry ‖w‖₁ ≥ √d‖w‖₂.
    """
    size = np.sort(np.abs(g))[::-1]
    count = np.arange(1, size.shape[0] + 1)
    following = np.append(size[1:], 0.0)
    mean = np.cumsum(size) / count
    deviation = np.maximum(np.cumsum(size**2) - count * mean**2, 0.0)
    above = mean - following
    # ‖w‖₁ = k·above and ‖w‖₂² = V + k·above² at τ = following.
    reached = (count * above) ** 2 >= d * (deviation + count * above**2)
    reached &= (count > d) & (above > 0)
    if not reached.any():
        # The slope is positive from the start: the ℓ₁ constraint does not bind.
        return 0.0
    k = int(np.argmax(reached))
    spread = float(np.sqrt(d * deviation[k] / (count[k] * (count[k] - d))))
    return float(np.clip(mean[k] - spread, following[k], size[0]))


def ranges(vectors: FloatArray, d: int) -> FloatArray:
    """Return θ_i = max {v_iᵀz : z ∈ T} for every column v_i, rounded up."""
    return np.array([support_function(column, d) for column in vectors.T])


FEASIBILITY = 1e-6
"""SCIP's feasibility tolerance, its default: LPs fail at smaller ones."""
MARGIN = 10 * FEASIBILITY
"""Constraints with data in them are loosened by this: no point is within SCIP's tolerance
of being cut off, so that its tolerances cannot make the bound too low."""
MOST_PIECES = 8
"""N where no accuracy asks for less: beyond it the bound hardly moves and SCIP slows down."""
MOST_NODES = 100_000
"""Nodes of SCIP at most: its bound stands wherever it stops."""
REDUCED_COST = 1e-7
"""SCIP's tolerance on reduced costs: each variable may hide this much times its range."""
LOOK = 0.1
"""Seconds between two looks at SCIP: it learns this late that the time limit has passed."""
STEEPEST = 1e4
"""Charges on g_i² above this many units are cut to it, a weaker program that LPs can handle."""


@dataclass(frozen=True)
class Program:
    """The data of the program: A = Σ λ_i v_i v_iᵀ, a, d, λ₀, N and θ_i.

    max λ₀ + Σ_{λ_i>λ₀}(λ_i − λ₀)ξ_i − Σ_{λ_i<λ₀}(λ₀ − λ_i)g_i² + aᵀz over ‖z‖₂ ≤ 1,
    ‖z‖₁ ≤ √d, g_i = v_iᵀz, where ξ_i ≥ g_i² interpolates the square linearly between the points
    γ_ij = jθ_i/N, j = −N..N, and Σ_{λ_i>λ₀}(ξ_i − θ_i²/4N²) + Σ_{λ_i≤λ₀} g_i² ≤ 1.

    The printed program leaves Σ_j η_ij = 1 to the meaning of SOS-2; solvers need it written
    out, or ξ_i may be θ_i|g_i|, the error of N = 1 whatever N. Adding κI to A and κ to λ₀ moves
    the value by κ exactly, so that no PSD shift is needed here. λ₀ may be any number for the
    bound to hold, since Σ g_i² = 1 on the sphere; the guarantee asks for λ₀ ≤ opt.
    """

    eigenvalues: FloatArray
    vectors: FloatArray
    a: FloatArray
    d: int
    floor: float
    pieces: int
    reach: FloatArray

    @classmethod
    def build(
        cls,
        eigenvalues: FloatArray,
        vectors: FloatArray,
        a: FloatArray,
        d: int,
        *,
        floor: float,
        pieces: int | None,
        accuracy: float = 0.0,
    ) -> Program:
        """Return the program; without `pieces`, the least N whose error is below `accuracy`."""
        reach = ranges(vectors, d)
        curved = float(np.maximum(eigenvalues - floor, 0.0) @ reach**2)
        if pieces is None:
            wanted = np.sqrt(curved / (4 * accuracy)) if accuracy > 0 else np.inf
            pieces = int(np.clip(np.ceil(wanted), 1, MOST_PIECES))
        return cls(eigenvalues, vectors, a, d, floor, pieces, reach)

    @property
    def curved(self) -> IntArray:
        """The directions with λ_i > λ₀, the integer part of the program."""
        return np.flatnonzero(self.eigenvalues > self.floor)

    @property
    def interpolation_error(self) -> float:
        """(1/4N²) Σ_{λ_i>λ₀}(λ_i − λ₀)θ_i²: what the pieces add to the bound at most."""
        i = self.curved
        excess = (self.eigenvalues[i] - self.floor) * self.reach[i] ** 2
        return float(excess.sum()) / (4 * self.pieces**2)

    @property
    def unit(self) -> float:
        """The size of the objective's part that varies: SCIP sees everything divided by it."""
        top = np.sort(np.abs(self.a))[-self.d :]
        return float(self.eigenvalues[-1] - self.floor + np.linalg.norm(top))


@dataclass(frozen=True)
class Outcome:
    """What SCIP found: points z worth rounding, a proved bound (or infinity), its nodes.

    `interrupted` says that Ctrl-C ended it: the caller should use the bound, then stop.
    """

    points: list[FloatArray]
    bound: float
    nodes: int
    interrupted: bool = False


def quiet_model(scip: Any) -> Any:
    """Return an empty model that prints nothing, not even when SCIP fails.

    `hideOutput` leaves SCIP's error messages, which go to the terminal past Python; the errors
    themselves arrive as exceptions.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(scip.scip.__file__).SCIPmessageSetErrorPrinting(None, None)
    model = scip.Model()
    model.hideOutput()
    return model


def run_scip(program: Program, value: float, control: Control, solver: str) -> Outcome:
    """Solve the program with SCIP until its bound is proved, closes on `value`, or time is up."""
    scip = load("pyscipopt", solver)
    model = quiet_model(scip)
    model.setParams(
        {
            # SCIP's own handler would swallow Ctrl-C and print; ours is below.
            "misc/catchctrlc": False,
            "numerics/feastol": FEASIBILITY,
            "numerics/dualfeastol": REDUCED_COST,
            # Left to itself SCIP asks LPs for more and more digits, down to 1e-12, which SoPlex
            # cannot give, and says so on standard error. The bound needs none of them: what is
            # cut off is decided by dual multipliers, and margins are far above this tolerance.
            "constraints/nonlinear/tightenlpfeastol": False,
            "limits/gap": control.gap / 10,
            # Where rounding keeps the gap open, SCIP would branch on and on.
            "limits/nodes": MOST_NODES,
            "timing/clocktype": 2,
            "randomization/randomseedshift": 0,
        }
    )
    # The primal point comes from rounding and swaps, and the only cuts that matter are tangents
    # of the squares, which enforcing the constraints adds: both emphases cost time for nothing.
    model.setHeuristics(scip.SCIP_PARAMSETTING.OFF)
    model.setSeparating(scip.SCIP_PARAMSETTING.OFF)
    z = _state(scip, model, program)
    allowance = _allowance(program, model.getNVars())
    watcher = _watcher(scip, program, value, allowance, control)
    model.includeEventhdlr(watcher, "tellapart", "stops when the bound closes on the best value")
    remaining = control.remaining
    if remaining is not None:
        # A guard against one long LP only. Our own clock decides: SCIP's is another, and a run
        # that it ends a moment early would look as if it had not been the limit that ended it.
        model.setParam("limits/time", remaining + 2 * LOOK)
    try:
        failed = _run(model, watcher, value, control)
    except KeyboardInterrupt:
        # SCIP's bound stands wherever it stops.
        return Outcome([], watcher.bound, watcher.nodes, interrupted=True)
    if failed:
        # What SCIP had proved after its last node still holds.
        return Outcome([], watcher.bound, watcher.nodes)
    points = [
        np.array([model.getSolVal(solution, entry) for entry in z]) for solution in model.getSols()
    ]
    return Outcome(points, watcher.translate(model.getDualbound()), int(model.getNTotalNodes()))


def _allowance(program: Program, variables: int) -> float:
    """Return what SCIP's reduced-cost tolerance and the rounding of the data may hide.

    Ranges are at most 2 in units of the objective; SCIP may add one variable for each.
    """
    size = program.a.shape[0]
    scale = float(np.linalg.norm(program.eigenvalues)) + float(np.linalg.norm(program.a))
    rounding = float(16 * (size + 8) * EPS * (scale + abs(program.floor)))
    return rounding + program.unit * (4 * variables * REDUCED_COST + FEASIBILITY)


def _state(scip: Any, model: Any, program: Program) -> list[Any]:
    """Write the program, divided by its unit and loosened by the margin; return z's variables."""
    size, d, n = program.a.shape[0], program.d, program.pieces
    total = scip.quicksum
    weights = (program.eigenvalues - program.floor) / program.unit
    linear = program.a / program.unit
    z = [model.addVar(lb=-1.0, ub=1.0) for _ in range(size)]
    y = [model.addVar(lb=0.0, ub=1.0) for _ in range(size)]
    # aᵀz ≤ 2‖a‖_(d) over the region, and no charge is negative.
    s = model.addVar(lb=-3.0, ub=None)
    for entry, absolute in zip(z, y, strict=True):
        model.addCons(absolute - entry >= -MARGIN)
        model.addCons(absolute + entry >= -MARGIN)
    model.addCons(total(y) <= np.sqrt(d) + MARGIN)
    model.addCons(total(entry * entry for entry in z) <= 1.0 + MARGIN)

    objective = [-1.0 * s]
    lengths: list[Any] = []
    charges: list[Any] = []
    spare = 0.0
    for i in range(size):
        theta = float(program.reach[i])
        column = program.vectors[:, i]
        along = total(float(column[j]) * z[j] for j in range(size))
        if weights[i] > 0:
            points = theta * np.arange(-n, n + 1) / n
            shares = [model.addVar(lb=0.0, ub=1.0) for _ in points]
            model.addConsSOS2(shares)
            model.addCons(total(shares) == 1.0)
            here = total(float(p) * share for p, share in zip(points, shares, strict=True))
            model.addCons(along - here <= MARGIN)
            model.addCons(along - here >= -MARGIN)
            square = total(float(p * p) * share for p, share in zip(points, shares, strict=True))
            objective.append(float(weights[i]) * square)
            lengths.append(square)
            spare += theta**2 / (4 * n**2)
        else:
            g = model.addVar(lb=-theta - MARGIN, ub=theta + MARGIN)
            model.addCons(along - g <= MARGIN)
            model.addCons(along - g >= -MARGIN)
            lengths.append(g * g)
            charges.append(min(-float(weights[i]), STEEPEST) * g * g)
    model.addCons(total(lengths) <= 1.0 + spare + MARGIN)
    gain = total(float(linear[j]) * z[j] for j in range(size))
    model.addCons(total(charges) - gain - s <= MARGIN)
    model.setObjective(total(objective), "maximize")
    return z


def _watcher(scip: Any, program: Program, value: float, allowance: float, control: Control) -> Any:
    """Return an event handler that keeps the latest bound and stops once the gap is closed."""

    class Watcher(scip.Eventhdlr):  # type: ignore[misc]
        nodes = 0
        bound = float("inf")

        def translate(self, dual: float) -> float:
            """Return SCIP's dual bound as a proved bound on the optimum."""
            if abs(dual) >= self.model.infinity():
                return float("inf")
            return program.floor + program.unit * float(dual) + allowance

        def eventinit(self) -> None:
            self.model.catchEvent(scip.SCIP_EVENTTYPE.NODESOLVED, self)

        def eventexit(self) -> None:
            self.model.dropEvent(scip.SCIP_EVENTTYPE.NODESOLVED, self)

        def eventexec(self, _event: Any) -> None:
            self.nodes = int(self.model.getNNodes())
            self.bound = self.translate(self.model.getDualbound())
            if control.closed(value, self.bound):
                self.model.interruptSolve()

    return Watcher()


def _run(model: Any, watcher: Any, value: float, control: Control) -> bool:
    """Run SCIP beside the main thread, which watches the clock, reports progress and sees Ctrl-C.

    Return whether SCIP gave up with an error of its own, such as an LP it could not solve.
    """

    def enough() -> bool:
        if np.isfinite(watcher.bound):
            control.report_progress(watcher.nodes, value, watcher.bound)
        return control.out_of_time

    # SCIP forgets an interrupt that comes before it has begun: `run_beside` repeats it.
    return run_beside(model.optimizeNogil, model.interruptSolve, enough, LOOK) is not None


# The program without an integer part: one second-order cone program, with a proof in hand.


def solve_socp(
    A: FloatArray, a: FloatArray, d: int, kappa: float, control: Control, solver: str
) -> tuple[FloatArray, float]:
    """Return z and a proved bound of max κ − zᵀ(κI − A)z + aᵀz over ‖z‖₂ ≤ 1, ‖z‖₁ ≤ √d.

    For κ ≥ λmax(A) this is concave, and on the sphere it is zᵀAz + aᵀz. Clarabel finds z; the
    bound is `tangent_bound` there, so that it is proved whatever Clarabel's tolerance, and if
    Clarabel stops early it is only weaker.
    """
    n = a.shape[0]
    nothing = np.zeros(n)
    if control.out_of_time:
        return nothing, tangent_bound(A, a, d, kappa, nothing)
    # Variables (z, y): Σy ≤ √d, |z| ≤ y, ‖z‖₂ ≤ 1.
    program = ConeProgram(2 * n, solver)
    z, y = np.arange(n), n + np.arange(n)
    total = program.block(np.zeros(n, dtype=np.intp), y, 1.0, 1)
    larger = program.block(z, y, -1.0, n)
    sides = [program.block(z, z, sign, n) + larger for sign in (1.0, -1.0)]
    program.at_most([total, *sides], np.append(np.sqrt(d), np.zeros(2 * n)))
    program.second_order(program.block(1 + z, z, -1.0, n + 1), np.append(1.0, nothing), n + 1)
    scale = float(np.abs(A).max()) + abs(kappa) + float(np.abs(a).max()) or 1.0
    curvature = (kappa * np.eye(n) - A) / scale
    quadratic = sparse.block_diag(
        [sparse.csc_matrix(np.triu(2 * curvature)), sparse.csc_matrix((n, n))], format="csc"
    )
    cost = np.concatenate([-a / scale, nothing])
    maximiser = program.solve(cost, quadratic, time_limit=control.remaining).x[:n]
    # z = 0 proves κ + the support function of a, should the answer be useless.
    return maximiser, min(tangent_bound(A, a, d, kappa, u) for u in (maximiser, nothing))


def tangent_bound(A: FloatArray, a: FloatArray, d: int, kappa: float, u: FloatArray) -> float:
    """Return κ + uᵀCu + σ(a − 2Cu) with C = κI − A, a bound on the optimum for **any** u.

    zᵀCz ≥ 2uᵀCz − uᵀCu since C ⪰ 0, and σ is the support function of the region that holds z.
    The best u is the maximiser of the concave program, where the bound is its value. Rounding
    errors, of κ ≥ λmax(A) too, are allowed for.
    """
    product = kappa * u - A @ u
    bound = kappa + float(u @ product) + support_function(a - 2 * product, d)
    size = a.shape[0]
    length = float(np.linalg.norm(u))
    scale = abs(kappa) + float(np.linalg.norm(A))
    # κ may lie below the true λmax by the error of an eigenvalue, which costs (1 + ‖u‖)²
    # times that; the rest is the rounding of Cu, which σ multiplies by at most 1.
    slack: float = 8 * (size + 8) * EPS * (scale * (1 + length) ** 2 + float(np.linalg.norm(a)))
    return bound + slack
