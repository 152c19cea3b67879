"""Fours and directions: found without labels, tested with them."""

import numpy as np
from pools import plan_pool, run_family


def _pair(change):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(250, 12)), rng.normal(size=(250, 12))
    change(x, rng)
    return plan_pool(x, y, 199)


def _ranks(pool, planned):
    """Return the share of permutations beyond each statistic, and fours, fours and directions."""
    statistics = run_family(pool, planned, "higher").statistics
    return (statistics >= statistics[0]).mean(axis=0), planned.plans["higher"].features


def test_parity_of_four_columns_is_seen():
    def parity(x, rng):
        x[:, 3] = np.abs(x[:, 3]) * np.sign(x[:, 0] * x[:, 1] * x[:, 2])

    ranks, (signs, _, _) = _ranks(*_pair(parity))
    assert ranks[0] == 1 / 200
    assert [0, 1, 2, 3] in np.sort(np.transpose(signs.columns), axis=1).tolist()


def test_a_bimodal_direction_across_four_columns_is_seen():
    def bimodal(x, rng):
        v = np.zeros(12)
        v[:4] = [0.5, 0.5, -0.5, 0.5]
        modes = rng.choice([-0.95, 0.95], len(x)) + 0.3 * rng.normal(size=len(x))
        x += np.outer(modes - x @ v, v)

    ranks, (_, _, directions) = _ranks(*_pair(bimodal))
    assert ranks[2] == 1 / 200
    support = [set(np.flatnonzero(row)) for row in directions.weights]
    assert {0, 1, 2, 3} in support


def test_levels_of_one_category_are_never_taken_together():
    rng = np.random.default_rng(0)
    import pandas as pd

    table = pd.DataFrame({f"c{i}": rng.choice(list("abc"), 80) for i in range(5)})
    pool, planned = plan_pool(table[:40], table[40:], 19)
    _, (signs, ranks, directions) = _ranks(pool, planned)
    for fours in (np.transpose(signs.columns), np.transpose(ranks.columns)):
        assert all(len(set(row)) == 4 for row in pool.tables.column[fours].tolist())
    for row in directions.weights:
        own = pool.tables.column[np.flatnonzero(row)]
        assert len(set(own.tolist())) == own.size
