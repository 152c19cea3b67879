"""Hypothesis draws the same examples on every run, and no test is a race against a clock."""

from contextlib import ExitStack
from dataclasses import replace

import pytest
from hypothesis import settings

from tellapart.budget import current_budget, using_budget

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("repeatable")


@pytest.fixture
def set_budget():
    """Give a function that sets limits of work, by name, until the test is over."""
    with ExitStack() as stack:
        yield lambda **limits: stack.enter_context(
            using_budget(replace(current_budget(), **limits))
        )
