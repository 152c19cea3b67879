"""Tables as people have them: dates, identifiers, and the way back."""

import warnings
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import stats

import tellapart as ta
from libraries import LIBRARIES, every_library
from tellapart.data.grouping import read_grouped
from tellapart.data.reader import read_samples
from tellapart.errors import InputError

RNG = np.random.default_rng(0)
START = datetime(2024, 1, 1)


def data(n, seed=0, first=0):
    rng = np.random.default_rng(seed)
    return {
        "id": np.arange(first, first + n),
        "hash": [f"{k:032x}" for k in rng.integers(2**62, size=n)],
        "when": [START + timedelta(minutes=int(m)) for m in rng.integers(10**5, size=n)],
        "wait": [timedelta(seconds=int(s)) for s in rng.integers(900, size=n)],
        "sex": rng.choice(["f", "m"], n).tolist(),
        "dose": rng.normal(size=n),
    }


PARTS = ("when (days)", "when (hour)", "when (weekday)", "when (month)", "wait (seconds)")


@every_library
def test_dates_are_split_and_identifiers_left_out(table):
    with pytest.warns(UserWarning, match="is excluded") as told:
        samples = read_samples(table(data(80)), table(data(60, 1, first=80)), keep=())
    assert samples.names == (*PARTS, "sex", "dose")
    assert dict(zip(samples.names, samples.kinds, strict=True))["when (weekday)"] == "categorical"
    assert samples.categories["when (month)"] == ("Jan", "Feb", "Mar")
    assert [str(w.message) for w in told] == [
        "column 'id' of X and Y is excluded: it appears to be an identifier (consecutive whole "
        "numbers, each at most once in a sample); pass keep=['id'] to compare it",
        "column 'hash' of X and Y is excluded: it appears to be an identifier (140 distinct "
        "texts in 140 rows); pass keep=['hash'] to compare it",
    ]


@every_library
def test_there_is_a_way_back(table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        samples = read_samples(table(data(40)), table(data(60, 1)), keep=["id", "hash"])
    assert samples.names[:2] == ("id", "hash")
    assert samples.kinds[:2] == ("numeric", "categorical")
    assert len(samples.categories["hash"]) == 100


@every_library
def test_without_the_argument_columns_are_taken_as_they_are(table):
    some = {name: values for name, values in data(60).items() if name in ("id", "dose")}
    assert read_samples(table(some), table(some)).names == ("id", "dose")
    for name, message in (("when", "convert or drop the column"), ("hash", "an identifier")):
        bad = {name: data(60)[name]}
        with pytest.raises(InputError, match=message):
            read_samples(table(bad), table(bad))


@every_library
def test_a_table_of_numbers_alone(table):
    numbers = {"row": np.arange(50), "u": RNG.normal(size=50), "n": RNG.poisson(3, 50)}
    with pytest.warns(UserWarning, match="column 'row' of X and Y is excluded"):
        samples = read_samples(table(numbers), table(numbers), keep=())
    assert samples.names == ("u", "n")
    assert samples.x.shape == (50, 2)


def test_floats_and_matrices_never_name_rows():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        floats = pd.DataFrame({"id": np.arange(50.0), "u": np.sort(RNG.normal(size=50))})
        assert read_samples(floats, floats, keep=()).names == ("id", "u")
        matrix = np.arange(100).reshape(50, 2)
        assert read_samples(matrix, matrix, keep=()).names == ("x0", "x1")


def test_arrays_of_dates():
    moments = np.datetime64("2024-01-01T00", "h") + RNG.integers(2000, size=(30, 2))
    samples = read_samples(moments[:12], moments[12:], keep=())
    assert samples.names[:2] == ("x0 (days)", "x0 (hour)")
    assert samples.n_columns == 8


def test_a_column_without_values_beside_one_of_dates():
    x = pa.table({"when": data(30)["when"], "u": RNG.normal(size=30)})
    y = pa.table({"when": pa.nulls(20), "u": RNG.normal(size=20)})
    samples = read_samples(x, y, keep=(), missing="drop-columns")
    assert samples.names == ("u",)


@pytest.mark.parametrize(
    ("other", "keep", "message"),
    [
        (
            {"when": [1.0, 2, 3]},
            (),
            r"'when' must be of one kind in X and Y; got dates.* Float64 in Y",
        ),
        (
            {"when": data(3)["when"]},
            ["wen"],
            r"keep must name columns; got 'wen'; the nearest.*'when'",
        ),
        ({"when": data(3)["when"]}, "when", "keep must be a sequence of column names; got str"),
        ({"then": [1.0, 2, 3]}, (), "X and Y must have the same columns"),
    ],
)
def test_refused(other, keep, message):
    with pytest.raises(InputError, match=message):
        read_samples(pa.table({"when": data(5)["when"]}), pa.table(other), keep=keep)


def test_text_that_may_be_dates_is_told_so():
    days = [str((START + timedelta(days=k)).date()) for k in range(100)]
    table = pd.DataFrame({"day": days, "u": RNG.normal(size=100)})
    with pytest.warns(UserWarning, match="to be converted to dates if they are such"):
        assert read_samples(table[:50], table[50:], keep=()).names == ("u",)


@every_library
def test_groups_of_a_table(table):
    with pytest.warns(UserWarning, match="column '(id|hash)' of table is excluded"):
        grouped = read_grouped(table(data(60)), "sex")
    assert grouped.rows.names == (*PARTS, "dose")
    assert read_grouped(table(data(60)), "sex", keep=["id", "hash"]).rows.names[0] == "id"


@pytest.mark.filterwarnings("ignore:column")
def test_every_face_splits_dates():
    for make in LIBRARIES.values():
        x, y = data(80), data(80, 1)
        y["when"] = [moment.replace(hour=moment.hour // 3) for moment in y["when"]]
        x, y = make(x), make(y)
        result = ta.two_sample_test(x, y, random_state=0)
        assert result.variables == ("when (hour)",)
        assert ta.select_variables(x, y, 1, random_state=0).variables == ("when (hour)",)
        hours = [result.witness(some) for some in (x, y)]
        assert hours[0].mean() > hours[1].mean()


@pytest.mark.parametrize("nulls", [30, pytest.param(200, marks=pytest.mark.long)])
def test_the_level_holds_where_columns_are_left_out(nulls):
    pvalues = []
    for seed in range(nulls):
        rng = np.random.default_rng(seed)
        pool = pd.DataFrame(data(40, seed))
        mine = rng.permutation(40) < 15
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = ta.two_sample_test(
                pool[mine], pool[~mine], n_permutations=99, n_variables=1, random_state=seed
            )
        pvalues.append(result.pvalue)
    assert np.count_nonzero(np.array(pvalues) <= 0.1) <= stats.binom.isf(1e-4, nulls, 0.1)
