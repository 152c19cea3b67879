"""Pairs of samples without a difference, or with one in known columns, for benchmarks and tests.

Every generator takes a random generator and returns two samples, and what is to be asked of them:
arguments of a design, and "missing". `PARTIAL` also returns the columns that differ. `DEGENERATE`
are tables in which a statistic may be constant but for rounding; a column that is constant within
one sample and varies in the other is a difference, so it is not among them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tellapart.data.design_labels import DesignArguments
from tellapart.data.reader import read_samples
from tellapart.scan.scan import Scan, scan

Rows = NDArray[np.float64] | pd.DataFrame
Asked = dict[str, Any]
Pair = tuple[Rows, Rows, Asked]
Draw = Callable[[np.random.Generator], Pair]
DrawPartial = Callable[[np.random.Generator], tuple[Rows, Rows, Asked, set[str]]]
Null = Callable[[np.random.Generator, int], Rows]


def scan_pair(
    x: object,
    y: object,
    asked: Mapping[str, Any],
    n_permutations: int,
    rng: np.random.Generator,
    alpha: float = 0.05,
) -> Scan:
    """Return the scan of two samples, as `two_sample_test` would run it."""
    design = {name: value for name, value in asked.items() if name != "missing"}
    samples = read_samples(
        x,
        y,
        missing=asked.get("missing", "error"),
        design=DesignArguments(**design) if design else None,
    )
    return scan(samples, n_permutations=n_permutations, alpha=alpha, rng=rng)


def halves(draw: Null, m: int, n: int) -> Draw:
    """Return a generator of m + n rows of one population, the first m of them as X."""

    def both(rng: np.random.Generator) -> Pair:
        pooled = draw(rng, m + n)
        return pooled[:m], pooled[m:], {}

    return both


# Ordinary tables.


def _gaussian(rng: np.random.Generator, rows: int) -> Rows:
    return rng.normal(size=(rows, 20))


def _cauchy(rng: np.random.Generator, rows: int) -> Rows:
    return rng.standard_cauchy(size=(rows, 15))


def _counts(rng: np.random.Generator, rows: int) -> Rows:
    return rng.poisson(0.6, size=(rows, 12)).astype(np.float64)


def _flags(rng: np.random.Generator, rows: int) -> Rows:
    return (rng.random((rows, 15)) < np.linspace(0.03, 0.5, 15)).astype(np.float64)


def _factor(rng: np.random.Generator, rows: int) -> Rows:
    return 3 * rng.normal(size=(rows, 1)) + rng.normal(size=(rows, 12))


def _autoregressive(rng: np.random.Generator, rows: int) -> NDArray[np.float64]:
    values = rng.normal(size=(rows, 20))
    for s in range(1, 20):
        values[:, s] = 0.9 * values[:, s - 1] + np.sqrt(1 - 0.81) * values[:, s]
    return values


def _categories(rng: np.random.Generator, rows: int) -> Rows:
    columns: dict[str, NDArray[np.float64] | NDArray[np.str_]] = {
        f"c{i}": rng.choice(list("abcd"), rows, p=[0.5, 0.3, 0.15, 0.05]) for i in range(5)
    }
    columns |= {f"v{i}": rng.lognormal(size=rows) for i in range(5)}
    return pd.DataFrame(columns)


def _few(rng: np.random.Generator, rows: int) -> Rows:
    return rng.normal(size=(rows, 5))


def _wide(rng: np.random.Generator, rows: int) -> Rows:
    return rng.normal(size=(rows, 200)) + rng.normal(size=(rows, 1))


def _zero_inflated(rng: np.random.Generator, rows: int) -> Rows:
    values = rng.exponential(size=(rows, 15))
    return np.where(rng.random((rows, 15)) < 0.6, 0.0, values)


ORDINARY: dict[str, Draw] = {
    "normal, 60 + 60 × 20": halves(_gaussian, 60, 60),
    "Cauchy, 50 + 50 × 15": halves(_cauchy, 50, 50),
    "counts, 60 + 60 × 12": halves(_counts, 60, 60),
    "rare flags, 70 + 50 × 15": halves(_flags, 70, 50),
    "one strong factor, 50 + 50 × 12": halves(_factor, 50, 50),
    "autoregressive, 30 + 120 × 20": halves(_autoregressive, 30, 120),
    "categories and lognormal, 60 + 60 × 10": halves(_categories, 60, 60),
    "few rows, 5 + 6 × 5": halves(_few, 5, 6),
    "wide, 20 + 20 × 200": halves(_wide, 20, 20),
    "zero-inflated, 200 + 15 × 15": halves(_zero_inflated, 200, 15),
}


# Degenerate tables.


def flag(rng: np.random.Generator, rows: int) -> NDArray[np.float64]:
    """Return one 0/1 column at 10 %."""
    return (rng.random((rows, 1)) < 0.1).astype(np.float64)


def _yes_no(rng: np.random.Generator, rows: int) -> Rows:
    return pd.DataFrame({"converted": rng.choice(["yes", "no"], rows, p=[0.2, 0.8])})


def _three_levels(rng: np.random.Generator, rows: int) -> Rows:
    return pd.DataFrame({"plan": rng.choice(list("abc"), rows, p=[0.5, 0.3, 0.2])})


def _nearly_one_level(rng: np.random.Generator, rows: int) -> Rows:
    return pd.DataFrame({"plan": rng.choice(list("abc"), rows, p=[0.97, 0.02, 0.01])})


def _one_hot(rng: np.random.Generator, rows: int) -> Rows:
    return np.eye(4)[rng.choice(4, rows, p=[0.4, 0.3, 0.2, 0.1])]


def _complement(rng: np.random.Generator, rows: int) -> Rows:
    own = rng.random((rows, 1)) < 0.3
    return np.column_stack([own, ~own]).astype(np.float64)


def _binary(rng: np.random.Generator, rows: int) -> Rows:
    return (rng.random((rows, 4)) < [0.1, 0.3, 0.5, 0.8]).astype(np.float64)


def _two_values(rng: np.random.Generator, rows: int) -> Rows:
    high, low = np.array([3.3, 0.3, 1e6 + 1.0]), np.array([-1.7, 0.1, 1e6])
    return np.where(rng.random((rows, 3)) < [0.5, 0.2, 0.1], high, low)


def _rare(rng: np.random.Generator, rows: int) -> Rows:
    return (rng.random((rows, 3)) < 0.01).astype(np.float64)


def _copies(rng: np.random.Generator, rows: int) -> Rows:
    return np.repeat(rng.normal(size=(rows, 1)), 4, axis=1)


def _copied_flag(rng: np.random.Generator, rows: int) -> Rows:
    return np.repeat(flag(rng, rows), 3, axis=1)


def _rank_one(rng: np.random.Generator, rows: int) -> Rows:
    return rng.normal(size=(rows, 1)) * [1.0, -0.1, 30.0, 1e-3]


def _one_normal(rng: np.random.Generator, rows: int) -> Rows:
    return rng.normal(size=(rows, 1))


def _nearly_constant(rng: np.random.Generator, rows: int) -> Rows:
    """One column that varies in the last digits only, and one that varies in a few rows only."""
    digits = 1e6 + 1e-4 * rng.normal(size=rows)
    return np.column_stack([digits, np.where(rng.random(rows) < 0.03, rng.normal(size=rows), 5.0)])


def _three_integers(rng: np.random.Generator, rows: int) -> Rows:
    return rng.choice(3, (rows, 1), p=[0.6, 0.3, 0.1]).astype(np.float64)


def _with_missing(draw: Null, m: int, n: int, share: float) -> Draw:
    """Return a generator of which a share of the values is missing completely at random."""

    def both(rng: np.random.Generator) -> Pair:
        values = np.array(draw(rng, m + n))
        values[rng.random(values.shape) < share] = np.nan
        return values[:m], values[m:], {"missing": "pairwise"}

    return both


def _two_visits(rng: np.random.Generator) -> Pair:
    """Draw a flag of the same people twice, equal in most of them."""
    first = flag(rng, 150)
    x, y = (np.where(rng.random(first.shape) < 0.2, flag(rng, 150), first) for _ in range(2))
    return x, y, {"paired": True}


def _flag_in_strata(rng: np.random.Generator) -> Pair:
    sites = rng.choice(3, 200, p=[0.5, 0.3, 0.2]), rng.choice(3, 300, p=[0.2, 0.3, 0.5])
    x, y = ((rng.random((s.size, 1)) < np.array([[0.1], [0.3], [0.5]])[s]) * 1.0 for s in sites)
    return x, y, {"strata": sites}


def _flag_in_clusters(rng: np.random.Generator) -> Pair:
    """One flag of clusters of one to four rows, the same in all rows of a cluster."""
    cluster = np.repeat(np.arange(80), rng.integers(1, 5, 80))
    values, of_x = flag(rng, 80)[cluster], cluster < 40
    return values[of_x], values[~of_x], {"clusters": (cluster[of_x], cluster[~of_x])}


def _constant_in_clusters(rng: np.random.Generator) -> Pair:
    """Noise beside a flag and a number that are the same in all rows of a cluster."""
    cluster = np.repeat(np.arange(60), rng.integers(1, 6, 60))
    values = np.column_stack([flag(rng, 60), rng.normal(size=60)])[cluster]
    values = np.column_stack([values, rng.normal(size=cluster.size)])
    of_x = cluster < 25
    return values[of_x], values[~of_x], {"clusters": (cluster[of_x], cluster[~of_x])}


def _constant_in_pairs(rng: np.random.Generator) -> Pair:
    """Sex and age beside what was measured twice."""
    people = np.column_stack([rng.random(80) < 0.4, rng.integers(20, 80, 80)])
    x, y = (np.column_stack([people, rng.normal(size=(80, 2))]) for _ in range(2))
    return x, y, {"paired": True}


def _constant_in_strata(m: int, n: int) -> Draw:
    """Return a generator of noise beside sex, whose labels are also given as strata."""

    def both(rng: np.random.Generator) -> Pair:
        sexes = (rng.random(m) < 0.6) * 1.0, (rng.random(n) < 0.4) * 1.0
        x, y = (np.column_stack([s, rng.normal(size=(s.size, 2))]) for s in sexes)
        return x, y, {"strata": tuple(s.astype(int) for s in sexes)}

    return both


def _age_and_sex(rng: np.random.Generator) -> Pair:
    """Noise beside age group and sex, with their combinations as strata."""
    sides, strata = [], []
    for rows, share in ((1_100, 0.6), (1_000, 0.4)):
        sex, age = rng.random(rows) < share, rng.choice(3, rows, p=[0.5, 0.3, 0.2])
        sides.append(np.column_stack([sex, 20.0 + 20.0 * age, rng.normal(size=(rows, 1))]))
        strata.append(3 * sex + age)
    return sides[0], sides[1], {"strata": tuple(strata)}


DEGENERATE: dict[str, Draw] = {
    "one flag at 10 %, 300 + 300": halves(flag, 300, 300),
    "one flag at 10 %, 1,000 + 1,000": halves(flag, 1_000, 1_000),
    "one flag at 10 %, 60 + 600": halves(flag, 60, 600),
    "one yes/no text column, 300 + 300": halves(_yes_no, 300, 300),
    "one column of 3 levels, 200 + 200": halves(_three_levels, 200, 200),
    "one level nearly everywhere, 200 + 200": halves(_nearly_one_level, 200, 200),
    "one integer column with 3 values, 200 + 200": halves(_three_integers, 200, 200),
    "one numeric column, 100 + 100": halves(_one_normal, 100, 100),
    "one-hot columns of one factor, 150 + 150": halves(_one_hot, 150, 150),
    "a flag beside its complement, 150 + 150": halves(_complement, 150, 150),
    "all binary, 100 + 100 × 4": halves(_binary, 100, 100),
    "columns with two values, 100 + 100 × 3": halves(_two_values, 100, 100),
    "rare flags (1 %), 300 + 300 × 3": halves(_rare, 300, 300),
    "copies of one column, 80 + 80 × 4": halves(_copies, 80, 80),
    "copies of one flag, 150 + 150 × 3": halves(_copied_flag, 150, 150),
    "rank one, 80 + 80 × 4": halves(_rank_one, 80, 80),
    "nearly constant columns, 150 + 150 × 2": halves(_nearly_constant, 150, 150),
    "one column, 20 % missing, pairwise, 150 + 150": _with_missing(_one_normal, 150, 150, 0.2),
    "one flag, 20 % missing, pairwise, 300 + 300": _with_missing(flag, 300, 300, 0.2),
    "one flag measured twice, 150 pairs": _two_visits,
    "one flag in strata, 200 + 300": _flag_in_strata,
    "one flag of clusters, 80 clusters": _flag_in_clusters,
    "constant within strata, 150 + 150": _constant_in_strata(150, 150),
    "constant within strata, 1,500 + 1,500": _constant_in_strata(1_500, 1_500),
    "constant within age × sex, 1,100 + 1,000": _age_and_sex,
    "constant within pairs, 80 pairs": _constant_in_pairs,
    "constant within clusters, 60 clusters": _constant_in_clusters,
}


# Partial nulls: some columns differ, and names of others are false.


def _one_shifted(rng: np.random.Generator) -> tuple[Rows, Rows, Asked, set[str]]:
    x, y = rng.normal(size=(60, 10)), rng.normal(size=(60, 10))
    x[:, 0] += 2.0
    return x, y, {}, {"x0"}


def _one_spread(rng: np.random.Generator) -> tuple[Rows, Rows, Asked, set[str]]:
    x, y = rng.normal(size=(60, 10)), rng.normal(size=(60, 10))
    x[:, 0] *= 3.0
    return x, y, {}, {"x0"}


def _one_pair(rng: np.random.Generator) -> tuple[Rows, Rows, Asked, set[str]]:
    x, y = rng.normal(size=(60, 10)), rng.normal(size=(60, 10))
    x[:, 1] = 0.9 * x[:, 0] + np.sqrt(1 - 0.81) * x[:, 1]
    return x, y, {}, {"x0", "x1"}


def _one_triple(rng: np.random.Generator) -> tuple[Rows, Rows, Asked, set[str]]:
    x, y = rng.normal(size=(80, 8)), rng.normal(size=(80, 8))
    x[:, 2] = np.abs(x[:, 2]) * np.sign(x[:, 0] * x[:, 1])
    return x, y, {}, {"x0", "x1", "x2"}


def _one_missing(rng: np.random.Generator) -> tuple[Rows, Rows, Asked, set[str]]:
    x, y = rng.normal(size=(80, 6)), rng.normal(size=(80, 6))
    x[rng.random(80) < 0.5, 0] = np.nan
    for values in (x, y):
        values[rng.random(values.shape) < 0.05] = np.nan
    return x, y, {"missing": "pairwise"}, {"x0"}


def _neighbours(rng: np.random.Generator) -> tuple[Rows, Rows, Asked, set[str]]:
    x, y = _autoregressive(rng, 80), _autoregressive(rng, 80)
    x[:, [9, 10]] += 1.0
    return x, y, {}, {"x9", "x10"}


def _spread_and_shape(rng: np.random.Generator) -> tuple[Rows, Rows, Asked, set[str]]:
    x, y = rng.normal(size=(100, 12)), rng.normal(size=(70, 12))
    for values in (x, y):
        values[:, 1:] = 0.8 * values[:, :1] + 0.6 * values[:, 1:]
    x[:, 11] *= 2.0
    x[:, 10] = rng.exponential(size=100)
    return x, y, {}, {"x10", "x11"}


def _pair_and_triple(rng: np.random.Generator) -> tuple[Rows, Rows, Asked, set[str]]:
    x, y = rng.normal(size=(120, 15)), rng.normal(size=(120, 15))
    x[:, 1] = 0.8 * x[:, 0] + 0.6 * x[:, 1]
    x[:, 4] = np.abs(x[:, 4]) * np.sign(x[:, 2] * x[:, 3])
    return x, y, {}, {f"x{s}" for s in range(5)}


# Asked at every number of permutations…
PARTIAL: dict[str, DrawPartial] = {
    "one of 10 columns shifted, 60 + 60": _one_shifted,
    "spread of one of 10 columns, 60 + 60": _one_spread,
    "correlation of one pair of 10 columns, 60 + 60": _one_pair,
    "one triple of 8 columns, 80 + 80": _one_triple,
    "missing rate of one of 6 columns, 80 + 80": _one_missing,
    "two of 20 autoregressive neighbours shifted, 80 + 80": _neighbours,
}
# …and at the usual one.
PARTIAL_TOGETHER: dict[str, DrawPartial] = {
    "spread and shape of two of 12 correlated columns, 100 + 70": _spread_and_shape,
    "a pair and a triple of 15 columns, 120 + 120": _pair_and_triple,
}


def mostly_missing(share: float) -> Draw:
    """Return a generator of 40 + 40 rows, of which X lacks this share of one column's values.

    They are missing completely at random: only the rate of missing values differs, no value.
    """

    def both(rng: np.random.Generator) -> Pair:
        x, y = rng.normal(size=(40, 3)), rng.normal(size=(40, 3))
        x[rng.permutation(40)[: round(40 * share)], 0] = np.nan
        return x, y, {"missing": "pairwise"}

    return both
