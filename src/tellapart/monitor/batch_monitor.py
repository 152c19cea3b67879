"""Monitoring where batches, not rows, are the units: each batch is ranked among all before it.

Rows of one day share its weather: two days differ although nothing changed, and a test of rows
finds that. Here the reference consists of batches, too, and the question is whether the latest
batch is unusual *among batches* (`tellapart.monitor.batch_summary`).

**Why alarms are controlled.** Let the m batches of the reference and those after them be
exchangeable, as independent batches of one distribution are. U_k is the set of batches held before
check k together with batch k. Given U_k and all later batches, each batch of U_k is as likely to be
the latest as any other, and its score is a symmetric function of U_k: its rank p-value

    p_k = #{i in U_k: score_i ≥ score_k}/|U_k|

is uniform or larger, given U_k and the future. What is held after the check is U_k, or a part drawn
without regard to which batch was the latest. So p_1, p_2, … are at least as large as independent
uniform numbers (a conformal transducer: Vovk, Gammerman and Shafer, 2005), and bets on them are
fair. That holds in finite samples and on average over references; a p-value against one fixed
reference would need a correction for it (arXiv 2602.13848). Changed batches in the pool do little
harm: the bets allow for the ranks that they take from each other.

Bets are laid on several streams of p-values (`tellapart.monitor.betting.Streams`): one overall, of
the largest deviation in any measure; for every measure, one for large values and one for small
ones, which accumulate changes too small to be seen in any one batch; and one for the levels of
every categorical column. Each stream is fair by itself, and their weights add up to 1. The stream
that raises an alarm names its measure with the same probability of error, α for all of them.

Within a check the p-value of each measure is adjusted by the largest deviation in any (max-T over
batches): the probability of any false finding in the batch is at most α, whichever measures differ.
"""

from __future__ import annotations

import copy
import hashlib
import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.column_notes import ColumnNotes
from tellapart.data.column_plan import decide_columns, follow_columns
from tellapart.data.design_labels import GIVEN, encode
from tellapart.data.missing import complete_rows, find_missing
from tellapart.data.reader import read_opened, read_rows
from tellapart.data.samples import CodedRows
from tellapart.data.sources import open_held
from tellapart.data.sources.table import as_frame
from tellapart.errors import InputError, warn_caller
from tellapart.monitor.batch_summary import BatchPool, BatchSummary, Layout, Scored
from tellapart.monitor.betting import Planned, Streams
from tellapart.monitor.check_result import label_text
from tellapart.monitor.records import (
    CheckRecord,
    ColumnScore,
    largest_scores,
    plain_findings,
)
from tellapart.monitor.rows import fingerprint
from tellapart.monitor.sequence import MonitoredSequence
from tellapart.monitor.settings import MonitorSettings, beyond_thresholds, worth_an_alarm
from tellapart.monitor.state import BatchState, write_file
from tellapart.scan.finding import Finding, p_text, sort_findings
from tellapart.scan.finding_kinds import CORRELATION, LOCATION, NEW_VALUES, SHAPE, SHARE, SPREAD
from tellapart.text import safe

FEWEST_BATCHES = 5
"""Batches that a reference must have."""
LATER_BATCHES = 1000
"""Batches that are kept beside those of the reference, before some are dropped at random."""
REFERENCE = "reference"
TITLES = (REFERENCE, "batch")


