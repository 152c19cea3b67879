"""A quick search for many problems of one kind, as in tuning: polished starts, nothing more."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tellapart.blas import one_blas_thread
from tellapart.kernels import FittedIndex
from tellapart.objective import Objective
from tellapart.samples import FloatArray, Samples
from tellapart.search.screening import Screen
from tellapart.search.sphere import climb
from tellapart.search.starts import Scores, make_starts, score_columns
from tellapart.strs.control import Control

# Variables of the linear start; the pairs are looked for once, whatever the number asked for.
_SCORED = 20
MOST_CANDIDATES = 100
MOST_STEPS = 12
TOLERANCE = 1e-4


@dataclass(frozen=True)
class QuickSearch:
    """The scores of columns and pairs, and the sums over rows, taken once for all d and λ."""

    objective: Objective
    scores: Scores
    screen: Screen

    @classmethod
    def of(cls, samples: Samples, kernel: FittedIndex, *, n_jobs: int = 1) -> QuickSearch:
        """Score the columns of those samples; all of them must vary."""
        objective = Objective.of_fitted(samples, kernel, 0.0)
        size = min(_SCORED, samples.n_columns)
        scores = score_columns(samples, size, 0.0, Control(), largest_group=2, n_jobs=n_jobs)
        screen = Screen.of(objective, scores, size, MOST_CANDIDATES)
        with one_blas_thread():
            screen.objective.prepare()
        scores = replace(scores, groups=scores.groups[:1])
        return cls(objective, screen.restricted(scores), screen)

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
