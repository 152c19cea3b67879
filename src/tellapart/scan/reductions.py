"""Compiled loops over permutations: from sums to changes, and what is kept of each."""

from __future__ import annotations

import numpy as np

from tellapart.compiling import compiled

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
def correlation_changes(  # type: ignore[no-untyped-def]  # pragma: no cover
    sums, total, s, t, n_x, n_y,
    mean_xs, mean_ys, inv_xs, inv_ys, mean_xt, mean_yt, inv_xt, inv_yt,
):  # fmt: skip
    """Turn sums of products over x into (r_x − r_y)/(1 − r_x r_y), in place.

    That is tanh of the difference of Fisher's z, without its logarithms.
    """
    for k in range(sums.shape[0]):
        for q in range(sums.shape[1]):
            a, b = s[q], t[q]
            x = (sums[k, q] / n_x[k] - mean_xs[k, a] * mean_xt[k, b]) * inv_xs[k, a] * inv_xt[k, b]
            y = (total[q] - sums[k, q]) / n_y[k] - mean_ys[k, a] * mean_yt[k, b]
            y *= inv_ys[k, a] * inv_yt[k, b]
            x = min(max(x, -_EDGE), _EDGE)
            y = min(max(y, -_EDGE), _EDGE)
            sums[k, q] = (x - y) / (1.0 - x * y)


@compiled
def cumulant_changes(  # type: ignore[no-untyped-def]  # pragma: no cover
    sums, total, scale, s, t, u, tu, su, st, n_x, n_y, mean_x, mean_y, pairs_x, pairs_y
):  # fmt: skip
    """Turn sums of abc over x into (κ_x − κ_y)·scale, κ the third joint cumulant, in place.

    s, t, u are the places of a, b, c among the means, tu, su, st those of bc, ac, ab.
    """
    for k in range(sums.shape[0]):
        for q in range(sums.shape[1]):
            a, b, c = mean_x[k, s[q]], mean_x[k, t[q]], mean_x[k, u[q]]
            x = sums[k, q] / n_x[k] + 2.0 * a * b * c
            x -= a * pairs_x[k, tu[q]] + b * pairs_x[k, su[q]] + c * pairs_x[k, st[q]]
            a, b, c = mean_y[k, s[q]], mean_y[k, t[q]], mean_y[k, u[q]]
            y = (total[q] - sums[k, q]) / n_y[k] + 2.0 * a * b * c
            y -= a * pairs_y[k, tu[q]] + b * pairs_y[k, su[q]] + c * pairs_y[k, st[q]]
            sums[k, q] = (x - y) * scale[q]


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
    vector, image = start.copy(), start.copy()
    matrix = np.zeros((size, size), dtype=values.dtype)
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
