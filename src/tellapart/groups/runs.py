"""The comparisons of groups, run side by side, and Holm's adjustment over all of them."""

from __future__ import annotations

import hashlib
import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock, local
from typing import TextIO
from warnings import WarningMessage, warn_explicit

import numpy as np

from tellapart.arguments import with_checked
from tellapart.arrays import IntArray
from tellapart.budget import current_budget
from tellapart.data.column_store import ChosenColumns, PickedRows
from tellapart.data.columns import label_of
from tellapart.data.grouping import UNLABELLED, GroupedTable, check_group_size, group_name
from tellapart.data.samples import Samples, SharedRows
from tellapart.errors import ConstantColumnWarning, InputError
from tellapart.evidence.shared_scores import KnownScores, OtherColumns, PooledRanks
from tellapart.groups.result import REST, Comparison, Skipped
from tellapart.interrupts import interruptible
from tellapart.permutation.draws import count_permutations
from tellapart.permutation.pvalues import benjamini_hochberg, holm
from tellapart.progress import Stage, progress_reporter
from tellapart.results.columns_table import (
    ColumnsSource,
    ColumnsTable,
    GroupSums,
    describe_columns,
)
from tellapart.results.result import TestResult
from tellapart.scan.error_rates import FDR
from tellapart.scan.finding import sort_findings
from tellapart.scan.findings import ColumnCandidates, report_columns
from tellapart.scan.scan import Scan, ScanCost, scan_pool
from tellapart.scan.shared import SharedPart, SharedPool
from tellapart.selection.by_evidence import weigh_evidence
from tellapart.text import described, quoted
from tellapart.threads import blas_threads, in_threads, one_blas_thread
from tellapart.two_sample.runs import proof_after_scan, scan_outcome, step_seeds
from tellapart.two_sample.settings import Limits, TestSettings
from tellapart.two_sample.two_sample_test import run_test

# Which groups are compared with which, and which cannot be.


MODES = ("one-versus-rest", "pairwise")


@dataclass(frozen=True)
class Pair:
    """The places of two groups; None stands for the rest."""

    group: int
    against: int | None

    def labels(self, grouped: GroupedTable) -> tuple[str, str]:
        """Return what the two sides are called."""
        against = REST if self.against is None else grouped.labels[self.against]
        return grouped.labels[self.group], against


@dataclass(frozen=True)
class GroupsPlan:
    """The comparisons that there are rows for, the others with the reason, and the mode."""

    pairs: tuple[Pair, ...]
    skipped: tuple[Skipped, ...]
    mode: str


def plan_comparisons(
    grouped: GroupedTable, mode: str, groups: Iterable[object] | None, fewest: int
) -> GroupsPlan:
    """Plan the comparisons of some groups, all if None, of at least `fewest` rows each.

    Of two groups each is the rest of the other, so both modes are one comparison.
    """
    chosen = _places(grouped, groups)
    _check_number(grouped, mode, chosen)
    with_rows = [group for group, size in enumerate(grouped.sizes) if size]
    two = len(with_rows) == 2 and mode != "pairwise"
    if mode == "pairwise":
        every = [Pair(a, b) for i, a in enumerate(chosen) for b in chosen[i + 1 :]]
    elif two:
        compared = [group for group in chosen if group in with_rows]
        every = [Pair(a, b) for a in compared[:1] for b in with_rows if b != a]
        every += [Pair(group, None) for group in chosen if group not in with_rows]
    else:
        every = [Pair(a, None) for a in chosen]
    pairs, skipped = [], []
    for pair in every:
        reason = _too_small(grouped, pair, fewest)
        if reason is None:
            pairs.append(pair)
        else:
            skipped.append(Skipped(*pair.labels(grouped), reason))
    if not pairs:
        raise InputError(f"by must give groups that are large enough; {reasons_of(skipped)}")
    return GroupsPlan(tuple(pairs), tuple(skipped), "pairwise" if two else mode)


def reasons_of(skipped: Sequence[Skipped]) -> str:
    """Return the first reason for which comparisons were not made, and how many more there are."""
    first = skipped[0].reason
    return first if len(skipped) == 1 else f"{first}, and {len(skipped) - 1} more such comparisons"


def _places(grouped: GroupedTable, groups: Iterable[object] | None) -> list[int]:
    """Return the places of the groups to compare, in the order of the labels."""
    if groups is None:
        return list(range(len(grouped.labels)))
    if isinstance(groups, str | bytes) or not isinstance(groups, Iterable):
        raise InputError(f"groups must be a sequence of labels; got {described(groups)}")
    wanted = [label_of(group) for group in groups]
    absent = [label for label in wanted if label not in grouped.labels]
    if absent:
        raise InputError(
            f"groups must be labels of {grouped.by!r}; got {absent[0]!r}; "
            f"there are {quoted(grouped.labels)}"
        )
    if len(set(wanted)) < len(wanted):
        raise InputError(f"groups must be distinct; got {quoted(wanted)}")
    return sorted(grouped.labels.index(label) for label in wanted)


