"""The first pass over a sample: what its columns hold, and rows drawn at random.

All of it can be merged exactly (counts, extremes, labels, the smallest marks), so the result does
not depend on the chunks. It decides, with the rules of `tellapart.data.columns` and
`tellapart.data.missing`, how both samples are read from then on.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.columns import (
    LARGEST_WHOLE,
    Column,
    ColumnFacts,
    Extremes,
    Form,
    check_rounded,
    pool_facts,
    to_arrow,
)
from tellapart.data.drawn_rows import Sketch, marks
from tellapart.data.identifiers import WholeNumbers
from tellapart.data.missing import LARGEST, Flaws
from tellapart.data.reading import Chunk, ColumnKind, Labels, Reading, kind_of, read_part
from tellapart.data.row_stores import ArrayRows, RowsDone, RowStore
from tellapart.data.samples import Kind
from tellapart.data.sources.source import Source
from tellapart.errors import InputError

# What a column may have of distinct texts: they are all held until the pass is over.
MOST_LEVELS = 100_000
# Beyond any whole number that files have.
MOST_WHOLE = float(1 << 64)


@dataclass
class ColumnSummary:
    """What one column of one sample holds.

    Attributes
    ----------
    title, name, form, dtype : str
        As in `tellapart.data.columns.Column`.
    least, greatest : float
        Extremes of the numbers that are there; of booleans too.
    n_missing, n_infinite, n_large : int
        Values that are missing, infinite, or beyond the largest magnitude, in all rows.
    counts : dict
        How often each label occurs, in all rows. Drawn rows hold places in it.
    too_many : bool
        Whether there are more labels than can be held; then none are.
    numbers : WholeNumbers or None
        What is known of whole numbers, where that is asked for.
    rounded : pair of int, or None
        Extremes of the chunks with whole numbers that float64 rounds.
    """

    title: str
    name: str
    form: Form = "empty"
    dtype: str = ""
    least: float = math.inf
    greatest: float = -math.inf
    n_missing: int = 0
    n_infinite: int = 0
    n_large: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    too_many: bool = False
    numbers: WholeNumbers | None = None
    rounded: Extremes | None = None

    def add(self, column: Column) -> FloatArray:
        """Take a column of one chunk in; return the values as drawn rows hold them."""
        self._settle_form(column.form, column.dtype)
        if not column.labels:
            self._add_numbers(column.values)
            self.rounded = _joined(self.rounded, column.rounded)
            if self.numbers is not None:
                self.numbers.add(column.values)
            return column.values
        self.n_missing += int(np.count_nonzero(np.isnan(column.values)))
        if self.too_many:
            return np.full(column.values.size, np.nan)
        self._add_counts(column.label_counts())
        return column.codes_among(tuple(self.counts))

    def merge(self, other: ColumnSummary) -> FloatArray:
        """Take in what other rows hold; return where its labels stand here."""
        self._settle_form(other.form, other.dtype)
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

    def facts(self, n_rows: int) -> ColumnFacts:
        """Return what decides how the column is compared; booleans need no counts."""
        has_labels = self.form in ("category", "text")
        counts = Counter(self.counts if has_labels else {})
        return ColumnFacts(self.title, self.name, self.form, self.dtype, n_rows, counts)

    def _settle_form(self, form: Form, dtype: str) -> None:
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
        self.too_many = self.too_many or len(self.counts) > MOST_LEVELS
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
    """

    reading: Reading
    seed: int
    sample: int
    most: int

    def start(self) -> Summary:
        """Return the summary of no rows."""
        columns = [
            ColumnSummary(self.reading.title, name, numbers=WholeNumbers() if whole else None)
            for name, whole in zip(self.reading.names, self.reading.whole, strict=True)
        ]
        return Summary(0, columns, Sketch.empty(self.most, len(columns)))

    def add(self, held: Summary, first_row: int, raw: Any) -> Summary:
        """Take a chunk in, whose first row has the number `first_row`."""
        return self.add_chunk(held, first_row, self.reading.open(raw))

    def add_chunk(self, held: Summary, first_row: int, chunk: Chunk) -> Summary:
        """Take in a chunk that was read."""
        values = [
            summary.add(column) for summary, column in zip(held.columns, chunk.columns, strict=True)
        ]
        n_rows = chunk.n_rows
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
    place = {label: float(code) for code, label in enumerate(new)}
    return np.array([place.get(label, np.nan) for label in old], dtype=np.float64)


def recoded(codes: FloatArray, places: FloatArray) -> FloatArray:
    """Return codes put in another order; what is missing stays so."""
    table = np.append(places, np.nan)
    return np.asarray(table[np.where(np.isnan(codes), -1, codes).astype(np.intp)])


def _joined(one: Extremes | None, other: Extremes | None) -> Extremes | None:
    if one is None or other is None:
        return one or other
    return min(one[0], other[0]), max(one[1], other[1])


