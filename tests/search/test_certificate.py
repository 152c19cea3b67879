"""Upper bounds on F for the Gaussian and the quadratic kernel, against dense grids of weights."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tellapart.data.samples import Samples
from tellapart.kernels import Gaussian, Quadratic
from tellapart.search.bernstein import _basis, largest_value, lattice, tables
from tellapart.search.certificate import Certificate
from tellapart.search.choice import regions_of
from tellapart.search.gaussian_patches import GaussianPatches, Patch
from tellapart.selection.select_variables import select_variables
from tellapart.statistics.objective import FittedObjective
from tellapart.strs.contract import Control

NUMERIC = "numeric"


def make_samples(n_columns, n_x=13, n_y=17, seed=0, kind="plain"):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n_x, n_columns)), rng.normal(size=(n_y, n_columns))
    y[:, 0] += 0.8
    y[:, 1] += 0.7 * y[:, 2]
    kinds = [NUMERIC] * n_columns
    if kind == "outliers":
        x[0, 1], y[3, 0] = 40.0, 1e3
    elif kind == "categorical":
        x[:, 2], y[:, 2] = rng.integers(3, size=n_x), rng.integers(2, size=n_y)
        kinds[2] = "categorical"
    names = tuple(f"x{s}" for s in range(n_columns))
    return Samples(x, y, names, tuple(kinds))


def make_objective(kernel, n_columns=4, regularization=1.0, nonnegative=True, **given):
    samples = make_samples(n_columns, **given)
    return FittedObjective(samples, kernel.fit(samples), regularization, nonnegative=nonnegative)


def grid_of(size, n_columns, steps=24):
    """Points of the sphere on a grid, for every support of that size."""
    points = []
    for support in combinations(range(n_columns), size):
        exponents = lattice(size - 1, steps)[:, :size]
        block = np.zeros((exponents.shape[0], n_columns))
        block[:, support] = np.sqrt(exponents / steps)
        points.append(block)
    return np.concatenate(points)


def proved(objective, n_variables, gap=1e-4, time_limit=60.0):
    start = np.zeros(objective.samples.n_columns)
    start[0] = 1.0
    regions = regions_of(objective, n_variables)
    certificate = Certificate(
        objective, regions, n_variables, start, objective.value(start), "test"
    )
    return certificate.resume(Control(gap=gap, time_limit=time_limit))


@pytest.mark.parametrize("kind", ["plain", "outliers", "categorical"])
@pytest.mark.parametrize("multiplier", [0.3, 1.0])
def test_no_weights_of_the_gaussian_kernel_exceed_the_bound(kind, multiplier):
    objective = make_objective(Gaussian("median", multiplier), kind=kind)
    for size in (1, 2, 3):
        solution = proved(objective, size)
        best = max(objective.value(z) for z in grid_of(size, 4, steps=12))
        assert solution.status == "optimal"
        assert best <= solution.upper_bound
        # The point is at least as good as the grid, and its value is that of F.
        assert solution.value >= best - 1e-4 * abs(best)
        assert_allclose(objective.value(solution.z), solution.value)
        assert np.count_nonzero(solution.z) <= size
        assert_allclose(np.linalg.norm(solution.z), 1.0)


@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize("regularization", [0.1, 1.0])
def test_no_weights_of_the_quadratic_kernel_exceed_the_bound(nonnegative, regularization):
    objective = make_objective(
        Quadratic(), regularization=regularization, nonnegative=nonnegative, kind="categorical"
    )
    signs = [(1.0,) * 4] if nonnegative else list(product((1.0, -1.0), repeat=4))
    for size in (1, 2, 3):
        solution = proved(objective, size)
        grid = grid_of(size, 4, steps=8)
        best = max(objective.value(z * np.array(sign)) for z in grid for sign in signs)
        assert solution.status == "optimal"
        assert best <= solution.upper_bound
        assert solution.value >= best - 1e-4 * abs(best)
        assert_allclose(objective.value(solution.z), solution.value)


def test_bounds_of_patches_hold_inside_and_shrink_to_f():
    objective = make_objective(Gaussian("median", 0.5), kind="outliers")
    regions = GaussianPatches(objective)
    rng = np.random.default_rng(1)
    columns = np.array([0, 1, 3])
    centre = rng.dirichlet(np.ones(3))
    gaps = []
    for size in (1.0, 0.1, 0.01):
        corners = centre + size * (np.eye(3) - centre)
        refined = regions.refine(Patch(columns, corners), -np.inf, 0.0)
        points = np.zeros((50, 4))
        points[:, columns] = np.sqrt(rng.dirichlet(np.ones(3), size=50) @ corners)
        inside = max(objective.value(z) for z in points)
        (bound, _), *_ = refined.parts
        assert inside <= bound
        assert refined.value <= objective.value(refined.z) + 1e-12
        gaps.append(bound - inside)
    assert gaps[2] < 1e-3 * gaps[0]


def test_polynomials_are_bounded_by_their_coefficients():
    rng = np.random.default_rng(0)
    for dimension in (1, 2):
        exponents = lattice(dimension, 6)
        values = rng.normal(size=exponents.shape[0])
        form = np.full((7, 7), -np.inf)
        form[exponents[:, 1], exponents[:, 2]] = values
        fine = lattice(dimension, 60) / 60
        largest = (_basis(fine, exponents) @ values).max()
        bound = largest_value(form, 6, dimension, -np.inf, 1e-6)
        assert largest <= bound <= largest + 0.02
        known = tables(dimension, 6)
        assert_allclose(
            _basis(known.points, exponents) @ known.inverse, np.eye(values.size), atol=1e-12
        )
        # By Markov's inequality a polynomial of degree q changes by at most 2q² times the distance
        # to a point of the fine lattice, relative to its largest value.
        constants = np.abs(_basis(lattice(dimension, 120) / 120, exponents) @ known.inverse)
        assert constants.sum(axis=1).max() <= known.lebesgue


def test_a_search_that_was_stopped_goes_on():
    objective = make_objective(Gaussian("median", 0.3), n_columns=6)
    start = np.eye(6)[0]
    regions = regions_of(objective, 3)
    certificate = Certificate(objective, regions, 3, start, objective.value(start), "test")
    ticks = iter(range(1_000_000))
    first = certificate.resume(Control(time_limit=3, clock=lambda: next(ticks)))
    assert first.upper_bound is None
    assert first.status == "time_limit"
    copied = certificate.copy()
    second = copied.resume(Control(time_limit=100, clock=lambda: next(ticks)))
    third = copied.resume(Control())
    assert third.status == "optimal"
    assert certificate.upper_bound is None
    assert second.upper_bound is None or third.upper_bound <= second.upper_bound


def test_problems_beyond_the_limits_have_no_regions():
    assert regions_of(make_objective(Gaussian("median"), n_columns=31), 2) is None
    assert regions_of(make_objective(Gaussian("median"), n_columns=5), 4) is None
    samples = make_samples(4)
    assert regions_of(FittedObjective(samples, Gaussian("median").fit(samples), 1.0), 3) is not None


@pytest.mark.parametrize("kernel", ["gaussian", "quadratic"])
def test_selections_of_few_variables_are_proved(kernel):
    samples = make_samples(5, 40, 40)
    given = {"kernel": kernel, "random_state": 0}
    selection = select_variables(samples.x, samples.y, 2, **given)
    assert selection.status == "optimal"
    assert selection.value <= selection.upper_bound <= selection.value + 1e-4 * abs(selection.value)
    assert "optimal among all subsets of at most 2 variables" in selection.certificate
    assert select_variables(samples.x, samples.y, 4, **given).status == "feasible"
