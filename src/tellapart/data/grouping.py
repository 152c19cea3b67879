"""One table and a column that says which group each row belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, time, timedelta
from typing import Any, cast

import narwhals as nw
import numpy as np

from tellapart.arguments import check_choice
from tellapart.arrays import IntArray
from tellapart.data.column_notes import ColumnNotes
from tellapart.data.columns import (
    Column,
    Series,
    as_series,
    label_of,
    read_column,
    read_objects,
    sorted_labels,
    to_times,
)
from tellapart.data.design import RowLabels
from tellapart.data.design_labels import (
    DROPPING,
    DesignArguments,
    refuse_pairwise,
    take_labels,
    with_labels,
)
from tellapart.data.missing import (
    FEWEST_ROWS,
    POLICIES,
    MissingPattern,
    check_rows_left,
    complete_rows,
    find_missing,
    handle_missing,
    resolve_missing,
)
from tellapart.data.reader import read_covariates, read_rows, resolve_columns
from tellapart.data.samples import CodedRows, Samples
from tellapart.data.sources import load, open_held
from tellapart.data.sources.dataset import FileDataset, RowsWhere, batches
from tellapart.data.sources.metadata import metadata_of
from tellapart.data.sources.source import HeldSource, check_shape
from tellapart.data.sources.table import TableSource, as_frame, frame_names
from tellapart.data.times import parts_of, type_of
from tellapart.errors import InputError
from tellapart.optional import arrow_errors, is_installed, pa
from tellapart.text import described, nearest, quoted

TITLE = "table"
UNLABELLED = -1
"""Group of a row whose label is missing."""


@dataclass(frozen=True)
class GroupedTable:
    """A table with a group for every row.

    Attributes
    ----------
    rows : CodedRows
        All rows as they were read; NaN where a value is missing.
    labels : tuple of str
        The groups, sorted.
    groups : int array
        For every row the place of its group in `labels`, or −1 if its label is missing.
    by : str
        What the labels are called.
    library : str or None
        The library of the table, if it was one.
    dropped_columns : tuple of str
        Columns left out for missing values.
    dropped_rows : tuple of int
        Rows left out for missing values or labels, per group.
    pattern : MissingPattern or None
        Which columns miss values, and what is compared all the same; None where none does, or
        where that has not been asked yet.
    policy : str
        What to do about missing values.
    row_labels : RowLabels or None
        The strata, pairs and clusters of the rows; None where all are independent of each other.
    notes : ColumnNotes
        Columns that were left out for other reasons, or split into parts.
    """

    rows: CodedRows
    labels: tuple[str, ...]
    groups: IntArray
    by: str
    library: str | None = None
    dropped_columns: tuple[str, ...] = ()
    dropped_rows: tuple[int, ...] = ()
    pattern: MissingPattern | None = None
    policy: str = "error"
    row_labels: RowLabels | None = None
    notes: ColumnNotes = field(default_factory=ColumnNotes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows of each group, but for those left out for missing values."""
        counts = np.bincount(self.groups[self.groups >= 0], minlength=len(self.labels))
        gone = self.dropped_rows or (0,) * len(self.labels)
        return tuple(int(count) - lost for count, lost in zip(counts, gone, strict=True))

    @property
    def compared(self) -> tuple[str, ...]:
        """The columns that are compared by value."""
        gone = set(self.dropped_columns)
        return tuple(name for name in self.rows.names if name not in gone)

    @property
    def n_unlabelled(self) -> int:
        """Rows whose label is missing."""
        return int(np.count_nonzero(self.groups == UNLABELLED))

    def rows_of(self, group: int) -> IntArray:
        """Return the rows of a group."""
        return np.flatnonzero(self.groups == group)

    def rows_of_others(self, group: int) -> IntArray:
        """Return the rows that belong to any other group."""
        return np.flatnonzero((self.groups != group) & (self.groups != UNLABELLED))

    def samples(self, of_x: IntArray, of_y: IntArray) -> Samples:
        """Return some rows beside some others."""
        samples = self.rows.rows(of_x).beside(self.rows.rows(of_y), self.notes)
        if self.pattern is None:
            return samples
        # Which columns miss values is a matter of these rows; which are left out, of the table.
        pattern = find_missing((samples.x, samples.y), samples.names, self.policy, ("X", "Y"))
        if self.policy == "drop-columns":
            pattern = self.pattern.of(() if pattern is None else pattern.names)
        return samples if pattern is None else resolve_missing(samples, pattern)

    def with_design(
        self, samples: Samples, of_x: IntArray, of_y: IntArray, policy: str, titles: tuple[str, str]
    ) -> Samples:
        """Return samples of some rows, beside others, with the design that their labels give."""
        if self.row_labels is None:
            return samples
        labels = [self.row_labels.rows(rows) for rows in (of_x, of_y)]
        return with_labels(samples, labels, policy, titles)

    def without_missing(self, policy: str) -> GroupedTable:
        """Return the table with what to do about missing values, or an error that counts them.

        Rows without a label are an error unless the policy is "drop-rows" or "pairwise": then they
        are in no group, and are counted in `n_unlabelled`.
        """
        if self.n_unlabelled and policy not in ("drop-rows", "pairwise"):
            raise InputError(
                f"column {self.by!r} must say of every row which group it belongs to; got "
                f"{self.n_unlabelled} missing of {self.groups.size} values; "
                'pass missing="drop-rows" to leave these rows out'
            )
        kept = self._rows_with_labels(policy)
        pattern = find_missing((self.rows.values,), self.rows.names, policy, (TITLE,))
        if pattern is None and kept.size == self.groups.size:
            return self
        gone: tuple[str, ...] = ()
        if pattern is not None:
            gone = tuple(
                name for s, name in enumerate(self.rows.names) if s not in set(pattern.kept)
            )
        dropped: tuple[int, ...] = ()
        if policy == DROPPING:
            if pattern is not None:
                kept = np.intersect1d(kept, complete_rows(self.rows.values, pattern.places))
            left = replace(self, groups=self.groups[kept])
            check_rows_left(TITLE, sum(left.sizes), sum(self.sizes))
            dropped = tuple(a - b for a, b in zip(self.sizes, left.sizes, strict=True))
        return replace(
            self, dropped_columns=gone, dropped_rows=dropped, pattern=pattern, policy=policy
        )

    def _rows_with_labels(self, policy: str) -> IntArray:
        """Return the rows whose strata, pairs and clusters are known; an error unless they go."""
        if self.row_labels is None:
            return np.arange(self.groups.size)
        refuse_pairwise(policy)
        labelled = self.row_labels.known()
        n_missing = self.groups.size - labelled.size
        if n_missing and policy != DROPPING:
            raise InputError(
                "the labels of strata, pairs and clusters must not be missing; got them missing "
                f'in {n_missing} of {self.groups.size} rows; pass missing="drop-rows" to leave '
                "these rows out"
            )
        return labelled