def _check_number(grouped: GroupedTable, mode: str, chosen: Sequence[int]) -> None:
    least = 1 if mode == "one-versus-rest" else 2
    if len(grouped.labels) < 2 or len(chosen) < least:
        raise InputError(
            f"by must give at least two groups to compare; column {grouped.by!r} has "
            f"{quoted(grouped.labels) or 'none'}"
            + ("" if len(grouped.labels) < 2 else f", of which groups asks for {len(chosen)}")
        )


def _too_small(grouped: GroupedTable, pair: Pair, fewest: int) -> str | None:
    sizes = grouped.sizes
    rest = sum(sizes) - sizes[pair.group]
    sides = (sizes[pair.group], rest if pair.against is None else sizes[pair.against])
    for label, size in zip(pair.labels(grouped), sides, strict=True):
        reason = check_group_size(size, fewest)
        if reason is not None:
            return f"{label} has {reason}"
    return None


# One comparison of many whose rows are the same: a scan by what all of them share.
#
# A comparison of a group with all other rows is a `two_sample_test` but for this: its permutations
# are orders of the rows that all comparisons share, its rows are permuted one by one, and pairs,
# triples and the like are chosen once for all comparisons.


FEWEST_COLUMNS = 100
"""In narrower tables a comparison is the `two_sample_test` with its seed, number for number."""
MOST_ROWS = 4_000
"""Of more rows bins are permuted, which no two comparisons share."""
BETWEEN_FAMILIES = 3
"""How far apart the families are that one comparison and the next begin with."""


@dataclass(frozen=True)
class SharedScan:
    """What the comparisons share, and where the labelled rows stand in the table."""

    pool: SharedPool
    grouped: GroupedTable
    whole: Samples
    shared: SharedRows
    labelled: IntArray
    ranks: PooledRanks
    effort: float

    def fits(self, pair: Pair, settings: TestSettings) -> bool:
        """Say whether a comparison can use it: not where all of its permutations are few."""
        n_x = self.grouped.sizes[pair.group]
        n_y = sum(self.grouped.sizes) - n_x
        return count_permutations(n_x, n_y, settings.n_permutations) is None

    @interruptible()
    def run(self, number: int, settings: TestSettings, labels: tuple[str, str]) -> TestResult:
        """Run one comparison, as `tellapart.two_sample.two_sample_test.run_test` would."""
        started = time.perf_counter()
        stage = Stage("scan")
        comparison = self.pool.part(number)
        samples = self._samples(comparison)
        settings.check_against(samples)
        with progress_reporter(settings.progress) as progress, one_blas_thread():
            _, _, solve_seed, _ = map(int, step_seeds(settings))
            progress("scan", f"{samples.n_columns:,} columns")
            scanned = scan_pool(
                samples,
                comparison.pool,
                comparison.planned,
                alpha=settings.alpha,
                progress=progress,
                begin_with=BETWEEN_FAMILIES * number,
                rate=settings.rate,
                keep_candidates=settings.error_rate == FDR,
                smallest=settings.smallest,
            )
            stage.done(f"{samples.described_size}, p = {scanned.null.pvalue:.3g}")
            with proof_after_scan(time.perf_counter() - started):
                chosen = weigh_evidence(
                    samples,
                    settings,
                    rng=np.random.default_rng(solve_seed),
                    progress=progress,
                    n_jobs=1,
                    effort=self.effort,
                    known=self._cached_scores(comparison, scanned, samples.n_columns),
                )
            outcome = scan_outcome(scanned, chosen, samples, samples, samples, settings.alpha)
        return outcome.result(settings, labels, time.perf_counter() - started)

    def _samples(self, comparison: SharedPart) -> Samples:
        """Return the two samples of a comparison, whose rows are picked where they are needed."""
        x, y = (
            PickedRows(self.grouped.rows.values, self.labelled[rows])
            for rows in (comparison.labels.rows_x, comparison.labels.rows_y)
        )
        return replace(self.whole, x=x, y=y, shared=self.shared)

    def _cached_scores(self, comparison: SharedPart, scanned: Scan, n_columns: int) -> KnownScores:
        """Return the scores of all rows, with their z-scores of one comparison."""
        labels, shifts = comparison.labels, comparison.pool.shifts
        others, varying = None, comparison.pool.tables.column
        if shifts is not None and self.pool.wide is not None:
            named = np.flatnonzero(shifts.named)
            others = OtherColumns(self.pool.wide, named, shifts.zscores[named])
            varying = np.append(varying, others.columns)
        assert scanned.differences is not None
        order = np.concatenate([labels.rows_x, labels.rows_y])
        constant = np.ones(n_columns, dtype=np.bool_)
        constant[varying] = False
        zscores = scanned.differences.zscores
        return KnownScores(self.pool.scores, order, zscores, constant, others, self.ranks)


