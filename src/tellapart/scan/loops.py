"""Compiled loops over the rows of each bin. Rows come sorted by bin, one segment per bin.

Where bins have many rows, scores are (columns × rows), so that the rows of a segment follow each
other in memory; of rows one by one, (rows × columns) is the better way.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from tellapart.compiling import compiled
from tellapart.scan.cells import CELL_WIDTH, FAR_OUT

N_CELL = 11
N_WAVES = 12
PERIOD = 10.5
"""V lies within ±4.5, and images a period apart do not touch: cos and sin of 2πjV/PERIOD."""
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

    `singles` has shape (kinds, bins + 1, columns) by `tellapart.scan.features.SINGLES`, of which
    column `place` is this one's. `derived` has the squares: of every bin where `full`, else of the
    last one only, that of the rows which keep their labels.
    """
    last = singles.shape[1] - 1
    sums = np.empty(CELL_WIDTH, dtype=np.float32)
    total = np.empty(CELL_WIDTH)
    for i in range(bins.size):
        for k in range(total.size):
            total[k] = 0.0
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
    total = np.empty(7)
    for i in range(bins.size):
        for k in range(total.size):
            total[k] = 0.0
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
    sums = np.empty(2 * N_WAVES, dtype=np.float32)
    total = np.empty(2 * N_WAVES)
    for i in range(bins.size):
        at = bins[i]
        if not full and at != last:
            continue
        for k in range(total.size):
            total[k] = 0.0
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


# Compiled loops over permutations: from sums to changes, and what is kept of each.


# Correlations are kept off ±1, where their difference has no scale.
_EDGE = 0.9999
# Of fewer rows than this that have all columns of a product, nothing can be said.
_FEWEST = 4
FEWEST_UNEVEN = 30
"""Values of a sample that are enough, however many fewer they are than an even share."""


@compiled
def mean_changes(of_x, total, n_x, n_y):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Turn the sums over x, one row per permutation, into mean_x − mean_y."""
    for k in range(of_x.shape[0]):
        m, n = n_x[k], n_y[k]
        for q in range(of_x.shape[1]):
            own = of_x[k, q]
            of_x[k, q] = own / m - (total[q] - own) / n


@compiled
def _runs(a, b, c, d, e, f):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return where runs begin, and the end: a, b and c stay the same, d, e and f rise by one.

    Within a run what a loop reads lies side by side, and several entries are computed at once.
    """
    starts = np.empty(a.size + 1, np.intp)
    count = 0
    for q in range(a.size):
        p = max(q - 1, 0)
        same = a[q] == a[p] and b[q] == b[p] and c[q] == c[p]
        if not (same and d[q] == d[p] + 1 and e[q] == e[p] + 1 and f[q] == f[p] + 1):
            starts[count] = q
            count += 1
    starts[count] = a.size
    return starts[: count + 1]


# NumPy's rules of division (no test for 0) let these loops compute several entries at once.
@compiled(error_model="numpy")
def correlation_changes(  # type: ignore[no-untyped-def]  # pragma: no cover
    sums, total, s, t, n_x, n_y,
    mean_xs, mean_ys, inv_xs, inv_ys, mean_xt, mean_yt, inv_xt, inv_yt,
):  # fmt: skip
    """Turn sums of products over x into (r_x − r_y)/(1 − r_x r_y), in place.

    That is tanh of the difference of Fisher's z, without its logarithms.
    """
    starts = _runs(s, s, s, t, t, t)
    for k in range(sums.shape[0]):
        m, n = n_x[k], n_y[k]
        for i in range(starts.size - 1):
            begin, end = starts[i], starts[i + 1]
            a, b = s[begin], slice(t[begin], t[begin] + end - begin)
            mean_xa, mean_ya = mean_xs[k, a], mean_ys[k, a]
            inv_xa, inv_ya = inv_xs[k, a], inv_ys[k, a]
            mean_xb, mean_yb, inv_xb, inv_yb = (
                mean_xt[k, b],
                mean_yt[k, b],
                inv_xt[k, b],
                inv_yt[k, b],
            )
            run, totals = sums[k, begin:end], total[begin:end]
            for q in range(run.size):
                x = (run[q] / m - mean_xa * mean_xb[q]) * inv_xa * inv_xb[q]
                y = (totals[q] - run[q]) / n - mean_ya * mean_yb[q]
                y *= inv_ya * inv_yb[q]
                x = min(max(x, -_EDGE), _EDGE)
                y = min(max(y, -_EDGE), _EDGE)
                run[q] = (x - y) / (1.0 - x * y)


