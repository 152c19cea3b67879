"""Selection with the quadratic, the Gaussian and one's own kernels: tables in, Selection out."""

import warnings

import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from tellapart.errors import ConstantColumnWarning, InputError
from tellapart.kernels import AdditiveIndex, Gaussian, LaplaceScalar, Quadratic
from tellapart.kernels.bandwidth import MULTIPLIERS
from tellapart.search import QUICK, Annealing
from tellapart.statistics.objective import Objective
from tellapart.strs.solvers.brute_force import BruteForce

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5))
Y = RNG.normal(loc=[0, 2, 0, 0, 2], size=(50, 5))
RATIONAL = AdditiveIndex(
    value=lambda t: 1 / (1 + t / 2),
    slope=lambda t: -0.5 / (1 + t / 2) ** 2,
    curvature=lambda t: 0.5 / (1 + t / 2) ** 3,
    name="rational-quadratic",
)
KERNELS = {"quadratic": Quadratic(), "gaussian": Gaussian("median"), "rational": RATIONAL}
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def select(x=X, y=Y, n_variables=2, **changes):
    return ta.select_variables(x, y, n_variables, **{"random_state": 0, **changes})


def check(selection, n_columns, n_variables):
    assert selection.z.shape == (n_columns,)
    assert np.isfinite(selection.z).all()
    assert np.linalg.norm(selection.z) == pytest.approx(1.0)
    assert 1 <= selection.support.size <= n_variables
    np.testing.assert_array_equal(np.flatnonzero(selection.z), selection.support)
    assert np.isfinite(selection.value)
    if selection.upper_bound is not None:
        assert selection.upper_bound >= selection.value


@every_kernel
@pytest.mark.parametrize("regularization", [0.0, 0.5])
def test_value_is_the_objective_of_the_frozen_kernel(kernel, regularization):
    selection = select(kernel=kernel, regularization=regularization)
    check(selection, 5, 2)
    objective = Objective(X, Y, kernel, regularization)
    assert selection.value == pytest.approx(objective.value(selection.z), abs=1e-12)
    if regularization == 0:
        assert set(selection.variables) <= {"x1", "x4"}
    assert selection.kernel == kernel.name
    assert (selection.upper_bound is None) == (kernel is RATIONAL)


def test_regularization_zero_is_proved_for_the_quadratic_kernel():
    selection = select(kernel="quadratic", regularization=0)
    assert selection.status == "optimal"
    assert selection.gap <= 1e-4
    assert selection.history == ()
    assert "optimal among all subsets" in selection.certificate
    exact = select(kernel="quadratic", regularization=0, solver=BruteForce())
    assert exact.value == pytest.approx(selection.value, rel=1e-6)
    assert exact.solver == "brute-force"


def test_the_history_of_the_search_is_kept():
    selection = select(kernel=Gaussian("median"), solver=Annealing(iterations=4))
    assert selection.solver == "annealing"
    for trace in selection.history:
        assert len(trace.values) == len(trace.accepted) + 1 == 5
        assert selection.value >= trace.best - 1e-6 * abs(trace.best)
    assert selection.certificate.startswith("optimal among all subsets of at most 2 variables")


@every_kernel
def test_the_same_seed_gives_the_same_choice_on_any_number_of_threads(kernel):
    one, again, two = (select(kernel=kernel, n_jobs=n_jobs) for n_jobs in (1, 1, 2))
    for other in (again, two):
        np.testing.assert_array_equal(one.z, other.z)
        assert one.value == other.value
        assert one.history == other.history


@pytest.mark.parametrize("kernel", [Gaussian("cv"), Gaussian(), Quadratic(bandwidth="cv")])
def test_a_bandwidth_is_tuned(kernel):
    told = []
    selection = select(
        kernel=kernel,
        solver=QUICK,
        regularization=0.1,
        progress=lambda stage, detail: told.append((stage, detail)),
    )
    check(selection, 5, 2)
    assert list(dict.fromkeys(stage for stage, _ in told)) == ["tune", "select"]
    values = [
        Objective(X, Y, type(kernel)(bandwidth="median", multiplier=k), 0.1).value(selection.z)
        for k in MULTIPLIERS
    ]
    assert min(abs(value - selection.value) for value in values) < 1e-12


def test_a_fixed_bandwidth_is_not_tuned():
    told = []
    for kernel in (Gaussian("median"), Gaussian(0.8), "quadratic"):
        select(kernel=kernel, solver=QUICK, progress=lambda stage, _: told.append(stage))
    assert set(told) == {"select"}


