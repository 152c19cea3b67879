"""Pairs and triples: dependence that differs, whatever single columns do."""

import numpy as np

from tellapart.evidence.dependence import CopulaScores, find_pairs, find_triples, most_columns


def scored(x, y):
    return CopulaScores.of(x), CopulaScores.of(y), np.arange(x.shape[1])


def test_a_correlated_pair_is_found():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 150, 40))
    x[:, 9] = 0.7 * x[:, 4] + 0.7 * x[:, 9]
    pairs = find_pairs(*scored(x, y), 5)
    assert pairs[0].columns == (4, 9)
    assert pairs[0].zscore > 4
    assert pairs[0].score.shape == (300,)


def test_a_ring_has_no_correlation_and_is_found():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 250, 20))
    angle = rng.uniform(0, 2 * np.pi, 250)
    x[:, 3], x[:, 8] = np.cos(angle), np.sin(angle)
    y[:, 3], y[:, 8] = (np.cos(rng.uniform(0, 2 * np.pi, 250)) for _ in range(2))
    assert find_pairs(*scored(x, y), 5)[0].columns == (3, 8)


def test_a_sign_triple_is_found():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 200, 25))
    x[:, 7] = np.sign(x[:, 2] * x[:, 5]) * np.abs(x[:, 7])
    assert find_triples(*scored(x, y), 3)[0].columns == (2, 5, 7)


def test_shifts_and_spreads_are_no_dependence():
    """Ranks within each sample: correlated columns that shift or spread change no pair."""
    rng = np.random.default_rng(3)
    false = 0
    for _ in range(20):
        common = rng.normal(size=(2, 120, 1))
        x, y = common + 0.5 * rng.normal(size=(2, 120, 12))
        y[:, :6] = 3 * y[:, :6] + 2
        false += len(find_pairs(*scored(x, y), 50)) + len(find_triples(*scored(x, y), 50))
    assert false <= 3


def test_few_rows_and_many_pairs_give_few_false_ones():
    rng = np.random.default_rng(4)
    false = sum(len(find_pairs(*scored(*rng.normal(size=(2, 30, 150))), 50)) for _ in range(5))
    assert false <= 2


def test_flags_are_taken():
    rng = np.random.default_rng(5)
    x, y = (rng.random((2, 300, 10)) < 0.4).astype(float)
    x[:, 6] = np.where(rng.random(300) < 0.85, x[:, 1], x[:, 6])
    assert find_pairs(*scored(x, y), 3)[0].columns == (1, 6)


def test_too_few_columns_have_no_groups():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 30, 1))
    assert find_pairs(*scored(x, y), 3) == []
    assert find_triples(*scored(x, y), 3) == []


def test_triples_stay_within_the_work_allowed():
    assert most_columns(100) == 100
    assert most_columns(40_000) ** 3 * 40_000 <= 1_000_000_000
