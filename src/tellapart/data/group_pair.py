"""Two groups of one table, as two samples."""

from __future__ import annotations

from collections.abc import Sequence

from tellapart.arguments import check_choice
from tellapart.data.choice import nearest
from tellapart.data.described import quoted
from tellapart.data.design_labels import DesignArguments
from tellapart.data.grouping import GroupedTable, read_grouped
from tellapart.data.missing import POLICIES, handle_missing
from tellapart.data.samples import Samples
from tellapart.data.sources import check_shape
from tellapart.errors import InputError

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
        The column that tells the samples apart (of `obs`, for AnnData); it is not a variable of
        theirs.
    group, against : str or None
        The two groups. Without `against`, a group is compared with all other rows; without
        either, the column must have exactly two distinct values.
    missing, keep
        As in `tellapart.data.tables.read_samples`. Missing values in the column `by` are always an
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
    check_shape(titles[0], samples.n_x, len(grouped.names))
    check_shape(titles[1], samples.n_y, len(grouped.names))
    samples = handle_missing(samples, policy, titles)
    return grouped.with_design(samples, rows_x, rows_y, policy, titles), (label, others)


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
