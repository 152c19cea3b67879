"""Holm's adjustment."""

import numpy as np
import pytest

from tellapart.permutation.holm import holm


def test_worked_example():
    # 4 · 0.005, 3 · 0.01, then the running maximum over 2 · 0.03 and 1 · 0.04.
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])


def test_never_above_one_nor_below_the_pvalue():
    p = np.random.default_rng(0).random(50)
    adjusted = holm(p)
    assert (adjusted >= p).all()
    assert adjusted.max() == 1.0


def test_planned_tests_count():
    np.testing.assert_allclose(holm([0.01, 0.02], 5), [0.05, 0.08])
    assert holm([]).size == 0


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_rejects_what_the_step_down_procedure_rejects(alpha):
    rng = np.random.default_rng(1)
    for _ in range(50):
        p = rng.random(8) ** 3
        rejected = set()
        for step, place in enumerate(np.argsort(p)):
            if p[place] > alpha / (8 - step):
                break
            rejected.add(int(place))
        assert set(np.flatnonzero(holm(p) <= alpha).tolist()) == rejected
