"""The design of a study: which rows move together, and which of them may trade labels.

Under H₀ the labels of two independent samples may be permuted among all rows. A study with a
design allows less. Rows of one *unit* share their label (a row, a cluster, all rows of one member
of a pair), and labels are permuted among the units of one *block* (a stratum, a pair, or all rows):

    design      blocks                   units
    strata      the strata               rows
    paired      the pairs                the rows of X and those of Y
    clusters    one, or the strata       the clusters

Where labels may not be permuted freely within blocks, a `PermutationScheme` draws them: one that is
registered in `SCHEMES`, or any object with a name and a method `draw`, as the argument `design`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.data.adjustment import Adjustment, Covariates
from tellapart.errors import InputError


@dataclass(frozen=True, eq=False)
class ExchangeableUnits:
    """The units of a design, those of X first, for a scheme to permute their labels.

    Attributes
    ----------
    of_x : array of bool, of length G
        Which units are those of X: the true labels.
    block : array of length G
        The block of each unit, numbered from 0.
    key : array of length G
        The number of the row in its sample as it was given, counted from 0; of clusters and pairs,
        a number of the cluster or pair.
    """

    of_x: BoolArray
    block: IntArray
    key: IntArray


@runtime_checkable
class PermutationScheme(Protocol):
    """Which permutations of the labels are exchangeable under H₀, as an object that draws them.

    The p-value is valid where the scheme draws elements of a group of permutations uniformly, or
    labels that under H₀ are as likely as the true ones in any other way. Every draw must leave as
    many units of X in each block as there are.
    """

    @property
    def name(self) -> str:
        """What results call it, such as "circular shifts"."""

    def draw(
        self, units: ExchangeableUnits, n_permutations: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Return which units count as X, of shape (n_permutations, G)."""


SCHEMES: dict[str, PermutationScheme] = {}
"""The schemes that `two_sample_test(design=…)` knows by name."""


def register_scheme(scheme: PermutationScheme) -> PermutationScheme:
    """Add a scheme to those known by name, and return it; its name must be new."""
    if scheme.name in SCHEMES:
        raise InputError(f"name must be that of a new scheme; got {scheme.name!r}")
    SCHEMES[scheme.name] = scheme
    return scheme


def find_scheme(design: object) -> PermutationScheme | None:
    """Return the scheme that `design` is, or is the name of; None for none."""
    if design is None:
        return None
    if isinstance(design, str) and design in SCHEMES:
        return SCHEMES[design]
    if isinstance(design, PermutationScheme) and not isinstance(design, str):
        return design
    known = ", ".join(map(repr, SCHEMES)) or "none"
    raise InputError(
        "design must be an object with a name and a method draw(units, n_permutations, rng), or "
        f"the name of a registered one (there are: {known}); got {design!r}"
    )


# Codes of the strata, pairs and clusters that rows belong to.


UNKNOWN = -1
"""The code of a missing label."""


@dataclass(frozen=True)
class Names:
    """What the labels are called; "" where they came without a name, None where there are none."""

    strata: str | None = None
    pairs: str | None = None
    clusters: str | None = None
    weights: str | None = None


@dataclass(frozen=True, eq=False)
class RowLabels:
    """Codes of the strata, pairs and clusters of some rows; None for what was not asked for.

    Equal codes mean equal labels wherever both stand in one design; −1 is a missing label.
    `numbers` are those of the rows as they were given; None: all rows are there. `scheme` draws
    their labels, if not every permutation within blocks may be drawn. `weights` are those of the
    rows, None where all count alike; `covariates` are adjusted for.
    """

    n_rows: int
    names: Names
    strata: IntArray | None = None
    pairs: IntArray | None = None
    clusters: IntArray | None = None
    numbers: IntArray | None = None
    scheme: PermutationScheme | None = None
    weights: FloatArray | None = None
    covariates: Covariates | None = None

    @property
    def row_numbers(self) -> IntArray:
        """The numbers of the rows as they were given."""
        return np.arange(self.n_rows) if self.numbers is None else self.numbers

    def rows(self, index: IntArray) -> RowLabels:
        """Return the labels of some rows."""
        strata, pairs, clusters = (
            None if codes is None else codes[index]
            for codes in (self.strata, self.pairs, self.clusters)
        )
        return replace(
            self,
            n_rows=int(index.size),
            strata=strata,
            pairs=pairs,
            clusters=clusters,
            numbers=self.row_numbers[index],
            weights=None if self.weights is None else self.weights[index],
            covariates=None if self.covariates is None else self.covariates.rows(index),
        )

    def known(self) -> IntArray:
        """Return the rows without a missing label or covariate."""
        known = np.ones(self.n_rows, dtype=np.bool_)
        for codes in (self.strata, self.pairs, self.clusters):
            if codes is not None:
                known &= codes != UNKNOWN
        if self.covariates is not None:
            known &= ~np.isnan(self.covariates.values).any(axis=1)
        return np.flatnonzero(known)


