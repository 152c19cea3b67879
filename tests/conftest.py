"""Hypothesis draws the same examples on every run, and no test is a race against a clock."""

from dataclasses import replace

import pytest
from hypothesis import settings

from tellapart.budget import current_budget, using_budget

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("repeatable")


@pytest.fixture
def set_budget():
    """Give a function that sets limits of work until the test is over."""
    opened = []

    def set_limits(**limits):
        budget = using_budget(replace(current_budget(), **limits))
        budget.__enter__()
        opened.append(budget)

    yield set_limits
    for budget in reversed(opened):
        budget.__exit__(None, None, None)
