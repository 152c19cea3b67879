"""Counts and metadata in two tables."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tellapart as ta
from tellapart.data.design_labels import DesignArguments
from tellapart.data.grouping import read_grouped
from tellapart.data.reader import read_samples
from tellapart.errors import InputError

COUNTS = pd.DataFrame(
    {"TP53": [8, 0, 3, 5], "MYC": [0, 5, 9, 2]}, index=pd.Index(["s1", "s2", "s3", "s4"], name="id")
)
ABOUT = pd.DataFrame(
    {"arm": ["drug", "drug", "placebo", "placebo"], "site": ["n", "s", "n", "s"]},
    index=pd.Index(["s3", "s1", "s2", "s4"], name="id"),
)


def as_polars(frame):
    return pl.from_pandas(frame.reset_index())


def joined(library):
    if library == "pandas":
        return ta.with_metadata(COUNTS, ABOUT)
    if library == "lazy":
        return ta.with_metadata(as_polars(COUNTS).lazy(), as_polars(ABOUT).lazy(), on="id")
    return ta.with_metadata(as_polars(COUNTS), as_polars(ABOUT), on="id")


@pytest.mark.parametrize("library", ["pandas", "polars", "lazy"])
def test_rows_are_matched_whatever_their_order(library):
    grouped = read_grouped(
        joined(library), "arm", design=DesignArguments(strata="site", paired=False, clusters=None)
    )
    assert grouped.rows.names == ("TP53", "MYC")
    assert [grouped.labels[g] for g in grouped.groups] == ["drug", "placebo", "drug", "placebo"]
    np.testing.assert_array_equal(grouped.rows.values, COUNTS.to_numpy())
    strata = [ABOUT.loc[row, "site"] for row in COUNTS.index]
    np.testing.assert_array_equal(grouped.row_labels.strata, pd.factorize(pd.Series(strata))[0])


def test_groups_are_those_of_a_join_in_pandas():
    table = COUNTS.join(ABOUT)
    grouped = read_grouped(joined("pandas"), "arm")
    for place, label in enumerate(grouped.labels):
        expected = table.loc[table["arm"] == label, ["TP53", "MYC"]].to_numpy()
        np.testing.assert_array_equal(grouped.rows.values[grouped.rows_of(place)], expected)


def test_labels_of_a_design_are_columns_of_the_metadata():
    samples = read_samples(
        joined("pandas"), joined("polars"), design=DesignArguments("site", False, None)
    )
    assert samples.names == ("TP53", "MYC")
    assert samples.design is not None


def test_a_column_that_is_missing_is_named():
    with pytest.raises(InputError, match=r"by must be a column of obs; got 'Arm'.*'arm'"):
        read_grouped(joined("pandas"), "Arm")
    with pytest.raises(InputError, match=r"on must be a column of metadata; got 'id'"):
        ta.with_metadata(as_polars(COUNTS), pl.DataFrame({"sample": ["s1"]}), on="id")


def test_rows_without_a_partner_are_one_error():
    with pytest.raises(
        InputError,
        match=r"same rows; got 1 of 4 rows of values without metadata: 's4'$",
    ):
        ta.with_metadata(COUNTS, ABOUT.iloc[:3])
    with pytest.raises(InputError, match=r"got 1 of 4 rows of metadata without values: 's4'$"):
        ta.with_metadata(COUNTS.iloc[:3], ABOUT)
    with pytest.raises(InputError, match=r"values must have each row once; got more than one 's1'"):
        ta.with_metadata(COUNTS.iloc[[0, 0, 1]], ABOUT)


def test_genes_as_rows_are_recognised():
    with pytest.raises(InputError, match=r"pass values transposed, values\.T$"):
        ta.with_metadata(COUNTS.T, ABOUT)


def test_a_table_without_an_index_needs_a_column():
    with pytest.raises(InputError, match=r"on must name the column .* values has no index"):
        ta.with_metadata(as_polars(COUNTS), ABOUT)
    with pytest.raises(InputError, match=r"metadata must be a pandas, polars or pyarrow table"):
        ta.with_metadata(COUNTS, np.eye(4))
