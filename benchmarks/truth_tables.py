"""Pairs of tables of which every mean, SD, proportion and correlation is known.

Each `Setting` draws two tables, and knows of every column and pair of columns what holds in the
populations: their moments, proportions and correlations, and so which kinds of finding are true.
Numbers are mixtures of shifted and scaled standard distributions, so that their moments are exact;
`real_settings` draws rows of patients with replacement, so that the file itself is the population.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

__all__ = [
    "Category",
    "ColumnTruth",
    "Numbers",
    "Setting",
    "flag",
    "l_ratios",
    "real_settings",
    "settings",
]

Pair = tuple[float, float]
Array = NDArray[np.float64]
Tables = tuple[pd.DataFrame, pd.DataFrame]
Draw = Callable[[np.random.Generator], Tables]
Standard = Callable[[np.random.Generator], tuple[Array, Array]]

NONE: Pair = (0.0, 0.0)
UNKNOWN: Pair = (float("nan"), float("nan"))
TOLERANCE = 1e-9
BASES: Mapping[str, Any] = {
    "normal": stats.norm(),
    "exponential": stats.expon(),
    "lognormal": stats.lognorm(1.0),
    "t3": stats.t(3),
    "count": stats.poisson(1.0, loc=1),
}


@cache
def _base_moment(base: str, order: int) -> float:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        value = float(BASES[base].moment(order)) if order else 1.0
    # Student's t with three degrees of freedom has no third and no fourth moment.
    return value if np.isfinite(value) and not (base == "t3" and order > 2) else float("nan")


def l_ratios(values: Array) -> Pair:
    """Return L-skewness and L-kurtosis of a sample, by Hosking's unbiased estimators."""
    ordered, n = np.sort(values), len(values)
    weight, moments = np.full(n, 1.0 / n), []
    for r in range(4):
        moments.append(float(weight @ ordered))
        weight = weight * (np.arange(n) - r) / max(n - 1 - r, 1)
    b0, b1, b2, b3 = moments
    scale = 2 * b1 - b0
    return (6 * b2 - 6 * b1 + b0) / scale, (20 * b3 - 30 * b2 + 12 * b1 - b0) / scale


@dataclass(frozen=True)
class Numbers:
    """The mixture of loc + scale · B, each with its weight; B is a base, or None for a point.

    Attributes
    ----------
    parts : tuple of (weight, base, loc, scale)
        Weights sum to 1.
    """

    parts: tuple[tuple[float, str | None, float, float], ...]

    @property
    def mean(self) -> float:
        """The expectation."""
        return sum(
            w * (loc + (scale * _base_moment(b, 1) if b else 0.0))
            for w, b, loc, scale in self.parts
        )

    def central(self, order: int) -> float:
        """Return E (V − E V)^order."""
        mean, total = self.mean, 0.0
        for weight, base, loc, scale in self.parts:
            powers = range(order + 1) if base else (0,)
            total += weight * sum(
                comb(order, j)
                * (loc - mean) ** (order - j)
                * (scale**j * _base_moment(base, j) if base else 1.0)
                for j in powers
            )
        return total

    @property
    def sd(self) -> float:
        """The standard deviation."""
        return float(np.sqrt(self.central(2)))

    @property
    def points(self) -> dict[float, float]:
        """The values of positive probability of the point parts, with it."""
        return {loc: weight for weight, base, loc, _ in self.parts if base is None and weight > 0}

    @property
    def is_flag(self) -> bool:
        """Whether the values are 0 and 1."""
        return all(base is None and loc in (0.0, 1.0) for _, base, loc, _ in self.parts)

    def is_like(self, other: Numbers, standardised: bool = False) -> bool:
        """Return whether the distributions agree; `standardised` to mean 0 and SD 1 if so."""
        (first, bases), (second, others) = (p._table(standardised) for p in (self, other))
        return bases == others and np.allclose(first, second, rtol=0, atol=1e-9)

    def _table(self, standardised: bool) -> tuple[Array, list[str | None]]:
        by, per = (self.mean, self.sd) if standardised else (0.0, 1.0)
        rows = [(w, b, (loc - by) / per, s / per if b else 0.0) for w, b, loc, s in self.parts if w]
        return np.array([(w, loc, s) for w, _, loc, s in rows]), [b for _, b, _, _ in rows]

    @cache  # noqa: B019
    def l_ratios(self) -> Pair:
        """Return L-skewness and L-kurtosis, from 200,000 quantiles."""
        values = []
        for weight, base, loc, scale in self.parts:
            count = round(200_000 * weight)
            at = (np.arange(count) + 0.5) / max(count, 1)
            values.append(loc + scale * (BASES[base].ppf(at) if base else np.zeros(count)))
        return l_ratios(np.concatenate(values))

    def draw(self, rng: np.random.Generator, rows: int) -> Array:
        """Draw rows."""
        part = rng.choice(len(self.parts), rows, p=[weight for weight, *_ in self.parts])
        values = np.empty(rows)
        for k, (_, base, loc, scale) in enumerate(self.parts):
            own = part == k
            drawn = BASES[base].rvs(int(own.sum()), random_state=rng) if base else 0.0
            values[own] = loc + scale * drawn
        return values


