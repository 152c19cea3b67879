import tracemalloc

import numpy as np
import pandas as pd
import pytest

from reference import make_samples
from tellapart.errors import InputError
from tellapart.kernels import AdditiveIndex, Gaussian, Linear, Quadratic
from tellapart.statistics.mmd import mmd2, variance
from tellapart.statistics.objective import FittedObjective, Objective

RATIONAL = AdditiveIndex(
    value=lambda t: 1 / (1 + t / 2),
    slope=lambda t: -0.5 / (1 + t / 2) ** 2,
    curvature=lambda t: 0.5 / (1 + t / 2) ** 3,
)
IDENTITY = AdditiveIndex(
    value=lambda t: t,
    slope=np.ones_like,
    curvature=np.zeros_like,
    weight="linear",
    psi="gaussian",
    name="identity",
)
KERNELS = {
    "linear": Linear(),
    "laplace": Linear("laplace"),
    "quadratic": Quadratic(),
    "quadratic, mixed": Quadratic(0.3, ["laplace", "gaussian", "gaussian", "laplace"]),
    "gaussian": Gaussian(),
    "gaussian, narrow": Gaussian(0.5),
    "gaussian, paper": Gaussian("paper"),
    "rational quadratic": RATIONAL,
    "identity": IDENTITY,
}
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values())
# The last entry is 0: there z² has no slope, and the Hessian must still be right.
POINT = np.array([0.1, 0.7, -0.4, 0.0])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 4)), rng.normal(0.3, 1.2, size=(55, 4))


def with_a_constant_and_codes(data):
    """Return tables of one categorical column, one constant and one numeric."""
    rng = np.random.default_rng(1)
    return tuple(
        pd.DataFrame(
            {
                "kind": rng.choice(["a", "b", "c"], len(part)),
                "same": np.full(len(part), 3.0),
                "size": part[:, 0],
            }
        )
        for part in data
    )


def naive(objective, z):
    samples, gram = objective.samples, objective.kernel.gram
    pairs = ((samples.x, samples.x), (samples.y, samples.y), (samples.x, samples.y))
    grams = [gram(u, v, z) for u, v in pairs]
    return mmd2(*grams) - objective.regularization * variance(*grams)


def differences(function, z, step=1e-4):
    shifts = step * np.eye(z.shape[0])
    return np.array([(function(z + e) - function(z - e)) / (2 * step) for e in shifts])


@every_kernel
@pytest.mark.parametrize("regularization", [0.0, 0.8])
def test_value_is_mmd2_minus_the_weighted_variance(data, kernel, regularization):
    objective = Objective(*data, kernel, regularization)
    assert objective.value(POINT) == pytest.approx(naive(objective, POINT), abs=1e-13)


@every_kernel
@pytest.mark.parametrize("regularization", [0.0, 0.8])
def test_gradient_and_hessian_are_the_derivatives(data, kernel, regularization):
    objective = Objective(*data, kernel, regularization)
    slopes = differences(objective.value, POINT)
    bends = differences(objective.gradient, POINT)
    np.testing.assert_allclose(objective.gradient(POINT), slopes, atol=1e-6 * np.abs(slopes).max())
    np.testing.assert_allclose(objective.hessian(POINT), bends, atol=1e-6 * np.abs(bends).max())


@every_kernel
def test_all_at_once_and_restricted_are_the_same(data, kernel):
    objective = Objective(*data, kernel, 0.8)
    hessian, chosen = objective.hessian(POINT), np.array([3, 1])
    together = objective.derivatives(POINT)
    assert together.value == pytest.approx(objective.value(POINT), abs=1e-15)
    np.testing.assert_allclose(together.gradient, objective.gradient(POINT), atol=1e-15)
    part = hessian[np.ix_(chosen, chosen)]
    np.testing.assert_allclose(objective.local(POINT, chosen).hessian, part, atol=1e-14)
    np.testing.assert_allclose(objective.hessian(POINT, variables=[3, 1]), part, atol=1e-14)
    np.testing.assert_array_equal(hessian, hessian.T)
    assert objective.hessian(POINT, variables=[]).shape == (0, 0)