def read_grouped(
    table: object,
    by: object,
    *,
    keep: Sequence[str] = (),
    design: DesignArguments | None = None,
) -> GroupedTable:
    """Read a table and the groups of its rows; missing values are left as NaN.

    Parameters
    ----------
    table : table, AnnData, array or sparse matrix
        All the rows.
    by : str, or sequence of labels
        The column of the table (of `obs`, for AnnData) that names the group of each row; it is
        not compared. Or the labels themselves, one per row.
    keep : sequence of str
        As in `tellapart.data.reader.read_samples`.
    design : DesignArguments or None
        Columns of the table, or labels one per row, of strata, pairs and clusters. Such columns
        are not compared.

    Returns
    -------
    GroupedTable
        With the labels sorted: by size if all are numbers, else by the alphabet.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"arm": ["b", "a", "b", "c"], "dose": [1.0, 2.0, 3.0, 4.0]})
    >>> grouped = read_grouped(table, "arm")
    >>> grouped.labels, grouped.sizes, grouped.rows.names
    (('a', 'b', 'c'), (1, 2, 1), ('dose',))
    """
    taken = None
    if design is not None and (design.given or design.adjust is not None):
        if isinstance(by, str) and by in design.covariates:
            raise InputError(f"adjust must name other columns than by={by!r}")
        for name, value in design.given.items():
            if isinstance(by, str) and isinstance(value, str) and value == by:
                raise InputError(f"{name} must be another column than by={by!r}")
        (table,), taken = take_labels((table,), design, (TITLE,))
    source, column, library = _open(table, by)
    (reading,), notes = resolve_columns((source,), source.column_names, (None,), keep)
    if column.values.size != source.shape[0]:
        raise InputError(
            f"by must have one label for each of the {source.shape[0]} rows of the table; "
            f"got {column.values.size}"
        )
    (rows,) = read_rows((source,), (reading,))
    labels, groups = _codes(column)
    row_labels = None
    if taken is not None:
        covariates = read_covariates(taken.covariates, (TITLE,))
        (row_labels,) = taken.coded((TITLE,), (groups.size,), covariates)
    return GroupedTable(
        rows,
        labels,
        groups,
        column.name,
        library,
        row_labels=row_labels,
        notes=notes,
    )


