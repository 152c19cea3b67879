"""All effects of two samples at once, with confidence limits that hold for all of them together.

Kinds are "location" (SMD), "spread" (ratio of standard deviations), "share" (difference of
proportions, of every level), "missing" (of missing values) and "correlation" (difference, of every
pair of numeric columns).

How the estimators vary together is learnt from one resampling. With U the (units × effects) matrix
of what independent units add to the differences, in standard errors (`Sampling.parts`), and ζ_b
independent standard normal multipliers of the units,

    T_b = ζ_b U,    b = 1 … B,

is normal with the correlations of the estimators, each T_bj with variance 1. Within a kind k the
maximum M_kb = max_j |T_bj| takes the place of Bonferroni's factor: 2(1 − Φ(c_k)), with c_k a
quantile of M_k, is the level at which each effect's own interval is computed. Those intervals hold
in small samples where normal ones do not: t, Hall's, Newcombe's, Zou's. The quantiles of all kinds
are those of one probability β, chosen so that the share of draws in which any M_k exceeds c_k is
1 − confidence: kinds with many effects do not widen those with few. No interval is narrower than
the effect's own, nor wider than Bonferroni's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse, special

from tellapart.arrays import BoolArray, FloatArray
from tellapart.budget import current_budget
from tellapart.data.columns import place_of_yes
from tellapart.data.samples import Samples
from tellapart.effects.blocks import (
    EffectBlock,
    Intervals,
    PairColumns,
    numeric_blocks,
    proportion_block,
)
from tellapart.effects.raw_columns import RawColumns
from tellapart.threads import one_blas_thread

LOCATION, SPREAD, SHARE, MISSING = "location", "spread", "share", "missing"
CORRELATION = "correlation"
PAIR_ENTRIES = 1_000_000
"""Pairs times rows of one block."""
LEAST_TAIL = 1e-12


@dataclass(frozen=True, eq=False)
class KindEffects:
    """All effects of one kind.

    Attributes
    ----------
    variables : tuple of tuples of str
        The column, or the two columns, of each effect.
    levels : tuple of str
        The level whose proportion each effect compares; empty where there is none to name.
    effects : array
        First sample against second.
    maxima : array
        The largest |T| of the kind in each draw.
    """

    variables: tuple[tuple[str, ...], ...]
    levels: tuple[str, ...]
    effects: FloatArray
    maxima: FloatArray
    _blocks: tuple[EffectBlock, ...] = field(repr=False)

    def limits(self, tail: FloatArray | float) -> Intervals:
        """Return the effects' own intervals with these tails, (1 − confidence)/2 on each side."""
        ends = np.cumsum([block.effects.size for block in self._blocks])[:-1]
        tails = np.split(np.broadcast_to(tail, self.effects.shape), ends)
        both = [block.limits(own) for block, own in zip(self._blocks, tails, strict=True)]
        return np.concatenate([low for low, _ in both]), np.concatenate([high for _, high in both])

    def largest_tails(self, holds: Callable[[FloatArray, FloatArray], BoolArray]) -> FloatArray:
        """Return the tails, ½ at most, from which on what is said of the intervals holds.

        It must hold for every shorter interval where it holds for one; 1 where it does not even for
        tails of ½.
        """
        low = np.full(self.effects.size, math.log(LEAST_TAIL))
        high = np.full(self.effects.size, math.log(0.5))
        never = ~holds(*self.limits(0.5 - 1e-9))
        at_once = holds(*self.limits(LEAST_TAIL))
        for _ in range(40):
            middle = (low + high) / 2
            held = holds(*self.limits(np.exp(middle)))
            low, high = np.where(held, low, middle), np.where(held, middle, high)
        return np.where(never, 1.0, np.where(at_once, LEAST_TAIL, np.exp(high)))


