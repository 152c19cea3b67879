"""Cuts: above f at every support, exact where they claim to be; the errors of [E5] corrected."""

import numpy as np
import pytest
from cut_sources import hull_cuts, marks, supports
from held_clock import stopped_after
from hypothesis import given
from hypothesis import strategies as st
from instances import KINDS, examples, problem_of, scale_of

from tellapart.strs import SparseTrustRegion
from tellapart.strs.bounds.cuts import Cut, SdpCuts, inner_multiplier, shrink_root, support_cut
from tellapart.strs.bounds.sdp import dual_bound
from tellapart.strs.contract import Control
from tellapart.strs.domains import maximise_on_sphere
from tellapart.strs.problem import polish
from tellapart.strs.solvers.local_search import LocalSearch


def assert_valid(problem, cuts):
    slack = 1e-12 * scale_of(problem)
    for chosen in supports(problem.n_columns, problem.d):
        value = polish(problem, chosen)[1]
        q = marks(problem.n_columns, chosen)
        for cut in cuts:
            assert cut.at(q) >= value - slack


@examples(15)
@given(st.sampled_from(sorted(set(KINDS) - {"zero"})))
def test_closed_form_cuts_hold_at_every_support(kind):
    problem = problem_of(kind, 6, 3)
    source = hull_cuts(problem)
    rng = np.random.default_rng(0)
    points = [marks(6, chosen) for chosen in supports(6, 3)[::4]]
    points += [rng.dirichlet(np.ones(6)) for _ in range(3)]
    cuts = [*source.seed(), *(cut for q in points for cut in source.at(q))]
    assert_valid(problem, cuts)
    assert all((cut.weights >= 0).all() for cut in cuts)


@pytest.mark.parametrize("kind", ["PSD", "NSD", "indefinite", "no linear term", "hard case"])
def test_semidefinite_cuts_hold_at_every_support(kind):
    problem = problem_of(kind, 6, 3)
    source = SdpCuts(hull_cuts(problem), Control(), "test")
    points = [marks(6, chosen) for chosen in supports(6, 3)[::7]]
    points.append(np.full(6, 0.5))
    assert_valid(problem, [*source.seed(), *(cut for q in points for cut in source.at(q))])


@examples(48)
@given(st.sampled_from(list(KINDS)), st.sampled_from([1, 2, 4]))
def test_support_cuts_hold_everywhere_and_are_exact_at_home(kind, d):
    problem = problem_of(kind, 6, d)
    for chosen in supports(6, d)[::3]:
        cut = support_cut(problem.A, problem.a, d, chosen)
        assert_valid(problem, [cut])
        value = polish(problem, chosen)[1]
        assert cut.at(marks(6, chosen)) == pytest.approx(
            value, rel=1e-10, abs=1e-10 * scale_of(problem) + 1e-300
        )


def test_support_cuts_hold_for_smaller_supports():
    problem = problem_of("NSD, no linear term", 6, 3)
    cut = support_cut(problem.A, problem.a, 3, np.array([0, 2, 4]))
    for count in (1, 2):
        for chosen in supports(6, count):
            assert cut.at(marks(6, chosen)) >= polish(problem, chosen)[1] - 1e-12


@pytest.mark.parametrize("kind", ["NSD", "linear term dominant"])
def test_closed_form_cuts_are_exact_where_the_sphere_binds(kind):
    problem = problem_of(kind, 7, 3)
    source = hull_cuts(problem)
    for chosen in supports(7, 3)[::5]:
        q = marks(7, chosen)
        if source.exact(q):
            assert source.cut(q).at(q) == pytest.approx(polish(problem, chosen)[1], rel=1e-6)
            assert len(source.at(q)) == 2
        else:
            assert len(source.at(q)) == 3
    best = marks(7, LocalSearch().solve(problem, Control(), None).support)
    assert source.exact(best)


def test_closed_form_weights_are_the_gradient():
    problem = problem_of("NSD", 7, 3)
    source = hull_cuts(problem)
    q = np.full(7, 3 / 7)
    cut = source.cut(q)
    curvature = -problem.A + source.relaxation.delta[0] * -np.eye(7)
    point = source.relaxation.evaluate(q)
    z, mu = point.z, point.e[0]
    np.testing.assert_allclose(
        cut.weights, (problem.a - 2 * curvature @ z) ** 2 / (4 * mu), rtol=1e-6
    )
    for i in range(7):
        step = 1e-5 * marks(7, [i])
        up, down = (source.relaxation.evaluate(q + s * step).value for s in (1, -1))
        assert (up - down) / 2e-5 == pytest.approx(cut.weights[i], rel=1e-3)


