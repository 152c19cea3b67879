"""Changes of correlation: against NumPy's, one permutation and pair at a time."""

import numpy as np
import pytest
from pools import is_x, make_pool, products

from tellapart.scan.pool import each_pair
from tellapart.scan.scores import score_rows


def changes_of(pool, product):
    """All changes in one matrix, (permutations × pairs)."""
    changes = np.full((pool.count, product.size), np.nan)

    def receive(rows, block, values):
        changes[rows, block] = values

    each_pair(pool, product, receive)
    return changes


@pytest.mark.parametrize(("n_x", "n_y"), [(30, 40), (1101, 1302), (2600, 3000)])
def test_changes_are_those_of_the_correlations_within_the_samples(n_x, n_y):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(n_x, 4)), rng.normal(size=(n_y, 4))
    x[:, 1] += x[:, 0]
    pool = make_pool(x, y, n_permutations=5)
    (product,) = products(pool, "normal", "spread")
    found = changes_of(pool, product)
    scores = score_rows(pool.tables, np.asfortranarray(np.vstack([x, y])))
    one, other = scores.of("normal"), scores.of("spread")
    for e in range(pool.count):
        rows = is_x(pool, e)
        for q, (s, t) in enumerate(zip(*product.columns, strict=True)):
            r = [np.corrcoef(one[side, s], other[side, t])[0, 1] for side in (rows, ~rows)]
            expected = (r[0] - r[1]) / (1 - r[0] * r[1])
            assert abs(found[e, q] - expected) < 2e-4


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(300, 6)), rng.normal(size=(200, 6))
    answers = []
    for n_jobs in (1, 3):
        pool = make_pool(x, y, 300, n_jobs=n_jobs)
        answers.append(changes_of(pool, products(pool, "normal", "normal")[0]))
    np.testing.assert_array_equal(*answers)


def test_a_column_that_does_not_vary_in_one_sample_changes_nothing():
    x, y = np.zeros((20, 2)), np.random.default_rng(0).normal(size=(20, 2))
    x[:, 1] = np.arange(20)
    pool = make_pool(x, y, 3)
    assert np.isfinite(changes_of(pool, products(pool, "normal", "normal")[0])).all()
