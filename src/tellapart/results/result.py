"""The result of a two-sample test: p-value, findings and selected variables."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.design import Design
from tellapart.data.design_labels import ARGUMENTS, GIVEN
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.kernels.base import FittedKernel
from tellapart.progress import Progress
from tellapart.results.export import Exports
from tellapart.results.figure_data import FigureData, PageData
from tellapart.results.story import (
    ALL_FINDINGS,
    MOST_LINES,
    describe_evidence,
    describe_findings,
    describe_selection,
    describe_verdict,
)
from tellapart.scan.finding import Finding, p_text
from tellapart.scan.scan import Scan
from tellapart.selection.selection import Selection
from tellapart.selection.stability import Stability
from tellapart.selection.tuning import Tuning
from tellapart.statistics.witness import mean_difference, read_points
from tellapart.text import safe_lines
from tellapart.writing import strict_json, text_writer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# A result as plain Python values: everything but the data, ready for JSON.


def record_design(design: Design | None) -> dict[str, Any] | None:
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
    }


def record_missing(samples: Samples) -> dict[str, Any]:
    """Return what was done about missing values; all empty where there are none."""
    return {
        "dropped_rows": list(samples.dropped_rows),
        "dropped_columns": list(samples.dropped_columns),
        "pairwise_columns": list(samples.filled_columns),
    }


def record_result(result: TestResult) -> dict[str, Any]:
    """Return everything but the data as plain Python values."""
    return {
        "pvalue": result.pvalue,
        "pvalue_error": result.pvalue_error,
        "statistic": result.statistic,
        "threshold": result.threshold,
        "reject": result.reject,
        "alpha": result.alpha,
        "exact": result.exact,
        "n_permutations": int(result.null_distribution.size),
        "rows_per_bin": result.rows_per_bin,
        "note": result.note,
        "labels": list(result.labels),
        "design": record_design(result.held_out.design),
        "n_train": list(result.n_train),
        "n_test": list(result.n_test),
        "missing": record_missing(result.held_out),
        "columns": result.held_out.notes.to_dict(),
        "drawn_from": None if result.drawn_from is None else list(result.drawn_from),
        "variables": list(result.variables),
        "regularization": result.regularization,
        "selection": result.selection.to_dict(),
        "tuning": None if result.tuning is None else asdict(result.tuning),
        "method": None if result.method is None else result.method.name,
        "scan": None if result.scan is None else result.scan.to_dict(),
        "settings": dict(result.settings),
        "seconds": result.seconds,
        "null_distribution": result.null_distribution.tolist(),
    }


# How results tell of a test that is not tellapart's own.


@dataclass(frozen=True)
class Method:
    """A test that is not tellapart's own, as results tell of it.

    Attributes
    ----------
    name : str
        What to call it.
    statistic : str
        What its statistic is.
    validity : str
        Why its p-value holds, as the end of a sentence: "It holds … because …".
    call : str
        The code that makes the test, below `ta.baselines`.
    """

    name: str
    statistic: str
    validity: str
    call: str


@dataclass(frozen=True, eq=False, repr=False)
class TestResult(Exports):
    """The answer of a two-sample test.

    Attributes
    ----------
    pvalue : float
        Valid in finite samples: under H₀, P(pvalue ≤ α) ≤ α.
    statistic : float
        log C of a scan, MMD²_u(z) of the held-out rows, or what `method` says.
    threshold : float
        The critical value: rejected exactly when `statistic > threshold`.
    alpha : float
        The level asked for.
    null_distribution : array
        The statistic under permutations of the rows tested; empty where a formula serves.
    exact : bool
        Whether all distinct permutations were enumerated.
    selection : Selection
        The variables, chosen on the training rows (of a scan: on all), and their certificate.
    n_train, n_test : pair of int
        Rows of X and of Y used to choose the variables alone, and for the p-value. Where none
        are for the choice alone, all of them serve the p-value.
    tuning : Tuning or None
        Number of variables and λ, with the scores they were chosen by; None for a `method`.
    labels : pair of str
        What to call the two samples.
    seconds : float
        Wall time of the whole test.
    kernel : FittedKernel or None
        The kernel with its bandwidths frozen on the training rows; None for a `method` without.
    held_out : Samples
        The held-out rows.
    settings : mapping
        What was asked for, as plain values; `settings["random_state"]` is the seed that was
        used, drawn afresh if none was given, or None if a Generator was.
    method : Method or None
        The baseline that gave this result; None for `two_sample_test`.
    train : Samples or None
        The training rows, which `stability` needs; `dataclasses.replace(result, train=None)`
        is a smaller result to store.
    scan : Scan or None
        What the scan found; None for `method="split"` and the baselines.
    drawn_from : pair of int or None
        Rows of X and of Y that there are, where those used were drawn from them at random: for a
        time limit, or for a split of samples in chunks. None where all were used.
    rows_per_bin, note : int and str
        Rows whose labels were permuted together; what else made many rows cheaper, if so.
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

    @property
    def reject(self) -> bool:
        """Whether the null hypothesis is rejected: pvalue ≤ alpha."""
        return self.pvalue <= self.alpha

    @property
    def pvalue_error(self) -> float:
        """The Monte Carlo standard error of the p-value, √(p(1 − p)/(B + 1)) of B permutations.

        0 where all permutations were enumerated, and where the p-value comes from a formula.
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
        """Names of the chosen variables."""
        return self.selection.variables

    @property
    def regularization(self) -> float:
        """The λ that was used."""
        return self.selection.regularization

    @property
    def families(self) -> dict[str, float]:
        """The p-value of each family of differences that the scan looked at, each by itself."""
        return {} if self.scan is None else dict(self.scan.families)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What differs, by name, kind and size; each with an adjusted p-value of at most alpha."""
        return () if self.scan is None else self.scan.findings

    @property
    def variable_pvalues(self) -> dict[str, float]:
        """The adjusted p-value of every column, by its name; empty for other tests than a scan."""
        return {} if self.scan is None else dict(self.scan.variable_pvalues)

    @property
    def statistic_name(self) -> str:
        """What the statistic is."""
        if self.scan is not None:
            return "combined statistic (log)"
        return "MMD²" if self.method is None else self.method.statistic

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        return describe_verdict(self)

    def witness(self, points: object) -> FloatArray:
        """Say at each point which sample is the denser there, as the kernel sees it.

        f̂(v) = mean_i K(x_i, v) − mean_j K(y_j, v) over the held-out rows: positive where X
        prevails, negative where Y does.

        Parameters
        ----------
        points : array or sparse matrix of shape (k, D), table or AnnData
            Tables need the chosen variables only.

        Returns
        -------
        array of length k
        """
        kernel = self.kernel
        if kernel is None:
            name = "this test" if self.method is None else self.method.name
            raise InputError(f"witness needs the kernel of a test; {name} has none")
        used = self.selection.support
        values = read_points(points, self.held_out, used)
        z = self.selection.z[used]
        return mean_difference(kernel.columns(used), self.held_out.columns(used), z, values)

    def stability(
        self,
        n_resamples: int = 50,
        *,
        time_limit: float | None = None,
        random_state: int | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        progress: bool | Progress = False,
    ) -> Stability:
        """Say how often each variable is chosen again on random halves of the training rows.

        Kernel, bandwidths, λ and the number of variables stay as they are. The held-out rows
        have no part in it, so the p-value is not touched; where no rows are held out all rows
        are drawn from, and the p-value stays what it was. The answer is kept: asking twice costs
        nothing.

        Parameters
        ----------
        n_resamples : int
            Resamples to make.
        time_limit : float or None
            Seconds after which no further resample is begun; one is always made.
        random_state : int, numpy Generator or None
            Seeds the draw of the rows.
        n_jobs : int or None
            Threads; −1 is every core.
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
            self.verdict,
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
        """Return lines that say where the p-value comes from."""
        return describe_evidence(self)

    def story(
        self, max_findings: int | None = MOST_LINES, *, rest: str = ALL_FINDINGS
    ) -> list[str]:
        """Return lines that say what differs: one sentence, then one line per finding.

        Empty for other tests than a scan, and where the test does not reject. The arguments are
        those of `summary`.
        """
        if self.scan is None or not self.reject:
            return []
        return describe_findings(self.scan, self.alpha, max_findings, rest)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the data as plain Python values, ready for JSON."""
        return record_result(self)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return `to_dict()` as strict JSON; write it to `path` too if given.

        Numbers that JSON does not know, such as an infinite threshold, become null. The file
        appears whole or not at all.
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

        The page needs no network and no script, and prints well. The file appears whole or not
        at all.

        Parameters
        ----------
        path : str, path-like or None
            Where to write it.
        reproduce : str or None
            The command or code the page gives for repeating the test; the Python call if None.
        stability : bool or int
            How often the variables are chosen again: True takes 50 resamples, fewer (10 at
            least) where one takes long; a number is that many; False leaves it out.

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
        # The report draws with Matplotlib: only those who want it wait for that to load.
        from tellapart.report.page import render_page

        return write(render_page(self, shown, reproduce))

    @overload
    def plot(self) -> Figure: ...
    @overload
    def plot(self, what: str, *, ax: Axes | None = None, **options: Any) -> Axes: ...
    def plot(
        self, what: str | None = None, *, ax: Axes | None = None, **options: Any
    ) -> Figure | Axes:
        """Draw what was found in one figure, or one panel of it.

        The figure of a scan shows its findings, the null distribution and the first columns and
        pairs; that of other tests the weights, the null distribution and the chosen variables.

        Nothing is shown and no state of pyplot is touched: save the figure, or let a notebook
        show it.

        Parameters
        ----------
        what : str or None
            "weights", "null", "marginal", "pair", "stability" or "embedding"; of a scan also
            "findings", "families" and "columns"; None for the figure.
        ax : matplotlib Axes or None
            Where to draw a panel; new axes on a new figure if None.
        **options
            `variable` is the column of "marginal" and `variables` are the two of "pair" (the
            first finding's by default, else the heaviest), `method` is the way of "embedding"
            ("pca" or "t-sne"), `n_resamples` the resamples of "stability".

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
        # Matplotlib takes most of a second to load: only those who draw wait for it.
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


# The Python call behind a result: what a page gives for repeating it.


def write_arguments(settings: Mapping[str, object], usual: Mapping[str, object]) -> str:
    """Return the settings that differ from the usual ones, as the end of an argument list.

    Examples
    --------
    >>> write_arguments({"alpha": 0.1, "kernel": "linear"}, {"alpha": 0.05, "kernel": "linear"})
    ', alpha=0.1'
    """
    given = {key: value for key, value in settings.items() if value != usual.get(key)}
    # A kernel or solver of one's own is known by its repr, which is code already.
    return "".join(f", {k}={v if '(' in str(v) else repr(v)}" for k, v in given.items())


def design_arguments(settings: Mapping[str, object], labels: str) -> dict[str, object]:
    """Return the design among the settings; labels that were given are written as `labels` says.

    Examples
    --------
    >>> asked = {"alpha": 0.05, "strata": "site", "clusters": "given labels"}
    >>> write_arguments(design_arguments(asked, "({0}_of_x, {0}_of_y)"), {})
    ", strata='site', clusters=(clusters_of_x, clusters_of_y)"
    """
    return {
        name: labels.format(name) if value == GIVEN else value
        for name, value in settings.items()
        if name in ARGUMENTS
    }