@dataclass(frozen=True)
class Category:
    """Levels with their probabilities."""

    shares: Mapping[str, float]

    def draw(self, rng: np.random.Generator, rows: int) -> NDArray[Any]:
        """Draw rows."""
        return rng.choice(list(self.shares), rows, p=list(self.shares.values()))


Population = Numbers | Category


def simple(base: str, loc: float = 0.0, scale: float = 1.0) -> Numbers:
    """Return a shifted and scaled base distribution."""
    return Numbers(((1.0, base, loc, scale),))


def normal(mean: float = 0.0, sd: float = 1.0) -> Numbers:
    """Return a normal population."""
    return simple("normal", mean, sd)


def flag(share: float) -> Numbers:
    """Return a 0/1 population."""
    return Numbers(((1 - share, None, 0.0, 0.0), (share, None, 1.0, 0.0)))


def sparse(share: float) -> Numbers:
    """Return counts of which this share is not 0."""
    return Numbers(((1 - share, None, 0.0, 0.0), (share, "count", 0.0, 1.0)))


def contaminated(mean: float = 0.0, share: float = 0.02, scale: float = 20.0) -> Numbers:
    """Return a standard normal population with a share of outliers of both signs."""
    return Numbers(((1 - share, "normal", mean, 1.0), (share, "normal", mean, scale)))


def with_sentinel(share: float, value: float = -9999.0) -> Numbers:
    """Return a standard normal population in which a share of the values is a code."""
    return Numbers(((1 - share, "normal", 0.0, 1.0), (share, None, value, 0.0)))


