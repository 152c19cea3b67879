"""The cut loop: a master problem over all cuts so far, and new cuts at its solutions, in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.strs.bounds.cuts import Cut, CutSource
from tellapart.strs.contract import Control, load
from tellapart.strs.domains import EPS
from tellapart.threads import run_beside

# The master problem: the best q under all cuts so far, in HiGHS.


MARGIN = 1e-6
"""Cuts are loosened by this, in units of the root gap: ten times HiGHS's feasibility tolerance,
so that no q is lost to it."""
FEASIBILITY = 1e-7
"""HiGHS's tolerances here, on constraints and on reduced costs."""
STEEPEST = 1e4
"""The largest coefficient of a seed cut in HiGHS: a root gap too small for that is not the unit."""


@dataclass(frozen=True)
class Answer:
    """Points q to cut at, best first, and a proved bound on what the cuts allow."""

    points: list[FloatArray]
    bound: float


class Master:
    """max t over binary q with Σq = d and t ≤ every cut, kept warm while cuts are added.

    Σq = d stands for Σq ≤ d: a larger support contains the points of a smaller one. HiGHS sees
    (t − base)/unit with the root gap as unit: that is what its absolute tolerances are relative to.
    `forced` variables are constants.

    For fractional q the bound is our own arithmetic at HiGHS's multipliers. For binary q it is what
    HiGHS claims, its tolerances allowed for: there is no certificate to check. A claim is dropped
    if HiGHS failed, or if a q that it returned has a higher value.
    """

    def __init__(
        self, forced: BoolArray, picks: int, base: float, bound: float, cuts: list[Cut], solver: str
    ) -> None:
        self.highspy = load("highspy", solver)
        self.forced = forced
        self.free = np.flatnonzero(~forced)
        self.picks = picks
        self.cuts: list[tuple[float, FloatArray]] = []
        self.base = base
        self.bound = bound
        steepest = max(float(self._clipped(cut)[1].max()) for cut in cuts)
        self.unit = max(bound - base, steepest / STEEPEST, np.finfo(float).tiny)
        self.most = (bound - base) / self.unit + MARGIN
        self.level = base
        self.columns = np.arange(self.free.shape[0] + 1, dtype=np.int32)
        self.highs = self.highspy.Highs()
        for option, setting in {
            "output_flag": False,
            "threads": 1,
            "primal_feasibility_tolerance": FEASIBILITY,
            "dual_feasibility_tolerance": FEASIBILITY,
            "mip_feasibility_tolerance": FEASIBILITY,
            "mip_rel_gap": 0.0,
            "mip_improving_solution_save": True,
        }.items():
            self.highs.setOptionValue(option, setting)
        self.highs.HandleUserInterrupt = True
        for _ in self.free:
            self.highs.addVar(0.0, 1.0)
        self.highs.addVar(0.0, self.most)
        self.highs.changeColCost(self.free.shape[0], -1.0)
        ones = np.ones(self.free.shape[0])
        self.highs.addRow(float(picks), float(picks), ones.shape[0], self.columns[:-1], ones)
        for cut in cuts:
            self.add(cut)

    @property
    def allowance(self) -> float:
        """What HiGHS's tolerances may hide: each reduced cost times a range of 1, and pruning."""
        return self.unit * FEASIBILITY * (self.free.shape[0] + 10)

    def add(self, cut: Cut) -> None:
        """Add t ≤ cut, loosened."""
        constant, weights = self._clipped(cut)
        self.cuts.append((constant, weights))
        row = np.append(-weights / self.unit, 1.0)
        limit = (constant - self.base) / self.unit + MARGIN
        self.highs.addRow(-self.highspy.kHighsInf, limit, row.shape[0], self.columns, row)

    def _clipped(self, cut: Cut) -> tuple[float, FloatArray]:
        """Return a cut over the free variables, with no weight larger than it need be.

        One variable that lifts the cut to the known bound is enough: nothing lies above that.
        """
        constant = cut.constant + float(cut.weights[self.forced].sum())
        return constant, np.minimum(cut.weights[self.free], max(self.bound - constant, 0.0))

    def require(self, level: float) -> None:
        """Look only at q whose cuts all lie above `level`."""
        self.level = max(level, self.level)
        lowest = min((self.level - self.base) / self.unit, self.most)
        self.highs.changeColBounds(self.free.shape[0], lowest, self.most)

    def relaxed(self, control: Control) -> Answer:
        """Solve for fractional q."""
        self._integral(False)
        ran = self._run(control)
        solution = self.highs.getSolution()
        bound = self._proved(np.array(solution.row_dual))
        optimal = self.highs.getModelStatus() == self.highspy.HighsModelStatus.kOptimal
        return Answer(self._valid([np.array(solution.col_value)] if ran and optimal else []), bound)

    def solve(self, control: Control, tolerance: float) -> Answer:
        """Solve for binary q to an absolute tolerance; all points met on the way come back."""
        self._integral(True)
        self.highs.setOptionValue("mip_abs_gap", tolerance / self.unit)
        if not self._run(control):
            return Answer([], np.inf)
        statuses, status = self.highspy.HighsModelStatus, self.highs.getModelStatus()
        if status == statuses.kInfeasible:
            return Answer([], self.level + self.allowance)
        saved = [np.round(entry.col_value) for entry in self.highs.getSavedMipSolutions()]
        points = {q.tobytes(): q for q in self._valid(saved[::-1])}
        highest = -float(self.highs.getInfo().mip_dual_bound)
        bound = self.base + self.unit * highest + self.allowance
        attained = max((self._value(q) for q in points.values()), default=-np.inf)
        stopped = (statuses.kOptimal, statuses.kTimeLimit, statuses.kInterrupt)
        is_claim = status in stopped and np.isfinite(bound) and bound >= attained
        return Answer(list(points.values()), bound if is_claim else np.inf)

    def _proved(self, multipliers: FloatArray) -> float:
        """Return Σ_k λ_k c_k + the `picks` largest entries of Σ_k λ_k w_k, rounded up.

        No q is better than that, whatever the λ ≥ 0 with Σλ = 1; those of HiGHS make it the
        optimum over fractional q.
        """
        constants = np.array([constant for constant, _ in self.cuts])
        weights = np.stack([weights for _, weights in self.cuts])
        shares = np.abs(multipliers[1:])
        if shares.shape != constants.shape or not 0.0 < float(shares.sum()) < np.inf:
            shares = np.ones_like(constants)  # HiGHS has none to offer
        shares = shares / shares.sum()
        top = np.sort(shares @ weights)[::-1][: self.picks]
        size = float(shares @ np.abs(constants)) + float(top.sum())
        terms = constants.shape[0] + self.free.shape[0] + 8
        slack: float = 4 * terms * EPS * size
        return float(shares @ constants) + float(top.sum()) + slack

    def _value(self, q: FloatArray) -> float:
        """Return what the cuts allow at q."""
        return min(constant + float(weights @ q[self.free]) for constant, weights in self.cuts)

    def _valid(self, solutions: list[FloatArray]) -> list[FloatArray]:
        """Return the q of those of HiGHS's solutions that are points with Σq = d."""
        finite = [x for x in solutions if x.shape == self.columns.shape and np.isfinite(x).all()]
        sums = [float(np.clip(x[:-1], 0.0, 1.0).sum()) for x in finite]
        near = MARGIN * self.columns.shape[0]
        return [
            self._whole(x)
            for x, total in zip(finite, sums, strict=True)
            if abs(total - self.picks) <= near
        ]

    def _whole(self, solution: FloatArray) -> FloatArray:
        q = self.forced.astype(float)
        q[self.free] = np.clip(solution[:-1], 0.0, 1.0)
        return q

    def _integral(self, wanted: bool) -> None:
        kinds = self.highspy.HighsVarType
        kind = kinds.kInteger if wanted else kinds.kContinuous
        columns = self.columns[:-1]
        self.highs.changeColsIntegrality(columns.shape[0], columns, [kind] * columns.shape[0])

    def _run(self, control: Control) -> bool:
        """Run HiGHS beside the main thread, which stays free to see the clock and Ctrl-C.

        Return whether it ended without an error of its own.
        """

        def run() -> None:
            if self.highs.run() == self.highspy.HighsStatus.kError:
                raise RuntimeError("HiGHS failed")

        error = run_beside(run, self.highs.cancelSolve, lambda: control.out_of_time)
        if isinstance(error, MemoryError):
            raise MemoryError("HiGHS ran out of memory")
        return error is None