@dataclass(frozen=True, eq=False)
class SimultaneousEffects:
    """The effects of two samples by kind, and how they vary together.

    `rows` are those of each sample, `without` says what has no limits, by kind.
    """

    kinds: Mapping[str, KindEffects]
    rows: tuple[int, int]
    n_draws: int
    without: Mapping[str, str]

    def tails(self, confidence: float) -> dict[str, float]:
        """Return the tail of the effects' own intervals, by kind, that hold together.

        They are those of max-t, but never narrower than an effect's own at this confidence, nor
        wider than Bonferroni's.
        """
        error = 1 - confidence
        smallest = np.sort(self._smallest)
        # The largest β so that no more than this share of draws has a kind beyond it.
        allowed = int(error * self.n_draws)
        beta = smallest[allowed - 1] if allowed else 1 / self.n_draws
        tails = {}
        for kind, own in self.kinds.items():
            above = max(round(beta * self.n_draws), 1)
            quantile = float(np.sort(own.maxima)[-above])
            tail = float(special.ndtr(-quantile))
            least = error / (2 * len(self.kinds) * own.effects.size)
            tails[kind] = min(max(tail, least), error / 2)
        return tails

    def adjusted(self, kind: str, pvalues: FloatArray) -> FloatArray:
        """Return two-sided p-values of effects of one kind, adjusted for all effects of all kinds.

        Single-step max-t: an adjusted p-value is at most 1 − confidence exactly where the
        simultaneous interval is beyond the tested value, up to the draws' ties.
        """
        maxima = np.sort(self.kinds[kind].maxima)
        quantiles = -special.ndtri(np.minimum(pvalues, 1.0) / 2)
        exceeding = maxima.size - np.searchsorted(maxima, quantiles, side="left")
        smallest = np.sort(self._smallest)
        share = np.maximum(exceeding, 1) / maxima.size
        beyond = np.searchsorted(smallest, share * (1 + 1e-12), side="right")
        n_effects = sum(own.effects.size for own in self.kinds.values())
        adjusted = np.minimum((beyond + 1) / (maxima.size + 1), 1.0)
        bonferroni = len(self.kinds) * self.kinds[kind].effects.size * pvalues
        return np.clip(np.minimum(adjusted, bonferroni), pvalues, 1.0) if n_effects else pvalues

    @property
    def _smallest(self) -> FloatArray:
        """The smallest share of draws, over kinds, whose maximum is at least that of each draw."""
        shares = []
        for own in self.kinds.values():
            below = np.searchsorted(np.sort(own.maxima), own.maxima, side="left")
            shares.append((own.maxima.size - below) / own.maxima.size)
        return np.min(shares, axis=0) if shares else np.ones(self.n_draws)


def simultaneous_effects(samples: Samples, seed: int = 0) -> SimultaneousEffects:
    """Return all effects of two samples.

    Columns of categories have the proportions of their levels and no correlations.

    Parameters
    ----------
    samples : Samples
        The rows, with their design and their missing values.
    seed : int
        Seed of the multipliers.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.data.reader import read_samples
    >>> rng = np.random.default_rng(0)
    >>> samples = read_samples(rng.normal(size=(100, 3)), rng.normal(size=(100, 3)))
    >>> effects = simultaneous_effects(samples)
    >>> {kind: own.effects.size for kind, own in effects.kinds.items()}
    {'location': 3, 'spread': 3, 'correlation': 3}
    """
    with one_blas_thread(), np.errstate(all="ignore"):
        builder = _Builder(RawColumns(samples), Multipliers(seed))
        return builder.build()