@dataclass(frozen=True)
class ColumnTruth:
    """What a column is in the two populations.

    Attributes
    ----------
    form : {"number", "flag", "category"}
        A flag has the values 0 and 1.
    mean, sd, skewness, kurtosis, l_skewness, l_kurtosis : pair of float
        Of the first and of the second population, NaN for categories and where there is none.
    shares : mapping from str to pair of float
        The probability of every level of a category; of "1" of a flag.
    missing : pair of float
        The probability of a missing value.
    zeros : pair of float
        The probability of 0, where it is known.
    new : pair of float
        The probability of values that have probability 0 in the other population, and no density.
    same_shape, same_distribution : bool
        Whether the distributions agree after each is standardised, and as they are.
    """

    form: str
    mean: Pair = UNKNOWN
    sd: Pair = UNKNOWN
    skewness: Pair = UNKNOWN
    kurtosis: Pair = UNKNOWN
    l_skewness: Pair = UNKNOWN
    l_kurtosis: Pair = UNKNOWN
    shares: Mapping[str, Pair] = field(default_factory=dict)
    missing: Pair = NONE
    zeros: Pair = UNKNOWN
    new: Pair = NONE
    same_shape: bool = True
    same_distribution: bool = True

    @classmethod
    def of(cls, first: Population, second: Population, missing: Pair = NONE) -> ColumnTruth:
        """Return the truth of a column that is drawn from two populations."""
        if isinstance(first, Category) and isinstance(second, Category):
            levels = dict.fromkeys([*first.shares, *second.shares])
            shares = {v: (first.shares.get(v, 0.0), second.shares.get(v, 0.0)) for v in levels}
            new = (
                sum(p for p, q in shares.values() if q == 0),
                sum(q for p, q in shares.values() if p == 0),
            )
            same = all(abs(p - q) < TOLERANCE for p, q in shares.values())
            return cls("category", shares=shares, missing=missing, new=new, same_distribution=same)
        if isinstance(first, Category) or isinstance(second, Category):
            raise TypeError("A column must be of numbers or of levels in both populations")
        both = (first, second)
        points = [population.points for population in both]
        is_flag = all(population.is_flag for population in both)
        return cls(
            "flag" if is_flag else "number",
            (first.mean, second.mean),
            (first.sd, second.sd),
            (first.central(3) / first.sd**3, second.central(3) / second.sd**3),
            (first.central(4) / first.sd**4, second.central(4) / second.sd**4),
            *zip(first.l_ratios(), second.l_ratios(), strict=True),
            {"1": (first.mean, second.mean)} if is_flag else {},
            missing,
            (points[0].get(0.0, 0.0), points[1].get(0.0, 0.0)),
            (
                sum(p for v, p in points[0].items() if v not in points[1]),
                sum(p for v, p in points[1].items() if v not in points[0]),
            ),
            first.is_like(second, standardised=True),
            first.is_like(second),
        )

    def holds(self, kind: str) -> bool | None:
        """Return whether a finding of this kind is true; None where that cannot be said."""
        if kind == "location":
            return _differ(self.mean)
        if kind == "spread":
            return _differ(self.sd)
        if kind == "shape":
            return self.form != "category" and not self.same_shape
        if kind == "share":
            if self.form == "number":
                # The proportion of one value: no column of numbers is made to differ in it alone.
                return False if self.same_distribution else None
            return any(_differ(pair) for pair in self.shares.values())
        if kind == "missing":
            return _differ(self.missing)
        if kind == "new values":
            # Where only densities differ, a value beyond the other sample's range is no mistake.
            return True if any(self.new) else False if self.same_distribution else None
        if kind == "distribution":
            return not self.same_distribution
        return None

    def is_power(self, kind: str) -> bool:
        """Return whether this kind is what should be named of the column."""
        fits = {
            "number": ("location", "spread", "shape", "missing", "new values"),
            "flag": ("share", "missing"),
            "category": ("share", "missing", "new values"),
        }[self.form]
        return kind in fits and bool(self.holds(kind))


def _differ(pair: Pair) -> bool:
    first, second = pair
    return bool(abs(first - second) > TOLERANCE * max(abs(first), abs(second), TOLERANCE))


