"""Hypothesis draws the same examples on every run, and no test is a race against a clock."""

from contextlib import ExitStack
from dataclasses import replace

import pytest
from hypothesis import settings

from tellapart.budget import current_budget, using_budget

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def dask_cluster():
    """One cluster of two worker processes for all tests of a session: each takes seconds to begin.

    Tests connect to it with a client of their own, which would else serve every later test.
    """
    import dask
    from distributed import LocalCluster

    quiet = {
        "distributed.logging.distributed": "critical",
        "distributed.scheduler.allowed-failures": 2,
        "distributed.worker.daemon": False,
    }
    with (
        dask.config.set(quiet),
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
    ):
        yield cluster


@pytest.fixture
def set_budget():
    """Give a function that sets limits of work, by name, until the test is over."""
    with ExitStack() as stack:
        yield lambda **limits: stack.enter_context(
            using_budget(replace(current_budget(), **limits))
        )
