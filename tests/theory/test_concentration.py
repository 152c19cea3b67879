import numpy as np
import pytest

from tellapart.errors import InputError
from tellapart.statistics.mmd import mmd2, variance
from tellapart.theory import (
    ExampleOne,
    KernelBounds,
    UniformBounds,
    hoeffding_power,
    hoeffding_threshold,
    training_rows,
)


def grams(rng, n, spread=1.7, times=1.0):
    x, y = rng.normal(size=n), spread * rng.normal(size=n)

    def gram(u, v):
        return times * np.exp(-(np.subtract.outer(u, v) ** 2) / 2.6)

    return gram(x, x), gram(y, y), gram(x, y)


def test_bounds_hold_for_one_column():
    """D = d = 1: z = ±1, and the linear kernel is one Gaussian kernel."""
    example, n = ExampleOne(1.3**0.5, 0.7), 100
    uniform = UniformBounds(KernelBounds.linear(1), 1, 1, delta=0.05)
    rng = np.random.default_rng(0)
    for _ in range(50):
        kxx, kyy, kxy = grams(rng, n)
        assert abs(mmd2(kxx, kyy, kxy, "paired") - example.mmd2) <= uniform.mmd2(n)
        assert abs(variance(kxx, kyy, kxy, "paired") - example.sigma2) <= uniform.sigma2(n)


def test_the_printed_bound_on_the_variance_fails_for_a_large_kernel():
    """7√A without M² stays as it is while σ̂² − σ² grows like M²."""
    times, n = 3e4, 100
    example = ExampleOne(1.3**0.5, 0.7)
    kxx, kyy, kxy = grams(np.random.default_rng(0), n, times=times)
    off = abs(variance(kxx, kyy, kxy, "paired") - times**2 * example.sigma2)
    uniform = UniformBounds(KernelBounds(times, 0.0), 1, 1)
    printed_first_term = 64 / n**0.5 * 7 * uniform._cover(n)
    assert printed_first_term < off <= uniform.sigma2(n)


def test_bounds_scale_as_they_must():
    small = UniformBounds(KernelBounds(1.0, 1.0), 30, 3)
    large = UniformBounds(KernelBounds(5.0, 5.0), 30, 3)
    assert large.mmd2(200) == pytest.approx(5 * small.mmd2(200))
    assert large.sigma2(200) == pytest.approx(25 * small.sigma2(200))


def test_training_rows_are_the_fewest_that_suffice():
    uniform = UniformBounds(KernelBounds.linear(3), 100, 3)
    n = training_rows(uniform, separation=0.3, regularization=0.01)
    assert 2 * uniform.objective(n, 0.01) < 0.3 <= 2 * uniform.objective(n - 1, 0.01)


def test_training_rows_grow_with_the_logarithm_of_the_columns():
    rows = [
        training_rows(UniformBounds(KernelBounds.linear(2), big, 2), 0.5)
        for big in (10, 100, 1000, 10_000)
    ]
    steps = np.diff(rows)
    assert steps.max() < 1.3 * steps.min()


def test_hoeffding_bounds_hold():
    n, rng = 300, np.random.default_rng(2)
    threshold = hoeffding_threshold(n, 0.05)
    null = [mmd2(*grams(rng, n, spread=1.0), "paired") for _ in range(100)]
    assert np.mean(np.array(null) > threshold) <= 0.05
    example = ExampleOne(1.3**0.5, 1.5)
    # A threshold low enough for the bound to promise anything.
    promised = hoeffding_power(example.mmd2, -0.2, n)
    seen = [mmd2(*grams(rng, n, spread=2.5), "paired") > -0.2 for _ in range(100)]
    assert 0 < promised <= np.mean(seen)
    assert hoeffding_power(0.1, 0.2, n) == 0.0


def test_bad_input_is_refused():
    with pytest.raises(InputError, match=r"n_variables must be an integer in 1\.\.3"):
        UniformBounds(KernelBounds.linear(4), 3, 4)
    with pytest.raises(InputError, match="separation"):
        training_rows(UniformBounds(KernelBounds.linear(1), 3, 1), 0.0)
    with pytest.raises(InputError, match="alpha"):
        hoeffding_threshold(10, 0.0)
