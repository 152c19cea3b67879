"""The comparisons of groups, run side by side, and Holm's adjustment over all of them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
from warnings import WarningMessage, warn_explicit

import numpy as np

from tellapart.data.column_store import ChosenColumns
from tellapart.data.grouping import UNLABELLED, GroupedTable, group_name
from tellapart.data.samples import Samples
from tellapart.data.shared_rows import SharedRows
from tellapart.errors import ConstantColumnWarning, InputError
from tellapart.permutation.holm import holm
from tellapart.progress import showing
from tellapart.scan.cost import ScanCost
from tellapart.testing.caught_warnings import CaughtWarnings
from tellapart.testing.groups_plan import Pair
from tellapart.testing.groups_result import Comparison, Skipped
from tellapart.testing.groups_shared import share_scan
from tellapart.testing.limits import Limits
from tellapart.testing.result import TestResult
from tellapart.testing.settings import TestSettings
from tellapart.testing.two_sample import run_test
from tellapart.threads import blas_threads, in_threads

# All comparisons together look at as many pairs and triples as one test, each at no fewer than this
# share of them…
LEAST_EFFORT = 0.1
# …or less in wider tables, where the columns that make them are few of many anyhow.
WIDE = 100
# What comparisons that run side by side may hold together.
MOST_BYTES = 8_000_000_000
# Columns that findings name and a result keeps the rows of, beside the chosen variables.
MOST_NAMED = 50


def run_comparisons(
    grouped: GroupedTable, pairs: Sequence[Pair], settings: TestSettings, policy: str
) -> tuple[list[Comparison], list[Skipped]]:
    """Run every comparison; those whose rows allow no test are returned with the reason.

    Each has a seed of its own, so that running them side by side changes no answer.
    """
    effort = _effort(len(pairs), len(grouped.compared))
    at_once = _at_once(grouped, len(pairs), settings)
    whole = _whole_rows(grouped, pairs)
    shared, together = None, None
    if whole is not None:
        shared = SharedRows(whole)
        together = share_scan(grouped, pairs, whole, shared, settings, effort, _threads(settings))
    if together is not None:
        # Beyond what is shared a comparison holds little.
        at_once = min(_threads(settings), len(pairs))
    own = settings if at_once == 1 else replace(settings, n_jobs=1)
    telling = Lock()
    with showing(settings.progress) as progress, CaughtWarnings() as caught:

        def run(number: int) -> TestResult | InputError:
            pair = pairs[number]
            labels = pair.labels(grouped)
            place = f"{number + 1} of {len(pairs)}, {labels[0]} and {labels[1]}"

            def tell(stage: str, detail: str) -> None:
                with telling:
                    progress(stage, f"{place}: {detail}")

            with caught.under(number):
                try:
                    told = replace(own, progress=tell)
                    if together is not None and together.fits(pair, own):
                        named = _names_of(grouped, pair)
                        return _without_rows(together.run(number, _seeded(told, labels), named))
                    samples, names = _read(grouped, pair, policy)
                    samples = replace(samples, shared=shared)
                    return _compare(samples, names, labels, told, effort)
                except InputError as error:
                    return error

        found = in_threads(run, range(len(pairs)), at_once)
    notes = [_notes(caught.of(number)) for number in range(len(pairs))]
    every = list(zip(pairs, found, notes, strict=True))
    done = [(pair, r, told) for pair, r, told in every if isinstance(r, TestResult)]
    failed = [
        Skipped(*pair.labels(grouped), str(r)) for pair, r, _ in every if isinstance(r, InputError)
    ]
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
            notes=told,
        )
        for (pair, result, told), p in zip(done, adjusted, strict=True)
    ]
    return comparisons, failed


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


def _whole_rows(grouped: GroupedTable, pairs: Sequence[Pair]) -> Samples | None:
    """Return all rows, where each comparison is of all of them and they are what was read."""
    as_read = grouped.pattern is None and grouped.row_labels is None
    if not as_read or any(pair.against is not None for pair in pairs):
        return None
    rows = np.flatnonzero(grouped.groups != UNLABELLED)
    return grouped.samples(rows[:1], rows[1:])


def _effort(n_comparisons: int, n_columns: int) -> float:
    """Return the share of the usual work on dependence, decided by sizes alone.

    >>> [round(_effort(*sizes), 3) for sizes in ((1, 1_000), (4, 100), (50, 100), (50, 10_000))]
    [1.0, 0.25, 0.1, 0.01]
    """
    if n_comparisons == 1:
        return 1.0
    return max(1 / n_comparisons, LEAST_EFFORT) * math.sqrt(min(WIDE / n_columns, 1.0))


def _at_once(grouped: GroupedTable, n_comparisons: int, settings: TestSettings) -> int:
    """Return how many comparisons run side by side: as there are threads, and memory.

    A time limit is for one comparison, which then has all threads to keep it.
    """
    if settings.time_limit is not None:
        return 1
    n_jobs = _threads(settings)
    cost = ScanCost(sum(grouped.sizes), 2, len(grouped.compared), settings.n_permutations)
    return max(min(n_jobs, n_comparisons, MOST_BYTES // cost.bytes_held), 1)


def _threads(settings: TestSettings) -> int:
    return blas_threads() if settings.n_jobs is None else settings.threads


def _read(grouped: GroupedTable, pair: Pair, policy: str) -> tuple[Samples, tuple[str, str]]:
    """Return the rows of one comparison, and what its two sides are called."""
    of_x, of_y = grouped.rows_of(pair.group), grouped.rows_of_others(pair.group)
    if pair.against is not None:
        of_y = grouped.rows_of(pair.against)
    names = _names_of(grouped, pair)
    samples = grouped.samples(of_x, of_y)
    return grouped.with_design(samples, of_x, of_y, policy, names), names


def _names_of(grouped: GroupedTable, pair: Pair) -> tuple[str, str]:
    """Return what the two sides of a comparison are called."""
    group, against = pair.labels(grouped)
    rest = "the rest" if pair.against is None else group_name(grouped.by, against)
    return group_name(grouped.by, group), rest


def _compare(
    samples: Samples,
    names: tuple[str, str],
    labels: tuple[str, str],
    settings: TestSettings,
    effort: float,
) -> TestResult:
    own = _seeded(settings, labels)
    limits = replace(Limits.begin(own.time_limit, own.memory_budget), effort=effort)
    return _without_rows(run_test(samples, own, names, limits))


def _seeded(settings: TestSettings, labels: tuple[str, str]) -> TestSettings:
    """Return the settings with the seed of one comparison."""
    assert isinstance(settings.random_state, int)
    return replace(settings, random_state=comparison_seed(settings.random_state, *labels))


def _without_rows(result: TestResult) -> TestResult:
    """Return the result with the rows of the columns it tells of."""
    return replace(result, held_out=_narrow(result.held_out, result), train=None)


def _notes(caught: Sequence[WarningMessage]) -> tuple[str, ...]:
    """Return the warnings to a user as notes of a comparison, and pass the others on."""
    notes = []
    for warning in caught:
        # Columns that are constant among the rows of two groups are no news; they are listed in
        # the selection.
        if issubclass(warning.category, ConstantColumnWarning):
            continue
        if issubclass(warning.category, UserWarning):
            notes.append(str(warning.message))
        else:
            warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return tuple(notes)


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
    return replace(samples, x=x, y=y, as_read=None, shared=None)
