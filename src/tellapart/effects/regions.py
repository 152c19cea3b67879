"""Where the joint distribution of a few columns differs: boxes in which one sample is denser.

Each column is cut at pooled quantiles into 2, 4, 8, … parts of equally many rows, a column of
categories into its levels. Every product of such parts, one of each column, is a box. The boxes
know no labels, so an interval that holds for all of them holds for those that differ most, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.effects.columns import proportions
from tellapart.effects.estimate import CONFIDENCE, Estimate, Sampling
from tellapart.text import number_pair

MOST_CUTS = {1: 5, 2: 3, 3: 2}
"""How often columns are halved, by how many there are; of more columns once."""
MOST_LEVELS = 16
SHOWN = 3
"""Boxes that are reported, those that differ most."""
# Boxes with fewer rows than this of both samples together are not reported.
FEWEST_ROWS = 5


@dataclass(frozen=True, eq=False)
class JointSet:
    """Raw values of one or more columns that differ together.

    Attributes
    ----------
    x, y : arrays of shape (rows, columns)
        The values, categories as codes, NaN where missing.
    names : tuple of str
        The columns.
    labels : tuple of tuples of str or None
        The levels of each column that has categories, by code.
    sampling : Sampling
        How rows were drawn.
    bandwidth : float
        How local the difference is: the bandwidth of the kernel that shows it best, in shares of
        the rows; NaN where it is not known.
    """

    x: FloatArray
    y: FloatArray
    names: tuple[str, ...]
    labels: tuple[Sequence[str] | None, ...]
    sampling: Sampling
    bandwidth: float = math.nan


Range = tuple[float, float] | str
"""The least and greatest value of a numeric column, or a level."""


@dataclass(frozen=True)
class Region:
    """A box in which one sample has more rows than the other.

    Attributes
    ----------
    ranges : mapping from str to pair of float or str
        The least and greatest value of each numeric column in the box, both inside; the level of
        a column of categories ("other" for all that are not among the most frequent).
    values : pair of float
        The proportion of the rows of each sample that lie in it.
    interval : pair of float
        The 95 % interval of their difference, which holds for all boxes at once.
    """

    ranges: Mapping[str, Range]
    values: tuple[float, float]
    interval: tuple[float, float]

    @property
    def text(self) -> str:
        """The ranges in words: "a from 0.2 to 0.4 and b = yes"."""
        return " and ".join(
            f"{name} = {inside}"
            if isinstance(inside, str)
            else "{} from {} to {}".format(name, *number_pair(*inside))
            for name, inside in self.ranges.items()
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON."""
        ranges = {k: v if isinstance(v, str) else list(v) for k, v in self.ranges.items()}
        return {"ranges": ranges, "values": list(self.values), "interval": list(self.interval)}


def joint_regions(joint: JointSet) -> Estimate | None:
    """Return the box whose proportion of rows differs most, with the next ones in `regions`.

    Intervals are those of all boxes at once. None where no box has enough rows, or no row has all
    the columns.

    >>> from tellapart.effects.estimate import IndependentRows
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.random((500, 1)), rng.random((500, 1))
    >>> x[:60] = 0.9 + 0.02 * x[:60]
    >>> estimate = joint_regions(JointSet(x, y, ("a",), (None,), IndependentRows()))
    >>> estimate.regions[0].text[:8], estimate.effect > 0.1
    ('a from 0', True)
    """
    boxes, n_boxes = _strongest(joint)
    if not boxes:
        return None

    def interval(estimate: Estimate, confidence: float = CONFIDENCE) -> tuple[float, float]:
        return estimate.limits(1 - (1 - confidence) / n_boxes)

    regions = tuple(
        Region(ranges, estimate.values, interval(estimate)) for ranges, estimate in boxes
    )
    first = boxes[0][1]
    details = [
        "{}: {:.1%} and {:.1%}".format(region.text, *region.values).replace("%", " %")
        for region in regions[1:]
    ]
    if not math.isnan(joint.bandwidth):
        details.append(f"structure at a scale of about {100 * joint.bandwidth:.0f} % of the rows")
    return replace(
        first,
        measure=regions[0].text,
        detail="; ".join(details),
        limits=lambda confidence: interval(first, confidence),
        regions=regions,
    )


@dataclass(frozen=True, eq=False)
class _Parts:
    """The parts of one column, each of some cells that follow each other.

    `cell_x` and `cell_y` are the cells of the rows of both samples, `first` and `last` the cells
    of every part, and `ranges` the values in it.
    """

    cell_x: IntArray
    cell_y: IntArray
    n_cells: int
    first: IntArray
    last: IntArray
    ranges: tuple[Range, ...]


