"""Two columns together: rows to draw, categories as places, shares of pairs of categories."""

import numpy as np
import pytest

from tellapart.data.samples import Samples
from tellapart.results.columns import Crosstab, Scatter, compute_pair, compute_triple


def make_samples(x, y, kinds, categories=None):
    names = tuple("abc"[: len(kinds)])
    return Samples(np.asarray(x, float), np.asarray(y, float), names, kinds, categories or {})


NUMBERS = ("numeric", "numeric", "numeric")


def test_many_rows_are_drawn_from_and_the_same_each_time():
    rng = np.random.default_rng(0)
    samples = make_samples(rng.normal(size=(1000, 3)), rng.normal(size=(50, 3)), NUMBERS)
    view, again = compute_pair(samples, 0, 2), compute_pair(samples, 0, 2)
    assert isinstance(view, Scatter)
    assert (view.names, view.n_rows) == (("a", "c"), (1000, 50))
    assert (view.x.shape, view.y.shape) == ((300, 2), (50, 2))
    np.testing.assert_array_equal(view.x, again.x)
    assert {tuple(row) for row in view.x} <= {tuple(row) for row in samples.x[:, [0, 2]]}


def test_far_rows_do_not_squeeze_the_others():
    x = np.random.default_rng(0).normal(size=(250, 3))
    x[0] = 1e9
    view = compute_pair(make_samples(x, x[1:], NUMBERS), 0, 1)
    assert view.limits[0][1] < 10


def test_a_category_is_a_place_and_rows_are_drawn_apart():
    codes = np.repeat(np.arange(9.0), np.arange(9, 0, -1))
    x = np.column_stack([np.linspace(0, 1, codes.size), codes])
    labels = {"b": tuple("stuvwxyzq")}
    view = compute_pair(make_samples(x, x, ("numeric", "categorical"), labels), 0, 1)
    assert view.ticks == ((), ("s", "t", "u", "v", "w", "other"))
    assert np.all(np.abs(view.x[:, 1] - np.minimum(codes, 5)) <= 0.3)
    assert np.unique(view.x[:, 1]).size == codes.size


def test_constant_columns_have_an_axis():
    view = compute_pair(make_samples(np.ones((5, 2)), np.ones((5, 2)), NUMBERS[:2]), 0, 1)
    assert view.limits[0][0] < 1.0 < view.limits[0][1]


def test_two_categories_are_shares():
    rng = np.random.default_rng(0)
    kinds, labels = ("categorical", "categorical"), {"a": tuple("uvw"), "b": tuple("xyz")}
    x, y = rng.integers(3, size=(90, 2)), rng.integers(3, size=(80, 2))
    y[:60] = 2
    view = compute_pair(make_samples(x, y, kinds, labels), 0, 1)
    assert isinstance(view, Crosstab)
    assert view.cells[0][:2] == ("w", "z")
    assert view.cells[0][3] == pytest.approx(np.mean((y == 2).all(axis=1)))
    assert (len(view.cells), view.n_cells) == (8, 9)


def test_three_columns_are_two_pairs():
    rng = np.random.default_rng(0)
    samples = make_samples(rng.normal(size=(60, 3)), rng.normal(size=(40, 3)), NUMBERS)
    low, high = compute_triple(samples, (0, 1, 2))
    assert low.n_rows[0] + high.n_rows[0] == 60
    assert low.where.startswith("where c is at most")
    assert high.where.startswith("where c is above")
    flat = make_samples(np.ones((5, 3)), np.ones((5, 3)), NUMBERS)
    assert len(compute_triple(flat, (0, 1, 2))) == 1


def test_a_third_column_of_categories_gives_its_commonest():
    rng = np.random.default_rng(0)
    kinds, labels = ("numeric", "numeric", "categorical"), {"c": ("u", "v", "w")}
    x = np.column_stack([rng.normal(size=(60, 2)), np.repeat([0, 1, 2], [10, 20, 30])])
    views = compute_triple(make_samples(x, x, kinds, labels), (0, 1, 2))
    assert [view.where for view in views] == ["where c is w", "where c is v"]
