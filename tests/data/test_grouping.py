"""One table, split by a column: two groups, or as many as there are."""

from datetime import date

import numpy as np
import pandas as pd
import pytest

from each import each, every_library
from tellapart.data.grouping import read_grouped, read_groups
from tellapart.errors import InputError


class TestGroups:
    DATA = {"arm": ["b", "a", "b", "a", "a"], "dose": [1.0, 2.0, 3.0, 4.0, 5.0]}  # noqa: RUF012

    @every_library
    def test_split_by_text(self, table):
        samples, labels = read_groups(table(self.DATA), "arm")
        assert labels == ("a", "b")
        assert samples.names == ("dose",)
        assert samples.x.tolist() == [[2], [4], [5]]
        assert samples.y.tolist() == [[1], [3]]

    @each(
        "values, expected",
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

    def test_labels_no_column_can_hold_are_refused(self):
        for labels in ([10**400, 1, 10**400, 1], [[1], [2]], 5):
            with pytest.raises(
                InputError, match=r"by must be .* a sequence with one label per row"
            ):
                read_grouped(np.eye(4), labels)

    @every_library
    def test_arrays_and_dates_are_refused(self, table):
        with pytest.raises(InputError, match=r"table must be a pandas, .* got numpy ndarray"):
            read_groups(np.eye(4), "x0")
        days = [date(2020, 1, 1), date(2021, 1, 1)] * 2
        with pytest.raises(InputError, match="column 'day' of table must hold numbers"):
            read_groups(table({"day": days, "a": [1, 2, 3, 4]}), "day")
