"""The hull bound: its matrix, its relaxation, and the nodes that it bounds and shrinks."""

from dataclasses import replace
from itertools import combinations

import clarabel
import numpy as np
import pytest
from conic_oracle import hull_value
from hypothesis import given
from hypothesis import strategies as st
from instances import KINDS, examples, gram, indefinite, problem_of, scale_of, sparse_points
from scipy import sparse

from tellapart.budget import Budget, using_budget
from tellapart.strs import ShiftedFactor, SparseTrustRegion
from tellapart.strs.bounds.hull import (
    Curvature,
    HullNode,
    HullRelaxation,
    fix_variables,
    maximise_over_capped_simplex,
    rebalance,
    relax,
)
from tellapart.strs.bounds.shift import retune, tighten
from tellapart.strs.domains import Space, SpaceOrthant
from tellapart.strs.faces import SphereOrthant
from tellapart.strs.problem import polish

RNG = np.random.default_rng(0)
B = RNG.normal(size=(5, 12))
M = B.T @ B - 0.4 * np.eye(12)
FORMS = {
    "dense": Curvature(dense=M, factor=None, shift=0.0),
    "factor": Curvature(dense=None, factor=B, shift=0.4),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_both_forms_say_the_same(form):
    index = np.array([1, 4, 11])
    assert form.n_columns == 12
    np.testing.assert_allclose(form.diagonal, np.diag(M), atol=1e-13)
    np.testing.assert_allclose(form.columns(index), M[:, index], atol=1e-13)
    np.testing.assert_allclose(form.block(index), M[np.ix_(index, index)], atol=1e-13)
    np.testing.assert_allclose(form.principal(index).block(np.arange(3)), form.block(index))
    assert form.principal(np.arange(12)) is form


def test_sign_and_form_follow_the_problem():
    problem = SparseTrustRegion(ShiftedFactor(0.4, B), np.zeros(12), 3)
    dense = Curvature.of(problem)
    np.testing.assert_allclose(dense.dense, M, atol=1e-13)
    with using_budget(Budget(dense_columns=4)):
        factored = Curvature.of(problem)
        assert factored.factor is problem.factor.B
        assert factored.depth == 5
        assert factored.principal(np.arange(6)).factor.shape == (5, 6)
        np.testing.assert_allclose(factored.principal(np.arange(3)).dense, M[:3, :3], atol=1e-13)


def low_rank(rng, size):
    return gram(rng, size, 2)


@examples(9)
@given(st.sampled_from([gram, indefinite, low_rank]), st.sampled_from([1e-12, 1.0, 1e12]))
def test_lowest_shift_is_proved(make, scale):
    matrix = scale * make(np.random.default_rng(1), 30)
    lowest = Curvature(dense=matrix, factor=None, shift=0.0).lowest_shift()
    smallest = np.linalg.eigvalsh(matrix)[0]
    assert lowest < smallest
    assert lowest == pytest.approx(smallest, abs=1e-10 * np.abs(matrix).max())
    np.linalg.cholesky(matrix - lowest * np.eye(30))


def test_lowest_shift_of_a_factor():
    assert FORMS["factor"].lowest_shift() == -0.4


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("margin", [1e-6, 0.1, 10.0])
def test_complement_makes_the_whole_matrix_psd(form, margin):
    kept, others = np.array([0, 2, 3, 7]), np.array([1, 4, 5, 6, 8, 9, 10, 11])
    # No more than what is proved, and different ones.
    delta = -0.4 - 1e-12 - np.linspace(0.0, 0.2, 12) * margin
    ground, allowance = form.complement(kept, others, delta, margin)
    exact = M[np.ix_(others, others)] - np.diag(delta[others] - margin)
    exact = np.linalg.solve(exact, M[np.ix_(others, kept)])
    exact = M[np.ix_(kept, kept)] - M[np.ix_(kept, others)] @ exact
    assert np.abs(np.linalg.eigvalsh(ground - exact)).max() <= allowance
    assert allowance <= 1e-6 * (1 + 1 / margin)
    lowest = np.linalg.eigvalsh(ground)[0] - allowance
    shift = delta - margin
    shift[kept] = lowest
    eigenvalues = np.linalg.eigvalsh(M - np.diag(shift))
    assert eigenvalues[0] >= -1e-12
    # … and no more than needed: a slightly larger shift is too much.
    shift[kept] = lowest + 3 * allowance + 1e-6
    assert np.linalg.eigvalsh(M - np.diag(shift))[0] < 0


def oracle(q, gradient, hessian):
    """Return the model's best value from Clarabel, with x written out."""
    n = len(q)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    rows = sparse.csc_matrix(np.vstack([np.ones((1, n)), -np.eye(n), np.eye(n)]))
    right = np.concatenate([[q.sum()], np.zeros(n), np.ones(n)])
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * n)]
    P = sparse.csc_matrix(np.triu(-hessian))
    solver = clarabel.DefaultSolver(P, hessian @ q - gradient, rows, right, cones, settings)
    return model(np.array(solver.solve().x), q, gradient, hessian)


