"""Sums over units, adjusted for blocks: held to all permutations, listed."""

import numpy as np
import pytest
from scipy import stats

from tellapart.data.design import Design
from tellapart.permutation.design import Units, permute_units, units_of


def designed(blocks, clusters=None):
    """Return the units of a design, all permutations of their labels, and one feature's sums."""
    sides = [np.array(side) for side in blocks]
    units = [np.arange(side.size) for side in sides]
    if clusters is not None:
        units = [np.array(side) for side in clusters]
    found = units_of(Design(tuple(sides), tuple(units), strata=""), np.random.default_rng(0))
    drawn = permute_units(found, 10**5, np.random.default_rng(0))
    assert drawn.exact
    labels = np.unpackbits(drawn.bits, axis=1, count=found.size).astype(float)
    values = np.random.default_rng(1).normal(size=(sum(s.size for s in sides), 3)) + 5
    sums = np.zeros((found.size, 3))
    np.add.at(sums, np.concatenate(found.of_rows), values)
    return found, labels, sums


DESIGNS = {
    "pairs": ([[0, 1, 2, 3], [0, 1, 2, 3]], None),
    "strata": ([[0, 0, 0, 1], [0, 1, 1, 1, 1]], None),
    "rows": ([[0, 0, 0], [0, 0, 0, 0]], None),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_differences_have_the_mean_and_variance_that_are_said(name):
    units, labels, sums = designed(*DESIGNS[name])
    changes = units.weights(labels) @ units.centre(sums)
    assert np.allclose(changes.mean(axis=0), 0, atol=1e-12)
    said = units.spread_out(units.centre(sums))
    assert np.allclose(said.T @ said, np.cov(changes.T, bias=True))


def test_the_variance_of_clusters_holds_to_first_order():
    blocks = [[0] * 12, [0] * 12]
    clusters = [[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5], [6, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11]]
    units, labels, sums = designed(blocks, clusters)
    changes = units.weights(labels) @ sums
    said = np.square(units.spread_out(sums)).sum(axis=0)
    assert np.allclose(said, changes.var(axis=0), rtol=0.05)


def test_pairs_vary_by_their_differences():
    units, _, sums = designed(*DESIGNS["pairs"])
    differences = sums[:4] - sums[4:]
    said = np.square(units.spread_out(sums)).sum(axis=0)
    assert np.allclose(said, np.square(differences).sum(axis=0) / 16)


def test_changes_are_those_of_the_usual_t_tests():
    """The t of cluster means, the paired t, and that of the coefficient beside strata."""
    rng = np.random.default_rng(0)
    donor = np.repeat(np.arange(7), 5)
    sites = np.repeat([0, 1, 2], [6, 3, 4]), np.repeat([0, 1, 2], [2, 5, 6])
    none = np.zeros(35, dtype=int)
    numbered = [np.arange(side.size) for side in sites]
    one_each = np.arange(13)
    designs = {
        "clusters": Design((none, none), (donor, donor + 7), clusters=""),
        "pairs": Design((one_each, one_each), (one_each, one_each), paired=""),
        "strata": Design(sites, tuple(numbered), strata=""),
    }
    for name, design in designs.items():
        x, y = (rng.normal(size=(side.size, 6)) for side in design.blocks)
        units = units_of(design, rng)
        change, rest = units.changes(units.sums_of(np.concatenate([x, y])))
        t = change / np.sqrt(np.square(rest).sum(axis=0))
        if name == "clusters":
            expected = stats.ttest_ind(*(v.reshape(7, 5, 6).mean(axis=1) for v in (x, y)))
        elif name == "pairs":
            expected = stats.ttest_rel(x, y)
        if name != "strata":
            np.testing.assert_allclose(t, expected.statistic, rtol=1e-6)
            assert units.freedom == expected.df[0]
            continue
        stratum, of_x = np.concatenate(sites), np.repeat([1.0, 0.0], [13, 13])
        matrix = np.column_stack([of_x, *(stratum == s for s in range(3))])
        coefficients, squares, _, _ = np.linalg.lstsq(matrix, np.concatenate([x, y]))
        error = np.sqrt(squares / 22 * np.linalg.inv(matrix.T @ matrix)[0, 0])
        # The variance is estimated stratum by stratum: alike, not the same.
        np.testing.assert_allclose(t, coefficients[0] / error, rtol=0.1, atol=0.05)
        assert units.freedom == 22


@pytest.mark.parametrize("name", DESIGNS)
def test_centred_weights_are_centred_sums(name):
    units, labels, sums = designed(*DESIGNS[name])
    assert np.allclose(
        units.centred_weights(labels) @ sums, units.weights(labels) @ units.centre(sums)
    )
    assert units.needs_centring == (name == "strata")


def keeping():
    """Return units in two blocks of which some keep their labels, all labels, and sums."""
    rng = np.random.default_rng(2)
    of_x, of_y = (
        np.repeat(np.arange(5), [2, 2, 2, 2, 7]),
        np.repeat(np.arange(5, 11), [2] * 4 + [9, 3]),
    )
    units = Units(
        of_rows=(of_x, of_y),
        rows=np.bincount(np.concatenate([of_x, of_y])),
        block=np.array([0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1]),
        n_units=(5, 6),
        together=2,
        keeps_label=np.array([0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1], dtype=bool),
    )
    drawn = permute_units(units, 10**5, rng)
    labels = np.unpackbits(drawn.bits, axis=1, count=units.size).astype(float)
    sums = np.zeros((units.size, 3))
    np.add.at(sums, np.concatenate([of_x, of_y]), rng.normal(size=(35, 3)) + 5)
    return units, labels, sums


def test_units_that_keep_their_labels_are_part_of_the_means_and_never_move():
    units, labels, sums = keeping()
    assert units.shapes.tolist() == [[2, 2], [1, 3]]
    assert units.n_moved == (4, 4)
    assert labels.shape[0] == np.unique(labels, axis=0).shape[0] == 3 * 10
    assert (labels[:, [4, 9, 10]] == [1, 0, 0]).all()
    assert units.needs_centring
    adjusted = units.centre(sums)
    changes = units.weights(labels) @ adjusted
    assert np.allclose(units.centred_weights(labels) @ sums, changes)
    # Rows of x and of y are as many under all permutations: 15 and 20.
    true = adjusted[:5].sum(axis=0) / 15 - adjusted[5:].sum(axis=0) / 20
    assert np.allclose(changes[0], true)
    said = units.spread_out(adjusted)
    assert np.allclose(said.T @ said, np.cov(changes.T, bias=True))
    assert (said[[4, 9, 10]] == 0).all()


def test_without_units_that_keep_their_labels_they_count_for_nothing():
    units, labels, sums = keeping()
    moved = units.only_moved()
    changed = sums.copy()
    changed[[4, 9, 10]] += 100
    # As sums are adjusted: multiplied by the weights of rows, which are 0 for these.
    weights = moved.row_weights[:, np.newaxis]
    assert np.allclose(
        moved.centred_weights(labels) @ (sums * weights),
        moved.centred_weights(labels) @ (changed * weights),
    )
    assert moved.counts.sum() == 16
