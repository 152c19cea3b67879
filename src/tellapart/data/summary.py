"""What the columns of a sample hold, gathered chunk by chunk, and how both samples' are compared.

All of it can be merged exactly (counts, extremes, labels, the smallest marks), so the result does
not depend on the chunks. A sample in memory is one chunk.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.columns import (
    BOOLEAN_LABELS,
    LARGEST_WHOLE,
    Column,
    Extremes,
    Form,
    Reading,
    check_rounded,
    looks_numeric,
    sorted_labels,
)
from tellapart.data.identifiers import WholeNumbers, why_text_identifies_rows
from tellapart.data.missing import LARGEST, Flaws
from tellapart.data.row_draws import Sketch, marks
from tellapart.data.samples import Kind
from tellapart.errors import InputError, SchemaError

# Beyond any whole number that files have.
MOST_WHOLE = float(1 << 64)


@dataclass
class ColumnSummary:
    """What one column of one sample holds.

    Attributes
    ----------
    title, name, form, dtype : str
        As in `tellapart.data.columns.Column`.
    n_rows : int
        Rows of the sample.
    least, greatest : float
        Extremes of the numbers that are there; of booleans too.
    n_missing, n_infinite, n_large : int
        Values that are missing, infinite, or beyond the largest magnitude, in all rows.
    counts : dict
        How often each label occurs, in all rows. Drawn rows hold places in it.
    most_levels : int or None
        How many distinct labels are held; None for any number of them.
    too_many : bool
        Whether there are more labels than can be held; then none are.
    numbers : WholeNumbers or None
        What is known of whole numbers, where it matters whether they are consecutive.
    rounded : pair of int, or None
        Extremes of the chunks with whole numbers that float64 rounds.
    """

    title: str
    name: str
    form: Form = "empty"
    dtype: str = ""
    n_rows: int = 0
    least: float = math.inf
    greatest: float = -math.inf
    n_missing: int = 0
    n_infinite: int = 0
    n_large: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    most_levels: int | None = None
    too_many: bool = False
    numbers: WholeNumbers | None = None
    rounded: Extremes | None = None

    def add(self, column: Column, *, extremes: bool = True) -> None:
        """Take in a column of one chunk; the extremes of its numbers only if they are wanted."""
        self._resolve_form(column.form, column.dtype)
        self.n_rows += column.values.size
        self.rounded = _joined(self.rounded, column.rounded)
        if column.labels:
            self.n_missing += int(np.count_nonzero(np.isnan(column.values)))
            if not self.too_many:
                self._add_counts(column.label_counts())
        elif extremes:
            self._add_numbers(column.values)
            if self.numbers is not None:
                self.numbers.add(column.values)

    def codes(self, column: Column) -> FloatArray:
        """Return the values of a column that was added, as drawn rows hold them."""
        if not column.labels:
            return column.values
        if self.too_many:
            return np.full(column.values.size, np.nan)
        return column.codes_among(tuple(self.counts))

    def merge(self, other: ColumnSummary) -> FloatArray:
        """Take in what other rows hold; return where its labels stand here."""
        self._resolve_form(other.form, other.dtype)
        self.n_rows += other.n_rows
        self.least, self.greatest = min(self.least, other.least), max(self.greatest, other.greatest)
        self.rounded = _joined(self.rounded, other.rounded)
        self.n_missing += other.n_missing
        self.n_infinite += other.n_infinite
        self.n_large += other.n_large
        self.too_many = self.too_many or other.too_many
        self._add_counts(other.counts)
        if self.numbers is not None and other.numbers is not None:
            self.numbers.merge(other.numbers)
        return recoding(other.counts, self.counts)

    def _resolve_form(self, form: Form, dtype: str) -> None:
        if self.form == "empty":
            self.form, self.dtype = form, dtype
        elif form not in (self.form, "empty"):
            raise InputError(
                f"column {self.name!r} of {self.title} must be of one kind in all of its chunks; "
                f"got {self.form} ({self.dtype}) and {form} ({dtype})"
            )

    def _add_counts(self, counts: Mapping[str, int]) -> None:
        for label, count in counts.items():
            self.counts[label] = self.counts.get(label, 0) + count
        if self.most_levels is not None:
            self.too_many = self.too_many or len(self.counts) > self.most_levels
        if self.too_many:
            self.counts.clear()

    def _add_numbers(self, values: FloatArray) -> None:
        if not values.size:
            return
        with np.errstate(invalid="ignore"):
            # NaN passes through both, and no comparison with it is true.
            low, high = values.min(), values.max()
            sound = low >= -LARGEST and high <= LARGEST
        if not sound:
            self.n_missing += int(np.count_nonzero(np.isnan(values)))
            self.n_infinite += int(np.count_nonzero(np.isinf(values)))
            self.n_large += int(np.count_nonzero(np.abs(values) > LARGEST))
            low = np.fmin.reduce(values, initial=math.inf)
            high = np.fmax.reduce(values, initial=-math.inf)
        self.least, self.greatest = min(self.least, float(low)), max(self.greatest, float(high))


@dataclass
class Summary:
    """What one sample holds.

    Attributes
    ----------
    n_rows : int
        Rows.
    columns : list of ColumnSummary
        One per column.
    sketch : Sketch
        Rows drawn at random.
    """

    n_rows: int
    columns: list[ColumnSummary]
    sketch: Sketch

    def of(self, index: IntArray) -> Summary:
        """Return what some of the columns hold."""
        sketch = self.sketch.smallest()
        values = np.asfortranarray(sketch.values[:, index])
        return Summary(
            self.n_rows, [self.columns[s] for s in index], replace(sketch, values=values)
        )


@dataclass(frozen=True)
class Survey:
    """The first pass over one sample, as a sum over chunks as they come.

    Like a `Fold`, but of chunks in place of blocks: every way of merging gives the same.

    Attributes
    ----------
    reading : Reading
        How chunks are read.
    seed, sample : int
        Keys of the marks: the seed, and 0 for X or 1 for Y.
    most : int
        How many rows to draw.
    most_levels : int
        How many distinct labels of a column are held.
    """

    reading: Reading
    seed: int
    sample: int
    most: int
    most_levels: int

    def start(self) -> Summary:
        """Return the summary of no rows."""
        columns = [
            ColumnSummary(
                self.reading.title,
                name,
                most_levels=self.most_levels,
                numbers=WholeNumbers() if whole else None,
            )
            for name, whole in zip(self.reading.names, self.reading.whole, strict=True)
        ]
        return Summary(0, columns, Sketch.empty(self.most, len(columns)))

    def add(self, held: Summary, first_row: int, chunk: Any) -> Summary:
        """Take a chunk in, whose first row has the number `first_row`."""
        return self.add_columns(held, first_row, self.reading.open(chunk))

    def add_columns(self, held: Summary, first_row: int, columns: Sequence[Column]) -> Summary:
        """Take in the columns of a chunk that was read."""
        values = []
        for summary, column in zip(held.columns, columns, strict=True):
            summary.add(column)
            values.append(summary.codes(column))
        n_rows = columns[0].values.size
        held.sketch.add(first_row, marks(self.seed, self.sample, first_row, n_rows), values)
        held.n_rows += n_rows
        return held

    def merge(self, left: Summary, right: Summary) -> Summary:
        """Return the summary of the rows of both."""
        drawn = right.sketch.smallest()
        for s, (mine, other) in enumerate(zip(left.columns, right.columns, strict=True)):
            places = mine.merge(other)
            if other.counts:
                drawn.values[:, s] = recoded(drawn.values[:, s], places)
        left.sketch.merge(drawn)
        left.n_rows += right.n_rows
        return left


def recoding(old: Iterable[str], new: Iterable[str]) -> FloatArray:
    """Return, for each old label, its code among the new ones; NaN where it has none."""
    code_of = {label: float(code) for code, label in enumerate(new)}
    return np.array([code_of.get(label, np.nan) for label in old], dtype=np.float64)


def recoded(codes: FloatArray, places: FloatArray) -> FloatArray:
    """Return codes put in another order; what is missing stays so."""
    table = np.append(places, np.nan)
    return np.asarray(table[np.where(np.isnan(codes), -1, codes).astype(np.intp)])


def flaws_of(summaries: Sequence[Summary]) -> Flaws:
    """Return how many values are infinite, too large or missing."""
    first = summaries[0].columns
    counts = np.array(
        [[(c.n_infinite, c.n_large, c.n_missing) for c in one.columns] for one in summaries],
        dtype=np.intp,
    )
    infinite, too_large, missing = np.moveaxis(counts, 2, 0)
    titles = tuple(one.columns[0].title for one in summaries)
    rows = tuple(one.n_rows for one in summaries)
    return Flaws(tuple(c.name for c in first), titles, infinite, too_large, missing, rows)


# How one column of all samples is compared: its kind, its labels, and what is refused.


def pool_columns(columns: Sequence[ColumnSummary]) -> tuple[Kind, tuple[str, ...] | None]:
    """Return the kind of one column of one or more samples, and its sorted labels if it has any."""
    _check_text([c for c in columns if c.form == "text"], {c.form for c in columns})
    forms = {"category" if c.form == "text" else c.form for c in columns if c.form != "empty"}
    if len(forms) > 1:
        x, y = columns
        raise SchemaError(
            f"column {x.name!r} must be of one kind in {x.title} and {y.title}; "
            f"got {_described(x)} in {x.title} and {_described(y)} in {y.title}"
        )
    _check_whole_numbers(columns)
    if forms <= {"numeric"}:
        return "numeric", None
    if forms == {"boolean"}:
        return "categorical", BOOLEAN_LABELS
    return "categorical", sorted_labels(label for column in columns for label in column.counts)


def pooled_counts(columns: Sequence[ColumnSummary]) -> Counter[str]:
    """Return how often each label occurs in all samples."""
    total: Counter[str] = Counter()
    for column in columns:
        total.update(column.counts)
    return total


def subject_of(columns: Sequence[ColumnSummary]) -> str:
    """Return what messages call one column of all samples."""
    titles = " and ".join(dict.fromkeys(column.title for column in columns))
    return f"column {columns[0].name!r} of {titles}"


def _check_text(columns: Sequence[ColumnSummary], forms: set[Form]) -> None:
    """Refuse text that is damaged numbers, or that identifies the rows."""
    if not columns or "category" in forms:
        return  # where one dtype says "category", that is the user's word on it
    counts, subject = pooled_counts(columns), subject_of(columns)
    _refuse_numbers(subject, counts)
    n_rows = sum(column.n_rows for column in columns)
    reason = why_text_identifies_rows(counts, n_rows, len(columns))
    if reason is not None:
        raise InputError(f"{subject} looks like an identifier: {reason}; drop the column")


def _refuse_numbers(subject: str, counts: Counter[str]) -> None:
    """Refuse text of which at least half reads as numbers: such a column was meant to be one."""
    total = counts.total()
    words = {label: count for label, count in counts.items() if not looks_numeric(label)}
    n_words = sum(words.values())
    if total and not words:
        raise InputError(
            f"{subject} must hold numbers, but all {total} are written as text, "
            f"such as {next(iter(counts))!r}; convert the column to numbers"
        )
    if total and 2 * n_words <= total:
        raise InputError(
            f"{subject} must hold numbers; got text in {n_words} of {total} values, "
            f"such as {next(iter(words))!r}; fix or remove these values"
        )


def _check_whole_numbers(columns: Sequence[ColumnSummary]) -> None:
    """Refuse whole numbers that float64 merges in the pooled samples; see `check_rounded`."""
    rounded: Extremes | None = None
    for column in columns:
        rounded = _joined(rounded, column.rounded)
    low = min(column.least for column in columns)
    high = max(column.greatest for column in columns)
    # Delimited text is read as floats at once: nobody knows what was rounded.
    unknown = (
        rounded is None
        and columns[0].numbers is not None
        and LARGEST_WHOLE < min(abs(low), abs(high)) < MOST_WHOLE
        and low * high > 0
        and not any("int" in column.dtype for column in columns)
    )
    if rounded is None and not unknown:
        return
    least, greatest = rounded or (int(low), int(high))
    if rounded is not None and math.isfinite(low) and math.isfinite(high):
        # Chunks without a number that is rounded count, too, where they go further.
        least = least if float(least) <= low else int(low)
        greatest = greatest if float(greatest) >= high else int(high)
    check_rounded(subject_of(columns), least, greatest, exact=rounded is not None)


def _joined(one: Extremes | None, other: Extremes | None) -> Extremes | None:
    if one is None or other is None:
        return one or other
    return min(one[0], other[0]), max(one[1], other[1])


def _described(column: ColumnSummary) -> str:
    kind = {"numeric": "numbers", "boolean": "booleans", "category": "categories", "text": "text"}
    return f"{kind[column.form]} ({column.dtype})"
