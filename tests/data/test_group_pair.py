"""Two groups of one table, as two samples."""

from datetime import date

import numpy as np
import pandas as pd
import pytest

from libraries import every_library
from tellapart.data.grouping import read_groups
from tellapart.errors import InputError


class TestTwoValues:
    DATA = {"arm": ["b", "a", "b", "a", "a"], "dose": [1.0, 2.0, 3.0, 4.0, 5.0]}  # noqa: RUF012

    @every_library
    def test_split_by_text(self, table):
        samples, labels = read_groups(table(self.DATA), "arm")
        assert labels == ("a", "b")
        assert samples.names == ("dose",)
        assert samples.x.tolist() == [[2], [4], [5]]
        assert samples.y.tolist() == [[1], [3]]

    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            ([10, 9, 10, 9, 9], ("9", "10")),
            ([10.0, 9.5, 10.0, 9.5, 9.5], ("9.5", "10")),
            ([True, False, True, False, False], ("False", "True")),
            (["10", "9", "10", "9", "9"], ("9", "10")),
        ],
    )
    @every_library
    def test_split_by_other_dtypes(self, table, values, expected):
        samples, labels = read_groups(table({**self.DATA, "arm": values}), "arm")
        assert labels == expected
        assert samples.y.tolist() == [[1], [3]]

    def test_split_by_category_ignores_unused_levels(self):
        frame = pd.DataFrame(self.DATA)
        frame["arm"] = pd.Categorical(frame["arm"], categories=["z", "b", "a"])
        samples, labels = read_groups(frame, "arm")
        assert labels == ("a", "b")
        assert samples.x.tolist() == [[2], [4], [5]]

    @every_library
    def test_split_keeps_categorical_columns(self, table):
        data = {**self.DATA, "sex": ["f", "m", "m", "f", "f"]}
        samples, _ = read_groups(table(data), "arm")
        assert samples.names == ("dose", "sex")
        assert samples.x.tolist() == [[2, 1], [4, 0], [5, 0]]

    def test_integer_labels_of_pandas(self):
        frame = pd.DataFrame({7: [1.0, 2.0, 3.0, 4.0], 3: [0, 1, 0, 1]})
        samples, labels = read_groups(frame, "3")
        assert labels == ("0", "1")
        assert samples.names == ("7",)

    @every_library
    def test_absent_column_lists_the_nearest_names(self, table):
        with pytest.raises(InputError, match=r"got 'arms'; the nearest names are 'arm'$"):
            read_groups(table(self.DATA), "arms")
        with pytest.raises(InputError, match=r"got 'zzz'; there are 'arm', 'dose'$"):
            read_groups(table(self.DATA), "zzz")

    @every_library
    def test_not_two_values(self, table):
        with pytest.raises(
            InputError, match=r"'dose' must hold exactly two .* got 5: '1', '2', '3'"
        ):
            read_groups(table(self.DATA), "dose")
        with pytest.raises(InputError, match=r"exactly two distinct values; got 1: 'a'$"):
            read_groups(table({"arm": ["a"] * 5, "dose": [1.0] * 5}), "arm")

    @every_library
    def test_missing_values_in_the_column(self, table):
        data = {**self.DATA, "arm": ["b", None, "b", "a", None]}
        with pytest.raises(InputError, match=r"'arm' must say of every row.* got 2 missing of 5"):
            read_groups(table(data), "arm", missing="drop-rows")

    @every_library
    def test_messages_name_the_groups(self, table):
        data = {"arm": ["b", "a", "b"], "dose": [1.0, 2.0, 3.0]}
        with pytest.raises(InputError, match="group 'a' must have at least 2 rows; got 1"):
            read_groups(table(data), "arm")
        data = {**self.DATA, "dose": [1.0, 2.0, None, 4.0, 5.0]}
        with pytest.raises(InputError, match=r"column 'dose' \(1 in group 'b'\)"):
            read_groups(table(data), "arm")

    @every_library
    def test_missing_values_can_be_dropped(self, table):
        data = {**self.DATA, "dose": [1.0, 2.0, 3.0, None, 5.0]}
        samples, _ = read_groups(table(data), "arm", missing="drop-rows")
        assert samples.x.tolist() == [[2], [5]]

    @every_library
    def test_nothing_but_the_column_is_refused(self, table):
        with pytest.raises(InputError, match="table must have at least one column"):
            read_groups(table({"arm": ["a", "b", "a", "b"]}), "arm")

    @every_library
    def test_arrays_are_refused_and_dates_are_labels(self, table):
        with pytest.raises(InputError, match=r"table must be a pandas, .* got numpy ndarray"):
            read_groups(np.eye(4), "x0")
        days = [date(2020, 1, 1), date(2021, 1, 1)] * 2
        samples, labels = read_groups(table({"day": days, "a": [1, 2, 3, 4]}), "day")
        assert labels == ("2020-01-01", "2021-01-01")
        assert samples.x.ravel().tolist() == [1, 3]


KINDS = {"kind": ["b", "a", "c", "b", "a", "c", "c"], "dose": [1.0, 2, 3, 4, 5, 6, 7]}


class TestManyValues:
    @every_library
    def test_two_of_them_can_be_picked(self, table):
        samples, labels = read_groups(table(KINDS), "kind", group="c", against="a")
        assert labels == ("c", "a")
        assert samples.x.ravel().tolist() == [3, 6, 7]
        assert samples.y.ravel().tolist() == [2, 5]

    @every_library
    def test_one_alone_is_compared_with_all_other_rows(self, table):
        samples, labels = read_groups(table(KINDS), "kind", group="c")
        assert labels == ("c", "rest")
        assert samples.y.ravel().tolist() == [1, 2, 4, 5]

    def test_of_two_values_the_rest_is_the_other_one(self):
        table = pd.DataFrame({"arm": ["b", "a", "b", "a"], "dose": [1.0, 2, 3, 4]})
        for given in ({"group": "b"}, {"group": "b", "against": "a"}):
            samples, labels = read_groups(table, "arm", **given)
            assert labels == ("b", "a")
            assert samples.x.ravel().tolist() == [1, 3]

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (
                {},
                r"got 3: 'a', 'b', 'c'; pick two with group='a' and against='b', or compare every "
                r"group with compare_groups$",
            ),
            ({"group": "d"}, "group must be one of the values of 'kind'; got 'd'; there are 'a'"),
            ({"group": "a", "against": "bb"}, "against must be .* the nearest names are 'b'$"),
            ({"against": "a"}, "against='a' needs a group"),
            ({"group": "a", "against": "a"}, "against must be another group than group='a'"),
        ],
    )
    def test_what_cannot_be_picked(self, given, message):
        with pytest.raises(InputError, match=message):
            read_groups(pd.DataFrame(KINDS), "kind", **given)
