"""A scan in blocks of columns gives what a scan of the whole table gives."""

from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from tellapart.budget import Budget, using_budget
from tellapart.data.reader import read_samples
from tellapart.errors import InputError
from tellapart.scan import scan

N_COLUMNS = 90


SMALL_BLOCKS = Budget(
    unblocked_columns=2,
    unblocked_bytes=0,
    part_bytes=300_000,
    block_columns=7,
    blocks_at_a_time=2,
)
"""Parts of some 30 columns and blocks of 7."""


@pytest.fixture
def in_small_blocks():
    """Force small blocks from a call of this on."""
    with ExitStack() as stack:
        yield lambda **more: stack.enter_context(using_budget(replace(SMALL_BLOCKS, **more)))


def tables(n_x=30, n_y=40, seed=0):
    """Return two tables with shifts, another spread, a copied column, categories, constants."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n_x, N_COLUMNS)), rng.normal(size=(n_y, N_COLUMNS))
    y[:, 3] += 2.0
    y[:, 40] *= 5.0
    y[:, 50] = y[:, 51] + 0.1 * y[:, 50]
    x[:, 60] = y[:, 60] = 1.0
    names = [f"c{s}" for s in range(N_COLUMNS)]
    frames = [pd.DataFrame(values, columns=names) for values in (x, y)]
    for frame in frames:
        frame.insert(20, "group", rng.choice(list("abcd"), len(frame)))
        frame.insert(70, "flag", rng.choice(["yes", "no"], len(frame)))
    return frames


def both(in_small_blocks, x, y, **settings):
    """Return the test of the whole table, and that in blocks."""
    settings = {"n_permutations": 99, "random_state": 0} | settings
    whole = ta.two_sample_test(x, y, **settings)
    in_small_blocks()
    return whole, ta.two_sample_test(x, y, **settings)


def assert_same(whole, blocked):
    np.testing.assert_allclose(blocked.null_distribution, whole.null_distribution, rtol=0.02)
    assert blocked.pvalue == pytest.approx(whole.pvalue, abs=0.011)
    assert blocked.families.keys() == whole.families.keys()
    for name, p in whole.families.items():
        assert blocked.families[name] == pytest.approx(p, abs=0.021), name
    assert [f.to_dict() for f in blocked.findings] == [f.to_dict() for f in whole.findings]
    assert blocked.variable_pvalues == whole.variable_pvalues
    assert blocked.column_tests.to_dict() == whole.column_tests.to_dict()
    assert blocked.variables == whole.variables
    assert blocked.scan.notes == whole.scan.notes
    assert blocked.scan.n_variables == whole.scan.n_variables
    mine, theirs = blocked.scan.differences, whole.scan.differences
    np.testing.assert_array_equal(mine.column, theirs.column)
    assert mine.level == theirs.level
    assert mine.correlations == theirs.correlations
    # Under a design variances are moderated by those of the columns of a block.
    tolerance = {"rtol": 0.3, "atol": 0.1} if whole.scan.by_design else {"atol": 1e-4}
    for name, zscores in theirs.zscores.items():
        np.testing.assert_allclose(mine.zscores[name], zscores, **tolerance)


@pytest.mark.filterwarnings("ignore:constant columns")
@pytest.mark.parametrize("missing", ["error", "pairwise", "drop-rows"])
def test_finds_what_the_whole_table_gives(in_small_blocks, missing):
    x, y = tables()
    if missing != "error":
        x.iloc[:4, [5, 30]] = np.nan
        y.iloc[:12, [30, 66]] = np.nan
    whole, blocked = both(in_small_blocks, x, y, missing=missing)
    assert whole.findings
    assert_same(whole, blocked)


@pytest.mark.filterwarnings("ignore:constant columns")
@pytest.mark.parametrize("design", ["paired", "strata", "clusters"])
def test_designs_are_kept(in_small_blocks, design):
    x, y = tables(n_x=36, n_y=36)
    settings = {
        "paired": {"paired": True},
        "strata": {"strata": (np.arange(36) % 3, np.arange(36) % 3)},
        "clusters": {"clusters": (np.arange(36) // 2, 50 + np.arange(36) // 3)},
    }[design]
    whole, blocked = both(in_small_blocks, x, y, **settings)
    assert whole.findings
    assert_same(whole, blocked)


@pytest.mark.filterwarnings("ignore:constant columns")
def test_rows_in_bins_and_one_small_sample(in_small_blocks):
    x, y = tables(n_x=12, n_y=300)
    whole, blocked = both(in_small_blocks, x, y)
    assert blocked.variable_pvalues == whole.variable_pvalues
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(1_200, 25)), rng.normal(size=(1_300, 25))
    y[:, 4] *= 1.5
    blocked = ta.two_sample_test(x, y, n_permutations=99, random_state=0)
    assert blocked.rows_per_bin > 1
    assert blocked.variables == ("x4",)
    assert [f.variables for f in blocked.findings] == [("x4",)]


def test_the_answer_does_not_depend_on_threads_or_blocks(in_small_blocks):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(12, 300)), rng.normal(size=(11, 300))
    y[:, 7] += 4
    in_small_blocks()
    one, two = (
        ta.two_sample_test(x, y, n_permutations=99, random_state=0, n_jobs=k) for k in (1, 2)
    )
    np.testing.assert_array_equal(one.null_distribution, two.null_distribution)
    assert one.variable_pvalues == two.variable_pvalues
    in_small_blocks(part_bytes=100_000)
    other = ta.two_sample_test(x, y, n_permutations=99, random_state=0)
    np.testing.assert_allclose(other.null_distribution, one.null_distribution, rtol=0.02)
    assert other.variables == one.variables == ("x7",)


def test_files_in_chunks_are_looked_at_in_blocks(in_small_blocks, tmp_path):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(40, 30)), rng.normal(size=(50, 30))
    y[:, 7] += 3
    paths = []
    for name, values in (("x", x), ("y", y)):
        paths.append(tmp_path / f"{name}.csv")
        frame = pd.DataFrame(values, columns=[f"x{s}" for s in range(30)])
        frame.to_csv(paths[-1], index=False, float_format="%.17g")
    in_small_blocks()
    held = ta.two_sample_test(x, y, n_permutations=99, random_state=0)
    read = ta.two_sample_test(
        *(ta.open_dataset(path) for path in paths), n_permutations=99, random_state=0
    )
    assert read.scan.to_dict() == held.scan.to_dict()


def test_more_columns_than_are_kept(in_small_blocks):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(25, 60)), rng.normal(size=(25, 60))
    y[:, :30] += 3
    whole = ta.two_sample_test(x, y, n_permutations=199, random_state=0)
    in_small_blocks(max_t_entries=0, max_t_columns=10)
    few = ta.two_sample_test(x, y, n_permutations=199, random_state=0)
    assert sum(p <= 0.05 for p in whole.variable_pvalues.values()) == 30
    assert [name for name, p in few.variable_pvalues.items() if p <= 0.05] == [
        name for name, p in whole.variable_pvalues.items() if p <= 0.05
    ]
    assert all(
        few.variable_pvalues[name] >= p - 1e-12 for name, p in whole.variable_pvalues.items()
    )
    assert len({f.variables for f in few.findings}) == 30


def test_constants_alone_are_refused(in_small_blocks):
    in_small_blocks()
    with pytest.raises(InputError, match="must have a column that varies; all 8 are constant"):
        ta.two_sample_test(np.ones((5, 8)), np.ones((6, 8)))


def test_permutations_that_no_block_can_hold_are_refused(in_small_blocks):
    in_small_blocks()
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(20, 8)), rng.normal(size=(20, 8))
    with pytest.raises(InputError, match="n_permutations must be at most"):
        ta.two_sample_test(x, y, n_permutations=100_000)


@pytest.mark.parametrize("nulls", [20, pytest.param(100, marks=pytest.mark.long)])
def test_the_level_holds_in_blocks(in_small_blocks, nulls):
    in_small_blocks()
    rng = np.random.default_rng(6)
    pvalues = []
    for seed in range(nulls):
        samples = read_samples(rng.normal(size=(9, 20)), rng.normal(size=(8, 20)))
        own = np.random.default_rng(seed)
        found = scan.scan(samples, n_permutations=39, alpha=0.05, rng=own, effort=0.01)
        pvalues.append(found.null.pvalue)
    # Five standard deviations of the share of p ≤ 0.1 above the level.
    assert np.mean(np.array(pvalues) <= 0.1) <= 0.1 + 5 * np.sqrt(0.09 / nulls)
