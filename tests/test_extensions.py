"""What is added from outside the package is used like what is built in: one entry in a registry."""

from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from tellapart.data.design import register_scheme
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


# A design: labels of a time series may be shifted round within a day, not permuted.


class CircularShifts:
    """Shift the labels of the rows of each block round in time, by a random number of rows."""

    name = "circular shifts"

    def __init__(self, times_x, times_y):
        self._times = np.asarray(times_x), np.asarray(times_y)
        self.drawn = 0

    def draw(self, units, n_permutations, rng):
        """Return the labels of all rows under random shifts."""
        self.drawn += 1
        of_x, of_y = self._times
        times = np.empty(units.of_x.size)
        times[units.of_x] = of_x[units.key[units.of_x]]
        times[~units.of_x] = of_y[units.key[~units.of_x]]
        labels = np.empty((n_permutations, units.of_x.size), dtype=bool)
        for block in np.unique(units.block):
            rows = np.flatnonzero(units.block == block)
            rows = rows[np.argsort(times[rows])]
            shifts = rng.integers(rows.size, size=n_permutations)
            turned = (np.arange(rows.size) + shifts[:, np.newaxis]) % rows.size
            labels[:, rows] = units.of_x[rows][turned]
        return labels


def slow_series(shift=0.0, days=3, length=80, seed=0):
    """Return rows of slow series, of which each day has a stretch of X, their days and times."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(days * length, 4))
    values = np.empty_like(steps)
    values[0] = steps[0]
    for t in range(1, len(steps)):
        values[t] = 0.97 * values[t - 1] + 0.24 * steps[t]
    times = np.tile(np.arange(length), days)
    day = np.repeat(np.arange(days), length)
    of_x = (times >= 20) & (times < 60)
    values[of_x, 1] += shift
    return (values[of_x], values[~of_x]), (day[of_x], day[~of_x]), (times[of_x], times[~of_x])


FEW = {"n_permutations": 99, "random_state": 0}


def test_a_design_from_outside_permutes_the_labels():
    """Rows next to each other are alike: shifts allow for it, permutations of rows do not."""
    (x, y), days, times = slow_series()
    shifts = CircularShifts(*times)
    result = ta.two_sample_test(x, y, strata=days, design=shifts, **FEW)
    assert shifts.drawn
    assert not result.reject
    assert ta.two_sample_test(x, y, strata=days, **FEW).reject
    assert "permuted within 3 strata by circular shifts" in result.summary()
    assert result.settings["design"] == "circular shifts"
    (x, y), days, times = slow_series(shift=6.0)
    result = ta.two_sample_test(x, y, strata=days, design=CircularShifts(*times), **FEW)
    assert result.reject
    assert result.findings[0].variables == ("x1",)


@pytest.mark.parametrize("method", ["scan", "split"])
def test_a_registered_design_is_known_by_its_name(method, monkeypatch):
    monkeypatch.setattr("tellapart.data.design.SCHEMES", {})
    (x, y), _, times = slow_series(shift=6.0, days=1, length=240)
    shifts = register_scheme(CircularShifts(*times))
    result = ta.two_sample_test(x, y, design="circular shifts", method=method, **FEW)
    assert shifts.drawn
    assert result.pvalue >= 0.01
    with pytest.raises(InputError, match="new scheme"):
        register_scheme(shifts)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (lambda k, n: np.zeros((k, n + 1)), "shape"),
        (lambda k, n: np.zeros((k, n)), "as many units"),
    ],
)
def test_a_design_that_draws_no_labels_is_told_so(labels, message):
    class Wrong:
        name = "wrong"

        def draw(self, units, n_permutations, rng):
            return labels(n_permutations, units.of_x.size)

    x = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(InputError, match=message):
        ta.two_sample_test(x[:10], x[10:], design=Wrong(), **FEW)
    with pytest.raises(InputError, match="design must be an object with a name"):
        ta.two_sample_test(x[:10], x[10:], design="no such design", **FEW)


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
