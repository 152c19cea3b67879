"""λ and the number of variables: chosen inside the training half, without surprises."""

import math
import warnings

import numpy as np
import pytest

from reference import make_samples
from tellapart.data.reader import read_samples
from tellapart.data.samples import Samples
from tellapart.datasets import make_case
from tellapart.kernels import AdditiveIndex, Gaussian, Linear, Quadratic
from tellapart.kernels.bandwidth import MULTIPLIERS
from tellapart.search.starts import linear_problem
from tellapart.selection.folds import make_folds, ratio, split_in_halves
from tellapart.selection.tuning import (
    COARSE_GRID,
    GRID,
    N_SEARCH_SPLITS,
    N_SPLITS,
    NumberScore,
    Prepared,
    RegularizationScore,
    as_good_as_the_best,
    best_ratio,
    best_regularization,
    number_path,
    score_regularizations,
    smallest_good_number,
    tune,
)
from tellapart.statistics.coefficients import LinearCoefficients
from tellapart.strs.contract import Control

LINEAR = Linear()


def silent(stage, detail):
    """Say nothing."""


def tuned(samples, n_variables=None, regularization=None, seed=0, progress=silent, kernel=LINEAR):
    return tune(
        Prepared(samples, kernel, 1),
        n_variables=n_variables,
        regularization=regularization,
        rng=np.random.default_rng(seed),
        progress=progress,
    )


def folds_of(samples):
    halves = split_in_halves(samples, N_SPLITS, np.random.default_rng(0))
    return make_folds(Linear(), halves, 1)


def case(n=60, n_features=12, n_informative=3, name="laplace", seed=0):
    x, y, _ = make_case(
        name, n, n_features=n_features, n_informative=n_informative, random_state=seed
    )
    return read_samples(x, y)


def test_equal_pvalues_are_told_apart_by_the_ratio():
    """[E8] p-values tie at 1/(N_p + 1) when the signal is strong: p alone says nothing."""
    scores = [
        RegularizationScore(0.0, (0.005, 0.005), (3.0, 3.1)),
        RegularizationScore(0.1, (0.005, 0.005), (4.0, 4.1)),
        RegularizationScore(1.0, (0.005, 0.005), (2.0, 2.1)),
    ]
    assert best_regularization(scores).regularization == 0.1


def test_the_pvalue_comes_before_the_ratio():
    sure = RegularizationScore(1.0, (0.01, 0.01), (1.0, 1.1))
    scores = [RegularizationScore(0.0, (0.2, 0.21), (9.0, 9.1)), sure]
    assert best_regularization(scores).regularization == 1.0


def test_the_least_regularization_of_equals_is_taken():
    scores = [RegularizationScore(regularization, (0.01,), (2.0,)) for regularization in GRID]
    assert best_regularization(scores[::-1]).regularization == 0.0


def test_differences_within_one_standard_error_are_ties():
    scores = [[1.0, 2.0, 3.0], [1.5, 1.4, 3.2], [0.0, 1.0, 2.0]]
    assert as_good_as_the_best(scores).tolist() == [0, 1]
    assert as_good_as_the_best([[1.0], [2.0]]).tolist() == [1]


def test_the_smallest_good_number_is_taken():
    sizes = [
        NumberScore(1, (1.0, 1.1, 0.9)),
        NumberScore(2, (2.9, 3.1, 2.8)),
        NumberScore(5, (3.0, 3.0, 3.0)),
    ]
    assert smallest_good_number(sizes) == 2


@pytest.mark.parametrize("most", [1, 2, 5, 6, 30, 50, 1000])
def test_number_path(most):
    path = number_path(most)
    assert path[0] == 1
    assert path[-1] == min(most, 50)
    assert path == sorted(set(path))


def test_both_are_chosen_and_scored():
    tuning = tuned(case())
    assert tuning.regularization in GRID
    assert 1 <= tuning.n_variables <= 12
    # 60 rows of a sample: too few for a λ of 2.
    assert [score.regularization for score in tuning.regularizations] == list(GRID[:-2])
    assert [score.n_variables for score in tuning.numbers] == number_path(12)
    scores = (*tuning.numbers, *tuning.regularizations)
    assert all(len(score.ratios) == N_SPLITS for score in scores)


def test_what_is_given_is_kept():
    assert tuned(case(), 2, 0.3).n_variables == 2
    given = tuned(case(), 2, None)
    assert given.n_variables == 2
    assert given.numbers == ()
    regularization = tuned(case(), None, 0.3)
    assert regularization.regularization == 0.3
    assert regularization.regularizations == ()


def test_the_same_seed_gives_the_same_choice():
    assert tuned(case(), seed=3) == tuned(case(), seed=3)


