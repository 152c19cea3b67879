"""Page and figure of results without a kernel, without permutations, without variables."""

import numpy as np
import pytest

from tellapart.baselines import L1MMD, Bonferroni, StandardMMD

BASELINES = [
    StandardMMD("linear", use="held-out", random_state=0),
    Bonferroni(random_state=0),
    Bonferroni(statistic="mmd", correction="max-t", random_state=0),
    L1MMD(1, regularization=0.1, random_state=0),
]


def two_samples(shift, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(60, 4)), rng.normal(size=(70, 4)) + np.array([0, 0, shift, 0])


@pytest.mark.parametrize("baseline", BASELINES, ids=lambda baseline: baseline.call())
def test_page_and_figure_name_the_method(baseline):
    result = baseline.test(*two_samples(1.5, 0))
    page = result.to_html()
    assert result.reject
    assert f"{type(baseline).__name__}(" in page
    assert "two_sample_test(X, Y" not in page
    assert result.method.name in page
    assert result.method.validity.replace("'", "&#39;") in page
    assert "proved: no other" not in page
    assert len(result.plot().get_children()) > 1


@pytest.mark.parametrize("baseline", BASELINES, ids=lambda baseline: baseline.call())
def test_nothing_found_is_told_as_well(baseline):
    result = baseline.test(*two_samples(0.0, 3))
    assert not result.reject
    assert "No difference" in result.summary()
    assert "No difference" in result.to_html()
    assert len(result.plot().get_children()) > 1
