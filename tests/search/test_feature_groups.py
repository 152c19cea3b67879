"""Groups by features: the same ones as by pairs of rows, and weak ones from many rows."""

import numpy as np
from small_problems import samples_of

from tellapart.kernels import Linear
from tellapart.search.interactions import strongest_groups


def data(rows, correlation, flipped, seed=0, D=8):
    """X has independent columns; in Y 1 and 2 are correlated, 4, 5 and 6 by their signs only."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(rows, D)), rng.normal(size=(rows, D))
    y[:, 2] = correlation * y[:, 1] + np.sqrt(1 - correlation**2) * y[:, 2]
    negative = np.sign(y[:, 4] * y[:, 5] * y[:, 6]) < 0
    y[negative & (rng.random(rows) < flipped), 6] *= -1
    return samples_of(x, y)


def test_many_rows_show_what_few_do_not():
    samples = data(20_000, 0.08, 0.15)
    kernel, rng = Linear().fit(samples), np.random.default_rng(0)
    pairs, triples = (strongest_groups(samples, kernel, size, 2, rng) for size in (2, 3))
    assert pairs[0].variables == (1, 2)
    assert triples[0].variables == (4, 5, 6)


def test_constant_columns_take_no_part_and_too_little_work_gives_nothing():
    samples = data(1_500, 0.5, 0.0)
    samples.x[:, 0] = samples.y[:, 0] = 3.0
    kernel, rng = Linear().fit(samples), np.random.default_rng(0)
    found = strongest_groups(samples, kernel, 2, 3, rng)
    assert found[0].variables == (1, 2)
    assert all(0 not in group.variables for group in found)
    assert strongest_groups(samples, kernel, 3, 3, rng, most_work=1e3) == []


def test_swapped_samples_and_shuffled_rows_give_the_same_groups():
    samples = data(1_200, 0.4, 0.6)
    rng = np.random.default_rng(1)
    mixed = samples_of(rng.permutation(samples.y), rng.permutation(samples.x))
    for size in (2, 3):
        one, other = (
            strongest_groups(part, Linear().fit(part), size, 2, rng) for part in (samples, mixed)
        )
        assert [group.variables for group in one] == [group.variables for group in other]
        np.testing.assert_allclose(
            [group.score for group in one], [group.score for group in other], rtol=1e-3
        )
