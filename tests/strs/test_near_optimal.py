"""All near-optimal supports: equal to enumeration, and honest where the budget ends."""

import numpy as np
import pytest
from instances import gram

from bench_near_optimal import cases, disagreement, enumerate_values
from tellapart.errors import InputError
from tellapart.strs import SparseRatio, SparseTrustRegion, near_optimal, next_best, solve
from tellapart.strs.contract import Control
from tellapart.strs.near_optimal import collect, exchange_groups


def check(count, seed):
    for case in cases(count, seed):
        near = case.answer()
        assert not disagreement(case, near), case.name


def test_equal_to_enumeration():
    check(100, seed=1)


@pytest.mark.long
def test_equal_to_enumeration_on_many_problems():
    check(1_000, seed=2)


@pytest.fixture(scope="module")
def regression():
    """Columns 0 to 2 are nearly the same one; 3 is another; the rest is noise."""
    rng = np.random.default_rng(5)
    shared = rng.normal(size=300)
    X = rng.normal(size=(300, 12))
    X[:, :3] = shared[:, None] + 0.05 * X[:, :3]
    y = shared + X[:, 3]
    return SparseRatio(X.T @ X / 300, X.T @ y / 300, 3)


def test_what_substitutes_and_what_is_in_all(regression):
    near = near_optimal(regression, within=0.02)
    assert near.complete
    assert near.reach == 0.02
    assert {tuple(s.tolist()) for s in near.supports} == {(0, 3), (1, 3), (2, 3)}
    assert near.in_all.tolist() == [3]
    assert near.in_none.tolist() == list(range(4, 12))
    assert [sorted(group.tolist()) for group in near.groups] == [[0, 1, 2]]
    assert (np.diff(near.values) <= 0).all()


def test_a_wider_distance_lists_what_the_enumeration_has(regression):
    values = enumerate_values(regression)
    for within in (0.001, 0.3):
        near = near_optimal(regression, within=within)
        reached = {s for s, value in values.items() if value >= near.threshold}
        listed = [frozenset(support.tolist()) for support in near.supports]
        assert reached == {s for s in values if any(each <= s for each in listed)}


def test_sparse_principal_components_go_on_with_semidefinite_bounds():
    problem = SparseTrustRegion(gram(np.random.default_rng(0), 14), np.zeros(14), 4)
    near = near_optimal(problem, within=0.03)
    assert near.complete
    values = enumerate_values(problem)
    eigenvalues = {s: np.linalg.eigvalsh(problem.A[np.ix_(list(s), list(s))])[-1] for s in values}
    reached = {s for s, value in eigenvalues.items() if value >= near.threshold}
    listed = [frozenset(support.tolist()) for support in near.supports]
    assert reached == {s for s in values if any(each <= s for each in listed)}


def test_room_for_few(regression):
    near = near_optimal(regression, within=0.3, most=2)
    assert len(near.supports) == 2
    assert not near.complete
    assert near.reach is None or near.reach < 0.3
    # What is said to be complete is.
    for support, value in enumerate_values(regression).items():
        is_listed = any(set(each.tolist()) <= support for each in near.supports)
        assert is_listed or value <= near.upper_bound


def test_no_time():
    rng = np.random.default_rng(1)
    problem = SparseTrustRegion(-gram(rng, 40, 10), rng.normal(size=40), 8)
    near = near_optimal(problem, within=0.2, best=solve(problem), time_limit=1e-9)
    assert not near.complete
    assert near.reach is None or near.reach < 0.2
    assert near.upper_bound >= near.threshold
    assert all(value >= near.threshold for value in near.values)


def test_a_threshold_of_ones_own():
    problem = SparseTrustRegion(np.diag([3.0, 2.0, 1.0]), np.zeros(3), 2)
    collected = collect(problem, 1.5, Control())
    assert [s.tolist() for s in collected.supports] == [[0], [1]]
    assert collected.upper_bound <= 1.5


def test_groups_hold_no_two_variables_of_one_support():
    incidence = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 0, 0]], dtype=bool)
    # 0 and 1 are together in one support, but 2 may take the place of either.
    assert [group.tolist() for group in exchange_groups(incidence)] == [[0, 2]]


def test_the_runner_up_of_one_variable():
    problem = SparseTrustRegion(np.array([[2.0]]), np.array([1.0]), 1)
    assert next_best(problem, solve(problem)) is None


def test_the_runner_up_keeps_what_is_required():
    problem = SparseTrustRegion(np.diag([3.0, 2.0, 1.0]), np.ones(3), 2, required=[2])
    runner_up = next_best(problem, solve(problem))
    assert runner_up.support.tolist() == [1, 2]
    assert runner_up.status == "optimal"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"within": 1.0}, "within must be"),
        ({"within": -0.1}, "within must be"),
        ({"most": 0}, "most must be"),
        ({"best": 3}, "best must be a Solution of this problem; got int"),
        ({"time_limit": -1}, "time_limit must be"),
        ({"problem": None}, "problem must be a SparseTrustRegion or a SparseRatio; got NoneType"),
    ],
)
def test_messages(regression, change, message):
    with pytest.raises(InputError, match=message):
        near_optimal(**{"problem": regression, **change})
