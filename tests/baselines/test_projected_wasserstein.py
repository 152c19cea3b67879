"""Projected Wasserstein as a two-sample test."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tellapart.baselines.base import Generators
from tellapart.baselines.projected_wasserstein import ProjectedWasserstein
from tellapart.data.reader import read_samples
from tellapart.data.row_order import split_by_content
from tellapart.errors import ConstantColumnWarning, InputError


def spread(seed=0, n_x=40, n_y=60, scale=(1, 4, 1, 1, 1)):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_x, len(scale))), rng.normal(size=(n_y, len(scale))) * scale


def test_selection_tells_of_the_distance_it_maximised():
    X, Y = spread()
    selection = ProjectedWasserstein(n_variables=2, order=1, random_state=0).select(X, Y)
    assert 1 in selection.support
    assert selection.support.size == 2
    assert np.linalg.norm(selection.z) == pytest.approx(1)
    pooled = np.concatenate([X, Y])
    scores = (pooled - pooled.mean(axis=0)) / pooled.std(axis=0) @ selection.z
    assert selection.value == pytest.approx(stats.wasserstein_distance(scores[:40], scores[40:]))
    assert selection.upper_bound is None
    assert selection.gap is None
    assert selection.status == "feasible"


def test_names_are_kept_and_columns_matched():
    X, Y = spread()
    names = list("abcde")
    left, right = pd.DataFrame(X, columns=names), pd.DataFrame(Y, columns=names)[names[::-1]]
    result = ProjectedWasserstein(n_variables=1, random_state=0).test(left, right)
    assert result.variables == ("b",)
    assert result.reject
    assert result.n_train == (20, 30)
    assert "projected Wasserstein" in result.summary()


@pytest.mark.parametrize("order", [1, 2])
def test_statistic_is_the_distance_of_held_out_rows(order):
    X, Y = spread(n_x=60)
    result = ProjectedWasserstein(n_variables=2, order=order, random_state=5).test(X, Y)
    train, held_out = split_by_content(read_samples(X, Y), 0.5, Generators.of(5).split)
    scale = np.concatenate([train.x, train.y]).std(axis=0)
    x, y = held_out.x / scale @ result.selection.z, held_out.y / scale @ result.selection.z
    expected = np.mean(np.abs(np.sort(x) - np.sort(y)) ** order)
    assert result.statistic == pytest.approx(expected)


def test_scaling_makes_units_play_no_part():
    X, Y = spread()
    units = np.array([1.0, 1.0, 1e4, 1.0, 1.0])
    baseline = ProjectedWasserstein(n_variables=1, random_state=0)
    assert baseline.select(X * units, Y * units).support.tolist() == [1]
    raw = ProjectedWasserstein(n_variables=1, scaled=False, random_state=0)
    assert raw.select(X, Y).support.tolist() == [1]
    assert raw.select(X * units, Y * units).support.tolist() == [2]
    distance = np.mean((np.sort(X[:, 1]) - np.sort(Y[:40, 1])) ** 2)
    assert raw.select(X, Y[:40]).value == pytest.approx(distance)


def test_same_seed_same_answer():
    X, Y = spread(scale=(1.2,) * 5)
    baseline = ProjectedWasserstein(n_variables=3, random_state=7)
    one, other = baseline.test(X, Y), baseline.test(X, Y)
    assert one.pvalue == other.pvalue
    assert np.array_equal(one.selection.z, other.selection.z)


def test_few_rows_enumerate_all_permutations():
    X, Y = spread(n_x=8, n_y=8)
    result = ProjectedWasserstein(n_variables=1, random_state=0).test(X, Y)
    assert result.exact
    assert result.null_distribution.size == 70
    # Swapping the two sides leaves the distance as it is.
    assert round(70 * result.pvalue) % 2 == 0


def test_constant_and_categorical_columns():
    X, Y = spread()
    X[:, 0] = Y[:, 0] = 0.1
    with pytest.warns(ConstantColumnWarning, match="'x0'"):
        selection = ProjectedWasserstein(n_variables=5, random_state=0).select(X, Y)
    assert selection.z[0] == 0
    assert selection.constant == ("x0",)
    left = pd.DataFrame({"town": ["a", "b", "c", "d"] * 3})
    with pytest.raises(InputError, match=r"ProjectedWasserstein needs numbers .* 'town' has 4"):
        ProjectedWasserstein(n_variables=1).select(left, left)


def test_bad_settings_are_named():
    for settings, message in (
        ({"n_variables": None}, "n_variables must be an integer of at least 1; got None"),
        ({"order": 3}, r"order must be an integer in 1\.\.2; got 3"),
        ({"scaled": 1}, "scaled must be True or False; got 1"),
        ({"n_starts": -1}, "n_starts must be"),
        ({"alpha": 0}, "alpha must be"),
    ):
        with pytest.raises(InputError, match=message):
            ProjectedWasserstein(**{"n_variables": 2, **settings})


def test_bad_data_are_named():
    X, Y = spread()
    with pytest.raises(InputError, match=r"n_variables must be an integer in 1\.\.5; got 6"):
        ProjectedWasserstein(n_variables=6).test(X, Y)
    with pytest.raises(InputError, match="Y must have at least 2 rows"):
        ProjectedWasserstein(n_variables=1).test(X, Y[:1])


def rejections(scale, trials):
    count = 0
    for seed in range(trials):
        X, Y = spread(seed, 30, 20, scale)
        baseline = ProjectedWasserstein(
            n_variables=2, n_starts=2, random_state=seed, n_permutations=39
        )
        count += baseline.test(X, Y).reject
    return count


def test_level_and_power():
    # Binomial(60, 0.05) exceeds 9 with probability 0.1 %.
    assert rejections((1.0,) * 5, 60) <= 9
    assert rejections((1, 8, 1, 1, 1), 10) >= 8
