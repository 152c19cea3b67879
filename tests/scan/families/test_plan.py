"""Plans: what runs depends on sizes and pooled rows, never on labels, and the rest is explained."""

import numpy as np
from pools import plan_pool


def _plan(x, y):
    return plan_pool(x, y)[1]


def test_small_problems_look_at_everything():
    rng = np.random.default_rng(0)
    plan = _plan(rng.normal(size=(50, 10)), rng.normal(size=(50, 10)))
    assert plan.plans["correlation"].every.size == 45
    assert plan.plans["triple"].groups[0].triples.size == 120
    assert not plan.skipped
    assert set(plan.notes) == {"joint"}


def test_families_that_cannot_run_say_why():
    rng = np.random.default_rng(0)
    plan = _plan(rng.normal(size=(5, 2)), rng.normal(size=(50, 2)))
    assert "correlation" in plan.plans
    assert "8 rows" in plan.skipped["pair"]
    assert "has 5" in plan.skipped["pair"]
    plan = _plan(rng.normal(size=(50, 1)), rng.normal(size=(50, 1)))
    assert plan.skipped["correlation"] == "needs two columns that vary"


def test_wide_tables_look_at_some_columns_and_say_so():
    rng = np.random.default_rng(0)
    plan = _plan(rng.normal(size=(30, 600)), rng.normal(size=(30, 600)))
    assert plan.plans["correlation"].every.size < 600 * 599 / 2
    assert "of 600 columns" in plan.notes["correlation"]


def test_labels_do_not_enter():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 500))
    rows[:30, :5] += 3
    order = rng.permutation(60)
    one = _plan(rows[:30], rows[30:])
    other = _plan(rows[order][:30], rows[order][30:])
    for name in ("correlation", "pair"):
        for mine, theirs in zip(one.plans[name].features, other.plans[name].features, strict=True):
            np.testing.assert_array_equal(mine.columns, theirs.columns)
    mine, theirs = (own.plans["higher"].features[-1].weights for own in (one, other))
    np.testing.assert_array_equal(mine.any(axis=0), theirs.any(axis=0))