def group_name(by: str, value: str) -> str:
    """Return what to call a group: a bare number or truth value says nothing without its column.

    Examples
    --------
    >>> group_name("sepsis", "1"), group_name("arm", "placebo")
    ('sepsis = 1', 'placebo')
    """
    bare = value in ("False", "True") or value.replace(".", "").lstrip("-").isdigit()
    return f"{by} = {value}" if bare else value


def _open(table: object, by: object) -> tuple[HeldSource, Column, str | None]:
    """Return the variables, the column of labels, and the library of the table."""
    obs = metadata_of(table)
    if obs is not None:
        library = obs.implementation.name.lower()
        if not isinstance(by, str):
            return open_held(TITLE, table), _read_labels(by), library
        if by not in (names := frame_names("obs", obs)):
            raise _no_such_column("a column of obs", names, by)
        labels = _label_column("obs", by, obs[:, names.index(by)])
        return open_held(TITLE, table), labels, library
    table = load(TITLE, table)
    frame = as_frame(TITLE, table)
    if frame is None:
        if isinstance(by, str):
            raise InputError(
                "table must be a pandas, polars or pyarrow table, or AnnData, for by to name a "
                f"column; got {described(table)}; pass the labels themselves as by"
            )
        return open_held(TITLE, table), _read_labels(by), None
    library = frame.implementation.name.lower()
    if not isinstance(by, str):
        return TableSource.of_frame(TITLE, frame), _read_labels(by), library
    names = frame_names(TITLE, frame)
    if by not in names:
        raise _no_such_column("a column of the table", names, by)
    place = names.index(by)
    labels = _label_column(TITLE, by, frame[:, place])
    rest = frame.drop(frame.columns[place])
    return TableSource.of_frame(TITLE, rest), labels, library


def _no_such_column(expected: str, names: tuple[str, ...], by: str) -> InputError:
    return InputError(f"by must be {expected}; got {by!r}; {nearest(by, names)}")


def _read_labels(by: object) -> Column:
    """Read labels that came as a sequence."""
    series: Series
    native = nw.from_native(cast(Any, by), series_only=True, pass_through=True)
    if isinstance(native, nw.Series):
        series = native
    else:
        try:
            values = np.asarray(by)
            if values.ndim != 1:
                raise TypeError
            listed = values.tolist()
            if not is_installed("pyarrow"):
                return _read_listed(listed)
            # From pandas' point of view NaN among texts is a missing one.
            series = as_series(pa.array(listed, from_pandas=True))
        except arrow_errors(TypeError, ValueError, OverflowError):
            raise InputError(
                "by must be the name of a column, or a sequence with one label per row; "
                f"got {described(by)}"
            ) from None
    return _label_column("by", str(series.name or "group"), series)


