"""Bets on p-values: fair, monotone, and alarms as rare as promised at every check."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from tellapart.monitor.betting import (
    EXPONENTS,
    MOST_CAPITAL,
    SMALLEST_PVALUE,
    Bets,
    Ever,
    Planned,
    Rate,
    payoffs,
)

PVALUES = st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=30)


def after(bets, pvalues):
    for pvalue in pvalues:
        bets = bets.after(pvalue)
    return bets


def test_every_bet_is_fair():
    for place in range(EXPONENTS.size):
        kinked = integrate.quad(lambda p, i=place: payoffs(p)[i], SMALLEST_PVALUE, 1, limit=500)[0]
        total = kinked + SMALLEST_PVALUE * payoffs(SMALLEST_PVALUE)[place]
        assert total == pytest.approx(1.0, abs=1e-6)


def test_stakes_add_up_to_one():
    promise = Ever(0.05)
    laid = sum(promise.stake(k) for k in range(1, 1001))
    assert laid + promise.kept_back(1000) == pytest.approx(1.0)
    assert min(promise.stake(k) for k in range(1, 1001)) > 0
    assert Bets(promise).capital == 1.0


@given(PVALUES)
def test_capital_is_a_mixture_over_the_checks_at_which_a_change_may_come(pvalues):
    """Σ_j w_j Π_{i ≥ j} f(p_i), the mean over the exponents, and what is kept back."""
    promise = Ever(0.05)
    paid = np.array([payoffs(p) for p in pvalues])
    begun = [promise.stake(j + 1) * np.prod(paid[j:], axis=0).mean() for j in range(len(pvalues))]
    expected = sum(begun) + promise.kept_back(len(pvalues))
    assert after(Bets(promise), pvalues).capital == pytest.approx(expected, rel=1e-9)


@given(PVALUES, st.data())
def test_a_larger_pvalue_never_makes_more_capital(pvalues, data):
    """So p-values that are larger than uniform keep the promise."""
    larger = [data.draw(st.floats(p, 1.0)) for p in pvalues]
    for promise in (Ever(0.05), Rate(100)):
        more, less = after(Bets(promise), pvalues), after(Bets(promise), larger)
        assert less.capital <= more.capital * (1 + 1e-12)


@given(PVALUES)
def test_the_alarm_level_is_where_the_capital_becomes_enough(pvalues):
    for promise in (Ever(0.05), Rate(100)):
        bets = after(Bets(promise), pvalues)
        level = bets.alarm_level
        if level > 0:
            assert bets.after(level).enough
        if 0 < level < 1:
            assert not bets.after(level * 1.001).enough
        if level == 0:
            assert not bets.after(1e-9).enough


def test_the_level_alone_knows_nothing_of_earlier_answers():
    promise = Ever(0.05)
    quiet, loud = after(Bets(promise), [0.9, 0.8]), after(Bets(promise), [0.01, 0.02])
    assert quiet.level_alone() == loud.level_alone() < loud.alarm_level
    assert Bets(promise).level_alone() == pytest.approx(0.00095, abs=0.0001)


def test_two_clear_checks_are_enough_after_thousands_of_quiet_ones():
    quiet = np.random.default_rng(0).uniform(size=3000)
    bets = after(Bets(Ever(0.05)), quiet)
    assert bets.capital < 1
    assert not bets.after(1e-4).enough
    assert bets.after(1e-4).after(1e-4).enough
    # With a run length it is as soon as at the first check.
    assert after(Bets(Rate(1000)), quiet[:100]).after(1e-4).enough


def test_capital_that_no_alarm_ends_stays_a_number():
    bets = after(Bets(Rate(10)), [1e-4] * 200)
    assert math.isfinite(bets.capital)
    assert bets.capital <= MOST_CAPITAL
    assert bets.after(1.0).capital < bets.capital


def _paths(n_paths, n_checks, promise, seed):
    """Give the largest capital so far of many sequences at once, of uniform p-values."""
    rng = np.random.default_rng(seed)
    floored = np.maximum(rng.uniform(size=(n_checks, n_paths)), SMALLEST_PVALUE)
    normalizer = SMALLEST_PVALUE ** (EXPONENTS - 1) / payoffs(SMALLEST_PVALUE)
    sums = np.zeros((EXPONENTS.size, n_paths))
    for k, pvalues in enumerate(floored, 1):
        paid = pvalues ** (EXPONENTS[:, None] - 1) / normalizer[:, None]
        sums = paid * (sums + promise.stake(k))
        yield sums.mean(axis=0) + promise.kept_back(k)


def test_any_false_alarm_ever_has_the_chance_promised():
    largest = np.zeros(2000)
    for capital in _paths(2000, 1000, Ever(0.1), seed=1):
        largest = np.maximum(largest, capital)
    share = np.mean(largest >= 10)
    assert share < 0.1 + 3 * math.sqrt(0.1 * 0.9 / 2000)
    assert share > 0.02  # not for want of trying


def test_false_alarms_come_no_sooner_than_the_run_length():
    """Runs that were not over are counted as if they were: the mean is then too small."""
    first = np.full(1000, 600.0)
    for k, capital in enumerate(_paths(1000, 600, Rate(50), seed=2), 1):
        first = np.where(capital >= 50, np.minimum(first, k), first)
    assert first.mean() > 50 - 3 * first.std() / math.sqrt(1000)


def test_guarantees_are_described():
    assert "at most 0.05" in Ever(0.05).describe()
    assert "checks until a false alarm is at least 500" in Rate(500.0).describe()
    assert "in the 30 planned checks" in Planned(0.05, 30).describe()
