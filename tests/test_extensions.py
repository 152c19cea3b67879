"""What is added from outside the package is used like what is built in: one entry in a registry."""

import sqlite3
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar, NamedTuple

import dask.array as da
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tellapart as ta
from tellapart.budget import Budget, using_budget
from tellapart.data import sources
from tellapart.data.design import register_scheme
from tellapart.data.sources.source import ChunkedSource, HeldSource
from tellapart.effects.estimate import Estimate
from tellapart.errors import InputError
from tellapart.kernels.bandwidth import median_bandwidths
from tellapart.kernels.base import WEIGHTS, Abilities, FittedKernel, SquaredDifference
from tellapart.kernels.registry import KERNELS
from tellapart.scan.families import (
    FAMILIES,
    describe_family,
    register_family,
    registered_families,
    using_families,
)
from tellapart.scan.families.location import Location
from tellapart.scan.family import Family, FamilyPlan, FamilyResult, Skipped
from tellapart.scan.features import add_features
from tellapart.scan.finding_kinds import (
    FINDING_KINDS,
    FindingKind,
    Scale,
    Words,
    register_finding_kind,
)
from tellapart.strs.incumbent import Incumbent

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


# A kind of input: records in memory, and rows of a database in chunks.


class Records(HeldSource):
    """Lists of dictionaries, which no table library has made a table of."""

    @classmethod
    def claims(cls, data):
        return isinstance(data, list) and bool(data) and isinstance(data[0], dict)

    @classmethod
    def load(cls, title, data):
        return pa.Table.from_pylist(data)


class Query(NamedTuple):
    connection: sqlite3.Connection
    table: str
    columns: tuple[str, ...]


class QueryRows(ChunkedSource):
    """Rows of a database, fetched a few at a time."""

    def __init__(self, title, query):
        self.title = title
        self.names = query.columns
        self.n_columns = len(query.columns)
        self.query = query

    @classmethod
    def claims(cls, data):
        return isinstance(data, Query)

    def chunks(self, places):
        columns = ", ".join(self.names[place] for place in places)
        cursor = self.query.connection.execute(f"SELECT {columns} FROM {self.query.table}")
        while rows := cursor.fetchmany(70):
            yield np.array(rows, dtype=float)


@pytest.fixture
def more_sources(monkeypatch):
    monkeypatch.setattr(sources, "SOURCES", list(sources.SOURCES))
    sources.register_source(Records)
    sources.register_source(QueryRows)


def test_inputs_registered_from_outside_are_read_like_any_other(more_sources):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 3)), rng.normal([0, 0, 1], size=(180, 3))
    names = ("a", "b", "c")
    tables = [pa.table(dict(zip(names, rows.T, strict=True))) for rows in (x, y)]
    settings = {"n_permutations": 99, "random_state": 0}
    expected = ta.two_sample_test(*tables, **settings)

    records = [table.to_pylist() for table in tables]
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    for name, rows in (("x", x), ("y", y)):
        connection.execute(f"CREATE TABLE {name} (a REAL, b REAL, c REAL)")
        connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", rows.tolist())
    queries = [Query(connection, name, names) for name in ("x", "y")]
    for pair in (records, queries, (records[0], queries[1]), (queries[0], tables[1])):
        result = ta.two_sample_test(*pair, **settings)
        assert result.pvalue == expected.pvalue
        assert result.selection.variables == expected.selection.variables == ("c",)
        assert [f.variables for f in result.findings] == [f.variables for f in expected.findings]
    groups = records[0] + [{**record, "c": record["c"] + 2} for record in records[0]]
    groups = [{**record, "arm": "old" if k < 200 else "new"} for k, record in enumerate(groups)]
    compared = ta.compare_groups(groups, "arm", n_permutations=99, random_state=0)
    assert compared.sizes == {"new": 200, "old": 200}
    # A database is read into memory where all rows are needed there.
    monitor = ta.compare_to_reference(queries[0], n_permutations=99, random_state=0)
    assert monitor.check(records[1]).pvalue <= 0.05


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


# A family: columns that are large together.


class JointExtremes:
    """Sum over rows of whether both columns of a pair lie in their upper tenth."""

    scores = ("normal",)

    def __init__(self, first, second):
        self.first, self.second = first, second

    @property
    def size(self):
        return self.first.size

    def add(self, block, segments, out):
        high = block.scores["normal"] > 1.2816

        def both(rows):
            return (high[self.first, rows] & high[self.second, rows]).astype(np.float32)

        add_features(both, segments, out)

    def rows_behind(self):
        return None


class TailDependence(Family):
    """Pairs of columns that are large together."""

    name = "tail dependence"
    weight = 0.5
    description = "pairs of columns that are large together"

    def plan(self, state, budget):
        columns = state.dependence.most(40)
        first, second = np.triu_indices(columns.size, 1)
        if not first.size:
            return Skipped("needs two columns that vary")
        return FamilyPlan(features=(JointExtremes(columns[first], columns[second]),))

    def run(self, contrasts, plan):
        (feature,) = plan.features
        sums = contrasts.sums.feature(feature)
        share = sums.total() / contrasts.labels.n_rows
        scale = 1 / np.sqrt(np.maximum(share * (1 - share), 1e-6))
        change = contrasts.changes(sums) * contrasts.labels.null_scale(sums, scale)
        return FamilyResult(np.square(change).max(axis=1, keepdims=True))


