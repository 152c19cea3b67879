import numpy as np
from slow_oracle import TRUST_REGION_KINDS, any_trust_region, nonnegative_optimum

from tellapart.strs.faces import FaceSearch, SphereOrthant


def test_value_and_bound_of_one_support():
    for seed in range(4 * TRUST_REGION_KINDS):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(1, 6))
        A, a = any_trust_region(rng, size, seed % TRUST_REGION_KINDS)
        scale = np.abs(A).max() + np.abs(a).max()
        best = nonnegative_optimum(A, a, size, rng)
        search = FaceSearch(A, a).run()
        assert (search.point >= 0).all()
        assert abs(search.value - best) <= 1e-9 * scale
        assert best - 1e-12 * scale <= search.bound <= search.value + 1e-9 * scale


def test_a_limit_leaves_an_honest_bound():
    rng = np.random.default_rng(1)
    B = rng.normal(size=(8, 8))
    A, a = B + B.T, -np.abs(rng.normal(size=8))
    best = FaceSearch(A, a).run().value
    for limit in (1, 5, 20):
        search = FaceSearch(A, a, limit=limit).run()
        assert search.value <= best <= search.bound


def test_a_cutoff_ends_the_work_early():
    A, a = -np.eye(3), np.array([1.0, -1.0, 0.5])
    domain = SphereOrthant()
    z, value = domain.maximise(A, a)
    assert (z >= 0).all()
    assert domain.maximise(A, a, above=10.0)[1] == -np.inf
    assert value <= domain.bound(A, a, value, cutoff=10.0, error=0.0) <= 10.0
    assert domain.bound(A, a, value, cutoff=value, error=0.5) >= value + 0.5
