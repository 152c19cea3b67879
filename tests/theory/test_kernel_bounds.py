import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellapart.errors import InputError
from tellapart.theory import KernelBounds

D, VARIABLES, C, SIGMA, RADIUS = 6, 3, 0.7, 0.8, 1.5


def sparse_direction(rng):
    z = np.zeros(D)
    z[rng.choice(D, VARIABLES, replace=False)] = rng.normal(size=VARIABLES)
    return z / np.linalg.norm(z)


def linear(z, x, y):
    return float(z @ np.exp(-((x - y) ** 2)))


def quadratic(z, x, y):
    return (linear(z, x, y) + C) ** 2


def gaussian(z, x, y):
    return float(np.exp(-np.sum((z * (x - y)) ** 2) / (2 * SIGMA**2)))


CASES = (
    (linear, KernelBounds.linear(VARIABLES)),
    (quadratic, KernelBounds.quadratic(VARIABLES, C)),
    (gaussian, KernelBounds.gaussian(SIGMA, RADIUS)),
)


@given(st.integers(0, 2**32 - 1))
def test_kernels_keep_within_their_bounds(seed):
    rng = np.random.default_rng(seed)
    z = sparse_direction(rng)
    near = z + 0.1 * rng.normal(size=D) * (z != 0)
    near /= np.linalg.norm(near)
    x, y = rng.uniform(-RADIUS, RADIUS, size=(2, D))
    for other in (near, sparse_direction(rng)):
        for kernel, bounds in CASES:
            assert abs(kernel(z, x, y)) <= bounds.largest + 1e-12
            change = abs(kernel(z, x, y) - kernel(other, x, y))
            assert change <= bounds.lipschitz * np.linalg.norm(z - other) + 1e-12


def test_regularization_below_the_limit_keeps_a_difference():
    bounds = KernelBounds.linear(2)
    assert bounds.largest_variance == pytest.approx(16)
    limit = bounds.largest_regularization(0.4)
    assert 0.4 - limit * bounds.largest_variance == pytest.approx(0)


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="n_variables"):
        KernelBounds.linear(0)
    with pytest.raises(InputError, match="c must be"):
        KernelBounds.quadratic(2, -1)
    with pytest.raises(InputError, match="radius"):
        KernelBounds.gaussian(1.0, 0.0)
