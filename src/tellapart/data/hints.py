"""Hints at input that is valid and may not be what was meant: one warning each.

Three mistakes give clear differences without meaning: tables that are transposed, a sample that is
standardised beside one that is not, and raw counts of different depth. The rules below are narrow,
so that they are silent on ordinary tables; they look at labels, which no p-value depends on, as
nothing is changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.column_store import Values, columns_of, dense, rows_of
from tellapart.data.samples import Samples
from tellapart.data.sources.anndata import is_anndata
from tellapart.errors import InputWarning, warn_caller
from tellapart.text import package_of

if TYPE_CHECKING:
    from tellapart.data.grouping import GroupedTable

NEARLY_ALL = 0.9
HEAD_ROWS = 16
"""Rows that show whether a column holds fractions, or none at all."""

# Names of columns that are those of observations.
_OBSERVATION = re.compile(
    r"(sample|subject|patient|participant|donor|individual|mouse|animal|cell)s?[-_. #]?\d+"
    r"|(GSM|SRR|ERR|DRR|SAMN|SAMEA)\d+|TCGA-\w\w-\w{4}.*|[ACGT]{12,}(-\d+)?",
    re.IGNORECASE,
)
FEWEST_NAMES = 3


def warn_of_input(X: object, Y: object, samples: Samples, titles: tuple[str, str]) -> None:
    """Warn where two samples look transposed, standardised on one side, or of different depth.

    Parameters
    ----------
    X, Y : object
        The samples as they came, whose rows may have names.
    samples : Samples
        What was read of them.
    titles : pair of str
        What messages call them.
    """
    for message in (
        _why_transposed((X, Y), samples.names, titles),
        _why_scaled(samples, titles) or depth_hint(samples.x, samples.y, samples.kinds, titles),
    ):
        if message is not None:
            warn_caller(message, InputWarning)


# Transposed tables.


def row_names(data: object) -> list[str] | None:
    """Return the names of the rows: the text index of a pandas table, or `obs_names` of AnnData.

    Examples
    --------
    >>> import pandas as pd
    >>> row_names(pd.DataFrame({"s1": [8, 0]}, index=["TP53", "MYC"]))
    ['TP53', 'MYC']
    >>> row_names(pd.DataFrame({"s1": [8, 0]})) is None
    True
    """
    table: Any = data
    if is_anndata(data):
        index = getattr(table, "obs_names", None)
    elif package_of(data) == "pandas" and hasattr(data, "index"):
        index = table.index
    else:
        return None
    if index is None or not len(index) or not isinstance(index[0], str):
        return None
    return [str(name) for name in index.tolist()]


def _why_transposed(
    samples: Sequence[object], names: Sequence[str], titles: tuple[str, str]
) -> str | None:
    """Return the hint at samples whose rows are called like columns, or the other way round."""
    reasons = [_odd_names(data, names) for data in samples]
    odd = [title for title, reason in zip(titles, reasons, strict=True) if reason is not None]
    if not odd:
        return None
    reason = next(reason for reason in reasons if reason is not None)
    looks = f"{odd[0]} looks" if len(odd) == 1 else f"{odd[0]} and {odd[1]} look"
    return (
        f"{looks} transposed: {reason}; rows must be observations and columns variables: "
        "transpose if they are not"
    )


def _odd_names(data: object, names: Sequence[str]) -> str | None:
    rows = row_names(data)
    if rows is None or len(rows) < FEWEST_NAMES:
        return None
    known = set(names)
    if _share(row in known for row in rows) >= NEARLY_ALL:
        return "rows have the names of columns"
    are_observations = _OBSERVATION.fullmatch(names[0]) and len(names) >= FEWEST_NAMES
    if are_observations and _share(_OBSERVATION.fullmatch(name) for name in names) >= NEARLY_ALL:
        of_rows = _share(_OBSERVATION.fullmatch(row) for row in rows[:1000])
        if of_rows < 1 - NEARLY_ALL:
            return f"columns are called like observations, {names[0]!r}, {names[1]!r}, …"
    return None


class Margins(NamedTuple):
    """The size of a sample as it came, and the names of its rows and columns, if they have any."""

    shape: tuple[int, int]
    rows: list[str] | None
    columns: Sequence[str] | None


def transposition_of(left: Margins, right: Margins, titles: tuple[str, str]) -> str:
    """Return what to add to the error of columns that do not match: which sample to transpose."""
    for here, there, title in ((left, right, titles[0]), (right, left, titles[1])):
        named = here.rows is not None and there.columns is not None
        if named and here.shape[0] == there.shape[1] != here.shape[1]:
            named = _share(row in set(there.columns or ()) for row in here.rows or ()) >= NEARLY_ALL
            if named:
                return f"; {title} looks transposed: its rows have the names of the other's columns"
        if not named and here.shape[0] == there.shape[1] and here.columns is None is there.columns:
            return f"; if {title} has variables in its rows, transpose it"
    if left.rows is not None and right.rows is not None:
        fewer, others = sorted((left.rows, right.rows), key=len)
        more = set(others)
        apart = not set(left.columns or ()) & set(right.columns or ())
        if apart and _share(row in more for row in fewer) >= NEARLY_ALL:
            return (
                f"; {titles[0]} and {titles[1]} look transposed: they have the names of rows in "
                "common, and none of columns"
            )
    unnamed = left.columns is None or right.columns is None
    if unnamed and left.shape[0] == right.shape[0]:
        return f"; both have {left.shape[0]:,} rows: if these are variables, transpose both samples"
    return ""


def _share(flags: Any) -> float:
    every = [bool(flag) for flag in flags]
    return float(np.mean(every)) if every else 0.0


# A sample with columns of mean 0 and SD 1 beside one without.


EXACT = 1e-4
"""How near to 0 and 1 the means and SDs of standardised columns are."""
FEWEST_SCALED, FIRST_SCALED, MOST_SCALED = 2, 4, 64
FAR_MEAN, FAR_RATIO = 0.5, 2.0
"""How far a column is from being standardised: means in SD 1, SDs as a factor."""


def _why_scaled(samples: Samples, titles: tuple[str, str]) -> str | None:
    """Return the hint at samples of which one, or each by itself, is standardised."""
    if samples.all_rows is not None:  # of chunks, drawn rows are held, whose means are not 0
        return None
    numeric = np.flatnonzero([kind == "numeric" for kind in samples.kinds])
    places = [_with_fractions(values, numeric) for values in (samples.x, samples.y)]
    scaled = [
        _is_standardised(values, chosen)
        for values, chosen in zip((samples.x, samples.y), places, strict=True)
    ]
    if all(scaled):
        return (
            f"{titles[0]} and {titles[1]} are standardised each by itself (means 0, SDs 1): "
            "differences in means and SDs are removed by that; standardise them together, or not"
        )
    if not any(scaled):
        return None
    k = scaled.index(True)
    means, deviations = _moments((samples.y, samples.x)[k], places[k][:MOST_SCALED])
    near = (np.abs(means) <= FAR_MEAN) & (np.abs(np.log(deviations)) <= np.log(FAR_RATIO))
    if near.mean() > 0.5:
        return None
    return (
        f"{titles[k]} is standardised (means 0, SDs 1) and {titles[1 - k]} is not: "
        "compare both as measured, or standardise them together"
    )


def _with_fractions(values: Values, places: IntArray) -> IntArray:
    """Return those of some columns that hold numbers other than whole ones in their first rows."""
    head = dense(columns_of(rows_of(values, np.arange(min(HEAD_ROWS, values.shape[0]))), places))
    return np.asarray(places[(head != np.round(head)).any(axis=0)])


def _is_standardised(values: Values, places: IntArray) -> bool:
    if places.size < FEWEST_SCALED:
        return False
    # A few columns say no in nearly every table.
    for most in (FIRST_SCALED, MOST_SCALED):
        means, deviations = _moments(values, places[:most])
        n_rows = values.shape[0]
        corrected = deviations * np.sqrt(n_rows / (n_rows - 1))
        unit = np.minimum(np.abs(deviations - 1), np.abs(corrected - 1)) <= EXACT
        if np.mean((np.abs(means) <= EXACT) & unit) < NEARLY_ALL:
            return False
    return True


def _moments(values: Values, places: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return means and standard deviations of some columns, of the values that are present."""
    means, deviations = np.zeros(places.size), np.full(places.size, np.finfo(float).tiny)
    for number, place in enumerate(places.tolist()):
        column = np.asarray(values[:, place])
        present = column[~np.isnan(column)]
        if present.size:
            means[number] = present.mean()
            deviations[number] = max(present.std(), deviations[number])
    return means, deviations


