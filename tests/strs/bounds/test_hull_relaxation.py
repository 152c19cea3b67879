import numpy as np
import pytest
from conic_oracle import hull_value
from hypothesis import given
from hypothesis import strategies as st
from instances import examples, gram, indefinite, sparse_points

from tellapart.strs.bounds.hull import Curvature, HullRelaxation, rebalance
from tellapart.strs.domains import Space, SpaceOrthant
from tellapart.strs.faces import SphereOrthant

SEEDS = st.integers(0, 10**6)


def make(seed, size=10, d=3, forced=(), uniform=True, linear=1.0, matrix=indefinite):
    """Return a relaxation of a random problem and its matrix M."""
    rng = np.random.default_rng(seed)
    M = matrix(rng, size)
    delta = np.full(size, np.linalg.eigvalsh(M)[0] - 1e-9)
    if not uniform:
        # Any diagonal below this one is valid.
        delta -= rng.uniform(0, 1, size)
    mask = np.zeros(size, dtype=bool)
    mask[list(forced)] = True
    curvature = Curvature(dense=M, factor=None, shift=0.0)
    a = linear * rng.normal(size=size)
    return HullRelaxation(curvature, a, delta, mask, d - len(forced)), M, rng


def random_q(relaxation, rng):
    """Return a q with 0 ≤ q ≤ 1, the forced at 1 and the free adding up to the picks."""
    q = np.where(relaxation.forced, 1.0, 0.0)
    weights = rng.uniform(0.05, 1, relaxation.free.shape[0])
    q[relaxation.free] = relaxation.picks * weights / weights.sum()
    return rebalance(np.minimum(q, 1.0), q, relaxation.free, relaxation.picks)


def solved(relaxation, q):
    return relaxation.solve(q, tolerance=1e-10, cutoff=-np.inf, stop=lambda: False, steps=100)


@examples(40)
@given(SEEDS, st.booleans(), st.sampled_from([(), (1, 4)]), st.sampled_from([1.0, 1e-12, 1e12]))
def test_bound_holds_at_every_sparse_point(seed, uniform, forced, scale):
    relaxation, M, rng = make(seed, forced=forced, uniform=uniform)
    M = scale * M
    relaxation = HullRelaxation(
        Curvature(dense=M, factor=None, shift=0.0),
        scale * relaxation.a,
        scale * relaxation.delta,
        relaxation.forced,
        relaxation.picks,
    )
    points = sparse_points(rng, 10, 3, 3000)
    if forced:
        allowed = (points[:, relaxation.free] != 0).sum(axis=1) <= relaxation.picks
        points = points[allowed]
    values = points @ relaxation.a - np.einsum("ij,jk,ik->i", points, M, points)
    assert len(values) > 5
    for _ in range(5):
        bound = relaxation.bound(relaxation.evaluate(random_q(relaxation, rng)))
        assert (values <= bound.total).all()


@pytest.mark.parametrize("domain", [SphereOrthant(), Space(), SpaceOrthant()])
def test_other_domains(domain):
    """Valid at every sparse point of the domain, and Newton closes the gap to φ(q)."""
    for seed in range(10):
        signed, M, rng = make(seed, matrix=lambda rng, n: gram(rng, n) + 0.1 * np.eye(n))
        relaxation = HullRelaxation(
            signed.curvature, signed.a, signed.delta, signed.forced, signed.picks, domain
        )
        points = sparse_points(rng, 10, 3, 2000)
        if domain.nonnegative:
            points = np.abs(points)
        if not domain.on_sphere:
            points *= rng.exponential(size=(2000, 1))
        values = points @ relaxation.a - np.einsum("ij,jk,ik->i", points, M, points)
        point, bound = solved(relaxation, random_q(relaxation, rng))
        assert values.max() <= bound.total
        assert bound.total - point.value <= 1e-6
        assert (point.mu == 0.0) is not domain.on_sphere
        assert not domain.nonnegative or (point.z >= 0).all()


@examples(5)
@given(SEEDS)
def test_uniform_shift_gives_the_support_norm_bound(seed):
    """At the best μ of its own u the bound is κ + uᵀCu + ‖a − 2Cu‖_(d)."""
    relaxation, M, rng = make(seed, matrix=lambda rng, n: gram(rng, n))
    point, bound = solved(relaxation, random_q(relaxation, rng))
    kappa = -relaxation.delta[0]
    C = M + kappa * np.eye(10)
    u = np.zeros(10)
    u[point.support] = point.z
    g = relaxation.a - 2 * C @ u
    norm = np.linalg.norm(np.sort(np.abs(g))[-3:])
    assert bound.total == pytest.approx(kappa + u @ C @ u + norm, rel=1e-7)


