"""The best shift per variable."""

from dataclasses import replace

import numpy as np
import pytest
from conic_oracle import perspective_sdp_value
from hypothesis import given
from hypothesis import strategies as st
from instances import examples, gram, indefinite

from tellapart.strs.bounds.hull import Curvature, HullRelaxation
from tellapart.strs.bounds.shift import ShiftProblem, _at, _cones, _newton_system, best_shift
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
    options = {"stop": lambda: False, **options}
    return best_shift(problem, delta, mu, b, tolerance=tolerance * size, scale=size, **options)


@pytest.mark.parametrize("domain", [SphereOrthant(), Space(), SpaceOrthant()])
def test_no_shift_made_for_another_domain_is_better(domain):
    for seed in range(10):
        signed = make(seed, matrix=lambda rng, n: gram(rng, n) + 0.1 * np.eye(n), linear=2.0)
        problem = replace(signed, domain=domain)
        delta, mu, b, size = start(problem)
        if not domain.on_sphere:
            delta, mu = np.full(8, np.linalg.eigvalsh(problem.matrix)[0] / 2), 0.0
        options = {"tolerance": 1e-7 * size, "scale": size, "stop": lambda: False}
        own = best_shift(problem, delta, mu, b, **options)
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
def test_infeasible_start_is_returned(level, mu):
    problem = make(0)
    delta = np.full(8, level)
    back = best_shift(problem, delta, mu, problem.a, tolerance=1e-6, scale=1.0, stop=lambda: False)
    np.testing.assert_array_equal(back, delta)


@pytest.mark.parametrize("forced", [(), (1, 3)])
@pytest.mark.parametrize("limit", [-np.inf, 0.1])
def test_newton_system_matches_finite_differences(forced, limit):
    """The merit minimised over p, as a function of (b, δ, μ, ν), has this gradient and Hessian."""
    base = make(3, size=4, forced=forced)
    problem = ShiftProblem(
        base.matrix, base.ground - 0.1 * np.eye(4), base.a, base.forced, base.picks, limit
    )
    delta, mu, b, _ = start(problem)
    nu, weight = 0.7, 3.0

    def at_best_p(x):
        p = np.full(4, 0.5) + x[:4] ** 2
        for _ in range(60):
            iterate = _at(problem, x[:4], x[:4], x[4:8], x[8], x[9], p)
            p = p - np.clip(_cones(problem, iterate, weight).newton_p, -0.3 * p, 0.3 * p)
        return _at(problem, x[:4], x[:4], x[4:8], x[8], x[9], p)

    x = np.concatenate([b, delta, [mu, nu]])
    iterate = at_best_p(x)
    gradient, hessian = _newton_system(problem, iterate, weight, _cones(problem, iterate, weight))
    hessian = np.triu(hessian) + np.triu(hessian, 1).T
    h = 1e-5
    for i in range(10):
        step = np.zeros(10)
        step[i] = h
        up, down = at_best_p(x + step), at_best_p(x - step)
        slope = (up.merit(weight) - down.merit(weight)) / (2 * h)
        assert slope == pytest.approx(gradient[i], rel=1e-4, abs=1e-5)
        gradients = [
            _newton_system(problem, end, weight, _cones(problem, end, weight))[0]
            for end in (up, down)
        ]
        change = (gradients[0] - gradients[1]) / (2 * h)
        np.testing.assert_allclose(change, hessian[i], rtol=1e-3, atol=1e-3)
