"""Gaussian kernel sums of one column in O(n), whatever its tails.

The line is cut into boxes a fraction of τ wide. Inside a pair of boxes the kernel is a
polynomial to machine precision,

    exp(−(u − v)² / 2τ²) ≈ Σ_{k,l} C_kl tᵤᵏ tᵥˡ,   tᵤ, tᵥ ∈ [−1, 1] the places within the boxes,

and C depends on the offset of the boxes only. So a sample enters through the power sums
Σ tᵢᵏ of its boxes, boxes within reach of each other are coupled by small matrices, and a kernel
sum at v is one polynomial in tᵥ. Only boxes that hold data are stored: outliers at 10¹⁸ τ cost
one box each. The power sums of chunks of a sample add up (`BoxMoments.merge`), so the rows may
come from memory, from a file in pieces, or from several machines.

Fourier modes do the same work for light tails at 20–60 modes a point; the boxes need 12 powers
a point and no second method for heavy tails.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial import chebyshev

from tellapart.arrays import FloatArray, IntArray
from tellapart.budget import current_budget
from tellapart.compiling import compiled

# Powers per box, and the largest width of a box in units of τ. The interpolation error is about
# 2 (WIDTH / 4)^ORDER / √ORDER!, here 1e-15.
ORDER = 12
WIDTH = 0.5
# exp(−REACH² / 2) = 1e-16: boxes further apart than this, in units of τ, do not interact.
REACH = 8.6
# Boxes of a lookup table at most: 32 kB.
_TABLE = 4096


@dataclass(frozen=True)
class BoxGrid:
    """The boxes [i·w, (i + 1)·w) of one column, w the largest power of two ≤ WIDTH·τ.

    A power of two makes v/w, its floor and the place in the box exact for every finite v, so
    far-away clusters of outliers lose no digits. Box numbers are floats for the same reason.
    """

    bandwidth: float

    @cached_property
    def width(self) -> float:
        """Width of a box."""
        return math.ldexp(1.0, math.frexp(WIDTH * self.bandwidth)[1] - 1)

    @property
    def reach(self) -> int:
        """The largest offset of two boxes that interact."""
        return math.ceil(REACH * self.bandwidth / self.width)

    def coupling(self, largest: int) -> FloatArray:
        """Return C[largest + target − source, k, l], k a power of the target, l of the source.

        The offsets of the boxes run from −largest to largest.
        """
        ratio = self.width / self.bandwidth
        gaps = np.arange(largest + 1.0)[:, None, None] + (_NODES[:, None] - _NODES) / 2
        ahead = np.exp(-0.5 * np.square(ratio * gaps))
        # M ahead Mᵀ for both matrices M, as plain products of two matrices each.
        for matrix in (_TO_CHEBYSHEV, _TO_CHEBYSHEV, _TO_POWERS, _TO_POWERS):
            product = ahead.reshape(-1, ORDER) @ matrix.T
            ahead = product.reshape(gaps.shape).swapaxes(1, 2)
        # Mirrored boxes: odd powers change their sign.
        return np.concatenate([(_MIRROR * ahead)[:0:-1], ahead])


# Values at the Chebyshev nodes, to coefficients of Chebyshev polynomials, to those of powers.
# In two steps: the Chebyshev coefficients fall off fast, so that the second one, whose entries
# are large, amplifies no rounding errors.
_ANGLES = np.pi * (np.arange(ORDER) + 0.5) / ORDER
_NODES = np.cos(_ANGLES)
_TO_CHEBYSHEV = np.cos(np.outer(np.arange(ORDER), _ANGLES)) * 2 / ORDER
_TO_CHEBYSHEV[0] /= 2
_TO_POWERS = np.stack(
    [np.pad(chebyshev.cheb2poly([0.0] * k + [1.0]), (0, ORDER - 1 - k)) for k in range(ORDER)],
    axis=1,
)
_MIRROR = (-1.0) ** np.add.outer(np.arange(ORDER), np.arange(ORDER))


@dataclass(frozen=True)
class BoxMoments:
    """The power sums Σ tᵢᵏ of one sample, or of some of its rows, box by box.

    Attributes
    ----------
    grid : BoxGrid
    boxes : array of shape (B,)
        Sorted numbers of the boxes that hold data.
    powers : array of shape (B, ORDER)
        Σ tᵢᵏ over the values in each box; k = 0 is their number.

    Examples
    --------
    >>> import numpy as np
    >>> grid, values = BoxGrid(1.0), np.array([0.1, 0.2, 3.0, 1e18])
    >>> whole = BoxMoments.of(grid, values)
    >>> whole.count, whole.boxes.shape
    (4, (3,))
    >>> parts = BoxMoments.of(grid, values[:1]).merge(BoxMoments.of(grid, values[1:]))
    >>> bool(np.allclose(parts.powers, whole.powers, rtol=1e-14))
    True
    """

    grid: BoxGrid
    boxes: FloatArray
    powers: FloatArray

    @classmethod
    def of(cls, grid: BoxGrid, values: FloatArray) -> BoxMoments:
        """Return the power sums of `values`."""
        lookup = _Lookup.of_values(values, grid.width)
        powers = np.zeros((lookup.boxes.shape[0], ORDER))
        _add_powers(values, 1 / grid.width, lookup.boxes, lookup.start, lookup.table, powers)
        return cls(grid, lookup.boxes, powers)

    @property
    def count(self) -> int:
        """Number of values summed."""
        return int(self.powers[:, 0].sum())

    def merge(self, other: BoxMoments) -> BoxMoments:
        """Return the power sums of both sets of values together."""
        boxes = np.union1d(self.boxes, other.boxes)
        return BoxMoments(self.grid, boxes, self.on(boxes) + other.on(boxes))

    def on(self, boxes: FloatArray) -> FloatArray:
        """Return the power sums on a sorted superset of the boxes."""
        powers = np.zeros((boxes.shape[0], ORDER))
        powers[np.searchsorted(boxes, self.boxes)] = self.powers
        return powers


class BoxExpansion:
    """The Gaussian kernel sums of two samples of one column.

    Absolute error of every mean below 1e-13.

    Parameters
    ----------
    x, y : BoxMoments
        The power sums of the samples, on the same grid.

    Examples
    --------
    >>> import numpy as np
    >>> grid = BoxGrid(1.0)
    >>> x, y = np.array([0.0, 1.0]), np.array([2.0])
    >>> sums = BoxExpansion(BoxMoments.of(grid, x), BoxMoments.of(grid, y))
    >>> round(sums.mean_xx, 6)
    0.803265
    >>> sums.witness(np.array([2.0, 1e9])).round(6).tolist()
    [-0.629067, 0.0]
    """

    def __init__(self, x: BoxMoments, y: BoxMoments) -> None:
        self._grid = x.grid
        boxes = np.union1d(x.boxes, y.boxes)
        mean_powers = np.stack([x.on(boxes) / x.count, y.on(boxes) / y.count])
        span = boxes[-1] - boxes[0]
        coupling = self._grid.coupling(int(min(span, self._grid.reach)))
        series = np.zeros_like(mean_powers)
        for sample in range(2):
            _couple(boxes, boxes, mean_powers[sample], coupling, series[sample])
        # einsum, as a threaded BLAS costs more than it saves on these short arrays.
        means = np.einsum("abk,cbk->ac", mean_powers, series)
        self.mean_xx = float(means[0, 0])
        self.mean_yy = float(means[1, 1])
        self.mean_xy = float(means[0, 1])
        self._powers = mean_powers[0] - mean_powers[1]
        self._series = series[0] - series[1]
        self._lookup = _Lookup.of_boxes(boxes, mean_powers[0, :, 0] + mean_powers[1, :, 0])

    def witness(self, values: FloatArray) -> FloatArray:
        """Return mean_i k(x_i, v) − mean_j k(y_j, v) for each v in `values`."""
        inverse, lookup = 1 / self._grid.width, self._lookup
        result = np.empty(values.shape[0])
        unknown: int = _evaluate(
            values, inverse, lookup.boxes, lookup.start, lookup.table, self._series, result
        )
        if unknown:
            outside = np.flatnonzero(np.isnan(result))
            result[outside] = self._witness_outside(values[outside])
        return result

    def _witness_outside(self, values: FloatArray) -> FloatArray:
        """Evaluate in boxes that hold no data: their series are made on the way."""
        inverse = 1 / self._grid.width
        with np.errstate(over="ignore"):
            near = np.isfinite(values * inverse)
        result = np.where(np.isnan(values), np.nan, 0.0)
        lookup = _Lookup.of_values(values[near], self._grid.width)
        coupling = self._grid.coupling(self._grid.reach)
        series = np.zeros((lookup.boxes.shape[0], ORDER))
        _couple(lookup.boxes, self._lookup.boxes, self._powers, coupling, series)
        part = np.empty(np.count_nonzero(near))
        _evaluate(values[near], inverse, lookup.boxes, lookup.start, lookup.table, series, part)
        result[near] = part
        return result


@dataclass(frozen=True)
class _Lookup:
    """From box numbers to their places in the sorted list `boxes`.

    A table serves the boxes from `start` on, where most of the data lies; half of all pairs are
    closer than τ, so there is such a region in every column. The others are found by bisection.
    """

    boxes: FloatArray
    start: float
    table: IntArray

    @classmethod
    def of_boxes(cls, boxes: FloatArray, weights: FloatArray) -> _Lookup:
        total = np.cumsum(weights)
        centre = boxes[np.searchsorted(total, total[-1] / 2)] if boxes.shape[0] else 0.0
        return cls._around(boxes, float(centre))

    @classmethod
    def of_values(cls, values: FloatArray, width: float) -> _Lookup:
        if values.shape[0] == 0:
            return cls._around(np.empty(0), 0.0)
        # Any centre is correct; that of every k-th value is cheap and good.
        some = np.sort(values[:: max(1, values.shape[0] // 512)])
        start = math.floor(some[some.shape[0] // 2] / width) - _TABLE // 2
        seen = np.zeros(_TABLE, dtype=np.bool_)
        outside = np.empty(0)
        if _mark(values, 1 / width, float(start), seen):
            boxes = np.floor(values / width)
            outside = np.unique(boxes[(boxes < start) | (boxes >= start + _TABLE)])
        inside = float(start) + np.flatnonzero(seen)
        return cls._around(np.sort(np.concatenate([inside, outside])), start + _TABLE / 2)

    @classmethod
    def _around(cls, boxes: FloatArray, centre: float) -> _Lookup:
        first, stop = np.searchsorted(boxes, [centre - _TABLE // 2, centre + _TABLE // 2])
        if stop <= first:
            return cls(boxes, 0.0, np.empty(0, dtype=np.intp))
        start = boxes[first]
        table = np.full(int(boxes[stop - 1] - start) + 1, -1, dtype=np.intp)
        table[(boxes[first:stop] - start).astype(np.intp)] = np.arange(first, stop)
        return cls(boxes, float(start), table)


# The loops below look the table up in place and call `_bisect` only for what it does not cover:
# as one function of both, the call would cost more than all the arithmetic.


@compiled
def _bisect(box, boxes):  # type: ignore[no-untyped-def]
    low, high = 0, boxes.shape[0]
    while low < high:
        middle = (low + high) // 2
        if boxes[middle] < box:
            low = middle + 1
        else:
            high = middle
    return low if low < boxes.shape[0] and boxes[low] == box else -1


@compiled
def _mark(values, inverse, start, seen):  # type: ignore[no-untyped-def]
    """Mark the boxes from `start` on that hold data; return whether some lie elsewhere."""
    outside = False
    size = float(seen.shape[0])
    for v in values:
        offset = np.floor(v * inverse) - start
        if offset >= 0.0 and offset < size:
            seen[int(offset)] = True
        else:
            outside = True
    return outside


@compiled(fastmath={"contract"})
def _add_powers(values, inverse, boxes, start, table, powers):  # type: ignore[no-untyped-def]
    size = float(table.shape[0])
    for v in values:
        scaled = v * inverse
        box = np.floor(scaled)
        t = 2.0 * (scaled - box) - 1.0
        offset = box - start
        b = table[int(offset)] if offset >= 0.0 and offset < size else _bisect(box, boxes)
        row = powers[np.uint64(b)]
        power = 1.0
        for k in range(ORDER):
            row[k] += power
            power *= t


@compiled(fastmath={"contract", "reassoc"})
def _couple(targets, sources, powers, coupling, series):  # type: ignore[no-untyped-def]
    """Add to the series of each target box what the source boxes within reach send there."""
    reach = coupling.shape[0] // 2
    first = 0
    for i in range(targets.shape[0]):
        while first < sources.shape[0] and sources[first] - targets[i] < -reach:
            first += 1
        j = first
        while j < sources.shape[0] and sources[j] - targets[i] <= reach:
            matrix = coupling[np.uint64(reach + int(targets[i] - sources[j]))]
            row = powers[np.uint64(j)]
            for k in range(ORDER):
                total = 0.0
                for m in range(ORDER):
                    total += matrix[k, m] * row[m]
                series[i, k] += total
            j += 1


@compiled(fastmath={"contract"})
def _evaluate(values, inverse, boxes, start, table, series, result):  # type: ignore[no-untyped-def]
    """Evaluate the series at each value; NaN, and counted, where the box has none."""
    unknown = 0
    size = float(table.shape[0])
    for i in range(values.shape[0]):
        scaled = values[i] * inverse
        box = np.floor(scaled)
        t = 2.0 * (scaled - box) - 1.0
        offset = box - start
        b = table[int(offset)] if offset >= 0.0 and offset < size else _bisect(box, boxes)
        if b < 0:
            result[i] = np.nan
            unknown += 1
        else:
            row = series[np.uint64(b)]
            total = row[ORDER - 1]
            for k in range(ORDER - 2, -1, -1):
                total = total * t + row[k]
            result[i] = total
    return unknown


# Truncation of the series and distance of its periodic images, both below 1e-14.
_TAIL = math.sqrt(2 * math.log(1e14))
# Values whose rotations run side by side.
_LANES = 16


def count_modes(extent: float) -> float:
    """Return the number of features for values that span `extent` bandwidths.

    >>> count_modes(10.0), count_modes(math.inf)
    (49.0, inf)
    """
    if not math.isfinite(extent):
        return math.inf
    return 2.0 * math.ceil(_TAIL / (2 * math.pi / (extent + _TAIL))) + 1


def extent_of(values: FloatArray, bandwidth: float) -> float:
    """Return range / τ, infinite where it is no float."""
    low, high = float(values.min()), float(values.max())
    with np.errstate(over="ignore"):
        return float(np.float64(high / 2 - low / 2) / bandwidth * 2)


def fourier_sums(
    values: FloatArray, starts: IntArray, bandwidth: float, extent: float, centre: float
) -> FloatArray:
    """Return the sums over each group of the features, one row per group.

        exp(−u²/2) = Σ_m w_m cos(m h u),  h = 2π / (R + √(2 ln 1/ε)),  R = range / τ,
        w_m = h / √(2π) · exp(−(m h)²/2), doubled for m ≥ 1,

    so that features √w_m (cos m h u, sin m h u) have the kernel for their inner product, to 1e-13.
    The sums need one pass over the values and no matrix with a row for each of them: the cosine of
    m h u follows from that of (m − 1) h u by a rotation.

    Parameters
    ----------
    values : array of length N
        Group after group.
    starts : array of length G + 1
        Where each group begins, and where the last ends.
    bandwidth : float
        τ.
    extent : float
        The features hold for values at most that many τ apart.
    centre : float
        Taken from the values first: sums with the same centre and extent belong together.
    """
    modes = int(count_modes(extent)) // 2
    step = 2 * math.pi / (extent + _TAIL)
    frequencies = step * np.arange(modes + 1)
    weights = step / math.sqrt(2 * math.pi) * np.exp(-0.5 * np.square(frequencies))
    weights[1:] *= 2
    sums = np.zeros((starts.shape[0] - 1, 2 * modes + 1))
    _add_modes(values, starts, centre, bandwidth, step, modes, sums)
    sums *= np.sqrt(np.concatenate([weights, weights[1:]]))
    return sums


@compiled(fastmath={"contract", "reassoc"})
def _add_modes(values, starts, centre, bandwidth, step, modes, sums):  # type: ignore[no-untyped-def]
    cosine, sine = np.empty(_LANES), np.empty(_LANES)
    c, s = np.empty(_LANES), np.empty(_LANES)
    for group in range(starts.shape[0] - 1):
        row = sums[group]
        stop = starts[group + 1]
        row[0] += stop - starts[group]
        for first in range(starts[group], stop, _LANES):
            lanes = min(_LANES, stop - first)
            for lane in range(lanes):
                angle = (values[first + lane] - centre) / bandwidth * step
                cosine[lane] = np.cos(angle)
                sine[lane] = np.sin(angle)
                c[lane] = 1.0
                s[lane] = 0.0
            for mode in range(1, modes + 1):
                of_c = 0.0
                of_s = 0.0
                for lane in range(lanes):
                    turned = c[lane] * cosine[lane] - s[lane] * sine[lane]
                    s[lane] = s[lane] * cosine[lane] + c[lane] * sine[lane]
                    c[lane] = turned
                    of_c += turned
                    of_s += s[lane]
                row[mode] += of_c
                row[modes + mode] += of_s


def gaussian_group_sums(values: FloatArray, starts: IntArray, bandwidth: float) -> FloatArray:
    """Return S (G × G) with S_gh the sum of exp(−(u_i − u_j)²/2τ²) over i in g and j in h.

    The sorted values fall into clusters with gaps of more than 8.6 τ between them, across which the
    kernel is 0 to 1e-16, and a cluster into cells of that width, so that only neighbouring cells
    see each other. Pairs of cells with many rows are summed by Fourier features, which are few over
    so short a range; pairs with few rows one by one. A heavy tail has many cells with few rows, and
    the middle of a column few cells with many: neither takes the square of the rows.

    Parameters
    ----------
    values : array of length N
        Group after group.
    starts : array of length G + 1
        Where each group begins, and where the last ends.
    bandwidth : float
        τ.

    Examples
    --------
    >>> import numpy as np
    >>> values, starts = np.array([0.0, 1e9, 0.0, 1.0]), np.array([0, 2, 4])
    >>> gaussian_group_sums(values, starts, 1.0).round(4).tolist()
    [[2.0, 1.6065], [1.6065, 3.2131]]
    """
    n_groups = starts.shape[0] - 1
    group = np.repeat(np.arange(n_groups), np.diff(starts))
    order = np.argsort(values, kind="stable")
    ordered, group = values[order], group[order]
    cells, linked = _cut(ordered, bandwidth)
    sizes = np.diff(cells)
    few = current_budget().group_pairs_per_entry * n_groups * n_groups
    # Pairs once, i before j; what counts them both ways is halved.
    once = np.zeros((n_groups, n_groups))
    _add_pairs(ordered, group, cells, linked, bandwidth, few, once)

    def sums_of(cell: int, centre: float) -> FloatArray:
        rows = slice(int(cells[cell]), int(cells[cell + 1]))
        by_group = np.argsort(group[rows], kind="stable")
        edges = np.searchsorted(group[rows][by_group], np.arange(n_groups + 1))
        return fourier_sums(ordered[rows][by_group], edges, bandwidth, 2 * REACH, centre)

    for cell in range(sizes.shape[0]):
        within = sizes[cell] * sizes[cell] > few
        across = bool(linked[cell]) and sizes[cell] * sizes[cell + 1] > few
        if not (within or across):
            continue
        centre = float(ordered[cells[cell]])
        cell_sums = sums_of(cell, centre)
        if within:
            once += (0.5 * cell_sums) @ cell_sums.T
        if across:
            once += cell_sums @ sums_of(cell + 1, centre).T
    _mirror(once)
    # Each row with itself, where pairs went one by one.
    alone = np.repeat(sizes * sizes <= few, sizes)
    once[np.diag_indices(n_groups)] += np.bincount(group[alone], minlength=n_groups)
    return once


@compiled
def _cut(ordered, bandwidth):  # type: ignore[no-untyped-def]
    """Return where the cells begin, and whether each touches the next."""
    n = ordered.shape[0]
    width = REACH * bandwidth
    starts = np.empty(n + 1, dtype=np.int64)
    linked = np.zeros(n, dtype=np.bool_)
    count = 0
    first = ordered[0]
    cell = 0.0
    starts[0] = 0
    for i in range(1, n):
        if ordered[i] - ordered[i - 1] > width:
            first = ordered[i]
            cell = 0.0
        else:
            here = np.floor((ordered[i] - first) / width)
            if here == cell:
                continue
            linked[count] = here == cell + 1.0
            cell = here
        count += 1
        starts[count] = i
    starts[count + 1] = n
    return starts[: count + 2].copy(), linked[: count + 1].copy()


@compiled
def _add_pairs(ordered, group, cells, linked, bandwidth, few, once):  # type: ignore[no-untyped-def]
    """Add the pairs i < j of each cell, and of it and the next, where they are few."""
    reach = REACH * bandwidth
    for cell in range(linked.shape[0]):
        start, stop = cells[cell], cells[cell + 1]
        size = stop - start
        if size * size <= few:
            for i in range(start, stop):
                for j in range(i + 1, stop):
                    gap = (ordered[j] - ordered[i]) / bandwidth
                    once[group[i], group[j]] += np.exp(-0.5 * gap * gap)
        if linked[cell] and size * (cells[cell + 2] - stop) <= few:
            for i in range(start, stop):
                for j in range(stop, cells[cell + 2]):
                    if ordered[j] - ordered[i] > reach:
                        break
                    gap = (ordered[j] - ordered[i]) / bandwidth
                    once[group[i], group[j]] += np.exp(-0.5 * gap * gap)


@compiled
def _mirror(once):  # type: ignore[no-untyped-def]
    """Add the transpose, in place: the matrix may be large."""
    for i in range(once.shape[0]):
        for j in range(i + 1):
            both = once[i, j] + once[j, i]
            once[i, j] = both
            once[j, i] = both