def test_a_bandwidth_cannot_be_tuned_on_few_rows():
    few = select(X[:6], Y[:6], kernel="gaussian")
    plain = select(X[:6], Y[:6], kernel=Gaussian("median"))
    np.testing.assert_array_equal(few.z, plain.z)


@every_kernel
def test_constant_columns_get_weight_zero(kernel):
    x, y = X.copy(), Y.copy()
    x[:, 1] = y[:, 1] = 7.0
    with pytest.warns(ConstantColumnWarning, match="'x1'"):
        selection = select(x, y, 5, kernel=kernel)
    check(selection, 5, 4)
    assert selection.z[1] == 0
    assert selection.constant == ("x1",)


@every_kernel
def test_categorical_columns(kernel):
    rng = np.random.default_rng(1)
    left = pd.DataFrame({"v": rng.normal(size=50), "arm": rng.choice(["a", "b"], 50)})
    right = pd.DataFrame({"v": rng.normal(size=40), "arm": rng.choice(["b", "c"], 40)})
    assert select(left, right, 1, kernel=kernel).variables == ("arm",)


@every_kernel
@pytest.mark.parametrize("rows", [(2, 2), (2, 8), (5, 3)])
def test_tiny_samples(kernel, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(select(X[: rows[0]], Y[: rows[1]], 2, kernel=kernel), 5, 2)


@every_kernel
@pytest.mark.parametrize("n_variables", [1, 5])
def test_one_variable_and_all(kernel, n_variables):
    check(select(n_variables=n_variables, kernel=kernel), 5, n_variables)
    check(select(X[:, :1], Y[:, :1], 1, kernel=kernel), 1, 1)


@pytest.mark.parametrize("kernel", [Quadratic(), Gaussian("median")])
def test_rows_far_out(kernel):
    x, y = X.copy(), Y.copy()
    x[0, 0], y[3, 2], y[4, 2] = 1e150, -1e150, 1e150
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selection = select(x, y, kernel=kernel)
    check(selection, 5, 2)
    assert set(selection.variables) <= {"x1", "x4"}


@every_kernel
def test_heavy_tails(kernel):
    rng = np.random.default_rng(0)
    x, y = rng.standard_cauchy((2, 60, 4))
    y[:, 2] += 4.0
    selection = select(x * 1e3, y * 1e3, 1, kernel=kernel)
    assert selection.support.tolist() == [2]


@every_kernel
def test_equal_samples_duplicated_columns_and_unequal_sizes(kernel):
    check(select(X, X, kernel=kernel), 5, 2)
    check(select(np.hstack([X, X]), np.hstack([Y, Y]), 3, kernel=kernel), 10, 3)
    many = np.random.default_rng(0).normal(size=(200, 5))
    check(select(many, Y[:5], 2, kernel=kernel), 5, 2)


def test_kernels_of_ones_own():
    cube = AdditiveIndex(
        value=lambda t: (t + 1) ** 3,
        slope=lambda t: 3 * (t + 1) ** 2,
        curvature=lambda t: 6 * (t + 1),
        weight="linear",
        psi="gaussian",
        name="cube",
    )
    selection = select(kernel=cube)
    assert selection.variables == ("x1", "x4")
    assert selection.kernel == "cube"
    assert selection.upper_bound is None

    class Distance:
        """ψ(u, v) = min(|u − v|, 3)."""

        def gram(self, u, v):
            return np.minimum(np.abs(np.subtract.outer(u, v)), 3.0)

    class Own:
        """ψ of a kind with a settings of its own."""

        def __init__(self):
            self.inner = LaplaceScalar(1.0)

        def gram(self, u, v):
            return 1 - self.inner.gram(u, v)

    psi = [Distance(), Distance(), "squared-difference", Own(), Own()]
    decay = AdditiveIndex(
        value=lambda t: np.exp(-t),
        slope=lambda t: -np.exp(-t),
        curvature=lambda t: np.exp(-t),
        psi=psi,
        name="mixed",
    )
    assert set(select(kernel=decay).variables) <= {"x1", "x4"}
    with pytest.raises(InputError, match="psi must have one entry for each of the 4 columns"):
        select(X[:, :4], Y[:, :4], kernel=decay)


def test_time_limit_is_said():
    rng = np.random.default_rng(0)
    selection = select(
        rng.normal(size=(150, 40)),
        rng.normal(size=(150, 40)),
        8,
        kernel=Gaussian("median"),
        time_limit=0.01,
    )
    check(selection, 40, 8)
    assert selection.status == "time_limit"


@pytest.mark.parametrize("solver", ["brute-force", "annealing", Annealing(iterations=1)])
def test_solvers_of_the_quadratic_kernel(solver):
    check(select(kernel="quadratic", solver=solver, regularization=0.5), 5, 2)
