"""Samples with a design: rows that cannot be tested are counted, and left out or refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tellapart.data.design import Design, make_design
from tellapart.data.likeness import likeness_of
from tellapart.data.missing import FEWEST_ROWS
from tellapart.data.row_labels import RowLabels
from tellapart.data.samples import Samples
from tellapart.errors import InputError, warn_caller

DROPPING, PAIRWISE = "drop-rows", "pairwise"
# Values that are looked at together, 64 MB.
ENTRIES = 8_000_000
MOST_LEFT_OUT = 0.1
"""The share of rows that strata may leave out without a warning."""


def with_labels(
    samples: Samples, labels: Sequence[RowLabels], policy: str, titles: tuple[str, str]
) -> Samples:
    """Return samples with the design that the labels of their rows, as read, give.

    Rows whose label is missing are an error, or left out where rows with missing values are. What
    is missing is not compared: which rows miss a value would have to be permuted by the design
    together with rows that were left out.
    """
    refuse_pairwise(policy)
    if samples.as_read is not None:
        if samples.as_read.pattern.whole_rows:
            complete = samples.as_read.complete()
            labels = [own.rows(rows) for own, rows in zip(labels, complete, strict=True)]
        samples = replace(samples, as_read=None)
    known = [of_rows.known() for of_rows in labels]
    gone = [of_rows.n_rows - rows.size for of_rows, rows in zip(labels, known, strict=True)]
    if any(gone) and policy != DROPPING:
        raise InputError(
            "the labels of strata, pairs and clusters must not be missing; got "
            f"{gone[0]} missing in {titles[0]} and {gone[1]} in {titles[1]}; "
            'pass missing="drop-rows" to leave these rows out'
        )
    if any(gone):
        of_x, of_y = samples.dropped_rows
        samples = replace(
            samples.rows(known[0], known[1]), dropped_rows=(of_x + gone[0], of_y + gone[1])
        )
    x, y = (of_rows.rows(rows) for of_rows, rows in zip(labels, known, strict=True))
    return keep_informative(replace(samples, design=make_design(x, y)), policy, titles)


def refuse_pairwise(policy: str) -> None:
    """Raise where rows with gaps should stay: what is missing is not compared under a design."""
    if policy == PAIRWISE:
        raise InputError(
            "missing must be 'error', 'drop-rows' or 'drop-columns' with strata, paired or "
            f"clusters; got {PAIRWISE!r}"
        )


def keep_informative(samples: Samples, policy: str, titles: tuple[str, str]) -> Samples:
    """Return the samples without rows whose labels cannot move, or raise where that is an error.

    A stratum with rows of one sample only says nothing of a difference within strata: its rows are
    left out, and the design counts them. Pairs without a partner are an error, unless rows with
    missing values are left out, too.
    """
    design = samples.design
    if design is None:
        return samples
    kept = samples.informative()
    if kept is samples:
        return _checked(samples)
    if design.paired is not None and policy != DROPPING:
        x, y = _alone(design)
        raise InputError(
            f"paired must match every row; {x} keys of {titles[0]} are not in {titles[1]} and {y} "
            f'of {titles[1]} are not in {titles[0]}; pass missing="drop-rows" to leave them out'
        )
    if min(kept.n_x, kept.n_y) < FEWEST_ROWS:
        what = "pairs" if design.paired is not None else "strata"
        raise InputError(
            f"{what} must have rows of both samples, or no label can be permuted; "
            f"all but {kept.n_x} rows of {titles[0]} and {kept.n_y} of {titles[1]} are in one "
            "with rows of one sample only"
        )
    if design.paired is None:
        _warn_of_rows_left_out(samples, kept)
    return _checked(kept)


def _warn_of_rows_left_out(samples: Samples, kept: Samples) -> None:
    """Warn where strata of one sample only hold a large share of the rows."""
    rows, left = samples.n_x + samples.n_y, kept.n_x + kept.n_y
    if rows - left <= MOST_LEFT_OUT * rows:
        return
    assert samples.design is not None
    name = samples.design.strata
    warn_caller(
        f"strata leave out {rows - left:,} of {rows:,} rows: their strata hold rows of one sample "
        f"only; {kept.n_x:,} and {kept.n_y:,} rows are compared. Use wider strata"
        f"{f', such as bands of {name!r}' if name else ''}."
    )


def _checked(samples: Samples) -> Samples:
    """Return the samples, their units weighed, or raise where labels cannot be permuted at all.

    The true labels and their mirror image are not enough. A design that allows every permutation is
    none, unless it has rows to report that were left out.
    """
    design = samples.design
    assert design is not None
    if design.allows_all and not any(design.left_out):
        return replace(samples, design=None)
    n_x, n_y = design.n_units
    if design.paired is None and design.clusters is not None and min(n_x, n_y) < FEWEST_ROWS:
        raise InputError(
            f"clusters must be at least {FEWEST_ROWS} of each sample, for whole clusters are "
            f"permuted; got {n_x} and {n_y}"
        )
    if design.paired is not None and n_x < FEWEST_ROWS:
        raise InputError(f"paired must give at least {FEWEST_ROWS} pairs to swap; got {n_x}")
    samples = _without_fixed_columns(samples, design)
    return replace(samples, design=replace(design, likeness=likeness_of(samples)))


def _without_fixed_columns(samples: Samples, design: Design) -> Samples:
    """Return the samples without columns that are constant within every stratum or pair.

    No permutation of the design changes anything of them: they cannot differ, and whatever is
    computed of them is rounding. Where all columns are so, as of a table paired with itself, they
    stay, and every permutation is a tie.
    """
    _, block = np.unique(np.concatenate(design.blocks), return_inverse=True)
    if block.max() == 0:
        return samples
    order = np.argsort(block, kind="stable")
    starts = np.flatnonzero(np.diff(block[order], prepend=-1))
    varies = np.zeros(samples.n_columns, dtype=np.bool_)
    step = max(ENTRIES // block.size, 1)
    for first in range(0, samples.n_columns, step):
        some = np.arange(first, min(first + step, samples.n_columns))
        pooled = np.concatenate([samples.x[:, some], samples.y[:, some]])[order]
        low, high = (way.reduceat(pooled, starts, axis=0) for way in (np.minimum, np.maximum))
        varies[some] = (low != high).any(axis=0)
    if varies.all() or not varies.any():
        return samples
    fixed = tuple(samples.names[s] for s in np.flatnonzero(~varies))
    notes = samples.notes.with_fixed("strata" if design.paired is None else "pairs", fixed)
    return replace(samples.columns(np.flatnonzero(varies)), notes=notes)


def _alone(design: Design) -> tuple[int, int]:
    """Return how many pairs of X, and of Y, have no partner."""
    x, y = (np.unique(blocks) for blocks in design.blocks)
    return int(np.setdiff1d(x, y).size), int(np.setdiff1d(y, x).size)
