"""How large a difference must be to matter: by kind, and by column where columns differ in that."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import special

from tellapart.arguments import check_number
from tellapart.arrays import FloatArray
from tellapart.errors import InputError
from tellapart.scan.finding_kinds import (
    CLIFF,
    FINDING_KINDS,
    LOCATION,
    POINTS,
    SPREAD,
    TOTAL_VARIATION,
    scale_of_measure,
)
from tellapart.text import nearest


@dataclass(frozen=True)
class SmallestEffect:
    """The size from which on effects matter.

    Attributes
    ----------
    common : float or None
        A number s of standard deviations, for every kind: means by s SD, ratios of standard
        deviations by a factor of eˢ, proportions by 100·s/2 percentage points (the standard
        deviation of a flag is one half at most), correlations and other differences by s, Cliff's
        delta by that of normal samples whose means differ by s.
    by_kind : mapping from str to float
        The size of each kind, in the units of its effect; None sets no size.
    by_column : mapping from str to SmallestEffect
        Sizes of single columns, which take the place of the others.
    """

    common: float | None = None
    by_kind: Mapping[str, float] = field(default_factory=dict)
    by_column: Mapping[str, SmallestEffect] = field(default_factory=dict)

    @classmethod
    def of(cls, value: object, name: str = "smallest_effect") -> SmallestEffect:
        """Return sizes from a number, or a mapping of kinds, and of columns, to sizes.

        >>> SmallestEffect.of(0.2).size("share", ("smoker",))
        0.1
        >>> sizes = SmallestEffect.of({"location": 0.2, "age": {"location": 0.5}})
        >>> sizes.size("location", ("age",)), sizes.size("spread", ("age",))
        (0.5, None)
        """
        if isinstance(value, SmallestEffect):
            return value
        if isinstance(value, numbers.Real) and not isinstance(value, bool):
            return cls(common=check_number(name, value, 0.0, open_low=True))
        if not isinstance(value, Mapping) or not value:
            raise InputError(
                f"{name} must be a number (of standard deviations) or a mapping of kinds, or "
                f"columns, to sizes; got {value!r}"
            )
        by_kind, by_column = {}, {}
        for key, size in value.items():
            if not isinstance(key, str):
                raise InputError(f"{name} must have kinds or columns as keys; got {key!r}")
            if key in FINDING_KINDS:
                by_kind[key] = _checked(f"{name}[{key!r}]", key, size)
            else:
                by_column[key] = cls.of(size, f"{name}[{key!r}]")
                if by_column[key].by_column:
                    raise InputError(f"{name}[{key!r}] must have kinds as keys; got {size!r}")
        return cls(None, by_kind, by_column)

    def check_columns(self, names: Sequence[str], name: str = "smallest_effect") -> None:
        """Raise where a size is that of a column that is not among the names."""
        for column in self.by_column:
            if column not in names:
                raise InputError(
                    f"{name} must have columns or kinds ({', '.join(FINDING_KINDS)}) as keys; got "
                    f"{column!r}; {nearest(column, [*names, *FINDING_KINDS])}"
                )

    def size(self, kind: str, variables: Sequence[str], measure: str = "") -> float | None:
        """Return the size of a kind of effect of some columns; None where none is set.

        Of a ratio it is more than 1. Of several columns with sizes of their own the smallest is
        taken.
        """
        own = [self.by_column[name] for name in variables if name in self.by_column]
        sizes = [size for one in own if (size := one._general(kind, measure)) is not None]
        return min(sizes) if sizes else self._general(kind, measure)

    def sizes(self, kind: str, variables: Sequence[Sequence[str]]) -> FloatArray:
        """Return the sizes of many effects of one kind, NaN where none is set."""
        general = self._general(kind)
        every = np.full(len(variables), math.nan if general is None else general)
        if self.by_column:
            for k, names in enumerate(variables):
                size = self.size(kind, names)
                every[k] = math.nan if size is None else size
        return every

    def _general(self, kind: str, measure: str = "") -> float | None:
        if self.common is None:
            return self.by_kind.get(kind)
        s = self.common
        if kind == SPREAD:
            return math.exp(s)
        if kind == LOCATION:
            return s
        scale = FINDING_KINDS[kind].scale or scale_of_measure(measure)
        if scale is CLIFF:
            return float(2 * special.ndtr(s / math.sqrt(2)) - 1)
        return s / 2 if scale in (POINTS, TOTAL_VARIATION) else s

    def to_plain(self) -> Any:
        """Return a number or a mapping, as it was given."""
        if self.common is not None:
            return self.common
        return {
            **self.by_kind,
            **{name: sizes.to_plain() for name, sizes in self.by_column.items()},
        }

    def describe(self) -> str:
        """Return the sizes in words.

        >>> SmallestEffect.of({"location": 0.2, "age": 0.5}).describe()
        'means by 0.2 SD; sizes of its own for age'
        """
        kinds = self.by_kind
        if self.common is not None:
            shown = (LOCATION, SPREAD, "share", "correlation")
            kinds = {kind: size for kind in shown if (size := self._general(kind)) is not None}
        words = [_in_words(kind, size) for kind, size in kinds.items()]
        text = ", ".join(words)
        if self.by_column:
            owner = "its" if len(self.by_column) == 1 else "their"
            words = [text] if text else []
            text = "; ".join([*words, f"sizes of {owner} own for {', '.join(self.by_column)}"])
        return text


def _checked(name: str, kind: str, size: object) -> float:
    """Return a size; of a ratio, that above 1."""
    number = check_number(name, size, 0.0, open_low=True)
    if kind != SPREAD:
        return number
    if number == 1:
        raise InputError(f"{name} must be a ratio of standard deviations other than 1; got 1")
    return max(number, 1 / number)


_SUBJECTS = {
    LOCATION: "means by {} SD",
    SPREAD: "SDs by a factor of {}",
    "share": "proportions by {} percentage points",
    "missing": "proportions of missing values by {} percentage points",
    "new values": "proportions of new values by {} percentage points",
    "correlation": "correlations by {}",
}


def _in_words(kind: str, size: float) -> str:
    """Return one size in words."""
    scale = FINDING_KINDS[kind].scale
    number = f"{size * (1.0 if scale is None else scale.factor):.3g}"
    return _SUBJECTS.get(kind, f"{FINDING_KINDS[kind].words.title.lower()} by {{}}").format(number)
