"""Labels of strata, pairs and clusters, from columns and from arrays."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tellapart.data.design_labels import DesignArguments, encode, take_labels
from tellapart.data.reader import read_samples
from tellapart.errors import InputError

X = {"site": ["a", "b", "a"], "dose": [1.0, 2.0, 3.0], "who": [3, 1, 2]}
Y = {"who": [1.0, 2.0, 3.0], "dose": [2.0, 2.5, 0.0], "site": ["b", "a", "a"]}


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_that_label_rows_are_not_compared(table):
    asked = DesignArguments(paired="who", strata="site")
    samples = read_samples(table(X), table(Y), design=asked)
    assert samples.names == ("dose",)
    # 1 and 1.0 are the same key, wherever each stands.
    x, y = samples.design.blocks
    assert [int(np.flatnonzero(y == key)[0]) for key in x] == [2, 0, 1]


def test_labels_may_be_dates_categories_and_arrow_arrays():
    days = pd.to_datetime(["2024-01-01", "2024-01-02"])
    codes = encode([list(days), list(days[::-1])])
    assert codes[0].tolist() == codes[1][::-1].tolist() == [0, 1]
    asked = DesignArguments(
        strata=(pa.array(["u", "v", "u"]), pd.Series(["u", "v", "v"], dtype="category"))
    )
    _, taken = take_labels((None, None), asked, ("X", "Y"))
    x, y = taken.coded(("X", "Y"), (3, 3))
    assert x.strata.tolist() == [0, 1, 0]
    assert y.strata.tolist() == [0, 1, 1]


def test_missing_labels_have_a_code_of_their_own():
    assert encode([[None, float("nan"), pd.NA, pd.NaT, "a"]])[0].tolist() == [-1, -1, -1, -1, 0]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"strata": "sit"},
            "strata must be a column of X; got 'sit'; the nearest names are 'site'",
        ),
        ({"strata": 3}, "strata must be the name of a column of both tables.*got int"),
        ({"strata": True}, "strata must be the name of a column.*got True"),
        ({"paired": 1.5}, r"paired must be True \(row i of X belongs to row i of Y\).*got float"),
        ({"clusters": ([1, 2, 3], [1, 2])}, "one label for each of the 3 rows of Y; got 2"),
        ({"clusters": ([1, 2, 3],)}, "a pair of label arrays, one per sample; got tuple"),
        ({"clusters": (np.ones((3, 2)), [1])}, "label arrays of one dimension"),
    ],
)
def test_what_labels_no_rows_is_one_clear_error(asked, message):
    with pytest.raises(InputError, match=message):
        read_samples(pd.DataFrame(X), pd.DataFrame(Y), design=DesignArguments(**asked))


def test_arrays_have_no_columns_to_name():
    with pytest.raises(InputError, match=r"strata must be label arrays.*got 'site'"):
        read_samples(np.ones((3, 1)), np.ones((3, 1)), design=DesignArguments(strata="site"))
