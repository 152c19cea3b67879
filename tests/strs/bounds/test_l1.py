"""The region ‖z‖₂ ≤ 1, ‖z‖₁ ≤ √d: its support function against a search and feasible points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import examples

from tellapart.strs.bounds.l1 import best_threshold, ranges, support_function


def searched(g, d):
    """Minimise ‖(|g| − τ)₊‖ + τ√d over a fine grid of τ."""
    size = np.abs(g)
    grid = np.concatenate([[0.0], size, np.linspace(0.0, max(size.max(), 1e-9), 2_000)])
    excess = np.maximum(size[None, :] - grid[:, None], 0.0)
    return float((np.linalg.norm(excess, axis=1) + grid * np.sqrt(d)).min())


@examples(60)
@given(st.integers(0, 10**6))
def test_equals_a_search_over_the_threshold(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 15))
    d = int(rng.integers(1, size + 1))
    # Integers make ties, zeros and zero vectors.
    g = rng.normal(size=size) if seed % 2 else rng.integers(-2, 3, size=size).astype(float)
    assert support_function(g, d) == pytest.approx(searched(g, d), rel=1e-5, abs=1e-12)
    assert support_function(g, d) <= searched(g, d) * (1 + 1e-12)


@pytest.mark.parametrize("d", [1, 3, 6])
def test_is_attained_by_a_point_of_the_region(d):
    g = np.random.default_rng(d).normal(size=6)
    excess = np.maximum(np.abs(g) - best_threshold(g, d), 0.0)
    z = np.sign(g) * excess / np.linalg.norm(excess)
    assert np.abs(z).sum() <= np.sqrt(d) * (1 + 1e-9)
    assert g @ z == pytest.approx(support_function(g, d), rel=1e-9)


def test_known_values():
    g = np.array([3.0, -4.0, 0.0])
    assert support_function(g, 1) == pytest.approx(4.0)
    assert support_function(g, 3) == pytest.approx(5.0)
    assert support_function(np.ones(9), 4) == pytest.approx(2.0)
    assert support_function(np.zeros(4), 2) == 0.0


def test_ranges_bound_every_sparse_point():
    rng = np.random.default_rng(0)
    vectors = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    reach = ranges(vectors, 3)
    top = np.sort(np.abs(vectors), axis=0)[-3:]
    assert (reach >= np.linalg.norm(top, axis=0)).all()
    assert (reach <= 1 + 1e-12).all()
