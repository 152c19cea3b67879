from dataclasses import replace

import pytest
from held_clock import HeldClock, stopped_after

from tellapart.strs.contract import Control


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