@compiled(error_model="numpy")
def cumulant_changes(  # type: ignore[no-untyped-def]  # pragma: no cover
    sums, total, scale, s, t, u, tu, su, st, n_x, n_y, mean_x, mean_y, pairs_x, pairs_y
):  # fmt: skip
    """Turn sums of abc over x into (κ_x − κ_y)·scale, κ the third joint cumulant, in place.

    s, t, u are the places of a, b, c among the means, tu, su, st those of bc, ac, ab.
    """
    starts = _runs(s, t, st, u, tu, su)
    for k in range(sums.shape[0]):
        m, n = n_x[k], n_y[k]
        for i in range(starts.size - 1):
            begin, end = starts[i], starts[i + 1]
            size = end - begin
            c = slice(u[begin], u[begin] + size)
            bc, ac = slice(tu[begin], tu[begin] + size), slice(su[begin], su[begin] + size)
            xa, xb, xab = mean_x[k, s[begin]], mean_x[k, t[begin]], pairs_x[k, st[begin]]
            ya, yb, yab = mean_y[k, s[begin]], mean_y[k, t[begin]], pairs_y[k, st[begin]]
            xc, xbc, xac = mean_x[k, c], pairs_x[k, bc], pairs_x[k, ac]
            yc, ybc, yac = mean_y[k, c], pairs_y[k, bc], pairs_y[k, ac]
            run, totals, scales = sums[k, begin:end], total[begin:end], scale[begin:end]
            for q in range(size):
                x = run[q] / m + 2.0 * xa * xb * xc[q]
                x -= xa * xbc[q] + xb * xac[q] + xc[q] * xab
                y = (totals[q] - run[q]) / n + 2.0 * ya * yb * yc[q]
                y -= ya * ybc[q] + yb * yac[q] + yc[q] * yab
                run[q] = (x - y) * scales[q]


@compiled
def too_few(k_x, k_y, share):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return whether a sample has too few of k_x + k_y values to be compared by them.

    `share` is m/(m + n). Permutations even out what is missing. A few values are no approximation
    of that: a mean, and more so a deviation or correlation, has other tails there.
    """
    even_x = share * (k_x + k_y)
    even_y = k_x + k_y - even_x
    return (k_x < FEWEST_UNEVEN and 2 * k_x < even_x) or (k_y < FEWEST_UNEVEN and 2 * k_y < even_y)


@compiled
def _noise_ratio(k_x, k_y, whole, share):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return √((1/m + 1/n)/(1/k_x + 1/k_y)), `whole` being 1/m + 1/n; 0 of too few rows."""
    if min(k_x, k_y) < _FEWEST or too_few(k_x, k_y, share):
        return 0.0
    return (whole * k_x * k_y / (k_x + k_y)) ** 0.5


