"""Rows seen: drawn without a look at where they came from, part by part."""

import numpy as np

from tellapart.data.samples import CodedRows, Samples
from tellapart.monitor.rows import SeenRows


def rows(values):
    return CodedRows(np.array(values, dtype=float)[:, None], ("v",), ("numeric",))


def seen_of(n_reference, later, parts=None):
    whole = np.zeros(n_reference + len(later), dtype=np.intp) if parts is None else parts
    first = SeenRows(np.arange(n_reference), whole[:n_reference])
    return first.with_batch(rows(later), whole[n_reference:])


def test_the_next_batch_is_compared_with_all_of_it():
    samples = Samples(np.arange(4.0)[:, None], np.array([[9.0], [8.0]]), ("v",), ("numeric",))
    seen = seen_of(4, [5.0, 6.0]).with_batch(rows([7.0]), np.zeros(1, dtype=np.intp))
    compared = seen.beside_batch(samples)
    assert compared.x[:, 0].tolist() == [0, 1, 2, 3, 5, 6, 7]
    assert compared.y[:, 0].tolist() == [9, 8]
    assert seen.n_rows == 7


def test_draws_are_uniform_over_reference_and_batches():
    counts = np.zeros(10)
    for seed in range(2000):
        drawn = seen_of(4, range(4, 10)).draw([3], np.random.default_rng(seed))
        assert drawn.n_rows == 3
        counts[drawn.of_reference] += 1
        counts[drawn.later.values[:, 0].astype(int)] += 1
    assert np.abs(counts - 600).max() < 5 * np.sqrt(2000 * 0.3 * 0.7)


def test_rows_never_change_their_part():
    parts = np.array([0, 1, 0, 1, 1, 1, 0, 0])
    drawn = seen_of(4, [4.0, 5, 6, 7], parts).draw([2, 3], np.random.default_rng(0))
    held = np.concatenate([drawn.of_reference, drawn.later.values[:, 0].astype(int)])
    assert np.bincount(drawn.parts).tolist() == [2, 3]
    assert parts[held].tolist() == drawn.parts.tolist()
    everything = seen_of(4, [4.0, 5, 6, 7], parts).draw([9, 9], np.random.default_rng(0))
    assert everything.n_rows == 8