class Multipliers:
    """Draws T_b = ζ_b U for one matrix U after the other, with the same ζ.

    `sums_of` (multipliers × units) adds up what the units of each multiplier add.
    The units are ordered by what they add, so that the order of rows makes no difference (up to
    rows with the same first columns).
    """

    def __init__(self, seed: int) -> None:
        budget = current_budget()
        self.n_draws = budget.simultaneous_draws
        self._most_units = budget.simultaneous_units
        self._rng = np.random.default_rng(seed)
        self.sums_of: sparse.csr_array | None = None
        self._draws = np.zeros((0, 0), dtype=np.float32)

    def maxima(self, parts: FloatArray) -> FloatArray:
        """Return max_j |T_bj| of each draw, for the (units × effects) matrix of parts."""
        if self.sums_of is None:
            self._assign(parts)
        assert self.sums_of is not None
        return self.maxima_of_sums(np.asarray(self.sums_of @ parts))

    def maxima_of_sums(self, sums: FloatArray) -> FloatArray:
        """Return the same for parts that are summed over the units of each multiplier."""
        length = np.sqrt(np.square(sums).sum(axis=0))
        sums = np.asarray(sums / np.where(length > 0, length, 1.0), dtype=np.float32)
        largest = np.zeros(self.n_draws)
        step = max(current_budget().block_entries // self.n_draws, 1)
        for start in range(0, sums.shape[1], step):
            drawn = np.abs(self._draws @ sums[:, start : start + step])
            np.maximum(largest, drawn.max(axis=1), out=largest)
        return largest

    def _assign(self, parts: FloatArray) -> None:
        """Assign multipliers to units; of many units, some share one."""
        n_units, n_effects = parts.shape
        weights = 1 + np.modf(np.arange(1, n_effects + 1) * (math.sqrt(5) - 1) / 2)[0]
        order = np.argsort(np.abs(parts) @ weights, kind="stable")
        n_sums = min(n_units, self._most_units)
        places = self._rng.permutation(np.arange(n_units) % n_sums)
        self.sums_of = sparse.csr_array(
            (np.ones(n_units), (places, order)), shape=(n_sums, n_units)
        )
        self._draws = self._rng.standard_normal((self.n_draws, n_sums), dtype=np.float32)


class _Builder:
    """Goes through the columns, then through the pairs."""

    def __init__(self, raw: RawColumns, multipliers: Multipliers) -> None:
        self._raw = raw
        self._multipliers = multipliers
        self._variables: dict[str, list[tuple[str, ...]]] = {}
        self._levels: dict[str, list[str]] = {}
        self._blocks: dict[str, list[EffectBlock]] = {}
        self._maxima: dict[str, FloatArray] = {}
        self._numeric: list[int] = []
        self._rows = (0, 0)
        self._without: dict[str, str] = {}

    def build(self) -> SimultaneousEffects:
        """Return the effects."""
        self._columns()
        self._missing()
        self._pairs()
        kinds = {
            kind: KindEffects(
                tuple(self._variables[kind]),
                tuple(self._levels[kind]),
                np.concatenate([block.effects for block in blocks]),
                self._maxima[kind],
                tuple(blocks),
            )
            for kind, blocks in self._blocks.items()
        }
        return SimultaneousEffects(kinds, self._rows, self._multipliers.n_draws, self._without)

    def _add(
        self,
        kind: str,
        block: EffectBlock,
        variables: Sequence[tuple[str, ...]],
        levels: Sequence[str] | None = None,
        *,
        summed: bool = False,
    ) -> None:
        """Keep the effects of a block without what units add to them."""
        if not block.places.size:
            return
        draw = self._multipliers.maxima_of_sums if summed else self._multipliers.maxima
        maxima = draw(block.parts)
        kept = self._maxima.setdefault(kind, np.zeros(self._multipliers.n_draws))
        np.maximum(kept, maxima, out=kept)
        light = EffectBlock(block.places, block.effects, np.zeros((0, 0)), block.limits)
        self._blocks.setdefault(kind, []).append(light)
        places = block.places.tolist()
        self._variables.setdefault(kind, []).extend(variables[k] for k in places)
        names = [""] * len(places) if levels is None else [levels[k] for k in places]
        self._levels.setdefault(kind, []).extend(names)

    def _columns(self) -> None:
        raw, n_columns = self._raw, len(self._raw.names)
        x, y = raw.values([0])
        self._rows = len(x), len(y)
        step = max(current_budget().described_entries // (len(x) + len(y)), 1)
        for start in range(0, n_columns, step):
            self._block(range(start, min(start + step, n_columns)))

    def _block(self, columns: range) -> None:
        """Add the means, standard deviations and proportions of some columns."""
        raw = self._raw
        x, y = raw.values(columns)
        numeric = np.array([raw.kinds[c] == "numeric" for c in columns])
        low, high = (
            choose(np.array([choose(own, axis=0) for own in (x, y)]), axis=0)
            for choose in (np.nanmin, np.nanmax)
        )
        two = np.logical_and(
            *(((own == low) | (own == high) | np.isnan(own)).all(axis=0) for own in (x, y))
        )
        varying = numeric & (high > low)
        for few in (True, False):
            places = np.flatnonzero(varying & (two == few))
            if not places.size:
                continue
            names = [(raw.names[columns[k]],) for k in places]
            own_x, own_y = x[:, places], y[:, places]
            self._numeric += [columns[k] for k in places]
            if not few:
                for kind, block in zip(
                    (LOCATION, SPREAD), numeric_blocks(own_x, own_y, raw.sampling), strict=True
                ):
                    self._add(kind, block, names)
                continue
            ones = [np.where(np.isnan(own), np.nan, own == high[places]) for own in (own_x, own_y)]
            flags = (low[places] == 0) & (high[places] == 1)
            levels = [
                "" if flag else f"{value:g}"
                for flag, value in zip(flags, high[places], strict=True)
            ]
            self._add(SHARE, proportion_block(ones[0], ones[1], raw.sampling), names, levels)
        for k in np.flatnonzero(~numeric).tolist():
            self._levels_of(raw.names[columns[k]], x[:, k], y[:, k])

    def _levels_of(self, name: str, x: FloatArray, y: FloatArray) -> None:
        """Add the proportions of the levels of a categorical column; one of two levels."""
        labels = self._raw.categories[name]
        pooled = np.concatenate([x, y])
        codes, counts = np.unique(pooled[~np.isnan(pooled)], return_counts=True)
        if codes.size < 2:
            return
        if codes.size == 2:
            yes = place_of_yes([labels[int(code)] for code in codes])
            codes = codes[[int(counts.argmax()) if yes is None else yes]]
        step = max(current_budget().described_entries // pooled.size, 1)
        for start in range(0, codes.size, step):
            some = codes[start : start + step]
            ones = [
                np.where(np.isnan(own)[:, np.newaxis], np.nan, own[:, np.newaxis] == some)
                for own in (x, y)
            ]
            block = proportion_block(ones[0], ones[1], self._raw.sampling)
            levels = [labels[int(code)] for code in some]
            self._add(SHARE, block, [(name,)] * some.size, levels)

    def _missing(self) -> None:
        """Add the proportions of missing values."""
        pattern = self._raw.pattern
        if pattern is None:
            return
        step = max(current_budget().described_entries // sum(self._rows), 1)
        for start in range(0, len(pattern.names), step):
            places = range(start, min(start + step, len(pattern.names)))
            both = [self._raw.missing(place) for place in places]
            x, y = (np.column_stack([pair[sample] for pair in both]) for sample in (0, 1))
            names = [(pattern.names[place],) for place in places]
            self._add(MISSING, proportion_block(x, y, self._raw.sampling), names)

    def _pairs(self) -> None:
        """Add the correlations of numeric columns."""
        columns = sorted(self._numeric)
        n_rows, n_pairs = sum(self._rows), len(columns) * (len(columns) - 1) // 2
        if not n_pairs:
            return
        sums_of = self._multipliers.sums_of
        assert sums_of is not None
        budget = current_budget().simultaneous_pair_entries
        too_many = n_pairs > budget // sums_of.shape[0]
        pairs = None
        if not too_many:
            x, y = self._raw.values(columns)
            pairs = PairColumns.of(x, y, self._raw.sampling)
            too_many = not pairs.many_rows and n_pairs > budget // n_rows
        if pairs is None or too_many:
            self._without[CORRELATION] = (
                f"the correlations of {n_pairs:,} pairs of columns have no limits, as there are "
                "too many"
            )
            return
        summed = pairs.many_rows
        first, second = np.nonzero(np.triu(pairs.judged, 1))
        names = [self._raw.names[column] for column in columns]
        step = max(PAIR_ENTRIES // (sums_of.shape[0] if summed else n_rows), 1)
        for start in range(0, first.size, step):
            one, other = (side[start : start + step] for side in (first, second))
            variables = [(names[i], names[j]) for i, j in zip(one, other, strict=True)]
            block = pairs.summed_block(one, other, sums_of) if summed else pairs.block(one, other)
            self._add(CORRELATION, block, variables, summed=summed)