def model(x, q, gradient, hessian):
    return gradient @ (x - q) + 0.5 * (x - q) @ hessian @ (x - q)


@examples(40)
@given(st.integers(0, 100), st.sampled_from([1, 4, 12]), st.sampled_from([1e-10, 1.0, 1e10]))
def test_maximum_equals_clarabel(seed, rank, scale):
    rng = np.random.default_rng(seed)
    hessian, gradient = -gram(rng, 12, rank), rng.normal(size=12)
    q = rng.uniform(size=12) * (rng.uniform(size=12) < 0.6)
    x = maximise_over_capped_simplex(q, scale * gradient, scale * hessian, 1e-9 * scale)
    assert ((x >= 0) & (x <= 1)).all()
    assert x.sum() == pytest.approx(q.sum(), abs=1e-10)
    best = oracle(q, gradient, hessian)
    # With one direction of curvature steps along pairs zigzag: the limit on steps is reached.
    accuracy = 1e-3 if rank == 1 else 1e-6
    assert model(x, q, gradient, hessian) == pytest.approx(best, abs=accuracy)


def test_linear_model_goes_to_a_vertex():
    q = np.full(5, 0.4)
    gradient = np.array([1.0, 5.0, 3.0, 2.0, 4.0])
    x = maximise_over_capped_simplex(q, gradient, np.zeros((5, 5)), 1e-12)
    np.testing.assert_allclose(x, [0, 1, 0, 0, 1], atol=1e-9)


def test_ties_and_full_boxes_stay_put():
    q = np.array([0.5, 0.5, 0.0])
    flat = maximise_over_capped_simplex(q, np.ones(3), np.zeros((3, 3)), 0.0)
    np.testing.assert_array_equal(flat, q)
    full = maximise_over_capped_simplex(np.ones(3), np.arange(3.0), np.zeros((3, 3)), 0.0)
    np.testing.assert_array_equal(full, 1)


def test_input_is_left_alone():
    q, gradient = np.array([0.5, 0.5]), np.array([1.0, 0.0])
    maximise_over_capped_simplex(q, gradient, -np.eye(2), 1e-12)
    np.testing.assert_array_equal(q, 0.5)
    np.testing.assert_array_equal(gradient, [1, 0])


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


def root(problem, curvature):
    q = np.zeros(problem.n_columns)
    q[np.argsort(-np.abs(problem.a), kind="stable")[: problem.d]] = 1.0
    return HullNode(
        variables=np.arange(problem.n_columns),
        forced=np.zeros(problem.n_columns, dtype=bool),
        delta=np.full(problem.n_columns, curvature.lowest_shift()),
        q=q,
        scores=np.abs(problem.a),
        bound=np.inf,
    )


def relaxed_root(problem, cutoff=-np.inf):
    curvature = Curvature.of(problem)
    return relax_node(problem, root(problem, curvature), curvature, cutoff)


def relax_node(problem, node, curvature, cutoff=-np.inf):
    return relax(
        node,
        curvature.principal(node.variables),
        problem.a,
        problem.d,
        tolerance=1e-9 * scale_of(problem),
        cutoff=cutoff,
        stop=lambda: False,
    )


def supports_with_values(problem):
    return [
        (frozenset(support), polish(problem, np.array(support))[1])
        for support in combinations(range(problem.n_columns), problem.d)
    ]


