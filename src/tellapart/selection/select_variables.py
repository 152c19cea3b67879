"""The public face of selection: two tables in, the variables that differ most out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tellapart.arguments import check_integer, check_labels, check_random_state, settings_from
from tellapart.data.hints import warn_of_input
from tellapart.data.reader import read_chunked, read_samples
from tellapart.data.samples import Samples
from tellapart.data.sources import is_chunked
from tellapart.evidence.evidence import judged_by_draw
from tellapart.interrupts import interruptible
from tellapart.kernels import Kernel
from tellapart.progress import Progress, Stage, progress_reporter
from tellapart.scan.differences import find_differences
from tellapart.search import Annealing
from tellapart.selection.by_evidence import weigh_evidence
from tellapart.selection.changes import with_changes
from tellapart.selection.pipeline import tune_fit_choose
from tellapart.selection.selection import Selection
from tellapart.selection.settings import SelectionSettings
from tellapart.selection.tuning import Chosen
from tellapart.strs import Solver


@interruptible()
def select_variables(
    X: object,
    Y: object,
    n_variables: int,
    *,
    kernel: str | Kernel = "auto",
    regularization: float | str = "auto",
    objective: str = "auto",
    nonnegative: bool = True,
    solver: str | Solver | Annealing = "auto",
    gap: float = 1e-4,
    time_limit: float | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
    missing: str = "error",
    keep: Sequence[str] = (),
    estimator: str = "unbiased",
    labels: tuple[str, str] = ("X", "Y"),
) -> Selection:
    """Choose the variables whose distributions differ most between two samples.

    By default the choice is by evidence: how strong it is that each column differs (in location,
    spread or shape) and that the dependence of pairs and triples differs, and how much of it they
    share. z ≥ 0 maximises eᵀz/√(zᵀMz), the joint evidence of at most `n_variables` columns. With
    a kernel it maximises F(z) = MMD²(z) − λ σ²(z) over ‖z‖₂ = 1. Either way the result reports how
    far from the optimum the choice can be. All rows are used, so a test on the same rows would be
    too optimistic: for a p-value use `two_sample_test`.

    Parameters
    ----------
    X, Y : array, table, or data in chunks
        The two samples; columns are matched by name where there are names. Of data in chunks
        (`tellapart.open_dataset`, pyarrow datasets, Dask) the linear kernel takes all rows, and
        evidence all rows for single columns; other kernels take rows drawn at random.
    n_variables : int
        The largest number of variables, d.
    kernel : str or Kernel
        "auto": by evidence. Or "linear", "quadratic" or "gaussian", or a kernel object such as
        `tellapart.kernels.Gaussian(bandwidth="cv")`; with a λ, solver or objective of the linear
        kernel, or with signed weights, "auto" means that one.
    regularization : "auto", "cv" or float
        With a kernel: λ ≥ 0, how much variance counts against a choice. "auto" is 1 for the
        Gaussian kernel and others that average over columns and 0.1 else, "cv" chooses it by
        cross-validation.
    objective : str
        "auto"; "evidence"; "regularized", F as above; or "ratio": aᵀz/√(zᵀ(V + r·v·I)z) with a
        and V of the linear kernel, v the median of V's diagonal and r = `regularization` (3 by
        default), under which copies of one variable take fewer places from others.
    nonnegative : bool
        Whether weights must be at least 0. K_z is a kernel only then; False gives the paper's
        signed weights.
    solver : str, Solver or Annealing
        "auto", which picks by kernel and size; a name in `tellapart.strs.SOLVERS` for the linear
        kernel, and for the quadratic one's problem at λ = 0; "annealing" or settings of
        `tellapart.search.Annealing` for all kernels but the linear one.
    gap : float
        The relative gap at which the proof of optimality may stop.
    time_limit : float or None
        Seconds after which the solver stops with the best choice so far. None gives a proof of
        optimality ten seconds, a search without a proof all the time it needs, and the proof that
        follows a search among few columns as long as the search took, or a second.
    random_state : int, numpy Generator or None
        Seeds the solver's random starts.
    n_jobs : int or None
        Threads; −1 is every core.
    progress : bool or callable
        True for a display on standard error, or a function of (stage, detail).
    missing : str
        What to do about missing values; see `tellapart.data.reader.read_samples`.
    keep : sequence of str
        Columns of tables that may be chosen although they look like identifiers; such columns are
        left out otherwise, with a warning.
    estimator : "unbiased" or "paired"
        "paired" is the paper's form, for samples with the same number of rows.
    labels : pair of str
        Names of the two samples in descriptions of what differs.

    Returns
    -------
    Selection
        Variables, weights, what each differs in (`changes`), objective, bound and status.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> Y = rng.normal(size=(80, 5)) + [0, 2, 0, 0, 2]
    >>> select_variables(X, Y, 2, random_state=0).support.tolist()
    [1, 4]
    """
    settings = settings_from(SelectionSettings, locals())
    check_integer("n_variables", n_variables, 1)
    names = check_labels(labels)
    # One generator: tuning draws only where a bandwidth is left to it.
    rng = check_random_state(settings.random_state)
    reading = Stage("read")
    with progress_reporter(settings.progress) as report:
        if is_chunked(X) or is_chunked(Y):
            # A kernel tunes with the same numbers as in memory, where no rows are drawn before.
            drawing = rng if settings.by_evidence else rng.spawn(1)[0]
            seed = int(drawing.integers(2**63))
            samples = read_chunked(
                X,
                Y,
                missing=missing,
                keep=keep,
                seed=seed,
                progress=lambda rows: report("read", f"{rows:,} rows"),
            )
            settings.check_against(samples)
        else:
            samples = read_samples(X, Y, missing=missing, keep=keep)
            settings.check_against(samples)
            if settings.by_evidence and judged_by_draw(samples):
                samples = replace(samples, seed=int(rng.integers(2**63)))
        reading.done(samples.described_size)
        warn_of_input(X, Y, samples, ("X", "Y"))
        chosen = _choose(samples, settings, rng, report)
    # A proof goes on in a result only: what its search holds is not kept here.
    return replace(describe_changes(chosen, samples).labelled(names), proof=None)


def _choose(
    samples: Samples,
    settings: SelectionSettings,
    rng: np.random.Generator,
    progress: Progress,
) -> Chosen:
    """Choose by a kernel, or by evidence, which judges single columns by all rows."""
    if not settings.by_evidence:
        return tune_fit_choose(samples, settings, tune_rng=rng, solve_rng=rng, progress=progress)
    drawn = samples.drawn if judged_by_draw(samples) else samples.held
    differences = None
    if (drawn.n_x, drawn.n_y) != samples.n_values:
        differences = find_differences(samples, settings.threads)
    return weigh_evidence(drawn, settings, rng=rng, progress=progress, differences=differences)


def describe_changes(chosen: Chosen, samples: Samples) -> Selection:
    """Return the selection with what its variables differ in, by all rows."""
    joint = not chosen.kernel.abilities.short_features
    return with_changes(chosen.selection, samples, joint=joint)