# Units of a sample in a stratum from which on the stratum itself is split in two.
FEWEST_TO_SPLIT = 4

Rows = tuple[IntArray, IntArray]
"""Rows of X, and rows of Y."""


@dataclass(frozen=True, eq=False)
class Design:
    """Blocks and units of the rows of two samples.

    Attributes
    ----------
    blocks : pair of arrays
        The block of every row of X and of Y.
    units : pair of arrays
        The unit of every row of X and of Y, numbered within its sample.
    strata, paired, clusters : str or None
        What messages call what was asked for; None for what was not.
    left_out : pair of int
        Rows of X and of Y that are not tested, as their block has rows of one sample only.
    likeness : float
        How much rows of one unit are alike, from 0 to 1: see `tellapart.data.design_labels`.
    scheme : PermutationScheme or None
        Draws the labels; None: every permutation within blocks is as likely as any other.
    weights : pair of arrays or None
        The weights of the rows of X and of Y, positive and up to a factor, which move with their
        rows; None where all rows count alike.
    weights_name : str or None
        What messages call the weights.
    weightless : pair of int
        Rows of X and of Y that are not used, as their weight is 0.
    adjustment : Adjustment or None
        The models of labels and values given covariates, by which labels are permuted.
    """

    blocks: Rows
    units: Rows
    strata: str | None = None
    paired: str | None = None
    clusters: str | None = None
    left_out: tuple[int, int] = (0, 0)
    likeness: float = 0.0
    scheme: PermutationScheme | None = None
    weights: tuple[FloatArray, FloatArray] | None = None
    weights_name: str | None = None
    weightless: tuple[int, int] = (0, 0)
    adjustment: Adjustment | None = None

    @property
    def effective_sizes(self) -> tuple[float, float] | None:
        """Kish's effective sample sizes, (Σw)²/Σw² of X and of Y; None without weights."""
        if self.weights is None:
            return None
        x, y = (float(own.sum() ** 2 / np.square(own).sum()) for own in self.weights)
        return x, y

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return int(np.unique(np.concatenate(self.blocks)).size)

    @property
    def n_units(self) -> tuple[int, int]:
        """Units of X and of Y."""
        x, y = (int(np.unique(units).size) for units in self.units)
        return x, y

    @property
    def allows_all(self) -> bool:
        """Whether any rows may trade labels: one block, and every row a unit of its own."""
        rows = self.units[0].size, self.units[1].size
        free = (
            self.paired is None
            and self.scheme is None
            and self.weights is None
            and self.adjustment is None
        )
        return free and self.n_blocks == 1 and self.n_units == rows

    @property
    def units_name(self) -> str:
        """What is permuted."""
        if self.paired is not None:
            return "pairs"
        return "rows" if self.clusters is None else "clusters"

    def rows(self, of_x: IntArray, of_y: IntArray) -> Design:
        """Return the design of some rows of each sample."""
        some = (of_x, of_y)
        return replace(
            self,
            blocks=(self.blocks[0][of_x], self.blocks[1][of_y]),
            units=(self.units[0][some[0]], self.units[1][some[1]]),
            weights=None
            if self.weights is None
            else (self.weights[0][of_x], self.weights[1][of_y]),
            adjustment=None if self.adjustment is None else self.adjustment.rows(of_x, of_y),
        )

    def informative(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Say which rows are in a block with rows of both samples: only their labels move."""
        x, y = self.blocks
        return np.isin(x, y), np.isin(y, x)

    def split(self, test_size: float, rng: np.random.Generator) -> tuple[Rows, Rows]:
        """Return the rows to train on and those to hold out: no unit or pair is in both.

        Pairs are drawn whole; of a stratum its units are, in each sample, and a stratum too small
        for that goes to one part as a whole.
        """
        counts = _unit_counts(self)
        large = np.flatnonzero(counts.min(axis=0) >= FEWEST_TO_SPLIT)
        if self.paired is not None:
            large = large[:0]
        small = np.setdiff1d(np.arange(counts.shape[1]), large)
        held = rng.permutation(small)[: round(small.size * test_size)]
        of_block = np.unique(np.concatenate(self.blocks))
        parts: list[NDArray[np.bool_]] = []
        for blocks, units in zip(self.blocks, self.units, strict=True):
            chosen = np.isin(blocks, of_block[held])
            for place in large:
                inside = np.flatnonzero(blocks == of_block[place])
                own = np.unique(units[inside])
                n_test = min(max(round(own.size * test_size), 2), own.size - 2)
                chosen[inside] = np.isin(units[inside], rng.permutation(own)[:n_test])
            parts.append(chosen)
        test = tuple(np.flatnonzero(chosen) for chosen in parts)
        train = tuple(np.flatnonzero(~chosen) for chosen in parts)
        movable = int(_unit_counts(self.rows(test[0], test[1])).min(axis=0).sum())
        if min(movable, *(rows.size for rows in (*train, *test))) < 2:
            raise InputError(
                f"X and Y must have {self.units_name} enough to be split into two parts of at "
                f"least 2 of each sample; the design has {self.n_units[0]} and {self.n_units[1]} "
                f"in {self.n_blocks} blocks: use method='scan', which takes all rows"
            )
        return (train[0], train[1]), (test[0], test[1])

    def draw(self, most: tuple[int, int], rng: np.random.Generator) -> Rows:
        """Return at most so many rows of each sample, by whole pairs or whole units."""
        if self.paired is not None:
            order = rng.permutation(np.unique(np.concatenate(self.blocks)))
            rows = np.stack([_counts_of(blocks, order) for blocks in self.blocks])
            enough = np.cumsum(rows, axis=1) > np.array(most)[:, np.newaxis]
            kept = order[~enough.any(axis=0)]
            x, y = (np.flatnonzero(np.isin(blocks, kept)) for blocks in self.blocks)
            return x, y
        drawn = []
        for units, of_sample in zip(self.units, most, strict=True):
            order = rng.permutation(np.unique(units))
            kept = order[np.cumsum(_counts_of(units, order)) <= of_sample]
            drawn.append(np.flatnonzero(np.isin(units, kept)))
        return drawn[0], drawn[1]

    def describe(self) -> str:
        """Say how labels were permuted, as a part of a sentence."""
        clusters = f"clusters{_of(self.clusters)}"
        if self.paired is not None and self.clusters is not None:
            text = f"pairs{_by(self.paired)} swapped, {self.n_blocks:,} whole {clusters} at a time"
        elif self.paired is not None:
            text = f"{self.n_blocks:,} pairs swapped{_by(self.paired)}"
        elif self.clusters is not None:
            text = f"{sum(self.n_units):,} whole {clusters} permuted"
        else:
            text = "permuted"
        if self.strata is not None and self.paired is None:
            text += f" within {self.n_blocks:,} strata{_of(self.strata)}"
        if self.scheme is not None:
            text += f" by {self.scheme.name}"
        if self.adjustment is not None:
            text += f" {self.adjustment.describe()}, by their odds"
        if self.weights is not None:
            text = f"rows {text}" if text.startswith("permuted") else text
            text += f" with their weights{_of(self.weights_name)}"
        return text

    def describe_weights(self) -> str:
        """Give the effective sample sizes, and the rows without weight; empty without weights."""
        sizes = self.effective_sizes
        if sizes is None:
            return ""
        text = f"{sizes[0]:,.1f} and {sizes[1]:,.1f} (Kish)"
        if any(self.weightless):
            x, y = self.weightless
            text += f"; {x:,} rows of X and {y:,} of Y have weight 0 and are not used"
        return text

    def describe_left_out(self) -> str:
        """Say how many rows were left out and why; empty where none were."""
        if not any(self.left_out):
            return ""
        block = "pair" if self.paired is not None else "stratum"
        x, y = self.left_out
        return f"{x:,} rows of X and {y:,} of Y are in a {block} without the other sample"


def make_design(x: RowLabels, y: RowLabels) -> Design:
    """Return the design that the labels of the rows of two samples give.

    Raises
    ------
    InputError
        Where strata, pairs and clusters do not go together; the message says why.
    """
    named = x.names.strata, x.names.pairs, x.names.clusters
    weights = None if x.weights is None or y.weights is None else (x.weights, y.weights)
    rest: dict[str, Any] = {
        "scheme": x.scheme,
        "weights": weights,
        "weights_name": x.names.weights,
    }
    if x.pairs is not None and y.pairs is not None:
        blocks = _joined_pairs(x, y)
        return Design(blocks, blocks, *named, **rest)
    sizes = x.n_rows, y.n_rows
    strata = _both(x.strata, y.strata) or tuple(np.zeros(n, dtype=np.intp) for n in sizes)
    blocks = (strata[0], strata[1])
    clusters = _both(x.clusters, y.clusters)
    if clusters is None:
        return Design(blocks, (x.row_numbers, y.row_numbers), *named, **rest)
    shared = np.intersect1d(*clusters)
    if shared.size:
        count = np.unique(np.concatenate(clusters)).size
        raise InputError(
            f"clusters must lie wholly in one sample; {shared.size} of {count} have rows in both: "
            "pass the labels as paired where each was measured in both samples, or as strata"
        )
    _check_nested("clusters", np.concatenate(clusters), np.concatenate(blocks))
    return Design(blocks, clusters, *named, **rest)


def _both(x: IntArray | None, y: IntArray | None) -> Rows | None:
    return None if x is None or y is None else (x, y)


def _joined_pairs(x: RowLabels, y: RowLabels) -> Rows:
    """Return the pair of every row; pairs that share a cluster are one, and move together."""
    assert x.pairs is not None
    assert y.pairs is not None
    every = np.concatenate([x.pairs, y.pairs])
    strata, clusters = _both(x.strata, y.strata), _both(x.clusters, y.clusters)
    if strata is not None:
        _check_nested("pairs", every, np.concatenate(strata))
    if clusters is not None:
        _, pair = np.unique(every, return_inverse=True)
        _, cluster = np.unique(np.concatenate(clusters), return_inverse=True)
        size = int(pair.max()) + int(cluster.max()) + 2
        links = sparse.coo_array(
            (np.ones(every.size), (pair, cluster + int(pair.max()) + 1)), shape=(size, size)
        )
        component = sparse.csgraph.connected_components(links, directed=False)[1]
        every = np.asarray(component[pair], dtype=np.intp)
    return every[: x.n_rows], every[x.n_rows :]


def _check_nested(what: str, inner: IntArray, strata: IntArray) -> None:
    """Raise if a cluster or pair has rows of more than one stratum."""
    both = np.unique(np.stack([inner, strata]), axis=1)
    found, counts = np.unique(both[0], return_counts=True)
    torn = int(np.count_nonzero(counts > 1))
    if torn:
        raise InputError(
            f"{what} must lie within strata, whose labels are permuted apart; {torn} of "
            f"{found.size} have rows in more than one: leave strata out, or give each a stratum"
        )


def _unit_counts(design: Design) -> IntArray:
    """Return the units of X (first row) and of Y in every block that occurs."""
    every = np.unique(np.concatenate(design.blocks))
    counts = []
    for blocks, units in zip(design.blocks, design.units, strict=True):
        once = np.unique(np.stack([blocks, units]), axis=1)[0]
        counts.append(np.bincount(np.searchsorted(every, once), minlength=every.size))
    return np.stack(counts)


def _counts_of(labels: IntArray, order: IntArray) -> IntArray:
    """Return how often each of the labels in `order` occurs."""
    counts = np.bincount(labels, minlength=int(order.max(initial=0)) + 1)
    return np.asarray(counts[order])


def _of(name: str | None) -> str:
    return f" of {name!r}" if name else ""


def _by(name: str | None) -> str:
    return f" (matched by {name!r})" if name else ""
