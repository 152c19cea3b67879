"""Sizes of memory as people write them: 2GB, 500MB, or a number of bytes."""

from __future__ import annotations

import re

from tellapart.errors import InputError

UNITS: dict[str, int] = {
    "": 1,
    "B": 1,
    **{f"{letter}B": 1000**power for power, letter in enumerate("KMGT", 1)},
    **{f"{letter}IB": 1024**power for power, letter in enumerate("KMGT", 1)},
}
"""Bytes of a unit, by its name in capitals."""

_SIZE = re.compile(r"\s*(?P<number>\d+(?:\.\d*)?(?:e\d+)?|\.\d+)\s*(?P<unit>[a-z]*)\s*", re.I)


def bytes_of(name: str, text: str) -> float:
    """Return the bytes of a size with a unit, in upper or lower case, or without one.

    Examples
    --------
    >>> bytes_of("memory_budget", "2GB"), bytes_of("memory_budget", "1.5 MiB")
    (2000000000.0, 1572864.0)
    """
    size = _SIZE.fullmatch(text)
    unit = None if size is None else UNITS.get(size["unit"].upper())
    if size is None or unit is None:
        raise InputError(
            f"{name} must be a size such as 2GB, 500MB, 1.5GiB or a number of bytes; got {text!r}"
        )
    return float(size["number"]) * unit
