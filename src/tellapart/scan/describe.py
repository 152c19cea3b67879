"""From what was named to a finding: what changed, which way, how much, with an interval."""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples
from tellapart.scan import effects, finding
from tellapart.scan.column_changes import KINDS, SHAPE_MEASURES, ColumnChanges
from tellapart.scan.families.triple import SCORES
from tellapart.scan.finding import Finding
from tellapart.scan.groups_of_columns import Candidate
from tellapart.scan.scores import Scores, robust_scale, robust_units


class Describer:
    """Describes changes of the columns of two samples."""

    def __init__(self, samples: Samples, scores: Scores, rng: np.random.Generator) -> None:
        self._samples = samples
        self._scores = scores
        self._drawn = effects.Resamples(samples.n_x, samples.n_y, rng)

    def column(self, changes: ColumnChanges, place: int, kind: int, pvalue: float) -> Finding:
        """Describe the change of a column by the kind it was named by."""
        name = self._samples.names[changes.columns[place]]
        score = int(changes.measure[place])
        level = self._scores.level[score]
        if level is not None:
            return self._share(name, score, level, pvalue)
        raw = self._column(int(changes.columns[place]))
        centre, half_spread = robust_scale(raw)
        values = robust_units(raw[:, np.newaxis])[:, 0]
        x, y = self._sides(values)
        if KINDS[kind] == finding.SHAPE:
            return self._shape(name, int(changes.shape[place]), raw, values, pvalue)
        # The way back to the units of the column.
        unit, start = 2 * float(half_spread), float(centre)
        if KINDS[kind] == finding.LOCATION:
            effect, measure = effects.mean_shift(x, y, self._drawn), "mean"
        else:
            effect, measure, start = effects.spread_ratio(x, y, self._drawn), "spread", 0.0
        of_x, of_y = (start + unit * value for value in effect.values)
        return Finding(
            KINDS[kind], (name,), pvalue, effect.effect, effect.interval, (of_x, of_y), measure
        )

    def pair(self, candidate: Candidate, pvalue: float) -> Finding:
        """Describe the change of dependence between two columns."""
        first, second = candidate.what.first, candidate.what.second
        s, t = candidate.score_columns
        a, b = self._scores.of(first)[:, s], self._scores.of(second)[:, t]
        features = effects.pair_features(a.astype(np.float64), b.astype(np.float64))
        effect = effects.difference_of(effects.correlation, *self._sides(features), self._drawn)
        names = (self._name(s), self._name(t))
        kind = finding.CORRELATION if candidate.what.is_correlation else finding.DEPENDENCE
        return Finding(
            kind,
            names,
            pvalue,
            effect.effect,
            effect.interval,
            effect.values,
            self._pair_measure(first, second, s, t),
        )

    def triple(self, candidate: Candidate, pvalue: float) -> Finding:
        """Describe the change of the mean product of three columns."""
        values = SCORES[candidate.what](self._scores.normal[:, list(candidate.score_columns)])
        product = values.astype(np.float64).prod(axis=1)[:, np.newaxis]
        effect = effects.difference_of(effects.share, *self._sides(product), self._drawn)
        return Finding(
            finding.TRIPLE,
            tuple(map(self._name, candidate.score_columns)),
            pvalue,
            effect.effect,
            effect.interval,
            effect.values,
            f"mean product of their {candidate.what}",
        )

    def _name(self, score: int) -> str:
        return self._samples.names[int(self._scores.column[score])]

    def _pair_measure(self, first: str, second: str, s: int, t: int) -> str:
        names = []
        for place in (s, t):
            level = self._scores.level[place]
            names.append(self._name(place) if level is None else f"{self._name(place)} = {level}")
        if (first, second) == ("normal", "normal"):
            if self._scores.level[s] is None and self._scores.level[t] is None:
                return "correlation"
            return f"correlation of {names[0]} with {names[1]}"
        if first == second == "wave 2":
            return "correlation of how far from the middle they are"
        if first == second:
            return "correlation of their sizes, whatever the sign"
        return f"correlation of {names[0]} with the size of {names[1]}, whatever its sign,"

    def _share(self, name: str, score: int, level: str, pvalue: float) -> Finding:
        indicator = (self._scores.normal[:, score] > 0).astype(np.float64)[:, np.newaxis]
        effect = effects.difference_of(effects.share, *self._sides(indicator), self._drawn)
        return Finding(
            finding.SHARE,
            (name,),
            pvalue,
            effect.effect,
            effect.interval,
            effect.values,
            f"share of {level!r}",
        )

    def _shape(
        self, name: str, which: int, raw: FloatArray, values: FloatArray, pvalue: float
    ) -> Finding:
        if SHAPE_MEASURES[which] == "atom":
            value = _most_frequent(raw)
            indicator = (raw == value).astype(np.float64)[:, np.newaxis]
            effect = effects.difference_of(effects.share, *self._sides(indicator), self._drawn)
            measure = f"share of the value {value:.4g}"
        else:
            features = effects.powers(values)
            skewed = SHAPE_MEASURES[which] == "skewness"
            kind = effects.skewness if skewed else effects.kurtosis
            effect = effects.difference_of(kind, *self._sides(features), self._drawn)
            measure = kind.__name__
        return Finding(
            finding.SHAPE, (name,), pvalue, effect.effect, effect.interval, effect.values, measure
        )

    def _column(self, column: int) -> FloatArray:
        at = np.array([column])
        return np.concatenate([self._samples.x[:, at], self._samples.y[:, at]])[:, 0]

    def _sides(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        return values[: self._samples.n_x], values[self._samples.n_x :]


def _most_frequent(values: FloatArray) -> float:
    present, counts = np.unique(values, return_counts=True)
    return float(present[counts.argmax()])
