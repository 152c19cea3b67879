"""Tables: the same scores as ranks of all rows give, and nearly so where rows were drawn."""

import numpy as np
import pytest
from scipy import special, stats

from tellapart.data.reader import read_samples
from tellapart.scan.scores import make_scores, score_rows
from tellapart.scan.tables import MOST_EDGES, PooledSample, make_tables, tables_of


def _tables(values, complete=True, limits=None):
    limits = limits or (values.min(axis=0), values.max(axis=0))
    return make_tables(
        np.asfortranarray(values), ["numeric"] * values.shape[1], {}, limits, complete=complete
    )


def _by_ranks(values):
    """U by SciPy."""
    normal = special.ndtri((stats.rankdata(values, axis=0) - 0.5) / len(values))
    return (normal - normal.mean(axis=0)) / normal.std(axis=0)


COLUMNS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "counts": lambda rng, n: rng.poisson(2.0, n).astype(float),
    "heavy tails": lambda rng, n: rng.lognormal(0, 3, n),
    "mostly zero": lambda rng, n: np.where(rng.random(n) < 0.8, 0.0, rng.normal(size=n)),
    "two values": lambda rng, n: (rng.random(n) < 0.3).astype(float),
    "huge": lambda rng, n: 1e150 * rng.normal(size=n),
    "tiny": lambda rng, n: 1e-300 * rng.normal(size=n),
    "one far away": lambda rng, n: np.append(rng.normal(size=n - 1), 1e300),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_tables_of_all_rows_give_normal_scores_of_mid_ranks(kind):
    values = COLUMNS[kind](np.random.default_rng(0), 701)[:, np.newaxis]
    scores = score_rows(_tables(values), np.asfortranarray(values))
    np.testing.assert_allclose(scores.normal, _by_ranks(values), atol=1e-6)


@pytest.mark.parametrize("kind", COLUMNS)
def test_tables_of_drawn_rows_give_nearly_those(kind):
    rng = np.random.default_rng(0)
    values = COLUMNS[kind](rng, 40_000)[:, np.newaxis]
    drawn = values[rng.choice(40_000, 20_000, replace=False)]
    tables = _tables(drawn, complete=False, limits=(values.min(axis=0), values.max(axis=0)))
    assert tables.edges.size <= MOST_EDGES
    scores = score_rows(tables, np.asfortranarray(values))
    exact = _by_ranks(values)
    assert np.corrcoef(scores.normal[:, 0], exact[:, 0])[0, 1] > 0.9999
    np.testing.assert_allclose(scores.normal, exact, atol=0.5)


def test_values_of_no_row_drawn_lie_between_their_neighbours():
    drawn = np.repeat([0.0, 1.0, 3.0], 20_000)[:, np.newaxis]
    tables = _tables(drawn, complete=False)
    asked = np.array([-9.0, 0.0, 0.5, 1.0, 2.0, 3.0, 9.0])[:, np.newaxis]
    found = score_rows(tables, np.asfortranarray(asked)).normal[:, 0]
    assert (np.diff(found) > 0).all()


def test_a_column_of_which_the_rows_drawn_show_one_value_still_varies():
    drawn = np.zeros((20_000, 1))
    tables = _tables(drawn, complete=False, limits=(np.zeros(1), np.ones(1)))
    assert tables.size == 1
    found = score_rows(tables, np.array([[0.0], [1.0]])).normal[:, 0]
    assert found[1] > found[0]


def test_labels_and_the_order_of_rows_do_not_enter():
    rng = np.random.default_rng(0)
    values = np.column_stack([make(rng, 300) for make in COLUMNS.values()])
    order = rng.permutation(300)
    one, other = _tables(values), _tables(values[order])
    for name in ("edges", "cells", "frequent", "buckets"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_a_frequent_value_is_found_and_its_share_is_the_score():
    rng = np.random.default_rng(0)
    values = COLUMNS["mostly zero"](rng, 500)[:, np.newaxis]
    tables = _tables(values)
    assert tables.frequent[0] == 0.0
    scores = score_rows(tables, np.asfortranarray(values))
    np.testing.assert_array_equal(scores.of("frequent"), values == 0)


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(0)
    samples = read_samples(rng.normal(size=(400, 7)), rng.normal(size=(300, 7)))
    pooled = PooledSample.of_all_rows(samples)
    np.testing.assert_array_equal(
        tables_of(samples, pooled, 1).cells, tables_of(samples, pooled, 3).cells
    )
    np.testing.assert_array_equal(make_scores(samples, 1).normal, make_scores(samples, 3).normal)