@every_kernel
def test_restricted_to_candidates_the_kernel_stays_as_it_was(data, kernel):
    objective = Objective(*data, kernel, 0.8)
    chosen = [2, 1]
    z = np.zeros(4)
    z[chosen] = [-0.4, 0.7]
    part = objective.columns(chosen)
    assert part.value(z[chosen]) == pytest.approx(objective.value(z), abs=1e-13)
    np.testing.assert_allclose(part.gradient(z[chosen]), objective.gradient(z)[chosen], atol=1e-13)
    bends = objective.hessian(z, variables=chosen)
    np.testing.assert_allclose(part.hessian(z[chosen]), bends, atol=1e-13)


def test_the_general_way_agrees_with_the_coefficients_of_the_linear_kernel(data):
    fast, general = Objective(*data, Linear(), 0.8), Objective(*data, IDENTITY, 0.8)
    assert general.value(POINT) == pytest.approx(fast.value(POINT), abs=1e-13)
    np.testing.assert_allclose(general.gradient(POINT), fast.gradient(POINT), atol=1e-13)
    np.testing.assert_allclose(general.hessian(POINT), fast.hessian(POINT), atol=1e-13)
    np.testing.assert_allclose(general.weight_slopes(POINT), fast.weight_slopes(POINT), atol=1e-13)