@dataclass(frozen=True, eq=False, repr=False)
class BatchCheck:
    """The result of a check whose units are batches.

    Attributes
    ----------
    number : int
        1 for the first check against the reference.
    label : str
        The label of the batch.
    n_rows : int
        Rows of the batch.
    n_batches : int
        Batches it is ranked among, itself included: no p-value is below 1/n_batches.
    pvalue : float
        The share of these batches whose largest deviation is as large; valid in finite samples.
    alpha : float
        The level of the check by itself.
    findings : tuple of Finding
        What differs, with p-values adjusted for all measures of the batch, and 95 % intervals that
        contain the variation between batches (normal approximation).
    alarm_level : float
        With a plan, the p-value at which a check raises an alarm; else 0: evidence accumulates in
        many streams.
    capital, capital_needed : float or None
        The e-value of the sequence, and what an alarm needs; None with a plan.
    tripped : tuple of Finding
        What the alarm is about: the measures whose evidence reached what is needed.
    large_enough : bool
        Whether the interval of a finding excludes effects smaller than `smallest_effect`.
    scores : tuple of ColumnScore
        How much every column differs, in SDs.
    beyond : tuple of str
        Columns whose score reaches its threshold.
    promise : str
        What is promised of false alarms.
    seconds : float
        Wall time of the check.
    fingerprint : str
        A text that changes with the rows of the batch.
    """

    number: int
    label: str
    n_rows: int
    n_batches: int
    pvalue: float
    alpha: float
    findings: tuple[Finding, ...]
    alarm_level: float
    capital: float | None
    capital_needed: float | None
    tripped: tuple[Finding, ...]
    large_enough: bool
    scores: tuple[ColumnScore, ...]
    beyond: tuple[str, ...]
    promise: str
    seconds: float
    fingerprint: str

    @property
    def reject(self) -> bool:
        """Whether this batch by itself differs: pvalue ≤ alpha."""
        return self.pvalue <= self.alpha

    @property
    def is_evident(self) -> bool:
        """Whether the evidence suffices for an alarm, however small the effect."""
        if self.capital is None or self.capital_needed is None:
            return self.pvalue <= self.alarm_level
        return self.capital >= self.capital_needed

    @property
    def alarm(self) -> bool:
        """Whether an alarm is raised: the evidence suffices and the effect is large enough."""
        return self.is_evident and self.large_enough

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        words = "differs" if self.reject else "does not differ significantly"
        p = p_text(self.pvalue, 1 / self.n_batches)
        return (
            f"{safe(self.label)} {words} from the batches of the reference ({p}, "
            f"α = {self.alpha:g}, {self.n_batches:,} batches)."
        )

    @property
    def record(self) -> CheckRecord:
        """The answer as a line of the history."""
        tripped = self.tripped if self.alarm else ()
        every = {(one.kind, one.variables): one for one in (*tripped, *self.findings)}
        return CheckRecord(
            number=self.number,
            label=self.label,
            n_rows=self.n_rows,
            pvalue=self.pvalue,
            alarm_level=self.alarm_level,
            alarm=self.alarm,
            variables=tuple(dict.fromkeys(n for one in every.values() for n in one.variables)),
            found=plain_findings(every.values(), tripped),
            capital=self.capital,
            capital_needed=self.capital_needed,
            large_enough=self.large_enough,
            scores=largest_scores(self.scores),
            beyond=self.beyond,
            fingerprint=self.fingerprint,
        )

    def summary(self) -> str:
        """Return the check as plain text."""
        alarm = "alarm" if self.alarm else "no alarm"
        if self.is_evident and not self.large_enough:
            alarm += ": no confidence interval excludes effects below the smallest relevant one"
        evidence = f"alarm level {self.alarm_level:.3g}"
        if self.capital is not None:
            evidence = f"e-value {self.capital:.3g}, an alarm needs {self.capital_needed:.3g}"
        tripped = [f"  tripped by {one.summary()}" for one in self.tripped if self.alarm]
        return "\n".join(
            [
                self.verdict,
                *(f"  {one.summary()}" for one in self.findings),
                f"Check {self.number}: {alarm} ({evidence}, so that {self.promise}).",
                *tripped,
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the data as plain Python values, ready for JSON."""
        return self.record.to_dict() | {"n_batches": self.n_batches, "seconds": self.seconds}

    def __repr__(self) -> str:
        verdict = "alarm" if self.alarm else "no alarm"
        return f"<BatchCheck {self.number}: p = {self.pvalue:.4g}, {verdict}>"


class BatchMonitor(MonitoredSequence):
    """A stored reference of batches and the history of the checks against it.

    Made by `compare_to_reference(..., batches=…)`.

    Attributes
    ----------
    names : tuple of str
        The columns of the reference.
    n_rows, n_batches : int
        Rows and batches of the reference.
    history : tuple of CheckRecord
        One record per check, the oldest first; `to_frame()` is a table of them.
    settings : MonitorSettings
        The arguments of `compare_to_reference`.
    column_notes : ColumnNotes
        Columns of the reference that are left out of every check, or compared in parts.
    fingerprint : str
        A text that changes with the rows of the reference and their batches.
    """

    _bets: Streams | None
    _held: IntArray

    def __init__(
        self,
        reference: object,
        labels: Sequence[object],
        settings: MonitorSettings,
        notes: ColumnNotes | None = None,
    ) -> None:
        source = open_held(REFERENCE, reference)
        notes = decide_columns(source, settings.keep) if notes is None else notes
        (reading,) = follow_columns((source,), notes, source.names)
        (rows,) = read_rows((source,), (reading,))
        (codes,) = encode([labels])
        if codes.size != rows.n_rows:
            raise InputError(
                f"batches must have one label for each of the {rows.n_rows} rows of reference; "
                f"got {codes.size}"
            )
        if (codes < 0).any():
            raise InputError(
                f"batches must have no missing labels; got {int((codes < 0).sum())} of {codes.size}"
            )
        self.settings, self.column_notes, self.names = settings, notes, rows.names
        self.n_rows = rows.n_rows
        settings.check_columns(rows.names)
        self.layout = Layout(rows.names, rows.kinds, settings.missing == "pairwise")
        digest = hashlib.sha256(codes.astype("<i8").tobytes()).hexdigest()
        self.fingerprint = f"{fingerprint(rows)} {digest}"
        self._reference = copy.deepcopy(reference)
        self._batches = tuple(
            BatchSummary.of(self._complete(part, REFERENCE), self.layout)
            for part in _parts(rows, codes)
        )
        _check_batches(len(self._batches), settings)
        self._usual = _Usual.of(self.layout, self._batches)
        self._history, self._failures = [], []
        self._start()

    @property
    def n_batches(self) -> int:
        """Batches of the reference."""
        return len(self._batches)

    def check(
        self, batch: object, *, label: object = "batch", progress: object = False
    ) -> BatchCheck:
        """Rank a batch among those before it, and add the answer to the history.

        Parameters
        ----------
        batch : array, sparse matrix, table or AnnData
            At least two rows; columns are matched with those of the reference by name where both
            have names. New categories are allowed.
        label : str, number or date
            What results call the batch; dates are written in ISO 8601.
        progress : bool or callable
            Ignored: a check takes milliseconds.

        Returns
        -------
        BatchCheck
            With `alarm`, `pvalue`, `findings`, `scores`, `capital` and `number`.
        """
        del progress
        text, number = label_text(label), self._next_number()
        promise = self.settings.promise
        started = time.perf_counter()
        rows = self._read(batch)
        summary = BatchSummary.of(self._complete(rows, "batch"), self.layout)
        pool = self._pool.with_batch(summary)
        scored = pool.score()
        bets = None if self._bets is None else self._bets.after(scored.streams, pool.size)
        findings = self._findings(scored, summary, text, pool.size)
        tripped = self._tripped(scored, summary, text, bets) or findings[:1]
        sizes = self.settings.sizes
        worth = worth_an_alarm((*tripped, *findings), sizes)
        scores = self._usual.scores(summary)
        checked = BatchCheck(
            number=number,
            label=text,
            n_rows=rows.n_rows,
            n_batches=pool.size,
            pvalue=scored.pvalue,
            alpha=self.settings.test.alpha,
            findings=findings,
            alarm_level=promise.alarm_level if isinstance(promise, Planned) else 0.0,
            capital=None if bets is None else bets.capital,
            capital_needed=None if bets is None else bets.capital_needed,
            tripped=tripped if sizes is None else worth,
            large_enough=sizes is None or bool(worth),
            scores=scores,
            beyond=beyond_thresholds(scores, self.settings.thresholds),
            promise=promise.describe(),
            seconds=time.perf_counter() - started,
            fingerprint=fingerprint(rows),
        )
        self._history.append(checked.record)
        self._update(checked, pool, bets)
        return checked

    def seen_before(self, batch: object) -> CheckRecord | None:
        """Return the check of a batch with just these rows, or None if there was none."""
        batch_print = fingerprint(self._read(batch))
        return next((r for r in self._history if r.fingerprint == batch_print), None)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that the next check needs, except the reference, as JSON.

        The file is written whole or not at all; `tellapart.load_monitor` continues from it, with
        the same answers as if nothing had been stored. It contains measures of earlier batches, and
        none of their rows.
        """
        head = {
            "settings": self.settings.to_dict(),
            "reference": self.fingerprint,
            "left_out": self.column_notes.to_dict(),
        }
        held = self._held
        later = self._pool.batches[held.size :]
        write_file(path, head, BatchState(self.history, self.failures, self._bets, held, later))

    def restore(self, plain: dict[str, Any]) -> None:
        """Go on from a stored state; ValueError if it does not belong to this reference."""
        state = BatchState.from_dict(plain, self._bets, self.layout, self.n_batches)
        self._history, self._failures = list(state.history), list(state.failures)
        self._bets, self._held = state.bets, state.of_reference
        held = tuple(self._batches[k] for k in state.of_reference)
        self._pool = BatchPool(self.layout, (*held, *state.later))

    def _start(self) -> None:
        """Begin again from the reference: no evidence, and its batches alone."""
        promise = self.settings.promise
        self._held = np.arange(self.n_batches)
        self._pool = BatchPool(self.layout, self._batches)
        self._bets = None
        if not isinstance(promise, Planned):
            self._bets = Streams.start(promise, stream_weights(self.layout))

    def _update(self, checked: BatchCheck, pool: BatchPool, bets: Streams | None) -> None:
        """Add the batch to the pool, or start again after an alarm."""
        if bets is None:
            return
        if checked.alarm:
            self._start()
            return
        self._bets = bets
        most = self.n_batches + LATER_BATCHES
        if pool.size <= most:
            self._pool = pool
            return
        # A generator of its own: which batch goes must not depend on what the check answered.
        rng = np.random.default_rng([self.settings.seed, checked.number, 1])
        kept: IntArray = np.sort(rng.permutation(pool.size)[:most])
        n_old = self._held.size
        self._held = self._held[kept[kept < n_old]]
        self._pool = replace(pool, batches=tuple(pool.batches[k] for k in kept))

    def _read(self, batch: object) -> CodedRows:
        """Return the rows of a batch, with the columns of the reference."""
        sources = open_held(TITLES[0], self._reference), open_held(TITLES[1], self._without(batch))
        readings = follow_columns(sources, self.column_notes, sources[0].names)
        return read_opened(sources, readings, self.column_notes).rows_of_y

    def _without(self, batch: object) -> object:
        """Return a batch without the column that names batches, if it has one."""
        return without_batch_column(batch, self.settings.batches)

    def _complete(self, rows: CodedRows, title: str) -> CodedRows:
        """Return the rows that are measured, or raise where values are missing or infinite."""
        policy = self.settings.missing
        pattern = find_missing((rows.values,), rows.names, policy, (title,))
        if policy == "drop-rows" and pattern is not None:
            rows = rows.rows(complete_rows(rows.values, np.arange(len(rows.names))))
        if rows.n_rows < 2:
            what = "every batch of reference" if title == REFERENCE else title
            raise InputError(f"{what} must have at least 2 rows; got {rows.n_rows}")
        return rows

    def _findings(
        self, scored: Scored, summary: BatchSummary, label: str, n_batches: int
    ) -> tuple[Finding, ...]:
        """Return what differs in the batch, at level α for all measures together."""
        alpha, floor = self.settings.test.alpha, 1 / n_batches
        named: list[Finding] = []
        for f, measure in enumerate(self.layout.measures):
            pvalue = scored.adjusted(scored.z[f])
            if pvalue <= alpha:
                about = self._usual.finding(f, summary, label, pvalue, floor)
                # L-skewness is reported where neither mean nor SD is.
                if measure.kind != SHAPE or not any(
                    one.variables == about.variables for one in named
                ):
                    named.append(about)
        for column in self.layout.categorical:
            level, z = _largest(scored, column)
            if level is not None and (pvalue := scored.adjusted(z)) <= alpha:
                named.append(self._usual.level(column, level, summary, label, pvalue, floor))
        return sort_findings(named)

    def _tripped(
        self, scored: Scored, summary: BatchSummary, label: str, bets: Streams | None
    ) -> tuple[Finding, ...]:
        """Return findings on the measures whose streams suffice for an alarm.

        They have no p-value of their own: the evidence is that of several batches.
        """
        if bets is None:
            return ()
        n_measures = len(self.layout.measures)
        strongest = 1 + int(np.argmax(bets.capitals[1:] / bets.weights[1:]))
        found: dict[tuple[str, tuple[str, ...]], Finding] = {}
        # Of all measures together, the one that contributed most.
        for stream in dict.fromkeys(int(s) or strongest for s in bets.leading):
            if stream <= 2 * n_measures:
                one = self._usual.finding((stream - 1) % n_measures, summary, label)
            else:
                column = self.layout.categorical[stream - 1 - 2 * n_measures]
                level, _ = _largest(scored, column)
                if level is None:
                    continue
                one = self._usual.level(column, level, summary, label)
            found.setdefault((one.kind, one.variables), one)
        return tuple(found.values())

    def __repr__(self) -> str:
        return (
            f"<BatchMonitor: {self.n_batches} batches, {len(self.names)} columns, "
            f"{len(self._history)} checks, {len(self.alarms)} alarms>"
        )


def stream_weights(layout: Layout) -> FloatArray:
    """Return the weight of each stream: a third overall, for single columns, and for pairs.

    >>> weights = stream_weights(Layout(("a", "b"), ("numeric", "numeric"), missing=False))
    >>> weights.size, round(float(weights.sum()), 9)
    (15, 1.0)
    """
    n_measures, n_pairs = len(layout.measures), len(layout.pairs)
    of_pairs = np.tile(np.arange(n_measures) >= n_measures - n_pairs, 2)
    of_pairs = np.concatenate(
        [[False], of_pairs, np.zeros(len(layout.categorical), dtype=np.bool_)]
    )
    weights = np.where(of_pairs, 1 / max(2 * n_pairs, 1), 1 / max((~of_pairs).sum() - 1, 1))
    weights[0] = 1.0
    return np.asarray(weights / weights.sum())


@dataclass(frozen=True, eq=False)
class _Usual:
    """Means over the batches of the reference, and how much the batches vary.

    Attributes
    ----------
    layout : Layout
        The measures.
    pool : BatchPool
        The batches of the reference.
    centre, spread : arrays with an entry per measure
        Mean and standard deviation over the batches, in the units of the summaries.
    sds : mapping from str to float
        The standard deviation of all rows of a numeric column.
    """

    layout: Layout
    pool: BatchPool
    centre: FloatArray
    spread: FloatArray
    sds: dict[str, float]

    @classmethod
    def of(cls, layout: Layout, batches: tuple[BatchSummary, ...]) -> _Usual:
        values = np.array([batch.values for batch in batches])
        known = ~np.isnan(values)
        count = np.maximum(known.sum(axis=0), 1)
        centre = np.where(known.any(axis=0), np.nansum(values, axis=0) / count, np.nan)
        squares = np.nansum((values - centre) ** 2, axis=0)
        spread = np.sqrt(squares / np.maximum(count - 1, 1))
        rows = np.array([batch.n_rows for batch in batches], dtype=np.float64)
        n_numeric = len(layout.numeric)
        sds = {}
        for s, name in enumerate(layout.numeric):
            means, deviations = values[:, s], np.exp(values[:, n_numeric + s])
            some = known[:, s] & known[:, n_numeric + s]
            if some.any():
                weights = rows[some] / rows[some].sum()
                middle = float(weights @ means[some])
                between = float(weights @ (means[some] - middle) ** 2)
                sds[name] = math.sqrt(float(weights @ deviations[some] ** 2) + between)
        return cls(layout, BatchPool(layout, batches), centre, spread, sds)

    def _limits(self, difference: float, spread: float) -> tuple[float, float]:
        """Return the 95 % interval of a difference between a new batch and the mean of m."""
        m = self.pool.size
        half = float(stats.t.ppf(0.975, m - 1)) * spread * math.sqrt(1 + 1 / m)
        return difference - half, difference + half

    def finding(
        self,
        f: int,
        summary: BatchSummary,
        label: str,
        pvalue: float = math.nan,
        floor: float = 0.0,
    ) -> Finding:
        """Return a measure of a batch as a finding, against the mean over the reference."""
        measure = self.layout.measures[f]
        x, usual, spread = float(summary.values[f]), float(self.centre[f]), float(self.spread[f])
        values, effect = (x, usual), x - usual
        interval = self._limits(effect, spread)
        if measure.kind == LOCATION:
            sd = self.sds.get(measure.variables[0], 0.0)
            effect, interval = _over(effect, sd), (_over(interval[0], sd), _over(interval[1], sd))
        elif measure.kind == SPREAD:
            values = math.exp(x), math.exp(usual)
            effect, interval = _exp(effect), (_exp(interval[0]), _exp(interval[1]))
        elif measure.kind == CORRELATION:
            # Fisher's z at both ends: a difference of correlations stays within ±2.
            values = math.tanh(x), math.tanh(usual)
            ends = (math.tanh(usual + end) - math.tanh(usual) for end in interval)
            effect, interval = values[0] - values[1], (next(ends), next(ends))
        return Finding(
            measure.kind,
            measure.variables,
            pvalue,
            effect,
            interval,
            values,
            measure.measure,
            (label, REFERENCE),
            rows=(summary.n_rows, int(self.pool.n_rows)),
            floor=floor,
        )

    def level(
        self,
        column: str,
        level: str,
        summary: BatchSummary,
        label: str,
        pvalue: float = math.nan,
        floor: float = 0.0,
    ) -> Finding:
        """Return the proportion of a level as a finding, against the mean over the reference."""
        shares = np.array([batch.levels[column].get(level, 0.0) for batch in self.pool.batches])
        share, usual = summary.levels[column].get(level, 0.0), float(shares.mean())
        spread = float(shares.std(ddof=1))
        is_new = not shares.any()
        return Finding(
            NEW_VALUES if is_new else SHARE,
            (column,),
            pvalue,
            share - usual,
            self._limits(share - usual, spread),
            (share, usual),
            f"{level!r}" if is_new else f"proportion of {level!r}",
            (label, REFERENCE),
            rows=(summary.n_rows, int(self.pool.n_rows)),
            floor=floor,
        )

    def scores(self, summary: BatchSummary) -> tuple[ColumnScore, ...]:
        """Return how much every column differs: means, and the level that differs most, in SDs."""
        found = {}
        for s, name in enumerate(self.layout.numeric):
            one = self.finding(s, summary, "")
            found[name] = ColumnScore(name, "mean", one.effect, *one.interval)
        for name, labels, shares in self.pool.with_batch(summary).shares():
            usual = shares[:-1].mean(axis=0)
            differences = shares[-1] - usual
            sd = np.sqrt(np.maximum(usual * (1 - usual), 1 / self.pool.n_rows))
            k = int(np.argmax(np.abs(differences) / sd))
            limits = self._limits(float(differences[k]), float(shares[:-1, k].std(ddof=1)))
            effect, low, high = (float(end / sd[k]) for end in (differences[k], *limits))
            found[name] = ColumnScore(name, f"proportion of {labels[k]!r}", effect, low, high)
        return tuple(found[name] for name in self.layout.names)


def _over(difference: float, sd: float) -> float:
    if sd > 0:
        return difference / sd
    return 0.0 if difference == 0 else math.copysign(math.inf, difference)


def _exp(value: float) -> float:
    return math.exp(value) if value < 700 else math.inf


def _largest(scored: Scored, column: str) -> tuple[str | None, float]:
    """Return the level of a column that deviates most, and how far."""
    every = {level: z for (name, level), z in scored.levels.items() if name == column}
    level = max(every, key=lambda one: abs(every[one]), default=None)
    return level, 0.0 if level is None else every[level]


def _parts(rows: CodedRows, codes: IntArray) -> list[CodedRows]:
    """Return the rows of each batch of the reference, in the order of their first row."""
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    return [rows.rows(part) for part in np.split(order, starts[1:])]


def _check_batches(n_batches: int, settings: MonitorSettings) -> None:
    if n_batches < FEWEST_BATCHES:
        raise InputError(
            f"batches must be at least {FEWEST_BATCHES} in the reference, to know how much they "
            f"vary; got {n_batches}"
        )
    alpha, promise = settings.test.alpha, settings.promise
    needed = math.ceil(1 / alpha - 1e-9) - 1
    if isinstance(promise, Planned):
        planned = math.ceil(1 / promise.alarm_level - 1e-9) - 1
        if n_batches < planned:
            raise InputError(
                f"n_checks must be at most {int(alpha * (n_batches + 1) + 1e-9)} with {n_batches} "
                f"batches in the reference, among which no p-value is below 1/{n_batches + 1}; got "
                f"{promise.n_checks}: leave it out"
            )
    elif n_batches < needed:
        warn_caller(
            f"the reference has {n_batches} batches: no batch by itself can differ at α = "
            f"{alpha:g}, which needs {needed}; evidence still accumulates over batches"
        )


def without_batch_column(table: Any, column: str | None) -> Any:
    """Return a table without the column that names batches, if it has one."""
    if column is None or column == GIVEN:
        return table
    frame = as_frame("batch", table)
    if frame is None or column not in frame.columns:
        return table
    return frame.drop(column).to_native()
