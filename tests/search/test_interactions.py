"""Groups whose dependence differs, though none of their variables does by itself."""

import tracemalloc

import numpy as np
import pytest
from small_problems import joint, samples_of

from tellapart.kernels import Linear
from tellapart.search.interactions import FEWEST_ROWS, strongest_groups

RNG = np.random.default_rng(0)


def groups(x, y, size, count=3, **settings):
    samples = samples_of(x, y)
    rng = np.random.default_rng(0)
    return strongest_groups(samples, Linear().fit(samples), size, count, rng, **settings)


def naive_scores(samples, size):
    """Return the score of every group, from the definition."""
    kernel = Linear().fit(samples)
    pooled = np.concatenate([samples.x, samples.y])
    m, n = samples.n_x, samples.n_y
    of_x = np.arange(m + n) < m
    weights = np.where(np.equal.outer(of_x, of_x), 0.0, -1 / (m * n))
    weights[:m, :m], weights[m:, m:] = 1 / (m * (m - 1)), 1 / (n * (n - 1))
    np.fill_diagonal(weights, 0.0)
    centred = []
    for scalar, column in zip(kernel.scalars, pooled.T, strict=True):
        gram = scalar.gram(column, column)
        gram = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
        centred.append(gram / np.sqrt(np.square(gram).mean()))
    axes = "abc"[:size]
    terms = ",".join(f"{axis}ij" for axis in axes)
    return np.einsum(f"{terms},ij->{axes}", *[np.array(centred)] * size, weights)


@pytest.mark.parametrize("size", [2, 3])
def test_scores_are_the_definition_and_come_in_order(size):
    x, y = joint(6, (30, 41), (1, 4), seed=1)
    scores = naive_scores(samples_of(x, y), size)
    found = groups(x, y, size, 100)
    assert len(found) == {2: 15, 3: 20}[size]
    assert all(list(g.variables) == sorted(set(g.variables)) for g in found)
    assert len({g.variables for g in found}) == len(found)
    for group in found:
        assert group.score == pytest.approx(scores[group.variables], abs=0.1 * scores.max())
    assert [g.score for g in found] == sorted((g.score for g in found), reverse=True)
    assert [g.variables for g in groups(x, y, size, 4)] == [g.variables for g in found[:4]]


@pytest.mark.parametrize("seed", range(3))
def test_a_correlated_pair_is_found_among_many(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(150, 40)), rng.normal(size=(150, 40))
    y[:, 31] = 0.9 * y[:, 7] + np.sqrt(0.19) * y[:, 31]
    assert groups(x, y, 2)[0].variables == (7, 31)


@pytest.mark.parametrize("seed", range(3))
def test_a_product_of_three_signs_is_found_and_no_pair_of_it(seed):
    x, y = joint(15, (200, 200), (3, 8, 12), seed)
    found = groups(x, y, 3)
    assert found[0].variables == (3, 8, 12)
    pairs = groups(x, y, 2)
    assert found[0].score > 2 * found[1].score
    assert pairs[0].score < found[0].score


def test_marginal_differences_alone_have_no_say():
    x, y = joint(10, (150, 150), (2, 6), seed=0)
    y[:, [0, 1]] += 3.0
    assert groups(x, y, 2)[0].variables == (2, 6)


def test_the_work_is_limited_by_drawing_rows():
    x, y = joint(10, (300, 200), (2, 6), seed=0)
    work = 4 * (10 * 6) ** 2 * FEWEST_ROWS
    assert groups(x, y, 2, most_work=work)[0].variables == (2, 6)
    assert groups(x, y, 2, most_work=work - 1e4) == []
    # All rows of small samples are few enough.
    assert groups(x[:50], y[:50], 2, most_work=work / 2) != []


def test_of_many_columns_each_has_fewer_features_and_of_too_many_none_is_looked_at(set_budget):
    x, y = joint(10, (200, 200), (2, 6), seed=0)
    set_budget(interaction_features=20)
    assert groups(x, y, 2)[0].variables == (2, 6)
    set_budget(interaction_columns=9)
    assert groups(x, y, 2) == []


def test_too_few_columns_have_no_groups():
    x, y = RNG.normal(size=(20, 2)), RNG.normal(size=(20, 2))
    assert groups(x, y, 3) == []
    assert [g.variables for g in groups(x, y, 2)] == [(0, 1)]
    x[:, 1] = y[:, 1] = 5.0
    assert groups(x, y, 2) == []


def test_constant_columns_are_left_out_and_others_keep_their_places():
    x, y = joint(6, (100, 100), (1, 4), seed=0)
    x[:, 0] = y[:, 0] = x[:, 3] = y[:, 3] = 1.0
    assert groups(x, y, 2)[0].variables == (1, 4)
    assert all({0, 3}.isdisjoint(g.variables) for g in groups(x, y, 2, 20))


def test_triples_of_many_columns_take_little_memory():
    x, y = RNG.normal(size=(25, 120)), RNG.normal(size=(25, 120))
    tracemalloc.start()
    groups(x, y, 3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The scores of ordered triples, 8 · 120³/3 bytes, and a few blocks of pairs.
    assert peak < 8 * 120**3 / 3 + 5e7


def test_rows_far_out_and_equal_samples_give_finite_scores():
    x = RNG.standard_cauchy((40, 5)) ** 3
    assert all(np.isfinite(g.score) for g in groups(x, x, 2, 10))


def linked(rows, correlation, flipped, seed=0, D=8):
    """X has independent columns; in Y 1 and 2 are correlated, 4, 5 and 6 by their signs only."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(rows, D)), rng.normal(size=(rows, D))
    y[:, 2] = correlation * y[:, 1] + np.sqrt(1 - correlation**2) * y[:, 2]
    negative = np.sign(y[:, 4] * y[:, 5] * y[:, 6]) < 0
    y[negative & (rng.random(rows) < flipped), 6] *= -1
    return samples_of(x, y)


def test_many_rows_show_what_few_do_not():
    samples = linked(20_000, 0.08, 0.15)
    kernel, rng = Linear().fit(samples), np.random.default_rng(0)
    pairs, triples = (strongest_groups(samples, kernel, size, 2, rng) for size in (2, 3))
    assert pairs[0].variables == (1, 2)
    assert triples[0].variables == (4, 5, 6)


def test_constant_columns_take_no_part_and_too_little_work_gives_nothing():
    samples = linked(1_500, 0.5, 0.0)
    samples.x[:, 0] = samples.y[:, 0] = 3.0
    kernel, rng = Linear().fit(samples), np.random.default_rng(0)
    found = strongest_groups(samples, kernel, 2, 3, rng)
    assert found[0].variables == (1, 2)
    assert all(0 not in group.variables for group in found)
    assert strongest_groups(samples, kernel, 3, 3, rng, most_work=1e3) == []


def test_swapped_samples_and_shuffled_rows_give_the_same_groups():
    samples = linked(1_200, 0.4, 0.6)
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
