"""Subsets that are nearly as good as the one selected: the runner-up, and all within a distance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tellapart.arrays import BoolArray, IntArray
from tellapart.strs.near_optimal import Collected, exchange_groups, reach_of
from tellapart.text import counted, joined, listed, safe

NEAR = 0.99
"""A choice with this share of the evidence is nearly as good."""
FEW_NAMES = 6
"""Names that a sentence lists."""
FEW_GROUPS = 3
"""Groups of substitutes that a sentence lists."""


@dataclass(frozen=True)
class RunnerUp:
    """The best choice found that is not the one made.

    Attributes
    ----------
    variables : tuple of str
        Its variables.
    share : float
        Its evidence, as a share of that of the choice made.
    left_out, taken_in : tuple of str
        Variables of the choice made that it is without, and what it has in their place.
    without : mapping from str to float
        For every chosen variable the share of the evidence that is found without it.
    proved : bool
        Whether no other choice is nearer, but for the gap of the proof.
    """

    variables: tuple[str, ...]
    share: float
    left_out: tuple[str, ...]
    taken_in: tuple[str, ...]
    without: Mapping[str, float]
    proved: bool = False

    def description(self) -> str:
        """Return how near it is, and how many variables can be dropped at little cost.

        >>> RunnerUp(("b",), 0.9982, ("a",), ("b",), {"a": 0.9982}).description()
        'Runner-up subset (heuristic): b instead of a, with 99.8 % of the criterion'
        """
        change = f"{joined(self.taken_in)} instead of" if self.taken_in else "the same without"
        how = "proved" if self.proved else "heuristic"
        text = (
            f"Runner-up subset ({how}): {change} {joined(self.left_out)}, with "
            f"{percent(self.share)} of the criterion"
        )
        near = sum(share >= NEAR for share in self.without.values())
        if near <= 1:
            return text
        which = "any one" if near == len(self.without) else f"any one of {near}"
        return f"{text}; dropping {which} of the {len(self.without)} costs at most 1 %"

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON."""
        return {
            "variables": list(self.variables),
            "share": self.share,
            "left_out": list(self.left_out),
            "taken_in": list(self.taken_in),
            "without": dict(self.without),
            "proved": self.proved,
        }


def percent(share: float) -> str:
    """Return a share in percent, with the digits that distinguish it from 100 %.

    >>> percent(0.42), percent(0.9996), percent(0.99999), percent(1.0)
    ('42.0 %', '99.96 %', 'over 99.99 %', '100.0 %')
    """
    if 0.9999 < share < 1:
        return "over 99.99 %"
    digits = 2 if 0.999 <= share < 1 else 1
    return f"{100 * share:.{digits}f} %"


