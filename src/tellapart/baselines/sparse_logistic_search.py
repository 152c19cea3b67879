"""Outer approximation of sparse logistic regression: a good support first, then the proof."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray, IntArray
from tellapart.baselines.sparse_logistic_problem import LogisticFit, LogisticProblem
from tellapart.baselines.sparse_logistic_relaxation import Relaxation, solve_relaxation
from tellapart.strs.base import truncate
from tellapart.strs.bounds.cuts.cut import Cut
from tellapart.strs.bounds.cuts.master import Master
from tellapart.strs.control import Control
from tellapart.strs.rounding import EPS
from tellapart.strs.solution import Status
from tellapart.threads import one_blas_thread

LARGEST_EXCHANGE = 5
"""Most variables that leave a support at a time."""
NEWCOMERS = 3
"""Variables tried in the place of each one, the most promising first."""
FRACTIONAL_ROUNDS = 10
POINTS = 5
"""Solutions of a master problem that are cut at, the best first."""


@dataclass(frozen=True)
class SparseFit:
    """The best support found, its fit, and what is proved about it."""

    support: IntArray
    fit: LogisticFit
    upper_bound: float
    status: Status
    cuts: int


def solve(problem: LogisticProblem, control: Control, *, solver: str, most_cuts: int) -> SparseFit:
    """Return the best support within the limits, and a proved bound on the value of all others.

    The relaxation comes first: its marks, rounded, start the exchange of variables, and the cut
    of its dual point fixes most variables. Over the others HiGHS looks for supports that every
    cut so far still lets be better, as Bertsimas, Pauphilet and Van Parys do; each one found is
    fitted and gives a cut of its own. `most_cuts` limits the cuts, `control` gap and time.
    """
    search = _Search(problem, control, most_cuts)
    # After Ctrl-C what is proved so far stands: the caller gets it, not a traceback.
    with suppress(KeyboardInterrupt), one_blas_thread():
        search.run(solver)
    bound = max(search.bound, search.given_up, search.fit.value)
    status = control.status(search.fit.value, bound)
    return SparseFit(search.support, search.fit, bound, status, search.cuts)


def improve(
    problem: LogisticProblem, support: IntArray, control: Control
) -> tuple[IntArray, LogisticFit]:
    """Exchange variables of a support for others while that raises the value.

    A variable in use is worth about w_j²(h_j + 1/γ)/2 and one outside (x_jᵀα)²/(2(h_j + 1/γ)),
    h_j the curvature of the loss along it. Blocks of those worth least leave for those worth
    most; when no block helps, single ones are tried for several newcomers each.
    """
    fit = problem.on_support(support)
    while not control.out_of_time and support.shape[0] < problem.n_columns:
        for candidate in _exchanges(problem, support, fit):
            changed = problem.on_support(candidate)
            if changed.value > fit.value + problem.resolution:
                support, fit = candidate, changed
                break
            if control.out_of_time:
                return support, fit
        else:
            break
    return support, fit


def _exchanges(problem: LogisticProblem, support: IntArray, fit: LogisticFit) -> list[IntArray]:
    """Return the supports to try next, those that change most at a time first."""
    size = np.abs(fit.pull)
    stiffness = (size * (1 - size)) @ problem.x**2 + 1 / problem.gamma
    worth_in = fit.weights**2 * stiffness[support] / 2
    outside = np.setdiff1d(np.arange(problem.n_columns), support)
    worth_out = (problem.x[:, outside].T @ fit.pull) ** 2 / (2 * stiffness[outside])
    leaving = np.argsort(worth_in, kind="stable")
    coming = outside[np.argsort(-worth_out, kind="stable")]
    blocks = range(min(LARGEST_EXCHANGE, support.shape[0], outside.shape[0]), 1, -1)
    tried = [np.append(np.delete(support, leaving[:k]), coming[:k]) for k in blocks]
    tried += [
        np.append(np.delete(support, gone), new) for gone in leaving for new in coming[:NEWCOMERS]
    ]
    return [np.sort(each) for each in tried]


class _Search:
    """The state of one run: the best fit, and the bounds of what is open and what is closed."""

    def __init__(self, problem: LogisticProblem, control: Control, most_cuts: int) -> None:
        self.problem = problem
        self.control = control
        self.most_cuts = most_cuts
        self.support = np.arange(problem.d)
        self.fit = problem.on_support(self.support)
        self.given_up = -np.inf
        # The loss is positive: before anything is known, 0 bounds the value.
        self.bound = 0.0
        self.cuts = 0

    @property
    def cutoff(self) -> float:
        """The bound at which the work is done, rounding of this sum allowed for."""
        value = self.fit.value
        return value + self.control.allowed(value) - 4 * EPS * abs(value)

    @property
    def done(self) -> bool:
        """Whether the bound is close enough or a limit is reached."""
        spent = self.control.out_of_time or self.cuts >= self.most_cuts
        return spent or self.bound <= self.cutoff

    def run(self, solver: str) -> None:
        """Relax, improve, then alternate between the master problem and new cuts."""
        relaxation = solve_relaxation(self.problem, self.control)
        self.bound = min(self.bound, relaxation.bound)
        self.cuts = 1
        self.offer(truncate(relaxation.q, self.problem.d))
        own = self.problem.cut(self.fit.pull)
        if self.problem.d == self.problem.n_columns:
            self.bound = min(self.bound, own.at(np.ones(self.problem.n_columns)))
            return
        if self.done:
            return
        variables, forced = self.fix(relaxation)
        picks = self.problem.d - int(np.count_nonzero(forced))
        if picks == 0 or variables.shape[0] == self.problem.d:
            # One support is left: what remains is to look at it.
            last = variables[forced] if picks == 0 else variables
            self.offer(last)
            own = self.problem.cut(self.problem.on_support(last).pull)
            self.bound = min(self.bound, max(own.at(self.marks(last)), self.fit.value))
            return
        cuts = [_restricted(cut, variables) for cut in (relaxation.cut, own)]
        master = Master(forced, picks, self.fit.value, self.bound, cuts, solver)
        self.cuts += 1
        self.fractional_rounds(master, variables)
        self.integer_rounds(master, variables)

    def fix(self, relaxation: Relaxation) -> tuple[IntArray, NDArray[np.bool_]]:
        """Return the variables still in play, and which of them every better support holds."""
        cut, d = relaxation.cut, self.problem.d
        holding = cut.largest(np.zeros(self.problem.n_columns, dtype=np.bool_), d)
        dropped = holding <= self.cutoff
        order = np.sort(cut.weights)[::-1]
        # Without one of the d heaviest, the next one comes in.
        without = relaxation.bound - cut.weights + order[d]
        forced = (cut.weights >= order[d - 1]) & (without <= self.cutoff)
        closed = np.concatenate([holding[dropped], without[forced]])
        self.given_up = float(closed.max(initial=-np.inf))
        variables = np.flatnonzero(~dropped)
        return variables, forced[variables]

    def fractional_rounds(self, master: Master, variables: IntArray) -> None:
        """Cut at fractional solutions of the master first: they cost a linear program each."""
        for _ in range(FRACTIONAL_ROUNDS):
            if self.done:
                return
            answer = master.relaxed(self.control)
            self.bound = min(self.bound, max(answer.bound, self.fit.value))
            for q in answer.points:
                self.cut_at(master, variables, q)

    def integer_rounds(self, master: Master, variables: IntArray) -> None:
        """Solve the master and cut at its solutions until its bound is within the gap."""
        seen: set[bytes] = set()
        accuracy = 0.05
        while not self.done:
            # Below this level a support is no better than the gap allows.
            master.require(self.cutoff - 2 * master.allowance)
            answer = master.solve(self.control, accuracy * (self.bound - self.fit.value))
            self.bound = min(self.bound, max(answer.bound, self.fit.value))
            fresh = [q for q in answer.points if q.tobytes() not in seen][:POINTS]
            if not fresh and accuracy == 0.0:
                # Every cut is as tight as tolerances allow: what is left is theirs.
                return
            accuracy = 0.05 if fresh else 0.0
            for q in fresh:
                seen.add(q.tobytes())
                self.offer(variables[q > 0.5])
                self.cut_at(master, variables, q)

    def cut_at(self, master: Master, variables: IntArray, q: FloatArray) -> None:
        """Give the master the cut that is tight at q."""
        whole = np.zeros(self.problem.n_columns)
        whole[variables] = q
        master.add(_restricted(self.problem.cut(self.problem.at(whole).pull), variables))
        self.cuts += 1

    def marks(self, support: IntArray) -> FloatArray:
        """Return the q of a support."""
        q = np.zeros(self.problem.n_columns)
        q[support] = 1.0
        return q

    def offer(self, support: IntArray) -> None:
        """Keep a support if, after exchanges, it is the best so far."""
        support, fit = improve(self.problem, support, self.control)
        if fit.value > self.fit.value:
            self.support, self.fit = support, fit


def _restricted(cut: Cut, variables: IntArray) -> Cut:
    return Cut(cut.constant, cut.weights[variables])
