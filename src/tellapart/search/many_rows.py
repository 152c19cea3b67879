"""Beyond a few thousand rows not all pairs of them can count: what a search does then.

- The quadratic kernel: MMD² of all rows by short features, and the whole search runs on it
  (`tellapart.statistics.quadratic_moments`).
- Gaussian kernels and mixtures of them: the search runs on few drawn rows and is one source of
  starts; what all rows say of columns, pairs and triples is the other. Random frequencies stand for
  the kernel on all rows (`tellapart.statistics.fourier_objective`): there the best starts are
  brought to their best weights, and variables exchanged while that helps.
- Other kernels: all is done on some thousand rows, drawn at random.

Columns and groups are scored on all rows whatever the kernel. "All" is up to a hundred thousand
rows of each sample, above that as many drawn at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.budget import current_budget
from tellapart.data.samples import Samples
from tellapart.kernels.base import FittedKernel
from tellapart.search.sphere import TOLERANCE, Peak, climb, pruned
from tellapart.search.starts import Scores, equal, spread
from tellapart.statistics.fourier_objective import FourierObjective
from tellapart.statistics.objective import MEMORY_BUDGET, FittedObjective
from tellapart.statistics.quadratic_moments import has_feature_moments
from tellapart.strs.contract import Control
from tellapart.strs.problem import truncate

# ω of a variable that is tried, and the share by which F must grow for it to stay.
_FIRST_WEIGHT = 0.02
_ROWS_GAIN = 1e-4


def on_some_rows(
    objective: FittedObjective, most: int, rng: np.random.Generator
) -> FittedObjective:
    """Return F of at most `most` random rows of each sample; F itself where there are no more."""
    drawn = objective.samples.draw(most, rng)
    if drawn is objective.samples:
        return objective
    return objective.on(drawn)


def finished_on_all_rows(
    objective: FittedObjective | FourierObjective,
    finalists: Sequence[FloatArray],
    n_variables: int,
    control: Control,
    *,
    gain: float = _ROWS_GAIN,
    tolerance: float = TOLERANCE,
) -> Peak:
    """Return the best point near one of the finalists, on all rows.

    A point that is best among thousands of rows is best among a thousand of them, or nearly so:
    what the search spends on choosing variables is better spent on more starts. The weights of the
    chosen variables are then brought to their best on all rows, and variables that only all rows
    support are added while there is a place, which takes few evaluations.

    A further variable stays if F grows by the share `gain`.
    """
    peaks = [polished(objective, finalists[0], control, tolerance=tolerance)]
    for z in finalists[1:]:
        if control.out_of_time:
            break
        peaks.append(polished(objective, z, control, tolerance=tolerance))
    best = max(peaks, key=lambda peak: peak.value)
    while best.support.size < n_variables and not control.out_of_time:
        wider = with_newcomer(objective, best.z, control, tolerance=tolerance)
        if wider is None or wider.value <= best.value + gain * abs(best.value):
            break
        best = wider
    return best


def with_newcomer(
    objective: FittedObjective | FourierObjective,
    z: FloatArray,
    control: Control,
    *,
    leaving: int | None = None,
    to_beat: float = -np.inf,
    tolerance: float = TOLERANCE,
) -> Peak | None:
    """Return the best point near z with one more variable, the steepest; None if none is steep.

    `leaving` is a variable that has just left and does not come back. The point is not brought to
    its best where `to_beat` seems out of reach.
    """
    support = np.flatnonzero(z)
    slopes = objective.weight_slopes(z)
    lift = objective.lift(slopes)
    # Where Σω = 1 a newcomer takes its weight from the others, which have one slope in common.
    common = float(objective.weights(z) @ slopes) if objective.squares_weights else 0.0
    lift[support] = -np.inf
    if leaving is not None:
        lift[leaving] = -np.inf
    newcomer = int(np.argmax(lift))
    if lift[newcomer] <= common:
        return None
    start = np.sqrt(1 - _FIRST_WEIGHT) * z
    # Where ω(z) = z the sign of a weight is that of its slope.
    start[newcomer] = np.sqrt(_FIRST_WEIGHT) * (np.sign(slopes[newcomer]) or 1.0)
    if objective.squares_weights:
        start = np.abs(start)
    return polished(objective, start, control, to_beat=to_beat, tolerance=tolerance)


def polished(
    objective: FittedObjective | FourierObjective,
    z: FloatArray,
    control: Control,
    *,
    to_beat: float = -np.inf,
    tolerance: float = TOLERANCE,
) -> Peak:
    """Return the best weights of the variables of z, near z."""
    used = np.flatnonzero(z)
    restricted = objective.columns(used)
    peak = climb(restricted, z[used], to_beat=to_beat, tolerance=tolerance, control=control)
    peak = pruned(restricted, peak, control, tolerance=tolerance)
    full = np.zeros_like(z)
    full[used] = peak.z
    return Peak(full, peak.value)


ROWS_PER_SECOND = 2_000
"""Rows of each sample that features stand for, for each second of a time limit."""
SEARCHED_ROWS = 500
"""Rows of each sample searched on where frequencies stand for the kernel on all rows."""
# Starts are polished on so many rows first, and so many of them on all rows.
_ROUGH_ROWS, _FINALISTS = 10_000, 2
# F by random frequencies is known to about one part in a hundred: a climb ends at steps that
# promise a tenth of that, and a variable must bring half of it.
_TOLERANCE = 1e-3
_GAIN = 5e-3
# Variables, the lightest first, that are exchanged on trial in a sweep, and sweeps at most.
_TRIALS, _SWEEPS = 5, 3


@dataclass(frozen=True)
class Goal:
    """What a search maximises, and on which rows.

    Attributes
    ----------
    objective : FittedObjective
        F for the search.
    final : FourierObjective or None
        F that decides in the end; None for `objective` itself.
    scored : Samples or None
        The rows that columns and groups are scored on; None for those searched on.
    drawn_rows : pair of int or None
        Rows of X and Y, drawn at random, that F is of; None for all.
    n_features : int or None
        Features that stand for the kernel; None where pairs of rows are summed.
    """

    objective: FittedObjective
    final: FourierObjective | None = None
    scored: Samples | None = None
    drawn_rows: tuple[int, int] | None = None
    n_features: int | None = None

    @classmethod
    def of(
        cls,
        samples: Samples,
        kernel: FittedKernel,
        regularization: float,
        *,
        nonnegative: bool,
        most_rows: int,
        most_exact_rows: int,
        control: Control,
    ) -> Goal:
        """Return F of all rows, or what stands for it where there are more than `most_exact_rows`.

        `most_rows` are those of each sample that a search runs on at most; `control` draws rows,
        and fewer where there is a time limit.
        """
        if max(samples.n_x, samples.n_y) <= most_exact_rows:
            return cls(FittedObjective(samples, kernel, regularization, nonnegative=nonnegative))
        rng = control.rng
        rows = samples.draw(max(most_exact_rows, _affordable(samples, control)), rng)
        drawn = None if rows is samples else (rows.n_x, rows.n_y)
        few = rows.draw(most_rows, rng)
        if has_feature_moments(few, kernel, MEMORY_BUDGET):
            objective = FittedObjective(
                few, kernel, regularization, nonnegative=nonnegative, whole=rows
            )
            return cls(objective, None, rows, drawn, objective.n_features)
        fourier = FourierObjective.draw(rows, kernel, regularization, rng)
        if fourier is not None:
            few = few.draw(SEARCHED_ROWS, rng)
            objective = FittedObjective(few, kernel, regularization, nonnegative=nonnegative)
            return cls(objective, fourier, rows, drawn, fourier.n_features)
        few = samples.draw(most_exact_rows, rng)
        objective = FittedObjective(few, kernel, regularization, nonnegative=nonnegative)
        return cls(objective, None, rows, (few.n_x, few.n_y))


def _affordable(samples: Samples, control: Control) -> int:
    """Return the rows of each sample that features may be summed over."""
    budget = current_budget()
    most = min(budget.feature_rows, budget.feature_entries // samples.n_columns)
    if control.time_limit is None:
        return most
    return min(most, int(ROWS_PER_SECOND * control.time_limit))


def finished_by_frequencies(
    objective: FourierObjective,
    scores: Scores,
    finalists: Sequence[FloatArray],
    n_variables: int,
    control: Control,
) -> tuple[Peak, int]:
    """Return the best point of F on all rows that the starts lead to, and the exchanges made."""
    rough = objective.on(objective.samples.draw(_ROUGH_ROWS, control.rng))
    peaks: list[Peak] = []
    for z in _distinct([*finalists, *_starts(objective, scores, n_variables)]):
        if peaks and control.out_of_time:
            break
        start = polished(rough, z, control, tolerance=_TOLERANCE)
        used = start.support
        peaks.append(Peak(start.z, objective.columns(used).value(start.z[used])))
    ranked = sorted(peaks, key=lambda peak: -peak.value)[:_FINALISTS]
    best = _finished(objective, [peak.z for peak in ranked], n_variables, control)
    made = 0
    for _ in range(_SWEEPS):
        better = _exchanged(objective, rough, best, n_variables, control)
        if better is None:
            break
        best = better
        made += 1
    return best, made


def _starts(objective: FourierObjective, scores: Scores, n_variables: int) -> list[FloatArray]:
    """Return points on what all rows say of single columns, pairs and triples."""
    size = scores.single.shape[0]
    starts = [equal(truncate(scores.single, n_variables), size)]
    if scores.linear.any():
        starts.append(spread(objective, scores.linear))
    groups = [group for group in scores.groups if len(group) <= n_variables]
    return starts + [equal(np.array(group), size) for group in groups]


def _exchanged(
    objective: FourierObjective,
    rough: FourierObjective,
    peak: Peak,
    n_variables: int,
    control: Control,
) -> Peak | None:
    """Return a better point with one variable in the place of another; None if none is found."""
    for leaving in peak.support[np.argsort(peak.z[peak.support], kind="stable")][:_TRIALS]:
        if control.out_of_time or peak.support.size == 1:
            break
        z = peak.z.copy()
        z[leaving] = 0.0
        # Where the newcomer is looked for need not be a maximum.
        without = polished(rough, z / np.linalg.norm(z), control, tolerance=_TOLERANCE)
        to_beat = peak.value + _GAIN * abs(peak.value)
        exchanged = with_newcomer(
            objective,
            without.z,
            control,
            leaving=int(leaving),
            to_beat=to_beat,
            tolerance=_TOLERANCE,
        )
        if exchanged is not None and exchanged.value > to_beat:
            return _finished(objective, [exchanged.z], n_variables, control)
    return None


def _finished(
    objective: FourierObjective, points: Sequence[FloatArray], n_variables: int, control: Control
) -> Peak:
    return finished_on_all_rows(
        objective, points, n_variables, control, gain=_GAIN, tolerance=_TOLERANCE
    )


def _distinct(points: Sequence[FloatArray]) -> list[FloatArray]:
    """Return one point for each support, the first."""
    kept: dict[bytes, FloatArray] = {}
    for z in points:
        kept.setdefault(np.flatnonzero(z).tobytes(), np.abs(z))
    return list(kept.values())
