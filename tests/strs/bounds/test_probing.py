"""What one multiplier proves: the rows' hulls, and each variable forced in."""

from itertools import combinations

import numpy as np
import pytest
from instances import any_matrix

from tellapart.strs.bounds.admm import AdmmSettings, solve_admm
from tellapart.strs.bounds.probing import forced_in_bounds, hull_rows, tighten_rows
from tellapart.strs.bounds.sdp import dual_bound
from tellapart.strs.domains import maximise_on_sphere


def random_node(seed):
    """Return a small problem of any kind, its forced variables, the picks left and a multiplier."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 8))
    scale = 10.0 ** rng.integers(-6, 7)
    A = scale * any_matrix(rng, size, seed % 6)
    a = scale * rng.choice([0.0, 1.0, 30.0]) * rng.normal(size=size)
    forced = np.zeros(size, dtype=bool)
    forced[: int(rng.integers(0, size - 1))] = True
    picks = int(rng.integers(1, size - forced.sum() + 1))
    d = int(forced.sum()) + picks
    if seed % 3:
        settings = AdmmSettings(max_iterations=30)
        W = solve_admm(A, a, d, forced, settings, lambda _: False).W
    else:
        W = scale * rng.normal(size=(size, size))
    return A, a, d, forced, picks, W


def values(A, a, forced, picks):
    """Yield each support of a node with its maximum."""
    free = np.flatnonzero(~forced)
    for chosen in combinations(free, picks):
        support = np.sort(np.append(np.flatnonzero(forced), chosen)).astype(int)
        yield support, maximise_on_sphere(A[np.ix_(support, support)], a[support])[1]


@pytest.mark.parametrize("seed", range(60))
def test_bounds_hold_at_every_support(seed):
    A, a, d, forced, picks, W = random_node(seed)
    plain = dual_bound(A, a, d, forced, W)
    bound = tighten_rows(plain, W, forced, picks)
    assert bound.value <= plain.value * (1 + 1e-12) or plain.value < 0
    if_in = forced_in_bounds(A, a, forced, picks, W, bound.rows, 0.3 * np.abs(W).max())
    assert np.isinf(if_in[forced]).all()
    for support, value in values(A, a, forced, picks):
        assert value <= bound.value
        assert (value <= if_in[support]).all()


@pytest.mark.parametrize("seed", range(20))
def test_a_row_is_the_largest_over_its_points(seed):
    _, _, _, forced, picks, W = random_node(seed)
    best = np.zeros(W.shape[0])
    free = np.flatnonzero(~forced)
    for chosen in combinations(free, picks):
        support = np.append(np.flatnonzero(forced), chosen).astype(int)
        for i in support:
            others = np.linalg.norm(W[i, support[support != i]])
            # t(1 − t) on a circle: the largest eigenvalue of a matrix of order two.
            pair = np.array([[W[i, i], others / 2], [others / 2, 0.0]])
            best[i] = max(best[i], np.linalg.eigvalsh(pair)[-1])
    rows = hull_rows(W, forced, picks)
    assert rows == pytest.approx(best, rel=1e-9, abs=1e-9 * np.abs(W).max())


def test_unused_variables_are_told_from_used_ones():
    """One strong block: with a variable of the weak rest forced in, the bound is lower."""
    A = np.diag(np.full(8, 0.1))
    A[:5, :5] += 1.0
    forced = np.zeros(8, dtype=bool)
    standing = solve_admm(A, np.zeros(8), 3, forced, AdmmSettings(), lambda _: False)
    bound = tighten_rows(standing.bound, standing.W, forced, 3)
    if_in = forced_in_bounds(A, np.zeros(8), forced, 3, standing.W, bound.rows, 0.5)
    assert bound.value == pytest.approx(3.1, rel=1e-3)
    assert (if_in[5:] < 2.9).all()
    assert (if_in[:5] >= 3.1).all()
