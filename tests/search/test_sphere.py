"""Steps on the sphere: the right model, never downhill, and an end at a maximum."""

import numpy as np
import pytest
from small_problems import KERNELS, SIGNS_MATTER, objective, point

from tellapart.kernels import Gaussian
from tellapart.search.sphere import Peak, climb, model, pruned, tangent_model
from tellapart.statistics.objective import Objective
from tellapart.strs.contract import Control

every_kernel = pytest.mark.parametrize("kernel", KERNELS)
RNG = np.random.default_rng(0)


def printed_model(derivatives, z, proximity):
    """Return the model with the signs that the paper prints."""
    A, _ = model(derivatives, z, proximity)
    return A, derivatives.gradient + derivatives.hessian @ z - proximity * z


def counted(goal):
    """Return the objective and the values that are asked of it on supports."""
    values, local = [], goal.local

    def listening(z, variables):
        found = local(z, variables)
        values.append(found.value)
        return found

    goal.local = listening
    return goal, values


@every_kernel
@pytest.mark.parametrize("proximity", [0.0, 0.7])
def test_the_gradient_of_the_model_is_that_of_the_objective(kernel, proximity):
    """[E6] The signs printed in the paper fail here."""
    goal = objective(kernel=kernel)
    for _ in range(3):
        z = point(np.arange(8), 8, RNG)
        here = goal.derivatives(z)
        size = np.abs(here.hessian).max()
        A, a = model(here, z, proximity)
        np.testing.assert_allclose(2 * A @ z + a, here.gradient, atol=1e-13 * size)
        A, a = printed_model(here, z, proximity)
        assert np.abs(2 * A @ z + a - here.gradient).max() > 1e-3 * size


def test_the_model_is_the_expansion_with_its_penalty():
    goal = objective()
    z, y = point(np.arange(8), 8, RNG), point(np.arange(8), 8, RNG)
    here, step, proximity = goal.derivatives(z), y - z, 0.3
    expansion = here.gradient @ step + 0.5 * step @ here.hessian @ step
    expansion -= proximity / 2 * step @ step
    A, a = model(here, z, proximity)
    assert (y @ A @ y + a @ y) - (z @ A @ z + a @ z) == pytest.approx(expansion, rel=1e-12)


@every_kernel
def test_the_model_along_the_sphere_is_right_to_second_order(kernel):
    goal = objective(kernel=kernel)
    z = point(np.arange(8), 8, RNG)
    side = point(np.arange(8), 8, RNG)
    side -= (side @ z) * z
    side /= np.linalg.norm(side)
    here = goal.derivatives(z)
    for even in {goal.squares_weights, False}:
        A, a = tangent_model(here, z, 0.0, even=even)
        errors = []
        for angle in (0.02, 0.01):
            y = np.cos(angle) * z + np.sin(angle) * side
            rise = (y @ A @ y + a @ y) - (z @ A @ z + a @ z)
            errors.append(abs(goal.value(y) - here.value - rise))
        assert errors[1] < errors[0] / 5  # of third order: a half of the step, an eighth of it
    A, a = tangent_model(here, z, 0.0, even=True)
    assert -z @ A @ -z + a @ -z == pytest.approx(z @ A @ z + a @ z)


def test_the_penalty_of_the_model_along_the_sphere():
    goal = objective()
    z, y = point(np.arange(8), 8, RNG), point(np.arange(8), 8, RNG)
    here = goal.derivatives(z)
    for even in (True, False):
        changes = []
        for proximity in (0.0, 0.4):
            A, a = tangent_model(here, z, proximity, even=even)
            changes.append((y @ A @ y + a @ y) - (z @ A @ z + a @ z))
        assert changes[0] - changes[1] == pytest.approx(0.2 * np.square(y - z).sum())


@every_kernel
@pytest.mark.parametrize("regularization", [0.0, 0.5])
@pytest.mark.parametrize("kind", ["shift", "pair", "null"])
def test_a_climb_ends_at_a_maximum_of_its_support(kernel, regularization, kind):
    goal = objective(kind, kernel, regularization, seed=3)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        support = np.sort(rng.choice(8, 4, replace=False))
        z = point(support, 8, rng)
        peak = climb(goal, z)
        assert peak.value >= goal.value(z)
        assert peak.value == pytest.approx(goal.value(peak.z), abs=1e-13)
        assert np.linalg.norm(peak.z) == pytest.approx(1.0)
        assert set(peak.support) <= set(support)
        # First and second order on the sphere, in units of the Hessian.
        here, y = goal.local(peak.z, support), peak.z[support]
        size = np.abs(here.hessian).max()
        normal = np.eye(4) - np.outer(y, y)
        assert np.linalg.norm(normal @ here.gradient) < 1e-3 * size
        bends = normal @ (here.hessian - (here.gradient @ y) * np.eye(4)) @ normal
        assert np.linalg.eigvalsh(bends).max() < 1e-3 * size


