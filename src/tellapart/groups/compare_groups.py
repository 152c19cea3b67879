"""More than two groups: every group against the rest, or every pair, with one honest level."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from tellapart.arguments import check_choice, check_integer, check_random_state
from tellapart.data.design_labels import DesignArguments
from tellapart.data.grouping import read_grouped, refuse_pairs_with_rest
from tellapart.data.missing import POLICIES
from tellapart.errors import InputError
from tellapart.groups.profile import profile_groups
from tellapart.groups.result import GroupsResult
from tellapart.groups.runs import MODES, plan_comparisons, reasons_of, run_comparisons
from tellapart.interrupts import interruptible
from tellapart.kernels import Kernel
from tellapart.progress import Progress
from tellapart.strs import Solver
from tellapart.two_sample.settings import TestSettings

USUAL_PERMUTATIONS = 999
# Permutations in multiples of those without which no adjusted p-value could reach the level.
PERMUTATIONS_TO_SPARE = 2


@interruptible()
def compare_groups(
    table: object,
    by: object,
    *,
    mode: str = "one-versus-rest",
    groups: Iterable[object] | None = None,
    strata: object = None,
    paired: bool | str | Sequence[object] = False,
    clusters: object = None,
    method: str = "scan",
    n_variables: int | None = None,
    kernel: str | Kernel = "auto",
    regularization: float | str = "cv",
    solver: str | Solver = "auto",
    test_size: float = 0.5,
    n_permutations: int | None = None,
    alpha: float = 0.05,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
    missing: str = "error",
    keep: Sequence[str] = (),
    gap: float = 1e-4,
    time_limit: float | None = None,
    memory_budget: float | None = None,
) -> GroupsResult:
    """Test which groups of a table differ, and in what each of them does.

    One `two_sample_test` per comparison, and Holm's adjusted p-values over all of them:
    rejecting where the adjusted p-value is at most `alpha`, the chance of any false rejection
    is at most `alpha`, in finite samples and although the comparisons share rows.

    Beyond a hundred columns, and up to 4,000 rows, comparisons with the rest share their
    permutations: random orders of all rows, the first n of which count as a group of n rows. The
    orders know no labels, so each p-value is exact by itself, and Holm's adjustment asks for no
    more. Where columns are many, all are compared by location, and as many as the work allows in
    full; the notes of a result's scan tell.

    The p-values of findings and variables are adjusted within their comparison, not over all
    comparisons: to be as sure of all findings together, believe those with p ≤ alpha divided by
    the number of comparisons.

    Parameters
    ----------
    table : table, AnnData, array or sparse matrix
        All the rows.
    by : str, or sequence of labels
        The column that names the group of each row (a column of `obs` for AnnData); it is not
        compared. Or the labels themselves, one per row.
    mode : {"one-versus-rest", "pairwise"}
        Every group against all other rows, or every pair of groups. Two groups are one pair
        either way: each against the rest would be the same test twice.
    groups : iterable of labels, or None
        The groups to compare, all if None. Against the rest, the rest is still all other rows.
    strata, clusters : str, label array, or None
        Labels are permuted within strata, or as whole clusters, in every comparison: see
        `two_sample_test`. A column of the table (of `obs` for AnnData), which is then not compared,
        or the labels themselves, one per row.
    paired : str, label array, or False
        The key of rows that belong together, one of each group: two groups trade the labels of
        rows with the same key. Not for more than two groups against the rest.
    n_permutations : int or None
        Permutations per comparison. None is 999, or more where so many comparisons need them
        for any adjusted p-value to reach `alpha`: at least 2·(comparisons)/alpha.
    random_state : int, numpy Generator or None
        The seed of each comparison is derived from this and from its two labels, so it does not
        depend on the other groups or their order. It is found in the settings of its result.
    n_jobs : int or None
        Threads; −1 is every core. Comparisons run side by side, one thread each, or one after the
        other with a time limit and where memory would not do.
    missing : {"error", "pairwise", "drop-rows", "drop-columns"}
        What to do about missing values; which columns are left out is settled once for the whole
        table. Rows without a label are an error, or left out with "pairwise" and "drop-rows": of
        an unknown group, they belong to no rest.
    keep, method, n_variables, kernel, regularization, solver, test_size, alpha, progress, gap
        As in `two_sample_test`.
    time_limit, memory_budget : float or None
        Seconds and bytes for each comparison, as in `two_sample_test`.

    Returns
    -------
    GroupsResult
        `comparisons`, `results`, `summary()`, `to_frame()`, `to_html(path)`, …; groups of
        fewer than 2 rows, or 4 with a split, are in `skipped` (their rows still count among
        the rest of others).

    Examples
    --------
    >>> import numpy as np, tellapart as ta
    >>> rng = np.random.default_rng(0)
    >>> kind = np.repeat(["B", "NK", "T"], 60)
    >>> values = rng.normal(size=(180, 4))
    >>> values[kind == "T", 2] += 3
    >>> result = ta.compare_groups(values, kind, mode="pairwise", random_state=0)
    >>> for c in result.comparisons:
    ...     print(c.group, c.against, c.reject, c.difference)
    B NK False
    B T True One mean differs (x2).
    NK T True One mean differs (x2).
    """
    started = time.perf_counter()
    check_choice("mode", mode, MODES)
    policy = check_choice("missing", missing, POLICIES)
    given = None if n_permutations is None else check_integer("n_permutations", n_permutations, 1)
    settings = TestSettings(
        method=method,
        n_variables=n_variables,
        kernel=kernel,
        regularization=regularization,
        solver=solver,
        test_size=test_size,
        n_permutations=given or _enough(1, alpha),
        alpha=alpha,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
        gap=gap,
        time_limit=time_limit,
        memory_budget=memory_budget,
        design=DesignArguments(strata, paired, clusters),
    )
    grouped = read_grouped(table, by, keep=keep, design=settings.design).without_missing(policy)
    if settings.n_variables is not None:
        check_integer("n_variables", settings.n_variables, 1, len(grouped.compared))
    plan = plan_comparisons(grouped, mode, groups, settings.fewest_rows)
    pairs = plan.pairs
    if any(pair.against is None for pair in pairs):
        refuse_pairs_with_rest(grouped)
    settings = replace(settings, n_permutations=_n_permutations(given, len(pairs), settings.alpha))
    if not isinstance(settings.random_state, int):
        rng = check_random_state(settings.random_state)
        settings = replace(settings, random_state=int(rng.integers(2**32)))
    comparisons, failed = run_comparisons(grouped, pairs, settings, policy)
    if not comparisons:
        raise InputError(f"table must allow a comparison of groups; {reasons_of(failed)}")
    profile = profile_groups(grouped, comparisons)
    return GroupsResult(
        comparisons=tuple(comparisons),
        skipped=(*plan.skipped, *failed),
        by=grouped.by,
        mode=plan.mode,
        alpha=settings.alpha,
        sizes=dict(zip(grouped.labels, grouped.sizes, strict=True)),
        n_unlabelled=grouped.n_unlabelled,
        dropped_rows=dict(zip(grouped.labels, grouped.dropped_rows, strict=False)),
        dropped_columns=grouped.dropped_columns,
        n_columns=len(grouped.compared),
        column_notes=grouped.notes,
        settings={**settings.to_dict(), "mode": mode, "by": grouped.by, "missing": policy},
        seconds=time.perf_counter() - started,
        profile=profile,
        library=grouped.library,
    )


def _enough(n_comparisons: int, alpha: object) -> int:
    """Return permutations enough for the least adjusted p-value to reach alpha."""
    if not isinstance(alpha, float) or not 0 < alpha < 1:
        return USUAL_PERMUTATIONS  # the settings refuse it
    return max(USUAL_PERMUTATIONS, math.ceil(PERMUTATIONS_TO_SPARE * n_comparisons / alpha) - 1)


def _n_permutations(given: int | None, n_comparisons: int, alpha: float) -> int:
    if given is None:
        return _enough(n_comparisons, alpha)
    if n_comparisons / (given + 1) > alpha:
        least = math.ceil(n_comparisons / alpha) - 1
        raise InputError(
            f"n_permutations must be at least {least} for {n_comparisons} comparisons at "
            f"alpha = {alpha:g} (no adjusted p-value falls below "
            f"comparisons/(n_permutations + 1)); got {given}"
        )
    return given
