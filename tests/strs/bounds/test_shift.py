"""The best shift per variable."""

from dataclasses import replace

import numpy as np
import pytest
from conic_oracle import perspective_sdp_value
from hypothesis import given
from hypothesis import strategies as st
from instances import examples, gram, indefinite

from tellapart.strs.bounds.hull import Curvature, HullRelaxation
from tellapart.strs.bounds.shift import ShiftProblem, _along, _Path, best_shift
from tellapart.strs.domains import Space, SpaceOrthant
from tellapart.strs.faces import SphereOrthant


def make(seed, matrix=indefinite, size=8, d=3, forced=(), linear=1.0, scale=1.0):
    rng = np.random.default_rng(seed)
    M = scale * matrix(rng, size)
    mask = np.zeros(size, dtype=bool)
    mask[list(forced)] = True
    a = scale * linear * rng.normal(size=size)
    return ShiftProblem(M, M, a, mask, d - len(forced), -np.inf)


def bound_with(problem, delta):
    curvature = Curvature(dense=problem.matrix, factor=None, shift=0.0)
    relaxation = HullRelaxation(
        curvature, problem.a, delta, problem.forced, problem.picks, problem.domain
    )
    q = np.where(problem.forced, 1.0, problem.picks / (~problem.forced).sum())
    scale = np.abs(problem.matrix).max() + np.abs(problem.a).max()
    _, bound = relaxation.solve(
        q, tolerance=1e-10 * scale, cutoff=-np.inf, stop=lambda: False, steps=100
    )
    return bound.total


def start(problem):
    """Return a strictly feasible (δ, μ, b) and the size of the numbers."""
    lowest = np.linalg.eigvalsh(problem.ground)[0]
    size = np.abs(problem.matrix).max() + np.abs(problem.a).max()
    delta = np.full(problem.a.shape[0], lowest - 0.01 * size)
    return delta, max(-lowest, problem.mu_above) + 0.5 * size, problem.a / 2, size


def shifted(problem, tolerance=1e-7, **options):
    delta, mu, b, size = start(problem)
    options = {"tolerance": lambda _: tolerance * size, "stop": lambda: False, **options}
    return best_shift(problem, delta, mu, b, scale=size, **options).delta


@pytest.mark.parametrize("domain", [SphereOrthant(), Space(), SpaceOrthant()])
def test_no_shift_made_for_another_domain_is_better(domain):
    for seed in range(10):
        signed = make(seed, matrix=lambda rng, n: gram(rng, n) + 0.1 * np.eye(n), linear=2.0)
        problem = replace(signed, domain=domain)
        delta, mu, b, size = start(problem)
        if not domain.on_sphere:
            delta, mu = np.full(8, np.linalg.eigvalsh(problem.matrix)[0] / 2), 0.0
        options = {"tolerance": lambda _, size=size: 1e-7 * size, "stop": lambda: False}
        own = best_shift(problem, delta, mu, b, scale=size, **options).delta
        assert np.linalg.eigvalsh(problem.matrix - np.diag(own))[0] >= 0
        total = bound_with(problem, own)
        assert total <= bound_with(problem, delta) + 1e-9
        other = shifted(signed)
        if domain.on_sphere or (other > 0).all():
            assert total <= bound_with(problem, other) + 1e-5


def negative_gram(rng, size):
    return -gram(rng, size)


@examples(20)
@given(
    st.integers(0, 20),
    st.sampled_from([gram, indefinite, negative_gram]),
    st.sampled_from([(), (1, 3)]),
    st.sampled_from([0.1, 2.0]),
)
def test_bound_equals_the_perspective_sdp(seed, matrix, forced, linear):
    problem = make(seed, matrix, forced=forced, linear=linear)
    delta = shifted(problem)
    assert np.linalg.eigvalsh(problem.matrix - np.diag(delta))[0] >= 0
    total = bound_with(problem, delta)
    uniform = np.full(8, np.linalg.eigvalsh(problem.matrix)[0] - 1e-12)
    assert total <= bound_with(problem, uniform) + 1e-6
    expected = perspective_sdp_value(problem.matrix, problem.a, problem.forced, problem.picks)
    assert total == pytest.approx(expected, abs=1e-4)


