"""A quick search for many problems of one kind, as in tuning: polished starts, nothing more."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples
from tellapart.kernels.base import FittedKernel
from tellapart.search.screening import Screen
from tellapart.search.sphere import climb
from tellapart.search.starts import Scores, make_starts, score_columns
from tellapart.statistics.objective import FittedObjective
from tellapart.strs.control import Control
from tellapart.threads import one_blas_thread

# Variables of the linear start; the pairs are looked for once, whatever the number asked for.
_SCORED = 20
_MOST_WORK = 4e9
MOST_CANDIDATES = 100
MOST_STEPS = 12
TOLERANCE = 1e-4


@dataclass(frozen=True)
class QuickSearch:
    """The scores of columns and pairs, and the sums over rows, taken once for all d and λ."""

    scores: Scores
    screen: Screen

    @classmethod
    def of(
        cls,
        samples: Samples,
        kernel: FittedKernel,
        scores: Scores,
        *,
        nonnegative: bool = False,
    ) -> QuickSearch:
        """Prepare the sums of those samples, all of whose columns vary."""
        objective = FittedObjective(samples, kernel, 0.0, nonnegative=nonnegative)
        screen = Screen.of(objective, scores, min(_SCORED, samples.n_columns), MOST_CANDIDATES)
        with one_blas_thread():
            screen.objective.prepare()
        return cls(screen.restricted(scores), screen)

    def weights(self, n_variables: int, regularization: float) -> FloatArray:
        """Return the best of the polished starts, a point of all columns."""
        part = self.screen.objective.at(regularization)
        size = min(n_variables, self.screen.columns.shape[0])
        with one_blas_thread():
            starts = make_starts(
                part,
                size,
                self.scores,
                n_random=0,
                rng=np.random.default_rng(0),
                control=Control(),
            )
            peaks = [
                climb(part, start.z, most_steps=MOST_STEPS, tolerance=TOLERANCE) for start in starts
            ]
        return self.screen.embedded(max(peaks, key=lambda peak: peak.value).z)


def quick_scores(samples: Samples, n_jobs: int, *, nonnegative: bool = False) -> Scores:
    """Score columns and groups, the strongest pair and the strongest triple only."""
    size = min(_SCORED, samples.n_columns)
    scores = score_columns(
        samples,
        size,
        0.0,
        Control(),
        largest_group=3,
        n_jobs=n_jobs,
        most_work=_MOST_WORK,
        nonnegative=nonnegative,
    )
    best = {len(group): group for group in reversed(scores.groups)}
    return replace(scores, groups=tuple(best.values()))
