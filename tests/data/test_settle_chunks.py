"""Dates and columns that name rows: in chunks what they are in memory."""

import warnings
from dataclasses import replace

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import dataset as ds
from pyarrow import parquet

import tellapart as ta
from tellapart.cli import run
from tellapart.data.reader import read_chunked, read_samples
from tellapart.data.sources.files import open_dataset
from tellapart.errors import InputError

NOTES = ["id", "hash", "customer_id"]


def visits(n, seed, first=0):
    rng = np.random.default_rng(seed)
    moments = pd.Timestamp("2024-02-01") + pd.to_timedelta(rng.integers(5_000_000, size=n), "s")
    return pd.DataFrame(
        {
            "id": rng.permutation(n) + first,
            "hash": [f"{k:032x}" for k in rng.integers(2**62, size=n)],
            "customer_id": rng.choice(10**9, n, replace=False),
            "day": pd.Series(moments).dt.floor("D"),
            "when": moments,
            "wait": pd.to_timedelta(rng.exponential(600, n).round(), unit="s"),
            "visits": rng.poisson(3, n),
            "dose": rng.normal(size=n),
        }
    )


X, Y = visits(900, 0), visits(700, 1, 900)


def in_forms(tmp_path, x=X, y=Y):
    for name, frame in (("x", x), ("y", y)):
        (tmp_path / name).mkdir(exist_ok=True)
        cut = len(frame) // 3
        for k, part in enumerate((frame[:cut], frame[cut:])):
            parquet.write_table(pa.Table.from_pandas(part), tmp_path / name / f"{k}.parquet")
            (tmp_path / f"{name}csv").mkdir(exist_ok=True)
            shown = part.drop(columns=["wait"], errors="ignore")
            shown.to_csv(tmp_path / f"{name}csv" / f"{k}.csv", index=False)
    yield open_dataset(tmp_path / "x"), open_dataset(tmp_path / "y")
    yield open_dataset(tmp_path / "x"), y
    yield dd.from_pandas(x, npartitions=5), dd.from_pandas(y, npartitions=2)
    yield pa.table(x), ds.dataset(pa.table(y))
    yield open_dataset(tmp_path / "xcsv"), open_dataset(tmp_path / "ycsv")


@pytest.mark.parametrize("most", [300, 1 << 16])
def test_as_in_memory(most, tmp_path, set_budget):
    set_budget(pooled_rows=most)
    with pytest.warns(UserWarning, match="is excluded"):
        expected = read_samples(X, Y, keep=())
    memory = replace(expected, seed=3)
    for x, y in in_forms(tmp_path):
        with pytest.warns(UserWarning, match="is excluded") as told:
            found = read_chunked(x, y, keep=(), seed=3)
        assert [str(w.message).split("'")[1] for w in told] == NOTES
        own = [s for s, name in enumerate(memory.names) if name in found.names]
        assert found.names == tuple(memory.names[s] for s in own)
        assert set(memory.names) - set(found.names) <= {"wait (seconds)"}
        assert found.categories == expected.categories
        for mine, other in zip(found.stores, (expected.x, expected.y), strict=True):
            assert np.array_equal(mine.rows(np.arange(len(other))), other[:, own])
        assert np.array_equal(found.whole.pooled, memory.whole.pooled[:, own])
        assert found.notes.parts["when"] == ("days", "hour", "weekday", "month")
        assert found.notes.parts["day"] == ("days", "weekday", "month")


def test_there_is_a_way_back(tmp_path):
    for x, y in in_forms(tmp_path):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = read_chunked(x, y, keep=NOTES, seed=3)
        assert found.names[:3] == tuple(NOTES)
        assert found.kinds[:3] == ("numeric", "categorical", "numeric")
        assert len(found.categories["hash"]) == 1600


def test_more_texts_than_can_be_held(tmp_path, set_budget):
    set_budget(most_levels=500)
    for x, y in in_forms(tmp_path):
        with pytest.warns(UserWarning, match="is excluded") as told:
            assert "hash" not in read_chunked(x, y, keep=()).names
        assert "more than 500 distinct texts" in str(told[1].message)
        with pytest.raises(InputError, match="'hash' of X and Y looks like an identifier"):
            read_chunked(x, y, keep=["hash"])


def test_numbers_that_repeat_are_measurements(tmp_path):
    x = pd.DataFrame({"key": np.arange(400) % 130, "u": np.arange(400.0)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_chunked(ds.dataset(pa.table(x)), x, keep=()).names == ("key", "u")


@pytest.mark.parametrize(
    ("other", "keep", "message"),
    [
        ({"when": [1.0, 2, 3]}, (), "'when' must be of one kind in X and Y; got dates"),
        ({"when": pd.to_datetime(["2024-01-01"] * 3)}, ["wen"], "keep must name columns"),
        ({"when": pd.to_datetime(["2024-01-01"] * 3)}, "when", "keep must be a sequence"),
    ],
)
def test_refused(other, keep, message):
    x = pa.table({"when": pd.to_datetime(["2024-03-05", "2024-03-06", "2024-03-06"])})
    with pytest.raises(InputError, match=message):
        read_chunked(ds.dataset(x), pa.table(other), keep=keep)


def test_dates_that_turn_out_to_be_text(tmp_path):
    lines = ["when", *["2024-03-05"] * 200_000, "yesterday"]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    data = open_dataset(tmp_path / "a.csv")
    with pytest.raises(InputError, match=r"'when' of X must hold dates.*got string"):
        read_chunked(data, data, keep=())


def test_the_answer_tells_of_it(tmp_path, capsys):
    forms = list(in_forms(tmp_path))
    with pytest.warns(UserWarning, match="is excluded"):
        result = ta.two_sample_test(*forms[0], n_permutations=99, random_state=0)
    assert "Excluded: 'id' (consecutive whole numbers" in result.summary()
    assert result.to_dict()["columns"]["split_into_parts"]["wait"] == ["seconds"]
    options = ["--drop", "dose", "--keep", "id", "--permutations", "99", "--seed", "0"]
    assert run(["compare", str(tmp_path / "x"), str(tmp_path / "y"), *options]) == 0
    shown = capsys.readouterr().out
    assert "Excluded by the user: 'dose'." in shown
    assert "Excluded: 'hash'" in shown
