"""The result of a comparison of groups: one test per comparison, and all of them together."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from numpy import bool_
from numpy.typing import NDArray

from tellapart.arguments import check_choice
from tellapart.arrays import FloatArray
from tellapart.data.column_notes import ColumnNotes
from tellapart.data.design_labels import ARGUMENTS
from tellapart.data.sources.table import make_frame
from tellapart.errors import InputError, UnknownKeyError
from tellapart.results.columns import ColumnSummary
from tellapart.results.columns_table import PSEUDOCOUNT, table_columns
from tellapart.results.figure_data import summarise_heaviest
from tellapart.results.result import TestResult
from tellapart.results.story import describe_findings, describe_negligible
from tellapart.scan.finding import p_text, pvalue_cell, without_p
from tellapart.text import listed, safe
from tellapart.writing import strict_json, text_writer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

T = TypeVar("T")
MOST_LISTED = 10
"""Comparisons that a message lists."""


class ByPair(Mapping[tuple[str, str], T]):
    """Values by pairs of labels in either order: ("B", "A") gets the value of ("A", "B").

    The value is the same object either way: which label comes first in it, and with it the sign of
    differences, is as listed. A single label gets the value of the only pair that it is in; with
    comparisons of groups with the rest that is the comparison of the group.

    Examples
    --------
    >>> by_pair = ByPair({("A", "B"): 0.03})
    >>> by_pair["A", "B"], by_pair["B", "A"], ("B", "A") in by_pair, list(by_pair)
    (0.03, 0.03, True, [('A', 'B')])
    >>> by_pair["A"]
    0.03
    """

    def __init__(self, values: Mapping[tuple[str, str], T]) -> None:
        self._values = dict(values)

    def __getitem__(self, key: str | tuple[str, str]) -> T:
        for pair in (key, key[::-1]) if isinstance(key, tuple) else ():
            if pair in self._values:
                return self._values[pair]
        containing = [pair for pair in self._values if key in pair]
        if len(containing) == 1:
            return self._values[containing[0]]
        raise UnknownKeyError(self._unknown(key, len(containing)))

    def _unknown(self, key: object, n_containing: int) -> str:
        """Return the message for a key that is in no pair, or in several."""
        if n_containing:
            hint = f", which is in {n_containing:,} comparisons"
        else:
            labels = {label.casefold(): label for pair in self._values for label in pair}
            near = get_close_matches(key.casefold(), labels) if isinstance(key, str) else []
            hint = f"; did you mean {' or '.join(repr(labels[n]) for n in near)}?" if near else ""
        listed = ", ".join(map(repr, list(self._values)[:MOST_LISTED]))
        more = ", …" if len(self._values) > MOST_LISTED else ""
        return (
            "the key of results must be a group that is compared once or a pair of groups; "
            f"got {key!r}{hint}; there are {len(self._values):,}: {listed}{more}"
        )

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)


@dataclass(frozen=True, eq=False)
class Profile:
    """Variables × groups: the variables with the largest weights in comparisons that differ.

    Attributes
    ----------
    variables : tuple of str
        The variables, group by group; of a categorical one the level that differs most.
    groups : tuple of str
        All groups.
    listed_under : tuple of int
        For each variable the index of the group it is listed under: of those it was selected for,
        the one in which it differs most.
    effects : array of shape (variables, groups)
        Mean of the group less that of all other rows, in SDs within both.
    shares : array of the same shape
        The proportion of the group's rows above the most common value of the variable, where a
        tenth of all rows has it (for counts: the proportion that is not 0), else above its median;
        of a categorical variable, the proportion with that level.
    chosen : array of the same shape
        Whether the variable was selected in a comparison of the group that differs.
    pvalues : array of the same shape
        The smallest p-value of the variable in these comparisons, adjusted within its comparison;
        1 in others.
    """

    variables: tuple[str, ...]
    groups: tuple[str, ...]
    listed_under: tuple[int, ...]
    effects: FloatArray
    shares: FloatArray
    chosen: NDArray[bool_]
    pvalues: FloatArray

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain Python values, ready for JSON."""
        return {
            "variables": list(self.variables),
            "groups": list(self.groups),
            "listed_under": [self.groups[g] for g in self.listed_under],
            "effects": self.effects.tolist(),
            "shares": self.shares.tolist(),
            "chosen": self.chosen.tolist(),
            "pvalues": self.pvalues.tolist(),
        }


