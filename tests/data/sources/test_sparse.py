"""Broken sparse matrices are one clear error, where SciPy would crash the process."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import tellapart as ta
from annotated_data import annotated
from tellapart.data.grouping import read_grouped
from tellapart.data.reader import read_samples
from tellapart.data.sources.sparse import check_structure
from tellapart.errors import InputError
from tellapart.statistics.witness import read_points

FAR = 10**8
SHAPE = (6, 4)


def sound(form):
    rng = np.random.default_rng(0)
    return sparse.csr_array(rng.poisson(0.8, SHAPE).astype(float)).asformat(form)


def broken(form, part, change):
    """Return a matrix of which one array was changed: in place, or for what `change` returns."""
    matrix = sound(form)
    values = getattr(matrix, part)
    new = change(values)
    if new is not None:
        setattr(matrix, part, new)
    return matrix


def put(place, value):
    def change(values):
        values[place] = value

    return change


COMPRESSED = [
    ("indices", put(3, FAR), r"indices.* must lie in 0\.\.\d+; got 100000000"),
    ("indices", put(3, -FAR), r"indices.* must lie in 0\.\.\d+; got -100000000"),
    ("indptr", put(2, 0), "indptr must rise from 0"),
    ("indptr", put(2, -FAR), "indptr must rise from 0"),
    ("indptr", put(0, 1), "indptr must rise from 0"),
    ("indptr", put(-1, FAR), "indptr must rise from 0 to at most"),
    ("indptr", lambda values: values[:-1], r"indptr must have \d entries for .*; got"),
    ("indices", lambda values: values[:5], "one index per entry; got 5"),
    ("data", lambda values: values[:5], "one index per entry; got .*5"),
    ("indices", lambda values: values * 1.0, "32 or 64-bit integers"),
    ("indptr", lambda values: values.reshape(1, -1), "32 or 64-bit integers in one dimension"),
]
OTHERS = [
    ("csr", "data", lambda values: values.reshape(-1, 1), "one index per entry"),
    ("bsr", "data", lambda values: values[:, 0, 0], "blocks must be in 3 dimensions; got 1"),
    ("bsr", "data", lambda values: np.ones((len(values), 4, 3)), "blocks of .* must fit into its"),
    ("bsr", "data", lambda values: np.ones((len(values), 0, 1)), "blocks of .* must fit into its"),
    ("coo", "row", put(1, FAR), r"row indices must lie in 0\.\.5; got 100000000"),
    ("coo", "row", put(1, -1), r"row indices must lie in 0\.\.5; got -1"),
    ("coo", "col", put(1, FAR), r"column indices must lie in 0\.\.3; got 100000000"),
    ("coo", "col", put(1, -FAR), r"column indices must lie in 0\.\.3; got -100000000"),
    ("coo", "data", lambda values: values[:5], "one row index per entry; got .*5"),
    ("dia", "offsets", lambda values: values[:2], "one diagonal per offset; got .* for 2"),
    ("dia", "offsets", lambda values: values * 0, "offsets must be distinct"),
    ("dia", "offsets", lambda values: values * 0.5, "offsets must be 32 or 64-bit integers"),
    ("lil", "rows", lambda values: values[:3], "indices must be 6 lists, one per row"),
    ("lil", "rows", put(2, None), "indices must be 6 lists, one per row"),
    ("lil", "data", put(2, [1.0] * 1000), "row 2 must have one index per value; got .* for 1000"),
    ("lil", "rows", lambda values: values[0].__setitem__(0, FAR), r"in 0\.\.3; got 100000000"),
    ("lil", "rows", lambda values: values[0].__setitem__(0, -FAR), r"in 0\.\.3; got -100000000"),
    ("dok", "_dict", put((FAR, 0), 1.0), "axis 0 index 100000000"),
    ("dok", "_dict", put((0, -FAR), 1.0), "negative axis 1 index"),
]
CASES = [
    *((form, *case) for form in ("csr", "csc", "bsr") for case in COMPRESSED),
    *OTHERS,
]


def test_every_way_to_break_a_matrix_is_refused_by_name():
    for form, part, change, message in CASES:
        with pytest.raises(InputError, match=rf"^Y must be a sound sparse matrix; .*{message}"):
            read_samples(np.ones((3, 4)), broken(form, part, change))


@given(
    st.sampled_from(["csr", "csc", "bsr", "coo"]),
    st.data(),
)
def test_one_changed_index_is_refused_or_leaves_a_matrix(form, data):
    matrix = sound(form)
    names = ("row", "col") if form == "coo" else ("indices", "indptr")
    array = getattr(matrix, data.draw(st.sampled_from(names)))
    place = data.draw(st.integers(0, array.size - 1))
    array[place] = data.draw(st.one_of(st.integers(-3, 20), st.integers(-(2**31), 2**31 - 1)))
    try:
        held = read_samples(matrix, np.ones((3, 4))).x
    except InputError:
        return
    rows, columns = sparse.coo_array(matrix).coords
    assert held[:, np.arange(4)].sum() == pytest.approx(matrix.data[: rows.size].sum())
    assert rows.max() < SHAPE[0]
    assert columns.max() < SHAPE[1]


def test_sound_matrices_pass_and_are_not_changed():
    for form in ("csr", "csc", "bsr", "coo", "dia", "lil", "dok"):
        matrix, copy = sound(form), sound(form)
        checked = check_structure("X", matrix)
        assert (checked is matrix) == (form not in ("lil", "dok"))
        np.testing.assert_array_equal(checked.toarray(), copy.toarray())
        np.testing.assert_array_equal(matrix.toarray(), copy.toarray())
        check_structure("X", sparse.csr_array(SHAPE).asformat(form))


def test_diagonals_beside_the_matrix_hold_nothing():
    matrix = sparse.dia_array((np.ones((2, 4)), [0, 50]), shape=SHAPE)
    held = read_samples(matrix, matrix).x
    np.testing.assert_array_equal(held[:, np.arange(4)], np.eye(*SHAPE))


def test_what_a_matrix_says_of_its_order_is_not_believed():
    matrix = sparse.csc_array(([1.0, 2.0, 4.0], [2, 0, 0], [0, 3]), shape=(3, 1))
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    held = read_samples(matrix, np.ones((2, 1))).x
    assert held[:, 0].tolist() == [6.0, 0.0, 1.0]


def test_room_that_is_not_in_use_is_not_read():
    matrix = sparse.csc_array(([1.0, 2.0, np.nan], [0, 1, 2], [0, 1, 2]), shape=(3, 2))
    matrix.data, matrix.indices = np.array([1.0, 2.0, np.nan]), np.array([0, 1, FAR])
    assert read_samples(matrix, np.ones((2, 2))).x[:, [0, 1]].tolist() == [[1, 0], [0, 2], [0, 0]]
    assert matrix.data.size == 3


def test_matrices_inside_of_others_are_checked_too():
    matrix = broken("csr", "indices", put(0, FAR))
    like = read_samples(np.ones((3, 4)), np.ones((3, 4)))
    message = "must be a sound sparse matrix; its column indices"
    with pytest.raises(InputError, match=f"X {message}"):
        read_samples(annotated(matrix), np.ones((3, 4)))
    with pytest.raises(InputError, match=f"X {message}"):
        read_samples(ta.with_names(matrix, list("abcd")), np.ones((3, 4)))
    with pytest.raises(InputError, match=f"table {message}"):
        read_grouped(matrix, list("aaabbb"))
    with pytest.raises(InputError, match=f"points {message}"):
        read_points(matrix, like, np.array([0]))
    with pytest.raises(InputError, match="one name per column of its X, 4 in all; got 3"):
        read_samples(annotated(sound("csr"), ["a", "b", "c"]), np.ones((3, 4)))


def test_broken_sparse_columns_of_pandas():
    values = pd.arrays.SparseArray([0.0, 1.0, 2.0])
    values.sp_index.indices[-1] = FAR
    with pytest.raises(InputError, match="X must have sparse columns"):
        read_samples(pd.DataFrame({"a": values}), np.ones((3, 1)))
