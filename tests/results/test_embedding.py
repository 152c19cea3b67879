"""The embedding: rows where they belong, and behind them the very witness function of the test."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from tellapart.budget import Budget, using_budget
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.results.embedding import GRID, Coding, compute_embedding


def run(X, Y, **more):
    settings = {"method": "split", "regularization": 0.1, "n_permutations": 99, "random_state": 0}
    return ta.two_sample_test(X, Y, **(settings | more))


def make_result(d, n=60, columns=5):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, columns)) * 10.0 ** np.arange(columns)
    Y = rng.normal(1.0, size=(n + 20, columns)) * 10.0 ** np.arange(columns)
    return run(X, Y, n_variables=d)


def mixed_tables(n=80):
    rng = np.random.default_rng(0)

    def table(s):
        return pd.DataFrame(
            {
                "age": rng.normal(50 + 10 * s, 5, size=n),
                "arm": rng.choice(["drug", "placebo"], n, p=[0.5 + 0.4 * s, 0.5 - 0.4 * s]),
                "ward": rng.choice(list("abc"), n, p=[0.2 + 0.5 * s, 0.5 - 0.4 * s, 0.3 - 0.1 * s]),
            }
        )

    return table(0.0), table(1.0)


def test_two_numeric_variables_are_shown_as_they_are():
    result = make_result(2)
    shown = compute_embedding(result)
    used = result.selection.support
    assert shown.method == "variables"
    assert shown.axes == result.variables
    np.testing.assert_allclose(shown.x, result.held_out.x[:, used], rtol=1e-9)
    np.testing.assert_allclose(shown.y, result.held_out.y[:, used], rtol=1e-9)
    assert not shown.jittered


def test_the_field_is_the_witness_function():
    result = make_result(2)
    shown = compute_embedding(result)
    points = np.zeros((3, 5))
    places = [(0, 0), (10, 40), (GRID - 1, 5)]
    for row, (i, j) in enumerate(places):
        points[row, result.selection.support] = shown.across[j], shown.up[i]
    np.testing.assert_allclose([shown.field[i, j] for i, j in places], result.witness(points))
    np.testing.assert_allclose(shown.witness_x, result.witness(result.held_out.x))
    np.testing.assert_allclose(shown.witness_y, result.witness(result.held_out.y))


def test_one_variable_is_spread_along_an_axis_that_means_nothing():
    result = make_result(1)
    shown = compute_embedding(result)
    assert shown.axes == (result.variables[0], "apart at random")
    np.testing.assert_allclose(shown.x[:, 0], result.held_out.x[:, result.selection.support[0]])
    assert np.ptp(shown.field, axis=0).max() == pytest.approx(0.0, abs=1e-12)


def test_pca_keeps_the_units_of_the_data_out():
    """Columns of wildly different units weigh alike; the plane is the best one."""
    result = make_result(5)
    shown = compute_embedding(result)
    assert shown.method == "pca"
    coding = Coding.of(
        result.held_out, np.vstack([result.held_out.x, result.held_out.y]), result.selection.z
    )
    features = coding.encode(np.vstack([result.held_out.x, result.held_out.y]))
    singular = np.linalg.svd(features - features.mean(axis=0), compute_uv=False)
    places = np.vstack([shown.x, shown.y])
    np.testing.assert_allclose((places**2).sum(axis=0), singular[:2] ** 2)
    assert shown.explained == pytest.approx((singular[:2] ** 2).sum() / (singular**2).sum())
    assert 0.4 < shown.explained < 1.0
    assert shown.outside == 0


def test_the_field_of_a_plane_agrees_with_rows_on_it():
    """Three columns of rank two: the plane loses nothing, so rows and field agree."""
    rng = np.random.default_rng(0)

    def sample(n, shift):
        u = rng.normal(shift, size=(n, 2))
        return np.column_stack([u, u.sum(axis=1)])

    result = run(sample(100, 0.0), sample(100, 1.5), n_variables=3)
    shown = compute_embedding(result)
    assert shown.explained == pytest.approx(1.0)
    nearest = [
        shown.field[np.abs(shown.up - v).argmin(), np.abs(shown.across - u).argmin()]
        for u, v in shown.x
    ]
    assert np.corrcoef(nearest, shown.witness_x)[0, 1] > 0.98


def test_coding_goes_there_and_back():
    kinds = ("numeric", "categorical", "numeric")
    rows = np.array([[1.0, 2, 7], [5.0, 0, 7], [9.0, 1, 7], [3.0, 2, 7]])
    labels = {"b": ("r", "g", "w")}
    samples = Samples(rows[:2], rows[2:], ("a", "b", "c"), kinds, labels)
    z = np.array([0.5, -0.7, 0.2])
    coding = Coding.of(samples, rows, z)
    features = coding.encode(rows)
    assert features.shape == (4, 1 + 3 + 1)
    np.testing.assert_allclose(coding.decode(features), rows)
    categories = features[:, 1:4]
    assert np.linalg.norm(categories[0] - categories[1]) == pytest.approx(0.7)
    assert not coding.numeric


def test_categories_beside_numbers():
    result = run(*mixed_tables(), n_variables=3)
    shown = compute_embedding(result)
    assert shown.method == "pca"
    assert np.isfinite(shown.field).all()
    assert np.mean(shown.witness_x > 0) > 0.7


@pytest.mark.parametrize("column", ["arm", "ward"])
def test_categories_alone_are_moved_apart(column):
    left, right = mixed_tables()
    shown = compute_embedding(run(left[[column]], right[[column]], n_variables=1))
    flat = column == "arm"
    assert (shown.axes[1] == "apart at random") == flat
    assert shown.jittered == (not flat)
    places = np.vstack([shown.x, shown.y])
    assert len(np.unique(places, axis=0)) == len(places)


def test_many_levels_share_a_place():
    left, right = mixed_tables()
    result = run(left[["ward", "age"]], right[["ward", "age"]], n_variables=2)
    with using_budget(Budget(embedded_levels=2)):
        assert np.isfinite(compute_embedding(result).field).all()


def test_rows_are_drawn_and_stated():
    result = make_result(3, n=200)
    shown = compute_embedding(result, n_points=50)
    assert shown.x.shape == shown.y.shape == (25, 2)
    again = compute_embedding(result, n_points=50)
    np.testing.assert_array_equal(shown.field, again.field)
    other = compute_embedding(result, n_points=50, random_state=1)
    assert not np.array_equal(shown.witness_x, other.witness_x)


def test_a_far_row_does_not_squeeze_the_rest():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(400, 3)), rng.normal(1.0, size=(400, 3))
    X[::133] = 1e6
    shown = compute_embedding(run(X, Y, n_variables=3))
    assert np.ptp(shown.across) < 50
    assert np.abs(shown.x).max() > 1e3
    assert shown.outside == np.count_nonzero(np.abs(shown.x[:, 0]) > 1e3) > 0
    assert shown.explained < 0.99


def test_tsne_interpolates_from_the_rows():
    result = make_result(3, n=50)
    shown = compute_embedding(result, "t-sne")
    assert shown.method == "t-sne"
    assert shown.explained is None
    known = np.isfinite(shown.field)
    assert known.any()
    values = np.concatenate([shown.witness_x, shown.witness_y])
    assert values.min() <= np.nanmin(shown.field) <= np.nanmax(shown.field) <= values.max()
    again = compute_embedding(result, "t-sne")
    np.testing.assert_array_equal(shown.x, again.x)


def test_tsne_of_one_column_and_few_rows():
    result = make_result(1, n=8)
    assert compute_embedding(result, "t-sne").x.shape == (4, 2)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("d", [2, 3])
def test_constant_in_the_held_out_rows(d):
    result = make_result(d)
    held = result.held_out
    flat = replace(held, x=np.ones_like(held.x), y=np.ones_like(held.y))
    shown = compute_embedding(replace(result, held_out=flat))
    assert np.isfinite(shown.field).all()
    assert (np.diff(shown.across) > 0).all()
    assert shown.explained == (None if d == 2 else 1.0)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"method": "umap"}, "method"),
        ({"n_points": 3}, "n_points"),
        ({"n_points": 10.0}, "n_points"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_bad_arguments_are_one_clear_error(arguments, name):
    with pytest.raises(InputError, match=name):
        compute_embedding(make_result(2), **arguments)


def test_without_a_kernel():
    with pytest.raises(InputError, match="kernel"):
        compute_embedding(replace(make_result(2), kernel=None))
