"""What is added from outside the package is used like what is built in: one entry in a registry."""

from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from tellapart.effects.estimate import Estimate
from tellapart.errors import InputError
from tellapart.kernels.bandwidth import median_bandwidths
from tellapart.kernels.base import WEIGHTS, Abilities, FittedKernel, SquaredDifference
from tellapart.kernels.registry import KERNELS
from tellapart.scan.finding_kinds import (
    FINDING_KINDS,
    FindingKind,
    Scale,
    Words,
    register_finding_kind,
)

# A kind of finding: medians, by the density-free interval of Price and Bonett.


def difference_of_medians(column):
    """Compare the medians, with standard errors from order statistics."""
    medians, variance = [], 0.0
    for side in column.sides:
        n = side.values.size
        k = max(round((n + 1) / 2 - np.sqrt(n)), 1)
        ordered = np.sort(side.values)
        variance += ((ordered[n - k] - ordered[k - 1]) / 4) ** 2
        medians.append(float(np.median(side.values)))
    effect, error = medians[0] - medians[1], float(np.sqrt(variance))

    def limits(confidence):
        half = NormalDist().inv_cdf((1 + confidence) / 2) * error
        return effect - half, effect + half

    pvalue = 2 * NormalDist().cdf(-abs(effect) / error)
    return Estimate("median", effect, (medians[0], medians[1]), pvalue, limits)


MEDIAN = FindingKind(
    "median",
    Words("Median", "one median differs", "{} medians differ"),
    Scale("Differences of medians", "difference", in_units=True),
    difference_of_medians,
)


@pytest.fixture
def medians():
    register_finding_kind(MEDIAN)
    yield
    del FINDING_KINDS["median"]


@pytest.fixture
def shifted():
    rng = np.random.default_rng(0)
    x, y = (pd.DataFrame(rng.normal(size=(80, 3)), columns=list("abc")) for _ in range(2))
    return x.assign(b=x["b"] + 2), y


def test_a_kind_of_finding_from_outside_is_reported_like_any_other(medians, shifted):
    result = ta.two_sample_test(*shifted, random_state=0, labels=("new", "old"))
    found = {finding.kind: finding for finding in result.findings}
    assert set(found) == {"location", "median"}
    median = found["median"]
    assert median.variables == ("b",)
    assert median.values == (shifted[0]["b"].median(), shifted[1]["b"].median())
    assert median.interval[0] < median.effect < median.interval[1]
    assert 0 < median.pvalue <= 0.05
    line = median.summary()
    assert line.startswith("b: median ")
    assert "in new, " in line
    assert "; difference +" in line
    assert line in result.summary()
    assert "one median differs (b)" in result.story()[0].lower()
    assert result.to_frame().set_index("kind").loc["median", "measure"] == "median"
    assert "median" in result.to_csv()
    assert "median: 1" in result.methods_paragraph()
    assert "median &" in result.to_latex()
    page = result.to_html(stability=False)
    assert "Median" in page
    assert "Differences of medians" in page


def test_a_selected_variable_can_differ_in_a_kind_from_outside(medians, shifted):
    selection = ta.select_variables(*shifted, 1)
    assert selection.changes["b"].kind == "location"
    assert ta.two_sample_test(*shifted, random_state=0).selection.variables == ("b",)


def test_a_kind_has_a_name_of_its_own(medians):
    with pytest.raises(InputError, match="got 'median'"):
        register_finding_kind(MEDIAN)


@dataclass(frozen=True)
class Rational:
    """K_z(x, y) = 1/(1 + t/2), t the mean of squared differences: a kernel in a file of its own."""

    name: ClassVar[str] = "rational"
    abilities: ClassVar[Abilities] = Abilities(averages=True)

    def fit(self, samples, *, n_jobs=1):
        bandwidths, constant = median_bandwidths(samples, n_jobs=n_jobs)
        scalars = tuple(map(SquaredDifference, bandwidths.tolist()))
        return FittedKernel(self.name, scalars, constant, WEIGHTS["square"], self)

    def value(self, t):
        return 1 / (1 + t / 2)

    def slope(self, t):
        return -0.5 / (1 + t / 2) ** 2

    def curvature(self, t):
        return 0.5 / (1 + t / 2) ** 3


def test_a_kernel_from_outside_is_known_by_its_name(monkeypatch):
    monkeypatch.setitem(KERNELS, Rational.name, Rational)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(80, 4)), rng.normal(size=(80, 4))
    y[:, 2] *= 3
    settings = {"n_variables": 1, "regularization": 0.1, "n_permutations": 99, "random_state": 0}
    result = ta.two_sample_test(x, y, method="split", kernel="rational", **settings)
    assert result.variables == ("x2",)
    assert result.pvalue == 0.01
    assert result.selection.kernel == "rational"
    with pytest.raises(InputError, match="'rational'"):
        ta.two_sample_test(x, y, kernel="irrational")
