"""Points are matched to the samples by name and by label."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from tellapart.data.samples import Samples
from tellapart.data.sources.array import with_names
from tellapart.errors import InputError
from tellapart.statistics.witness import read_points

LIKE = Samples(
    np.zeros((2, 3)),
    np.zeros((2, 3)),
    ("age", "arm", "v"),
    ("numeric", "categorical", "numeric"),
    {"arm": ("a", "b")},
)
NEEDED = np.array([0, 1])


def test_tables_need_only_the_chosen_columns():
    table = pa.table({"arm": ["b", "zebra"], "age": [40, 50]})
    points = read_points(table, LIKE, NEEDED)
    np.testing.assert_array_equal(points, [[40, 1], [50, -1]])


def test_arrays_give_the_chosen_columns():
    np.testing.assert_array_equal(read_points([1, 0, np.nan], LIKE, NEEDED), [[1, 0]])


def test_matrices_are_matched_by_name_if_they_have_names():
    values = np.array([[2.0, 40.0, 1.0], [0.0, 50.0, 0.0]])
    for matrix in (values, sparse.csr_array(values)):
        named = with_names(matrix, ["other", "age", "arm"])
        np.testing.assert_array_equal(read_points(named, LIKE, NEEDED), values[:, 1:])
        with pytest.raises(InputError, match=r"the column 'arm'; got \['age', 'b', 'c'\]"):
            read_points(with_names(matrix, ["age", "b", "c"]), LIKE, NEEDED)
    points = read_points(sparse.csr_array(values), LIKE, NEEDED)
    np.testing.assert_array_equal(points, values[:, :2])
    with pytest.raises(InputError, match="points must have 3 columns"):
        read_points(sparse.csr_array(values[:, :2]), LIKE, NEEDED)


@pytest.mark.parametrize(
    ("points", "part"),
    [
        (pa.table({"age": [1.0]}), "'arm'"),
        (pa.table({"age": ["x"], "arm": ["a"]}), "'age' of points must be numeric"),
        (pa.table({"age": [1.0], "arm": [1.0]}), "'arm' of points must be categorical"),
        (pa.table({"age": [None, 1.0], "arm": ["a", "b"]}), "finite"),
        (np.zeros((2, 4)), "3 columns"),
        (np.full((1, 3), np.inf), "finite"),
        ("age", "array of numbers"),
        ([[10**400, 1, 1]], "array of numbers"),
        (np.full((2, 3), 1j), "array of numbers"),
        (None, "3 columns"),
    ],
)
def test_bad_points_are_one_clear_error(points, part):
    with pytest.raises(InputError, match=part):
        read_points(points, LIKE, NEEDED)