@pytest.mark.parametrize("regularization", [0.0, 0.5])
def test_a_climb_takes_few_steps(regularization):
    """The plain model promises most at −z where F is even, and 50 steps lead nowhere."""
    goal, values = counted(objective("pair", regularization=regularization, seed=5))
    rng = np.random.default_rng(0)
    starts = [point(rng.choice(8, 3, replace=False), 8, rng) for _ in range(20)]
    for z in starts:
        climb(goal, z)
    assert len(values) / len(starts) < 12


def test_a_climb_keeps_the_best_value_it_saw():
    goal, values = counted(objective("signs", "quadratic"))
    for seed in range(5):
        values.clear()
        peak = climb(goal, point(np.arange(5), 8, np.random.default_rng(seed)))
        assert peak.value == max(values)


def test_only_the_support_moves():
    goal = objective()
    z = np.zeros(8)
    z[2] = 1.0
    assert climb(goal, z).support.tolist() == [2]
    peak = climb(goal, z, support=np.array([1, 2, 6]))
    assert set(peak.support) <= {1, 2, 6}
    assert peak.value >= goal.value(z)


def test_a_climb_gives_up_where_there_is_nothing_to_win():
    goal, values = counted(objective())
    z = point(np.arange(4), 8, np.random.default_rng(0))
    everything = climb(goal, z)
    full = len(values)
    values.clear()
    assert climb(goal, z, to_beat=10.0).value < everything.value
    assert len(values) == 1 < full
    assert climb(goal, z, to_beat=goal.value(z)).value == pytest.approx(everything.value)


def test_steps_and_time_end_a_climb():
    goal = objective()
    z = point(np.arange(4), 8, np.random.default_rng(0))
    late = Control(time_limit=1e-9)
    for peak in (climb(goal, z, most_steps=0), climb(goal, z, control=late)):
        np.testing.assert_array_equal(peak.z, z)
        assert peak.value == pytest.approx(goal.value(z), abs=1e-14)
    assert climb(goal, z, most_steps=1).value >= goal.value(z)


def test_a_flat_objective_is_left_where_it_stands():
    goal = objective()
    x = goal.samples.x

    same = Objective(x, x, Gaussian(), 0.5)  # σ² = 0 and MMD²_u < 0 everywhere
    peak = climb(same, point(np.arange(3), 8, np.random.default_rng(0)))
    assert np.isfinite(peak.value)
    assert peak.value < 0


def feasible_start(size, rng):
    return np.abs(point(np.arange(size), size, rng))


@pytest.mark.parametrize("kernel", SIGNS_MATTER)
@pytest.mark.parametrize("regularization", [0.0, 0.05, 0.5])
@pytest.mark.parametrize("kind", ["shift", "null"])
def test_a_climb_within_the_orthant_ends_at_a_maximum_there(kernel, regularization, kind):
    goal = objective(kind, kernel, regularization, nonnegative=True)
    for seed in range(4):
        z = feasible_start(8, np.random.default_rng(seed))
        peak = climb(goal, z)
        assert (peak.z >= 0).all()
        assert np.linalg.norm(peak.z) == pytest.approx(1.0)
        assert peak.value == pytest.approx(goal.value(peak.z), abs=1e-12)
        assert peak.value >= goal.value(z)
        # No slope along the sphere, but down where z_s = 0.
        gradient = goal.gradient(peak.z)
        along = gradient - (gradient @ peak.z) * peak.z
        size = np.abs(gradient).max()
        assert np.abs(along[peak.support]).max() < 1e-3 * size
        assert along[peak.z == 0].max(initial=0.0) < 1e-3 * size


@pytest.mark.parametrize("kernel", SIGNS_MATTER)
def test_a_weight_that_would_be_negative_leaves_the_support(kernel):
    goal = objective("shift", kernel, 0.5)
    z = feasible_start(8, np.random.default_rng(0))
    assert (climb(goal, z).z < 0).any()
    goal.nonnegative = True
    peak = climb(goal, z)
    assert 1 <= peak.support.size < 8
    assert (peak.z[peak.support] > 0).all()


@pytest.mark.parametrize("kernel", ["gaussian", "rational"])
def test_where_only_squares_count_no_climb_changes(kernel):
    z = point(np.arange(4), 8, np.random.default_rng(0))
    one, other = (climb(objective(kernel=kernel, nonnegative=flag), z) for flag in (False, True))
    np.testing.assert_array_equal(one.z, other.z)


def test_variables_without_effect_are_pruned():
    goal = objective("shift", "gaussian", 0.0)
    peak = climb(goal, np.eye(8)[0])
    noisy = peak.z + 1e-5 * np.eye(8)[4]
    noisy /= np.linalg.norm(noisy)
    found = pruned(goal, Peak(noisy, goal.value(noisy)), Control())
    assert found.support.tolist() == [0]
    whole = Peak(np.full(8, 8**-0.5), goal.value(np.full(8, 8**-0.5)))
    assert pruned(goal, whole, Control()) is whole
