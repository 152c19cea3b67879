"""More than two groups: every group against the rest, or every pair, with one honest level."""

from __future__ import annotations

import hashlib
import math
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from tellapart.arguments import check_choice, check_integer, check_random_state
from tellapart.data.column_store import ChosenColumns
from tellapart.data.design_labels import DesignArguments
from tellapart.data.group_pair import refuse_pairs_with_rest
from tellapart.data.grouping import GroupedTable, group_name, read_grouped
from tellapart.data.missing import POLICIES
from tellapart.data.samples import Samples
from tellapart.errors import ConstantColumnWarning, InputError
from tellapart.interrupts import heeding_interrupts
from tellapart.kernels import Kernel
from tellapart.permutation.holm import holm
from tellapart.progress import Progress, showing
from tellapart.strs import Solver
from tellapart.testing.groups_plan import MODES, Pair, plan_comparisons, reasons_of
from tellapart.testing.groups_result import Comparison, GroupsResult, Skipped
from tellapart.testing.limits import Limits
from tellapart.testing.profile_groups import profile_groups
from tellapart.testing.result import TestResult
from tellapart.testing.settings import TestSettings
from tellapart.testing.two_sample import run_test

USUAL_PERMUTATIONS = 999
# Permutations in multiples of those without which no adjusted p-value could reach the level.
PERMUTATIONS_TO_SPARE = 2
# All comparisons together look at as many pairs and triples as one test, each at no fewer than this
# share of them.
LEAST_EFFORT = 0.1
# Columns that findings name and a result keeps the rows of, beside the chosen variables.
MOST_NAMED = 50


@heeding_interrupts()
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
        Threads within each comparison; −1 is every core.
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
    B T True One column is shifted (x2).
    NK T True One column is shifted (x2).
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
    comparisons, failed = _run(grouped, pairs, settings, policy)
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
        settings={**settings.to_dict(), "mode": mode, "by": grouped.by, "missing": policy},
        seconds=time.perf_counter() - started,
        profile=profile,
        library=grouped.library,
    )


def comparison_seed(seed: int, group: str, against: str) -> int:
    """Return the seed of one comparison: the same whatever else is compared, and in what order.

    Examples
    --------
    >>> comparison_seed(0, "B", "T") == comparison_seed(0, "B", "T")
    True
    >>> comparison_seed(0, "B", "T") == comparison_seed(0, "T", "B")
    False
    """
    text = repr((seed, group, against)).encode("utf-8", errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=4).digest(), "big")


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


def _run(
    grouped: GroupedTable, pairs: Sequence[Pair], settings: TestSettings, policy: str
) -> tuple[list[Comparison], list[Skipped]]:
    """Run every comparison; those whose rows allow no test are returned with the reason."""
    done: list[tuple[Pair, TestResult, tuple[str, ...]]] = []
    failed: list[Skipped] = []
    effort = max(1 / len(pairs), LEAST_EFFORT)
    with showing(settings.progress) as progress:
        for number, pair in enumerate(pairs, 1):
            labels = pair.labels(grouped)
            place = f"{number} of {len(pairs)}, {labels[0]} and {labels[1]}"
            try:
                samples, names = _read(grouped, pair, policy)
                own = replace(settings, progress=_beside(progress, place))
                result, notes = _compare(samples, names, labels, own, effort)
            except InputError as error:
                failed.append(Skipped(*labels, str(error)))
            else:
                done.append((pair, result, notes))
    # A comparison that failed still counts: which ones fail may depend on the data.
    adjusted = holm([result.pvalue for _, result, _ in done], len(pairs))
    comparisons = [
        Comparison(
            *pair.labels(grouped),
            adjusted_pvalue=float(p),
            n_rows=(
                result.n_train[0] + result.n_test[0],
                result.n_train[1] + result.n_test[1],
            ),
            result=result,
            notes=notes,
        )
        for (pair, result, notes), p in zip(done, adjusted, strict=True)
    ]
    return comparisons, failed


def _beside(progress: Progress, place: str) -> Progress:
    return lambda stage, detail: progress(stage, f"{place}: {detail}")


def _read(grouped: GroupedTable, pair: Pair, policy: str) -> tuple[Samples, tuple[str, str]]:
    """Return the rows of one comparison, and what its two sides are called."""
    group, against = pair.labels(grouped)
    of_x, of_y = grouped.rows_of(pair.group), grouped.rows_of_others(pair.group)
    if pair.against is not None:
        of_y = grouped.rows_of(pair.against)
    names = (
        group_name(grouped.by, group),
        "the rest" if pair.against is None else group_name(grouped.by, against),
    )
    samples = grouped.samples(of_x, of_y)
    return grouped.with_design(samples, of_x, of_y, policy, names), names


def _compare(
    samples: Samples,
    names: tuple[str, str],
    labels: tuple[str, str],
    settings: TestSettings,
    effort: float,
) -> tuple[TestResult, tuple[str, ...]]:
    assert isinstance(settings.random_state, int)
    own = replace(settings, random_state=comparison_seed(settings.random_state, *labels))
    limits = replace(Limits.begin(own.time_limit, own.memory_budget), effort=effort)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = run_test(samples, own, names, limits)
    notes = []
    for warning in caught:
        # Columns that are constant among the rows of two groups are no news; they are listed in
        # the selection.
        if issubclass(warning.category, ConstantColumnWarning):
            continue
        if issubclass(warning.category, UserWarning):
            notes.append(str(warning.message))
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    held_out = _narrow(result.held_out, result)
    return replace(result, held_out=held_out, train=None), tuple(notes)


def _narrow(samples: Samples, result: TestResult) -> Samples:
    """Return the samples with the columns told of only: many tests would hold the table many times.

    Names and places of all columns stay as they are.
    """
    kept, n_columns = result.selection.support, samples.n_columns
    if result.scan is not None:
        scan = result.scan
        named = [*scan.columns, *(s for group in (*scan.pairs, *scan.triples) for s in group)]
        first = list(dict.fromkeys(named))[:MOST_NAMED]
        kept = np.union1d(kept, np.array(first, dtype=np.intp))
    x, y = (
        ChosenColumns(np.ascontiguousarray(values[:, kept]), kept, n_columns)
        for values in (samples.x, samples.y)
    )
    return replace(samples, x=x, y=y, as_read=None)
