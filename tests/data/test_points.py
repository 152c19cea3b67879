"""Points are matched to the samples by name and by label."""

import numpy as np
import pyarrow as pa
import pytest

from each import each
from tellapart.data.points import read_points
from tellapart.data.samples import Samples
from tellapart.errors import InputError

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


@each(
    "points, part",
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
