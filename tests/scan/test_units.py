"""Values in robust units: clipped, whatever their scale, and squares without what they follow."""

import numpy as np
import pytest

from tellapart.scan.cells import measure_units, robust_scale, robust_units


def test_outliers_are_clipped_and_a_spread_of_0_falls_back_to_the_deviation():
    values = np.array([0.0] * 9 + [1e6])[:, np.newaxis]
    units = robust_units(values, *robust_scale(values))
    assert np.isfinite(units).all()
    assert units.max() <= 3.5
    assert units.min() == 0


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_v_and_g_are_standardised_and_uncorrelated_at_every_scale(scale):
    values = scale * np.random.default_rng(0).normal(size=(400, 2))
    units = measure_units(values)
    c = robust_units(values, units.centre, units.half_spread)
    v = (c - units.mean) * units.scale
    g = (units.square * c + units.slope) * c + units.offset
    for part in (v, g):
        np.testing.assert_allclose(part.mean(axis=0), 0, atol=1e-9)
        np.testing.assert_allclose(part.std(axis=0), 1)
    np.testing.assert_allclose((v * g).mean(axis=0), 0, atol=1e-9)
    far = np.maximum(np.abs(v) - 1.8, 0)
    np.testing.assert_allclose(far.std(axis=0) * units.far_scale, 1)
