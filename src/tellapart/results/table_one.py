"""All columns as "Table 1" of a paper: mean (SD), median [IQR] or n (%) of each sample."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tellapart.arguments import check_integer
from tellapart.data.sources.table import make_frame
from tellapart.errors import InputError
from tellapart.results.columns_table import BINARY, CATEGORICAL, ColumnsTable, table_columns
from tellapart.scan.finding import pvalue_cell
from tellapart.text import number_text, safe
from tellapart.writing import AnyPath, text_writer

if TYPE_CHECKING:
    from tellapart.results.result import TestResult

BOTH = 2
"""The place of all rows beside those of X and of Y."""
INDENT = "  "


@dataclass(frozen=True)
class TableOne:
    """All columns of a result in the form of a paper's first table.

    Attributes
    ----------
    headings : tuple of str
        The heading of each column of the table.
    rows : tuple of tuples of str
        Its cells; the levels of a categorical column follow its own row and are indented.
    caption, note : str
        What the table shows, and how the numbers were computed.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str
    note: str

    def to_frame(self) -> Any:
        """Return the cells as a table of texts: pandas, pyarrow or polars."""
        return make_frame(self._columns())

    def to_csv(self, path: AnyPath | None = None) -> str:
        """Return the cells as CSV; write them to `path` too if given."""
        write = text_writer(path)
        from tellapart.report.tables import write_csv

        return write(write_csv(self._columns()))

    def to_latex(
        self, path: AnyPath | None = None, *, caption: str | None = None, label: str | None = None
    ) -> str:
        """Return the table for LaTeX; the arguments are those of `TestResult.to_latex`."""
        write = text_writer(path, end="\n")
        from tellapart.report.tables import LatexTable, check_latex, escaped

        caption, label = check_latex("caption", caption), check_latex("label", label)
        rows = [
            [(r"\quad " if row[0].startswith(INDENT) else "") + escaped(row[0].strip())]
            + [escaped(cell) for cell in row[1:]]
            for row in self.rows
        ]
        table = LatexTable(
            "l" + "r" * (len(self.headings) - 1), [*map(escaped, self.headings)], rows
        )
        default = escaped(f"{self.caption} {self.note}")
        return write(table.write(default if caption is None else caption, label))

    def to_html(self, path: AnyPath | None = None) -> str:
        """Return the table as one HTML page that needs nothing else; write it to `path` too."""
        write = text_writer(path)
        from tellapart.report.templates import render

        return write(
            render(
                "table.html.j2",
                style="page.css",
                headings=self.headings,
                rows=self.rows,
                caption=self.caption,
                note=self.note,
            )
        )

    def __str__(self) -> str:
        rows = [self.headings, *self.rows]
        widths = [max(len(row[k]) for row in rows) for k in range(len(self.headings))]
        lines = [
            INDENT.join(
                cell.ljust(width) if k == 0 else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([self.caption, "", *lines, "", self.note])

    def _columns(self) -> dict[str, list[str]]:
        return {heading: [row[k] for row in self.rows] for k, heading in enumerate(self.headings)}


@dataclass(frozen=True)
class TableOneSettings:
    """What `TestResult.table_one` was asked for, checked."""

    columns: tuple[str, ...]
    nonnormal: frozenset[str]
    decimals: Mapping[str, int]
    default_decimals: int
    rename: Mapping[str, str]
    order: Mapping[str, Sequence[str]]
    limit: int | None
    overall: bool
    missing: bool
    smd: bool
    pvalue: bool
    adjusted: bool
    qvalue: bool
    all_levels: bool

    def decimals_of(self, name: str, default: int | None = None) -> int:
        """Return the decimals of a column."""
        return self.decimals.get(name, self.default_decimals if default is None else default)


def table_one(result: TestResult, **given: Any) -> TableOne:
    """Return the table; the arguments are those of `TestResult.table_one`."""
    data = result.column_data
    asked = _checked(data, **given)
    columns = table_columns(result)
    place_of = {name: k for k, name in enumerate(data.names)}
    headings = ["Variable"]
    if asked.missing:
        headings.append("Missing")
    sides = [*([BOTH] if asked.overall else []), 0, 1]
    labels = {BOTH: "Overall", 0: safe(result.labels[0]), 1: safe(result.labels[1])}
    headings += [labels[side] for side in sides]
    if asked.smd:
        headings += ["SMD", "95 % CI"]
    tests = [
        (heading, key)
        for wanted, heading, key in (
            (asked.pvalue, "p", "pvalue"),
            (asked.adjusted, "adjusted p", "adjusted_pvalue"),
            (asked.qvalue, "q", "qvalue"),
        )
        if wanted and key in columns
    ]
    headings += [heading for heading, _ in tests]
    n_rows = result.n_test
    sizes = {BOTH: sum(n_rows), 0: n_rows[0], 1: n_rows[1]}
    width = len(headings)
    blank = [""] if asked.missing else []
    rows = [_filled(["n", *blank, *(f"{sizes[s]:,}" for s in sides)], width)]
    for name in asked.columns:
        k = place_of[name]
        lead, *levels = _described(data, name, k, sides, asked)
        cells = [lead[0]]
        if asked.missing:
            cells.append(str(int(data.missing[:, k].sum())))
        cells += lead[1:]
        if asked.smd:
            cells += _difference(data, k)
        cells += [pvalue_cell(columns[key][k], _floor(result, key, k)) for _, key in tests]
        rows.append(_filled(cells, width))
        rows += [_filled([level[0], *blank, *level[1:]], width) for level in levels]
    caption = f"{labels[0]} (n = {n_rows[0]:,}) and {labels[1]} (n = {n_rows[1]:,})."
    return TableOne(
        tuple(headings), tuple(rows), caption, _note(result, asked, [k for _, k in tests])
    )


def _floor(result: TestResult, key: str, k: int) -> float:
    """Return the smallest value that permutations can give; 0 where a tail goes further."""
    tests = result.column_tests
    tail = key == "qvalue" or (key == "pvalue" and tests is not None and tests.approximate[k])
    return 0.0 if tail else result.pvalue_floor


def _filled(cells: Sequence[str], width: int) -> tuple[str, ...]:
    return (*cells, *[""] * (width - len(cells)))


def _described(
    data: ColumnsTable, name: str, k: int, sides: Sequence[int], asked: TableOneSettings
) -> Iterator[list[str]]:
    """Return the row of a column and those of its levels: its name, then one cell per sample."""
    title, kind = safe(asked.rename.get(name, name)), data.types[k]
    digits = asked.decimals_of(name)
    if name in data.levels and (kind == CATEGORICAL or asked.all_levels):
        yield [f"{title}, n (%)", *[""] * len(sides)]
        for place in _level_places(data, name, asked):
            label = safe(data.levels[name].labels[place])
            yield [f"{INDENT}{label}", *(_count(data, name, place, s, digits) for s in sides)]
    elif kind == BINARY:
        label = data.levels[name].labels[1]
        yield [f"{title} = {label}, n (%)", *(_count(data, name, 1, s, digits) for s in sides)]
    elif name in asked.nonnormal:
        cells = []
        for side in sides:
            low, middle, high = (_fixed(value, digits) for value in data.quartiles[side, :, k])
            cells.append(f"{middle} [{low}, {high}]")
        yield [f"{title}, median [Q1, Q3]", *cells]
    else:
        cells = [
            f"{_fixed(data.mean[side, k], digits)} ({_fixed(data.deviation[side, k], digits)})"
            for side in sides
        ]
        yield [f"{title}, mean (SD)", *cells]


def _level_places(data: ColumnsTable, name: str, asked: TableOneSettings) -> list[int]:
    """Return the levels that are shown: in the order asked for, and the most frequent of many."""
    levels = data.levels[name]
    places = list(range(len(levels.labels)))
    if asked.limit is not None and len(places) > asked.limit:
        total = levels.counts.sum(axis=0)
        frequent = sorted(places, key=lambda place: -int(total[place]))[: asked.limit]
        places = sorted(frequent)
    first = [levels.labels.index(label) for label in asked.order.get(name, ())]
    return [place for place in first if place in places] + [p for p in places if p not in first]


def _count(data: ColumnsTable, name: str, place: int, side: int, digits: int) -> str:
    counts, weighted = data.levels[name].counts, data.levels[name].weighted
    own = counts.sum(axis=0) if side == BOTH else counts[side]
    share = 100 * int(own[place]) / max(int(own.sum()), 1)
    if weighted is not None:
        share = 100 * float(weighted[2 if side == BOTH else side, place])
    return f"{int(own[place]):,} ({share:.{digits}f})"


def _fixed(value: float, digits: int, least: int = 2) -> str:
    """Return a number with so many decimals, or `least` digits where that would show only 0."""
    if math.isnan(value):
        return "–"
    if value != 0 and abs(value) < 0.5 * 10.0**-digits and math.isfinite(value):
        return number_text(float(value), least)
    return f"{value:.{digits}f}".replace("-", "−")


def _difference(data: ColumnsTable, k: int) -> list[str]:
    effect, low, high = (float(value) for value in data.difference[:, k])
    if math.isnan(effect):
        return ["–", "–"]
    interval = "–" if math.isnan(low) else f"{_fixed(low, 2, 1)} to {_fixed(high, 2, 1)}"
    return [_fixed(effect, 2, 1), interval]


def _note(result: TestResult, asked: TableOneSettings, tests: Sequence[str]) -> str:
    parts = []
    if result.effective_sizes is not None:
        x, y = result.effective_sizes
        parts.append(
            "Counts are of rows; percentages, means, SDs and quartiles are weighted (effective "
            f"sample sizes {x:,.1f} and {y:,.1f})."
        )
    if asked.smd:
        parts.append(
            "SMD: standardised mean difference (Hedges' g; of two values the difference of "
            "proportions over its SD, of categories Yang and Dalton's, which has no sign)."
        )
        design = result.held_out.design
        if design is not None and design.adjustment is not None:
            parts.append(f"SMD and p are adjusted, {design.adjustment.describe()}.")
    if "pvalue" in tests:
        parts.append("p: unadjusted, by permutation")
        of_columns = result.column_tests
        if of_columns is not None and of_columns.approximate.any():
            parts[-1] += f"; below {result.pvalue_floor:.2g} from a fitted tail (approximate)"
        parts[-1] += "."
    if "adjusted_pvalue" in tests:
        parts.append("Adjusted p: familywise error rate over all columns, pairs and triples.")
    if "qvalue" in tests:
        parts.append("q: false discovery rate over columns.")
    if asked.nonnormal and result.column_data.quartiles_from is not None:
        x, y = result.column_data.quartiles_from
        parts.append(f"Quartiles are of {x:,} and {y:,} rows drawn at random (approximate).")
    return " ".join(parts)


def _checked(
    data: ColumnsTable,
    *,
    columns: Sequence[str] | None,
    nonnormal: Collection[str] | bool,
    decimals: int | Mapping[str, int],
    rename: Mapping[str, str] | None,
    order: Mapping[str, Sequence[str]] | None,
    limit: int | None,
    **switches: bool,
) -> TableOneSettings:
    """Check the arguments of `table_one`, naming the one that is wrong."""
    shown = _names("columns", data.names if columns is None else columns, data.names)
    if isinstance(nonnormal, bool):
        skewed = frozenset(data.names) if nonnormal else frozenset[str]()
    else:
        skewed = frozenset(_names("nonnormal", nonnormal, data.names))
    default, own = 1, {}
    if isinstance(decimals, Mapping):
        _names("decimals", decimals, data.names)
        own = {name: check_integer("decimals", value, 0) for name, value in decimals.items()}
    else:
        default = check_integer("decimals", decimals, 0)
    renamed, ordered = dict(rename or {}), dict(order or {})
    _names("rename", renamed, data.names)
    for name, labels in ordered.items():
        known = data.levels[name].labels if name in data.levels else ()
        if not known or not set(labels) <= set(known):
            raise InputError(
                f"order must map categorical columns to their levels; got {name!r}: {labels!r}"
            )
    for key, value in switches.items():
        if not isinstance(value, bool):
            raise InputError(f"{key} must be True or False; got {value!r}")
    return TableOneSettings(
        columns=shown,
        nonnormal=skewed,
        decimals=own,
        default_decimals=default,
        rename=renamed,
        order=ordered,
        limit=None if limit is None else check_integer("limit", limit, 1),
        **switches,
    )


def _names(argument: str, given: Collection[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return names of columns, or raise if one is not."""
    if isinstance(given, str):
        raise InputError(f"{argument} must be names of columns in a list; got {given!r}")
    unknown = sorted(map(str, set(given) - set(known)))
    if unknown:
        raise InputError(f"{argument} must be names of columns; got {unknown[0]!r}")
    return tuple(given)
