"""The combination: valid families, one answer, and no family that hides another."""

import numpy as np

from tellapart.scan.tails import combine, family_score


def test_a_strong_family_decides_whatever_the_others_say():
    rng = np.random.default_rng(0)
    quiet, loud = rng.chisquare(1, size=(500, 3)), rng.chisquare(1, size=(500, 1))
    quiet[0], loud[0] = 0.0, 60.0
    combined = combine(
        {"quiet": family_score(quiet), "loud": family_score(loud)}, {"quiet": 3.0, "loud": 0.5}
    )
    assert combined.values[0] == combined.values.max()
    assert combined.pvalues["loud"] == 1 / 500
    assert combined.pvalues["quiet"] == 1


def test_the_combination_is_exchangeable():
    rng = np.random.default_rng(1)
    tables = {name: rng.chisquare(2, size=(300, k)) for name, k in (("a", 2), ("b", 5))}
    order = rng.permutation(300)
    weights = {"a": 1.0, "b": 2.0}

    def values(tables):
        return combine({n: family_score(t) for n, t in tables.items()}, weights).values

    moved = {name: table[order] for name, table in tables.items()}
    np.testing.assert_allclose(values(tables)[order], values(moved), atol=1e-12)


def test_pvalues_of_the_combination_are_uniform_where_nothing_differs():
    rng = np.random.default_rng(2)
    pvalues = []
    for _ in range(400):
        tables = {name: rng.chisquare(1, size=(100, 3)) for name in "ab"}
        c = combine({n: family_score(t) for n, t in tables.items()}, {"a": 3.0, "b": 1.0}).values
        pvalues.append(np.mean(c >= c[0]))
    assert abs(np.mean(np.array(pvalues) <= 0.1) - 0.1) < 0.05