@dataclass(frozen=True, eq=False)
class Setting:
    """Two populations, how tables are drawn from them, and what is true of them.

    Attributes
    ----------
    name : str
        What it is called in the table.
    columns : mapping from str to ColumnTruth
        The truth of each column.
    correlation : pair of arrays (D × D)
        Population correlations of `numeric`, the columns of numbers and flags.
    dependence : array of bool (D × D)
        Whether the dependence of a pair differs, apart from what its columns differ in.
    draw : callable
        Takes a random generator and returns two tables.
    options : mapping
        Arguments of `tellapart.two_sample_test`, such as a design.
    runs : int
        How many pairs of tables are drawn.
    """

    name: str
    columns: Mapping[str, ColumnTruth]
    correlation: tuple[Array, Array]
    dependence: NDArray[np.bool_]
    draw: Draw
    options: Mapping[str, Any] = field(default_factory=dict)
    runs: int = 200

    @property
    def numeric(self) -> list[str]:
        """The columns of numbers and flags."""
        return [name for name, column in self.columns.items() if column.form != "category"]

    @property
    def has_design(self) -> bool:
        """Whether rows belong together."""
        return bool({"paired", "strata", "clusters"} & set(self.options))

    def correlations(self, first: str, second: str) -> Pair:
        """Return the population correlations of two columns."""
        s, t = self.numeric.index(first), self.numeric.index(second)
        return float(self.correlation[0][s, t]), float(self.correlation[1][s, t])

    def holds(self, kind: str, variables: Sequence[str]) -> bool | None:
        """Return whether a finding is true; None where that cannot be said."""
        if any(name not in self.columns for name in variables):
            # Of the table as a whole.
            return any(column.holds(kind) for column in self.columns.values())
        if len(variables) == 1:
            return self.columns[variables[0]].holds(kind)
        known = [name for name in variables if name in self.numeric]
        s = [self.numeric.index(name) for name in known]
        if kind in ("correlation", "dependence"):
            if len(known) < 2:
                # Of a level of a category: it differs only with a column whose dependence on every
                # other one does.
                redrawn = self.dependence[s].sum() >= max(len(self.numeric) - 1, 1)
                return None if redrawn else False
            if kind == "correlation":
                return _differ(self.correlations(*known))
            return bool(self.dependence[s[0], s[1]])
        columns = [self.columns[name] for name in variables]
        if any(c.holds("distribution") or c.holds("missing") for c in columns):
            return None
        return bool(self.dependence[np.ix_(s, s)].any())

    def power_pairs(self, kind: str) -> list[tuple[str, str]]:
        """Return the pairs that should be named: correlations that differ by 0.1 or more.

        For "dependence", pairs whose correlation is the same.
        """
        change = np.abs(self.correlation[0] - self.correlation[1])
        wanted = change >= 0.1 if kind == "correlation" else self.dependence & (change < TOLERANCE)
        names = self.numeric
        return [(names[s], names[t]) for s, t in np.argwhere(np.triu(wanted, 1))]


def _make(
    name: str,
    rows: tuple[int, int],
    populations: Mapping[str, tuple[Population, Population]],
    *,
    correlation: tuple[Array, Array] | None = None,
    dependence: NDArray[np.bool_] | None = None,
    standard: Standard | None = None,
    missing: Mapping[str, Pair] | None = None,
    options: Mapping[str, Any] | None = None,
    runs: int = 200,
) -> Setting:
    """Return a setting of columns that are independent unless `standard` draws them together.

    `standard` returns standard normal columns of both samples, which are shifted and scaled to
    normal populations.
    """
    missing = missing or {}
    columns = {
        key: ColumnTruth.of(*both, missing=missing.get(key, NONE))
        for key, both in populations.items()
    }
    count = sum(column.form != "category" for column in columns.values())
    correlation = correlation or (np.eye(count), np.eye(count))
    if dependence is None:
        dependence = np.abs(correlation[0] - correlation[1]) > TOLERANCE

    def draw(rng: np.random.Generator) -> Tables:
        tables = []
        together = standard(rng) if standard else None
        for side in (0, 1):
            table: dict[str, Any] = {}
            for place, (key, both) in enumerate(populations.items()):
                population = both[side]
                if together is None or not isinstance(population, Numbers):
                    values = population.draw(rng, rows[side])
                else:
                    ((_, _, loc, scale),) = population.parts
                    values = loc + scale * together[side][:, place]
                if columns[key].form == "flag":
                    values = values.astype(np.bool_ if key.startswith("bool") else np.int64)
                if any(missing.get(key, NONE)):
                    gone = rng.random(rows[side]) < missing[key][side]
                    values = np.where(gone, np.nan, values)
                table[key] = values
            tables.append(pd.DataFrame(table))
        return tables[0], tables[1]

    return Setting(name, columns, correlation, dependence, draw, options or {}, runs)


