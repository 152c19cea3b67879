"""Compiled loops over the rows of each bin. Rows come sorted by bin, one segment per bin.

Where bins have many rows, scores are (columns × rows), so that the rows of a segment follow each
other in memory; of rows one by one, (rows × columns) is the better way.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from tellapart.compiling import compiled
from tellapart.scan.cells import CELL_WIDTH
from tellapart.scan.requests import N_WAVES, PERIOD
from tellapart.scan.units import FAR_OUT

N_CELL = 11
# Places of a period: V is rounded to 1/400 for its waves.
STEPS = 4_096
# Rows that are added up in single precision before double takes over.
RUN = 256
# Sums in any order: several at a time.
_LOOSE = {"reassoc", "contract", "nsz"}
_ZERO, _FAR = np.float32(0), np.float32(FAR_OUT)
_TURNS, _COUNT = np.float32(1 / PERIOD), np.float32(STEPS)


@cache
def wave_table() -> NDArray[np.float32]:
    """Return cos(2πjt) and sin(2πjt), j = 1 … N_WAVES, at the middle of each place t of a turn."""
    turn = 2 * np.pi * (np.arange(STEPS) + 0.5)[:, np.newaxis] / STEPS * np.arange(1, N_WAVES + 1)
    return np.concatenate([np.cos(turn), np.sin(turn)], axis=1).astype(np.float32)


@compiled(fastmath=_LOOSE)
def sum_cells(found, cells, starts, bins, place, full, singles, derived):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add up the scores of one column's cells over every segment.

    `singles` has shape (kinds, bins + 1, columns) by `tellapart.scan.requests.SINGLES`, of which
    column `place` is this one's. `derived` has the squares: of every bin where `full`, else of the
    last one only, that of the rows which keep their labels.
    """
    last = singles.shape[1] - 1
    sums = np.zeros(CELL_WIDTH, dtype=np.float32)
    total = np.zeros(CELL_WIDTH)
    for i in range(bins.size):
        total[:] = 0.0
        for begin in range(starts[i], starts[i + 1], RUN):
            for k in range(CELL_WIDTH):
                sums[k] = _ZERO
            for r in range(begin, min(begin + RUN, starts[i + 1])):
                c = found[r]
                for k in range(CELL_WIDTH):
                    sums[k] += cells[c, k]
            for k in range(CELL_WIDTH):
                total[k] += sums[k]
        at = bins[i]
        for k in range(N_CELL):
            singles[k, at, place] += total[k]
        if full or at == last:
            to = at if full else 0
            derived[0, to, place] += total[N_CELL]
            derived[2, to, place] += total[N_CELL + 1]
            derived[4, to, place] += total[N_CELL + 2]


@compiled(fastmath=_LOOSE)
def sum_values(v, g, starts, bins, place, full, singles, derived):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add up V, G and far of one column, and in `derived` V², G², V³ and V⁴."""
    last = singles.shape[1] - 1
    total = np.zeros(7)
    for i in range(bins.size):
        total[:] = 0.0
        for begin in range(starts[i], starts[i + 1], RUN):
            one, two, three, four = _ZERO, _ZERO, _ZERO, _ZERO
            far, square, squares = _ZERO, _ZERO, _ZERO
            for r in range(begin, min(begin + RUN, starts[i + 1])):
                x = v[r]
                y = x * x
                one += x
                two += y
                three += x * y
                four += y * y
                far += max(abs(x) - _FAR, _ZERO)
                square += g[r]
                squares += g[r] * g[r]
            total[0] += one
            total[1] += square
            total[2] += far
            total[3] += two
            total[4] += squares
            total[5] += three
            total[6] += four
        at = bins[i]
        for k in range(3):
            singles[N_CELL + k, at, place] += total[k]
        if full or at == last:
            to = at if full else 0
            derived[1, to, place] += total[3]
            derived[3, to, place] += total[4]
            derived[5, to, place] += total[5]
            derived[6, to, place] += total[6]


@compiled(fastmath=_LOOSE)
def sum_waves(v, table, starts, bins, place, full, derived, last):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add up the waves of V of one column, by the table of `wave_table`."""
    sums = np.zeros(2 * N_WAVES, dtype=np.float32)
    total = np.zeros(2 * N_WAVES)
    for i in range(bins.size):
        at = bins[i]
        if not full and at != last:
            continue
        total[:] = 0.0
        for begin in range(starts[i], starts[i + 1], RUN):
            for k in range(2 * N_WAVES):
                sums[k] = _ZERO
            for r in range(begin, min(begin + RUN, starts[i + 1])):
                turns = v[r] * _TURNS
                c = min(int((turns - np.floor(turns)) * _COUNT), STEPS - 1)
                for k in range(2 * N_WAVES):
                    sums[k] += table[c, k]
            for k in range(2 * N_WAVES):
                total[k] += sums[k]
        to = at if full else 0
        for k in range(2 * N_WAVES):
            derived[7 + k, to, place] += total[k]