def test_largest_of_a_cut():
    cut = Cut(1.0, np.array([5.0, 1.0, 3.0, 2.0]))
    forced = np.array([False, True, False, False])
    np.testing.assert_allclose(cut.largest(forced, 2), [10.0, 10.0, 10.0, 9.0])
    np.testing.assert_allclose(cut.largest(forced, 0), [2.0, 2.0, 2.0, 2.0])


def test_root_keeps_every_support_that_matters():
    problem = problem_of("NSD", 8, 3)
    start = LocalSearch().solve(problem, Control(), None)
    root = shrink_root(problem, start.value, Control(gap=1e-9))
    everything = max(polish(problem, chosen)[1] for chosen in supports(8, 3))
    assert max(root.node.bound, root.given_up) >= everything - 1e-12
    if root.relaxed is not None:
        assert root.node.variables.shape[0] <= 8


def cut_value(problem, q):
    """Return the value at q of the cut taken at q: f(q), if the cut is right."""
    return SdpCuts(hull_cuts(problem), Control(), "test").cut(q).at(q)


@pytest.mark.parametrize("kind", ["PSD", "NSD", "indefinite"])
def test_at_a_support_it_is_the_trust_region_value(kind):
    # f(q) of the printed theorem drops Z₀₀ = 1 and tr Z = 2: without them Z may be scaled, and
    # f is 0 or unbounded. It also writes t for a, whose part in the value is seen here.
    problem = problem_of(kind, 5, 2)
    for chosen in supports(5, 2)[::3]:
        q = 0.9999 * marks(5, chosen) + 0.0001 * 2 / 5
        value = polish(problem, chosen)[1]
        assert cut_value(problem, q) == pytest.approx(value, abs=0.02 * (1 + abs(value)))


@pytest.mark.parametrize(("size", "d"), [(4, 2), (6, 3), (7, 2)])
def test_multipliers_act_on_whole_rows(size, d):
    # A = 11ᵀ, a = 0, q = d/D: by symmetry Z_ij is one number b off the diagonal, and the row
    # constraint on Σ|Z_ij| gives b = (d − 1)/(D(D − 1)) and f = d. Printed, W1 + W2 ≤ diag(β)
    # makes W vanish off the diagonal; the other row constraint alone allows the larger b below,
    # so that by weak duality the printed minimum is at least 1 + √((d − 1)(D − 1)).
    problem = SparseTrustRegion(np.ones((size, size)), np.zeros(size), d)
    value = cut_value(problem, np.full(size, d / size))
    assert value == pytest.approx(d, rel=1e-5)
    b = np.sqrt((d - 1) / (size - 1)) / size
    Z = np.full((size, size), b) + (1 / size - b) * np.eye(size)
    assert np.linalg.eigvalsh(Z)[0] >= -1e-12
    assert ((Z**2).sum(axis=1) <= np.diag(Z) * d / size + 1e-12).all()
    printed = float(Z.sum())
    assert printed == pytest.approx(1 + np.sqrt((d - 1) * (size - 1)))
    assert value < printed - 0.1


def test_the_corner_of_the_dual_counts_the_trace():
    # One variable, A = −5, a = 0: f = −5. Printed, the corner is −λ₀ and the cost λ₀ + 2λ, whose
    # minimum over λ ≥ −5, λ₀ ≥ 0 is −10: no bound at all. With −λ₀ − λ the cost is λ₀′ + λ.
    A, a = np.array([[-5.0]]), np.zeros(1)
    grid = np.linspace(-5.0, 5.0, 101)
    printed = float((0.0 + 2 * grid).min())
    corrected = float((0.0 + grid).min())
    exact = maximise_on_sphere(A, a)[1]
    assert printed < exact
    assert corrected == exact
    bound = dual_bound(A, a, 1, np.zeros(1, dtype=bool), np.zeros((1, 1)))
    assert bound.sphere == pytest.approx(exact)


def test_concave_tangents():
    # f(q) ≤ f(q̂) + g(q̂)ᵀ(q − q̂) for fractional q too, each cut centred at its own q̂.
    problem = problem_of("indefinite", 5, 2)
    rng = np.random.default_rng(0)
    points = [2 * rng.dirichlet(np.full(5, 3.0)) for _ in range(4)]
    points = [np.clip(q, 0.02, 0.98) for q in points]
    source = SdpCuts(hull_cuts(problem), Control(), "test")
    cuts = [source.cut(q) for q in points]
    for own, q in zip(cuts, points, strict=True):
        for other in cuts:
            assert other.at(q) >= own.at(q) - 1e-5


def test_a_useless_answer_still_proves_something():
    problem = problem_of("indefinite", 6, 3)
    W = inner_multiplier(problem.A, problem.a, 3, np.full(6, 0.5), stopped_after(0), "test")
    bound = dual_bound(problem.A, problem.a, 3, np.zeros(6, dtype=bool), W)
    assert bound.value >= max(polish(problem, chosen)[1] for chosen in supports(6, 3))
