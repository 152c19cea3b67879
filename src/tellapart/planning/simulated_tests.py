"""Tests of simulated tables, many at a time: evidence and p-value of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples
from tellapart.progress import Progress, silent
from tellapart.scan.scan import scan
from tellapart.testing.settings import TestSettings
from tellapart.testing.two_sample import run_test
from tellapart.threads import in_threads

Draw = Callable[[int, int, np.random.Generator], tuple[FloatArray, FloatArray]]
"""From numbers of rows to two tables."""
# So small a level that a scan takes no time to name what differs; its p-value is the same.
NAMES_NOTHING = 1e-12


@dataclass(frozen=True)
class Outcome:
    """What one test found: evidence that grows with the difference, and the p-value."""

    evidence: float
    pvalue: float


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
    done: int = field(default=0, init=False)

    def run(self, tasks: Sequence[Task], stage: str) -> list[Outcome]:
        """Return what each test found, in order."""
        seeds = self.rng.integers(2**63, size=len(tasks)).tolist()
        self.progress(stage, f"{len(tasks)} simulated tests, {self.done} done before")

        def make(item: tuple[Task, int]) -> Outcome:
            task, seed = item
            rng = np.random.default_rng(seed)
            x, y = task.draw(task.n_x, task.n_y, rng)
            return self.test(replace(self.like, x=x, y=y), rng)

        found = in_threads(make, list(zip(tasks, seeds, strict=True)), self.n_jobs)
        self.done += len(tasks)
        return found

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
