import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import examples

from tellapart.strs.domains import secular_root

SIZES = st.floats(1e-6, 1e6)


def total(s, gaps, c):
    return float(np.sum((c / (s + gaps)) ** 2))


@examples(200)
@given(
    st.lists(st.tuples(st.floats(0, 1e6), st.floats(-1e6, 1e6)), min_size=1, max_size=8),
    st.sampled_from([1e-80, 1e-12, 1.0, 1e12, 1e80]),
)
def test_root_of_the_equation(terms, scale):
    gaps = scale * np.array([g for g, _ in terms])
    c = scale * np.array([x if abs(x) > 1e-9 else 0.0 for _, x in terms])
    s = secular_root(gaps, c, 0.0)
    assert s >= 0.0
    moving = c != 0
    if s > 0.0:
        assert total(s, gaps[moving], c[moving]) == pytest.approx(1.0, rel=1e-10)
    else:
        assert (gaps[moving] > 0).all()
        assert total(0.0, gaps[moving], c[moving]) <= 1 + 1e-12


def test_one_term_is_exact():
    assert secular_root(np.array([0.0]), np.array([-3.0]), 0.0) == pytest.approx(3.0, rel=1e-15)


def test_nothing_to_solve():
    assert secular_root(np.array([0.0, 1.0]), np.zeros(2), 0.0) == 0.0


def test_term_along_a_tiny_direction():
    """Nearly the hard case: the root is far below every other scale."""
    gaps, c = np.array([0.0, 1.0]), np.array([1e-18, 0.5])
    s = secular_root(gaps, c, 0.0)
    assert s == pytest.approx(1e-18 / np.sqrt(0.75), rel=1e-9)
