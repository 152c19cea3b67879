"""The methods: tests of tellapart and their competitors, all with one interface.

Every method of a trial gets the same rows and the same seed, and so the same split of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from reproduction.reselection import Reselection
from reproduction.store import ALPHA
from tellapart.arrays import FloatArray, IntArray
from tellapart.baselines import (
    L1MMD,
    Baseline,
    Bonferroni,
    FittedBaseline,
    ProjectedWasserstein,
    SelectingBaseline,
    SparseLogisticRegression,
    StandardMMD,
)
from tellapart.baselines.base import Generators, Permuting
from tellapart.baselines.standard_mmd import FittedMMD
from tellapart.data.reader import read_samples
from tellapart.data.row_order import split_by_content
from tellapart.data.samples import Samples
from tellapart.kernels import FittedKernel, Gaussian, Kernel, Linear, Quadratic, resolve_kernel
from tellapart.permutation.mmd import permutation_test
from tellapart.permutation.pvalues import PermutationNull
from tellapart.results.result import Method as TestMethod
from tellapart.results.result import TestResult
from tellapart.scan.scan import scan
from tellapart.search import Annealing
from tellapart.search.starts import linear_problem
from tellapart.selection.select_variables import select_variables
from tellapart.statistics.coefficients import linear_coefficients
from tellapart.strs import SparseTrustRegion, solve
from tellapart.two_sample.settings import TestSettings
from tellapart.two_sample.two_sample_test import run_test, two_sample_test

# The linear kernel's test as the paper prints it, for reproduction only.


GRID = (0.1, 0.5, 1.0, 2.0, 5.0)
"""The paper's values of λ."""


@dataclass(frozen=True)
class PrintedLinear(SelectingBaseline):
    """max aᵀz + λ zᵀVz: the printed sign [E3], which rewards variance instead of regularizing it.

    Bandwidths by the printed rule, τ_s² the median distance [E1]. λ by the printed rule too: the
    least p-value on half of the training rows, the first of those that tie [E8]. Only the test
    itself is the corrected one [E7], so that powers can be compared at one level.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(60, 4)), rng.normal(size=(60, 4)) + [0, 3, 0, 0]
    >>> PrintedLinear(n_variables=1, random_state=0).test(X, Y).variables
    ('x1',)
    """

    @property
    def method(self) -> TestMethod:
        """The description of this test in results."""
        return TestMethod(
            name="linear kernel as printed",
            statistic="MMD²",
            validity="the weights were chosen on other rows",
            call=self.call(),
        )

    def learn(self, train: Samples, rng: np.random.Generator) -> FittedMMD:
        """Choose λ and weights by the training rows."""
        first, second = train.split(0.5, rng)
        seed = int(rng.integers(2**63))
        kernel, candidates = self._weights(first, GRID)
        pvalues = [
            permutation_test(
                second, kernel, z, **vars(self.permuting(np.random.default_rng(seed)))
            ).pvalue
            for z in candidates
        ]
        regularization = GRID[int(np.argmin(pvalues))]
        kernel, (z,) = self._weights(train, (regularization,))
        selection = self.selection(
            train,
            np.flatnonzero(z),
            z,
            float("nan"),
            kernel=kernel.name,
            regularization=regularization,
            constant=kernel.constant,
        )
        return FittedMMD(selection=selection, kernel=kernel, z=z)

    def _weights(
        self, samples: Samples, regularizations: tuple[float, ...]
    ) -> tuple[FittedKernel, list[FloatArray]]:
        kernel = Linear(bandwidth="paper").fit(samples, n_jobs=self.n_threads)
        coefficients = linear_coefficients(samples, kernel)
        found = []
        for regularization in regularizations:
            right = linear_problem(coefficients, regularization, self.at_most(samples.n_columns))
            printed = SparseTrustRegion(-right.A, right.a, right.d)
            found.append(solve(printed, "local-search", random_state=0).z)
        return kernel, found


# The scan of any rows: nothing is learned before.


@dataclass(frozen=True, kw_only=True)
class FittedScan(FittedBaseline):
    """The default test of any rows.

    `selection` holds the choice of the training rows, to be shown; no test uses it.
    """

    def test(self, held_out: Samples, how: Permuting) -> PermutationNull:
        """Scan these rows: the p-value of `two_sample_test`, without the choice that follows."""
        return scan(held_out, **vars(how)).null


PERMUTATIONS = 199
"""Permutations of each test: with 199 the level is 0.05 exactly, as it is with 999."""
LOGISTIC_SECONDS = 0.3
FIXED_REGULARIZATION = 0.1
# Polished starts and exchanges: annealed runs and bounds would take most of the time of a trial.
SWIFT = Annealing(iterations=0, n_random=0, n_exchanged=1, largest_group=2, bound_seconds=0.0)


@dataclass(frozen=True)
class Settings:
    """The settings of a trial, shared by all methods."""

    n_variables: int
    seed: int
    test_size: float = 0.5


