"""Two samples side by side: the data every later step works on."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.column_notes import ColumnNotes
from tellapart.data.column_store import Values, columns_of, extremes_of, rows_of, transposed
from tellapart.data.design import Design
from tellapart.data.missing import AsRead, MissingPattern, resolve_drawn
from tellapart.data.row_draws import (
    AllRows,
    Sketch,
    count_held_out,
    drawn_places,
    most_drawn,
    most_pooled,
)
from tellapart.data.row_stores import ArrayRows, ColumnRows, RowStore
from tellapart.interrupts import check_interrupts
from tellapart.threads import in_threads

if TYPE_CHECKING:
    from tellapart.data.row_order import RowOrder


# Rows that several comparisons divide in different ways: what labels leave alone is made once.


T = TypeVar("T")


class SharedRows:
    """All rows in the order of their table, and what was made of them.

    Parameters
    ----------
    whole : Samples
        The rows; which of them are called x and which y means nothing.

    Examples
    --------
    >>> shared = SharedRows(None)
    >>> shared.once("answer", lambda rows: 42), shared.once("answer", lambda rows: 43)
    (42, 42)
    """

    def __init__(self, whole: Samples) -> None:
        self._whole = whole
        self._made: dict[Hashable, Any] = {}
        self._lock = RLock()  # what is made may ask for what else is shared

    def once(self, name: Hashable, make: Callable[[Samples], T]) -> T:
        """Return what `make` computes from the rows, once for all callers.

        It is made of the rows in their own order, so that it does not matter who that is.
        """
        with self._lock:
            if name not in self._made:
                self._made[name] = make(self._whole)
            made: T = self._made[name]
            return made


Kind = Literal["numeric", "categorical"]


@dataclass(frozen=True)
class CodedRows:
    """Rows over named columns; categorical columns hold codes into their `categories`."""

    values: Values
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.values.shape[0])

    def rows(self, index: IntArray) -> CodedRows:
        """Return some rows."""
        return replace(self, values=rows_of(self.values, index))

    def beside(self, other: CodedRows, notes: ColumnNotes | None = None) -> Samples:
        """Return these rows as X and others, over the same columns, as Y."""
        samples = Samples(self.values, other.values, self.names, self.kinds, self.categories)
        return samples if notes is None else replace(samples, notes=notes)


@dataclass(frozen=True)
class Samples:
    """Samples `x` (m × D) and `y` (n × D) over the same D named columns.

    Categorical columns hold integer codes; `categories` maps their names to the labels,
    in code order. Made by `tellapart.data.reader.read_samples`, which checks everything:
    below that door the numbers are finite and both samples have at least two rows.
    Of a sparse sample, `x` or `y` is a `tellapart.data.column_store.ColumnStore`: index it as
    `x[:, columns]`, which is dense, and never all of it at once.
    `dropped_columns` and `dropped_rows` (of X and of Y) say what was left out for missing values,
    and `filled_columns` where such values are filled in.
    Where values are missing, `as_read` holds all rows with their gaps, and what is missing here is
    filled in or left out: see `tellapart.data.missing.handle_missing`.
    `design` says which rows belong together; None where all are independent of each other. Samples
    with a design have no `as_read`.
    `notes` say which columns of the input were left out for other reasons, or split into parts.
    `shared` are the same rows for other samples made of them; some rows or columns have none.

    Of samples in chunks, `x` and `y` hold rows drawn at random, at most 20,000 of each, and
    `all_rows` are all of them (`tellapart.data.reader.read_chunked`). Methods that return some
    rows or columns return those in memory. What is summed over all rows, wherever they are, goes
    through `stores`; an array is one chunk. `seed` decides which rows are drawn.
    """

    x: Values
    y: Values
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dropped_columns: tuple[str, ...] = ()
    dropped_rows: tuple[int, int] = (0, 0)
    filled_columns: tuple[str, ...] = ()
    as_read: AsRead | None = field(default=None, repr=False)
    design: Design | None = None
    notes: ColumnNotes = field(default_factory=ColumnNotes)
    shared: SharedRows | None = field(default=None, repr=False, compare=False)
    all_rows: AllRows | None = field(default=None, repr=False, compare=False)
    seed: int = 0

    @property
    def n_x(self) -> int:
        """Rows of the first sample that are held, m."""
        return int(self.x.shape[0])

    @property
    def n_y(self) -> int:
        """Rows of the second sample that are held, n."""
        return int(self.y.shape[0])

    @property
    def rows_of_x(self) -> CodedRows:
        """The rows of the first sample that are held."""
        return CodedRows(self.x, self.names, self.kinds, self.categories)

    @property
    def rows_of_y(self) -> CodedRows:
        """The rows of the second sample that are held."""
        return CodedRows(self.y, self.names, self.kinds, self.categories)

    @property
    def n_units(self) -> tuple[int, int]:
        """What of each sample is independent of each other: its rows, or the design's units."""
        return (self.n_x, self.n_y) if self.design is None else self.design.n_units

    @property
    def n_columns(self) -> int:
        """Number of columns, D."""
        return int(self.x.shape[1])

    @property
    def described_size(self) -> str:
        """Rows and columns in words, for the log."""
        n_x, n_y = self.n_read
        return f"{n_x:,} and {n_y:,} rows, {self.n_columns:,} columns"

    def rows(self, of_x: IntArray, of_y: IntArray) -> Samples:
        """Return the samples restricted to some rows of each."""
        as_read = self.as_read
        if as_read is not None:
            # Of rows without a gap, all that were not left out, there is no pattern to keep.
            as_read = None if as_read.pattern.whole_rows else as_read.rows(of_x, of_y)
        design = None if self.design is None else self.design.rows(of_x, of_y)
        x, y = rows_of(self.x, of_x), rows_of(self.y, of_y)
        return replace(self, x=x, y=y, as_read=as_read, design=design, shared=None, all_rows=None)

    def columns(self, index: IntArray | Sequence[int]) -> Samples:
        """Return the samples restricted to some columns."""
        chosen = np.asarray(index, dtype=np.intp)
        names = tuple(self.names[i] for i in chosen)
        return replace(
            self,
            x=columns_of(self.x, chosen),
            y=columns_of(self.y, chosen),
            names=names,
            kinds=tuple(self.kinds[i] for i in chosen),
            categories={n: self.categories[n] for n in names if n in self.categories},
            as_read=self._as_read_of(chosen),
            filled_columns=tuple(name for name in names if name in set(self.filled_columns)),
            shared=None,
            all_rows=None,
        )

    def of_all_rows(self, index: IntArray | Sequence[int]) -> Samples:
        """Return some columns of all rows, also of those that are not held.

        Of rows in chunks that were left out for missing values there is no such part.
        """
        chosen = np.asarray(index, dtype=np.intp)
        part, rows, pattern = self.columns(chosen), self.all_rows, self.pattern
        if rows is None:
            return part
        assert pattern is None or not pattern.whole_rows
        least, greatest = rows.least[chosen], rows.greatest[chosen]
        if part.as_read is None:
            read = chosen if pattern is None else pattern.kept[chosen]
            x, y = ColumnRows(rows.x, read), ColumnRows(rows.y, read)
            rows = replace(rows, x=x, y=y, pooled=rows.pooled[:, read])
        return replace(part, all_rows=replace(rows, least=least, greatest=greatest))

    def _as_read_of(self, columns: IntArray) -> AsRead | None:
        """Return some columns as they were read; None where these miss nothing."""
        # Rows are left out for what any column misses, not for what some of them do.
        if self.as_read is None or self.as_read.pattern.whole_rows:
            return None
        part = self.as_read.columns(columns)
        return part if part.pattern.names else None

    @property
    def n_read(self) -> tuple[int, int]:
        """Rows of each sample that take part, be it with the pattern of what they miss alone."""
        if self.all_rows is not None:
            return self.all_rows.n_rows
        if self.as_read is None:
            return self.n_x, self.n_y
        return int(self.as_read.x.shape[0]), int(self.as_read.y.shape[0])

    @property
    def n_values(self) -> tuple[int, int]:
        """Rows of each sample that take part with their values, held or not."""
        if self.all_rows is None:
            return self.n_x, self.n_y
        (n_x, n_y), gone = self.n_read, self.dropped_rows
        return n_x - gone[0], n_y - gone[1]

    @property
    def pattern(self) -> MissingPattern | None:
        """Which columns miss values, and what is compared all the same; None where none does."""
        return None if self.as_read is None else self.as_read.pattern

    @property
    def stores(self) -> tuple[RowStore, RowStore]:
        """All rows of X and of Y as they were read, to be summed over block by block."""
        if self.all_rows is not None:
            return self.all_rows.x, self.all_rows.y
        held = self if self.as_read is None else self.as_read
        return ArrayRows(held.x), ArrayRows(held.y)

    @cached_property
    def whole(self) -> AllRows:
        """All rows, with some drawn from both samples together.

        The same rows in memory, in files or on a cluster give the same draws and the same sums.
        """
        if self.all_rows is not None:
            return self.all_rows
        stores, most = self.stores, most_pooled(self.n_columns)
        sketches = [Sketch.of(store, self.seed, k, most) for k, store in enumerate(stores)]
        extremes = [np.array(extremes_of(values)) for values in (self.x, self.y)]
        labels = tuple(self.categories.get(name) for name in self.names)
        return AllRows.of(stores, sketches, extremes, labels)

    @property
    def held(self) -> Samples:
        """The rows in memory as samples of their own: drawn ones of samples in chunks, or all."""
        return self if self.all_rows is None else replace(self, all_rows=None, seed=0)

    @property
    def all_drawn(self) -> bool:
        """Whether `drawn` are all rows."""
        if self.all_rows is not None:
            return (self.n_x, self.n_y) == self.n_values
        return max(self.n_read) <= most_drawn(self.n_columns)

    @cached_property
    def drawn(self) -> Samples:
        """Rows of each sample drawn at random, at most 20,000 of each."""
        if self.all_rows is not None:
            return self.held
        most = most_drawn(self.n_columns)
        x, y = (Sketch.of(store, self.seed, k, most) for k, store in enumerate(self.stores))
        if self.as_read is not None:
            return self.rows_as_read(x.rows, y.rows)
        # Rows drawn one by one have no design: pairs and clusters are torn.
        return replace(
            self,
            x=np.asfortranarray(x.values),
            y=np.asfortranarray(y.values),
            design=self.design if self.all_drawn else None,
            shared=self.shared if self.all_drawn else None,
            seed=0,
        )

    def draw(self, most: int | tuple[int, int], rng: np.random.Generator) -> Samples:
        """Return at most `most` rows of each sample, drawn at random; self where that is all.

        Rows that were left out for missing values are drawn like the others, and stay left out.
        Of samples in chunks, the seed decides, in one pass over them.
        """
        most_x, most_y = (most, most) if isinstance(most, int) else most
        if self.all_rows is not None:
            return self._draw_from_stores((most_x, most_y))
        n_x, n_y = self.n_read
        if n_x <= most_x and n_y <= most_y:
            return self
        if self.design is not None:
            return self.rows(*self.design.draw((most_x, most_y), rng)).informative()
        return self.rows_as_read(draw_rows(n_x, most_x, rng), draw_rows(n_y, most_y, rng))

    def _draw_from_stores(self, most: tuple[int, int]) -> Samples:
        held = self.held
        if max(held.n_read) >= min(max(most), max(self.n_read)):
            return held
        x, y = (
            store.rows(drawn_places(self.seed, k, store.shape[0], most[k])[0])
            for k, store in enumerate(self.stores)
        )
        if held.as_read is None:
            return replace(held, x=x, y=y, shared=None)
        return resolve_drawn(held, AsRead(x, y, held.as_read.pattern))

    def rows_as_read(self, of_x: IntArray, of_y: IntArray) -> Samples:
        """Return the samples restricted to some rows, by their numbers as they were read.

        Rows that were left out for missing values take part in the pattern, and stay left out.
        """
        as_read = self.as_read
        if as_read is None or not as_read.pattern.whole_rows:
            return self.rows(of_x, of_y)
        index, gone = [], []
        for complete, drawn in zip(as_read.complete(), (of_x, of_y), strict=True):
            index.append(np.searchsorted(complete, drawn[np.isin(drawn, complete)]))
            gone.append(drawn.size - index[-1].size)
        return replace(
            self.rows(index[0], index[1]),
            as_read=as_read.rows(of_x, of_y),
            dropped_rows=(gone[0], gone[1]),
        )

    def split(
        self, test_size: float, rng: np.random.Generator, order: RowOrder | None = None
    ) -> tuple[Samples, Samples]:
        """Split each sample at random into a training and a test part.

        Each part of each sample keeps at least two rows, which the unbiased MMD² needs. With a
        design no unit and no pair has rows in both parts. With an order of the rows by content
        the same rows fall into the same part, whatever their numbers; without it numbers decide.
        """
        if self.design is not None:
            train, test = self.design.split(test_size, rng)
            return self.rows(*train), self.rows(*test).informative()
        held_x = count_held_out(self.n_x, test_size, "X")
        held_y = count_held_out(self.n_y, test_size, "Y")
        if order is None:
            x, y = rng.permutation(self.n_x), rng.permutation(self.n_y)
        else:
            x, y = order.shuffled(rng)
        return (
            self.rows(np.sort(x[held_x:]), np.sort(y[held_y:])),
            self.rows(np.sort(x[:held_x]), np.sort(y[:held_y])),
        )

    def informative(self) -> Samples:
        """Return the samples without rows in blocks of the design that have one sample only."""
        if self.design is None:
            return self
        x, y = self.design.informative()
        if x.all() and y.all():
            return self
        kept = self.rows(np.flatnonzero(x), np.flatnonzero(y))
        assert kept.design is not None
        gone = self.design.left_out
        left_out = (gone[0] + int(np.sum(~x)), gone[1] + int(np.sum(~y)))
        return replace(kept, design=replace(kept.design, left_out=left_out))


