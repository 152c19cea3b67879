"""Settings of a test: made from the arguments of a call, and checked once."""

from inspect import signature

import numpy as np
import pytest

import tellapart as ta
from tellapart.arguments import settings_from, with_checked
from tellapart.monitor.settings import USUAL  # noqa: F401 -- the defaults are checked at import
from tellapart.two_sample.settings import TestSettings


def normal(seed, n=40, columns=3):
    return np.random.default_rng(seed).normal(size=(n, columns))


@pytest.fixture
def checks(monkeypatch):
    """Count how often settings are checked."""
    counted = []
    check = TestSettings.__post_init__

    def count(self):
        counted.append(self.method)
        check(self)

    monkeypatch.setattr(TestSettings, "__post_init__", count)
    return counted


@pytest.mark.parametrize("options", [{"random_state": 0}, {}, {"method": "split"}])
def test_a_test_checks_its_settings_once(checks, options):
    ta.two_sample_test(normal(0), normal(1), n_permutations=19, **options)
    assert len(checks) == 1


def test_groups_check_their_settings_once(checks):
    groups = np.repeat(["a", "b", "c"], 40)
    ta.compare_groups(normal(0, 120), groups, n_permutations=99, mode="pairwise", random_state=0)
    assert len(checks) == 1


def test_a_check_of_a_monitor_checks_no_settings(checks):
    monitor = ta.compare_to_reference(normal(0), n_permutations=19, random_state=0)
    assert len(checks) == 1
    monitor.check(normal(1))
    assert len(checks) == 1


def test_every_setting_is_an_argument():
    arguments = signature(ta.two_sample_test).parameters
    defaults = {name: p.default for name, p in arguments.items() if name != "design"}
    assert settings_from(TestSettings, defaults) == TestSettings()
    given = settings_from(TestSettings, {"alpha": 0.1, "labels": ("a", "b")}, n_permutations=99)
    assert (given.alpha, given.n_permutations) == (0.1, 99)


def test_other_values_are_taken_as_they_are():
    settings = TestSettings(kernel="linear")
    assert settings.fittable.name == "linear"
    other = with_checked(settings, kernel="gaussian", random_state=7)
    assert (other.fittable.name, other.random_state) == ("gaussian", 7)
    assert settings.random_state is None
