"""A result for a paper: tables as CSV and for LaTeX, a figure, the methods paragraph."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

from tellapart.scan.finding import findings_frame
from tellapart.writing import check_writable, text_writer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tellapart.results.result import TestResult

AnyPath = str | os.PathLike[str]


class Exports:
    """What `TestResult` gives to other programs and papers, as methods of it."""

    def to_frame(self) -> Any:
        """Return the findings as a table, one row each: pandas, or pyarrow without it.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> X, Y = rng.normal(size=(60, 3)), rng.normal(size=(80, 3)) + [0, 3, 0]
        >>> frame = ta.two_sample_test(X, Y, random_state=0).to_frame()
        >>> frame["kind"].tolist(), frame["variables"].tolist()
        (['location'], ['x1'])
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

    def to_csv(self, path: AnyPath | None = None, *, what: str = "auto") -> str:
        """Return a table as CSV; write it to `path` too if given, whole or not at all.

        Parameters
        ----------
        path : str, path-like or None
            Where to write it.
        what : {"auto", "findings", "variables"}
            The rows of `to_frame()` or of `variables_frame()`; "auto": the findings of a scan,
            else the selected variables.

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
        from tellapart.report.tables import csv_table

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
