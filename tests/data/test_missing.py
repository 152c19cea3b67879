"""Missing, infinite and huge values: what is counted, what is dropped, what is refused."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tellapart.data.missing import handle_missing
from tellapart.data.reader import read_samples
from tellapart.data.samples import Samples
from tellapart.errors import InputError

NAN, INF = np.nan, np.inf


def pair(x, y):
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    names = tuple("abcdefghij"[: x.shape[1]])
    return Samples(x, y, names, ("numeric",) * x.shape[1])


@pytest.fixture
def gaps():
    """Two samples with gaps in columns a and c."""
    x = [[1, 2, 3], [NAN, 5, 6], [NAN, 8, 9], [10, 11, 12]]
    y = [[1, 2, NAN], [4, 5, 6], [NAN, 8, 9], [0, 0, 0]]
    return pair(x, y)


def test_sound_samples_come_back_as_they_are():
    samples = pair(np.eye(3), np.ones((4, 3)) * 1e150)
    assert handle_missing(samples, "error") is samples


def test_missing_values_are_counted_per_column_and_sample(gaps):
    with pytest.raises(
        InputError,
        match=r"^X and Y must not have missing values; got values in column 'a' \(2 in X, 1 in Y\)"
        r", column 'c' \(1 in Y\); pass missing=\"pairwise\" .* or missing=\"drop-rows\" or "
        r"missing=\"drop-columns\"",
    ):
        handle_missing(gaps, "error")


def test_only_the_first_columns_are_named():
    x = np.full((3, 10), NAN)
    with pytest.raises(InputError, match=r"column 'e' \(all 3 in X\) and 5 more columns;"):
        handle_missing(pair(x, np.zeros((2, 10))), "error")
    with pytest.raises(InputError, match=r"column 'e' \(all 3 in X\) and 1 more column;"):
        handle_missing(pair(x[:, :6], np.zeros((2, 6))), "error")


def test_drop_rows(gaps):
    samples = handle_missing(gaps, "drop-rows")
    assert samples.dropped_rows == (gaps.n_x - samples.n_x, gaps.n_y - samples.n_y) != (0, 0)
    assert samples.dropped_columns == ()
    assert samples.x.tolist() == [[1, 2, 3], [10, 11, 12]]
    assert samples.y.tolist() == [[4, 5, 6], [0, 0, 0]]
    assert samples.names == ("a", "b", "c")


def test_drop_rows_leaves_a_complete_sample_uncopied():
    samples = pair([[1, NAN], [1, 2], [3, 4]], np.ones((3, 2)))
    assert handle_missing(samples, "drop-rows").y is samples.y


def test_drop_columns_looks_at_both_samples(gaps):
    samples = handle_missing(gaps, "drop-columns")
    assert samples.dropped_columns == tuple(n for n in gaps.names if n not in samples.names) != ()
    assert samples.dropped_rows == (0, 0)
    assert samples.names == ("b",)
    assert samples.x.tolist() == [[2], [5], [8], [11]]
    assert samples.y.tolist() == [[2], [5], [8], [0]]


def test_nothing_left_is_an_error():
    samples = pair([[NAN, 1], [1, NAN], [2, 2]], np.ones((3, 2)))
    with pytest.raises(InputError, match='"drop-rows" must leave at least 2 rows of X; got 1 of 3'):
        handle_missing(samples, "drop-rows")
    with pytest.raises(InputError, match="at least one column; all 2 have missing values"):
        handle_missing(samples, "drop-columns")


@pytest.mark.parametrize("policy", ["error", "drop-rows", "drop-columns"])
def test_infinite_values_are_always_refused(policy):
    samples = pair([[1, INF, NAN], [2, -INF, 3]], [[1, 2, 3], [INF, 5, 6]])
    with pytest.raises(
        InputError,
        match=r"finite numbers; got infinite values in column 'a' \(1 in Y\), column 'b' \(2 in X",
    ):
        handle_missing(samples, policy)


def test_huge_values_are_refused_with_advice():
    samples = pair([[1, -2e150], [2, 3]], np.ones((2, 2)))
    with pytest.raises(
        InputError, match=r"at most 1e\+150 .*rescale.*larger values in column 'b' \(1 in X\)"
    ):
        handle_missing(samples, "error")


def test_a_signalling_nan_is_missing_like_any_other():
    x = np.array([[Decimal("sNaN"), 1], [2, 3]], dtype=object)
    with pytest.raises(InputError, match=r"missing values; got values in column 'x0' \(1 in X\)"):
        read_samples(x, np.ones((2, 2)))


def test_numbers_beyond_float64_are_refused():
    huge = np.array([[10**400, 2], [3, 4]], dtype=object)
    for X in (huge, pd.DataFrame(huge, dtype=object), np.full((2, 2), np.longdouble("1e400"))):
        with pytest.raises(InputError, match="infinite"):
            read_samples(X, np.ones((2, 2)))


@given(
    arrays.arrays(
        np.float64,
        st.tuples(st.integers(2, 6), st.integers(1, 4)),
        elements=st.sampled_from([0.0, 1.0, -3.5, NAN]),
    ),
    st.sampled_from(["drop-rows", "drop-columns"]),
)
def test_what_is_left_is_complete_and_was_there(x, policy):
    names = [f"x{s}" for s in range(x.shape[1])]
    try:
        samples = read_samples(x, np.zeros((2, x.shape[1])), missing=policy)
    except InputError:
        complete = ~np.isnan(x)
        left = complete.all(axis=1).sum() if policy == "drop-rows" else complete.all(axis=0).any()
        assert left < (2 if policy == "drop-rows" else 1)
        return
    kept = [names.index(name) for name in samples.names]
    rows = ~np.isnan(x[:, kept]).any(axis=1)
    assert np.isfinite(samples.x).all()
    np.testing.assert_array_equal(samples.x, x[np.ix_(rows, kept)])
