"""The search for the best few variables under any kernel: screen, anneal, polish, exchange."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tellapart.arguments import check_integer, check_number
from tellapart.arrays import FloatArray, IntArray
from tellapart.data.samples import Samples
from tellapart.kernels.base import FittedKernel
from tellapart.search.annealing import Trace, anneal
from tellapart.search.many_rows import finished_by_frequencies, finished_on_all_rows, on_some_rows
from tellapart.search.sphere import Peak, climb, pruned
from tellapart.search.starts import (
    Scores,
    Screen,
    Start,
    feasible,
    make_starts,
    score_columns,
    widened,
)
from tellapart.statistics.fourier_objective import FourierObjective
from tellapart.statistics.objective import FittedObjective
from tellapart.statistics.pair_sums import Derivatives
from tellapart.strs.contract import Control
from tellapart.threads import in_threads, one_blas_thread

# Exchanges of one chosen variable for another, until none improves the objective.


# Exchanges that are tried with their best weights in a sweep, the most promising first; where a
# sweep has no more than that, all are tried, though a climb that promises too little is cut short.
MOST_TRIALS = 40
# Gains below this share of |F| are rounding error, and could make the search cycle.
_LEAST_GAIN = 1e-9
_NONE = -1


def improve_by_exchanges(
    objective: FittedObjective,
    peak: Peak,
    n_variables: int,
    control: Control,
    most_trials: int = MOST_TRIALS,
) -> tuple[Peak, int]:
    """Return a point that no tried exchange improves, and the number of exchanges made.

    All exchanges are ranked by the second-order model of F in the weights ω: the newcomer takes
    the whole weight of the one that leaves. The best `most_trials` are then judged by F at the
    best weights of the new support, found by `climb`. Where a place is unused, additions compete.
    """
    made = 0
    while not control.out_of_time:
        better = _first_improvement(objective, peak, n_variables, control, most_trials)
        if better is None:
            break
        peak = better
        made += 1
    return peak, made


def _first_improvement(
    objective: FittedObjective, peak: Peak, n_variables: int, control: Control, most_trials: int
) -> Peak | None:
    to_beat = peak.value + _LEAST_GAIN * abs(peak.value)
    for trial in promising_exchanges(objective, peak.z, n_variables, most_trials):
        if control.out_of_time:
            return None
        improved = climb(objective, trial, to_beat=to_beat, control=control)
        if improved.value > to_beat:
            return improved
    return None


def promising_exchanges(
    objective: FittedObjective, z: FloatArray, n_variables: int, most: int
) -> list[FloatArray]:
    """Return the points after one exchange, or one addition, the most promising first."""
    chosen, others = np.flatnonzero(z), np.flatnonzero(z == 0)
    if others.size == 0:
        return []
    second = objective.in_weights(z)
    signs = np.array([1.0, -1.0] if objective.signed else [1.0])
    weights = objective.weights(z)
    gains = _transfer_gains(second, weights, chosen, others, signs)
    if chosen.size < n_variables:
        added = _addition_gains(second, weights, chosen, others, signs, objective.squares_weights)
        gains = np.concatenate([gains, added], axis=1)
        chosen = np.append(chosen, _NONE)
    order = np.argsort(-gains, axis=None, kind="stable")[:most]
    sign, leaving, coming = np.unravel_index(order, gains.shape)
    return [
        _exchanged(z, int(chosen[s]), int(others[r]), float(signs[k]))
        for k, s, r in zip(sign, leaving, coming, strict=True)
    ]


def _transfer_gains(
    second: Derivatives,
    weights: FloatArray,
    chosen: IntArray,
    others: IntArray,
    signs: FloatArray,
) -> FloatArray:
    """Return what the model in ω promises when r takes the weight of s: axes sign, s, r."""
    sign = signs[:, None, None]
    moved = weights[chosen][:, None]
    slopes, curvatures = second.gradient, np.diag(second.hessian)
    first = moved * (sign * slopes[others] - slopes[chosen][:, None])
    cross = second.hessian[np.ix_(chosen, others)]
    bend = curvatures[others] - 2 * sign * cross + curvatures[chosen][:, None]
    return first + 0.5 * moved**2 * bend


def _addition_gains(
    second: Derivatives,
    weights: FloatArray,
    chosen: IntArray,
    others: IntArray,
    signs: FloatArray,
    squares: bool,
) -> FloatArray:
    """Return what first-order information promises of an unused place: axes sign, 1, r."""
    slopes = second.gradient
    share = float(np.abs(weights[chosen]).min()) / 2
    # Where Σω = 1 the newcomer's weight is taken from the others, at their common slope.
    cost = float(weights[chosen] @ slopes[chosen]) if squares else 0.0
    return share * (signs[:, None, None] * slopes[others] - cost)


def _exchanged(z: FloatArray, leaving: int, coming: int, sign: float) -> FloatArray:
    """Return z with `coming` in the place of `leaving`, or added where none leaves."""
    moved = z.copy()
    if leaving != _NONE:
        moved[coming], moved[leaving] = sign * z[leaving], 0.0
        return moved
    moved[coming] = sign * float(np.abs(z[z != 0]).min()) / 2
    return moved / np.linalg.norm(moved)


FEW_COLUMNS = 20
"""Up to this many columns all starts are annealed."""
# Points closer than this in every weight are one.
_SAME = 1e-4


@dataclass(frozen=True)
class Found:
    """The best point of a search and how it was found.

    Attributes
    ----------
    z : array of length D
        The point; z ≥ 0 where only z² counts, and where the objective asks for it.
    value : float
        F(z).
    traces : tuple of Trace
        One for each annealed run.
    exchanges : int
        Exchanges of variables that the swap search made.
    candidates : int
        Columns that the search looked at beyond first-order information.
    finalists : tuple of arrays of length D
        z, and the best points of other runs.

    Where there are more rows than `Annealing.most_rows`, the traces are those of the rows searched.
    """

    z: FloatArray
    value: float
    traces: tuple[Trace, ...]
    exchanges: int
    candidates: int
    finalists: tuple[FloatArray, ...]


@dataclass(frozen=True)
class Annealing:
    """Annealed second-order search from several starts. A strong choice; no upper bound.

    All starts are polished; the best few of them are annealed and polished again; the best of
    these are then improved by exchanges of one variable for another. With many columns the
    search runs among candidates, chosen by first-order information, and is repeated while that
    brings new ones. With many rows it runs on some of them, drawn at random, and the weights of
    the variables found are then brought to their best on all rows, by features of the kernel where
    there are more than `most_exact_rows`.

    Parameters
    ----------
    iterations : int
        Annealed steps from each start; 0 only polishes the starts.
    n_random : int
        Random starts beside those that the data suggest.
    n_annealed : int
        Polished starts that are annealed; with up to 20 columns all are.
    n_exchanged : int
        Best points that the swap search starts from.
    largest_group : int
        Groups of columns whose joint dependence is looked at: 1 (none), 2 (pairs) or 3.
    most_candidates : int
        Columns that the search runs among at most, or 4·d if that is more.
    most_rows : int
        Rows of each sample that variables are searched on at most.
    most_exact_rows : int
        Rows of each sample up to which all pairs of rows count in the final weights; for more see
        `tellapart.search.many_rows`.
    bound_seconds : float
        Seconds that the quadratic kernel's bound may take which leaves λσ² out, and so is loose by
        nature; 0 for no bound at all.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.kernels import Gaussian
    >>> from tellapart.objective import Objective
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(100, 6)), rng.normal(size=(100, 6))
    >>> y[:, 4] = y[:, 1] + 0.3 * y[:, 4]
    >>> found = Annealing().search(Objective(x, y, Gaussian()), 2, Control())
    >>> np.flatnonzero(found.z).tolist()
    [1, 4]
    """

    iterations: int = 20
    n_random: int = 2
    n_annealed: int = 4
    n_exchanged: int = 2
    largest_group: int = 3
    most_candidates: int = 150
    most_rows: int = 1_000
    most_exact_rows: int = 4_000
    bound_seconds: float = 2.0
    name: str = "annealing"

    def __post_init__(self) -> None:
        check_integer("iterations", self.iterations, 0)
        check_integer("n_random", self.n_random, 0)
        check_integer("n_annealed", self.n_annealed, 1)
        check_integer("n_exchanged", self.n_exchanged, 0)
        check_integer("largest_group", self.largest_group, 1, 3)
        check_integer("most_candidates", self.most_candidates, 2)
        check_integer("most_rows", self.most_rows, 8)
        check_integer("most_exact_rows", self.most_exact_rows, 8)
        check_number("bound_seconds", self.bound_seconds, 0.0)

    def search(
        self,
        objective: FittedObjective,
        n_variables: int,
        control: Control,
        *,
        n_jobs: int = 1,
        known: tuple[Start, ...] = (),
        scored: Samples | None = None,
        final: FourierObjective | None = None,
    ) -> Found:
        """Return the best point found with at most `n_variables` non-zeros.

        `known` are starts of the caller's beside those that the data suggest. With
        `objective.nonnegative` only z ≥ 0 is searched. Columns and groups are scored on the rows
        `scored`, by default those searched on; where `final` is given it decides in the end.
        """
        with one_blas_thread():
            searched = on_some_rows(objective, self.most_rows, control.rng)
            scores = score_columns(
                searched.samples if scored is None else scored,
                n_variables,
                objective.regularization,
                control,
                largest_group=self.largest_group,
                n_jobs=n_jobs,
                nonnegative=objective.within_orthant,
            )
            result = self._search(searched, scores, n_variables, control, n_jobs, known)
            if final is not None:
                peak, made = finished_by_frequencies(
                    final, scores, result.finalists, n_variables, control
                )
                exchanges = result.exchanges + made
                return replace(result, z=peak.z, value=peak.value, exchanges=exchanges)
            if searched is objective:
                return result
            peak = finished_on_all_rows(objective, result.finalists, n_variables, control)
            z = np.abs(peak.z) if objective.squares_weights else peak.z
            return replace(result, z=z, value=peak.value)

    def _search(
        self,
        objective: FittedObjective,
        scores: Scores,
        n_variables: int,
        control: Control,
        n_jobs: int,
        known: tuple[Start, ...],
    ) -> Found:
        must = [s for start in known for s in np.flatnonzero(start.z).tolist()]
        screen = Screen.of(objective, scores, n_variables, self.most_candidates, must)
        best: Peak | None = None
        traces: list[Trace] = []
        others: list[FloatArray] = []
        exchanges = 0
        while True:
            candidates = screen.objective
            starts = self._starts(candidates, screen, scores, n_variables, best, known, control)
            candidates.prepare()
            # Among few columns a run is cheap, and a start that looks poor may lead to the best.
            is_cheap = screen.columns.shape[0] <= FEW_COLUMNS and self.iterations > 0
            annealed = len(starts) if is_cheap else self.n_annealed
            starts = _best(_polished(candidates, starts, control, n_jobs), annealed)
            peaks = self._anneal_all(candidates, starts, n_variables, control, n_jobs, traces)
            others = others or [screen.embedded(peak.z) for peak in peaks]
            if best is not None:
                peaks.append(Peak(best.z[screen.columns], best.value))
            top, made = self._exchange(candidates, peaks, n_variables, control)
            exchanges += made
            top = pruned(candidates, top, control)
            best = Peak(screen.embedded(top.z), top.value)
            wider = widened(screen, objective, best.z, n_variables)
            if wider is None or control.out_of_time:
                break
            screen = wider
        z = np.abs(best.z) if objective.squares_weights else best.z
        return Found(z, best.value, tuple(traces), exchanges, screen.columns.shape[0], (z, *others))

    def _starts(
        self,
        candidates: FittedObjective,
        screen: Screen,
        scores: Scores,
        n_variables: int,
        best: Peak | None,
        known: tuple[Start, ...],
        control: Control,
    ) -> list[Start]:
        if best is not None:
            return [Start("best so far", best.z[screen.columns])]
        feasible_starts = [
            Start(start.origin, feasible(candidates, start.z[screen.columns])) for start in known
        ]
        return feasible_starts + make_starts(
            candidates,
            n_variables,
            screen.restricted(scores),
            n_random=self.n_random,
            rng=control.rng,
            control=control,
        )

    def _anneal_all(
        self,
        objective: FittedObjective,
        starts: list[Start],
        n_variables: int,
        control: Control,
        n_jobs: int,
        traces: list[Trace],
    ) -> list[Peak]:
        generators = control.rng.spawn(len(starts))

        def run(task: tuple[Start, np.random.Generator]) -> tuple[Peak, Trace]:
            start, rng = task
            peak, trace = anneal(
                objective,
                start.origin,
                start.z,
                n_variables,
                iterations=self.iterations,
                rng=rng,
                control=control,
            )
            peak = climb(objective, peak.z, control=control)
            control.report_progress(len(trace.accepted), peak.value, None)
            return peak, trace

        runs = in_threads(run, list(zip(starts, generators, strict=True)), n_jobs)
        traces += [trace for _, trace in runs]
        return [peak for peak, _ in runs]

    def _exchange(
        self, objective: FittedObjective, peaks: list[Peak], n_variables: int, control: Control
    ) -> tuple[Peak, int]:
        ranked = sorted(peaks, key=lambda peak: -peak.value)
        best, exchanges = ranked[0], 0
        seen: set[bytes] = set()
        for peak in ranked:
            if len(seen) == self.n_exchanged or control.out_of_time:
                break
            key = peak.support.tobytes()
            if key in seen:
                continue
            seen.add(key)
            improved, made = improve_by_exchanges(objective, peak, n_variables, control)
            exchanges += made
            if improved.value > best.value:
                best = improved
            control.report_progress(exchanges, best.value, None)
        return best, exchanges


def _polished(
    objective: FittedObjective, starts: list[Start], control: Control, n_jobs: int
) -> list[Start]:
    """Return the starts after a climb, the best first."""

    def polish(start: Start) -> tuple[Start, float]:
        peak = climb(objective, start.z, control=control)
        return Start(start.origin, peak.z), peak.value

    polished = in_threads(polish, starts, n_jobs)
    return [start for start, _ in sorted(polished, key=lambda start_and_value: -start_and_value[1])]


def _best(starts: list[Start], count: int) -> list[Start]:
    """Return the first few whose weights differ: two climbs may end on one peak."""
    kept: list[Start] = []
    for start in starts:
        if not any(np.allclose(np.abs(start.z), np.abs(other.z), atol=_SAME) for other in kept):
            kept.append(start)
    return kept[:count]


QUICK = Annealing(
    iterations=0,
    n_random=0,
    n_exchanged=0,
    largest_group=2,
    most_candidates=100,
    bound_seconds=0.0,
)
"""Polished starts only: for many selections of one kind."""


# A quick search for many problems of one kind, as in tuning: polished starts, nothing more.


# Variables of the linear start; the pairs are looked for once, whatever the number requested.
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
        candidates = self.screen.objective.at(regularization)
        size = min(n_variables, self.screen.columns.shape[0])
        with one_blas_thread():
            starts = make_starts(
                candidates,
                size,
                self.scores,
                n_random=0,
                rng=np.random.default_rng(0),
                control=Control(),
            )
            peaks = [
                climb(candidates, start.z, most_steps=MOST_STEPS, tolerance=TOLERANCE)
                for start in starts
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
