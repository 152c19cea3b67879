"""The sphere within z ≥ 0: the other local maximum, and the search over faces."""

import numpy as np
from slow_oracle import TRUST_REGION_KINDS, any_trust_region, nonnegative_optimum

from tellapart.strs.domains import maximise_on_sphere
from tellapart.strs.faces import FaceSearch, SphereOrthant, other_local_maximiser


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


def ascend(A, a, z):
    length = 0.2 / (np.abs(np.linalg.eigvalsh(A)).max() + np.abs(a).max())
    for _ in range(4000):
        z = z + length * (a + 2 * A @ z)
        z /= np.linalg.norm(z)
    return z


def test_is_where_ascents_end_that_miss_the_global_maximum():
    found = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(2, 6))
        B, a = rng.normal(size=(size, size)), 0.4 * rng.normal(size=size)
        A = B + B.T
        best, _ = maximise_on_sphere(A, a)
        other = other_local_maximiser(A, a)
        top = np.linalg.eigh(A)[1][:, -1]
        ends = [ascend(A, a, start) for start in (top, -top)]
        missed = [end for end in ends if np.abs(end - best).max() > 1e-3]
        if other is None:
            assert not missed
            continue
        for end in missed:
            found += 1
            np.testing.assert_allclose(end, other, atol=1e-5)
    assert found > 10


def test_hard_case_gives_the_mirror_image():
    A, a = np.diag([0.0, 1.0]), np.array([1.0, 0.0])
    best, value = maximise_on_sphere(A, a)
    other = other_local_maximiser(A, a)
    np.testing.assert_allclose(other, best * [1, -1], atol=1e-12)
    assert np.isclose(other @ A @ other + a @ other, value)


def test_none_without_a_second_maximum():
    assert other_local_maximiser(np.diag([1.0, 1.0]), np.array([0.3, 0.1])) is None
    assert other_local_maximiser(np.zeros((2, 2)), np.zeros(2)) is None
    assert other_local_maximiser(np.diag([1.0, 0.0]), np.array([0.0, 9.0])) is None
