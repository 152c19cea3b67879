"""Outer approximation of sparse logistic regression: a good support first, then the proof."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.baselines.sparse_logistic_problem import LogisticFit, LogisticProblem
from tellapart.baselines.sparse_logistic_relaxation import Relaxation, solve_relaxation
from tellapart.strs.base import truncate, until_interrupted
from tellapart.strs.bounds.cuts.cut import Cut
from tellapart.strs.bounds.cuts.loop import close_gap
from tellapart.strs.bounds.cuts.master import Master
from tellapart.strs.control import Control
from tellapart.strs.rounding import EPS
from tellapart.strs.solution import Status

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
    with until_interrupted():
        search.run(solver)
    bound = max(search.open_bound, search.given_up, search.value)
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


class _Cuts:
    """Cuts of the dual at any q, over the variables still in play; the relaxation's comes first."""

    rounds = FRACTIONAL_ROUNDS
    points = POINTS

    def __init__(self, problem: LogisticProblem, relaxation: Relaxation) -> None:
        self.problem = problem
        self.bound = relaxation.bound
        self.variables = np.arange(problem.n_columns)
        self.forced = np.zeros(problem.n_columns, dtype=np.bool_)
        self.first = [relaxation.cut]
        self.made = 1

    def fix(self, cutoff: float) -> float:
        """Keep the variables that a support above `cutoff` may hold; return the bound given up."""
        cut, d = self.first[0], self.problem.d
        holding = cut.largest(self.forced, d)
        dropped = holding <= cutoff
        order = np.sort(cut.weights)[::-1]
        # Without one of the d heaviest, the next one comes in.
        without = self.bound - cut.weights + order[d]
        forced = (cut.weights >= order[d - 1]) & (without <= cutoff)
        self.variables = np.flatnonzero(~dropped)
        self.forced = forced[self.variables]
        return float(np.concatenate([holding[dropped], without[forced]]).max(initial=-np.inf))

    def add(self, cut: Cut) -> None:
        """Start the master with one more cut."""
        self.first.append(cut)
        self.made += 1

    def seed(self) -> list[Cut]:
        """Return the cuts to start from."""
        return [self._restricted(cut) for cut in self.first]

    def at(self, q: FloatArray) -> list[Cut]:
        """Return the cut that is tight at q."""
        whole = np.zeros(self.problem.n_columns)
        whole[self.variables] = q
        self.made += 1
        return [self._restricted(self.problem.cut(self.problem.at(whole).pull))]

    def _restricted(self, cut: Cut) -> Cut:
        return Cut(cut.constant, cut.weights[self.variables])


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
        self.open_bound = 0.0
        self.source: _Cuts | None = None

    @property
    def value(self) -> float:
        """The best value so far."""
        return self.fit.value

    @property
    def cutoff(self) -> float:
        """The bound at which the work is done, rounding of this sum allowed for."""
        return self.value + self.control.allowed(self.value) - 4 * EPS * abs(self.value)

    @property
    def cuts(self) -> int:
        """How many cuts were made."""
        return 0 if self.source is None else self.source.made

    @property
    def stopped(self) -> bool:
        """Whether a limit is reached."""
        return self.control.out_of_time or self.cuts >= self.most_cuts

    def run(self, solver: str) -> None:
        """Relax, improve, fix variables, then close the gap with cuts."""
        problem, d = self.problem, self.problem.d
        relaxation = solve_relaxation(problem, self.control)
        self.open_bound = min(self.open_bound, relaxation.bound)
        self.source = source = _Cuts(problem, relaxation)
        self.offer(truncate(relaxation.q, d))
        if d == problem.n_columns:
            self.settle(np.arange(d))
            return
        if self.stopped or self.open_bound <= self.cutoff:
            return
        own = problem.cut(self.fit.pull)
        self.given_up = source.fix(self.cutoff)
        picks = d - int(np.count_nonzero(source.forced))
        if picks == 0 or source.variables.shape[0] == d:
            # One support is left: what remains is to look at it.
            last = source.variables[source.forced] if picks == 0 else source.variables
            self.offer(last)
            self.settle(last)
            return
        source.add(own)
        master = Master(source.forced, picks, self.value, self.open_bound, source.seed(), solver)
        close_gap(self, source, master)

    def settle(self, support: IntArray) -> None:
        """Lower the bound to what the last support in play allows."""
        q = np.zeros(self.problem.n_columns)
        q[support] = 1.0
        bound = self.problem.cut(self.problem.on_support(support).pull).at(q)
        self.open_bound = min(self.open_bound, max(bound, self.value))

    def offer(self, support: IntArray) -> None:
        """Take over a support if, after exchanges, it is better."""
        support, fit = improve(self.problem, support, self.control)
        if fit.value > self.value:
            self.support, self.fit = support, fit

    def count_master(self) -> None:
        """Nobody counts the masters here: the limit is on cuts."""
