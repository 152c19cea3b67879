"""U of wide tables held sparsely, and the largest shifts of all columns."""

import numpy as np
import pytest
from scipy import sparse

from tellapart.data.column_store import SparseColumns
from tellapart.data.samples import Samples
from tellapart.permutation.shared_orders import RowOrders
from tellapart.scan.adjusted import step_down
from tellapart.scan.column_changes import OTHERS, OtherUnits
from tellapart.scan.scores import make_scores
from tellapart.scan.tails import BinMoments, exponent
from tellapart.scan.wide import KEPT_SCORES, WideScores, wide_shifts

N, C = 80, 150
ROWS = [np.arange(20), np.arange(15, 70), np.arange(50, 63)]


def table():
    rng = np.random.default_rng(0)
    values = rng.poisson(rng.uniform(0.05, 3, C), size=(N, C)) * rng.uniform(0.5, 1, (N, C))
    values[:, 3] = rng.normal(size=N)  # values below 0, and none at 0
    values[:, 4] = np.where(rng.random(N) < 0.5, -1.0, 0.0)
    values[:, 5] = -np.abs(values[:, 3])
    values[:, 6] = 7.0
    values[:20, 9] += 4
    return values


def samples(values, *, stored=True):
    names = tuple(f"x{s}" for s in range(values.shape[1]))
    parts = [values[:1], values[1:]]
    if stored:
        parts = [SparseColumns.from_scipy(sparse.csc_array(part)) for part in parts]
    return Samples(*parts, names, ("numeric",) * values.shape[1])


@pytest.fixture(scope="module")
def scores():
    return WideScores.of(samples(table()))


@pytest.mark.parametrize("stored", [True, False])
def test_scores_are_those_of_the_tables(stored):
    wide, usual = WideScores.of(samples(table(), stored=stored)), make_scores(samples(table()))
    np.testing.assert_array_equal(wide.columns, usual.column)
    assert 6 not in wide.columns
    dense = wide.dense(np.arange(wide.size))
    np.testing.assert_allclose(dense, usual.normal, atol=2e-6)
    shares = [np.unique(table()[:, s], return_counts=True)[1] / N for s in wide.columns]
    np.testing.assert_allclose(wide.ties, [(share**3).sum() for share in shares])


def test_zeros_that_are_stored_are_zeros():
    values = table()
    held = sparse.csc_array(values)
    held.data[::5] = 0.0
    plain = samples(held.toarray(), stored=False)
    own = Samples(
        SparseColumns(held[:1]), SparseColumns(sparse.csc_array(held[1:])), plain.names, plain.kinds
    )
    left, right = WideScores.of(own), WideScores.of(plain)
    places = np.arange(left.size)
    np.testing.assert_allclose(left.dense(places), right.dense(places), atol=2e-6)


def exact_scores(u, own, drawn, size):
    """Scores of all columns at the true labels and under the orders, by the exact moments of S."""
    sums = np.array([u[own].sum(axis=0) * (1 if own.size == size else -1), *drawn])
    z = sums / np.sqrt(size * (N - size) / (N - 1))
    of_columns = np.array(BinMoments.of([u], size / N).of_sum().shape).T
    return np.array(
        [[exponent(v, v * v, *of) for v, of in zip(row, of_columns, strict=True)] for row in z]
    )


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_largest_are_those_of_all_sums(scores, n_jobs):
    sizes = np.array([min(own.size, N - own.size) for own in ROWS])
    orders = RowOrders.draw(N, sizes, 199, seed=0)
    named = np.arange(scores.size) % 3 > 0
    every = wide_shifts(scores, orders, ROWS, named, n_jobs)
    u = scores.dense(np.arange(scores.size)).astype(np.float64)
    for own, size, found in zip(ROWS, sizes, every, strict=True):
        drawn = [u[order[:size]].sum(axis=0) for order in orders.first]
        unit = N / (size * (N - size))
        shifts = np.abs(np.array([u[own].sum(axis=0), *drawn])) * unit
        np.testing.assert_allclose(
            found.largest, np.sort(shifts**2, axis=1)[:, -5:], rtol=1e-3, atol=1e-6
        )
        usual = exact_scores(u, own, drawn, size)
        np.testing.assert_allclose(found.true_scores[named], usual[0, named], rtol=1e-4, atol=1e-4)
        rising = np.sort(usual[:, named], axis=1)[:, -KEPT_SCORES:]
        np.testing.assert_allclose(found.scores, rising, rtol=1e-4, atol=1e-4)
        assert named[found.places].all()
        delta = u[own].mean(axis=0) - np.delete(u, own, axis=0).mean(axis=0)
        deviation = N / np.sqrt(size * (N - size) * (N - 1))
        np.testing.assert_allclose(found.zscores, delta / deviation, atol=1e-4)


