"""The choice by evidence: the variables whose differences are jointly most significant.

With the strengths e and the shared part M of columns and groups (`tellapart.evidence.evidence`),
z ≥ 0 maximises eᵀz/√(zᵀMz) over at most d columns. A group counts only where all its columns are
chosen, and takes no place of its own. There are few groups: for each set of them whose columns fit,
one sparse ratio problem with these required is solved with a proved bound, and the largest bound
holds for all.

A proof that a choice is the best says nothing of how near the runner-up is. Any other set of as
many variables leaves out at least one of those chosen, so for every chosen variable the search is
repeated without it, by swaps. That there is no nearer one is proved afterwards, where that is quick
(`tellapart.selection.evidence_problem`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.budget import current_budget
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.evidence.evidence import Evidence, gather_evidence
from tellapart.evidence.shared_scores import KnownScores
from tellapart.kernels import FittedKernel, Gaussian, Linear
from tellapart.kernels.bandwidth import median_bandwidths
from tellapart.progress import Progress, Stage, silent, solver_progress
from tellapart.scan.differences import Differences
from tellapart.scan.families.joint import LocalDifference
from tellapart.scan.family import ScanState
from tellapart.selection.alternatives import RunnerUp
from tellapart.selection.evidence_problem import EvidenceProblem, problem_of, sets_of_groups
from tellapart.selection.selection import EVIDENCE, Selection
from tellapart.selection.settings import SelectionSettings, check_varying, constant_columns
from tellapart.selection.tuning import Chosen, Tuning
from tellapart.strs import solve
from tellapart.strs.contract import Control, Solution

MOST_VARIABLES = 10
"""Variables at most where their number is left open."""
ENOUGH = 0.95
"""The share of the evidence of that many which fewer must have."""
EXACT, HEURISTIC = "branch-and-bound", "local-search"
LEAST_SECONDS = 1e-3
SHOWN_ROWS = 20_000
"""Rows of each sample that the bandwidths of the kernel in the result are taken from."""
# A substitute follows the chosen column this closely, and has this share of its evidence.
ALIKE = 0.5
AS_STRONG = 0.6
ROUNDING = 1e-9
"""A choice with more evidence by no more than this share is as good as the one made."""
FEW_NODES, SHARE_OF_PROOF = 30, 0.25
"""Nodes of a tree, and the part of the time of a proof, that looking for other choices may take."""


def weigh_evidence(
    samples: Samples,
    settings: SelectionSettings,
    *,
    rng: np.random.Generator,
    progress: Progress,
    n_jobs: int | None = None,
    differences: Differences | None = None,
    effort: float = 1.0,
    known: KnownScores | None = None,
    state: ScanState | None = None,
    local: Sequence[LocalDifference] = (),
) -> Chosen:
    """Choose by evidence; where the number of variables is open, as few as carry nearly all.

    The kernel has no part in the choice; the witness function of the result needs one. It is the
    linear one with the bandwidths of the chosen variables, or the Gaussian one where variables were
    chosen for how they depend on each other, from `SHOWN_ROWS` rows of each sample at most.

    Parameters
    ----------
    samples : Samples
        The two samples.
    settings : SelectionSettings
        Number of variables, gap and time limit.
    rng : numpy Generator
        Draws of rows, and random steps of the solver.
    progress : callable
        Called with what is being done.
    n_jobs : int or None
        Threads, where not those of the settings.
    differences : Differences or None
        Those over all rows, where `samples` are rows drawn from them, or evidence draws some.
    effort : float
        Share of the usual number of candidates, for one choice of many.
    known : KnownScores or None
        The scores of all rows, where many choices share them.
    state : ScanState or None
        What a scan made of these samples.
    local : sequence of LocalDifference
        Sets of columns that a scan names for local differences.
    """
    threads = settings.threads if n_jobs is None else n_jobs
    progress("select", "weighing the evidence")
    stage = Stage("select")
    shown = samples.draw(SHOWN_ROWS, rng)
    constant = constant_columns(shown) if known is None else known.constant
    check_varying(samples, constant)
    number = settings.n_variables
    all_rows = samples.n_x, samples.n_y
    drawn_before = differences is not None and not differences.by_design
    evidence = gather_evidence(
        samples,
        number or MOST_VARIABLES,
        rng=rng,
        n_jobs=threads,
        differences=differences,
        effort=effort,
        known=known,
        state=state,
        local=local,
    )
    if evidence.n_columns == 0:
        raise InputError(
            f"X and Y must have a column that varies in the {sum(evidence.n_rows):,} rows that "
            "evidence is drawn from; got none: rare values need kernel='linear', which takes all"
        )
    control = Control(
        gap=settings.gap,
        time_limit=settings.time_limit,
        rng=rng,
        progress=solver_progress(progress, "select"),
    )
    if number is None:
        number = enough_variables(evidence, control)
    candidates = f"{evidence.n_columns:,} of {samples.n_columns:,} columns"
    stage.done(f"at most {number} variables, of {candidates}")
    stage = Stage("prove")
    if control.time_limit is None:
        # Proofs end by the clock, the number of variables does not depend on it: a slow machine,
        # or one that compiles for the first time, selects as many.
        control = control.allowing(current_budget().proof_seconds)
        silent("prove", f"budget: {current_budget().proof_seconds:.3g} s")
    best, runner_up = best_of(evidence, min(number, evidence.n_columns), control), None
    if control.status(best.value, best.upper_bound) != "optimal":
        best = _no_worse_than_swaps(evidence, best, min(number, evidence.n_columns))
    if effort == 1.0:
        best, runner_up = find_runner_up(samples.names, evidence, best, number)
    selection = select_by_evidence(
        samples,
        evidence,
        best,
        number,
        constant=[samples.names[s] for s in np.flatnonzero(constant)],
        control=control,
        drawn=differences is not None and (drawn_before or evidence.n_rows != all_rows),
    )
    selection = replace(selection, runner_up=runner_up)
    chosen = f"{selection.support.size} of {samples.n_columns:,} variables"
    stage.done(f"{chosen}; {selection.certificate}")
    if effort == 1.0:
        # Likeness has no part in it, and need not be kept.
        problem = EvidenceProblem(replace(evidence, likeness=np.empty((0, 0))), settings.gap)
        selection = replace(selection, problem=problem)
        if selection.status != "optimal":
            selection = replace(selection, proof=EvidenceProof(evidence, best, settings.gap))
        else:
            seconds = SHARE_OF_PROOF * (control.remaining or 0.0)
            around = Control(gap=settings.gap, time_limit=seconds)
            selection = problem.look_around(selection, around, most_nodes=FEW_NODES)
    kernel = shown_kernel(shown, selection, threads)
    return Chosen(Tuning(number, 0.0), kernel, selection)


def _no_worse_than_swaps(evidence: Evidence, best: Best, n_variables: int) -> Best:
    """Return the better one of a choice whose proof was cut short and of what swaps find.

    Swaps take no account of the clock: nor does what is chosen, unless the proof meets a better
    choice in its time.
    """
    found = best_of(evidence, n_variables, Control(), HEURISTIC)
    if found.value <= best.value * (1 + ROUNDING):
        return best
    bound = None if best.upper_bound is None else max(best.upper_bound, found.value)
    return replace(best, **_point(found), upper_bound=bound)


def _point(best: Best) -> dict[str, Any]:
    """Return the choice itself, without what was proved and how."""
    return {"z": best.z, "groups": best.groups, "value": best.value}


def shown_kernel(samples: Samples, selection: Selection, n_jobs: int = 1) -> FittedKernel:
    """Return the kernel of the witness function of a choice by evidence."""
    samples = samples.draw(SHOWN_ROWS, np.random.default_rng(0))
    if selection.groups:
        return Gaussian().fit(samples, n_jobs=n_jobs)
    left_out = set(selection.constant)
    constant = np.array([name in left_out for name in samples.names])
    return _linear_kernel(samples, selection.support, constant)


def _linear_kernel(samples: Samples, support: IntArray, constant: BoolArray) -> FittedKernel:
    """Return the linear kernel with the bandwidths of some columns, and 1 for the others."""
    bandwidths = np.ones(samples.n_columns)
    bandwidths[support], _ = median_bandwidths(samples.columns(support))
    return Linear().with_bandwidths(samples.kinds, bandwidths, constant)


@dataclass(frozen=True)
class Best:
    """The best choice: weights of the candidate columns, groups in it, and what is proved."""

    z: FloatArray
    groups: tuple[int, ...]
    value: float
    upper_bound: float | None
    solver: str
    solutions: Mapping[tuple[int, ...], Solution] = field(default_factory=dict, repr=False)


def best_of(
    evidence: Evidence,
    n_variables: int,
    control: Control,
    solver: str = EXACT,
    earlier: Best | None = None,
) -> Best:
    """Return the candidate columns with the most evidence, and a bound where the solver proves one.

    Bounds of different sets of groups hold for their own choices; the largest holds for all. With
    an `earlier` answer the searches of all sets go on, and share the time that is left.
    """
    best = earlier
    known = {} if earlier is None else earlier.solutions
    bounds: list[float | None] = []
    solutions = dict(known)
    sets = list(sets_of_groups(evidence, n_variables))
    for number, chosen in enumerate(sets):
        # A set that cannot beat the best by more than the gap need not be solved to its end.
        floor = None if best is None else best.value * (1 + control.gap)
        seconds = control.remaining
        if seconds is not None and earlier is not None:
            seconds /= len(sets) - number
        solution = solutions[chosen] = _solved(
            evidence, chosen, n_variables, control, solver, floor, seconds, known.get(chosen)
        )
        bounds.append(solution.upper_bound)
        if best is None or solution.value > best.value:
            z = _column_weights(evidence, chosen, solution.z)
            best = Best(z, chosen, solution.value, None, solution.solver)
        if solution.interrupted:
            # Ctrl-C: the best so far stands, and of the sets not visited nothing is proved.
            bounds.append(None)
            break
    assert best is not None
    proved = [bound for bound in bounds if bound is not None]
    bound = max(proved) if len(proved) == len(bounds) else None
    if bound is not None:
        bound = max(bound, best.value)
    return replace(best, upper_bound=bound, solutions=solutions)


@dataclass(frozen=True, eq=False)
class EvidenceProof:
    """What is left to prove of a choice by evidence; see `tellapart.selection.selection.Proof`."""

    evidence: Evidence
    best: Best
    gap: float

    def resume(
        self, selection: Selection, samples: Samples, control: Control, *, keep: bool
    ) -> Selection:
        """Go on, and return the selection with what is proved by then."""
        number = self.evidence.n_columns
        if selection.n_variables is not None:
            number = min(selection.n_variables, number)
        best, runner_up = best_of(self.evidence, number, control, earlier=self.best), None
        if keep or best.value <= selection.value * (1 + ROUNDING):
            proved = selection.with_bound(best.upper_bound, control)
        else:
            best, runner_up = find_runner_up(selection.names, self.evidence, best, number)
            proved = select_by_evidence(
                samples, self.evidence, best, number, constant=selection.constant, control=control
            )
            proved = replace(
                proved,
                n_variables=selection.n_variables,
                seconds=selection.seconds + proved.seconds,
                drawn_rows=selection.drawn_rows,
                runner_up=runner_up,
                problem=selection.problem,
            )
        if proved.status != "optimal":
            return replace(proved, proof=replace(self, best=best))
        proved = replace(proved, proof=None)
        return proved if proved.problem is None else proved.problem.look_around(proved, control)


def enough_variables(evidence: Evidence, control: Control) -> int:
    """Return the least number of variables that carry nearly all the evidence of ten.

    More variables carry no less, so that halving the numbers in question finds it.
    """
    most = min(MOST_VARIABLES, evidence.n_columns)
    least = ENOUGH * best_of(evidence, most, control, HEURISTIC).value
    too_few, enough = 0, most
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if best_of(evidence, middle, control, HEURISTIC).value >= least:
            enough = middle
        else:
            too_few = middle
    return enough


def select_by_evidence(
    samples: Samples,
    evidence: Evidence,
    best: Best,
    n_variables: int,
    *,
    constant: Sequence[str],
    control: Control,
    drawn: bool = False,
) -> Selection:
    """Return the best choice of at most `n_variables` variables as a selection.

    `drawn` says that the samples are themselves rows drawn from more.

    Its kernel is the one that sees what was chosen: linear, or Gaussian where dependence was.
    """
    z = np.zeros(samples.n_columns)
    z[evidence.columns] = best.z
    all_rows = (samples.n_x, samples.n_y)
    support = np.flatnonzero(z)
    reasons = dict(zip(evidence.columns.tolist(), evidence.reasons, strict=True))
    groups = [evidence.groups[g].columns for g in best.groups]
    return Selection(
        support=support,
        z=z,
        value=best.value,
        upper_bound=best.upper_bound,
        status=control.status(best.value, best.upper_bound),
        solver=best.solver,
        seconds=control.elapsed,
        kernel=Gaussian.name if groups else Linear.name,
        names=samples.names,
        regularization=0.0,
        constant=tuple(constant),
        nonnegative=True,
        objective=EVIDENCE,
        n_variables=n_variables,
        reasons=tuple(_reason(s, groups, reasons, samples.names) for s in support.tolist()),
        substitutes=find_substitutes(samples.names, evidence, support),
        n_candidates=evidence.n_columns,
        drawn_rows=evidence.n_rows if drawn or evidence.n_rows != all_rows else None,
        groups=tuple(groups),
    )


def _solved(
    evidence: Evidence,
    chosen: tuple[int, ...],
    n_variables: int,
    control: Control,
    solver: str,
    floor: float | None,
    seconds: float | None,
    earlier: Solution | None,
) -> Solution:
    """Solve the problem in which these groups, and no others, may have weights."""
    return solve(
        problem_of(evidence, chosen, n_variables),
        solver=solver,
        gap=control.gap,
        # Each set gets its first bound, however late: without it nothing would be proved of any.
        time_limit=None if seconds is None else max(seconds, LEAST_SECONDS),
        random_state=control.rng,
        progress=control.progress,
        floor=floor,
        resume=earlier,
    )


def _column_weights(evidence: Evidence, chosen: tuple[int, ...], z: FloatArray) -> FloatArray:
    """Return weights of length 1 of the columns: a group's square is shared by its members."""
    squares = z[: evidence.n_columns] ** 2
    for group, weight in zip(chosen, z[evidence.n_columns :], strict=True):
        members = np.flatnonzero(np.isin(evidence.columns, evidence.groups[group].columns))
        squares[members] += weight**2 / members.size
    weights = np.sqrt(squares)
    return np.asarray(weights / np.linalg.norm(weights))