@examples(30)
@given(st.sampled_from([kind for kind in KINDS if kind != "zero"]), st.sampled_from([1, 3]))
def test_fixing_never_gives_up_a_better_support(kind, d):
    """Cut at many levels: what contradicts the fixed variables is below the level given up."""
    problem = problem_of(kind, 8, d)
    everything = supports_with_values(problem)
    relaxed = relaxed_root(problem)
    best = max(value for _, value in everything)
    noise = 1e-12 * scale_of(problem)
    for cutoff in [best, *np.linspace(best, relaxed.node.bound, 6)]:
        node, given_up = fix_variables(relaxed, d, cutoff)
        assert given_up <= cutoff
        assert d >= node.forced.sum()
        kept, forced = set(node.variables), set(node.variables[node.forced])
        for support, value in everything:
            if not (forced <= support <= kept):
                assert value <= given_up + noise
        if not node.is_leaf(d):
            free = ~node.forced
            assert node.q[free].sum() == pytest.approx(node.picks(d))
            assert (node.q[node.forced] == 1).all()


@examples(5)
@given(st.integers(0, 100))
def test_children_split_the_points_and_their_bounds_hold(seed):
    problem = problem_of("indefinite", 8, 3, seed)
    curvature = Curvature.of(problem)
    relaxed = relax_node(problem, root(problem, curvature), curvature)
    everything = supports_with_values(problem)
    nodes = [relaxed.node]
    for position in (2, 3):
        nodes = [child for node in nodes for child in node.branch(position, problem.d)]
    for support, _ in everything:
        holders = [
            node
            for node in nodes
            if set(node.variables[node.forced]) <= support <= set(node.variables)
        ]
        assert len(holders) == 1
    for node in nodes:
        child = relax_node(problem, node, curvature)
        assert child.node.bound <= relaxed.node.bound + 1e-12
        inside = [
            value
            for support, value in everything
            if set(node.variables[node.forced]) <= support <= set(node.variables)
        ]
        assert max(inside) <= child.node.bound


def test_leaves():
    problem = problem_of("indefinite", 5, 2)
    node = relaxed_root(problem).node
    assert not node.is_leaf(2)
    first, _ = node.branch(1, 2)
    both, _ = first.branch(3, 2)
    assert both.is_leaf(2)
    assert both.picks(2) == 0
    assert both.leaf_support(2).tolist() == [1, 3]
    assert [support.tolist() for support in both.supports(2)] == [[1, 3]]
    few = node.keep(np.array([True, False, False, False, True]), node.forced, 2)
    assert few.is_leaf(2)
    assert few.leaf_support(2).tolist() == [0, 4]
    assert [support.tolist() for support in few.supports(2)] == [[0, 4]]
    assert [support.tolist() for support in first.supports(2)] == [[0, 1], [1, 2], [1, 3], [1, 4]]
    assert node.visits(2) == 10 * 3008
    assert few.visits(2) == both.visits(2) == 3008


@examples(14)
@given(st.sampled_from([kind for kind in KINDS if kind not in ("zero", "A zero")]))
def test_tightened_shift_is_valid_and_no_worse(kind):
    problem = problem_of(kind, 9, 3)
    curvature = Curvature.of(problem)
    relaxed = relax_node(problem, root(problem, curvature), curvature)
    best = max(value for _, value in supports_with_values(problem))
    scale = scale_of(problem)
    node = tighten(relaxed, 3, value=best, tolerance=1e-7 * scale, stop=lambda: False)
    assert node.shift_size == 9
    lowest = np.linalg.eigvalsh(curvature.dense - np.diag(node.delta))[0]
    assert lowest >= -1e-13 * scale
    again = relax_node(problem, node, curvature)
    assert best <= again.hull.total + 1e-14 * scale
    assert again.hull.total <= relaxed.hull.total + 1e-6 * scale