def test_scale_does_not_matter():
    one = shifted(make(0))
    for scale in (1e-90, 1e-12, 1e12, 1e90):
        np.testing.assert_allclose(shifted(make(0, scale=scale)) / scale, one, atol=1e-5)


def test_stopped_early_the_shift_is_still_feasible():
    problem = make(1)
    for steps in (0, 1, 5):
        delta = shifted(problem, steps=steps)
        assert np.linalg.eigvalsh(problem.matrix - np.diag(delta))[0] > 0
    unmoved = shifted(problem, stop=lambda: True)
    np.testing.assert_array_equal(unmoved, start(problem)[0])


def test_shift_respects_the_ground_and_the_limit_on_mu():
    rng = np.random.default_rng(2)
    M = indefinite(rng, 8)
    ground = M - np.diag(rng.uniform(0, 1, 8))
    problem = ShiftProblem(M, ground, rng.normal(size=8), np.zeros(8, dtype=bool), 3, 1.5)
    delta = shifted(problem)
    assert np.linalg.eigvalsh(ground - np.diag(delta))[0] > 0
    free = ShiftProblem(M, M, problem.a, problem.forced, 3, -np.inf)
    assert bound_with(problem, delta) >= bound_with(free, shifted(free)) - 1e-6


@pytest.mark.parametrize(("level", "mu"), [(100.0, 1.0), (-100.0, 100.0), (-100.0, 1.0)])
def test_infeasible_start_gives_nothing(level, mu):
    problem = make(0)
    options = {"tolerance": lambda _: 1e-6, "stop": lambda: False}
    assert best_shift(problem, np.full(8, level), mu, problem.a, scale=1.0, **options) is None


def test_the_end_has_the_bound_and_the_q_of_the_relaxation():
    for seed in range(5):
        problem = make(seed, gram, linear=2.0)
        delta, mu, b, size = start(problem)
        end = best_shift(
            problem, delta, mu, b, tolerance=lambda _: 1e-8, scale=size, stop=lambda: False
        )
        assert end.bound == pytest.approx(bound_with(problem, end.delta), abs=1e-6)
        assert end.q.sum() == pytest.approx(problem.picks, abs=1e-5)
        assert (end.q <= 1 + 1e-5).all()


@pytest.mark.parametrize("forced", [(), (1, 3)])
@pytest.mark.parametrize("limit", [-np.inf, 0.1])
@pytest.mark.parametrize("domain", [None, SphereOrthant(), Space(), SpaceOrthant()])
def test_a_full_step_makes_the_primal_point_feasible_and_linearised_products_equal(
    forced, limit, domain
):
    base = make(3, gram, size=5, forced=forced, linear=2.0)
    M = base.matrix + np.eye(5)
    problem = ShiftProblem(M, M - 0.1 * np.eye(5), base.a, base.forced, base.picks, limit)
    delta, mu, b, size = start(problem)
    if domain is not None:
        problem = replace(problem, domain=domain)
        if not domain.on_sphere:
            problem, delta, mu = replace(problem, mu_above=-np.inf), np.full(5, 0.3), 0.0
    path = _Path.begin(problem, delta, mu, b, size)
    assert path.advance()
    tau = 0.01
    assert path._factorise()
    step, primal_step = path._direction(tau, None)
    primal = _along(path.primal, 1.0, primal_step)
    slack_step = path._slack_step(step)
    # S⁻¹ times what is left of XS + ΔX S + X ΔS = τI has no symmetric part.
    for name, inverse in (("whole", path.inverse), ("ground", path.ground_inverse)):
        X, S = getattr(primal, name), getattr(path.slack, name)
        left = X @ S + getattr(path.primal, name) @ getattr(slack_step, name)
        left = (left - tau * np.eye(S.shape[0])) @ inverse
        np.testing.assert_allclose(left + left.T, 0.0, atol=1e-9 * np.abs(X).max())
    path.primal = primal
    assert path._infeasibility() < 1e-8
    if domain is None or not domain.nonnegative:
        np.testing.assert_allclose(primal.whole[:5, 5], primal.c, atol=1e-8)