def _reason(
    column: int, groups: list[tuple[int, ...]], reasons: dict[int, str], names: tuple[str, ...]
) -> str:
    """Say what a chosen column differs in: by itself, or in how it depends on others."""
    partners = sorted({other for group in groups if column in group for other in group} - {column})
    if not partners:
        return reasons[column]
    return "dependence on " + " and ".join(names[other] for other in partners)


def find_substitutes(
    names: tuple[str, ...], evidence: Evidence, support: IntArray
) -> dict[str, tuple[str, ...]]:
    """Return for each chosen column those it is interchangeable with, the most similar first.

    A column is interchangeable if what it differs in is correlated with what the chosen one differs
    in, r² ≥ ½ within the samples and in the same direction, and if its own evidence is not far
    below.
    """
    substitutes: dict[str, tuple[str, ...]] = {}
    positions = {column: position for position, column in enumerate(evidence.columns.tolist())}
    count = evidence.n_columns
    others = ~np.isin(evidence.columns, support)
    for column in support.tolist():
        chosen = positions[column]
        alike = evidence.likeness[chosen, :count]
        strong = evidence.strengths[:count] >= AS_STRONG * evidence.strengths[chosen]
        close = np.flatnonzero(others & strong & (alike >= ALIKE**0.5))
        close = close[np.argsort(-alike[close], kind="stable")]
        if close.size:
            substitutes[names[column]] = tuple(names[c] for c in evidence.columns[close])
    return substitutes


