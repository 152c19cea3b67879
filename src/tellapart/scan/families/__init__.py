"""The families of differences, one file each, and the registry of those that a scan runs.

`FAMILIES` are those of the package, in the order in which results list them. `register_family`
adds one of your own to all scans that follow, `using_families` sets the families of the scans
inside a block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tellapart.scan.families.correlation import Correlation
from tellapart.scan.families.higher import Higher
from tellapart.scan.families.kernel import Kernel
from tellapart.scan.families.location import Location
from tellapart.scan.families.missing import Missing
from tellapart.scan.families.pair import Pair
from tellapart.scan.families.shape import Shape
from tellapart.scan.families.triple import Triple
from tellapart.scan.families.values import Values
from tellapart.scan.family import Family

FAMILIES: tuple[Family, ...] = (
    Location(),
    Shape(),
    Kernel(),
    Correlation(),
    Pair(),
    Triple(),
    Higher(),
    Missing(),
    Values(),
)
_registered: list[Family] = list(FAMILIES)


def registered_families() -> tuple[Family, ...]:
    """Return the families that a scan runs, in the order in which results list them."""
    return tuple(_registered)


def register_family(family: Family) -> None:
    """Run a family in all scans that follow; it takes the place of one of the same name.

    Parameters
    ----------
    family : Family
        An object with the attributes and methods of `tellapart.scan.family.Family`.
    """
    names = [one.name for one in _registered]
    if family.name in names:
        _registered[names.index(family.name)] = family
    else:
        _registered.append(family)


@contextmanager
def using_families(families: Sequence[Family]) -> Iterator[None]:
    """Run these families, and no others, in the scans inside the block."""
    before = registered_families()
    _registered[:] = families
    try:
        yield
    finally:
        _registered[:] = before


def describe_family(name: str) -> str:
    """Return what the statistics of a family respond to; empty for one that is not registered."""
    return next((one.description for one in _registered if one.name == name), "")
