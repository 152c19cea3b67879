"""How near the next best choice is: a proof that one is the best says nothing of that.

Whatever other set of as many variables there is leaves out at least one of those chosen. So for
every chosen variable the search is repeated without it, by swaps, and the best of what they find
is the next best choice that is known. Nothing is proved about it: there may be a nearer one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tellapart.arrays import IntArray
from tellapart.evidence.evidence import Evidence
from tellapart.selection.by_evidence import HEURISTIC, Best, best_of
from tellapart.strs.control import Control
from tellapart.text import safe

ROUNDING = 1e-9
"""A choice with more evidence by no more than this share is as good as the one made."""
NEAR = 0.99
"""A choice with this share of the evidence is nearly as good."""


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
    """

    variables: tuple[str, ...]
    share: float
    left_out: tuple[str, ...]
    taken_in: tuple[str, ...]
    without: Mapping[str, float]

    def description(self) -> str:
        """Return how near it is, and how many variables can be dropped at little cost.

        >>> RunnerUp(("b",), 0.9982, ("a",), ("b",), {"a": 0.9982}).description()
        'Runner-up subset (heuristic): b instead of a, with 99.8 % of the criterion'
        """
        change = f"{_listed(self.taken_in)} instead of" if self.taken_in else "the same without"
        text = (
            f"Runner-up subset (heuristic): {change} {_listed(self.left_out)}, with "
            f"{_percent(self.share)} of the criterion"
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
            "proved": False,
        }


def find_runner_up(
    names: tuple[str, ...], evidence: Evidence, best: Best, n_variables: int
) -> tuple[Best, RunnerUp | None]:
    """Return the best choice met, and the next best one that swaps find; None if there is no other.

    A search that ended early may have missed a better choice than it returned. If one is met
    here, it takes over, and what is next best to it is searched for in its turn.

    Parameters
    ----------
    names : tuple of str
        Names of all columns.
    evidence : Evidence
        What can be chosen.
    best : Best
        The choice made.
    n_variables : int
        The largest number of variables.
    """
    if evidence.n_columns < 2 or best.value <= 0:
        return best, None
    while True:
        chosen = np.flatnonzero(best.z).tolist()
        without = {place: _best_without(evidence, place, n_variables) for place in chosen}
        next_best = max(without.values(), key=lambda found: found.value)
        if next_best.value <= best.value * (1 + ROUNDING):
            break
        # The bound is proved for every choice, this one included.
        bound = None if best.upper_bound is None else max(best.upper_bound, next_best.value)
        best = replace(next_best, upper_bound=bound, solver=best.solver)
    support = np.flatnonzero(next_best.z).tolist()

    def named(places: list[int]) -> tuple[str, ...]:
        return tuple(names[s] for s in evidence.columns[places])

    return best, RunnerUp(
        variables=named(support),
        share=_share(next_best, best),
        left_out=named([s for s in chosen if s not in support]),
        taken_in=named([s for s in support if s not in chosen]),
        without={
            names[evidence.columns[place]]: _share(found, best) for place, found in without.items()
        },
    )


def _share(found: Best, best: Best) -> float:
    """Return the evidence of a choice as a share of that of the best, no more than all of it."""
    return min(float(found.value / best.value), 1.0)


def _best_without(evidence: Evidence, place: int, n_variables: int) -> Best:
    """Return the best choice that swaps find without one candidate column."""
    kept = np.flatnonzero(np.arange(evidence.n_columns) != place)
    column = evidence.columns[place]
    groups = [g for g, group in enumerate(evidence.groups) if column not in group.columns]
    rest = _part(evidence, kept, groups)
    # A control of its own: the draws of whatever comes after stay what they are.
    found = best_of(rest, min(n_variables, rest.n_columns), Control(), HEURISTIC)
    z = np.zeros(evidence.n_columns)
    z[kept] = found.z
    return replace(found, z=z, groups=tuple(groups[g] for g in found.groups))


def _part(evidence: Evidence, kept: IntArray, groups: list[int]) -> Evidence:
    """Return the evidence of some columns and groups."""
    index = np.append(kept, evidence.n_columns + np.array(groups, dtype=np.intp)).astype(np.intp)
    return replace(
        evidence,
        columns=evidence.columns[kept],
        groups=tuple(evidence.groups[g] for g in groups),
        strengths=evidence.strengths[index],
        shared=evidence.shared[np.ix_(index, index)],
        likeness=evidence.likeness[np.ix_(index, index)],
        reasons=tuple(evidence.reasons[s] for s in kept),
    )


def _percent(share: float) -> str:
    """Return a share in percent, with the digits that tell it from all of it.

    >>> _percent(0.42), _percent(0.9996), _percent(0.99999), _percent(1.0)
    ('42.0 %', '99.96 %', 'over 99.99 %', '100.0 %')
    """
    if 0.9999 < share < 1:
        return "over 99.99 %"
    digits = 2 if 0.999 <= share < 1 else 1
    return f"{100 * share:.{digits}f} %"


def _listed(names: tuple[str, ...]) -> str:
    *first, last = map(safe, names)
    return f"{', '.join(first)} and {last}" if first else last
