"""From what was named to a finding: what changed, which way, how much, with an interval."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.scan import effects, finding
from tellapart.scan.column_changes import KINDS, SHAPE_MEASURES, ColumnChanges
from tellapart.scan.effects import Counts, Sides
from tellapart.scan.families.triple import SCORES
from tellapart.scan.finding import Finding
from tellapart.scan.groups_of_columns import Candidate
from tellapart.scan.pool import Pool
from tellapart.scan.sums import Halves


class Describer:
    """Describes changes of columns, from the sums over bins.

    Where other columns of the same rows are described, too, `like` another one, the resamples are
    the same.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        pool: Pool,
        rng: np.random.Generator,
        like: Describer | None = None,
    ) -> None:
        self._names = names
        self._pool = pool
        self._tables = pool.tables
        self._sums = pool.sums
        self._rng = rng
        self._like = like

    @cached_property
    def _drawn(self) -> effects.Resamples:
        """The resamples of all intervals, drawn where there is anything to tell."""
        if self._like is not None:
            return self._like._drawn
        return effects.Resamples(self._pool.labels, self._rng)

    def column(self, changes: ColumnChanges, place: int, kind: int, pvalue: float) -> Finding:
        """Describe the change of a column by the kind it was named by."""
        shape = SHAPE_MEASURES[int(changes.shape[place])]
        return self.score_column(int(changes.measure[place]), KINDS[kind], pvalue, shape)

    def score_column(self, score: int, kind: str, pvalue: float, shape: str = "") -> Finding:
        """Describe the change of one score column: of a level of a category, that of its share."""
        name = self._name(score)
        level = self._tables.level[score]
        if level is not None:
            return self._share(name, score, level, pvalue)
        if kind == finding.SHAPE:
            return self._shape(name, score, shape, pvalue)
        sums = _sides(score, self._sums.of("clipped"), self._sums.squares("clipped"))
        # The way back from V to the units of the column: v = centre + 2·half_spread·c, and V is
        # c less its mean, times its scale.
        units = self._tables.units
        scale = float(units.scale[score])
        unit = 2 * float(units.half_spread[score]) / (scale if scale > 0 else 1.0)
        start = float(units.centre[score]) + 2 * float(units.half_spread[score] * units.mean[score])
        if kind == finding.LOCATION:
            effect, measure = effects.mean_shift(sums, self._drawn), "mean"
        else:
            effect, measure, start = effects.spread_ratio(sums, self._drawn), "spread", 0.0
        of_x, of_y = (start + unit * value for value in effect.values)
        return Finding(kind, (name,), pvalue, effect.effect, effect.interval, (of_x, of_y), measure)

    def missing_place(self, column: int) -> int | None:
        """Return where a column stands among those that miss values; None where it misses none."""
        asked = self._pool.requests.missing
        names = () if asked is None else asked.pattern.names
        name = self._names[column]
        return names.index(name) if name in names else None

    def missing(self, place: int, pvalue: float) -> Finding:
        """Describe the change of the share of a column's values that are missing."""
        asked = self._pool.requests.missing
        assert asked is not None
        sums = _sides(place, self._sums.missing)
        effect = effects.difference_of(effects.share, sums, self._drawn)
        return Finding(
            finding.MISSING,
            (asked.pattern.names[place],),
            pvalue,
            effect.effect,
            effect.interval,
            effect.values,
            "missing",
        )

    def pair(self, candidate: Candidate, pvalue: float) -> Finding:
        """Describe the change of dependence between two columns."""
        what = candidate.what
        s, t = candidate.score_columns
        asked = self._pool.requests.pairs[what.name].pairs
        q = int(np.flatnonzero((asked.s == s) & (asked.t == t))[0])
        sums = _joined(
            _sides(s, self._sums.of(what.first), self._sums.squares(what.first)),
            _sides(t, self._sums.of(what.second), self._sums.squares(what.second)),
            _sides(q, self._sums.pairs(what.name)),
        )
        sign = self._sign(what.first, s) * self._sign(what.second, t)
        effect = effects.difference_of(
            lambda means: sign * effects.correlation(means), sums, self._drawn
        )
        kind = finding.CORRELATION if what.is_correlation else finding.DEPENDENCE
        return Finding(
            kind,
            (self._name(s), self._name(t)),
            pvalue,
            effect.effect,
            effect.interval,
            effect.values,
            self._pair_measure(what.first, what.second, s, t),
        )

    def triple(self, candidate: Candidate, pvalue: float) -> Finding:
        """Describe the change of the mean product of three columns."""
        effect = effects.difference_of(effects.share, self._product(candidate), self._drawn)
        return Finding(
            finding.TRIPLE,
            tuple(map(self._name, candidate.score_columns)),
            pvalue,
            effect.effect,
            effect.interval,
            effect.values,
            f"mean product of their {candidate.what}",
        )

    def _product(self, candidate: Candidate) -> Sides:
        """Return the sums of the product of three, wherever it was asked for."""
        for name, asked in self._pool.requests.triples.items():
            if asked.score == SCORES[candidate.what]:
                members = np.column_stack(asked.triples.columns())
                at = np.flatnonzero((members == candidate.score_columns).all(axis=1))
                if at.size:
                    return _sides(int(at[0]), self._sums.triples(name))
        raise AssertionError(f"{candidate} was never asked for")

    def _name(self, score: int) -> str:
        return self._names[int(self._tables.column[score])]

    def _sign(self, feature: str, score: int) -> int:
        """Return −1 where a score column is told by the other of its two levels, else 1."""
        return -1 if feature == "normal" and self._tables.told_by[score] is not None else 1

    def _pair_measure(self, first: str, second: str, s: int, t: int) -> str:
        names = []
        for place in (s, t):
            level = self._tables.told_by[place] or self._tables.level[place]
            names.append(self._name(place) if level is None else f"{self._name(place)} = {level}")
        if (first, second) == ("normal", "normal"):
            if self._tables.level[s] is None and self._tables.level[t] is None:
                return "correlation"
            return f"correlation of {names[0]} with {names[1]}"
        if first == second == "wave 2":
            return "correlation of how far from the middle they are"
        if first == second:
            return "correlation of their sizes, whatever the sign"
        return f"correlation of {names[0]} with the size of {names[1]}, whatever its sign,"

    def _share(self, name: str, score: int, level: str, pvalue: float) -> Finding:
        cells = self._tables.cell_start
        scores = self._tables.cells[cells[score] : cells[score + 1], 0]
        # The standardised indicator has two values: that of other levels, and that of this one.
        low, high = float(scores.min()), float(scores.max())
        other = self._tables.told_by[score]
        if other is not None:
            level, low, high = other, high, low

        def shares(means: FloatArray) -> FloatArray:
            return np.asarray((means[:, 0] - low) / (high - low))

        sums = _sides(score, self._sums.of("normal"))
        effect = effects.difference_of(shares, sums, self._drawn)
        return Finding(
            finding.SHARE,
            (name,),
            pvalue,
            effect.effect,
            effect.interval,
            effect.values,
            f"share of {level!r}",
        )

    def _shape(self, name: str, score: int, which: str, pvalue: float) -> Finding:
        if which == "atom":
            sums = _sides(score, self._sums.of("frequent"))
            effect = effects.difference_of(effects.share, sums, self._drawn)
            measure = f"share of the value {self._tables.frequent[score]:.4g}"
        else:
            powers = self._sums.squares("clipped"), self._sums.power(3), self._sums.power(4)
            sums = _sides(score, self._sums.of("clipped"), *powers)
            kind = effects.skewness if which == "skewness" else effects.kurtosis
            effect = effects.difference_of(kind, sums, self._drawn)
            measure = kind.__name__
        return Finding(
            finding.SHAPE, (name,), pvalue, effect.effect, effect.interval, effect.values, measure
        )


def _sides(place: int, *halves: Halves) -> Sides:
    """Return the sums of one column of several features, side by side."""
    return _joined(*(_one_side(place, half) for half in halves))


def _one_side(place: int, half: Halves) -> Sides:
    x, y = (side[:, np.newaxis] for side in half.column(place))
    if half.present is None:
        return (x, None), (y, None)
    of_x, of_y = (side[:, np.newaxis] for side in half.present.column(place))
    return (x, of_x), (y, of_y)


def _joined(*sides: Sides) -> Sides:
    def joined(k: int) -> tuple[FloatArray, Counts]:
        sums = np.concatenate([side[k][0] for side in sides], axis=1)
        counts = [side[k][1] for side in sides]
        known = [count for count in counts if count is not None]
        return sums, np.concatenate(known, axis=1) if known else None

    return joined(0), joined(1)