def test_maxima_leave_out_what_was_named(scores):
    orders = RowOrders.draw(N, np.array([20]), 99, seed=0)
    found = wide_shifts(scores, orders, ROWS[:1], np.ones(scores.size, dtype=bool))[0]
    first = found.places[:, -1]
    rest = found.maximum_without({int(first[5])})
    assert rest[5] == pytest.approx(found.scores[5, -2])
    assert (rest <= found.scores[:, -1]).all()
    every = found.maximum_without(set(range(scores.size)))
    np.testing.assert_allclose(every, found.scores[:, 0])
    assert found.scores.shape[1] == KEPT_SCORES


def adjusted(found):
    units = OtherUnits(found)
    return units.adjusted(step_down({OTHERS: units}, 0.05)[OTHERS])


def test_a_shifted_column_is_named(scores):
    orders = RowOrders.draw(N, np.array([20]), 499, seed=0)
    named = np.ones(scores.size, dtype=bool)
    found = wide_shifts(scores, orders, ROWS[:1], named)[0]
    pvalues = adjusted(found)
    place = int(np.flatnonzero(found.columns == 9)[0])
    assert pvalues[place] == pytest.approx(1 / 500)
    assert (np.delete(pvalues, place) > 0.05).all()


def test_rare_values_are_named_no_more_often_than_permuted_ones():
    """Of columns with one cell that is not 0 each, a quarter lies in the sample: by chance."""
    values = np.zeros((N, 60))
    values[np.arange(60), np.arange(60)] = 1.0
    rare = WideScores.of(samples(values))
    orders = RowOrders.draw(N, np.array([20]), 199, seed=0)
    found = wide_shifts(rare, orders, ROWS[:1], np.ones(rare.size, dtype=bool))[0]
    assert found.true_scores.max() == pytest.approx(found.scores[0, -1])
    pvalues = adjusted(found)
    assert pvalues.min() > 0.1


def test_a_wide_table_without_numbers_has_no_scores():
    codes = np.random.default_rng(0).integers(2, size=(N, 3)).astype(float)
    names = tuple("abc")
    own = Samples(codes[:1], codes[1:], names, ("categorical",) * 3)
    assert WideScores.of(own).size == 0


def test_unadjusted_pvalues_count_the_permutations_that_come_up():
    rng = np.random.default_rng(7)
    values = np.where(rng.random((90, 60)) < 0.4, 0.0, rng.exponential(size=(90, 60)))
    values[:30, 4] += 2
    made = WideScores.of(samples(values))
    rows = np.arange(30)
    orders = RowOrders.draw(90, np.array([30]), 499, 3)
    (found,) = wide_shifts(made, orders, [rows], np.ones(made.size, dtype=bool))
    u = made.dense(np.arange(made.size)).astype(float)
    own = np.abs(u[rows].sum(axis=0))
    drawn = np.array([np.abs(u[order[:30]].sum(axis=0)) for order in orders.first])
    reached = (drawn >= own * (1 - 1e-5)).sum(axis=0)
    assert np.abs(found.reached - reached).max() <= 1
    tests = found.unadjusted
    many = reached >= 12
    np.testing.assert_allclose(tests.pvalue[many], (1 + found.reached[many]) / 500)
    assert not tests.approximate[many].any()
    assert tests.approximate[4]
    assert tests.pvalue[4] < 1e-4