@pytest.mark.parametrize(("m", "n"), [(2, 2), (7, 50), (50, 7)])
def test_few_rows_take_the_defaults(m, n):
    rng = np.random.default_rng(0)
    samples = read_samples(rng.normal(size=(m, 9)), rng.normal(size=(n, 9)))
    tuning = tuned(samples)
    assert (tuning.n_variables, tuning.regularization) == (5, 0.1)
    assert tuned(samples, 2, 0.7).n_variables == 2


@pytest.mark.parametrize(("m", "n"), [(8, 8), (8, 300)])
def test_just_enough_rows(m, n):
    rng = np.random.default_rng(0)
    samples = read_samples(rng.normal(size=(m, 4)), rng.normal(size=(n, 4)))
    assert tuned(samples).regularizations != ()


@pytest.mark.parametrize("column", ["separated", "flag", "constant"])
def test_degenerate_columns_give_finite_scores(column):
    """σ̂ = 0, as under perfect separation, must give neither NaN nor a warning."""
    x, y = np.zeros((20, 2)), np.zeros((20, 2))
    if column == "separated":
        y[:, 0] = 1.0
    elif column == "flag":
        y[0, 0] = 1.0
    names, kinds = ("a", "b"), ("numeric", "numeric")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tuning = tuned(Samples(x, y, names, kinds))
    scores = [r for score in (*tuning.numbers, *tuning.regularizations) for r in score.ratios]
    assert all(map(math.isfinite, scores))
    assert 1 <= tuning.n_variables <= 2


@pytest.mark.parametrize("variance", [0.0, -1e-18, 2.0])
def test_ratio_is_finite(variance):
    coefficients = LinearCoefficients(np.array([0.5]), np.array([[variance]]), None, 5, 5)
    expected = 0.5 / math.sqrt(max(variance, 0.0) + 1e-8)
    assert ratio(coefficients, np.ones(1)) == pytest.approx(expected)


def test_weights_of_regularization_zero_are_the_top_of_a():
    fold = folds_of(case())[0]
    z = fold.weights(2, 0.0)
    a = fold.coefficients.a
    assert set(np.flatnonzero(z)) == set(np.argsort(-np.abs(a))[:2])
    assert a @ z == pytest.approx(np.sqrt(np.sort(a**2)[-2:].sum()))


@pytest.mark.parametrize("regularization", [0.01, 0.5, 5.0])
def test_weights_beat_those_of_regularization_zero(regularization):
    fold = folds_of(case())[0]
    problem = linear_problem(fold.coefficients, regularization, 3)
    z = fold.weights(3, regularization)
    assert np.count_nonzero(z) <= 3
    assert np.linalg.norm(z) == pytest.approx(1.0)
    assert problem.value(z) >= problem.value(fold.weights(3, 0.0)) - 1e-12


def test_kernel_is_fitted_on_the_training_part_only():
    samples = case()
    fold = folds_of(samples)[0]
    again = Linear().fit(fold.train)
    assert fold.kernel.scalars == again.scalars
    assert fold.kernel.scalars != Linear().fit(samples).scalars


def test_a_strong_signal_is_found_with_a_small_pvalue():
    folds = folds_of(case(n=200, name="mixture"))
    scores = score_regularizations({1.0: folds}, 1, (0.0, 0.1), range(N_SPLITS), silent)
    assert all(p == 1 / 200 for score in scores for p in score.pvalues)


def test_progress_is_told():
    stages = []
    tuned(case(), progress=lambda stage, detail: stages.append((stage, detail)))
    assert len(stages) == 2 * N_SPLITS
    assert {stage for stage, _ in stages} == {"tune"}


def test_the_best_ratio_decides_between_bandwidths_whose_pvalues_tie():
    scores = [
        RegularizationScore(0.0, (0.005, 0.005), (3.0, 3.1), 0.25),
        RegularizationScore(1.0, (0.005, 0.005), (4.0, 4.1), 0.5),
        RegularizationScore(1.0, (0.9, 0.9), (9.0, 9.1), 1.0),
    ]
    best = best_ratio(scores)
    assert (best.regularization, best.multiplier) == (1.0, 0.5)


def test_fixed_bandwidths_and_regularizations_leave_nothing_to_tune():
    told = []
    for kernel in (Gaussian("median"), Gaussian(0.5), Quadratic(), Linear()):
        tuning = tuned(case(), 2, 0.3, kernel=kernel, progress=lambda *one: told.append(one))
        assert (tuning.multiplier, tuning.regularizations, tuning.numbers) == (1.0, (), ())
    kept = tuned(case(), 2, 0.3, kernel=Gaussian("median", multiplier=0.7))
    assert kept.multiplier == 0.7
    assert told == []