def find_runner_up(
    names: tuple[str, ...], evidence: Evidence, best: Best, n_variables: int
) -> tuple[Best, RunnerUp | None]:
    """Return the best choice met, and the next best one that swaps find; None if there is no other.

    A search that ended early may have missed a better choice than it returned. If one is met
    here, it takes over, and what is next best to it is searched for in its turn.

    Parameters
    ----------
    names : tuple of str
        Names of all columns.
    evidence : Evidence
        What can be chosen.
    best : Best
        The choice made.
    n_variables : int
        The largest number of variables.
    """
    if evidence.n_columns < 2 or best.value <= 0:
        return best, None
    while True:
        chosen = np.flatnonzero(best.z).tolist()
        without = {position: _best_without(evidence, position, n_variables) for position in chosen}
        next_best = max(without.values(), key=lambda alternative: alternative.value)
        if next_best.value <= best.value * (1 + ROUNDING):
            break
        # The bound is proved for every choice, this one included.
        bound = None if best.upper_bound is None else max(best.upper_bound, next_best.value)
        best = replace(best, **_point(next_best), upper_bound=bound)
    support = np.flatnonzero(next_best.z).tolist()

    def named(positions: list[int]) -> tuple[str, ...]:
        return tuple(names[s] for s in evidence.columns[positions])

    return best, RunnerUp(
        variables=named(support),
        share=_share(next_best, best),
        left_out=named([s for s in chosen if s not in support]),
        taken_in=named([s for s in support if s not in chosen]),
        without={
            names[evidence.columns[position]]: _share(alternative, best)
            for position, alternative in without.items()
        },
    )


