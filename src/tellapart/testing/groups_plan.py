"""Which groups are compared with which, and which cannot be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tellapart.data.columns import label_of
from tellapart.data.described import described, quoted
from tellapart.data.grouping import GroupedTable, check_group_size
from tellapart.errors import InputError
from tellapart.testing.groups_result import REST, Skipped

MODES = ("one-versus-rest", "pairwise")


@dataclass(frozen=True)
class Pair:
    """The places of two groups; None stands for the rest."""

    group: int
    against: int | None

    def labels(self, grouped: GroupedTable) -> tuple[str, str]:
        """Return what the two sides are called."""
        against = REST if self.against is None else grouped.labels[self.against]
        return grouped.labels[self.group], against


@dataclass(frozen=True)
class GroupsPlan:
    """The comparisons that there are rows for, the others with the reason, and the mode."""

    pairs: tuple[Pair, ...]
    skipped: tuple[Skipped, ...]
    mode: str


def plan_comparisons(
    grouped: GroupedTable, mode: str, groups: Iterable[object] | None, fewest: int
) -> GroupsPlan:
    """Plan the comparisons of some groups, all if None, of at least `fewest` rows each.

    Of two groups each is the rest of the other, so both modes are one comparison.
    """
    places = _places(grouped, groups)
    _check_number(grouped, mode, places)
    with_rows = [place for place, size in enumerate(grouped.sizes) if size]
    two = len(with_rows) == 2 and mode != "pairwise"
    if mode == "pairwise":
        every = [Pair(a, b) for i, a in enumerate(places) for b in places[i + 1 :]]
    elif two:
        asked = [place for place in places if place in with_rows]
        every = [Pair(a, b) for a in asked[:1] for b in with_rows if b != a]
        every += [Pair(place, None) for place in places if place not in with_rows]
    else:
        every = [Pair(a, None) for a in places]
    pairs, skipped = [], []
    for pair in every:
        reason = _too_small(grouped, pair, fewest)
        if reason is None:
            pairs.append(pair)
        else:
            skipped.append(Skipped(*pair.labels(grouped), reason))
    if not pairs:
        raise InputError(f"by must give groups that are large enough; {reasons_of(skipped)}")
    return GroupsPlan(tuple(pairs), tuple(skipped), "pairwise" if two else mode)


def reasons_of(skipped: Sequence[Skipped]) -> str:
    """Return the first reason for which comparisons were not made, and how many more there are."""
    first = skipped[0].reason
    return first if len(skipped) == 1 else f"{first}, and {len(skipped) - 1} more such comparisons"


def _places(grouped: GroupedTable, groups: Iterable[object] | None) -> list[int]:
    """Return the places of the groups to compare, in the order of the labels."""
    if groups is None:
        return list(range(len(grouped.labels)))
    if isinstance(groups, str | bytes) or not isinstance(groups, Iterable):
        raise InputError(f"groups must be a sequence of labels; got {described(groups)}")
    wanted = [label_of(group) for group in groups]
    absent = [label for label in wanted if label not in grouped.labels]
    if absent:
        raise InputError(
            f"groups must be labels of {grouped.by!r}; got {absent[0]!r}; "
            f"there are {quoted(grouped.labels)}"
        )
    if len(set(wanted)) < len(wanted):
        raise InputError(f"groups must be distinct; got {quoted(wanted)}")
    return sorted(grouped.labels.index(label) for label in wanted)


def _check_number(grouped: GroupedTable, mode: str, places: Sequence[int]) -> None:
    least = 1 if mode == "one-versus-rest" else 2
    if len(grouped.labels) < 2 or len(places) < least:
        raise InputError(
            f"by must give at least two groups to compare; column {grouped.by!r} has "
            f"{quoted(grouped.labels) or 'none'}"
            + ("" if len(grouped.labels) < 2 else f", of which groups asks for {len(places)}")
        )


def _too_small(grouped: GroupedTable, pair: Pair, fewest: int) -> str | None:
    sizes = grouped.sizes
    rest = sum(sizes) - sizes[pair.group]
    sides = (sizes[pair.group], rest if pair.against is None else sizes[pair.against])
    for label, size in zip(pair.labels(grouped), sides, strict=True):
        reason = check_group_size(size, fewest)
        if reason is not None:
            return f"{label} has {reason}"
    return None