def _columns(
    *counted: tuple[int, Population, Population],
) -> dict[str, tuple[Population, Population]]:
    """Return columns c0, c1, …: so many of each pair of populations."""
    pairs = [(first, second) for count, first, second in counted for _ in range(count)]
    return {f"c{k}": pair for k, pair in enumerate(pairs)}


def _gaussian(rows: tuple[int, int], correlation: tuple[Array, Array]) -> Standard:
    roots = [np.linalg.cholesky(matrix) for matrix in correlation]

    def standard(rng: np.random.Generator) -> tuple[Array, Array]:
        x, y = (rng.normal(size=(n, len(r))) @ r.T for n, r in zip(rows, roots, strict=True))
        return x, y

    return standard


def _equal_correlations(count: int, rho: float) -> Array:
    return np.where(np.eye(count, dtype=bool), 1.0, rho)


def small_samples() -> list[Setting]:
    """Return few rows, of which two columns are shifted and two have half the SD."""
    return [
        _make(
            f"{n} + {n} rows, shift {shift:g} SD or SD ratio {ratio:g}, 6 columns",
            (n, n),
            _columns(
                (2, normal(shift), normal()),
                (2, normal(0, ratio), normal()),
                (2, normal(), normal()),
            ),
        )
        for n, shift, ratio in ((8, 2.0, 2.0), (10, 1.5, 2.0), (20, 1.0, 2.0))
    ]


def correlated() -> list[Setting]:
    """Return normal columns whose correlations, or whose dependence beyond them, differ."""
    rows = (120, 120)
    same = _equal_correlations(10, 0.0)
    same[4:, 4:] = _equal_correlations(6, 0.3)
    changed = same.copy()
    changed[:4, :4] = _equal_correlations(4, 0.6)
    shuffled = np.zeros((8, 8), dtype=bool)
    shuffled[[0, 1, 2, 3], [1, 0, 3, 2]] = True

    def folded(rng: np.random.Generator) -> tuple[Array, Array]:
        # |b| depends on |a| in the second sample; b is standard normal, and its sign is its own.
        x, y = rng.normal(size=(150, 8)), rng.normal(size=(150, 8))
        size = np.abs(0.85 * y[:, [0, 2]] + np.sqrt(1 - 0.85**2) * y[:, [1, 3]])
        y[:, [1, 3]] = size * rng.choice([-1.0, 1.0], size.shape)
        return x, y

    plain = (normal(), normal())
    return [
        _make(
            "correlations 0 and 0.6 among 4 of 10 columns, 120 + 120",
            rows,
            _columns((10, *plain)),
            correlation=(same, changed),
            standard=_gaussian(rows, (same, changed)),
        ),
        _make(
            "dependence without correlation, 2 pairs of 8 columns, 150 + 150",
            (150, 150),
            _columns((8, *plain)),
            dependence=shuffled,
            standard=folded,
        ),
    ]


