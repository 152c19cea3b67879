"""Sums over all pairs: what was made once is kept. Their numbers are held to in test_objective."""

import numpy as np
import pytest

from reference import make_samples
from tellapart.kernels import AdditiveIndex, GaussianScalar, Quadratic
from tellapart.statistics.pair_sums import PairSums

IDENTITY = AdditiveIndex(
    value=lambda t: t,
    slope=np.ones_like,
    curvature=np.zeros_like,
    weight="linear",
    psi="gaussian",
    name="identity",
)
POINT = np.array([0.1, 0.7, -0.4, 0.0])


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 4)), rng.normal(0.3, 1.2, size=(55, 4))


@pytest.fixture
def grams(monkeypatch):
    """Return a list that gets an entry for every Gram matrix that is made."""
    made = []

    def counted(self, u, v):
        made.append(u.shape)
        return np.exp(-0.5 * np.square(np.subtract.outer(u, v)))

    monkeypatch.setattr(GaussianScalar, "gram", counted)
    return made


def test_pair_sums_make_their_stacks_once(data, grams):
    samples = make_samples(*data)
    sums = PairSums(samples, Quadratic(1.0).fit(samples), 0.1, 10**9)
    for _ in range(3):
        sums.first_order(POINT, np.arange(4))
    assert len(grams) == 4 * len(sums._tiles)


def test_preparing_makes_the_stacks_that_are_kept(data, grams):
    samples = make_samples(*data)
    sums = PairSums(samples, IDENTITY.fit(samples), 0.1, 10**9)
    sums.prepare()
    count = len(grams)
    sums.first_order(POINT, np.arange(4))
    sums.at(0.5).first_order(POINT, np.arange(4))
    assert len(grams) == count == 4 * len(sums._tiles)