class Contestant(Protocol):
    """A method with its settings."""

    def test(self, X: FloatArray, Y: FloatArray) -> TestResult:
        """Split, fit and test."""
        ...

    def supports(self, X: FloatArray, Y: FloatArray, numbers: Sequence[int]) -> list[IntArray]:
        """Return the variables chosen by all rows, for each number of them."""
        ...

    def freeze(self, X: FloatArray, Y: FloatArray) -> tuple[FittedBaseline, Samples]:
        """Split and fit; return what can be tested again and again, and the held-out rows."""
        ...


@dataclass(frozen=True)
class Ours:
    """The paper's test with some kernel; λ by cross-validation unless it is given."""

    settings: Settings
    kernel: str | Kernel
    regularization: float | None = None
    solver: str | Annealing = "auto"

    def test(self, X: FloatArray, Y: FloatArray) -> TestResult:
        """Split, tune, select and test."""
        return two_sample_test(
            X,
            Y,
            method="split",
            n_variables=self.settings.n_variables,
            kernel=self.kernel,
            regularization="cv" if self.regularization is None else self.regularization,
            # The paper's weights may be negative.
            nonnegative=False,
            solver=self.solver,
            test_size=self.settings.test_size,
            n_permutations=PERMUTATIONS,
            alpha=ALPHA,
            random_state=self.settings.seed,
        )

    def supports(self, X: FloatArray, Y: FloatArray, numbers: Sequence[int]) -> list[IntArray]:
        """Return the best variables of each number; λ is 0.1 unless it is given."""
        regularization = (
            FIXED_REGULARIZATION if self.regularization is None else self.regularization
        )
        return [
            select_variables(
                X,
                Y,
                number,
                kernel=self.kernel,
                regularization=regularization,
                nonnegative=False,
                solver=self.solver,
                random_state=self.settings.seed,
            ).support
            for number in numbers
        ]

    def freeze(self, X: FloatArray, Y: FloatArray) -> tuple[FittedBaseline, Samples]:
        """Return kernel and weights as `two_sample_test` froze them, and the held-out rows."""
        result = self.test(X, Y)
        assert result.kernel is not None
        fitted = FittedMMD(selection=result.selection, kernel=result.kernel, z=result.selection.z)
        return fitted, result.held_out


@dataclass(frozen=True)
class Scanned:
    """The default test, `two_sample_test(X, Y)`: all rows test for every kind of difference."""

    settings: Settings

    def test(self, X: FloatArray, Y: FloatArray) -> TestResult:
        """Scan all rows; the p-value does not depend on how many variables are requested."""
        return two_sample_test(
            X, Y, n_permutations=PERMUTATIONS, alpha=ALPHA, random_state=self.settings.seed
        )

    def supports(self, X: FloatArray, Y: FloatArray, numbers: Sequence[int]) -> list[IntArray]:
        """Return the variables chosen after the scan, for each number of them."""
        samples = read_samples(X, Y)
        return [self._chosen(samples, number).selection.support for number in numbers]

    def freeze(self, X: FloatArray, Y: FloatArray) -> tuple[FittedBaseline, Samples]:
        """Split as the others do; the training rows choose what is shown, and no test uses it."""
        rng = Generators.of(self.settings.seed).split
        train, held_out = split_by_content(read_samples(X, Y), self.settings.test_size, rng)
        chosen = self._chosen(train, self.settings.n_variables)
        return FittedScan(selection=chosen.selection), held_out

    def _chosen(self, samples: Samples, number: int) -> TestResult:
        settings = TestSettings(
            n_variables=number, n_permutations=PERMUTATIONS, random_state=self.settings.seed
        )
        return run_test(samples, settings)


@dataclass(frozen=True)
class Competitor:
    """A baseline, made for each number of variables."""

    settings: Settings
    make: Callable[[Settings], Baseline]

    def test(self, X: FloatArray, Y: FloatArray) -> TestResult:
        """Split, fit and test."""
        return self.make(self.settings).test(X, Y)

    def supports(self, X: FloatArray, Y: FloatArray, numbers: Sequence[int]) -> list[IntArray]:
        """Return the variables of each number."""
        chosen = []
        for number in numbers:
            baseline = self.make(replace(self.settings, n_variables=number))
            assert isinstance(baseline, SelectingBaseline)
            chosen.append(baseline.select(X, Y).support)
        return chosen

    def freeze(self, X: FloatArray, Y: FloatArray) -> tuple[FittedBaseline, Samples]:
        """Fit on the rows that `two_sample_test` would train on with the same seed."""
        baseline = self.make(self.settings)
        rngs = Generators.of(self.settings.seed)
        train, held_out = split_by_content(baseline.read(X, Y), self.settings.test_size, rngs.split)
        return baseline.fit(train, rngs.fit), held_out


