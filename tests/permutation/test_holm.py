"""Holm's adjustment."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tellapart.permutation.pvalues import holm


def test_worked_example():
    # 4 · 0.005, 3 · 0.01, then the running maximum over 2 · 0.03 and 1 · 0.04.
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])


def test_planned_tests_count():
    np.testing.assert_allclose(holm([0.01, 0.02], 5), [0.05, 0.08])
    assert holm([]).size == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.01, 0.3))
def test_rejects_what_the_step_down_procedure_rejects(pvalues, alpha):
    p = np.array(pvalues)
    adjusted, rejected = holm(p), set()
    for step, place in enumerate(np.argsort(p)):
        if p[place] * (p.size - step) > alpha:
            break
        rejected.add(int(place))
    assert set(np.flatnonzero(adjusted <= alpha).tolist()) == rejected
    assert (adjusted >= p).all()
    assert adjusted.max() <= 1.0
