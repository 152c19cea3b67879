from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import KINDS, examples, problem_of, scale_of, sparse_points

from tellapart.budget import Budget, using_budget
from tellapart.strs import SparseTrustRegion
from tellapart.strs.bounds.hull import Curvature, HullNode, fix_variables, relax
from tellapart.strs.bounds.shift import tighten
from tellapart.strs.problem import polish


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
