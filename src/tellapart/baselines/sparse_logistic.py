"""Sparse logistic regression: the few variables that classify best, as a two-sample test."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tellapart.arguments import check_integer, check_number
from tellapart.arrays import FloatArray, IntArray
from tellapart.baselines.base import FittedBaseline, Permuting, SelectingBaseline, permuted_means
from tellapart.baselines.sparse_logistic_problem import (
    LogisticFit,
    LogisticProblem,
    Relaxation,
    solve_relaxation,
)
from tellapart.baselines.standardised import Direction, standardise
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.permutation.mmd import TIE_TOLERANCE
from tellapart.permutation.pvalues import PermutationNull
from tellapart.results.result import Method
from tellapart.strs.bounds.cut_loop import Master, close_gap
from tellapart.strs.bounds.cuts import Cut
from tellapart.strs.contract import Control, Status, load, until_interrupted
from tellapart.strs.domains import EPS
from tellapart.strs.problem import truncate
from tellapart.threads import one_blas_thread

# How strong the ridge of sparse logistic regression should be: cross-validation.


SCALED_GAMMAS = (0.1, 1.0, 10.0, 100.0)
"""γ times the number of rows: the ridge beside the mean loss is ‖w‖²/2 over this."""
FOLDS = 3


def choose_gamma(problem: LogisticProblem, rng: np.random.Generator) -> float:
    """Return the γ of least held-out logistic loss; a tie goes to the stronger ridge.

    Supports are the relaxation's, rounded: quick, and close to those of the whole search.
    """
    folds = _folds(problem.signs, rng)
    losses = [
        sum(_held_out_loss(problem, scaled_gamma, folds == k) for k in range(int(folds.max()) + 1))
        for scaled_gamma in SCALED_GAMMAS
    ]
    return SCALED_GAMMAS[int(np.argmin(losses))] / len(problem.signs)


def _held_out_loss(
    problem: LogisticProblem, scaled_gamma: float, held_out: NDArray[np.bool_]
) -> float:
    x, signs = problem.x[~held_out], problem.signs[~held_out]
    train = replace(problem, x=x, signs=signs, gamma=scaled_gamma / signs.shape[0])
    support = truncate(solve_relaxation(train, Control()).q, problem.d)
    fit = train.on_support(support)
    scores = problem.x[held_out][:, support] @ fit.weights + fit.intercept
    return replace(problem, signs=problem.signs[held_out]).loss(scores)


def _folds(signs: FloatArray, rng: np.random.Generator) -> IntArray:
    """Return the fold of every row, with an equal share of both samples in each."""
    sides = [np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)]
    count = min(FOLDS, *(side.shape[0] for side in sides))
    folds = np.zeros(signs.shape[0], dtype=np.intp)
    for side in sides:
        folds[rng.permutation(side)] = np.arange(side.shape[0]) % count
    return folds


# Outer approximation of sparse logistic regression: a good support first, then the proof.


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
        cut = problem.cut(self.fit.pull)
        self.given_up = source.fix(self.cutoff)
        picks = d - int(np.count_nonzero(source.forced))
        if picks == 0 or source.variables.shape[0] == d:
            # One support is left: what remains is to look at it.
            last = source.variables[source.forced] if picks == 0 else source.variables
            self.offer(last)
            self.settle(last)
            return
        source.add(cut)
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


NAME = "sparse-logistic-regression"


@dataclass(frozen=True)
class SparseLogisticRegression(SelectingBaseline):
    """Classify the samples by at most d variables; compare the mean scores of held-out rows.

    With y_i = 1 for the rows of X, −1 for those of Y, and standardised columns,

        max over w, b, ‖w‖₀ ≤ d of  −[Σ_i log(1 + exp(−y_i(w·x_i + b))) + ‖w‖²/(2γ)],

    solved by outer approximation after Bertsimas, Pauphilet and Van Parys (2021), with HiGHS.
    The statistic is T = mean_x w·x − mean_y w·y. It sees nothing but a difference of means. The
    variables come with a proof of how good the classification is: the Selection's `value` is
    the maximised objective above (negative), `upper_bound` is proved for every choice of
    variables, `z` is w and `regularization` 1/γ.

    Parameters
    ----------
    n_variables : int
        d, the largest number of variables.
    gamma : float or "cv"
        γ > 0: the greater, the weaker the ridge. "cv" takes, of 0.1, 1, 10 and 100 over the
        number of training rows, the one of least logistic loss in three-fold cross-validation.
    gap : float
        The relative gap at which the proof may stop.
    time_limit : float or None
        Seconds for search and proof. A good support is found in the first tenths of a second;
        where samples hardly differ, no proof is closed in minutes. A run that the clock stops
        might find a better support on a faster machine; `max_cuts` stops at the same place
        everywhere.
    max_cuts : int
        Cuts after which the search stops.
    test_size, n_permutations, alpha, random_state, n_jobs
        See `Baseline`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> Y = rng.normal(size=(80, 5)) + [0, 2, 0, 0, 2]
    >>> baseline = SparseLogisticRegression(n_variables=2, random_state=0, time_limit=None)
    >>> selection = baseline.select(X, Y)
    >>> selection.support.tolist(), selection.status
    ([1, 4], 'optimal')
    >>> baseline.test(X, Y).reject
    True
    """

    gamma: float | str = "cv"
    gap: float = 1e-3
    time_limit: float | None = 1.0
    max_cuts: int = 500

    symmetric: ClassVar[bool] = False
    has_own_rule: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check all settings."""
        self._keep("gamma", _checked_gamma(self.gamma))
        self._keep("max_cuts", check_integer("max_cuts", self.max_cuts, 1))
        super().__post_init__()

    @property
    def method(self) -> Method:
        """What results say about this baseline."""
        return Method(
            name="sparse logistic regression",
            statistic="difference of mean scores",
            validity="the rows of the test were not used to fit the classifier",
            call=self.call(),
        )

    def learn(self, train: Samples, rng: np.random.Generator) -> FittedClassifier:
        """Choose γ, variables and weights on the training rows."""
        load("highspy", NAME)
        columns = standardise(train, type(self).__name__)
        signs = np.repeat([1.0, -1.0], [train.n_x, train.n_y])
        d = self.at_most(columns.keep.shape[0])
        problem = LogisticProblem(np.concatenate([columns.x, columns.y]), signs, 1.0, d)
        gamma = self.gamma
        if isinstance(gamma, str):
            with one_blas_thread():
                gamma = choose_gamma(problem, rng)
        problem = replace(problem, gamma=gamma)
        control = Control(self.gap, self.time_limit, problem.resolution, rng)
        solution = solve(problem, control, solver=NAME, most_cuts=self.max_cuts)
        weights = np.zeros(problem.n_columns)
        weights[solution.support] = solution.fit.weights
        direction = columns.direction(weights)
        selection = self.selection(
            train,
            columns.keep[solution.support],
            direction.z,
            solution.fit.value,
            regularization=1 / gamma,
            constant=columns.constant,
            upper_bound=solution.upper_bound,
        )
        return FittedClassifier(
            selection=replace(selection, status=solution.status), direction=direction
        )


@dataclass(frozen=True, kw_only=True)
class FittedClassifier(FittedBaseline):
    """A classifier frozen on training rows: its score is positive where X prevails."""

    direction: Direction

    def test(self, held_out: Samples, how: Permuting) -> PermutationNull:
        """Test T = mean_x w·x − mean_y w·y of the held-out rows; large values speak against H₀.

        The intercept cancels. The paper's labels, 0 for X and 1 for Y, would make T negative
        under the alternative; here X is the positive side.
        """
        scores = self.direction.scores(np.concatenate([held_out.x, held_out.y]))
        tolerance = TIE_TOLERANCE * float(np.abs(scores).max())
        return permuted_means(held_out, scores, how, tolerance=tolerance)


def _checked_gamma(value: object) -> float | str:
    if isinstance(value, str):
        if value != "cv":
            raise InputError(f"gamma must be 'cv' or a number above 0; got {value!r}")
        return value
    return check_number("gamma", value, 0.0, open_low=True)
