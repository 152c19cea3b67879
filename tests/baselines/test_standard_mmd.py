"""The standard MMD test against the formula written out, and its level."""

import numpy as np
import pytest

from tellapart.baselines import StandardMMD
from tellapart.errors import InputError
from tellapart.kernels import Gaussian
from tellapart.statistics.mmd import mmd2

KERNELS = ["gaussian", "linear", "quadratic"]


def two_samples(m=40, n=55, shift=0.0, seed=0, columns=5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, columns)), rng.normal(size=(n, columns)) + shift


def median_distances(pooled):
    distances = np.abs(pooled[:, None] - pooled)
    return np.median(distances[np.triu_indices(len(pooled), 1)], axis=0)


def test_statistic_is_mmd_of_the_gaussian_kernel_with_the_corrected_scale():
    x, y = two_samples()
    pooled = np.concatenate([x, y])
    scaled = pooled / median_distances(pooled)
    means = np.mean((scaled[:, None] - scaled) ** 2, axis=2)
    # E2: the scale is the median of the *mean* over columns, as z² = 1/D makes t a mean.
    sigma2 = np.median(means[np.triu_indices(len(pooled), 1)])
    gram = np.exp(-means / (2 * sigma2))
    expected = mmd2(gram[:40, :40], gram[40:, 40:], gram[:40, 40:])
    result = StandardMMD("gaussian", random_state=0).test(x, y)
    assert result.statistic == pytest.approx(expected, rel=1e-9)


def test_statistic_of_the_linear_kernel_is_the_mean_over_columns_times_root_d():
    x, y = two_samples()
    pooled = np.concatenate([x, y])
    gram = np.exp(-(((pooled[:, None] - pooled) / median_distances(pooled)) ** 2) / 2).sum(axis=2)
    gram /= np.sqrt(5)
    expected = mmd2(gram[:40, :40], gram[40:, 40:], gram[:40, 40:])
    result = StandardMMD("linear", random_state=0).test(x, y)
    assert result.statistic == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_papers_bandwidths_are_another_test(kernel):
    x, y = two_samples(shift=0.3)
    x, y = 10 * x, 10 * y
    ours = StandardMMD(kernel, random_state=0).test(x, y)
    theirs = StandardMMD(kernel, "paper", random_state=0).test(x, y)
    assert ours.statistic != theirs.statistic
    assert "paper" in theirs.method.name
    assert "paper" not in ours.method.name


def test_all_rows_or_the_held_out_ones():
    x, y = two_samples()
    everything = StandardMMD(random_state=0).test(x, y)
    assert (everything.n_train, everything.n_test) == ((0, 0), (40, 55))
    half = StandardMMD(use="held-out", random_state=0).test(x, y)
    assert (half.n_train, half.n_test) == ((20, 27), (20, 28))
    assert "Sample sizes: 40 (X) and 55 (Y)." in everything.summary()


def test_bandwidths_come_from_all_rows_whatever_the_labels():
    x, y = two_samples(m=30, n=30)
    one = StandardMMD(random_state=0).test(x, y).kernel
    other = StandardMMD(random_state=0).test(y, x).kernel
    assert one.outer == other.outer
    assert one.scalars == other.scalars


def test_no_selection_all_variables():
    x, y = two_samples()
    x[:, 2] = y[:, 2] = 7.0
    with pytest.warns(UserWarning, match="constant"):
        result = StandardMMD(random_state=0).test(x, y)
    assert result.variables == ("x0", "x1", "x3", "x4")
    assert result.selection.z[[0, 1, 3, 4]].tolist() == [0.5] * 4
    assert result.selection.constant == ("x2",)
    assert "uses all variables" in result.selection.certificate
    assert not hasattr(StandardMMD(), "select")


@pytest.mark.parametrize("kernel", KERNELS)
def test_power_on_an_easy_case(kernel):
    x, y = two_samples(shift=0.8)
    assert StandardMMD(kernel, random_state=0).test(x, y).pvalue == 0.001


@pytest.mark.parametrize("use", ["all", "held-out"])
def test_level_under_the_null(use):
    rejections = sum(
        StandardMMD("linear", use=use, n_permutations=99, random_state=seed)
        .test(*two_samples(m=20, n=24, seed=seed, columns=3))
        .reject
        for seed in range(200)
    )
    # Binomial(200, 0.05): more than 22 has probability 1e-4.
    assert rejections <= 22


def test_few_rows_are_enumerated():
    x, y = two_samples(m=5, n=5, shift=3.0)
    result = StandardMMD(random_state=0).test(x, y)
    assert result.exact
    assert result.null_distribution.shape == (252,)


def test_a_kernel_object_keeps_its_settings():
    x, y = two_samples()
    result = StandardMMD(Gaussian(bandwidth=2.0), random_state=0).test(x, y)
    assert result.kernel.outer.variance == 4.0


def test_mixed_columns():
    import pandas as pd

    rng = np.random.default_rng(0)
    x = pd.DataFrame({"u": rng.normal(size=40), "c": rng.choice(["a", "b", "c"], 40)})
    y = pd.DataFrame({"u": rng.normal(size=50), "c": rng.choice(["a", "b"], 50)})
    assert StandardMMD(random_state=0).test(x, y).reject


def test_bad_settings():
    for settings, message in (
        ({"kernel": "cubic"}, "kernel must be one of"),
        ({"kernel": 3}, "kernel"),
        ({"bandwidth": "mean"}, "bandwidth must be one of"),
        ({"kernel": Gaussian(), "bandwidth": "paper"}, "kernel object"),
        ({"use": "half"}, "use must be one of"),
    ):
        with pytest.raises(InputError, match=message):
            StandardMMD(**settings)
