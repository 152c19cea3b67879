"""More than two groups: each against the rest, or every pair, at one familywise level."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tellapart.arguments import (
    check_choice,
    check_integer,
    check_random_state,
    settings_from,
    with_checked,
)
from tellapart.data.design_labels import DesignArguments
from tellapart.data.grouping import read_grouped, refuse_pairs_with_rest
from tellapart.data.hints import warn_of_depth
from tellapart.data.missing import POLICIES
from tellapart.errors import InputError
from tellapart.groups.profile import profile_groups
from tellapart.groups.result import GroupsResult
from tellapart.groups.runs import MODES, plan_comparisons, reasons_of, run_comparisons
from tellapart.interrupts import interruptible
from tellapart.kernels import Kernel
from tellapart.progress import Progress, Stage
from tellapart.strs import Solver
from tellapart.two_sample.settings import TestSettings

USUAL_PERMUTATIONS = 999
PERMUTATIONS_TO_SPARE = 2
"""Permutations in multiples of those without which no adjusted p-value could reach the level."""


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
    adjust: object = None,
    method: str = "scan",
    families: str | Sequence[str] | Mapping[str, float] | None = None,
    n_variables: int | None = None,
    kernel: str | Kernel = "auto",
    regularization: float | str = "cv",
    solver: str | Solver = "auto",
    test_size: float = 0.5,
    n_permutations: int | None = None,
    alpha: float = 0.05,
    error_rate: str = "fwer",
    false_proportion: float = 0.1,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
    missing: str = "error",
    keep: Sequence[str] = (),
    gap: float = 1e-4,
    time_limit: float | None = None,
    memory_budget: float | None = None,
    smallest_effect: float | Mapping[str, Any] | None = None,
) -> GroupsResult:
    """Test which groups of a table differ, and how.

    One `two_sample_test` per comparison, and Holm's adjusted p-values over all of them: rejecting
    where the adjusted p-value is at most `alpha` keeps the familywise error rate at `alpha`, in
    finite samples and although the comparisons share rows.

    Beyond a hundred columns, and up to 4,000 rows, comparisons with the rest share their
    permutations: random orders of all rows, the first n of which count as a group of n rows. The
    orders do not depend on the labels, so each p-value is valid by itself, and Holm's adjustment
    needs no more. Where there are very many columns, all are compared by location, and as many as
    the work allows in full; the notes of a result's scan say so.

    The p-values of findings and variables are adjusted within their comparison, not over all
    comparisons: for a familywise level over all findings, take those with p ≤ alpha divided by
    the number of comparisons. With `error_rate="fdr"` the q-values of columns, and of each kind of
    difference, are those over all comparisons and columns together.

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
        The key of rows that belong together, one of each group: the labels of rows with the same
        key are swapped. Not for more than two groups against the rest.
    adjust : str, sequence of str, table, or None
        Covariates that every comparison is adjusted for: columns of the table, or a table of them
        with the same rows; see `two_sample_test`.
    n_permutations : int or None
        Permutations per comparison. None is 999, or more where so many comparisons need them
        for any adjusted p-value to reach `alpha`: at least 2·(comparisons)/alpha.
    random_state : int, numpy Generator or None
        The seed of each comparison is derived from this and from its two labels, so it does not
        depend on the other groups or their order. It is in the settings of its result.
    n_jobs : int or None
        Threads; −1 uses every core. Comparisons run in parallel, one thread each, or one after the
        other with a time limit and where memory would not suffice.
    missing : {"error", "pairwise", "drop-rows", "drop-columns"}
        How to handle missing values; which columns are excluded is decided once for the whole
        table. Rows without a label are an error, or excluded with "pairwise" and "drop-rows": they
        do not belong to any rest.
    keep, method, families, n_variables, kernel, regularization, solver, test_size, alpha
        As in `two_sample_test`.
    progress, gap
        As in `two_sample_test`.
    error_rate, false_proportion : {"fwer", "fdr", "fdx"} and float
        The error rate of findings, as in `two_sample_test`.
    smallest_effect : float, mapping or None
        The size from which on differences matter, as in `two_sample_test`.
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
    design = DesignArguments(strata, paired, clusters, adjust=adjust)
    # Checked for one comparison; how many there are is known once the table is read.
    first = _usual_permutations(1, alpha) if n_permutations is None else n_permutations
    settings = settings_from(TestSettings, locals(), n_permutations=first, design=design)
    reading = Stage("read")
    grouped = read_grouped(table, by, keep=keep, design=design).without_missing(policy)
    groups_read = f"{len(grouped.labels):,} groups, {sum(grouped.sizes):,} rows"
    reading.done(f"{groups_read}, {len(grouped.compared):,} columns")
    warn_of_depth(grouped)
    if settings.n_variables is not None:
        check_integer("n_variables", settings.n_variables, 1, len(grouped.compared))
    plan = plan_comparisons(grouped, mode, groups, settings.fewest_rows)
    pairs = plan.pairs
    if any(pair.against is None for pair in pairs):
        refuse_pairs_with_rest(grouped)
    if n_permutations is None:
        count = _usual_permutations(len(pairs), settings.alpha)
    else:
        count = _check_permutations(settings.n_permutations, len(pairs), settings.alpha)
    seed = settings.random_state
    if not isinstance(seed, int):
        seed = int(check_random_state(seed).integers(2**32))
    settings = with_checked(settings, n_permutations=count, random_state=seed)
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


def _usual_permutations(n_comparisons: int, alpha: object) -> int:
    """Return enough permutations for adjusted p-values to reach alpha, with a margin."""
    if not isinstance(alpha, float) or not 0 < alpha < 1:
        return USUAL_PERMUTATIONS  # the settings refuse such a level
    return max(USUAL_PERMUTATIONS, math.ceil(PERMUTATIONS_TO_SPARE * n_comparisons / alpha) - 1)


def _check_permutations(n_permutations: int, n_comparisons: int, alpha: float) -> int:
    """Return the number of permutations if an adjusted p-value can reach alpha with it."""
    if n_comparisons / (n_permutations + 1) > alpha:
        least = math.ceil(n_comparisons / alpha) - 1
        raise InputError(
            f"n_permutations must be at least {least} for {n_comparisons} comparisons at "
            f"alpha = {alpha:g} (no adjusted p-value falls below "
            f"comparisons/(n_permutations + 1)); got {n_permutations}"
        )
    return n_permutations