@compiled
def sum_columns(  # type: ignore[no-untyped-def]  # pragma: no cover
    found, v, g, table, cells, cell_start, starts, bins, first, full, singles, derived
):  # fmt: skip
    """Add up all of score columns, from `first` on, one per row of what is given.

    One call for many columns of few rows; of many rows each loop by itself takes several at once.
    """
    for q in range(found.shape[0]):
        p = first + q
        own = cells[cell_start[p] : cell_start[p + 1]]
        sum_cells(found[q], own, starts, bins, p, full, singles, derived)
        sum_values(v[q], g[q], starts, bins, p, full, singles, derived)
        sum_waves(v[q], table, starts, bins, p, full, derived, singles.shape[1] - 1)


@compiled
def sum_pairs_by_row(first, second, s, t, starts, bins, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add Σ first[r, s_q]·second[r, t_q] over each segment to out[bin, q]."""
    for i in range(bins.size):
        own = out[bins[i]]
        for r in range(starts[i], starts[i + 1]):
            for q in range(s.size):
                own[q] += first[r, s[q]] * second[r, t[q]]


@compiled
def sum_triples_by_row(values, s, t, u, starts, bins, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add Σ v_s·v_t·v_u over each segment to out[bin, q]; one row of values per row."""
    for i in range(bins.size):
        own = out[bins[i]]
        for r in range(starts[i], starts[i + 1]):
            for q in range(s.size):
                own[q] += values[r, s[q]] * values[r, t[q]] * values[r, u[q]]


@compiled(fastmath=_LOOSE)
def sum_pairs(first, second, s, t, starts, bins, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add Σ first[s_q, r]·second[t_q, r] over each segment to out[bin, q]."""
    for i in range(bins.size):
        begin, end = starts[i], starts[i + 1]
        for q in range(s.size):
            # Slices: of indices that count from 0 the compiler takes several at once.
            a, b = first[s[q], begin:end], second[t[q], begin:end]
            total = _ZERO
            for r in range(a.size):
                total += a[r] * b[r]
            out[bins[i], q] += total


@compiled(fastmath=_LOOSE)
def sum_triples(values, s, t, u, starts, bins, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add Σ v_s·v_t·v_u over each segment to out[bin, q]; one row of values per column."""
    for i in range(bins.size):
        begin, end = starts[i], starts[i + 1]
        for q in range(s.size):
            a, b, c = values[s[q], begin:end], values[t[q], begin:end], values[u[q], begin:end]
            total = _ZERO
            for r in range(a.size):
                total += a[r] * b[r] * c[r]
            out[bins[i], q] += total


@compiled(fastmath=_LOOSE)
def sum_fours(values, columns, starts, bins, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add the sums of products of four to out[bin, q]; one row of values per column."""
    for i in range(bins.size):
        begin, end = starts[i], starts[i + 1]
        for q in range(columns.shape[0]):
            a, b = values[columns[q, 0], begin:end], values[columns[q, 1], begin:end]
            c, d = values[columns[q, 2], begin:end], values[columns[q, 3], begin:end]
            total = _ZERO
            for r in range(a.size):
                total += a[r] * b[r] * c[r] * d[r]
            out[bins[i], q] += total
