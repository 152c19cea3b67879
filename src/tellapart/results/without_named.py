"""What is left without the named columns: the test again and again, until nothing is found.

Each step removes columns so that no finding of the step before is left whole: every column that is
named alone, and of pairs and triples the column that most of those still whole have in common. Then
the remaining columns are tested as in the first test, all rows and all families.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tellapart.arguments import check_integer, check_n_jobs
from tellapart.data.reader import read_chunked, read_samples
from tellapart.data.samples import Samples
from tellapart.data.sources import is_chunked
from tellapart.errors import InputError
from tellapart.progress import Progress, check_progress, progress_reporter, silent
from tellapart.scan.error_rates import ErrorRate
from tellapart.scan.families import check_families
from tellapart.scan.finding import Finding, p_text
from tellapart.scan.scan import scan
from tellapart.scan.smallest_effect import SmallestEffect
from tellapart.text import counted, listed, safe
from tellapart.threads import blas_threads

if TYPE_CHECKING:
    from tellapart.results.result import TestResult

# Columns and findings of a step that the summary lists.
MOST_LISTED = 8


@dataclass(frozen=True, eq=False)
class RemovalStep:
    """One test of the sequence.

    Attributes
    ----------
    removed : tuple of str
        The columns that were removed before this test, in addition to those of earlier steps.
    n_columns : int
        The columns that were tested.
    pvalue : float
        The p-value of the test.
    findings : tuple of Finding
        What the test found.
    floor : float
        The smallest p-value that the permutations of the test can give.
    """

    removed: tuple[str, ...]
    n_columns: int
    pvalue: float
    findings: tuple[Finding, ...]
    floor: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the step as plain Python values, ready for JSON."""
        return {
            "removed": list(self.removed),
            "n_columns": self.n_columns,
            "pvalue": self.pvalue,
            "findings": [finding.to_dict() for finding in self.findings],
        }


@dataclass(frozen=True, eq=False)
class WithoutNamed:
    """The tests of `TestResult.without_named`, and the columns that they removed.

    Attributes
    ----------
    steps : tuple of RemovalStep
        The first is the original test, of all columns.
    alpha : float
        The level of every step.
    remaining : tuple of str
        The columns that were not removed.
    """

    steps: tuple[RemovalStep, ...]
    alpha: float
    remaining: tuple[str, ...] = field(repr=False)

    @property
    def removed(self) -> tuple[str, ...]:
        """All columns that were removed, in the order of the steps."""
        return tuple(name for step in self.steps for name in step.removed)

    @property
    def pvalue(self) -> float:
        """The p-value of the last test."""
        return self.steps[-1].pvalue

    @property
    def complete(self) -> bool:
        """Whether no difference is detected in what remains, or nothing remains."""
        return self.pvalue > self.alpha or not self.remaining

    def summary(self) -> str:
        """Return the steps as plain text."""
        lines = [self._verdict()]
        for number, step in enumerate(self.steps):
            without = f"without {listed(step.removed, MOST_LISTED)}: " if step.removed else ""
            named = ", ".join(
                f"{safe(' × '.join(finding.variables))} ({finding.kind})"
                for finding in step.findings[:MOST_LISTED]
            )
            more = len(step.findings) - MOST_LISTED
            named += f" and {more} more" if more > 0 else ""
            found = f"; {named}" if named else ""
            columns, p = counted(step.n_columns, "column"), p_text(step.pvalue, step.floor)
            lines.append(f"  {number}. {without}{columns}, {p}{found}")
        return "\n".join(lines)

    def _verdict(self) -> str:
        removed = self.removed
        if not removed and self.complete:
            return f"No difference was detected (α = {self.alpha:g}): there is nothing to remove."
        without = f"Without {counted(len(removed), 'column')} ({listed(removed, MOST_LISTED)})"
        if not self.remaining:
            return f"{without} no column that varies remains."
        if self.complete:
            return f"{without} no difference is detected (α = {self.alpha:g})."
        last = self.steps[-1]
        why = "more steps are needed" if last.findings else "no finding names its columns"
        if not removed:
            return f"A difference is detected, but {why}."
        return f"{without} a difference remains; {why}."

    def to_dict(self) -> dict[str, Any]:
        """Return the steps as plain Python values, ready for JSON."""
        return {
            "alpha": self.alpha,
            "removed": list(self.removed),
            "complete": self.complete,
            "steps": [step.to_dict() for step in self.steps],
        }


class RowsAtHand:
    """The rows of a test that are in files or on a cluster, as long as the result is not stored.

    Pickled, it holds nothing.
    """

    def __init__(self, samples: Samples | None) -> None:
        self.samples = samples

    def __reduce__(self) -> tuple[Any, ...]:
        return RowsAtHand, (None,)


