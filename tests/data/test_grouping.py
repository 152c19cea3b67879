"""One table, split by a column into as many groups as there are."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from annotated_data import annotated
from tellapart.data.grouping import check_group_size, group_name, read_grouped
from tellapart.errors import InputError


class TestManyGroups:
    VALUES = np.arange(12.0).reshape(6, 2)

    def test_labels_no_column_can_hold_are_refused(self):
        for labels in ([10**400, 1, 10**400, 1], [[1], [2]], 5):
            with pytest.raises(
                InputError, match=r"by must be .* a sequence with one label per row"
            ):
                read_grouped(np.eye(4), labels)

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
            assert (grouped.labels, grouped.rows.names) == (("a", "b", "c"), ("u", "v"))
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
        assert (columns.compared, columns.dropped_columns) == (("u", "sex"), ("v",))
        assert columns.rows.categories == {"sex": ("f", "m")}
        whole = read_grouped(frame[:4], "arm")
        assert whole.without_missing("error") is whole

    def test_names_and_sizes_of_groups(self):
        names = [group_name("arm", v) for v in ("1", "-2.5", "True", "placebo")]
        assert names == ["arm = 1", "arm = -2.5", "arm = True", "placebo"]
        assert check_group_size(2) is None
        assert check_group_size(1) == "1 row, fewer than the 2 that a test needs"
        assert check_group_size(4, 4) is None
        assert check_group_size(3, 4) == "3 rows, fewer than the 4 that a test needs"
