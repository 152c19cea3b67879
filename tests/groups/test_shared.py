"""Groups of wide tables: comparisons that share their rows, orders and scores."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import tellapart as ta
from tellapart.budget import Budget, using_budget
from tellapart.errors import InputError
from tellapart.groups import runs as groups_shared
from tellapart.scan import shared as shared_pool

KINDS = np.repeat(["a", "b", "c", "d"], [30, 24, 41, 2])
SETTINGS = {"random_state": 0, "n_permutations": 199}


def counts(n_columns=300):
    """Counts of four kinds of cells, of which the first two have a marker each."""
    rng = np.random.default_rng(0)
    rates = rng.uniform(0.1, 3, n_columns)
    values = rng.poisson(rates, size=(KINDS.size, n_columns)).astype(float)
    values[KINDS == "a", 7] += rng.poisson(9, 30)
    values[KINDS == "b", 150] += rng.poisson(9, 24)
    return values


@pytest.fixture
def wide():
    """Tables of so few rows and columns, looked at as if they were wide."""
    with using_budget(Budget(fewest_group_columns=20, group_columns=160)):
        yield


def told(result):
    return [
        (
            c.group,
            c.pvalue,
            c.variables,
            c.weights,
            c.notes,
            c.difference,
            [str(f) for f in c.result.findings],
            c.result.variable_pvalues,
        )
        for c in result.comparisons
    ]


@pytest.mark.parametrize(("kind", "n_columns"), [("full", 160), ("wide", 300)])
def test_markers_are_found_and_threads_change_nothing(kind, n_columns, request):
    if kind == "wide":
        request.getfixturevalue("wide")
    table = sparse.csr_array(counts(n_columns))
    one, two = (ta.compare_groups(table, KINDS, n_jobs=n_jobs, **SETTINGS) for n_jobs in (1, 2))
    assert told(one) == told(two)
    by_group = {c.group: c for c in one.comparisons}
    assert by_group["a"].variables[0] == "x7"
    assert by_group["b"].variables[0] == "x150"
    for group, marker in (("a", "x7"), ("b", "x150")):
        result = by_group[group].result
        assert by_group[group].pvalue == 1 / 200
        assert result.variable_pvalues[marker] <= 0.05
        assert any(f.variables == (marker,) and f.effect > 1 for f in result.findings)
        assert len(result.variable_pvalues) == n_columns
        assert ("shape" in result.scan.notes) == (kind == "wide")
        assert result.selection.changes[marker].kind == "location"


def test_dense_sparse_and_named_tables_have_the_same_answers(wide):
    frame = pd.DataFrame(counts(), columns=[f"x{s}" for s in range(300)])
    frame["kind"] = KINDS
    tables = (counts(), KINDS), (sparse.csc_array(counts()), KINDS), (frame, "kind")
    dense, stored, named = (told(ta.compare_groups(*table, **SETTINGS)) for table in tables)
    assert dense == stored == named


def test_categories_of_a_wide_table_are_compared(wide):
    frame = pd.DataFrame(counts(), columns=[f"x{s}" for s in range(300)])
    rng = np.random.default_rng(1)
    frame["site"] = np.where(KINDS == "c", "north", rng.choice(["north", "south"], KINDS.size))
    frame["flat"] = 1.0
    result = ta.compare_groups(frame, KINDS, **SETTINGS)
    (of_c,) = (c for c in result.comparisons if c.group == "c")
    assert of_c.pvalue == 1 / 200
    assert "site" in of_c.variables
    assert of_c.result.variable_pvalues["site"] < 0.05
    assert of_c.result.variable_pvalues["flat"] == 1
    assert of_c.result.selection.constant == ("flat",)


def test_neither_order_nor_choice_of_groups_changes_a_comparison(wide, monkeypatch):
    # How many columns are looked at in full depends on the number of comparisons: not here.
    monkeypatch.setattr(shared_pool, "columns_in_full", lambda rows, comparisons: 40)
    monkeypatch.setattr("tellapart.groups.runs._effort", lambda *sizes: 0.1)
    every = {c[0]: c for c in told(ta.compare_groups(counts(), KINDS, **SETTINGS))}
    some = ta.compare_groups(counts(), KINDS, groups=["c", "a"], **SETTINGS)
    for c in told(some):
        assert c == every[c[0]]


def test_groups_of_few_permutations_list_them_all(wide):
    rows = np.r_[34:74, 95:97]
    result = ta.compare_groups(counts()[rows], KINDS[rows], random_state=0, n_permutations=999)
    (of_d,) = (c for c in result.comparisons if c.group == "d")
    assert of_d.result.exact
    assert len(of_d.result.null_distribution) == 42 * 41 // 2


def test_a_wide_table_without_a_varying_column_is_one_clear_error():
    with pytest.raises(InputError, match="table must allow a comparison of groups"):
        ta.compare_groups(np.ones((KINDS.size, 120)), KINDS, **SETTINGS)


@pytest.mark.parametrize(
    "settings",
    [{"mode": "pairwise"}, {"kernel": "linear"}, {"time_limit": 60}, {"method": "split"}],
)
def test_what_cannot_be_shared_is_not(settings, monkeypatch):
    def fail(*_, **__):
        raise AssertionError

    monkeypatch.setattr(groups_shared, "SharedPool", fail)
    kept = KINDS != "d"
    quick = {"n_variables": 1, "regularization": 1.0, **SETTINGS, **settings}
    if "kernel" not in settings and "method" not in settings:
        del quick["regularization"]
    result = ta.compare_groups(counts()[kept, :110], KINDS[kept], **quick)
    assert len(result.comparisons) == 3


@pytest.mark.long
def test_the_level_of_wide_groups_is_kept(wide):
    """p ≤ α in no more than α of nulls, also of single columns and after Holm's adjustment."""
    rejected, adjusted, named, count = 0, 0, 0, 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        values = rng.poisson(rng.uniform(0.05, 2, 120), size=(60, 120)).astype(float)
        kinds = rng.choice(["a", "b", "c"], 60, p=[0.2, 0.3, 0.5])
        result = ta.compare_groups(values, kinds, random_state=seed, n_permutations=99)
        pvalues = np.array([c.pvalue for c in result.comparisons])
        count += pvalues.size
        rejected += int((pvalues <= 0.1).sum())
        adjusted += int(min(c.adjusted_pvalue for c in result.comparisons) <= 0.1)
        named += sum(min(c.result.variable_pvalues.values()) <= 0.1 for c in result.comparisons)
    # Four deviations above α of so many.
    assert rejected <= 0.1 * count + 4 * (0.09 * count) ** 0.5
    assert named <= 0.1 * count + 4 * (0.09 * count) ** 0.5
    assert adjusted <= 4 + 4 * (0.09 * 40) ** 0.5
    assert rejected >= 0.1 * count - 4 * (0.09 * count) ** 0.5
