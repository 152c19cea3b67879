"""Sums over units, adjusted for blocks: held to all permutations, listed."""

import numpy as np
import pytest

from tellapart.data.design import Design
from tellapart.permutation.design import permute_units, units_of


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


@pytest.mark.parametrize("name", DESIGNS)
def test_centred_weights_are_centred_sums(name):
    units, labels, sums = designed(*DESIGNS[name])
    assert np.allclose(
        units.centred_weights(labels) @ sums, units.weights(labels) @ units.centre(sums)
    )
    assert units.needs_centring == (name == "strata")
