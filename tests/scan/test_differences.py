"""z-scores over all rows: those of the scores, and the same with or without bins."""

import numpy as np
import pandas as pd
import pytest

from designs import NULLS
from tellapart.data.design_labels import DesignArguments
from tellapart.data.reader import read_samples
from tellapart.scan.differences import Differences, find_differences
from tellapart.scan.scan import scan
from tellapart.scan.scores import make_scores


def _samples(n_x=900, n_y=700):
    rng = np.random.default_rng(0)

    def table(n, shift):
        return pd.DataFrame(
            {"a": rng.normal(size=n) + shift, "b": rng.choice(list("uvw"), n), "c": rng.random(n)}
        )

    return read_samples(table(n_x, 0.2), table(n_y, 0.0))


def test_zscores_are_differences_of_means_over_their_deviation():
    samples = _samples()
    scores, found = make_scores(samples), find_differences(samples)
    m, n = samples.n_x, samples.n_y
    for name in ("normal", "clipped", "rank", "spread"):
        own = scores.of(name).astype(float)
        delta = own[:m].mean(axis=0) - own[m:].mean(axis=0)
        expected = delta / np.sqrt((1 / m + 1 / n) * (m + n) / (m + n - 1))
        np.testing.assert_allclose(found.zscores[name], expected, atol=1e-3)


@pytest.mark.parametrize("name", NULLS)
def test_a_scan_finds_the_same_under_a_design(name):
    x, y, asked = NULLS[name](np.random.default_rng(0))
    samples = read_samples(x, y, design=DesignArguments(**asked))
    of_scan = scan(samples, n_permutations=19, alpha=0.1, rng=np.random.default_rng(0)).differences
    alone = find_differences(samples)
    assert alone.by_design
    for score, own in alone.zscores.items():
        np.testing.assert_allclose(of_scan.zscores[score], own, atol=1e-6)


def test_columns_that_never_vary_have_no_zscores():
    ones = np.ones((8, 2))
    samples = read_samples(ones, ones, design=DesignArguments(paired=True))
    assert find_differences(samples).column.size == 0


def test_a_scan_finds_the_same():
    samples = _samples()
    of_scan = scan(samples, n_permutations=19, alpha=0.1, rng=np.random.default_rng(0)).differences
    for name, own in find_differences(samples).zscores.items():
        np.testing.assert_allclose(of_scan.zscores[name], own, atol=1e-3)


def test_levels_that_only_one_side_knows_keep_their_own():
    known = Differences(np.array([0, 1]), (None, "u"), {"normal": np.array([5.0, 7.0])})
    own = np.array([1.0, 2.0, 3.0])
    found = known.aligned("normal", own, np.array([0, 1, 1]), (None, "u", "v"))
    assert found.tolist() == [5.0, 7.0, 3.0]
    assert known.aligned("waves", own, np.array([0, 1, 1]), (None, "u", "v")) is own


def test_changes_of_correlation_are_those_of_fishers_z():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(3000, 4)), rng.normal(size=(2500, 4))
    y[:, 1] = 0.4 * y[:, 0] + np.sqrt(1 - 0.16) * y[:, 1]
    y[:, 3] += 1.0
    samples = read_samples(x, y)
    found = find_differences(samples)
    scores = make_scores(samples).normal.astype(float)
    r = [np.corrcoef(part[:, 0], part[:, 1])[0, 1] for part in (scores[:3000], scores[3000:])]
    expected = (np.arctanh(r[0]) - np.arctanh(r[1])) / np.sqrt(1 / 3000 + 1 / 2500)
    assert abs(found.correlations[0, 1] - expected) < 0.01
    # Column 3 is shifted: what that does to its correlations is not held against them.
    assert set(found.correlations) == {(0, 1), (0, 2), (1, 2)}
    own = np.array([0.5, 0.7])
    judged = found.correlation_changes(np.array([1, 3]), np.array([0, 2]), own)
    assert judged[0] == found.correlations[0, 1]
    assert judged[1] == 0.7
