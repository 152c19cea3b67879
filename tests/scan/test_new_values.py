"""Values that stand apart: found without labels, seen by the test, and named."""

import numpy as np
import pytest
from pools import plan_pool, run_family

from tellapart.data.design_labels import DesignArguments
from tellapart.data.reader import read_samples
from tellapart.permutation.labels import draw_bins
from tellapart.scan import scan as scan_module
from tellapart.scan.adjusted import TableUnits, step_down
from tellapart.scan.column_changes import MaxTScores, column_changes
from tellapart.scan.families.values import value_sums, values_apart
from tellapart.scan.scan import scan
from tellapart.scan.shared import SharedPool


def tables(rows=1000, share=0.02, seed=0, columns=20):
    """Return two samples of normal columns; −9999 occurs in column 3 of the second only."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, rows, columns))
    y[: int(share * rows), 3] = -9999
    return x, y


def run(x, y, n_permutations=999, seed=0, **more):
    return scan(
        read_samples(x, y, **more),
        n_permutations=n_permutations,
        alpha=0.05,
        rng=np.random.default_rng(seed),
    )


@pytest.mark.parametrize("seed", [0, 1])
def test_a_sentinel_in_two_per_cent_of_a_column_is_seen(seed):
    assert run(*tables(seed=seed)).null.pvalue <= 0.01


def test_continuous_columns_have_no_such_values():
    x, y = tables(rows=100, share=0)
    assert "values" not in run(x, y, n_permutations=19).families
    assert "values" not in plan_pool(x, y)[1].plans


def test_values_are_found_without_labels():
    x, y = tables()
    y[:30, 5] = 500 + np.random.default_rng(0).normal(size=30)
    every = np.concatenate([x, y])
    kinds = ["numeric"] * every.shape[1]
    found = values_apart(every, kinds, 8)
    shuffled = values_apart(np.random.default_rng(0).permutation(every), kinds, 8)
    assert found.column.tolist() == shuffled.column.tolist() == [3, 5]
    assert found.low.tolist() == shuffled.low.tolist()
    assert found.low[0] == found.high[0] == -9999
    assert 490 < found.low[1] < found.high[1] < 510
    assert values_apart(every, ["categorical"] * every.shape[1], 8) is None


def test_statistics_follow_their_definition():
    x, y = tables(rows=200, share=0.05)
    found = run_family(*plan_pool(x, y), "values")
    (candidates,) = found.candidates
    share = 10 / 400
    expected = (0.05**2) / (share * (1 - share))
    np.testing.assert_allclose(found.statistics[0, 1], expected, rtol=1e-4)
    assert candidates.scores.shape == (21, 1)
    np.testing.assert_allclose(found.statistics[:, 0], candidates.scores[:, 0])


@pytest.mark.parametrize("rows", [300, 6000])
def test_all_rows_are_counted(rows):
    """In bins of several rows, and where the pooled rows that are looked at are a draw."""
    x, y = tables(rows=rows, columns=3 + 1)
    x[:5, 3] = -9999
    pool, planned = plan_pool(x, y)
    of_x, of_y = pool.sums.feature(planned.plans["values"].ranges).sides()
    assert of_x.tolist() == [5]
    assert of_y.tolist() == [int(0.02 * rows)]


def test_proportions_are_those_of_the_values_that_are_there():
    x, y = tables(rows=300, share=0.04)
    x[:24, 3] = -9999
    # Half of what Y has is missing, of −9999 and of other values alike.
    y[:6, 3] = np.nan
    y[150:294, 3] = np.nan
    rng = np.random.default_rng(0)
    rows = read_samples(x, y, missing="pairwise")
    labels = draw_bins(rows.n_x, rows.n_y, 20, rng)
    pool, planned = scan_module.make_pool(rows, labels, rng)
    of_x, of_y = pool.means(value_sums(pool, planned.plans["values"].ranges))
    assert of_x[0, 0] == pytest.approx(24 / 300)
    assert of_y[0, 0] == pytest.approx(6 / 150)
    (candidates,) = run_family(pool, planned, "values").candidates
    assert candidates.scores.shape == (21, 1)


def test_the_column_is_named():
    x, y = tables(rows=600, share=0.03)
    pool, planned = plan_pool(x, y, n_permutations=199)
    (found,) = run_family(pool, planned, "values").candidates
    units, columns = TableUnits(found.scores), MaxTScores.of(column_changes(pool)).units()
    named = step_down({"columns": columns, "values": units}, 0.05)
    adjusted = units.adjusted(named["values"])
    places, pvalues = found.column_pvalues(adjusted)
    assert places.tolist() == [3]
    assert pvalues[0] <= 0.02
    assert found.named(adjusted, 0.05) == [(3, [(-9999.0, -9999.0)], pvalues[0])]
    assert found.named(adjusted, 0.0) == []


def test_comparisons_that_share_rows_count_the_same():
    x, y = tables(rows=120, share=0.1, columns=6)
    samples = read_samples(x, y)
    rows = [np.arange(120), np.arange(120, 240)]
    shared = SharedPool(samples, rows, 99, seed=0, effort=1.0)
    alone = run_family(*plan_pool(x, y), "values").statistics[0, 1]
    for number, sign in ((0, 1), (1, -1)):
        part = shared.part(number)
        ranges = part.planned.plans["values"].ranges
        assert ranges.column.tolist() == [3]
        found = run_family(part.pool, part.planned, "values").statistics[0, 1]
        np.testing.assert_allclose(found, alone, rtol=1e-4)
        difference = np.subtract(*part.pool.means(value_sums(part.pool, ranges)))[0, 0]
        assert difference == pytest.approx(-0.1 * sign)


def test_a_design_permutes_its_units():
    x, y = tables(rows=200, share=0.1, columns=3 + 1)
    found = run(x, y, 199, design=DesignArguments(paired=True))
    assert found.families["values"] <= 0.01


@pytest.mark.long
@pytest.mark.parametrize("sizes", [(100, 100), (40, 200)])
def test_the_level_holds_where_values_stand_apart(sizes):
    pvalues = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        x, y = (rng.normal(size=(n, 8)) for n in sizes)
        for own in (x, y):
            own[rng.random(own.shape) < 0.04] = -9999
        found = run(x, y, 99, seed)
        pvalues.append((found.null.pvalue, found.families.get("values", 1.0)))
    assert (np.mean(np.array(pvalues) <= 0.05, axis=0) <= 0.05 + 0.031).all()
