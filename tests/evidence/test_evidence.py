"""The evidence of columns and groups together."""

import numpy as np
import pytest

from bench_designs import usual_pvalues
from bench_evidence import DESIGNED
from tellapart.budget import Budget, using_budget
from tellapart.data.design_labels import DesignArguments
from tellapart.data.reader import read_samples
from tellapart.data.samples import Samples
from tellapart.evidence.dependence import CopulaScores, find_pairs
from tellapart.evidence.evidence import gather_evidence
from tellapart.scan.differences import Differences, find_differences
from tellapart.selection.by_evidence import HEURISTIC, best_of
from tellapart.strs.contract import Control


def gather(x, y, d=3, seed=0):
    names = tuple(f"x{s}" for s in range(x.shape[1]))
    samples = Samples(x, y, names, ("numeric",) * x.shape[1])
    return gather_evidence(samples, d, rng=np.random.default_rng(seed))


def test_the_matrix_is_definite_and_copies_share():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 150, 30))
    y[:, 0] += 1
    for z in (x, y):
        z[:, 1] = z[:, 0] + 0.1 * rng.normal(size=150)
    found = gather(x, y)
    assert np.linalg.eigvalsh(found.shared)[0] >= 0.1 - 1e-9
    assert found.shared[0, 1] > 0.9
    assert abs(found.shared[0, 5]) < 0.05
    np.testing.assert_allclose(np.diag(found.shared), found.shared[0, 0])
    assert (found.strengths > 0).all()


def test_a_group_takes_part_only_where_single_columns_do_not_say_more():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 150, 30))
    x[:, 9] = 0.8 * x[:, 4] + 0.6 * x[:, 9]
    assert [group.columns for group in gather(x, y, 2).groups][:1] == [(4, 9)]
    assert gather(x, y, 1).groups == ()
    y[:, [4, 9]] += 3
    assert gather(x, y, 2).groups == ()


def test_rare_values_are_in_no_group():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 100, 8))
    x[:, :2] = y[:, :2] = 0.0
    x[:3, :2] = 1.0
    y[:3, 0] = y[5:8, 1] = 1.0
    assert not any({0, 1} & set(group.columns) for group in gather(x, y).groups)


def test_wide_tables_keep_the_strongest_candidates():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 60, 40))
    y[:, 33] += 2
    with using_budget(Budget(evidence_candidates=10)):
        found = gather(x, y)
    assert found.n_columns == 10
    assert 33 in found.columns
    assert found.shared.shape == (10 + len(found.groups),) * 2


def test_many_rows_are_drawn_from():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(80, 4)), rng.normal(size=(40, 4))
    with using_budget(Budget(evidence_rows=50)):
        one, again, other = gather(x, y), gather(x, y), gather(x, y, seed=1)
    assert one.n_rows == (50, 40)
    np.testing.assert_array_equal(one.strengths, again.strengths)
    assert not np.array_equal(one.shared, other.shared)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_units_do_not_matter(scale):
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(2, 60, 5))
    y[:, 2] += 1
    np.testing.assert_allclose(
        gather(x, y).strengths, gather(scale * x, scale * y).strengths, rtol=1e-4
    )


def by_design(x, y, asked, d):
    samples = read_samples(x, y, design=DesignArguments(**asked))
    differences = find_differences(samples)
    return gather_evidence(samples, d, rng=np.random.default_rng(0), differences=differences)


@pytest.mark.parametrize(("kind", "n_columns"), [("clusters, counts", 800), ("strata", 300)])
def test_under_a_design_the_choice_is_no_worse_than_that_of_t_tests_of_units(kind, n_columns):
    chosen, usual = 0, 0
    for seed in range(3):
        x, y, asked, true = DESIGNED[kind](np.random.default_rng(seed), n_columns)
        found = by_design(x, y, asked, 8)
        best = best_of(found, 8, Control(rng=np.random.default_rng(0)), HEURISTIC)
        chosen += np.isin(found.columns[np.flatnonzero(best.z)], true).sum()
        best_t = np.argsort(usual_pvalues(kind.split(",")[0], x, y, asked))[:8]
        usual += np.isin(best_t, true).sum()
    assert chosen >= usual - 1


def test_correlations_of_columns_are_those_between_units():
    """What the cells of a donor share tells nothing of what donors share."""
    rng = np.random.default_rng(0)
    donor = np.repeat(np.arange(30), 20)
    cells, donors = rng.normal(size=(2, 600, 1)), rng.normal(size=(2, 30, 1))
    x, y = (
        rng.normal(size=(600, 6))
        + 3 * cell * [1, 1, 0, 0, 0, 0]
        + 2 * own[donor] * [1, -1, 1, 1, 0, 0]
        for cell, own in zip(cells, donors, strict=True)
    )
    y += 4  # All columns differ in the same score, and in the same direction.
    found = by_design(x, y, {"clusters": (donor, donor + 30)}, 2)
    assert found.likeness[2, 3] > 0.7
    assert found.likeness[0, 1] < -0.5  # By cells it is positive.
    assert abs(found.likeness[4, 5]) < 0.1


def test_dependence_is_judged_by_units():
    rng = np.random.default_rng(0)
    donor = np.repeat(np.arange(25), 20)
    x, y = (rng.normal(size=(500, 10)) + rng.normal(size=(25, 10))[donor] for _ in range(2))
    y[:, 1] = y[:, 0] + 0.3 * rng.normal(size=500)
    found = by_design(x, y, {"clusters": (donor, donor + 25)}, 2)
    assert [group.columns for group in found.groups] == [(0, 1)]
    # Eight donors of a sample are too few, however many cells they have.
    few = donor < 8
    assert not by_design(x[few], y[few], {"clusters": (donor[few], donor[few] + 25)}, 2).groups
    # A pair whose change is not known by units is not judged by rows.
    unknown = Differences(np.arange(10), (None,) * 10, {}, {}, by_design=True)
    ranked = CopulaScores.of(x), CopulaScores.of(y)
    assert find_pairs(*ranked, np.arange(10), 5)[0].columns == (0, 1)
    assert find_pairs(*ranked, np.arange(10), 5, unknown) == []
