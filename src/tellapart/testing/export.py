"""A result outside Python: tables for other programs."""

from __future__ import annotations

from typing import Any

from tellapart.scan.finding import Finding, findings_frame
from tellapart.selection.selection import Selection


class Exports:
    """The tables of a result, as methods of it."""

    selection: Selection

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What differs."""
        raise NotImplementedError

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
        return findings_frame(self.findings)

    def variables_frame(self) -> Any:
        """Return the chosen variables as a table, the heaviest first: pandas, or pyarrow.

        Weight, what each differs in, which way and how much, with an interval; `pvalue` is the
        adjusted one and `named` says whether the scan names it at its level.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> X, Y = rng.normal(size=(60, 3)), rng.normal(size=(80, 3)) + [0, 3, 0]
        >>> frame = ta.two_sample_test(X, Y, random_state=0).variables_frame()
        >>> frame[["variable", "weight", "kind", "named"]].values.tolist()
        [['x1', 1.0, 'location', True]]
        """
        return self.selection.to_frame()