# Raw counts of different depth.


FEWEST_COUNTS, MOST_COLUMNS, MOST_ROWS = 20, 1_000, 250
"""Columns that counts have, and what is looked at of them, evenly spaced."""
LEAST_FACTOR, LEAST_ERRORS = 1.5, 4.0
"""By what factor, and how many standard errors, the row sums differ."""
FEWEST_SEEN, SAME_WAY, COMMON_FACTOR, TINY = 50.0, 0.8, 2.0, 1e-9
"""How many counts say by what factor a column differs, the share of columns that do so alike, and
how far their factors may lie from the one of the row sums."""
FEWEST_IN_GROUP = 3


def depth_hint(x: Values, y: Values, kinds: Sequence[str], titles: tuple[str, str]) -> str | None:
    """Return the hint at raw counts whose row sums differ between two samples, or None.

    Counts are non-negative whole numbers in at least 20 columns, many of them 0. Their medians of
    row sums differ by a factor of 1.5 or more, by four standard errors or more, and 80 % of the
    columns differ the same way and by nearly that factor: other columns than those of images.
    """
    numeric = np.flatnonzero([kind == "numeric" for kind in kinds])
    if numeric.size < FEWEST_COUNTS:
        return None
    places = _spaced(numeric, MOST_COLUMNS)
    if not all(_are_counts(_part(values, places, HEAD_ROWS)) for values in (x, y)):
        return None
    left, right = _part(x, places, MOST_ROWS), _part(y, places, MOST_ROWS)
    if not (_are_counts(left) and _are_counts(right)):
        return None
    largest = max(left.max(), right.max())
    zeros = (np.mean(left == 0) + np.mean(right == 0)) / 2
    if largest < 3 or (zeros < 0.1 and largest < 20):
        return None
    sums = [np.log1p(part.sum(axis=1)) for part in (left, right)]
    difference = float(np.median(sums[0]) - np.median(sums[1]))
    # The median of n normal values has the variance πσ²/2n.
    error = np.sqrt(sum(np.pi / 2 * one.var() / one.size for one in sums))
    if abs(difference) < max(np.log(LEAST_FACTOR), LEAST_ERRORS * error):
        return None
    seen = left.sum(axis=0) + right.sum(axis=0) >= FEWEST_SEEN
    if np.count_nonzero(seen) < FEWEST_COUNTS:
        return None
    ratios = np.log((left.mean(axis=0) + TINY) / (right.mean(axis=0) + TINY))[seen]
    share = np.mean(np.sign(ratios) == np.sign(difference))
    together = np.mean(np.abs(ratios - difference) <= np.log(COMMON_FACTOR))
    if min(share, together) < SAME_WAY:
        return None
    deeper = titles[0 if difference > 0 else 1]
    return (
        f"{titles[0]} and {titles[1]} look like raw counts of different depth: the median row sum "
        f"is {np.exp(abs(difference)):.2g} times as large in {deeper}, and so are "
        f"{100 * share:.0f} % of the columns; normalise rows first, for instance to a common sum "
        "and by log1p"
    )


def warn_of_depth(grouped: GroupedTable) -> None:
    """Warn of raw counts whose depth differs between a group and all other rows; once."""
    rows = grouped.rows
    for place, label in enumerate(grouped.labels):
        group, rest = grouped.rows_of(place), grouped.rows_of_others(place)
        if min(group.size, rest.size) >= FEWEST_IN_GROUP:
            sides = [rows_of(rows.values, _spaced(some, MOST_ROWS)) for some in (group, rest)]
            hint = depth_hint(sides[0], sides[1], rows.kinds, (repr(label), "the other rows"))
            if hint is not None:
                warn_caller(hint, InputWarning)
                return


def _spaced(places: IntArray, most: int) -> IntArray:
    """Return some places of many, evenly spaced."""
    if places.size <= most:
        return places
    return places[np.linspace(0, places.size - 1, most).astype(np.intp)]


def _part(values: Values, places: IntArray, most: int) -> FloatArray:
    """Return some columns of some rows, evenly spaced."""
    rows = _spaced(np.arange(values.shape[0]), most)
    return dense(columns_of(rows_of(values, rows), places))


def _are_counts(values: FloatArray) -> bool:
    return bool(((values >= 0) & (values == np.round(values))).all())