def _label_column(title: str, name: str, series: Series) -> Column:
    """Read the column of labels; dates and times are labels as they are written."""
    values = to_times(series)
    if values is not None and parts_of(type_of(values)):
        is_plain = isinstance(values, nw.Series)
        series = values.cast(nw.String) if is_plain else as_series(values.cast(pa.string()))
    return read_column(title, name, series)


def _read_listed(labels: Sequence[Any]) -> Column:
    """Read labels of Python without Arrow; dates and times are labels as they are written."""
    present = [None if label is None or label != label else label for label in labels]
    written = [str(v) if isinstance(v, date | timedelta | time) else v for v in present]
    return read_objects("by", "group", "object", written)


def _codes(column: Column) -> tuple[tuple[str, ...], IntArray]:
    """Return the sorted labels that occur, and the place of each row's label among them."""
    missing = np.isnan(column.values)
    if column.labels:
        labels = sorted_labels(+column.label_counts())
        codes = column.codes_among(labels)
    else:
        distinct = np.unique(column.values[~missing])
        labels = tuple(label_of(float(v)) for v in distinct)
        codes = np.searchsorted(distinct, column.values).astype(np.float64)
    return labels, np.where(missing, UNLABELLED, codes).astype(np.intp)


def check_group_size(size: int, fewest: int = FEWEST_ROWS) -> str | None:
    """Say why a group is too small to be compared with another, or None if it is not.

    >>> check_group_size(1)
    '1 row, fewer than the 2 that a test needs'
    """
    if size >= fewest:
        return None
    rows = "row" if size == 1 else "rows"
    return f"{size} {rows}, fewer than the {fewest} that a test needs"


# Two groups of one table, as two samples.


REST = "rest"
"""What all the other groups together are called."""


def read_groups(
    table: object,
    by: str,
    *,
    group: str | None = None,
    against: str | None = None,
    missing: str = "error",
    keep: Sequence[str] = (),
    design: DesignArguments | None = None,
) -> tuple[Samples, tuple[str, str]]:
    """Split one table by a column, and read two of its groups as samples.

    Parameters
    ----------
    table : table or AnnData
        A pandas, polars or pyarrow table, or AnnData.
    by : str
        The column that names the sample of each row (of `obs`, for AnnData); it is not compared.
    group, against : str or None
        The two groups. Without `against`, a group is compared with all other rows; without
        either, the column must have exactly two distinct values.
    missing, keep
        As in `tellapart.data.reader.read_samples`. Missing values in the column `by` are always an
        error.
    design : DesignArguments or None
        As in `tellapart.data.grouping.read_grouped`. Pairs are of two groups, not of one and the
        rest.

    Returns
    -------
    samples : Samples
        The rows of the first label as X, those of the second as Y.
    labels : pair of str
        The two groups, as they were given or else in sorted order; "rest" for all other rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"arm": ["b", "a", "b", "a"], "dose": [1.0, 2.0, 3.0, 4.0]})
    >>> samples, labels = read_groups(table, "arm")
    >>> labels, samples.x.ravel().tolist()
    (('a', 'b'), [2.0, 4.0])
    """
    policy = check_choice("missing", missing, POLICIES)
    grouped = read_grouped(table, by, keep=keep, design=design)
    check_labelled(grouped.by, grouped.n_unlabelled, grouped.groups.size)
    first, second = pick_pair(grouped, group, against)
    label = grouped.labels[first]
    if second is None:
        refuse_pairs_with_rest(grouped)
        others, rows_y, title = REST, grouped.rows_of_others(first), "the rest"
    else:
        others, rows_y = grouped.labels[second], grouped.rows_of(second)
        title = f"group {others!r}"
    titles = f"group {label!r}", title
    rows_x = grouped.rows_of(first)
    samples = grouped.samples(rows_x, rows_y)
    check_shape(titles[0], samples.n_x, samples.n_columns)
    check_shape(titles[1], samples.n_y, samples.n_columns)
    samples = handle_missing(samples, policy, titles)
    return grouped.with_design(samples, rows_x, rows_y, policy, titles), (label, others)