COARSE = 0.05
"""Masters are solved to this part of the gap that is left: early ones are soon out of date."""


class CutSearch(Protocol):
    """Whose gap the loop closes: the best value so far, and what is proved about the rest.

    `open_bound` is proved for every support that is not yet given up; the loop lowers it.
    """

    control: Control
    open_bound: float

    @property
    def value(self) -> float:
        """The best value so far."""
        ...

    @property
    def cutoff(self) -> float:
        """The bound at which the work is done."""
        ...

    @property
    def stopped(self) -> bool:
        """Whether a limit is reached."""
        ...

    def offer(self, support: IntArray) -> None:
        """Take over a support if it is better."""
        ...

    def count_master(self) -> None:
        """Take note of one more master problem solved for binary q."""
        ...


def close_gap(search: CutSearch, source: CutSource, master: Master) -> None:
    """Add cuts until the master's bound is within the gap, a limit is reached, or none is new."""
    _fractional_rounds(search, source, master)
    _integer_rounds(search, source, master)


def _fractional_rounds(search: CutSearch, source: CutSource, master: Master) -> None:
    """Cut at fractional solutions of the master first: they cost a linear program each."""
    for _ in range(source.rounds):
        if search.stopped or search.open_bound <= search.cutoff:
            return
        answer = master.relaxed(search.control)
        _lower(search, answer.bound)
        for q in answer.points:
            for cut in source.at(q):
                master.add(cut)


def _integer_rounds(search: CutSearch, source: CutSource, master: Master) -> None:
    """Cut at binary solutions of the master, whose values are lower bounds."""
    seen: set[bytes] = set()
    accuracy = COARSE
    while not search.stopped and search.open_bound > search.cutoff:
        # Below this level a q is no better than the gap allows.
        master.require(search.cutoff - 2 * master.allowance)
        answer = master.solve(search.control, accuracy * (search.open_bound - search.value))
        _lower(search, answer.bound)
        search.count_master()
        fresh = [q for q in answer.points if q.tobytes() not in seen][: source.points]
        if not fresh and accuracy == 0.0:
            # Every cut is as tight as tolerances allow: what is left is theirs.
            return
        accuracy = COARSE if fresh else 0.0
        for q in fresh:
            seen.add(q.tobytes())
            search.offer(source.variables[q > 0.5])
            for cut in source.at(q):
                master.add(cut)


def _lower(search: CutSearch, bound: float) -> None:
    """Lower the open bound, never below the best value: that is attained."""
    search.open_bound = min(search.open_bound, max(bound, search.value))
