"""The result of a two-sample test: p-value, findings and selected variables."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tellapart.arguments import check_number
from tellapart.arrays import FloatArray
from tellapart.data.design import Design
from tellapart.data.design_labels import ARGUMENTS, GIVEN
from tellapart.data.samples import Samples
from tellapart.effects.simultaneous import simultaneous_effects
from tellapart.errors import InputError
from tellapart.kernels.base import FittedKernel
from tellapart.progress import Progress, check_progress, progress_reporter
from tellapart.results.columns_table import (
    ColumnsSource,
    ColumnsTable,
    describe_columns,
    table_columns,
)
from tellapart.results.export import Exports
from tellapart.results.figure_data import FigureData, PageData
from tellapart.results.gathered import Gathered, describe_gathered, gather_findings
from tellapart.results.limits import EffectLimits
from tellapart.results.story import (
    ALL_FINDINGS,
    MOST_LINES,
    describe_evidence,
    describe_findings,
    describe_negligible,
    describe_selection,
    describe_verdict,
)
from tellapart.results.without_named import Removals, RowsAtHand
from tellapart.scan.column_tests import ColumnTests
from tellapart.scan.finding import Finding, p_text
from tellapart.scan.scan import Scan
from tellapart.selection.by_evidence import shown_kernel
from tellapart.selection.changes import ScanFindings, with_changes
from tellapart.selection.proof import prove_further
from tellapart.selection.selection import EVIDENCE, Selection
from tellapart.selection.stability import Stability
from tellapart.selection.tuning import Tuning
from tellapart.statistics.witness import mean_difference, read_points
from tellapart.text import safe, safe_lines
from tellapart.writing import strict_json, text_writer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Method:
    """A test from outside the package, such as a baseline, as results describe it.

    Attributes
    ----------
    name : str
        Its name.
    statistic : str
        The name of its statistic.
    validity : str
        Why its p-value is valid, as the end of a sentence: "It holds … because …".
    call : str
        The code that constructs the test, below `ta.baselines`.
    """

    name: str
    statistic: str
    validity: str
    call: str


@dataclass(frozen=True, eq=False, repr=False)
class TestResult(Exports, Removals):
    """The answer of a two-sample test.

    Attributes
    ----------
    pvalue : float
        Valid in finite samples: under H₀, P(pvalue ≤ α) ≤ α.
    statistic : float
        log C of a scan, MMD²_u(z) of the holdout, or the statistic of `method`.
    threshold : float
        The critical value: H₀ is rejected exactly when `statistic > threshold`.
    alpha : float
        The level of the test.
    null_distribution : array
        The statistic under permutations; empty where the p-value comes from a formula.
    exact : bool
        Whether all distinct permutations were enumerated.
    selection : Selection
        The selected variables and their certificate; selected on the training rows of a split, or
        on all rows of a scan.
    n_train, n_test : pair of int
        Rows of X and of Y used for the selection alone, and for the p-value. Where none are used
        for the selection alone, all are used for the p-value.
    tuning : Tuning or None
        Number of variables and λ, with their cross-validation scores; None for a `method`.
    labels : pair of str
        The names of the two samples.
    seconds : float
        Wall time of the whole test.
    kernel : FittedKernel or None
        The kernel, fitted on the training rows; None for a `method` without one.
    held_out : Samples
        The rows of the p-value.
    settings : mapping
        The arguments of the test, as plain values; `settings["random_state"]` is the seed that was
        used, which is drawn if none was given, or None if a Generator was given.
    method : Method or None
        The baseline that gave this result; None for `two_sample_test`.
    train : Samples or None
        The training rows, which `stability` needs; `dataclasses.replace(result, train=None)`
        is a smaller result to store.
    scan : Scan or None
        The result of the scan; None for `method="split"` and the baselines.
    drawn_from : pair of int or None
        All rows of X and of Y, where those used were drawn from them at random: for a time limit,
        or for a split of samples in chunks. None where all were used.
    rows : RowsAtHand or None
        The rows of samples in chunks, which `without_named` needs; not stored with the result.
    rows_per_bin, note : int and str
        Rows per permuted block, and what else was approximated for large samples, if anything.
    table : ColumnsSource or None
        All columns in numbers, where `held_out` does not hold all tested rows and columns.
    """

    __test__ = False  # the name begins with "Test": keeps pytest from collecting it

    pvalue: float
    statistic: float
    threshold: float
    alpha: float
    null_distribution: FloatArray
    exact: bool
    selection: Selection
    n_train: tuple[int, int]
    n_test: tuple[int, int]
    tuning: Tuning | None
    labels: tuple[str, str]
    seconds: float
    kernel: FittedKernel | None
    held_out: Samples
    settings: Mapping[str, Any] = field(default_factory=dict)
    method: Method | None = None
    train: Samples | None = None
    scan: Scan | None = None
    drawn_from: tuple[int, int] | None = None
    rows_per_bin: int = 1
    note: str = ""
    table: ColumnsSource | None = field(default=None, repr=False)
    rows: RowsAtHand | None = field(default=None, repr=False)

    @property
    def reject(self) -> bool:
        """Whether the null hypothesis is rejected: pvalue ≤ alpha."""
        return self.pvalue <= self.alpha

    @property
    def pvalue_error(self) -> float:
        """The Monte Carlo standard error of the p-value, √(p(1 − p)/(B + 1)) of B permutations.

        0 where all permutations were enumerated, and where the p-value comes from a formula. A scan
        calibrates its statistics on the same permutations: there the standard deviation between
        seeds is up to about twice as large.
        """
        count = self.null_distribution.size
        if self.exact or count == 0:
            return 0.0
        return math.sqrt(self.pvalue * (1 - self.pvalue) / (count + 1))

    @property
    def pvalue_floor(self) -> float:
        """The smallest p-value that so many random permutations can give: 1/(B + 1); else 0."""
        count = self.null_distribution.size
        return 0.0 if self.exact or count == 0 else 1 / (count + 1)

    @property
    def pvalue_text(self) -> str:
        """The p-value with its Monte Carlo standard error; "p ≤ 0.001" at the floor."""
        text = p_text(self.pvalue, self.pvalue_floor)
        if text.startswith("p ≤") or self.pvalue_error == 0:
            return text
        return f"{text}, Monte Carlo SE {self.pvalue_error:.2g}"

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the selected variables."""
        return self.selection.variables

    @property
    def regularization(self) -> float:
        """The λ that was used."""
        return self.selection.regularization

    @property
    def families(self) -> dict[str, float]:
        """The unadjusted p-value of each family of differences that the scan tested."""
        return {} if self.scan is None else dict(self.scan.families)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What differs: variables, kind and effect size, each with adjusted p-value ≤ alpha."""
        return () if self.scan is None else self.scan.findings

    @cached_property
    def gathered(self) -> tuple[Gathered, ...]:
        """Findings that repeat one cause: columns that move together, pairs that share a column."""
        return gather_findings(self)

    @property
    def variable_pvalues(self) -> dict[str, float]:
        """The adjusted p-value of every column, by name; empty for tests other than a scan."""
        return {} if self.scan is None else dict(self.scan.variable_pvalues)

    @property
    def effective_sizes(self) -> tuple[float, float] | None:
        """Kish's effective sample sizes, (Σw)²/Σw²; None where all rows count alike."""
        design = self.held_out.design
        return None if design is None else design.effective_sizes

    @property
    def column_tests(self) -> ColumnTests | None:
        """Unadjusted and adjusted p-value and q-value of every column; None without a scan."""
        return None if self.scan is None else self.scan.column_tests

    @cached_property
    def limits(self) -> EffectLimits:
        """What the rows of the p-value exclude: 95 % limits of all effects that hold together.

        Computed when first asked for. Of samples in chunks they come from the rows drawn from them,
        `limits.rows` of each. Comparisons of groups, which hold no rows of their own, have none: an
        error.
        """
        seed = self.settings.get("random_state")
        effects = simultaneous_effects(self.held_out.held, seed if isinstance(seed, int) else 0)
        return EffectLimits.of(effects)

    @property
    def nothing_found(self) -> bool:
        """Whether the test does not reject, or a scan rejects without any finding."""
        return not self.reject or (self.scan is not None and not self.scan.findings)

    @property
    def excluded(self) -> str:
        """Where nothing was found, the limits of all effects in one sentence; else empty.

        Empty also where the rows of all columns are not held, as of comparisons of groups.
        """
        try:
            return self.limits.summary() if self.nothing_found else ""
        except InputError:
            return ""

    @property
    def statistic_name(self) -> str:
        """The name of the statistic."""
        if self.scan is not None:
            return "combined statistic (log)"
        return "MMD²" if self.method is None else self.method.statistic

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        return describe_verdict(self)

    def difference_words(self) -> tuple[str, str]:
        """Return the beginning of the verdict where the test rejects, and where it does not."""
        names = " and ".join(map(safe, self.labels))
        return f"{names} differ", f"No significant difference between {names}"

    def witness(self, points: object) -> FloatArray:
        """Return the witness function at some points: which sample is denser there.

        f̂(v) = mean_i K(x_i, v) − mean_j K(y_j, v) over the held-out rows: positive where X is
        denser, negative where Y is.

        Parameters
        ----------
        points : array or sparse matrix of shape (k, D), table or AnnData
            Tables need the selected variables only.

        Returns
        -------
        array of length k
        """
        kernel = self.kernel
        if kernel is None:
            name = "this test" if self.method is None else self.method.name
            raise InputError(f"witness needs the kernel of a test; {name} has none")
        support = self.selection.support
        values = read_points(points, self.held_out, support)
        z = self.selection.z[support]
        return mean_difference(kernel.columns(support), self.held_out.columns(support), z, values)

    def stability(
        self,
        n_resamples: int = 50,
        *,
        time_limit: float | None = None,
        random_state: int | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        progress: bool | Progress = False,
    ) -> Stability:
        """Return how often each variable is selected on random halves of the training rows.

        Kernel, bandwidths, λ and the number of variables stay fixed. The held-out rows are not
        used; where no rows are held out, halves of all rows are drawn, and the p-value does not
        change. The result is cached.

        Parameters
        ----------
        n_resamples : int
            Number of resamples.
        time_limit : float or None
            Seconds after which no further resample is started; there is always one.
        random_state : int, numpy Generator or None
            Seed of the draws.
        n_jobs : int or None
            Threads; −1 uses every core.
        progress : bool or callable
            True for a display on standard error, or a function of (stage, detail).

        Returns
        -------
        Stability
            Counts per variable: `chosen`, `others`, `frequency(name)`, `summary()`.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> X, Y = rng.normal(size=(60, 3)), rng.normal(size=(80, 3)) + [0, 3, 0]
        >>> result = ta.two_sample_test(X, Y, method="split", n_variables=1, random_state=0)
        >>> result.stability(20).chosen
        {'x1': 20}
        """
        return self._figure_data.stability(
            n_resamples,
            time_limit=time_limit,
            random_state=random_state,
            n_jobs=n_jobs,
            progress=progress,
        )

    def prove(self, time_limit: float = 60.0, *, progress: bool | Progress = False) -> TestResult:
        """Go on with the proof that the selection is optimal, and return the result with its bound.

        The search goes on where it stopped, so that the gap never widens; the p-value and the
        findings stay as they are. After a scan a better selection that the search meets takes the
        place of the present one; after a split the selection that was tested is kept. Once the
        selection is optimal, the rest of the time goes into a proof of its runner-up, and into
        listing all subsets within 1 % of its criterion (`selection.near`).

        Parameters
        ----------
        time_limit : float
            Seconds at most.
        progress : bool or callable
            True for a display on standard error, or a function of (stage, detail).

        Returns
        -------
        TestResult
            With what is proved by then.

        Raises
        ------
        InputError
            Where no search can go on: `kernel` and `regularization` have no certificate, the
            result is that of a baseline, or the problem was too large to be kept.

        Examples
        --------
        >>> import tellapart as ta
        >>> X, Y, _ = ta.datasets.make_case("mean-shift", 100, random_state=0)
        >>> result = ta.two_sample_test(X, Y, n_permutations=99, random_state=0)
        >>> longer = result.prove(time_limit=5)
        >>> longer.selection.gap <= result.selection.gap
        True
        """
        seconds = check_number("time_limit", time_limit, 0.0, open_low=True)
        with progress_reporter(check_progress(progress)) as report:
            selection = prove_further(
                self.selection,
                self.held_out if self.train is None else self.train,
                seconds,
                keep=self.scan is None,
                progress=report,
            )
        kernel = self.kernel
        if self.scan is not None and not np.array_equal(selection.z, self.selection.z):
            named = ScanFindings(self.scan.findings, self.scan.variable_pvalues, self.alpha)
            selection = with_changes(selection, self.held_out, scanned=named).labelled(self.labels)
            if selection.objective == EVIDENCE:
                kernel = shown_kernel(self.held_out, selection)
        spent = selection.seconds - self.selection.seconds
        return replace(self, selection=selection, kernel=kernel, seconds=self.seconds + spent)

    def page_data(self, *, stability: bool | int = True) -> PageData:
        """Return what a page shows and has to compute; `stability` is that of `to_html`.

        The answer is kept: a second page costs nothing.
        """
        return self._figure_data.page_data(stability)

    def exhibit(self, *, stability: bool | int = True) -> PageData:
        """Return `page_data`, under a deprecated name."""
        warnings.warn("exhibit is deprecated: use page_data", DeprecationWarning, stacklevel=2)
        return self.page_data(stability=stability)

    @cached_property
    def column_data(self) -> ColumnsTable:
        """All columns in numbers, computed when first used."""
        return describe_columns(self.held_out) if self.table is None else self.table.table

    @cached_property
    def _figure_data(self) -> FigureData:
        return FigureData(self)

    def summary(self, max_findings: int | None = MOST_LINES, *, rest: str = ALL_FINDINGS) -> str:
        """Return the result as plain text: verdict, findings, p-value, selected variables.

        Parameters
        ----------
        max_findings : int or None
            Findings to list; None for all of them.
        rest : str
            How to get at the findings that are not listed.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> X, Y = rng.normal(size=(60, 3)), rng.normal(size=(80, 3)) + [0, 3, 0]
        >>> result = ta.two_sample_test(X, Y, method="split", n_variables=1, random_state=0)
        >>> print(result.summary())
        X and Y differ (p ≤ 0.001, α = 0.05).
        ...
        1 of 3 variables selected (linear kernel, λ = ...):
          x1   1.000  mean 0.003014 in X, 2.919 in Y; SMD −2.95 (95 % CI −3.78 to −2.24)
        Certificate: optimal among all subsets of at most 1 variable, with non-negative weights ...
        """
        caveat = describe_selection(self)
        lines = [
            describe_verdict(self, with_caveat=not self.excluded),
            *self.story(max_findings, rest=rest),
            "",
            *self.evidence(),
            "",
            *([f"{caveat}."] if caveat else []),
            safe_lines(self._summarised_selection().summary()),
        ]
        return "\n".join(lines)

    def _summarised_selection(self) -> Selection:
        """Return the selection as the summary describes it."""
        return self.selection

    def evidence(self) -> list[str]:
        """Return lines that describe how the p-value was computed."""
        return describe_evidence(self)

    def story(
        self, max_findings: int | None = MOST_LINES, *, rest: str = ALL_FINDINGS
    ) -> list[str]:
        """Return lines that describe what differs: one sentence, then one line per finding.

        Where nothing was found, what is excluded: the limits of all effects. The arguments are
        those of `summary`.
        """
        lines: list[str] = []
        if self.scan is not None and self.reject and not describe_negligible(self):
            lines = describe_findings(self.scan, self.alpha, max_findings, rest)
            in_short = describe_gathered(self.gathered)
            lines = [lines[0], in_short, *lines[1:]] if in_short else lines
        return [*lines, self.excluded] if self.excluded else lines

    def to_dict(self, *, columns_table: bool = True) -> dict[str, Any]:
        """Return everything but the data as plain Python values, ready for JSON.

        `columns_table` is False to leave out the numbers of all columns.
        """
        table = {"columns_table": table_columns(self)} if columns_table else {}
        return {
            "pvalue": self.pvalue,
            "pvalue_error": self.pvalue_error,
            "statistic": self.statistic,
            "threshold": self.threshold,
            "reject": self.reject,
            "alpha": self.alpha,
            "exact": self.exact,
            "n_permutations": int(self.null_distribution.size),
            "rows_per_bin": self.rows_per_bin,
            "note": self.note,
            "labels": list(self.labels),
            "design": _design_record(self.held_out.design),
            "n_train": list(self.n_train),
            "n_test": list(self.n_test),
            "missing": _missing_record(self.held_out),
            "gathered": [group.to_dict() for group in self.gathered],
            "columns": self.held_out.notes.to_dict(),
            "drawn_from": None if self.drawn_from is None else list(self.drawn_from),
            "variables": list(self.variables),
            "regularization": self.regularization,
            "selection": self.selection.to_dict(),
            "tuning": None if self.tuning is None else asdict(self.tuning),
            "method": None if self.method is None else self.method.name,
            "scan": None if self.scan is None else self.scan.to_dict(),
            **table,
            "limits": self.limits.bounds() if self.excluded else None,
            "settings": dict(self.settings),
            "seconds": self.seconds,
            "null_distribution": self.null_distribution.tolist(),
        }

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return `to_dict()` as strict JSON; write it to `path` too if given.

        Numbers that JSON cannot hold, such as an infinite threshold, become null. The file is
        written whole or not at all.
        """
        return text_writer(path, end="\n")(strict_json(self.to_dict()))

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        reproduce: str | None = None,
        stability: bool | int = True,
    ) -> str:
        """Return the report as one HTML page; write it to `path` too if given.

        The page needs no network and can be printed; one script sorts and searches its table of all
        columns, which is complete without. The file is written whole or not at all. Without
        matplotlib (the extra `plot`) figures are left out, and the page says so.

        Parameters
        ----------
        path : str, path-like or None
            Where to write it.
        reproduce : str or None
            The command or code that the page gives for reproducing the test; the Python call if
            None.
        stability : bool or int
            Resamples for the selection frequency: True takes 50, fewer (10 at least) where one
            takes long; False leaves it out.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> X, Y = rng.normal(size=(60, 3)), rng.normal(size=(80, 3))
        >>> result = ta.two_sample_test(X, Y, method="split", random_state=0)
        >>> result.to_html().startswith("<!DOCTYPE html>")
        True
        """
        write = text_writer(path)
        shown = self.page_data(stability=stability)
        # The report draws with Matplotlib, which is slow to import.
        from tellapart.report.page import render_page

        return write(render_page(self, shown, reproduce))

    @overload
    def plot(self) -> Figure: ...
    @overload
    def plot(self, what: str, *, ax: Axes | None = None, **options: Any) -> Axes: ...
    def plot(
        self, what: str | None = None, *, ax: Axes | None = None, **options: Any
    ) -> Figure | Axes:
        """Draw the result in one figure, or one panel of it.

        The figure of a scan shows its findings, the null distribution and the most significant
        columns and pairs; that of other tests the weights, the null distribution and the selected
        variables. It does not use pyplot: save the figure, or let a notebook display it.

        Parameters
        ----------
        what : str or None
            "weights", "null", "marginal", "pair", "stability", "embedding" or "love" (the
            standardised mean differences of columns); with `adjust` also "propensity" (how far
            covariates overlap); of a scan also "findings", "families",
            "columns" and "volcano" (p-values of all columns by their effects); None for the figure.
        ax : matplotlib Axes or None
            Where to draw a panel; new axes on a new figure if None.
        **options
            `variable` is the column of "marginal" and `variables` are the two of "pair" (by default
            those of the most significant finding, else those with the largest weights), `method` is
            that of "embedding" ("pca" or "t-sne"), `n_resamples` is that of "stability",
            `log2_fold_change` ("counts" or "log1p", as in `columns_table`) is that of "volcano".

        Returns
        -------
        matplotlib Figure, or Axes for one panel
            Save it with `figure.savefig("out.png")`; of axes, `ax.figure.savefig`.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> X, Y = rng.normal(size=(60, 3)), rng.normal(size=(80, 3)) + [0, 3, 0]
        >>> result = ta.two_sample_test(X, Y, method="split", n_variables=1, random_state=0)
        >>> from matplotlib.figure import Figure
        >>> left, right = Figure().subplots(1, 2)
        >>> result.plot("null", ax=left) is left
        True
        """
        # Matplotlib is slow to import.
        from tellapart.report.figures import draw_figure
        from tellapart.report.plots import check_axes, draw_panel

        if what is not None:
            check_axes(ax)
            return draw_panel(self, what, self._figure_data.panel(what, **options), ax)
        if ax is not None or options:
            raise InputError("ax and options are for one panel: say which by what=")
        return draw_figure(self, self._figure_data.views)

    def _repr_html_(self) -> str:
        from tellapart.report.notebook import result_card

        return result_card(self)

    def __repr__(self) -> str:
        p = p_text(self.pvalue, self.pvalue_floor)
        return f"<TestResult: {p}, {len(self.variables)} variables>"


def _design_record(design: Design | None) -> dict[str, Any] | None:
    """Return a design as plain Python values."""
    if design is None:
        return None
    return {
        "strata": design.strata,
        "paired": design.paired,
        "clusters": design.clusters,
        "n_blocks": design.n_blocks,
        "n_units": list(design.n_units),
        "left_out": list(design.left_out),
        "described": design.describe(),
        **(
            {}
            if design.effective_sizes is None
            else {
                "weights": design.weights_name or "given",
                "effective_sizes": list(design.effective_sizes),
                "weightless": list(design.weightless),
            }
        ),
        **({} if design.adjustment is None else {"adjustment": design.adjustment.to_dict()}),
    }


def _missing_record(samples: Samples) -> dict[str, Any]:
    """Return how missing values were handled; all empty where there are none."""
    return {
        "dropped_rows": list(samples.dropped_rows),
        "dropped_columns": list(samples.dropped_columns),
        "pairwise_columns": list(samples.filled_columns),
    }


def write_arguments(settings: Mapping[str, object], usual: Mapping[str, object]) -> str:
    """Return the settings that differ from the defaults, as the end of an argument list.

    Examples
    --------
    >>> write_arguments({"alpha": 0.1, "kernel": "linear"}, {"alpha": 0.05, "kernel": "linear"})
    ', alpha=0.1'
    """
    given = {key: value for key, value in settings.items() if value != usual.get(key)}
    # A kernel or solver that is an object is written by its repr, which is code already.
    return "".join(f", {k}={v if '(' in str(v) else repr(v)}" for k, v in given.items())


def design_arguments(settings: Mapping[str, object], labels: str) -> dict[str, object]:
    """Return the design among the settings; arrays of labels are written by the format `labels`.

    Examples
    --------
    >>> settings = {"alpha": 0.05, "strata": "site", "clusters": "given labels"}
    >>> write_arguments(design_arguments(settings, "({0}_of_x, {0}_of_y)"), {})
    ", strata='site', clusters=(clusters_of_x, clusters_of_y)"
    """
    return {
        name: labels.format(name) if value == GIVEN else value
        for name, value in settings.items()
        if name in (*ARGUMENTS, "adjust")
    }