def open_groups(
    dataset: FileDataset, by: str, *, group: str | None = None, against: str | None = None
) -> tuple[tuple[FileDataset, FileDataset], tuple[str, str]]:
    """Open two groups of the rows of files as samples; see `tellapart.data.grouping.read_groups`.

    Of the column that names the groups, the different values are held.
    """
    values, n_rows, n_missing = None, 0, 0
    if by in dataset.names:
        for batch in batches(dataset.dataset, [by], whole=True):
            column = batch[by]
            n_rows, n_missing = n_rows + len(column), n_missing + column.null_count
            if pa.types.is_dictionary(column.type):
                column = column.dictionary_decode()
            present = [column.drop_null()] if values is None else [values, column.drop_null()]
            values = pa.concat_arrays(present).unique()
    if values is None:
        values = pa.nulls(0)
    check_labelled(by, n_missing, n_rows)
    # One row for each value: groups, and mistakes in their names, are found as in tables.
    names = [by] if by in dataset.names else []
    table = pa.table([values] * len(names) + [np.arange(len(values))], names=[*names, "row"])
    grouped = read_grouped(table, by)
    check_labelled(by, int(np.sum(grouped.groups == UNLABELLED)), n_rows)
    first, second = pick_pair(grouped, group, against)
    of_x = grouped.rows_of(first)
    of_y = grouped.rows_of_others(first) if second is None else grouped.rows_of(second)
    left = tuple(name for name in dataset.names if name != by)
    x, y = (
        replace(dataset, names=left, where=RowsWhere(by, values.take(pa.array(rows))))
        for rows in (of_x, of_y)
    )
    return (x, y), (grouped.labels[first], REST if second is None else grouped.labels[second])


def check_labelled(by: str, n_unlabelled: int, n_rows: int) -> None:
    """Raise where the groups of some rows are missing."""
    if n_unlabelled:
        raise InputError(
            f"column {by!r} must say of every row which sample it belongs to; "
            f"got {n_unlabelled} missing of {n_rows} values"
        )


def refuse_pairs_with_rest(grouped: GroupedTable) -> None:
    """Raise where pairs should be of a group and the rest of several.

    A key would stand for one row of the group and several of the rest, which differ from each other
    in their groups and cannot trade places with the one.
    """
    if grouped.row_labels is not None and grouped.row_labels.pairs is not None:
        raise InputError(
            "paired must be left out where a group is compared with the rest, for none of "
            f"{len(grouped.labels) - 1} other groups is its partner; compare two at a time with "
            "mode='pairwise', or give group and against"
        )


def pick_pair(
    grouped: GroupedTable, group: str | None, against: str | None
) -> tuple[int, int | None]:
    """Return the places of the two groups to compare; None for all others together."""
    if group is None:
        if against is not None:
            raise InputError(f"against={against!r} needs a group to be compared with; give group")
        if len(grouped.labels) == 2:
            return 0, 1
        remedy = ""
        if len(grouped.labels) > 2:
            a, b, *_ = grouped.labels
            remedy = (
                f"; pick two with group={a!r} and against={b!r}, or compare every group with "
                "compare_groups"
            )
        raise InputError(
            f"column {grouped.by!r} must hold exactly two distinct values; "
            f"got {len(grouped.labels)}: {quoted(grouped.labels)}{remedy}"
        )
    if group == against:
        raise InputError(f"against must be another group than group={group!r}")
    first = _place(grouped, "group", group)
    if against is None and len(grouped.labels) > 2:
        return first, None
    return first, 1 - first if against is None else _place(grouped, "against", against)


def _place(grouped: GroupedTable, argument: str, label: str) -> int:
    if label not in grouped.labels:
        raise InputError(
            f"{argument} must be one of the values of {grouped.by!r}; got {label!r}; "
            f"{nearest(label, grouped.labels)}"
        )
    return grouped.labels.index(label)