def share_scan(
    grouped: GroupedTable,
    pairs: Sequence[Pair],
    whole: Samples,
    shared: SharedRows,
    settings: TestSettings,
    effort: float,
    n_jobs: int,
) -> SharedScan | None:
    """Return what the comparisons share; None where they are few, or narrow, or of many rows."""
    n_rows = whole.n_x + whole.n_y
    usual = settings.method == "scan" and settings.by_evidence
    limited = settings.time_limit is not None or settings.memory_budget is not None
    if not usual or limited or len(pairs) < 2:
        return None
    if whole.n_columns < FEWEST_COLUMNS or n_rows > MOST_ROWS:
        return None
    labelled = np.flatnonzero(grouped.groups != UNLABELLED)
    groups = grouped.groups[labelled]
    assert isinstance(settings.random_state, int)
    try:
        pool = SharedPool(
            whole,
            [np.flatnonzero(groups == pair.group) for pair in pairs],
            settings.n_permutations,
            seed=settings.random_state,
            effort=effort,
            n_jobs=n_jobs,
            families=settings.families,
        )
    except InputError:
        # Rows that allow no test: every comparison says why.
        return None
    ranks = PooledRanks(*pool.in_full, n_jobs)
    return SharedScan(pool, grouped, whole, shared, labelled, ranks, effort)


# Warnings of work that runs side by side, each kept for the piece of work that gave it.


class _Current(local):
    """The piece of work of the present thread, if it is known."""

    number: int | None = None


class CaughtWarnings:
    """Catches warnings of all threads while it is entered.

    What Python offers catches for the whole process, not by thread: it is entered once, around all
    the work, and asks the thread that warns what it is working on. A thread that was not told, but
    helps one that was, is taken to work on what was begun last.

    Examples
    --------
    >>> with CaughtWarnings() as caught:
    ...     with caught.under(7):
    ...         warnings.warn("few rows", stacklevel=1)
    >>> [str(warning.message) for warning in caught.of(7)]
    ['few rows']
    """

    def __init__(self) -> None:
        self._caught: list[tuple[int | None, WarningMessage]] = []
        self._current = _Current()
        self._last: int | None = None
        self._quiet = warnings.catch_warnings()

    def __enter__(self) -> CaughtWarnings:
        self._quiet.__enter__()
        warnings.simplefilter("always")
        warnings.showwarning = self._keep
        return self

    def __exit__(self, *error: object) -> None:
        self._quiet.__exit__(None, None, None)

    @contextmanager
    def under(self, number: int) -> Iterator[None]:
        """Keep what this thread warns of under a number."""
        before = self._current.number
        self._current.number = self._last = number
        try:
            yield
        finally:
            self._current.number = before

    def of(self, number: int) -> list[WarningMessage]:
        """Return the warnings kept under a number."""
        return [warning for under, warning in self._caught if under == number]

    def _keep(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        number = self._current.number
        kept = WarningMessage(message, category, filename, lineno, file, line)
        self._caught.append((self._last if number is None else number, kept))


# All comparisons together look at as many pairs and triples as one test, each at no fewer than this
# share of them…
LEAST_EFFORT = 0.1
# …or less in wider tables, where the columns that make them are few of many anyhow.
WIDE = 100
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
    shared, together, sums = None, None, None
    if whole is not None:
        sums = GroupSums(whole, grouped.groups[grouped.groups != UNLABELLED])
        shared = SharedRows(whole)
        together = share_scan(grouped, pairs, whole, shared, settings, effort, _threads(settings))
    if together is not None:
        # Beyond what is shared a comparison holds little.
        at_once = min(_threads(settings), len(pairs))
    settings_of_each = settings if at_once == 1 else with_checked(settings, n_jobs=1)
    reporting = Lock()
    with progress_reporter(settings.progress) as progress, CaughtWarnings() as caught:

        def run(number: int) -> TestResult | InputError:
            pair = pairs[number]
            labels = pair.labels(grouped)
            title = f"{number + 1} of {len(pairs)}, {labels[0]} and {labels[1]}"

            def report(stage: str, detail: str) -> None:
                with reporting:
                    progress(stage, f"{title}: {detail}")

            with caught.under(number):
                try:
                    seeded = _seeded(with_checked(settings_of_each, progress=report), labels)
                    names = _names_of(grouped, pair)
                    read = partial(_read, grouped, pair, policy, names)
                    columns = ColumnsSource(partial(_described, read))
                    if sums is not None:
                        columns = ColumnsSource(partial(sums.table, pair.group))
                    if together is not None and together.fits(pair, seeded):
                        return _without_rows(together.run(number, seeded, names), columns)
                    samples = replace(read(), shared=shared)
                    limits = Limits.begin(seeded.time_limit, seeded.memory_budget)
                    joint = settings.error_rate == FDR and len(pairs) > 1
                    limits = replace(limits, effort=effort, joint=joint)
                    return _without_rows(run_test(samples, seeded, names, limits), columns)
                except InputError as error:
                    return error

        results = in_threads(run, range(len(pairs)), at_once)
    notes = [_notes(caught.of(number)) for number in range(len(pairs))]
    every = list(zip(pairs, results, notes, strict=True))
    done = [(pair, r, noted) for pair, r, noted in every if isinstance(r, TestResult)]
    failed = [
        Skipped(*pair.labels(grouped), str(r)) for pair, r, _ in every if isinstance(r, InputError)
    ]
    if settings.error_rate == FDR and len(pairs) > 1:
        shared_rate = share_error_rate([result for _, result, _ in done])
        done = [
            (pair, result, noted)
            for (pair, _, noted), result in zip(done, shared_rate, strict=True)
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
            notes=noted,
        )
        for (pair, result, noted), p in zip(done, adjusted, strict=True)
    ]
    return comparisons, failed


