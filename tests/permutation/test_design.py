"""Permutations that keep to a design."""

import numpy as np
import pytest

from tellapart.data.design import Design
from tellapart.permutation.design import (
    count_designed,
    least_designed_pvalue,
    permute_units,
    units_of,
)


def pairs(n):
    return Design((np.arange(n),) * 2, (np.arange(n),) * 2, paired="")


def strata(of_x, of_y):
    units = np.arange(len(of_x)), np.arange(len(of_y))
    return Design((np.array(of_x), np.array(of_y)), units, strata="")


# No two strata of the same numbers of rows: 2,000 of them, with 1 to 40 of each sample.
UNEVEN = tuple(
    np.repeat(np.arange(2_000), np.random.default_rng(side).integers(1, 41, 2_000))
    for side in (0, 1)
)


def labels_of(units, count, seed=0):
    drawn = permute_units(units, count, np.random.default_rng(seed))
    return np.unpackbits(drawn.bits, axis=1, count=units.size), drawn.exact


@pytest.mark.parametrize(
    ("design", "count"),
    [(pairs(6), 64), (strata([0, 0, 1], [0, 1, 1]), 9), (strata([0, 0, 0], [0, 0]), 10)],
)
def test_few_permutations_are_all_listed_the_true_ones_first(design, count):
    units = units_of(design, np.random.default_rng(0))
    labels, exact = labels_of(units, 99)
    assert exact
    assert count_designed(units.shapes, 99) == count
    assert np.unique(labels, axis=0).shape[0] == labels.shape[0] == count
    assert labels[0].tolist() == [1] * units.n_units[0] + [0] * units.n_units[1]
    assert within_blocks(units, labels)


def within_blocks(units, labels):
    """Say whether every block has as many units of x under all permutations as in truth."""
    n_blocks = units.block.max() + 1
    counts = np.array([np.bincount(units.block, e, minlength=n_blocks) for e in labels])
    return bool((counts == counts[0]).all())


@pytest.mark.parametrize(
    "design",
    [
        pairs(30),
        strata(np.arange(60) % 4, np.arange(45) % 4),
        pairs(3_000),
        strata(np.arange(9_000) % 7, np.arange(4_000) % 7),
        strata(np.arange(9_000) // 3, np.arange(6_000) // 2),
        strata(np.arange(900) // 3, np.arange(30_000) // 100),
        strata(np.zeros(500, int), np.zeros(15_000, int)),
        strata(np.arange(600), np.arange(12_000) // 20),
        strata(np.arange(1_203) % 5, np.arange(40_007) % 5),
        strata(np.zeros(200, int), np.zeros(10_000, int)),
        strata(*UNEVEN),
    ],
)
def test_drawn_labels_stay_within_blocks_and_units_within_their_own(design):
    units = units_of(design, np.random.default_rng(1))
    labels, exact = labels_of(units, 19)
    assert not exact
    assert within_blocks(units, labels)
    assert units.size <= 4_000
    # Every row is in a unit of its own sample, and no unit is empty.
    assert units.of_rows[0].max() < units.n_units[0] <= units.of_rows[1].min()
    assert units.rows.min() >= 1
    assert units.rows.sum() == sum(blocks.size for blocks in design.blocks)
    # The permutation of rows that this is keeps to the strata of the design.
    for e in labels:
        of_x, of_y = (e[rows] for rows in units.of_rows)
        blocks = np.concatenate(design.blocks)
        counts = np.bincount(blocks, np.concatenate([of_x, of_y]))
        assert np.array_equal(counts, np.bincount(design.blocks[0]))


def test_the_rows_of_joined_pairs_stay_apart():
    units = units_of(pairs(1_000), np.random.default_rng(0))
    assert units.together == 4
    assert units.n_units == (250, 250)
    labels, _ = labels_of(units, 9)
    of_x, of_y = (labels[:, rows] for rows in units.of_rows)
    # Every single pair is either swapped or not.
    assert (of_x + of_y == 1).all()


def test_the_least_pvalue_counts_mirror_images():
    assert least_designed_pvalue(pairs(6), 999) == 2 / 64
    assert least_designed_pvalue(strata([0, 0, 1], [0, 1, 1]), 999) == 1 / 9
    assert least_designed_pvalue(pairs(50), 999) == 1 / 1000