REST = "rest"
"""What one-versus-rest comparisons call all the other groups together."""
FEW_COMPARISONS, FEW_VARIABLES = 20, 3
"""With at most so many comparisons the summary describes so many variables of each."""
MOST_SECTIONS, MOST_VARIABLES = 100, 20
"""Comparisons that the page describes in detail, and variables of each."""
MOST_IN_A_LINE = 5
"""Variables that a line of the summary names."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """One comparison, with its p-value adjusted over all of them.

    Attributes
    ----------
    group, against : str
        The labels of the two sides; `against` is "rest" in one-versus-rest comparisons.
    adjusted_pvalue : float
        Holm's adjusted p-value.
    n_rows : pair of int
        Rows of both sides.
    result : TestResult
        The test; its `pvalue`, `reject` and `findings` are not adjusted for the other comparisons.
        Of the data it holds the tested rows of the selected variables.
    notes : tuple of str
        Warnings of the test.
    """

    group: str
    against: str
    adjusted_pvalue: float
    n_rows: tuple[int, int]
    result: TestResult
    notes: tuple[str, ...] = ()

    @property
    def pvalue(self) -> float:
        """The unadjusted p-value of this test."""
        return self.result.pvalue

    @property
    def reject(self) -> bool:
        """Whether the two sides differ: adjusted p-value ≤ alpha."""
        return self.adjusted_pvalue <= self.result.alpha

    @property
    def weights(self) -> dict[str, float]:
        """Weight of each selected variable, the largest first."""
        return self.result.selection.weights

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the selected variables, the largest weight first."""
        return tuple(self.weights)

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        x, y = map(safe, self.result.labels)
        p = f"adjusted {self.adjusted_text}, α = {self.result.alpha:g}"
        if self.reject:
            return f"{x} and {y} differ ({p}){describe_negligible(self.result)}."
        return f"No significant difference between {x} and {y} ({p})."

    @property
    def adjusted_text(self) -> str:
        """The adjusted p-value; "p ≤ 0.003" where permutations can give no smaller one."""
        smallest = self.pvalue <= self.result.pvalue_floor
        return p_text(self.adjusted_pvalue, self.adjusted_pvalue if smallest else 0.0)

    @property
    def difference(self) -> str:
        """What differs, in one sentence; empty if nothing is significant, and with a split."""
        scan = self.result.scan
        if not self.reject or scan is None:
            return ""
        if describe_negligible(self.result):
            return "No effect exceeds the smallest effect of interest beyond error."
        return describe_findings(scan, self.result.alpha)[0]

    def to_dict(self) -> dict[str, Any]:
        """Return one row of the table of comparisons as plain values."""
        return {
            "group": self.group,
            "against": self.against,
            "pvalue": self.pvalue,
            "adjusted_pvalue": self.adjusted_pvalue,
            "reject": self.reject,
            "findings": self.difference,
            "variables": list(self.variables),
            "weights": list(self.weights.values()),
            "differs": list(self.result.selection.description.values()),
            "n_group": self.n_rows[0],
            "n_against": self.n_rows[1],
        }