def share_error_rate(results: Sequence[TestResult]) -> list[TestResult]:
    """Return results with q-values over all comparisons and columns, and findings by them.

    Pairs, triples, missing values and values that stand apart stay as they are in their comparison.
    """
    scans = [result.scan for result in results if result.scan is not None]
    tests = [scan.column_tests for scan in scans]
    n_compared = sum(test.n_compared for test in tests)
    qvalues = benjamini_hochberg(np.concatenate([test.pvalue for test in tests]), n_compared)
    cuts = np.cumsum([len(test.names) for test in tests])[:-1]
    every = [
        scan.candidates or ColumnCandidates.none(scan.column_tests.n_compared) for scan in scans
    ]
    alpha = results[0].alpha
    findings = report_columns(every, scans[0].rate, alpha)
    shared = []
    for result, scan, test, q, candidates, found in zip(
        results, scans, tests, np.split(qvalues, cuts), every, findings, strict=True
    ):
        own = report_columns([candidates], scan.rate, alpha)[0]
        replaced = {(finding.kind, finding.variables) for finding in own}
        others = [f for f in scan.findings if (f.kind, f.variables) not in replaced]
        called = [replace(f, labels=result.labels) for f in found]
        columns = {name: place for place, name in enumerate(test.names)}
        named = {columns[finding.variables[0]] for finding in found}
        scan = replace(
            scan,
            findings=sort_findings([*others, *called]),
            column_tests=replace(test, qvalue=q),
            columns=tuple(sorted(named)),
            candidates=None,
        )
        shared.append(replace(result, scan=scan))
    return shared


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
    return max(min(n_jobs, n_comparisons, current_budget().group_bytes // cost.bytes_held), 1)


def _threads(settings: TestSettings) -> int:
    return blas_threads() if settings.n_jobs is None else settings.threads


def _read(grouped: GroupedTable, pair: Pair, policy: str, names: tuple[str, str]) -> Samples:
    """Return the rows of one comparison."""
    of_x, of_y = grouped.rows_of(pair.group), grouped.rows_of_others(pair.group)
    if pair.against is not None:
        of_y = grouped.rows_of(pair.against)
    samples = grouped.samples(of_x, of_y)
    return grouped.with_design(samples, of_x, of_y, policy, names)


def _names_of(grouped: GroupedTable, pair: Pair) -> tuple[str, str]:
    """Return what the two sides of a comparison are called."""
    group, against = pair.labels(grouped)
    rest = "the rest" if pair.against is None else group_name(grouped.by, against)
    return group_name(grouped.by, group), rest


def _seeded(settings: TestSettings, labels: tuple[str, str]) -> TestSettings:
    """Return the settings with the seed of one comparison."""
    assert isinstance(settings.random_state, int)
    return with_checked(settings, random_state=comparison_seed(settings.random_state, *labels))


def _without_rows(result: TestResult, columns: ColumnsSource) -> TestResult:
    """Return the result with the rows of the columns it tells of.

    All columns are described by `columns`, those of its rows where it tested some of them only.
    """
    if any(result.n_train) or result.drawn_from is not None:
        described = describe_columns(result.held_out, ordered=False)
        columns = ColumnsSource(lambda: described)
    narrow = _narrow(result.held_out, result)
    return replace(result, held_out=narrow, train=None, table=columns)


def _described(read: Callable[[], Samples]) -> ColumnsTable:
    """Return all columns of one comparison in numbers, without quartiles."""
    return describe_columns(read(), ordered=False)


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
