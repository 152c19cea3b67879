"""Stopping rules, honest solutions, and optional libraries with an install hint when absent."""

import sys
import tomllib
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from held_clock import HeldClock, stopped_after

from tellapart.errors import MissingDependencyError
from tellapart.strs import SparseTrustRegion
from tellapart.strs.contract import OLDEST, WHAT_NEXT, Control, Solution, load, relative_gap


def test_time_limit_passes():
    clock = HeldClock()
    clock.now = 100.0
    control, endless = Control(time_limit=3.0, clock=clock), Control(clock=clock)
    assert (control.elapsed, control.remaining, control.out_of_time) == (0.0, 3.0, False)
    clock.now = 102.0
    assert (control.elapsed, control.remaining, control.out_of_time) == (2.0, 1.0, False)
    clock.now = 103.5
    assert (control.elapsed, control.remaining, control.out_of_time) == (3.5, 0.0, True)
    assert (endless.elapsed, endless.remaining, endless.out_of_time) == (3.5, None, False)


def test_a_changed_copy_has_no_more_time():
    clock = HeldClock()
    control = Control(time_limit=3.0, clock=clock)
    clock.now = 2.0
    assert replace(control, gap=0.1).elapsed == 2.0


@pytest.mark.parametrize("value", [-2.0, 2.0])
def test_gap_is_relative(value):
    control = Control(gap=0.1)
    assert control.allowed(value) == pytest.approx(0.2)
    assert control.closed(value, value + 0.19)
    assert not control.closed(value, value + 0.21)


def test_gaps_below_the_resolution_are_closed():
    assert Control(resolution=1e-6).closed(0.0, 1e-7)
    assert not Control().closed(0.0, 1e-7)


def test_status_is_optimal_only_with_a_bound_within_the_gap():
    control = Control(gap=0.1)
    assert control.status(1.0, 1.05) == "optimal"
    assert control.status(1.0, 1.2) == "feasible"
    assert control.status(1.0, None) == "feasible"
    late = stopped_after(0, gap=0.1)
    assert late.status(1.0, 1.05) == "optimal"
    assert late.status(1.0, 1.2) == late.status(1.0, None) == "time_limit"


def test_rounding_error_ends_a_search_but_proves_nothing():
    control = Control(gap=0.1, resolution=10.0)
    assert control.closed(1.0, 5.0)
    assert control.status(1.0, 5.0) == "feasible"
    assert control.status(0.0, 1e-300) == "feasible"
    assert control.status(0.0, 0.0) == "optimal"


def test_progress_is_told():
    told = []
    Control(progress=lambda *args: told.append(args)).report_progress(3, 1.0, None)
    Control().report_progress(3, 1.0, None)
    assert told == [(3, 1.0, None)]


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


def test_returns_the_module():
    assert load("math", "any").sqrt(4.0) == 2.0


@pytest.mark.parametrize(
    ("module", "name"), [("clarabel", "clarabel"), ("pyscipopt", "PySCIPOpt"), ("other", "other")]
)
def test_says_who_needs_what_and_how_to_get_it(monkeypatch, module, name):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError) as caught:
        load(module, "convex-integer")
    message = str(caught.value)
    assert "'convex-integer'" in message
    assert name in message
    assert 'pip install "tellapart[solvers]"' in message
    assert "\n" not in message


@pytest.mark.parametrize(("version", "enough"), [("5.3.9", False), ("5.4.0", True), ("6.0", True)])
def test_a_library_that_is_too_old_is_named(monkeypatch, version, enough):
    pytest.importorskip("pyscipopt")
    monkeypatch.setattr(metadata, "version", lambda name: version)
    if enough:
        assert load("pyscipopt", "convex-integer")
        return
    with pytest.raises(MissingDependencyError, match=r"PySCIPOpt 5\.4 or newer; got 5\.3\.9"):
        load("pyscipopt", "convex-integer")


def test_oldest_versions_are_those_of_the_project():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    stated = dict(
        entry.split(">=") for entry in project["project"]["optional-dependencies"]["solvers"]
    )
    assert stated == OLDEST


def test_the_former_names_of_a_solver_s_tools_still_work():
    seen = []
    control = Control(progress=lambda *arguments: seen.append(arguments))
    with pytest.warns(DeprecationWarning, match="report_progress"):
        control.tell_progress(1, 2.0, None)
    assert seen == [(1, 2.0, None)]
    problem = SparseTrustRegion(np.eye(3), np.array([1.0, 3.0, -2.0]), 2)
    with pytest.warns(DeprecationWarning, match="best_support"):
        assert problem.best_places(problem.a).tolist() == [1, 2]