@pytest.mark.parametrize("kernel", [Gaussian("cv"), Quadratic(bandwidth="cv")])
def test_bandwidth_and_regularization_are_tuned_together(kernel):
    tuning = tuned(case(40, 6, 2), 2, None, kernel=kernel)
    assert tuning.multiplier in MULTIPLIERS
    assert {score.multiplier for score in tuning.regularizations} == set(MULTIPLIERS)
    assert tuning.regularization in COARSE_GRID
    assert tuning.n_variables == 2
    assert all(len(score.ratios) == N_SEARCH_SPLITS for score in tuning.regularizations)
    chosen = best_ratio(tuning.regularizations)
    assert (tuning.regularization, tuning.multiplier) == (chosen.regularization, chosen.multiplier)
    assert tuning == tuned(case(40, 6, 2), 2, None, kernel=kernel)


def test_the_bandwidth_of_the_linear_kernel_may_be_tuned_too():
    tuning = tuned(case(40, 6, 2), 2, None, kernel=Linear(bandwidth="cv"))
    assert tuning.multiplier in MULTIPLIERS
    assert {score.multiplier for score in tuning.regularizations} == set(MULTIPLIERS)


def test_only_the_bandwidth_is_tuned_where_the_regularization_is_given():
    tuning = tuned(case(40, 6, 2), 2, 0.3, kernel=Gaussian("cv"))
    assert tuning.regularization == 0.3
    assert {score.regularization for score in tuning.regularizations} == {0.3}
    assert [score.multiplier for score in tuning.regularizations] == list(MULTIPLIERS)


@pytest.mark.parametrize("kernel", [Gaussian("median"), Quadratic()])
def test_the_number_of_variables_comes_last_for_other_kernels(kernel):
    tuning = tuned(case(40, 6, 2, "mixture"), None, 0.1, kernel=kernel)
    assert [score.n_variables for score in tuning.numbers] == number_path(6)
    assert 1 <= tuning.n_variables <= 6
    assert tuning.regularizations == ()


def test_few_rows_leave_the_median_bandwidth():
    rng = np.random.default_rng(0)
    samples = read_samples(rng.normal(size=(7, 9)), rng.normal(size=(50, 9)))
    tuning = tuned(samples, kernel=Gaussian("cv"))
    assert (tuning.n_variables, tuning.regularization, tuning.multiplier) == (5, 0.1, 1.0)


def test_a_kernel_of_ones_own_has_no_bandwidth_to_tune():
    own = AdditiveIndex(
        value=lambda t: np.exp(-t),
        slope=lambda t: -np.exp(-t),
        curvature=lambda t: np.exp(-t),
    )
    tuning = tuned(case(40, 6, 2), 2, None, kernel=own)
    assert {score.multiplier for score in tuning.regularizations} == {1.0}
    assert tuning.regularization in COARSE_GRID


class Ticking:
    """A clock that moves on by one whenever it is looked at."""

    def __init__(self):
        self.now = -1.0

    def __call__(self):
        self.now += 1.0
        return self.now


def tuned_in(seconds, samples, kernel=LINEAR, **settings):
    given = {"n_variables": None, "regularization": None, **settings}
    control = Control(time_limit=seconds, clock=Ticking())
    return tune(
        Prepared(samples, kernel, 1),
        rng=np.random.default_rng(0),
        progress=silent,
        control=control,
        **given,
    )


def test_time_that_is_over_ends_tuning_with_what_it_has():
    samples = make_samples(*np.random.default_rng(0).normal(size=(2, 60, 8)))
    whole = tuned_in(None, samples)
    assert tuned_in(200.5, samples) == whole
    # One tick for each candidate: 7 numbers and 5 λ in each of 5 splits.
    for seconds, of_number, of_regularization in ((0.5, 0, 0), (5, 0, 0), (20, 2, 0), (55, 5, 3)):
        found = tuned_in(seconds, samples)
        assert found.stopped
        assert {len(score.ratios) for score in found.numbers} == {of_number} - {0}
        assert {len(s.pvalues) for s in found.regularizations} == {of_regularization} - {0}
        if not of_number:
            assert found.n_variables == 5
        if not of_regularization:
            assert found.regularization == 0.1


def test_time_that_is_over_ends_the_search_of_bandwidths():
    samples = make_samples(*np.random.default_rng(0).normal(size=(2, 40, 6)))
    kernel = Gaussian(bandwidth="cv")
    # Three splits of four bandwidths at λ = 1, then three more λ.
    for seconds, multipliers in ((1, 0), (8, 1), (18, 4), (60, 4)):
        found = tuned_in(seconds, samples, kernel, n_variables=2)
        assert found.stopped == (seconds < 60)
        assert len({score.multiplier for score in found.regularizations}) == multipliers
        assert len({len(score.ratios) for score in found.regularizations}) <= 1
