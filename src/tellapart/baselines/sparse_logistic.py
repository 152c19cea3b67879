"""Sparse logistic regression: the few variables that classify best, as a two-sample test."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tellapart.arguments import check_integer, check_number
from tellapart.baselines.base import FittedBaseline, SelectingBaseline
from tellapart.baselines.permuting import Permuting, permuted_means
from tellapart.baselines.sparse_logistic_gamma import choose_gamma
from tellapart.baselines.sparse_logistic_problem import LogisticProblem
from tellapart.baselines.sparse_logistic_search import solve
from tellapart.baselines.standardised import Direction, standardise
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.permutation.mmd import TIE_TOLERANCE
from tellapart.permutation.nulls import PermutationNull
from tellapart.strs.control import Control
from tellapart.strs.optional import load
from tellapart.testing.result import Method
from tellapart.threads import one_blas_thread

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
        found = solve(problem, control, solver=NAME, most_cuts=self.max_cuts)
        weights = np.zeros(problem.n_columns)
        weights[found.support] = found.fit.weights
        direction = columns.direction(weights)
        selection = self.selection(
            train,
            columns.keep[found.support],
            direction.z,
            found.fit.value,
            regularization=1 / gamma,
            constant=columns.constant,
            upper_bound=found.upper_bound,
        )
        return FittedClassifier(
            selection=replace(selection, status=found.status), direction=direction
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