@pytest.mark.parametrize("kernel", [Quadratic(), Gaussian()])
def test_the_memory_budget_changes_nothing(kernel):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(130, 40)), rng.normal(0.1, 1.1, size=(97, 40))
    z = np.where(np.arange(40) % 3 == 0, 0.25, 0.0)
    ample, scarce = (Objective(x, y, kernel, memory_budget=b) for b in (10**9, 10**6))
    assert scarce.value(z) == pytest.approx(ample.value(z), abs=1e-14)
    for variables in (np.arange(40), np.array([0, 7, 39])):
        first, second = ample.local(z, variables), scarce.local(z, variables)
        np.testing.assert_allclose(second.gradient, first.gradient, rtol=1e-9, atol=1e-14)
        np.testing.assert_allclose(second.hessian, first.hessian, rtol=1e-9, atol=1e-13)
    bends = scarce.hessian(z, variables=[0, 7, 39])
    np.testing.assert_allclose(bends, second.hessian, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("budget", [10**6, 10**7])
def test_memory_stays_within_the_budget(budget):
    rng = np.random.default_rng(3)
    samples = make_samples(rng.normal(size=(200, 60)), rng.normal(size=(200, 60)))
    kernel, z = Quadratic(1.0).fit(samples), np.full(60, 0.1)
    objective = FittedObjective(samples, kernel, 0.1, memory_budget=budget)
    objective.value(z)
    tracemalloc.start()
    objective.derivatives(z)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # All pairs of all columns take 39 MB; the Jacobian and its centred copies come on top.
    assert peak < budget + 3 * 8 * 60 * 400


@pytest.mark.parametrize("kernel", [Quadratic(), Gaussian(), RATIONAL])
def test_constant_columns_have_no_effect_and_categorical_ones_do(data, kernel):
    objective = Objective(*with_a_constant_and_codes(data), kernel, 0.8)
    assert objective.samples.kinds == ("categorical", "numeric", "numeric")
    z = np.array([0.6, 0.5, -0.4])
    assert objective.value(z) == pytest.approx(naive(objective, z), abs=1e-13)
    assert objective.value(z) == objective.value(z * [1, 0, 1])
    gradient, hessian = objective.gradient(z), objective.hessian(z)
    assert gradient[1] == 0
    assert gradient[0] != 0
    np.testing.assert_array_equal(hessian[1], 0.0)
    np.testing.assert_array_equal(objective.hessian(z, variables=[1]), [[0.0]])
    np.testing.assert_allclose(gradient, differences(objective.value, z), atol=1e-7)
    np.testing.assert_allclose(hessian, differences(objective.gradient, z), atol=1e-7)


def test_columns_that_are_all_constant(data):
    x, y = np.ones((5, 2)), np.ones((6, 2))
    objective = Objective(x, y, Gaussian())
    z = np.array([0.6, 0.8])
    assert objective.value(z) == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_array_equal(objective.gradient(z), 0.0)
    np.testing.assert_array_equal(objective.hessian(z), np.zeros((2, 2)))


def test_slopes_of_the_weights_tell_of_unused_variables(data):
    # With ω = z² the gradient is blind at z_s = 0.
    objective = Objective(*data, Gaussian(), 0.8)
    assert objective.gradient(POINT)[3] == 0
    slopes = objective.weight_slopes(POINT)
    np.testing.assert_allclose(2 * POINT * slopes, objective.gradient(POINT), atol=1e-15)
    nudged = np.array([*POINT[:3], 1e-3])
    gain = (objective.value(nudged) - objective.value(POINT)) / 1e-6
    assert slopes[3] == pytest.approx(gain, rel=1e-3)


def test_the_kernel_may_be_far_from_the_data():
    # Heavy tails: differences beyond the range of a float leave no NaN.
    x, y = np.array([[0.0], [1.0], [2.0], [1e149]]), np.array([[0.5], [1.5], [-1e149], [3.0]])
    objective = Objective(x, y, Gaussian())
    z = np.array([1.0])
    assert np.isfinite([objective.value(z), *objective.gradient(z), *objective.hessian(z)[0]]).all()


def test_bad_arguments_are_refused(data):
    with pytest.raises(InputError, match="regularization"):
        Objective(*data, regularization=-1)
    with pytest.raises(InputError, match="kernel must be one of"):
        Objective(*data, kernel="cubic")
    with pytest.raises(InputError, match="memory_budget must be an integer of at least 1000000"):
        Objective(*data, memory_budget=10)
    for kernel in (Linear(), Gaussian()):
        objective = Objective(*data, kernel)
        for bad in ([1.0, 2.0], [[1.0] * 4], [np.nan, 0, 0, 0], "z"):
            for method in (objective.value, objective.gradient, objective.hessian):
                with pytest.raises(InputError, match="z must be a vector of 4 finite numbers"):
                    method(bad)
        for bad in ([4], [-1], [1, 1], [0.5], [[1]], 2):
            with pytest.raises(InputError, match=r"variables must be distinct integers in 0\.\.3"):
                objective.hessian(POINT, variables=bad)


def test_a_kernel_that_is_not_finite_on_the_samples_is_named(data):
    logarithm = AdditiveIndex(
        value=np.log, slope=lambda t: 1 / t, curvature=lambda t: -1 / t**2, name="logarithm"
    )
    objective = Objective(*data, logarithm)
    with (
        np.errstate(all="ignore"),
        pytest.raises(InputError, match="kernel 'logarithm' must be finite on the samples"),
    ):
        objective.value(POINT)


@every_kernel
@pytest.mark.parametrize("regularization", [0.0, 0.8])
def test_derivatives_in_the_weights(data, kernel, regularization):
    objective = Objective(*data, kernel, regularization)
    found = objective.in_weights(POINT)
    assert found.value == pytest.approx(objective.value(POINT), abs=1e-14)
    np.testing.assert_allclose(found.gradient, objective.weight_slopes(POINT), atol=1e-13)
    # The chain rule through ω leads from these to the derivatives in z.
    if objective.squares_weights:
        slope, bend = 2 * POINT, 2 * found.gradient
    else:
        slope, bend = np.ones(4), np.zeros(4)
    np.testing.assert_allclose(objective.gradient(POINT), slope * found.gradient, atol=1e-13)
    hessian = np.outer(slope, slope) * found.hessian + np.diag(bend)
    np.testing.assert_allclose(objective.hessian(POINT), hessian, atol=1e-12)
    part = objective.in_weights(POINT, np.array([3, 1]))
    np.testing.assert_allclose(part.gradient, found.gradient[[3, 1]], atol=1e-13)
    np.testing.assert_allclose(part.hessian, found.hessian[np.ix_([3, 1], [3, 1])], atol=1e-12)


@every_kernel
def test_on_a_support_only_what_is_asked_for_is_returned(data, kernel):
    objective = Objective(*data, kernel, 0.8)
    for variables in ([3, 1], [0, 1, 2, 3], []):
        chosen = np.array(variables, dtype=int)
        found = objective.local(POINT, chosen)
        assert found.value == pytest.approx(objective.value(POINT), abs=1e-14)
        np.testing.assert_allclose(found.gradient, objective.gradient(POINT)[chosen], atol=1e-13)
        hessian = objective.hessian(POINT)[np.ix_(chosen, chosen)]
        np.testing.assert_allclose(found.hessian, hessian, atol=1e-12)


@every_kernel
def test_another_regularization_is_another_objective(data, kernel):
    cheap = Objective(*data, kernel, 0.0)
    cheap.prepare()
    dear, direct = cheap.at(0.8), Objective(*data, kernel, 0.8)
    assert (cheap.regularization, dear.regularization) == (0.0, 0.8)
    assert dear.value(POINT) == pytest.approx(direct.value(POINT), abs=1e-14)
    np.testing.assert_allclose(dear.hessian(POINT), direct.hessian(POINT), atol=1e-13)
    assert cheap.value(POINT) == pytest.approx(naive(cheap, POINT), abs=1e-13)


def test_where_the_signs_of_z_say_nothing(data):
    for kernel, squares in ((Gaussian(), True), (RATIONAL, True), (Quadratic(), False)):
        objective = Objective(*data, kernel)
        assert objective.squares_weights == squares
        same = objective.value(np.abs(POINT)) == pytest.approx(objective.value(POINT), abs=1e-14)
        assert same == squares
        weights = objective.weights(POINT)
        np.testing.assert_allclose(weights, POINT**2 if squares else POINT)
    linear = Objective(*data)
    assert not linear.squares_weights
    assert linear.quadratic_form() is None
    np.testing.assert_array_equal(linear.weights(POINT), POINT)


@pytest.mark.parametrize("budget", [10**6, 10**7])
def test_memory_of_the_opened_squares_stays_within_the_budget(budget):
    rng = np.random.default_rng(3)
    samples = make_samples(rng.normal(size=(400, 80)), rng.normal(size=(400, 80)))
    objective = FittedObjective(samples, Gaussian().fit(samples), 0.1, memory_budget=budget)
    z = np.full(80, 80**-0.5)
    objective.value(z)
    tracemalloc.start()
    objective.in_weights(z)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # All products of two columns take 21 MB; the sums per row and their copies come on top.
    assert peak < budget + 8 * 8 * 80 * 800


@every_kernel
def test_the_wish_for_nonnegative_weights_travels_with_the_objective(kernel):
    rng = np.random.default_rng(0)
    samples = make_samples(rng.normal(size=(20, 4)), rng.normal(size=(25, 4)))
    fitted = kernel.fit(samples)
    plain = FittedObjective(samples, fitted, 0.1)
    upright = FittedObjective(samples, fitted, 0.1, nonnegative=True)
    for goal, flag in ((plain, False), (upright, True)):
        others = (goal.columns(np.arange(2)), goal.at(0.5), goal.on(samples))
        assert all(other.nonnegative is flag for other in others)
        assert goal.within_orthant == (flag and not goal.squares_weights)
        assert goal.signed == (not flag and not goal.squares_weights)
        size = np.abs(POINT) if goal.signed else POINT
        np.testing.assert_array_equal(goal.lift(POINT), size)
    assert plain.value(POINT) == upright.value(POINT)
