import numpy as np
import pytest

from reproduction.methods import METHODS, Settings, contestant
from tellapart.baselines.base import Generators, Permuting
from tellapart.datasets import make_case
from tellapart.two_sample.two_sample_test import two_sample_test


@pytest.fixture(scope="module")
def samples():
    return make_case("mean-shift", 40, n_features=6, n_informative=2, tau=3.0, random_state=0)[:2]


def test_all_that_learn_split_alike(samples):
    settings = Settings(n_variables=2, seed=5)
    held_out = [
        contestant(name, settings).freeze(*samples)[1].x
        for name in ("linear-fixed", "standard-linear", "logistic", "wasserstein", "scan")
    ]
    for other in held_out[1:]:
        np.testing.assert_array_equal(other, held_out[0])


def test_freeze_and_test_agree(samples):
    settings = Settings(n_variables=2, seed=5)
    for name in ("linear", "wasserstein"):
        one = contestant(name, settings)
        fitted, held_out = one.freeze(*samples)
        null = fitted.test(held_out, Permuting(199, 0.05, np.random.default_rng(0)))
        result = one.test(*samples)
        assert null.statistic == pytest.approx(result.statistic)
        assert fitted.selection.variables == result.variables


def test_the_scan_is_the_default_call(samples):
    result = contestant("scan", Settings(n_variables=2, seed=5)).test(*samples)
    default = two_sample_test(*samples, n_permutations=199, random_state=5)
    assert (result.pvalue, result.statistic) == (default.pvalue, default.statistic)
    assert result.scan is not None
    assert result.n_test == (40, 40)


def test_the_scan_of_a_draw_is_that_of_the_test(samples):
    fitted, held_out = contestant("scan", Settings(n_variables=2, seed=5)).freeze(*samples)
    null = fitted.test(held_out, Permuting(199, 0.05, Generators.of(0).permute))
    default = two_sample_test(held_out.x, held_out.y, n_permutations=199, random_state=0)
    assert (null.pvalue, null.statistic) == (default.pvalue, default.statistic)
    assert fitted.selection.variables == ("x0", "x1")


@pytest.mark.parametrize("name", ["linear", "ks-holm-all", "wasserstein", "scan"])
def test_supports_have_the_numbers_asked_for(samples, name):
    supports = contestant(name, Settings(2, 0)).supports(*samples, numbers=(1, 3))
    assert [support.size for support in supports] == [1, 3]
    assert 0 in supports[1]


def test_families_are_known():
    assert {method.family for method in METHODS.values()} == {
        "ours",
        "standard",
        "competitor",
        "literal",
        "retired",
    }
    assert len({method.label for method in METHODS.values()}) == len(METHODS)
