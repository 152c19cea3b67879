import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from tellapart.data.reader import read_samples
from tellapart.planning.simulation import RowSource


def pilot():
    rng = np.random.default_rng(0)
    x = pd.DataFrame(
        {"v": rng.normal(size=40), "count": rng.poisson(2, 40), "kind": rng.choice(["a", "b"], 40)}
    )
    y = pd.DataFrame(
        {"v": rng.normal(size=30) + 2, "count": rng.poisson(5, 30), "kind": ["b"] * 30}
    )
    return read_samples(x, y)


@pytest.mark.parametrize("strength", [0.0, 0.4, 1.0])
def test_tables_differ_so_many_times_as_much_as_the_pilot(strength):
    samples = pilot()
    source = RowSource.of(samples)
    x, y = source.draw(40_000, 40_000, strength, np.random.default_rng(1))
    full = samples.x.mean(axis=0) - samples.y.mean(axis=0)
    np.testing.assert_allclose(x.mean(axis=0) - y.mean(axis=0), strength * full, atol=0.06)


def test_counts_and_categories_stay_as_they_are_and_numbers_are_not_tied():
    samples = pilot()
    x, _ = RowSource.of(samples).draw(500, 500, 1.0, np.random.default_rng(1))
    assert set(x[:, 1]) <= set(samples.x[:, 1])
    assert set(x[:, 2]) <= {0.0, 1.0}
    assert np.unique(x[:, 0]).size == 500


def test_values_move_less_than_to_their_neighbours():
    values = np.array([[0.0], [1.0], [3.0], [10.0]])
    source = RowSource.of(read_samples(values[:2], values[2:]))
    drawn, _ = source.draw(2000, 10, 0.0, np.random.default_rng(0))
    nearest = np.abs(drawn - values.T).argmin(axis=1)
    reach = np.abs(drawn[:, 0] - values[nearest, 0])
    assert reach[nearest == 1].max() <= 1.0
    assert reach[nearest == 3].max() <= 3.5


def test_sparse_samples_are_a_source_too():
    rng = np.random.default_rng(0)
    x = sparse.random(30, 50, 0.1, format="csr", random_state=rng)
    y = sparse.random(20, 50, 0.1, format="csr", random_state=rng)
    source = RowSource.of(read_samples(x, y))
    assert source.pool.shape == (50, 50)
    np.testing.assert_allclose(source.pool[:30], x.toarray())


def test_only_columns_that_vary_are_numeric():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=20), np.ones(20)])
    assert RowSource.of(read_samples(rows, rows)).numeric.tolist() == [0]
