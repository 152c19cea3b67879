"""Which columns of the samples are compared, and as what: one set of rules for every input.

Columns are matched by name, dates and times are split into parts, and columns that appear to be
identifiers are left out with a warning. All of it is decided by pooled values, whatever sample they
are of: every permutation of the labels would be decided alike, and p-values stay valid.

Of data in chunks the same is found out in one pass and memory of a few numbers: texts are counted
up to a limit, beyond which a column is left out; whole numbers are consecutive by their sums
(`tellapart.data.identifiers`); and whether those of a column called "id" repeat is seen in rows
drawn from both samples together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import narwhals as nw
import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.column_notes import ColumnNotes
from tellapart.data.columns import ColumnKind, Reading
from tellapart.data.identifiers import (
    FEWEST_NAMED,
    WholeNumbers,
    are_whole,
    is_named_like_identifier,
    may_be_consecutive,
    why_numbers_identify_rows,
    why_text_identifies_rows,
)
from tellapart.data.row_draws import draw_pooled
from tellapart.data.sources.source import HeldSource, Source, distinct
from tellapart.data.summary import ColumnSummary, Summary, pooled_counts
from tellapart.data.times import HOUR, SECONDS, is_null, part_name, type_of
from tellapart.errors import InputError, SchemaError, warn_caller
from tellapart.text import described, nearest, quoted

_LIKE_A_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}\b.*|\d{1,2}[./]\d{1,2}[./]\d{2,4}\b.*")


class Heading(NamedTuple):
    """What a sample is called, and its columns: their names, if they have any, and their number."""

    title: str
    names: tuple[str, ...] | None
    n_columns: int


def match_columns(
    left: Heading | Source, right: Heading | Source
) -> tuple[tuple[str, ...], IntArray | None]:
    """Return the common names, and where each stands in the right sample if not in its place."""
    n_columns = left.n_columns
    if left.names is None or right.names is None:
        if n_columns != right.n_columns:
            raise SchemaError(
                f"{left.title} and {right.title} must have the same number of columns; "
                f"got {n_columns} and {right.n_columns}"
            )
        names = left.names or right.names or tuple(f"x{s}" for s in range(n_columns))
        return names, None
    if set(left.names) != set(right.names):
        differences = [
            f"only in {here.title}: {quoted(extra)}"
            for here, there in ((left, right), (right, left))
            if (extra := [n for n in here.names or () if n not in set(there.names or ())])
        ]
        raise SchemaError(
            f"{left.title} and {right.title} must have the same columns; "
            f"got {'; '.join(differences)}"
        )
    if left.names == right.names:
        return left.names, None
    place_of = {name: s for s, name in enumerate(right.names)}
    return left.names, np.array([place_of[name] for name in left.names], dtype=np.intp)


@dataclass(frozen=True)
class ColumnPlan:
    """How the samples are read, before it is known what their columns hold.

    Attributes
    ----------
    readings : tuple of Reading
        One for each sample.
    origins : tuple of str
        The column of the input that each column comes from.
    kept : tuple of str, or None
        Columns to compare even if they appear to be identifiers; None takes all as they are.
    """

    readings: tuple[Reading, ...]
    origins: tuple[str, ...]
    kept: tuple[str, ...] | None

    def resolve(self, pooled: PooledColumns) -> tuple[list[Reading], ColumnNotes]:
        """Return how to read the columns that are compared, and what became of the others."""
        names = self.readings[0].names
        if self.kept is None:
            self._refuse_excess(pooled, names)
            return list(self.readings), ColumnNotes()
        self._refuse_excess(pooled, self.kept)
        reasons = identifiers(names, pooled)
        gone = {name: reasons[name] for name in names if name in reasons and name not in self.kept}
        if len(gone) == len(names):
            gone.popitem()  # something must be left, to be refused or compared as it is
            self._refuse_excess(pooled, [name for name in names if name not in gone])
        for name, reason in gone.items():
            warn_caller(
                f"column {name!r} of {self._titles} is excluded: it appears to be an identifier "
                f"({reason}); pass keep=[{name!r}] to compare it"
            )
        compared = self._varying_parts(pooled)
        left = [s for s in range(len(names)) if names[s] not in gone and compared.get(s, True)]
        parts: dict[str, tuple[str, ...]] = {}
        for s in compared:
            part = self.readings[0].parts[s]
            if compared[s] and part is not None and names[s] not in gone:
                parts[self.origins[s]] = (*parts.get(self.origins[s], ()), part)
        readings = [reading.columns(left) for reading in self.readings]
        return readings, ColumnNotes(gone, parts=parts, kept=self.kept)

    def _refuse_excess(self, pooled: PooledColumns, wanted: Collection[str]) -> None:
        """Refuse columns that must be compared, and have more texts than can be held."""
        for s, name in enumerate(self.readings[0].names):
            most = pooled.excess(s) if name in wanted else None
            if most is not None:
                raise InputError(
                    f"column {name!r} of {self._titles} looks like an identifier: more than "
                    f"{most} distinct labels; drop the column"
                )

    @property
    def _titles(self) -> str:
        return " and ".join(reading.title for reading in self.readings)

    def _varying_parts(self, pooled: PooledColumns) -> dict[int, bool]:
        """Return, for each part of dates or times, whether it is compared.

        Those that vary are; where none of a column does, its first part is.
        """
        parts_of_column: dict[str, list[int]] = {}
        for s, (origin, part) in enumerate(zip(self.origins, self.readings[0].parts, strict=True)):
            if part is not None:
                parts_of_column.setdefault(origin, []).append(s)
        compared = {}
        for parts in parts_of_column.values():
            varying = {s: pooled.varies(s) for s in parts}
            compared.update(varying if any(varying.values()) else {s: s == parts[0] for s in parts})
        return compared


def plan_columns(
    sources: Sequence[Source],
    names: tuple[str, ...],
    orders: Sequence[IntArray | None],
    keep: object = None,
) -> ColumnPlan:
    """Return how to read samples whose columns were matched; see `match_columns`.

    `orders` say where the columns stand in each sample; None where they are as named. With `keep`,
    dates get as many columns as they have parts; None takes columns as they are.
    """
    kept = None if keep is None else checked_keep(keep, sources)
    categories = frozenset(kept or ())
    as_is = tuple(
        Reading.as_is(source.title, names, order, categories)
        for source, order in zip(sources, orders, strict=True)
    )
    kinds_of_sources = [() if kept is None else source.kinds for source in sources]
    if not all(kinds_of_sources):
        return ColumnPlan(as_is, names, kept)
    rows: list[tuple[str, str, str | None, int, bool]] = []
    for s, name in enumerate(names):
        kinds = [
            of_source[reading.places[s]]
            for of_source, reading in zip(kinds_of_sources, as_is, strict=True)
        ]
        whole = all(kind.whole for kind in kinds)
        parts: tuple[str, ...] = ()
        if any(kind.parts for kind in kinds):
            empty = [
                source.is_empty(reading.places[s])
                for source, reading in zip(sources, as_is, strict=True)
            ]
            parts = _common_parts(name, kinds, empty, [source.title for source in sources])
        for part in parts or (None,):
            shown = name if part is None else part_name(name, part)
            rows.append((shown, name, part, s, whole))
    shown_names, origins, parts_read, places, wholes = zip(*rows, strict=True)
    distinct(sources[0].title, shown_names)
    readings = tuple(
        replace(reading.columns(places), names=shown_names, parts=parts_read, whole=wholes)
        for reading in as_is
    )
    return ColumnPlan(readings, origins, kept)


def _common_parts(
    name: str, kinds: Sequence[ColumnKind], empty: Sequence[bool], titles: Sequence[str]
) -> tuple[str, ...]:
    """Return the parts of a column of dates or times, which must be the same in all samples."""
    parts = next(kind.parts for kind in kinds if kind.parts)
    for kind, title, is_empty in zip(kinds, titles, empty, strict=True):
        if kind.parts != parts and not is_empty:
            raise SchemaError(
                f"column {name!r} must be of one kind in {' and '.join(titles)}; got dates, times "
                f"or durations in one, and {kind.dtype or 'no dates'} in {title}"
            )
    return parts


def checked_keep(keep: object, sources: Sequence[Source]) -> tuple[str, ...]:
    """Return the names of columns to keep, which some sample must have."""
    if isinstance(keep, str | bytes) or not isinstance(keep, Iterable):
        raise InputError(f"keep must be a sequence of column names; got {described(keep)}")
    names = tuple(str(name) for name in keep)
    if not names:
        return ()
    every_name = dict.fromkeys(name for source in sources for name in source.names or ())
    absent = [name for name in names if name not in every_name]
    if absent:
        hint = nearest(absent[0], every_name) if every_name else "the columns have no names"
        raise InputError(f"keep must name columns; got {quoted(absent)}; {hint}")
    return names


# What decides: the pooled values of all samples, held in memory or summarised in one pass.


class WholeColumn(NamedTuple):
    """Whole numbers of all samples: the values that are there, or some and what all add up to."""

    s: int
    values: FloatArray
    is_consecutive: bool | None = None

    def why(self, name: str, n_samples: int) -> str | None:
        """Say why the column identifies rows; None if it does not."""
        if self.is_consecutive is None:
            return why_numbers_identify_rows(name, self.values, n_samples)
        if self.is_consecutive:
            return "consecutive whole numbers, each at most once in a sample"
        if self.values.size < FEWEST_NAMED or not is_named_like_identifier(name):
            return None
        if np.unique(self.values, return_counts=True)[1].max() > n_samples:
            return None
        drawn = f"{self.values.size:,} drawn rows"
        return f"its name, and whole numbers that do not repeat among {drawn}"


def identifiers(names: Sequence[str], pooled: PooledColumns) -> dict[str, str]:
    """Return the columns that appear to be identifiers, each with the reason."""
    reasons: dict[str, str | None] = {}
    for s, name in enumerate(names):
        most = pooled.excess(s, pooled=True)
        counts = None if most is not None else pooled.texts(s)
        if most is not None:
            reasons[name] = f"more than {most:,} distinct texts"
        elif counts is not None:
            reasons[name] = why_texts_identify_rows(counts, pooled.n_rows, pooled.n_samples)
    for column in pooled.whole_numbers():
        reasons[names[column.s]] = column.why(names[column.s], pooled.n_samples)
    return {name: reason for name, reason in reasons.items() if reason is not None}


@dataclass(frozen=True, eq=False)
class HeldColumns:
    """Samples in memory: values are looked at where a rule asks for them."""

    sources: Sequence[HeldSource]
    readings: Sequence[Reading]

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.sources)

    @property
    def n_rows(self) -> int:
        """Rows of all samples."""
        return sum(source.shape[0] for source in self.sources)

    @cached_property
    def _sides(self) -> list[tuple[HeldSource, Reading]]:
        return list(zip(self.sources, self.readings, strict=True))

    def texts(self, s: int) -> Mapping[str, int] | None:
        """Return how often each text of a column occurs; None where it is no column of text."""
        # Where one of them has categories, that is the user's word on it.
        for source, reading in self._sides:
            if not source.dtypes or source.dtypes[reading.places[s]] != nw.String:
                return None
        counts: Counter[str] = Counter()
        for source, reading in self._sides:
            counts.update(source.column(reading.places[s], reading.names[s]).label_counts())
        return counts

    def excess(self, s: int, *, pooled: bool = False) -> int | None:  # noqa: ARG002
        """Return None: memory that holds the samples holds their labels."""
        return None

    def whole_numbers(self) -> Iterator[WholeColumn]:
        """Give out columns of whole numbers that may identify rows."""
        whole = [s for s, is_whole in enumerate(self.readings[0].whole) if is_whole]
        if not whole:
            return
        extremes = [src.extremes([r.places[s] for s in whole]) for src, r in self._sides]
        low, high = np.array(extremes).swapaxes(0, 1)
        likely = may_be_consecutive(low.min(axis=0), high.max(axis=0), self.n_rows, self.n_samples)
        for s, may_be in zip(whole, likely, strict=True):
            if may_be or is_named_like_identifier(self.readings[0].names[s]):
                present = [source.numbers_of(r.places[s]) for source, r in self._sides]
                yield WholeColumn(s, np.concatenate(present))

    def varies(self, s: int) -> bool:
        """Say whether a part of dates or times has more than one value."""
        values = []
        for source, reading in self._sides:
            part = reading.parts[s]
            assert part is not None
            values.append(source.hold_part(reading.places[s], reading.names[s], part).values)
        pooled = np.concatenate(values)
        present = pooled[~np.isnan(pooled)]
        return bool(present.size and present.max() > present.min())


@dataclass(frozen=True, eq=False)
class SurveyedColumns:
    """Two samples in chunks, after the first pass over each."""

    summaries: Sequence[Summary]
    n_samples: int = 2

    @property
    def n_rows(self) -> int:
        """Rows of all samples."""
        return sum(one.n_rows for one in self.summaries)

    def texts(self, s: int) -> Mapping[str, int] | None:
        """Return how often each text of a column occurs; None where it is no column of text."""
        columns = self._columns(s)
        forms = {column.form for column in columns} - {"empty"}
        return pooled_counts(columns) if forms == {"text"} else None

    def excess(self, s: int, *, pooled: bool = False) -> int | None:
        """Return how many labels can be held, if a sample, or all of them, have more; else None."""
        columns = self._columns(s)
        most = columns[0].most_levels
        assert most is not None
        too_many = any(column.too_many for column in columns)
        return most if too_many or (pooled and len(pooled_counts(columns)) > most) else None

    def whole_numbers(self) -> Iterator[WholeColumn]:
        """Give out columns of whole numbers that may identify rows."""
        x, y = self.summaries
        candidates = [
            s
            for s, (a, b) in enumerate(zip(x.columns, y.columns, strict=True))
            if a.numbers is not None
            and b.numbers is not None
            and (is_named_like_identifier(a.name) or (a.numbers.possible and b.numbers.possible))
        ]
        if not candidates:
            return
        sketches = [one.of(np.array(candidates)).sketch for one in self.summaries]
        drawn, _ = draw_pooled(sketches[0], sketches[1], x.sketch.most)
        all_drawn = drawn.shape[0] == self.n_rows
        for k, s in enumerate(candidates):
            values = drawn[:, k]
            values = values[~np.isnan(values)]
            if are_whole(values):
                yield WholeColumn(s, values, None if all_drawn else self._are_consecutive(s))

    def varies(self, s: int) -> bool:
        """Say whether a part of dates or times has more than one value."""
        columns = self._columns(s)
        least = min(column.least for column in columns)
        greatest = max(column.greatest for column in columns)
        return len(pooled_counts(columns)) > 1 or greatest > least

    def _columns(self, s: int) -> list[ColumnSummary]:
        return [one.columns[s] for one in self.summaries]

    def _are_consecutive(self, s: int) -> bool:
        """Say whether whole numbers are consecutive, by what they add up to."""
        columns = self._columns(s)
        pooled = WholeNumbers(len(columns))
        for column in columns:
            assert column.numbers is not None
            pooled.merge(column.numbers)
        least = min(column.least for column in columns)
        return pooled.are_consecutive(least, max(column.greatest for column in columns))


def why_texts_identify_rows(counts: Mapping[str, int], n_rows: int, n_samples: int) -> str | None:
    """Say why a column of text identifies rows, None if it does not; dates as text, too."""
    reason = why_text_identifies_rows(counts, n_rows, n_samples)
    if reason is None or not all(map(_LIKE_A_DATE.fullmatch, counts)):
        return reason
    return f"{reason}, to be converted to dates if they are such"


PooledColumns = HeldColumns | SurveyedColumns
"""The values of all samples together, as far as the rules need them."""


# Columns as a reference decides: what is left out of it is left out of every batch.
#
# Of dates and times a batch has its own by design: it comes later, from one day or one week, and
# would differ in day, weekday and month whatever happens. What can be compared is the time of
# day, and how long something took. No batch has a say in it, so that all are compared over the
# same columns.


COMPARED_PARTS = (HOUR, SECONDS)
"""The parts of dates, times and durations that batches share with a reference."""


def decide_columns(reference: HeldSource, keep: object = ()) -> ColumnNotes:
    """Return which columns of a reference are left out or split; warn of identifiers.

    Parameters
    ----------
    reference : HeldSource
        The reference, opened. A table is looked at; a matrix is compared as it is.
    keep : sequence of str
        Columns to compare even if they look like identifiers.

    Examples
    --------
    >>> from datetime import datetime
    >>> import pyarrow as pa
    >>> from tellapart.data.sources import open_held
    >>> when = [datetime(2026, 11, 1 + k // 24, k % 24) for k in range(72)]
    >>> table = pa.table({"when": when, "day": [w.date() for w in when], "load": range(0, 144, 2)})
    >>> notes = decide_columns(open_held("reference", table))
    >>> dict(notes.parts), notes.moments
    ({'when': ('hour',)}, ('day',))
    """
    plan = plan_columns((reference,), reference.column_names, (None,), keep)
    _, notes = plan.resolve(HeldColumns((reference,), plan.readings))
    shared = {
        name: tuple(part for part in parts if part in COMPARED_PARTS)
        for name, parts in notes.parts.items()
    }
    decided = replace(
        notes,
        parts={name: parts for name, parts in shared.items() if parts},
        moments=tuple(name for name, parts in shared.items() if not parts),
    ).with_row_labels(reference.row_labels)
    gone = {*decided.naming_rows, *decided.moments}
    if reference.names and gone.issuperset(reference.names):
        raise InputError(
            f"{reference.title} must have a column to compare with batches; its columns are dates "
            f"and names of rows only: {', '.join(map(repr, reference.names))}"
        )
    return decided


def follow_columns(
    sources: Sequence[HeldSource], notes: ColumnNotes, names: tuple[str, ...] | None
) -> list[Reading]:
    """Return how to read a reference, alone or with a batch, as the reference has decided.

    `names` are the columns of the reference as it came, for a batch of as many without names. What
    is left out need not be there.
    """
    readings = [_followed(source, notes, names) for source in sources]
    if len(sources) > 1:
        heads = [
            Heading(source.title, reading.names if named else None, len(reading.names))
            for source, (reading, named) in zip(sources, readings, strict=True)
        ]
        common, order = match_columns(*heads)
        (reference, _), (batch, _) = readings
        batch = batch if order is None else batch.columns(order)
        return [replace(reference, names=common), replace(batch, names=common)]
    return [reading for reading, _ in readings]


def _followed(
    source: HeldSource, notes: ColumnNotes, names: tuple[str, ...] | None
) -> tuple[Reading, bool]:
    """Return how to read one sample, and whether its columns have names."""
    gone = {*notes.naming_rows, *notes.moments}
    of_source = source.names
    if of_source is None and names is not None and len(names) == source.n_columns:
        of_source = names if gone or notes.parts or notes.kept else None
    rows: list[tuple[str, int, str | None]] = []
    for place, name in enumerate(of_source or source.column_names):
        for part in notes.parts.get(name, (None,)):
            if part is not None:
                _check_part(source, place, name, part)
            if name not in gone:
                rows.append((name if part is None else part_name(name, part), place, part))
    shown, places, parts = zip(*rows, strict=True) if rows else ((), (), ())
    whole = (False,) * len(rows)
    reading = Reading(source.title, distinct(source.title, shown), places, parts, whole)
    return replace(reading, kept=frozenset(notes.kept)), of_source is not None


def _check_part(source: HeldSource, place: int, name: str, part: str) -> None:
    """Raise unless a column holds dates, times or durations, or nothing at all."""
    values = source.times(place) if source.dtypes else None
    is_empty = values is not None and is_null(values)
    if is_empty or (source.dtypes and part in source.kinds[place].parts):
        return
    expected = "durations" if part == SECONDS else "dates or times"
    raise SchemaError(
        f"column {name!r} of {source.title} must hold {expected}, as in the reference; "
        f"got {'numbers' if values is None else type_of(values)}"
    )