@dataclass(frozen=True)
class Method:
    """A method as rows and figures name it.

    Attributes
    ----------
    label : str
        In figures and tables.
    family : str
        "ours", "standard" (all variables) or "competitor"; for reproduction only, "literal": ours
        as the paper prints it, and "retired": a test by reselection.
    make : callable
        From the settings of a trial to the method.
    selects : bool
        Whether it chooses variables.
    slow : bool
        Whether a trial takes so long that there are fewer of them.
    all_rows : bool
        Whether its p-value uses the training rows, too.
    """

    label: str
    family: str
    make: Callable[[Settings], Contestant]
    selects: bool = True
    slow: bool = False
    all_rows: bool = False


def _ours(kernel: str | Kernel, regularization: float | None = None) -> Callable[..., Contestant]:
    # No proof of optimality: thousands of trials need the variables only.
    exact = resolve_kernel(kernel).abilities.exact
    solver: str | Annealing = "local-search" if exact else SWIFT
    return lambda settings: Ours(settings, kernel, regularization, solver)


def _standard(kernel: str, use: str, bandwidth: str = "median") -> Callable[..., Contestant]:
    return lambda settings: Competitor(
        settings,
        lambda s: StandardMMD(kernel, bandwidth=bandwidth, use=use, **_shared(s)),
    )


def _competitor(kind: type[SelectingBaseline], **options: Any) -> Callable[..., Contestant]:
    return lambda settings: Competitor(
        settings,
        lambda s: kind(n_variables=s.n_variables, **options, **_shared(s)),
    )


def _shared(settings: Settings) -> dict[str, Any]:
    return {
        "test_size": settings.test_size,
        "n_permutations": PERMUTATIONS,
        "alpha": ALPHA,
        "random_state": settings.seed,
    }


METHODS: dict[str, Method] = {
    "linear": Method("linear, selected", "ours", _ours("linear"), slow=True),
    "linear-fixed": Method(
        "linear, selected, λ = 0.1", "ours", _ours("linear", FIXED_REGULARIZATION)
    ),
    # The closed form: the d largest |a_s|.
    "linear-zero": Method("linear, selected, λ = 0", "ours", _ours("linear", 0.0)),
    "quadratic": Method("quadratic, selected", "ours", _ours("quadratic"), slow=True),
    "gaussian": Method("Gaussian, selected", "ours", _ours("gaussian"), slow=True),
    "scan": Method("scan, all rows", "ours", Scanned, slow=True, all_rows=True),
    "linear-reselected": Method(
        "linear, reselected, all rows", "retired", _competitor(Reselection), all_rows=True
    ),
    "linear-printed": Method(
        "linear as printed: sign, bandwidth, λ",
        "literal",
        _competitor(PrintedLinear),
        slow=True,
    ),
    "linear-paper": Method(
        "linear, paper's bandwidth", "literal", _ours(Linear(bandwidth="paper")), slow=True
    ),
    "quadratic-paper": Method(
        "quadratic, paper's bandwidth", "literal", _ours(Quadratic(bandwidth="paper")), slow=True
    ),
    "gaussian-paper": Method(
        "Gaussian, paper's bandwidth", "literal", _ours(Gaussian(bandwidth="paper")), slow=True
    ),
    **{
        f"standard-{kernel}": Method(
            f"standard {kernel} MMD", "standard", _standard(kernel, "held-out"), selects=False
        )
        for kernel in ("linear", "quadratic", "gaussian")
    },
    "standard-gaussian-paper": Method(
        "standard Gaussian MMD, paper's bandwidth",
        "literal",
        _standard("gaussian", "held-out", "paper"),
        selects=False,
    ),
    **{
        f"standard-{kernel}-all": Method(
            f"standard {kernel} MMD, all rows",
            "standard",
            _standard(kernel, "all"),
            selects=False,
            all_rows=True,
        )
        for kernel in ("linear", "quadratic", "gaussian")
    },
    "logistic": Method(
        "sparse logistic regression",
        "competitor",
        _competitor(SparseLogisticRegression, time_limit=LOGISTIC_SECONDS),
    ),
    "wasserstein": Method("projected Wasserstein", "competitor", _competitor(ProjectedWasserstein)),
    # Stronger where the columns share a unit, as the synthetic cases do.
    "wasserstein-raw": Method(
        "projected Wasserstein, columns as they are",
        "competitor",
        _competitor(ProjectedWasserstein, scaled=False),
    ),
    "l1-mmd": Method("ℓ₁-regularised MMD", "competitor", _competitor(L1MMD), slow=True),
    "ks-holm-all": Method(
        "Kolmogorov–Smirnov per variable, Holm, all rows",
        "competitor",
        _competitor(Bonferroni),
        all_rows=True,
    ),
    "mmd-max-t-all": Method(
        "MMD per variable, max-T, all rows",
        "competitor",
        _competitor(Bonferroni, statistic="mmd", correction="max-t"),
        all_rows=True,
    ),
}


def contestant(name: str, settings: Settings) -> Contestant:
    """Return the method of that name for one trial."""
    return METHODS[name].make(settings)
