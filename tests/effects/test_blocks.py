"""Effects of many columns at once: those of one column or pair at a time."""

import numpy as np
import pytest
from scipy import sparse

from tellapart.effects.blocks import (
    PairColumns,
    numeric_blocks,
    proportion_block,
)
from tellapart.effects.columns import column_effects, proportions
from tellapart.effects.estimate import DesignedRows, IndependentRows
from tellapart.effects.groups import pair_effects

ROWS = 40


def paired_rows():
    numbers = np.arange(ROWS)
    weights = np.full(ROWS, 1 / ROWS)
    return DesignedRows((weights, weights), (numbers, numbers), (numbers, numbers), True)


def clustered_rows():
    units, one = np.arange(ROWS) // 4, np.zeros(ROWS, dtype=int)
    weights = np.full(ROWS, 1 / ROWS)
    return DesignedRows((weights, weights), (units, units), (one, one), False)


def stratified_rows():
    x, y = np.repeat([0, 1, 2], [10, 20, 10]), np.repeat([0, 1, 2], [20, 10, 10])
    shared = np.array([20 / 3, 20 / 3, 5.0])
    shared /= shared.sum()
    numbers = np.arange(ROWS)
    weights = (shared / np.bincount(x))[x], (shared / np.bincount(y))[y]
    return DesignedRows(weights, (numbers, numbers), (x, y), False)


SAMPLINGS = [IndependentRows, paired_rows, clustered_rows, stratified_rows]


@pytest.fixture
def columns(request):
    rng = np.random.default_rng(3)
    sides = []
    for shift in (0.4, 0.0):
        normal = rng.normal(size=ROWS) + shift
        skewed, heavy = rng.exponential(size=ROWS), rng.standard_t(3, size=ROWS)
        large, few = rng.normal(1e8, 2 - shift, ROWS), np.round(rng.normal(size=ROWS))
        sides.append(np.column_stack([normal, skewed + 0.5 * normal, heavy, large, few]))
    return sides


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("tail", [0.05, 0.0005])
def test_means_and_deviations_are_those_of_single_columns(columns, sampling, tail):
    x, y = columns
    sampling = sampling()
    plain = isinstance(sampling, IndependentRows)
    if plain:
        x, y = x.copy(), y.copy()
        x[::7, 1], y[::5, 2] = np.nan, np.nan
    for kind, block in zip(("location", "spread"), numeric_blocks(x, y, sampling), strict=True):
        low, high = block.limits(tail)
        for k in range(x.shape[1]):
            one = column_effects(x[:, k], y[:, k], sampling)[kind]
            assert block.effects[k] == pytest.approx(one.effect)
            known = one.limits(1 - 2 * tail)
            if kind == "location" or plain:
                assert (low[k], high[k]) == pytest.approx(known, rel=1e-7)
            else:
                assert low[k] <= known[0] * (1 + 1e-9)
                assert high[k] >= known[1] * (1 - 1e-9)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_correlations_are_those_of_single_pairs(columns, sampling):
    x, y = columns
    sampling = sampling()
    if isinstance(sampling, IndependentRows):
        x = x.copy()
        x[::6, 0] = np.nan
    first, second = np.triu_indices(x.shape[1], 1)
    low, high = PairColumns.of(x, y, sampling).block(first, second).limits(0.0005)
    for q, pair in enumerate(zip(first, second, strict=True)):
        sides = x[:, pair], y[:, pair]
        if sampling.standardised:
            sides = [sampling.within_strata(k, side) for k, side in enumerate(sides)]
        one = pair_effects(*sides, sampling)["correlation"]
        known = one.limits(0.999)
        # Finding's intervals contain 0 where their p-value, also of normal scores, says so.
        assert low[q] == pytest.approx(known[0], abs=1e-6) or known[0] == 0
        assert high[q] == pytest.approx(known[1], abs=1e-6) or known[1] == 0


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_parts_of_units_have_the_variance_of_the_difference(columns, sampling):
    x, y = (side - side.mean(axis=0) for side in columns)
    sampling = sampling()
    parts = sampling.parts(x, y)
    variance = sampling.errors(x, y).variance
    assert np.square(parts).sum(axis=0) == pytest.approx(variance)


def test_proportions_are_newcombes():
    rng = np.random.default_rng(0)
    x, y = ((rng.random((n, 3)) < [0.02, 0.5, 0.9]).astype(float) for n in (60, 45))
    x[3, 1] = np.nan
    low, high = proportion_block(x, y, IndependentRows()).limits(0.005)
    for k in range(3):
        one = proportions(x[:, k], y[:, k], IndependentRows(), "proportion")
        assert (low[k], high[k]) == pytest.approx(one.limits(0.99))


@pytest.mark.parametrize("sampling", SAMPLINGS[1:])
def test_a_value_that_no_unit_has_may_be_rare(sampling):
    nothing = np.zeros((ROWS, 1))
    low, high = proportion_block(nothing, nothing, sampling()).limits(0.025)
    assert low[0] < -0.05
    assert high[0] > 0.05


def test_sums_over_groups_of_many_rows_agree_with_the_jackknife():
    rng = np.random.default_rng(5)
    mixing = rng.normal(size=(4, 4))
    x, y = (rng.normal(size=(n, 4)) @ mixing for n in (900, 700))
    y[:, 0] = rng.exponential(size=700)
    pairs = PairColumns.of(x, y, IndependentRows())
    assert pairs.many_rows
    first, second = np.triu_indices(4, 1)
    exact, groups = pairs.block(first, second), np.arange(1600) % 100
    sums_of = sparse.csr_array((np.ones(1600), (groups, np.arange(1600))), shape=(100, 1600))
    summed = pairs.summed_block(first, second, sums_of)
    assert summed.effects == pytest.approx(exact.effects)
    for ours, known in zip(summed.limits(0.01), exact.limits(0.01), strict=True):
        assert ours == pytest.approx(known, abs=0.01)
    ours = summed.parts / np.sqrt(np.square(summed.parts).sum(axis=0))
    known = sums_of @ exact.parts
    known /= np.sqrt(np.square(known).sum(axis=0))
    assert (ours * known).sum(axis=0) == pytest.approx(np.ones(6), abs=0.02)
