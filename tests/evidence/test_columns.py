"""Single columns: how strongly each differs, in what, and by which score."""

import numpy as np

import tellapart as ta
from tellapart.data.reader import read_samples
from tellapart.data.samples import Samples
from tellapart.evidence.columns import (
    FACTOR,
    REASONS,
    column_evidence,
    standardised,
    within_samples,
    without_factors,
    zscores,
)
from tellapart.permutation.design_units import normal_tail
from tellapart.scan.scores import make_scores


def evidence(x, y, d=3):
    names = tuple(f"x{s}" for s in range(x.shape[1]))
    samples = Samples(x, y, names, ("numeric",) * x.shape[1])
    return column_evidence(make_scores(samples), len(x), d)


def test_zscores_have_the_variance_of_permutations():
    rng = np.random.default_rng(0)
    scores = standardised(rng.exponential(size=(60, 1)).astype(np.float32))
    drawn = [float(zscores(scores[rng.permutation(60)], 20)[0]) for _ in range(4_000)]
    assert abs(np.mean(drawn)) < 0.06
    assert abs(np.std(drawn) - 1) < 0.05


def test_student_tails_become_normal_ones():
    from scipy import stats

    t = np.array([0.5, 2.0, 4.0])
    expected = stats.norm.isf(stats.t.sf(t, 30))
    np.testing.assert_allclose(normal_tail(t, 30), expected, rtol=0.01)


def test_shift_spread_and_shape_are_told_apart():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 200, 20))
    y[:, 3] += 0.8
    y[:, 7] *= 2
    y[:, 11] = (rng.exponential(size=200) - 1) * 1.0
    found = evidence(x, y)
    top = np.argsort(-found.log_odds)[:3]
    assert set(found.columns[top]) == {3, 7, 11}
    assert tuple(REASONS[found.scores[s]] for s in (3, 7, 11)) == ("shift", "spread", "shape")
    assert found.zscores[3] < 0


def test_common_factors_hide_shifts_that_show_without_them():
    rng = np.random.default_rng(3)
    loadings = rng.normal(size=(2, 40))
    x, y = (rng.normal(size=(150, 2)) @ loadings + 0.7 * rng.normal(size=(150, 40)) for _ in "xy")
    y[:, [4, 30]] += 0.7
    found = evidence(x, y, 2)
    assert FACTOR in found.made
    assert set(np.argsort(-found.log_odds)[:2]) == {4, 30}


def test_no_factors_in_noise():
    rng = np.random.default_rng(0)
    assert without_factors(rng.normal(size=(100, 50)).astype(np.float32), 50) is None
    assert without_factors(np.empty((100, 0), dtype=np.float32), 50) is None


def test_a_category_differs_by_its_best_level():
    import pandas as pd

    rng = np.random.default_rng(0)
    left = pd.DataFrame({"town": rng.choice(list("abc"), 200), "v": rng.normal(size=200)})
    right = pd.DataFrame(
        {"town": rng.choice(list("abc"), 200, p=[0.1, 0.45, 0.45]), "v": rng.normal(size=200)}
    )
    samples = read_samples(left, right)
    scores = make_scores(samples)
    found = column_evidence(scores, 200, 1)
    assert found.log_odds[0] > 3 > found.log_odds[1]
    assert scores.level[found.places[0]] == "a"


def test_labels_of_rows_matter_and_their_order_does_not():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 80, 6))
    y[:, 1] += 1
    one, other = evidence(x, y), evidence(x[::-1], y[rng.permutation(80)])
    np.testing.assert_allclose(one.log_odds, other.log_odds, rtol=1e-4)
    swapped = evidence(y, x)
    np.testing.assert_allclose(one.log_odds, swapped.log_odds, rtol=1e-4)


def test_within_samples_takes_shifts_out():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(50, 2)).astype(np.float32)
    values[:20] += 5
    rest = within_samples(values, 20)
    assert np.abs(rest[:20].mean(axis=0)).max() < 1e-5
    np.testing.assert_allclose(rest.std(axis=0), 1, rtol=1e-4)


def test_a_column_without_gaps_is_not_chosen_for_them():
    rng = np.random.default_rng(4)
    left, right = rng.normal(size=(2, 60, 3))
    left[:20, 0] = np.nan
    found = ta.two_sample_test(
        left, right, missing="pairwise", n_permutations=19, n_variables=3, random_state=0
    ).selection
    reasons = dict(zip(found.variables, found.reasons, strict=True))
    assert reasons["x0"] == "missing"
    assert "missing" not in (reasons.get("x1"), reasons.get("x2"))
