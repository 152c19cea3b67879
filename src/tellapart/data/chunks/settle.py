"""Chunks as people have them: dates split into parts, and columns that name rows left out.

The rules are those of tables in memory (`tellapart.data.settle`), as far as one pass and memory of
a few numbers allow. Texts are counted up to a limit, beyond which a column is left out. Whole
numbers are consecutive by their sums (`tellapart.data.chunks.whole_numbers`); whether those of a
column called "id" repeat is seen in rows drawn from both samples together. No label plays a part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import IntArray
from tellapart.data.choice import checked_keep
from tellapart.data.chunks import summary
from tellapart.data.chunks.chunk import ColumnKind, Reading
from tellapart.data.chunks.draw import draw_pooled
from tellapart.data.chunks.source import ChunkSource
from tellapart.data.chunks.summary import ColumnSummary, Summary
from tellapart.data.chunks.whole_numbers import WholeNumbers, are_whole
from tellapart.data.column_notes import ColumnNotes
from tellapart.data.identifiers import FEWEST_NAMED, is_named_like_one, why_numbers_name_rows
from tellapart.data.settle import warn_of, why_texts_name_rows
from tellapart.data.sources import distinct
from tellapart.data.times import part_name
from tellapart.errors import InputError


@dataclass(frozen=True)
class Readings:
    """How both samples are read for the first time.

    Attributes
    ----------
    of : pair of Reading
        One for each sample.
    origins : tuple of str
        The column of the input that each column comes from.
    kept : tuple of str, or None
        Columns to compare even if they seem to name rows; None takes all as they are.
    """

    of: tuple[Reading, Reading]
    origins: tuple[str, ...]
    kept: tuple[str, ...] | None

    def settle(self, summaries: Sequence[Summary]) -> tuple[IntArray, ColumnNotes]:
        """Return the columns to compare, after the first pass, and what became of the others."""
        names = self.of[0].names
        _refuse_many(summaries, names if self.kept is None else self.kept)
        if self.kept is None:
            return np.arange(len(names)), ColumnNotes()
        for one in summaries:
            for column in one.columns:
                if column.name in self.kept and column.form == "text":
                    column.form = "category"  # compared however many there are
        reasons = why_name_rows(summaries)
        gone = {name: reasons[name] for name in names if name in reasons and name not in self.kept}
        if len(gone) == len(names):
            gone.popitem()  # something must be left, to be refused or compared as it is
            _refuse_many(summaries, [name for name in names if name not in gone])
        warn_of(gone, [reading.title for reading in self.of])
        parts = self._varying_parts(summaries)
        left = [s for s in range(len(names)) if names[s] not in gone and parts.get(s, True)]
        shown: dict[str, tuple[str, ...]] = {}
        for s in left:
            part = self.of[0].parts[s]
            if part is not None:
                shown[self.origins[s]] = (*shown.get(self.origins[s], ()), part)
        return np.array(left, dtype=np.intp), ColumnNotes(gone, parts=shown, kept=self.kept)

    def _varying_parts(self, summaries: Sequence[Summary]) -> dict[int, bool]:
        """Return, for each part of dates or times, whether it is compared.

        Those that vary are; where none of a column does, its first part is.
        """
        places: dict[str, list[int]] = {}
        for s, (origin, part) in enumerate(zip(self.origins, self.of[0].parts, strict=True)):
            if part is not None:
                places.setdefault(origin, []).append(s)
        found = {}
        for own in places.values():
            varying = {s: _varies([one.columns[s] for one in summaries]) for s in own}
            found.update(varying if any(varying.values()) else {s: s == own[0] for s in own})
        return found


def plan_readings(
    sources: Sequence[ChunkSource],
    names: tuple[str, ...],
    order: IntArray | None,
    keep: Sequence[str] | None,
) -> Readings:
    """Return how to read two samples whose columns were matched; see `match_columns`.

    With `keep`, dates get as many columns as they have parts; None takes columns as they are.
    """
    x, y = sources
    places = [list(range(len(names))), list(range(len(names)))]
    if order is not None:
        places[1] = [int(place) for place in order]
    if keep is None:
        of_x = Reading.as_is(x.title, names, places[0])
        return Readings((of_x, Reading.as_is(y.title, names, places[1])), names, None)
    kept = checked_keep(keep, sources)
    tables = bool(x.kinds) and bool(y.kinds)
    rows: list[tuple[str, str, str | None, int, int, bool]] = []
    for s, name in enumerate(names):
        at = places[0][s], places[1][s]
        kinds = [x.kinds[at[0]], y.kinds[at[1]]] if tables else [ColumnKind(), ColumnKind()]
        parts = _common_parts(name, kinds, (x.title, y.title))
        whole = all(kind.whole for kind in kinds)
        for part in parts or (None,):
            shown = name if part is None else part_name(name, part)
            rows.append((shown, name, part, *at, whole))
    shown_names, origins, parts_read, of_x_at, of_y_at, wholes = zip(*rows, strict=True)
    distinct(x.title, shown_names)
    readings = (
        Reading(x.title, shown_names, of_x_at, parts_read, wholes),
        Reading(y.title, shown_names, of_y_at, parts_read, wholes),
    )
    return Readings(readings, origins, kept)


def why_name_rows(summaries: Sequence[Summary]) -> dict[str, str]:
    """Return the columns that seem to name rows, each with the reason."""
    found = {}
    n_rows = sum(one.n_rows for one in summaries)
    for columns in zip(*(one.columns for one in summaries), strict=True):
        forms = {column.form for column in columns} - {"empty"}
        counts: Counter[str] = Counter()
        for column in columns:
            counts.update(column.counts)
        if any(column.too_many for column in columns) or len(counts) > summary.MOST_LEVELS:
            found[columns[0].name] = f"more than {summary.MOST_LEVELS:,} distinct texts"
        elif forms == {"text"}:
            reason = why_texts_name_rows(counts, n_rows, len(columns))
            if reason is not None:
                found[columns[0].name] = reason
    return {**found, **_numbers_that_name_rows(summaries)}


def _numbers_that_name_rows(summaries: Sequence[Summary]) -> dict[str, str]:
    """Return the columns of whole numbers that name rows, each with the reason."""
    x, y = summaries
    asked = [
        s
        for s, (a, b) in enumerate(zip(x.columns, y.columns, strict=True))
        if a.numbers is not None
        and b.numbers is not None
        and (is_named_like_one(a.name) or (a.numbers.possible and b.numbers.possible))
    ]
    if not asked:
        return {}
    sketches = [one.of(np.array(asked)).sketch for one in summaries]
    drawn = draw_pooled(sketches[0], sketches[1], x.sketch.most)
    all_drawn = drawn.rows.size == x.n_rows + y.n_rows
    found = {}
    for k, s in enumerate(asked):
        values = drawn.values[:, k]
        reason = _why_numbers(
            [x.columns[s], y.columns[s]], values[~np.isnan(values)], all_drawn=all_drawn
        )
        if reason is not None:
            found[x.columns[s].name] = reason
    return found


def _why_numbers(
    columns: Sequence[ColumnSummary], drawn: np.ndarray, *, all_drawn: bool
) -> str | None:
    name = columns[0].name
    if not are_whole(drawn):
        return None
    if all_drawn:
        return why_numbers_name_rows(name, drawn, len(columns))
    pooled = WholeNumbers(len(columns))
    for column in columns:
        assert column.numbers is not None
        pooled.merge(column.numbers)
    least = min(column.least for column in columns)
    greatest = max(column.greatest for column in columns)
    if pooled.are_consecutive(least, greatest):
        return "consecutive whole numbers, each at most once in a sample"
    if drawn.size < FEWEST_NAMED or not is_named_like_one(name):
        return None
    if np.unique(drawn, return_counts=True)[1].max() > len(columns):
        return None
    return f"its name, and whole numbers that do not repeat among {drawn.size:,} drawn rows"


def _common_parts(name: str, kinds: Sequence[ColumnKind], titles: Sequence[str]) -> tuple[str, ...]:
    """Return the parts of a column of dates or times in both samples; none if it is no such."""
    parts = next((kind.parts for kind in kinds if kind.parts), ())
    for kind, title in zip(kinds, titles, strict=True):
        if parts and kind.parts != parts and not kind.empty:
            raise InputError(
                f"column {name!r} must be of one kind in {' and '.join(titles)}; got dates, times "
                f"or durations in one, and {kind.dtype or 'no dates'} in {title}"
            )
    return parts


def _refuse_many(summaries: Sequence[Summary], names: Sequence[str]) -> None:
    """Refuse columns that must be compared, and have more texts than can be held."""
    wanted = set(names)
    for one in summaries:
        for column in one.columns:
            if column.too_many and column.name in wanted:
                raise InputError(
                    f"column {column.name!r} of {column.title} looks like an identifier: more "
                    f"than {summary.MOST_LEVELS} distinct labels; drop the column"
                )


def _varies(columns: Sequence[ColumnSummary]) -> bool:
    labels = {label for column in columns for label in column.counts}
    least = min(column.least for column in columns)
    return len(labels) > 1 or max(column.greatest for column in columns) > least
