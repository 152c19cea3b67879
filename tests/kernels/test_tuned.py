"""Bandwidths in units of the median rule: fixed, or left to tuning."""

import numpy as np
import pytest

from reference import make_samples
from tellapart.errors import InputError
from tellapart.kernels import AdditiveIndex, Gaussian, Linear, Quadratic
from tellapart.kernels.bandwidth import MULTIPLIERS, multipliers_to_try, with_multiplier

RNG = np.random.default_rng(0)
SAMPLES = make_samples(RNG.normal(size=(20, 3)), RNG.normal(size=(25, 3)))
OWN = AdditiveIndex(np.exp, np.exp, np.exp)


@pytest.mark.parametrize("kernel", [Gaussian, Quadratic, Linear])
def test_a_bandwidth_left_to_tuning_cannot_be_fitted(kernel):
    with pytest.raises(InputError, match="bandwidth must be a rule or a number here; got 'cv'"):
        kernel(bandwidth="cv").fit(SAMPLES)


@pytest.mark.parametrize("kernel", [Gaussian, Quadratic, Linear])
def test_what_tuning_tries(kernel):
    assert multipliers_to_try(kernel(bandwidth="cv")) == MULTIPLIERS == (0.25, 0.5, 1.0, 2.0)
    assert multipliers_to_try(kernel(bandwidth="median")) == (1.0,)
    assert multipliers_to_try(kernel(bandwidth="median", multiplier=3.0)) == (3.0,)
    assert multipliers_to_try(kernel(bandwidth="paper")) == (1.0,)


def test_none_is_tuned_and_a_number_is_not():
    assert multipliers_to_try(Gaussian()) == MULTIPLIERS
    assert multipliers_to_try(Gaussian(0.7)) == (1.0,)
    assert multipliers_to_try(OWN) == (1.0,)


def test_the_multiplier_is_kept_with_a_rule_that_can_be_fitted():
    assert with_multiplier(Gaussian(), 0.5) == Gaussian("median", 0.5)
    assert with_multiplier(Gaussian("cv"), 2.0) == Gaussian("median", 2.0)
    assert with_multiplier(Gaussian("paper"), 1.0) == Gaussian("paper")
    assert with_multiplier(Gaussian(0.7), 1.0) == Gaussian(0.7)
    assert with_multiplier(Quadratic(c=2.0, bandwidth="cv"), 0.25) == Quadratic(
        2.0, multiplier=0.25
    )
    assert with_multiplier(OWN, 0.5) is OWN


@pytest.mark.parametrize("multiplier", MULTIPLIERS)
def test_the_multiplier_scales_the_bandwidths_and_nothing_else(multiplier):
    plain, scaled = (Gaussian("median", k).fit(SAMPLES) for k in (1.0, multiplier))
    assert scaled.scalars == plain.scalars
    assert scaled.outer.variance == pytest.approx(multiplier**2 * plain.outer.variance)
    for kernel in (Linear, Quadratic):
        plain, scaled = (kernel(multiplier=k).fit(SAMPLES) for k in (1.0, multiplier))
        ratios = [
            one.bandwidth / other.bandwidth
            for one, other in zip(scaled.scalars, plain.scalars, strict=True)
        ]
        assert ratios == pytest.approx([multiplier] * 3)
    assert scaled.outer == plain.outer


@pytest.mark.parametrize("multiplier", [0.0, -1.0, np.nan, np.inf, "2", None])
@pytest.mark.parametrize("kernel", [Gaussian, Quadratic, Linear])
def test_bad_multipliers_are_refused(kernel, multiplier):
    with pytest.raises(InputError, match="multiplier must be"):
        kernel(multiplier=multiplier)
