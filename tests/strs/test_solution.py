import numpy as np
import pytest

from tellapart.strs.contract import WHAT_NEXT, Solution, relative_gap


def solution(value, upper_bound, status="feasible"):
    return Solution(
        support=np.array([1]),
        z=np.array([0.0, 1.0]),
        value=value,
        upper_bound=upper_bound,
        status=status,
        solver="none",
        iterations=0,
        seconds=0.0,
    )


@pytest.mark.parametrize(
    ("value", "bound", "gap"),
    [(2.0, 3.0, 0.5), (-2.0, -1.0, 0.5), (2.0, 2.0, 0.0), (2.0, 1.9, 0.0), (0.0, 0.0, 0.0)],
)
def test_relative_gap(value, bound, gap):
    assert relative_gap(value, bound) == pytest.approx(gap)
    assert solution(value, bound).gap == pytest.approx(gap)


def test_gap_at_value_zero_is_infinite():
    assert relative_gap(0.0, 1e-30) == np.inf


def test_no_bound_means_no_gap():
    assert solution(1.0, None).gap is None


@pytest.mark.parametrize("status", WHAT_NEXT)
def test_every_status_says_what_it_means(status):
    assert solution(1.0, 1.0, status).message == WHAT_NEXT[status] != ""
