import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2

from tellapart.errors import InputError
from tellapart.theory import WeightedChiSquares


@pytest.mark.parametrize("freedom", [1, 2, 7, 300])
def test_equal_weights_are_a_chi_square(freedom):
    law = WeightedChiSquares(np.full(freedom, 2.5))
    for tail in (0.999999, 0.9, 0.5, 0.05, 1e-6, 1e-20):
        q = 2.5 * chi2.isf(tail, freedom)
        assert law.sf(q) == pytest.approx(tail, rel=1e-7)


@pytest.mark.parametrize("q", [0.001, 0.5, 3.0, 20.0])
def test_two_weights_agree_with_a_convolution(q):
    small = 0.01

    def density(z):
        return 2 * chi2.sf(q - small * z * z, 1) * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)

    expected = quad(density, 0, np.sqrt(q / small), limit=500)[0] + chi2.sf(q / small, 1)
    assert WeightedChiSquares(np.array([1.0, small])).sf(q) == pytest.approx(expected, rel=1e-7)


def test_many_falling_weights_agree_with_simulation():
    weights = 3 * 0.7 ** np.arange(40)
    law = WeightedChiSquares(weights)
    drawn = np.random.default_rng(0).chisquare(1, size=(200_000, 40)) @ weights
    for probability in (0.05, 0.5, 0.95, 0.999):
        share = (drawn <= law.quantile(probability)).mean()
        error = (probability * (1 - probability) / len(drawn)) ** 0.5
        assert abs(share - probability) < 4 * error


def test_quantile_and_tail_are_inverse():
    law = WeightedChiSquares(np.array([4.0, 1.0, 0.1, 0.0]))
    for probability in (1e-6, 0.3, 0.95, 1 - 1e-9):
        assert 1 - law.sf(law.quantile(probability)) == pytest.approx(probability, rel=1e-6)


def test_below_nothing_all_lies_above():
    assert WeightedChiSquares(np.ones(2)).sf(0.0) == 1.0


@pytest.mark.parametrize("weights", [[], [0.0], [1.0, -0.5], [np.nan], [[1.0]]])
def test_bad_weights_are_refused(weights):
    with pytest.raises(InputError, match="weights must be"):
        WeightedChiSquares(np.array(weights))
