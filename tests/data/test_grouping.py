"""One table, split by a column: two groups, or as many as there are."""

from datetime import date

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from annotated_data import annotated
from each import each, every_library
from tellapart.data.grouping import check_group_size, group_name, read_grouped, read_groups
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


class TestManyGroups:
    VALUES = np.arange(12.0).reshape(6, 2)

    def test_labels_may_come_beside_the_table(self):
        labels = ["b", "a", None, "c", "a", float("nan")]
        for table in (self.VALUES, sparse.csr_array(self.VALUES), pd.DataFrame(self.VALUES)):
            grouped = read_grouped(table, labels)
            assert (grouped.labels, grouped.sizes) == (("a", "b", "c"), (2, 1, 1))
            assert (grouped.n_unlabelled, grouped.by) == (2, "group")
            assert grouped.rows_of(0).tolist() == [1, 4]
            assert grouped.rows_of_others(0).tolist() == [0, 3]
            assert grouped.samples(np.array([1]), np.array([0, 3])).n_y == 2
        assert read_grouped(self.VALUES, pd.Series([2, 1, 1, 2, 1, 1], name="arm")).by == "arm"
        with pytest.raises(InputError, match=r"one label for each of the 6 rows .*; got 2"):
            read_grouped(self.VALUES, ["a", "b"])

    def test_columns_of_obs_name_the_groups_of_annotated_data(self):
        data = annotated(self.VALUES, ["u", "v"], arm=list("aabbcc"))
        for by in ("arm", list("aabbcc")):
            grouped = read_grouped(data, by)
            assert (grouped.labels, grouped.names) == (("a", "b", "c"), ("u", "v"))
            assert grouped.library == "pandas"
        with pytest.raises(InputError, match="by must be a column of obs; got 'arms'; the nearest"):
            read_grouped(data, "arms")

    def test_missing_values_are_refused_or_dropped_group_by_group(self):
        values = self.VALUES.copy()
        values[4, 1] = np.nan
        frame = pd.DataFrame({"arm": [*"aabbb", None], "u": values[:, 0], "v": values[:, 1]})
        frame["sex"] = list("fmfmfm")
        grouped = read_grouped(frame, "arm")
        with pytest.raises(InputError, match=r"'arm' must say .* got 1 missing of 6 .*drop-rows"):
            grouped.without_missing("error")
        rows = grouped.without_missing("drop-rows")
        assert (rows.sizes, rows.dropped_rows) == ((2, 2), (0, 1))
        columns = read_grouped(frame[:5], "arm").without_missing("drop-columns")
        assert (columns.names, columns.dropped_columns) == (("u", "sex"), ("v",))
        assert columns.categories == {"sex": ("f", "m")}
        whole = read_grouped(frame[:4], "arm")
        assert whole.without_missing("error") is whole

    def test_names_and_sizes_of_groups(self):
        names = [group_name("arm", v) for v in ("1", "-2.5", "True", "placebo")]
        assert names == ["arm = 1", "arm = -2.5", "arm = True", "placebo"]
        assert check_group_size(2) is None
        assert check_group_size(1) == "1 row, fewer than the 2 that a test needs"
        assert check_group_size(4, 4) is None
        assert check_group_size(3, 4) == "3 rows, fewer than the 4 that a test needs"