@compiled
def noise_ratios(k_x, k_y, whole, share, ratios):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Set √((1/m + 1/n)/(1/k_x + 1/k_y)), 0 of too few rows, of flat arrays."""
    for i in range(k_x.size):
        total = k_x[i] + k_y[i]
        if min(k_x[i], k_y[i]) > 0 and not too_few(k_x[i], k_y[i], share):
            ratios[i] = (whole * k_x[i] * k_y[i] / total) ** 0.5


@compiled
def present_correlation_changes(  # type: ignore[no-untyped-def]  # pragma: no cover
    sums, counts, total, totals, s, t, whole, share,
    mean_xs, mean_ys, inv_xs, inv_ys, mean_xt, mean_yt, inv_xt, inv_yt,
):  # fmt: skip
    """Do as `correlation_changes`, each pair over the `counts` rows that have both columns.

    The change is in the noise that all rows would have; see `tellapart.scan.pool.Pool.precision`.
    """
    for k in range(sums.shape[0]):
        for q in range(sums.shape[1]):
            a, b = s[q], t[q]
            n_x, n_y = counts[k, q], totals[q] - counts[k, q]
            ratio = _noise_ratio(n_x, n_y, whole, share)
            if ratio == 0.0:
                sums[k, q] = 0.0
                continue
            x = (sums[k, q] / n_x - mean_xs[k, a] * mean_xt[k, b]) * inv_xs[k, a] * inv_xt[k, b]
            y = (total[q] - sums[k, q]) / n_y - mean_ys[k, a] * mean_yt[k, b]
            y *= inv_ys[k, a] * inv_yt[k, b]
            x = min(max(x, -_EDGE), _EDGE)
            y = min(max(y, -_EDGE), _EDGE)
            sums[k, q] = (x - y) / (1.0 - x * y) * ratio


@compiled
def present_cumulant_changes(  # type: ignore[no-untyped-def]  # pragma: no cover
    sums, counts, total, totals, scale, s, t, u, tu, su, st, whole, share,
    mean_x, mean_y, pairs_x, pairs_y,
):  # fmt: skip
    """Do as `cumulant_changes`, each triple over the `counts` rows that have all its columns."""
    for k in range(sums.shape[0]):
        for q in range(sums.shape[1]):
            n_x, n_y = counts[k, q], totals[q] - counts[k, q]
            ratio = _noise_ratio(n_x, n_y, whole, share)
            if ratio == 0.0:
                sums[k, q] = 0.0
                continue
            a, b, c = mean_x[k, s[q]], mean_x[k, t[q]], mean_x[k, u[q]]
            x = sums[k, q] / n_x + 2.0 * a * b * c
            x -= a * pairs_x[k, tu[q]] + b * pairs_x[k, su[q]] + c * pairs_x[k, st[q]]
            a, b, c = mean_y[k, s[q]], mean_y[k, t[q]], mean_y[k, u[q]]
            y = (total[q] - sums[k, q]) / n_y + 2.0 * a * b * c
            y -= a * pairs_y[k, tu[q]] + b * pairs_y[k, su[q]] + c * pairs_y[k, st[q]]
            sums[k, q] = (x - y) * scale[q] * ratio


@compiled
def keep_largest(values, first, top, where):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Merge the squares of each row of values into the rows of top, which rise.

    `where` holds the place of each entry of top; that of values[:, 0] is `first`.
    """
    last = top.shape[1]
    for k in range(values.shape[0]):
        for q in range(values.shape[1]):
            square = values[k, q] * values[k, q]
            if square > top[k, 0]:
                place = 0
                while place + 1 < last and top[k, place + 1] < square:
                    top[k, place] = top[k, place + 1]
                    where[k, place] = where[k, place + 1]
                    place += 1
                top[k, place] = square
                where[k, place] = first + q


@compiled
def spectral_norms(values, s, t, start, steps, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Set out[k] to the length of the symmetric matrix of values[k] by steps of power iteration."""
    size = start.shape[0]
    vector, image = np.empty(size, values.dtype), np.empty(size, values.dtype)
    matrix = np.empty((size, size), values.dtype)
    for i in range(size):
        for j in range(size):
            matrix[i, j] = 0.0
    for k in range(values.shape[0]):
        for q in range(s.shape[0]):
            matrix[s[q], t[q]] = values[k, q]
            matrix[t[q], s[q]] = values[k, q]
        for i in range(size):
            vector[i] = start[i]
        length = 0.0
        for _ in range(steps):
            for i in range(size):
                image[i] = 0.0
            for j in range(size):
                for i in range(size):
                    image[i] += matrix[j, i] * vector[j]
            length = 0.0
            for i in range(size):
                length += image[i] * image[i]
            length = length**0.5
            if length == 0.0:
                break
            for i in range(size):
                vector[i] = image[i] / length
        out[k] = length