def _strongest(joint: JointSet) -> tuple[list[tuple[dict[str, Range], Estimate]], int]:
    """Return the boxes that differ most and do not overlap, and how many boxes there are."""
    whole_x, whole_y = (np.asarray(~np.isnan(side).any(axis=1)) for side in (joint.x, joint.y))
    n_x, n_y = int(whole_x.sum()), int(whole_y.sum())
    if not n_x or not n_y:
        return [], 0
    size = joint.x.shape[1]
    cuts = MOST_CUTS.get(size, 1)
    parts = [
        _parts(joint.x[whole_x, q], joint.y[whole_y, q], joint.labels[q], cuts) for q in range(size)
    ]
    if any(len(part.ranges) < 2 for part in parts):
        return [], 0
    shape = tuple(part.n_cells for part in parts)
    sums = []
    for side in ("cell_x", "cell_y"):
        flat = np.ravel_multi_index(tuple(getattr(part, side) for part in parts), shape)
        counts = np.bincount(flat, minlength=math.prod(shape)).reshape(shape).astype(np.float64)
        for axis, part in enumerate(parts):
            total = np.concatenate(
                [np.zeros_like(counts.take([0], axis)), counts.cumsum(axis)], axis=axis
            )
            counts = total.take(part.last + 1, axis) - total.take(part.first, axis)
        sums.append(counts)
    in_x, in_y = sums
    share = (in_x + in_y) / (n_x + n_y)
    deviation = np.sqrt(np.maximum(share * (1 - share), 1e-12) * (1 / n_x + 1 / n_y))
    z = np.abs(in_x / n_x - in_y / n_y) / deviation
    z[in_x + in_y < FEWEST_ROWS] = 0.0
    boxes: list[tuple[int, ...]] = []
    for at in np.argsort(-z, axis=None, kind="stable"):
        box = tuple(int(k) for k in np.unravel_index(at, z.shape))
        if z[box] <= 0 or len(boxes) == SHOWN:
            break
        if not any(_overlap(box, other, parts) for other in boxes):
            boxes.append(box)
    return [_proportions(box, parts, joint, whole_x, whole_y) for box in boxes], z.size


def _overlap(box: tuple[int, ...], other: tuple[int, ...], parts: Sequence[_Parts]) -> bool:
    return all(
        part.first[one] <= part.last[two] and part.first[two] <= part.last[one]
        for one, two, part in zip(box, other, parts, strict=True)
    )


def _proportions(
    box: tuple[int, ...],
    parts: Sequence[_Parts],
    joint: JointSet,
    whole_x: BoolArray,
    whole_y: BoolArray,
) -> tuple[dict[str, Range], Estimate]:
    """Return the ranges of a box, and the difference of the proportions of rows in it."""
    hits = []
    for whole, side in ((whole_x, "cell_x"), (whole_y, "cell_y")):
        inside = np.full(whole.size, np.nan)
        inside[whole] = np.all(
            [
                (getattr(part, side) >= part.first[k]) & (getattr(part, side) <= part.last[k])
                for k, part in zip(box, parts, strict=True)
            ],
            axis=0,
        )
        hits.append(inside)
    ranges = {name: part.ranges[k] for name, k, part in zip(joint.names, box, parts, strict=True)}
    return ranges, proportions(hits[0], hits[1], joint.sampling, "proportion in a region")


def _parts(x: FloatArray, y: FloatArray, labels: Sequence[str] | None, cuts: int) -> _Parts:
    """Return the parts of one column: its levels, or halves, quarters, … of the pooled rows."""
    if labels is not None:
        codes, cells = np.unique(np.concatenate([x, y]), return_inverse=True)
        levels = [labels[int(code)] for code in codes]
        if codes.size > MOST_LEVELS:
            common = np.argsort(-np.bincount(cells), kind="stable")[: MOST_LEVELS - 1]
            place = np.full(codes.size, common.size)
            place[common] = np.arange(common.size)
            cells, levels = place[cells], [*(levels[k] for k in common), "other"]
        every = np.arange(len(levels))
        return _Parts(cells[: x.size], cells[x.size :], every.size, every, every, tuple(levels))
    pooled = np.sort(np.concatenate([x, y]))
    n_cells = 2**cuts
    at = np.ceil(np.arange(1, n_cells) * pooled.size / n_cells).astype(np.intp) - 1
    # A value equal to an edge lies below it; the largest value is no edge.
    edges = np.unique(pooled[at])
    edges = edges[edges < pooled[-1]]
    low = np.concatenate([pooled[:1], pooled[np.searchsorted(pooled, edges, side="right")]])
    high = np.concatenate([edges, pooled[-1:]])
    # Edges that coincide leave fewer cells, of which parts then have more than their share of rows.
    parts = {
        (k, min(k + 2**cut, low.size) - 1): None
        for cut in range(cuts)
        for k in range(0, low.size, 2**cut)
    }
    first, last = (np.array(side, dtype=np.intp) for side in zip(*parts, strict=True))
    cell_x, cell_y = (np.searchsorted(edges, side, side="left") for side in (x, y))
    ranges = tuple((float(low[a]), float(high[b])) for a, b in parts)
    return _Parts(cell_x, cell_y, low.size, first, last, ranges)