@examples(12)
@given(st.integers(0, 5), st.sampled_from([(), (0, 5)]))
def test_derivatives_match_finite_differences(seed, forced):
    relaxation, _, rng = make(seed, size=8, d=4, forced=forced, uniform=False)
    q = random_q(relaxation, rng)
    point = relaxation.evaluate(q)
    gradient = point.e * point.ratio**2
    free = relaxation.free
    hessian = relaxation._hessian(point, free)
    h = 1e-5
    for column, i in enumerate(free):
        up, down = q.copy(), q.copy()
        up[i] += h
        down[i] -= h
        above, below = relaxation.evaluate(up), relaxation.evaluate(down)
        assert (above.value - below.value) / (2 * h) == pytest.approx(gradient[i], abs=1e-6)
        change = (above.e * above.ratio**2 - below.e * below.ratio**2) / (2 * h)
        np.testing.assert_allclose(change[free], hessian[:, column], atol=1e-4)
    assert np.linalg.eigvalsh(hessian)[-1] <= 1e-9


@examples(30)
@given(
    st.integers(0, 50),
    st.sampled_from([(), (2, 7)]),
    st.booleans(),
    st.sampled_from([0.05, 1.0, 30.0]),
)
def test_value_equals_clarabel(seed, forced, uniform, linear):
    relaxation, M, rng = make(seed, forced=forced, uniform=uniform, linear=linear)
    point, bound = solved(relaxation, random_q(relaxation, rng))
    C = M - np.diag(relaxation.delta)
    expected = hull_value(C, relaxation.a, relaxation.delta, relaxation.forced, relaxation.picks)
    assert bound.total == pytest.approx(expected, rel=1e-5, abs=1e-5)
    assert point.value <= bound.total
    assert point.q[relaxation.free].sum() == pytest.approx(relaxation.picks)
    assert ((point.q >= 0) & (point.q <= 1)).all()


def test_removed_variables_are_left_out():
    relaxation, M, rng = make(3)
    kept = np.array([0, 1, 3, 4, 6, 8])
    smaller = HullRelaxation(
        Curvature(dense=M, factor=None, shift=0.0).principal(kept),
        relaxation.a[kept],
        relaxation.delta[kept],
        relaxation.forced[kept],
        relaxation.picks,
    )
    _, whole = solved(relaxation, random_q(relaxation, rng))
    _, part = solved(smaller, random_q(smaller, rng))
    C = (M - np.diag(relaxation.delta))[np.ix_(kept, kept)]
    expected = hull_value(C, smaller.a, smaller.delta, smaller.forced, 3)
    assert part.total == pytest.approx(expected, rel=1e-5)
    assert part.total <= whole.total + 1e-8


def test_factor_form_gives_the_same_bound():
    rng = np.random.default_rng(0)
    B = rng.normal(size=(4, 12))
    a = rng.normal(size=12)
    forced = np.zeros(12, dtype=bool)
    q = np.full(12, 0.25)
    totals = [
        solved(HullRelaxation(curvature, a, np.full(12, -0.3), forced, 3), q)[1].total
        for curvature in (
            Curvature(dense=None, factor=B, shift=0.3),
            Curvature(dense=B.T @ B - 0.3 * np.eye(12), factor=None, shift=0.0),
        )
    ]
    assert totals[0] == pytest.approx(totals[1], rel=1e-7)


def test_no_linear_term_and_a_singular_matrix():
    """Every term may be 0: the bound is 0 up to rounding error, without a division by 0."""
    rng = np.random.default_rng(0)
    B = rng.normal(size=(3, 12))
    for curvature in (
        Curvature(dense=None, factor=B, shift=0.0),
        Curvature(dense=B.T @ B, factor=None, shift=0.0),
        Curvature(dense=np.zeros((12, 12)), factor=None, shift=0.0),
    ):
        relaxation = HullRelaxation(
            curvature, np.zeros(12), np.zeros(12), np.zeros(12, dtype=bool), 5
        )
        for q in (np.full(12, 5 / 12), np.r_[np.ones(5), np.zeros(7)]):
            bound = relaxation.bound(relaxation.evaluate(q))
            assert 0 <= bound.total <= 1e-13


def test_stops_at_the_cutoff_and_on_request():
    relaxation, _, rng = make(0)
    q = random_q(relaxation, rng)
    _, first = relaxation.solve(q, tolerance=0.0, cutoff=np.inf, stop=lambda: False)
    assert first.total == relaxation.bound(relaxation.evaluate(q)).total
    _, stopped = relaxation.solve(q, tolerance=0.0, cutoff=-np.inf, stop=lambda: True)
    assert stopped.total == first.total


@examples(40)
@given(SEEDS)
def test_rebalance_reaches_the_sum_within_the_box(seed):
    rng = np.random.default_rng(seed)
    q = rng.uniform(size=9) * (rng.uniform(size=9) < 0.7)
    free = np.sort(rng.choice(9, 6, replace=False))
    scores = rng.normal(size=9)
    for picks in range(7):
        moved = rebalance(q, scores, free, picks)
        assert moved[free].sum() == pytest.approx(picks)
        assert ((moved >= 0) & (moved <= 1)).all()
        others = np.setdiff1d(np.arange(9), free)
        np.testing.assert_array_equal(moved[others], q[others])


def test_rebalance_moves_the_most_promising():
    free = np.arange(4)
    scores = np.array([1.0, 4.0, 3.0, 2.0])
    half = np.full(4, 0.5)
    np.testing.assert_allclose(rebalance(half, scores, free, 3), [0.5, 1, 1, 0.5])
    np.testing.assert_allclose(rebalance(half, scores, free, 1), [0, 0.5, 0.5, 0])