def _check_rounded_numbers(x: ColumnSummary, y: ColumnSummary) -> None:
    """Refuse whole numbers that float64 merges in the pooled samples; see `check_rounded`."""
    low, high = min(x.least, y.least), max(x.greatest, y.greatest)
    rounded = _joined(x.rounded, y.rounded)
    # Delimited text is read as floats at once: nobody knows what was rounded.
    unknown = x.numbers is not None and LARGEST_WHOLE < min(abs(low), abs(high)) < MOST_WHOLE
    unknown = unknown and rounded is None and low * high > 0 and "int" not in f"{x.dtype}{y.dtype}"
    if rounded is None and not unknown:
        return
    least, greatest = rounded or (int(low), int(high))
    if rounded is not None and math.isfinite(low) and math.isfinite(high):
        # Chunks without a number that is rounded count, too, where they go further.
        least = least if float(least) <= low else int(low)
        greatest = greatest if float(greatest) >= high else int(high)
    subject = f"column {x.name!r} of {' and '.join(dict.fromkeys((x.title, y.title)))}"
    check_rounded(subject, least, greatest, exact=rounded is not None)


def pool_summaries(x: Summary, y: Summary) -> tuple[tuple[Kind, ...], Labels]:
    """Return the kind of every column, and its labels if it has any; see `pool_columns`."""
    for one, other in zip(x.columns, y.columns, strict=True):
        _check_rounded_numbers(one, other)
    pairs = zip(x.columns, y.columns, strict=True)
    found = [pool_facts((a.facts(x.n_rows), b.facts(y.n_rows))) for a, b in pairs]
    return tuple(kind for kind, _ in found), tuple(labels for _, labels in found)


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


# One sample in chunks, opened but not yet read; and one held in memory.


class ChunkSource(ABC):
    """One sample in chunks: what it is called, its columns, and how to go through it.

    Attributes
    ----------
    title : str
        What messages call it.
    names : tuple of str, or None
        Names of the columns, if they have any.
    n_columns : int
        Number of columns.
    waits : bool
        Whether going through it leaves a core idle now and then.
    """

    title: str
    names: tuple[str, ...] | None
    n_columns: int
    waits: bool = False

    @property
    @abstractmethod
    def kinds(self) -> tuple[ColumnKind, ...]:
        """What the types of the columns say; empty where there are none, in a matrix."""

    @abstractmethod
    def survey(self, survey: Survey, progress: RowsDone | None = None) -> Summary:
        """Return what the sample holds, after one pass over it."""

    @abstractmethod
    def store(self, reading: Reading, labels: Labels, n_rows: int) -> RowStore:
        """Return the rows as numbers, to be summed over."""


@dataclass(frozen=True, eq=False)
class MemorySource(ChunkSource):
    """A sample in memory beside one that is not: a single chunk."""

    source: Source

    @property
    def title(self) -> str:  # type: ignore[override]
        """What messages call it."""
        return self.source.title

    @property
    def names(self) -> tuple[str, ...] | None:  # type: ignore[override]
        """Names of the columns, if they have any."""
        return self.source.names

    @property
    def n_columns(self) -> int:  # type: ignore[override]
        """Number of columns."""
        return self.source.n_columns

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:
        """What the types of the columns say; empty for a matrix."""
        dtypes, data = self.source.dtypes, self.source.data
        if not isinstance(data, tuple):
            return tuple(ColumnKind(whole=dtype.is_integer()) for dtype in dtypes)
        found = []
        for dtype, series in zip(dtypes, data, strict=True):
            arrow = None if dtype.is_numeric() else to_arrow(series)
            kind = ColumnKind(whole=dtype.is_integer(), dtype=str(dtype))
            found.append(kind if arrow is None else kind_of(arrow.type))
        return tuple(found)

    def survey(self, survey: Survey, progress: RowsDone | None = None) -> Summary:
        """Return what the sample holds."""
        summary = survey.add_chunk(survey.start(), 0, self._chunk(survey.reading))
        if progress is not None:
            progress(summary.n_rows)
        return summary

    def store(self, reading: Reading, labels: Labels, n_rows: int) -> RowStore:
        """Return the rows as one array."""
        values = np.empty((n_rows, len(labels)), order="F")
        for s, column in enumerate(self._chunk(reading).numbers(labels)):
            values[:, s] = column
        return ArrayRows(values)

    def _chunk(self, reading: Reading) -> Chunk:
        asked = zip(reading.places, reading.names, reading.parts, strict=True)
        return Chunk([self._column(place, name, part) for place, name, part in asked])

    def _column(self, place: int, name: str, part: str | None) -> Column:
        if part is None or not isinstance(self.source.data, tuple):
            return self.source.column(place, name)
        return read_part(self.title, name, to_arrow(self.source.data[place]), part)
