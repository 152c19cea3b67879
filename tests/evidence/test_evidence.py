"""The evidence of columns and groups together."""

import numpy as np
import pytest

import tellapart.evidence.evidence as module
from tellapart.data.samples import Samples
from tellapart.evidence.evidence import gather_evidence


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


def test_wide_tables_keep_the_strongest_candidates(monkeypatch):
    monkeypatch.setattr(module, "MOST_CANDIDATES", 10)
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 60, 40))
    y[:, 33] += 2
    found = gather(x, y)
    assert found.n_columns == 10
    assert 33 in found.columns
    assert found.shared.shape == (10 + len(found.groups),) * 2


def test_many_rows_are_drawn_from(monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 50)
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(80, 4)), rng.normal(size=(40, 4))
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
