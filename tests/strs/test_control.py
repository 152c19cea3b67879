import time

import pytest

from tellapart.strs.control import Control


def test_time_limit_passes():
    control = Control(time_limit=0.01)
    time.sleep(0.02)
    assert control.out_of_time
    assert control.elapsed >= 0.02
    assert not Control().out_of_time
    assert not Control(time_limit=100).out_of_time


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
    late = Control(gap=0.1, time_limit=1e-9)
    assert late.status(1.0, 1.05) == "optimal"
    assert late.status(1.0, 1.2) == late.status(1.0, None) == "time_limit"


def test_progress_is_told():
    told = []
    Control(progress=lambda *args: told.append(args)).tell_progress(3, 1.0, None)
    Control().tell_progress(3, 1.0, None)
    assert told == [(3, 1.0, None)]
