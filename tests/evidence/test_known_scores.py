"""Evidence from scores that choices share is that of scores made anew."""

import numpy as np

from tellapart.data.samples import Samples
from tellapart.evidence.evidence import gather_evidence
from tellapart.evidence.shared_scores import KnownScores, OtherColumns
from tellapart.scan.differences import find_differences
from tellapart.scan.scores import make_scores
from tellapart.scan.wide import WideScores

N_X, N_Y, C = 60, 80, 30


def samples():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(N_X, C)), rng.normal(size=(N_Y, C))
    x[:, 3] += 1.5
    x[:, 4] *= 3
    x[:, 20] += 1.2
    return Samples(x, y, tuple(f"x{s}" for s in range(C)), ("numeric",) * C)


def reversed_rows(own):
    """Return all rows in another order, and which of them are those of x, then of y."""
    rows = np.concatenate([own.x, own.y])[::-1]
    whole = Samples(rows[:1], rows[1:], own.names, own.kinds)
    return whole, np.arange(N_X + N_Y)[::-1]


def evidence(own, known=None):
    return gather_evidence(own, 5, rng=np.random.default_rng(0), known=known)


def test_evidence_of_known_scores():
    own = samples()
    whole, order = reversed_rows(own)
    zscores = find_differences(own).zscores
    known = KnownScores(make_scores(whole), order, zscores, np.zeros(C, dtype=bool))
    usual, found = evidence(own), evidence(own, known)
    np.testing.assert_array_equal(found.columns, usual.columns)
    np.testing.assert_allclose(found.strengths, usual.strengths, rtol=1e-2, atol=1e-2)
    np.testing.assert_allclose(found.shared, usual.shared, atol=2e-3)
    assert found.reasons[3] == "shift"
    assert found.reasons[4] == "spread"


def test_other_columns_differ_by_their_shift():
    own = samples()
    whole, order = reversed_rows(own)
    first = np.arange(15)
    zscores = find_differences(own.columns(first)).zscores
    wide = WideScores.of(whole)
    others = OtherColumns(wide, np.arange(15, C), find_differences(own).zscores["normal"][15:])
    scores = make_scores(whole.columns(first))
    known = KnownScores(scores, order, zscores, np.zeros(C, dtype=bool), others)
    found = evidence(own, known)
    np.testing.assert_array_equal(np.sort(found.columns), np.arange(C))
    strengths = dict(zip(found.columns.tolist(), found.strengths[:C].tolist(), strict=True))
    assert sorted(strengths, key=strengths.get)[-3:] == sorted([3, 4, 20], key=strengths.get)
    usual = dict(zip(range(C), evidence(own).strengths[:C].tolist(), strict=True))
    assert abs(strengths[20] - usual[20]) < 0.5
    np.testing.assert_allclose(known.other(5), make_scores(own).normal[:, 20], atol=1e-5)
