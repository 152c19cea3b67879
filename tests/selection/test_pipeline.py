"""Tune, fit, choose: one limit of time for all of it, by a clock the test holds."""

import warnings
from functools import partial

import numpy as np
import pytest

import tellapart as ta
from tellapart.budget import Budget, using_budget
from tellapart.kernels import Linear
from tellapart.selection import pipeline
from tellapart.strs.contract import Control


@pytest.mark.parametrize(
    ("limit", "left"), [(None, None), (60.0, 20.0), (30.0, pipeline.LEAST_SECONDS)]
)
def test_what_tuning_took_is_not_there_for_the_choice(monkeypatch, limit, left):
    now = [0.0]
    given = []
    tune, choose = pipeline.tune, pipeline.choose

    def slow_tune(*arguments, **settings):
        now[0] += 40.0
        return tune(*arguments, **settings)

    def noted_choose(*arguments, **settings):
        given.append(settings["time_limit"])
        return choose(*arguments, **{**settings, "time_limit": None})

    monkeypatch.setattr(pipeline, "Control", partial(Control, clock=lambda: now[0]))
    monkeypatch.setattr(pipeline, "tune", slow_tune)
    monkeypatch.setattr(pipeline, "choose", noted_choose)
    x, y = np.random.default_rng(0).normal(size=(2, 40, 3))
    ta.select_variables(x, y, 1, kernel="linear", time_limit=limit, random_state=0)
    assert given == [left]


def test_tuning_may_take_half_of_the_time_and_says_when_that_was_too_little(monkeypatch):
    now = [0.0]

    class Slow(Control):
        @property
        def out_of_time(self):
            now[0] += 1.0
            return super().out_of_time

    monkeypatch.setattr(pipeline, "Control", partial(Slow, clock=lambda: now[0]))
    x, y = np.random.default_rng(0).normal(size=(2, 100, 6))
    y[:, 0] += 1
    settings = {"method": "split", "n_permutations": 99, "random_state": 0}
    result = ta.two_sample_test(x, y, time_limit=40.0, **settings)
    assert result.tuning.stopped
    assert 0 < len(result.tuning.numbers[0].ratios) < 5
    assert "The time limit ended tuning with the splits scored by then." in result.summary()
    never = ta.two_sample_test(x, y, time_limit=1.0, **settings)
    assert never.tuning.n_variables == 5
    assert "ended tuning before any split was scored" in never.summary()


def test_the_kernel_of_a_choice_by_evidence_has_the_bandwidths_of_the_chosen_columns():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 6)), rng.normal(size=(50, 6))
    y[:, 2] += 3
    x[:, 4] = y[:, 4] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = ta.two_sample_test(x, y, n_permutations=49, random_state=0)
    assert result.variables == ("x2",)
    assert result.selection.constant == ("x4",)
    assert result.kernel.scalars[2] == Linear().fit(result.train).scalars[2]


def test_links_are_sought_among_the_least_tied_columns():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(80, 12)), rng.normal(size=(80, 12))
    y[:, 1] = y[:, 0] + 0.1 * y[:, 1]
    x[:, 6:], y[:, 6:] = np.round(x[:, 6:]), np.round(y[:, 6:])
    with using_budget(Budget(linked_columns=6)):
        found = ta.select_variables(x, y, 2, random_state=0)
    assert found.variables == ("x0", "x1")
