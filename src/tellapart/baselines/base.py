"""What all baselines share: checked settings, the split, the permutation test, the result.

A *baseline* is immutable settings. `fit` looks at training rows only and freezes the statistic;
what it returns can test any number of held-out samples. Seeds go the way of
`tellapart.two_sample_test`: the same `random_state` gives the same split, so that methods are
compared on the same rows.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from tellapart.arguments import check_choice, check_integer, check_n_jobs, check_random_state
from tellapart.arrays import FloatArray, IntArray
from tellapart.data.design_labels import DesignArguments
from tellapart.data.reader import read_samples
from tellapart.data.row_order import split_by_content
from tellapart.data.samples import Samples
from tellapart.interrupts import interruptible
from tellapart.kernels.base import FittedKernel
from tellapart.permutation.forms import RowGroups, permute_samples
from tellapart.permutation.pvalues import (
    PermutationNull,
    null_of,
    warn_of_few_permutations,
)
from tellapart.results.result import Method, TestResult
from tellapart.selection.changes import with_changes
from tellapart.selection.selection import Selection
from tellapart.two_sample.settings import TestSettings

# The permutation test of any statistic of the labels.


LABEL_ENTRIES = 2_000_000
"""Labels that a statistic is given at a time: 16 MB."""


@dataclass(frozen=True)
class Permuting:
    """How many permutations to draw, from which generator, and the level of the critical value."""

    n_permutations: int
    alpha: float
    rng: np.random.Generator


def permutation_null(
    held_out: Samples,
    statistic: Callable[[FloatArray], FloatArray],
    how: Permuting,
    *,
    tolerance: float,
) -> PermutationNull:
    """Test a statistic of the labels against all, or many random, permutations of the rows.

    Where both samples are large, bins of rows are permuted, and with a design what it says moves
    together; the labels are those of the rows.

    Parameters
    ----------
    held_out : Samples
        Its rows are pooled, those of X first.
    statistic : callable
        From labels of shape (k, m + n), 1 for X and 0 for Y, to the k statistics; large values
        indicate a difference. With clusters the number of ones may change from row to row.
    how : Permuting
        The permutations.
    tolerance : float
        Statistics closer than this are a tie.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.data.samples import Samples
    >>> x, y = np.arange(8.0)[:, None] + 9, np.arange(8.0)[:, None]
    >>> pooled = np.concatenate([x, y])[:, 0]
    >>> null = permutation_null(
    ...     Samples(x, y, ("u",), ("numeric",)),
    ...     lambda labels: labels @ pooled,
    ...     Permuting(n_permutations=999, alpha=0.05, rng=np.random.default_rng(0)),
    ...     tolerance=1e-9,
    ... )
    >>> null.statistic, null.pvalue
    (100.0, 0.001)
    """
    bins = permute_samples(held_out, how.n_permutations, how.rng)
    entries = LABEL_ENTRIES * bins.n_groups // (held_out.n_x + held_out.n_y)
    statistics = [statistic(bins.of_rows(labels)) for _, labels in bins.blocks(entries)]
    return null_under(bins, np.concatenate(statistics), tolerance, how.alpha)


def permuted_means(
    held_out: Samples, scores: FloatArray, how: Permuting, *, tolerance: float
) -> PermutationNull:
    """Test mean_x − mean_y of a score per pooled row: sums over bins are all it needs.

    Under a design the scores are centred within its blocks.
    """
    bins = permute_samples(held_out, how.n_permutations, how.rng)
    sums = bins.sums(scores)
    differences = [bins.weights(labels) @ sums for _, labels in bins.blocks()]
    return null_under(bins, np.concatenate(differences), tolerance, how.alpha)


def null_under(
    bins: RowGroups, statistics: FloatArray, tolerance: float, alpha: float
) -> PermutationNull:
    """Return the test of a statistic under permutations of bins, the observed one first."""
    return null_of(statistics, tolerance, alpha, exact=bins.exact, rows_per_bin=bins.rows_per_bin)


USES = ("all", "held-out")
CHECKED = (
    "n_variables",
    "test_size",
    "n_permutations",
    "alpha",
    "random_state",
    "n_jobs",
    "gap",
    "time_limit",
)
"""Settings that mean what they mean to `two_sample_test`, and are checked where its own are."""


@dataclass(frozen=True)
class Generators:
    """One generator per step: how much randomness one of them uses does not move the others."""

    split: np.random.Generator
    fit: np.random.Generator
    permute: np.random.Generator

    @classmethod
    def of(cls, random_state: int | np.random.Generator | None) -> Generators:
        """Draw the seeds as `tellapart.two_sample.two_sample_test.run_test` does."""
        seeds = check_random_state(random_state).integers(2**63, size=4)
        split, fit, _, permute = map(np.random.default_rng, seeds)
        return cls(split, fit, permute)


@dataclass(frozen=True, kw_only=True)
class FittedBaseline(ABC):
    """A baseline with its statistic frozen on training rows.

    Attributes
    ----------
    selection : Selection or None
        The chosen variables; None for a method that uses them all.
    kernel : FittedKernel or None
        The kernel, where the statistic is an MMD²: the witness of a result needs it.
    """

    selection: Selection | None
    kernel: FittedKernel | None = None

    @abstractmethod
    def test(self, held_out: Samples, how: Permuting) -> PermutationNull:
        """Test the held-out rows: not those the baseline was fitted on."""

    def timed(self, started: float) -> Self:
        """Note in the selection, if there is one, how long it took since `started`."""
        if self.selection is None:
            return self
        seconds = time.perf_counter() - started
        return replace(self, selection=replace(self.selection, seconds=seconds))

    def described(self, samples: Samples, train: Samples | None = None) -> Self:
        """Note what each chosen variable differs in: see `tellapart.selection.changes`."""
        if self.selection is None:
            return self
        joint = self.kernel is not None and not self.kernel.abilities.short_features
        selection = with_changes(self.selection, samples, train=train, joint=joint)
        return replace(self, selection=selection)


@dataclass(frozen=True, kw_only=True)
class Baseline(ABC):
    """Settings of a two-sample test, checked when made.

    Parameters
    ----------
    test_size : float
        Share of the rows held out for the p-value, in (0, 1).
    n_permutations : int
        Number of permutations; all are enumerated where there are no more than that.
    alpha : float
        The level, in (0, 1).
    random_state : int, numpy Generator or None
        Seeds everything random; the split is that of `two_sample_test` with the same seed.
    n_jobs : int or None
        Threads; −1 is every core.
    """

    test_size: float = 0.5
    n_permutations: int = 999
    alpha: float = 0.05
    random_state: int | np.random.Generator | None = None
    n_jobs: int | None = None

    symmetric: ClassVar[bool] = True
    """Whether swapping the two samples leaves the statistic as it is."""
    # A baseline that learns nothing has a setting of that name. No annotation: not a setting here.
    use = "held-out"

    def __post_init__(self) -> None:
        """Check the shared settings; a subclass checks its own, too, and calls this."""
        check_choice("use", self.use, USES)
        shared = [field.name for field in fields(self) if field.name in CHECKED]
        checked = TestSettings(method="split", **{name: getattr(self, name) for name in shared})
        for name in shared:
            self._keep(name, getattr(checked, name))

    @property
    @abstractmethod
    def method(self) -> Method:
        """What results say about this baseline."""

    @property
    def n_threads(self) -> int:
        """Number of threads."""
        return check_n_jobs(self.n_jobs)

    def permuting(self, rng: np.random.Generator) -> Permuting:
        """Return the permutations of the p-value."""
        return Permuting(self.n_permutations, self.alpha, rng)

    @abstractmethod
    def learn(self, train: Samples, rng: np.random.Generator) -> FittedBaseline:
        """Freeze everything the statistic needs, on training rows only."""

    def fit(self, train: Samples, rng: np.random.Generator) -> FittedBaseline:
        """Freeze everything the statistic needs, and note how long it took."""
        started = time.perf_counter()
        return self.learn(train, rng).timed(started)

    def fit_and_test(
        self, train: Samples, held_out: Samples, rngs: Generators
    ) -> tuple[FittedBaseline, PermutationNull]:
        """Fit on the training rows and test the held-out ones."""
        fitted = self.fit(train, rngs.fit)
        return fitted, fitted.test(held_out, self.permuting(rngs.permute))

    def split(self, samples: Samples, rng: np.random.Generator) -> tuple[Samples, Samples]:
        """Return training and held-out rows; the very same samples if all rows serve for both."""
        if self.use == "all":
            return samples, samples
        return split_by_content(samples, self.test_size, rng)

    @interruptible()
    def test(
        self,
        X: object,
        Y: object,
        *,
        missing: str = "error",
        strata: object = None,
        paired: bool | str | Sequence[object] = False,
        clusters: object = None,
    ) -> TestResult:
        """Split the rows, fit on one part and test on the other.

        Parameters
        ----------
        X, Y : array or table
            The two samples; columns are matched by name where there are names.
        missing : str
            What to do about missing values; see `tellapart.data.reader.read_samples`.
        strata, paired, clusters
            Which rows belong together, and so how the labels are permuted: see
            `tellapart.two_sample_test`. What is fitted takes rows as independent of each other.

        Returns
        -------
        TestResult
        """
        started = time.perf_counter()
        design = DesignArguments(strata, paired, clusters)
        samples = self.read(X, Y, missing, design)
        baseline = self.seeded()
        rngs = Generators.of(baseline.random_state)
        train, held_out = baseline.split(samples, rngs.split)
        baseline.warn_of_few_rows(held_out)
        fitted, null = baseline.fit_and_test(train, held_out, rngs)
        fitted = fitted.described(held_out, None if train is held_out else train)
        result = baseline.result(fitted, null, train, held_out, started)
        return replace(result, settings={**result.settings, **design.to_dict()})

    def read(
        self,
        X: object,
        Y: object,
        missing: str = "error",
        design: DesignArguments | None = None,
    ) -> Samples:
        """Return the checked samples."""
        samples = read_samples(X, Y, missing=missing, design=design)
        self.check_against(samples)
        return samples

    def check_against(self, samples: Samples) -> None:  # noqa: B027 -- most have nothing to check
        """Raise where the samples do not allow these settings."""

    def seeded(self) -> Self:
        """Return the same settings with a seed of their own where none was given."""
        if self.random_state is not None:
            return self
        return replace(self, random_state=int(np.random.default_rng().integers(2**32)))

    def result(
        self,
        fitted: FittedBaseline,
        null: PermutationNull,
        train: Samples,
        held_out: Samples,
        started: float,
    ) -> TestResult:
        """Put the result together."""
        selection = fitted.selection
        if selection is None:
            selection = self.everything(train, fitted.kernel, null.statistic)
        return TestResult(
            pvalue=null.pvalue,
            statistic=null.statistic,
            threshold=null.threshold,
            alpha=self.alpha,
            null_distribution=null.null_distribution,
            exact=null.exact,
            selection=selection,
            n_train=(0, 0) if train is held_out else (train.n_x, train.n_y),
            n_test=(held_out.n_x, held_out.n_y),
            tuning=None,
            labels=("X", "Y"),
            seconds=time.perf_counter() - started,
            kernel=fitted.kernel,
            held_out=held_out,
            settings=self.to_dict(),
            method=self.method,
            rows_per_bin=null.rows_per_bin,
            note=null.note,
        )

    def everything(self, samples: Samples, kernel: FittedKernel | None, value: float) -> Selection:
        """Return all varying columns with equal weights of length 1: nothing is chosen."""
        D = samples.n_columns
        constant = np.zeros(D, dtype=np.bool_) if kernel is None else kernel.constant
        support = np.flatnonzero(~constant)
        z = np.zeros(D)
        z[support] = 1.0 / math.sqrt(max(support.size, 1))
        return self.selection(samples, support, z, value, constant=constant)

    def selection(
        self,
        samples: Samples,
        support: IntArray,
        z: FloatArray,
        value: float,
        *,
        kernel: str = "",
        regularization: float = 0.0,
        constant: Any = (),
        upper_bound: float | None = None,
        optimal: bool = False,
    ) -> Selection:
        """Return a selection that names this baseline as its maker.

        `value` and `upper_bound` are of the baseline's own objective, which it maximises;
        `constant` marks the columns that never vary.
        """
        return Selection(
            support=np.sort(np.asarray(support, dtype=np.intp)),
            z=z,
            value=value,
            upper_bound=upper_bound,
            status="optimal" if optimal else "feasible",
            solver=type(self).__name__,
            seconds=0.0,
            kernel=kernel,
            names=samples.names,
            regularization=regularization,
            constant=tuple(samples.names[s] for s in np.flatnonzero(constant)),
            method=self.method.name,
        )

    def warn_of_few_rows(self, held_out: Samples) -> None:
        """Warn where no p-value could reach the level."""
        warn_of_few_permutations(
            held_out, self.n_permutations, self.alpha, symmetric=self.symmetric, held_out=True
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the settings that decide the answer as plain values."""
        plain: dict[str, Any] = {"method": type(self).__name__}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "n_jobs":
                continue
            if isinstance(value, np.random.Generator):
                value = None
            is_plain = value is None or isinstance(value, bool | int | float | str)
            plain[field.name] = value if is_plain else repr(value)
        return plain

    def call(self) -> str:
        """Return the code that makes this baseline: only what is not the default."""
        arguments = []
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.random.Generator) or value == field.default:
                continue
            arguments.append(f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(arguments)})"

    def _keep(self, name: str, value: object) -> None:
        """Hold the checked value, as a plain Python number."""
        object.__setattr__(self, name, value)


@dataclass(frozen=True)
class SelectingBaseline(Baseline):
    """A baseline that chooses variables: `n_variables` of them, or None for its own rule."""

    n_variables: int | None = None

    has_own_rule: ClassVar[bool] = True
    """Whether the method can choose how many; otherwise `n_variables` must be given."""

    def __post_init__(self) -> None:
        """Ask for `n_variables` where the method has no rule of its own."""
        if not self.has_own_rule:
            check_integer("n_variables", self.n_variables, 1)
        super().__post_init__()

    def check_against(self, samples: Samples) -> None:
        """Raise where there are fewer than `n_variables` columns."""
        if self.n_variables is not None:
            check_integer("n_variables", self.n_variables, 1, samples.n_columns)

    def at_most(self, n_columns: int) -> int:
        """Return how many of so many columns may be chosen."""
        return n_columns if self.n_variables is None else min(self.n_variables, n_columns)

    @interruptible()
    def select(self, X: object, Y: object, *, missing: str = "error") -> Selection:
        """Choose variables by all rows, given as to `test`, which gives a p-value."""
        samples = self.read(X, Y, missing)
        rngs = Generators.of(self.random_state)
        selection = self.fit(samples, rngs.fit).described(samples).selection
        assert selection is not None
        return selection
