"""An enumeration names every support whose maximum exceeds the cutoff, whatever it skips."""

from itertools import combinations

import numpy as np
import pytest
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls

from tellapart.budget import Budget, using_budget
from tellapart.strs.bounds.enumeration import (
    Enumeration,
    _correlate,
    _reach_alone,
    _reach_together,
    dual_bounds,
)
from tellapart.strs.domains import SPHERE, Space, SpaceOrthant
from tellapart.strs.faces import SphereOrthant

DOMAINS = [SPHERE, SphereOrthant(), Space(), SpaceOrthant()]


def few_rows(seed, rows=5, size=10):
    """Return M = BᵀB of low rank with a ridge, and a."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(rows, size)) / np.sqrt(rows)
    return B.T @ B + 0.02 * np.eye(size), 0.5 * rng.normal(size=size)


def all_maxima(M, a, forced, picks, domain):
    free = np.flatnonzero(~forced)
    for chosen in combinations(free, picks):
        support = np.sort(np.append(np.flatnonzero(forced), chosen))
        block = -M[np.ix_(support, support)]
        yield tuple(support.tolist()), domain.maximise(block, a[support])[1]


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize(
    ("picks", "given"),
    [
        (1, 0),
        (2, 0),
        (3, 0),
        pytest.param(4, 0, marks=pytest.mark.long),
        pytest.param(5, 0, marks=pytest.mark.long),
        (2, 2),
        (4, 1),
    ],
)
@using_budget(Budget(enumeration_pause=50, enumeration_supports=3))
def test_nothing_above_the_cutoff_is_left_out(domain, picks, given):
    for seed in range(6):
        M, a = few_rows(seed)
        forced = np.arange(10) < given
        maxima = dict(all_maxima(M, a, forced, picks, domain))
        for share in (0.0, 0.5, 0.95, 1.0):
            cutoff = float(np.quantile(list(maxima.values()), share))
            mu = 0.3 * cutoff if domain.on_sphere and cutoff > 0 else 0.05 * domain.on_sphere
            enumeration = Enumeration(M, a, forced, picks, domain, mu)
            found = [
                tuple(s.tolist())
                for s in enumeration.open_supports(lambda: cutoff)  # noqa: B023
                if s is not None
            ]
            assert enumeration.finished
            assert len(found) == len(set(found))
            above = {support for support, value in maxima.items() if value > cutoff}
            assert above <= set(found)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("reach_of", [_reach_alone, _reach_together])
def test_shares_of_a_family_bound_what_each_set_gains(reach_of, nonnegative):
    bounded = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        size, missing = 9, 2 + seed % 3
        rows = rng.normal(size=(60, size))
        Sigma = np.corrcoef(rows.T)
        effects = rng.normal(size=size) * rng.random(size) ** 2
        correlations, reach = np.empty((size, size)), np.empty(size)
        _correlate(Sigma, np.ones(size), nonnegative, correlations)
        shown = np.maximum(effects, 0.0) if nonnegative else np.abs(effects)
        reach_of(correlations, shown, missing, reach)
        bounded += np.isfinite(reach).all()
        for R in map(list, combinations(range(size), missing)):
            if nonnegative:
                # max 2rᵀw − wᵀΣw over w ≥ 0 is |b|² − min |b − Cw|² with CᵀC = Σ, Cᵀb = r.
                C = cholesky(Sigma[np.ix_(R, R)])
                b = solve_triangular(C, effects[R], trans="T")
                gain = b @ b - nnls(C, b)[1] ** 2
            else:
                gain = effects[R] @ np.linalg.solve(Sigma[np.ix_(R, R)], effects[R])
            assert gain <= reach[R].sum() * (1 + 1e-9) + 1e-12
    assert bounded >= 30


def test_families_are_skipped():
    rng = np.random.default_rng(0)
    M, a = np.eye(60) + 0.01 * few_rows(0, 20, 60)[0], 0.01 * rng.normal(size=60)
    a[:4] = 2.0
    enumeration = Enumeration(M, a, np.zeros(60, dtype=bool), 5, SPHERE, 1.0)
    best = SPHERE.maximise(-M[:4, :4], a[:4])[1]
    assert not [s for s in enumeration.open_supports(lambda: 1.01 * best) if s is not None]
    assert enumeration.finished
    assert enumeration.work < 100_000
    assert enumeration.promised_work == enumeration.work


def test_what_is_not_definite_is_not_enumerated():
    M = -np.eye(5)
    for forced in (np.zeros(5, dtype=bool), np.arange(5) < 2):
        enumeration = Enumeration(M, np.ones(5), forced, 2, SPHERE, 0.5)
        assert list(enumeration.open_supports(lambda: 0.0)) == []
        assert not enumeration.finished
    # Definite on single variables only: the walk gives up, and says so.
    M = np.eye(5) + 5 * (np.ones((5, 5)) - np.eye(5))
    enumeration = Enumeration(M, np.ones(5), np.zeros(5, dtype=bool), 4, SPHERE, 0.0)
    list(enumeration.open_supports(lambda: 0.0))
    assert not enumeration.finished


@pytest.mark.parametrize("domain", DOMAINS[:2])
def test_dual_bounds_hold_and_are_tight_where_the_multiplier_is_inside(domain):
    tight = 0
    for seed in range(20):
        M, a = few_rows(seed, rows=12)
        supports = np.array(list(combinations(range(10), 3)))
        bounds = dual_bounds(M, a, supports, domain.nonnegative)
        for support, bound in zip(supports, bounds, strict=True):
            value = domain.maximise(-M[np.ix_(support, support)], a[support])[1]
            assert bound >= value
            tight += bound <= value + 1e-6
    assert tight > 800
