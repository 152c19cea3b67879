"""How many rows are needed for a power: from a pilot, or from named effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tellapart.arguments import (
    check_choice,
    check_integer,
    check_n_jobs,
    check_random_state,
    settings_from,
)
from tellapart.data.missing import POLICIES
from tellapart.data.reader import read_samples
from tellapart.data.samples import Kind, Samples
from tellapart.errors import InputError
from tellapart.interrupts import interruptible
from tellapart.planning.named_effects import EffectsOnRows, NamedEffects, check_effects
from tellapart.planning.plan import SamplePlan
from tellapart.planning.planner import Planner
from tellapart.planning.settings import PlanSettings
from tellapart.planning.simulation import RowSource
from tellapart.progress import Progress, check_progress, progress_reporter
from tellapart.threads import blas_threads


@interruptible()
def plan_sample_size(
    X: object = None,
    Y: object = None,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    target: str = "test",
    effects: Mapping[str, float] | None = None,
    n_columns: int | None = None,
    n_differing: int = 1,
    distribution: str = "normal",
    correlation: float = 0.0,
    method: str = "scan",
    n_variables: int | None = None,
    ratio: float | None = None,
    confidence: float = 0.9,
    n_simulations: int = 240,
    n_permutations: int = 999,
    most_rows: int = 20_000,
    missing: str = "error",
    keep: Sequence[str] = (),
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
) -> SamplePlan:
    """Predict how many rows `two_sample_test` needs to see a difference, with an interval.

    From *named effects* tables with these effects are simulated and tested at several sizes, and a
    curve P(ñ) = Φ(Φ⁻¹(α) + (ñ/s)^k) is fitted to the rejections, ñ = 2mn/(m + n).

    From a *pilot* (X and Y) tables are drawn from its rows. A plain bootstrap would take the
    pilot's noise for a difference; here the populations differ w times as much as the pilot, w
    such that tables of the pilot's size show as much evidence as the pilot does in half of all
    cases. The limits are the w at which 5 % and 95 % of them do. The limits of power and rows
    follow from those of w, since a test sees w² times the rows.

    Parameters
    ----------
    X, Y : table or array
        The two samples of a pilot, or X alone with `effects`: rows to draw from.
    power, alpha : float
        The target power, and the level of the test.
    target : {"test", "named"}
        What is to have that power. "test": the test rejects. "named": a column (or pair) that
        differs is among those named, with an adjusted p-value of at most alpha: averaged over
        those that differ, and with a pilot, where these are unknown, that any column is named.
    effects : mapping
        "location": difference of the means in standard deviations; "spread": ratio of standard
        deviations; "correlation": difference of the correlations of a pair. Columns of X whose
        values repeat (flags, scores, counts) keep these values: their probabilities change,
        by the smallest change (in Kullback-Leibler divergence) that gives the mean and the ratio
        wanted. Of categories, the effect on location is that on the share of the most frequent one
        (of True, or of the last, where there are two).
    n_columns, n_differing : int
        With `effects`: columns of the tables, and how many of them (or pairs) differ.
    distribution, correlation : str, float
        With `effects` and no X: of every column ("normal", "heavy-tailed", "skewed", "uniform"),
        and of every two columns.
    method : {"scan", "split"}
        The test to plan for. "split" with `n_variables` left out takes long.
    n_variables : int or None
        With "split": variables to choose.
    ratio : float or None
        Rows of Y for each row of X; None: that of the pilot, or 1.
    confidence : float
        Of the limits.
    n_simulations : int
        Tests to simulate for a curve: twice as many for a pilot.
    n_permutations : int
        Permutations of a simulated test, as many as the planned test has: fewer have less power,
        and plans by them ask for too many rows.
    most_rows : int
        The largest sample to look at.
    missing : str
        What to do about missing values: "error", "drop-rows" or "drop-columns". Power is predicted
        for what is there; the pattern of what is missing is not planned for.
    keep : sequence of str
        As in `tellapart.two_sample_test`: columns that look like identifiers are left out, and
        dates are split into parts, as in the test that is planned.
    random_state, n_jobs, progress
        As in `tellapart.two_sample_test`.

    Returns
    -------
    SamplePlan
        Rows, limits, predictions, `summary()`, `plot()`, `to_frame()`, `to_dict()`.

    Examples
    --------
    >>> plan = plan_sample_size(effects={"location": 1.0}, n_columns=3, random_state=0,
    ...                         n_simulations=45, n_permutations=39)
    >>> bool(12 < plan.n_x < 60)
    True
    """
    settings = settings_from(PlanSettings, locals())
    check_progress(progress)
    rng = check_random_state(random_state)
    threads = blas_threads() if n_jobs is None else check_n_jobs(n_jobs)
    sizes_of_effects = None if effects is None else check_effects(effects)
    if sizes_of_effects is None and (X is None or Y is None):
        raise InputError(
            "X and Y must be the two samples of a pilot, or effects must be named; got "
            f"{'neither' if X is None and Y is None else 'one sample'} and no effects"
        )
    if sizes_of_effects is not None and Y is not None:
        raise InputError(
            "effects must be left out with a pilot of two samples; give X alone to put effects on "
            "its rows"
        )
    with progress_reporter(progress) as report:
        if sizes_of_effects is None:
            pilot = _complete(X, Y, missing, keep)
            return Planner(settings, pilot, rng, threads, report).from_pilot()
        population: NamedEffects | EffectsOnRows
        if X is None:
            if n_columns is None:
                raise InputError("n_columns must say how many columns there are; got None")
            population = NamedEffects(
                sizes_of_effects, n_columns, n_differing, distribution, correlation
            )
            rows = _blank(n_columns)
        else:
            if n_columns is not None:
                raise InputError("n_columns must be left out where X has columns of its own")
            # Read twice as both samples: one door for every kind of table.
            rows = _complete(X, X, missing, keep)
            # As the source of rows it is one sample: a value that occurs once is not tied.
            once = rows.rows(np.arange(rows.n_x), np.arange(0))
            population = EffectsOnRows(RowSource.of(once), sizes_of_effects, n_differing)
        return Planner(settings, rows, rng, threads, report).from_effects(population)


def _complete(X: object, Y: object, missing: str, keep: Sequence[str]) -> Samples:
    """Return samples without gaps: rows drawn from them have no pattern of missing values."""
    check_choice("missing", missing, [policy for policy in POLICIES if policy != "pairwise"])
    return replace(read_samples(X, Y, missing=missing, keep=keep), as_read=None)


def _blank(n_columns: int) -> Samples:
    """Return samples without rows whose columns are those of the tables to come."""
    check_integer("n_columns", n_columns, 1)
    rows = np.empty((0, n_columns))
    kind: Kind = "numeric"
    return Samples(rows, rows, tuple(f"x{i}" for i in range(n_columns)), (kind,) * n_columns)
