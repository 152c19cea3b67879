"""Who is ahead: shares of rejections compared, error bars and all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tellapart.reproduction.curves import Powers
from tellapart.reproduction.intervals import Share
from tellapart.reproduction.methods import METHODS

RIVALS = ("standard", "competitor")
"""Families of the methods that are not ours."""


def _names(families: Iterable[str], *, all_rows: bool) -> tuple[str, ...]:
    return tuple(
        name
        for name, method in METHODS.items()
        if method.family in families and method.all_rows == all_rows
    )


OURS_SPLIT, SAME_SPLIT = _names(["ours"], all_rows=False), _names(RIVALS, all_rows=False)
OURS_ALL_ROWS, ALL_ROWS = _names(["ours"], all_rows=True), _names(RIVALS, all_rows=True)
RETIRED = _names(["retired"], all_rows=True)
OURS = OURS_SPLIT + OURS_ALL_ROWS
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


def behind(
    powers: Powers, case: str, rivals: Sequence[str], mine: Sequence[str] = OURS
) -> list[float]:
    """Return the places where the best of `rivals` is clearly above the best of ours."""
    lost = []
    for place in places_of(powers):
        ours, other = (best_of(powers, case, place, names) for names in (mine, rivals))
        if ours is not None and other is not None and clearly_above(other.share, ours.share):
            lost.append(place)
    return lost