def draw_rows(n_rows: int, most: int, rng: np.random.Generator) -> IntArray:
    """Return at most `most` of the numbers 0..n_rows−1, drawn at random and sorted."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, most, replace=False))


# Work column by column on row-major samples, in threads and at the speed of memory.


S = TypeVar("S")

# Columns copied out at once: the eight doubles of one cache line.
_GROUP = 8


def map_columns(
    work: Callable[[int, FloatArray, FloatArray], T],
    samples: Samples,
    columns: IntArray,
    n_jobs: int,
) -> list[T]:
    """Return work(s, x_s, y_s) for each of the columns, x_s and y_s contiguous copies.

    Examples
    --------
    >>> import numpy as np
    >>> samples = Samples(np.eye(2), np.ones((3, 2)), ("u", "v"), ("numeric", "numeric"))
    >>> map_columns(lambda s, x, y: (s, x.size, y.size), samples, np.array([1]), n_jobs=1)
    [(1, 2, 3)]
    """
    size = min(_GROUP, max(1, columns.shape[0] // n_jobs))
    groups = [columns[i : i + size] for i in range(0, columns.shape[0], size)]

    def run(group: IntArray) -> list[T]:
        x, y = transposed(samples.x, group), transposed(samples.y, group)
        results = []
        for i, s in enumerate(group):
            check_interrupts()
            results.append(work(int(s), x[i], y[i]))
        return results

    return [result for results in in_threads(run, groups, n_jobs) for result in results]