def designed() -> list[Setting]:
    """Return clusters, pairs and strata."""
    donors, cells, people = 8, 10, 40

    def clustered(rng: np.random.Generator) -> tuple[Array, Array]:
        x, y = (
            np.sqrt(0.5)
            * (
                np.repeat(rng.normal(size=(donors, 8)), cells, 0)
                + rng.normal(size=(donors * cells, 8))
            )
            for _ in range(2)
        )
        return x, y

    def visits(rng: np.random.Generator) -> tuple[Array, Array]:
        person = np.sqrt(0.6) * rng.normal(size=(people, 6))
        x, y = (person + np.sqrt(0.4) * rng.normal(size=person.shape) for _ in range(2))
        return x, y

    sites = np.repeat([0, 1], [40, 20]), np.repeat([0, 1], [20, 40])
    level = np.repeat([1.0, 0.0], 4)

    def at_sites(rng: np.random.Generator) -> tuple[Array, Array]:
        x, y = (
            np.where(site[:, None] == 0, level, -level) + rng.normal(size=(site.size, 8))
            for site in sites
        )
        return x, y

    labels = np.repeat(np.arange(donors), cells)
    of_sites = np.eye(8)
    of_sites[:4, :4] = _equal_correlations(4, 8 / 17)
    return [
        _make(
            "clusters: 8 + 8 donors × 10 rows, shift 2 donor SDs, 2 of 8 columns",
            (donors * cells, donors * cells),
            _columns((2, normal(2 * np.sqrt(0.5)), normal()), (6, normal(), normal())),
            standard=clustered,
            options={"clusters": (labels, labels + donors)},
        ),
        _make(
            "pairs: 40 people before and after, shift 0.7, 2 of 6 columns",
            (people, people),
            _columns((2, normal(0.7), normal()), (4, normal(), normal())),
            standard=visits,
            options={"paired": True},
        ),
        # The first four columns differ between sites, and by the sites' shares between samples:
        # given the site they are alike.
        _make(
            "strata: two sites in other shares, shift 0.8 in 2 of 8 columns, 60 + 60",
            (60, 60),
            _columns((4, normal(), normal()), (2, normal(0.8), normal()), (2, normal(), normal())),
            correlation=(of_sites, of_sites),
            standard=at_sites,
            options={"strata": sites},
        ),
    ]


def _flags() -> dict[str, tuple[Population, Population]]:
    """Return 0/1 columns, half of them of type bool."""
    columns: dict[str, tuple[Population, Population]] = {}
    for kind in ("int", "bool"):
        columns |= {f"{kind} changed {k}": (flag(0.3), flag(0.55)) for k in range(2)}
        columns |= {f"{kind} {p:g}": (flag(p), flag(p)) for p in (0.03, 0.1, 0.3, 0.5)}
    return columns


