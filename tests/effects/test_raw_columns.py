"""Raw values of columns, whatever holds the rows and whatever is missing."""

import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from tellapart.budget import Budget, using_budget
from tellapart.data.reader import read_chunked, read_samples
from tellapart.effects.raw_columns import RawColumns


def tables():
    rng = np.random.default_rng(0)
    X, Y = (pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc")) for n in (40, 50))
    X.loc[::7, "b"] = np.nan
    Y.loc[::11, "c"] = np.nan
    return X, Y


@pytest.mark.parametrize("chunked", [False, True])
def test_pairwise_values_are_those_that_were_read(chunked):
    X, Y = tables()
    raw = RawColumns((read_chunked if chunked else read_samples)(X, Y, missing="pairwise"))
    x, y = raw.values([2, 1])
    np.testing.assert_array_equal(x, X[["c", "b"]].to_numpy())
    np.testing.assert_array_equal(y, Y[["c", "b"]].to_numpy())
    place = raw.pattern.names.index("b")
    assert raw.missing(place)[0].sum() == X["b"].isna().sum()


def test_rows_that_are_left_out_have_no_values():
    X, Y = tables()
    raw = RawColumns(read_samples(X, Y, missing="drop-rows"))
    x, _ = raw.values([0])
    assert np.isnan(x[:, 0]).sum() == X["b"].isna().sum()
    np.testing.assert_array_equal(x[~np.isnan(x)], X.dropna()["a"].to_numpy())


def test_columns_of_files_are_gathered_or_drawn(tmp_path):
    X, Y = (side.fillna(0.0) for side in tables())
    for name, side in (("x", X), ("y", Y)):
        side.to_parquet(tmp_path / f"{name}.parquet")
    paths = [ta.open_dataset(str(tmp_path / f"{name}.parquet")) for name in "xy"]
    samples = read_chunked(*paths)
    x, y = RawColumns(samples).values([1, 0])
    np.testing.assert_array_equal(x, X[["b", "a"]].to_numpy())
    np.testing.assert_array_equal(y, Y[["b", "a"]].to_numpy())
    with using_budget(Budget(gathered_bytes=0)):
        drawn, _ = RawColumns(samples).values([1])
    assert set(drawn[:, 0]) <= set(X["b"])
