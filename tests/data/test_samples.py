"""Samples: shapes, restriction to rows and columns, and random splits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellapart.data.samples import Samples
from tellapart.errors import InputError


@pytest.fixture
def samples():
    """Five and four rows of a numeric and a categorical column."""
    x = np.arange(10.0).reshape(5, 2)
    return Samples(x, -x[:4], ("a", "b"), ("numeric", "categorical"), {"b": ("no", "yes")})


def numbered(n_x, n_y):
    """Make samples whose every row holds its own number, negative in Y."""
    return Samples(
        np.arange(1.0, n_x + 1)[:, None], -np.arange(1.0, n_y + 1)[:, None], ("a",), ("numeric",)
    )


def test_sizes(samples):
    assert (samples.n_x, samples.n_y, samples.n_columns) == (5, 4, 2)


def test_rows(samples):
    part = samples.rows(np.array([4, 0]), np.array([1]))
    assert part.x.tolist() == [[8, 9], [0, 1]]
    assert part.y.tolist() == [[-2, -3]]
    assert part.names == samples.names
    assert part.kinds == samples.kinds
    assert part.categories == samples.categories


def test_columns_keep_their_names_kinds_and_labels(samples):
    part = samples.columns([1])
    assert part.names == ("b",)
    assert part.kinds == ("categorical",)
    assert part.categories == {"b": ("no", "yes")}
    assert part.x.ravel().tolist() == [1, 3, 5, 7, 9]
    swapped = samples.columns(np.array([1, 0]))
    assert swapped.names == ("b", "a")
    assert swapped.y[1].tolist() == [-3, -2]
    assert samples.columns([0]).categories == {}


def test_parts_remember_what_was_dropped(samples):
    less = replace(samples, dropped_columns=("c",), dropped_rows=(2, 1))
    for part in (less.columns([0]), less.rows(np.array([0, 1]), np.array([0]))):
        assert part.dropped_columns == ("c",)
        assert part.dropped_rows == (2, 1)


@given(
    st.integers(4, 40),
    st.integers(4, 40),
    st.floats(0.01, 0.99),
    st.integers(0, 2**32),
)
def test_split_deals_out_every_row_once(n_x, n_y, test_size, seed):
    whole = numbered(n_x, n_y)
    train, test = whole.split(test_size, np.random.default_rng(seed))
    for side in ("x", "y"):
        parts = [getattr(part, side).ravel() for part in (train, test)]
        assert min(part.size for part in parts) >= 2
        expected = np.sort(getattr(whole, side).ravel())
        np.testing.assert_array_equal(np.sort(np.concatenate(parts)), expected)


def test_split_has_the_size_asked_for_and_follows_the_seed():
    whole = numbered(100, 60)
    train, test = whole.split(0.3, np.random.default_rng(0))
    assert (train.n_x, test.n_x, train.n_y, test.n_y) == (70, 30, 42, 18)
    again = whole.split(0.3, np.random.default_rng(0))[1]
    np.testing.assert_array_equal(test.x, again.x)
    other = whole.split(0.3, np.random.default_rng(1))[1]
    assert not np.array_equal(test.x, other.x)


@pytest.mark.parametrize(("n_x", "n_y", "name"), [(3, 9, "X"), (9, 3, "Y")])
def test_too_few_rows_to_split(n_x, n_y, name):
    with pytest.raises(InputError, match=f"{name} must have at least 4 rows .* got 3"):
        numbered(n_x, n_y).split(0.5, np.random.default_rng(0))