def settings() -> list[Setting]:
    """Return every setting of drawn tables, in the order of the table."""
    plain = (normal(), normal())
    changed = dict(zip("abcde", (0.4, 0.3, 0.15, 0.1, 0.05), strict=True))
    other = dict(zip("abcde", (0.2, 0.3, 0.15, 0.15, 0.2), strict=True))
    mixed = Category(dict.fromkeys("abcde", 0.2))
    with_new = Category({**{v: 0.94 * p for v, p in mixed.shares.items()}, "z": 0.06})
    pressure = np.eye(8)
    pressure[:3, :3] = _equal_correlations(3, 0.5)
    return [
        _make(
            "no difference, 30 + 120, 10 columns",
            (30, 120),
            _columns((5, *plain), (5, simple("lognormal"), simple("lognormal"))),
        ),
        _make(
            "Behrens–Fisher: 20 + 200, SD × 3 in the smaller, 8 of 10 columns",
            (20, 200),
            _columns((8, normal(0, 3), normal()), (2, *plain)),
        ),
        _make(
            "lognormal, shift 1 (0.46 SD), 4 of 8 columns, 150 + 150",
            (150, 150),
            _columns(
                (4, simple("lognormal", 1.0), simple("lognormal")),
                (4, simple("lognormal"), simple("lognormal")),
            ),
        ),
        _make(
            "exponential, scale 1.6, 4 of 8 columns, 100 + 100",
            (100, 100),
            _columns(
                (4, simple("exponential", 0, 1.6), simple("exponential")),
                (4, simple("exponential"), simple("exponential")),
            ),
        ),
        _make(
            "t(3): shift 0.6 SD in 3, SD ratio 2 in 3 of 9 columns, 100 + 100",
            (100, 100),
            _columns(
                (3, simple("t3", 0.6 * np.sqrt(3)), simple("t3")),
                (3, simple("t3", 0, 2.0), simple("t3")),
                (3, simple("t3"), simple("t3")),
            ),
        ),
        *small_samples(),
        _make(
            "shift 5 SD, SD ratio 2, both or neither, 2 each of 8 columns, 60 + 60",
            (60, 60),
            _columns(
                (2, normal(5), normal()),
                (2, normal(5, 2), normal()),
                (2, normal(0, 2), normal()),
                (2, *plain),
            ),
        ),
        _make(
            "skewed for normal, same mean and SD, 3 of 6 columns, 120 + 120",
            (120, 120),
            _columns((3, simple("exponential", -1), normal()), (3, *plain)),
        ),
        _make(
            "sparse counts: 1 % and 6 % not 0 in 50 of 60 columns, 130 + 570",
            (130, 570),
            _columns((50, sparse(0.01), sparse(0.06)), (10, sparse(0.03), sparse(0.03))),
            runs=100,
        ),
        _make("flags: 0.30 and 0.55 in 4 of 12 columns, 120 + 120", (120, 120), _flags()),
        _make(
            "units: pressure in Pa for hPa, 1 of 8 columns, 100 + 100",
            (100, 100),
            _columns((1, normal(1013, 8), normal(101300, 800)), (7, *plain)),
            correlation=(pressure, pressure),
            standard=_gaussian((100, 100), (pressure, pressure)),
        ),
        _make(
            "outliers: 2 % with SD 20; shift 1.5 in 2, in one sample only in 2 of 8, 120 + 120",
            (120, 120),
            _columns(
                (2, contaminated(1.5), contaminated()),
                (2, contaminated(), normal()),
                (4, contaminated(), contaminated()),
            ),
        ),
        *correlated(),
        *designed(),
        _make(
            "missing: 5 % and 25 % in 3 of 8 columns, 10 % in 2 more, 120 + 120",
            (120, 120),
            _columns((8, *plain)),
            missing={f"c{k}": (0.05, 0.25) if k < 3 else (0.1, 0.1) for k in range(5)},
            options={"missing": "pairwise"},
        ),
        _make(
            "sentinel: −9999 in 2 % of 2 of 6 columns, 300 + 300",
            (300, 300),
            _columns((2, normal(), with_sentinel(0.02)), (4, *plain)),
        ),
        _make(
            "categories of 5 levels: proportions in 2, a new level in 1 of 5; 2 numbers, 150 + 150",
            (150, 150),
            {
                **{f"k{k}": (Category(changed), Category(other)) for k in range(2)},
                "k2": (mixed, with_new),
                **{f"k{k}": (mixed, mixed) for k in (3, 4)},
                **_columns((2, *plain)),
            },
        ),
    ]


# Real rows.

NUMBERS = (
    *("age", "apache_score", "mean_blood_pressure", "pulse", "temperature", "albumin"),
    *("hematocrit", "creatinine", "bilirubin", "sodium"),
)
FLAGS = ("history_malignancy", "history_pulmonary", "history_renal", "transferred")
CATEGORIES = ("race", "insurance")
FLIPPED, GONE = 0.15, 0.15


def real_settings(folder: str | os.PathLike[str] | None = None) -> list[Setting]:
    """Return rows of patients without sepsis against others of them, as they are and changed.

    Rows are drawn with replacement, so the patients of the file are the population. `folder` holds
    critical_care.csv; without it, and without TELLAPART_DATA, there are none.
    """
    folder = folder or os.environ.get("TELLAPART_DATA")
    path = Path(folder) / "critical_care.csv" if folder else None
    if path is None or not path.exists():
        return []
    patients = pd.read_csv(path)
    return real_rows(patients.loc[patients["sepsis"] == 0, [*NUMBERS, *FLAGS, *CATEGORIES]])


