"""The smallest effect worth an alarm: by intervals, in the units of the findings."""

import math

import pytest

import tellapart as ta
from tellapart.monitor.settings import (
    check_smallest_effect,
    is_worth_an_alarm,
    smallest_in_interval,
)
from tellapart.scan.finding import Finding


def finding(kind, low, high):
    return Finding(kind, ("a",), 0.001, (low + high) / 2, (low, high), (0.0, 0.0), kind)


@pytest.mark.parametrize(
    ("kind", "interval", "size"),
    [
        ("location", (-0.5, -0.2), 0.2),
        ("location", (-0.1, 0.4), 0.0),
        ("share", (0.03, 0.08), 0.03),
        ("spread", (1.1, 1.6), 0.1),
        ("spread", (0.5, 0.8), 0.25),
        ("spread", (0.9, 1.2), 0.0),
        ("spread", (0.0, 0.8), 0.25),
        ("correlation", (0.3, math.inf), 0.3),
        ("location", (math.nan, 1.0), 0.0),
    ],
)
def test_what_an_interval_smallest_in_interval_holds(kind, interval, size):
    assert smallest_in_interval(finding(kind, *interval)) == pytest.approx(size)


def test_one_finding_that_is_large_enough_will_do():
    small, large = finding("share", 0.01, 0.3), finding("location", 0.25, 0.6)
    assert is_worth_an_alarm([small], None)
    assert is_worth_an_alarm([small, large], 0.2)
    assert not is_worth_an_alarm([small], 0.2)
    assert not is_worth_an_alarm([], 0.01)
    assert is_worth_an_alarm([small, large], {"location": 0.2, "share": 0.1})
    assert not is_worth_an_alarm([small, large], {"location": 0.3, "share": 0.1})
    assert is_worth_an_alarm([small], {"location": 0.3})  # shares may be of any size


@pytest.mark.parametrize(
    ("value", "method", "message"),
    [
        (0, "scan", r"smallest_effect must be a finite number in \(0"),
        ("0.1", "scan", "smallest_effect must be a finite number"),
        ({"mean": 0.1}, "scan", "kinds of findings as keys, 'location'.* got 'mean'"),
        ({}, "scan", "got none"),
        ({"location": -1}, "scan", r"smallest_effect\['location'\] must be"),
        (0.1, "split", "needs the findings of method='scan'"),
    ],
)
def test_bad_ones_are_named(value, method, message):
    with pytest.raises(ta.InputError, match=message):
        check_smallest_effect(value, method)
