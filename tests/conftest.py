"""Hypothesis draws the same examples on every run, and no test is a race against a clock."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("repeatable")