@dataclass(frozen=True, eq=False)
class Alternatives:
    """All subsets of at most d variables that are nearly as good as the best one.

    A subset is nearly as good if its criterion is lower by at most `within` of the best. With one,
    everything that contains it is nearly as good too, so `subsets` lists those from which no
    variable can be dropped: all others contain one of them. It is an iterable of these.

    Attributes
    ----------
    subsets : tuple of tuples of str
        The variables of each, the highest criterion first.
    shares : tuple of float
        Their criteria, as shares of that of the best subset.
    within : float
        The relative distance that was requested.
    complete : bool
        Whether it is proved that no subset is missing.
    reach : float or None
        The relative distance up to which that is proved: `within` if complete, and None where
        nothing is, as for a selection that is not proved to be optimal.
    in_all, in_none : tuple of str
        Variables that are in all of the subsets, and in none.
    groups : tuple of tuples of str
        Variables that substitute for each other: no subset has two of a group, and each of them
        can take the place of the first in some subset, which gives another one of the subsets.
    n_variables : int
        The largest number of variables, d.
    seconds : float
        Wall time.
    """

    subsets: tuple[tuple[str, ...], ...]
    shares: tuple[float, ...]
    within: float
    complete: bool
    reach: float | None
    in_all: tuple[str, ...]
    in_none: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    n_variables: int
    seconds: float

    @classmethod
    def of(
        cls,
        collected: Collected,
        names: Sequence[str],
        *,
        value: float,
        is_optimal: bool,
        within: float,
        n_variables: int,
        seconds: float,
    ) -> Alternatives:
        """Return what was collected under the names of the variables that took part."""
        incidence = incidence_of(collected.supports, len(names))
        counts = incidence.sum(axis=0)
        reach = reach_of(value, collected.upper_bound, within) if is_optimal else None

        def named(positions: IntArray) -> tuple[str, ...]:
            return tuple(names[s] for s in positions.tolist())

        return cls(
            subsets=tuple(named(support) for support in collected.supports),
            shares=tuple(
                min(1 - float(value - each) / abs(value), 1.0) for each in collected.values
            ),
            within=within,
            complete=reach == within,
            reach=reach,
            in_all=named(np.flatnonzero(counts == len(incidence))),
            in_none=named(np.flatnonzero(counts == 0)),
            groups=tuple(named(group) for group in exchange_groups(incidence)),
            n_variables=n_variables,
            seconds=seconds,
        )

    def __len__(self) -> int:
        return len(self.subsets)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return iter(self.subsets)

    @property
    def counts(self) -> dict[str, int]:
        """For each variable in any of the subsets, the number that contain it; the most first."""
        counts: dict[str, int] = {}
        for subset in self.subsets:
            for name in subset:
                counts[name] = counts.get(name, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: -item[1]))

    def description(self) -> str:
        """Return how many there are, and what they have in common, in one sentence."""
        near = f"within {_short(self.within)} of the best"
        if not self.complete:
            return f"{self._found(near)}; {self._proved_so_far()}{self._common()}"
        allowed = counted(self.n_variables, "variable")
        if len(self) > 1 and all(len(subset) == self.n_variables for subset in self.subsets):
            return f"{self._found(near)} (proved to be all of at most {allowed}){self._common()}"
        if len(self) > 1:
            proved = f"every subset of at most {allowed} that is contains one of them (proved)"
            return f"{self._found(near)}, and {proved}{self._common()}"
        (only,) = self.subsets
        if len(only) == self.n_variables:
            return f"No other subset of at most {allowed} is {near} (proved)"
        verb = "is" if len(only) == 1 else "are"
        return (
            f"{joined(only)} alone {verb} {near} ({percent(self.shares[0])}), and every subset of "
            f"at most {allowed} that is contains {'it' if len(only) == 1 else 'them'} (proved)"
        )

    def _found(self, near: str) -> str:
        sizes = sorted({len(subset) for subset in self.subsets})
        span = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else f"{sizes[0]}"
        noun = "variable" if sizes == [1] else "variables"
        least = "" if self.complete else "At least "
        verb = "is" if len(self) == 1 else "are"
        return f"{least}{counted(len(self), 'subset')} of {span} {noun} {verb} {near}"

    def _proved_so_far(self) -> str:
        if self.reach is None:
            return "not proved to be all"
        return f"proved to be all within {_short(self.reach)}; a longer time_limit may prove more"

    def _common(self) -> str:
        """Return what is in all of them and what substitutes for each other."""
        parts = []
        if self.in_all:
            parts.append(f"{listed(self.in_all, FEW_NAMES)} in all of them")
        for group in self.groups[:FEW_GROUPS]:
            hits = sum(not set(group).isdisjoint(subset) for subset in self.subsets)
            which = "all" if hits == len(self) else f"{hits:,}"
            parts.append(f"one of {_either(group)} in {which}")
        return f": {'; '.join(parts)}" if parts and len(self) > 1 else ""

    def summary(self) -> str:
        """Return them as plain text: what they have in common, then one line each, 20 at most."""
        lines = [f"{self.description()}."]
        width = len(percent(max(self.shares, default=1.0)))
        for subset, share in zip(self.subsets[:20], self.shares, strict=False):
            lines.append(f"  {percent(share):>{width}}  {joined(subset)}")
        if len(self) > 20:
            lines.append(f"  and {len(self) - 20:,} more")
        if self.in_none:
            lines.append(f"In none: {listed(self.in_none, 2 * FEW_NAMES)}.")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON."""
        return {
            "within": self.within,
            "complete": self.complete,
            "reach": self.reach,
            "subsets": [list(subset) for subset in self.subsets],
            "shares": list(self.shares),
            "in_all": list(self.in_all),
            "in_none": list(self.in_none),
            "groups": [list(group) for group in self.groups],
            "counts": self.counts,
            "n_variables": self.n_variables,
            "seconds": self.seconds,
        }

    def __repr__(self) -> str:
        state = "complete" if self.complete else "not complete"
        return f"<Alternatives within {_short(self.within)}: {len(self):,}, {state}>"


def incidence_of(supports: Sequence[IntArray], size: int) -> BoolArray:
    """Return one row per support and one column per variable: whether it is in."""
    marked = np.zeros((len(supports), size), dtype=bool)
    for row, support in zip(marked, supports, strict=True):
        row[support] = True
    return marked


def _short(share: float) -> str:
    """Return a small share in percent.

    >>> _short(0.01), _short(0.0042), _short(0.00001234)
    ('1 %', '0.42 %', '0.0012 %')
    """
    return f"{100 * share:.2g} %"


def _either(names: Sequence[str]) -> str:
    """Return names with "or" before the last one, or how many more there are."""
    if len(names) > FEW_NAMES:
        return listed(names, FEW_NAMES)
    *first, last = map(safe, names)
    return f"{', '.join(first)} or {last}"
