"""How much rows of one unit are alike."""

import numpy as np
import pandas as pd
import pytest

from tellapart.data.design_labels import MOST_COLUMNS, DesignArguments, likeness_of
from tellapart.data.reader import read_samples
from tellapart.permutation.design_units import draw_design_units


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def clustered(share, rng, n_columns=6, n_clusters=200):
    """Return clusters of one to nine rows; `share` of the variance is between them."""
    own = np.repeat(np.arange(n_clusters), rng.integers(1, 10, n_clusters))
    between = rng.normal(size=(n_clusters, n_columns))[own] * np.sqrt(share)
    return between + rng.normal(size=between.shape) * np.sqrt(1 - share), own


def read(values, own, of_x):
    labels = DesignArguments(clusters=(own[of_x], own[~of_x]))
    return read_samples(values[of_x], values[~of_x], design=labels)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8, 1.0])
def test_it_is_the_share_of_variance_between_clusters(share, rng):
    values, own = clustered(share, rng)
    assert likeness_of(read(values, own, own % 2 == 0)) == pytest.approx(share, abs=0.08)


def test_it_is_the_same_whichever_clusters_are_those_of_x(rng):
    values, own = clustered(0.4, rng)
    found = [likeness_of(read(values, own, rng.random(200)[own] < 0.5)) for _ in range(3)]
    assert found == pytest.approx([found[0]] * 3, rel=1e-12)


def test_what_blocks_have_in_common_is_none_of_it(rng):
    values, own = clustered(0.3, rng)
    far = values + 50 * (own % 4)[:, np.newaxis]
    of_x, farm = own % 8 < 4, own % 4
    asked = DesignArguments(clusters=(own[of_x], own[~of_x]), strata=(farm[of_x], farm[~of_x]))
    samples = read_samples(far[of_x], far[~of_x], design=asked)
    assert likeness_of(samples) == pytest.approx(0.3, abs=0.15)


def test_units_of_one_size_need_none(rng):
    values, own = rng.normal(size=(40, 2)), np.repeat(np.arange(10), 4)
    assert read(values, own, own < 5).design.likeness == 0.0


def test_categories_and_wide_tables(rng):
    values, own = clustered(1.0, rng, n_columns=MOST_COLUMNS + 50, n_clusters=40)
    assert likeness_of(read(values, own, own < 20)) == pytest.approx(1.0)
    table = pd.DataFrame({"kind": np.where(values[:, 0] > 0, "a", "b"), "same": 1.0})
    x, y = table[own < 20], table[own >= 20]
    labels = DesignArguments(clusters=(own[own < 20], own[own >= 20]))
    assert likeness_of(read_samples(x, y, design=labels)) == pytest.approx(1.0)


def test_alike_rows_weigh_as_one(rng):
    values, own = clustered(1.0, rng, n_clusters=40)
    units = draw_design_units(read(values, own, own < 20).design, 9, rng).units
    assert units.counts == pytest.approx([own.size / 40] * 40)
    values, own = clustered(0.0, rng, n_clusters=40)
    units = draw_design_units(read(values, own, own < 20).design, 9, rng).units
    assert units.counts == pytest.approx(units.rows, rel=0.3)
    assert units.counts.sum() == pytest.approx(own.size)
