import numpy as np
import pytest

from tellapart.data.column_store import transposed
from tellapart.data.samples import Samples, map_columns


@pytest.mark.parametrize("order", ["C", "F"])
def test_transposed_copies_every_tile(order):
    rows = np.asarray(np.random.default_rng(0).normal(size=(700, 5)), order=order)
    np.testing.assert_array_equal(transposed(rows), rows.T)
    np.testing.assert_array_equal(transposed(rows[3:650], np.array([4, 1])), rows[3:650, [4, 1]].T)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_columns_come_in_order_and_errors_come_through(n_jobs):
    rng = np.random.default_rng(1)
    names = tuple(map(str, range(20)))
    samples = Samples(rng.normal(size=(4, 20)), rng.normal(size=(3, 20)), names, ("numeric",) * 20)
    chosen = np.array([17, 2, 3, 9, 0, 1, 5, 6, 7, 8])
    results = map_columns(lambda s, x, y: (s, x[1], y[2]), samples, chosen, n_jobs)
    assert results == [(s, samples.x[1, s], samples.y[2, s]) for s in chosen]
    with pytest.raises(ZeroDivisionError):
        map_columns(lambda s, x, y: 1 // (s - 9), samples, chosen, n_jobs)