def covering_columns(findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return columns that every finding has one of: those named alone, then the most frequent.

    Of equally frequent columns the one whose finding is the more significant comes first.
    """
    chosen = list(dict.fromkeys(f.variables[0] for f in findings if len(f.variables) == 1))
    whole = [f.variables for f in findings if not set(f.variables) & set(chosen)]
    while whole:
        counts = Counter(name for variables in whole for name in variables)
        name = max(counts, key=counts.__getitem__)
        chosen.append(name)
        whole = [variables for variables in whole if name not in variables]
    return tuple(chosen)


def remove_named(
    result: TestResult,
    X: object = None,
    Y: object = None,
    *,
    missing: str = "error",
    max_steps: int = 20,
    n_jobs: int = 1,
    progress: Progress = silent,
) -> WithoutNamed:
    """Test again without the named columns; see `TestResult.without_named`."""
    if result.scan is None:
        raise InputError("without_named needs the findings of a scan: use method='scan'")
    samples = _rows_of(result, X, Y, missing)
    names = list(result.held_out.names)
    place = {name: s for s, name in enumerate(samples.names)}
    steps = [
        RemovalStep((), len(names), result.pvalue, result.findings, result.pvalue_floor),
    ]
    settings = result.settings
    seed, smallest = settings.get("random_state"), settings.get("smallest_effect")
    while steps[-1].pvalue <= result.alpha and len(steps) <= max_steps:
        columns = [name for name in covering_columns(steps[-1].findings) if name in names]
        if not columns:
            break
        names = [name for name in names if name not in columns]
        part = samples.of_all_rows([place[name] for name in names])
        if not names or not _varies(part):
            names = []
            steps.append(RemovalStep(tuple(columns), 0, 1.0, ()))
            break
        progress("without named", f"{len(names):,} columns")
        found = scan(
            part,
            n_permutations=int(settings["n_permutations"]),
            alpha=result.alpha,
            rng=np.random.default_rng([0 if seed is None else int(seed), len(steps)]),
            n_jobs=n_jobs,
            families=check_families(settings.get("families")),
            rate=ErrorRate(settings["error_rate"], settings["false_proportion"]),
            smallest=None if smallest is None else SmallestEffect.of(smallest),
            settle=settings.get("time_limit") is None,
        ).labelled(result.labels)
        floor = 0.0 if found.null.exact else 1 / (found.null.n_permutations + 1)
        step = RemovalStep(tuple(columns), len(names), found.null.pvalue, found.findings, floor)
        steps.append(step)
    return WithoutNamed(tuple(steps), result.alpha, tuple(names))


def _rows_of(result: TestResult, X: object, Y: object, missing: str) -> Samples:
    """Return the rows of the test: those that the result holds, or tables that are given again."""
    if (X is None) != (Y is None):
        raise InputError("without_named takes X and Y together, or neither of them")
    held = result.held_out
    if X is not None:
        read = read_chunked if is_chunked(X) or is_chunked(Y) else read_samples
        samples = read(X, Y, missing=missing)
        unknown = [name for name in held.names if name not in samples.names]
        if unknown:
            raise InputError(
                f"X and Y must have the columns of the test; {listed(unknown, MOST_LISTED)} "
                f"{'is' if len(unknown) == 1 else 'are'} missing"
            )
        return samples
    if result.rows is None:
        return held
    at_hand = result.rows.samples
    if at_hand is None:
        raise InputError(
            "the rows of this test were in files or on a cluster, and a stored result does not "
            "hold them: pass X and Y again, result.without_named(X, Y)"
        )
    if at_hand.pattern is not None and at_hand.pattern.whole_rows:
        raise InputError(
            "without_named cannot test rows in files or on a cluster again that were left out for "
            "missing values: use missing='pairwise', or pass tables in memory"
        )
    return at_hand


def _varies(samples: Samples) -> bool:
    """Say whether any column varies over the rows that are held."""
    whole = samples.whole
    return bool(np.any(whole.least < whole.greatest))


class Removals:
    """`TestResult.without_named`."""

    def without_named(
        self,
        X: object = None,
        Y: object = None,
        *,
        missing: str = "error",
        max_steps: int = 20,
        n_jobs: int | None = None,
        progress: bool | Progress = False,
    ) -> WithoutNamed:
        """Test again without the named columns, until no difference is detected.

        Every step removes the columns that are named alone, and of named pairs and triples a column
        that they have in common, and tests what remains on the same rows. Each step by itself is a
        test at level alpha; the columns were chosen on the same rows: see :doc:`/concepts/findings`
        for what the sequence promises.

        Parameters
        ----------
        X, Y : as for `two_sample_test`, or None
            The samples again, where the result does not hold them: those of files or a cluster,
            after it was stored. None: the rows of the test.
        missing : str
            That of `two_sample_test`, for X and Y.
        max_steps : int
            The most steps.
        n_jobs : int or None
            Threads; −1 uses every core.
        progress : bool or callable
            True for a display on standard error, or a function of (stage, detail).

        Returns
        -------
        WithoutNamed
            `removed`, `complete`, `steps` (columns removed, p-value, findings), `summary()`.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> X, Y = rng.normal(size=(60, 4)), rng.normal(size=(80, 4)) + [0, 3, 0, 0]
        >>> left = ta.two_sample_test(X, Y, random_state=0).without_named()
        >>> left.removed, left.complete
        (('x1',), True)
        """
        with progress_reporter(check_progress(progress)) as report:
            return remove_named(
                cast("TestResult", self),
                X,
                Y,
                missing=missing,
                max_steps=check_integer("max_steps", max_steps, 1),
                n_jobs=blas_threads() if n_jobs is None else check_n_jobs(n_jobs),
                progress=report,
            )
