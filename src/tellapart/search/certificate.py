"""Branch and bound for kernels that no exact solver covers: an upper bound on F over all choices.

A region is a part of the weights of one support, and a bound on F over it converges to F as the
region shrinks. The region with the largest bound is refined until no bound exceeds the best value
known by more than the gap: `tellapart.search.gaussian_patches` and
`tellapart.search.quadratic_patches` say how regions are bounded. The number of supports of d
variables grows like D^d, so this is for few columns and d ≤ 3.
"""

from __future__ import annotations

import heapq
import math
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.search.many_rows import polished
from tellapart.statistics.objective import FittedObjective
from tellapart.strs.contract import Control, Solution, until_interrupted
from tellapart.threads import in_threads

R = TypeVar("R")

# Regions between two looks at the clock: as many for every number of threads, so that these do not
# decide what is met first.
_BATCH = 8


class Refined(NamedTuple, Generic[R]):
    """Regions in the place of one, each with its bound, and the best point met there."""

    parts: list[tuple[float, R]]
    value: float
    z: FloatArray


class Regions(Protocol[R]):
    """The weights of all supports, in regions that can be refined."""

    def roots(self, n_variables: int) -> list[R]:
        """Return regions that hold every choice of at most `n_variables` variables."""

    @property
    def resolution(self) -> float:
        """What rounding error may add to a bound, at most."""

    def refine(self, region: R, value: float, allowed: float) -> Refined[R]:
        """Bound F on a region or on its parts.

        Bounds of `value` + `allowed` need not be any lower. F at the point returned is at least the
        value returned, but for rounding error.
        """

    def release(self) -> None:
        """Give memory back that can be filled again."""


@dataclass(eq=False)
class Certificate(Generic[R]):
    """The search for an upper bound on F; it can be stopped and resumed.

    Parameters
    ----------
    objective : FittedObjective
        F.
    regions : Regions
        How F is bounded.
    n_variables : int
        d.
    z, value : array of length D, float
        The best point known, and F there.
    name : str
        The name of the solver in its solutions.
    """

    objective: FittedObjective
    regions: Regions[R]
    n_variables: int
    z: FloatArray
    value: float
    name: str
    refined: int = 0
    _closed: float = -math.inf
    _open: list[tuple[float, int, R]] = field(default_factory=list)
    _pushed: int = 0

    def __post_init__(self) -> None:
        for region in self.regions.roots(self.n_variables):
            self._push(math.inf, region)

    def _push(self, bound: float, region: R) -> None:
        self._pushed += 1
        heapq.heappush(self._open, (-bound, self._pushed, region))

    def copy(self) -> Certificate[R]:
        """Return a search of its own that goes on where this one stands."""
        other = copy(self)
        other._open = list(self._open)
        return other

    def prepare(self) -> None:
        """Do now what is done once, compiling above all, so that it takes none of a time limit."""
        self.regions.refine(self._open[0][2], self.value, math.inf)

    @property
    def upper_bound(self) -> float | None:
        """What no choice exceeds; None while some support is not bounded yet."""
        largest = -self._open[0][0] if self._open else -math.inf
        return None if largest == math.inf else max(self.value, self._closed, largest)

    def resume(self, control: Control, n_jobs: int = 1) -> Solution:
        """Go on until the gap is closed or the limits of the control are reached."""
        control = replace(control, resolution=self.regions.resolution)
        with until_interrupted() as interruption:
            while self._open and not control.out_of_time:
                if control.closed(self.value, -self._open[0][0]):
                    break
                self._refine(control, n_jobs)
                control.report_progress(self.refined, self.value, self.upper_bound)
        self.regions.release()
        return Solution(
            support=np.flatnonzero(self.z),
            z=self.z,
            value=self.value,
            upper_bound=self.upper_bound,
            status=control.status(self.value, self.upper_bound),
            solver=self.name,
            iterations=self.refined,
            seconds=control.elapsed,
            interrupted=interruption.caught,
        )

    def _refine(self, control: Control, n_jobs: int) -> None:
        value, allowed = self.value, control.allowed(self.value)
        enough = value + allowed
        batch: list[tuple[float, R]] = []
        while self._open and len(batch) < _BATCH and -self._open[0][0] > enough:
            bound, _, region = heapq.heappop(self._open)
            batch.append((-bound, region))
        try:
            results = in_threads(
                lambda item: self.regions.refine(item[1], value, allowed), batch, n_jobs
            )
        except BaseException:
            for bound, region in batch:
                self._push(bound, region)
            raise
        self.refined += len(batch)
        for (bound, _), result in zip(batch, results, strict=True):
            for part_bound, part in result.parts:
                if part_bound <= enough:
                    self._closed = max(self._closed, part_bound)
                else:
                    self._push(min(bound, part_bound), part)
        best = max(results, key=lambda result: result.value)
        if best.value > value:
            peak = polished(self.objective, best.z, control)
            if peak.value > self.value:
                self.z, self.value = peak.z, peak.value