def _share(alternative: Best, best: Best) -> float:
    """Return the evidence of a choice as a share of that of the best, no more than all of it."""
    return min(float(alternative.value / best.value), 1.0)


def _best_without(evidence: Evidence, position: int, n_variables: int) -> Best:
    """Return the best choice that swaps find without one candidate column."""
    kept = np.flatnonzero(np.arange(evidence.n_columns) != position)
    column = evidence.columns[position]
    groups = [g for g, group in enumerate(evidence.groups) if column not in group.columns]
    others = _part(evidence, kept, groups)
    # A control of its own: the draws of whatever comes after stay what they are.
    alternative = best_of(others, min(n_variables, others.n_columns), Control(), HEURISTIC)
    z = np.zeros(evidence.n_columns)
    z[kept] = alternative.z
    return replace(alternative, z=z, groups=tuple(groups[g] for g in alternative.groups))


def _part(evidence: Evidence, kept: IntArray, groups: list[int]) -> Evidence:
    """Return the evidence of some columns and groups."""
    index = np.append(kept, evidence.n_columns + np.array(groups, dtype=np.intp)).astype(np.intp)
    return replace(
        evidence,
        columns=evidence.columns[kept],
        groups=tuple(evidence.groups[g] for g in groups),
        strengths=evidence.strengths[index],
        shared=evidence.shared[np.ix_(index, index)],
        likeness=evidence.likeness[np.ix_(index, index)],
        reasons=tuple(evidence.reasons[s] for s in kept),
    )
