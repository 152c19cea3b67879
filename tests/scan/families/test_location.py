"""Location: its statistics against their definitions and against SciPy."""

import numpy as np
import pandas as pd
import pytest
from pools import is_x, make_pool, plan_pool, run_family
from scipy import stats

from tellapart.scan.families.location import Location


def mixed(n=60, seed=0):
    """Return tables with a number, a category of four levels and one of two."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "number": rng.normal(size=2 * n),
            "place": rng.choice(list("nesw"), 2 * n, p=[0.4, 0.3, 0.2, 0.1]),
            "flag": rng.choice(["no", "yes"], 2 * n),
        }
    )
    return table[:n], table[n:]


def test_levels_count_by_pearsons_chi_square():
    x, y = mixed()
    pool = make_pool(x, y, n_permutations=999)
    (found,) = Location().column_statistics(pool)
    assert found.shape == (1000, 3)
    table, n = pd.concat([x, y]), len(x)
    unit = 2 * n / (n * n) * (2 * n) / (2 * n - 1)
    for e in (0, 1, 2):
        for at, name in ((1, "place"), (2, "flag")):
            counts = pd.crosstab(table[name].to_numpy(), is_x(pool, e)).to_numpy()
            expected = stats.chi2_contingency(counts, correction=False).pvalue
            assert stats.chi2.sf(found[e, at] / unit, 1) == pytest.approx(expected, abs=0.03)


def test_numbers_count_as_they_are():
    x, y = mixed()
    pool = make_pool(x, y)
    (found,) = Location().column_statistics(pool)
    number = np.flatnonzero(pool.tables.column == 0)
    expected = np.square(pool.differences("normal")[:, number])
    np.testing.assert_array_equal(found[:, :1], expected)


@pytest.mark.parametrize(("columns", "count"), [(1, 4), (2, 5), (30, 5)])
def test_two_numbers_can_move_together(columns, count):
    x, y = np.random.default_rng(0).normal(size=(2, 20, columns))
    pool, planned = plan_pool(x, y)
    assert run_family(pool, planned, "location").statistics.shape[1] == count