@pytest.fixture
def tail_dependence():
    """Run a family defined here beside those of the package, for one test."""
    with using_families(FAMILIES):
        register_family(TailDependence())
        yield


def large_together(n=300, columns=5, share=0.08):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(n, columns)), rng.normal(size=(n, columns))
    rows = np.arange(n) < share * n
    y[rows, :2] = 1.5 + 0.3 * np.abs(rng.normal(size=(rows.sum(), 2)))
    return x, y


@pytest.mark.usefixtures("tail_dependence")
def test_a_family_from_outside_takes_part_in_the_test():
    x, y = large_together()
    result = ta.two_sample_test(x, y, **FEW)
    assert list(result.families)[-1] == "tail dependence"
    assert result.families["tail dependence"] == 0.01
    with using_families(FAMILIES):
        without = ta.two_sample_test(x, y, **FEW)
    assert "tail dependence" not in without.families
    assert without.families == {k: p for k, p in result.families.items() if k in without.families}
    assert not np.array_equal(result.null_distribution, without.null_distribution)
    assert describe_family("tail dependence") == TailDependence.description


@pytest.mark.usefixtures("tail_dependence")
def test_a_family_from_outside_runs_on_any_input_and_design():
    x, y = large_together()
    plain = ta.two_sample_test(x, y, **FEW).families["tail dependence"]
    chunked = ta.two_sample_test(da.from_array(x, chunks=(90, 5)), y, **FEW)
    assert chunked.families["tail dependence"] == plain
    pairs = ta.two_sample_test(x, y, paired=True, **FEW)
    assert pairs.families["tail dependence"] <= 0.05
    x[::7, 4] = np.nan
    gaps = ta.two_sample_test(x, y, missing="pairwise", **FEW)
    assert gaps.families["tail dependence"] <= 0.05
    blocks = Budget(unblocked_columns=2, unblocked_bytes=0, part_bytes=100_000)
    with using_budget(blocks):
        in_blocks = ta.two_sample_test(*large_together(100, share=0.2), **FEW)
    assert in_blocks.families["tail dependence"] <= 0.05


@pytest.mark.usefixtures("tail_dependence")
def test_a_family_that_cannot_run_says_why():
    x, y = large_together()
    result = ta.two_sample_test(x[:, :1], y[:, :1], **FEW)
    assert result.scan.skipped["tail dependence"] == "needs two columns that vary"


class HeavyWhereFew(Location):
    """The family of means, with a weight by the number of columns."""

    def plan(self, state, budget):
        return FamilyPlan(weight=40.0 if state.n_varying < 6 else None)


@pytest.mark.parametrize("budget", [Budget(), Budget(unblocked_columns=2, unblocked_bytes=0)])
def test_a_plan_may_weigh_its_family_by_what_is_known_without_labels(budget):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(40, 6)), rng.normal(size=(40, 6))

    def null(families, columns):
        with using_families(families), using_budget(budget):
            return ta.two_sample_test(x[:, :columns], y[:, :columns], **FEW).null_distribution

    heavier, planned = Location(), (HeavyWhereFew(), *FAMILIES[1:])
    heavier.weight = 40.0
    np.testing.assert_array_equal(null(planned, 5), null((heavier, *FAMILIES[1:]), 5))
    assert not np.array_equal(null(planned, 5), null(FAMILIES, 5))
    np.testing.assert_array_equal(null(planned, 6), null(FAMILIES, 6))


def test_a_family_of_the_same_name_takes_the_place_of_another():
    with using_families(FAMILIES):
        heavier = Location()
        heavier.weight = 40.0
        register_family(heavier)
        assert [one.name for one in registered_families()] == [one.name for one in FAMILIES]
        assert registered_families()[0].weight == 40.0
    assert registered_families() == FAMILIES


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


# A solver.


@dataclass(frozen=True)
class SwapsOnly:
    """The variables of the largest linear terms, improved by swaps."""

    name: str = "swaps-only"

    def solve(self, problem, control, start=None):
        best = Incumbent.of_linear_term(problem, control)
        sweeps = best.improve(best.support if start is None else start)
        return best.solution(self.name, sweeps)


def test_a_solver_from_outside_is_known_by_its_name(monkeypatch):
    monkeypatch.setitem(ta.strs.SOLVERS, "swaps-only", SwapsOnly)
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 8)), rng.normal(size=(60, 8))
    Y[:, 2] += 2.0
    problem = ta.strs.SparseTrustRegion(-np.cov(X, rowvar=False), Y.mean(0) - X.mean(0), 2)
    assert ta.strs.solve(problem, "swaps-only").solver == "swaps-only"
    by_name = ta.two_sample_test(X, Y, method="split", solver="swaps-only", random_state=0)
    by_object = ta.two_sample_test(X, Y, method="split", solver=SwapsOnly(), random_state=0)
    assert by_name.pvalue == by_object.pvalue
