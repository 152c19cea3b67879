"""Who is ahead: shares of rejections compared, error bars and all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tellapart.experiments.curves import Powers
from tellapart.experiments.intervals import Share
from tellapart.experiments.methods import METHODS

OURS = tuple(name for name, method in METHODS.items() if method.family == "ours")
SAME_SPLIT = tuple(
    name
    for name, method in METHODS.items()
    if method.family in ("standard", "competitor") and not method.all_rows
)
ALL_ROWS = tuple(name for name, method in METHODS.items() if method.all_rows)
FEWEST_TRIALS = 5
"""With fewer trials a share says too little to be called the best."""


@dataclass(frozen=True)
class Best:
    """The method of most power among some, at one place."""

    method: str
    share: Share

    @property
    def text(self) -> str:
        """Label and power, to read."""
        return f"{METHODS[self.method].label} {self.share.text}"


def clearly_above(one: Share, other: Share) -> bool:
    """Say whether one share is above the other beyond both error bars.

    >>> clearly_above(Share(20, 20), Share(10, 20)), clearly_above(Share(20, 20), Share(19, 20))
    (True, False)
    """
    return one.low > other.value and other.high < one.value


def best_of(powers: Powers, case: str, place: float, methods: Iterable[str]) -> Best | None:
    """Return the best of some methods; None where none of them has five trials.

    Of equal shares the one with more trials is the better known, so it is taken.
    """
    found = [
        Best(method, powers[case, place, method])
        for method in methods
        if (case, place, method) in powers and powers[case, place, method].trials >= FEWEST_TRIALS
    ]
    return max(found, key=lambda best: (best.share.value, best.share.trials), default=None)


def places_of(powers: Powers) -> list[float]:
    """Return the places on the axis, in order."""
    return sorted({place for _, place, _ in powers})


def standing(ours: Best | None, other: Best | None) -> str:
    """Say in a word how our best stands beside the best of others."""
    if ours is None or other is None:
        return "not measured"
    if clearly_above(other.share, ours.share):
        return "behind"
    if clearly_above(ours.share, other.share):
        return "ahead"
    if other.share.value > ours.share.value:
        return "lower, within error bars"
    return "level or higher"


def behind(powers: Powers, case: str, methods: Iterable[str]) -> list[float]:
    """Return the places where the best of `methods` is clearly above the best of ours."""
    rivals = tuple(methods)
    lost = []
    for place in places_of(powers):
        ours, other = (best_of(powers, case, place, names) for names in (OURS, rivals))
        if ours is not None and other is not None and clearly_above(other.share, ours.share):
            lost.append(place)
    return lost
