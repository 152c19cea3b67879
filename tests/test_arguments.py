"""Checks of scalar arguments: what passes, as what, and the words of every refusal."""

import math
import os

import numpy as np
import pytest

from tellapart.arguments import (
    check_choice,
    check_flag,
    check_integer,
    check_n_jobs,
    check_number,
    check_random_state,
    check_time_limit,
)
from tellapart.errors import InputError


def test_choice():
    assert check_choice("kernel", "linear", ("linear", "gaussian")) == "linear"
    for bad in ("Linear", None, 3, ["linear"]):
        with pytest.raises(InputError, match="kernel must be one of 'linear', 'gaussian'; got"):
            check_choice("kernel", bad, ("linear", "gaussian"))


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3)])
def test_integer(value):
    result = check_integer("n", value, 1, 5)
    assert result == 3
    assert type(result) is int


@pytest.mark.parametrize("bad", [0, 6, 2.0, "2", None, True, np.True_, math.nan])
def test_integer_refused(bad):
    with pytest.raises(InputError, match=r"n must be an integer in 1\.\.5; got"):
        check_integer("n", bad, 1, 5)


def test_flag():
    assert check_flag("exact", True) is True
    assert check_flag("exact", np.False_) is False
    for bad in (1, 0, "yes", None):
        with pytest.raises(InputError, match="exact must be True or False; got"):
            check_flag("exact", bad)


def test_integer_without_upper_end():
    assert check_integer("n", 10**9, 1) == 10**9
    with pytest.raises(InputError, match="n must be an integer of at least 1; got 0"):
        check_integer("n", 0, 1)


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), np.float64(0.5)])
def test_number(value):
    result = check_number("alpha", value, 0, 1)
    assert result == 0.5
    assert type(result) is float


@pytest.mark.parametrize(
    "bad", [-0.1, 1.1, math.nan, math.inf, "0.5", None, True, 1j, 10**400, -(10**400)]
)
def test_number_refused(bad):
    with pytest.raises(InputError, match=r"alpha must be a finite number in \[0, 1\]; got"):
        check_number("alpha", bad, 0, 1)


def test_ends_of_the_interval():
    assert check_number("alpha", 0, 0, 1) == 0.0
    assert check_number("alpha", 1, 0, 1, open_low=True) == 1.0
    with pytest.raises(InputError, match=r"in \(0, 1\]; got 0"):
        check_number("alpha", 0, 0, 1, open_low=True)
    with pytest.raises(InputError, match=r"in \[0, 1\); got 1"):
        check_number("alpha", 1, 0, 1, open_high=True)
    with pytest.raises(InputError, match=r"in \(-inf, inf\); got inf"):
        check_number("alpha", math.inf)


def test_time_limit():
    assert check_time_limit(None) is None
    assert check_time_limit(2) == 2.0
    for bad in (0, -1, math.inf, "1"):
        with pytest.raises(InputError, match="time_limit must be a finite number"):
            check_time_limit(bad)


def test_random_state():
    generator = np.random.default_rng(5)
    assert check_random_state(generator) is generator
    expected = np.random.default_rng(5).random()
    assert check_random_state(5).random() == expected
    assert check_random_state(np.int32(5)).random() == expected
    assert check_random_state(None).random() != check_random_state(None).random()
    for bad in (-1, 1.0, "5", True, np.random.RandomState(0)):
        with pytest.raises(InputError, match="random_state must be None, a non-negative integer"):
            check_random_state(bad)


def test_n_jobs():
    assert check_n_jobs(None) == 1
    assert check_n_jobs(3) == 3
    assert check_n_jobs(-1) == os.cpu_count()
    for bad in (0, -2, 1.5, "all", True):
        with pytest.raises(InputError, match=r"n_jobs must be None, -1 \(every core\)"):
            check_n_jobs(bad)
