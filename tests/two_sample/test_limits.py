"""Limits of a whole test: fewer rows, or refused before work starts; by a clock the test holds."""

import numpy as np
import pytest

import tellapart as ta
from tellapart.budget import current_budget
from tellapart.errors import InputError
from tellapart.scan.scan import ScanCost
from tellapart.two_sample.settings import Limits

LARGE = ScanCost(10**7, 10**6, 100)


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_without_a_limit_all_rows_are_scanned():
    assert Limits.begin(None, None).rows_for_scan(LARGE, 2) is None
    assert Limits.begin(None, None).remaining is None


def test_what_fits_is_not_cut():
    assert Limits.begin(1e6, None).rows_for_scan(LARGE, 2) is None


def test_what_takes_too_long_gets_as_many_rows_as_fit():
    few, more = (Limits.begin(s, None, Clock()).rows_for_scan(LARGE, 2) for s in (20.0, 60.0))
    assert current_budget().fewest_scanned_rows <= few < more < LARGE.n_x


def test_time_that_is_over_counts():
    clock = Clock()
    limits = Limits.begin(60.0, None, clock)
    early = limits.rows_for_scan(LARGE, 2)
    clock.now = 30.0
    assert limits.remaining == 30.0
    assert limits.rows_for_scan(LARGE, 2) < early
    clock.now = 100.0
    assert 0 < limits.remaining < 0.01


def test_too_little_time_is_refused_with_what_it_would_need():
    with pytest.raises(InputError, match=r"time_limit must be at least about .* s .*got 0\.01"):
        Limits.begin(0.01, None).rows_for_scan(LARGE, 2)


def test_too_little_memory_is_refused_with_what_it_would_need():
    with pytest.raises(InputError, match=r"memory_budget must be at least .* bytes"):
        Limits.begin(None, 1e6).rows_for_scan(LARGE, 2)


def test_the_result_says_which_rows_were_drawn(monkeypatch):
    """As a user sees it, with a prediction that makes a small test look long."""
    monkeypatch.setattr(ScanCost, "seconds", lambda self, threads=1: self.n_rows / 100)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(4000, 3)), rng.normal(size=(1500, 3)) + 0.5
    result = ta.two_sample_test(x, y, time_limit=60.0, n_permutations=99, random_state=0)
    assert result.drawn_from == (4000, 1500)
    assert result.n_test[0] < 4000
    assert sum(result.n_test) <= 0.6 * 60 * 100
    assert "drawn at random from 4,000 rows of X and 1,500 of Y" in result.summary()
    assert result.to_dict()["drawn_from"] == [4000, 1500]
    assert result.reject


def test_bad_budgets_are_named():
    with pytest.raises(InputError, match="memory_budget"):
        ta.two_sample_test(np.eye(4), np.eye(4) + 1, memory_budget=-1)
