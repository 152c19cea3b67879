"""Are two samples alike within a margin? Two one-sided tests of every effect."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tellapart.arguments import check_labels, check_number, check_random_state
from tellapart.arrays import FloatArray
from tellapart.data.design_labels import DesignArguments, refuse_chunks
from tellapart.data.hints import warn_of_input
from tellapart.data.reader import read_chunked, read_samples
from tellapart.data.samples import Samples
from tellapart.data.sources import is_chunked
from tellapart.data.sources.table import make_frame
from tellapart.effects.simultaneous import SimultaneousEffects, simultaneous_effects
from tellapart.errors import InputError
from tellapart.results.limits import EffectLimits
from tellapart.scan.finding import p_text
from tellapart.scan.finding_kinds import FINDING_KINDS, SPREAD
from tellapart.scan.smallest_effect import SmallestEffect
from tellapart.text import joined, listed, safe
from tellapart.writing import strict_json, text_writer

ALIKE, DIFFERENT, UNDECIDED = "alike within the margin", "different", "undecided"
MOST_LINES = 10


@dataclass(frozen=True, eq=False)
class KindDecisions:
    """The effects of one kind, their limits, and what they are decided to be.

    Attributes
    ----------
    kind : str
        "location", "spread", "share", "missing" or "correlation".
    variables, levels : tuples
        The columns of each effect, and the level whose proportion it compares.
    effects, margins : arrays
        Each effect, first sample against second, and its margin: ± of a difference, a factor of a
        ratio.
    low, high : arrays
        Each effect's own interval with confidence 1 − 2α.
    simultaneous_low, simultaneous_high : arrays
        The intervals that hold for all effects at once with confidence 1 − α.
    pvalues : array
        Of an effect that is not within its margin, by two one-sided tests; 1 where the estimate
        itself is not.
    pvalues_beyond : array
        Of an effect that is within its margin, adjusted for all effects.
    """

    kind: str
    variables: tuple[tuple[str, ...], ...]
    levels: tuple[str, ...]
    effects: FloatArray
    margins: FloatArray
    low: FloatArray
    high: FloatArray
    simultaneous_low: FloatArray
    simultaneous_high: FloatArray
    pvalues: FloatArray
    pvalues_beyond: FloatArray

    def decisions(self, alpha: float) -> list[str]:
        """Return the decision on each effect."""
        lowest, highest = _edges(self.kind, self.margins)
        beyond = (self.simultaneous_low > highest) | (self.simultaneous_high < lowest)
        return [
            DIFFERENT if far else ALIKE if p <= alpha else UNDECIDED
            for far, p in zip(beyond, self.pvalues, strict=True)
        ]

    def line(self, place: int, *, simultaneous: bool) -> str:
        """Return one effect with its interval and its margin, in words."""
        scale = FINDING_KINDS[self.kind].scale
        assert scale is not None
        name = joined(self.variables[place])
        level = self.levels[place]
        what = {"missing": "missing values, ", "correlation": "correlation, "}.get(self.kind, "")
        if level:
            what = f"proportion of {safe(level)}, "
        low, high = (
            (self.simultaneous_low, self.simultaneous_high)
            if simultaneous
            else (self.low, self.high)
        )
        ends = f"{scale.number(float(low[place]))} to {scale.number(float(high[place]))}"
        unit = f" {scale.unit}" if scale.unit else ""
        margin = scale.number(float(self.margins[place]), sign=False)
        if scale.ratio:
            margin = f"{scale.number(1 / float(self.margins[place]))} to {margin}"
        else:
            margin = f"±{margin}"
        effect = scale.number(float(self.effects[place]))
        return f"{name}: {what}{scale.effect} {effect}{unit} (CI {ends}), margin {margin}"


@dataclass(frozen=True, eq=False, repr=False)
class EquivalenceResult:
    """The answer of an equivalence test.

    Attributes
    ----------
    verdict : str
        "alike within the margin", "different" or "undecided".
    pvalue : float
        Of samples of which some effect is not within its margin: the largest p-value of all
        effects, each by two one-sided tests.
    pvalue_different : float
        Of samples whose effects are all within their margins: the smallest adjusted p-value.
    alpha : float
        The level.
    margin : SmallestEffect
        The margins.
    kinds : mapping from str to KindDecisions
        All effects that have a margin.
    limits : EffectLimits
        The simultaneous limits of all effects, with confidence 1 − α.
    rows : pair of int
        Rows of each sample that were compared.
    drawn_from : pair of int or None
        All rows, where those compared were drawn from them at random.
    labels : pair of str
        The names of the two samples.
    """

    verdict: str
    pvalue: float
    pvalue_different: float
    alpha: float
    margin: SmallestEffect
    kinds: Mapping[str, KindDecisions]
    limits: EffectLimits
    rows: tuple[int, int]
    drawn_from: tuple[int, int] | None = None
    labels: tuple[str, str] = ("X", "Y")

    def __repr__(self) -> str:
        return f"EquivalenceResult({self.verdict!r}, {self._pvalue_text}, α = {self.alpha:g})"

    @property
    def _pvalue_text(self) -> str:
        if self.verdict == DIFFERENT:
            return p_text(self.pvalue_different)
        return p_text(self.pvalue)

    @property
    def exceeding(self) -> tuple[tuple[str, int], ...]:
        """The effects that are beyond their margin beyond error: kind and place, largest first."""
        return self._places(DIFFERENT)

    @property
    def undecided(self) -> tuple[tuple[str, int], ...]:
        """The effects on which nothing is decided: kind and place, largest p-value first."""
        return self._places(UNDECIDED)

    def _places(self, decision: str) -> tuple[tuple[str, int], ...]:
        found = []
        for kind, own in self.kinds.items():
            for place, one in enumerate(own.decisions(self.alpha)):
                if one == decision:
                    size = _relative_size(own, place)
                    order = (own.pvalues_beyond if decision == DIFFERENT else -own.pvalues)[place]
                    found.append((float(order), -size, kind, place))
        return tuple((kind, place) for _, _, kind, place in sorted(found))

    def summary(self, max_lines: int | None = MOST_LINES) -> str:
        """Return the verdict, why, and the margins, as plain text.

        Parameters
        ----------
        max_lines : int or None
            Effects to list; None for all of those that decide.
        """
        x, y = map(safe, self.labels)
        level = f"{self._pvalue_text}, α = {self.alpha:g}"
        own = f"{100 * (1 - 2 * self.alpha):g} % CI of each"
        places: tuple[tuple[str, int], ...] = ()
        simultaneous = self.verdict == DIFFERENT
        joint = f"simultaneous {100 * (1 - self.alpha):g} % CI"
        if self.verdict == ALIKE:
            lines = [f"{x} and {y} are alike within the margin ({level})."]
        elif self.verdict == DIFFERENT:
            lines = [f"{x} and {y} differ by more than the margin ({level}):"]
            places = self.exceeding
        else:
            lines = [
                f"Undecided ({level}): neither is every effect shown to be within its margin, nor "
                f"any beyond it. Not shown to be within it:"
            ]
            places = self.undecided
        shown = places if max_lines is None else places[:max_lines]
        lines += [
            f"  {self.kinds[kind].line(place, simultaneous=simultaneous)}" for kind, place in shown
        ]
        if len(shown) < len(places):
            lines.append(f"  … and {len(places) - len(shown):,} more: `to_frame()` has all")
        if shown:
            lines.append(f"Intervals: {joint if simultaneous else own}.")
        lines.append(f"Margins: {safe(self.margin.describe())}.")
        lines.append(f"Sample sizes: {self.rows[0]:,} ({x}) and {self.rows[1]:,} ({y}).")
        if self.drawn_from is not None:
            of_x, of_y = self.drawn_from
            lines.append(f"They were drawn at random from {of_x:,} and {of_y:,} rows.")
        lines += [f"{text}.".capitalize() for text in self.limits.without.values()]
        return "\n".join(lines)

    def to_frame(self) -> Any:
        """Return a table with one row per effect: limits, margin, p-values and decision."""
        rows: dict[str, list[Any]] = {}
        for kind, own in self.kinds.items():
            cells: dict[str, Sequence[Any]] = {
                "kind": [kind] * own.effects.size,
                "variables": [", ".join(names) for names in own.variables],
                "level": own.levels,
                "effect": own.effects.tolist(),
                "margin": own.margins.tolist(),
                "low": own.low.tolist(),
                "high": own.high.tolist(),
                "simultaneous_low": own.simultaneous_low.tolist(),
                "simultaneous_high": own.simultaneous_high.tolist(),
                "pvalue": own.pvalues.tolist(),
                "pvalue_beyond": own.pvalues_beyond.tolist(),
                "decision": own.decisions(self.alpha),
            }
            for name, column in cells.items():
                rows.setdefault(name, []).extend(column)
        return make_frame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON."""
        frame = self.to_frame()
        return {
            "verdict": self.verdict,
            "pvalue": self.pvalue,
            "pvalue_different": self.pvalue_different,
            "alpha": self.alpha,
            "margin": self.margin.to_plain(),
            "labels": list(self.labels),
            "rows": list(self.rows),
            "drawn_from": None if self.drawn_from is None else list(self.drawn_from),
            "effects": [
                {name: _plain(frame[name][k]) for name in frame} for k in range(len(frame["kind"]))
            ],
            "without": dict(self.limits.without),
        }

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return `to_dict()` as strict JSON; write it to `path` too if given."""
        return text_writer(path, end="\n")(strict_json(self.to_dict()))


def equivalence_test(
    X: object,
    Y: object,
    *,
    margin: float | Mapping[str, Any],
    alpha: float = 0.05,
    strata: object = None,
    paired: bool | str | Sequence[object] = False,
    clusters: object = None,
    labels: tuple[str, str] = ("X", "Y"),
    random_state: int | np.random.Generator | None = 0,
    missing: str = "error",
    keep: Sequence[str] = (),
) -> EquivalenceResult:
    """Test whether two samples are alike within a margin.

    Every effect θ (standardised mean difference, ratio of standard deviations, difference of
    proportions or of correlations) has a margin δ. The samples are

    - "alike within the margin" where two one-sided tests show |θ| < δ of every effect: each
      interval with confidence 1 − 2α lies within its margin. As all have to, no p-value needs an
      adjustment (intersection–union test): P("alike") ≤ α where any effect is not within its
      margin;
    - "different" where an interval of those that hold for all effects at once with confidence
      1 − α lies beyond the margin: P("different") ≤ α where all effects are within;
    - "undecided" otherwise, as are small samples.

    Both hold in large samples; :doc:`/howto/equivalence` has the errors in small ones.

    Parameters
    ----------
    X, Y : array, table, or data in chunks
        The two samples, as for `tellapart.two_sample_test`. Of data in chunks, rows drawn at random
        are compared, up to 20,000 of each.
    margin : float or mapping
        A number s of standard deviations, for every kind of effect: means within s SD, ratios of
        standard deviations within a factor of eˢ, proportions within 100·s/2 percentage points,
        correlations within s. Or a mapping from kinds ("location": SD, "spread": ratio, "share" and
        "missing": proportion, "correlation": difference) to margins; kinds left out are not judged.
        Columns as keys have margins of their own, a number or a mapping.
    alpha : float
        The level, in (0, 0.5).
    strata, paired, clusters
        The design, as for `tellapart.two_sample_test`.
    labels : pair of str
        The names of the two samples.
    random_state : int, numpy Generator or None
        Seed of the resampling behind the simultaneous intervals. "alike" does not depend on it.
    missing : {"error", "pairwise", "drop-rows", "drop-columns"}
        How to handle missing values; see `tellapart.two_sample_test`.
    keep : sequence of str
        Columns of tables to compare although they appear to be identifiers.

    Returns
    -------
    EquivalenceResult
        `verdict`, `pvalue`, `summary()`, `to_frame()` with one row per effect, `to_dict()`.

    Examples
    --------
    >>> import numpy as np, tellapart as ta
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(400, 2)), rng.normal(size=(400, 2))
    >>> result = ta.equivalence_test(X, Y, margin=0.3)
    >>> result.verdict
    'alike within the margin'
    >>> ta.equivalence_test(X, Y, margin=0.02).verdict
    'undecided'
    >>> print(ta.equivalence_test(X, Y + [1, 0], margin={"location": 0.3}).summary())
    X and Y differ by more than the margin (p = ..., α = 0.05):
      x0: SMD −1.12 (CI −1.29 to −0.95), margin ±0.30
    Intervals: simultaneous 95 % CI.
    Margins: means by 0.3 SD.
    Sample sizes: 400 (X) and 400 (Y).
    """
    design = DesignArguments(strata, paired, clusters)
    return judge_tables(
        X, Y, margin, "margin", alpha, design, labels, random_state, missing=missing, keep=keep
    )


def judge_tables(
    X: object,
    Y: object,
    margin: object,
    name: str,
    alpha: float,
    design: DesignArguments,
    labels: tuple[str, str],
    random_state: int | np.random.Generator | None,
    *,
    missing: str,
    keep: Sequence[str],
) -> EquivalenceResult:
    """Read two samples and judge them; `name` is what messages call the margin."""
    margins = SmallestEffect.of(margin, name)
    level = check_number("alpha", alpha, 0.0, 0.5, open_low=True, open_high=True)
    seed = int(check_random_state(random_state).integers(2**63))
    names = check_labels(labels)
    samples, drawn_from = _read(X, Y, design, missing, keep, seed)
    margins.check_columns(samples.names, name)
    answer = judge(simultaneous_effects(samples, seed), margins, level, name)
    return replace(answer, labels=names, drawn_from=drawn_from)


def judge(
    effects: SimultaneousEffects, margin: SmallestEffect, alpha: float, name: str = "margin"
) -> EquivalenceResult:
    """Return the answer from all effects of two samples; see `equivalence_test`."""
    margins = {kind: margin.sizes(kind, own.variables) for kind, own in effects.kinds.items()}
    some = [kind for kind, sizes in margins.items() if not np.isnan(sizes).all()]
    judged = replace(effects, kinds={kind: effects.kinds[kind] for kind in some})
    with np.errstate(all="ignore"):
        kinds = {
            kind: _decide(judged, kind, margins[kind], tail, alpha)
            for kind, tail in judged.tails(1 - alpha).items()
        }
    if not kinds:
        there = ", ".join(effects.kinds) or "none"
        raise InputError(
            f"{name} must have kinds of effects that the columns have ({there}); got "
            f"{margin.to_plain()!r}"
        )
    every = [one for own in kinds.values() for one in own.decisions(alpha)]
    verdict = UNDECIDED
    if DIFFERENT in every:
        verdict = DIFFERENT
    elif all(one == ALIKE for one in every):
        verdict = ALIKE
    return EquivalenceResult(
        verdict,
        max(float(own.pvalues.max()) for own in kinds.values()),
        min(float(own.pvalues_beyond.min()) for own in kinds.values()),
        alpha,
        margin,
        kinds,
        EffectLimits.of(effects, 1 - alpha),
        effects.rows,
    )


def assert_similar(
    X: object,
    Y: object,
    *,
    smallest_effect: float | Mapping[str, Any],
    strict: bool = False,
    alpha: float = 0.05,
    strata: object = None,
    paired: bool | str | Sequence[object] = False,
    clusters: object = None,
    labels: tuple[str, str] = ("X", "Y"),
    random_state: int | np.random.Generator | None = 0,
    missing: str = "error",
    keep: Sequence[str] = (),
) -> None:
    """Raise AssertionError where two samples differ by more than a smallest effect.

    For tests and pipelines. An effect exceeds its size where its interval does, of those that hold
    for all effects at once with confidence 1 − α: samples without such a difference fail with
    probability α at most, in large samples.

    Parameters
    ----------
    X, Y : array, table, or data in chunks
        The two samples.
    smallest_effect : float or mapping
        The size from which on a difference matters; see `margin` of `tellapart.equivalence_test`.
    strict : bool
        Whether to raise also where the samples are not shown to be alike, as with too few rows.
    alpha, strata, paired, clusters, labels, random_state, missing, keep
        See `tellapart.equivalence_test`.

    Examples
    --------
    >>> import numpy as np, tellapart as ta
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(200, 2)), rng.normal(size=(200, 2))
    >>> ta.assert_similar(X, Y, smallest_effect=0.3)
    >>> ta.assert_similar(X, Y + [1, 0], smallest_effect=0.3)
    Traceback (most recent call last):
    ...
    AssertionError: X and Y differ by more than the smallest effect of interest: x0: SMD −1.05 ...
    """
    design = DesignArguments(strata, paired, clusters)
    result = judge_tables(
        X,
        Y,
        smallest_effect,
        "smallest_effect",
        alpha,
        design,
        labels,
        random_state,
        missing=missing,
        keep=keep,
    )
    why = reason(result, strict=strict)
    if why:
        raise AssertionError(why)


def reason(result: EquivalenceResult, *, strict: bool, most: int = 3) -> str:
    """Return in one paragraph why samples are not similar; empty where they are."""
    x, y = map(safe, result.labels)
    if result.verdict == ALIKE or (result.verdict == UNDECIDED and not strict):
        return ""
    different = result.verdict == DIFFERENT
    places = result.exceeding if different else result.undecided
    lines = [
        result.kinds[kind].line(place, simultaneous=different) for kind, place in places[:most]
    ]
    if different:
        lead = f"{x} and {y} differ by more than the smallest effect of interest"
        interval = f"simultaneous {100 * (1 - result.alpha):g} % CI"
    else:
        lead = f"{x} and {y} are not shown to be alike within the smallest effect of interest"
        interval = f"{100 * (1 - 2 * result.alpha):g} % CI"
    more = f"; and {len(places) - most:,} more" if len(places) > most else ""
    return f"{lead}: {listed(lines, most, '; ').replace('(CI', f'({interval}')}{more}."


def _decide(
    effects: SimultaneousEffects, kind: str, margins: FloatArray, tail: float, alpha: float
) -> KindDecisions:
    """Return the decisions on the effects of one kind that have a margin."""
    own = effects.kinds[kind]
    judged = np.flatnonzero(~np.isnan(margins))
    lowest, highest = _edges(kind, margins)
    within = own.largest_tails(lambda low, high: (low > lowest) & (high < highest))
    beyond = own.largest_tails(lambda low, high: (low > highest) | (high < lowest))
    adjusted = effects.adjusted(kind, np.minimum(2 * beyond, 1.0))
    arrays = (own.effects, margins, *own.limits(alpha), *own.limits(tail), within, adjusted)
    return KindDecisions(
        kind,
        tuple(own.variables[k] for k in judged),
        tuple(own.levels[k] for k in judged),
        *(array[judged] for array in arrays),
    )


def _edges(kind: str, margins: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the margins."""
    return (1 / margins if kind == SPREAD else -margins), margins


def _relative_size(own: KindDecisions, place: int) -> float:
    """Return an effect in multiples of its margin; of ratios, of their logarithms."""
    effect, margin = float(own.effects[place]), float(own.margins[place])
    if own.kind == SPREAD:
        return abs(math.log(effect)) / math.log(margin) if 0 < effect < math.inf else math.inf
    return abs(effect) / margin


def _read(
    X: object,
    Y: object,
    design: DesignArguments,
    missing: str,
    keep: Sequence[str],
    seed: int,
) -> tuple[Samples, tuple[int, int] | None]:
    """Return the rows to compare, and all rows where they were drawn from them."""
    if not (is_chunked(X) or is_chunked(Y)):
        samples = read_samples(X, Y, missing=missing, keep=keep, design=design)
        warn_of_input(X, Y, samples, ("X", "Y"))
        return samples, None
    refuse_chunks(design)
    chunks = read_chunked(X, Y, missing=missing, keep=keep, seed=seed)
    drawn = chunks.held
    return drawn, None if drawn.n_read == chunks.n_read else chunks.n_read


def _plain(value: Any) -> Any:
    """Return a cell as JSON can hold it."""
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    return value