@dataclass(frozen=True)
class Skipped:
    """A comparison that was not made, and why."""

    group: str
    against: str
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class GroupsResult:
    """The result of `compare_groups`.

    Attributes
    ----------
    comparisons : tuple of Comparison
        In the order of the labels.
    skipped : tuple of Skipped
        Comparisons that were not made, with the reason.
    by : str
        The name of the labels.
    mode : "one-versus-rest" or "pairwise"
        How the groups were compared; two groups are one pair in either mode.
    alpha : float
        The familywise error rate: the probability of any false rejection is at most this.
    sizes : mapping
        Rows of each group, after rows with missing values were dropped.
    n_unlabelled : int
        Rows excluded because their label is missing.
    dropped_rows : mapping
        Rows excluded for missing values, of each group.
    dropped_columns : tuple of str
        Columns excluded for missing values.
    n_columns : int
        Columns that were compared.
    column_notes : ColumnNotes
        Columns that were excluded for other reasons, or split into parts.
    settings : mapping
        The arguments; `settings["random_state"]` is the seed from which that of each comparison is
        derived.
    seconds : float
        Wall time.
    library : str or None
        The library of the table, and of that which `to_frame` returns.
    profile : Profile
        The variables with the largest weights, in every group: what `plot` shows.
    """

    comparisons: tuple[Comparison, ...]
    skipped: tuple[Skipped, ...]
    by: str
    mode: str
    alpha: float
    sizes: Mapping[str, int]
    n_unlabelled: int
    dropped_rows: Mapping[str, int]
    dropped_columns: tuple[str, ...]
    n_columns: int
    column_notes: ColumnNotes
    settings: Mapping[str, Any]
    seconds: float
    profile: Profile
    library: str | None = field(default=None)

    @property
    def results(self) -> ByPair[TestResult]:
        """The tests by (group, against), or by (against, group): that is the same test."""
        return ByPair({(c.group, c.against): c.result for c in self.comparisons})

    @property
    def _n_rejected(self) -> int:
        """The number of comparisons that differ."""
        return sum(c.reject for c in self.comparisons)

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        count = len(self.comparisons)
        if count == 1 and not self.skipped:
            return self.comparisons[0].verdict
        by = safe(self.by)
        what = f"groups of {by} differ from the rest"
        if self.mode == "pairwise":
            what = f"pairs of groups of {by} differ"
        return f"{self._n_rejected} of {count} {what} (Holm-adjusted p ≤ {self.alpha:g})."

    def notes(self) -> list[str]:
        """Return one sentence for everything that was excluded or needs a remark."""
        design = [f"{name}={self.settings[name]!r}" for name in ARGUMENTS if name in self.settings]
        lines = [f"Design of every comparison: {', '.join(design)}."] if design else []
        lines += [f"Not compared: {s.group} and {s.against}: {s.reason}." for s in self.skipped]
        if self.n_unlabelled:
            lines.append(f"Excluded: {self.n_unlabelled} rows whose {self.by} is missing.")
        dropped = {label: n for label, n in self.dropped_rows.items() if n}
        if dropped:
            parts = ", ".join(f"{n} of {label}" for label, n in dropped.items())
            lines.append(f"Excluded for missing values: {parts} rows.")
        if self.dropped_columns:
            lines.append(f"Excluded for missing values: columns {', '.join(self.dropped_columns)}.")
        lines += self.column_notes.lines()
        for c in self.comparisons:
            units = c.result.held_out.design
            unused = "" if units is None else units.describe_left_out()
            notes = (*c.notes, unused) if unused else c.notes
            lines += [f"{c.group} and {c.against}: {note}." for note in notes]
        return [safe(line) for line in lines]

    def summary(self) -> str:
        """Return the verdict, a table of the comparisons, what differs, and notes, as plain text.

        Examples
        --------
        >>> import numpy as np, pyarrow as pa, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> kind = np.repeat(["B", "NK", "T"], 60)
        >>> table = pa.table({"kind": kind, "u": rng.normal(size=180) + 3 * (kind == "T")})
        >>> result = ta.compare_groups(table, by="kind", random_state=0)
        >>> print(result.summary())
        3 of 3 groups of kind differ from the rest (Holm-adjusted p ≤ 0.05).
        <BLANKLINE>
        group  against  rows           p  adjusted  differ  variables
        B      rest     60, 120  ≤ 0.001   ≤ 0.003  yes     u
        NK     rest     60, 120  ≤ 0.001   ≤ 0.003  yes     u
        T      rest     60, 120  ≤ 0.001   ≤ 0.003  yes     u
        <BLANKLINE>
        B and rest: One mean differs (u); one standard deviation differs (u).
          u: mean 0.0773 in B, 1.508 in the rest; SMD −0.94 (95 % CI −1.22 to −0.68)
        NK and rest: One mean differs (u); one standard deviation differs (u).
          u: mean 0.08513 in NK, 1.504 in the rest; SMD −0.93 (95 % CI −1.21 to −0.66)
        T and rest: One mean differs (u).
          u: mean 2.931 in T, 0.08121 in the rest; SMD +2.93 (95 % CI +2.52 to +3.37)
        """
        heading = ["group", "against", "rows", "p", "adjusted", "differ", "variables"]
        rows = [heading, *(_cells(c) for c in self.comparisons)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(heading))]
        lines = [
            "  ".join(
                cell.rjust(width) if name in ("p", "adjusted") else cell.ljust(width)
                for name, cell, width in zip(heading, row, widths, strict=True)
            ).rstrip()
            for row in rows
        ]
        few = len(self.comparisons) <= FEW_COMPARISONS
        differing = [line for c in self.comparisons if c.reject for line in _described(c, few)]
        parts = [[self.verdict], lines, differing, self.notes()]
        return "\n\n".join("\n".join(part) for part in parts if part)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the data as plain Python values, ready for JSON.

        The columns of every comparison are left out: `columns_table` and `to_csv` have them.
        """
        return {
            "by": self.by,
            "mode": self.mode,
            "alpha": self.alpha,
            "comparisons": [
                {
                    **c.to_dict(),
                    "notes": list(c.notes),
                    "result": c.result.to_dict(columns_table=False),
                }
                for c in self.comparisons
            ],
            "skipped": [
                {"group": s.group, "against": s.against, "reason": s.reason} for s in self.skipped
            ],
            "sizes": dict(self.sizes),
            "n_unlabelled": self.n_unlabelled,
            "dropped_rows": dict(self.dropped_rows),
            "dropped_columns": list(self.dropped_columns),
            "n_columns": self.n_columns,
            "columns": self.column_notes.to_dict(),
            "settings": dict(self.settings),
            "seconds": self.seconds,
            "profile": self.profile.to_dict(),
        }

    def columns_table(
        self, *, log2_fold_change: bool | str = False, pseudocount: float = PSEUDOCOUNT
    ) -> Any:
        """Return all columns of all comparisons, one row each, in the library of the data.

        `group` and `against`, then the columns of `TestResult.columns_table`: "_first" is the
        group. Quartiles are not computed for comparisons of groups. p-values and q-values are those
        within a comparison; with `error_rate="fdr"` q-values are over all comparisons. Beside
        `rank_genes_groups_df` of scanpy, `column` is its "names", `statistic` its "scores" (Welch's
        t), `log2_fold_change` its "logfoldchanges", `pvalue` its "pvals" (by permutation here) and
        `qvalue` its "pvals_adj".

        Parameters
        ----------
        log2_fold_change : bool or {"counts", "log1p"}
            As in `TestResult.columns_table`; "log1p" for values that are log(1 + count).
        pseudocount : float
            Added to the means of a fold change; 1e-9 as in scanpy.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> cell_type = np.repeat(["B", "NK", "T"], 60)
        >>> counts = rng.poisson(1.0, size=(180, 4)).astype(float)
        >>> counts[cell_type == "T", 2] += 3
        >>> result = ta.compare_groups(counts, cell_type, random_state=0)
        >>> table = result.columns_table(log2_fold_change="counts")
        >>> table[["group", "column", "log2_fold_change"]].round(2).values.tolist()[10]
        ['T', 'x2', 1.71]
        """
        columns = self._columns(log2_fold_change, pseudocount)
        return make_frame(columns, self.library)

    def _columns(
        self, log2_fold_change: bool | str = False, pseudocount: float = PSEUDOCOUNT
    ) -> dict[str, list[Any]]:
        """Return the columns of `columns_table`, by name."""
        found: dict[str, list[Any]] = {}
        for c in self.comparisons:
            rows = table_columns(
                c.result, log2_fold_change=log2_fold_change, pseudocount=pseudocount
            )
            count = len(rows["column"])
            sides = {"group": [c.group] * count, "against": [c.against] * count}
            for key, values in (sides | rows).items():
                if not key.startswith(("q1_", "median_", "q3_")):
                    found.setdefault(key, []).extend(values)
        return found

    def to_csv(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        what: str = "comparisons",
        log2_fold_change: bool | str = False,
    ) -> str:
        """Return a table as CSV; write it to `path` too if given, whole or not at all.

        Parameters
        ----------
        path : str, path-like or None
            Where to write it.
        what : {"comparisons", "variables", "columns"}
            One row per comparison; one per comparison and selected variable, with how it differs
            and by how much; or one per comparison and column, as in `columns_table`.
        log2_fold_change : bool or {"counts", "log1p"}
            That of `columns_table`, for "columns".
        """
        write = text_writer(path)
        from tellapart.report.tables import groups_csv, write_csv

        if what == "columns":
            return write(write_csv(self._columns(log2_fold_change)))
        return write(groups_csv(self, what))

    def to_latex(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        """Return the comparisons as a LaTeX table with the rules of booktabs.

        `caption` and `label` are those of `TestResult.to_latex`; the file is written if `path` is
        given.
        """
        write = text_writer(path, end="\n")
        from tellapart.report.tables import groups_latex

        return write(groups_latex(self, caption, label))

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return `to_dict()` as strict JSON; write it to `path` too if given."""
        return text_writer(path, end="\n")(strict_json(self.to_dict()))

    def to_frame(self) -> Any:
        """Return the table of comparisons, one row each, in the library of the data.

        pandas, polars or pyarrow, as the table that was compared; pandas, or pyarrow where
        pandas is not installed, if it was none of them.
        """
        columns = [c.to_dict() for c in self.comparisons]
        return make_frame({key: [row[key] for row in columns] for key in columns[0]}, self.library)

    def to_html(
        self, path: str | os.PathLike[str] | None = None, *, reproduce: str | None = None
    ) -> str:
        """Return one HTML page with all comparisons; write it to `path` too if given.

        The page needs no network and no script. `reproduce` is the command or code it gives
        for repeating the comparison; the Python call if None.
        """
        write = text_writer(path)
        from tellapart.report.groups import render_groups

        return write(render_groups(self, self._summaries, reproduce))

    def plot(self, kind: str = "dots", *, ax: Axes | None = None) -> Axes:
        """Draw the selected variables in every group: which way each differs, and how much.

        Variables are listed under the group they were selected for, at most five for each
        comparison that differs. Colour is the difference of means between the group and all other
        rows, in SDs.

        Parameters
        ----------
        kind : {"dots", "heatmap"}
            Dots, as large as the share of the group's rows that are above the variable's most
            common value (for counts: above 0) or above its median, with a ring where the variable
            was selected for the group; or fields with the numbers in them.
        ax : matplotlib Axes or None
            Where to draw; new axes on a new figure if None. Save it with `ax.figure.savefig`.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> kind = np.repeat(["B", "NK", "T"], 60)
        >>> values = rng.normal(size=(180, 4))
        >>> values[kind == "T", 2] += 3
        >>> result = ta.compare_groups(values, kind, random_state=0)
        >>> axes = result.plot("heatmap")
        >>> [tick.get_text() for tick in axes.get_xticklabels()]
        ['B', 'NK', 'T']
        """
        check_choice("kind", kind, ("dots", "heatmap"))
        if not self.profile.variables:
            raise InputError("plot must have a comparison that differs; none does")
        from tellapart.report.figures import draw_profile

        return draw_profile(self.profile, kind, ax)

    @cached_property
    def _summaries(self) -> list[tuple[ColumnSummary, ...]]:
        """Summaries of the variables that the page describes in detail."""
        detailed = self.comparisons[:MOST_SECTIONS]
        return [summarise_heaviest(c.result, MOST_VARIABLES) for c in detailed]

    def _repr_html_(self) -> str:
        from tellapart.report.notebook import groups_table

        return groups_table(self)

    def __repr__(self) -> str:
        return f"<GroupsResult: {self._n_rejected} of {len(self.comparisons)} comparisons differ>"


def _described(comparison: Comparison, with_variables: bool) -> list[str]:
    """Return what differs, and how the variables with the largest weights do, one line each."""
    head = f"{safe(comparison.group)} and {safe(comparison.against)}: {comparison.difference}"
    described = list(comparison.result.selection.description.items()) if with_variables else []
    lines = [f"  {safe(name)}: {text}" for name, text in described[:FEW_VARIABLES] if text]
    return [head.rstrip(), *lines] if comparison.difference or lines else []


def _cells(comparison: Comparison) -> list[str]:
    return [
        safe(comparison.group),
        safe(comparison.against),
        f"{comparison.n_rows[0]}, {comparison.n_rows[1]}",
        pvalue_cell(comparison.pvalue, comparison.result.pvalue_floor),
        without_p(comparison.adjusted_text),
        "yes" if comparison.reject else "no",
        listed(comparison.variables, MOST_IN_A_LINE),
    ]
