"""The choice itself: checked samples and a fitted kernel in, Selection out."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.row_order import canonical_order, in_order
from tellapart.data.samples import Samples
from tellapart.kernels import Kernel
from tellapart.kernels.bandwidth import adds_up, fit_on_draw, with_multiplier
from tellapart.kernels.base import FittedKernel
from tellapart.progress import Progress, Stage, silent, solver_progress
from tellapart.search.choice import Choice, OpenCertificate, OpenProblem, Solvers, choose_weights
from tellapart.search.starts import Start, equal
from tellapart.selection.alternatives import Alternatives
from tellapart.selection.selection import Selection
from tellapart.selection.settings import SelectionSettings, check_varying
from tellapart.statistics.coefficients import (
    LinearCoefficients,
    coefficients_in_chunks,
    linear_part,
)
from tellapart.strs import SparseRatio, SparseTrustRegion
from tellapart.strs.contract import Control
from tellapart.strs.near_optimal import collect, threshold_of


def choose(
    samples: Samples,
    kernel: FittedKernel,
    n_variables: int,
    regularization: float,
    settings: SelectionSettings,
    *,
    rng: np.random.Generator,
    time_limit: float | None = None,
    progress: Progress = silent,
    solvers: Solvers | None = None,
    groups: Sequence[tuple[int, ...]] = (),
    coefficients: LinearCoefficients | None = None,
) -> Selection:
    """Choose variables of checked samples with a fitted kernel; see `tellapart.select_variables`.

    Columns that `kernel` found constant are left out of the problem and named in a warning.

    Parameters
    ----------
    samples : Samples
        The two samples.
    kernel : FittedKernel
        The kernel of their columns.
    n_variables, regularization : int, float
        d and λ.
    settings : SelectionSettings
        Objective, sign of the weights, estimator, gap and threads.
    rng : numpy Generator
        Random steps of the solver.
    time_limit : float or None
        Seconds that are left for the choice.
    progress : callable
        Called with what is being done.
    solvers : Solvers or None
        Other solvers than those of the settings.
    groups : sequence of int tuples
        Columns to search from, beside those that the data suggest.
    coefficients : LinearCoefficients or None
        Those of the columns that vary, where they are known already.
    """
    progress("select", "computing coefficients")
    stage = Stage("select")
    n_jobs = settings.threads
    keep = check_varying(samples, kernel.constant)
    varying = samples.columns(keep)
    # A search draws rows and starts: by content, so that the order of the table says nothing.
    order = None if kernel.abilities.exact else canonical_order(varying, n_jobs)
    if order is not None:
        keep = keep[order.columns]
        varying = in_order(varying, order).columns(order.columns)
    choice = choose_weights(
        varying,
        kernel.columns(keep),
        min(n_variables, keep.size),
        regularization,
        solvers=settings.solvers if solvers is None else solvers,
        control=Control(
            gap=settings.gap,
            time_limit=time_limit,
            rng=rng,
            progress=solver_progress(progress, "select"),
        ),
        n_jobs=n_jobs,
        estimator=settings.estimator,
        known=_starts(groups, keep, n_variables),
        nonnegative=settings.nonnegative,
        objective=settings.kernel_objective,
        coefficients=coefficients,
    )
    if order is not None and order.swapped and choice.drawn_rows is not None:
        n_x, n_y = choice.drawn_rows
        choice = replace(choice, drawn_rows=(n_y, n_x))
    selection = _selection_of(choice, samples, kernel, keep, n_variables)
    chosen = f"{selection.support.size:,} of {samples.n_columns:,} variables"
    stage.done(f"{chosen}; {selection.certificate}")
    return replace(
        selection,
        regularization=regularization,
        nonnegative=settings.nonnegative,
        objective=settings.kernel_objective,
    )


def _selection_of(
    choice: Choice, samples: Samples, kernel: FittedKernel, keep: IntArray, n_variables: int
) -> Selection:
    """Return a choice of weights for the columns `keep` as a selection among all columns."""
    z = np.zeros(samples.n_columns)
    z[keep] = choice.z
    proof = None if choice.proof is None else KernelProof(choice.proof, keep)
    problem = None if choice.problem is None else KernelProblem(choice.problem, keep)
    return Selection(
        **{**vars(choice), "z": z, "proof": proof, "problem": problem},
        support=np.flatnonzero(z),
        kernel=kernel.name,
        names=samples.names,
        regularization=0.0,
        constant=tuple(samples.names[s] for s in np.flatnonzero(kernel.constant)),
        n_variables=n_variables,
    )


@dataclass(frozen=True, eq=False)
class KernelProof:
    """What is left to prove of a choice by a kernel; see `tellapart.selection.selection.Proof`.

    `columns` are those of the problem, among all columns.
    """

    left: OpenProblem | OpenCertificate
    columns: IntArray

    @property
    def gap(self) -> float:
        """The relative gap at which it is complete."""
        return self.left.gap

    def resume(
        self,
        selection: Selection,
        samples: Samples,  # noqa: ARG002
        control: Control,
        *,
        keep: bool,
    ) -> Selection:
        """Go on, and return the selection with what is proved by then."""
        left = self.left.resume(control)
        solution = left.solution
        if not keep and solution.value > selection.value:
            z = np.zeros(selection.z.size)
            z[self.columns] = solution.z
            selection = replace(
                selection, z=z, support=np.flatnonzero(z), value=solution.value, changes={}
            )
        proved = selection.with_bound(solution.upper_bound, control)
        is_open = proved.status != "optimal"
        return replace(proved, proof=replace(self, left=left) if is_open else None)


@dataclass(frozen=True, eq=False)
class KernelProblem:
    """The problem that a choice by a kernel solves; see `tellapart.selection.selection`.

    `columns` are those of the problem, among all columns.
    """

    problem: SparseTrustRegion | SparseRatio
    columns: IntArray

    def alternatives(self, selection: Selection, within: float, control: Control) -> Alternatives:
        """Return all choices that are nearly as good as an optimal one."""
        return Alternatives.of(
            collect(self.problem, threshold_of(selection.value, within), control),
            [selection.names[s] for s in self.columns.tolist()],
            value=selection.value,
            is_optimal=selection.status == "optimal",
            within=within,
            n_variables=self.problem.d,
            seconds=control.elapsed,
        )

    def look_around(self, selection: Selection, control: Control) -> Selection:  # noqa: ARG002
        """Return the selection as it is: it has no runner-up."""
        return selection


def _starts(
    groups: Sequence[tuple[int, ...]], keep: IntArray, n_variables: int
) -> tuple[Start, ...]:
    """Return equal weights on each group of columns that all vary and are not too many."""
    starts = []
    for group in groups:
        positions = np.flatnonzero(np.isin(keep, group))
        if 0 < positions.size == len(group) <= n_variables:
            starts.append(Start(f"found {len(group)}", equal(positions, keep.size)))
    return tuple(starts)


# The best choice of the linear kernel at λ = 0 with weights of at least 0, in closed form.


def best_linear_weights(a: FloatArray, n_variables: int, nonnegative: bool = True) -> FloatArray:
    """Return z of length 1 with at most `n_variables` non-zeros that maximises aᵀz: z ∝ a on top.

    With z ≥ 0 only positive a_s count; where none is, the largest of them alone is the best.

    Examples
    --------
    >>> import numpy as np
    >>> best_linear_weights(np.array([3.0, -9.0, 4.0, 1.0]), 2).tolist()
    [0.6, 0.0, 0.8, 0.0]
    """
    gains = a if nonnegative else np.abs(a)
    top = np.argsort(-gains, kind="stable")[:n_variables]
    if nonnegative:
        top = top[: max(np.count_nonzero(a[top] > 0), 1)]
    z = np.zeros(a.shape[0])
    length = float(np.linalg.norm(a[top]))
    if length > 0 and gains[top[0]] > 0:
        z[top] = a[top] / length
    else:
        z[top] = 1.0 / math.sqrt(top.size)
    return z


def choose_nonnegative(
    samples: Samples,
    kernel: FittedKernel,
    n_variables: int,
    n_jobs: int,
    coefficients: LinearCoefficients | None = None,
) -> Selection:
    """Return z ≥ 0 with at most `n_variables` non-zeros that maximises aᵀz: z_s ∝ a_s > 0.

    Columns that `kernel` found constant are left out and named in a warning. `coefficients` are
    those of the others, where they are known already.
    """
    started = time.perf_counter()
    keep = check_varying(samples, kernel.constant)
    a = linear_part(samples, kernel, n_jobs)[keep] if coefficients is None else coefficients.a
    weights = best_linear_weights(a, min(n_variables, keep.size))
    value = float(a @ weights)
    # A sum of n squares is off by less than n units in the last place.
    bound = value + (keep.size + 4) * np.finfo(np.float64).eps * abs(value)
    seconds = time.perf_counter() - started
    choice = Choice(weights, value, bound, "optimal", "closed form", seconds)
    selection = _selection_of(choice, samples, kernel, keep, n_variables)
    return replace(selection, nonnegative=True)


# The linear kernel of samples in chunks, with its coefficients summed over all their rows.


FEW_ROWS = 50


@dataclass(frozen=True)
class SummedKernel:
    """A kernel frozen on drawn rows, and a and V over all rows of the columns that vary."""

    kernel: FittedKernel
    coefficients: LinearCoefficients


def sums_add_up(samples: Samples, kernel: Kernel) -> bool:
    """Say whether a choice with the kernel can be made of sums over chunks.

    Not where the kernel is no sum over columns, not with Laplace kernels, which need every value,
    and not where values are missing: what is missing is filled in among drawn rows, and those
    choose.
    """
    if samples.pattern is not None or not kernel.abilities.fast_sums:
        return False
    # Any bandwidth shows it.
    rows = np.arange(min(FEW_ROWS, samples.drawn.n_x, samples.drawn.n_y))
    return adds_up(with_multiplier(kernel, 1.0).fit(samples.drawn.rows(rows, rows)))


def sum_over_chunks(
    samples: Samples,
    kernel: Kernel,
    *,
    n_jobs: int,
    progress: Progress,
    with_variance: bool = True,
) -> SummedKernel | None:
    """Fit the kernel on drawn rows and sum its coefficients over all rows.

    None for kernels whose sums do not add up over chunks: see `sums_add_up`.
    """
    if not sums_add_up(samples, kernel):
        return None
    fitted = fit_on_draw(kernel, samples, n_jobs=n_jobs)
    summed = coefficients_in_chunks(
        samples, fitted, n_jobs=n_jobs, with_variance=with_variance, progress=progress
    )
    return SummedKernel(*summed)
