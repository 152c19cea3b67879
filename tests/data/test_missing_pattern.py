"""The pattern of missing values: all rows keep it, whichever of them keep their values."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from tellapart.data.column_store import MappedColumns
from tellapart.data.missing import MissingPattern, fill_missing
from tellapart.data.reader import read_samples
from tellapart.errors import InputError

NAN = np.nan
X = np.array([[1.0, 2.0, NAN], [NAN, 5.0, 6.0], [7.0, 8.0, 9.0], [3.0, 1.0, 4.0]])
Y = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def test_pairwise_fills_in_the_pooled_median_and_keeps_what_was_read():
    samples = read_samples(X, Y, missing="pairwise")
    assert samples.x[1, 0] == np.median([1, 7, 3, 1, 4])
    assert samples.x[0, 2] == np.median([6, 9, 4, 3, 6])
    assert samples.filled_columns == ("x0", "x2") == samples.as_read.pattern.names
    assert samples.as_read.x is X
    assert samples.dropped_rows == (0, 0)
    assert np.array_equal(samples.as_read.absent()[:4], np.isnan(X))


def test_the_commonest_label_stands_for_a_missing_one():
    table = pd.DataFrame({"c": ["a", "b", None, "b"], "v": [1.0, 2.0, 3.0, 4.0]})
    samples = read_samples(table, table, missing="pairwise")
    assert samples.x[:, 0].tolist() == [0, 1, 1, 1]


def test_rows_left_out_keep_their_pattern():
    samples = read_samples(X, Y, missing="drop-rows")
    assert samples.x.tolist() == X[2:].tolist()
    assert samples.n_read == (4, 2)
    pattern = samples.as_read.pattern
    assert pattern.indicators(X).sum() == 2
    values = pattern.values(X)
    assert np.isnan(values[:2]).all()
    assert np.array_equal(values[2:], X[2:])
    assert np.array_equal(np.isnan(X), np.isnan(samples.as_read.x))


def test_columns_left_out_keep_their_pattern():
    samples = read_samples(X, Y, missing="drop-columns")
    assert samples.names == ("x1",)
    assert samples.as_read.pattern.names == ("x0", "x2")
    assert samples.as_read.pattern.values(X).tolist() == X[:, [1]].tolist()


def test_rows_and_columns_can_be_chosen():
    samples = read_samples(X, Y, missing="pairwise")
    part = samples.rows(np.array([0, 2]), np.array([1]))
    assert np.array_equal(part.as_read.x, X[[0, 2]], equal_nan=True)
    assert part.columns([1]).as_read is None
    assert part.columns([1, 2]).as_read.pattern.names == ("x2",)
    assert part.columns([2]).filled_columns == ("x2",)


def test_rows_are_drawn_from_all_that_were_read():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 2))
    x[::2, 0] = NAN
    samples = read_samples(x, rng.normal(size=(10, 2)), missing="drop-rows")
    part = samples.draw(20, rng)
    assert part.n_read == (20, 10)
    assert part.n_x + part.dropped_rows[0] == 20
    complete = part.as_read.x[~np.isnan(part.as_read.x).any(axis=1)]
    assert np.array_equal(part.x, complete)
    assert samples.draw((100, 10), rng) is samples


def test_columns_without_any_value_are_named_and_left_out():
    empty = X.copy()
    empty[:, 1] = NAN
    other = Y.copy()
    other[:, 1] = NAN
    for missing in ("pairwise", "drop-rows"):
        with pytest.warns(UserWarning, match="column 'x1' of X and Y left out: every value"):
            samples = read_samples(empty, other, missing=missing)
        assert samples.dropped_columns == ("x1",)
        assert samples.names == ("x0", "x2")
    with pytest.raises(InputError, match=r"column 'x1' \(all 4 in X, all 2 in Y\)"):
        read_samples(empty, other)


def test_every_kind_of_sample_is_filled():
    fills = np.array([5.0])
    held = sparse.csc_array(np.array([[NAN, 1.0], [0.0, 2.0]]))
    store = read_samples(held, held, missing="pairwise").x
    assert store[:, 0].tolist() == [0.0, 0.0]
    mapped = MappedColumns(np.array([[NAN, 1.0], [3.0, 2.0]], dtype=np.float32))
    filled = fill_missing(mapped, np.array([0]), fills)
    assert filled[:, 0].tolist() == [5.0, 3.0]
    assert filled.rows(np.array([0])).columns(np.array([0]))[:, 0].tolist() == [5.0]
    masked = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[True, False], [False, False]])
    assert read_samples(masked, np.ones((2, 2)), missing="pairwise").filled_columns == ("x0",)


def test_a_pattern_of_some_columns():
    pattern = MissingPattern(("a", "c"), np.array([0, 2]), np.arange(3))
    assert pattern.of({"c"}).places.tolist() == [2]
    assert pattern.missing_among_kept() == [(0, 0), (1, 2)]
