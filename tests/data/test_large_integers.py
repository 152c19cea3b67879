"""Whole numbers beyond 2⁵³: rounded without harm, or refused, never merged in silence."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, dataset, parquet
from scipy import sparse

import tellapart as ta
from tellapart.data.columns import rounded_extremes

RNG = np.random.default_rng(0)
NEAR = (2**62 + RNG.integers(0, 100, 60), 2**62 + RNG.integers(0, 100, 60))
NANOSECONDS = (
    1_700_000_000_000_000_000 + RNG.integers(0, 10**13, 60),
    1_700_000_000_000_000_000 + RNG.integers(10**13, 2 * 10**13, 60),
)
SMALL = (RNG.normal(size=60), RNG.normal(size=60))


def chunked(folder, tables, form):
    paths = []
    for k, table in enumerate(tables):
        path = folder / f"{k}.{form}"
        if form == "parquet":
            parquet.write_table(table, path, row_group_size=20)
        else:
            csv.write_csv(table, path)
        paths.append(ta.open_dataset(path))
    return paths


FORMS = {
    "array": lambda t, _: [np.column_stack([one["t"], one["t"]]) for one in t],
    "uint64": lambda t, _: [np.array(one["t"], dtype=np.uint64)[:, np.newaxis] for one in t],
    "objects": lambda t, _: [np.array(one["t"].tolist(), dtype=object)[:, None] for one in t],
    "pandas": lambda t, _: [pd.DataFrame(one) for one in t],
    "pandas, whole numbers only": lambda t, _: [pd.DataFrame({"t": one["t"]}) for one in t],
    "pandas with gaps": lambda t, _: [pd.DataFrame(one).astype({"t": "Int64"}) for one in t],
    "pandas objects": lambda t, _: [pd.DataFrame(one).astype({"t": object}) for one in t],
    "polars": lambda t, _: [pl.DataFrame(one) for one in t],
    "polars, 128 bits": lambda t, _: [
        pl.DataFrame(one).with_columns(pl.col("t").cast(pl.Int128)) for one in t
    ],
    "masked": lambda t, _: [np.ma.masked_array(np.column_stack([one["t"]])) for one in t],
    "pyarrow": lambda t, _: [pa.table(one) for one in t],
    "dataset": lambda t, _: [dataset.dataset(pa.table(one)) for one in t],
    "parquet": lambda t, folder: chunked(folder, [pa.table(one) for one in t], "parquet"),
    "csv": lambda t, folder: chunked(folder, [pa.table(one) for one in t], "csv"),
}


def samples(form, columns, folder):
    tables = [{"t": t, "u": u} for t, u in zip(columns, SMALL, strict=True)]
    return FORMS[form](tables, folder)


@pytest.mark.parametrize("form", FORMS)
def test_numbers_that_would_be_merged_are_refused(form, tmp_path):
    x, y = samples(form, NEAR, tmp_path)
    with pytest.raises(ta.InputError, match=r"float64 holds multiples of 1024 only: subtract"):
        ta.two_sample_test(x, y, n_permutations=19, random_state=0)


@pytest.mark.parametrize("form", FORMS)
def test_samples_that_differ_in_rounded_digits_are_not_called_constant(form, tmp_path):
    constants = (np.full(60, 2**62 + 1), np.full(60, 2**62 + 2))
    x, y = samples(form, constants, tmp_path)
    with pytest.raises(ta.InputError, match="subtract"):
        ta.two_sample_test(x, y, n_permutations=19, random_state=0)


@pytest.mark.parametrize("form", FORMS)
def test_time_in_nanoseconds_is_compared(form, tmp_path):
    x, y = samples(form, NANOSECONDS, tmp_path)
    with pytest.warns(UserWarning, match="rounded to multiples of 256"):
        result = ta.two_sample_test(x, y, n_permutations=99, random_state=0)
    assert result.pvalue == 0.01


def test_what_does_not_vary_is_constant_and_no_more():
    same = (np.full(60, 2**62 + 1), np.full(60, 2**62 + 1))
    x, y = samples("pandas", same, None)
    with pytest.warns(ta.ConstantColumnWarning, match="'t'"):
        ta.two_sample_test(x, y, n_permutations=19, random_state=0, method="split")


def test_numbers_that_float64_holds_are_compared_without_a_word():
    x, y = (1024 * np.arange(k, 2000, 7).reshape(-1, 1) + 2**61 for k in (0, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = ta.two_sample_test(x, y, n_permutations=99, random_state=0)
    small = ta.two_sample_test(x - 2**61, y - 2**61, n_permutations=99, random_state=0)
    assert result.pvalue == pytest.approx(small.pvalue)


def test_groups_and_monitors_refuse_them():
    both = pd.DataFrame({"t": np.concatenate(NEAR), "by": ["a"] * 60 + ["b"] * 60})
    with pytest.raises(ta.InputError, match="subtract"):
        ta.compare_groups(both, by="by", n_permutations=19)
    with pytest.raises(ta.InputError, match="subtract"):
        ta.compare_to_reference(pd.DataFrame({"t": NEAR[0]}))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_which_numbers_float64_holds(dtype):
    limits = np.iinfo(dtype)
    ends = [limits.max - k for k in range(3)] + [limits.min + k for k in range(3)]
    powers = [2**k + step for k in range(50, 63) for step in (-2, -1, 0, 1, 2)]
    for number in {*ends, *powers}:
        told = rounded_extremes(np.array([number], dtype=dtype))
        assert (told is None) == (int(float(number)) == number), number


def test_sparse_entries_are_warned_of():
    values = np.zeros((60, 2), dtype=np.int64)
    values[::3, 0] = 2**62 + np.arange(20)
    with pytest.warns(UserWarning, match="rounded to multiples of 1024"):
        ta.two_sample_test(
            sparse.csr_array(values), sparse.csr_array(values), n_permutations=19, random_state=0
        )
