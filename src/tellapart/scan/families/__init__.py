"""The families of differences, one file each, and the registry of those that a scan runs.

`FAMILIES` are those of the package, in the order in which results list them. `register_family`
adds one of your own to all scans that follow, `using_families` sets the families of the scans
inside a block. A test runs all of them, or those that it is asked for by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from tellapart.arguments import check_number
from tellapart.errors import InputError
from tellapart.scan.families.correlation import Correlation
from tellapart.scan.families.higher import Higher
from tellapart.scan.families.joint import Joint
from tellapart.scan.families.kernel import Kernel
from tellapart.scan.families.location import Location
from tellapart.scan.families.missing import Missing
from tellapart.scan.families.pair import Pair
from tellapart.scan.families.shape import Shape
from tellapart.scan.families.triple import Triple
from tellapart.scan.families.values import Values
from tellapart.scan.family import Family

AskedFamilies = tuple[str, ...] | Mapping[str, float]
"""The names of the families to run, or their weights by name."""

FAMILIES: tuple[Family, ...] = (
    Location(),
    Shape(),
    Kernel(),
    Correlation(),
    Pair(),
    Triple(),
    Higher(),
    Joint(),
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


def check_families(families: object) -> AskedFamilies | None:
    """Return the families that a user asks for: names, or weights by name; None for all.

    They come in the order in which results list them, whatever the order of the names.

    >>> check_families("location"), check_families(["shape", "location"])
    (('location',), ('location', 'shape'))
    >>> check_families({"shape": 1, "location": 4})
    {'location': 4.0, 'shape': 1.0}
    """
    if families is None:
        return None
    known = [family.name for family in _registered]
    asked = [families] if isinstance(families, str) else families
    names = list(asked) if isinstance(asked, Iterable) and not isinstance(asked, bytes) else []
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(
            f"families must be a name, names, or a mapping from names to weights; got {families!r}"
        )
    for number, name in enumerate(names):
        if name not in known:
            raise InputError(f"families must be among {', '.join(known)}; got {name!r}")
        if name in names[:number]:
            raise InputError(f"families must be distinct; got {name!r} twice")
    in_order = [name for name in known if name in names]
    if not isinstance(families, Mapping):
        return tuple(in_order)
    return {
        name: check_number(f"families[{name!r}]", families[name], 0.0, open_low=True)
        for name in in_order
    }


def asked_families(asked: AskedFamilies | None) -> tuple[Family, ...]:
    """Return the families of these names, all that are registered if None."""
    return tuple(family for family in _registered if asked is None or family.name in asked)


def describe_family(name: str) -> str:
    """Return what the statistics of a family respond to; empty for one that is not registered."""
    return next((one.description for one in _registered if one.name == name), "")
