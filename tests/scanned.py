"""A small scan with findings of several kinds, for the tests of what reports say of it."""

from functools import cache

import numpy as np
import pandas as pd

import tellapart as ta
from tellapart.scan.column_tests import ColumnTests
from tellapart.scan.finding import Finding

SCRIPT = "<script>alert(1)</script>"


def make_tables(n=160, script=SCRIPT):
    rng = np.random.default_rng(0)

    def table(s):
        z = rng.normal(size=(n, 2))
        group = rng.choice(["a", "b"], n)
        habit = np.where(rng.random(n) < 0.85 * s, group == "a", rng.random(n) < 0.5)
        return pd.DataFrame(
            {
                "age": rng.normal(50 + 10 * s, 8, size=n),
                script: rng.normal(size=n) * (1 + 2 * s),
                "arm": rng.choice([script, "placebo"], n, p=[0.5 + 0.4 * s, 0.5 - 0.4 * s]),
                "weight": z[:, 0],
                "height": 0.95 * s * z[:, 0] + (1.0 - 0.7 * s) * z[:, 1],
                "group": group,
                "habit": np.where(habit, "yes", script),
                "noise": rng.normal(size=n),
            }
        )

    return table(0.0), table(1.0)


def column_tests(adjusted):
    """Return tests of columns with these adjusted p-values."""
    p = np.array([*adjusted.values()])
    return ColumnTests(tuple(adjusted), p, p, p, np.zeros(p.size, dtype=bool))


def run_scan(left, right, **more):
    settings = {"n_permutations": 199, "random_state": 0, "labels": ("old", "new")}
    return ta.two_sample_test(left, right, **(settings | more))


@cache
def shared_scan(script=SCRIPT):
    """Return the scan of `make_tables`, made once in a process; nothing writes to a result."""
    return run_scan(*make_tables(script=script))


def make_finding(kind="location", variables=("age",), **more):
    values = {
        "pvalue": 0.01,
        "effect": 0.5,
        "interval": (0.4, 0.6),
        "values": (1.0, 0.5),
        "measure": "mean",
    }
    return Finding(kind, variables, **(values | more))
