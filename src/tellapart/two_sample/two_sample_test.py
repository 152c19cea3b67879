"""Do two samples differ? A scan of all rows, or a split: select on one part, test on the other."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tellapart.arguments import check_labels, settings_from, with_checked
from tellapart.data.design_labels import DesignArguments, refuse_chunks
from tellapart.data.hints import warn_of_input
from tellapart.data.reader import read_chunked, read_samples
from tellapart.data.samples import Samples
from tellapart.data.sources import is_chunked
from tellapart.data.time_blocks import warn_of_time_order
from tellapart.interrupts import interruptible
from tellapart.kernels import Kernel
from tellapart.progress import Progress, Stage, progress_reporter
from tellapart.results.result import TestResult
from tellapart.search import Annealing
from tellapart.strs import Solver
from tellapart.two_sample.runs import RUNS, step_seeds
from tellapart.two_sample.settings import Limits, TestSettings

DEFAULT_LABELS = ("X", "Y")


def two_sample_test(
    X: object,
    Y: object,
    *,
    method: str = "scan",
    families: str | Sequence[str] | Mapping[str, float] | None = None,
    n_variables: int | None = None,
    kernel: str | Kernel = "auto",
    regularization: float | str = "cv",
    nonnegative: bool = True,
    solver: str | Solver | Annealing = "auto",
    test_size: float = 0.5,
    n_permutations: int = 999,
    alpha: float = 0.05,
    error_rate: str = "fwer",
    false_proportion: float = 0.1,
    strata: object = None,
    paired: bool | str | Sequence[object] = False,
    clusters: object = None,
    design: object = None,
    weights: object = None,
    adjust: object = None,
    labels: tuple[str, str] = DEFAULT_LABELS,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
    missing: str = "error",
    keep: Sequence[str] = (),
    gap: float = 1e-4,
    time_limit: float | None = None,
    memory_budget: float | None = None,
    smallest_effect: float | Mapping[str, Any] | None = None,
) -> TestResult:
    """Test whether two samples come from one distribution, and report what differs.

    With `method="scan"` all observations are used. Families of statistics (location, shape, kernel,
    correlation, pair, triple, higher, joint; values and missing, where there are such values) are
    computed for the observed labels and for permutations of them, the same for all families.
    C = Σ_f w_f/p_f combines the families' p-values, and p = #{e : C(e) ≥ C(e₀)}/(B + 1) compares
    the observed labelling e₀ with the B permutations. The observed labelling is part of the
    reference set throughout, so P(p ≤ α) ≤ α under H₀ for every sample size. From the same
    permutations come the `findings`: columns, pairs and triples that differ, with adjusted
    p-values, effect sizes and intervals. Variables are then selected on all rows; the p-value does
    not depend on that selection.

    With `method="split"` each sample is split. On the training rows the weights z maximise
    MMD²(z) − λ σ²(z) over at most `n_variables` variables. On the holdout, with kernel, bandwidths
    and z fixed, MMD²(z) is compared with its values under permutations of the rows:
    p = (1 + #{T_i ≥ T})/(N_p + 1). So P(p ≤ α) ≤ α under H₀ for every sample size, whatever
    was selected on the training rows.

    Parameters
    ----------
    X, Y : array, table, or data in chunks
        The two samples; group sizes may differ; columns are matched by name where there are
        names. A scan needs two rows of each, a split four. Datasets of `tellapart.open_dataset`,
        pyarrow datasets, Dask arrays and DataFrames are read chunk by chunk and never held as a
        whole: a scan uses all their rows, and so does a split with the linear kernel; with other
        kernels it uses rows drawn at random.
    method : {"scan", "split"}
        "scan": all rows are used for the test and for the selection. "split": some rows are used
        for the selection, the others for the test.
    families : str, sequence of str, mapping from str to float, or None
        With a scan: the families to run, by name, or their weights w_f by name; None runs all, with
        the weights of the package. What is looked for must be decided before the data are seen.
        With fewer families the test has more power for what they respond to and none for the rest,
        and findings are of their kinds only: `families="location"` names columns whose means or
        proportions differ, and no SDs, pairs or triples. The p-value is valid for any choice.
        Variables are selected by evidence of every kind all the same.
    n_variables : int or None
        The largest number of variables to select. None: with a scan as few as carry 95 % of the
        evidence of ten; with a split the number is tuned on the training rows. The p-value of a
        scan does not depend on it.
    kernel : str or Kernel
        The kernel of the selection, or its name; with a split, of the test too. "auto": with a scan
        variables are selected by evidence (`tellapart.select_variables`); with a split "linear".
    regularization : "cv" or float
        With a kernel: the penalty λ ≥ 0 on the variance. "cv": with a scan 0 where the optimum can
        then be proved (the linear and the quadratic kernel), else that of "auto"
        (`tellapart.select_variables`); with a split it is chosen by cross-validation on the
        training rows.
    nonnegative : bool
        Whether weights must be at least 0. K_z is a kernel only then, and a test with a negative
        weight can miss a difference; False gives the paper's signed weights.
    solver : str or Solver
        A name in `tellapart.strs.SOLVERS`, or "auto", which depends on the size of the problem.
        With a scan and `kernel="auto"` a name means the linear kernel.
    test_size : float
        With a split: the proportion of the rows held out for the p-value, in (0, 1).
    n_permutations : int
        Number of permutations; all are enumerated where there are no more than that. With 999 or
        more, a scan draws further ones while the verdict is open (p close to alpha), up to 19,999
        (`Budget.most_permutations`), by a rule that keeps the p-value valid in finite samples; with
        fewer, or with a `time_limit`, exactly so many. See :doc:`/concepts/p_value`.
    alpha : float
        The level, in (0, 1): of the test, and of all findings together.
    error_rate : {"fwer", "fdr", "fdx"}
        What is at most `alpha` for the findings of a scan. "fwer": the probability of any false
        finding. "fdr": the expected proportion of false findings, by Benjamini and Hochberg's
        q-values. "fdx": the probability that this proportion exceeds `false_proportion`. Pairs
        and triples keep the first in any case. See :doc:`/concepts/findings`.
    false_proportion : float
        γ of `error_rate="fdx"`, in [0, 1); with 0 it is "fwer".
    strata : str, pair of label arrays, or None
        Strata, such as sites or batches: labels are permuted within each of them, so that
        differences between strata are not taken for differences between the samples. A column of
        both tables, which is then not compared, or one array of labels per sample.
    paired : bool, str, or pair of label arrays
        True: row i of X belongs to row i of Y. Or the column (or labels) that matches them: the
        rows of X and those of Y with one key are swapped, one row or several. Keys without a
        partner are an error, or excluded with `missing="drop-rows"`.
    clusters : str, pair of label arrays, or None
        Rows that belong together, such as repeated measurements: the labels of whole clusters are
        permuted, within strata if there are any. Each lies in one sample; with `paired`, pairs
        that share a cluster are swapped together. See :doc:`/concepts/designs`.
    design : str, object, or None
        How labels are permuted within strata, where they may not be permuted freely, such as by
        shifts in time: an object with a `name` and a method `draw(units, n_permutations, rng)`, or
        the name of one that `tellapart.data.design.register_scheme` has added. See
        :doc:`/developers/own_design`.
    weights : str, pair of arrays, or None
        Weights of the rows, such as those of a survey: a column of both tables, which is then not
        compared, or one array per sample; finite, at least 0, and up to one factor for both
        samples. Every row is permuted with its weight; statistics, effects and intervals are
        weighted. The p-value is valid where (row, weight) pairs are exchangeable between the
        samples under H₀: rows were drawn and weighted by one mechanism in both. It is not where
        weights are made to remove a difference between the samples. See :doc:`/howto/weights`.
    adjust : str, sequence of str, pair of tables, or None
        With a scan, covariates such as age and sex: columns of both tables, or a table of them for
        each sample. They are not compared; the question is whether the other columns differ given
        them. Discrete covariates with enough rows of each combination are strata, and the p-value
        is exact. Otherwise labels are permuted by a propensity model, of columns less their
        regression on the covariates: the p-value is then asymptotic, and valid where one of the two
        models is right and no other variable explains both label and columns. Effects are adjusted
        ones, by overlap weights. With `strata` and `clusters`, not with `paired`. See
        :doc:`/howto/adjust`.
    labels : pair of str
        The names of the two samples.
    random_state : int, numpy Generator or None
        Seed of everything random: the same seed gives the same answer. None draws a seed, which
        is in the `settings` of the result.
    n_jobs : int or None
        Threads; −1 uses every core.
    progress : bool or callable
        True for a display on standard error, or a function of (stage, detail).
    missing : {"error", "pairwise", "drop-rows", "drop-columns"}
        How to handle missing values. "pairwise": every statistic of a column, or of several, uses
        the rows that have them; the others exclude rows or columns. A scan always compares the
        patterns of missing values too, on all rows; with "pairwise" a split replaces missing values
        by the pooled median or the most frequent category.
    keep : sequence of str
        Columns of tables to compare although they appear to be identifiers (consecutive numbers,
        hashes, texts that are all different): others are excluded, with a warning and a line in the
        summary.
    gap : float
        The relative gap at which the proof of optimality may stop.
    time_limit : float or None
        Seconds for the whole test. A scan that would take longer uses fewer rows, drawn at random,
        and the result says so; the selection stops with the best subset so far, and tuning with the
        scores it has after half of the time. None sets no limit, except for the proof of
        optimality: as long as the scan took, or one second (with a split ten); the result has the
        gap reached, and `result.prove(time_limit=60)` goes on.
    memory_budget : float or None
        Bytes that a scan may take beyond the input: a scan that needs more is an error before work
        starts. Very many columns are held a block at a time in any case. With a split of samples
        in chunks and a kernel that uses drawn rows: the bytes of these rows.
    smallest_effect : float, mapping or None
        With a scan, the size from which on differences matter: findings are those whose effect
        exceeds it beyond error, and their p-values are of effects of at most this size. A number s
        of standard deviations, for every kind: means by s SD, ratios of standard deviations by a
        factor of eˢ, proportions by 100·s/2 percentage points, correlations and other differences
        by s. Or a mapping from kinds of findings ("location": SD, "spread": ratio, "share":
        proportion, "correlation": difference, …) to sizes; kinds left out are findings whatever
        their size. Columns as keys have sizes of their own, a number or a mapping. The p-value of
        the test does not depend on it. See :doc:`/howto/equivalence`.

    Returns
    -------
    TestResult
        p-value, findings, families, selected variables with weights and certificate, null
        distribution, plots.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 4))
    >>> Y = rng.normal(size=(120, 4)) * [1, 1, 3, 1]
    >>> result = two_sample_test(X, Y, random_state=0)
    >>> result.reject, result.variables
    (True, ('x2',))
    >>> for finding in result.findings:
    ...     print(finding.summary())
    x2: SD 1.018 in X, 2.979 in Y; SD ratio 0.34 (95 % CI 0.27 to 0.43), p ≤ 0.001
    """
    labelling = DesignArguments(strata, paired, clusters, design, weights, adjust)
    settings = settings_from(TestSettings, locals(), design=labelling)
    return compare_tables(X, Y, settings, check_labels(labels), missing=missing, keep=keep)


def compare_tables(
    X: object,
    Y: object,
    settings: TestSettings,
    labels: tuple[str, str],
    *,
    missing: str = "error",
    keep: Sequence[str] = (),
) -> TestResult:
    """Read two samples and test them with settings that are checked; see `two_sample_test`."""
    titles = labels if labels == DEFAULT_LABELS else (repr(labels[0]), repr(labels[1]))
    reading = Stage("read")
    if not (is_chunked(X) or is_chunked(Y)):
        samples = read_samples(
            X, Y, missing=missing, keep=keep, titles=titles, design=settings.design
        )
        reading.done(samples.described_size)
        warn_of_input(X, Y, samples, titles)
        if not settings.design.asked:
            warn_of_time_order(samples, titles)
        limits = Limits.begin(settings.time_limit, settings.memory_budget)
        return run_test(samples, settings, labels, replace(limits, settle=True))
    refuse_chunks(settings.design)
    # The rows to draw are decided by the seed while the rows are read for the first time.
    settings = _with_seed(settings)
    limits = Limits.begin(settings.time_limit, settings.memory_budget)
    with progress_reporter(settings.progress) as report:
        chunks = read_chunked(
            X,
            Y,
            missing=missing,
            keep=keep,
            seed=int(step_seeds(settings)[0]),
            titles=titles,
            progress=lambda rows: report("read", f"{rows:,} rows"),
        )
    reading.done(chunks.described_size)
    warn_of_input(X, Y, chunks, titles)
    return run_test(chunks, settings, labels, replace(limits, settle=True))


@interruptible()
def run_test(
    samples: Samples,
    settings: TestSettings,
    labels: tuple[str, str] = DEFAULT_LABELS,
    limits: Limits | None = None,
) -> TestResult:
    """Test samples that were read already; see `two_sample_test`."""
    started = time.perf_counter()
    settings.check_against(samples)
    settings = _with_seed(settings)
    limits = limits or Limits.begin(settings.time_limit, settings.memory_budget)
    with progress_reporter(settings.progress) as report:
        outcome = RUNS[settings.method](samples, settings, limits, report)
    return outcome.result(settings, labels, time.perf_counter() - started)


def _with_seed(settings: TestSettings) -> TestSettings:
    """Return settings with a seed, drawn if none was given, so that the answer can be repeated."""
    if settings.random_state is not None:
        return settings
    return with_checked(settings, random_state=int(np.random.default_rng().integers(2**32)))
