"""Random frequencies in place of pairs of rows: F, its derivatives and its slopes."""

import numpy as np
import pytest

from reference import make_samples
from tellapart.kernels import AdditiveIndex, Gaussian, Quadratic
from tellapart.statistics.fourier_objective import FourierObjective
from tellapart.statistics.objective import FittedObjective

RATIONAL = AdditiveIndex(
    value=lambda t: 2 / (1 + t / 2),
    slope=lambda t: -1 / (1 + t / 2) ** 2,
    curvature=lambda t: 1 / (1 + t / 2) ** 3,
)
KERNELS = [Gaussian("median"), RATIONAL]
Z = np.array([0.0, 0.6, 0.8, 0.0, 0.0])
USED = np.array([1, 2])


def data(m=500, n=450, seed=0):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(m, 5)), rng.normal(size=(n, 5))
    y[:, 2] = 0.6 * y[:, 1] + 0.8 * y[:, 2]
    y[:, 0] += 0.5
    return make_samples(x, y)


def objectives(kernel, regularization=1.0, seed=0, **rows):
    samples = data(**rows)
    fitted = kernel.fit(samples)
    drawn = FourierObjective.draw(samples, fitted, regularization, np.random.default_rng(seed))
    return FittedObjective(samples, fitted, regularization), drawn


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("regularization", [0.0, 1.0])
def test_value_and_slopes_are_close_to_those_of_all_pairs(kernel, regularization):
    exact, found = objectives(kernel, regularization)
    assert found.value(Z) == pytest.approx(exact.value(Z), rel=0.1)
    expected = exact.weight_slopes(Z)
    np.testing.assert_allclose(found.weight_slopes(Z), expected, atol=0.1 * np.abs(expected).max())


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_gradient_is_that_of_the_value_and_at_zero_the_hessian_too(kernel):
    _, found = objectives(kernel, 0.0)
    step = 1e-2
    here = found.local(Z, USED)
    sides = [[found.local(Z + sign * step * np.eye(5)[s], USED) for sign in (1, -1)] for s in USED]
    slopes = [(up.value - down.value) / (2 * step) for up, down in sides]
    bends = [(up.gradient - down.gradient) / (2 * step) for up, down in sides]
    np.testing.assert_allclose(here.gradient, slopes, rtol=0.02, atol=1e-5)
    np.testing.assert_allclose(here.hessian, bends, rtol=0.05, atol=1e-4)


def test_the_gradient_with_variance():
    _, found = objectives(Gaussian("median"), 2.0)
    step = 1e-2
    slopes = [
        (found.value(Z + step * np.eye(5)[s]) - found.value(Z - step * np.eye(5)[s])) / (2 * step)
        for s in USED
    ]
    np.testing.assert_allclose(found.local(Z, USED).gradient, slopes, rtol=0.03, atol=1e-5)


def test_the_average_over_draws_is_the_objective_of_all_pairs():
    exact, _ = objectives(Gaussian("median"))
    values = [objectives(Gaussian("median"), seed=seed)[1].value(Z) for seed in range(8)]
    assert np.mean(values) == pytest.approx(exact.value(Z), rel=0.02)


def test_some_columns_and_other_rows_keep_the_frequencies():
    _, found = objectives(Gaussian("median"))
    assert found.columns(USED).value(Z[USED]) == pytest.approx(found.value(Z), rel=1e-5)
    again = found.on(found.samples)
    assert again.value(Z) == found.value(Z)
    assert again.frequencies is found.frequencies


def test_the_size_of_blocks_does_not_matter(set_budget):
    _, found = objectives(Gaussian("median"))
    whole = found.local(Z, USED)
    set_budget(pair_block_entries=20_000)
    cut = found.local(Z, USED)
    assert cut.value == pytest.approx(whole.value, rel=1e-4)
    np.testing.assert_allclose(cut.gradient, whole.gradient, rtol=1e-3, atol=1e-6)


def test_a_value_far_out_does_no_harm():
    samples = data()
    samples.x[0, 1] = 1e12
    fitted = Gaussian("median").fit(samples)
    found = FourierObjective.draw(samples, fitted, 1.0, np.random.default_rng(0))
    assert np.isfinite(found.local(Z, USED).hessian).all()
    exact = FittedObjective(samples, fitted, 1.0)
    assert found.value(Z) == pytest.approx(exact.value(Z), rel=0.1)


def test_kernels_without_frequencies_are_told():
    samples = data(30, 30)
    rng = np.random.default_rng(0)
    assert FourierObjective.draw(samples, Quadratic().fit(samples), 1.0, rng) is None
    cosine = AdditiveIndex(np.cos, lambda t: -np.sin(t), lambda t: -np.cos(t))
    assert FourierObjective.draw(samples, cosine.fit(samples), 1.0, rng) is None
    codes = (np.arange(30) % 3)[:, None].repeat(2, axis=1)
    flags = make_samples(codes, codes, ["categorical", "numeric"])
    assert FourierObjective.draw(flags, Gaussian().fit(flags), 1.0, rng) is None
