"""Populations to draw tables from: between no difference and that of a pilot, or with effects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, ndtr, ndtri, softmax
from scipy.stats import rankdata

from tellapart.arguments import settings_from
from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.data.column_store import dense
from tellapart.data.samples import Kind, Samples
from tellapart.planning.settings import PlanSettings
from tellapart.progress import Progress, silent
from tellapart.scan.scan import scan
from tellapart.threads import in_threads
from tellapart.two_sample.settings import TestSettings
from tellapart.two_sample.two_sample_test import run_test

CONTINUOUS = 0.8
"""A numeric column with at least this share of different values is taken for continuous."""
CONVERGED = 1e-10
MOST_LATENT, SWEEPS, FEWEST_SHRUNK = 200, 8, 0.01
TINY = 1e-12


class Drawn(NamedTuple):
    """Two tables that were drawn, and what differs between their populations.

    `changed` holds the columns of each difference: (3,) for column 3, (0, 1) for the dependence of
    a pair; it is empty where any column may differ, as between the samples of a pilot.
    """

    x: FloatArray
    y: FloatArray
    changed: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, eq=False)
class RowSource:
    """Pooled rows of a pilot, X's first; tables are mixtures of all rows and of a sample's own.

    With strength w in [0, 1] a row of the first table is one of X's with chance w and else one of
    all pooled rows; of the second likewise:

        P_x(w) = (1 − w) P̂ + w P̂_x,     P_y(w) = (1 − w) P̂ + w P̂_y,

    so that whatever the pilot's samples differ in, the tables differ in w times as much. Values of
    continuous columns move at random, at most half-way to their neighbours: rows drawn twice are
    not ties.
    """

    pool: FloatArray
    n_x: int
    below: FloatArray
    above: FloatArray
    numeric: IntArray
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]

    @classmethod
    def of(cls, samples: Samples) -> RowSource:
        """Return the rows of two samples as a source of tables."""
        pool = np.vstack([dense(samples.x), dense(samples.y)])
        rows = pool.shape[0]
        below, above = np.zeros_like(pool), np.zeros_like(pool)
        numeric = []
        for j, kind in enumerate(samples.kinds):
            values, inverse = np.unique(pool[:, j], return_inverse=True)
            if kind != "numeric" or values.size < 2:
                continue
            numeric.append(j)
            if values.size < CONTINUOUS * rows:
                continue
            gaps = np.diff(values) / 2
            below[:, j] = np.concatenate([gaps[:1], gaps])[inverse]
            above[:, j] = np.concatenate([gaps, gaps[-1:]])[inverse]
        numbers = np.array(numeric, dtype=np.intp)
        return cls(pool, samples.n_x, below, above, numbers, samples.names, samples.kinds)

    @property
    def n_y(self) -> int:
        """Rows of the pilot's second sample."""
        return int(self.pool.shape[0]) - self.n_x

    @property
    def continuous(self) -> BoolArray:
        """Whether values of a column hardly repeat: such values move when they are drawn."""
        return np.asarray(self.below.any(axis=0))

    @property
    def means(self) -> FloatArray:
        """Mean of every column."""
        return np.asarray(self.pool.mean(axis=0))

    @property
    def spreads(self) -> FloatArray:
        """Standard deviation of every column."""
        return np.asarray(self.pool.std(axis=0))

    def draw(
        self, n_x: int, n_y: int, strength: float, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Return tables of so many rows that differ `strength` times as much as the pilot's."""
        x, _ = self.draw_rows(n_x, strength, (0, self.n_x), rng)
        y, _ = self.draw_rows(n_y, strength, (self.n_x, self.pool.shape[0]), rng)
        return x, y

    def draw_rows(
        self, count: int, strength: float, own_rows: tuple[int, int], rng: np.random.Generator
    ) -> tuple[FloatArray, IntArray]:
        """Return rows, and their places in the pool.

        They are among those from `own[0]` to `own[1]` with probability `strength`.
        """
        is_own = rng.random(count) < strength
        chosen = np.where(
            is_own, rng.integers(*own_rows, count), rng.integers(self.pool.shape[0], size=count)
        )
        moves = rng.uniform(-1.0, 1.0, size=(count, self.pool.shape[1]))
        reach = np.where(moves < 0, self.below[chosen], self.above[chosen])
        return np.asarray(self.pool[chosen] + moves * reach), chosen


@dataclass(frozen=True, eq=False)
class TiltedColumn:
    """A discrete column whose values stay what they are and get other probabilities.

    Of all distributions q on the values there are, with the mean (and standard deviation) wanted,
    it is the one nearest to the observed p: it minimises Σ q log(q/p), so that

        q(v) ∝ p(v) exp(θ₁ v + θ₂ v²),     θ₂ = 0 where no SD ratio is wanted.

    Of a column with two values, 0 and 1, that is another prevalence; of counts from a Poisson
    distribution another rate.

    Attributes
    ----------
    values : array
        The different values, by their scores: numbers by size; of categories, the most frequent
        comes last and its indicator is the score.
    before, after : array
        Probabilities of the values, observed and wanted.
    """

    values: FloatArray
    before: FloatArray
    after: FloatArray

    def places(self, column: FloatArray) -> IntArray:
        """Return which of the values each entry is."""
        order = np.argsort(self.values)
        return np.asarray(order[np.searchsorted(self.values, column, sorter=order)])

    def at(self, ranks: FloatArray) -> FloatArray:
        """Return the values at ranks in (0, 1) of the wanted distribution."""
        positions = np.searchsorted(np.cumsum(self.after), ranks)
        return np.asarray(self.values[np.minimum(positions, self.values.size - 1)])


def tilt(
    scores: FloatArray, probabilities: FloatArray, location: float, spread: float | None
) -> FloatArray:
    """Return the nearest probabilities whose mean is higher by `location` standard deviations.

    With a number for `spread` the standard deviation is that many times the one before. What is
    wanted must be within `reach`.

    >>> tilt(np.array([0.0, 1.0]), np.array([0.5, 0.5]), 0.3, None).round(3)
    array([0.35, 0.65])
    """
    mean = probabilities @ scores
    z = (scores - mean) / np.sqrt(probabilities @ (scores - mean) ** 2)
    moments, target = z[:, None], np.array([location])
    if spread is not None:
        moments = np.column_stack([z, (z - location) ** 2])
        target = np.array([location, spread**2])
    centred, log_p = moments - target, np.log(probabilities)

    def weights(theta: FloatArray) -> FloatArray:
        return np.asarray(softmax(centred @ theta + log_p))

    def curvature(theta: FloatArray) -> FloatArray:
        tilted = weights(theta)
        mean = tilted @ centred
        return np.asarray((centred * tilted[:, None]).T @ centred - np.outer(mean, mean))

    def error(theta: FloatArray) -> FloatArray:
        return np.asarray(weights(theta) @ centred)

    def cost(theta: FloatArray) -> float:
        return float(logsumexp(centred @ theta + log_p))

    # A convex function whose gradient is what the moments are off by.
    start = np.zeros(target.size)
    solution = minimize(cost, start, jac=error, hess=curvature, method="trust-exact", tol=CONVERGED)
    return weights(solution.x)


def reach(
    scores: FloatArray, probabilities: FloatArray, location: float, with_spread: bool
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the shifts, in standard deviations, and the SD ratios that values allow.

    The ratios are those at the mean that `location` gives: at most √((μ − a)(b − μ)) for values
    from a to b, and at least the same with the neighbours of μ for a and b.
    """
    mean = probabilities @ scores
    z = (scores - mean) / np.sqrt(probabilities @ (scores - mean) ** 2)
    shifts = float(z[0]), float(z[-1])
    if not with_spread or not shifts[0] < location < shifts[1]:
        return shifts, (0.0, np.inf)
    above = int(np.searchsorted(z, location))
    least = np.sqrt((location - z[above - 1]) * (z[above] - location))
    most = np.sqrt((location - z[0]) * (z[-1] - location))
    return shifts, (float(least), float(most))


def latent_ranks(pool: FloatArray, tilted: Mapping[int, TiltedColumn]) -> dict[int, IntArray]:
    """Return ranks of the rows in columns with ties, such that dependence survives a shift of them.

    Rows with the same value are ordered by a latent normal score, drawn given their value and
    their scores in the other columns (a few sweeps of the Gibbs sampler of a normal copula: Hoff
    2007). In random order the rows that change their value would not be those most likely to, and
    all correlations of the column would shrink. Of more than 200 columns the order is random.
    """
    rng = np.random.default_rng(0)  # the same order for the same table
    rows, columns = pool.shape
    edges: dict[int, tuple[FloatArray, FloatArray]] = {}
    for j, column in tilted.items():
        positions, ends = column.places(pool[:, j]), np.cumsum(column.before)
        edges[j] = (ends - column.before)[positions], np.minimum(ends, 1.0)[positions]
    latent = {j: low + (high - low) * rng.random(rows) for j, (low, high) in edges.items()}
    if 1 < columns <= MOST_LATENT:
        scores = ndtri((rankdata(pool, axis=0) - 0.5) / rows)
        for j, ranks in latent.items():
            scores[:, j] = ndtri(ranks)
        shrinkage = max(columns / (columns + rows), FEWEST_SHRUNK)
        for _ in range(SWEEPS):
            deviations = np.maximum(scores.std(axis=0), TINY)
            standard = (scores - scores.mean(axis=0)) / deviations
            correlation = (1 - shrinkage) * standard.T @ standard / rows
            np.fill_diagonal(correlation, 1.0)
            precision = np.linalg.inv(correlation)
            for j, (low, high) in edges.items():
                slope = -precision[j] / precision[j, j]
                slope[j] = 0.0
                mean, spread = scores @ slope, precision[j, j] ** -0.5
                inside = ndtr((ndtri(low) - mean) / spread), ndtr((ndtri(high) - mean) / spread)
                drawn = inside[0] + (inside[1] - inside[0]) * rng.random(rows)
                drawn = ndtr(mean + spread * ndtri(np.clip(drawn, TINY, 1 - TINY)))
                latent[j] = np.clip(drawn, low, high)
                scores[:, j] = ndtri(np.clip(latent[j], TINY, 1 - TINY))
    noise = rng.random((rows,))
    return {
        j: np.argsort(np.lexsort((noise, latent[j], tilted[j].places(pool[:, j])))) for j in tilted
    }


Draw = Callable[[int, int, np.random.Generator], Drawn]
"""From numbers of rows to two tables, and what differs between them."""
Changed = tuple[tuple[int, ...], ...]
# So small a level that a scan takes no time to name what differs; its p-value is the same.
NAMES_NOTHING = 1e-12


@dataclass(frozen=True)
class Outcome:
    """What one test found: evidence that grows with the difference, and the p-value.

    `named` is the share of the columns and pairs that differ which are named; where those are
    unknown, 1 if any column is named.
    """

    evidence: float
    pvalue: float
    named: float = 0.0


@dataclass(frozen=True)
class Task:
    """One test to be made: of tables with these rows, drawn so."""

    draw: Draw
    n_x: int
    n_y: int


@dataclass
class SimulatedTests:
    """Makes tests of tables that are drawn for each, the same for any number of threads.

    Their columns are those of `like`.
    """

    like: Samples
    settings: PlanSettings
    rng: np.random.Generator
    n_jobs: int
    progress: Progress = silent
    done: int = field(default=0, init=False)

    def run(self, tasks: Sequence[Task], stage: str) -> list[Outcome]:
        """Return what each test found, in order."""
        seeds = self.rng.integers(2**63, size=len(tasks)).tolist()
        self.progress(stage, f"{len(tasks)} simulated tests, {self.done} done before")

        def make(item: tuple[Task, int]) -> Outcome:
            task, seed = item
            rng = np.random.default_rng(seed)
            x, y, changed = task.draw(task.n_x, task.n_y, rng)
            if (x == y[0]).all() and (y == y[0]).all():  # a few rows of a rare flag
                return Outcome(-np.inf, 1.0)
            samples = replace(self.like, x=x, y=y)
            if self.settings.target == "named":
                return self.named(samples, changed, rng)
            return self.test(samples, rng)

        outcomes = in_threads(make, list(zip(tasks, seeds, strict=True)), self.n_jobs)
        self.done += len(tasks)
        return outcomes

    def named(self, samples: Samples, changed: Changed, rng: np.random.Generator) -> Outcome:
        """Return the outcome of a scan, with what it named of the columns and pairs that differ."""
        alpha = self.settings.alpha
        result = scan(samples, n_permutations=self.settings.n_permutations, alpha=alpha, rng=rng)
        significant = result.null.pvalue <= alpha
        pvalues = np.array([result.variable_pvalues[name] for name in samples.names])
        if not changed:
            share = float(significant and bool((pvalues <= alpha).any()))
        else:
            pairs = {frozenset(pair) for pair in result.pairs}
            hits = [
                pvalues[group[0]] <= alpha if len(group) == 1 else frozenset(group) in pairs
                for group in changed
            ]
            share = float(significant) * float(np.mean(hits))
        return Outcome(result.null.statistic, result.null.pvalue, share)

    def test(self, samples: Samples, rng: np.random.Generator) -> Outcome:
        """Return the evidence of a scan, log C, or of a split, (T − mean)/deviation of its null."""
        n_permutations = self.settings.n_permutations
        if self.settings.method == "scan":
            null = scan(samples, n_permutations=n_permutations, alpha=NAMES_NOTHING, rng=rng).null
            return Outcome(null.statistic, null.pvalue)
        seed = int(rng.integers(2**32))
        own = {"random_state": seed, "n_jobs": 1}
        result = run_test(samples, settings_from(TestSettings, {**vars(self.settings), **own}))
        null_mean = float(result.null_distribution.mean())
        spread = float(result.null_distribution.std()) or 1.0
        return Outcome((result.statistic - null_mean) / spread, result.pvalue)
