"""Tests of simulated tables, many at a time: evidence and p-value of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tellapart.data.samples import Samples
from tellapart.planning.resampling import Drawn
from tellapart.progress import Progress, silent
from tellapart.scan.scan import scan
from tellapart.testing.settings import TestSettings
from tellapart.testing.two_sample import run_test
from tellapart.threads import in_threads

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
    method: str
    alpha: float
    n_permutations: int
    n_variables: int | None
    rng: np.random.Generator
    n_jobs: int
    progress: Progress = silent
    names: bool = False
    """Whether to find out what a scan names."""
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
            return self.named(samples, changed, rng) if self.names else self.test(samples, rng)

        found = in_threads(make, list(zip(tasks, seeds, strict=True)), self.n_jobs)
        self.done += len(tasks)
        return found

    def named(self, samples: Samples, changed: Changed, rng: np.random.Generator) -> Outcome:
        """Return what a scan found, and what it named of the columns and pairs that differ."""
        found = scan(samples, n_permutations=self.n_permutations, alpha=self.alpha, rng=rng)
        significant = found.null.pvalue <= self.alpha
        pvalues = np.array([found.variable_pvalues[name] for name in samples.names])
        if not changed:
            share = float(significant and bool((pvalues <= self.alpha).any()))
        else:
            pairs = {frozenset(pair) for pair in found.pairs}
            hits = [
                pvalues[group[0]] <= self.alpha if len(group) == 1 else frozenset(group) in pairs
                for group in changed
            ]
            share = float(significant) * float(np.mean(hits))
        return Outcome(found.null.statistic, found.null.pvalue, share)

    def test(self, samples: Samples, rng: np.random.Generator) -> Outcome:
        """Return the evidence of a scan, log C, or of a split, (T − mean)/deviation of its null."""
        if self.method == "scan":
            null = scan(
                samples, n_permutations=self.n_permutations, alpha=NAMES_NOTHING, rng=rng
            ).null
            return Outcome(null.statistic, null.pvalue)
        settings = TestSettings(
            method="split",
            n_variables=self.n_variables,
            n_permutations=self.n_permutations,
            alpha=self.alpha,
            random_state=int(rng.integers(2**32)),
            n_jobs=1,
        )
        result = run_test(samples, settings)
        spread = float(result.null_distribution.std()) or 1.0
        return Outcome(
            (result.statistic - float(result.null_distribution.mean())) / spread, result.pvalue
        )
