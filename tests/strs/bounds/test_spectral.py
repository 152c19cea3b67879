"""The relaxation-free bounds hold at every support, with and without forced variables."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import examples

from tellapart.strs.domains import maximise_on_sphere
from tellapart.strs.solvers.misdp import spectral_bound


@examples(60)
@given(st.integers(0, 10**6))
def test_holds_at_every_support(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 8))
    forced_count = int(rng.integers(0, size))
    picks = int(rng.integers(0 if forced_count else 1, size - forced_count + 1))
    A = rng.standard_normal((size, size)) * 10.0 ** rng.integers(-6, 7)
    A = A + A.T if seed % 2 else A @ A.T
    a = rng.standard_normal(size) * rng.choice([0.0, 1.0, 100.0])
    forced = np.zeros(size, dtype=bool)
    forced[rng.permutation(size)[:forced_count]] = True
    bound = spectral_bound(A, a, forced, picks)
    inside, free = np.flatnonzero(forced), np.flatnonzero(~forced)
    for chosen in combinations(free, picks):
        support = np.sort(np.concatenate([inside, np.array(chosen, dtype=np.intp)]))
        _, value = maximise_on_sphere(A[np.ix_(support, support)], a[support])
        assert value <= bound


def test_is_exact_for_a_diagonal_matrix() -> None:
    A = np.diag([1.0, 5.0, 3.0])
    bound = spectral_bound(A, np.zeros(3), np.zeros(3, dtype=bool), 2)
    assert bound == pytest.approx(5.0, rel=1e-12)


def test_a_forced_small_variable_lowers_the_bound() -> None:
    A = np.ones((6, 6))
    A[0, 1:] = A[1:, 0] = 0.0
    forced = np.zeros(6, dtype=bool)
    free_bound = spectral_bound(A, np.zeros(6), forced, 3)
    forced[0] = True
    assert spectral_bound(A, np.zeros(6), forced, 2) < free_bound
