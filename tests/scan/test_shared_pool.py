"""What comparisons share gives the statistics of a test of its own with the same labels."""

import numpy as np
import pytest

from tellapart.budget import Budget, using_budget
from tellapart.data.samples import Samples
from tellapart.permutation.labels import Bins
from tellapart.scan.differences import Differences
from tellapart.scan.family import run_families
from tellapart.scan.scan import make_pool, scan_pool
from tellapart.scan.shared import SharedPool

N, N_COLUMNS, B = 90, 30, 60


def table():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(N, N_COLUMNS))
    values[:, 5] = rng.poisson(0.4, size=N)
    values[:, 6] = rng.integers(3, size=N)
    values[:25, 2] += 2.0
    return values


def samples_of(values, rows_x, rows_y):
    names = tuple(f"x{s}" for s in range(values.shape[1]))
    kinds = tuple("categorical" if s == 6 else "numeric" for s in range(values.shape[1]))
    return Samples(values[rows_x], values[rows_y], names, kinds, {"x6": ("a", "b", "c")})


def shared(rows, **settings):
    whole = samples_of(table(), np.arange(1), np.arange(1, N))
    return SharedPool(whole, rows, B, seed=3, effort=1.0, **settings)


def own_pool(part):
    """Return the pool of a test of its own whose permutations are those of the shared orders."""
    labels = part.labels
    order = np.concatenate([labels.rows_x, labels.rows_y])
    rows = np.zeros((B + 1, N), dtype=np.float32)
    rows[0, labels.rows_x] = 1
    for k, first in enumerate(labels.orders.first[:, : labels.size]):
        rows[k + 1] = 0 if labels.of_x else 1
        rows[k + 1, first] = 1 if labels.of_x else 0
    sizes = (labels.n_x, labels.n_y)
    bins = Bins(sizes, sizes, 1, 0, np.ascontiguousarray(rows[:, order]))
    samples = samples_of(table(), labels.rows_x, labels.rows_y)
    return make_pool(samples, bins, np.random.default_rng(0))


@pytest.mark.parametrize("n_x", [25, 70])
def test_statistics_are_those_of_the_same_labels_alone(n_x):
    part = shared([np.arange(n_x), np.arange(10, 60)]).part(0)
    pool, planned = own_pool(part)
    alone, found = (
        {name: result.statistics for name, result in run_families(*made).items()}
        for made in ((planned, pool), (part.planned, part.pool))
    )
    assert found.keys() == alone.keys()
    for name in found.keys() - {"kernel"}:
        np.testing.assert_allclose(found[name], alone[name], rtol=2e-3, atol=2e-5, err_msg=name)
    # Fewer waves: another kernel, which all but agrees.
    kernels = found["kernel"][:, 0], alone["kernel"][:, 0]
    assert np.corrcoef(*kernels)[0, 1] > 0.97


def test_differences_are_those_of_the_same_rows():
    part = shared([np.arange(25), np.arange(40, 60)]).part(1)
    pool, *_ = own_pool(part)
    sums = [Differences.of(p.sums, p.tables, p.labels).zscores["normal"] for p in (part.pool, pool)]
    np.testing.assert_allclose(*sums, atol=1e-4)


def test_a_comparison_does_not_depend_on_the_others_nor_on_threads():
    def told(rows, place, n_jobs=1):
        part = shared(rows, n_jobs=n_jobs).part(place)
        own = samples_of(table(), rows[place], np.setdiff1d(np.arange(N), rows[place]))
        found = scan_pool(own, part.pool, part.planned, alpha=0.05)
        return found.null.pvalue, found.null.null_distribution.tolist(), found.to_dict()

    rows = [np.arange(25), np.arange(30, 61), np.arange(20, 89)]
    alone = told(rows[:1], 0)
    assert told(rows, 0) == alone
    assert told(rows[::-1], 2, n_jobs=2) == alone
    assert alone[0] == 1 / (B + 1)
    assert any(finding["variables"] == ["x2"] for finding in alone[2]["findings"])


def test_of_many_columns_some_are_looked_at_in_full():
    with using_budget(Budget(fewest_group_columns=4, group_columns=20)):
        part = shared([np.arange(25), np.arange(40, 60)]).part(0)
    columns = part.pool.tables.column
    # The category is always among them; of the numbers, the counts with many zeros are not.
    assert 6 in columns
    assert 5 not in columns
    assert np.unique(columns).size == 11
    assert part.planned.notes["shape"].startswith("computed from 11 of 30 columns")
    shifts = part.pool.shifts
    assert shifts is not None
    assert set(shifts.columns[shifts.named]).isdisjoint(columns)
    found = run_families(part.planned, part.pool)
    pool, *_ = own_pool(part)
    of_all = np.square(pool.differences("normal"))[:, pool.tables.numeric]
    np.testing.assert_allclose(found["location"].statistics[:, 0], of_all.max(axis=1), rtol=1e-3)
