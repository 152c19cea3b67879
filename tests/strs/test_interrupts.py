"""Ctrl-C: a solver returns what it has and says so; what would go on after it stops."""

import numpy as np
import pytest
from instances import problem_of

from tellapart.strs import SOLVERS, compare, solve
from tellapart.strs.contract import Control, until_interrupted

CATCHING = ["sdp", "convex-integer", "outer-approximation", "misdp", "branch-and-bound"]


def press(*_):
    raise KeyboardInterrupt


def watched():
    """Return a problem on which every solver tells progress at least once."""
    return problem_of("no linear term", 25, 6)


@pytest.mark.parametrize("name", CATCHING)
def test_a_solver_says_that_it_was_interrupted(name):
    solution = solve(watched(), name, progress=press)
    assert solution.interrupted
    assert solution.upper_bound is None or solution.upper_bound >= solution.value


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_that_ends_was_not_interrupted(name):
    assert not solve(problem_of("PSD", 6, 2), name).interrupted


def test_an_interrupt_of_the_semidefinite_part_is_handed_on():
    bounds = []

    def press_later(*_):
        bounds.append(None)
        if len(bounds) > 1:
            raise KeyboardInterrupt

    assert solve(watched(), "branch-and-bound", progress=press_later).interrupted


@pytest.mark.parametrize("name", CATCHING)
def test_a_comparison_stops(monkeypatch, name):
    monkeypatch.setattr(Control, "report_progress", press)
    with pytest.raises(KeyboardInterrupt):
        compare(watched(), [name, "truncation"])


def test_only_an_interrupt_is_caught():
    with until_interrupted() as ctrl_c:
        np.zeros(1)
    assert not ctrl_c.caught
    with pytest.raises(ValueError, match="mine"), until_interrupted():
        raise ValueError("mine")
