"""A result for a paper: tables as CSV and for LaTeX, a figure, the methods paragraph."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from tellapart.data.sources.table import make_frame
from tellapart.results.columns_table import PSEUDOCOUNT, table_columns
from tellapart.results.table_one import TableOne, table_one
from tellapart.scan.finding import findings_frame
from tellapart.writing import check_writable, text_writer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tellapart.results.result import TestResult

AnyPath = str | os.PathLike[str]


class Exports:
    """What `TestResult` gives to other programs and papers, as methods of it."""

    def to_frame(self) -> Any:
        """Return the findings as a table, one row each: pandas, pyarrow or polars.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> X, Y = rng.normal(size=(60, 3)), rng.normal(size=(80, 3)) + [0, 3, 0]
        >>> frame = ta.two_sample_test(X, Y, random_state=0).to_frame()
        >>> frame["kind"].tolist(), frame["variables"].tolist()
        (['location', 'location'], ['x1', 'x2'])
        """
        return findings_frame(self._result.findings)

    def variables_frame(self) -> Any:
        """Return the selected variables as a table, the largest weight first: pandas, or pyarrow.

        Weight, how each differs and by how much, with intervals; `pvalue` is the adjusted one and
        `named` whether it is significant at the level of the test.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> X, Y = rng.normal(size=(60, 3)), rng.normal(size=(80, 3)) + [0, 3, 0]
        >>> frame = ta.two_sample_test(X, Y, random_state=0).variables_frame()
        >>> frame[["variable", "weight", "kind", "named"]].values.tolist()
        [['x1', 1.0, 'location', True]]
        """
        return self._result.selection.to_frame()

    def columns_table(
        self,
        *,
        levels: bool = False,
        log2_fold_change: bool | str = False,
        pseudocount: float = PSEUDOCOUNT,
    ) -> Any:
        """Return all columns as a table, one row each: pandas, pyarrow or polars.

        "_first" and "_second" are the two samples. Sizes (`n`, `missing`), `mean`, `sd`, `median`
        and quartiles (`q1`, `q3`) are those of the raw values of the tested rows, whatever the
        design; of rows read in chunks, quartiles are those of rows drawn at random. `type` is
        "numeric", "binary" (numbers with two values), "categorical", "constant" or "empty".

        `smd` is Hedges' g, as in findings; of a binary column the difference of the proportions of
        the larger value over its SD; of a categorical one Yang and Dalton's standardised
        difference of all levels, which has no sign. `sd_ratio` is first over second. Both have
        95 % CIs (`_low`, `_high`), of one column alone and asymptotic. Under strata they compare
        means that are standardised to the same strata. `statistic` is the difference of means
        over its standard error, `pvalue_location` its p-value (Welch's t test where rows are
        independent) and `pvalue_spread` that of equal SDs (of the log of their ratio, by its
        kurtosis-adjusted error): unadjusted, of one kind each, and asymptotic.

        `pvalue` is unadjusted and by permutation (`approximate` where it is below 1/(B + 1) and
        from a fitted tail), `adjusted_pvalue` holds the familywise error rate, `qvalue` the false
        discovery rate; they are there for a scan. `findings` are the kinds of the findings that a
        column is part of.

        Parameters
        ----------
        levels : bool
            One further row for each level of categorical and binary columns, with its count and
            proportion; else the levels of a column are in one cell.
        log2_fold_change : bool or {"counts", "log1p"}
            Add log₂((m₁ + c)/(m₂ + c)), c the pseudocount, and the proportion of values other than
            0 (for counts: of cells that express a gene). True or "counts": m are means. "log1p":
            m = exp(mean) − 1, for values log(1 + count), as scanpy has it. NaN where an m is
            negative.
        pseudocount : float
            Added to the means of a fold change; 1e-9 as in scanpy.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> X, Y = rng.normal(size=(60, 3)), rng.normal(size=(80, 3)) + [0, 3, 0]
        >>> table = ta.two_sample_test(X, Y, random_state=0).columns_table()
        >>> table[["column", "n_first", "smd", "findings"]].round(2).values.tolist()
        [['x0', 60, -0.16, ''], ['x1', 60, -2.91, 'location'], ['x2', 60, 0.43, 'location']]
        """
        columns = table_columns(
            self._result,
            levels=levels,
            log2_fold_change=log2_fold_change,
            pseudocount=pseudocount,
        )
        return make_frame(columns)

    def table_one(
        self,
        *,
        columns: Sequence[str] | None = None,
        nonnormal: Collection[str] | bool = False,
        decimals: int | Mapping[str, int] = 1,
        rename: Mapping[str, str] | None = None,
        order: Mapping[str, Sequence[str]] | None = None,
        limit: int | None = None,
        overall: bool = False,
        missing: bool = True,
        smd: bool = True,
        pvalue: bool = True,
        adjusted: bool = False,
        qvalue: bool = False,
        all_levels: bool = False,
    ) -> TableOne:
        """Return all columns in the form of a paper's "Table 1".

        One row per column, mean (SD), median [Q1, Q3] or n (%) of each sample, and one further row
        per level of a categorical column. Print it, or use its `to_frame`, `to_csv`, `to_latex` and
        `to_html`; the numbers behind it are those of `columns_table`.

        Parameters
        ----------
        columns : sequence of str or None
            The columns to show, in this order; None for all.
        nonnormal : collection of str or bool
            Columns to describe by median and quartiles; True for all columns of numbers.
        decimals : int or mapping from str to int
            Decimals of all columns, or of some; 1 for the others.
        rename : mapping from str to str
            What to call columns.
        order : mapping from str to sequence of str
            Levels of a categorical column that come first.
        limit : int or None
            The most frequent levels of a column to show; None for all.
        overall, missing, smd, pvalue, adjusted, qvalue : bool
            What to show: all rows together, the number of missing values, standardised mean
            differences with their 95 % CIs, and p-values.
        all_levels : bool
            Both values of binary columns, not only the larger.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> X, Y = rng.normal(size=(60, 2)), rng.normal(size=(80, 2)) + [0, 3]
        >>> result = ta.two_sample_test(X, Y, random_state=0)
        >>> print(result.table_one(nonnormal=["x1"], pvalue=False))
        X (n = 60) and Y (n = 80).
        ...
        """
        return table_one(
            self._result,
            columns=columns,
            nonnormal=nonnormal,
            decimals=decimals,
            rename=rename,
            order=order,
            limit=limit,
            overall=overall,
            missing=missing,
            smd=smd,
            pvalue=pvalue,
            adjusted=adjusted,
            qvalue=qvalue,
            all_levels=all_levels,
        )

    def to_csv(
        self,
        path: AnyPath | None = None,
        *,
        what: str = "auto",
        log2_fold_change: bool | str = False,
    ) -> str:
        """Return a table as CSV; write it to `path` too if given, whole or not at all.

        Parameters
        ----------
        path : str, path-like or None
            Where to write it.
        what : {"auto", "findings", "variables", "columns"}
            The rows of `to_frame()`, of `variables_frame()` or of `columns_table()`; "auto": the
            findings of a scan, else the selected variables.
        log2_fold_change : bool or {"counts", "log1p"}
            That of `columns_table`, for "columns".

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> X, Y = rng.normal(size=(60, 3)), rng.normal(size=(80, 3)) + [0, 3, 0]
        >>> text = ta.two_sample_test(X, Y, random_state=0).to_csv()
        >>> text.splitlines()[0].split(",")[:6]
        ['kind', 'variables', 'measure', 'effect', 'low', 'high']
        """
        write = text_writer(path)
        from tellapart.report.tables import csv_table, write_csv

        if what == "columns":
            return write(write_csv(table_columns(self._result, log2_fold_change=log2_fold_change)))
        return write(csv_table(self._result, what))

    def to_latex(
        self,
        path: AnyPath | None = None,
        *,
        what: str = "auto",
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        r"""Return a table for LaTeX, with the rules of booktabs; write it to `path` too if given.

        Parameters
        ----------
        path : str, path-like or None
            Where to write it.
        what : {"auto", "findings", "variables"}
            Findings, or the selected variables; "auto": the first for a scan.
        caption : str or None
            LaTeX, set as it is: write \% for a per cent sign, and \_ in names. None for one
            that says what the table shows, with all names escaped; "" for none.
        label : str or None
            The label to refer to it by.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> X, Y = rng.normal(size=(60, 3)), rng.normal(size=(80, 3)) + [0, 3, 0]
        >>> text = ta.two_sample_test(X, Y, random_state=0).to_latex(label="tab:differ")
        >>> print(text.splitlines()[6].strip())
        Variables & Measure & X & Y & Effect [95\,\% CI] & $p$ \\
        """
        write = text_writer(path, end="\n")
        from tellapart.report.tables import latex_table

        return write(latex_table(self._result, what, caption, label))

    def figure(self, path: AnyPath | None = None, *, width: str | float = "column") -> Figure:
        """Return a figure for a paper; write it to `path` too if given (.pdf, .svg or .png).

        Effects with their intervals: the findings of a scan, else the selected variables. It has
        no title, as a caption says what it shows, and no text below 7 points.

        Parameters
        ----------
        path : str, path-like or None
            Where to write it.
        width : {"column", "page"} or float
            3.35 inches (85 mm), 7 inches, or a number of inches.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> X, Y = rng.normal(size=(60, 3)), rng.normal(size=(80, 3)) + [0, 3, 0]
        >>> float(ta.two_sample_test(X, Y, random_state=0).figure().get_figwidth())
        3.35
        """
        # Matplotlib takes most of a second to load: only those who draw wait for it.
        from tellapart.report.figures import (
            check_ending,
            check_width,
            draw_paper_figure,
            write_figure,
        )

        inches = check_width(width)
        target = None if path is None else check_ending(check_writable("path", path))
        figure = draw_paper_figure(self._result, inches)
        if target is not None:
            write_figure(figure, target)
        return figure

    def methods_paragraph(self) -> str:
        """Return a paragraph for a methods section, with the numbers of this result.

        Test, families, permutations, sample sizes, level, how p-values are adjusted, how variables
        were selected and what is proved of that, version and seed. Read it before you use it.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> X, Y = rng.normal(size=(60, 3)), rng.normal(size=(80, 3)) + [0, 3, 0]
        >>> text = ta.two_sample_test(X, Y, random_state=0).methods_paragraph()
        >>> text.split(". ")[0]
        'We compared X (n = 60) and Y (n = 80) in 3 variables'
        """
        from tellapart.report.methods import write_methods

        return write_methods(self._result)

    @property
    def _result(self) -> TestResult:
        return cast("TestResult", self)
