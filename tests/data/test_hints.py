"""Hints at input that may not be what was meant: said once where due, never on ordinary tables."""

import importlib
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import null_tables
import tellapart as ta
from annotated_data import annotated
from development.kind import KINDS
from tellapart.data.grouping import read_grouped
from tellapart.data.hints import warn_of_depth, warn_of_input
from tellapart.data.reader import read_samples
from tellapart.errors import InputError

RNG = np.random.default_rng(0)
GENES = [f"gene {k}" for k in range(60)]
MEANS = RNG.lognormal(1, 1, 60)


def counts(rows, factor=1.0, rng=RNG):
    return rng.poisson(factor * MEANS * rng.lognormal(0, 0.3, (rows, 1)))


def scaled(values, ddof=0):
    return (values - values.mean(axis=0)) / values.std(axis=0, ddof=ddof)


def hints(X, Y, missing="pairwise"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        samples = read_samples(X, Y, keep=(), missing=missing)
        warn_of_input(X, Y, samples, ("X", "Y"))
    return [str(one.message) for one in caught if issubclass(one.category, ta.InputWarning)]


MEASURED, OTHERS = RNG.normal(20, 4, (50, 6)), RNG.normal(20, 4, (40, 6))


@pytest.mark.parametrize(
    ("X", "Y", "hint"),
    [
        (scaled(MEASURED), OTHERS, "X is standardised (means 0, SDs 1) and Y is not"),
        (MEASURED, scaled(OTHERS, 1), "Y is standardised (means 0, SDs 1) and X is not"),
        (MEASURED, scaled(OTHERS).astype(np.float32), "Y is standardised"),
        (scaled(MEASURED), scaled(OTHERS), "X and Y are standardised each by itself"),
        (counts(40), counts(50, 2.5), "2.5 times as large in Y"),
        (sparse.csr_array(counts(50, 3.0)), sparse.csr_array(counts(40)), "times as large in X"),
    ],
    ids=["x", "y", "float32", "each", "depth", "sparse"],
)
def test_one_hint(X, Y, hint):
    (message,) = hints(X, Y)
    assert hint in message


def test_a_scale_that_both_share_is_no_matter():
    both = scaled(np.concatenate([MEASURED, OTHERS]))
    assert hints(both[:50], both[50:]) == []
    # Standardised by the means and SDs of X, as a scaler that was fitted on it does.
    assert hints(scaled(MEASURED), (OTHERS - MEASURED.mean(0)) / MEASURED.std(0)) == []


def test_a_hint_is_said_once_at_the_line_of_the_caller():
    table = pd.DataFrame(MEASURED)
    with pytest.warns(ta.InputWarning, match="^'before' is standardised") as caught:
        ta.two_sample_test(
            pd.DataFrame(scaled(MEASURED)),
            table,
            labels=("before", "after"),
            n_permutations=19,
            random_state=0,
        )
    (said,) = [one for one in caught if issubclass(one.category, ta.InputWarning)]
    assert said.filename == __file__
    with pytest.warns(ta.InputWarning, match="^X is standardised"):
        ta.select_variables(scaled(MEASURED), OTHERS, 1, random_state=0)


def test_the_depth_of_groups_is_said_once():
    values = np.concatenate([counts(30), counts(30, 3.0), counts(30, 3.0)])
    grouped = read_grouped(values, np.repeat(["a", "b", "c"], 30))
    with pytest.warns(
        ta.InputWarning, match="^'a' and the other rows look like raw counts"
    ) as all_:
        warn_of_depth(grouped)
    assert len(all_) == 1
    warn_of_depth(read_grouped(counts(60), np.repeat(["a", "b"], 30)))


def test_names_that_show_a_transposed_table():
    table = pd.DataFrame(counts(40), columns=GENES, index=[f"sample_{i}" for i in range(40)])
    (message,) = hints(table.T, table.T)
    assert message.startswith("X and Y look transposed: columns are called like observations")
    (message,) = hints(table.corr(), table[:30])
    assert message.startswith("X looks transposed: rows have the names of columns")
    assert hints(table, table[:30]) == []


@pytest.mark.parametrize(
    ("flip", "hint"),
    [
        ((True, True), "X and Y look transposed: they have the names of rows in common"),
        ((True, False), "X looks transposed: its rows have the names of the other's columns"),
        ((False, True), "Y looks transposed: its rows have the names of the other's columns"),
    ],
)
def test_columns_that_do_not_match_because_a_table_is_transposed(flip, hint):
    first = pd.DataFrame(counts(40), columns=GENES, index=[f"a{i}" for i in range(40)])
    second = pd.DataFrame(counts(30), columns=GENES, index=[f"b{i}" for i in range(30)])
    pair = [
        table.T if turned else table for table, turned in zip((first, second), flip, strict=True)
    ]
    with pytest.raises(InputError, match=f"must have the same columns; .*{hint}"):
        read_samples(*pair)


def test_sizes_that_do_not_match_because_an_array_is_transposed():
    with pytest.raises(InputError, match="got 40 and 30; both have 60 rows: if these are"):
        read_samples(counts(40).T, counts(30).T)
    with pytest.raises(InputError, match="got 60 and 30; if Y has variables in its rows, trans"):
        read_samples(counts(40), counts(30).T)
    with pytest.raises(InputError, match=r"got 60 and 6$"):
        read_samples(counts(40), MEASURED)


def test_cells_are_called_like_observations_where_they_should_be():
    barcodes = [f"{''.join(RNG.choice(list('ACGT'), 16))}-1" for _ in range(40)]
    cells = annotated(counts(40).astype(float), GENES)
    cells.obs_names = pd.Index(barcodes)
    assert hints(cells, cells) == []


# False alarms.


def silent_on(X, Y):
    assert hints(X, Y) == []


@pytest.mark.parametrize("case", ta.datasets.CASES)
def test_silent_on_the_cases(case):
    silent_on(*ta.datasets.make_case(case, 100, 80, n_features=40, random_state=1)[:2])


def test_silent_on_the_bundled_tables():
    silent_on(*ta.datasets.demo_tables())


@pytest.mark.parametrize("seed", range(2))
def test_silent_on_null_tables(seed):
    rng = np.random.default_rng(100 + seed)
    every = [null_tables.ORDINARY, null_tables.DEGENERATE, null_tables.PARTIAL]
    for draw in [one for tables in every for one in tables.values()]:
        silent_on(*draw(rng)[:2])


def test_silent_on_development_tables():
    for module in ("columns", "dependence", "few_columns", "locations", "tables"):
        importlib.import_module(f"development.kinds_of_{module}")
    rng = np.random.default_rng(7)
    assert len(KINDS) > 50
    for draw in KINDS.values():
        silent_on(*draw(rng)[:2])


def test_silent_on_wide_tables_and_on_images():
    wide = pd.DataFrame(RNG.normal(size=(8, 2000)), index=[f"patient {i}" for i in range(8)])
    silent_on(wide.add_prefix("gene "), wide.add_prefix("gene ") + 1)
    # A thin stroke beside a thick one: whole numbers, zeros and other row sums, but no one factor.
    pixels = np.add.outer(np.arange(20), np.zeros(20, dtype=int)).reshape(1, -1)
    thin = 250 * (abs(pixels - 10 + RNG.integers(-1, 2, (60, 1))) < 2)
    thick = 250 * (abs(pixels - 10 + RNG.integers(-1, 2, (60, 1))) < 6)
    silent_on(thin, thick)
