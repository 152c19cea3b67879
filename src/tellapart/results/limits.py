"""What a result excludes: limits of all effects at once, with one confidence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.sources.table import make_frame
from tellapart.effects.simultaneous import SimultaneousEffects
from tellapart.scan.finding_kinds import FINDING_KINDS
from tellapart.text import joined, safe

CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class KindLimits:
    """Simultaneous limits of the effects of one kind.

    Attributes
    ----------
    kind : str
        "location", "spread", "share", "missing" or "correlation".
    variables : tuple of tuples of str
        The column, or the two columns, of each effect.
    levels : tuple of str
        The level whose proportion an effect compares, where there is one to name.
    effects, low, high : arrays
        Each effect with its limits: standardised mean differences, ratios of standard deviations,
        differences of proportions (not in per cent) and of correlations, first sample against
        second.
    """

    kind: str
    variables: tuple[tuple[str, ...], ...] = field(repr=False)
    levels: tuple[str, ...] = field(repr=False)
    effects: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)

    @property
    def bound(self) -> float:
        """What no effect of the kind exceeds in size; of ratios, neither it nor its inverse."""
        return float(self._sizes.max())

    @property
    def attained_by(self) -> tuple[str, ...]:
        """The column, or columns, whose limits are the farthest."""
        return self.variables[int(self._sizes.argmax())]

    @property
    def _sizes(self) -> FloatArray:
        if self.kind == "spread":
            with np.errstate(divide="ignore"):
                return np.maximum(self.high, 1 / self.low)
        return np.maximum(np.abs(self.low), np.abs(self.high))

    def summary(self) -> str:
        """Return the bound as a part of a sentence: "no mean differs by more than 0.21 SD"."""
        bound, by = self.bound, joined(self.attained_by)
        if not math.isfinite(bound):
            return f"{_UNLIMITED[self.kind]} are not limited ({by})"
        if self.kind == "spread":
            above = _rounded_up(bound)
            below = math.floor(round(1e9 / bound) / 1e9 * 100) / 100
            return f"no SD ratio lies outside {below:.2f} to {above} ({by})"
        scale = FINDING_KINDS[self.kind].scale
        factor = 1.0 if scale is None else scale.factor
        return f"{_BOUNDS[self.kind].format(_rounded_up(factor * bound))} ({by})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON."""
        return {
            "bound": _finite(self.bound),
            "attained_by": list(self.attained_by),
            "effects": [
                {
                    "variables": list(variables),
                    "level": level or None,
                    "effect": _finite(effect),
                    "low": _finite(low),
                    "high": _finite(high),
                }
                for variables, level, effect, low, high in zip(
                    self.variables,
                    self.levels,
                    self.effects.tolist(),
                    self.low.tolist(),
                    self.high.tolist(),
                    strict=True,
                )
            ],
        }


@dataclass(frozen=True, eq=False)
class EffectLimits:
    """Confidence limits of all effects of two samples that hold together.

    With probability `confidence`, in large samples, every interval contains its effect: those of
    means, standard deviations, proportions and correlations alike. They come from one resampling
    (max-t), so that columns which move together cost no more than one.

    Attributes
    ----------
    confidence : float
        The probability, over all kinds, columns and pairs.
    kinds : mapping from str to KindLimits
        The limits by kind: "location", "spread", "share", "missing", "correlation".
    rows : pair of int
        Rows of each sample that they come from.
    without : mapping from str to str
        Kinds that have no limits, with the reason.

    Examples
    --------
    >>> import numpy as np, tellapart as ta
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(200, 3)), rng.normal(size=(300, 3))
    >>> limits = ta.two_sample_test(X, Y, random_state=0).limits
    >>> round(limits.kinds["location"].bound, 2), limits.kinds["location"].attained_by
    (0.37, ('x0',))
    """

    confidence: float
    kinds: Mapping[str, KindLimits]
    rows: tuple[int, int]
    without: Mapping[str, str]

    @classmethod
    def of(cls, effects: SimultaneousEffects, confidence: float = CONFIDENCE) -> EffectLimits:
        """Return the limits of effects."""
        kinds = {}
        for kind, tail in effects.tails(confidence).items():
            own = effects.kinds[kind]
            with np.errstate(all="ignore"):
                low, high = own.limits(tail)
            kinds[kind] = KindLimits(kind, own.variables, own.levels, own.effects, low, high)
        return cls(confidence, kinds, effects.rows, effects.without)

    def summary(self) -> str:
        """Return in one sentence what is excluded, with the column that attains each bound.

        Empty where there are no effects, as of columns that are all constant.
        """
        if not self.kinds:
            return ""
        parts = ", ".join(own.summary() for own in self.kinds.values())
        text = f"With {100 * self.confidence:g} % confidence {parts}"
        return f"{text}; {safe('; '.join(self.without.values()))}." if self.without else f"{text}."

    def bounds(self) -> dict[str, Any]:
        """Return what no effect of each kind exceeds, and which column attains it, for JSON."""
        return {
            "confidence": self.confidence,
            **{
                kind: {"bound": _finite(own.bound), "attained_by": list(own.attained_by)}
                for kind, own in self.kinds.items()
            },
        }

    def to_frame(self) -> Any:
        """Return a table with one row per effect."""
        rows: dict[str, list[Any]] = {
            name: [] for name in ("kind", "variables", "level", "effect", "low", "high")
        }
        for kind, own in self.kinds.items():
            rows["kind"] += [kind] * own.effects.size
            rows["variables"] += [", ".join(names) for names in own.variables]
            rows["level"] += own.levels
            for name in ("effect", "low", "high"):
                rows[name] += getattr(own, "effects" if name == "effect" else name).tolist()
        return make_frame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON."""
        return {
            "confidence": self.confidence,
            "rows": list(self.rows),
            "kinds": {kind: own.to_dict() for kind, own in self.kinds.items()},
            "without": dict(self.without),
        }


_BOUNDS = {
    "location": "no mean differs by more than {} SD",
    "share": "no proportion differs by more than {} percentage points",
    "missing": "no proportion of missing values differs by more than {} percentage points",
    "correlation": "no correlation differs by more than {}",
}
_UNLIMITED = {"location": "means", "spread": "SD ratios"}


def _rounded_up(value: float) -> str:
    """Return a bound with two significant digits or two decimals, rounded up.

    >>> _rounded_up(0.2031), _rounded_up(6.91), _rounded_up(31.2), _rounded_up(0.0312)
    ('0.21', '7.0', '32', '0.032')
    """
    digits = 0 if value >= 10 else 1 if value >= 2 else 2 if value >= 0.1 else 3
    # Rounding errors of what is a round number already do not count.
    return f"{math.ceil(round(value * 10**digits, 9)) / 10**digits:.{digits}f}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