@pytest.mark.parametrize("form", ["dense", "factor"])
@pytest.mark.parametrize("kind", ["NSD", "low rank", "small linear term"])
@using_budget(Budget(shifted_columns=8))
def test_tightening_some_candidates_only(form, kind):
    """The others share one shift; the whole matrix stays PSD and the bound holds."""
    problem = problem_of(kind, 20, 3)
    eigenvalues, vectors = np.linalg.eigh(-problem.A)
    lowest = min(eigenvalues[0], 0.0) - 1e-9
    B = (vectors * np.sqrt(eigenvalues - lowest)).T
    curvature = Curvature(dense=-problem.A, factor=None, shift=0.0)
    if form == "factor":
        curvature = Curvature(dense=None, factor=B, shift=-lowest)
    relaxed = relax_node(problem, root(problem, curvature), curvature)
    value = relaxed.point.value - 0.1
    node = tighten(relaxed, 3, value=value, tolerance=1e-6, stop=lambda: False)
    assert np.linalg.eigvalsh(-problem.A - np.diag(node.delta))[0] >= -1e-10
    again = relax_node(problem, node, curvature)
    points = sparse_points(np.random.default_rng(0), 20, 3, 2000)
    values = np.einsum("ij,jk,ik->i", points, problem.A, points) + points @ problem.a
    assert values.max() <= again.hull.total


@pytest.mark.parametrize("kind", ["NSD", "low rank", "small linear term"])
@pytest.mark.parametrize("forced", [0, 2])
def test_retuning_some_variables(kind, forced):
    """The others' shifts fall by the same; the whole matrix stays PSD and the bound holds."""
    problem = problem_of(kind, 14, 5)
    curvature = Curvature.of(problem)
    first = relax_node(problem, root(problem, curvature), curvature)
    value = max(polish(problem, first.node.rounded(first.node.q, d=5))[1], 0.0)
    limits = {"value": value, "tolerance": 1e-6, "stop": lambda: False}
    node = tighten(first, 5, **limits)
    for _ in range(forced):
        node = node.branch(int(np.argmax(np.where(node.forced, -1.0, node.q))), 5)[0]
    relaxed = relax_node(problem, node, curvature)
    retuned = retune(relaxed, 5, cutoff=value, most=1, **limits)
    moved = retuned.delta - node.delta
    alike = np.isclose(moved[:, None], moved, rtol=1e-3, atol=0.0).sum(axis=0).max()
    assert alike >= 14 - (5 + node.picks(5))
    scale = scale_of(problem)
    assert np.linalg.eigvalsh(curvature.dense - np.diag(retuned.delta))[0] >= -1e-13 * scale
    again = relax_node(problem, retuned, curvature)
    best = max(
        value
        for support, value in supports_with_values(problem)
        if set(node.variables[node.forced]) <= set(support)
    )
    assert best <= again.hull.total + 1e-14 * scale


@using_budget(Budget(shifted_columns=8))
def test_more_needed_variables_than_candidates():
    """With d above the number of candidates nothing is lost, or no shift is tried."""
    for d in (10, 18):
        problem = problem_of("NSD", 30, d)
        relaxed = relaxed_root(problem)
        node = tighten(relaxed, d, value=0.0, tolerance=1e-6, stop=lambda: False)
        assert np.linalg.eigvalsh(-problem.A - np.diag(node.delta))[0] >= -1e-10
        assert np.array_equal(node.delta, relaxed.node.delta) == (d == 18)


@pytest.mark.parametrize("form", ["dense", "factor"])
@using_budget(Budget(shifted_columns=4))
def test_margin_below_rounding_error(form):
    """Without a linear term the multiplier may touch the shift: the node is kept as it is."""
    B = np.random.default_rng(0).normal(size=(2, 12))
    problem = SparseTrustRegion(-B.T @ B, np.zeros(12), 3)
    curvature = Curvature(dense=B.T @ B, factor=None, shift=0.0)
    if form == "factor":
        curvature = Curvature(dense=None, factor=B, shift=0.0)
    relaxed = relax_node(problem, replace(root(problem, curvature), delta=np.zeros(12)), curvature)
    node = tighten(relaxed, 3, value=-1.0, tolerance=1e-6, stop=lambda: False)
    assert node.shift_size == 12
    np.testing.assert_array_equal(node.delta, 0.0)


@using_budget(Budget(shifted_columns=4))
def test_complement_that_fails_leaves_the_node(monkeypatch):
    def fail(*_):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(Curvature, "complement", fail)
    relaxed = relaxed_root(problem_of("NSD", 12, 3))
    node = tighten(relaxed, 3, value=0.0, tolerance=1e-6, stop=lambda: False)
    assert node.shift_size == 12
    np.testing.assert_array_equal(node.delta, relaxed.node.delta)