def real_rows(population: pd.DataFrame) -> list[Setting]:
    """Return the settings of real rows, of which `population` is all there are."""
    population = population.reset_index(drop=True)
    numeric = population[[*NUMBERS, *FLAGS]]
    mean, sd = numeric.mean(), numeric.std(ddof=0)
    columns = {}
    for key in numeric:
        pair = (float(mean[key]),) * 2
        columns[key] = ColumnTruth(
            "flag" if key in FLAGS else "number",
            pair,
            (float(sd[key]),) * 2,
            (float(stats.skew(numeric[key])),) * 2,
            (float(stats.kurtosis(numeric[key], fisher=False)),) * 2,
            *((ratio,) * 2 for ratio in l_ratios(numeric[key].to_numpy(dtype=float))),
            {"1": pair} if key in FLAGS else {},
        )
    for key in CATEGORIES:
        shares = population[key].value_counts(normalize=True)
        columns[key] = ColumnTruth(
            "category", shares={str(v): (float(p), float(p)) for v, p in shares.items()}
        )
    correlation = np.corrcoef(numeric.to_numpy(dtype=float), rowvar=False)
    unchanged = np.zeros(correlation.shape, dtype=bool)

    def rows(rng: np.random.Generator, count: int) -> pd.DataFrame:
        drawn = population.iloc[rng.integers(len(population), size=count)]
        return drawn.reset_index(drop=True)

    def alike(rng: np.random.Generator) -> Tables:
        return rows(rng, 60), rows(rng, 300)

    def changed(rng: np.random.Generator) -> Tables:
        x, y = rows(rng, 300), rows(rng, 300)
        x["age"] = x["age"] + 0.5 * sd["age"]
        x["creatinine"] = 1.5 * x["creatinine"]
        x["pulse"] = mean["pulse"] + 1.6 * (x["pulse"] - mean["pulse"])
        x["hematocrit"] = rows(rng, 300)["hematocrit"]
        x["history_malignancy"] = np.maximum(x["history_malignancy"], rng.random(300) < FLIPPED)
        x["bilirubin"] = x["bilirubin"].where(rng.random(300) >= GONE)
        return x, y

    def moved(key: str, by: float, scale: float) -> ColumnTruth:
        (mean_x, mean_y), (sd_x, sd_y) = columns[key].mean, columns[key].sd
        return replace(
            columns[key],
            mean=(mean_x + by, mean_y),
            sd=(scale * sd_x, sd_y),
            same_distribution=False,
        )

    share = columns["history_malignancy"].mean[0]
    higher = share + (1 - share) * FLIPPED
    planted = columns | {
        "age": moved("age", 0.5 * float(sd["age"]), 1.0),
        "creatinine": moved("creatinine", 0.5 * float(mean["creatinine"]), 1.5),
        "pulse": moved("pulse", 0.0, 1.6),
        "history_malignancy": ColumnTruth.of(flag(higher), flag(share)),
    }
    planted["bilirubin"] = replace(columns["bilirubin"], missing=(GONE, 0.0))
    # A flag that is set in a share of the other rows keeps that much less of its covariances; a
    # column that is drawn by itself keeps none.
    kept = np.ones(numeric.shape[1])
    flipped, alone = (numeric.columns.get_loc(k) for k in ("history_malignancy", "hematocrit"))
    kept[flipped] = (1 - FLIPPED) * np.sqrt(share * (1 - share) / (higher * (1 - higher)))
    kept[alone] = 0.0
    first = correlation * np.outer(kept, kept)
    np.fill_diagonal(first, 1.0)
    dependence = unchanged.copy()
    dependence[[flipped, alone]] = True
    dependence[:, [flipped, alone]] = True
    np.fill_diagonal(dependence, False)
    return [
        Setting(
            "patients: rows of one group as they are, 60 + 300, 16 columns",
            *(columns, (correlation, correlation), unchanged, alike),
        ),
        Setting(
            "patients: rows of one group with six planted changes, 300 + 300, 16 columns",
            *(planted, (first, correlation), dependence, changed, {"missing": "pairwise"}),
            runs=100,
        ),
    ]
